package controller_test

import (
	"context"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// randomRows gives some rows of small numbers.
func randomRows(r *mrand.Rand, n int) *vec.Block {
	b := vec.NewBlock(kv.Kinds(), n)
	for range n {
		b.AppendRow(1, vec.IntOf(r.Int64N(6)), vec.IntOf(r.Int64N(50)))
	}
	return b
}

// agree checks a view on a table, a view on it, and an index over that.
func (e *env) agree(a, g, p, x tvc.ID) {
	e.t.Helper()
	gr := map[tvc.ID]plantest.Rows{g: plantest.Eval(groups(a), e.live, nil).Rows}
	e.check(g, groups(a), e.live)
	e.check(p, pick(g), gr)
	e.check(x, pick(g), gr)
}

// TestTwoReplicasAnswerAsOne: replicas of different sizes keep the same views and indexes; answers are right
// with both, with either gone, and with none but those that came later.
func TestTwoReplicasAnswerAsOne(t *testing.T) {
	e := newEnv(t, 1)
	r := mrand.New(mrand.NewPCG(3, 3))
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 20)})
	g := e.view(10, groups(a))
	p := e.view(11, pick(g))
	x := e.index(12, pick(g), 0)
	for _, replicas := range [][]controller.ReplicaDesc{
		{replica(1, 1)},
		{replica(1, 1), replica(2, 4)},
		{replica(2, 4)},
		{replica(2, 4), replica(3, 2), replica(4, 1)},
		{replica(5, 3)},
	} {
		e.c.SetCluster(cluster, replicas...)
		for range 10 {
			e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
			e.agree(a, g, p, x)
		}
	}
	e.c.SetCluster(cluster)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	if _, err := e.read(x); !strings.Contains(fmt.Sprint(err), "has no replica") {
		t.Fatalf("an index without a replica says %v", err)
	}
	e.c.SetCluster(cluster, replica(6, 2))
	e.agree(a, g, p, x)
}

// TestClusterChangeUnderReadersAndSubscribers changes a cluster's replicas while others read, write and
// subscribe: every read is right, and a subscription is the history or ends with an error.
func TestClusterChangeUnderReadersAndSubscribers(t *testing.T) {
	e := newEnv(t, 2)
	r := mrand.New(mrand.NewPCG(4, 4))
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 50)})
	g := e.view(10, groups(a))
	p := e.view(11, pick(g))
	x := e.index(12, pick(g), 0)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := uint64(10); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			e.c.SetCluster(cluster, replica(n, 1), replica(n+1, 3))
		}
	})
	gone, rounds := 0, 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
		at := e.readTime()
		sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: groups(a), At: at})
		e.must(err)
		want := plantest.Eval(groups(a), e.live, nil).Rows.String()
		e.agree(a, g, p, x)
		got, err := e.accumulate(sub, at)
		var pg *pgerr.Error
		switch {
		case errors.As(err, &pg) && pg.Code == pgerr.ObjectNotInPrerequisiteState:
			gone++
		case err != nil:
			t.Fatal(err)
		case got.String() != want:
			t.Fatalf("the subscription has\n%swant\n%s", got, want)
		}
		sub.Close()
	}
	close(stop)
	wg.Wait()
	t.Logf("%d of %d subscriptions lost their replica", gone, rounds)
}

func (e *env) readTime() tvc.Time {
	e.t.Helper()
	at, err := e.set.Oracle().ReadTime(context.Background())
	e.must(err)
	return at
}

// accumulate adds a subscription's changes up through a time.
func (e *env) accumulate(sub *controller.Subscription, at tvc.Time) (plantest.Rows, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out := plantest.Rows{}
	for {
		rows, upper, ok, err := sub.Next(ctx)
		if err != nil || !ok {
			return out, err
		}
		for i := 0; rows != nil && i < rows.Len; i++ {
			if tvc.Time(rows.Times[i]) <= at {
				out.Add(rows.Row(i, nil), rows.Diff(i))
			}
		}
		if upper.Past(at) {
			return out, nil
		}
	}
}

func TestDropEndsSubscriptions(t *testing.T) {
	e := newEnv(t, 2)
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(mrand.New(mrand.NewPCG(1, 1)), 5)})
	g := e.view(10, groups(a))
	at := e.readTime()
	sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: pick(g), At: at})
	e.must(err)
	defer sub.Close()
	if _, err := e.accumulate(sub, at); err != nil {
		t.Fatal(err)
	}
	e.c.Drop(g)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, _, _, err = sub.Next(ctx)
	if err == nil || err.Error() != "u10 was dropped while it was subscribed to" {
		t.Fatalf("the subscription says %v", err)
	}
	if _, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: pick(g), At: at}); err == nil {
		t.Fatal("what was dropped can be subscribed to")
	}
}

// TestDerivedViewWakesWhenTimeCloses: a write is there before closed time may pass it, because one with an
// earlier time is still under way; a view that reads both goes on when that one is given up.
func TestDerivedViewWakesWhenTimeCloses(t *testing.T) {
	e := newEnv(t, 2)
	a, b := e.table(1), e.table(2)
	j := e.view(10, joined(a, b))
	p := e.view(11, joined(j, a))
	r := mrand.New(mrand.NewPCG(1, 1))
	for range 20 {
		earlier := e.set.Oracle().WriteTime()
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 2), b: randomRows(r, 2)})
		}()
		for sh, _ := e.set.Shard(a); sh.Upper() <= tvc.Frontier(earlier); {
		}
		e.set.Oracle().Forget(earlier)
		e.c.Applied()
		<-done
		in := map[tvc.ID]plantest.Rows{a: e.live[a], j: plantest.Eval(joined(a, b), e.live, nil).Rows}
		e.check(j, joined(a, b), e.live)
		e.check(p, joined(j, a), in)
	}
}

// TestIdleDataflowTakesNoTurn: while other tables are written, a dataflow does nothing, and yet is read at
// the newest time.
func TestIdleDataflowTakesNoTurn(t *testing.T) {
	e := newEnv(t, 2)
	r := mrand.New(mrand.NewPCG(1, 1))
	a, b := e.table(1), e.table(2)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	g := e.view(10, groups(a))
	p := e.view(11, pick(g))
	x := e.index(12, pick(g), 0)
	e.agree(a, g, p, x)
	ticks, steps := e.counter("tributary_engine_ticks_total"), e.counter("tributary_storage_consensus_commands_total")
	for range 50 {
		e.write(map[tvc.ID]*vec.Block{b: randomRows(r, 5)})
	}
	writes := e.counter("tributary_storage_consensus_commands_total") - steps
	if n := e.counter("tributary_engine_ticks_total") - ticks; n != 0 || writes > 60 {
		t.Fatalf("%v ticks and %v commands", n, writes)
	}
	// Of these ticks all but the queries' own would be the dataflows'.
	e.agree(a, g, p, x)
	if n := e.counter("tributary_engine_ticks_total") - ticks; n != 0 {
		t.Fatalf("%v ticks of idle dataflows", n)
	}
}

// counter sums a counter or gauge over its labels.
func (e *env) counter(name string) float64 {
	e.t.Helper()
	families, err := e.reg.Gather()
	e.must(err)
	sum, found := 0.0, false
	for _, f := range families {
		if f.GetName() == name {
			found = true
			for _, m := range f.Metric {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	if !found {
		e.t.Fatalf("no metric %s", name)
	}
	return sum
}

// panicky counts like count, but panics as long as the fuse lasts where a group has 13 rows.
func panicky(fuse *atomic.Int64) *scalar.Agg {
	return &scalar.Agg{Name: "panicky", Ret: types.TInt8, Accum: &scalar.Accum{
		Update: count.Accum.Update,
		Result: func(_ []uint64, rows int64) (vec.Datum, error) {
			if rows == 13 && fuse.Add(-1) >= 0 {
				panic("thirteen\nand a second line")
			}
			return vec.IntOf(rows), nil
		}}}
}

func panicking(in tvc.ID, fuse *atomic.Int64) *plan.Dataflow {
	return &plan.Dataflow{Name: "panicking", Nodes: []plan.Node{
		{Op: &plan.Get{ID: in}, Cols: two},
		{Op: &plan.Reduce{Keys: 1, Aggs: []plan.Agg{{Func: panicky(fuse), Filter: -1}}}, Inputs: []plan.NodeID{0}, Cols: two},
	}}
}

func thirteen() *vec.Block {
	b := vec.NewBlock(kv.Kinds(), 13)
	for i := range int64(13) {
		b.AppendRow(1, vec.IntOf(100), vec.IntOf(i))
	}
	return b
}

// TestSecondFailureEndsADataflow: a dataflow that fails once is built anew; one that fails twice at the same
// place is broken, and so is what reads it, which is said in one line. Others go on.
func TestSecondFailureEndsADataflow(t *testing.T) {
	e := newEnv(t, 2)
	r := mrand.New(mrand.NewPCG(1, 1))
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	g := e.view(10, groups(a))
	var fuses [3]atomic.Int64
	once, twice, index := e.view(11, panicking(a, &fuses[0])), e.view(12, panicking(a, &fuses[1])), e.index(13, panicking(a, &fuses[2]), 0)
	on := e.view(14, joined(twice, a))
	e.check(twice, panicking(a, &fuses[1]), e.live)
	fuses[0].Store(1)
	fuses[1].Store(2)
	fuses[2].Store(1)
	e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	var none atomic.Int64
	e.check(g, groups(a), e.live)
	e.check(once, panicking(a, &none), e.live)
	e.check(index, panicking(a, &none), e.live)
	for _, id := range []tvc.ID{twice, on} {
		_, err := e.read(id)
		if want := twice.String() + " is broken and cannot be read: thirteen"; err == nil || err.Error() != want {
			t.Fatalf("%v: %v, want %s", id, err, want)
		}
	}
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	e.check(once, panicking(a, &none), e.live)
	e.check(g, groups(a), e.live)
}

// TestPeekNeverSeesAHalfBuiltIndex reads an index while it fails and is built anew, over and over.
func TestPeekNeverSeesAHalfBuiltIndex(t *testing.T) {
	e := newEnv(t, 2)
	r := mrand.New(mrand.NewPCG(1, 1))
	a := e.table(1)
	big := vec.NewBlock(kv.Kinds(), 3000)
	for i := range int64(3000) {
		big.AppendRow(1, vec.IntOf(1000+i), vec.IntOf(i))
	}
	e.write(map[tvc.ID]*vec.Block{a: big})
	var fuse, none atomic.Int64
	x := e.index(13, panicking(a, &fuse), 0)
	e.check(x, panicking(a, &none), e.live)
	for range 8 {
		fuse.Store(1)
		e.write(map[tvc.ID]*vec.Block{a: thirteen()})
		e.check(x, panicking(a, &none), e.live)
		e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 3)})
		back := thirteen()
		back.Diffs = make([]int64, 13)
		for i := range back.Diffs {
			back.Diffs[i] = -1
		}
		e.write(map[tvc.ID]*vec.Block{a: back})
	}
}

// TestStorageFailuresAreWaitedOut: however often storage fails, a view goes on once it does not.
func TestStorageFailuresAreWaitedOut(t *testing.T) {
	e := newEnv(t, 2)
	e.must(e.sets.Set("compute_mv_sink_shared_batch_max_bytes", "0"))
	a := e.table(1)
	p := e.view(10, copied(a))
	e.check(p, copied(a), e.live)
	e.flaky.fails.Store(3)
	e.flaky.only.Store("u10/")
	big := vec.NewBlock(kv.Kinds(), 40000)
	for i := range int64(40000) {
		big.AppendRow(1, vec.IntOf(i*7919), vec.IntOf(i))
	}
	e.write(map[tvc.ID]*vec.Block{a: big})
	e.check(p, copied(a), e.live)
	if left := e.flaky.fails.Load(); left > 0 {
		t.Fatalf("%d failures did not come up", left)
	}
}

func copied(in tvc.ID) *plan.Dataflow {
	return &plan.Dataflow{Name: "copied", Nodes: []plan.Node{{Op: &plan.Get{ID: in}, Cols: two}}}
}

// flaky is a blob store in which some puts fail, and others hang.
type flaky struct {
	blob.Store
	fails atomic.Int64
	only  atomic.Value // of which keys: those with this prefix
	hangs atomic.Pointer[hang]
}

// hang has the puts of keys with some prefixes wait until it is over.
type hang struct {
	prefixes []string
	over     chan struct{}
	waits    atomic.Int64
}

func (f *flaky) Put(ctx context.Context, key string, data []byte) error {
	if h := f.hangs.Load(); h != nil && slices.ContainsFunc(h.prefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
		h.waits.Add(1)
		select {
		case <-h.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if only, _ := f.only.Load().(string); only != "" && strings.HasPrefix(key, only) && f.fails.Add(-1) >= 0 {
		return errors.New("the store is away")
	}
	return f.Store.Put(ctx, key, data)
}

// TestLateReaderOfMixedParts: a subscription that starts at an old time, with everything since then merged
// into a few parts of many times, gives the history.
func TestLateReaderOfMixedParts(t *testing.T) {
	e := newEnv(t, 2)
	r := mrand.New(mrand.NewPCG(1, 1))
	a, b := e.table(1), e.table(2)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5), b: randomRows(r, 5)})
	hold, err := e.set.Hold("test", a, b)
	e.must(err)
	defer hold.Release()
	start := e.readTime()
	type point struct {
		at   tvc.Time
		want string
	}
	var points []point
	for range 100 {
		at := e.write(map[tvc.ID]*vec.Block{[]tvc.ID{a, b}[r.IntN(2)]: randomRows(r, 1+r.IntN(3))})
		points = append(points, point{at, plantest.Eval(joined(a, b), e.live, nil).Rows.String()})
	}
	for _, id := range []tvc.ID{a, b} {
		sh, _ := e.set.Shard(id)
		e.must(sh.CompactAll(context.Background(), e.submit))
	}
	sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: joined(a, b), At: start})
	e.must(err)
	defer sub.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	log := vec.NewBlock([]types.Kind{types.Int, types.Int}, 0)
	for upper := tvc.Frontier(0); !upper.Past(points[len(points)-1].at); {
		rows, u, ok, err := sub.Next(ctx)
		if err != nil || !ok {
			t.Fatalf("the subscription ended: %v", err)
		}
		if rows != nil {
			log.AppendBlock(rows)
		}
		upper = u
	}
	for _, p := range points {
		got := plantest.Rows{}
		for i := range log.Len {
			if tvc.Time(log.Times[i]) <= p.at {
				got.Add(log.Row(i, nil), log.Diff(i))
			}
		}
		if got.String() != p.want {
			t.Fatalf("at %d the subscription adds up to\n%swant\n%s", p.at, got, p.want)
		}
	}
}

// TestSlowSubscriberGetsItsSnapshot: what there is at the start may be more than may wait; a client that takes
// it slowly gets all of it, and the changes after it.
func TestSlowSubscriberGetsItsSnapshot(t *testing.T) {
	e := newEnv(t, 2)
	a := e.table(1)
	big := vec.NewBlock(kv.Kinds(), 30_000)
	for i := range int64(30_000) {
		big.AppendRow(1, vec.IntOf(i), vec.IntOf(i))
	}
	e.write(map[tvc.ID]*vec.Block{a: big})
	sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: copied(a), At: e.readTime(), MaxLagBytes: 100_000})
	e.must(err)
	defer sub.Close()
	at := e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	got, err := e.accumulate(sub, at)
	e.must(err)
	if got.String() != e.live[a].String() {
		t.Fatalf("%d rows of %d", len(got), len(e.live[a]))
	}
	// Of changes only so much may wait.
	e.write(map[tvc.ID]*vec.Block{a: big})
	if _, err := e.accumulate(sub, e.readTime()); err == nil || !strings.Contains(err.Error(), "too far behind") {
		t.Fatalf("a subscriber that lags far behind: %v", err)
	}
	// One that goes away while its snapshot waits leaves nothing behind.
	other, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: copied(a), At: e.readTime(), MaxLagBytes: 100_000})
	e.must(err)
	if _, _, _, err := other.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	other.Close()
}

// TestNothingIsThereBeforeItIsComputed: what is not there yet is complete through no time.
func TestNothingIsThereBeforeItIsComputed(t *testing.T) {
	e := newEnv(t, 1)
	a := e.table(1)
	e.c.SetCluster(cluster)
	g := e.view(10, groups(a))
	if at := e.c.Upper([]tvc.ID{a, g}); at != 0 {
		t.Fatalf("complete through %v", at)
	}
	e.c.SetCluster(cluster, replica(9, 1))
	e.check(g, groups(a), e.live)
	if at := e.c.Upper([]tvc.ID{a, g}); at == 0 || at > e.set.Oracle().Closed() {
		t.Fatalf("complete through %v", at)
	}
}

// TestClaimsAreForClosedTime: nothing is said to be complete through a time that is not closed.
func TestClaimsAreForClosedTime(t *testing.T) {
	e := newEnv(t, 1)
	a := e.table(1)
	at := e.readTime()
	sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: copied(a), At: at})
	e.must(err)
	defer sub.Close()
	e.must(sub.Wait(t.Context(), at))
	future := e.readTime() + 3_600_000_000
	if f := sub.Complete(future); f == 0 || f > tvc.After(e.readTime()) {
		t.Fatalf("complete below %v", f)
	}
}

// TestManyPathsAreWalkedOnce: views that read each other two by two, forty deep, are asked in no time: there are
// 2^40 paths.
func TestManyPathsAreWalkedOnce(t *testing.T) {
	e := newEnv(t, 1)
	a := e.table(1)
	x, y := a, a
	for n := range uint64(40) {
		x, y = e.view(100+2*n, both(x, y)), e.view(101+2*n, both(x, y))
	}
	b := vec.NewBlock(kv.Kinds(), 1)
	b.AppendRow(1, vec.IntOf(1), vec.IntOf(1))
	e.write(map[tvc.ID]*vec.Block{a: b})
	got, err := e.read(x)
	e.must(err)
	if len(got) != 1 {
		t.Fatalf("%v", got)
	}
}

// both has the distinct rows of two collections.
func both(x, y tvc.ID) *plan.Dataflow {
	df := &plan.Dataflow{Name: "both", Nodes: []plan.Node{{Op: &plan.Get{ID: x}, Cols: two}}}
	in := []plan.NodeID{0}
	if y != x {
		df.Nodes = append(df.Nodes, plan.Node{Op: &plan.Get{ID: y}, Cols: two})
		in = append(in, 1)
	}
	df.Nodes = append(df.Nodes, plan.Node{Op: &plan.Union{}, Inputs: in, Cols: two})
	df.Nodes = append(df.Nodes, plan.Node{Op: &plan.Reduce{Keys: 2}, Inputs: []plan.NodeID{plan.NodeID(len(df.Nodes) - 1)}, Cols: two})
	return df
}

func (e *env) submit(ctx context.Context, op shard.Op) (*shard.Refusal, error) {
	out, err := e.set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{op}})
	return out.Refused, err
}
