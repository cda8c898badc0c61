package dataflow

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/vec"
)

const (
	// RoundRows is about how many rows a share emits in one round: enough to make the loops over columns
	// worth their start, little enough that what waits at the ports stays in cache.
	RoundRows = 8192
	// parallelRows is the number of rows in a round from which it is worth waking other goroutines.
	parallelRows = 4096
)

// Feed is the rows of one source in a tick.
type Feed struct {
	Source NodeID
	// Next gives the next block, nil at the end. The block is borrowed until this feed's Next is called again,
	// unless Stable.
	Next func(ctx context.Context) (*vec.Block, error)
	// Stable says that blocks stay valid for the whole tick.
	Stable bool
}

// Blocks makes a Next of blocks that are there already.
func Blocks(blocks []*vec.Block) func(context.Context) (*vec.Block, error) {
	return func(context.Context) (*vec.Block, error) {
		if len(blocks) == 0 {
			return nil, nil
		}
		b := blocks[0]
		blocks = blocks[1:]
		return b, nil
	}
}

// abort is what Lane.Abort panics with, and stop what Lane.Stop does.
type (
	abort struct{ err error }
	stop  struct{}
)

// run is a tick under way.
type run struct {
	d    *Dataflow
	ctx  context.Context
	tick Tick
	// big says that the tick has shown itself worth several goroutines.
	big bool
	// touched are the operators that the tick has reached, in that order.
	touched []NodeID
	// now is held by a lane that absorbs in the middle of a round.
	now sync.Mutex
}

// Tick works one interval of time through the graph. On an error (the context's, a feed's, or an
// operator's by Lane.Abort) the dataflow is of no more use (K6), and neither is it after a Lane.Stop.
func (d *Dataflow) Tick(ctx context.Context, t Tick, feeds []Feed) (err error) {
	t.Fresh = !d.ticked
	d.ticked = true
	r := &run{d: d, ctx: ctx, tick: t}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case abort:
			err = v.err
		case stop:
			r.giveErrors()
		default:
			panic(v)
		}
	}()
	next := 0
	for id, n := range d.nodes {
		switch {
		case n.source:
			for next < len(feeds) && feeds[next].Source == NodeID(id) {
				if err = r.feed(n, feeds[next]); err != nil {
					return err
				}
				next++
			}
		case n.op != nil:
			err = r.turn(NodeID(id), n)
		}
		if err != nil {
			return err
		}
	}
	if next != len(feeds) {
		invariants.Failf("feeds are not in the order of their sources")
	}
	return r.finish()
}

// feed runs a source's turn.
func (r *run) feed(n *node, f Feed) error {
	for {
		batch, err := r.gather(f)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			return nil
		}
		rows := 0
		for _, b := range batch {
			rows += b.Len
		}
		r.big = r.big || rows >= parallelRows
		err = r.each(len(batch), func(lane *Lane, i int) { lane.push(r, n, batch[i]) })
		if err != nil {
			return err
		}
		if err := r.absorbAll(); err != nil {
			return err
		}
	}
}

// gather takes about a round's rows for each lane from the feed.
func (r *run) gather(f Feed) ([]*vec.Block, error) {
	var batch []*vec.Block
	rows, want := 0, RoundRows*r.d.sched.width(r.d.workers)
	for rows < want {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		var b *vec.Block
		var err error
		r.tick.Turn.Wait(func() { b, err = f.Next(r.ctx) })
		if err != nil || b == nil {
			return batch, err
		}
		rows += b.Len
		for from := 0; from < b.Len; from += RoundRows {
			if b.Len <= RoundRows {
				batch = append(batch, b)
			} else {
				batch = append(batch, b.Slice(from, min(b.Len, from+RoundRows)))
			}
		}
		if !f.Stable && len(batch) > 0 {
			break // the next call would take this block's memory
		}
	}
	return batch, nil
}

// turn lets an operator emit, if the tick reached it.
func (r *run) turn(id NodeID, n *node) error {
	for _, a := range n.after {
		dep := r.d.nodes[a]
		if !dep.active {
			continue
		}
		for w, t := range dep.touched {
			if t {
				r.touch(id, n, w)
			}
		}
	}
	if !n.active {
		return nil
	}
	shares := make([]int, 0, r.d.workers)
	for w, t := range n.touched {
		if t {
			shares = append(shares, w)
		}
	}
	more := make([]bool, r.d.workers)
	for len(shares) > 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		err := r.each(len(shares), func(lane *Lane, i int) {
			out := Output{lane: lane, run: r, node: n, buf: lane.node(id).out}
			more[shares[i]] = n.op.Emit(lane, shares[i], &out)
			out.Flush()
		})
		if err != nil {
			return err
		}
		if err := r.absorbAll(); err != nil {
			return err
		}
		left := shares[:0]
		for _, w := range shares {
			if more[w] {
				left = append(left, w)
			}
		}
		shares = left
	}
	return nil
}

// touch makes share w of an operator part of the tick.
func (r *run) touch(id NodeID, n *node, w int) {
	if n.touched[w] {
		return
	}
	n.touched[w] = true
	if !n.active {
		n.active = true
		r.touched = append(r.touched, id)
	}
	n.op.Begin(w, &r.tick)
}

// delivery is what waits for one share of one operator. All of it is one piece of work (K1).
type delivery struct {
	n     *node
	share int
	items []arrival
}

// arrival is a block at one of the ports.
type arrival struct {
	port *port
	b    *vec.Block
}

// absorbAll hands what a round has staged to the operators' shares.
func (r *run) absorbAll() error {
	var work []delivery
	rows := 0
	for _, lane := range r.d.lanes {
		for _, p := range lane.filled {
			n := r.d.nodes[p.node]
			for w, b := range p.staged[lane.index] {
				if b == nil || b.Len == 0 {
					continue
				}
				rows += b.Len
				r.touch(p.node, n, w)
				work = deliver(work, n, w, arrival{port: p, b: b})
			}
		}
	}
	if len(work) == 0 {
		return nil
	}
	r.big = r.big || rows >= parallelRows
	err := r.each(len(work), func(lane *Lane, i int) {
		for _, a := range work[i].items {
			work[i].n.op.Absorb(lane, work[i].share, a.port.index, a.b)
		}
	})
	for _, lane := range r.d.lanes {
		for _, p := range lane.filled {
			for _, b := range p.staged[lane.index] {
				if b != nil {
					b.Reset()
				}
			}
		}
		lane.filled = lane.filled[:0]
	}
	return err
}

// absorbNow hands what one lane has staged to the operators' shares, in the middle of a round. One lane at a time
// does so, and nothing else is absorbed during a round (K1).
func (r *run) absorbNow(l *Lane) {
	r.now.Lock()
	defer r.now.Unlock()
	for _, p := range l.filled {
		n := r.d.nodes[p.node]
		for w, b := range p.staged[l.index] {
			if b == nil || b.Len == 0 {
				continue
			}
			r.big = r.big || b.Len >= parallelRows
			r.touch(p.node, n, w)
			n.op.Absorb(l, w, p.index, b)
			b.Reset()
		}
	}
	l.filled = l.filled[:0]
}

// deliver adds an arrival to the work list.
func deliver(work []delivery, n *node, share int, a arrival) []delivery {
	for i := range work {
		if work[i].n == n && work[i].share == share {
			work[i].items = append(work[i].items, a)
			return work
		}
	}
	return append(work, delivery{n: n, share: share, items: []arrival{a}})
}

// each calls f for 0 ≤ i < n, on several lanes if the tick is big.
func (r *run) each(n int, f func(lane *Lane, i int)) error {
	lanes := 1
	if r.big && n > 1 && !r.d.oneLane {
		lanes = min(n, r.d.sched.width(r.d.workers))
	}
	if lanes == 1 {
		for i := range n {
			f(r.d.lanes[0], i)
			if r.big {
				r.d.sched.yield()
			}
		}
		return nil
	}
	for len(r.d.lanes) < lanes {
		r.d.lanes = append(r.d.lanes, newLane(r.d, len(r.d.lanes)))
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var failed panicked
	for _, lane := range r.d.lanes[:lanes] {
		wg.Go(func() {
			defer failed.catch()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(lane, i)
				r.d.sched.yield()
			}
		})
	}
	wg.Wait()
	failed.again()
	return r.ctx.Err()
}

// Fault is a panic of a lane's goroutine, carried over to the one that ticks: its text is the panic's.
type Fault struct {
	Value any
	// Stack is where it happened.
	Stack []byte
}

func (f *Fault) Error() string { return fmt.Sprint(f.Value) }

// panicked carries a panic from a lane to the goroutine that waits for it.
type panicked struct {
	once  sync.Once
	value any
}

func (p *panicked) catch() {
	v := recover()
	if v == nil {
		return
	}
	p.once.Do(func() {
		switch v.(type) {
		case abort, stop:
			p.value = v
		default:
			p.value = &Fault{Value: v, Stack: debug.Stack()}
		}
	})
}

func (p *panicked) again() {
	if p.value != nil {
		panic(p.value)
	}
}

// finish gives the errors to the sink and ends the tick everywhere.
func (r *run) finish() error {
	r.giveErrors()
	var work []delivery
	for _, id := range r.touched {
		n := r.d.nodes[id]
		for w, t := range n.touched {
			if t {
				work = append(work, delivery{n: n, share: w})
				n.touched[w] = false
			}
		}
		n.active = false
	}
	err := r.each(len(work), func(lane *Lane, i int) { work[i].n.op.End(lane, work[i].share) })
	if r.big {
		r.release()
	}
	return err
}

// giveErrors gives the sink how the set of errors has changed.
func (r *run) giveErrors() {
	changes := r.d.errs.changes(r.d.lanes, r.tick)
	if changes == nil {
		return
	}
	if r.d.sink == nil {
		invariants.Failf("errors in a dataflow without a sink")
	}
	r.d.sink.AbsorbErrors(r.d.lanes[0], &r.tick, changes)
}

// release gives back the large buffers of a big tick.
func (r *run) release() {
	for _, n := range r.d.nodes {
		for _, p := range n.ports {
			clear(p.staged)
		}
	}
	for _, lane := range r.d.lanes {
		lane.scratch = nil
	}
}
