package bind_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/bind/bindtest"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
)

// notYet are commands that ask for system relations, columns or functions that there are not, or for an object
// by name that only a server with that object has.
var notYet = []string{`\dx`, `\sv v`}

// TestPsqlQueriesAreUnderstood binds and lowers what psql 15 sends for its commands.
func TestPsqlQueriesAreUnderstood(t *testing.T) {
	text, err := os.ReadFile("testdata/psql15.txt")
	if err != nil {
		t.Fatal(err)
	}
	w := bindtest.New(t)
	command, n := "", 0
	for part := range strings.SplitSeq(string(text), ";;") {
		var sql strings.Builder
		for line := range strings.Lines(part) {
			if rest, ok := strings.CutPrefix(line, "### "); ok {
				command = strings.TrimSpace(rest)
			} else {
				sql.WriteString(line)
			}
		}
		list, err := parser.Parse(sql.String())
		if err != nil {
			t.Errorf("%s: %v in\n%s", command, err, sql.String())
			continue
		}
		for _, s := range list {
			n++
			q, ok := s.AST.(*ast.Query)
			if !ok {
				continue
			}
			b, err := bind.Select(w.Env(), q)
			if err != nil && slices.Contains(notYet, command) {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v in\n%s", command, err, s.Text)
				continue
			}
			root, err := rewrite.Tree(b.Root, rewrite.Options{Env: bindtest.Session{}})
			if err == nil {
				_, err = lower.Dataflow("psql", root, bindtest.Session{})
			}
			if err != nil {
				t.Errorf("%s: %v in\n%s", command, err, s.Text)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d statements", n)
	}
}
