package bind_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/planner/bind/bindtest"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
)

// repeat joins n texts made by f.
func repeat(n int, between string, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, between)
}

// TestLargeQueriesArePlannedInTime plans what programs write: long lists, long chains, deep nesting.
func TestLargeQueriesArePlannedInTime(t *testing.T) {
	w := bindtest.New(t)
	w.Exec("CREATE TABLE t (a int, b int, c text); CREATE TABLE u (x int, y int)")
	num := func(i int) string { return fmt.Sprint(i) }
	for name, sql := range map[string]string{
		"sum":     "SELECT " + repeat(3000, " + ", func(i int) string { return "a" }) + " FROM t",
		"and":     "SELECT a FROM t WHERE " + repeat(2000, " AND ", func(i int) string { return fmt.Sprintf("a <> %d", i) }),
		"or":      "SELECT a FROM t WHERE " + repeat(5000, " OR ", func(i int) string { return fmt.Sprintf("a = %d", i) }),
		"or two":  "SELECT a FROM t WHERE " + repeat(1000, " OR ", func(i int) string { return fmt.Sprintf("a = %d AND b > %d", i, i) }),
		"in":      "SELECT a FROM t WHERE a IN (" + repeat(20000, ", ", num) + ")",
		"in text": "SELECT a FROM t WHERE c IN (" + repeat(20000, ", ", func(i int) string { return fmt.Sprintf("'x%d'", i) }) + ")",
		"values":  "SELECT * FROM (VALUES " + repeat(20000, ", ", func(i int) string { return fmt.Sprintf("(%d, 'x%d')", i, i) }) + ") q (n, s) WHERE n > 5",
		"union":   repeat(1000, " UNION ALL ", func(i int) string { return fmt.Sprintf("SELECT a + %d FROM t", i) }),
		"case":    "SELECT CASE " + repeat(2000, " ", func(i int) string { return fmt.Sprintf("WHEN a = %d THEN %d", i, i) }) + " END FROM t",
		"columns": "SELECT " + repeat(1000, ", ", func(i int) string { return fmt.Sprintf("a + %d AS c%d", i, i) }) + " FROM t",
		"joins":   "SELECT t0.a FROM " + repeat(40, ", ", func(i int) string { return fmt.Sprintf("t t%d", i) }) + " WHERE " + repeat(39, " AND ", func(i int) string { return fmt.Sprintf("t%d.a = t%d.a", i, i+1) }),
		"left":    "SELECT t.a FROM t " + repeat(30, " ", func(i int) string { return fmt.Sprintf("LEFT JOIN u u%d ON u%d.x = t.a", i, i) }),
		"nested":  strings.Repeat("SELECT * FROM (", 150) + "SELECT a FROM t" + strings.Repeat(") q", 150),
		"exists":  "SELECT a FROM t WHERE " + repeat(20, " AND ", func(i int) string { return fmt.Sprintf("EXISTS (SELECT 1 FROM u WHERE u.x = t.a AND u.y > %d)", i) }),
		"scalars": "SELECT " + repeat(20, ", ", func(i int) string { return fmt.Sprintf("(SELECT max(y) FROM u WHERE u.x = t.a + %d)", i) }) + " FROM t",
		"deep":    "SELECT a FROM t WHERE a = " + strings.Repeat("(SELECT max(x) FROM u WHERE y = ", 12) + "1" + strings.Repeat(")", 12),
		"ctes": "WITH c0 AS (SELECT a FROM t)" + repeat(25, "", func(i int) string {
			return fmt.Sprintf(", c%d AS (SELECT x.a FROM c%d x JOIN c%d y ON x.a = y.a)", i+1, i, i)
		}) + " SELECT * FROM c25",
		"groups": "SELECT " + repeat(200, ", ", func(i int) string { return fmt.Sprintf("sum(a + %d)", i) }) + " FROM t GROUP BY b",
	} {
		start := time.Now()
		q, err := w.Query(sql)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		bound := time.Since(start)
		n, err := rewrite.Tree(q.Root, rewrite.Options{Env: bindtest.Session{}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rewritten := time.Since(start)
		if _, err := lower.Dataflow("query", n, bindtest.Session{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		total := time.Since(start)
		t.Logf("%s: bound %v, rewritten %v, lowered %v", name, bound, rewritten-bound, total-rewritten)
		// A machine may be slow; what is quadratic where it should not be takes minutes.
		if total > 20*time.Second {
			t.Errorf("%s took %v", name, total)
		}
	}
}
