package collection_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"

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
	table := create(b, set, collection.Desc{ID: u1, Shard: "u1", Name: "t"}, 0)
	bare, err := pebble.Open(b.TempDir(), &pebble.Options{Logger: quiet{}})
	if err != nil {
		b.Fatal(err)
	}
	n := uint64(0)
	add := func() {
		n++
		at := set.Oracle().WriteTime()
		do(b, set, shard.Append{Shard: table, AnyLower: true, Upper: tvc.After(at),
			Written: []*shard.Written{write(b, table, ints([3]int64{int64(n), 7, 1}))}})
		if err := set.Oracle().ApplyWrite(ctx, at); err != nil {
			b.Fatal(err)
		}
	}
	entryBytes := func() float64 { return counter(b, reg, "tributary_storage_consensus_bytes_total") }
	before := entryBytes()
	add()
	value, key := make([]byte, int(entryBytes()-before)), make([]byte, len("r"+shard.RegisterKey("u1"))+9)
	var c contest
	for b.Loop() {
		c.round(add, func() {
			binary.BigEndian.PutUint64(key, n)
			if err := bare.Set(key, value, pebble.Sync); err != nil {
				b.Fatal(err)
			}
		})
	}
	c.report(b, "bare")
	b.ReportMetric(float64(median(c.theirs.wall).Nanoseconds())/1e3, "bare-µs")
	b.ReportMetric(float64(median(c.ours.wall).Nanoseconds())/1e3, "append-µs")
	b.ReportMetric((entryBytes()-before)/float64(n), "B/append")
	if err := errors.Join(set.Close(ctx), bare.Close()); err != nil {
		b.Fatal(err)
	}
}

// contest measures two things next to each other, now the one first and now the other, so that whatever else the machine
// does, and what the first leaves to be collected, hits both.
type contest struct{ ours, theirs costs }

// costs are what each round took: by the clock, and of the processors.
type costs struct{ wall, cpu []time.Duration }

func (c *contest) round(ours, theirs func()) {
	if len(c.ours.wall)%2 == 0 {
		c.ours.measure(ours)
		c.theirs.measure(theirs)
	} else {
		c.theirs.measure(theirs)
		c.ours.measure(ours)
	}
}

func (c *costs) measure(do func()) {
	start, worked := time.Now(), processorTime()
	do()
	c.wall, c.cpu = append(c.wall, time.Since(start)), append(c.cpu, processorTime()-worked)
}

// processorTime is what the process has worked, on all processors, so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report tells how many times theirs ours takes.
func (c *contest) report(b *testing.B, theirs string) {
	b.ReportMetric(float64(median(c.ours.wall))/float64(median(c.theirs.wall)), "x/"+theirs)
	b.ReportMetric(float64(median(c.ours.cpu))/float64(median(c.theirs.cpu)), "cpu-x/"+theirs)
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) { panic("pebble") }

// countingCommits counts the calls of Commit.
type countingCommits struct {
	consensus.Store
	commits atomic.Int64
}

func (c *countingCommits) Commit(ctx context.Context, units []consensus.Unit) ([]consensus.Outcome, error) {
	c.commits.Add(1)
	return c.Store.Commit(ctx, units)
}

// BenchmarkManyAppend has 100 shards append together, again and again. What is synced beyond the commits is Pebble's own: when
// it goes to the next log and writes a table.
func BenchmarkManyAppend(b *testing.B) {
	ctx := context.Background()
	w, reg := onDisk(b)
	counted := &countingCommits{Store: w.consensus}
	w.consensus = counted
	set := w.open(b)
	defer set.Close(ctx)
	var shards []*shard.Shard
	for i := range 100 {
		id := tvc.ID{Class: 'u', N: uint64(i + 1)}
		shards = append(shards, create(b, set, collection.Desc{ID: id, Shard: shard.ID(id.String()), Name: id.String()}, 0))
	}
	fsyncs := func() float64 { return counter(b, reg, "tributary_storage_fsyncs_total") }
	var each, commits []float64
	for b.Loop() {
		var units []txn.Unit
		for _, sh := range shards {
			units = append(units, txn.Unit{Ops: []shard.Op{shard.Append{Shard: sh, Lower: sh.Upper(), Upper: sh.Upper() + 10,
				Written: []*shard.Written{write(b, sh, ints([3]int64{int64(len(each)), 7, 1}))}}}})
		}
		before, had := fsyncs(), counted.commits.Load()
		var wg sync.WaitGroup
		start := make(chan struct{})
		for _, u := range units {
			wg.Go(func() {
				<-start
				out, err := set.Group().Do(ctx, u)
				if err != nil || !out.Done() {
					b.Error(out.Refused, err)
				}
			})
		}
		close(start)
		wg.Wait()
		each, commits = append(each, fsyncs()-before), append(commits, float64(counted.commits.Load()-had))
	}
	for name, counts := range map[string][]float64{"fsyncs/round": each, "commits/round": commits} {
		slices.Sort(counts)
		b.ReportMetric(counts[len(counts)/2], name)
		b.ReportMetric(counts[len(counts)*95/100], "p95-"+name)
		b.ReportMetric(counts[len(counts)-1], "max-"+name)
	}
}
