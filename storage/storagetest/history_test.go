package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// update is one update of the model.
type update struct {
	row  string
	at   tvc.Time
	diff int64
}

// history is one shard under random operations, and beside it the list of all updates, never compacted.
type history struct {
	t     *testing.T
	rng   *rand.Rand
	disk  *storagetest.Disk
	p     *storagetest.Process
	clock tvc.Time
	set   *settings.Set
	sh    *shard.Shard
	wide  bool // the schema has evolved
	bad   bool // the stores are

	updates []update
	upper   tvc.Frontier
	hold    *collection.Hold
	// maybe is an append of which it is not known whether it has happened.
	maybe *maybe
}

type maybe struct {
	updates []update
	upper   tvc.Frontier
}

// fault says whether an error is one that the stores were to cause, and starts the next process if this one can do nothing
// any more.
func (h *history) fault(err error) bool {
	h.t.Helper()
	switch {
	case err == nil:
		return false
	case !storagetest.IsFault(err):
		h.t.Fatal(err)
	case storagetest.IsUnknown(err), errors.Is(err, txn.ErrFenced):
		h.restart()
	}
	return true
}

var historyID = tvc.ID{Class: 'u', N: 7}

func (h *history) open() {
	ctx := context.Background()
	p, err := h.disk.Open(h.t, storagetest.Options{Clock: func() tvc.Time { return h.clock }, Settings: h.set})
	if err != nil {
		h.t.Fatal(err)
	}
	h.p = p
	if h.upper == 0 && h.sh == nil {
		mustDo(h.t, p, shard.Create{ID: "u7", Schema: schema})
	}
	h.sh, err = p.Set.Open(ctx, collection.Desc{ID: historyID, Shard: "u7", Name: "u7", Retain: -1})
	if err != nil {
		h.t.Fatal(err)
	}
	h.hold, err = p.Set.Hold("history", historyID)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.bad {
		p.Faults.Follow(storagetest.Fate(h.rng.Uint64(), 12, p.Faults.Calls(), 80))
	}
}

// append writes one interval: rows with times or without, by one or several writers.
func (h *history) append() {
	lower := h.upper
	upper := lower + 1 + tvc.Frontier(h.rng.IntN(20))
	timed := h.rng.IntN(2) == 0
	next := &maybe{upper: upper}
	var written []*shard.Written
	for range h.rng.IntN(4) {
		b := vec.NewBlock(h.kinds(), 0)
		n := h.rng.IntN(40)
		if h.rng.IntN(20) == 0 {
			n = 2000
		}
		for range n {
			row, diff := h.row()
			b.AppendRow(diff, row...)
			at := upper.Last()
			if timed {
				at = tvc.Time(lower) + tvc.Time(h.rng.Uint64N(uint64(upper-lower)))
				b.Times = append(b.Times, uint64(at))
			}
			next.updates = append(next.updates, update{rowText(row), at, diff})
		}
		w, err := write(context.Background(), h.sh, b, h.rng.IntN(3) == 0)
		if err != nil {
			discard(written)
			h.fault(err)
			return
		}
		written = append(written, w)
	}
	out, err := h.p.Set.Group().Do(context.Background(), unit(shard.Append{Shard: h.sh, Lower: lower, Upper: upper, Written: written}))
	switch {
	case storagetest.IsUnknown(err):
		h.maybe = next
		h.fault(err)
	case err != nil:
		discard(written)
		h.fault(err)
	case !out.Done():
		h.t.Fatal(out.Refused)
	default:
		h.happened(next)
	}
}

func (h *history) happened(m *maybe) {
	h.updates, h.upper = append(h.updates, m.updates...), m.upper
}

func discard(written []*shard.Written) {
	for _, w := range written {
		w.Discard(context.Background())
	}
}

// row makes up a row.
func (h *history) row() (row []vec.Datum, diff int64) {
	k := int64(h.rng.IntN(50))
	row = []vec.Datum{vec.IntOf(k), vec.StrOf(fmt.Sprint("v", k%7))}
	if k%5 == 0 {
		row[1] = vec.Null
	}
	if h.wide {
		row = append(row, vec.BoolOf(k%2 == 0))
	}
	return row, int64(h.rng.IntN(3) - 1)
}

func (h *history) kinds() []types.Kind {
	s, _ := h.sh.Schema()
	return s.Kinds()
}

// rowText names a row; a NULL in the last column, which may not have been there, is as if it were not.
func rowText(row []vec.Datum) string {
	s := ""
	for i, d := range row {
		if i < 2 || !d.IsNull() {
			s += d.GoString() + " "
		}
	}
	return s
}

func mustDo(t testing.TB, p *storagetest.Process, ops ...shard.Op) {
	t.Helper()
	out, err := p.Set.Group().Do(context.Background(), unit(ops...))
	if err != nil || !out.Done() {
		t.Fatal(out.Refused, err)
	}
}

// checkSnapshot reads at a time that is held.
func (h *history) checkSnapshot() {
	if h.upper == 0 {
		return
	}
	since := max(h.sh.Since(), h.hold.Since())
	asOf := tvc.Time(since) + tvc.Time(h.rng.Uint64N(uint64(h.upper-min(since, h.upper-1))+3))
	want := map[string]int64{}
	for _, u := range h.updates {
		if u.at <= asOf {
			count(want, u.row, u.diff)
		}
	}
	got := map[string]int64{}
	sorted := h.rng.IntN(2) == 0
	sc, err := h.sh.Snapshot(context.Background(), asOf, shard.ScanOptions{Consolidate: sorted})
	if err == nil {
		err = drain(sc, func(row string, at tvc.Time, diff int64) {
			if sorted && got[row] != 0 {
				h.t.Fatalf("%s comes twice", row)
			}
			count(got, row, diff)
		})
	}
	if h.fault(err) {
		return
	}
	if !maps.Equal(got, want) {
		h.t.Fatalf("at %d: got %v, want %v", asOf, got, want)
	}
}

// checkUpdates reads the updates of an interval whose times can still be told apart.
func (h *history) checkUpdates() {
	since := max(h.sh.Since(), h.hold.Since())
	lower := since + 1 + tvc.Frontier(h.rng.Uint64N(30))
	upper := lower + tvc.Frontier(h.rng.Uint64N(40))
	key := func(row string, at tvc.Time) string { return fmt.Sprint(row, "@", at) }
	want := map[string]int64{}
	for _, u := range h.updates {
		if tvc.Frontier(u.at) >= lower && upper.Past(u.at) {
			count(want, key(u.row, u.at), u.diff)
		}
	}
	got := map[string]int64{}
	sc, err := h.sh.Updates(context.Background(), lower, upper, shard.ScanOptions{Consolidate: h.rng.IntN(2) == 0})
	if err == nil {
		err = drain(sc, func(row string, at tvc.Time, diff int64) { count(got, key(row, at), diff) })
	}
	if h.fault(err) {
		return
	}
	if !maps.Equal(got, want) {
		h.t.Fatalf("updates [%v, %v): got %v, want %v", lower, upper, got, want)
	}
}

// drain reads a scan to its end and closes it.
func drain(sc *shard.Scan, visit func(row string, at tvc.Time, diff int64)) error {
	defer sc.Close()
	var row []vec.Datum
	for {
		b, err := sc.Next(context.Background())
		if err != nil || b == nil {
			return err
		}
		for i := range b.Len {
			row = b.Row(i, row)
			at := tvc.Time(0)
			if b.Times != nil {
				at = tvc.Time(b.Times[i])
			}
			visit(rowText(row), at, b.Diff(i))
		}
	}
}

func count(m map[string]int64, key string, n int64) {
	if m[key] += n; m[key] == 0 {
		delete(m, key)
	}
}

// moveHold lets history go, or takes a new hold in the place of the old one.
func (h *history) moveHold() {
	if h.upper == 0 {
		return
	}
	h.hold.Downgrade(min(h.upper-1, h.hold.Since()+tvc.Frontier(h.rng.IntN(60))))
	if h.rng.IntN(3) == 0 {
		next, err := h.p.Set.Hold("history", historyID)
		if err != nil {
			h.t.Fatal(err)
		}
		h.hold.Release()
		h.hold = next
	}
}

func (h *history) maintain() {
	ctx := context.Background()
	// Merging is forced, whether or not it is due.
	if h.rng.IntN(2) == 0 {
		h.fault(h.sh.CompactAll(ctx, h.p.Submit))
		return
	}
	h.fault(h.p.Maintain(ctx, h.sh))
}

func (h *history) evolve() {
	s, id := h.sh.Schema()
	if h.wide {
		return
	}
	s.Rel.Cols = append(append([]types.Column{}, s.Rel.Cols...), types.Column{Name: "w", Type: types.TBool, Nullable: true})
	out, err := h.p.Set.Group().Do(context.Background(), unit(shard.Evolve{Shard: h.sh, Expect: id, Schema: s}))
	if h.fault(err) {
		return
	}
	if !out.Done() {
		h.t.Fatal(out.Refused)
	}
	h.wide = true
}

// age has the upper move so often that a rollup is due, and has it written.
func (h *history) age() {
	for range 130 {
		out, err := h.p.Set.Group().Do(context.Background(), unit(shard.Append{Shard: h.sh, Lower: h.upper, Upper: h.upper + 1}))
		next := &maybe{upper: h.upper + 1}
		if storagetest.IsUnknown(err) {
			h.maybe = next
		}
		if h.fault(err) {
			return
		}
		if !out.Done() {
			h.t.Fatal(out.Refused)
		}
		h.happened(next)
	}
	h.fault(h.p.Maintain(context.Background(), h.sh))
}

// restart ends the process and starts the next one on what a power cut leaves of the disk.
func (h *history) restart() {
	disk := h.disk.Crash(h.rng.Uint64(), 30)
	h.p.Stop(h.t)
	h.disk = disk
	h.clock += 1000
	bad := h.bad
	h.bad = false
	h.open()
	if m := h.maybe; m != nil && h.sh.Upper() == m.upper {
		h.happened(m)
	}
	h.maybe = nil
	if h.sh.Upper() != h.upper {
		h.t.Fatalf("upper %v after a restart, want %v", h.sh.Upper(), h.upper)
	}
	s, _ := h.sh.Schema()
	h.wide = len(s.Rel.Cols) > len(schema.Rel.Cols)
	checkAll(h.t, h.p)
	if h.bad = bad; bad {
		h.p.Faults.Follow(storagetest.Fate(h.rng.Uint64(), 12, h.p.Faults.Calls(), 80))
	}
}

// TestHistoryAgreesWithTheModel runs random histories of one shard through the lives of several processes, half of them over
// bad stores, and holds every read against the list of all updates.
//
// Of what must be kept, this is: since only moves forward, and where it is held everything can still be read; compaction and
// rollups change nothing that can be read.
func TestHistoryAgreesWithTheModel(t *testing.T) {
	forSeeds(t, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 11))
		set := settings.NewSet(collection.Settings()...)
		for name, values := range map[string][]string{
			"storage_inline_append_max_bytes": {"0", "300", "32768"}, "storage_cache_max_bytes": {"0", "4096", "100000000"}} {
			if err := set.Set(name, values[rng.IntN(3)]); err != nil {
				t.Fatal(err)
			}
		}
		h := &history{t: t, rng: rng, disk: storagetest.NewDisk(), clock: 1_000_000, set: set, bad: seed%2 == 0}
		h.open()
		for range 100 {
			switch rng.IntN(12) {
			case 0, 1, 2, 3:
				h.append()
			case 4, 5:
				h.checkSnapshot()
			case 6, 7:
				h.checkUpdates()
			case 8:
				h.moveHold()
			case 9:
				h.maintain()
			case 10:
				if rng.IntN(4) == 0 {
					h.restart()
				}
			case 11:
				switch rng.IntN(20) {
				case 0:
					h.evolve()
				case 1:
					h.age()
				}
			}
		}
		h.bad = false
		h.restart()
		h.checkSnapshot()
		h.p.Stop(t)
	})
}

// TestReadsBeforeSinceAreRefused: an error, not other rows.
func TestReadsBeforeSinceAreRefused(t *testing.T) {
	h := &history{t: t, rng: rand.New(rand.NewPCG(1, 1)), disk: storagetest.NewDisk(), clock: 1_000_000, set: settings.NewSet(collection.Settings()...)}
	h.open()
	h.append()
	h.append()
	h.hold.Release()
	h.append()
	ctx := context.Background()
	since := h.sh.Since()
	if since != h.upper-1 {
		t.Fatalf("since %v, upper %v", since, h.upper)
	}
	if _, err := h.sh.Snapshot(ctx, tvc.Time(since)-1, shard.ScanOptions{}); !errors.Is(err, shard.ErrBeforeSince) {
		t.Fatal(err)
	}
	if _, err := h.sh.Updates(ctx, since, h.upper, shard.ScanOptions{}); !errors.Is(err, shard.ErrBeforeSince) {
		t.Fatal(err)
	}
	for _, read := range []func() (*shard.Scan, error){
		func() (*shard.Scan, error) { return h.sh.Snapshot(ctx, tvc.Time(since), shard.ScanOptions{}) },
		func() (*shard.Scan, error) { return h.sh.Updates(ctx, since+1, h.upper, shard.ScanOptions{}) },
	} {
		sc, err := read()
		if err != nil {
			t.Fatal(err)
		}
		sc.Close()
	}
	h.p.Stop(t)
}
