package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/compute/render"
	"github.com/tributary-db/tributary/compute/sink"
	"github.com/tributary-db/tributary/compute/source"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/tvc"
)

// running is a dataflow and the goroutine that drives it.
type running struct {
	e      *Engine
	c      *protocol.Create
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	// wake has one slot: a full channel already means "look again".
	wake  chan struct{}
	since atomic.Uint64 // an index's; see compact
	index atomic.Pointer[sink.Index]

	// What follows is the driving goroutine's alone, and new with each incarnation.
	flow   *render.Rendered
	inputs map[tvc.ID]*source.Input
	upper  tvc.Frontier
	sub    *sink.Subscribe
	view   *viewDriver
	taken  int // updates taken in since the view's last append
	// advanced says that an incarnation got further than the one before it.
	advanced bool
	// differs says that a view's stored contents are not its query's: the next incarnation corrects them.
	differs bool
}

// errDiffers ends an incarnation that has found its view's stored contents wrong.
var errDiffers = errors.New("the stored contents differ from what the query gives")

func newRunning(e *Engine, c *protocol.Create) *running {
	d := &running{e: e, c: c, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	d.ctx, d.cancel = context.WithCancel(e.ctx)
	d.since.Store(uint64(c.AsOf))
	return d
}

// signal makes the dataflow look at its inputs again.
func (d *running) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// compact lets an index's times before since go.
func (d *running) compact(since tvc.Frontier) {
	d.since.Store(uint64(since))
	if x := d.index.Load(); x != nil {
		x.Compact(since)
	}
}

// run drives the dataflow through its incarnations.
func (d *running) run() {
	defer close(d.done)
	d.e.o.Metrics.running.Inc()
	defer d.e.o.Metrics.running.Dec()
	failures := 0
	for {
		d.advanced = false
		err := d.incarnation()
		if d.ctx.Err() != nil || err == nil {
			return
		}
		var lost *sink.LostError
		if errors.As(err, &lost) || errors.Is(err, errDiffers) {
			continue // go on from where another writer has got, or correct what is stored
		}
		if d.advanced {
			failures = 0
		}
		if failures++; failures > 1 || d.c.Subscribe != nil {
			d.e.o.Log.Error("dataflow failed", "dataflow", d.c.Plan.Name, "id", d.c.ID.String(), "error", err)
			if d.c.Subscribe != nil {
				d.c.Subscribe.Feed.Fail(err)
			}
			d.e.o.Listener.Failed(d.c.ID, err)
			return
		}
		d.e.o.Log.Warn("dataflow is built anew", "dataflow", d.c.Plan.Name, "id", d.c.ID.String(), "error", err)
		if d.c.View != nil {
			d.e.o.SinkMetrics.Rebuilt(d.c.Plan.Name)
		}
	}
}

// incarnation renders the dataflow, fills it at its as-of and keeps it up to date, until its context ends
// (nil), the subscription is over (nil), or something fails.
func (d *running) incarnation() (err error) {
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("dataflow %s: %v\n%s", d.c.Plan.Name, v, debug.Stack())
		}
		if d.view != nil {
			d.view.close(cancel)
		}
	}()
	asOf, err := d.render(ctx)
	if err != nil {
		return err
	}
	for _, in := range d.inputs {
		defer in.Shard.Watch(d.wake)()
	}
	if err := d.hydrate(ctx, asOf); err != nil {
		return err
	}
	for {
		if over, err := d.catchUp(ctx); over || err != nil {
			return err
		}
		select {
		case <-d.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// render makes the operators, and gives the time to start from.
func (d *running) render(ctx context.Context) (asOf tvc.Time, err error) {
	asOf = d.c.AsOf
	d.view, d.sub = nil, nil
	var makeSink func(cols []types.T) (dataflow.ErrorSink, dataflow.Route)
	switch {
	case d.c.View != nil:
		if d.view, asOf, err = newViewDriver(ctx, d); err != nil {
			return 0, err
		}
		makeSink = func([]types.T) (dataflow.ErrorSink, dataflow.Route) { return d.view.sink, d.view.sink.Route() }
	case d.c.Index != nil:
		// An index that is built anew starts from what is held for it now.
		asOf = max(asOf, tvc.Time(d.since.Load()))
		makeSink = func(cols []types.T) (dataflow.ErrorSink, dataflow.Route) {
			x := sink.NewIndex(d.e.o.Workers, cols, d.c.Index.Keys, tvc.Frontier(asOf))
			d.index.Store(x)
			return x, dataflow.ByKeys(d.c.Index.Keys)
		}
	default:
		makeSink = func(cols []types.T) (dataflow.ErrorSink, dataflow.Route) {
			d.sub = sink.NewSubscribe(cols, d.c.Subscribe.NoSnapshot, d.c.Subscribe.Feed)
			return d.sub, dataflow.ToFirst()
		}
	}
	d.flow, err = render.Render(d.c.Plan, render.Options{Workers: d.e.o.Workers, Sched: d.e.o.Sched, Sink: makeSink})
	if err != nil {
		return 0, err
	}
	d.inputs = map[tvc.ID]*source.Input{}
	for _, src := range d.flow.Sources {
		if src.Rows != nil {
			continue
		}
		sh, _, ok := d.e.o.Shard(src.ID)
		if !ok {
			return 0, errDropped
		}
		d.inputs[src.ID] = source.New(src.ID, sh)
	}
	return asOf, nil
}

// hydrate waits until all inputs are complete through asOf and takes their contents in.
func (d *running) hydrate(ctx context.Context, asOf tvc.Time) error {
	for d.completeBelow(asOf) < tvc.After(asOf) {
		select {
		case <-d.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	feeds, closeAll, err := d.e.snapshots(ctx, d.flow, asOf, d.inputs)
	defer closeAll()
	if err != nil {
		return err
	}
	t := dataflow.Tick{Upper: tvc.After(asOf), At: asOf}
	if err := d.tick(ctx, t, feeds); err != nil {
		return err
	}
	return d.emit(ctx)
}

// completeBelow gives the frontier below which all inputs are complete, going by a closed time.
func (d *running) completeBelow(closed tvc.Time) tvc.Frontier {
	if len(d.inputs) == 0 {
		return tvc.After(closed)
	}
	upper := tvc.Done
	for id := range d.inputs {
		physical, logical := d.e.o.Inputs.Complete(id, closed)
		upper = min(upper, max(physical, logical))
	}
	return upper
}

// tick works one interval through the operators.
func (d *running) tick(ctx context.Context, t dataflow.Tick, feeds []dataflow.Feed) error {
	err := d.flow.Flow.Tick(ctx, t, feeds)
	d.e.o.Metrics.ticks.Inc()
	d.e.o.Metrics.reads.Add(float64(d.flow.Flow.TakeReads()))
	if err == nil {
		d.upper = t.Upper
	}
	return err
}

// catchUp takes in what has come, until there is nothing more. over says that the subscription has ended.
func (d *running) catchUp(ctx context.Context) (over bool, err error) {
	for {
		if d.view != nil {
			if err := d.view.settle(ctx); err != nil {
				return false, err
			}
		}
		bound := d.completeBelow(d.e.o.Inputs.Closed())
		if s := d.c.Subscribe; s != nil && s.UpTo != 0 {
			bound = min(bound, s.UpTo)
		}
		if bound <= d.upper {
			return d.over(), nil
		}
		if err := d.advance(ctx, bound); err != nil {
			return false, err
		}
		if err := d.emit(ctx); err != nil {
			return false, err
		}
	}
}

// over ends a subscription that has reached its end, or whose client has gone.
func (d *running) over() bool {
	s := d.c.Subscribe
	if s == nil {
		return false
	}
	if s.UpTo != 0 && d.upper >= s.UpTo {
		s.Feed.Finish()
	}
	return s.Feed.Ended()
}

// emit hands on what ticks have put into the sink.
func (d *running) emit(ctx context.Context) error {
	d.advanced = true
	switch {
	case d.view != nil:
		return d.view.emit(ctx)
	case d.sub != nil:
		d.sub.Deliver(d.upper)
	}
	d.e.o.Listener.Progress(protocol.Progress{ID: d.c.ID, Through: d.through(), Upper: d.upper})
	return nil
}

// through gives how far each input was read.
func (d *running) through() map[tvc.ID]tvc.Frontier {
	m := make(map[tvc.ID]tvc.Frontier, len(d.inputs))
	for id, in := range d.inputs {
		m[id] = in.Read()
	}
	return m
}
