package rewrite

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// Outer and semi-joins are taken apart into what the engine knows how to maintain:
//
//	semi(L, R)   = L ⋈ distinct(keys of R)
//	anti(L, R)   = L − semi(L, R)
//	L left R     = L ⋈ R  ∪  (anti(L, R), NULLs)
//	L full R     = L left R  ∪  (NULLs, anti(R, L))
//
// Where the condition is more than equations of a key, the rows of L that match are found as the distinct
// values, among L ⋈ R, of the columns that the condition reads.

// expander names what is used several times.
type expander struct{ decorrelator }

// expand takes outer and semi-joins apart.
func expand(n logical.Node) logical.Node {
	e := expander{decorrelator{nextID: maxLet(n) + 1}}
	body := e.node(n)
	return program{e.lets, body}.tree()
}

func (e *expander) node(n logical.Node) logical.Node {
	if l, ok := n.(*logical.Let); ok {
		// Its value comes before what is made of its body.
		e.lets = append(e.lets, binding{l.ID, e.node(l.Value())})
		return e.node(l.Body())
	}
	n = logical.MapInputs(n, e.node)
	switch n := n.(type) {
	case *logical.SemiJoin:
		return e.semi(n)
	case *logical.OuterJoin:
		return e.outer(n)
	}
	return n
}

func (e *expander) semi(n *logical.SemiJoin) logical.Node {
	left := n.Left()
	if n.Anti {
		left = e.share(left)
	}
	found := e.matching(left, n.Right(), n.On)
	if !n.Anti {
		return found
	}
	return logical.NewUnion(left, logical.NewNegate(found))
}

// matching is the rows of left for which there is a row of right.
func (e *expander) matching(left, right logical.Node, on []scalar.Expr) logical.Node {
	m := logical.Arity(left)
	keys, isKeys := rightKeys(on, m, m+logical.Arity(right))
	if isKeys {
		values := distinct(logical.NewDistinct(logical.Compute(right, keys.right...)))
		preds := make([]scalar.Expr, len(on))
		for i, p := range on {
			preds[i] = keys.over(p, i, m)
		}
		return logical.NewProject(logical.NewJoin([]logical.Node{left, values}, preds...), logical.Identity(m))
	}
	left = e.share(left)
	used := part(logical.UsedBy(on...), 0, m).Cols()
	values := distinct(logical.NewDistinct(logical.NewProject(left, used)))
	at := make([]int, m+logical.Arity(right))
	for i, c := range used {
		at[c] = i
	}
	for c := m; c < len(at); c++ {
		at[c] = len(used) + c - m
	}
	met := logical.NewJoin([]logical.Node{e.share(values), right}, logical.PermuteAll(on, at)...)
	found := logical.NewDistinct(logical.NewProject(met, logical.Identity(len(used))))
	return e.withValues(left, used, found)
}

// withValues is the rows of left whose columns cols have values in found, whose rows are distinct.
func (e *expander) withValues(left logical.Node, cols []int, found logical.Node) logical.Node {
	m := logical.Arity(left)
	join := logical.NewJoin([]logical.Node{left, found}, valuesAre(left, cols, found, m)...)
	return logical.NewProject(join, logical.Identity(m))
}

// sideKeys are the right sides of a condition that is all equations between the two sides.
type sideKeys struct {
	right []scalar.Expr // over the right side's own columns
	first []bool        // whether the right side's expression is the equation's first
}

// rightKeys says whether the condition is all equations between the left side's m columns and the others.
func rightKeys(on []scalar.Expr, m, all int) (sideKeys, bool) {
	var keys sideKeys
	for _, p := range on {
		a, b, ok := logical.Equation(p)
		if !ok {
			return sideKeys{}, false
		}
		ua, ub := logical.UsedBy(a), logical.UsedBy(b)
		switch {
		case ua.Within(0, m) && ub.Len() > 0 && ub.Within(m, all):
			keys.right = append(keys.right, logical.Shift(b, -m))
			keys.first = append(keys.first, false)
		case ub.Within(0, m) && ua.Len() > 0 && ua.Within(m, all):
			keys.right = append(keys.right, logical.Shift(a, -m))
			keys.first = append(keys.first, true)
		default:
			return sideKeys{}, false
		}
	}
	return keys, true
}

// over is equation i with the right side's value in column m+i.
func (k sideKeys) over(p scalar.Expr, i, m int) scalar.Expr {
	a, b, _ := logical.Equation(p)
	col := &scalar.Col{Index: m + i, T: k.right[i].Type()}
	if k.first[i] {
		return logical.WithSides(p, col, b)
	}
	return logical.WithSides(p, a, col)
}

func (e *expander) outer(n *logical.OuterJoin) logical.Node {
	left, right := e.share(n.Left()), e.share(n.Right())
	m, all := logical.Arity(left), logical.Arity(left)+logical.Arity(right)
	inner := e.share(logical.NewJoin([]logical.Node{left, right}, n.On...))
	once := logical.MeetsOnce(n)
	alone := e.alone(left, right, inner, n.On, once)
	branches := []logical.Node{inner, logical.NewMap(alone, nulls(right)...)}
	if n.Full {
		swapped := logical.NewProject(inner, append(logical.Range(m, all), logical.Identity(m)...))
		rightOnce := logical.MeetsOnce(logical.NewOuterJoin(false, right, left, swapSides(n.On, m, all)...))
		rest := e.alone(right, left, swapped, swapSides(n.On, m, all), rightOnce)
		r := all - m
		padded := logical.NewMap(rest, nulls(left)...)
		branches = append(branches, logical.NewProject(padded, append(logical.Range(r, all), logical.Identity(r)...)))
	}
	return logical.NewUnion(branches...)
}

// alone is the rows of left without a partner; inner is the join. If no left row meets two, those that met
// one are just the left columns of inner.
func (e *expander) alone(left, right, inner logical.Node, on []scalar.Expr, once bool) logical.Node {
	m := logical.Arity(left)
	if once {
		return logical.NewUnion(left, logical.NewNegate(logical.NewProject(inner, logical.Identity(m))))
	}
	if _, ok := rightKeys(on, m, m+logical.Arity(right)); ok {
		return logical.NewUnion(left, logical.NewNegate(e.matching(left, right, on)))
	}
	used := part(logical.UsedBy(on...), 0, m).Cols()
	found := distinct(logical.NewDistinct(logical.NewProject(inner, used)))
	return logical.NewUnion(left, logical.NewNegate(e.withValues(left, used, found)))
}
