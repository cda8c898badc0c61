package lower

import (
	"fmt"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Dataflow lowers a tree that package rewrite has made. env answers what LIMIT and OFFSET may ask.
func Dataflow(name string, n logical.Node, env scalar.Env) (*plan.Dataflow, error) {
	b := &builder{
		env: env, seen: map[string]plan.NodeID{}, lets: map[int]plan.NodeID{},
		sizes: map[int]size{}, guessed: map[logical.Node]size{},
	}
	result := b.node(n)
	if b.err != nil {
		return nil, b.err
	}
	return &plan.Dataflow{Name: name, Nodes: b.reachable(result)}, nil
}

// builder makes nodes; seen finds one that does the same already.
type builder struct {
	env   scalar.Env
	nodes []plan.Node
	seen  map[string]plan.NodeID
	lets  map[int]plan.NodeID
	// sizes are guesses at how many rows each Let has, guessed those of other nodes.
	sizes   map[int]size
	guessed map[logical.Node]size
	err     error
}

// fail notes the first error; the plan built meanwhile is thrown away.
func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// add gives a node that does op on the inputs.
func (b *builder) add(op plan.Op, cols []types.T, inputs ...plan.NodeID) plan.NodeID {
	key := nodeKey(op, cols, inputs)
	if id, ok := b.seen[key]; ok {
		return id
	}
	id := plan.NodeID(len(b.nodes))
	b.nodes = append(b.nodes, plan.Node{Op: op, Inputs: inputs, Cols: cols})
	b.seen[key] = id
	return id
}

// reachable is the nodes that the result needs, it itself last.
func (b *builder) reachable(result plan.NodeID) []plan.Node {
	need := make([]bool, result+1)
	need[result] = true
	at := make([]plan.NodeID, result+1)
	for id := result; id >= 0; id-- {
		if need[id] {
			for _, in := range b.nodes[id].Inputs {
				need[in] = true
			}
		}
	}
	var out []plan.Node
	for id, n := range b.nodes[:result+1] {
		if !need[id] {
			continue
		}
		inputs := make([]plan.NodeID, len(n.Inputs))
		for i, in := range n.Inputs {
			inputs[i] = at[in]
		}
		at[id] = plan.NodeID(len(out))
		out = append(out, plan.Node{Op: n.Op, Inputs: inputs, Cols: n.Cols})
	}
	return out
}

// node lowers n.
func (b *builder) node(n logical.Node) plan.NodeID {
	base, m := fused(n)
	if j, ok := base.(*logical.Join); ok {
		return b.join(j, m)
	}
	return b.mfp(b.operator(base), m, logical.Types(base))
}

// mfp puts m, over columns of the given types, on a node.
func (b *builder) mfp(in plan.NodeID, m scalar.MFP, cols []types.T) plan.NodeID {
	if m.IsIdentity() {
		return in
	}
	return b.add(&plan.MFP{MFP: m}, outTypes(m, cols), in)
}

// outTypes gives the types of an MFP's columns.
func outTypes(m scalar.MFP, in []types.T) []types.T {
	out := make([]types.T, len(m.Project))
	for i, c := range m.Project {
		if c < m.Arity {
			out[i] = in[c]
		} else {
			out[i] = m.Map[c-m.Arity].Type()
		}
	}
	return out
}

// operator lowers a node that is neither map, filter, projection nor join.
func (b *builder) operator(n logical.Node) plan.NodeID {
	cols := logical.Types(n)
	switch n := n.(type) {
	case *logical.Constant:
		return b.add(&plan.Constant{Rows: n.Rows}, cols)
	case *logical.Get:
		return b.add(&plan.Get{ID: n.ID, Name: n.Name}, cols)
	case *logical.LetRef:
		return b.lets[n.ID]
	case *logical.Let:
		b.lets[n.ID], b.sizes[n.ID] = b.node(n.Value()), b.size(n.Value())
		return b.node(n.Body())
	case *logical.TableFunc:
		return b.add(&plan.TableFunc{Func: n.Func, Args: n.Args, Ordinality: n.Ordinality}, cols, b.node(n.Input()))
	case *logical.Reduce:
		return b.reduce(n)
	case *logical.TopK:
		op := &plan.TopK{Group: n.Group, Order: n.Order, Limit: -1}
		op.Limit, op.Offset = b.limits(n.Limit, n.Offset)
		return b.add(op, cols, b.node(n.Input()))
	case *logical.Union:
		inputs := make([]plan.NodeID, len(n.Ins))
		for i, in := range n.Ins {
			inputs[i] = b.node(in)
		}
		return b.add(&plan.Union{}, cols, inputs...)
	case *logical.Negate:
		return b.add(&plan.Negate{}, cols, b.node(n.Input()))
	case *logical.Threshold:
		return b.add(&plan.Threshold{}, cols, b.node(n.Input()))
	case *logical.Guard:
		return b.guard(n)
	}
	panic(fmt.Sprintf("lower: unexpected node %T", n))
}

// fused is a node as maps, filters and projections over one that is something else.
func fused(n logical.Node) (logical.Node, scalar.MFP) {
	switch n := n.(type) {
	case *logical.Filter:
		base, m := fused(n.Input())
		for _, p := range n.Preds {
			m.Filter = append(m.Filter, scalar.MapColumns(p, func(c int) int { return m.Project[c] }))
		}
		return base, m
	case *logical.Map:
		base, m := fused(n.Input())
		project := m.Project
		for _, e := range n.Exprs {
			project = append(project, mapped(&m, scalar.MapColumns(e, func(c int) int { return m.Project[c] })))
		}
		m.Project = project
		return base, m
	case *logical.Project:
		base, m := fused(n.Input())
		project := make([]int, len(n.Cols))
		for i, c := range n.Cols {
			project[i] = m.Project[c]
		}
		m.Project = project
		return base, m
	}
	return n, scalar.Identity(logical.Arity(n))
}

// mapped gives the column that has e, which is over m's columns before projection.
func mapped(m *scalar.MFP, e scalar.Expr) int {
	if c, ok := e.(*scalar.Col); ok {
		return c.Index
	}
	for i, other := range m.Map {
		if scalar.Equal(e, other) {
			return m.Arity + i
		}
	}
	m.Map = append(m.Map, e)
	return m.Arity + len(m.Map) - 1
}

// reduce puts the group's key first and what the aggregates read behind it.
func (b *builder) reduce(n *logical.Reduce) plan.NodeID {
	cols := append([]int{}, n.Keys...)
	place := func(c int) int {
		for i, have := range cols {
			if have == c {
				return i
			}
		}
		cols = append(cols, c)
		return len(cols) - 1
	}
	op := &plan.Reduce{Keys: len(n.Keys)}
	for _, a := range n.Aggs {
		a = a.Moved(place)
		op.Aggs = append(op.Aggs, plan.Agg{Func: a.Func, Args: a.Args, Distinct: a.Distinct, Filter: a.Filter, Order: a.Order})
	}
	groups := b.add(op, logical.Types(n), b.node(logical.NewProject(n.Input(), cols)))
	if !n.Global {
		return groups
	}
	return b.withDefault(n, groups)
}

// withDefault adds the row over nothing, and takes it away again when there is a group.
func (b *builder) withDefault(n *logical.Reduce, groups plan.NodeID) plan.NodeID {
	k := len(n.Aggs)
	cols := logical.Types(n)
	rows := vec.NewBlock(n.Rel().Kinds(), 1)
	row := make([]vec.Datum, k)
	m := scalar.MFP{Arity: k, Project: logical.Range(k, 2*k)}
	for i, a := range n.Aggs {
		row[i] = logical.Empty(a.Func)
		m.Map = append(m.Map, &scalar.Const{Value: row[i], T: a.T})
	}
	rows.AppendRow(1, row...)
	nothing := b.add(&plan.Constant{Rows: rows}, cols)
	instead := b.add(&plan.Negate{}, cols, b.add(&plan.MFP{MFP: m}, cols, groups))
	return b.add(&plan.Union{}, cols, groups, nothing, instead)
}

// guard puts the key first, and the columns back where they were.
func (b *builder) guard(n *logical.Guard) plan.NodeID {
	k := len(n.Keys)
	var cols []int
	at := make([]int, logical.Arity(n))
	for _, c := range n.Keys {
		at[c] = len(cols)
		cols = append(cols, c)
	}
	keys := logical.SetOf(n.Keys...)
	for c := range at {
		if !keys.Has(c) {
			at[c] = len(cols)
			cols = append(cols, c)
		}
	}
	in := logical.NewProject(n.Input(), cols)
	guarded := b.add(&plan.Guard{Keys: k, Err: n.Err}, logical.Types(in), b.node(in))
	return b.mfp(guarded, scalar.MFP{Arity: len(at), Project: at}, logical.Types(in))
}

// limits computes LIMIT (-1: none) and OFFSET.
func (b *builder) limits(limit, offset scalar.Expr) (int64, int64) {
	l, o, err := Limits(limit, offset, b.env)
	if err != nil {
		b.fail(err)
	}
	return l, o
}

// Limits computes a query's LIMIT (-1: none) and OFFSET; nil and NULL are none.
func Limits(limit, offset scalar.Expr, env scalar.Env) (int64, int64, error) {
	o, err := count(offset, 0, env)
	if err != nil {
		return 0, 0, err
	}
	if o < 0 {
		return 0, 0, pgerr.New(pgerr.InvalidRowCountInOffset, "OFFSET must not be negative")
	}
	l, err := count(limit, -1, env)
	if err != nil {
		return 0, 0, err
	}
	if l < 0 && limit != nil {
		if d, _ := scalar.Eval(limit, nil, env); !d.IsNull() {
			return 0, 0, pgerr.New(pgerr.InvalidRowCountInLimit, "LIMIT must not be negative")
		}
	}
	return l, o, nil
}

func count(e scalar.Expr, none int64, env scalar.Env) (int64, error) {
	if e == nil {
		return none, nil
	}
	d, err := scalar.Eval(e, nil, env)
	if err != nil {
		return 0, err
	}
	if d.IsNull() {
		return none, nil
	}
	return d.Int(), nil
}
