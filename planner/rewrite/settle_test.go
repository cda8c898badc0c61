package rewrite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/planner/bind/bindtest"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/planner/rewrite"
)

// TestRulesSettle rewrites what was rewritten: nothing is left to do, so no two rules undo each other.
func TestRulesSettle(t *testing.T) {
	w := bindtest.New(t)
	setup, err := os.ReadFile("../bind/testdata/setup.sql")
	if err != nil {
		t.Fatal(err)
	}
	w.Exec(string(setup))
	files, err := filepath.Glob("../bind/testdata/queries/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no queries: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), ";\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			q, err := w.Query(line)
			if err != nil {
				continue // what cannot be bound is another test's business
			}
			n, err := rewrite.Tree(q.Root, rewrite.Options{Env: bindtest.Session{}})
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			again := rewrite.Options{Env: bindtest.Session{}, Trace: func(rule rewrite.Rule, m logical.Node) {
				t.Errorf("%s\n--- %s is not done with\n%s--- but makes it\n%s", line, rule, logical.Format(n), logical.Format(m))
			}}
			if _, err := rewrite.Tree(n, again); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}
