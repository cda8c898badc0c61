package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/storage/shard"
)

// sinkKillsEnv is how long TestSinksAreKilledAtNamedPlaces goes on with random shapes and places, as a duration; without
// it each place is met once.
const sinkKillsEnv = "TRIBUTARY_SINK_KILLS"

// doomedView is the view in whose intervals servers die.
const doomedView = "wide"

// doomedViews are the views there are, and their queries.
var doomedViews = map[string]string{
	doomedView: "SELECT id, batch, v, repeat(s, w) AS s FROM t",
	"sums":     "SELECT batch, count(*) AS n, sum(v) AS total, max(id) AS last FROM t GROUP BY batch",
	"pairs":    "SELECT t.id, m.name FROM t JOIN marks m ON t.batch % 3 = m.k",
}

// shape is how much is written, and how a view with eight workers takes it.
type shape struct {
	settings []string
	// rows are those of a write, before which the server dies; w makes those of the view wider.
	rows, w int64
	// objects are how many a write makes of the view, at least.
	objects int
	places  []string
}

var sinkShapes = map[string]shape{
	"inline": {nil, 21, 1, 0, []string{atStaged, atAppend, atDurable}},
	"object": {[]string{"storage_inline_append_max_bytes = 0"}, 21, 1, 1, []string{atPut, atAppend, atDurable}},
	// More than two full parts, of one writer: no more are being put, and what comes after is not encoded yet.
	"parts": {[]string{"compute_mv_sink_shared_batch_max_bytes = '1GB'"}, 6000, 80, 3, []string{atEncoding}},
	"spilled": {[]string{"compute_mv_sink_shared_batch_max_bytes = '4kB'"}, 3000, 1, 8,
		[]string{atStaged, atEncoding, atPut, atAppend, atDurable}},
	"alone": {[]string{"compute_mv_sink_shared_batch_max_bytes = 0"}, 3000, 1, 8,
		[]string{atStaged, atEncoding, atPut, atAppend, atDurable}},
}

// TestSinksAreKilledAtNamedPlaces has servers kill themselves in the middle of a view's interval: when it has rows and is not
// sealed; when some of it is put; before its step; when the step is durable and nobody knows. What is on disk then shows
// that it was there. The next server has every row that was acknowledged once, views that are their queries, and removes
// what was put for nothing; a subscription that goes on where the last one ended adds up.
func TestSinksAreKilledAtNamedPlaces(t *testing.T) {
	names := slices.Sorted(maps.Keys(sinkShapes))
	if testing.Short() {
		names = []string{"inline", "spilled"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s := sinkShapes[name]
			k := newSinkKills(t, s)
			for _, at := range s.places {
				k.dieAt(at)
			}
			k.end()
		})
	}
	long, err := time.ParseDuration(os.Getenv(sinkKillsEnv))
	if err != nil {
		return
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	kills := map[string]int{}
	for begin := time.Now(); time.Since(begin) < long; {
		name := names[r.IntN(len(names))]
		s := sinkShapes[name]
		// So many that they become objects where they did.
		s.rows += r.Int64N(s.rows)
		k := newSinkKills(t, s)
		for range 1 + r.IntN(8) {
			at := s.places[r.IntN(len(s.places))]
			k.dieAt(at)
			kills[name+" "+at]++
		}
		k.end()
	}
	t.Logf("kills: %v", kills)
}

// sinkKills is a server that dies again and again, and what is known of its rows.
type sinkKills struct {
	t    *testing.T
	s    shape
	dir  string
	view string
	// unnamed is how many objects there were that nobody names, when the last one had died.
	unnamed int
	batches map[int64]written
	// doubt is what the batches were if the statement under way has happened.
	doubt map[int64]written
	next  int64
	log   follower
}

// written is what is known of the rows of a batch, which differ in their ids alone.
type written struct{ rows, v int64 }

func newSinkKills(t *testing.T, s shape) *sinkKills {
	k := &sinkKills{t: t, s: s, dir: t.TempDir(), batches: map[int64]written{}, log: follower{counts: map[string]int{}}}
	c := startChild(t, k.dir, "--workers=8")
	conn := c.connect()
	exec1(t, conn, "CREATE TABLE t (id int8, batch int8, v int8, s text, w int4)", "CREATE TABLE marks (k int8, name text)",
		"INSERT INTO marks VALUES (0, 'no'), (1, 'one'), (1, 'uno'), (2, 'two')",
		// Compaction puts objects too, and ends a subscription's past.
		"ALTER SYSTEM SET storage_compaction_enabled = false", "ALTER SYSTEM SET storage_retain_history = '1h'")
	for _, set := range s.settings {
		exec1(t, conn, "ALTER SYSTEM SET "+set)
	}
	for _, name := range slices.Sorted(maps.Keys(doomedViews)) {
		exec1(t, conn, "CREATE MATERIALIZED VIEW "+name+" AS "+doomedViews[name])
	}
	k.view = table(t, conn, "SELECT id FROM mz_catalog.mz_materialized_views WHERE name = '"+doomedView+"'")[0]
	k.verify(c)
	c.stop()
	return k
}

// batchIDs is how far apart the first ids of batches are.
const batchIDs = 1_000_000

// insert is a statement that inserts a batch of rows; all of a batch are alike.
func (k *sinkKills) insert(rows, w int64) string {
	k.next++
	k.doubt[k.next] = written{rows, 0}
	return fmt.Sprintf("INSERT INTO t SELECT g, %d, 0, g || ': some text of about forty bytes, batch %d', %d FROM generate_series(%d, %d) g",
		k.next, k.next, w, k.next*batchIDs, k.next*batchIDs+rows-1)
}

// write has a transaction change the batches; false means that the server has died of it.
func (k *sinkKills) write(conn *pgx.Conn, statements func() []string) bool {
	k.t.Helper()
	k.doubt = maps.Clone(k.batches)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := conn.PgConn().Exec(ctx, "BEGIN; "+strings.Join(statements(), "; ")+"; COMMIT").ReadAll()
	if err == nil {
		k.batches, k.doubt = k.doubt, nil
		return true
	}
	if ctx.Err() != nil || !conn.IsClosed() {
		k.t.Fatalf("a write failed: %v", err)
	}
	return false
}

// small inserts a few rows.
func (k *sinkKills) small() []string { return []string{k.insert(20, 1)} }

// dieAt has a server die at a place, and looks at what it leaves.
func (k *sinkKills) dieAt(at string) {
	k.t.Helper()
	armedBy := filepath.Join(k.t.TempDir(), "armed")
	k.t.Setenv(doomEnv, doomSpec(at, k.s.objects, armedBy))
	c := startChild(k.t, k.dir, "--workers=8")
	k.t.Setenv(doomEnv, "")
	k.verify(c)
	following := k.log.follow(c)
	conn := c.connect()
	for range 2 {
		k.write(conn, k.small)
	}
	k.equal(c)
	old, older := k.next, k.next-1
	before := k.rows()
	if err := arm(armedBy, k.view); err != nil {
		k.t.Fatal(err)
	}
	// In the first of them rows come, go and change.
	alive := k.write(conn, func() []string {
		rows := k.s.rows
		if at == atStaged {
			rows = max(rows, 3000)
		}
		sql := []string{k.insert(rows, k.s.w), fmt.Sprintf("UPDATE t SET v = v + 1 WHERE batch = %d", old),
			fmt.Sprintf("DELETE FROM t WHERE batch = %d", older)}
		k.doubt[old] = written{20, 1}
		delete(k.doubt, older)
		return sql
	})
	after := k.rows()
	for since := time.Now(); alive && at == atStaged; {
		alive = k.write(conn, func() []string { return []string{k.insert(k.s.rows, 1)} })
		if time.Since(since) > time.Minute {
			k.t.Fatalf("%s was not reached", at)
		}
	}
	c.dies()
	<-following
	k.look(at, before, after)
}

// rows is how many rows there are, as far as is known: with what is in doubt.
func (k *sinkKills) rows() int64 {
	n := int64(0)
	known := k.batches
	if k.doubt != nil {
		known = k.doubt
	}
	for _, b := range known {
		n += b.rows
	}
	return n
}

// dies waits for the server to end by SIGKILL, and by its own hand.
func (c *child) dies() {
	c.t.Helper()
	select {
	case logs := <-c.logs:
		var status *exec.ExitError
		if err := c.cmd.Wait(); !errors.As(err, &status) || status.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			c.t.Fatalf("the server ended with %v:\n%s", err, logs)
		}
	case <-time.After(time.Minute):
		c.t.Fatal("the server does not die")
	}
}

var saysUnnamed = regexp.MustCompile(`; (\d+) of them, \d+ bytes, are named by nobody\n`)

// look holds what a server that died at a place has left against what must be there: the view with the rows before the
// interval or after it, and the objects that were put for it.
func (k *sinkKills) look(at string, before, after int64) {
	k.t.Helper()
	d, err := openOffline(k.dir)
	if err != nil {
		k.t.Fatal(err)
	}
	defer d.Close()
	client, err := readingClient(d.registers, d.objects)
	if err != nil {
		k.t.Fatal(err)
	}
	r, err := client.Check(k.t.Context(), shard.ID(k.view))
	if err != nil || len(r.Faults) > 0 {
		k.t.Fatalf("%s: %v, %v", at, err, r.Faults)
	}
	want := before
	if at == atDurable {
		want = after
	}
	if r.Totals.DiffSum != want {
		k.t.Errorf("at %s the view has %d rows, want %d", at, r.Totals.DiffSum, want)
	}
	infos, err := d.objects.List(k.t.Context(), k.view+"/p")
	if err != nil {
		k.t.Fatal(err)
	}
	unnamed := 0
	for _, i := range infos {
		if !slices.Contains(r.Objects, i.Key) {
			unnamed++
		}
	}
	least, most := 0, 0
	switch at {
	case atEncoding, atPut:
		least, most = 1, 1
	case atAppend:
		least, most = k.s.objects, 8
	}
	if unnamed < least || unnamed > most {
		k.t.Errorf("at %s there are %d objects of the view that nobody names, want from %d to %d", at, unnamed, least, most)
	}
	k.unnamed = k.inspect(d)
}

// inspect finds no fault in what there is, and counts the objects that nobody names.
func (k *sinkKills) inspect(d *dataDirectory) int {
	k.t.Helper()
	var out strings.Builder
	if err := inspect(k.t.Context(), d.registers, d.objects, &out); err != nil {
		k.t.Fatalf("%v\n%s", err, out.String())
	}
	said := saysUnnamed.FindStringSubmatch(out.String())
	n, err := strconv.Atoi(said[1])
	if err != nil {
		k.t.Fatal(err)
	}
	return n
}

// verify holds the table against what was acknowledged, and the views against their queries, and waits until what nobody
// names is gone.
func (k *sinkKills) verify(c *child) {
	k.t.Helper()
	conn := c.connect()
	defer conn.Close(context.Background())
	got := table(k.t, conn, "SELECT batch, count(*), count(DISTINCT id), min(v), max(v) FROM t GROUP BY batch ORDER BY batch")
	if k.doubt != nil && slices.Equal(got, lines(k.doubt)) {
		k.batches = k.doubt
	}
	k.doubt = nil
	if want := lines(k.batches); !slices.Equal(got, want) {
		k.t.Fatalf("the table has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	k.equal(c)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for since := time.Now(); c.metric("tributary_storage_objects_swept_total") < float64(k.unnamed); <-look.C {
		if time.Since(since) > time.Minute {
			k.t.Fatalf("%d objects are not removed", k.unnamed)
		}
	}
}

// lines are what a query for the batches gives.
func lines(batches map[int64]written) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(batches)) {
		b := batches[n]
		out = append(out, fmt.Sprintf("%d\t%d\t%d\t%d\t%d", n, b.rows, b.rows, b.v, b.v))
	}
	return out
}

// equal holds the views against their queries.
func (k *sinkKills) equal(c *child) {
	k.t.Helper()
	conn := c.connect()
	defer conn.Close(context.Background())
	for name, query := range doomedViews {
		if n := differences(k.t, conn, name, query); n != "0" {
			k.t.Fatalf("%s differs from its query in %s rows", name, n)
		}
	}
}

// differences counts the rows that a view has and its query has not, or the other way round, at one time.
func differences(t testing.TB, conn *pgx.Conn, view, query string) string {
	t.Helper()
	return table(t, conn, fmt.Sprintf("SELECT count(*) FROM ((SELECT * FROM %s EXCEPT ALL (%s)) UNION ALL ((%s) EXCEPT ALL SELECT * FROM %s)) d",
		view, query, query, view))[0]
}

// end has a server live to its end, which leaves no object that nobody names.
func (k *sinkKills) end() {
	k.t.Helper()
	c := startChild(k.t, k.dir, "--workers=8")
	k.verify(c)
	k.log.last = strconv.FormatInt((k.next+1)*batchIDs, 10)
	following := k.log.follow(c)
	conn := c.connect()
	k.write(conn, k.small)
	k.equal(c)
	if err := <-following; err == nil || !strings.Contains(err.Error(), errEnough.Error()) {
		k.t.Fatalf("the subscription ended: %v", err)
	}
	if want := counts(table(k.t, conn, followed)); !maps.Equal(k.log.counts, want) {
		k.t.Errorf("the subscription comes to %d rows%s", len(k.log.counts), someDifference(k.log.counts, want))
	}
	c.stop()
	d, err := openOffline(k.dir)
	if err != nil {
		k.t.Fatal(err)
	}
	defer d.Close()
	if n := k.inspect(d); n > 0 {
		k.t.Errorf("%d objects are named by nobody", n)
	}
}

// followed is the query that a follower subscribes to.
const followed = "SELECT id, v, length(s) FROM " + doomedView

// follower reads one subscription in pieces, of one server after the other: each goes on where the last one has said that
// all was told.
type follower struct {
	counts map[string]int
	// upTo is the time before which all is counted; 0 before the first piece.
	upTo int64
	// last is the id of a row: when it is there, and all that came with it, that was enough.
	last    string
	pending []event
	buf     string
}

// follow subscribes, and gives in the end why there is no more.
func (f *follower) follow(c *child) <-chan error {
	conn, done := c.connect(), make(chan error, 1)
	f.buf, f.pending = "", nil
	options := "WITH (PROGRESS)"
	if f.upTo > 0 {
		options = fmt.Sprintf("WITH (PROGRESS, SNAPSHOT = false) AS OF %d", f.upTo-1)
	}
	go func() {
		_, err := conn.PgConn().CopyTo(context.Background(), f, "COPY (SUBSCRIBE ("+followed+") "+options+") TO STDOUT")
		done <- err
	}()
	return done
}

// Write takes lines of the subscription. Those before upTo were counted in the piece before: a time is told in
// milliseconds, and is finer than that.
func (f *follower) Write(p []byte) (int, error) {
	f.buf += string(p)
	for {
		line, rest, ok := strings.Cut(f.buf, "\n")
		if !ok {
			return len(p), nil
		}
		f.buf = rest
		cells := strings.SplitN(line, "\t", 4)
		at, err := strconv.ParseInt(cells[0], 10, 64)
		if err != nil {
			return 0, err
		}
		if cells[1] == "t" {
			if f.advance(at) {
				return 0, errEnough
			}
			continue
		}
		diff, err := strconv.Atoi(cells[2])
		if err != nil {
			return 0, err
		}
		if at >= f.upTo {
			f.pending = append(f.pending, event{at: at, diff: diff, row: cells[3]})
		}
	}
}

// advance counts what came before a time, and says whether that was enough.
func (f *follower) advance(to int64) (enough bool) {
	var rest []event
	for _, e := range f.pending {
		if e.at >= to {
			rest = append(rest, e)
			continue
		}
		if f.counts[e.row] += e.diff; f.counts[e.row] == 0 {
			delete(f.counts, e.row)
		}
		enough = enough || strings.HasPrefix(e.row, f.last+"\t")
	}
	f.pending, f.upTo = rest, to
	return enough
}
