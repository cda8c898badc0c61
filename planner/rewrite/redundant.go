package rewrite

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// redundant drops an input of a join that only repeats what another one says: the distinct values of some
// columns of a relation, joined on these with rows of the same relation. Decorrelation makes such joins.
func redundant(n logical.Node) logical.Node {
	n = logical.MapInputs(n, redundant)
	j, ok := n.(*logical.Join)
	if !ok {
		return n
	}
	starts := starts(j.Ins)
	for i, in := range j.Ins {
		source, cols := distinctOf(in)
		if source == nil {
			continue
		}
		for k, other := range j.Ins {
			if k == i {
				continue
			}
			from := origin(other, source)
			if from == nil {
				continue
			}
			if same := matched(j.Preds, cols, from, starts[i], starts[k]); same != nil {
				return redundant(without(j, i, same, starts))
			}
		}
	}
	return n
}

// distinctOf says of which columns of which relation n is the distinct values.
func distinctOf(n logical.Node) (source logical.Node, cols []int) {
	r, ok := n.(*logical.Reduce)
	if !ok || len(r.Aggs) > 0 || r.Global {
		return nil, nil
	}
	source, cols = r.Input(), r.Keys
	if p, ok := source.(*logical.Project); ok {
		cols = placed(cols, p.Cols)
		source = p.Input()
	}
	return source, cols
}

// origin says, for each column of n, which column of source it is (-1: none), if every row of n comes from a
// row of source; else nil.
func origin(n, source logical.Node) []int {
	if logical.EqualNodes(n, source) {
		return logical.Identity(logical.Arity(n))
	}
	switch n := n.(type) {
	case *logical.Filter:
		return origin(n.Input(), source)
	case *logical.Map:
		from := origin(n.Input(), source)
		if from == nil {
			return nil
		}
		for range n.Exprs {
			from = append(from, -1)
		}
		return from
	case *logical.Project:
		from := origin(n.Input(), source)
		if from == nil {
			return nil
		}
		return placed(n.Cols, from)
	}
	return nil
}

// matched gives, for each column of the input at i, the column of the input at k that the predicates make it
// equal to and that comes from the same column of the source; nil if they do not do so for all. NULLs must
// match NULLs, or not be there.
func matched(preds []scalar.Expr, cols, from []int, i, k int) []*scalar.Col {
	same := make([]*scalar.Col, len(cols))
	for _, p := range preds {
		a, b, ok := logical.Equation(p)
		ca, aCol := a.(*scalar.Col)
		cb, bCol := b.(*scalar.Col)
		if !ok || !aCol || !bCol {
			continue
		}
		if ca.Index < i || ca.Index >= i+len(cols) {
			ca, cb = cb, ca
		}
		d, o := ca.Index-i, cb.Index-k
		if d < 0 || d >= len(cols) || o < 0 || o >= len(from) || from[o] != cols[d] {
			continue
		}
		same[d] = cb
	}
	if slices.Contains(same, nil) {
		return nil
	}
	return same
}

// without is the join without input i, whose columns are the same as others. Where "=" joined them, a NULL
// never matched: it goes on not to.
func without(j *logical.Join, i int, same []*scalar.Col, starts []int) logical.Node {
	width := starts[i+1] - starts[i]
	at := make([]int, starts[len(j.Ins)])
	for c := range at {
		switch {
		case c < starts[i]:
			at[c] = c
		case c >= starts[i+1]:
			at[c] = c - width
		}
	}
	for d, c := range same {
		at[starts[i]+d] = at[c.Index]
	}
	ins := slices.Delete(slices.Clone(j.Ins), i, i+1)
	var preds []scalar.Expr
	for _, p := range j.Preds {
		q := logical.Permute(p, at)
		a, b, ok := logical.Equation(q)
		if !ok || !scalar.Equal(a, b) {
			preds = append(preds, q)
			continue
		}
		if !logical.IsNullEq(q) && scalar.Nullable(a, func(c int) bool { return nullableIn(ins, c) }) {
			preds = append(preds, logical.Not(&scalar.IsNull{Arg: a}))
		}
	}
	return logical.NewProject(logical.NewJoin(ins, preds...), at)
}

func nullableIn(ins []logical.Node, col int) bool {
	for _, in := range ins {
		if col < logical.Arity(in) {
			return in.Rel().Cols[col].Nullable
		}
		col -= logical.Arity(in)
	}
	return true
}
