package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/script"
)

// The scripts that say nothing but SQL hold on PostgreSQL.
func TestPlainCorpusOnPostgres(t *testing.T) {
	pg := pgtest.Start(t)
	var out strings.Builder
	summary, err := runner.Run(t.Context(), runner.Options{
		Suite: runner.Suite{
			URL: pg.NewDatabase(t), Paths: []string{"../testdata/td/plain"}, Out: &out, Clock: runner.Clock{Now: time.Now},
		},
		MaxTries: 1,
	})
	if err != nil || !summary.OK() {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// The first script of the user's page works as it is pasted.
func TestFirstScriptOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/testdrive.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```\n")
	first, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no script")
	}
	pg := pgtest.Start(t)
	var out strings.Builder
	summary, err := runner.Run(t.Context(), runner.Options{
		Suite: runner.Suite{
			URL: pg.NewDatabase(t), Paths: []string{"-"}, Stdin: strings.NewReader(first), Out: &out,
			Clock: runner.Clock{Now: time.Now},
		},
		MaxTries: 1,
	})
	if err != nil || !summary.OK() {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Every script of the corpus can be read, begins with a comment that says what it is about, and uses actions as
// they are.
func TestCorpusIsWellFormed(t *testing.T) {
	files, err := filepath.Glob("../testdata/td/*/*.td")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 60 {
		t.Errorf("only %d scripts", len(files))
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s: does not begin with a comment", path)
		}
		f, err := script.Parse(path, string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, b := range f.Blocks {
			if err := action.Check(path, b); err != nil {
				t.Error(err)
			}
		}
	}
}
