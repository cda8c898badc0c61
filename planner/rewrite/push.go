package rewrite

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// push takes conditions as far down as they can go: through maps and projections, into the sides of joins,
// below grouping where they are about the group's key, into every branch of a union. A condition that can
// fail goes no further than the next join, where it would meet rows that the join drops (promise W3).
func push(n logical.Node) logical.Node { return pushInto(n, nil) }

// pushInto is Filter(n, preds), with preds as far down as they can go. If nothing moves it is n itself. Maps,
// projections and filters are one operator in the end: a condition goes through them if the operator below takes
// it, and else stays where it is.
func pushInto(n logical.Node, preds []scalar.Expr) logical.Node {
	switch n := n.(type) {
	case *logical.Filter:
		return pushFilter(n, preds)
	case *logical.Map, *logical.Project:
		below, here := split(preds, func(p scalar.Expr) bool { return lands(n, p) })
		for i, p := range below {
			below[i], _ = through(n, p)
		}
		return logical.NewFilter(withInput(n, pushInto(n.Inputs()[0], below)), here...)
	case *logical.Join:
		return pushJoin(n, preds)
	case *logical.OuterJoin:
		return pushOuter(n, preds)
	case *logical.SemiJoin:
		return pushSemi(n, preds)
	case *logical.Reduce:
		return pushReduce(n, preds)
	case *logical.TopK:
		below, here := split(preds, func(p scalar.Expr) bool {
			return !scalar.CanFail(p) && logical.SetOf(n.Group...).HasAll(scalar.Columns(p))
		})
		return logical.NewFilter(withInput(n, pushInto(n.Input(), below)), here...)
	case *logical.Union, *logical.Negate, *logical.Threshold:
		return pushAll(n, preds)
	case *logical.TableFunc:
		m := logical.Arity(n.Input())
		below, here := split(preds, func(p scalar.Expr) bool { return !scalar.CanFail(p) && logical.UsedBy(p).Within(0, m) })
		return logical.NewFilter(withInput(n, pushInto(n.Input(), below)), here...)
	case *logical.Let:
		v, b := push(n.Value()), pushInto(n.Body(), preds)
		if v == n.Value() && b == n.Body() {
			return n
		}
		return logical.NewLet(n.ID, v, b)
	}
	return logical.NewFilter(logical.MapInputs(n, push), preds...)
}

// through is a condition on n's rows, n being a map, a projection or a filter, as one on its input's. A computed
// column is put in as what it is computed as: it is then computed twice, above and below. false: that may fail
// for rows that are dropped before (promise W3).
func through(n logical.Node, p scalar.Expr) (scalar.Expr, bool) {
	switch n := n.(type) {
	case *logical.Project:
		return scalar.MapColumns(p, func(c int) int { return n.Cols[c] }), true
	case *logical.Map:
		m := logical.Arity(n.Input())
		if logical.UsedBy(p).Within(0, m) {
			return p, true
		}
		by := make([]scalar.Expr, m+len(n.Exprs))
		copy(by[m:], n.Exprs)
		p = scalar.ReplaceColumns(p, by)
		return p, !scalar.CanFail(p) && scalar.Depends(p) != scalar.Volatile
	}
	return p, true
}

// lands says whether a condition on n's rows would get into an operator below n's maps, projections and filters.
func lands(n logical.Node, p scalar.Expr) bool {
	switch n := n.(type) {
	case *logical.Map, *logical.Project, *logical.Filter:
		p, ok := through(n, p)
		return ok && lands(n.Inputs()[0], p)
	case *logical.Join, *logical.Let:
		return true
	case *logical.Union, *logical.Negate, *logical.Threshold:
		return !scalar.CanFail(p) || adds(n)
	case *logical.OuterJoin:
		return !n.Full && !scalar.CanFail(p) && logical.UsedBy(p).Within(0, logical.Arity(n.Left()))
	case *logical.SemiJoin:
		return !scalar.CanFail(p)
	case *logical.TableFunc:
		return !scalar.CanFail(p) && logical.UsedBy(p).Within(0, logical.Arity(n.Input()))
	case *logical.Reduce:
		return keyOnly(n, p)
	case *logical.TopK:
		return !scalar.CanFail(p) && logical.SetOf(n.Group...).HasAll(scalar.Columns(p))
	}
	return false
}

// split tells the predicates for which is holds from the others.
func split(preds []scalar.Expr, is func(scalar.Expr) bool) (yes, no []scalar.Expr) {
	for _, p := range preds {
		if is(p) {
			yes = append(yes, p)
		} else {
			no = append(no, p)
		}
	}
	return yes, no
}

// pushFilter keeps the filter as it is if nothing of it moves.
func pushFilter(n *logical.Filter, preds []scalar.Expr) logical.Node {
	below, here := split(append(slices.Clip(n.Preds), preds...), func(p scalar.Expr) bool { return lands(n.Input(), p) })
	in := pushInto(n.Input(), below)
	if in == n.Input() && slices.Equal(here, n.Preds) {
		return n
	}
	return logical.NewFilter(in, here...)
}

// adds says whether n is a union of which no branch takes rows away.
func adds(n logical.Node) bool {
	u, ok := n.(*logical.Union)
	return ok && !slices.ContainsFunc(u.Ins, func(in logical.Node) bool { _, negated := in.(*logical.Negate); return negated })
}

// pushAll puts the predicates on every input: those that can fail only where no row is taken away again, with
// which they would have failed.
func pushAll(n logical.Node, preds []scalar.Expr) logical.Node {
	below, here := split(preds, func(p scalar.Expr) bool { return lands(n, p) })
	return logical.NewFilter(logical.MapInputs(n, func(in logical.Node) logical.Node { return pushInto(in, below) }), here...)
}

func pushJoin(n *logical.Join, preds []scalar.Expr) logical.Node {
	all := n.Preds
	if len(preds) > 0 {
		all = append(slices.Clip(n.Preds), preds...)
	}
	on := make([][]scalar.Expr, len(n.Ins))
	starts := starts(n.Ins)
	var here []scalar.Expr
	for _, p := range all {
		i := onlyInput(p, starts)
		if i < 0 || scalar.CanFail(p) {
			here = append(here, p)
			continue
		}
		on[i] = append(on[i], logical.Shift(p, -starts[i]))
	}
	ins := make([]logical.Node, len(n.Ins))
	for i, in := range n.Ins {
		ins[i] = pushInto(in, on[i])
	}
	if slices.Equal(ins, n.Ins) && slices.Equal(here, n.Preds) {
		return n
	}
	return logical.NewJoin(ins, here...)
}

// starts gives where each input's columns start among all, and how many there are.
func starts(ins []logical.Node) []int {
	at := make([]int, len(ins)+1)
	for i, in := range ins {
		at[i+1] = at[i] + logical.Arity(in)
	}
	return at
}

// onlyInput gives the one input whose columns p uses; -1 if there are several or none.
func onlyInput(p scalar.Expr, starts []int) int {
	used := logical.UsedBy(p)
	if used.Len() == 0 {
		return -1
	}
	for i := range len(starts) - 1 {
		if used.Within(starts[i], starts[i+1]) {
			return i
		}
	}
	return -1
}

// pushOuter: what is asked of the left side's columns is asked of its rows; what the condition asks of the
// right side alone is asked of its rows.
func pushOuter(n *logical.OuterJoin, preds []scalar.Expr) logical.Node {
	m := logical.Arity(n.Left())
	all := m + logical.Arity(n.Right())
	var toLeft, toRight []scalar.Expr
	here, on := preds, n.On
	if !n.Full {
		toLeft, here = split(preds, func(p scalar.Expr) bool { return !scalar.CanFail(p) && logical.UsedBy(p).Within(0, m) })
		toRight, on = split(n.On, func(p scalar.Expr) bool {
			used := logical.UsedBy(p)
			return !scalar.CanFail(p) && used.Len() > 0 && used.Within(m, all)
		})
	}
	l, r := pushInto(n.Left(), toLeft), pushInto(n.Right(), logical.ShiftAll(toRight, -m))
	var join logical.Node = n
	if l != n.Left() || r != n.Right() || len(toRight) > 0 {
		join = logical.NewOuterJoin(n.Full, l, r, on...)
	}
	return logical.NewFilter(join, here...)
}

func pushSemi(n *logical.SemiJoin, preds []scalar.Expr) logical.Node {
	m := logical.Arity(n.Left())
	all := m + logical.Arity(n.Right())
	toLeft, here := split(preds, func(p scalar.Expr) bool { return !scalar.CanFail(p) })
	toRight, on := split(n.On, func(p scalar.Expr) bool {
		used := logical.UsedBy(p)
		return !scalar.CanFail(p) && used.Len() > 0 && used.Within(m, all)
	})
	if !n.Anti {
		var own []scalar.Expr
		own, on = split(on, func(p scalar.Expr) bool { return !scalar.CanFail(p) && logical.UsedBy(p).Within(0, m) })
		toLeft = append(toLeft, own...)
	}
	l, r := pushInto(n.Left(), toLeft), pushInto(n.Right(), logical.ShiftAll(toRight, -m))
	var join logical.Node = n
	if l != n.Left() || r != n.Right() || len(on) != len(n.On) {
		join = logical.NewSemiJoin(n.Anti, l, r, on...)
	}
	return logical.NewFilter(join, here...)
}

// keyOnly says whether a condition on a Reduce's rows is about its key alone. A global aggregate has a row even if
// no row is left, so nothing passes it.
func keyOnly(n *logical.Reduce, p scalar.Expr) bool {
	used := logical.UsedBy(p)
	return !n.Global && !scalar.CanFail(p) && used.Len() > 0 && used.Within(0, len(n.Keys))
}

// pushReduce: what is asked of a group's key is asked of its rows.
func pushReduce(n *logical.Reduce, preds []scalar.Expr) logical.Node {
	below, here := split(preds, func(p scalar.Expr) bool { return keyOnly(n, p) })
	for i, p := range below {
		below[i] = scalar.MapColumns(p, func(c int) int { return n.Keys[c] })
	}
	return logical.NewFilter(withInput(n, pushInto(n.Input(), below)), here...)
}
