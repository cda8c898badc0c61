package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/pgtest"
)

// shapes are the queries that views are made of here. Numbers that are no integers are compared as float8, which both
// print alike.
var shapes = map[string]string{
	"filtered":  "SELECT id, v * 2 AS w, s || '!' AS s FROM a WHERE v > 3 AND (s <> 'x' OR s IS NULL)",
	"grouped":   "SELECT k, count(*) AS n, count(v) AS nv, sum(v) AS total, round(avg(v), 4)::float8 AS mean FROM a GROUP BY k",
	"extremes":  "SELECT k, min(v) AS lo, max(v) AS hi, min(s) AS first, max(s) AS last, max(f) AS most FROM a GROUP BY k HAVING count(*) > 1",
	"inner":     "SELECT a.id, b.id AS other, a.v + b.v AS v FROM a JOIN b ON a.k = b.k AND a.v >= b.v",
	"left":      "SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.k = b.k AND b.v > 2",
	"full":      "SELECT a.k AS ak, b.k AS bk, a.s FROM a FULL JOIN b ON a.k = b.k",
	"distinct":  "SELECT DISTINCT k, s FROM a",
	"union":     "SELECT k, v FROM a UNION SELECT k, v FROM b",
	"except":    "SELECT k, v FROM a EXCEPT ALL SELECT k, v FROM b",
	"intersect": "SELECT k FROM a INTERSECT ALL SELECT k FROM b",
	"topk":      "SELECT k, id, v FROM a ORDER BY v DESC NULLS LAST, id LIMIT 7 OFFSET 2",
	"latest":    "SELECT DISTINCT ON (k) k, id, v FROM a ORDER BY k, v DESC NULLS LAST, id",
	"perkey":    "SELECT g.k, x.id FROM (SELECT DISTINCT k FROM b) g, LATERAL (SELECT id FROM a WHERE a.k = g.k ORDER BY id DESC LIMIT 2) x",
	"exists":    "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v < a.v)",
	"notin":     "SELECT id FROM a WHERE v NOT IN (SELECT v FROM b WHERE v IS NOT NULL)",
	"scalar":    "SELECT id, (SELECT max(b.v) FROM b WHERE b.k = a.k) AS m FROM a",
	"folded":    "SELECT k, string_agg(s, ',' ORDER BY id) AS all_s, array_agg(v ORDER BY id) AS all_v, count(DISTINCT s) AS kinds FROM a GROUP BY k",
	"global":    "SELECT count(*) AS n, sum(v) AS total, max(s) AS last FROM a",
	"floats":    "SELECT k, sum(f) AS total, sum(n)::float8 AS exact FROM a GROUP BY k",
	"onview":    "SELECT n, count(*) AS groups, sum(total) AS t FROM grouped GROUP BY n",
}

const tables = `CREATE TABLE a (id int8 NOT NULL, k int4, v int8, s text, f float8, n numeric);
CREATE TABLE b (id int8 NOT NULL, k int4, v int8)`

// TestViewsAreTheirQueries changes two tables at random and holds the views over them, at every time of a
// subscription, against the same queries on PostgreSQL over the tables' contents at that time; on clusters of one,
// four and eight workers, at thresholds that change all the time, and again after a restart.
func TestViewsAreTheirQueries(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	o := newOracle(t)
	dir := t.TempDir()
	c := startChild(t, dir)
	conn := c.connect()
	exec1(t, conn, strings.Split(tables, ";\n")...)
	for _, w := range []int{1, 4, 8} {
		exec1(t, conn, fmt.Sprintf("CREATE CLUSTER c%d (SIZE = 'scale=1,workers=%d')", w, w))
		for _, name := range shapeNames() {
			exec1(t, conn, fmt.Sprintf("CREATE MATERIALIZED VIEW %s IN CLUSTER c%d AS %s", viewName(name, w), w, onCluster(shapes[name], w)))
		}
	}
	h := &history{r: rand.New(rand.NewPCG(seed, 1)), live: map[string]map[int64]string{"a": {}, "b": {}}}
	transactions := 40
	if testing.Short() {
		transactions = 8
	}
	for i := range 3 {
		logs := o.watch(t, c)
		for range transactions {
			exec1(t, conn, "ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = "+h.threshold(), h.transaction())
		}
		o.compare(t, logs, time.Now())
		if n := c.metric("tributary_sink_rebuilds_total"); n > 0 {
			t.Errorf("dataflows were built anew %v times", n)
		}
		if i == 1 {
			c.stop()
			c = startChild(t, dir)
			conn = c.connect()
			o.contents(t, conn)
		}
	}
	// Many rows at once, many changed, most deleted.
	rows := 200_000
	if testing.Short() {
		rows = 10_000
	}
	for _, sql := range []string{
		fmt.Sprintf("INSERT INTO a SELECT g, (g %% 5000)::int4, g::int8 * 7919 %% 1000, 's' || g %% 40, g * 0.25::float8, g * 0.01 FROM generate_series(100000, %d) g", 100000+rows-1),
		fmt.Sprintf("INSERT INTO b SELECT g, (g %% 5000)::int4, g::int8 * 104729 %% 1000 FROM generate_series(900000, %d) g", 900000+rows/20),
		"UPDATE a SET v = v + 1, k = k + 1 WHERE id % 100 = 0",
		"DELETE FROM a WHERE id % 3 = 0 AND id >= 100000",
	} {
		exec1(t, conn, sql)
		o.exec(t, sql)
	}
	o.contents(t, conn)
	c.stop()
	c = startChild(t, dir)
	o.contents(t, c.connect())
	c.stop()
}

func shapeNames() []string { return slices.Sorted(maps.Keys(shapes)) }

func viewName(shape string, workers int) string { return fmt.Sprintf("%s_%d", shape, workers) }

// onCluster makes a view on a view read the one of its own cluster.
func onCluster(query string, workers int) string {
	return strings.ReplaceAll(query, "FROM grouped", "FROM "+viewName("grouped", workers))
}

// history makes transactions.
type history struct {
	r    *rand.Rand
	next int64
	live map[string]map[int64]string
}

func (h *history) transaction() string {
	var sql []string
	for range 1 + h.r.IntN(3) {
		name := []string{"a", "a", "b"}[h.r.IntN(3)]
		ids := slices.Sorted(maps.Keys(h.live[name]))
		switch n := h.r.IntN(5); {
		case n == 0 && len(ids) > 3:
			id := ids[h.r.IntN(len(ids))]
			delete(h.live[name], id)
			sql = append(sql, fmt.Sprintf("DELETE FROM %s WHERE id = %d", name, id))
		case n == 1 && len(ids) > 3:
			sql = append(sql, fmt.Sprintf("UPDATE %s SET v = %s, k = %s WHERE id = %d", name, h.number(6), h.number(5), ids[h.r.IntN(len(ids))]))
		default:
			var values []string
			for range 1 + h.r.IntN(6) {
				h.next++
				h.live[name][h.next] = ""
				row := fmt.Sprintf("(%d, %s, %s", h.next, h.number(5), h.number(6))
				if name == "a" {
					row += fmt.Sprintf(", %s, %d.25, %d.%d", []string{"'x'", "'yy'", "''", "NULL", "'ü,z'"}[h.r.IntN(5)], h.r.IntN(9)-4, h.r.IntN(50), h.r.IntN(100))
				}
				values = append(values, row+")")
			}
			sql = append(sql, fmt.Sprintf("INSERT INTO %s VALUES %s", name, strings.Join(values, ", ")))
		}
	}
	return "BEGIN; " + strings.Join(sql, "; ") + "; COMMIT"
}

// threshold is one for view sinks, from no sharing to the most there may be.
func (h *history) threshold() string {
	return []string{"0", "1", "4096", "1048576", "1073741824"}[h.r.IntN(5)]
}

func (h *history) number(below int) string {
	if h.r.IntN(7) == 0 {
		return "NULL"
	}
	return strconv.Itoa(h.r.IntN(below))
}

// oracle is PostgreSQL with the same two tables, whose contents follow what a subscription says of ours, and with the
// queries as plain views.
type oracle struct{ conn *pgx.Conn }

func newOracle(t *testing.T) *oracle {
	pg := pgtest.Start(t)
	conn, err := pgx.Connect(context.Background(), pg.NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	o := &oracle{conn: conn}
	o.exec(t, tables)
	o.exec(t, "CREATE INDEX ON a (k); CREATE INDEX ON b (k)")
	o.exec(t, "CREATE VIEW grouped AS "+shapes["grouped"])
	return o
}

func (o *oracle) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := o.conn.PgConn().Exec(context.Background(), sql).ReadAll(); err != nil {
		t.Fatalf("on PostgreSQL: %s: %v", sql, err)
	}
}

// event is one line of a subscription: so many of a row, from a time on.
type event struct {
	at   int64
	diff int
	row  string
}

// feed is a subscription, read by a goroutine until it is complete through some time.
type feed struct {
	name string
	// from is the time it begins at.
	from   int64
	events []event
	upTo   chan int64
	done   chan error
}

// watch subscribes to the tables and to all views, snapshots included.
func (o *oracle) watch(t *testing.T, c *child) map[string]*feed {
	names := []string{"a", "b"}
	for _, w := range []int{1, 4, 8} {
		for _, s := range shapeNames() {
			names = append(names, viewName(s, w))
		}
	}
	logs := map[string]*feed{}
	for _, n := range names {
		logs[n] = c.subscribe(n)
	}
	return logs
}

// subscribe begins to read all that a table or a view has and how it changes.
func (c *child) subscribe(name string) *feed {
	f := &feed{name: name, upTo: make(chan int64, 1), done: make(chan error, 1)}
	conn := c.connect()
	started := make(chan struct{})
	go func() {
		_, err := conn.PgConn().CopyTo(context.Background(), &lineWriter{feed: f, started: started}, "COPY (SUBSCRIBE "+name+" WITH (PROGRESS)) TO STDOUT")
		if err == nil || strings.Contains(err.Error(), errEnough.Error()) {
			err = nil
		}
		conn.Close(context.Background())
		f.done <- err
	}()
	<-started
	return f
}

var errEnough = fmt.Errorf("that was enough")

// lineWriter takes a subscription's lines apart.
type lineWriter struct {
	feed    *feed
	started chan struct{}
	buf     string
	until   int64
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.buf += string(p)
	for {
		line, rest, ok := strings.Cut(w.buf, "\n")
		if !ok {
			return len(p), nil
		}
		w.buf = rest
		cells := strings.SplitN(line, "\t", 4)
		at, err := strconv.ParseInt(cells[0], 10, 64)
		if err != nil {
			return 0, err
		}
		if w.started != nil {
			w.feed.from = at
			close(w.started)
			w.started = nil
		}
		if cells[1] == "t" {
			select {
			case w.until = <-w.feed.upTo:
			default:
			}
			if w.until != 0 && at > w.until {
				return 0, errEnough
			}
			continue
		}
		diff, err := strconv.Atoi(cells[2])
		if err != nil {
			return 0, err
		}
		w.feed.events = append(w.feed.events, event{at: at, diff: diff, row: cells[3]})
	}
}

// compare waits for the subscriptions to be complete through a time, and walks through all their times.
func (o *oracle) compare(t *testing.T, logs map[string]*feed, end time.Time) {
	t.Helper()
	times := map[int64]bool{}
	for _, f := range logs {
		f.upTo <- end.UnixMilli() + 1
	}
	for _, f := range logs {
		if err := <-f.done; err != nil {
			t.Fatalf("subscription to %s: %v", f.name, err)
		}
	}
	// Before the last of them began there is nothing to compare.
	from := int64(0)
	for _, f := range logs {
		from = max(from, f.from)
	}
	times[from] = true
	for _, f := range []*feed{logs["a"], logs["b"]} {
		for _, e := range f.events {
			if e.at > from {
				times[e.at] = true
			}
		}
	}
	o.exec(t, "DELETE FROM a; DELETE FROM b")
	got := map[string]map[string]int{}
	for _, at := range slices.Sorted(maps.Keys(times)) {
		o.follow(t, "a", logs["a"], at)
		o.follow(t, "b", logs["b"], at)
		for _, s := range shapeNames() {
			want := counts(table(t, o.conn, shapes[s]))
			for _, w := range []int{1, 4, 8} {
				name := viewName(s, w)
				if got[name] == nil {
					got[name] = map[string]int{}
				}
				accumulate(got[name], logs[name], at)
				if !maps.Equal(got[name], want) {
					t.Fatalf("%s at %d is\n%v\nwant\n%v", name, at, got[name], want)
				}
			}
		}
	}
	for name, f := range logs {
		if len(f.events) > 0 {
			t.Fatalf("%s has changes at %d, when no table changed", name, f.events[0].at)
		}
	}
}

// accumulate takes a feed's events up to a time into the counts.
func accumulate(into map[string]int, f *feed, at int64) {
	for len(f.events) > 0 && f.events[0].at <= at {
		e := f.events[0]
		f.events = f.events[1:]
		if into[e.row] += e.diff; into[e.row] == 0 {
			delete(into, e.row)
		}
	}
}

// follow applies a table's changes up to a time to PostgreSQL's table.
func (o *oracle) follow(t *testing.T, name string, f *feed, at int64) {
	t.Helper()
	change := map[string]int{}
	accumulate(change, f, at)
	var sql []string
	for _, row := range slices.Sorted(maps.Keys(change)) {
		for range -change[row] {
			sql = append(sql, fmt.Sprintf("DELETE FROM %s WHERE id = %s", name, strings.Split(row, "\t")[0]))
		}
	}
	for _, row := range slices.Sorted(maps.Keys(change)) {
		for range change[row] {
			cells := strings.Split(row, "\t")
			for i, c := range cells {
				if c == `\N` {
					cells[i] = "NULL"
				} else {
					cells[i] = "'" + c + "'"
				}
			}
			sql = append(sql, fmt.Sprintf("INSERT INTO %s VALUES (%s)", name, strings.Join(cells, ", ")))
		}
	}
	if len(sql) > 0 {
		o.exec(t, strings.Join(sql, "; "))
	}
}

// contents compares the tables and the views, as they are now.
func (o *oracle) contents(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, query := range []string{"SELECT id, k, v, s, f, n::float8 FROM a", "TABLE b"} {
		if got, want := counts(table(t, conn, query)), counts(table(t, o.conn, query)); !maps.Equal(got, want) {
			t.Fatalf("%s gives %d rows, want %d%s", query, len(got), len(want), someDifference(got, want))
		}
	}
	for _, s := range shapeNames() {
		want := counts(table(t, o.conn, shapes[s]))
		for _, w := range []int{1, 4, 8} {
			got := counts(table(t, conn, "TABLE "+viewName(s, w)))
			if !maps.Equal(got, want) {
				t.Fatalf("%s has %d distinct rows, want %d%s", viewName(s, w), len(got), len(want), someDifference(got, want))
			}
		}
	}
}

func counts(rows []string) map[string]int {
	m := map[string]int{}
	for _, r := range rows {
		m[r]++
	}
	return m
}

func someDifference(got, want map[string]int) string {
	for r, n := range got {
		if want[r] != n {
			return fmt.Sprintf("; %q is there %d times, want %d", r, n, want[r])
		}
	}
	for r, n := range want {
		if got[r] != n {
			return fmt.Sprintf("; %q is there %d times, want %d", r, got[r], n)
		}
	}
	return ""
}
