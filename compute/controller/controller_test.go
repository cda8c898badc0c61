package controller_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mrand "math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// env is storage in memory with a controller on it, for as long as one "process" lives; the stores outlive
// it.
type env struct {
	t     *testing.T
	cons  consensus.Store
	flaky *flaky
	reg   *prometheus.Registry
	sets  *settings.Set
	set   *collection.Set
	c     *controller.Controller
	// views are to be started again by restart, in this order.
	views []view
	live  map[tvc.ID]plantest.Rows
}

type view struct {
	id   tvc.ID
	plan *plan.Dataflow
	keys []int // an index's
}

var (
	cluster = tvc.ID{Class: 'u', N: 1000}
	kv      = types.Rel{Cols: []types.Column{{Name: "k", Type: types.TInt8, Nullable: true}, {Name: "v", Type: types.TInt8, Nullable: true}}}
)

func replica(n uint64, workers int) controller.ReplicaDesc {
	return controller.ReplicaDesc{ID: tvc.ID{Class: 'u', N: 2000 + n}, Workers: workers}
}

func newEnv(t *testing.T, workers int) *env {
	e := newEnvOn(t, consensus.NewMemory(), workers)
	t.Cleanup(func() { e.stop() })
	return e
}

// newEnvOn makes an env that is owed a stop.
func newEnvOn(t *testing.T, cons consensus.Store, workers int) *env {
	e := &env{t: t, cons: cons, flaky: &flaky{Store: blob.NewMemory()},
		sets: settings.NewSet(append(controller.Settings(), collection.Settings()...)...), live: map[tvc.ID]plantest.Rows{}}
	e.start(workers)
	return e
}

func (e *env) start(workers int) {
	e.reg = prometheus.NewRegistry()
	log := slog.New(slog.DiscardHandler)
	clock := func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }
	var err error
	e.set, err = collection.Open(context.Background(), collection.Options{Consensus: e.cons, Blob: e.flaky, Clock: clock,
		Registry: e.reg, Log: log, Random: rand.Reader, Settings: e.sets})
	e.must(err)
	e.c = controller.New(controller.Options{Set: e.set, Oracle: e.set.Oracle(), Settings: e.sets, Registry: e.reg, Log: log,
		Name: func(id tvc.ID) string { return id.String() }})
	e.c.SetCluster(cluster, replica(1, workers))
	for id := range e.live {
		sh, err := e.set.Open(context.Background(), collection.Desc{ID: id, Shard: shard.ID(id.String()), Name: id.String()})
		e.must(err)
		e.c.Table(id, sh)
	}
	for _, v := range e.views {
		e.open(v)
	}
	e.set.Start()
}

// stop ends the process. Of the appends that dataflows have announced to the line of commits, none may be left: others would
// wait for it.
func (e *env) stop() {
	e.c.Close()
	if n := e.counter("tributary_storage_appends_announced"); n != 0 {
		e.t.Errorf("%v appends are announced by nobody", n)
	}
	e.must(e.set.Close(context.Background()))
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// do commits a unit and gives its time.
func (e *env) do(ops func(t tvc.Time) []shard.Op) tvc.Time {
	e.t.Helper()
	t := e.set.Oracle().WriteTime()
	out, err := e.set.Group().Do(context.Background(), txn.Unit{Ops: ops(t)})
	e.must(err)
	if !out.Done() {
		e.t.Fatalf("refused: %v", out.Refused)
	}
	e.must(e.set.Oracle().ApplyWrite(context.Background(), t))
	e.c.Applied()
	return t
}

func (e *env) table(n uint64) tvc.ID {
	id := tvc.ID{Class: 'u', N: n}
	e.do(func(tvc.Time) []shard.Op {
		return []shard.Op{shard.Create{ID: shard.ID(id.String()), Schema: shard.Schema{Rel: kv}}}
	})
	sh, err := e.set.Open(context.Background(), collection.Desc{ID: id, Shard: shard.ID(id.String()), Name: id.String()})
	e.must(err)
	e.c.Table(id, sh)
	e.live[id] = plantest.Rows{}
	return id
}

func (e *env) write(changes map[tvc.ID]*vec.Block) tvc.Time {
	e.t.Helper()
	return e.do(func(t tvc.Time) []shard.Op {
		var ops []shard.Op
		for id, b := range changes {
			sh, _ := e.set.Shard(id)
			w := sh.NewWriter(shard.WriterOptions{})
			e.must(w.Add(context.Background(), b))
			written, err := w.Finish(context.Background())
			e.must(err)
			ops = append(ops, shard.Append{Shard: sh, AnyLower: true, Upper: tvc.After(t), Written: []*shard.Written{written}})
			e.live[id].AddBlock(b)
		}
		return ops
	})
}

func (e *env) view(n uint64, p *plan.Dataflow) tvc.ID {
	e.t.Helper()
	id := tvc.ID{Class: 'u', N: n}
	hold, err := e.set.Hold("test", p.Imports()...)
	e.must(err)
	defer hold.Release()
	at, err := e.set.Oracle().ReadTime(context.Background())
	e.must(err)
	var rel types.Rel
	for i, c := range p.Nodes[p.Result()].Cols {
		rel.Cols = append(rel.Cols, types.Column{Name: fmt.Sprint("c", i), Type: c, Nullable: true})
	}
	e.do(func(tvc.Time) []shard.Op {
		return []shard.Op{shard.Create{ID: shard.ID(id.String()), Schema: shard.Schema{Rel: rel, Errors: true}, Since: tvc.Frontier(at), Upper: tvc.Frontier(at)}}
	})
	v := view{id: id, plan: p}
	e.views = append(e.views, v)
	e.open(v)
	return id
}

func (e *env) index(n uint64, p *plan.Dataflow, keys ...int) tvc.ID {
	v := view{id: tvc.ID{Class: 'u', N: n}, plan: p, keys: keys}
	e.views = append(e.views, v)
	e.open(v)
	return v.id
}

func (e *env) open(v view) {
	e.t.Helper()
	if v.keys != nil {
		e.must(e.c.Index(context.Background(), cluster, v.id, v.plan, v.keys))
		return
	}
	sh, err := e.set.Open(context.Background(), collection.Desc{ID: v.id, Shard: shard.ID(v.id.String()), Name: v.id.String(), Inputs: v.plan.Imports()})
	e.must(err)
	e.c.View(cluster, v.id, v.plan, sh)
}

// read gives the rows of a view, table or index at the newest time.
func (e *env) read(id tvc.ID) (plantest.Rows, error) {
	e.t.Helper()
	return e.readAt(id, 0)
}

// readAt gives the rows of a view, table or index at a time at which it is held; 0 is the newest.
func (e *env) readAt(id tvc.ID, at tvc.Time) (plantest.Rows, error) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	q := &controller.Query{Cluster: cluster, Finishing: plan.Finishing{Limit: -1}}
	if sh, ok := e.set.Shard(id); ok {
		hold, err := e.set.Hold("read", id)
		e.must(err)
		defer hold.Release()
		var cols []types.T
		schema, _ := sh.Schema()
		for _, c := range schema.Rel.Cols {
			cols = append(cols, c.Type)
		}
		q.Plan = &plan.Dataflow{Nodes: []plan.Node{{Op: &plan.Get{ID: id}, Cols: cols}}}
	} else {
		h, _, err := e.c.HoldIndex(id)
		e.must(err)
		defer h.Release()
		for _, v := range e.views {
			if v.id == id {
				q.Cols = v.plan.Nodes[v.plan.Result()].Cols
			}
		}
		q.Lookup = &plan.Lookup{Index: id, MFP: scalar.Identity(len(q.Cols))}
	}
	if q.At = at; at == 0 {
		q.At = e.readTime()
	}
	rows, err := e.c.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	out := plantest.Rows{}
	for {
		b, err := rows.Next(ctx)
		if err != nil || b == nil {
			return out, err
		}
		out.AddBlock(b)
	}
}

var count = &scalar.Agg{Name: "count", Ret: types.TInt8, Accum: &scalar.Accum{
	Update: func([]uint64, int, int, []int32, []*vec.Vec, []int64) {},
	Result: func(_ []uint64, rows int64) (vec.Datum, error) { return vec.IntOf(rows), nil }}}

var two = []types.T{types.TInt8, types.TInt8}

// groups counts rows by k, with the greatest v.
func groups(in tvc.ID) *plan.Dataflow {
	return &plan.Dataflow{Name: "groups", Nodes: []plan.Node{
		{Op: &plan.Get{ID: in}, Cols: two},
		{Op: &plan.Reduce{Keys: 1, Aggs: []plan.Agg{{Func: count, Filter: -1}, {Func: &scalar.Agg{Order: scalar.Max}, Args: []int{1}, Filter: -1}}},
			Inputs: []plan.NodeID{0}, Cols: []types.T{types.TInt8, types.TInt8, types.TInt8}},
	}}
}

func joined(a, b tvc.ID) *plan.Dataflow {
	return &plan.Dataflow{Name: "joined", Nodes: []plan.Node{
		{Op: &plan.Get{ID: a}, Cols: two}, {Op: &plan.Get{ID: b}, Cols: two},
		{Op: &plan.Join{Stages: []plan.JoinStage{{Left: []int{0}, Right: []int{0}}}, Out: []int{1, 3}}, Inputs: []plan.NodeID{0, 1}, Cols: two},
	}}
}

// pick is a view on a view: two of the three columns of groups.
func pick(in tvc.ID) *plan.Dataflow {
	return &plan.Dataflow{Name: "pick", Nodes: []plan.Node{
		{Op: &plan.Get{ID: in}, Cols: []types.T{types.TInt8, types.TInt8, types.TInt8}},
		{Op: &plan.MFP{MFP: scalar.MFP{Arity: 3, Project: []int{1, 2}}}, Inputs: []plan.NodeID{0}, Cols: two},
	}}
}

func (e *env) check(id tvc.ID, p *plan.Dataflow, in map[tvc.ID]plantest.Rows) {
	e.t.Helper()
	got, err := e.read(id)
	e.must(err)
	want := plantest.Eval(p, in, nil)
	if got.String() != want.Rows.String() {
		e.t.Fatalf("%v is\n%swant\n%s", id, got, want)
	}
}

// TestViewsFollow holds strict serializability: whatever was committed is in the next read, of views on
// views and of indexes, over random transactions, several workers, several thresholds, and restarts.
func TestViewsFollow(t *testing.T) {
	for i, workers := range []int{1, 4, 8} {
		for k, threshold := range []string{"0", "64", "1048576"} {
			if testing.Short() && i != k {
				continue
			}
			t.Run(fmt.Sprintf("workers=%d,threshold=%s", workers, threshold), func(t *testing.T) {
				e := newEnv(t, workers)
				e.must(e.sets.Set("compute_mv_sink_shared_batch_max_bytes", threshold))
				r := mrand.New(mrand.NewPCG(uint64(workers), 5))
				a, b := e.table(1), e.table(2)
				g := e.view(10, groups(a))
				j := e.view(11, joined(a, b))
				p := e.view(12, pick(g))
				x := e.index(13, pick(g), 0)
				for step := range 60 {
					changes := map[tvc.ID]*vec.Block{}
					for _, id := range []tvc.ID{a, b} {
						if r.IntN(3) == 0 {
							continue
						}
						bl := vec.NewBlock(kv.Kinds(), 0)
						for range 1 + r.IntN(6) {
							if rows := e.live[id].Sorted(); len(rows) > 0 && r.IntN(3) == 0 {
								row := rows[r.IntN(len(rows))]
								bl.AppendRow(-1, row.Data...)
								e.live[id].Add(row.Data, -1)
								e.live[id].Add(row.Data, 1)
								break
							}
							bl.AppendRow(1, vec.IntOf(r.Int64N(4)), vec.IntOf(r.Int64N(5)))
						}
						changes[id] = bl
					}
					if len(changes) > 0 {
						e.write(changes)
					}
					gr := plantest.Eval(groups(a), e.live, nil).Rows
					switch step % 4 {
					case 0:
						e.check(p, pick(g), map[tvc.ID]plantest.Rows{g: gr})
					case 1:
						e.check(x, pick(g), map[tvc.ID]plantest.Rows{g: gr})
					case 2:
						e.check(j, joined(a, b), e.live)
					case 3:
						e.check(g, groups(a), e.live)
					}
					if step%20 == 19 {
						e.stop()
						e.start(workers)
					}
				}
			})
		}
	}
}

// TestSubscriptionIsTheHistory accumulates a subscription and compares it, at every transaction's time, with
// the query over what was written by then.
func TestSubscriptionIsTheHistory(t *testing.T) {
	e := newEnv(t, 3)
	a, b := e.table(1), e.table(2)
	first := vec.NewBlock(kv.Kinds(), 0)
	first.AppendRow(1, vec.IntOf(1), vec.IntOf(1))
	first.AppendRow(2, vec.IntOf(2), vec.IntOf(7))
	at := e.write(map[tvc.ID]*vec.Block{a: first, b: first})
	sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: joined(a, b), At: at})
	e.must(err)
	defer sub.Close()
	type point struct {
		at   tvc.Time
		want string
	}
	points := []point{{at, plantest.Eval(joined(a, b), e.live, nil).Rows.String()}}
	r := mrand.New(mrand.NewPCG(9, 9))
	for range 40 {
		bl := vec.NewBlock(kv.Kinds(), 0)
		bl.AppendRow(int64(1+r.IntN(2)), vec.IntOf(r.Int64N(3)), vec.IntOf(r.Int64N(3)))
		id := []tvc.ID{a, b}[r.IntN(2)]
		at := e.write(map[tvc.ID]*vec.Block{id: bl})
		points = append(points, point{at, plantest.Eval(joined(a, b), e.live, nil).Rows.String()})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var log *vec.Block
	for upper := tvc.Frontier(0); upper <= tvc.Frontier(points[len(points)-1].at); {
		rows, u, ok, err := sub.Next(ctx)
		if err != nil || !ok {
			t.Fatalf("the subscription ended: %v", err)
		}
		if rows != nil {
			if log == nil {
				log = vec.NewBlock(rows.Kinds(), 0)
			}
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
