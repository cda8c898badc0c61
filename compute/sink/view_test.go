package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

var viewSchema = shard.Schema{Rel: types.Rel{Cols: []types.Column{
	{Name: "a", Type: types.TInt8}, {Name: "b", Type: types.TText}}}, Errors: true}

// env is a view's shard with what a sink works with.
type env struct {
	tb   testing.TB
	disk *storagetest.Disk
	p    *storagetest.Process
	o    ViewOptions
	// puts counts the objects put.
	puts int
}

// newEnv makes an empty view. Every append makes objects, and a worker that has more than a few rows writes parts of
// its own.
func newEnv(tb testing.TB, workers int) *env {
	tb.Helper()
	e := &env{tb: tb, disk: storagetest.NewDisk(), o: ViewOptions{Workers: workers}}
	e.start()
	tb.Cleanup(func() { e.p.Stop(tb) })
	return e
}

// start starts a process on the disk.
func (e *env) start() {
	tb := e.tb
	tb.Helper()
	set := settings.NewSet(slices.Concat(Settings(), collection.Settings())...)
	for name, value := range map[string]string{"storage_inline_append_max_bytes": "0", "compute_mv_sink_shared_batch_max_bytes": "4kB"} {
		if err := set.Set(name, value); err != nil {
			tb.Fatal(err)
		}
	}
	p, err := e.disk.Open(tb, storagetest.Options{Settings: set})
	if err != nil {
		tb.Fatal(err)
	}
	e.p = p
	e.follow(nil)
	ctx := context.Background()
	// It is refused where there is one.
	if _, err := p.Set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{shard.Create{ID: "u1", Schema: viewSchema}}}); err != nil {
		tb.Fatal(err)
	}
	sh, err := p.Set.Open(ctx, collection.Desc{ID: tvc.ID{Class: 'u', N: 1}, Shard: "u1", Name: "v", Retain: -1})
	if err != nil {
		tb.Fatal(err)
	}
	e.o = ViewOptions{Shard: sh, Workers: e.o.Workers, Settings: set, Staging: NewBudget(set),
		Metrics: NewMetrics(p.Registry.Metrics()), Name: func() string { return "v" }, Log: slog.New(slog.DiscardHandler)}
	e.o.Metrics.Add(sh.ID(), "v")
}

// follow has the stores' calls go by a plan, and counts puts.
func (e *env) follow(plan storagetest.Plan) {
	e.p.Faults.Follow(func(c storagetest.Call) storagetest.Verdict {
		if c.Op == "put" {
			e.puts++
		}
		if plan == nil {
			return storagetest.Pass
		}
		return plan(c)
	})
}

// only lets the calls of one kind have a verdict.
func only(op string, v storagetest.Verdict) storagetest.Plan {
	return func(c storagetest.Call) storagetest.Verdict {
		if c.Op == op {
			return v
		}
		return storagetest.Pass
	}
}

// objects lists the objects of the view's parts.
func (e *env) objects() []string {
	e.tb.Helper()
	infos, err := e.p.Blob.List(context.Background(), "u1/p")
	if err != nil {
		e.tb.Fatal(err)
	}
	var keys []string
	for _, i := range infos {
		keys = append(keys, i.Key)
	}
	return keys
}

// rows are n rows from the given one on, each with a diff.
func rows(from, n int, diff int64) *vec.Block {
	b := vec.NewBlock(viewSchema.Rel.Kinds(), n)
	for i := from; i < from+n; i++ {
		b.AppendRow(diff, vec.IntOf(int64(i)), vec.StrOf(fmt.Sprint("value ", i)))
	}
	return b
}

// flow is a dataflow that is a source and the view.
type flow struct {
	e    *env
	view *View
	df   *dataflow.Dataflow
	src  dataflow.NodeID
	now  tvc.Time
}

func (e *env) newFlow() *flow {
	f := &flow{e: e, view: NewView(context.Background(), e.o), df: dataflow.New(e.o.Workers, dataflow.NewScheduler())}
	f.src = f.df.Source(viewSchema.Rel.Kinds())
	f.df.Operator(nil, []dataflow.Port{{From: f.src, Route: f.view.Route()}}, nil, f.view)
	return f
}

// tick takes blocks in at one time.
func (f *flow) tick(at tvc.Time, blocks ...*vec.Block) {
	f.e.tb.Helper()
	if err := f.try(at, blocks...); err != nil {
		f.e.tb.Fatal(err)
	}
}

// try is a tick that may fail.
func (f *flow) try(at tvc.Time, blocks ...*vec.Block) error {
	f.now = at
	return f.df.Tick(context.Background(), dataflow.Tick{Upper: tvc.After(at), At: at},
		[]dataflow.Feed{{Source: f.src, Next: dataflow.Blocks(blocks), Stable: true}})
}

func (f *flow) seal() *Interval {
	iv := f.view.Seal()
	iv.Lower, iv.Upper = f.e.o.Shard.Upper(), tvc.After(f.now)
	return iv
}

// append appends what has gathered.
func (f *flow) append() {
	f.e.tb.Helper()
	if err := NewAppender(f.e.o, f.e.p.Set.Group()).Append(context.Background(), f.seal()); err != nil {
		f.e.tb.Fatal(err)
	}
}

// contents gives the view's rows with their counts, sorted.
func (e *env) contents() string {
	e.tb.Helper()
	sc, err := e.o.Shard.Snapshot(context.Background(), e.o.Shard.Upper().Last(), shard.ScanOptions{Consolidate: true})
	if err != nil {
		e.tb.Fatal(err)
	}
	defer sc.Close()
	out := &strings.Builder{}
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			e.tb.Fatal(err)
		}
		if b == nil {
			return out.String()
		}
		for i := range b.Len {
			fmt.Fprintf(out, "%#v %d\n", b.Row(i, nil), b.Diff(i))
		}
	}
}

// TestRestartPutsNothing is promise V5, for a view that is larger than what is staged.
func TestRestartPutsNothing(t *testing.T) {
	e := newEnv(t, 3)
	first := e.newFlow()
	first.tick(10, rows(0, 5000, 1))
	first.append()
	objects, before := e.objects(), e.puts
	if before == 0 {
		t.Fatal("the first contents were to be objects")
	}
	e.set("compute_mv_sink_staging_max_bytes", "0") // whoever asks for a byte is refused it, and writes
	again := e.newFlow()
	again.view.CountOnly(true)
	again.tick(10, rows(2500, 2500, 1), rows(0, 2500, 1))
	if !again.view.Dirty() {
		t.Error("what was counted does not show")
	}
	iv := again.seal()
	if stored, _ := e.o.Shard.Fingerprint(); iv.Content() != stored {
		t.Errorf("content is %v, stored is %v", iv.Content(), stored)
	}
	iv.Discard(context.Background())
	if now := e.objects(); e.puts != before || !slices.Equal(now, objects) || e.o.Staging.used() != 0 {
		t.Errorf("%d puts; objects are %v, were %v; %d bytes staged", e.puts-before, now, objects, e.o.Staging.used())
	}
	// What comes after is staged and appended again.
	again.view.CountOnly(false)
	e.set("compute_mv_sink_staging_max_bytes", "1MB")
	again.tick(20, rows(0, 4999, -1))
	again.append()
	if got, want := e.contents(), "[]vec.Datum{4999, \"value 4999\", null} 1\n"; got != want {
		t.Errorf("contents are\n%swant\n%s", got, want)
	}
}

func (e *env) set(name, value string) {
	e.tb.Helper()
	if err := e.o.Settings.Set(name, value); err != nil {
		e.tb.Fatal(err)
	}
}

// drop drops the view's shard.
func (e *env) drop() {
	e.tb.Helper()
	out, err := e.p.Set.Group().Do(context.Background(), txn.Unit{Ops: []shard.Op{shard.Seal{Shard: e.o.Shard}}})
	if err != nil || !out.Done() {
		e.tb.Fatal(out.Refused, err)
	}
}

// TestAppendToADroppedView: also what has no rows to write, and meets the commit's refusal, is told of the drop.
func TestAppendToADroppedView(t *testing.T) {
	e := newEnv(t, 1)
	f := e.newFlow()
	f.tick(10)
	iv := f.seal()
	e.drop()
	if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), iv); !errors.Is(err, shard.ErrSealed) {
		t.Fatal(err)
	}
}

// TestRefusedPartsAreDiscarded: what was put for an append that determinately did not happen is deleted, be the
// dataflow at its end or not; what may have happened is left alone.
//
// Of what must be kept, this is: a lost race deletes only what was never possibly linked.
func TestRefusedPartsAreDiscarded(t *testing.T) {
	for _, c := range []struct {
		name string
		// before is done when the interval is sealed; ctx is what the append then runs under, if it gives one.
		before func(e *env, iv *Interval) (ctx context.Context)
		plan   storagetest.Plan
		want   func(err error) bool
		kept   bool
	}{
		{name: "lost race", before: func(e *env, _ *Interval) context.Context {
			other := e.newFlow()
			other.now = 5
			other.append()
			return nil
		}, want: func(err error) bool { lost := new(LostError); return errors.As(err, &lost) && lost.Upper == 6 }},
		{name: "dropped", before: func(e *env, _ *Interval) context.Context {
			e.drop()
			return nil
		}, want: func(err error) bool { return errors.Is(err, shard.ErrSealed) }},
		{name: "cancelled after a put", before: func(e *env, _ *Interval) context.Context { return doomed{context.Background(), e} },
			want: func(err error) bool { return errors.Is(err, context.Canceled) }},
		{name: "a put fails", plan: only("put", storagetest.Fail),
			want: func(err error) bool { return errors.Is(err, storagetest.ErrInjected) }},
		{name: "a put happens and fails", plan: only("put", storagetest.Hide),
			want: func(err error) bool { return errors.Is(err, storagetest.ErrInjected) }},
		{name: "the commit fails", plan: only("commit", storagetest.Fail),
			want: func(err error) bool { return errors.Is(err, storagetest.ErrInjected) }},
		{name: "not conserved", before: func(_ *env, iv *Interval) context.Context { iv.reports[0].totals.moves[0]++; return nil },
			want: func(err error) bool { return errors.Is(err, ErrNotConserved) }},
		{name: "outcome unknown",
			want: func(err error) bool { return errors.Is(err, txn.ErrIndeterminate) }, kept: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, 2)
			f := e.newFlow()
			// One worker's parts are put as they come, the other's rows are staged.
			f.tick(10, rows(0, 3000, 1))
			iv := f.seal()
			ctx := context.Background()
			if c.before != nil {
				if other := c.before(e, iv); other != nil {
					ctx = other
				}
			}
			e.follow(c.plan)
			if c.kept {
				e.follow(func(call storagetest.Call) storagetest.Verdict {
					switch call.Op {
					case "commit":
						e.p.Set.Group().Stop() // nobody waits for the outcome
						return storagetest.Hide
					case "scan", "head":
						return storagetest.Fail
					}
					return storagetest.Pass
				})
			}
			err := NewAppender(e.o, e.p.Set.Group()).Append(ctx, iv)
			if err == nil || !c.want(err) {
				t.Fatalf("error is %v", err)
			}
			if got := e.objects(); (len(got) > 0) != c.kept {
				t.Errorf("objects are left: %v", got)
			}
			if n := e.o.Staging.used(); n != 0 {
				t.Errorf("%d bytes are staged", n)
			}
		})
	}
}

// doomed is a context that ends as soon as an object was put.
type doomed struct {
	context.Context
	e *env
}

func (d doomed) Err() error {
	if len(d.e.objects()) > 0 {
		return context.Canceled
	}
	return nil
}

// TestMovesAreConserved: rows at other times than the workers reported are not appended, though their sum is right.
//
// Of what must be kept, this is: no interval is sealed without proof that the data of all workers is in it.
func TestMovesAreConserved(t *testing.T) {
	e := newEnv(t, 2)
	f := e.newFlow()
	f.tick(10, rows(0, 20, 1))
	iv := f.seal()
	for w := range iv.reports {
		if s := iv.reports[w].staged; s != nil {
			s.Times[0]--
			break
		}
	}
	if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), iv); !errors.Is(err, ErrNotConserved) {
		t.Fatalf("error is %v", err)
	}
}

// TestAppendSurvivesAPanic: a fault in an append is an error of one line, with the stack in the log, once.
func TestAppendSurvivesAPanic(t *testing.T) {
	e := newEnv(t, 1)
	log := &bytes.Buffer{}
	e.o.Log = slog.New(slog.NewTextHandler(log, nil))
	f := e.newFlow()
	f.tick(10, rows(0, 20, 1))
	var none *txn.Group
	err := NewAppender(e.o, none).Append(context.Background(), f.seal())
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "append to v: ") {
		t.Errorf("error is %q", err)
	}
	if n := strings.Count(log.String(), "view_append.go"); strings.Count(log.String(), "append panicked") != 1 || n == 0 {
		t.Errorf("the log says\n%s", log)
	}
	if n := e.o.Staging.used(); n != 0 {
		t.Errorf("%d bytes are staged", n)
	}
}

// TestBudgetReturnsToZero: whatever becomes of the intervals of many views, nothing stays taken.
func TestBudgetReturnsToZero(t *testing.T) {
	e := newEnv(t, 3)
	ctx := context.Background()
	for i := range 40 {
		e.set("compute_mv_sink_staging_max_bytes", []string{"1MB", "10kB", "0"}[i%3])
		e.set("compute_mv_sink_shared_batch_max_bytes", []string{"1MB", "1kB", "0"}[i/3%3])
		f, other := e.newFlow(), e.newFlow()
		f.tick(tvc.Time(10*i+10), rows(0, 1+i*37%700, 1))
		other.tick(tvc.Time(10*i+10), rows(0, 300, 1))
		iv, app := f.seal(), NewAppender(e.o, e.p.Set.Group())
		switch i % 4 {
		case 0:
			iv.Discard(ctx)
		case 1:
			e.follow(only("put", storagetest.Fail))
			if err := app.Append(ctx, iv); !errors.Is(err, storagetest.ErrInjected) {
				t.Fatal(err)
			}
			e.follow(nil)
		case 2:
			iv.reports[2].totals.diffSum++
			if err := app.Append(ctx, iv); !errors.Is(err, ErrNotConserved) {
				t.Fatal(err)
			}
		default:
			if err := app.Append(ctx, iv); err != nil {
				t.Fatal(err)
			}
		}
		if other.view.Seal().Discard(ctx); e.o.Staging.used() != 0 {
			t.Fatalf("view %d: %d bytes are staged", i, e.o.Staging.used())
		}
	}
}

// TestTakenBackRowsMeetWhatIsComputed: in a correction each worker has the rows it computes, and errors meet too.
// Of what must be kept, this is: what is stored is dealt to the workers as what is computed is.
func TestTakenBackRowsMeetWhatIsComputed(t *testing.T) {
	e := newEnv(t, 4)
	wrong := e.newFlow()
	wrong.tick(10, rows(0, 1000, 1), rows(5, 1, 1))
	fail := vec.NewBlock([]types.Kind{types.Bytes}, 1)
	fail.AppendRow(1, vec.BytesOf(pgerr.New(pgerr.DivisionByZero, "division by zero").Encode(nil)))
	wrong.df.Fail(fail)
	wrong.tick(10)
	wrong.append()

	e.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
	right := e.newFlow()
	right.df.Fail(fail)
	right.tick(20, rows(0, 999, 1))
	computed := make([]int64, 4)
	for w := range computed {
		computed[w] = right.view.shares[w].totals.rows
	}
	sc, err := e.o.Shard.Snapshot(context.Background(), 10, shard.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer sc.Close()
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		if err := right.view.TakeBack(b, 20); err != nil {
			t.Fatal(err)
		}
	}
	rest := int64(0)
	for w := range computed {
		b := right.view.shares[w].staged.Consolidated()
		if rest += int64(b.Len); computed[w] < 200 {
			t.Errorf("worker %d has computed %d rows of 1000", w, computed[w])
		}
	}
	if rest != 2 { // row 5 came once too often, row 999 at all
		t.Errorf("%d rows are left when each worker adds up what it has, want 2", rest)
	}
	right.append()
	fresh := e.contents()
	if got := strings.Count(fresh, "\n"); got != 1000 || strings.Contains(fresh, "999") {
		t.Errorf("%d rows and errors after the correction, want 1000:\n%s", got, fresh)
	}
}

// BenchmarkSinkPut is a worker taking in a round's rows.
func BenchmarkSinkPut(b *testing.B) {
	e := newEnv(b, 1)
	e.set("compute_mv_sink_shared_batch_max_bytes", "1GB")
	v := NewView(context.Background(), e.o)
	in := rows(0, dataflow.RoundRows, 1)
	for b.Loop() {
		v.Begin(0, &dataflow.Tick{At: 10})
		v.Absorb(nil, 0, 0, in)
		v.shares[0].staged.Reset()
		size := v.shares[0].bytes
		v.shares[0].bytes = 0
		v.account.give(size, false)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/dataflow.RoundRows, "ns/row")
}

// TestIntervalsBecomeObjectsWhenTheDrainLags: what would be inline is one object, whatever number of workers share it, when
// the view's state has as many bytes of rows as it may.
func TestIntervalsBecomeObjectsWhenTheDrainLags(t *testing.T) {
	const bound, each = 1 << 20, 30_000
	ctx := context.Background()
	c := newCrowd(t, 8, 1)
	c.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
	c.set("storage_inline_append_max_bytes", "32kB")
	for inline := 0; inline < bound; {
		c.now++
		row := vec.NewBlock(viewSchema.Kinds(), 1)
		row.AppendRow(1, vec.IntOf(-1), vec.StrOf(strings.Repeat("v", each)), vec.Null)
		c.did[update{-1, c.now}]++
		writer := c.o.Shard.NewWriter(shard.WriterOptions{})
		if err := writer.Add(ctx, row); err != nil {
			t.Fatal(err)
		}
		written, err := writer.Finish(ctx)
		if err != nil {
			t.Fatal(err)
		}
		op := shard.Append{Shard: c.o.Shard, AnyLower: true, Upper: tvc.After(c.now), Written: []*shard.Written{written}}
		if refused, err := c.p.Submit(ctx, op); refused != nil || err != nil {
			t.Fatal(refused, err)
		}
		inline += op.InlineBytes()
	}
	for range 3 {
		v := NewView(ctx, c.o)
		for _, d := range c.shuffled(c.changes(3, 200)) {
			d.to(v)
		}
		before := len(c.objects())
		if parts := c.append(c.seal(v)); parts != 1 || len(c.objects()) != before+1 {
			t.Errorf("%d parts, %d objects more; want one, an object", parts, len(c.objects())-before)
		}
	}
	c.check()
}
