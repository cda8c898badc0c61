package action

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// assertMetric is $ assert-metric name=… [labels={a="b"}] equals=N, min=N or max=N: the sum of the server's series of
// that name, with at least those labels. Tried again like a query.
func assertMetric(m *Machine, ctx context.Context, c *call) error {
	var checks []func(float64) string
	for _, check := range []struct {
		key  string
		fail func(value, limit float64) bool
	}{
		{"equals", func(v, l float64) bool { return v != l }},
		{"min", func(v, l float64) bool { return v < l }},
		{"max", func(v, l float64) bool { return v > l }},
	} {
		text, given := c.arg(check.key)
		if !given {
			continue
		}
		limit, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return &problem{"malformed argument", fmt.Sprintf("%s must be a number, not %q", check.key, text)}
		}
		checks = append(checks, func(v float64) string {
			if check.fail(v, limit) {
				return fmt.Sprintf("expected %s %s, actual %s", check.key, text, formatFloat(v, 64))
			}
			return ""
		})
	}
	if len(checks) == 0 {
		return &problem{"malformed action", "assert-metric needs equals, min or max"}
	}
	labels, err := parseLabels(c.get("labels"))
	if err != nil {
		return err
	}
	return m.retry(ctx, c.tries, func(ctx context.Context) (bool, error) {
		value, found, err := m.metric(ctx, c.get("name"), labels)
		if err != nil {
			return m.o.Server.HTTPAddr != "", err
		}
		for _, check := range checks {
			text := check(value)
			if text == "" {
				continue
			}
			if !found {
				text += "\nnone has this name and these labels at " + m.metricsURL()
			}
			return true, &problem{"metric differs", text}
		}
		return false, nil
	})
}

// setFromMetric is $ set-from-metric var=… name=… [labels=…].
func setFromMetric(m *Machine, ctx context.Context, c *call) error {
	labels, err := parseLabels(c.get("labels"))
	if err != nil {
		return err
	}
	value, _, err := m.metric(ctx, c.get("name"), labels)
	if err != nil {
		return err
	}
	m.vars[c.get("var")] = formatFloat(value, 64)
	m.counting = true
	return nil
}

func (m *Machine) metricsURL() string { return "http://" + m.o.Server.HTTPAddr + "/metrics" }

// metric gives the sum of the server's series of a name and labels, and whether there are any.
func (m *Machine) metric(ctx context.Context, name string, labels map[string]string) (sum float64, found bool, err error) {
	if m.o.Server.HTTPAddr == "" {
		return 0, false, &problem{"the server has no HTTP side that testdrive knows of", "use --serve or --http-addr"}
	}
	status, text, err := m.send(ctx, http.MethodGet, m.metricsURL(), "", "")
	if err != nil {
		return 0, false, err
	}
	if status != http.StatusOK {
		return 0, false, &problem{fmt.Sprintf("status of /metrics is %d", status), ""}
	}
	return sumSeries(text, name, labels)
}

var series = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})?\s+(\S+)`)

// sumSeries adds up the series of a name that have all the wanted labels, in Prometheus's text format. A series that is
// not there counts as 0, since counters with labels appear with their first count.
func sumSeries(text, name string, want map[string]string) (sum float64, found bool, err error) {
	for line := range strings.SplitSeq(text, "\n") {
		match := series.FindStringSubmatch(line)
		if match == nil || match[1] != name {
			continue
		}
		have, err := parseLabels(match[2])
		if err != nil {
			return 0, false, err
		}
		fits := true
		for k, v := range want {
			fits = fits && have[k] == v
		}
		if !fits {
			continue
		}
		value, err := strconv.ParseFloat(match[3], 64)
		if err != nil {
			return 0, false, &problem{"malformed metric", line}
		}
		sum += value
		found = true
	}
	return sum, found, nil
}

var label = regexp.MustCompile(`^\s*([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"\s*,?`)

// parseLabels reads {a="b",c="d"}.
func parseLabels(text string) (map[string]string, error) {
	labels := map[string]string{}
	rest := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "{"), "}")
	for strings.TrimSpace(rest) != "" {
		match := label.FindStringSubmatch(rest)
		if match == nil {
			return nil, &problem{"malformed labels", text}
		}
		labels[match[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(match[2])
		rest = rest[len(match[0]):]
	}
	return labels, nil
}
