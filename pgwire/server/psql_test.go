package server_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestPsql runs psql's own commands: their queries over the system's relations must work as they stand.
func TestPsql(t *testing.T) {
	path, err := exec.LookPath("psql")
	if err != nil {
		if os.Getenv("TRIBUTARY_ORACLE") == "required" {
			t.Fatal("psql is not installed")
		}
		t.Skip("psql is not installed")
	}
	s := serve(t)
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.RunTest(t, "testdata/psql", func(t *testing.T, d *datadriven.TestData) string {
		args := []string{"-X", "-h", host, "-p", port, "-U", "materialize", "-d", "materialize", "-v", "VERBOSITY=default"}
		for line := range strings.Lines(d.Input) {
			args = append(args, "-c", strings.TrimSuffix(line, "\n"))
		}
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Env = append(os.Environ(), "PGCLIENTENCODING=UTF8", "PGSSLMODE=prefer", "LC_ALL=C", "PSQL_PAGER=cat")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out)
	})
}
