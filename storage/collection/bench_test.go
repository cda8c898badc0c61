package collection_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// onDisk is an environment on the machine's own file system and clock.
func onDisk(tb testing.TB) (*world, *prometheus.Registry) {
	tb.Helper()
	dir, reg := tb.TempDir(), prometheus.NewRegistry()
	blobs, err := blob.OpenDirectory(dir+"/blob", blob.DirectoryOptions{Registry: reg})
	if err != nil {
		tb.Fatal(err)
	}
	store, err := consensus.OpenPebble(dir+"/consensus", consensus.PebbleOptions{Registry: reg})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &world{consensus: store, blob: blobs, registry: reg, settings: newSettings(), clock: func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }}, reg
}

func counter(tb testing.TB, reg *prometheus.Registry, name string) float64 {
	tb.Helper()
	families, err := reg.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.Metric {
				sum += m.Counter.GetValue()
			}
		}
	}
	return sum
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// BenchmarkSmallAppend holds a one-row append, from rows to acknowledgement, against a bare synced Pebble commit of
// the same bytes, alternating between the two.
func BenchmarkSmallAppend(b *testing.B) {
	ctx := context.Background()
	w, reg := onDisk(b)
	set := w.open(b)
	set.Start()
	defer set.Close(ctx)
	table := create(b, set, collection.Desc{ID: tvc.ID{Class: 'u', N: 1}, Shard: "u1", Name: "t"}, 0)
	bare, err := pebble.Open(b.TempDir(), &pebble.Options{Logger: quiet{}})
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var ours, theirs []time.Duration
	bytes := counter(b, reg, "tributary_storage_consensus_bytes_total")
	value, key := make([]byte, 70), make([]byte, 16)
	n := uint64(0)
	for b.Loop() {
		n++
		start := time.Now()
		binary.BigEndian.PutUint64(key, n)
		if err := bare.Set(key, value, pebble.Sync); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		at := set.Oracle().WriteTime()
		do(b, set, shard.Append{Shard: table, AnyLower: true, Upper: tvc.After(at),
			Written: []*shard.Written{write(b, table, ints([3]int64{int64(n), 7, 1}))}})
		if err := set.Oracle().ApplyWrite(ctx, at); err != nil {
			b.Fatal(err)
		}
		end := time.Now()
		theirs, ours = append(theirs, middle.Sub(start)), append(ours, end.Sub(middle))
	}
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "×bare")
	b.ReportMetric(float64(median(theirs).Nanoseconds())/1e3, "bare-µs")
	b.ReportMetric(float64(median(ours).Nanoseconds())/1e3, "append-µs")
	b.ReportMetric((counter(b, reg, "tributary_storage_consensus_bytes_total")-bytes)/float64(n), "B/append")
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) { panic("pebble") }

// BenchmarkManyAppend has 100 shards append together, again and again.
func BenchmarkManyAppend(b *testing.B) {
	ctx := context.Background()
	w, reg := onDisk(b)
	set := w.open(b)
	defer set.Close(ctx)
	var shards []*shard.Shard
	for i := range 100 {
		id := tvc.ID{Class: 'u', N: uint64(i + 1)}
		shards = append(shards, create(b, set, collection.Desc{ID: id, Shard: shard.ID(id.String()), Name: id.String()}, 0))
	}
	before, rounds := counter(b, reg, "tributary_storage_fsyncs_total"), 0
	for b.Loop() {
		rounds++
		var units []txn.Unit
		for _, sh := range shards {
			units = append(units, txn.Unit{Ops: []shard.Op{shard.Append{Shard: sh, Lower: sh.Upper(), Upper: sh.Upper() + 10,
				Written: []*shard.Written{write(b, sh, ints([3]int64{int64(rounds), 7, 1}))}}}})
		}
		var wg sync.WaitGroup
		for _, u := range units {
			wg.Go(func() {
				out, err := set.Group().Do(ctx, u)
				if err != nil || !out.Done() {
					b.Error(out.Refused, err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric((counter(b, reg, "tributary_storage_fsyncs_total")-before)/float64(rounds), "fsyncs/round")
}

const bulkRows = 5 << 20

func bulkBlocks() []*vec.Block {
	rng := rand.New(rand.NewPCG(1, 1))
	var out []*vec.Block
	for at := 0; at < bulkRows; at += 1 << 16 {
		b := vec.NewBlock(twoInts.Kinds(), 1<<16)
		for range 1 << 16 {
			b.Cols[0].AppendInt(rng.Int64N(1 << 30))
			b.Cols[1].AppendInt(rng.Int64N(1000))
		}
		b.Len = 1 << 16
		out = append(out, b)
	}
	return out
}

func mrows(rows int, d time.Duration) float64 { return float64(rows) / d.Seconds() / 1e6 }

// BenchmarkBulk writes 5 M rows of two ints as COPY does, reads them back, and compacts them.
func BenchmarkBulk(b *testing.B) {
	ctx := context.Background()
	blocks := bulkBlocks()
	var writing, reading, merging, sorted []float64
	for b.Loop() {
		w, _ := onDisk(b)
		set := w.open(b)
		table := create(b, set, collection.Desc{ID: tvc.ID{Class: 'u', N: 1}, Shard: "u1", Name: "t", Retain: -1}, 0)
		start := time.Now()
		wr := table.NewWriter(shard.WriterOptions{})
		for _, bl := range blocks {
			if err := wr.Add(ctx, bl); err != nil {
				b.Fatal(err)
			}
		}
		written, err := wr.Finish(ctx)
		if err != nil {
			b.Fatal(err)
		}
		do(b, set, shard.Append{Shard: table, Upper: 1000, Written: []*shard.Written{written}})
		writing = append(writing, mrows(bulkRows, time.Since(start)))
		// From the files, not from the cache.
		if err := w.settings.Set("storage_cache_max_bytes", "0"); err != nil {
			b.Fatal(err)
		}
		if err := set.Close(ctx); err != nil {
			b.Fatal(err)
		}
		w.registry = prometheus.NewRegistry()
		cold := w.open(b)
		table, err = cold.Open(ctx, collection.Desc{ID: tvc.ID{Class: 'u', N: 1}, Shard: "u1", Name: "t", Retain: -1})
		if err != nil {
			b.Fatal(err)
		}
		start = time.Now()
		scanAll(b, table, false)
		reading = append(reading, mrows(bulkRows, time.Since(start)))
		start = time.Now()
		scanAll(b, table, true)
		sorted = append(sorted, mrows(bulkRows, time.Since(start)))
		start = time.Now()
		more, err := table.Compact(ctx, func(ctx context.Context, op shard.Op) (*shard.Refusal, error) {
			out, err := cold.Group().Do(ctx, txn.Unit{Ops: []shard.Op{op}})
			return out.Refused, err
		})
		if err != nil || !more {
			b.Fatal(more, err)
		}
		merging = append(merging, mrows(bulkRows, time.Since(start)))
		if err := cold.Close(ctx); err != nil {
			b.Fatal(err)
		}
	}
	for name, rates := range map[string][]float64{"write": writing, "scan": reading, "sorted-scan": sorted, "compact": merging} {
		slices.Sort(rates)
		b.ReportMetric(rates[len(rates)/2], name+"-Mrows/s")
	}
}

func scanAll(b *testing.B, sh *shard.Shard, consolidate bool) {
	ctx := context.Background()
	sc, err := sh.Snapshot(ctx, 999, shard.ScanOptions{Consolidate: consolidate})
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
		for i := range bl.Len {
			n += bl.Diff(i)
		}
	}
	if n != bulkRows {
		b.Fatalf("%d rows", n)
	}
}
