package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestWorkersShareOnePart counts parts and appends on a cluster of eight workers: with sharing, small writes become one
// part each; without, about as many as there are workers.
func TestWorkersShareOnePart(t *testing.T) {
	c := startChild(t, t.TempDir())
	conn := c.connect()
	exec1(t, conn, "CREATE TABLE t (k int8, v text)", "CREATE CLUSTER c (SIZE = 'scale=1,workers=8')",
		"CREATE MATERIALIZED VIEW v IN CLUSTER c AS SELECT k, v FROM t")
	settle := func() { table(t, conn, "SELECT count(*) FROM v") }
	settle()
	view := `view="materialize.public.v"`
	measure := func(writes, rows int) (parts, appends float64) {
		p, a := c.metric("tributary_sink_parts_total", view), c.metric("tributary_sink_appends_total", view, `empty="false"`)
		for range writes {
			insertRows(t, conn, rows)
			settle()
		}
		return c.metric("tributary_sink_parts_total", view) - p, c.metric("tributary_sink_appends_total", view, `empty="false"`) - a
	}
	for _, rows := range []int{1, 100, 1000} {
		if parts, appends := measure(30, rows); parts != appends || appends < 30 {
			t.Errorf("with sharing, %d-row writes: %v parts in %v appends", rows, parts, appends)
		}
	}
	exec1(t, conn, "ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 0")
	parts, appends := measure(30, 1000)
	if appends < 30 || parts/appends < 7 || parts/appends > 8 {
		t.Errorf("without sharing, 1000-row writes: %v parts in %v appends", parts, appends)
	}
	exec1(t, conn, "ALTER SYSTEM RESET compute_mv_sink_shared_batch_max_bytes")
	if parts, appends := measure(10, 1000); parts != appends {
		t.Errorf("with sharing again: %v parts in %v appends", parts, appends)
	}
	if got := table(t, conn, "SELECT count(*) FROM v"); got[0] != fmt.Sprint(30*(1+100+1000)+40*1000) {
		t.Errorf("the view has %v rows", got)
	}
	c.stop()
}

// TestSinkStatisticsAreFollowed subscribes to what a view's sink does, while it does it. After a restart it begins anew.
func TestSinkStatisticsAreFollowed(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, dir)
	conn, other := c.connect(), c.connect()
	exec1(t, conn, "CREATE TABLE t (k int8, v text)", "CREATE MATERIALIZED VIEW v AS SELECT k, v FROM t")
	exec1(t, other, "BEGIN", "DECLARE c CURSOR FOR SUBSCRIBE (SELECT s.rows FROM mz_internal.mz_sink_statistics s)")
	// A change is its time, how often, and the number of rows.
	expect := func(want ...string) {
		t.Helper()
		got := table(t, other, fmt.Sprintf("FETCH %d c", len(want)))
		for i, row := range got {
			_, got[i], _ = strings.Cut(row, "\t")
		}
		if !slices.Equal(got, want) {
			t.Errorf("the statistics change as %q, want %q", got, want)
		}
	}
	expect("1\t0")
	insertRows(t, conn, 7)
	expect("-1\t0", "1\t7")
	insertRows(t, conn, 5)
	expect("-1\t7", "1\t12")
	const rows = 12
	exec1(t, other, "COMMIT")
	c.stop()
	c = startChild(t, dir)
	conn = c.connect()
	if got := table(t, conn, "SELECT count(*) FROM v"); got[0] != fmt.Sprint(rows) {
		t.Errorf("the view has %v rows", got)
	}
	if got := table(t, conn, "SELECT appends, rows, objects, staged_bytes FROM mz_internal.mz_sink_statistics"); got[0] != "0\t0\t0\t0" {
		t.Errorf("a new process has %v", got)
	}
	if n := c.metric("tributary_sink_rows_total"); n != 0 {
		t.Errorf("a new process has appended %v rows", n)
	}
	c.stop()
}

func insertRows(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("INSERT INTO t VALUES ")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d, 'some text of thirty-two bytes %03d')", rand.Int64(), i)
	}
	exec1(t, conn, b.String())
}
