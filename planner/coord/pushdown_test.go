package coord_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// condition draws a condition over the columns of the tables of TestFiltersLeaveOutPartsAndNothingElse.
func condition(rng *rand.Rand, alias string) string {
	op := []string{"=", "<>", "<", "<=", ">", ">="}[rng.IntN(6)]
	at := []int{0, 5, 100, 1000, 1500, 2050, 3000, 3017, 4000}[rng.IntN(9)]
	c := []string{
		fmt.Sprintf("$i %s %d", op, at),
		fmt.Sprintf("%d %s $i", at, op),
		fmt.Sprintf("$i BETWEEN %d AND %d", at, at+rng.IntN(100)),
		fmt.Sprintf("$i IN (%d, %d, NULL)", at, at+7),
		fmt.Sprintf("$i NOT IN (%d, %d)", at, at+7),
		"$i IS NULL", "$s IS NOT NULL", "$b", "NOT $b", "$b IS TRUE", "$f = 'NaN'",
		fmt.Sprintf("$s %s 'a rather long string, longer than a bound %d'", op, at),
		fmt.Sprintf("$s LIKE 'a rather%%%d'", at%10),
		fmt.Sprintf("$n %s %d.5", op, at),
		fmt.Sprintf("$f %s %d", op, at),
		fmt.Sprintf("$d %s date '2024-01-01' + %d", op, at),
		fmt.Sprintf("$d %s timestamp '2024-01-01 00:00:01' + interval '%d days'", op, at),
		fmt.Sprintf("$ts %s timestamp '2024-01-01' + interval '%d hours'", op, at),
		fmt.Sprintf("$iv %s interval '%d hours'", op, at),
		fmt.Sprintf("$j %s '%d'", op, at),
		fmt.Sprintf("1000 / ($i - %d) %s 3", at, op),
		fmt.Sprintf("1000 / $x %s 3", op),
		fmt.Sprintf("$i + 1 %s %d", op, at),
		fmt.Sprintf("($i < %d OR $i > %d)", at, at+500),
		fmt.Sprintf("$x %s %d", op, at%3),
	}
	return strings.ReplaceAll(c[rng.IntN(len(c))], "$", alias+".")
}

// TestFiltersLeaveOutPartsAndNothingElse: SELECTs with random conditions, over a table and views of it, give the same
// rows and the same errors whether or not parts are left out; all that is left out is looked at besides.
func TestFiltersLeaveOutPartsAndNothingElse(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	c.must(t, "ALTER SYSTEM SET storage_inline_append_max_bytes = 0", "ALTER SYSTEM SET storage_filter_audit_percent = 100",
		"CREATE TABLE t (i int8, s text, f float8, b bool, n numeric, d date, ts timestamp, iv interval, j jsonb, x int4)",
		"CREATE MATERIALIZED VIEW v AS SELECT i, s, f, b, n, d, ts, iv, j, 100 / (x - 2) AS x FROM t")
	// Each part is less than half of the one before, so that none are merged.
	for p, rows := range []int{2000, 500, 120, 30} {
		c.must(t, fmt.Sprintf(`INSERT INTO t SELECT nullif(%[1]d + g, %[1]d + 5), 'a rather long string, longer than a bound ' || (%[1]d + g),
			CASE WHEN g %% 50 = %[2]d THEN 'NaN'::float8 WHEN g %% 50 = 7 THEN '-inf'::float8 ELSE %[1]d + g END, %[2]d < 2, (%[1]d + g) / 3.0,
			date '2024-01-01' + %[1]d + g, timestamp '2024-01-01' + (%[1]d + g) * interval '1 hour', (%[1]d + g) * interval '1 hour',
			to_jsonb(%[1]d + g), CASE WHEN %[2]d < 2 THEN %[2]d END FROM generate_series(1, %[3]d) AS g`, p*1000, p, rows))
	}
	rng := rand.New(rand.NewPCG(4, 4))
	var queries []string
	for range 60 {
		conds := make([]string, 1+rng.IntN(3))
		for i := range conds {
			conds[i] = condition(rng, "a")
		}
		where := strings.Join(conds, " AND ")
		queries = append(queries,
			fmt.Sprintf("SELECT a.i, a.x FROM t AS a WHERE %s", where),
			fmt.Sprintf("SELECT count(*), min(s) FROM v AS a WHERE %s", where),
			fmt.Sprintf("SELECT s FROM t AS a WHERE %s ORDER BY s LIMIT 3", where))
		if rng.IntN(4) == 0 {
			queries = append(queries, fmt.Sprintf("SELECT a.i, b.s FROM t AS a JOIN t AS b ON a.i = b.i WHERE %s AND %s", where, condition(rng, "b")))
		}
	}
	answer := func(sql string) string {
		rows, err := c.run(context.Background(), sql)
		if err != nil {
			return string(pgerr.From(err).Code) + " " + err.Error()
		}
		slices.Sort(rows)
		return strings.Join(rows, "\n")
	}
	answers := func() []string {
		var all []string
		for _, q := range queries {
			all = append(all, answer(q))
		}
		return all
	}
	skipped := func() float64 {
		return s.stores.Registry.Sum("tributary_storage_scan_parts_total", "fate", "skipped")
	}
	good, failed := 0, 0
	compare := func(when string) {
		c.must(t, "ALTER SYSTEM SET storage_filter_pushdown = on")
		before := skipped()
		got := answers()
		if skipped() == before {
			t.Errorf("%s: no part was left out", when)
		}
		c.must(t, "ALTER SYSTEM SET storage_filter_pushdown = off")
		before = skipped()
		for i, want := range answers() {
			if got[i] != want {
				t.Errorf("%s: %s gives\n%s\nand, of all parts,\n%s", when, queries[i], got[i], want)
			}
			switch {
			case strings.HasPrefix(want, "22012 "):
				failed++
			case strings.HasPrefix(want, "42"):
				t.Errorf("%s: %s", queries[i], want)
			default:
				good++
			}
		}
		if skipped() != before {
			t.Errorf("%s: parts were left out", when)
		}
	}
	compare("rows")
	// An error among the view's rows makes every read of it fail, whatever it asks for.
	c.must(t, "INSERT INTO t (i, x) VALUES (-1, 2)")
	c.fails(t, "SELECT count(*) FROM v WHERE i > 100000", "22012", "division by zero")
	c.must(t, "ALTER SYSTEM SET storage_filter_pushdown = on")
	c.fails(t, "SELECT count(*) FROM v WHERE i > 100000", "22012", "division by zero")
	c.must(t, "DELETE FROM t WHERE i = -1")
	compare("after an error")
	if good < 200 || failed < 15 {
		t.Errorf("%d answers and %d errors", good, failed)
	}
	// A view begins with what its filter wants, and goes on.
	c.must(t, "ALTER SYSTEM SET storage_filter_pushdown = on")
	before := skipped()
	c.must(t, "CREATE MATERIALIZED VIEW late AS SELECT i, s FROM t WHERE ts >= timestamp '2024-01-01' + interval '2990 hours'")
	c.want(t, "SELECT count(*), min(i), max(i) FROM late", "30|3001|3030")
	if skipped() == before {
		t.Error("the view read every part")
	}
	c.must(t, "DELETE FROM t WHERE i < 3010", "INSERT INTO t (i, ts) VALUES (1, timestamp '2025-01-01'), (2, timestamp '2020-01-01')")
	c.want(t, "SELECT count(*), min(i), max(i) FROM late", "23|1|3030")
}

// BenchmarkSelectiveSelect reads the last 1 % of a million rows that came in the order of their times, from objects that
// are not kept in memory, with and without leaving out parts, by turns.
func BenchmarkSelectiveSelect(b *testing.B) {
	s := start(b, bootOptions{})
	c := s.connect()
	c.must(b, "ALTER SYSTEM SET storage_cache_max_bytes = 0", "CREATE TABLE t (at timestamp, who text, n int8)")
	const inserts, rows = 20, 50_000
	for i := range inserts {
		c.must(b, fmt.Sprintf(`INSERT INTO t SELECT timestamp '2024-01-01' + (%d + g) * interval '1 second', 'customer ' || g %% 1000, g
			FROM generate_series(1, %d) AS g`, i*rows, rows))
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, on := range []string{"on", "off"} {
			c.must(b, "ALTER SYSTEM SET storage_filter_pushdown = "+on)
			began := time.Now()
			c.want(b, fmt.Sprintf("SELECT count(*), count(DISTINCT who) FROM t WHERE at > timestamp '2024-01-01' + %d * interval '1 second'",
				inserts*rows-10_000), "10000|1000")
			took[on] = append(took[on], time.Since(began))
		}
	}
	for _, t := range took {
		slices.Sort(t)
	}
	with, without := took["on"][len(took["on"])/2], took["off"][len(took["off"])/2]
	b.ReportMetric(with.Seconds()*1e3, "with-ms")
	b.ReportMetric(without.Seconds()*1e3, "without-ms")
	b.ReportMetric(float64(without)/float64(with), "ratio")
}
