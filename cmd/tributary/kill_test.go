package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// killedTables are what writers write to, and views of it.
var killedTables = []string{
	"CREATE TABLE t (id int8 NOT NULL, k int8, v int8)", "CREATE TABLE audit (id int8 NOT NULL)",
	"CREATE MATERIALIZED VIEW sums AS SELECT k, count(*) AS n, sum(v) AS s, max(v) AS hi FROM t GROUP BY k",
	"CREATE MATERIALIZED VIEW pairs AS SELECT a.id FROM t a JOIN audit b ON a.id = b.id",
	"CREATE MATERIALIZED VIEW total AS SELECT sum(n) AS n, sum(s) AS s FROM sums",
	"CREATE INDEX sums_k ON sums (k)",
}

// TestKilledAtAnyMoment kills the server under load, again and again, and finds after each start every row that was
// acknowledged, none that was not (but for the statement that was under way), transactions whole, and views that are
// their queries.
func TestKilledAtAnyMoment(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 8
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	c := startChild(t, dir, "--workers=4")
	exec1(t, c.connect(), killedTables...)
	thresholds := []string{"4096", "0", "1", "1048576"}
	writers := make([]*writer, 4)
	for i := range writers {
		writers[i] = &writer{next: int64(i) * 1_000_000, rows: map[int64]row{}, r: rand.New(rand.NewPCG(seed, uint64(i)+2))}
	}
	for i := range kills {
		threshold := thresholds[i%len(thresholds)]
		exec1(t, c.connect(), "ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = "+threshold)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for _, w := range writers {
			conn := c.connect()
			wg.Go(func() { w.run(ctx, conn) })
		}
		time.Sleep(time.Duration(20+r.IntN(250)) * time.Millisecond)
		c.kill()
		cancel()
		wg.Wait()
		c = startChild(t, dir)
		if err := verify(t, c, writers); err != nil {
			t.Fatalf("after kill %d: %v", i+1, err)
		}
		if got := table(t, c.connect(), "SHOW compute_mv_sink_shared_batch_max_bytes"); got[0] != threshold {
			t.Fatalf("after kill %d the threshold is %v, want %s", i+1, got, threshold)
		}
	}
	acknowledged := 0
	for _, w := range writers {
		acknowledged += w.done
	}
	t.Logf("%d transactions were acknowledged", acknowledged)
	if acknowledged < kills {
		t.Errorf("only %d transactions in %d runs: there was no load", acknowledged, kills)
	}
	c.stop()
}

type row struct{ k, v int64 }

// writerRows is about how many rows a writer has at most.
const writerRows = 2000

// writer changes rows of its own, one transaction after the other, and remembers what was acknowledged.
type writer struct {
	next int64
	rows map[int64]row
	r    *rand.Rand
	done int
	// doubt is the transaction under way when the server went: it happened whole or not at all.
	doubt map[int64]*row // id → what it becomes (nil: gone)
}

// run writes until the server is gone.
func (w *writer) run(ctx context.Context, conn *pgx.Conn) {
	defer conn.Close(context.Background())
	for w.write(ctx, conn) {
	}
}

// write tries one transaction; false means that the server is gone.
func (w *writer) write(ctx context.Context, conn *pgx.Conn) bool {
	after := map[int64]*row{}
	var sql []string
	ids := slices.Sorted(maps.Keys(w.rows))
	switch n := w.r.IntN(4); {
	case n == 0 && len(ids) > 0, len(ids) >= writerRows:
		for range 1 + w.r.IntN(5) {
			id := ids[w.r.IntN(len(ids))]
			after[id] = nil
			sql = append(sql, fmt.Sprintf("DELETE FROM t WHERE id = %d", id), fmt.Sprintf("DELETE FROM audit WHERE id = %d", id))
		}
	case n == 1 && len(ids) > 0:
		id := ids[w.r.IntN(len(ids))]
		after[id] = &row{w.rows[id].k, w.r.Int64N(1000)}
		sql = append(sql, fmt.Sprintf("UPDATE t SET v = %d WHERE id = %d", after[id].v, id))
	default:
		for range 1 + w.r.IntN(5) {
			w.next++
			after[w.next] = &row{w.r.Int64N(7), w.r.Int64N(1000)}
			sql = append(sql, fmt.Sprintf("INSERT INTO t VALUES (%d, %d, %d)", w.next, after[w.next].k, after[w.next].v),
				fmt.Sprintf("INSERT INTO audit VALUES (%d)", w.next))
		}
	}
	w.doubt = after
	_, err := conn.PgConn().Exec(ctx, "BEGIN; "+strings.Join(sql, "; ")+"; COMMIT").ReadAll()
	switch {
	case err == nil:
		w.apply()
		w.done++
	case strings.Contains(err.Error(), "40001"):
		// Lost against another writer: nothing happened.
		w.doubt = nil
		if _, err := conn.PgConn().Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
			return false
		}
	default:
		return false
	}
	return true
}

func (w *writer) apply() {
	for id, r := range w.doubt {
		if r == nil {
			delete(w.rows, id)
		} else {
			w.rows[id] = *r
		}
	}
	w.doubt = nil
}

// verify compares the tables with what the writers know, and the views with the tables.
func verify(t *testing.T, c *child, writers []*writer) error {
	conn := c.connect()
	defer conn.Close(context.Background())
	found := map[int64]row{}
	for _, line := range table(t, conn, "SELECT id, k, v FROM t") {
		var id int64
		var r row
		fmt.Sscanf(line, "%d\t%d\t%d", &id, &r.k, &r.v)
		if _, twice := found[id]; twice {
			return fmt.Errorf("row %d is there twice", id)
		}
		found[id] = r
	}
	want := map[int64]row{}
	for _, w := range writers {
		if w.doubt != nil && happened(found, w.doubt) {
			w.apply()
		}
		w.doubt = nil
		maps.Copy(want, w.rows)
	}
	if !maps.Equal(found, want) {
		for id, r := range want {
			if f, ok := found[id]; !ok || f != r {
				return fmt.Errorf("row %d is %v, %v; acknowledged was %v", id, f, ok, r)
			}
		}
		return fmt.Errorf("%d rows are there, want %d", len(found), len(want))
	}
	return verifyViews(t, conn, want)
}

// happened says whether the transaction in doubt is in the table: its first row decides, and verify compares the rest.
func happened(found map[int64]row, doubt map[int64]*row) bool {
	for id, r := range doubt {
		f, ok := found[id]
		return r == nil && !ok || r != nil && ok && f == *r
	}
	return false
}

func verifyViews(t *testing.T, conn *pgx.Conn, want map[int64]row) error {
	type sum struct{ n, s, hi int64 }
	sums := map[int64]sum{}
	var total sum
	for _, r := range want {
		x := sums[r.k]
		sums[r.k] = sum{x.n + 1, x.s + r.v, max(x.hi, r.v)}
		total.n++
		total.s += r.v
	}
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		lines = append(lines, fmt.Sprintf("%d\t%d\t%d\t%d", k, sums[k].n, sums[k].s, sums[k].hi))
	}
	checks := map[string][]string{
		"SELECT k, n, s, hi FROM sums ORDER BY k": lines,
		"SELECT count(*) FROM audit":              {fmt.Sprint(len(want))},
		"SELECT count(*) FROM pairs":              {fmt.Sprint(len(want))},
	}
	if len(want) > 0 {
		checks["SELECT n, s FROM total"] = []string{fmt.Sprintf("%d\t%d", total.n, total.s)}
		k := slices.Sorted(maps.Keys(sums))[0]
		checks[fmt.Sprintf("SELECT n FROM sums WHERE k = %d", k)] = []string{fmt.Sprint(sums[k].n)}
	}
	for query, lines := range checks {
		if got := table(t, conn, query); !slices.Equal(got, lines) {
			return fmt.Errorf("%s gives\n%s\nwant\n%s", query, strings.Join(got, "\n"), strings.Join(lines, "\n"))
		}
	}
	return nil
}

// TestCommitsAreSynced counts at least one fsync for each of some commits that follow each other, and one at most for
// many that come together; and none while nothing happens, whatever views there are.
func TestCommitsAreSynced(t *testing.T) {
	c := startChild(t, t.TempDir())
	conn := c.connect()
	exec1(t, conn, "CREATE TABLE t (a int)", "CREATE TABLE idle (a int)", "INSERT INTO idle VALUES (1)")
	for i := range 30 {
		exec1(t, conn, fmt.Sprintf("CREATE MATERIALIZED VIEW idle%d AS SELECT a + %d AS a FROM idle", i, i))
		table(t, conn, fmt.Sprintf("TABLE idle%d", i))
	}
	const fsyncs, commands = "tributary_storage_fsyncs_total", "tributary_storage_consensus_commands_total"
	before := c.metric(fsyncs)
	const n = 50
	for i := range n {
		exec1(t, conn, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
	}
	if got := c.metric(fsyncs) - before; got < n {
		t.Errorf("%v fsyncs for %d commits that followed each other", got, n)
	}
	// Whatever follows a commit in the background ends by itself; then nothing happens any more.
	for last := -1.0; ; {
		now := c.metric(fsyncs) + c.metric(commands)
		if now == last {
			break
		}
		last = now
		time.Sleep(300 * time.Millisecond)
	}
	idle := c.metric(fsyncs) + c.metric(commands)
	time.Sleep(2500 * time.Millisecond)
	if got := c.metric(fsyncs) + c.metric(commands); got != idle {
		t.Errorf("%v fsyncs and commands while nothing happened", got-idle)
	}
	c.stop()
}
