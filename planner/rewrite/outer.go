package rewrite

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// outer makes an outer join an inner one (a full one a left one) where a condition above drops the rows that
// the NULLs make: a condition that is not true for a NULL in some column of the side that may be missing.
func outer(n logical.Node) logical.Node { return outerAt(n, logical.Set{}) }

// outerAt rewrites n, of whose rows only those without NULL in the notNull columns matter.
func outerAt(n logical.Node, notNull logical.Set) logical.Node {
	switch n := n.(type) {
	case *logical.Filter:
		notNull = notNull.Clone()
		notNull.AddAll(logical.NotNull(n.Preds))
		return withInput(n, outerAt(n.Input(), notNull))
	case *logical.Project:
		var below logical.Set
		for _, c := range notNull.Cols() {
			below.Add(n.Cols[c])
		}
		return withInput(n, outerAt(n.Input(), below))
	case *logical.Map:
		return withInput(n, outerAt(n.Input(), mapNotNull(n, notNull)))
	case *logical.Join:
		notNull = notNull.Clone()
		notNull.AddAll(logical.NotNull(n.Preds))
		at := 0
		return logical.MapInputs(n, func(in logical.Node) logical.Node {
			from := at
			at += logical.Arity(in)
			return outerAt(in, part(notNull, from, at))
		})
	case *logical.OuterJoin:
		return outerJoin(n, notNull)
	case *logical.SemiJoin:
		m := logical.Arity(n.Left())
		on := logical.NotNull(n.On)
		left := part(notNull, 0, m)
		if !n.Anti {
			left = left.Clone()
			left.AddAll(part(on, 0, m))
		}
		right := part(on, m, m+logical.Arity(n.Right()))
		l, r := outerAt(n.Left(), left), outerAt(n.Right(), right)
		if l == n.Left() && r == n.Right() {
			return n
		}
		return logical.WithInputs(n, l, r)
	case *logical.Union:
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return outerAt(in, notNull) })
	case *logical.Negate, *logical.Threshold:
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return outerAt(in, notNull) })
	case *logical.Reduce:
		var below logical.Set
		for _, c := range notNull.Cols() {
			if c < len(n.Keys) {
				below.Add(n.Keys[c])
			}
		}
		return withInput(n, outerAt(n.Input(), below))
	case *logical.Let:
		v, b := outerAt(n.Value(), logical.Set{}), outerAt(n.Body(), notNull)
		if v == n.Value() && b == n.Body() {
			return n
		}
		return logical.NewLet(n.ID, v, b)
	}
	return logical.MapInputs(n, outer)
}

// withInput is n over another input; n itself if it is the same.
func withInput(n logical.Node, in logical.Node) logical.Node {
	if n.Inputs()[0] == in {
		return n
	}
	return logical.WithInputs(n, in)
}

// part is the columns of s in [from, to), counted from from.
func part(s logical.Set, from, to int) logical.Set {
	var out logical.Set
	for _, c := range s.Cols() {
		if c >= from && c < to {
			out.Add(c - from)
		}
	}
	return out
}

// mapNotNull: a computed column is not NULL only if the columns it is strict in are not.
func mapNotNull(n *logical.Map, notNull logical.Set) logical.Set {
	m := logical.Arity(n.Input())
	below := part(notNull, 0, m).Clone()
	for i, e := range n.Exprs {
		if notNull.Has(m + i) {
			below.AddAll(logical.StrictIn(e))
		}
	}
	return below
}

// outerJoin decides what is left of an outer join of whose rows only those without NULL in notNull matter.
func outerJoin(n *logical.OuterJoin, notNull logical.Set) logical.Node {
	m := logical.Arity(n.Left())
	all := m + logical.Arity(n.Right())
	needLeft, needRight := part(notNull, 0, m), part(notNull, m, all)
	on := logical.NotNull(n.On)
	// A row without NULL in a column of the right side has a right row; so for the left side of a full join.
	inner := needRight.Len() > 0
	if n.Full {
		leftOnly := needLeft.Len() > 0
		switch {
		case inner && leftOnly:
			return outerAt(logical.NewJoin([]logical.Node{n.Left(), n.Right()}, n.On...), notNull)
		case leftOnly:
			return outerAt(logical.NewOuterJoin(false, n.Left(), n.Right(), n.On...), notNull)
		case inner:
			swapped := logical.NewOuterJoin(false, n.Right(), n.Left(), swapSides(n.On, m, all)...)
			back := append(logical.Range(all-m, all), logical.Identity(all-m)...)
			return outerAt(logical.NewProject(swapped, back), notNull)
		}
		l, r := outer(n.Left()), outer(n.Right())
		if l == n.Left() && r == n.Right() {
			return n
		}
		return logical.WithInputs(n, l, r)
	}
	if inner {
		return outerAt(logical.NewJoin([]logical.Node{n.Left(), n.Right()}, n.On...), notNull)
	}
	l, r := outerAt(n.Left(), needLeft), outerAt(n.Right(), part(on, m, all))
	if l == n.Left() && r == n.Right() {
		return n
	}
	return logical.WithInputs(n, l, r)
}

// swapSides is a condition over left's m columns and right's, all in all, for right's first.
func swapSides(on []scalar.Expr, m, all int) []scalar.Expr {
	at := append(logical.Range(all-m, all), logical.Identity(all-m)...)
	return logical.PermuteAll(on, at)
}
