package logical

import (
	"fmt"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/vec"
)

// Exprs gives the scalar expressions of a node itself, its inputs' aside, in order.
func Exprs(n Node) []scalar.Expr {
	switch n := n.(type) {
	case *Filter:
		return n.Preds
	case *Map:
		return n.Exprs
	case *Join:
		return n.Preds
	case *OuterJoin:
		return n.On
	case *SemiJoin:
		return n.On
	case *TableFunc:
		return n.Args
	case *TopK:
		return present(n.Limit, n.Offset)
	case *Constant, *Get, *Project, *Apply, *Reduce, *Union, *Negate, *Threshold, *Guard, *Let, *LetRef:
		return nil
	}
	panic(fmt.Sprintf("logical: unknown node %T", n))
}

func present(es ...scalar.Expr) []scalar.Expr {
	var out []scalar.Expr
	for _, e := range es {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

// MapExprs is n with f applied to each of its own expressions; f keeps types.
func MapExprs(n Node, f func(scalar.Expr) scalar.Expr) Node {
	switch n := n.(type) {
	case *Filter:
		if es, changed := mapChanged(n.Preds, f); changed {
			return NewFilter(n.Input(), es...)
		}
	case *Map:
		if es, changed := mapChanged(n.Exprs, f); changed {
			return NewMap(n.Input(), es...)
		}
	case *Join:
		if es, changed := mapChanged(n.Preds, f); changed {
			return NewJoin(n.Ins, es...)
		}
	case *OuterJoin:
		if es, changed := mapChanged(n.On, f); changed {
			return NewOuterJoin(n.Full, n.Left(), n.Right(), es...)
		}
	case *SemiJoin:
		if es, changed := mapChanged(n.On, f); changed {
			return NewSemiJoin(n.Anti, n.Left(), n.Right(), es...)
		}
	case *TableFunc:
		if es, changed := mapChanged(n.Args, f); changed {
			return NewTableFunc(n.Input(), n.Func, es, n.Ordinality, n.r.Cols[Arity(n.Input()):])
		}
	case *TopK:
		limit, offset := mapOptional(n.Limit, f), mapOptional(n.Offset, f)
		if limit != n.Limit || offset != n.Offset {
			return NewTopK(n.Input(), n.Group, n.Order, limit, offset)
		}
	case *Constant, *Get, *Project, *Apply, *Reduce, *Union, *Negate, *Threshold, *Guard, *Let, *LetRef:
	default:
		panic(fmt.Sprintf("logical: unknown node %T", n))
	}
	return n
}

func mapChanged(es []scalar.Expr, f func(scalar.Expr) scalar.Expr) ([]scalar.Expr, bool) {
	out, changed := make([]scalar.Expr, len(es)), false
	for i, e := range es {
		out[i] = f(e)
		changed = changed || out[i] != e
	}
	return out, changed
}

func mapOptional(e scalar.Expr, f func(scalar.Expr) scalar.Expr) scalar.Expr {
	if e == nil {
		return nil
	}
	return f(e)
}

// MapOuter replaces the Outer columns of n that reach out of it: f gets each with its level as seen from n
// itself (1 is the nearest Apply around n) and gives what stands there instead, also as seen from n; the
// levels of an Outer in the result are put right for where it stands.
func MapOuter(n Node, f func(o *scalar.Outer) scalar.Expr) Node { return mapOuter(n, 0, f) }

func mapOuter(n Node, depth int, f func(o *scalar.Outer) scalar.Expr) Node {
	if a, ok := n.(*Apply); ok {
		left, right := mapOuter(a.Left(), depth, f), mapOuter(a.Right(), depth+1, f)
		if left == a.Left() && right == a.Right() {
			return a
		}
		return NewApply(a.Kind, left, right)
	}
	n = MapInputs(n, func(in Node) Node { return mapOuter(in, depth, f) })
	return MapExprs(n, func(e scalar.Expr) scalar.Expr { return mapOuterExpr(e, depth, f) })
}

func mapOuterExpr(e scalar.Expr, depth int, f func(o *scalar.Outer) scalar.Expr) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		o, ok := e.(*scalar.Outer)
		if !ok || o.Level <= depth {
			return e
		}
		seen := &scalar.Outer{Level: o.Level - depth, Index: o.Index, T: o.T}
		return deepen(f(seen), depth)
	})
}

// deepen adds to the levels of e's Outer columns.
func deepen(e scalar.Expr, by int) scalar.Expr {
	if by == 0 {
		return e
	}
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		if o, ok := e.(*scalar.Outer); ok {
			return &scalar.Outer{Level: o.Level + by, Index: o.Index, T: o.T}
		}
		return e
	})
}

// OuterCols calls f for each Outer column that reaches out of n, with its level as seen from n.
func OuterCols(n Node, f func(level int, o *scalar.Outer)) { outerCols(n, 0, f) }

func outerCols(n Node, depth int, f func(level int, o *scalar.Outer)) {
	for _, e := range Exprs(n) {
		scalar.Walk(e, func(e scalar.Expr) bool {
			if o, ok := e.(*scalar.Outer); ok && o.Level > depth {
				f(o.Level-depth, o)
			}
			return true
		})
	}
	for i, in := range n.Inputs() {
		if _, ok := n.(*Apply); ok && i == 1 {
			outerCols(in, depth+1, f)
		} else {
			outerCols(in, depth, f)
		}
	}
}

// Correlated says whether n has Outer columns that reach out of it.
func Correlated(n Node) bool {
	found := false
	OuterCols(n, func(int, *scalar.Outer) { found = true })
	return found
}

// OuterUsed is the set of columns that n uses of the level-th Apply around it.
func OuterUsed(n Node, level int) Set {
	var s Set
	OuterCols(n, func(l int, o *scalar.Outer) {
		if l == level {
			s.Add(o.Index)
		}
	})
	return s
}

// WithParams is n with the client's parameters put in; each value is of the parameter's type.
func WithParams(n Node, values []vec.Datum) (Node, error) {
	var failed error
	var put func(n Node) Node
	put = func(n Node) Node {
		n = MapInputs(n, put)
		return MapExprs(n, func(e scalar.Expr) scalar.Expr {
			if !scalar.Any(e, func(e scalar.Expr) bool { _, ok := e.(*scalar.Param); return ok }) {
				return e
			}
			r, err := scalar.SubstParams(e, values)
			if err != nil && failed == nil {
				failed = err
			}
			return r
		})
	}
	n = put(n)
	return n, failed
}
