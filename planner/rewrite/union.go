package rewrite

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/vec"
)

// union makes one union of unions in unions, negations of unions into unions of negations, one constant of
// several, and drops what cancels: a branch and the negation of the same.
func union(n logical.Node) logical.Node {
	n = logical.MapInputs(n, union)
	switch n := n.(type) {
	case *logical.Negate:
		return negated(n)
	case *logical.Union:
		return flatUnion(n)
	}
	return n
}

func negated(n *logical.Negate) logical.Node {
	switch in := n.Input().(type) {
	case *logical.Union:
		ins := make([]logical.Node, len(in.Ins))
		for i, b := range in.Ins {
			ins[i] = union(logical.NewNegate(b))
		}
		return logical.NewUnion(ins...)
	case *logical.Constant:
		rows := *in.Rows
		rows.Diffs = make([]int64, rows.Len)
		for i := range rows.Diffs {
			rows.Diffs[i] = -in.Rows.Diff(i)
		}
		return logical.NewConstant(in.Rel().Cols, &rows)
	}
	return n
}

func flatUnion(n *logical.Union) logical.Node {
	var ins []logical.Node
	var rows *logical.Constant
	changed := false
	var add func(in logical.Node)
	add = func(in logical.Node) {
		switch in := in.(type) {
		case *logical.Union:
			changed = true
			for _, b := range in.Ins {
				add(b)
			}
			return
		case *logical.Constant:
			if in.Rows.Len == 0 {
				changed = true
				return
			}
			if rows != nil {
				changed = true
				both := rows.Rows.Clone()
				both.AppendBlock(in.Rows)
				rows = logical.NewConstant(rows.Rel().Cols, consolidated(both))
				return
			}
			rows = in
			return
		}
		for i, other := range ins {
			if cancels(in, other) {
				ins = append(ins[:i:i], ins[i+1:]...)
				changed = true
				return
			}
		}
		ins = append(ins, in)
	}
	for _, in := range n.Ins {
		add(in)
	}
	if rows != nil && rows.Rows.Len > 0 {
		ins = append(ins, rows)
	}
	switch {
	case len(ins) == 0:
		return logical.NewEmpty(n.Rel().Cols)
	case !changed:
		return n
	}
	return logical.NewUnion(ins...)
}

// consolidated adds up equal rows when some are taken away; else rows stay as they were written.
func consolidated(rows *vec.Block) *vec.Block {
	if rows.Diffs == nil {
		return rows
	}
	return rows.Consolidated()
}

// cancels says whether one is the negation of the other.
func cancels(a, b logical.Node) bool {
	if x, ok := a.(*logical.Negate); ok {
		return logical.EqualNodes(x.Input(), b)
	}
	if x, ok := b.(*logical.Negate); ok {
		return logical.EqualNodes(x.Input(), a)
	}
	return false
}
