package rewrite

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// pulled is the right side of an Apply as its rows for any left row at all: those rows of base for which
// preds are true, of which outs are computed. base has no Outer columns; preds and outs have base's columns
// as Cols and the left side's as Outers of level 1.
//
// Nothing that can fail may get into base, where it would be computed for rows that match no left row.
type pulled struct {
	base  logical.Node
	preds []scalar.Expr
	outs  []scalar.Expr
	// missed: a left row for which there is no row of base has one all the same, made of outs over NULLs.
	// That is what aggregates without GROUP BY need.
	missed bool
}

// pulled joins left with right by the correlated conditions themselves; nil if that cannot be done.
func (d *decorrelator) pulled(kind logical.ApplyKind, left, right logical.Node) logical.Node {
	if len(logical.OuterUsed(right, 1).Cols()) == 0 {
		return nil
	}
	if kind == logical.ApplyInner && linear(right) {
		return d.apply(right, left)
	}
	p := d.pull(right)
	if p == nil {
		return nil
	}
	m := logical.Arity(left)
	on := allAsCols(p.preds, m)
	switch kind {
	case logical.ApplyInner:
		if !p.missed {
			return withOuts(logical.NewJoin([]logical.Node{left, p.base}, on...), p.outs, m)
		}
		return withOuts(logical.NewOuterJoin(false, left, p.base, on...), p.outs, m)
	case logical.ApplyLeft:
		return d.pulledLeft(p, left, on)
	case logical.ApplyScalar:
		if !p.missed && !oneMatch(p) {
			return nil
		}
		return d.pulledLeft(p, left, on)
	case logical.ApplyExists:
		return pulledExists(p, left)
	case logical.ApplySemi:
		if p.missed {
			return left
		}
		return logical.NewSemiJoin(false, left, p.base, on...)
	}
	if p.missed {
		return logical.NewEmpty(left.Rel().Cols)
	}
	return logical.NewSemiJoin(true, left, p.base, on...)
}

// withOuts is the first m columns of join, then outs, where Outers are these columns and Cols the others.
func withOuts(join logical.Node, outs []scalar.Expr, m int) logical.Node {
	return logical.Compute(join, append(logical.AllCols(join, m), allAsCols(outs, m)...)...)
}

// pulledLeft is the left outer join. What is computed from a row of base must be NULL where there is none,
// though the expression itself might not be.
func (d *decorrelator) pulledLeft(p *pulled, left logical.Node, on []scalar.Expr) logical.Node {
	m := logical.Arity(left)
	base, outs := p.base, p.outs
	if !p.missed && slices.ContainsFunc(outs, func(e scalar.Expr) bool { _, isCol := e.(*scalar.Col); return !isCol }) {
		met := logical.Arity(base)
		base = logical.NewMap(base, scalar.True)
		outs = slices.Clone(outs)
		for i, e := range outs {
			if _, isCol := e.(*scalar.Col); isCol {
				continue
			}
			none := &scalar.IsNull{Arg: &scalar.Col{Index: met, T: types.TBool}}
			outs[i] = &scalar.Case{
				Whens: []scalar.When{{Cond: none, Then: logical.Null(e.Type())}}, Else: e, T: e.Type(),
			}
		}
	}
	return withOuts(logical.NewOuterJoin(false, left, base, on...), outs, m)
}

// pulledExists asks for each left row's values among the distinct values of base, if the conditions are all
// equations between the two.
func pulledExists(p *pulled, left logical.Node) logical.Node {
	if p.missed {
		return logical.NewMap(left, scalar.True)
	}
	eqs, rest := equations(p.preds)
	if len(rest) > 0 || slices.ContainsFunc(eqs, func(e equation) bool { return scalar.CanFail(e.inner) }) {
		return nil
	}
	m := logical.Arity(left)
	inner := make([]scalar.Expr, len(eqs))
	on := make([]scalar.Expr, len(eqs))
	for i, e := range eqs {
		inner[i] = e.inner
		on[i] = asCols(e.with(i), m)
	}
	return existsFlag(left, logical.NewDistinct(logical.Compute(p.base, inner...)), on)
}

// oneMatch says whether no left row meets more than one row of base.
func oneMatch(p *pulled) bool {
	eqs, _ := equations(p.preds)
	var fixed []int
	for _, e := range eqs {
		if c, ok := e.inner.(*scalar.Col); ok {
			fixed = append(fixed, c.Index)
		}
	}
	return logical.HasKey(p.base.Rel(), fixed)
}

// equation is a predicate inner = outer, inner over base alone and outer over the left side alone.
type equation struct {
	pred         scalar.Expr
	inner, outer scalar.Expr
	innerFirst   bool
}

// with is the equation with column i in inner's place.
func (e equation) with(i int) scalar.Expr {
	col := &scalar.Col{Index: i, T: e.inner.Type()}
	if e.innerFirst {
		return logical.WithSides(e.pred, col, e.outer)
	}
	return logical.WithSides(e.pred, e.outer, col)
}

func hasCol(e scalar.Expr) bool {
	return scalar.Any(e, func(e scalar.Expr) bool { _, ok := e.(*scalar.Col); return ok })
}

// equations tells the equations between the sides from the other predicates.
func equations(preds []scalar.Expr) (eqs []equation, rest []scalar.Expr) {
	for _, p := range preds {
		a, b, ok := logical.Equation(p)
		switch {
		case ok && hasCol(a) && !scalar.HasOuter(a) && scalar.HasOuter(b) && !hasCol(b):
			eqs = append(eqs, equation{p, a, b, true})
		case ok && hasCol(b) && !scalar.HasOuter(b) && scalar.HasOuter(a) && !hasCol(a):
			eqs = append(eqs, equation{p, b, a, false})
		default:
			rest = append(rest, p)
		}
	}
	return eqs, rest
}

// linear says whether n can be computed for many equal left rows at once: each row it gives comes from one
// left row, and it uses the left side once.
func linear(n logical.Node) bool {
	if !logical.Correlated(n) {
		return true
	}
	switch n := n.(type) {
	case *logical.Filter, *logical.Map, *logical.Project, *logical.TableFunc:
		return linear(n.Inputs()[0])
	case *logical.Join:
		correlated := 0
		for _, in := range n.Ins {
			if !linear(in) {
				return false
			}
			if logical.Correlated(in) {
				correlated++
			}
		}
		return correlated <= 1
	}
	return false
}

// pull takes n apart; nil if it is not of a form that allows it.
func (d *decorrelator) pull(n logical.Node) *pulled {
	if !logical.Correlated(n) {
		return &pulled{base: d.top(n), outs: logical.AllCols(n, logical.Arity(n))}
	}
	switch n := n.(type) {
	case *logical.Filter:
		p := d.pull(n.Input())
		if p == nil || p.missed {
			return nil
		}
		p.preds = append(p.preds, replaceAll(n.Preds, p.outs)...)
		return p
	case *logical.Map:
		p := d.pull(n.Input())
		if p == nil {
			return nil
		}
		p.outs = append(slices.Clip(p.outs), replaceAll(n.Exprs, p.outs)...)
		return p
	case *logical.Project:
		p := d.pull(n.Input())
		if p == nil {
			return nil
		}
		outs := make([]scalar.Expr, len(n.Cols))
		for i, c := range n.Cols {
			outs[i] = p.outs[c]
		}
		p.outs = outs
		return p
	case *logical.Join:
		return d.pullJoin(n)
	case *logical.Reduce:
		return d.pullReduce(n)
	case *logical.TopK:
		return d.pullTopK(n)
	case *logical.Apply:
		return d.pullApply(n)
	}
	return nil
}

func (d *decorrelator) pullJoin(n *logical.Join) *pulled {
	all := &pulled{}
	var bases []logical.Node
	at := 0
	for _, in := range n.Ins {
		p := d.pull(in)
		if p == nil || p.missed {
			return nil
		}
		bases = append(bases, p.base)
		all.preds = append(all.preds, logical.ShiftAll(p.preds, at)...)
		all.outs = append(all.outs, logical.ShiftAll(p.outs, at)...)
		at += logical.Arity(p.base)
	}
	var inner []scalar.Expr
	for _, e := range n.Preds {
		e = scalar.ReplaceColumns(e, all.outs)
		if scalar.HasOuter(e) || scalar.CanFail(e) {
			all.preds = append(all.preds, e)
		} else {
			inner = append(inner, e)
		}
	}
	all.base = logical.NewJoin(bases, inner...)
	return all
}

// grouped makes p's rows a relation: the values of the equations' inner sides, then those of outs that are
// wanted (all when wanted is nil; the others are left out). It needs that nothing but equations correlates
// and that nothing fails.
func (p *pulled) grouped(wanted *logical.Set) (n logical.Node, eqs []equation, where map[int]int) {
	if p.missed {
		return nil, nil, nil
	}
	eqs, rest := equations(p.preds)
	exprs := make([]scalar.Expr, 0, len(eqs)+len(p.outs))
	for _, e := range eqs {
		exprs = append(exprs, e.inner)
	}
	where = map[int]int{}
	for i, e := range p.outs {
		if wanted == nil || wanted.Has(i) {
			where[i] = len(exprs)
			exprs = append(exprs, e)
		}
	}
	for _, e := range append(slices.Clone(rest), exprs...) {
		if scalar.HasOuter(e) || scalar.CanFail(e) {
			return nil, nil, nil
		}
	}
	return logical.Compute(logical.NewFilter(p.base, rest...), exprs...), eqs, where
}

// ungrouped is what is known of rows that belong to a left row if the first columns of base are the values
// of the equations' inner sides; outs are the columns behind them.
func ungrouped(base logical.Node, eqs []equation) *pulled {
	p := &pulled{base: base, outs: logical.AllCols(base, logical.Arity(base))[len(eqs):]}
	for i, e := range eqs {
		p.preds = append(p.preds, e.with(i))
	}
	return p
}

// pullReduce groups by the equations' inner sides too.
func (d *decorrelator) pullReduce(n *logical.Reduce) *pulled {
	p := d.pull(n.Input())
	if p == nil {
		return nil
	}
	used := logical.SetOf(n.Keys...)
	for _, a := range n.Aggs {
		if aggFails(a) {
			return nil
		}
		used.AddAll(a.Uses())
	}
	in, eqs, where := p.grouped(&used)
	if in == nil {
		return nil
	}
	keys := logical.Identity(len(eqs))
	for _, k := range n.Keys {
		keys = append(keys, where[k])
	}
	aggs := make([]logical.Agg, len(n.Aggs))
	for i, a := range n.Aggs {
		aggs[i] = a.Moved(func(c int) int { return where[c] })
	}
	p = ungrouped(logical.NewReduce(in, keys, aggs), eqs)
	if !n.Global {
		return p
	}
	p.missed = true
	for i, a := range n.Aggs {
		if empty := logical.Empty(a.Func); !empty.IsNull() {
			value := &scalar.Const{Value: empty, T: a.T}
			p.outs[i] = &scalar.Coalesce{Args: []scalar.Expr{p.outs[i], value}, T: a.T}
		}
	}
	return p
}

// aggFails says whether an aggregate may fail for a group. Sums of integers cannot, for any number of rows
// that we could hold; a fold may do anything.
func aggFails(a logical.Agg) bool {
	if a.Func.Order != scalar.NotOrdered {
		return false
	}
	if a.Func.Accum == nil {
		return true
	}
	return slices.ContainsFunc(a.Func.Args, func(t types.T) bool { return t.Kind() == types.Float })
}

// pullTopK takes the first rows for each value of the equations' inner sides.
func (d *decorrelator) pullTopK(n *logical.TopK) *pulled {
	p := d.pull(n.Input())
	if p == nil {
		return nil
	}
	in, eqs, _ := p.grouped(nil)
	if in == nil {
		return nil
	}
	k := len(eqs)
	group := prefixed(k, n.Group)
	return ungrouped(logical.NewTopK(in, group, shiftOrder(n.Order, k), n.Limit, n.Offset), eqs)
}

// pullApply computes an Apply within base, if it depends on the inner query alone and cannot fail.
func (d *decorrelator) pullApply(n *logical.Apply) *pulled {
	if logical.OuterUsed(n.Right(), 2).Len() > 0 || treeFails(n.Right()) ||
		n.Kind == logical.ApplyScalar && !logical.HasKey(n.Right().Rel(), nil) {
		return nil
	}
	p := d.pull(n.Left())
	if p == nil || p.missed {
		return nil
	}
	for _, c := range logical.OuterUsed(n.Right(), 1).Cols() {
		if scalar.HasOuter(p.outs[c]) || scalar.CanFail(p.outs[c]) {
			return nil
		}
	}
	right := logical.MapOuter(n.Right(), func(o *scalar.Outer) scalar.Expr {
		return scalar.Rewrite(p.outs[o.Index], func(e scalar.Expr) scalar.Expr {
			if c, ok := e.(*scalar.Col); ok {
				return &scalar.Outer{Level: 1, Index: c.Index, T: c.T}
			}
			return e
		})
	})
	m := logical.Arity(p.base)
	p.base = d.pair(n.Kind, p.base, right)
	outs := slices.Clone(p.outs)
	for c := m; c < logical.Arity(p.base); c++ {
		outs = append(outs, logical.ColOf(p.base, c))
	}
	p.outs = outs
	return p
}

// treeFails says whether computing n may give an error.
func treeFails(n logical.Node) bool {
	fails := false
	logical.Walk(n, func(n logical.Node) bool {
		switch n := n.(type) {
		case *logical.Guard, *logical.TableFunc:
			fails = true
		case *logical.Apply:
			fails = fails || n.Kind == logical.ApplyScalar && !logical.HasKey(n.Right().Rel(), nil)
		case *logical.Reduce:
			fails = fails || slices.ContainsFunc(n.Aggs, aggFails)
		}
		fails = fails || logical.AnyFails(logical.Exprs(n))
		return !fails
	})
	return fails
}
