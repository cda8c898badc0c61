package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

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
	waker
	since atomic.Uint64 // an index's; see compact
	// index is nil while the index is not filled.
	index atomic.Pointer[sink.Index]

	// What follows is the driving goroutine's alone, and new with each incarnation.
	flow   *render.Rendered
	inputs []*source.Input   // in the order of their sources
	nodes  []dataflow.NodeID // the inputs' sources
	upper  tvc.Frontier
	// attempt is the frontier of the tick under way, or of the last one; past the one below which nothing can fail any
	// more: a view's changes are appended there.
	attempt, past tvc.Frontier
	filling       *sink.Index // an index that is not to be read yet
	sub           *sink.Subscribe
	view          *viewDriver
	taken         int // updates taken in since the view's last append
	streams       []stream
	reads         []protocol.Read
	// differs says that a view's stored contents are not its query's: the next incarnation corrects them.
	differs bool
	// standsBy says that another replica appends to the view. promoted, which anybody may set, that it does no more.
	standsBy bool
	promoted atomic.Bool
	// contended says that there are or were other replicas; patience is how long their appends are waited for.
	contended bool
	patience  time.Duration
	// asked, which anybody may set, says that another replica corrects the view. yielding is set while the next append is
	// left to it, for as long as yield says.
	asked    atomic.Bool
	yielding bool
	yield    time.Duration
	// settled says that since the last failure an append has landed, or another's was found right; doubted that
	// another's was found wrong, and this dataflow was computed anew.
	settled, doubted bool
}

// errDiffers ends an incarnation that has found its view's stored contents wrong.
var errDiffers = errors.New("the stored contents differ from what the query gives")

func newRunning(e *Engine, c *protocol.Create) *running {
	d := &running{e: e, c: c, done: make(chan struct{})}
	d.waker.woken, d.waker.line = make(chan struct{}, 1), e.o.Group
	d.ctx, d.cancel = context.WithCancel(e.ctx)
	d.since.Store(uint64(c.AsOf))
	d.standsBy, d.patience, d.yield = c.View != nil && c.View.StandsBy, patience, minYield
	return d
}

// name is the full SQL name of what the dataflow makes.
func (d *running) name() string { return d.e.o.Name(d.c.ID) }

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
	var h history
	for {
		err := d.incarnation()
		if d.ctx.Err() != nil || err == nil {
			return
		}
		if d.c.Index != nil {
			d.e.o.Listener.Reset(d.c.ID)
			d.index.Store(nil)
		}
		pause, over := h.judge(err, d)
		switch {
		case over == nil:
		case d.c.Subscribe != nil:
			d.c.Subscribe.Feed.Fail(over)
			return
		case isGone(over):
			return // its drop is under way
		default:
			d.e.o.Log.Error("dataflow failed", "dataflow", d.c.Plan.Name, "id", d.c.ID.String(), "error", over)
			d.e.o.Listener.Failed(d.c.ID, over)
			return
		}
		if !d.sleep(pause) {
			return
		}
	}
}

// sleep is false if the dataflow was ended meanwhile.
func (d *running) sleep(pause time.Duration) bool {
	if pause == 0 {
		return true
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-d.ctx.Done():
		return false
	}
}

// incarnation renders the dataflow, fills it at its as-of and keeps it up to date, until its context ends
// (nil), the subscription is over (nil), or something fails.
func (d *running) incarnation() (err error) {
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			stack := debug.Stack()
			if f, ok := v.(*dataflow.Fault); ok {
				stack = f.Stack
			}
			d.e.o.Log.Error("panic in a dataflow", "dataflow", d.c.Plan.Name, "panic", v, "stack", string(stack))
			what, _, _ := strings.Cut(fmt.Sprint(v), "\n")
			err = errors.New(what)
		}
		if d.view != nil {
			d.view.close(cancel)
		}
		// What waits, or is broken, keeps no state.
		d.flow, d.inputs, d.nodes, d.filling, d.sub, d.view, d.streams = nil, nil, nil, nil, nil, nil, nil
	}()
	d.upper, d.attempt, d.past, d.taken = 0, 0, 0, 0
	asOf, err := d.render(ctx)
	if err != nil {
		return err
	}
	if s := d.c.Subscribe; s != nil && s.UpTo != 0 && s.UpTo <= tvc.Frontier(asOf) {
		s.Feed.Finish() // not even what there is at the start is asked for
		return nil
	}
	if d.view != nil {
		d.e.o.Inputs.Reads(d.c.ID, tvc.After(asOf))
	}
	for _, in := range d.inputs {
		defer in.Shard.Watch(d.signal)()
	}
	if err := d.hydrate(ctx, asOf); err != nil {
		return err
	}
	defer d.shut()
	for {
		over, err := d.catchUp(ctx)
		if over || err != nil {
			return err
		}
		d.rest(d.view != nil && d.view.flying == nil && !d.standsBy)
		select {
		case <-d.woken:
		case <-ctx.Done():
			return nil
		}
	}
}

// render makes the operators, and gives the time to start from.
func (d *running) render(ctx context.Context) (asOf tvc.Time, err error) {
	asOf = d.c.AsOf
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
			d.filling = sink.NewIndex(d.e.o.Workers, cols, d.c.Index.Keys, tvc.Frontier(asOf))
			return d.filling, dataflow.ByKeys(d.c.Index.Keys)
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
	d.inputs, d.nodes, err = d.e.inputs(d.flow)
	return asOf, err
}

// hydrate waits until all inputs are complete through asOf and takes their contents in.
func (d *running) hydrate(ctx context.Context, asOf tvc.Time) error {
	d.attempt = tvc.After(asOf)
	for d.completeBelow(asOf) < tvc.After(asOf) {
		d.e.o.Inputs.Stalled(d.c.ID)
		if d.completeBelow(asOf) >= tvc.After(asOf) {
			break
		}
		if err := d.await(ctx, asOf); err != nil {
			return err
		}
	}
	c, err := contents(ctx, d.flow, asOf, d.inputs)
	defer c.close()
	if err != nil {
		return err
	}
	t := dataflow.Tick{Upper: tvc.After(asOf), At: asOf, Began: clock()}
	if err := d.tick(ctx, t, c.feeds, c.rows); err != nil {
		return err
	}
	return d.emit(ctx)
}

// await sleeps until the dataflow is woken, or the clock has reached the time: a clock that was put back may
// be behind what is stored.
func (d *running) await(ctx context.Context, t tvc.Time) error {
	var clock <-chan time.Time
	if closed := d.e.o.Inputs.Closed(); closed < t {
		// Closed time may stand still while a write is under way.
		timer := time.NewTimer(max(time.Millisecond, time.Duration(t-closed)*time.Microsecond))
		defer timer.Stop()
		clock = timer.C
	}
	select {
	case <-d.woken:
	case <-clock:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// completeBelow gives the frontier below which all inputs are complete, going by a closed time.
func (d *running) completeBelow(closed tvc.Time) tvc.Frontier {
	bound, _ := d.look(closed)
	return bound
}

// news says what there is to take in.
type news uint8

const (
	nothing  news = iota // no input has moved
	tooEarly             // some input has, but not all are complete so far
	emptily              // some input has, to where the dataflow is already: without a change
	updates
)

// look gives the frontier below which all inputs are complete, going by a closed time, and whether anything
// new is there below it.
func (d *running) look(closed tvc.Time) (bound tvc.Frontier, what news) {
	bound = tvc.After(closed)
	for _, in := range d.inputs {
		physical, logical := d.e.o.Inputs.Complete(in.ID, closed)
		bound = min(bound, max(physical, logical))
		switch {
		case physical <= in.Read():
		case physical <= d.upper:
			in.Advance(physical)
			what = max(what, emptily)
		default:
			what = updates
		}
	}
	if s := d.c.Subscribe; s != nil && s.UpTo != 0 {
		bound = min(bound, s.UpTo)
	}
	if what == updates && bound <= d.upper {
		what = tooEarly
	}
	return bound, what
}

// largeRows makes a tick large: it takes its turn among the large ones.
const largeRows = 32 << 10

// tick works one interval of about so many rows through the operators.
func (d *running) tick(ctx context.Context, t dataflow.Tick, feeds []dataflow.Feed, rows int) error {
	if rows >= largeRows {
		d.shut()
		turn, err := d.e.o.Sched.Large(ctx)
		if err != nil {
			return err
		}
		defer turn.Done()
		t.Turn = turn
	}
	err := d.flow.Flow.Tick(ctx, t, feeds)
	d.e.o.Metrics.ticks.Inc()
	d.e.o.Metrics.reads.Add(float64(d.flow.Flow.TakeReads()))
	if err == nil {
		d.upper = t.Upper
	}
	return err
}

// goOn says that the dataflow has everything below a frontier.
func (d *running) goOn(from tvc.Frontier) {
	d.upper = from
	if d.view != nil {
		d.e.o.Inputs.Reads(d.c.ID, from)
	}
}

// catchUp takes in what has come, until there is nothing more that it could. over says that the subscription
// has ended.
func (d *running) catchUp(ctx context.Context) (over bool, err error) {
	for said := false; ; {
		if d.view != nil {
			if err := d.view.settle(ctx); err != nil {
				return false, err
			}
		}
		bound, what := d.look(d.e.o.Inputs.Closed())
		switch {
		case what == updates, what == emptily:
			said = false
			if what == updates {
				err = d.advance(ctx, bound)
			}
			if err == nil {
				err = d.emit(ctx)
			}
			if err != nil {
				return false, err
			}
		case what == tooEarly && !said && !d.ended(bound):
			d.e.o.Inputs.Stalled(d.c.ID)
			said = true
		default:
			return d.ended(bound), nil
		}
	}
}

// ended ends a subscription that has everything up to its end, or reads nothing that could change, and says whether
// one is over.
func (d *running) ended(bound tvc.Frontier) bool {
	s := d.c.Subscribe
	if s == nil {
		return false
	}
	if len(d.inputs) == 0 || s.UpTo != 0 && bound >= s.UpTo {
		if s.UpTo != 0 {
			s.Feed.Push(protocol.Delivery{Upper: s.UpTo})
		}
		s.Feed.Finish()
	}
	return s.Feed.Ended()
}

// emit hands on what ticks have put into the sink.
func (d *running) emit(ctx context.Context) error {
	switch {
	case d.view != nil:
		return d.view.emit(ctx)
	case d.sub != nil:
		if err := d.sub.Deliver(ctx, d.upper); err != nil {
			return err
		}
	case d.index.Load() == nil:
		d.index.Store(d.filling)
		d.filling.Compact(tvc.Frontier(d.since.Load()))
	}
	d.progress()
	return nil
}

// progress tells how far the dataflow has got.
func (d *running) progress() {
	d.past = d.upper
	d.reads = d.through(d.reads[:0])
	d.e.o.Listener.Progress(protocol.Progress{ID: d.c.ID, Through: d.reads, Upper: d.upper})
}

// through appends how far each input was read.
func (d *running) through(to []protocol.Read) []protocol.Read {
	for _, in := range d.inputs {
		to = append(to, protocol.Read{ID: in.ID, Upper: in.Read()})
	}
	return to
}
