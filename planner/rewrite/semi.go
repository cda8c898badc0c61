package rewrite

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// semi turns a test for existence that a filter asks for outright into a semi-join, or for non-existence
// into an anti-join: Filter(#n AND p) over an Apply that appends #n is Filter(p) over one that filters. The
// column stays, as a constant, for those above.
func semi(n logical.Node) logical.Node {
	n = logical.MapInputs(n, semi)
	f, ok := n.(*logical.Filter)
	if !ok {
		return n
	}
	in, preds := f.Input(), f.Preds
	for i, p := range preds {
		want := true
		if inner, ok := logical.Negated(p); ok {
			p, want = inner, false
		}
		c, ok := p.(*scalar.Col)
		if !ok {
			continue
		}
		if filtered := withExists(in, c.Index, want); filtered != nil {
			rest := append(append([]scalar.Expr{}, preds[:i]...), preds[i+1:]...)
			return semi(logical.NewFilter(filtered, rest...))
		}
	}
	return n
}

// withExists is n's rows where column col, which an Apply below n made as its existence flag, is as wanted;
// nil if the column is something else.
func withExists(n logical.Node, col int, want bool) logical.Node {
	switch n := n.(type) {
	case *logical.Apply:
		m := logical.Arity(n.Left())
		if col < m {
			// Whatever the right side adds, it depends on the left row alone.
			if left := withExists(n.Left(), col, want); left != nil {
				return logical.NewApply(n.Kind, left, n.Right())
			}
			return nil
		}
		if n.Kind != logical.ApplyExists {
			return nil
		}
		kind, flag := logical.ApplySemi, scalar.True
		if !want {
			kind, flag = logical.ApplyAnti, scalar.False
		}
		return logical.NewMap(logical.NewApply(kind, n.Left(), n.Right()), flag)
	case *logical.Map:
		if col >= logical.Arity(n.Input()) {
			return nil
		}
		if in := withExists(n.Input(), col, want); in != nil {
			return logical.NewMap(in, n.Exprs...)
		}
	case *logical.Filter:
		if in := withExists(n.Input(), col, want); in != nil {
			return logical.NewFilter(in, n.Preds...)
		}
	case *logical.Project:
		if in := withExists(n.Input(), n.Cols[col], want); in != nil {
			return logical.NewProject(in, n.Cols)
		}
	}
	return nil
}
