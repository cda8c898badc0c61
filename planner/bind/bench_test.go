package bind_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/bind/bindtest"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
)

func benchWorld(b *testing.B) *bindtest.World {
	w := bindtest.New(b)
	w.Exec(`CREATE TABLE t (id bigint NOT NULL, a int, b text, c numeric(10, 2)); CREATE TABLE u (id bigint, x int);
		CREATE INDEX ON t (id);
		CREATE VIEW v AS SELECT t.a, count(*) AS n FROM t JOIN u ON t.id = u.id GROUP BY t.a`)
	return w
}

func parsed[S ast.Statement](b *testing.B, sql string) S {
	list, err := parser.Parse(sql)
	if err != nil {
		b.Fatal(err)
	}
	return list[0].AST.(S)
}

// BenchmarkSelect is the way from a parsed query to what is run.
func BenchmarkSelect(b *testing.B) {
	w := benchWorld(b)
	for _, q := range []struct{ name, sql string }{
		{"point", "SELECT a, b FROM t WHERE id = 7"},
		{"join", "SELECT t.a, u.x FROM t JOIN u ON t.id = u.id WHERE t.a > 5 AND u.x < 10"},
		{"group", "SELECT a, count(*), sum(c) FROM t GROUP BY a HAVING count(*) > 2 ORDER BY 2 DESC LIMIT 10"},
		{"correlated", "SELECT a, (SELECT count(*) FROM u WHERE u.id = t.id) FROM t"},
		{"view", "SELECT * FROM v WHERE a = 1"},
	} {
		e := parsed[*ast.Query](b, q.sql)
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bound, err := bind.Select(w.Env(), e)
				if err != nil {
					b.Fatal(err)
				}
				root, err := rewrite.Tree(bound.Root, rewrite.Options{Env: bindtest.Session{}})
				if err != nil {
					b.Fatal(err)
				}
				if _, ok := lower.Lookup(root, w.Indexes); !ok {
					if _, err := lower.Dataflow("query", root, bindtest.Session{}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkInsert is how fast a long list of literals becomes a block; the time is for a value.
func BenchmarkInsert(b *testing.B) {
	w := benchWorld(b)
	const rows = 10000
	var sql strings.Builder
	sql.WriteString("INSERT INTO t VALUES ")
	for i := range rows {
		if i > 0 {
			sql.WriteString(", ")
		}
		fmt.Fprintf(&sql, "(%d, %d, 'text %d', %d.5)", i, i%100, i, i)
	}
	e := parsed[*ast.Insert](b, sql.String())
	b.ReportAllocs()
	for b.Loop() {
		in, err := bind.Insert(w.Env(), e)
		if err != nil || in.Rows == nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(rows*4), "ns/value")
}
