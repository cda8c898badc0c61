package bind_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/planner/rewrite"
)

// generator makes queries over the tables of random_setup.sql, of columns that are all numbers. Nothing in them fails.
type generator struct {
	*rand.Rand
	aliases int
	// fails: some rows make some expressions fail.
	fails bool
}

// table is a relation in scope.
type table struct {
	name string
	cols []string
}

var baseTables = []table{
	{"t", []string{"a", "b"}}, {"u", []string{"x", "y"}}, {"v", []string{"k", "n"}}, {"e", []string{"id"}}, {"vt", []string{"a", "total"}},
}

// mayFail is the depth of a value that may fail: not one that a join would make its key, since that is computed
// whatever it meets.
const mayFail = -10

func (g *generator) pick(options ...string) string { return options[g.IntN(len(options))] }

func (g *generator) alias() string {
	g.aliases++
	return "q" + strconv.Itoa(g.aliases)
}

// column is a column of the innermost relations mostly, or of an enclosing query.
func (g *generator) column(inner, outer []table) string {
	from := inner
	if len(outer) > 0 && (len(inner) == 0 || g.IntN(4) == 0) {
		from = outer
	}
	if len(from) == 0 {
		return strconv.Itoa(g.IntN(5))
	}
	t := from[g.IntN(len(from))]
	return t.name + "." + t.cols[g.IntN(len(t.cols))]
}

func (g *generator) value(inner, outer []table, depth int) string {
	if g.fails && depth == mayFail && g.IntN(3) == 0 {
		return "(" + g.column(inner, outer) + " / " + g.column(inner, outer) + ")"
	}
	switch n := g.IntN(14); {
	case n < 8:
		return g.column(inner, outer)
	case n < 9:
		return strconv.Itoa(g.IntN(6))
	case n < 10:
		return "coalesce(" + g.column(inner, outer) + ", " + strconv.Itoa(g.IntN(3)) + ")"
	case n < 11:
		return "(" + g.column(inner, outer) + " + 1)"
	case n < 12:
		return "CASE WHEN " + g.condition(inner, outer, depth-1) + " THEN " + g.column(inner, outer) + " ELSE " + strconv.Itoa(g.IntN(3)) + " END"
	case depth > 0:
		agg := g.pick("count(*)", "max(%s)", "min(%s)", "sum(%s)", "count(%s)", "count(DISTINCT %s)")
		from, own := g.from(append(inner, outer...), depth-1)
		if strings.Contains(agg, "%s") {
			agg = fmt.Sprintf(agg, g.column(own, nil))
		}
		if g.IntN(3) == 0 {
			agg = "coalesce(" + agg + ", 0)"
		}
		return "(SELECT " + agg + " FROM " + from + g.where(own, append(inner, outer...), depth-1) + ")"
	}
	return g.column(inner, outer)
}

func (g *generator) condition(inner, outer []table, depth int) string {
	both := append(append([]table{}, inner...), outer...)
	switch n := g.IntN(16); {
	case g.fails && n < 4:
		return g.value(inner, outer, mayFail) + g.pick(" < ", " > ", " <> ") + g.value(inner, outer, depth-1)
	case n < 7 || depth <= 0:
		return g.value(inner, outer, depth-1) + " " + g.pick("=", "=", "=", "<", ">", "<>", "<=", ">=") + " " + g.value(inner, outer, depth-1)
	case n < 8:
		return g.column(inner, outer) + g.pick(" IS NULL", " IS NOT NULL")
	case n < 9:
		return g.column(inner, outer) + " IN (1, 2, " + g.pick("3", "NULL") + ")"
	case n < 10:
		return "(" + g.condition(inner, outer, depth-1) + g.pick(" AND ", " OR ") + g.condition(inner, outer, depth-1) + ")"
	case n < 11:
		return "NOT (" + g.condition(inner, outer, depth-1) + ")"
	case n < 12:
		return g.column(inner, outer) + g.pick(" IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + g.column(inner, outer)
	case n < 14:
		return g.pick("", "NOT ") + "EXISTS (" + g.query(both, 1+g.IntN(2), depth-1) + ")"
	case n < 15:
		return g.value(inner, outer, depth-1) + g.pick(" IN ", " NOT IN ") + "(" + g.query(both, 1, depth-1) + ")"
	}
	return g.value(inner, outer, depth-1) + g.pick(" = ANY ", " < ANY ", " >= ALL ", " <> ALL ") + "(" + g.query(both, 1, depth-1) + ")"
}

func (g *generator) where(inner, outer []table, depth int) string {
	if g.IntN(3) == 0 {
		return ""
	}
	s := " WHERE " + g.condition(inner, outer, depth)
	for g.IntN(6) == 0 {
		s += " AND " + g.condition(inner, outer, depth)
	}
	return s
}

// from is a FROM list and what it brings into scope.
func (g *generator) from(outer []table, depth int) (string, []table) {
	s, own := g.tree(outer, nil, depth)
	for g.IntN(6) == 0 && len(own) < 3 {
		more, t := g.tree(outer, own, depth)
		s, own = s+", "+more, append(own, t...)
	}
	return s, own
}

// tree is one entry of FROM, or several joined; left is what they may use laterally.
func (g *generator) tree(outer, left []table, depth int) (string, []table) {
	s, own := g.entry(outer, left, depth)
	for g.IntN(3) == 0 && len(own) < 3 {
		kind := g.pick("JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
		lateral := append(append([]table{}, left...), own...)
		if kind == "RIGHT JOIN" || kind == "FULL JOIN" {
			lateral = left
		}
		more, t := g.entry(outer, lateral, depth)
		var on string
		if kind == "FULL JOIN" {
			on = g.column(own, nil) + " = " + g.column(t, nil)
		} else {
			on = g.condition(append(append([]table{}, own...), t...), nil, min(depth, 1))
			if g.IntN(2) == 0 {
				on = g.column(own, nil) + " = " + g.column(t, nil) + " AND " + on
			}
		}
		s, own = "("+s+" "+kind+" "+more+" ON "+on+")", append(own, t...)
	}
	return s, own
}

// entry is one entry of FROM; left is what it may use laterally.
func (g *generator) entry(outer, left []table, depth int) (string, []table) {
	name := g.alias()
	if depth > 0 && g.IntN(4) == 0 {
		n := 1 + g.IntN(2)
		cols := []string{"c1", "c2"}[:n]
		if len(left) > 0 && g.IntN(2) == 0 {
			return "LATERAL (" + g.query(append(append([]table{}, left...), outer...), n, depth-1) + ") AS " + name + " (" + strings.Join(cols, ", ") + ")",
				[]table{{name, cols}}
		}
		return "(" + g.query(outer, n, depth-1) + ") AS " + name + " (" + strings.Join(cols, ", ") + ")", []table{{name, cols}}
	}
	t := baseTables[g.IntN(len(baseTables))]
	return t.name + " AS " + name, []table{{name, t.cols}}
}

// query is a query of n columns.
func (g *generator) query(outer []table, n, depth int) string {
	if depth > 0 && g.IntN(6) == 0 {
		return g.query(outer, n, depth-1) + g.pick(" UNION ", " UNION ALL ", " EXCEPT ", " EXCEPT ALL ", " INTERSECT ", " INTERSECT ALL ") +
			"(" + g.query(outer, n, depth-1) + ")"
	}
	from, own := g.from(outer, depth)
	where := g.where(own, outer, depth)
	items := make([]string, n)
	tail := ""
	distinct := ""
	switch g.IntN(5) {
	case 0, 1:
		for i := range items {
			items[i] = g.value(own, outer, depth)
			if g.fails && g.IntN(3) == 0 {
				items[i] = g.value(own, outer, mayFail)
			}
		}
		if g.IntN(4) == 0 {
			distinct = "DISTINCT "
		}
	case 2: // grouped
		key := g.column(own, nil)
		for i := range items {
			items[i] = g.pick(key, "count(*)", "sum("+g.column(own, nil)+")", "max("+g.value(own, nil, 0)+")", "min("+g.column(own, nil)+")",
				"count(DISTINCT "+g.column(own, nil)+")")
		}
		tail = " GROUP BY " + key
		if g.IntN(3) == 0 {
			tail += " HAVING " + g.pick("count(*) > 1", key+" > 1", "max("+g.column(own, nil)+") > 2")
		}
	case 3: // all rows aggregated
		for i := range items {
			items[i] = g.pick("count(*)", "sum("+g.column(own, nil)+")", "max("+g.value(own, nil, 0)+")",
				"count(*) FILTER (WHERE "+g.condition(own, nil, 0)+")")
		}
	case 4:
		for i := range items {
			items[i] = g.column(own, outer)
		}
		if g.IntN(2) == 0 {
			keys := make([]string, n)
			for i := range keys {
				keys[i] = strconv.Itoa(i+1) + g.pick("", " DESC", " NULLS FIRST")
			}
			tail = " ORDER BY " + strings.Join(keys, ", ") + " LIMIT " + strconv.Itoa(1+g.IntN(3)) + g.pick("", " OFFSET 1")
			return "(SELECT " + strings.Join(items, ", ") + " FROM " + from + where + tail + ")"
		}
	}
	return "SELECT " + distinct + strings.Join(items, ", ") + " FROM " + from + where + tail
}

// queriesFromEnv is how many random queries are tried: enough to be done in a second or two, or what
// TRIBUTARY_RANDOM_QUERIES says.
func queriesFromEnv(t *testing.T) (seed uint64, n int) {
	n = 100
	if testing.Short() {
		n = 40
	}
	if s := os.Getenv("TRIBUTARY_RANDOM_QUERIES"); s != "" {
		if _, err := fmt.Sscanf(s, "%d:%d", &seed, &n); err != nil {
			t.Fatalf("TRIBUTARY_RANDOM_QUERIES is seed:count: %v", err)
		}
		return seed, n
	}
	return 1, n
}

// TestRandomQueries holds random queries, bound, rewritten with all rules and with each left out, and lowered,
// against PostgreSQL.
func TestRandomQueries(t *testing.T) {
	w, setup := filled(t, "random_setup.sql")
	pg := newOracle(t, setup)
	seed, n := queriesFromEnv(t)
	some := 0
	for i := range uint64(n) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, i))}
		s := statement{sql: g.query(nil, 1+g.IntN(3), 3), code: true}
		want, _ := pg.query(s.sql)
		if want.Err != nil {
			t.Errorf("%d:%d: PostgreSQL refuses %s: %v", seed, i, s.sql, want.Err)
			continue
		}
		if len(want.Rows) > 1 {
			some++
		}
		q, err := w.Query(s.sql)
		if err != nil {
			t.Errorf("%d:%d: %s: %v", seed, i, s.sql, err)
			continue
		}
		if got := w.Reference(q); !same(s, got, want) {
			t.Errorf("%d:%d: %s\n--- bound:\n%v\n--- PostgreSQL:\n%v", seed, i, s.sql, got, want)
			continue
		}
		if err := w.CheckRels(q); err != nil {
			t.Errorf("%d:%d: %s: %v", seed, i, s.sql, err)
		}
		for _, rule := range append([]rewrite.Rule{""}, rewrite.Rules()...) {
			off := rewrite.Options{Off: map[rewrite.Rule]bool{rule: true}}
			if got := w.Planned(q, off); !same(s, got, want) {
				t.Errorf("%d:%d: %s\n--- without %q:\n%v\n--- PostgreSQL:\n%v", seed, i, s.sql, rule, got, want)
				break
			}
		}
		if t.Failed() && i > 20 {
			t.Fatal("stopping at the first failures")
		}
	}
	t.Logf("%d of %d queries gave more than one row", some, n)
}

// TestRewritingFailsNoMore runs random queries in which some rows fail. Where the query as it was bound gives an
// answer, so does what it becomes; where it fails, that may too, or not.
func TestRewritingFailsNoMore(t *testing.T) {
	w, _ := filled(t, "random_setup.sql")
	w.Exec("INSERT INTO e VALUES (1), (2), (NULL)")
	seed, n := queriesFromEnv(t)
	failed := 0
	for i := range uint64(n) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed+1000, i)), fails: true}
		s := statement{sql: g.query(nil, 1+g.IntN(2), 2), code: true}
		q, err := w.Query(s.sql)
		if err != nil {
			t.Errorf("%d:%d: %s: %v", seed, i, s.sql, err)
			continue
		}
		want := w.Reference(q)
		if want.Err != nil {
			failed++
			continue
		}
		for _, rule := range append([]rewrite.Rule{""}, rewrite.Rules()...) {
			off := rewrite.Options{Off: map[rewrite.Rule]bool{rule: true}}
			if got := w.Planned(q, off); !same(s, got, want) {
				t.Errorf("%d:%d: %s\n--- without %q:\n%v\n--- bound:\n%v", seed, i, s.sql, rule, got, want)
				break
			}
		}
	}
	t.Logf("%d of %d queries failed as they were bound", failed, n)
}
