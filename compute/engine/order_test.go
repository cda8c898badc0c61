package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/engine"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/compute/sink"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	table = tvc.ID{Class: 'u', N: 1}
	index = tvc.ID{Class: 'u', N: 2}
	ints  = []types.T{types.TInt8}
)

// script is a controller that says what a test has it say: a table is complete below a frontier.
type script struct {
	complete atomic.Uint64
	// stalled and progress have a word for each time that a dataflow says so.
	stalled  chan struct{}
	progress chan tvc.Frontier
}

func (s *script) Closed() tvc.Time { return tvc.Frontier(s.complete.Load()).Last() }

func (s *script) Complete(tvc.ID, tvc.Time) (physical, logical tvc.Frontier) {
	return tvc.Frontier(s.complete.Load()), tvc.Frontier(s.complete.Load())
}

func (s *script) Stalled(tvc.ID)                    { s.stalled <- struct{}{} }
func (s *script) Hold(tvc.ID) bool                  { return true }
func (s *script) Reads(tvc.ID, tvc.Frontier)        {}
func (s *script) Progress(p protocol.Progress)      { s.progress <- p.Upper }
func (s *script) Reset(tvc.ID)                      {}
func (s *script) Corrects(tvc.ID) (at tvc.Frontier) { return 0 }
func (s *script) Waited(tvc.ID)                     {}
func (s *script) Failed(id tvc.ID, err error)       { panic(err) }

// newEngine makes an engine over a table that has the row 1 from time 5 on and the row 2 from time 25 on.
func newEngine(t *testing.T, s *script) *engine.Engine {
	t.Helper()
	ctx := context.Background()
	set := settings.NewSet(slices.Concat(sink.Settings(), collection.Settings())...)
	p, err := storagetest.NewDisk().Open(t, storagetest.Options{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(t) })
	do := func(op shard.Op) {
		t.Helper()
		if out, err := p.Set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{op}}); err != nil || !out.Done() {
			t.Fatal(out.Refused, err)
		}
	}
	do(shard.Create{ID: "u1", Schema: shard.Schema{Rel: types.Rel{Cols: []types.Column{{Name: "a", Type: types.TInt8}}}}})
	sh, err := p.Set.Open(ctx, collection.Desc{ID: table, Shard: "u1", Name: "t", Retain: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	rows := vec.NewBlock([]types.Kind{types.Int}, 2)
	rows.AppendRow(1, vec.IntOf(1))
	rows.AppendRow(1, vec.IntOf(2))
	rows.Times = []uint64{5, 25}
	w := sh.NewWriter(shard.WriterOptions{})
	if err := w.Add(ctx, rows); err != nil {
		t.Fatal(err)
	}
	written, err := w.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	do(shard.Append{Shard: sh, Upper: 40, Written: []*shard.Written{written}})
	e := engine.New(engine.Options{Workers: 2, Sched: dataflow.NewScheduler(), Shard: p.Set.Shard, Group: p.Set.Group(), Inputs: s,
		Listener: s, Staging: sink.NewBudget(set), Settings: set, SinkMetrics: sink.NewMetrics(p.Registry.Metrics()),
		Metrics: engine.NewMetrics(p.Registry.Metrics()), Log: slog.New(slog.DiscardHandler),
		Name: func(id tvc.ID) string { return id.String() }})
	t.Cleanup(e.Close)
	return e
}

// peek counts the rows of the index at a time; readable is false if that is before its since.
func peek(e *engine.Engine, at tvc.Time) (rows int, readable bool, err error) {
	defer func() {
		if recover() != nil {
			readable = false
		}
	}()
	ctx := context.Background()
	got, err := e.Peek(ctx, &protocol.Peek{Lookup: &plan.Lookup{Index: index, MFP: scalar.Identity(1)}, Cols: ints, At: at,
		Finishing: plan.Finishing{Limit: -1}})
	for err == nil {
		var b *vec.Block
		if b, err = got.Next(ctx); b == nil {
			break
		}
		rows += b.Len
	}
	return rows, true, err
}

// TestCommandsCountInTheirOrder: an index is made, compacted before there is anything in it, read, and dropped; each command
// finds what those before it have done, and nothing of one that was before the drop is there after it.
// Of what must be kept, this is: what a replica is told of a dataflow it does in the order in which it is told.
func TestCommandsCountInTheirOrder(t *testing.T) {
	s := &script{stalled: make(chan struct{}, 100), progress: make(chan tvc.Frontier, 100)}
	e := newEngine(t, s)
	for range 3 {
		s.complete.Store(1)
		e.Create(&protocol.Create{ID: index, AsOf: 10, Index: &protocol.Index{Keys: []int{0}},
			Plan: &plan.Dataflow{Name: "i", Nodes: []plan.Node{{Op: &plan.Get{ID: table}, Cols: ints}}}})
		<-s.stalled // it has begun, at 10, and waits for its input
		e.Compact(index, 20)
		if _, _, err := peek(e, 30); !errors.Is(err, protocol.ErrNotReady) {
			t.Fatalf("before it is filled the index says %v", err)
		}
		s.complete.Store(40)
		e.Wake(index)
		for upper := tvc.Frontier(0); upper < 31; upper = <-s.progress {
		}
		for at, want := range map[tvc.Time]int{19: -1, 20: 1, 24: 1, 25: 2, 30: 2} {
			rows, readable, err := peek(e, at)
			if !readable {
				rows = -1
			}
			if err != nil || rows != want {
				t.Errorf("at %d there are %d rows, want %d (-1: what is no longer readable), %v", at, rows, want, err)
			}
		}
		e.Compact(index, tvc.Done)
		if _, _, err := peek(e, 30); !errors.Is(err, protocol.ErrNotReady) {
			t.Errorf("after it is dropped the index says %v", err)
		}
		for len(s.progress)+len(s.stalled) > 0 {
			select {
			case <-s.progress:
			case <-s.stalled:
			}
		}
	}
}
