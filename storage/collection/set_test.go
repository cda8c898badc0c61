package collection_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// world is an environment in memory with a clock that a test moves.
type world struct {
	consensus consensus.Store
	blob      blob.Store
	registry  *prometheus.Registry
	now       atomicTime
	clock     tvc.Clock // of the machine, if set
	settings  *settings.Set
}

type atomicTime struct{ atomic.Uint64 }

func (a *atomicTime) add(t tvc.Time) { a.Add(uint64(t)) }

func newWorld() *world {
	w := &world{consensus: consensus.NewMemory(), blob: blob.NewMemory(), settings: newSettings()}
	w.now.add(1_000_000)
	return w
}

func newSettings() *settings.Set { return settings.NewSet(collection.Settings()...) }

func (w *world) time() tvc.Time {
	if w.clock != nil {
		return w.clock()
	}
	return tvc.Time(w.now.Load())
}

func (w *world) open(tb testing.TB) *collection.Set {
	tb.Helper()
	reg := w.registry
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	set, err := collection.Open(context.Background(), collection.Options{
		Consensus: w.consensus, Blob: w.blob, Clock: w.time,
		Settings: w.settings, Registry: reg,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

var twoInts = shard.Schema{Rel: types.Rel{Cols: []types.Column{
	{Name: "a", Type: types.TInt8, Nullable: true}, {Name: "b", Type: types.TInt8, Nullable: true}}}}

func do(tb testing.TB, set *collection.Set, ops ...shard.Op) txn.Outcome {
	tb.Helper()
	out, err := set.Group().Do(context.Background(), txn.Unit{Ops: ops})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func create(tb testing.TB, set *collection.Set, d collection.Desc, since tvc.Frontier) *shard.Shard {
	tb.Helper()
	if out := do(tb, set, shard.Create{ID: d.Shard, Schema: twoInts, Since: since, Upper: since, Name: d.Name}); !out.Done() {
		tb.Fatal(out.Refused)
	}
	sh, err := set.Open(context.Background(), d)
	if err != nil {
		tb.Fatal(err)
	}
	return sh
}

func ints(rows ...[3]int64) *vec.Block {
	b := vec.NewBlock(twoInts.Kinds(), len(rows))
	for _, r := range rows {
		b.AppendRow(r[2], vec.IntOf(r[0]), vec.IntOf(r[1]))
	}
	return b
}

func write(tb testing.TB, sh *shard.Shard, b *vec.Block) *shard.Written {
	tb.Helper()
	w := sh.NewWriter(shard.WriterOptions{})
	if err := w.Add(context.Background(), b); err != nil {
		tb.Fatal(err)
	}
	written, err := w.Finish(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return written
}

func read(tb testing.TB, sh *shard.Shard, asOf tvc.Time) string {
	tb.Helper()
	sc, err := sh.Snapshot(context.Background(), asOf, shard.ScanOptions{Consolidate: true})
	if err != nil {
		return err.Error()
	}
	defer sc.Close()
	out := ""
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		if b == nil {
			return out
		}
		for i := range b.Len {
			out += fmt.Sprintf("%d %d x%d; ", b.Cols[0].Ints[i], b.Cols[1].Ints[i], b.Diff(i))
		}
	}
}

var u1, u2 = tvc.ID{Class: 'u', N: 1}, tvc.ID{Class: 'u', N: 2}

// put appends at the clock's time.
func put(tb testing.TB, w *world, set *collection.Set, sh *shard.Shard, b *vec.Block) tvc.Time {
	tb.Helper()
	w.now.add(1000)
	at := set.Oracle().WriteTime()
	if out := do(tb, set, shard.Append{Shard: sh, AnyLower: true, Upper: tvc.After(at), Written: []*shard.Written{write(tb, sh, b)}}); !out.Done() {
		tb.Fatal(out.Refused)
	}
	if err := set.Oracle().ApplyWrite(context.Background(), at); err != nil {
		tb.Fatal(err)
	}
	return at
}

func TestContentsSurviveARestart(t *testing.T) {
	ctx := context.Background()
	w := newWorld()
	set := w.open(t)
	set.Start()
	table := create(t, set, collection.Desc{ID: u1, Shard: "u1", Name: "db.s.t"}, 0)
	for i := range int64(3000) {
		put(t, w, set, table, ints([3]int64{i % 10, i, 1}, [3]int64{i % 10, i - 1, -1}))
	}
	now, err := set.Oracle().ReadTime(ctx)
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, table, now)
	if err := set.Close(ctx); err != nil {
		t.Fatal(err)
	}
	again := w.open(t)
	sh, err := again.Open(ctx, collection.Desc{ID: u1, Shard: "u1", Name: "db.s.t"})
	if err != nil {
		t.Fatal(err)
	}
	if after := read(t, sh, now); after != before || len(before) == 0 {
		t.Fatalf("%s\n%s", before, after)
	}
	if at := again.Oracle().WriteTime(); at <= now || again.Oracle().Ahead() > 2*time.Microsecond {
		t.Fatalf("after a clean end the next write is at %d, %v ahead of the clock", at, again.Oracle().Ahead())
	}
}

// TestSinceFollowsTheClockUpToHolds: history goes as time passes, but not what somebody holds.
// Of what must be kept, this is: where a reader holds since, it stays.
func TestSinceFollowsTheClockUpToHolds(t *testing.T) {
	w := newWorld()
	set := w.open(t)
	table := create(t, set, collection.Desc{ID: u1, Shard: "u1", Name: "t"}, 0)
	first := put(t, w, set, table, ints([3]int64{1, 1, 1}))
	hold, err := set.Hold("a reader", u1)
	if err != nil {
		t.Fatal(err)
	}
	w.now.add(10_000_000)
	put(t, w, set, table, ints([3]int64{2, 2, 1}))
	if since := table.Since(); since > hold.Since() {
		t.Fatalf("since %v passes the hold at %v", since, hold.Since())
	}
	if got := read(t, table, first); got != "1 1 x1; " {
		t.Fatal(got)
	}
	// The default is to keep a second.
	hold.Downgrade(tvc.Done)
	at := put(t, w, set, table, ints([3]int64{3, 3, 1}))
	if since := table.Since(); since != tvc.Frontier(at-1_000_000) {
		t.Fatalf("since %v at %d", since, at)
	}
	hold.Release()
	hold.Release()
	if n := len(set.Holds()); n != 0 {
		t.Fatal(n)
	}
	// A hold is never promised less than since may have got to by then.
	again, err := set.Hold("another", u1)
	if err != nil || again.Since() < table.Since() {
		t.Fatal(again.Since(), err)
	}
}

// TestHistoryEndsWithoutWrites: whatever kept history when the last change came, it ends soon after that is gone, though
// nobody writes any more: a process that has ended, a hold, or that more was to be retained.
func TestHistoryEndsWithoutWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.clock = func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }
		desc := collection.Desc{ID: u1, Shard: "u1", Name: "t", Retain: time.Hour}
		set := w.open(t)
		set.Start()
		first := put(t, w, set, create(t, set, desc, 0), ints([3]int64{1, 1, 1}))
		// reaches says whether a reader who comes after a while is promised the time.
		reaches := func(at tvc.Time) bool {
			t.Helper()
			time.Sleep(3 * time.Second)
			hold, err := set.Hold("another", u1)
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Release()
			return hold.Since() <= tvc.Frontier(at)
		}
		if !reaches(first) {
			t.Error("an hour was to be retained")
		}
		set.Retain(u1, 0)
		if reaches(first) {
			t.Error("a second was to be retained")
		}

		table, _ := set.Shard(u1)
		hold, err := set.Hold("a reader", u1)
		if err != nil {
			t.Fatal(err)
		}
		held := tvc.Time(hold.Since())
		second := put(t, w, set, table, ints([3]int64{2, 2, 1}))
		if !reaches(held) {
			t.Error("what is held has gone")
		}
		hold.Release()
		if reaches(held) || reaches(second-1) {
			t.Error("what was held has not gone")
		}

		third := put(t, w, set, table, ints([3]int64{3, 3, 1}))
		if err := set.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		set = w.open(t)
		desc.Retain = 0
		if _, err := set.Open(context.Background(), desc); err != nil {
			t.Fatal(err)
		}
		set.Start()
		if reaches(third - 1) {
			t.Error("the process that waited for the end of history has ended")
		}
		if err := set.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRetainIsPerCollectionAndBySetting(t *testing.T) {
	w := newWorld()
	if err := w.settings.Set("storage_retain_history", "5s"); err != nil {
		t.Fatal(err)
	}
	set := w.open(t)
	a := create(t, set, collection.Desc{ID: u1, Shard: "u1", Name: "a"}, 0)
	b := create(t, set, collection.Desc{ID: u2, Shard: "u2", Name: "b", Retain: time.Hour}, 0)
	w.now.add(1e12)
	at := put(t, w, set, a, ints([3]int64{1, 1, 1}))
	if since := a.Since(); since != tvc.Frontier(at-5_000_000) {
		t.Fatal(at, since)
	}
	at = put(t, w, set, b, ints([3]int64{1, 1, 1}))
	if since := b.Since(); since != tvc.Frontier(at-3600_000_000) {
		t.Fatal(at, since)
	}
}

// TestEpochBytes: the register is, to the byte, what earlier programs have written, and its version is the epoch.
func TestEpochBytes(t *testing.T) {
	w := newWorld()
	for epoch := uint64(1); epoch <= 3; epoch++ {
		set := w.open(t)
		entries, err := w.consensus.Scan(t.Context(), "epoch", 0, 10)
		if err != nil || len(entries) != 1 || string(entries[0].Data) != "\x01" || uint64(entries[0].Version) != epoch || set.Epoch() != epoch {
			t.Errorf("process %d has epoch %d and entries %v, %v", epoch, set.Epoch(), entries, err)
		}
	}
}

// TestEpochOfAnotherVersion is refused, and not raised.
func TestEpochOfAnotherVersion(t *testing.T) {
	w := newWorld()
	w.open(t)
	head, err := w.consensus.Head(t.Context(), "epoch")
	if err != nil {
		t.Fatal(err)
	}
	newer := consensus.Entry{Key: "epoch", Expect: head.Version, Data: []byte{2}}
	if _, err := w.consensus.Commit(t.Context(), []consensus.Unit{{newer}}); err != nil {
		t.Fatal(err)
	}
	_, err = collection.Open(t.Context(), collection.Options{Consensus: w.consensus, Blob: w.blob, Clock: w.time,
		Settings: w.settings, Registry: prometheus.NewRegistry()})
	if err == nil || !strings.Contains(err.Error(), "register epoch: 02 is of a version that this program does not know") {
		t.Errorf("another version gives %v", err)
	}
	if after, err := w.consensus.Head(t.Context(), "epoch"); err != nil || after.Version != head.Version+1 {
		t.Errorf("the register is at version %d after %d, %v", after.Version, head.Version, err)
	}
}

// TestInputsStayReadableForAView: also across a restart, and until the view is forgotten.
// Of what must be kept, this is: the since of a view's inputs never passes the time from which the view reads them.
func TestInputsStayReadableForAView(t *testing.T) {
	ctx := context.Background()
	w := newWorld()
	set := w.open(t)
	table := create(t, set, collection.Desc{ID: u1, Shard: "u1", Name: "t", Retain: -1}, 0)
	asOf := put(t, w, set, table, ints([3]int64{1, 1, 1}))
	viewDesc := collection.Desc{ID: u2, Shard: "u2", Name: "v", Retain: -1, Inputs: []tvc.ID{u1}}
	view := create(t, set, viewDesc, tvc.Frontier(asOf))
	for range 5 {
		put(t, w, set, table, ints([3]int64{2, 2, 1}))
		if table.Since() != tvc.Frontier(asOf) {
			t.Fatalf("since %v passes the view's as-of %d", table.Since(), asOf)
		}
	}
	do(t, set, shard.Append{Shard: view, Lower: tvc.Frontier(asOf), Upper: tvc.After(asOf + 2000)})
	put(t, w, set, table, ints([3]int64{3, 3, 1}))
	if want := tvc.Frontier(asOf + 2000); table.Since() != want {
		t.Fatalf("since %v, want %v", table.Since(), want)
	}
	if h := fmt.Sprint(set.Holds()); h != fmt.Sprintf("[{u2 u1 %d}]", asOf+2000) {
		t.Fatal(h)
	}
	set = w.open(t)
	table, err := set.Open(ctx, collection.Desc{ID: u1, Shard: "u1", Name: "t", Retain: -1})
	if err != nil {
		t.Fatal(err)
	}
	if view, err = set.Open(ctx, viewDesc); err != nil {
		t.Fatal(err)
	}
	put(t, w, set, table, ints([3]int64{4, 4, 1}))
	if want := view.Upper() - 1; table.Since() != want {
		t.Fatalf("since %v, want %v", table.Since(), want)
	}
	set.Forget(u2)
	at := put(t, w, set, table, ints([3]int64{5, 5, 1}))
	if table.Since() != tvc.Frontier(at) {
		t.Fatalf("since %v after the view is gone, want %v", table.Since(), at)
	}
}

func TestMetricsEndWithTheCollection(t *testing.T) {
	w := newWorld()
	w.registry = prometheus.NewRegistry()
	set := w.open(t)
	table := create(t, set, collection.Desc{ID: u1, Shard: "u1", Name: "db.s.t"}, 0)
	put(t, w, set, table, ints([3]int64{1, 1, 1}))
	if n := labelled(t, w.registry, "db.s.t"); n == 0 || labelled(t, w.registry, "u1") != 0 {
		t.Fatal(n)
	}
	set.Rename(u1, "db.s.other")
	put(t, w, set, table, ints([3]int64{2, 2, 1}))
	if labelled(t, w.registry, "db.s.t") != 0 || labelled(t, w.registry, "db.s.other") == 0 {
		t.Fatal("metrics keep the old name")
	}
	do(t, set, shard.Seal{Shard: table})
	set.Forget(u1)
	if labelled(t, w.registry, "db.s.other") != 0 {
		t.Fatal("metrics outlive the collection")
	}
}

func labelled(t *testing.T, reg *prometheus.Registry, name string) int {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == "collection" && l.GetValue() == name {
					n++
				}
			}
		}
	}
	return n
}

// TestDroppedShardsLeaveNothingBehind: objects go, but not from under a reader.
func TestDroppedShardsLeaveNothingBehind(t *testing.T) {
	ctx := context.Background()
	w := newWorld()
	set := w.open(t)
	table := create(t, set, collection.Desc{ID: u1, Shard: "u1", Name: "t"}, 0)
	wr := table.NewWriter(shard.WriterOptions{InlineMax: -1})
	if err := wr.Add(ctx, ints([3]int64{1, 1, 1})); err != nil {
		t.Fatal(err)
	}
	written, err := wr.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	do(t, set, shard.Append{Shard: table, Upper: 10, Written: []*shard.Written{written}})
	sc, err := table.Snapshot(ctx, 9, shard.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	do(t, set, shard.Seal{Shard: table})
	set.Forget(u1)
	maintain(t, set, table)
	if n := objects(t, w); n != 1 {
		t.Fatalf("%d objects while somebody reads", n)
	}
	if b, err := sc.Next(ctx); err != nil || b.Len != 1 {
		t.Fatal(b, err)
	}
	sc.Close()
	maintain(t, set, table)
	if n := objects(t, w); n != 0 {
		t.Fatalf("%d objects", n)
	}
	if _, err := table.Snapshot(ctx, 9, shard.ScanOptions{}); !errors.Is(err, shard.ErrSealed) {
		t.Fatal(err)
	}
	// The ID is never given again, not by a later process either.
	for _, s := range []*collection.Set{set, w.open(t)} {
		out, err := s.Group().Do(ctx, txn.Unit{Ops: []shard.Op{shard.Create{ID: "u1", Schema: twoInts}}})
		if err != nil || out.Done() || out.Refused.Reason != shard.Exists && out.Refused.Reason != shard.Sealed {
			if !errors.Is(err, txn.ErrFenced) {
				t.Fatal(out.Refused, err)
			}
		}
	}
}

func objects(t *testing.T, w *world) int {
	t.Helper()
	infos, err := w.blob.List(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	return len(infos)
}

func maintain(t testing.TB, set *collection.Set, sh *shard.Shard) {
	t.Helper()
	submit := submitTo(set)
	for more := true; more; {
		var err error
		if more, err = sh.Maintain(context.Background(), submit); err != nil {
			t.Fatal(err)
		}
		if more {
			if _, err := sh.Compact(context.Background(), submit); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestIdleCostsNothing lets a day pass, in virtual time, over a hundred collections, with maintenance running: no
// command, no object, nothing wakes.
func TestIdleCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.registry = prometheus.NewRegistry()
		w.clock = func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }
		set := w.open(t)
		set.Start()
		for i := range 100 {
			id := tvc.ID{Class: 'u', N: uint64(i + 1)}
			sh := create(t, set, collection.Desc{ID: id, Shard: shard.ID(id.String()), Name: id.String()}, 0)
			put(t, w, set, sh, ints([3]int64{1, 1, 1}))
		}
		synctest.Wait()
		before := fmt.Sprint(counts(t, w.registry))
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if after := fmt.Sprint(counts(t, w.registry)); after != before {
			t.Errorf("before %s\nafter %s", before, after)
		}
		if closed := set.Oracle().Closed(); closed > tvc.Time(time.Now().Add(-23*time.Hour).UnixMicro()) {
			t.Errorf("closed time %d ran on by itself", closed)
		}
		if err := set.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestWhatWasUpdatedGoesWhenItsHistoryEnds: a table is updated as a whole while its history is retained, and then nobody
// writes any more, to it or to the view that reads it.
func TestWhatWasUpdatedGoesWhenItsHistoryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.clock = func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }
		set := w.open(t)
		set.Start()
		table := create(t, set, collection.Desc{ID: u1, Shard: "u1", Name: "t"}, 0)
		viewDesc := collection.Desc{ID: u2, Shard: "u2", Name: "v", Inputs: []tvc.ID{u1}}
		rng := rand.New(rand.NewPCG(1, 1))
		rows := func(diff int64) *vec.Block {
			b := vec.NewBlock(twoInts.Kinds(), 0)
			for i := range int64(100_000) {
				b.AppendRow(diff, vec.IntOf(i), vec.IntOf(rng.Int64()))
			}
			return b
		}
		first := rows(1)
		at := put(t, w, set, table, first)
		view := create(t, set, viewDesc, tvc.Frontier(at))
		gone := first.Clone()
		gone.Diffs = slices.Repeat([]int64{-1}, gone.Len)
		put(t, w, set, table, gone)
		put(t, w, set, table, rows(1))
		// The view takes its time.
		time.Sleep(time.Minute)
		do(t, set, shard.Append{Shard: view, AnyLower: true, Upper: table.Upper()})
		time.Sleep(time.Minute)
		synctest.Wait()
		if totals, _ := table.Totals(); totals.Rows != 100_000 {
			t.Errorf("%d rows are stored", totals.Rows)
		}
		if err := set.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// counts gives all counters that have something counted.
func counts(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			out[f.GetName()] += m.GetCounter().GetValue()
		}
	}
	return out
}

// TestBackgroundMaintenance writes enough for drains, merges and rollups, with the goroutines running, while others read.
func TestBackgroundMaintenance(t *testing.T) {
	ctx := context.Background()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	w := newWorld()
	w.registry = prometheus.NewRegistry()
	set := w.open(t)
	set.Start()
	table := create(t, set, collection.Desc{ID: u1, Shard: "u1", Name: "t", Retain: -1}, 0)
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !stop.Load() {
				h, err := set.Hold("reader", u1)
				if err != nil {
					t.Error(err)
					return
				}
				upper := table.Upper()
				if upper > 0 && upper-1 >= h.Since() {
					sum := 0
					sc, err := table.Snapshot(ctx, upper.Last(), shard.ScanOptions{Consolidate: true})
					if err != nil {
						t.Error(err)
						h.Release()
						return
					}
					for b, err := sc.Next(ctx); b != nil || err != nil; b, err = sc.Next(ctx) {
						if err != nil {
							t.Error(err)
							break
						}
						for i := range b.Len {
							sum += int(b.Diff(i))
						}
					}
					sc.Close()
					// Every write adds 200 rows and takes 100 away.
					if sum%100 != 0 || sum == 0 {
						t.Errorf("%d rows at %v", sum, upper)
					}
				}
				h.Release()
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range int64(600) {
		b := vec.NewBlock(twoInts.Kinds(), 0)
		for k := range int64(200) {
			b.AppendRow(1, vec.IntOf(i*1000+k), vec.IntOf(rng.Int64()))
			if k%2 == 0 && i > 0 {
				b.AppendRow(-1, vec.IntOf(i*1000+k), vec.IntOf(b.Cols[1].Ints[b.Len-1]))
			}
		}
		put(t, w, set, table, b)
	}
	stop.Store(true)
	readers.Wait()
	// There are far more inline bytes than a drain lets be; sooner or later it comes.
	for counts(t, w.registry)["tributary_storage_compacted_rows_total"] == 0 {
		runtime.Gosched()
	}
	if err := set.Close(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := set.Client().Check(ctx, "u1")
	if err != nil || len(r.Faults) > 0 {
		t.Fatal(r.Faults, err)
	}
	if r.InlineBytes > 1<<20+64<<10 {
		t.Errorf("%d inline bytes: appends do not make objects when the drain lags", r.InlineBytes)
	}
}

// TestCompactionCanBeSwitchedOff: then nothing is merged; what there is to merge then is when it is on again.
func TestCompactionCanBeSwitchedOff(t *testing.T) {
	w := newWorld()
	rng := rand.New(rand.NewPCG(1, 1))
	merged := func(desc collection.Desc, on string, until func() bool) float64 {
		w.registry = prometheus.NewRegistry()
		set := w.open(t)
		set.Start()
		if err := w.settings.Set("storage_compaction_enabled", on); err != nil {
			t.Fatal(err)
		}
		table, err := set.Open(context.Background(), desc)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < 50 || !until(); i++ {
			b := vec.NewBlock(twoInts.Kinds(), 0)
			for range 1000 {
				b.AppendRow(1, vec.IntOf(rng.Int64()), vec.IntOf(rng.Int64()))
			}
			put(t, w, set, table, b)
		}
		if err := set.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		return counts(t, w.registry)["tributary_storage_compacted_rows_total"]
	}
	desc := collection.Desc{ID: u1, Shard: "u1", Name: "t"}
	set := w.open(t)
	create(t, set, desc, 0)
	if err := set.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := merged(desc, "off", func() bool { return true }); n > 0 {
		t.Errorf("%v rows were merged", n)
	}
	if n := merged(desc, "on", func() bool { return counts(t, w.registry)["tributary_storage_compacted_rows_total"] > 0 }); n == 0 {
		t.Error("nothing was merged")
	}
}
