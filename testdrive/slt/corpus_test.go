package slt_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/slt"
)

var queries = regexp.MustCompile(`(?m)^query [TIRFBO]`)

// The corpus has thousands of answers.
func TestCorpusIsLarge(t *testing.T) {
	files, err := filepath.Glob("../testdata/slt/*.slt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n += len(queries.FindAll(text, -1))
	}
	if n < 2000 {
		t.Errorf("only %d queries with results", n)
	}
}

// The corpus holds on PostgreSQL, which wrote its results: as queries and as views.
func TestCorpusOnPostgres(t *testing.T) {
	pg := pgtest.Start(t)
	var out strings.Builder
	summary, err := slt.Run(t.Context(), slt.Options{
		Suite: runner.Suite{
			URL: pg.NewDatabase(t), Paths: []string{"../testdata/slt"}, Out: &out, Clock: action.Clock{Now: time.Now},
		},
		CheckCodes: true, AutoView: !testing.Short(),
	})
	if err != nil || !summary.OK() {
		t.Errorf("%v\n%s", err, out.String())
	}
}
