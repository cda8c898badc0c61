package lower

import (
	"slices"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// chain is a join being built. A column of the logical join is told by its position there, which is called
// global here, since inputs come in another order and with more columns in the plan.
type chain struct {
	b      *builder
	parts  []*part
	where  map[int]place // of a global column
	stages []stage
	// classes are of expressions, over global columns, that are equal to each other in all rows so far.
	classes [][]scalar.Expr
}

// place is a column of one of a chain's parts.
type place struct{ part, col int }

// part is an input of a chain: an MFP on a node, to which key columns are added as they are needed.
type part struct {
	node plan.NodeID
	cols []types.T // of node
	mfp  scalar.MFP
}

// stage is a JoinStage whose left columns are still told by part.
type stage struct {
	left   []place
	right  []int
	nullEq []bool
}

// join lowers a join, with m on it.
func (b *builder) join(j *logical.Join, m scalar.MFP) plan.NodeID {
	arity := logical.Arity(j)
	preds := slices.Clip(j.Preds)
	var above []scalar.Expr
	for _, p := range m.Filter {
		if logical.UsedBy(p).Within(0, arity) {
			preds = append(preds, p)
		} else {
			above = append(above, p)
		}
	}
	o := newOrderer(j.Ins, preds, b.size)
	c := &chain{b: b, where: map[int]place{}}
	used := make([]bool, len(preds))
	var done logical.Set
	for step, i := range o.best() {
		if step > 0 {
			c.breakFor(o, i, done, used)
		}
		c.addPart(o, i)
		if step > 0 {
			c.link(o, i, done, used)
		}
		done.AddAll(logical.SetOf(logical.Range(o.starts[i], o.starts[i+1])...))
	}
	for i, p := range preds {
		if !used[i] {
			above = append(above, p)
		}
	}
	m.Filter = above
	return c.finish(m)
}

// addPart appends an input.
func (c *chain) addPart(o *orderer, i int) {
	base, m := fused(o.ins[i])
	p := &part{cols: logical.Types(base), mfp: m}
	if j, ok := base.(*logical.Join); ok {
		p = &part{node: c.b.join(j, m), cols: logical.Types(o.ins[i]), mfp: scalar.Identity(logical.Arity(o.ins[i]))}
	} else {
		p.node = c.b.operator(base)
	}
	c.parts = append(c.parts, p)
	for k := range logical.Arity(o.ins[i]) {
		c.where[o.starts[i]+k] = place{len(c.parts) - 1, k}
	}
}

// breakFor ends the chain and begins a new one on its result, if input i can be joined only by an expression
// over several inputs: done has the columns there are.
func (c *chain) breakFor(o *orderer, i int, done logical.Set, used []bool) {
	spanning := false
	for _, k := range o.of[i] {
		outer, _, ok := o.sides(k, i, done)
		if used[k] || !ok {
			continue
		}
		if c.partOf(outer) >= 0 {
			return
		}
		spanning = true
	}
	if !spanning {
		return
	}
	cols := done.Cols()
	node, ts := c.emit(cols)
	c.parts = []*part{{node: node, cols: ts, mfp: scalar.Identity(len(ts))}}
	c.stages = nil
	for k, g := range cols {
		c.where[g] = place{0, k}
	}
}

// partOf gives the one part that has all of e's columns; -1 if there is none.
func (c *chain) partOf(e scalar.Expr) int {
	at := -1
	for _, g := range scalar.Columns(e) {
		p := c.where[g].part
		if at >= 0 && p != at {
			return -1
		}
		at = p
	}
	return at
}

// link makes the keys by which the last part, input i, joins those before it.
func (c *chain) link(o *orderer, i int, done logical.Set, used []bool) {
	last := len(c.parts) - 1
	var s stage
	for _, k := range o.of[i] {
		outer, inner, ok := o.sides(k, i, done)
		if used[k] || !ok {
			continue
		}
		at := c.partOf(outer)
		if at < 0 {
			continue
		}
		used[k] = true
		nullEq := logical.IsNullEq(o.preds[k])
		if !nullEq && !c.learn(outer, inner) {
			continue
		}
		s.left = append(s.left, place{at, c.column(at, outer)})
		s.right = append(s.right, c.column(last, inner))
		s.nullEq = append(s.nullEq, nullEq)
	}
	c.stages = append(c.stages, s)
}

// learn takes note that outer = inner. It is false if that follows from what was known.
func (c *chain) learn(outer, inner scalar.Expr) bool {
	a, b := c.class(outer), c.class(inner)
	switch {
	case a == b:
		return false
	case a > b:
		a, b = b, a
	}
	c.classes[a] = append(c.classes[a], c.classes[b]...)
	c.classes = slices.Delete(c.classes, b, b+1)
	return true
}

// class gives the class that an expression is in; one of its own is made if there is none.
func (c *chain) class(e scalar.Expr) int {
	at := slices.IndexFunc(c.classes, func(class []scalar.Expr) bool {
		return slices.ContainsFunc(class, func(f scalar.Expr) bool { return scalar.Equal(e, f) })
	})
	if at < 0 {
		c.classes, at = append(c.classes, []scalar.Expr{e}), len(c.classes)
	}
	return at
}

// column gives the column of a part that has e, which is over global columns; it is added if need be.
func (c *chain) column(at int, e scalar.Expr) int {
	p := c.parts[at]
	col := mapped(&p.mfp, scalar.MapColumns(e, func(g int) int { return p.mfp.Project[c.where[g].col] }))
	if i := slices.Index(p.mfp.Project, col); i >= 0 {
		return i
	}
	p.mfp.Project = append(slices.Clip(p.mfp.Project), col)
	return len(p.mfp.Project) - 1
}

// emit makes the join, which gives the global columns cols.
func (c *chain) emit(cols []int) (plan.NodeID, []types.T) {
	var inputs []plan.NodeID
	var all []types.T
	starts := make([]int, len(c.parts))
	for i, p := range c.parts {
		starts[i] = len(all)
		inputs = append(inputs, c.b.mfp(p.node, p.mfp, p.cols))
		all = append(all, outTypes(p.mfp, p.cols)...)
	}
	at := func(p place) int { return starts[p.part] + p.col }
	out, ts := make([]int, len(cols)), make([]types.T, len(cols))
	for i, g := range cols {
		out[i] = at(c.where[g])
		ts[i] = all[out[i]]
	}
	if len(inputs) == 1 {
		return c.b.mfp(inputs[0], scalar.MFP{Arity: len(all), Project: out}, all), ts
	}
	op := &plan.Join{Out: out}
	for _, s := range c.stages {
		js := plan.JoinStage{Right: s.right, NullEq: s.nullEq}
		for _, p := range s.left {
			js.Left = append(js.Left, at(p))
		}
		op.Stages = append(op.Stages, js)
	}
	return c.b.add(op, ts, inputs...), ts
}

// finish makes the join with m, which is over all global columns, on it; it gives m only what that reads.
func (c *chain) finish(m scalar.MFP) plan.NodeID {
	need := logical.UsedBy(append(slices.Clip(m.Map), m.Filter...)...)
	need.AddAll(logical.SetOf(m.Project...))
	var cols []int
	at := make([]int, m.Arity+len(m.Map))
	for _, g := range need.Cols() {
		if g < m.Arity {
			at[g] = len(cols)
			cols = append(cols, g)
		}
	}
	for i := range m.Map {
		at[m.Arity+i] = len(cols) + i
	}
	moved := scalar.MFP{
		Arity: len(cols), Map: logical.PermuteAll(m.Map, at), Filter: logical.PermuteAll(m.Filter, at),
		Project: make([]int, len(m.Project)),
	}
	for i, g := range m.Project {
		moved.Project[i] = at[g]
	}
	if simple := len(m.Map) == 0 && len(m.Filter) == 0; simple {
		node, _ := c.emit(m.Project)
		return node
	}
	node, ts := c.emit(cols)
	return c.b.mfp(node, moved, ts)
}
