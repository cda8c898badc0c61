package rewrite

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// distinct drops grouping that changes nothing: DISTINCT of rows that have a key; a top-k of groups of one
// row; a guard of what is a key; DISTINCT below DISTINCT, on the right of a semi-join, or below an aggregate
// that does not count. It drops group columns that others determine, and order that no limit needs.
func distinct(n logical.Node) logical.Node {
	n = logical.MapInputs(n, distinct)
	switch n := n.(type) {
	case *logical.Reduce:
		return distinctReduce(n)
	case *logical.TopK:
		return distinctTopK(n)
	case *logical.Guard:
		if logical.HasKey(n.Input().Rel(), n.Keys) {
			return n.Input()
		}
	case *logical.SemiJoin:
		if r := undistinct(n.Right()); r != n.Right() {
			return logical.NewSemiJoin(n.Anti, n.Left(), r, n.On...)
		}
	}
	return n
}

func distinctReduce(n *logical.Reduce) logical.Node {
	if n.Global {
		return n
	}
	if len(n.Aggs) == 0 {
		if logical.HasKey(n.Input().Rel(), n.Keys) {
			return logical.NewProject(n.Input(), n.Keys)
		}
		if in := undistinct(n.Input()); in != n.Input() {
			return logical.NewReduce(in, n.Keys, nil)
		}
	}
	return lessKeys(n)
}

// undistinct is n without operators whose only effect is how often a row counts.
func undistinct(n logical.Node) logical.Node {
	switch n := n.(type) {
	case *logical.Reduce:
		if len(n.Aggs) == 0 && !n.Global {
			return undistinct(logical.NewProject(n.Input(), n.Keys))
		}
	case *logical.Project:
		if in := undistinct(n.Input()); in != n.Input() {
			return logical.NewProject(in, n.Cols)
		}
	case *logical.Filter:
		if in := undistinct(n.Input()); in != n.Input() {
			return logical.NewFilter(in, n.Preds...)
		}
	case *logical.Map:
		if in := undistinct(n.Input()); in != n.Input() {
			return logical.NewMap(in, n.Exprs...)
		}
	}
	return n
}

// lessKeys groups once by a column that is a group column twice, and not at all by one that is the same in
// every row.
func lessKeys(n *logical.Reduce) logical.Node {
	fixed := constants(n.Input())
	var keys []int
	cols := make([]int, 0, logical.Arity(n))
	var exprs []scalar.Expr
	for _, k := range n.Keys {
		if i := slices.Index(keys, k); i >= 0 {
			cols = append(cols, i)
		} else if c, ok := fixed[k]; ok {
			cols = append(cols, -1-len(exprs))
			exprs = append(exprs, c)
		} else {
			cols = append(cols, len(keys))
			keys = append(keys, k)
		}
	}
	if len(keys) == len(n.Keys) {
		return n
	}
	for i := range n.Aggs {
		cols = append(cols, len(keys)+i)
	}
	less := logical.NewReduce(n.Input(), keys, n.Aggs)
	for i, c := range cols {
		if c < 0 {
			cols[i] = logical.Arity(less) - 1 - c
		}
	}
	return logical.NewProject(logical.NewMap(less, exprs...), cols)
}

// constants are the columns of n that have one value in every row, as far as that is known.
func constants(n logical.Node) map[int]scalar.Expr {
	fixed := map[int]scalar.Expr{}
	for _, f := range facts(n) {
		if c, v, ok := columnIs(f); ok {
			fixed[c] = &scalar.Const{Value: v, T: logical.ColOf(n, c).T}
		}
	}
	return fixed
}

func distinctTopK(n *logical.TopK) logical.Node {
	if isZero(n.Limit) {
		return logical.NewEmpty(n.Rel().Cols)
	}
	if noOffset(n.Offset) {
		if n.Limit == nil || isNull(n.Limit) {
			return n.Input()
		}
		if k, ok := n.Limit.(*scalar.Const); ok && k.Value.Int() >= 1 && logical.HasKey(n.Input().Rel(), n.Group) {
			return n.Input()
		}
	}
	order := slices.DeleteFunc(slices.Clone(n.Order), func(o logical.Order) bool { return slices.Contains(n.Group, o.Col) })
	if len(order) < len(n.Order) {
		return logical.NewTopK(n.Input(), n.Group, order, n.Limit, n.Offset)
	}
	return n
}

func isNull(e scalar.Expr) bool { d, ok := scalar.IsConst(e); return ok && d.IsNull() }

func isZero(e scalar.Expr) bool {
	if e == nil {
		return false
	}
	d, ok := scalar.IsConst(e)
	return ok && !d.IsNull() && d.Int() == 0
}

func noOffset(e scalar.Expr) bool { return e == nil || isNull(e) || isZero(e) }
