package parser

import (
	"fmt"
	"strings"
	"testing"
)

func bench(b *testing.B, sql string) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(len(sql)))
	for b.Loop() {
		if _, err := Parse(sql); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	bench(b, `SELECT a, b FROM t WHERE a = $1`)
}

func BenchmarkBegin(b *testing.B) { bench(b, `BEGIN`) }

func BenchmarkInsertOne(b *testing.B) {
	bench(b, `INSERT INTO t (a, b, c) VALUES (1, 'x', 2.5)`)
}

func BenchmarkUpdate(b *testing.B) {
	bench(b, `UPDATE t SET a = a + 1, b = $1 WHERE c = $2 AND d > 5`)
}

func BenchmarkJoin(b *testing.B) {
	bench(b, `SELECT p.section, count(*) AS n, sum(p.size) FROM packages p JOIN depends d ON d.package = p.name
		LEFT JOIN provides v ON v.name = d.target WHERE p.priority IN ('required', 'important') AND v.name IS NOT NULL
		GROUP BY p.section HAVING count(*) > 10 ORDER BY n DESC LIMIT 50`)
}

func BenchmarkCorpus(b *testing.B) {
	list := corpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := Parse(list[i%len(list)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInsertRows is the bulk path: rows of literals in one INSERT.
func BenchmarkInsertRows(b *testing.B) {
	for _, rows := range []int{100, 2000, 10000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			bench(b, insertRows(rows, "(%d, 'name %d', %d.25, NULL, true)"))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}

// BenchmarkInsertMixedRows has a call in every row, which goes through TiDB's parser.
func BenchmarkInsertMixedRows(b *testing.B) {
	bench(b, insertRows(2000, "(%d, 'name %d', %d.25, now(), '2020-01-01'::date)"))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/row")
}

func insertRows(n int, format string) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(format, i, i, i)
	}
	return "INSERT INTO t VALUES " + strings.Join(rows, ", ")
}
