package action

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// setTimeout is $ set-sql-timeout duration=… [force=true]: the time of a block. What is below the default is
// raised to it unless forced, so that a slow machine's longer default is kept.
func setTimeout(m *Machine, _ context.Context, c *call) error {
	force, err := c.bool("force")
	if err != nil {
		return err
	}
	text := c.get("duration")
	if text == "default" {
		m.timeout = m.o.Timeout
		return nil
	}
	d, err := parseDuration(text)
	if err != nil {
		return err
	}
	if !force {
		d = max(d, m.o.Timeout)
	}
	m.timeout = d
	return nil
}

// setMaxTries is $ set-max-tries max-tries=N.
func setMaxTries(m *Machine, _ context.Context, c *call) error {
	n, err := strconv.Atoi(c.get("max-tries"))
	if err != nil || n < 1 {
		return &problem{"malformed argument", fmt.Sprintf("max-tries must be a positive number, not %q", c.get("max-tries"))}
	}
	m.maxTries = n
	return nil
}

var durationPart = regexp.MustCompile(`^(\d+(?:\.\d+)?)\s*([a-zµ]+)\s*`)

// parseDuration reads "1m 30s", "500ms", "2 hours".
func parseDuration(text string) (time.Duration, error) {
	malformed := &problem{"malformed argument", fmt.Sprintf("%q is no duration such as 500ms, 30s or 1m 30s", text)}
	total := time.Duration(0)
	rest := strings.TrimSpace(text)
	if rest == "" {
		return 0, malformed
	}
	for rest != "" {
		part := durationPart.FindStringSubmatch(rest)
		if part == nil {
			return 0, malformed
		}
		n, err := strconv.ParseFloat(part[1], 64)
		unit := durationUnit(part[2])
		if err != nil || unit == 0 {
			return 0, malformed
		}
		total += time.Duration(n * float64(unit))
		rest = rest[len(part[0]):]
	}
	return total, nil
}

func durationUnit(name string) time.Duration {
	switch name {
	case "ns", "nsec":
		return time.Nanosecond
	case "us", "µs", "usec":
		return time.Microsecond
	case "ms", "msec", "millis":
		return time.Millisecond
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}
