package collection_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/txn"
)

const bulkRows = 5 << 20

// narrowRows makes n rows of two ints in random order.
func narrowRows(rng *rand.Rand, n int) *vec.Block {
	b := vec.NewBlock(twoInts.Kinds(), n)
	for range n {
		b.Cols[0].AppendInt(rng.Int64N(1 << 30))
		b.Cols[1].AppendInt(rng.Int64N(1000))
	}
	b.Len = n
	return b
}

func bulkBlocks() []*vec.Block {
	rng := rand.New(rand.NewPCG(1, 1))
	var out []*vec.Block
	for range bulkRows / part.BlockRows {
		out = append(out, narrowRows(rng, part.BlockRows))
	}
	return out
}

// load appends blocks as COPY does.
func load(tb testing.TB, set *collection.Set, sh *shard.Shard, blocks ...*vec.Block) {
	tb.Helper()
	ctx := context.Background()
	w := sh.NewWriter(shard.WriterOptions{})
	for _, bl := range blocks {
		if err := w.Add(ctx, bl); err != nil {
			tb.Fatal(err)
		}
	}
	written, err := w.Finish(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	do(tb, set, shard.Append{Shard: sh, Lower: sh.Upper(), Upper: sh.Upper() + 10, Written: []*shard.Written{written}})
}

func submitTo(set *collection.Set) shard.Submit {
	return func(ctx context.Context, op shard.Op) (*shard.Refusal, error) {
		out, err := set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{op}, Background: true})
		return out.Refused, err
	}
}

var bulkDesc = collection.Desc{ID: u1, Shard: "u1", Name: "t", Retain: -1}

// onDiskUncached is an environment in files, of which nothing is kept in memory.
func onDiskUncached(tb testing.TB) *world {
	tb.Helper()
	w, _ := onDisk(tb)
	if err := w.settings.Set("storage_cache_max_bytes", "0"); err != nil {
		tb.Fatal(err)
	}
	return w
}

// fetch reads all objects.
func fetch(tb testing.TB, store blob.Store) map[string][]byte {
	tb.Helper()
	infos, err := store.List(context.Background(), "")
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string][]byte{}
	for _, info := range infos {
		if out[info.Key], err = store.Get(context.Background(), info.Key); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// decode opens an object, takes all its blocks, and says how often their rows count.
func decode(tb testing.TB, c *part.Codec, object []byte) int64 {
	o, err := c.Open(object)
	if err != nil {
		tb.Fatal(err)
	}
	n := int64(0)
	for i := range o.Blocks() {
		bl, err := o.Block(i, twoInts.Kinds(), nil)
		if err != nil {
			tb.Fatal(err)
		}
		n += countOf(bl)
	}
	return n
}

// countOf is how often the rows of a block count.
func countOf(b *vec.Block) int64 {
	if b.Diffs == nil {
		return int64(b.Len)
	}
	n := int64(0)
	for _, d := range b.Diffs {
		n += d
	}
	return n
}

func newCodec(tb testing.TB) *part.Codec {
	tb.Helper()
	c, err := part.NewCodec()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// atHand gives objects without reading them, while there are some.
type atHand struct {
	blob.Store
	objects map[string][]byte
}

func (a *atHand) Get(ctx context.Context, key string) ([]byte, error) {
	if data, ok := a.objects[key]; ok {
		return data, nil
	}
	return a.Store.Get(ctx, key)
}

func mrows(rows int, d time.Duration) float64 { return float64(rows) / d.Seconds() / 1e6 }

// BenchmarkScan holds a snapshot of narrow rows against decoding the same bytes: when they are at hand (x/decode), when
// both read them from files (x/fetch), and when only the snapshot does (files-x/decode).
func BenchmarkScan(b *testing.B) {
	ctx := context.Background()
	blocks := bulkBlocks()
	for _, compacted := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "zstd"}[compacted], func(b *testing.B) {
			w := onDiskUncached(b)
			hand := &atHand{Store: w.blob}
			w.blob = hand
			set := w.open(b)
			table := create(b, set, bulkDesc, 0)
			load(b, set, table, blocks...)
			if compacted {
				if err := table.CompactAll(ctx, submitTo(set)); err != nil {
					b.Fatal(err)
				}
				maintain(b, set, table)
			}
			measureScan(b, table, hand)
			if err := set.Close(ctx); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func measureScan(b *testing.B, table *shard.Shard, hand *atHand) {
	codec, objects := newCodec(b), fetch(b, hand)
	keys := slices.Sorted(maps.Keys(objects))
	alone := func(get func(key string) []byte) func() {
		return func() {
			n := int64(0)
			for _, key := range keys {
				n += decode(b, codec, get(key))
			}
			if n != bulkRows {
				b.Fatalf("%d rows", n)
			}
		}
	}
	ofHand := alone(func(key string) []byte { return objects[key] })
	ofFiles := alone(func(key string) []byte {
		data, err := hand.Store.Get(context.Background(), key)
		if err != nil {
			b.Fatal(err)
		}
		return data
	})
	scan := func() { scanAll(b, table, false) }
	var fromHand, fromFiles contest
	for b.Loop() {
		hand.objects = objects
		runtime.GC()
		fromHand.round(scan, ofHand)
		hand.objects = nil
		runtime.GC()
		fromFiles.round(scan, ofFiles)
	}
	fromHand.report(b, "decode")
	fromFiles.report(b, "fetch")
	b.ReportMetric(float64(median(fromFiles.ours.wall))/float64(median(fromHand.theirs.wall)), "files-x/decode")
	b.ReportMetric(float64(median(fromFiles.ours.cpu))/float64(median(fromHand.theirs.cpu)), "files-cpu-x/decode")
	b.ReportMetric(mrows(bulkRows, median(fromHand.ours.wall)), "at-hand-Mrows/s")
	b.ReportMetric(mrows(bulkRows, median(fromFiles.ours.wall)), "files-Mrows/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCompact holds the compaction of a bulk load against decoding what it reads and encoding what it writes: with
// objects in memory, and in files, where both fetch and put them.
func BenchmarkCompact(b *testing.B) {
	blocks, codec := bulkBlocks(), newCodec(b)
	objects := sortedObjects(b, blocks)
	for _, name := range []string{"memory", "files"} {
		b.Run(name, func(b *testing.B) {
			var c contest
			for b.Loop() {
				w := onDiskUncached(b)
				if name == "memory" {
					w.blob = blob.NewMemory()
				}
				set := w.open(b)
				table := create(b, set, bulkDesc, 0)
				load(b, set, table, blocks...)
				loaded := slices.Sorted(maps.Keys(fetch(b, w.blob)))
				runtime.GC()
				c.round(func() {
					if more, err := table.Compact(context.Background(), submitTo(set)); err != nil || !more {
						b.Fatal(more, err)
					}
				}, func() { recode(b, w.blob, codec, loaded, objects) })
				if err := set.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			c.report(b, "recode")
			b.ReportMetric(mrows(bulkRows, median(c.ours.wall)), "Mrows/s")
			b.ReportMetric(mrows(bulkRows, median(c.ours.cpu)), "Mrows/cpu-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// recode reads some objects and writes others, without looking at what is in them.
func recode(b *testing.B, store blob.Store, codec *part.Codec, loaded []string, objects [][]*vec.Block) {
	ctx := context.Background()
	for _, key := range loaded {
		data, err := store.Get(ctx, key)
		if err != nil {
			b.Fatal(err)
		}
		decode(b, codec, data)
	}
	e := codec.NewEncoder()
	for i, o := range objects {
		data, err := e.Encode(o, part.EncodeOptions{Schema: 1, Compress: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := store.Put(ctx, fmt.Sprint("alone/", i), data); err != nil {
			b.Fatal(err)
		}
	}
}

// sortedObjects gives the blocks of the objects that a compaction makes of some.
func sortedObjects(b *testing.B, blocks []*vec.Block) [][]*vec.Block {
	all := vec.NewBlock(twoInts.Kinds(), bulkRows)
	for _, bl := range blocks {
		all.AppendBlock(bl)
	}
	var s part.Sorter
	sorted, err := s.Consolidate(all)
	if err != nil {
		b.Fatal(err)
	}
	var pieces []*vec.Block
	for at := 0; at < sorted.Len; at += part.BlockRows {
		pieces = append(pieces, sorted.Slice(at, min(sorted.Len, at+part.BlockRows)))
	}
	// A row has 16 bytes, an object 8 MiB.
	return slices.Collect(slices.Chunk(pieces, 8))
}

// BenchmarkBulk writes 5 M rows of two ints as COPY does, and reads them in order.
func BenchmarkBulk(b *testing.B) {
	blocks := bulkBlocks()
	var writing, sorted costs
	for b.Loop() {
		set := onDiskUncached(b).open(b)
		table := create(b, set, bulkDesc, 0)
		writing.measure(func() { load(b, set, table, blocks...) })
		sorted.measure(func() { scanAll(b, table, true) })
		if err := set.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(mrows(bulkRows, median(writing.wall)), "write-Mrows/s")
	b.ReportMetric(mrows(bulkRows, median(sorted.wall)), "sorted-scan-Mrows/s")
	b.ReportMetric(0, "ns/op")
}

// scanAll reads the newest contents.
func scanAll(b *testing.B, sh *shard.Shard, consolidate bool) {
	ctx := context.Background()
	sc, err := sh.Snapshot(ctx, sh.Upper().Last(), shard.ScanOptions{Consolidate: consolidate})
	if err != nil {
		b.Fatal(err)
	}
	defer sc.Close()
	n := int64(0)
	for {
		bl, err := sc.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if bl == nil {
			break
		}
		n += countOf(bl)
	}
	if n != bulkRows {
		b.Fatalf("%d rows", n)
	}
}

// heapWatch notes how much memory is in use, at most, when an object is read or written.
type heapWatch struct {
	blob.Store
	mu struct {
		sync.Mutex
		on   bool
		peak uint64
	}
}

func (h *heapWatch) Get(ctx context.Context, key string) ([]byte, error) {
	h.look()
	return h.Store.Get(ctx, key)
}

func (h *heapWatch) Put(ctx context.Context, key string, data []byte) error {
	h.look()
	return h.Store.Put(ctx, key, data)
}

func (h *heapWatch) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.on {
		h.mu.peak = max(h.mu.peak, heapInUse())
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// during gives the peak above what was in use before.
func (h *heapWatch) during(do func()) (peak uint64) {
	before := heapInUse()
	h.mu.Lock()
	h.mu.on, h.mu.peak = true, before
	h.mu.Unlock()
	do()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.on = false
	return h.mu.peak - before
}

var wideRows = shard.Schema{Rel: types.Rel{Cols: []types.Column{{Name: "a", Type: types.TInt8}, {Name: "b", Type: types.TBytea}}}}

// regularRows make an object that is small once it is compressed.
func regularRows(rng *rand.Rand) *vec.Block {
	const width = 1024
	b := vec.NewBlock(wideRows.Kinds(), objectBytes/width)
	for range objectBytes / width {
		b.AppendRow(1, vec.IntOf(rng.Int64()), vec.BytesOf(bytes.Repeat([]byte{byte(rng.Uint32())}, width)))
	}
	return b
}

// compactionPeak gives the memory that a compaction takes of a shard with one run of some objects, and another of one.
// The store is in memory, but compressed, the objects take next to nothing there.
func compactionPeak(tb testing.TB, objects int) uint64 {
	tb.Helper()
	w := newWorld()
	if err := w.settings.Set("storage_cache_max_bytes", "0"); err != nil {
		tb.Fatal(err)
	}
	watch := &heapWatch{Store: w.blob}
	w.blob = watch
	set := w.open(tb)
	do(tb, set, shard.Create{ID: "u1", Schema: wideRows, Name: "t"})
	sh, err := set.Open(context.Background(), bulkDesc)
	if err != nil {
		tb.Fatal(err)
	}
	compact := func() {
		if err := sh.CompactAll(context.Background(), submitTo(set)); err != nil {
			tb.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range objects {
		load(tb, set, sh, regularRows(rng))
	}
	compact()
	maintain(tb, set, sh)
	load(tb, set, sh, regularRows(rng))
	return watch.during(compact)
}

// objectBytes is about how large an object is.
const objectBytes = 8 << 20

// BenchmarkCompactionMemory shows the memory that a compaction takes of a shard, and of one eight times as large.
func BenchmarkCompactionMemory(b *testing.B) {
	var small, large []uint64
	for b.Loop() {
		small, large = append(small, compactionPeak(b, 4)), append(large, compactionPeak(b, 32))
	}
	slices.Sort(small)
	slices.Sort(large)
	n, of8n := float64(small[len(small)/2]), float64(large[len(large)/2])
	b.ReportMetric(of8n/n, "x/eighth")
	b.ReportMetric(n/(1<<20), "N-MiB")
	b.ReportMetric(of8n/(1<<20), "8N-MiB")
	b.ReportMetric(0, "ns/op")
}
