package storagetest_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
)

// stored is how many bytes a table takes: its objects, and the entries of its register.
func (x *table) stored() int64 {
	x.tb.Helper()
	ctx := context.Background()
	infos, err := x.p.Blob.List(ctx, "u7/")
	if err != nil {
		x.tb.Fatal(err)
	}
	n := int64(0)
	for _, info := range infos {
		n += info.Size
	}
	entries, err := x.p.Consensus.Scan(ctx, shard.RegisterKey("u7"), 0, 1<<20)
	if err != nil {
		x.tb.Fatal(err)
	}
	for _, e := range entries {
		n += int64(len(e.Data))
	}
	return n
}

// apply appends changes and lets maintenance do what it wants.
func (x *table) apply(changes *vec.Block) {
	x.tb.Helper()
	ctx := context.Background()
	w, err := write(ctx, x.sh, changes, false)
	if err != nil {
		x.tb.Fatal(err)
	}
	mustDo(x.tb, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 10, Written: []*shard.Written{w}})
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		x.tb.Fatal(err)
	}
}

// live is how many bytes the contents take, consolidated, as a plain object.
func (x *table) live(c *part.Codec) int64 {
	x.tb.Helper()
	ctx := context.Background()
	sc, err := x.sh.Snapshot(ctx, x.sh.Upper().Last(), shard.ScanOptions{Consolidate: true})
	if err != nil {
		x.tb.Fatal(err)
	}
	defer sc.Close()
	var blocks []*vec.Block
	for {
		b, err := sc.Next(ctx)
		if err != nil {
			x.tb.Fatal(err)
		}
		if b == nil {
			break
		}
		blocks = append(blocks, b.Clone())
	}
	if len(blocks) == 0 {
		return 0
	}
	data, err := c.NewEncoder().Encode(blocks, part.EncodeOptions{})
	if err != nil {
		x.tb.Fatal(err)
	}
	return int64(len(data))
}

// liveRows are the rows of a table with a workload: keys [first, next), and of each the version of its value.
type liveRows struct {
	rng         *rand.Rand
	first, next int64
	version     map[int64]int64
	changes     *vec.Block
	value       func(k, version int64) vec.Datum
}

func (l *liveRows) change(k, diff int64) {
	l.changes.AppendRow(diff, vec.IntOf(k), l.value(k, l.version[k]))
}

// insert adds n rows at the end.
func (l *liveRows) insert(n int64) {
	for range n {
		l.change(l.next, 1)
		l.next++
	}
}

// remove takes n rows away at the beginning.
func (l *liveRows) remove(n int64) {
	for range min(n, l.next-l.first) {
		l.change(l.first, -1)
		delete(l.version, l.first)
		l.first++
	}
}

// update changes n rows in place.
func (l *liveRows) update(n int64) {
	for range n {
		k := l.first + l.rng.Int64N(l.next-l.first)
		l.change(k, -1)
		l.version[k]++
		l.change(k, 1)
	}
}

const (
	// amplification is how many times the size of its live rows a table may take on disk.
	amplification = 3
	// inlineRest is what may come on top of that, however small the table: rows that are inline, in the newest rollup too,
	// and the register since then, of which the appends of these workloads make some kilobytes each.
	inlineRest = 1 << 20
)

// TestSpaceIsBoundedByWhatIsLive holds what is stored, when maintenance has done what it wants, against the live rows.
func TestSpaceIsBoundedByWhatIsLive(t *testing.T) {
	values := map[string]func(k, version int64) vec.Datum{
		"random":  func(k, version int64) vec.Datum { return vec.StrOf(randomText(uint64(k), uint64(version))) },
		"regular": func(k, version int64) vec.Datum { return vec.StrOf(fmt.Sprintf("value %d of row %d", version, k)) },
		"narrow":  func(_, version int64) vec.Datum { return vec.StrOf(fmt.Sprint(version)) },
	}
	const step = 100
	for _, w := range []struct {
		name        string
		value       string
		rows, steps int64
		do          func(l *liveRows)
	}{
		{"append only", "random", step, 400, func(l *liveRows) { l.insert(step) }},
		{"updates in place", "random", 25_000, 400, func(l *liveRows) { l.update(step) }},
		{"updates in place", "regular", 25_000, 400, func(l *liveRows) { l.update(step) }},
		{"window", "random", 25_000, 400, func(l *liveRows) { l.insert(step); l.remove(step) }},
		{"window", "regular", 25_000, 400, func(l *liveRows) { l.insert(step); l.remove(step) }},
		{"deletes", "random", 25_000, 245, func(l *liveRows) { l.remove(step) }},
		{"deletes", "narrow", 400_000, 195, func(l *liveRows) { l.remove(20 * step) }},
		{"all of it", "random", 25_000, 400, func(l *liveRows) {
			l.insert(l.rng.Int64N(step))
			l.remove(l.rng.Int64N(step))
			l.update(l.rng.Int64N(step))
		}},
	} {
		t.Run(w.name+"/"+w.value, func(t *testing.T) {
			l := &liveRows{rng: rand.New(rand.NewPCG(1, 1)), version: map[int64]int64{}, value: values[w.value]}
			holdSpace(t, l, w.rows, w.steps, w.do)
		})
	}
}

// holdSpace lets a workload run on a table that begins with some rows, and looks now and then.
func holdSpace(t *testing.T, l *liveRows, rows, steps int64, do func(*liveRows)) {
	codec, err := part.NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	x := newTable(t, storagetest.NewDisk())
	worst := 0.0
	for i := range steps {
		l.changes = vec.NewBlock(schema.Kinds(), 0)
		if i == 0 {
			l.insert(rows)
		} else {
			do(l)
		}
		x.apply(l.changes)
		if l.rng.IntN(30) > 0 && i < steps-1 {
			continue
		}
		live, stored := x.live(codec), x.stored()
		worst = max(worst, float64(stored-inlineRest)/float64(live))
		if stored > amplification*live+inlineRest {
			t.Fatalf("step %d: %d bytes are stored, the live rows take %d", i, stored, live)
		}
	}
	t.Logf("at most %.2f times", worst)
	x.p.Stop(t)
}

// TestWritesAreBoundedByTheLogOfTheSize: a table that grows by thousands of small appends has each row rewritten about
// log(size) times. What is merged comes to at least half as much again as its first batch, in bytes, so that for objects it
// is about 1/log2(1.5) = 1.71 times a doubling, and more while they are small, since merging saves what each takes beside
// its rows; what is inline is merged by a thousand batches at once.
func TestWritesAreBoundedByTheLogOfTheSize(t *testing.T) {
	for _, w := range []struct {
		appends, rows int64
		object        bool
		// most is how many times a row may be rewritten for each doubling of the number of appends: what was measured,
		// and about a third on top of that.
		most float64
	}{
		{10_000, 1, false, 0.4},
		{10_000, 10, false, 0.25},
		{500, 10, true, 2.8},
		{2_000, 10, true, 2.2},
	} {
		t.Run(fmt.Sprintf("%d appends of %d, objects %t", w.appends, w.rows, w.object), func(t *testing.T) {
			x := newTable(t, storagetest.NewDisk())
			for i := range w.appends {
				x.add(i*w.rows, w.rows, w.object)
				if err := x.p.Maintain(t.Context(), x.sh); err != nil {
					t.Fatal(err)
				}
			}
			written, rows := x.p.Registry.Sum("tributary_storage_compacted_rows_total"), float64(w.appends*w.rows)
			times := written / rows / math.Log2(float64(w.appends))
			t.Logf("each row was rewritten %.2f times, %.3f times a doubling", written/rows, times)
			if times > w.most || written < rows/2 {
				t.Errorf("%v rows were written by compaction, of %v", written, rows)
			}
			x.p.Stop(t)
		})
	}
}

// randomText is text that can hardly be compressed.
func randomText(a, b uint64) string {
	rng := rand.New(rand.NewPCG(a, b))
	var s strings.Builder
	for range 48 {
		s.WriteByte(byte('0' + rng.IntN(64)))
	}
	return s.String()
}

// TestHistoryIsBounded appends ten thousand times: neither the register nor the objects grow with the number of appends.
func TestHistoryIsBounded(t *testing.T) {
	ctx := context.Background()
	x := newTable(t, storagetest.NewDisk())
	entries, rollups, parts := 0, 0, 0
	for i := range int64(10_000) {
		b := vec.NewBlock(schema.Kinds(), 0)
		b.AppendRow(1, vec.IntOf(i%100), vec.StrOf("v"))
		if i >= 100 {
			b.AppendRow(-1, vec.IntOf(i%100), vec.StrOf("v"))
		}
		x.apply(b)
		if i%7 != 0 {
			continue
		}
		log, err := x.p.Consensus.Scan(ctx, shard.RegisterKey("u7"), 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		infos, err := x.p.Blob.List(ctx, "u7/r")
		if err != nil {
			t.Fatal(err)
		}
		entries, rollups, parts = max(entries, len(log)), max(rollups, len(infos)), max(parts, len(x.objects()))
	}
	t.Logf("at most %d entries, %d rollups, %d parts", entries, rollups, parts)
	if entries > 300 || rollups > 2 || parts > 10 {
		t.Errorf("%d entries of the register, %d rollups, %d parts", entries, rollups, parts)
	}
	x.p.Stop(t)
}
