package lower_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/planner/bind/bindtest"
)

// TestManyInputs: a join of many inputs by one chain of equations, which makes an equation of every two of them, is put
// in order in reasonable time, and each stage compares one key.
func TestManyInputs(t *testing.T) {
	const n = 120
	w := bindtest.New(t)
	w.Golden(&datadriven.TestData{Cmd: "exec", Input: "CREATE TABLE t (a int, b int)"})
	q := &strings.Builder{}
	q.WriteString("SELECT count(*) FROM t t0")
	for i := 1; i < n; i++ {
		fmt.Fprintf(q, " JOIN t t%d ON t%d.a = t%d.a", i, i, i-1)
	}
	plan := w.Golden(&datadriven.TestData{Cmd: "lower", Input: q.String()})
	if stages := strings.Count(plan, " on #") - 1 + strings.Count(plan, " = #"); stages < n-1 {
		t.Error(plan)
	}
}
