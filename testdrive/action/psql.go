package action

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// psqlExecute is $ psql-execute command="…": what psql prints must be the lines below; tried once.
func psqlExecute(m *Machine, ctx context.Context, c *call) error {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "psql", "--no-psqlrc", "--pset", "footer=off", "--command", c.get("command"), m.o.Server.URL)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return &problem{"psql did not end in its time", stderr.String()}
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return &problem{"psql failed", stderr.String()}
		}
		return err
	}
	got := trimLines(strings.TrimSpace(stdout.String()))
	want := trimLines(strings.TrimSpace(strings.Join(c.body, "\n")))
	if got == want {
		return nil
	}
	return &problem{"output differs", Diff("line", lines(want), lines(got))}
}

// trimLines takes blanks off the ends of lines, which psql writes and editors remove, and blank lines, which a
// script cannot have there.
func trimLines(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimRight(line, " \t"); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
