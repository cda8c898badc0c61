// Package engine is one replica: its dataflows, each driven by a goroutine of its own, the indexes they
// keep, and the one-off queries run here.
//
// A dataflow sleeps until one of its inputs has moved. Then it looks through which time all its inputs are
// complete, takes everything below that time in one tick, and hands the result to its sink. While a view's
// append is in flight, further ticks gather into the next one.
//
// Promises:
//
//	E1  a tick covers only times through which every input is complete, and no update is left out or taken
//	    twice.
//	E2  a dataflow that fails is torn down and built anew from where its output stands. Failures of
//	    storage are waited out; the second of another kind at one place ends it (Listener.Failed). Others
//	    go on.
//	E3  an idle dataflow costs nothing.
//
// Engine is safe for concurrent use; Close ends its goroutines and waits for them.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/compute/render"
	"github.com/tributary-db/tributary/compute/sink"
	"github.com/tributary-db/tributary/compute/source"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// Options are what an engine stands on.
type Options struct {
	// Workers is the number of shares of state of every dataflow.
	Workers int
	Sched   *dataflow.Scheduler
	// Shard gives the shard of a collection, Name its full SQL name at the moment.
	Shard       func(id tvc.ID) (*shard.Shard, bool)
	Name        func(id tvc.ID) string
	Group       *txn.Group
	Inputs      protocol.Inputs
	Listener    protocol.Listener
	Staging     *sink.Budget
	Settings    *settings.Set
	SinkMetrics *sink.Metrics
	// Sharing is how views' changes become parts; nil means as sink.ViewOptions says.
	Sharing sink.Sharing
	Metrics *Metrics
	Log     *slog.Logger
}

// Engine is a replica in this process.
type Engine struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     struct {
		sync.Mutex
		running map[tvc.ID]*running
	}
}

var _ protocol.Replica = (*Engine)(nil)

// New makes an engine.
func New(o Options) *Engine {
	o.Workers = max(o.Workers, 1)
	e := &Engine{o: o}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.mu.running = map[tvc.ID]*running{}
	return e
}

// Close stops all dataflows.
func (e *Engine) Close() {
	e.cancel()
	e.wg.Wait()
}

// Create is protocol.Replica's.
func (e *Engine) Create(c *protocol.Create) {
	d := newRunning(e, c)
	e.mu.Lock()
	e.mu.running[c.ID] = d
	e.mu.Unlock()
	e.wg.Go(d.run)
}

// Compact is protocol.Replica's.
func (e *Engine) Compact(id tvc.ID, since tvc.Frontier) {
	e.mu.Lock()
	d := e.mu.running[id]
	if since == tvc.Done {
		delete(e.mu.running, id)
	}
	e.mu.Unlock()
	if d == nil {
		return
	}
	if since == tvc.Done {
		d.cancel()
		<-d.done
		return
	}
	d.compact(since)
}

// Wake is protocol.Replica's.
func (e *Engine) Wake(id tvc.ID) {
	e.mu.Lock()
	d := e.mu.running[id]
	e.mu.Unlock()
	if d != nil {
		d.signal()
	}
}

// TakeOver is protocol.Replica's.
func (e *Engine) TakeOver(id tvc.ID) {
	e.mu.Lock()
	d := e.mu.running[id]
	e.mu.Unlock()
	if d != nil {
		d.promoted.Store(true)
		d.signal()
	}
}

// Yield is protocol.Replica's.
func (e *Engine) Yield(id tvc.ID) {
	e.mu.Lock()
	d := e.mu.running[id]
	e.mu.Unlock()
	if d != nil {
		d.asked.Store(true)
		d.signal()
	}
}

// Peek is protocol.Replica's.
func (e *Engine) Peek(ctx context.Context, p *protocol.Peek) (protocol.Rows, error) {
	e.mu.Lock()
	d := e.mu.running[p.Lookup.Index]
	e.mu.Unlock()
	var index *sink.Index
	if d != nil {
		index = d.index.Load()
	}
	if index == nil {
		return nil, protocol.ErrNotReady
	}
	if since := index.Since(); !tvc.After(p.At).Past(tvc.Time(since)) {
		invariants.Failf("index %v is read at %v, before its since %v", p.Lookup.Index, p.At, since)
	}
	if err := index.Err(p.At); err != nil {
		return nil, err
	}
	prog, err := scalar.Compile(p.Lookup.MFP, p.Cols, p.Env)
	if err != nil {
		return nil, err
	}
	cols := mfpTypes(p.Lookup.MFP, p.Cols)
	res := sink.NewResult(cols, p.Finishing, p.MaxBytes)
	res.Positive = true // an index's rows come with their counts
	out := vec.NewBlock(kindsOf(cols), 0)
	var errs scalar.Errors
	err = index.Read(p.At, p.Lookup.Keys, func(b *vec.Block) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e.o.Metrics.peekRows.Add(float64(b.Len))
		out.Reset()
		prog.Apply(b, out, &errs)
		if errs.Len() > 0 {
			return errs.Errs[0]
		}
		if err := res.Add(out); err != nil || !res.Full() {
			return err
		}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return res.Finish()
}

// mfpTypes gives the types of what an MFP over the given columns gives.
func mfpTypes(m scalar.MFP, cols []types.T) []types.T {
	out := make([]types.T, len(m.Project))
	for i, c := range m.Project {
		if c < m.Arity {
			out[i] = cols[c]
		} else {
			out[i] = m.Map[c-m.Arity].Type()
		}
	}
	return out
}

func kindsOf(cols []types.T) []types.Kind {
	kinds := make([]types.Kind, len(cols))
	for i, c := range cols {
		kinds[i] = c.Kind()
	}
	return kinds
}

// Query is protocol.Replica's.
func (e *Engine) Query(ctx context.Context, q *protocol.Query) (protocol.Rows, error) {
	var res *sink.Result
	r, err := render.Render(q.Plan, render.Options{Workers: e.o.Workers, Sched: e.o.Sched, Env: q.Env,
		Sink: func(cols []types.T) (dataflow.ErrorSink, dataflow.Route) {
			res = sink.NewResult(cols, q.Finishing, q.MaxBytes)
			return res, dataflow.ToFirst()
		}})
	if err != nil {
		return nil, err
	}
	inputs, _, err := e.inputs(r)
	if err != nil {
		return nil, err
	}
	consolidate := res.Bound(q.Plan, slices.ContainsFunc(inputs, (*source.Input).HasErrors))
	for _, in := range inputs {
		in.Consolidate = consolidate
	}
	c, err := contents(ctx, r, q.At, inputs)
	defer c.close()
	if err != nil {
		return nil, err
	}
	err = r.Flow.Tick(ctx, dataflow.Tick{Upper: tvc.After(q.At), At: q.At}, c.feeds)
	e.o.Metrics.reads.Add(float64(r.Flow.TakeReads()))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return res.Finish()
}

// inputs makes the inputs of a dataflow and gives their nodes, in the order of its sources.
func (e *Engine) inputs(r *render.Rendered) (inputs []*source.Input, nodes []dataflow.NodeID, err error) {
	for _, src := range r.Sources {
		if src.Rows != nil {
			continue
		}
		sh, ok := e.o.Shard(src.ID)
		if !ok {
			return nil, nil, errDropped
		}
		inputs, nodes = append(inputs, source.New(src.ID, sh, src.Cols, src.Filter)), append(nodes, src.Node)
	}
	return inputs, nodes, nil
}

// snapshot is what a dataflow's first tick reads.
type snapshot struct {
	feeds   []dataflow.Feed
	streams []*source.Stream
	rows    int // at most so many
}

// contents opens the contents of all sources at a time, and counts them as read. It is owed a close also with an
// error.
func contents(ctx context.Context, r *render.Rendered, at tvc.Time, inputs []*source.Input) (*snapshot, error) {
	c := &snapshot{}
	for _, src := range r.Sources {
		if src.Rows != nil {
			c.feeds = append(c.feeds, dataflow.Feed{Source: src.Node, Next: dataflow.Blocks([]*vec.Block{src.Rows}), Stable: true})
			continue
		}
		in := inputs[len(c.streams)]
		s, err := in.Snapshot(ctx, at)
		if err != nil {
			return c, ofStorage(err)
		}
		c.streams = append(c.streams, s)
		c.rows += s.Rows()
		in.Advance(s.Upper)
		c.feeds = append(c.feeds, dataflow.Feed{Source: src.Node, Next: feedOf(r.Flow, s)})
	}
	return c, nil
}

func (c *snapshot) close() {
	for _, s := range c.streams {
		s.Close()
	}
}

// feedOf makes a feed of a stream, its errors going to the dataflow.
func feedOf(flow *dataflow.Dataflow, s *source.Stream) func(context.Context) (*vec.Block, error) {
	return func(ctx context.Context) (*vec.Block, error) {
		b, err := s.Next(ctx)
		if s.Errs != nil {
			flow.Fail(s.Errs)
			s.Errs = nil
		}
		return b, ofStorage(err)
	}
}

// errEnough ends the reading of an index whose further rows are not wanted.
var errEnough = errors.New("the result is full")

var errDropped = pgerr.New(pgerr.UndefinedObject, "a collection that is read has been dropped")
