package slt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/slt"
)

// The separator of files is the separator of golden tests too, so here it is written with equal signs.
const (
	separator      = "\n----"
	shownSeparator = "\n===="
)

// TestFiles runs files on PostgreSQL: the input of "run" is a file, the output what the runner says; arguments are
// auto-view, codes, and rewrite (the file as rewritten follows).
func TestFiles(t *testing.T) {
	pg := pgtest.Start(t)
	db := pg.NewDatabase(t)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "run" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "x.slt")
			for name, text := range map[string]string{
				"x.slt":    strings.ReplaceAll(d.Input, shownSeparator, separator) + "\n",
				"data.csv": "1,one\n2,\"t,wo\"\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			clock := action.Clock{Now: func() time.Time { return time.Unix(0, 0) }}
			timeout := 10 * time.Second
			if strings.Contains(d.Input, "pg_sleep") {
				timeout = 200 * time.Millisecond
			}
			summary, err := slt.Run(t.Context(), slt.Options{
				Suite:    runner.Suite{URL: db, Paths: []string{file}, Out: &out, Clock: clock},
				AutoView: d.HasArg("auto-view"), CheckCodes: d.HasArg("codes"), Rewrite: d.HasArg("rewrite"),
				Timeout: timeout,
			})
			if err != nil {
				fmt.Fprintf(&out, "error: %v\n", err)
			}
			if summary.OK() && !d.HasArg("rewrite") {
				return "passed\n"
			}
			if d.HasArg("rewrite") {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				out.Write(text)
			}
			shown := strings.ReplaceAll(out.String(), separator, shownSeparator)
			return strings.NewReplacer(file, "x.slt", dir, "<dir>").Replace(shown)
		})
	})
}
