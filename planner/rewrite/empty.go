package rewrite

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// empty makes nothing of what is known to have no rows: a filter that is never true, a join with nothing, and
// so on. What an outer or anti-join leaves of its other side stays.
func empty(n logical.Node) logical.Node {
	n = logical.MapInputs(n, empty)
	switch n := n.(type) {
	case *logical.Filter:
		if logical.IsEmpty(n.Input()) || slices.ContainsFunc(n.Preds, neverTrue) {
			return nothing(n)
		}
	case *logical.Map, *logical.Project, *logical.TableFunc, *logical.TopK, *logical.Negate, *logical.Threshold, *logical.Guard:
		if logical.IsEmpty(n.Inputs()[0]) {
			return nothing(n)
		}
	case *logical.Reduce:
		if logical.IsEmpty(n.Input()) && !n.Global {
			return nothing(n)
		}
	case *logical.Join:
		return emptyJoin(n)
	case *logical.OuterJoin:
		return emptyOuter(n)
	case *logical.SemiJoin:
		never := logical.IsEmpty(n.Right()) || slices.ContainsFunc(n.On, neverTrue)
		switch {
		case logical.IsEmpty(n.Left()) || never && !n.Anti:
			return nothing(n)
		case never:
			return n.Left()
		}
	case *logical.Union:
		if slices.ContainsFunc(n.Ins, logical.IsEmpty) {
			left := slices.DeleteFunc(slices.Clone(n.Ins), logical.IsEmpty)
			if len(left) == 0 {
				return nothing(n)
			}
			return logical.NewUnion(left...)
		}
	}
	return n
}

func nothing(n logical.Node) logical.Node { return logical.NewEmpty(n.Rel().Cols) }

// neverTrue is the constant false. NULL is left to fold, which knows whether an error beats it.
func neverTrue(e scalar.Expr) bool {
	d, ok := scalar.IsConst(e)
	return ok && !d.IsNull() && !d.Bool()
}

// emptyJoin: a join with one row without columns is the join without it.
func emptyJoin(n *logical.Join) logical.Node {
	if slices.ContainsFunc(n.Ins, logical.IsEmpty) || slices.ContainsFunc(n.Preds, neverTrue) {
		return nothing(n)
	}
	if slices.ContainsFunc(n.Ins, logical.IsUnit) {
		return logical.NewJoin(slices.DeleteFunc(slices.Clone(n.Ins), logical.IsUnit), n.Preds...)
	}
	return n
}

func emptyOuter(n *logical.OuterJoin) logical.Node {
	m := logical.Arity(n.Left())
	never := slices.ContainsFunc(n.On, neverTrue)
	switch {
	case logical.IsEmpty(n.Left()) && (!n.Full || logical.IsEmpty(n.Right())):
		return nothing(n)
	case n.Full && logical.IsEmpty(n.Left()):
		right := logical.NewMap(n.Right(), nulls(n.Left())...)
		r := logical.Arity(n.Right())
		return logical.NewProject(right, append(logical.Range(r, r+m), logical.Identity(r)...))
	case logical.IsEmpty(n.Right()), never && !n.Full:
		return logical.NewMap(n.Left(), nulls(n.Right())...)
	}
	return n
}

// nulls are NULLs of the types of n's columns.
func nulls(n logical.Node) []scalar.Expr {
	out := make([]scalar.Expr, logical.Arity(n))
	for i, c := range n.Rel().Cols {
		out[i] = logical.Null(c.Type)
	}
	return out
}
