package rewrite

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// merge makes one join of joins in joins, so that their order can be chosen among all, and takes maps and
// projections that stand between them above. A filter above a join becomes part of its condition.
func merge(n logical.Node) logical.Node {
	n = logical.MapInputs(n, merge)
	switch n := n.(type) {
	case *logical.Filter:
		if j, ok := n.Input().(*logical.Join); ok {
			return merge(logical.NewJoin(j.Ins, append(slices.Clip(j.Preds), n.Preds...)...))
		}
	case *logical.Join:
		return mergeJoin(n)
	}
	return n
}

// flat is an input of a join as several: its columns are outs over those of ins, for the rows where preds are
// true.
type flat struct {
	ins   []logical.Node
	preds []scalar.Expr
	outs  []scalar.Expr
}

func mergeJoin(n *logical.Join) logical.Node {
	var all flat
	changed := false
	at := 0
	for _, in := range n.Ins {
		f, ok := flatten(in)
		changed = changed || ok
		all.ins = append(all.ins, f.ins...)
		all.preds = append(all.preds, logical.ShiftAll(f.preds, at)...)
		all.outs = append(all.outs, logical.ShiftAll(f.outs, at)...)
		for _, part := range f.ins {
			at += logical.Arity(part)
		}
	}
	if !changed {
		return n
	}
	all.preds = append(all.preds, replaceAll(n.Preds, all.outs)...)
	return logical.Compute(logical.NewJoin(all.ins, all.preds...), all.outs...)
}

// replaceAll has by's expressions in the place of columns.
func replaceAll(es, by []scalar.Expr) []scalar.Expr {
	out := make([]scalar.Expr, len(es))
	for i, e := range es {
		out[i] = scalar.ReplaceColumns(e, by)
	}
	return out
}

// flatten takes a join below projections, filters and maps apart; false: n is something else, and stays one.
// What can fail is not taken above the join: there it would be computed for fewer rows, but with it conditions
// that use it, which must not be computed for more.
func flatten(n logical.Node) (flat, bool) {
	whole := flat{ins: []logical.Node{n}, outs: logical.AllCols(n, logical.Arity(n))}
	switch n := n.(type) {
	case *logical.Join:
		return flat{ins: n.Ins, preds: n.Preds, outs: whole.outs}, true
	case *logical.Project:
		f, ok := flatten(n.Input())
		if !ok {
			return whole, false
		}
		outs := make([]scalar.Expr, len(n.Cols))
		for i, c := range n.Cols {
			outs[i] = f.outs[c]
		}
		f.outs = outs
		return f, true
	case *logical.Map:
		f, ok := flatten(n.Input())
		if !ok || logical.AnyFails(n.Exprs) {
			return whole, false
		}
		f.outs = append(slices.Clip(f.outs), replaceAll(n.Exprs, f.outs)...)
		return f, true
	case *logical.Filter:
		f, ok := flatten(n.Input())
		if !ok || logical.AnyFails(n.Preds) {
			return whole, false
		}
		f.preds = append(slices.Clip(f.preds), replaceAll(n.Preds, f.outs)...)
		return f, true
	}
	return whole, false
}
