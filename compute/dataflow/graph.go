package dataflow

import (
	"time"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// NodeID is a node's place in the graph; a node reads only nodes before it.
type NodeID int

// Transform is one goroutine's instance of a stateless node.
type Transform interface {
	// Apply appends what the rows of in become to out, which is empty and of the node's kinds. Diffs and
	// times go along. What fails goes to lane.Fail.
	Apply(lane *Lane, in, out *vec.Block)
}

// Operator is a stateful node, all its shares. See promises K1 to K3.
type Operator interface {
	// Begin makes share w ready for a tick.
	Begin(w int, t *Tick)
	// Absorb takes in rows that belong to share w, at one of the node's ports.
	Absorb(lane *Lane, w, port int, b *vec.Block)
	// Emit puts about a round's rows (RoundRows) of share w's result into out, and says whether there is
	// more.
	Emit(lane *Lane, w int, out *Output) (more bool)
	// End makes share w's new state its state.
	End(lane *Lane, w int)
}

// ErrorSink is an operator that wants the dataflow's errors: the end of a graph.
type ErrorSink interface {
	Operator
	// AbsorbErrors takes in changes to the set of errors: one Bytes column (pgerr's encoding), with
	// diffs of 1 and -1 and, in a tick of several times, times. It is called after all Emits, before End; or
	// last of all, when the tick is stopped.
	AbsorbErrors(lane *Lane, t *Tick, b *vec.Block)
}

// Route says which share a row goes to.
type Route struct {
	kind routeKind
	keys []int
}

type routeKind uint8

const (
	byKeys routeKind = iota
	byRow
	toFirst
)

// ByKeys sends rows with equal values in the given columns to the same share.
func ByKeys(cols []int) Route { return Route{kind: byKeys, keys: cols} }

// ByRow sends equal rows to the same share.
func ByRow() Route { return Route{kind: byRow} }

// ToFirst sends every row to share 0.
func ToFirst() Route { return Route{kind: toFirst} }

// single says that all rows go to share 0.
func (r Route) single() bool { return r.kind == toFirst || r.kind == byKeys && len(r.keys) == 0 }

// Deal puts the positions of the rows that go to share w into sels[w], there being as many shares as sels. It
// gives hashes, which is scratch memory, for the next call.
func (r Route) Deal(b *vec.Block, hashes []uint64, sels [][]int32) []uint64 {
	for w := range sels {
		sels[w] = sels[w][:0]
	}
	if r.single() {
		for i := range b.Len {
			sels[0] = append(sels[0], int32(i))
		}
		return hashes
	}
	hashes = r.hash(b, hashes)
	for i, h := range hashes {
		w := vec.Worker(h, len(sels))
		sels[w] = append(sels[w], int32(i))
	}
	return hashes
}

func (r Route) hash(b *vec.Block, dst []uint64) []uint64 {
	if r.kind == byKeys {
		return b.Hash(r.keys, dst)
	}
	all := make([]int, len(b.Cols))
	for i := range all {
		all[i] = i
	}
	return b.Hash(all, dst)
}

// Port is one input of an operator.
type Port struct {
	From  NodeID
	Route Route
}

// Tick is the interval of time being worked on.
type Tick struct {
	Lower, Upper tvc.Frontier
	// At is the one time of all rows, unless Multi: then blocks have times.
	At    tvc.Time
	Multi bool
	// Fresh says that the dataflow had no state before: everything is new.
	Fresh bool
	// Began is when whoever drives the dataflow began with the tick; zero if nobody says.
	Began time.Time
	// Turn is that of a large tick, nil for others. Whoever waits for a store in the tick does it in Turn.Wait.
	Turn *Turn
}

// node is a source, a stateless node or an operator.
type node struct {
	kinds []types.Kind
	// after are the operators whose turn in a tick gives this one a turn too (those it reads directly).
	after []NodeID
	// outs are the nodes that read this one, as edges.
	outs      []edge
	transform func() Transform
	op        Operator
	ports     []*port
	source    bool
	// touched says, for each share of an operator, that the current tick reached it.
	touched []bool
	active  bool
}

// edge leads to a stateless node (port nil) or into an operator's port.
type edge struct {
	to   NodeID
	port *port
}

// port is an operator's input with what waits there: a block for each share, from each lane.
type port struct {
	node   NodeID
	index  int
	route  Route
	staged [][]*vec.Block // [lane][share]
	rows   int            // how many rows wait, counted when a round is over
}

// Dataflow is a graph with its state.
type Dataflow struct {
	workers int
	sched   *Scheduler
	nodes   []*node
	sink    ErrorSink
	lanes   []*Lane
	errs    errorSet
	ticked  bool
	oneLane bool
}

// New makes an empty graph whose state is in the given number of shares.
func New(workers int, sched *Scheduler) *Dataflow {
	if workers < 1 {
		invariants.Failf("dataflow of %d workers", workers)
	}
	d := &Dataflow{workers: workers, sched: sched, errs: errorSet{counts: map[string]int64{}}}
	d.lanes = []*Lane{newLane(d, 0)}
	return d
}

// Fail adds errors that come from outside to those of the current or coming tick: one Bytes column, with
// diffs and, in a tick of several times, times. A feed may call it from its Next.
func (d *Dataflow) Fail(errs *vec.Block) {
	for i := range errs.Len {
		t := uint64(0)
		if errs.Times != nil {
			t = errs.Times[i]
		}
		d.lanes[0].FailBytes(errs.Cols[0].Bytes(i), errs.Diff(i), t)
	}
}

// OneLane makes all ticks run on the goroutine that calls Tick, however many rows they have: for a dataflow that
// reads nothing.
func (d *Dataflow) OneLane() { d.oneLane = true }

// Source adds a node whose rows come from outside, with each tick.
func (d *Dataflow) Source(kinds []types.Kind) NodeID {
	return d.add(&node{kinds: kinds, source: true})
}

// Stateless adds a node that works row by row on what its inputs give; instance makes one goroutine's
// worth of it.
func (d *Dataflow) Stateless(kinds []types.Kind, inputs []NodeID, instance func() Transform) NodeID {
	id := d.add(&node{kinds: kinds, transform: instance})
	for _, in := range inputs {
		d.nodes[in].outs = append(d.nodes[in].outs, edge{to: id})
	}
	return id
}

// Operator adds a stateful node. kinds are those of the rows it emits. after are operators whose state
// it reads by itself: it has a turn whenever one of them has.
func (d *Dataflow) Operator(kinds []types.Kind, ports []Port, after []NodeID, op Operator) NodeID {
	n := &node{kinds: kinds, op: op, after: after, touched: make([]bool, d.workers)}
	id := d.add(n)
	for i, p := range ports {
		pt := &port{node: id, index: i, route: p.Route, staged: make([][]*vec.Block, d.sched.width(d.workers))}
		n.ports = append(n.ports, pt)
		from := d.nodes[p.From]
		from.outs = append(from.outs, edge{to: id, port: pt})
	}
	if s, ok := op.(ErrorSink); ok {
		d.sink = s
	}
	return id
}

func (d *Dataflow) add(n *node) NodeID {
	d.nodes = append(d.nodes, n)
	return NodeID(len(d.nodes) - 1)
}

// TakeReads gives how many rows operators have read from their state since the last call.
func (d *Dataflow) TakeReads() int64 {
	n := int64(0)
	for _, l := range d.lanes {
		n += l.Reads
		l.Reads = 0
	}
	return n
}

// Kinds gives the kinds of a node's columns.
func (d *Dataflow) Kinds(id NodeID) []types.Kind { return d.nodes[id].kinds }
