package controller_test

import (
	"context"
	mrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// labelled sums a metric's series that have a label; 0 if there are none.
func (e *env) labelled(name, label, value string) float64 {
	e.t.Helper()
	families, err := e.reg.Gather()
	e.must(err)
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == label && l.GetValue() == value {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}

// TestOneReplicaWrites: of several replicas one puts objects and appends; when it goes, another does.
func TestOneReplicaWrites(t *testing.T) {
	e := newEnv(t, 1)
	e.must(e.sets.Set("storage_inline_append_max_bytes", "0"))
	r := mrand.New(mrand.NewPCG(5, 5))
	a := e.table(1)
	e.c.SetCluster(cluster, replica(1, 1), replica(2, 4), replica(3, 2))
	g := e.view(10, groups(a))
	p := e.view(11, pick(g))
	write := func(n int) {
		for range n {
			e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
			e.check(g, groups(a), e.live)
		}
		e.check(p, pick(g), map[tvc.ID]plantest.Rows{g: plantest.Eval(groups(a), e.live, nil).Rows})
	}
	write(40)
	e.c.SetCluster(cluster, replica(2, 4), replica(3, 2))
	write(20)
	e.c.SetCluster(cluster, replica(3, 2))
	write(20)
	for _, view := range []tvc.ID{g, p} {
		name := view.String()
		put := e.labelled("tributary_storage_objects_put_total", "collection", name) // by compaction too
		compacted := e.origin("compaction", name) + e.origin("rollup", name)
		appended := e.labelled("tributary_sink_parts_total", "view", name)
		refused := e.labelled("tributary_sink_refused_total", "view", name)
		t.Logf("%s: %v parts appended, %v objects put by appends, %v appends refused", name, appended, put-compacted, refused)
		// A replica that waits for longer than it has patience tries; on a busy machine that may be.
		if appended < 5 || put-compacted > appended+appended/10+4 || refused > appended/10+4 {
			t.Errorf("%s: the replicas do each other's work", name)
		}
	}
}

// origin counts the objects put for a collection by somebody's work.
func (e *env) origin(origin, collection string) float64 {
	e.t.Helper()
	families, err := e.reg.Gather()
	e.must(err)
	sum := 0.0
	for _, f := range families {
		if f.GetName() != "tributary_storage_objects_put_total" {
			continue
		}
		for _, m := range f.Metric {
			found := 0
			for _, l := range m.Label {
				if l.GetValue() == origin || l.GetValue() == collection {
					found++
				}
			}
			if found == 2 {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// special counts like count, but does something else where a group has 13 rows, and gives what that gives.
func special(in tvc.ID, thirteen func() int64) *plan.Dataflow {
	agg := &scalar.Agg{Name: "special", Ret: types.TInt8, Accum: &scalar.Accum{
		Update: count.Accum.Update,
		Result: func(_ []uint64, rows int64) (vec.Datum, error) {
			if rows == 13 {
				return vec.IntOf(thirteen()), nil
			}
			return vec.IntOf(rows), nil
		}}}
	return &plan.Dataflow{Name: "special", Nodes: []plan.Node{
		{Op: &plan.Get{ID: in}, Cols: two},
		{Op: &plan.Reduce{Keys: 1, Aggs: []plan.Agg{{Func: agg, Filter: -1}}}, Inputs: []plan.NodeID{0}, Cols: two},
	}}
}

// single is one row, the only one with its k: no group with it comes to have 13 rows.
func single(n int) *vec.Block {
	b := vec.NewBlock(kv.Kinds(), 1)
	b.AppendRow(1, vec.IntOf(int64(1000+n)), vec.IntOf(int64(n)))
	return b
}

// TestAWrongReplicaIsCorrected: when one of two replicas computes something else, once, whichever it is, the other finds
// out by its fingerprint, and the view is right in the end.
// Of what must be kept, this is: a view whose contents are not what its query gives is corrected.
func TestAWrongReplicaIsCorrected(t *testing.T) {
	for wrong := range int64(2) {
		e := newEnv(t, 1)
		r := mrand.New(mrand.NewPCG(6, 6))
		var asked atomic.Int64
		lying := func() int64 {
			if asked.Add(1) == wrong+1 {
				return 14
			}
			return 13
		}
		truth := func() int64 { return 13 }
		a := e.table(1)
		e.c.SetCluster(cluster, replica(1, 1), replica(2, 2))
		v := e.view(10, special(a, lying))
		e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
		e.check(v, special(a, truth), e.live)
		e.write(map[tvc.ID]*vec.Block{a: thirteen()})
		// Both have been asked once the second answer is there; the correction takes a moment.
		for tries := 0; ; tries++ {
			e.write(map[tvc.ID]*vec.Block{a: single(tries)})
			got, err := e.read(v)
			e.must(err)
			if got.String() == plantest.Eval(special(a, truth), e.live, nil).Rows.String() && asked.Load() > 1 {
				break
			}
			if tries == 5000 {
				t.Fatalf("the view stays wrong:\n%s", got)
			}
		}
	}
}

// TestAStuckReplicaIsSucceeded: when one of two replicas no longer moves, though nobody says so, the other one appends.
func TestAStuckReplicaIsSucceeded(t *testing.T) {
	e := newEnv(t, 1)
	r := mrand.New(mrand.NewPCG(7, 7))
	var asked atomic.Int64
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) }) // before the environment's own, which waits for its dataflows
	a := e.table(1)
	e.c.SetCluster(cluster, replica(1, 1), replica(2, 2))
	hang := func() int64 {
		if asked.Add(1) == 1 {
			<-stuck
		}
		return 13
	}
	v := e.view(10, special(a, hang))
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	truth := func() int64 { return 13 }
	e.check(v, special(a, truth), e.live)
	e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	for range 5 {
		e.check(v, special(a, truth), e.live)
		e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	}
	e.check(v, special(a, truth), e.live)
}

// TestACorrectionWinsUnderSteadyWrites: what one replica has stored wrongly is corrected by another one although the first
// appends to the view all the time, and computing the correction takes longer than that.
func TestACorrectionWinsUnderSteadyWrites(t *testing.T) {
	const most = 20
	e := newEnv(t, 1)
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	var asked atomic.Int64
	v := e.view(10, special(a, func() int64 {
		n := asked.Add(1)
		if n == 1 {
			return 14
		}
		if n < most {
			// As long as it takes for another append; if there is none, a moment.
			stored, _ := e.set.Shard(tvc.ID{Class: 'u', N: 10})
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			if err := stored.WaitPast(ctx, tvc.Time(stored.Upper())); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
		return 13
	}))
	e.check(v, special(a, func() int64 { return 14 }), e.live)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		row := vec.NewBlock(kv.Kinds(), 1)
		for diff := int64(1); ; diff = -diff {
			select {
			case <-stop:
				return
			default:
			}
			row.Reset()
			row.AppendRow(diff, vec.IntOf(7), vec.IntOf(7))
			e.write(map[tvc.ID]*vec.Block{a: row})
		}
	})
	e.c.SetCluster(cluster, replica(1, 1), replica(2, 2))
	for right := false; !right; {
		if n := asked.Load(); n >= most {
			t.Errorf("the contents were computed %d times, and are wrong", n)
			break
		}
		got, err := e.read(v)
		e.must(err)
		right = got[plantest.Key([]vec.Datum{vec.IntOf(100), vec.IntOf(13)})].Count == 1
	}
	close(stop)
	wg.Wait()
	e.check(v, special(a, func() int64 { return 13 }), e.live)
	t.Logf("the contents were computed %d times by two replicas", asked.Load())
}

// TestTheWriterGoesUnderLoad ends the replica that writes, again and again, and starts another one, while the table that is
// read is written all the time: at each time the view is its query.
func TestTheWriterGoesUnderLoad(t *testing.T) {
	rounds := uint64(50)
	if testing.Short() {
		rounds = 10
	}
	e := newEnv(t, 1)
	e.must(e.sets.Set("storage_retain_history", "0"))
	a := e.table(1)
	e.c.SetCluster(cluster, replica(0, 1), replica(1, 2))
	g := e.view(10, groups(a))
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	writes := 0
	wg.Go(func() {
		view, _ := e.set.Shard(g)
		rows := randomRows(mrand.New(mrand.NewPCG(8, 8)), 50)
		for ; ctx.Err() == nil; writes++ {
			i := writes % rows.Len
			one := vec.NewBlock(kv.Kinds(), 1)
			one.AppendRow(1-2*int64(writes/rows.Len%2), rows.Row(i, nil)...) // all of them come, then all go
			at := e.write(map[tvc.ID]*vec.Block{a: one})
			// The view may be some writes behind, but not ever more.
			if i%10 == 9 && view.WaitPast(ctx, at) != nil {
				return
			}
		}
	})
	for n := range rounds {
		// The one that goes was there the longest: it writes, unless the other one was faster.
		e.c.SetCluster(cluster, replica(n+1, 1+int(n+1)%3))
		e.must(e.sets.Set("compute_mv_sink_shared_batch_max_bytes", []string{"0", "64", "1MB"}[n%3]))
		e.isItsQuery(g, a)
		e.c.SetCluster(cluster, replica(n+1, 1+int(n+1)%3), replica(n+2, 1+int(n+2)%3))
		e.isItsQuery(g, a)
	}
	stop()
	wg.Wait()
	e.check(g, groups(a), e.live)
	t.Logf("%d writes", writes)
}

// isItsQuery fails unless groups of a table are what they are of the table's contents at the same time.
func (e *env) isItsQuery(g, a tvc.ID) {
	e.t.Helper()
	hold, err := e.set.Hold("test", g, a)
	e.must(err)
	defer hold.Release()
	at := e.readTime()
	for tvc.Frontier(at) < hold.Since() { // a write that is under way keeps time from closing
		at = e.readTime()
	}
	got, err := e.readAt(g, at)
	e.must(err)
	table, err := e.readAt(a, at)
	e.must(err)
	if want := plantest.Eval(groups(a), map[tvc.ID]plantest.Rows{a: table}, nil).Rows; got.String() != want.String() {
		e.t.Fatalf("at %v the view is\n%swant\n%s", at, got, want)
	}
}

// TestACorrectionReachesWhoReadTheView: a view on a view and a table goes on with the table while the view that it reads is
// corrected, and has the correction then.
// Of what must be kept, this is: a correction comes at a time that nobody was told to be complete.
func TestACorrectionReachesWhoReadTheView(t *testing.T) {
	for range 5 {
		e := newEnv(t, 1)
		a, b := e.table(1), e.table(2)
		e.write(map[tvc.ID]*vec.Block{a: thirteen()})
		hundred := vec.NewBlock(kv.Kinds(), 1)
		hundred.AppendRow(1, vec.IntOf(100), vec.IntOf(1))
		on := tvc.ID{Class: 'u', N: 11}
		var asked atomic.Int64
		v := e.view(10, special(a, func() int64 {
			if asked.Add(1) == 1 {
				return 14
			}
			// The table that the other view reads too is written meanwhile.
			at := e.write(map[tvc.ID]*vec.Block{b: hundred})
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			sh, _ := e.set.Shard(on)
			if err := sh.WaitPast(ctx, at); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			return 13
		}))
		e.check(v, special(a, func() int64 { return 14 }), e.live)
		e.view(on.N, joined(v, b))
		e.write(map[tvc.ID]*vec.Block{b: hundred})
		_, err := e.read(on)
		e.must(err)
		e.c.SetCluster(cluster, replica(1, 1), replica(2, 2))
		for right := false; !right; {
			got, err := e.read(v)
			e.must(err)
			right = got[plantest.Key([]vec.Datum{vec.IntOf(100), vec.IntOf(13)})].Count == 1
		}
		e.c.SetCluster(cluster, replica(2, 2)) // the other one asks no more
		in := map[tvc.ID]plantest.Rows{v: plantest.Eval(special(a, func() int64 { return 13 }), e.live, nil).Rows, b: e.live[b]}
		e.check(on, joined(v, b), in)
	}
}

// TestACorrectionChangesNoPast: what is stored wrongly was told at a time already, and stays told: the wrong row goes and the
// right one comes at one later time, however old the wrong one is.
// Of what must be kept, this is: what is taken back is taken back at the time from which on it is corrected, not at its own.
func TestACorrectionChangesNoPast(t *testing.T) {
	e := newEnv(t, 1)
	e.must(e.sets.Set("storage_retain_history", "1h"))
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	var asked atomic.Int64
	v := e.view(10, special(a, func() int64 {
		if asked.Add(1) == 1 {
			return 14
		}
		return 13
	}))
	has := func(at tvc.Time) (n int64) {
		t.Helper()
		rows, err := e.readAt(v, at)
		e.must(err)
		for _, n := range []int64{13, 14} {
			if rows[plantest.Key([]vec.Datum{vec.IntOf(100), vec.IntOf(n)})].Count == 1 {
				return n
			}
		}
		return 0
	}
	e.write(map[tvc.ID]*vec.Block{a: single(0)})
	told := e.readTime()
	if n := has(told); n != 14 {
		t.Fatalf("the first replica has %d", n)
	}
	sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: all(v), At: told, NoSnapshot: true})
	e.must(err)
	defer sub.Close()
	e.c.SetCluster(cluster, replica(1, 1), replica(2, 2))
	for n := 1; has(0) != 13; n++ {
		if n == 5000 {
			t.Fatal("the view stays wrong")
		}
		e.write(map[tvc.ID]*vec.Block{a: single(n)})
	}
	log := e.log(sub, e.write(map[tvc.ID]*vec.Block{a: single(5000)}))
	at := map[int64]tvc.Time{}
	for i := range log.Len {
		if row := log.Row(i, nil); row[0].Int() == 100 {
			at[log.Diff(i)*row[1].Int()] = tvc.Time(log.Times[i])
		}
	}
	gone, come := at[-14], at[13]
	if len(at) != 2 || gone != come || come <= told {
		t.Fatalf("the wrong row was told at %d; its corrections are %v", told, at)
	}
	for when, want := range map[tvc.Time]int64{told: 14, come - 1: 14, come: 13} {
		if n := has(when); n != want {
			t.Errorf("at %d, the correction being at %d, it has %d, want %d", when, come, n, want)
		}
	}
}
