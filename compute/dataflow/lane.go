package dataflow

import (
	"runtime"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Lane is one goroutine's place in a dataflow: its instances of the stateless nodes, its buffers, its
// errors and its counts.
type Lane struct {
	d     *Dataflow
	index int
	// Reads counts the rows that operators read from their state.
	Reads int64
	// errs are the errors of the tick so far.
	errs    *vec.Block
	scratch []*laneNode
	filled  []*port // ports this lane has staged rows at, since the last absorb
	hashes  []uint64
	sels    [][]int32
	at      frame
}

// laneNode is a lane's part of a node.
type laneNode struct {
	transform Transform
	out       *vec.Block
}

func newLane(d *Dataflow, index int) *Lane {
	return &Lane{d: d, index: index, errs: vec.NewBlock([]types.Kind{types.Bytes}, 0), sels: make([][]int32, d.workers)}
}

// Fail notes an error with its multiplicity; t is its time in a tick of several times.
func (l *Lane) Fail(err error, diff int64, t uint64) {
	l.FailBytes(pgerr.From(err).Encode(nil), diff, t)
}

// Abort ends the tick with an error that is no part of the result: the store failed, say. It does not
// return.
func (l *Lane) Abort(err error) { panic(abort{err}) }

// Stop ends the tick without an error: what is still to come is not wanted. The errors noted so far are given to
// the sink. It does not return.
func (l *Lane) Stop() { panic(stop{}) }

// FailBytes is Fail with the error encoded already.
func (l *Lane) FailBytes(err []byte, diff int64, t uint64) {
	l.errs.Times = append(l.errs.Times, t)
	l.errs.Cols[0].AppendBytes(err)
	if l.errs.Diffs == nil {
		l.errs.Diffs = make([]int64, 0, 8)
	}
	l.errs.Diffs = append(l.errs.Diffs, diff)
	l.errs.Len++
}

func (l *Lane) node(id NodeID) *laneNode {
	if l.scratch == nil {
		l.scratch = make([]*laneNode, len(l.d.nodes))
	}
	ln := l.scratch[id]
	if ln == nil {
		n := l.d.nodes[id]
		ln = &laneNode{out: vec.NewBlock(n.kinds, 0)}
		if n.transform != nil {
			ln.transform = n.transform()
		}
		l.scratch[id] = ln
	}
	return ln
}

// push sends a block of n's rows on: through stateless nodes, into ports.
func (l *Lane) push(r *run, n *node, b *vec.Block) {
	for _, e := range n.outs {
		if e.port != nil {
			l.stage(e.port, b)
			continue
		}
		ln := l.node(e.to)
		ln.out.Reset()
		caller := l.at
		l.at = frame{run: r, node: l.d.nodes[e.to]}
		ln.transform.Apply(l, b, ln.out)
		l.at = caller
		if ln.out.Len > 0 {
			l.push(r, l.d.nodes[e.to], ln.out)
		}
	}
}

// frame is the stateless node being applied.
type frame struct {
	run  *run
	node *node
}

// Flush sends on what the Transform being applied has put into its out, and empties it: for one that makes
// many rows of one. They are absorbed at once, as all of them together may be more than there is room for.
// The error is the tick's context's.
func (l *Lane) Flush(out *vec.Block) error {
	at := l.at
	l.push(at.run, at.node, out)
	l.at = at
	out.Reset()
	at.run.absorbNow(l)
	return at.run.ctx.Err()
}

// stage deals a block out to the shares of an operator.
func (l *Lane) stage(p *port, b *vec.Block) {
	if b.Len == 0 {
		return
	}
	if p.staged[l.index] == nil {
		p.staged[l.index] = make([]*vec.Block, l.d.workers)
	}
	l.noteFilled(p)
	into := p.staged[l.index]
	if l.d.workers == 1 || p.route.single() {
		l.block(into, 0, b).AppendBlock(b)
		return
	}
	if b.Len == 1 {
		l.hashes = p.route.hash(b, l.hashes)
		w := vec.Worker(l.hashes[0], l.d.workers)
		l.block(into, w, b).AppendBlock(b)
		return
	}
	l.hashes = p.route.Deal(b, l.hashes, l.sels)
	for w, sel := range l.sels {
		if len(sel) > 0 {
			l.block(into, w, b).AppendSel(b, sel)
		}
	}
}

func (l *Lane) block(into []*vec.Block, w int, like *vec.Block) *vec.Block {
	if into[w] == nil {
		into[w] = vec.NewBlock(like.Kinds(), 0)
	}
	return into[w]
}

func (l *Lane) noteFilled(p *port) {
	for _, q := range l.filled {
		if q == p {
			return
		}
	}
	l.filled = append(l.filled, p)
}

// Output is where an operator's Emit puts its rows.
type Output struct {
	lane *Lane
	run  *run
	node *node
	buf  *vec.Block
	sent int
}

// Block is the block to append rows to; call Flush when it has some RoundRows.
func (o *Output) Block() *vec.Block {
	return o.buf
}

// Push sends a block of the operator's own; it is borrowed for the call.
func (o *Output) Push(b *vec.Block) {
	if b.Len > 0 {
		o.sent += b.Len
		o.lane.push(o.run, o.node, b)
	}
}

// Flush sends what is in Block and empties it.
func (o *Output) Flush() {
	if o.buf.Len > 0 {
		o.Push(o.buf)
		o.buf.Reset()
	}
}

// Full says that this call of Emit has given about a round's rows.
func (o *Output) Full() bool {
	return o.sent+o.buf.Len >= RoundRows
}

// Scheduler shares the machine between dataflows: it says how many goroutines a big tick may use and
// lets waiting small work in between.
type Scheduler struct {
	procs int
	large chan struct{} // a slot for each large tick under way
}

// NewScheduler makes a scheduler for as many processors as Go uses.
func NewScheduler() *Scheduler {
	n := runtime.GOMAXPROCS(0)
	return &Scheduler{procs: n, large: make(chan struct{}, n)}
}

// width is how many lanes a dataflow with the given number of shares may use.
func (s *Scheduler) width(workers int) int { return max(1, min(s.procs, workers)) }

// yield lets goroutines that wait to run go first. Called by big ticks between pieces of work.
func (s *Scheduler) yield() { runtime.Gosched() }

// errorSet is the distinct errors of the result, with their multiplicities.
type errorSet struct {
	counts map[string]int64
}

// changes adds up the lanes' errors of the tick and gives how the set of errors changed, time by time;
// nil if it did not.
func (s *errorSet) changes(lanes []*Lane, t Tick) *vec.Block {
	var all *vec.Block
	for _, l := range lanes {
		if l.errs.Len == 0 {
			continue
		}
		if all == nil {
			all = vec.NewBlock([]types.Kind{types.Bytes}, l.errs.Len)
		}
		all.AppendBlock(l.errs)
		l.errs.Reset()
	}
	if all == nil {
		return nil
	}
	if !t.Multi {
		clear(all.Times)
	}
	all = all.Consolidated()
	perm := timeOrder(all)
	out := vec.NewBlock([]types.Kind{types.Bytes}, all.Len)
	for _, i := range perm {
		key := string(all.Cols[0].Bytes(int(i)))
		old := s.counts[key]
		now := old + all.Diff(int(i))
		if now == 0 {
			delete(s.counts, key)
		} else {
			s.counts[key] = now
		}
		if diff := positive(now) - positive(old); diff != 0 {
			out.AppendFrom(all, int(i), diff)
		}
	}
	if !t.Multi {
		out.Times = nil
	}
	if out.Len == 0 {
		return nil
	}
	return out
}

func positive(n int64) int64 {
	if n > 0 {
		return 1
	}
	return 0
}

// timeOrder gives the rows' positions by time; rows of one time stay in order.
func timeOrder(b *vec.Block) []int32 {
	perm := make([]int32, b.Len)
	for i := range perm {
		perm[i] = int32(i)
	}
	sortByTime(perm, b.Times)
	return perm
}
