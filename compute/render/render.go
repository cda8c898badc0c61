// Package render turns a plan into a dataflow: nodes into operators, with the arrangements that joins
// need, each made once.
//
// Promises: what is rendered gives, tick by tick, exactly the changes of the plan's result; the same plan
// rendered with other numbers of shares gives the same.
package render

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/op"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Options say how to render.
type Options struct {
	// Workers is the number of shares of state. 0 means 1.
	Workers int
	Sched   *dataflow.Scheduler
	Env     scalar.Env
	// Sink makes the operator at the end, for rows of the given types, and says how they are dealt out.
	Sink func(cols []types.T) (dataflow.ErrorSink, dataflow.Route)
}

// Rendered is a dataflow with its doors.
type Rendered struct {
	Flow *dataflow.Dataflow
	// Sources are where rows come in: one for each collection read, one for each constant, in the order in
	// which a Tick wants its feeds.
	Sources []Source
}

// Source is one way in.
type Source struct {
	Node dataflow.NodeID
	// ID is the collection; the zero ID for a constant, whose rows are Rows and come in the first tick.
	ID   tvc.ID
	Rows *vec.Block
	// Cols are the collection's columns that rows come with; nil: all. Filter says which rows are wanted, of a block of
	// these columns.
	Cols   []int
	Filter shard.Filter

	// readers are the MFPs that rows go into, if they go into nothing else.
	readers []*scalar.Program
	kinds   [][]types.Kind // what each gives
}

// wants says whether some row of a block gets through a reader, or fails in it.
func (s *Source) wants(b *vec.Block) bool {
	rows := &vec.Block{Len: b.Len, Cols: b.Cols}
	for i, r := range s.readers {
		var errs scalar.Errors
		out := vec.NewBlock(s.kinds[i], 0)
		// A program belongs to one goroutine, and that of the reader is another.
		r.Clone().Apply(rows, out, &errs)
		if out.Len > 0 || errs.Len() > 0 {
			return true
		}
	}
	return false
}

type renderer struct {
	o     Options
	plan  *plan.Dataflow
	flow  *dataflow.Dataflow
	out   Rendered
	nodes []dataflow.NodeID
	// arranged has the arrangements made, by what they arrange and how.
	arranged map[string]*arranged
	// gets are the sources of collections; source finds the one with rows from a node.
	gets    map[tvc.ID]dataflow.NodeID
	sources []*Source
}

type arranged struct {
	op   *op.Arrange
	node dataflow.NodeID
}

// Render makes the dataflow.
func Render(p *plan.Dataflow, o Options) (*Rendered, error) {
	o.Workers = max(o.Workers, 1)
	r := &renderer{o: o, plan: p, flow: dataflow.New(o.Workers, o.Sched), arranged: map[string]*arranged{},
		gets: map[tvc.ID]dataflow.NodeID{}}
	for i := range p.Nodes {
		id, err := r.node(&p.Nodes[i])
		if err != nil {
			return nil, fmt.Errorf("render node %d of %s: %w", i, p.Name, err)
		}
		r.nodes = append(r.nodes, id)
	}
	last := &p.Nodes[p.Result()]
	sink, route := o.Sink(last.Cols)
	r.flow.Operator(nil, []dataflow.Port{{From: r.nodes[p.Result()], Route: route}}, nil, sink)
	if len(r.gets) == 0 {
		r.flow.OneLane()
	}
	r.out.Flow = r.flow
	for _, s := range r.sources {
		if s.Filter.Any != nil {
			s.Filter.Wants = s.wants
		}
		r.out.Sources = append(r.out.Sources, *s)
	}
	return &r.out, nil
}

func (r *renderer) node(n *plan.Node) (dataflow.NodeID, error) {
	var in dataflow.NodeID
	if len(n.Inputs) > 0 {
		in = r.nodes[n.Inputs[0]]
	}
	kinds := n.Kinds()
	switch o := n.Op.(type) {
	case *plan.Get:
		return r.get(o, kinds), nil
	case *plan.Constant:
		return r.constant(o, kinds), nil
	case *plan.MFP:
		return r.planned(o.MFP, &r.plan.Nodes[n.Inputs[0]], kinds, in)
	case *plan.TableFunc:
		return r.tableFunc(o, n, kinds, in)
	case *plan.Join:
		return r.join(o, n)
	case *plan.Reduce:
		return r.reduce(o, n, kinds, in), nil
	case *plan.TopK:
		t := op.NewTopK(r.o.Workers, kinds, o.Group, ordering(o.Order), o.Limit, o.Offset, r.plan.Name)
		return r.flow.Operator(kinds, []dataflow.Port{{From: in, Route: dataflow.ByKeys(o.Group)}}, nil, t), nil
	case *plan.Threshold:
		t := op.NewThreshold(r.o.Workers, kinds)
		return r.flow.Operator(kinds, []dataflow.Port{{From: in, Route: dataflow.ByRow()}}, nil, t), nil
	case *plan.Negate:
		return r.flow.Stateless(kinds, []dataflow.NodeID{in}, func() dataflow.Transform { return op.Negate{} }), nil
	case *plan.Union:
		ins := make([]dataflow.NodeID, len(n.Inputs))
		for i, x := range n.Inputs {
			ins[i] = r.nodes[x]
		}
		return r.flow.Stateless(kinds, ins, func() dataflow.Transform { return op.Pass{} }), nil
	case *plan.Guard:
		keys := make([]int, o.Keys)
		for i := range keys {
			keys[i] = i
		}
		g := op.NewGuard(r.o.Workers, kinds, keys, o.Err)
		r.flow.Operator(nil, []dataflow.Port{{From: in, Route: dataflow.ByKeys(keys)}}, nil, g)
		return in, nil
	}
	panic(fmt.Sprintf("render: unknown node %T", n.Op))
}

func (r *renderer) get(g *plan.Get, kinds []types.Kind) dataflow.NodeID {
	if id, ok := r.gets[g.ID]; ok {
		return id
	}
	reading := r.plan.Reading(g.ID)
	if reading.Cols != nil {
		all := kinds
		kinds = make([]types.Kind, len(reading.Cols))
		for i, c := range reading.Cols {
			kinds[i] = all[c]
		}
	}
	id := r.flow.Source(kinds)
	r.gets[g.ID] = id
	r.sources = append(r.sources, &Source{Node: id, ID: g.ID, Cols: reading.Cols, Filter: shard.Filter{Any: reading.Any}})
	return id
}

func (r *renderer) constant(c *plan.Constant, kinds []types.Kind) dataflow.NodeID {
	rows := c.Rows
	if c.Err != nil {
		rows = &vec.Block{Len: 1} // one row of no columns, which fails
		src := r.flow.Source(nil)
		r.sources = append(r.sources, &Source{Node: src, Rows: rows})
		return r.flow.Stateless(kinds, []dataflow.NodeID{src}, func() dataflow.Transform { return failing{c.Err} })
	}
	id := r.flow.Source(kinds)
	r.sources = append(r.sources, &Source{Node: id, Rows: rows})
	return id
}

// failing turns every row into an error.
type failing struct{ err error }

func (f failing) Apply(lane *dataflow.Lane, in, _ *vec.Block) {
	for i := range in.Len {
		t := uint64(0)
		if in.Times != nil {
			t = in.Times[i]
		}
		lane.Fail(f.err, in.Diff(i), t)
	}
}

// planned renders an MFP of the plan. One of a collection is over those of its columns that are looked at.
func (r *renderer) planned(m scalar.MFP, input *plan.Node, kinds []types.Kind, in dataflow.NodeID) (dataflow.NodeID, error) {
	if _, ok := input.Op.(*plan.Get); !ok {
		return r.mfp(m, input.Cols, kinds, in)
	}
	src := r.sources[slices.IndexFunc(r.sources, func(s *Source) bool { return s.Node == in })]
	cols := input.Cols
	if src.Cols != nil {
		m = plan.Narrowed(m, src.Cols)
		cols = make([]types.T, len(src.Cols))
		for i, c := range src.Cols {
			cols[i] = input.Cols[c]
		}
	}
	prog, err := scalar.Compile(m, cols, r.o.Env)
	if err != nil {
		return 0, err
	}
	src.readers, src.kinds = append(src.readers, prog), append(src.kinds, kinds)
	return r.stateless(prog, kinds, in), nil
}

func (r *renderer) mfp(m scalar.MFP, cols []types.T, kinds []types.Kind, in dataflow.NodeID) (dataflow.NodeID, error) {
	prog, err := scalar.Compile(m, cols, r.o.Env)
	if err != nil {
		return 0, err
	}
	return r.stateless(prog, kinds, in), nil
}

func (r *renderer) stateless(prog *scalar.Program, kinds []types.Kind, in dataflow.NodeID) dataflow.NodeID {
	return r.flow.Stateless(kinds, []dataflow.NodeID{in}, func() dataflow.Transform { return op.NewMFP(prog.Clone()) })
}

func (r *renderer) tableFunc(t *plan.TableFunc, n *plan.Node, kinds []types.Kind, in dataflow.NodeID) (dataflow.NodeID, error) {
	cols := r.plan.Nodes[n.Inputs[0]].Cols
	m := scalar.Identity(len(cols))
	buf := types.Rel{}
	for _, c := range cols {
		buf.Cols = append(buf.Cols, types.Column{Type: c})
	}
	for i, a := range t.Args {
		m.Map = append(m.Map, a)
		m.Project = append(m.Project, len(cols)+i)
		buf.Cols = append(buf.Cols, types.Column{Type: a.Type()})
	}
	prog, err := scalar.Compile(m, cols, r.o.Env)
	if err != nil {
		return 0, err
	}
	return r.flow.Stateless(kinds, []dataflow.NodeID{in}, func() dataflow.Transform {
		return op.NewTableFunc(t.Func, prog.Clone(), buf.Kinds(), len(cols), t.Ordinality, r.o.Env)
	}), nil
}

func (r *renderer) reduce(red *plan.Reduce, n *plan.Node, kinds []types.Kind, in dataflow.NodeID) dataflow.NodeID {
	aggs := make([]op.Agg, len(red.Aggs))
	for i, a := range red.Aggs {
		aggs[i] = op.Agg{Func: a.Func, Args: a.Args, Distinct: a.Distinct, Filter: a.Filter, Order: ordering(a.Order),
			Kind: kinds[red.Keys+i]}
	}
	o := op.NewReduce(r.o.Workers, r.plan.Nodes[n.Inputs[0]].Kinds(), red.Keys, aggs, r.o.Env, r.plan.Name)
	keys := make([]int, red.Keys)
	for i := range keys {
		keys[i] = i
	}
	return r.flow.Operator(kinds, []dataflow.Port{{From: in, Route: dataflow.ByKeys(keys)}}, nil, o)
}

func ordering(order []plan.Order) []op.Ordering {
	out := make([]op.Ordering, len(order))
	for i, o := range order {
		out[i] = op.Ordering{Col: o.Col, Desc: o.Desc, NullsFirst: o.NullsFirst}
	}
	return out
}

// arrange gives the arrangement of a node by some columns, made now if there is none.
func (r *renderer) arrange(in dataflow.NodeID, keys []int, nullEq []bool) *arranged {
	var skip []int
	for i, k := range keys {
		if len(nullEq) == 0 || !nullEq[i] {
			skip = append(skip, k)
		}
	}
	name := fmt.Sprint(in, keys, skip)
	if a := r.arranged[name]; a != nil {
		return a
	}
	o := op.NewArrange(r.o.Workers, op.NewLayout(r.flow.Kinds(in), keys, nil), skip)
	a := &arranged{op: o}
	a.node = r.flow.Operator(nil, []dataflow.Port{{From: in, Route: dataflow.ByKeys(keys)}}, nil, o)
	r.arranged[name] = a
	return a
}

// join renders a chain of binary joins. Between stages only the columns that are still wanted go on.
func (r *renderer) join(j *plan.Join, n *plan.Node) (dataflow.NodeID, error) {
	if j.Delta {
		invariants.Failf("a join by its inputs' changes is not rendered")
	}
	// have lists, for each column of the rows so far, its number among all inputs' columns side by side.
	acc := r.nodes[n.Inputs[0]]
	have := iota0(len(r.flow.Kinds(acc)), 0)
	base := len(have)
	for s, st := range j.Stages {
		right := r.nodes[n.Inputs[s+1]]
		width := len(r.flow.Kinds(right))
		all := append(slices.Clone(have), iota0(width, base)...)
		base += width
		next := all
		if s == len(j.Stages)-1 {
			next = distinct(j.Out)
		} else {
			next = slices.DeleteFunc(slices.Clone(all), func(c int) bool { return !wanted(j, s+1, c) })
		}
		left := make([]int, len(st.Left))
		for i, c := range st.Left {
			left[i] = slices.Index(have, c)
		}
		out := make([]int, len(next))
		for i, c := range next {
			out[i] = slices.Index(all, c)
		}
		la, ra := r.arrange(acc, left, st.NullEq), r.arrange(right, st.Right, st.NullEq)
		kinds := make([]types.Kind, len(out))
		both := append(slices.Clone(r.flow.Kinds(acc)), r.flow.Kinds(right)...)
		for i, c := range out {
			kinds[i] = both[c]
		}
		acc = r.flow.Operator(kinds, nil, []dataflow.NodeID{la.node, ra.node}, op.NewJoin(r.o.Workers, la.op, ra.op, out))
		have = next
	}
	if slices.Equal(have, j.Out) {
		return acc, nil
	}
	return r.project(acc, have, j.Out, n)
}

// wanted says whether column c is a key of a stage from s on, or in the result.
func wanted(j *plan.Join, s, c int) bool {
	for _, st := range j.Stages[s:] {
		if slices.Contains(st.Left, c) {
			return true
		}
	}
	return slices.Contains(j.Out, c)
}

// project puts the columns of a join's rows in the order of its result, which may name one twice.
func (r *renderer) project(in dataflow.NodeID, have, want []int, n *plan.Node) (dataflow.NodeID, error) {
	m := scalar.MFP{Arity: len(have)}
	cols := make([]types.T, len(have))
	for i, c := range want {
		at := slices.Index(have, c)
		m.Project = append(m.Project, at)
		cols[at] = n.Cols[i]
	}
	return r.mfp(m, cols, n.Kinds(), in)
}

func iota0(n, from int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = from + i
	}
	return out
}

func distinct(cols []int) []int {
	var out []int
	for _, c := range cols {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
