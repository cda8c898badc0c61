package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/pgtest"
)

var (
	seconds = regexp.MustCompile(`\(\d+\.\d\ds\)`)
	took    = regexp.MustCompile(` in [0-9.]+[mµ]?s\)`)
)

// TestScriptCommands calls testdrive and slt as a user would: the first line of "run" is the command line, the others
// are the file x.td or x.slt that it names, or the standard input. $URL stands for a PostgreSQL.
func TestScriptCommands(t *testing.T) {
	pg := pgtest.Start(t)
	db := pg.NewDatabase(t)
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			dir := t.TempDir()
			line, text, _ := strings.Cut(strings.ReplaceAll(d.Input, "\n====", "\n----"), "\n")
			args := strings.Fields(strings.ReplaceAll(line, "$URL", db))
			for i, a := range args {
				if !strings.HasPrefix(a, "x.") {
					continue
				}
				args[i] = filepath.Join(dir, a)
				if err := os.WriteFile(args[i], []byte(text+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			cmd := rootCommand()
			cmd.SetArgs(args)
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			cmd.SetIn(strings.NewReader(text))
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				out.WriteString("error: " + err.Error() + "\n")
			}
			shown := took.ReplaceAllString(seconds.ReplaceAllString(out.String(), "(<time>)"), " in <time>)")
			return strings.NewReplacer(dir, "<dir>", db, "$URL").Replace(shown)
		})
	})
}
