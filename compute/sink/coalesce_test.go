package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
)

// update is a change of a row at a time.
type update struct {
	row int64
	at  tvc.Time
}

// crowd is the workers of a view, who are handed their rows one block at a time, in any order: no dataflow decides who
// is first.
type crowd struct {
	*env
	rng *rand.Rand
	// is has the rows of the view, and did every update of it.
	is   map[int64]int64
	did  map[update]int64
	now  tvc.Time
	hold *collection.Hold
}

// delivery is a block on its way to a worker.
type delivery struct {
	worker int
	at     tvc.Time
	block  *vec.Block
}

// newCrowd makes an empty view whose history is kept.
func newCrowd(tb testing.TB, workers int, seed uint64) *crowd {
	tb.Helper()
	c := &crowd{env: newEnv(tb, workers), rng: rand.New(rand.NewPCG(seed, 3)), is: map[int64]int64{}, did: map[update]int64{}, now: 10}
	c.keep()
	return c
}

// keep has the view's history kept by the process that runs now.
func (c *crowd) keep() {
	var err error
	if c.hold, err = c.p.Set.Hold("test", tvc.ID{Class: 'u', N: 1}); err != nil {
		c.tb.Fatal(err)
	}
}

// changes makes up an interval of some ticks, about so many rows each, and deals it out. No row comes and goes within it.
func (c *crowd) changes(ticks, rows int) [][]delivery {
	todo := make([][]delivery, c.o.Workers)
	changed := map[int64]bool{}
	for range ticks {
		c.now += 1 + tvc.Time(c.rng.IntN(5))
		in := vec.NewBlock(viewSchema.Rel.Kinds(), 0)
		for range c.rng.IntN(2*rows + 1) {
			k, diff := c.rng.Int64N(5000), int64(1)
			if changed[k] {
				continue
			}
			if changed[k] = true; c.is[k] > 0 && c.rng.IntN(2) == 0 {
				diff = -1
			}
			if c.is[k] += diff; c.is[k] == 0 {
				delete(c.is, k)
			}
			c.did[update{k, c.now}] += diff
			in.AppendRow(diff, rowOf(k)...)
		}
		for _, b := range deal(in, c.o.Workers) {
			todo[b.worker] = append(todo[b.worker], delivery{b.worker, c.now, b.block})
		}
	}
	return todo
}

// deal gives each worker its rows of a block, in one piece or two.
func deal(in *vec.Block, workers int) []delivery {
	var out []delivery
	sels := make([][]int32, workers)
	dataflow.ByRow().Deal(in, nil, sels)
	for w, sel := range sels {
		for _, sel := range [][]int32{sel[:len(sel)/2], sel[len(sel)/2:]} {
			if len(sel) > 0 {
				b := vec.NewBlock(in.Kinds(), len(sel))
				b.AppendSel(in, sel)
				out = append(out, delivery{worker: w, block: b})
			}
		}
	}
	return out
}

// deliver hands a block to its worker.
func (d delivery) to(v *View) {
	v.Begin(d.worker, &dataflow.Tick{At: d.at})
	v.Absorb(&dataflow.Lane{}, d.worker, 0, d.block)
}

// shuffled has all deliveries in an order in which only those of one worker follow each other as they were.
func (c *crowd) shuffled(todo [][]delivery) []delivery {
	var out []delivery
	for left := slices.Clone(todo); ; {
		left = slices.DeleteFunc(left, func(d []delivery) bool { return len(d) == 0 })
		if len(left) == 0 {
			return out
		}
		w := c.rng.IntN(len(left))
		out, left[w] = append(out, left[w][0]), left[w][1:]
	}
}

// seal ends the open interval of a view, through the time of the last tick.
func (c *crowd) seal(v *View) *Interval {
	iv := v.Seal()
	iv.Lower, iv.Upper = c.o.Shard.Upper(), tvc.After(c.now)
	return iv
}

// append appends an interval and gives how many parts it became.
func (c *crowd) append(iv *Interval) int {
	c.tb.Helper()
	before := c.parts()
	if err := NewAppender(c.o, c.p.Set.Group()).Append(context.Background(), iv); err != nil {
		c.tb.Fatal(err)
	}
	if used := c.o.Staging.used(); used != 0 {
		c.tb.Fatalf("%d bytes are staged", used)
	}
	return c.parts() - before
}

// history reads every update of the view.
func (e *env) history() map[update]int64 {
	e.tb.Helper()
	out := map[update]int64{}
	sc, err := e.o.Shard.Updates(context.Background(), 0, e.o.Shard.Upper(), shard.ScanOptions{})
	if err != nil {
		e.tb.Fatal(err)
	}
	defer sc.Close()
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			e.tb.Fatal(err)
		}
		if b == nil {
			maps.DeleteFunc(out, func(_ update, n int64) bool { return n == 0 })
			return out
		}
		for i := range b.Len {
			out[update{b.Cols[0].Ints[i], tvc.Time(b.Times[i])}] += b.Diff(i)
		}
	}
}

// check compares the view's history with what was done.
func (c *crowd) check() {
	c.tb.Helper()
	if got := c.history(); !maps.Equal(got, c.did) {
		c.tb.Fatalf("%d updates are stored, %d were made, or they differ", len(got), len(c.did))
	}
	r, err := c.p.Set.Client().Check(context.Background(), "u1")
	if err != nil || len(r.Faults) > 0 {
		c.tb.Fatal(r.Faults, err)
	}
}

// TestWorkersShareExactlyOnePart: what the workers stage is one part, however many they are and in whatever order, or at
// whatever same time, they come; and it has all they brought. An interval without a change has none.
func TestWorkersShareExactlyOnePart(t *testing.T) {
	c := newCrowd(t, 64, 1)
	c.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
	for workers := 1; workers <= 64; workers++ {
		c.set("storage_inline_append_max_bytes", []string{"0", "32kB"}[workers%2])
		c.o.Workers = workers
		v := NewView(context.Background(), c.o)
		todo := c.changes(1+c.rng.IntN(3), 40)
		if workers%4 == 0 {
			var wg sync.WaitGroup
			for _, mine := range todo {
				wg.Go(func() {
					for _, d := range mine {
						d.to(v)
					}
				})
			}
			wg.Wait()
		} else {
			for _, d := range c.shuffled(todo) {
				d.to(v)
			}
		}
		want := min(1, len(slices.Concat(todo...)))
		if got := c.append(c.seal(v)); got != want {
			t.Fatalf("%d workers: %d parts, want %d", workers, got, want)
		}
	}
	c.now++
	if got := c.append(c.seal(NewView(context.Background(), c.o))); got != 0 {
		t.Errorf("%d parts of nothing", got)
	}
	c.check()
}

// TestWorkersMayDisagree: the thresholds change all the time, and each worker reads its own when an interval begins for it;
// one may have nothing, others stage, write what is too much, or do not share, and some are refused by the budget. What is
// appended is one part of all that is shared, one of each worker that has written, and all there is.
func TestWorkersMayDisagree(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 10)
	}
	kinds := map[string]int{}
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		c := newCrowd(t, 1+int(seed%9), seed)
		for range 12 {
			c.set("storage_inline_append_max_bytes", []string{"0", "1kB", "32kB"}[c.rng.IntN(3)])
			v := NewView(context.Background(), c.o)
			for _, d := range c.shuffled(c.changes(1+c.rng.IntN(4), 1+c.rng.IntN(60))) {
				s := &v.shares[d.worker]
				c.set("compute_mv_sink_shared_batch_max_bytes", []string{"0", "1", "700", "4095", "4096", "1MB", "1GB"}[c.rng.IntN(7)])
				c.set("compute_mv_sink_staging_max_bytes", []string{"1TB", "1TB", "20kB", "0"}[c.rng.IntN(4)])
				limit := s.limit
				opens := !s.open
				if d.to(v); !opens && s.limit != limit {
					t.Fatalf("seed %d: a worker's threshold changed within an interval", seed)
				}
			}
			want, shared := 0, 0
			for w := range v.shares {
				switch s := &v.shares[w]; {
				case !s.open:
					kinds["empty"]++
				case s.alone:
					want++
					kinds["alone"]++
				case s.writer != nil:
					want++
					kinds["written"]++
				default:
					shared = 1
					kinds["staged"]++
				}
			}
			if got := c.append(c.seal(v)); got != want+shared {
				t.Fatalf("seed %d: %d parts, want %d of single workers and %d that is shared", seed, got, want, shared)
			}
		}
		c.check()
	}
	if len(kinds) != 4 {
		t.Errorf("not all cases came up: %v", kinds)
	}
}

// TestContentsDoNotDependOnTheThreshold: two replicas that get the same rows in another order, with other thresholds and
// numbers of workers, append the same updates, and so either may go on where the other was.
func TestContentsDoNotDependOnTheThreshold(t *testing.T) {
	one, two := newCrowd(t, 3, 5), newEnv(t, 8)
	for range 20 {
		one.set("compute_mv_sink_shared_batch_max_bytes", []string{"0", "1", "4kB", "1MB"}[one.rng.IntN(4)])
		two.set("compute_mv_sink_shared_batch_max_bytes", []string{"0", "1", "4kB", "1MB"}[one.rng.IntN(4)])
		v, u := NewView(context.Background(), one.o), NewView(context.Background(), two.o)
		for _, d := range one.shuffled(one.changes(3, 100)) {
			d.to(v)
			for _, d2 := range deal(d.block, 8) {
				d2.at = d.at
				d2.to(u)
			}
		}
		iv := u.Seal()
		iv.Lower, iv.Upper = two.o.Shard.Upper(), tvc.After(one.now)
		if err := NewAppender(two.o, two.p.Set.Group()).Append(context.Background(), iv); err != nil {
			t.Fatal(err)
		}
		one.append(one.seal(v))
		a, upper := one.o.Shard.Fingerprint()
		if b, same := two.o.Shard.Fingerprint(); a != b || upper != same {
			t.Fatalf("fingerprints %v and %v at %v and %v", a, b, upper, same)
		}
	}
	one.check()
	if a, b := one.contents(), two.contents(); a != b {
		t.Errorf("one has\n%s\nthe other\n%s", a, b)
	}
}

// TestNothingIsSealedThatDoesNotAddUp loses, doubles and alters what workers hand over. Whatever it is, the interval is
// refused: nothing is appended, no object is left, and the next dataflow appends all of it.
//
// Of what must be kept, this is: no interval is sealed without proof that the data of all workers is in it.
func TestNothingIsSealedThatDoesNotAddUp(t *testing.T) {
	// with gives the report of some worker that has what is asked for.
	staged := func(iv *Interval) *report {
		return &iv.reports[slices.IndexFunc(iv.reports, func(r report) bool { return r.writer == nil && r.staged != nil })]
	}
	written := func(iv *Interval) *report {
		return &iv.reports[slices.IndexFunc(iv.reports, func(r report) bool { return r.writer != nil })]
	}
	for name, spoil := range map[string]func(ctx context.Context, iv *Interval){
		"all rows of a worker are lost": func(_ context.Context, iv *Interval) { staged(iv).staged = nil },
		"one row is lost": func(_ context.Context, iv *Interval) {
			r := staged(iv)
			r.staged = r.staged.Slice(1, r.staged.Len)
		},
		"the rows that overflowed are lost": func(ctx context.Context, iv *Interval) {
			r := written(iv)
			r.writer.Abort(ctx)
			r.writer = nil
		},
		"a worker's rows come twice": func(_ context.Context, iv *Interval) {
			r := staged(iv)
			r.staged.AppendBlock(r.staged.Clone())
		},
		"a worker has another's rows": func(_ context.Context, iv *Interval) {
			r := staged(iv)
			for w := range iv.reports {
				if o := &iv.reports[w]; o != r && o.staged != nil && o.staged.Len > 0 {
					o.staged = r.staged.Clone()
					return
				}
			}
		},
		"a row is another": func(_ context.Context, iv *Interval) { staged(iv).staged.Cols[0].Ints[0]++ },
		"a row comes later": func(_ context.Context, iv *Interval) {
			staged(iv).staged.Times[0]++
		},
		"two rows of one worker swap their times": func(_ context.Context, iv *Interval) {
			times := staged(iv).staged.Times
			times[0], times[len(times)-1] = times[len(times)-1], times[0]
		},
		"a row comes more often": func(_ context.Context, iv *Interval) {
			b := staged(iv).staged
			b.Diffs = slices.Repeat([]int64{1}, b.Len)
			b.Diffs[0]++
		},
		"a row comes more often, another less": func(_ context.Context, iv *Interval) {
			b := staged(iv).staged
			b.Diffs = slices.Repeat([]int64{1}, b.Len)
			b.Diffs[0]++
			b.Diffs[1]--
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, 4)
			fill := func(f *flow) {
				f.tick(10, rows(0, 100, 1))
				f.tick(20, rows(100, 100, 1))
			}
			f := e.newFlow()
			// One worker is past its threshold.
			e.set("compute_mv_sink_shared_batch_max_bytes", "1")
			one := deal(rows(1000, 10, 1), 4)[0]
			one.at = 10
			one.to(f.view)
			e.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
			fill(f)
			iv := f.seal()
			spoil(context.Background(), iv)
			if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), iv); !errors.Is(err, ErrNotConserved) {
				t.Fatalf("error is %v", err)
			}
			if upper := e.o.Shard.Upper(); upper != 0 || len(e.objects()) > 0 || e.o.Staging.used() != 0 {
				t.Errorf("appended through %v; objects %v, %d bytes staged", upper, e.objects(), e.o.Staging.used())
			}
			f = e.newFlow()
			fill(f)
			f.append()
			if n := strings.Count(e.contents(), "\n"); n != 200 {
				t.Errorf("%d rows, want 200", n)
			}
		})
	}
}

// TestTimesOutsideTheIntervalAreRefused: rows at times before an interval, or after it, are a fault that ends this view's
// append and nothing else.
func TestTimesOutsideTheIntervalAreRefused(t *testing.T) {
	for i, at := range []tvc.Time{5, 25, 5, 25} {
		e := newEnv(t, 2)
		e.set("compute_mv_sink_shared_batch_max_bytes", []string{"1MB", "1"}[i/2])
		f := e.newFlow()
		f.tick(10, rows(0, 20, 1))
		f.append()
		bad := e.newFlow()
		bad.tick(at, rows(20, 20, 1))
		bad.now = 20
		if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), bad.seal()); !errors.Is(err, ErrNotConserved) {
			t.Errorf("rows at %v: %v", at, err)
		}
		if upper := e.o.Shard.Upper(); upper != 11 || e.o.Staging.used() != 0 {
			t.Errorf("rows at %v: appended below %v; %d bytes staged", at, upper, e.o.Staging.used())
		}
		f.tick(20, rows(20, 20, 1))
		f.append()
		if n := strings.Count(e.contents(), "\n"); n != 40 {
			t.Errorf("rows at %v: %d rows in the end", at, n)
		}
	}
}

// TestThresholdIsMetToTheByte: a worker stages as many bytes as the threshold says and not one more; and to stage one byte
// is to stage nothing, but not the same as not to share.
func TestThresholdIsMetToTheByte(t *testing.T) {
	in := rows(0, 500, 1)
	for _, workers := range []int{1, 3} {
		probe := newEnv(t, workers)
		probe.set("compute_mv_sink_shared_batch_max_bytes", "1GB")
		f := probe.newFlow()
		f.tick(10, in)
		size := f.view.shares[0].staged.Size()
		f.append()
		for off := -1; off <= 1; off++ {
			e := newEnv(t, workers)
			e.set("compute_mv_sink_shared_batch_max_bytes", strconv.Itoa(size+off))
			f := e.newFlow()
			f.tick(10, in)
			if spilled := f.view.shares[0].writer != nil; spilled != (off < 0) {
				t.Errorf("%d workers, %d bytes at a threshold of %d: written is %v", workers, size, size+off, spilled)
			}
			f.append()
			if a, b := e.contents(), probe.contents(); a != b {
				t.Errorf("at a threshold of %d the view has\n%s\nwant\n%s", size+off, a, b)
			}
		}
		for limit, alone := range map[string]bool{"0": true, "1": false} {
			e := newEnv(t, workers)
			e.set("compute_mv_sink_shared_batch_max_bytes", limit)
			f := e.newFlow()
			f.tick(10, in)
			for w := range f.view.shares {
				if s := &f.view.shares[w]; s.alone != alone || (s.writer == nil) != alone {
					t.Errorf("threshold %s: worker %d has written: %v", limit, w, s.writer != nil)
				}
			}
			f.append()
			if got := e.parts(); got != workers {
				t.Errorf("threshold %s: %d parts of %d workers", limit, got, workers)
			}
		}
	}
}

// TestInlineBudgetIsMetToTheByte: what all workers share lies in the state if it is no larger, encoded, than an append may
// bring, and is an object else; one part it is in both cases.
func TestInlineBudgetIsMetToTheByte(t *testing.T) {
	probe := newEnv(t, 5)
	probe.set("storage_inline_append_max_bytes", "256kB")
	probe.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
	f := probe.newFlow()
	f.tick(10, rows(0, 300, 1))
	parts, err := upToThreshold{}.write(context.Background(), NewAppender(probe.o, probe.p.Set.Group()), f.seal())
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	size := int(parts[0].Bytes())
	if parts[0].Inline() != 1 && !invariants.Enabled {
		t.Fatalf("%d bytes are an object", size)
	}
	for off := -1; off <= 1; off++ {
		e := newEnv(t, 5)
		e.set("storage_inline_append_max_bytes", strconv.Itoa(size+off))
		e.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
		f := e.newFlow()
		f.tick(10, rows(0, 300, 1))
		f.append()
		inline := e.p.Registry.Sum("tributary_sink_parts_total", "kind", "inline")
		objects := e.p.Registry.Sum("tributary_sink_parts_total", "kind", "object")
		// With invariants on, what may be inline is an object now and then.
		fits := off >= 0 && !(invariants.Enabled && objects == 1)
		if inline+objects != 1 || (inline == 1) != fits {
			t.Errorf("%d bytes where %d may be inline: %v inline parts, %v objects", size, size+off, inline, objects)
		}
	}
}

// TestPartsOfAnAppendShareTheInlineBudget: without sharing, as many parts as there are workers are inline only if all of them
// are within the budget of one append.
func TestPartsOfAnAppendShareTheInlineBudget(t *testing.T) {
	const workers = 8
	for setting, most := range map[string]float64{"32kB": 32 << 10, "256kB": 256 << 10} {
		e := newEnv(t, workers)
		e.set("storage_inline_append_max_bytes", setting)
		e.set("compute_mv_sink_shared_batch_max_bytes", "0")
		f := e.newFlow()
		f.tick(10, rows(0, 12_000, 1)) // about 58 kB, encoded
		f.append()
		bytes := e.p.Registry.Sum("tributary_sink_part_bytes_total", "kind", "inline")
		inline := e.p.Registry.Sum("tributary_sink_parts_total", "kind", "inline")
		if bytes > most || inline == workers != (most == 256<<10) && !invariants.Enabled {
			t.Errorf("%s: %v parts of %v bytes are inline", setting, inline, bytes)
		}
	}
}

// TestSharedPartsKnowTheirSchema: what workers share, inline or as an object, is read and compacted after the view has got
// a further column.
func TestSharedPartsKnowTheirSchema(t *testing.T) {
	ctx := context.Background()
	e := newEnv(t, 4)
	e.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
	write := func(at tvc.Time, from int, inline string) {
		t.Helper()
		e.set("storage_inline_append_max_bytes", inline)
		f := e.newFlow()
		f.tick(at, rows(from, 50, 1))
		f.append()
	}
	write(10, 0, "0")
	write(20, 50, "32kB")
	schema, id := e.o.Shard.Schema()
	wider := schema
	wider.Rel.Cols = append(slices.Clone(schema.Rel.Cols), schema.Rel.Cols[0])
	wider.Rel.Cols[2].Name, wider.Rel.Cols[2].Nullable = "c", true
	if refused, err := e.p.Submit(ctx, shard.Evolve{Shard: e.o.Shard, Expect: id, Schema: wider}); refused != nil || err != nil {
		t.Fatal(refused, err)
	}
	all := func() string {
		t.Helper()
		r, err := e.p.Set.Client().Check(ctx, "u1")
		if err != nil || len(r.Faults) > 0 {
			t.Fatal(r.Faults, err)
		}
		return e.contents()
	}
	want := ""
	for k := range 100 {
		want += fmt.Sprintf("%#v 1\n", []vec.Datum{vec.IntOf(int64(k)), vec.StrOf(fmt.Sprint("value ", k)), vec.Null, vec.Null})
	}
	if got := all(); got != want {
		t.Errorf("before the compaction:\n%swant\n%s", got, want)
	}
	if err := e.o.Shard.CompactAll(ctx, e.p.Submit); err != nil {
		t.Fatal(err)
	}
	if got := all(); got != want {
		t.Errorf("after the compaction:\n%swant\n%s", got, want)
	}
}

// TestSharedPartsAreTheViews: all that a view's appends count and put is counted as the view's, from the first shared
// part on, and under no other name.
func TestSharedPartsAreTheViews(t *testing.T) {
	e := newEnv(t, 8)
	e.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
	f := e.newFlow()
	f.tick(10, rows(0, 100, 1))
	f.append()
	for name, label := range map[string]string{
		"tributary_sink_appends_total": "view", "tributary_sink_parts_total": "view", "tributary_sink_rows_total": "view",
		"tributary_storage_objects_put_total": "collection",
	} {
		all, views := e.p.Registry.Sum(name), e.p.Registry.Sum(name, label, "v")
		if all == 0 || all != views {
			t.Errorf("%s: %v of %v are labelled with the view's name", name, views, all)
		}
	}
	if n := e.p.Registry.Sum("tributary_storage_objects_put_total", "collection", "v", "origin", "append"); n != 1 {
		t.Errorf("%v objects were put by an append", n)
	}
	e.o.Metrics.Forget(e.o.Shard.ID())
	if n := e.p.Registry.Sum("tributary_sink_parts_total"); n != 0 {
		t.Errorf("%v parts of a view that is gone", n)
	}
}

// TestAViewDiesAtEveryCall ends the process at each call of the stores that an append makes, before it or after it: before
// anything was put, between the puts, when all is put, when the step is taken and nobody was told. The next process finds
// the interval whole or not at all, at every time of it; nothing is left that nobody names; and it goes on.
func TestAViewDiesAtEveryCall(t *testing.T) {
	died := map[string]bool{}
	for _, v := range []storagetest.Verdict{storagetest.DieBefore, storagetest.DieAfter} {
		for n := 1; ; n++ {
			c := newCrowd(t, 3, 11)
			view := func(ticks int) *View {
				v := NewView(context.Background(), c.o)
				for _, d := range c.shuffled(c.changes(ticks, 150)) {
					d.to(v)
				}
				return v
			}
			c.append(c.seal(view(2)))
			before, below := maps.Clone(c.did), c.o.Shard.Upper()
			at, calls := "", c.p.Faults.Calls()
			c.follow(func(call storagetest.Call) storagetest.Verdict {
				if call.N-calls == n {
					at = call.Op
					return v
				}
				return storagetest.Pass
			})
			// Some workers stage, some put objects of their own while they gather.
			iv, ctx := c.seal(view(3)), context.Background()
			err := NewAppender(c.o, c.p.Set.Group()).Append(ctx, iv)
			if at == "" {
				if err != nil || n == 1 {
					t.Fatalf("%d calls: %v", n, err)
				}
				break
			}
			died[at] = true
			if err == nil || c.o.Staging.used() != 0 {
				t.Fatalf("call %d, %s: %v; %d bytes staged", n, at, err, c.o.Staging.used())
			}
			after := maps.Clone(c.did)
			disk := c.disk.Crash(uint64(n), 50*(n%2))
			c.p.Stop(t)
			c.disk = disk
			c.start()
			c.keep()
			happened := c.o.Shard.Upper() != below
			if want := v == storagetest.DieAfter && at == "commit"; happened != want {
				t.Fatalf("call %d, %s: the interval happened: %v", n, at, happened)
			}
			if !happened {
				c.did = before
			}
			if _, err := c.p.Set.Client().Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			if err := c.p.Check(ctx); err != nil {
				t.Fatalf("call %d, %s: %v", n, at, err)
			}
			c.check()
			if !happened {
				c.again(after, below)
			}
			c.append(c.seal(view(1)))
			c.check()
		}
	}
	if !died["put"] || !died["commit"] {
		t.Errorf("the process died at %v", died)
	}
}

// again appends all that was done at times from a frontier on.
func (c *crowd) again(did map[update]int64, from tvc.Frontier) {
	c.tb.Helper()
	v := NewView(context.Background(), c.o)
	for u, diff := range did {
		if !from.Past(u.at) {
			b := vec.NewBlock(viewSchema.Rel.Kinds(), 1)
			b.AppendRow(diff, rowOf(u.row)...)
			for _, d := range deal(b, c.o.Workers) {
				d.at = u.at
				d.to(v)
			}
		}
	}
	c.did = did
	c.append(c.seal(v))
}
