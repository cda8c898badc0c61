package rewrite

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// equate makes known of a column what is known of one it equals: where a join has a.x = b.x and a.x = 5, it
// adds b.x = 5; where it has a.x = b.x and b.x = c.x, it adds a.x = c.x, so that any two of them can be joined
// first. For an outer or semi-join what is known of the left side is added to the condition, from where it
// goes to the right side.
func equate(n logical.Node) logical.Node {
	n = logical.MapInputs(n, equate)
	switch n := n.(type) {
	case *logical.Join:
		if more := implied(n.Ins, n.Preds, 0, logical.Arity(n)); len(more) > 0 {
			return logical.NewJoin(n.Ins, append(slices.Clip(n.Preds), more...)...)
		}
	case *logical.OuterJoin:
		if n.Full {
			return n
		}
		if more := impliedRight(n.Left(), n.Right(), n.On); len(more) > 0 {
			return logical.NewOuterJoin(false, n.Left(), n.Right(), append(slices.Clip(n.On), more...)...)
		}
	case *logical.SemiJoin:
		if more := impliedRight(n.Left(), n.Right(), n.On); len(more) > 0 {
			return logical.NewSemiJoin(n.Anti, n.Left(), n.Right(), append(slices.Clip(n.On), more...)...)
		}
	}
	return n
}

func impliedRight(left, right logical.Node, on []scalar.Expr) []scalar.Expr {
	m := logical.Arity(left)
	return implied([]logical.Node{left, right}, on, m, m+logical.Arity(right))
}

// implied gives the conditions on columns in [from, to) that follow from preds and from what is known of the
// inputs, and that neither says yet.
func implied(ins []logical.Node, preds []scalar.Expr, from, to int) []scalar.Expr {
	eq := classes(preds, to)
	if eq == nil {
		return nil
	}
	starts := starts(ins)
	var known []scalar.Expr
	for i, in := range ins {
		known = append(known, logical.ShiftAll(facts(in), starts[i])...)
	}
	said := append(slices.Clip(preds), known...)
	var more []scalar.Expr
	add := func(e scalar.Expr) {
		has := func(f scalar.Expr) bool { return sameCondition(e, f) }
		if !slices.ContainsFunc(said, has) && !slices.ContainsFunc(more, has) {
			more = append(more, e)
		}
	}
	for _, k := range known {
		c, ok := aboutOne(k)
		if !ok {
			continue
		}
		for _, other := range eq.members(c) {
			if other == c.Index || other < from || other >= to {
				continue
			}
			add(scalar.Rewrite(k, func(e scalar.Expr) scalar.Expr {
				if c, ok := e.(*scalar.Col); ok {
					return &scalar.Col{Index: other, T: c.T}
				}
				return e
			}))
		}
	}
	for _, class := range eq.sets {
		for i, a := range class {
			for _, b := range class[i+1:] {
				if inputOf(a, starts) != inputOf(b, starts) && b >= from && a >= from {
					add(logical.Equals(&scalar.Col{Index: a, T: eq.types[a]}, &scalar.Col{Index: b, T: eq.types[b]}))
				}
			}
		}
	}
	return more
}

func inputOf(col int, starts []int) int {
	i := 0
	for starts[i+1] <= col {
		i++
	}
	return i
}

// sameCondition: equations may stand either way round.
func sameCondition(e, f scalar.Expr) bool {
	if scalar.Equal(e, f) {
		return true
	}
	a, b, ok := logical.Equation(e)
	c, d, ok2 := logical.Equation(f)
	return ok && ok2 && logical.IsNullEq(e) == logical.IsNullEq(f) && scalar.Equal(a, d) && scalar.Equal(b, c)
}

// aboutOne says whether a condition is about one column alone, and cannot fail. That the column is not NULL says
// nothing of its equals: they are not NULL for being equal.
func aboutOne(e scalar.Expr) (*scalar.Col, bool) {
	if inner, ok := logical.Negated(e); ok {
		if _, isNull := inner.(*scalar.IsNull); isNull {
			return nil, false
		}
	}
	cols := scalar.Columns(e)
	if len(cols) != 1 || scalar.CanFail(e) || scalar.Depends(e) == scalar.Volatile {
		return nil, false
	}
	var col *scalar.Col
	scalar.Walk(e, func(e scalar.Expr) bool {
		if c, ok := e.(*scalar.Col); ok {
			col = c
		}
		return true
	})
	return col, true
}

// columnClasses are the columns that "=" makes equal: of one type, and none of them NULL.
type columnClasses struct {
	sets  [][]int
	types map[int]types.T
}

// classes gives nil if no two columns are equal.
func classes(preds []scalar.Expr, arity int) *columnClasses {
	parent := make([]int, arity)
	for i := range parent {
		parent[i] = i
	}
	var find func(i int) int
	find = func(i int) int {
		if parent[i] != i {
			parent[i] = find(parent[i])
		}
		return parent[i]
	}
	eq := &columnClasses{types: map[int]types.T{}}
	for _, p := range preds {
		a, b, ok := logical.Equation(p)
		if !ok || logical.IsNullEq(p) {
			continue
		}
		ca, aCol := a.(*scalar.Col)
		cb, bCol := b.(*scalar.Col)
		// The same function on columns of two types would be another function.
		if aCol && bCol && ca.T.OID == cb.T.OID {
			eq.types[ca.Index], eq.types[cb.Index] = ca.T, cb.T
			x, y := find(ca.Index), find(cb.Index)
			parent[max(x, y)] = min(x, y)
		}
	}
	if len(eq.types) == 0 {
		return nil
	}
	at := map[int]int{}
	for c := range arity {
		if _, ok := eq.types[c]; !ok {
			continue
		}
		root := find(c)
		i, ok := at[root]
		if !ok {
			i = len(eq.sets)
			at[root] = i
			eq.sets = append(eq.sets, nil)
		}
		eq.sets[i] = append(eq.sets[i], c)
	}
	return eq
}

// members are the columns equal to c, itself included; none if it equals no other.
func (eq *columnClasses) members(c *scalar.Col) []int {
	for _, s := range eq.sets {
		if slices.Contains(s, c.Index) {
			return s
		}
	}
	return nil
}

// facts are conditions that are true for every row of n: those of filters, as far as they are about columns
// that are still there.
func facts(n logical.Node) []scalar.Expr {
	switch n := n.(type) {
	case *logical.Filter:
		return append(facts(n.Input()), n.Preds...)
	case *logical.Map:
		all := facts(n.Input())
		for i, e := range n.Exprs {
			if d, ok := scalar.IsConst(e); ok && !d.IsNull() {
				all = append(slices.Clip(all), logical.Equals(logical.ColOf(n, logical.Arity(n.Input())+i), e))
			}
		}
		return all
	case *logical.Project:
		at := map[int]int{}
		for i := len(n.Cols) - 1; i >= 0; i-- {
			at[n.Cols[i]] = i
		}
		return moved(facts(n.Input()), at)
	case *logical.Join:
		var all []scalar.Expr
		starts := starts(n.Ins)
		for i, in := range n.Ins {
			all = append(all, logical.ShiftAll(facts(in), starts[i])...)
		}
		return append(all, n.Preds...)
	case *logical.OuterJoin:
		if !n.Full {
			return facts(n.Left())
		}
	case *logical.SemiJoin:
		return facts(n.Left())
	case *logical.TableFunc:
		return facts(n.Input())
	case *logical.TopK:
		return facts(n.Input())
	case *logical.Guard:
		return facts(n.Input())
	case *logical.Reduce:
		at := map[int]int{}
		for i, k := range n.Keys {
			at[k] = i
		}
		if !n.Global {
			return moved(facts(n.Input()), at)
		}
	}
	return nil
}

// moved are the facts whose columns all have a place in at.
func moved(facts []scalar.Expr, at map[int]int) []scalar.Expr {
	var out []scalar.Expr
	for _, f := range facts {
		kept := true
		for _, c := range scalar.Columns(f) {
			_, ok := at[c]
			kept = kept && ok
		}
		if kept {
			out = append(out, scalar.MapColumns(f, func(c int) int { return at[c] }))
		}
	}
	return out
}
