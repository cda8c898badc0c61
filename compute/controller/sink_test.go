package controller_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	mrand "math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// mapped has what functions make of one column each, and nothing else.
func mapped(in tvc.ID, name string, funcs ...mapping) *plan.Dataflow {
	mfp, cols := scalar.MFP{Arity: 2}, []types.T(nil)
	for i, m := range funcs {
		f := &scalar.Func{Name: name, Args: []types.T{types.TInt8}, Ret: m.ret, Strict: true, Kernel: m.kernel}
		mfp.Map = append(mfp.Map, &scalar.Call{Func: f, Args: []scalar.Expr{&scalar.Col{Index: m.of, T: types.TInt8}}, T: m.ret})
		mfp.Project, cols = append(mfp.Project, 2+i), append(cols, m.ret)
	}
	return &plan.Dataflow{Name: name, Nodes: []plan.Node{
		{Op: &plan.Get{ID: in}, Cols: two}, {Op: &plan.MFP{MFP: mfp}, Inputs: []plan.NodeID{0}, Cols: cols}}}
}

// mapping is a function of a column.
type mapping struct {
	of     int
	ret    types.T
	kernel func(b *scalar.Batch)
}

// textOf makes so many bytes of text of each number.
func textOf(bytes int) mapping {
	return mapping{1, types.TText, func(b *scalar.Batch) {
		for _, i := range b.Sel {
			b.Begin(int(i))
			b.Out.Data = append(b.Out.Data, strings.Repeat(fmt.Sprint(b.Args[0].Ints[i], " "), bytes)[:bytes]...)
			b.End()
		}
	}}
}

// zeros has a text and a zero for each row. As long as the fuse lasts, that of a 1 is negative, which no value may be: it
// equals the others and yet is not the same, so it gets lost among them on its way into storage.
func zeros(in tvc.ID, fuse *atomic.Int64) *plan.Dataflow {
	return mapped(in, "zeros", textOf(40), mapping{0, types.TFloat8, func(b *scalar.Batch) {
		zero := 0.0
		if slices.Contains(b.Args[0].Ints[:b.N], 1) && fuse.Add(-1) >= 0 {
			zero = math.Copysign(0, -1)
		}
		for i := range b.N {
			if b.Out.Floats[i] = 0; b.Args[0].Ints[i] == 1 {
				b.Out.Floats[i] = zero
			}
		}
	}})
}

// numbers gives a row of k with each number up to n, for each k.
func numbers(n int64, ks ...int64) *vec.Block {
	b := vec.NewBlock(kv.Kinds(), int(n))
	for i := int64(1); i <= n; i++ {
		for _, k := range ks {
			b.AppendRow(1, vec.IntOf(k), vec.IntOf(i))
		}
	}
	return b
}

// size counts a view's rows.
func (e *env) size(id tvc.ID) int64 {
	e.t.Helper()
	rows, err := e.read(id)
	e.must(err)
	n := int64(0)
	for _, r := range rows {
		n += r.Count
	}
	return n
}

// TestWhatDoesNotAddUpEndsAView: a view that does not have what its workers reported appends nothing and is built anew; the
// second time at one place it is broken, which its readers are told, and those of what reads it. Other views go on.
//
// Of what must be kept, this is: no interval is sealed without proof that the data of all workers is in it.
func TestWhatDoesNotAddUpEndsAView(t *testing.T) {
	for _, workers := range []int{1, 4} {
		e := newEnv(t, workers)
		a := e.table(1)
		e.write(map[tvc.ID]*vec.Block{a: numbers(5, 0)})
		g := e.view(10, groups(a))
		var fuses [2]atomic.Int64
		once, twice := e.view(11, zeros(a, &fuses[0])), e.view(12, zeros(a, &fuses[1]))
		on := e.view(13, &plan.Dataflow{Name: "on", Nodes: []plan.Node{{Op: &plan.Get{ID: twice}, Cols: []types.T{types.TText, types.TFloat8}}}})
		if n, m := e.size(once), e.size(on); n != 5 || m != 5 {
			t.Fatalf("%d workers: %d and %d rows", workers, n, m)
		}
		stood, _ := e.set.Shard(twice)
		upper := stood.Upper()
		fuses[0].Store(1)
		fuses[1].Store(2)
		e.write(map[tvc.ID]*vec.Block{a: numbers(64, 0, 1)})
		if n := e.size(once); n != 133 {
			t.Fatalf("%d workers: %d rows in the view that was built anew", workers, n)
		}
		e.check(g, groups(a), e.live)
		for _, id := range []tvc.ID{twice, on} {
			_, err := e.read(id)
			want := twice.String() + " is broken and cannot be read: " + twice.String() + ": the rows to append are not the rows that the workers reported"
			if fmt.Sprint(err) != want {
				t.Fatalf("%d workers: %v: %v, want %s", workers, id, err, want)
			}
		}
		if stood.Upper() != upper {
			t.Errorf("%d workers: the broken view was appended to, from %v to %v", workers, upper, stood.Upper())
		}
		for id, n := range map[tvc.ID]float64{once: 1, twice: 2, g: 0} {
			if got := e.labelled("tributary_sink_rebuilds_total", "view", id.String()); got != n {
				t.Errorf("%d workers: %v failed %v times, want %v", workers, id, got, n)
			}
		}
		e.write(map[tvc.ID]*vec.Block{a: numbers(7, 0)})
		if n := e.size(once); n != 140 {
			t.Errorf("%d workers: %d rows in the view that was built anew", workers, n)
		}
		e.check(g, groups(a), e.live)
	}
}

// objects lists a view's objects.
func (e *env) objects(id tvc.ID) []string {
	e.t.Helper()
	infos, err := e.flaky.List(context.Background(), id.String()+"/p")
	e.must(err)
	var keys []string
	for _, i := range infos {
		keys = append(keys, i.Key)
	}
	return keys
}

// TestAHangingStoreStopsSomeViewsOnly: when the store takes nothing more of some views, more than there are processors,
// which have so much that they cannot go on, others of the same table follow changes, large and small. The views that hang
// can be dropped and leave nothing; and they go on when the store does.
func TestAHangingStoreStopsSomeViewsOnly(t *testing.T) {
	const many = 33_000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that two views are enough
	e := newEnv(t, 1)
	a, b := e.table(1), e.table(2)
	large, small := e.view(50, copied(a)), e.view(51, copied(b))
	h := &hang{over: make(chan struct{})}
	n := runtime.GOMAXPROCS(0) + 1
	for i := range n {
		h.prefixes = append(h.prefixes, tvc.ID{Class: 'u', N: 10 + uint64(i)}.String()+"/")
	}
	e.flaky.hangs.Store(h)
	e.write(map[tvc.ID]*vec.Block{b: numbers(many, 0)})
	var hung []tvc.ID
	for i := range n {
		hung = append(hung, e.view(10+uint64(i), mapped(b, "wide", textOf(800))))
	}
	// Each puts two objects at once, and waits when it has a third.
	for h.waits.Load() < 2*int64(n-1) {
		runtime.Gosched()
	}
	e.write(map[tvc.ID]*vec.Block{a: numbers(many, 0), b: numbers(1, 0)})
	rowsOf := func(id tvc.ID) int64 {
		e.must(e.c.Wait(context.Background(), []tvc.ID{id}, e.readTime()))
		sh, _ := e.set.Shard(id)
		sums, _ := sh.Totals()
		return sums.DiffSum
	}
	if got := rowsOf(large); got != many {
		t.Errorf("%d rows after a large change", got)
	}
	if got := rowsOf(small); got != many+1 {
		t.Errorf("%d rows after a small change", got)
	}
	e.c.Drop(hung[0])
	if keys := e.objects(hung[0]); len(keys) > 0 {
		t.Errorf("a view that was dropped while the store hung leaves %v", keys)
	}
	close(h.over)
	for _, id := range hung[1:] {
		if got := rowsOf(id); got != many+1 {
			t.Errorf("%v has %d rows when the store goes on", id, got)
		}
	}
}

// TestALoadMakesNoSmallViewSpill: while a view whose first append does not end takes all of the staging budget that it can, the
// workers of small views beside it can stage what they have, which is nearly their shares. Views that were dropped have
// none.
func TestALoadMakesNoSmallViewSpill(t *testing.T) {
	const step = 900
	e := newEnv(t, 1) // so that what is staged changes once a write
	a, b := e.table(1), e.table(2)
	small := []tvc.ID{e.view(10, copied(b)), e.view(11, copied(b))}
	for n := range uint64(10) {
		id := e.view(20+n, copied(b))
		e.must(e.c.Wait(context.Background(), []tvc.ID{id}, e.readTime()))
		e.c.Drop(id)
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatal("not within a minute: " + what)
			}
		}
	}
	follow := func() {
		t.Helper()
		e.write(map[tvc.ID]*vec.Block{b: numbers(step, 1)})
		e.must(e.c.Wait(context.Background(), small, e.readTime()))
		// What was staged is let go only after the append was told.
		until("nothing small is staged", func() bool {
			return e.c.SinkStatistics(small[0]).StagedBytes == 0 && e.c.SinkStatistics(small[1]).StagedBytes == 0
		})
	}
	follow()
	// Rows that were compacted before they were read come with their counts.
	share := 1 + 8*step + e.c.SinkStatistics(small[0]).StagedBytesPeak
	e.must(e.sets.Set("compute_mv_sink_staging_max_bytes", fmt.Sprint(2*3*share)))
	e.must(e.sets.Set("compute_mv_sink_shared_batch_max_bytes", "1GB"))
	e.must(e.sets.Set("storage_inline_append_max_bytes", "0"))
	h := &hang{prefixes: []string{"u12/"}, over: make(chan struct{})}
	e.flaky.hangs.Store(h)
	e.write(map[tvc.ID]*vec.Block{a: numbers(step, 1)})
	large := e.view(12, copied(a))
	until("an object is being put", func() bool { return h.waits.Load() > 0 })
	spilled := false
	for range 30 {
		before := e.c.SinkStatistics(large).StagedBytes
		e.write(map[tvc.ID]*vec.Block{a: numbers(step/3, 1)})
		now := before
		until("what is staged changes", func() bool {
			now = e.c.SinkStatistics(large).StagedBytes
			return now != before
		})
		spilled = spilled || now < before
		follow()
	}
	for _, id := range small {
		// The last append may have been read before it was counted.
		if s := e.c.SinkStatistics(id); s.Spills != 0 || s.Appends < 30 {
			t.Errorf("a small view beside one that is loaded has %+v", s)
		}
	}
	close(h.over)
	e.must(e.c.Wait(context.Background(), []tvc.ID{large}, e.readTime()))
	if s := e.c.SinkStatistics(large); !spilled || s.Spills == 0 || s.StagedBytesPeak < 3*share || e.size(large) != 11*step {
		t.Errorf("it had room for everything, or lost something: %+v", s)
	}
}

// TestAViewIsDroppedInMidInterval: what its workers have put is deleted, and what they have staged is let go.
func TestAViewIsDroppedInMidInterval(t *testing.T) {
	e := newEnv(t, 4)
	e.must(e.sets.Set("storage_inline_append_max_bytes", "0"))
	a := e.table(1)
	v := e.view(10, copied(a))
	e.check(v, copied(a), e.live)
	for _, threshold := range []string{"0", "1", "1MB"} {
		e.must(e.sets.Set("compute_mv_sink_shared_batch_max_bytes", threshold))
		h := &hang{prefixes: []string{v.String() + "/"}, over: make(chan struct{})}
		e.flaky.hangs.Store(h)
		before := e.objects(v)
		e.write(map[tvc.ID]*vec.Block{a: numbers(1000, 0)})
		for h.waits.Load() == 0 {
			runtime.Gosched()
		}
		e.write(map[tvc.ID]*vec.Block{a: numbers(1000, 0)}) // which gathers behind the one that is being put
		e.c.SetCluster(cluster)
		if now := e.objects(v); fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("at a threshold of %s there were %v before and are %v", threshold, before, now)
		}
		e.flaky.hangs.Store(nil)
		e.c.SetCluster(cluster, replica(2, 4))
		e.check(v, copied(a), e.live)
	}
}

// TestThresholdFlipsUnderLoad changes the threshold with every write, while earlier ones are on their way: nothing is built
// anew, and the views' logs are their queries at every time.
func TestThresholdFlipsUnderLoad(t *testing.T) {
	e := newEnv(t, 8)
	r := mrand.New(mrand.NewPCG(8, 8))
	a := e.table(1)
	at := e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 500)})
	views := map[tvc.ID]*plan.Dataflow{e.view(10, groups(a)): groups(a), e.view(11, copied(a)): copied(a)}
	logs := map[tvc.ID]*controller.Subscription{}
	type point struct {
		at   tvc.Time
		want map[tvc.ID]string
	}
	now := func(at tvc.Time) point {
		p := point{at, map[tvc.ID]string{}}
		for id, df := range views {
			p.want[id] = plantest.Eval(df, e.live, nil).Rows.String()
		}
		return p
	}
	at = e.readTime()
	points := []point{now(at)}
	for id, df := range views {
		var cols []types.T
		cols = append(cols, df.Nodes[df.Result()].Cols...)
		sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{At: at,
			Plan: &plan.Dataflow{Name: "log", Nodes: []plan.Node{{Op: &plan.Get{ID: id}, Cols: cols}}}})
		e.must(err)
		defer sub.Close()
		logs[id] = sub
	}
	for range 150 {
		e.must(e.sets.Set("compute_mv_sink_shared_batch_max_bytes", []string{"0", "1", "4kB", "1MB", "1GB"}[r.IntN(5)]))
		points = append(points, now(e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 1+r.IntN(400))})))
	}
	for id, sub := range logs {
		log := e.log(sub, points[len(points)-1].at)
		got := plantest.Rows{}
		for i, next := 0, 0; next < len(points); {
			if i < log.Len && tvc.Time(log.Times[i]) <= points[next].at {
				got.Add(log.Row(i, nil), log.Diff(i))
				i++
				continue
			}
			if got.String() != points[next].want[id] {
				t.Fatalf("%v is at the write %d\n%swant\n%s", id, next, got, points[next].want[id])
			}
			next++
		}
	}
	for id := range views {
		if n := e.labelled("tributary_sink_rebuilds_total", "view", id.String()); n > 0 {
			t.Errorf("%v was built anew %v times", id, n)
		}
	}
}

// log gives a subscription's changes through a time, in the order of their times.
func (e *env) log(sub *controller.Subscription, through tvc.Time) *vec.Block {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var log *vec.Block
	for upper := tvc.Frontier(0); !upper.Past(through); {
		rows, u, ok, err := sub.Next(ctx)
		if err != nil || !ok {
			e.t.Fatalf("the subscription ended: %v", err)
		}
		if upper = u; rows == nil {
			continue
		}
		if log == nil {
			log = vec.NewBlock(rows.Kinds(), 0)
		}
		log.AppendBlock(rows)
	}
	return log
}

// TestWhoIsOvertakenPutsNothing: another replica appends while this one's workers gather, and this one then puts nothing,
// drops what the other has appended, and appends what comes next.
func TestWhoIsOvertakenPutsNothing(t *testing.T) {
	e := newEnv(t, 1)
	e.must(e.sets.Set("storage_inline_append_max_bytes", "0"))
	a := e.table(1)
	var asked atomic.Int64
	reached, goOn := make(chan struct{}), make(chan struct{})
	gather := func() int64 {
		if asked.Add(1) == 1 {
			close(reached)
			<-goOn
		}
		return 13
	}
	v := e.view(10, special(a, gather))
	truth := func() int64 { return 13 }
	e.check(v, special(a, truth), e.live)
	before := e.origin("append", v.String())
	at := e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	<-reached
	sh, _ := e.set.Shard(v)
	schema, _ := sh.Schema()
	w := sh.NewWriter(shard.WriterOptions{})
	rows := vec.NewBlock(schema.Kinds(), 1)
	rows.AppendRow(1, vec.IntOf(100), vec.IntOf(13), vec.Null)
	rows.Times = []uint64{uint64(at)}
	e.must(w.Add(context.Background(), rows))
	written, err := w.Finish(context.Background())
	e.must(err)
	refused, err := e.submit(context.Background(), shard.Append{Shard: sh, Lower: sh.Upper(), Upper: tvc.After(at), Written: []*shard.Written{written}})
	if refused != nil || err != nil {
		t.Fatal(refused, err)
	}
	rivals := e.origin("append", v.String()) - before
	close(goOn)
	e.check(v, special(a, truth), e.live)
	if n := e.origin("append", v.String()) - before; n != rivals {
		t.Errorf("%v objects were put, of which the other's are %v", n, rivals)
	}
	e.write(map[tvc.ID]*vec.Block{a: numbers(3, 3)})
	e.check(v, special(a, truth), e.live)
	if n := e.labelled("tributary_sink_rebuilds_total", "view", v.String()); n > 0 {
		t.Errorf("the view was built anew %v times", n)
	}
	if n := len(e.objects(v)); float64(n) > e.origin("append", v.String())+e.origin("compaction", v.String()) {
		t.Errorf("%d objects are there", n)
	}
}

// TestIdleViewsCostNothing lets an hour pass, in virtual time, over a hundred views that were written a moment ago: no
// command, no tick, no goroutine; and they are read at the newest time without delay.
func TestIdleViewsCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, 8)
		a := e.table(1)
		var views []tvc.ID
		for n := range uint64(50) {
			views = append(views, e.view(100+2*n, groups(a)), e.view(101+2*n, copied(a)))
		}
		e.write(map[tvc.ID]*vec.Block{a: numbers(100, 0)})
		for _, id := range views {
			_, err := e.read(id)
			e.must(err)
		}
		// What a write has set off in the background ends by itself, within a minute.
		time.Sleep(time.Minute)
		synctest.Wait()
		counts := func() string {
			out := ""
			for _, name := range []string{"tributary_storage_consensus_commands_total", "tributary_engine_ticks_total", "tributary_sink_appends_total"} {
				out += fmt.Sprintf("%s %v, ", name, e.counter(name))
			}
			// Only those of the bubble: the run time may have others at work.
			stacks := make([]byte, 4<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			return out + fmt.Sprint(bytes.Count(stacks, []byte("synctest bubble")), " goroutines")
		}
		before, since := counts(), time.Now()
		time.Sleep(time.Hour)
		synctest.Wait()
		if after := counts(); after != before {
			t.Errorf("before %s\nafter %s", before, after)
		}
		e.check(views[0], groups(a), e.live)
		if took := time.Since(since) - time.Hour; took > time.Second {
			t.Errorf("a read takes %v", took)
		}
	})
}
