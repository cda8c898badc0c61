package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// flipsEnv is how many writes TestSettingsFlipUnderLoad makes by itself.
const flipsEnv = "TRIBUTARY_FLIPS"

// flipped are the parameters of sinks, and the values they are given: from nothing to the most.
var flipped = []struct {
	name   string
	values []string
}{
	{"compute_mv_sink_shared_batch_max_bytes", []string{"0", "1", "4096", "1048576", "1073741824"}},
	{"compute_mv_sink_staging_max_bytes", []string{"0", "65536", "268435456"}},
	{"storage_inline_append_max_bytes", []string{"0", "32768", "262144"}},
}

// flippedViews are views of few rows and of many, and their queries.
var flippedViews = map[string]string{
	"sums":    "SELECT k, count(*) AS n, sum(v) AS s, max(v) AS hi FROM t GROUP BY k",
	"pairs":   "SELECT a.id FROM t a JOIN audit b ON a.id = b.id",
	"big_by":  "SELECT k, count(*) AS n, sum(id) AS s, max(t) AS last FROM big GROUP BY k",
	"big_all": "SELECT id, k, t FROM big",
}

// TestSettingsFlipUnderLoad changes the parameters of sinks, with every third write and every 100 ms besides, while others
// insert, update and delete, few rows and many. Views, indexes and subscriptions are at any one time what their queries
// are then; nothing is lost and nothing is built anew.
func TestSettingsFlipUnderLoad(t *testing.T) {
	writes := 135 // each value has met each
	if testing.Short() {
		writes = 45
	}
	if n, err := strconv.Atoi(os.Getenv(flipsEnv)); err == nil {
		writes = n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := startChild(t, t.TempDir(), "--workers=8")
	conn := c.connect()
	exec1(t, conn, "ALTER SYSTEM SET storage_retain_history = '1h'")
	// Without an index of a view: it has the view's past for a second only.
	exec1(t, conn, slices.Concat(killedTables[:len(killedTables)-1], windowTables)...)
	exec1(t, conn, "CREATE MATERIALIZED VIEW big_all AS "+flippedViews["big_all"])
	f := &flips{t: t, c: c, results: map[int64]map[string]map[string]int{}, logs: map[string]*feed{}}
	for name, query := range flippedViews {
		exec1(t, conn, "CREATE VIEW indexed_"+name+" AS "+query, "CREATE DEFAULT INDEX ON indexed_"+name)
		f.logs[name] = c.subscribe(name)
	}
	writers := make([]*writer, 4)
	for i := range writers {
		writers[i] = &writer{next: int64(i) * 1_000_000, rows: map[int64]row{}, r: rand.New(rand.NewPCG(seed, uint64(i)+2))}
	}
	big := &window{live: 2 * windowStep}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var load sync.WaitGroup
	defer func() { cancel(); load.Wait() }() // also if the test ends early
	// They end with a statement that is answered: what is under way when a connection goes may still happen.
	whole := func(step func(context.Context, *pgx.Conn) bool) {
		other := c.connect()
		load.Go(func() {
			for ctx.Err() == nil {
				if !step(context.Background(), other) {
					t.Error("a write failed")
					return
				}
			}
		})
	}
	for _, w := range writers[1:] {
		whole(w.write)
	}
	whole(big.move)
	flipping := c.connect()
	load.Go(func() { flipEvery(ctx, t, flipping, rand.New(rand.NewPCG(seed, 0)), 100*time.Millisecond) })
	for i := range writes {
		if i%3 == 0 {
			n := i / 3
			for _, p := range flipped {
				exec1(t, conn, "ALTER SYSTEM SET "+p.name+" = "+p.values[n%len(p.values)])
				n /= len(p.values)
			}
		}
		if !writers[0].write(ctx, conn) {
			t.Fatal("a write failed")
		}
		if i%45 == 44 {
			f.look()
		}
	}
	cancel()
	load.Wait()
	if err := verify(t, c, writers); err != nil {
		t.Error(err)
	}
	if err := big.verify(t, c.connect()); err != nil {
		t.Error(err)
	}
	f.look()
	for name, query := range flippedViews {
		want := counts(table(t, conn, query))
		if got := counts(table(t, conn, "SELECT * FROM indexed_"+name)); !maps.Equal(got, want) {
			t.Errorf("the index of %s has %d distinct rows, want %d%s", name, len(got), len(want), someDifference(got, want))
		}
	}
	f.replay()
	spills := 0
	for _, line := range table(t, c.connect(), "SELECT o.name, s.rebuilds, s.spills, s.appends FROM mz_internal.mz_sink_statistics s JOIN mz_objects o USING (id)") {
		cells := strings.Split(line, "\t")
		if cells[1] != "0" {
			t.Errorf("%s was built anew %s times", cells[0], cells[1])
		}
		n, err := strconv.Atoi(cells[2])
		if err != nil {
			t.Fatal(err)
		}
		spills += n
	}
	done := 0
	for _, w := range writers {
		done += w.done
	}
	t.Logf("%d small transactions, %d bulk ones, %d spills; looked at %d times", done, big.done, spills, len(f.results))
	if spills == 0 || big.done == 0 {
		t.Error("a part of the load was none")
	}
	c.stop()
}

// flipEvery gives a parameter another value again and again, until ctx ends.
func flipEvery(ctx context.Context, t *testing.T, conn *pgx.Conn, r *rand.Rand, every time.Duration) {
	defer conn.Close(context.Background())
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p := flipped[r.IntN(len(flipped))]
		if _, err := conn.Exec(ctx, "ALTER SYSTEM SET "+p.name+" = "+p.values[r.IntN(len(p.values))]); err != nil && ctx.Err() == nil {
			t.Errorf("%s cannot be changed: %v", p.name, err)
		}
	}
}

// flips is what was seen of the views, while their sinks' parameters change.
type flips struct {
	t    *testing.T
	c    *child
	logs map[string]*feed
	// results are what the queries gave, by time and view.
	results map[int64]map[string]map[string]int
}

// look holds the views, and the same queries with an index, against their queries: in one statement, and at one time that
// is compared with the subscriptions later.
func (f *flips) look() {
	f.t.Helper()
	conn := f.c.connect()
	defer conn.Close(context.Background())
	at := time.Now().UnixMilli()
	f.results[at] = map[string]map[string]int{}
	for name, query := range flippedViews {
		for _, of := range []string{name, "indexed_" + name} {
			if n := differences(f.t, conn, of, query); n != "0" {
				f.t.Errorf("%s differs from its query in %s rows", of, n)
			}
		}
		want := counts(table(f.t, conn, fmt.Sprintf("%s AS OF %d", query, at)))
		f.results[at][name] = want
		if got := counts(table(f.t, conn, fmt.Sprintf("TABLE %s AS OF %d", name, at))); !maps.Equal(got, want) {
			f.t.Errorf("%s at %d has %d distinct rows, want %d%s", name, at, len(got), len(want), someDifference(got, want))
		}
	}
}

// replay ends the subscriptions, and holds them against what the queries gave, at each time of a look.
func (f *flips) replay() {
	f.t.Helper()
	times := slices.Sorted(maps.Keys(f.results))
	for name, log := range f.logs {
		log.upTo <- times[len(times)-1]
		if err := <-log.done; err != nil {
			f.t.Fatalf("subscription to %s: %v", name, err)
		}
		got := map[string]int{}
		for _, at := range times {
			accumulate(got, log, at)
			if want := f.results[at][name]; !maps.Equal(got, want) {
				f.t.Errorf("the subscription to %s comes to %d distinct rows at %d, want %d%s", name, len(got), at, len(want), someDifference(got, want))
			}
		}
	}
}
