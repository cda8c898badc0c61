package plan

import (
	"slices"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Reading is what a dataflow makes of a collection that it reads.
type Reading struct {
	// Cols are the columns it looks at, ascending; nil: all.
	Cols []int
	// Any says which rows are wanted: those that meet all conditions of one of the lists. A row that meets none
	// neither gets through nor gives an error. nil: every row is wanted.
	Any [][]shard.Condition
}

// Reading says what of a collection is looked at. Only where rows go into nothing but MFPs is that less than all.
func (d *Dataflow) Reading(id tvc.ID) Reading {
	var r Reading
	r.Cols = []int{}
	filtered := true
	for i, n := range d.Nodes {
		if d.reads(i, id) && NodeID(i) == d.Result() {
			return Reading{}
		}
		if !slices.ContainsFunc(n.Inputs, func(in NodeID) bool { return d.reads(int(in), id) }) {
			continue
		}
		m, ok := n.Op.(*MFP)
		if !ok {
			return Reading{}
		}
		r.Cols = append(r.Cols, inputColumns(m)...)
		conds := conditions(m)
		filtered = filtered && conds != nil
		r.Any = append(r.Any, conds)
	}
	if !filtered {
		r.Any = nil
	}
	slices.Sort(r.Cols)
	r.Cols = slices.Compact(r.Cols)
	return r
}

// reads says whether a node is a Get of the collection.
func (d *Dataflow) reads(node int, id tvc.ID) bool {
	g, ok := d.Nodes[node].Op.(*Get)
	return ok && g.ID == id
}

// inputColumns are the columns of its input that an MFP looks at.
func inputColumns(m *MFP) []int {
	cols := slices.Concat(scalar.Columns(m.Map...), scalar.Columns(m.Filter...), m.Project)
	return slices.DeleteFunc(cols, func(c int) bool { return c >= m.Arity })
}

// Narrowed is an MFP over some columns of its input, ascending, that has all it looks at.
func Narrowed(m scalar.MFP, cols []int) scalar.MFP {
	to := func(c int) int {
		if c >= m.Arity {
			return c - m.Arity + len(cols)
		}
		return slices.Index(cols, c)
	}
	moved := func(exprs []scalar.Expr) []scalar.Expr {
		out := make([]scalar.Expr, len(exprs))
		for i, e := range exprs {
			out[i] = scalar.MapColumns(e, to)
		}
		return out
	}
	out := scalar.MFP{Arity: len(cols), Map: moved(m.Map), Filter: moved(m.Filter), Project: make([]int, len(m.Project))}
	for i, c := range m.Project {
		out.Project[i] = to(c)
	}
	return out
}

// conditions are what is known of the rows that get through an MFP's filter, or fail in it; nil if that is nothing.
//
// A conjunct that is false decides, whatever the others are; one that is NULL does not if another fails. So where
// one can fail, a row for which a comparison is NULL may be wanted.
func conditions(m *MFP) []shard.Condition {
	var out []shard.Condition
	exprs := scalar.Conjuncts(m.Filter...)
	fails := slices.ContainsFunc(exprs, func(e scalar.Expr) bool {
		return scalar.CanFail(e) || slices.ContainsFunc(scalar.Columns(e), func(c int) bool { return c >= m.Arity })
	})
	for _, e := range exprs {
		if c, ok := condition(e, fails); ok && c.Col < m.Arity {
			out = append(out, c)
		}
	}
	return out
}

// condition is a conjunct as a condition on one column; fails says that others may fail.
func condition(e scalar.Expr, fails bool) (c shard.Condition, ok bool) {
	switch e := e.(type) {
	case *scalar.Col:
		c.Col, c.Null, c.Ranges = e.Index, fails, point(vec.BoolOf(true))
		return c, true
	case *scalar.IsNull:
		c.Col, ok = column(e.Arg)
		c.Null = true
		return c, ok
	case *scalar.In:
		c.Col, ok = column(e.Arg)
		c.Null = fails
		for _, d := range e.Set {
			c.Ranges = append(c.Ranges, point(d)...)
		}
		// With a NULL among them, a value that is not in the list is not false.
		return c, ok && !(fails && e.HasNull)
	case *scalar.Call:
		if len(e.Args) == 1 && e.Func.Name == "NOT" {
			return negation(e.Args[0], fails)
		}
		return comparison(e, fails)
	}
	return c, false
}

// negation is NOT e as a condition.
func negation(e scalar.Expr, fails bool) (c shard.Condition, ok bool) {
	switch e := e.(type) {
	case *scalar.Col:
		c.Col, c.Null, c.Ranges = e.Index, fails, point(vec.BoolOf(false))
		return c, true
	case *scalar.IsNull:
		c.Col, ok = column(e.Arg)
		c.Ranges = []shard.Range{{}}
		return c, ok
	}
	return c, false
}

// comparison is a comparison of a column with a constant as a condition.
func comparison(e *scalar.Call, fails bool) (c shard.Condition, ok bool) {
	if !e.Func.IsOperator() || len(e.Args) != 2 || !ordered(e.Args[0].Type(), e.Args[1].Type()) {
		return c, false
	}
	symbol := e.Func.Name
	col, isCol := column(e.Args[0])
	k, isConst := scalar.IsConst(bare(e.Args[1]))
	if !isCol {
		col, isCol = column(e.Args[1])
		k, isConst = scalar.IsConst(bare(e.Args[0]))
		symbol = swapped(symbol)
	}
	if !isCol || !isConst || k.IsNull() {
		return c, false
	}
	c.Col, c.Null = col, fails
	switch symbol {
	case "=":
		c.Ranges = point(k)
	case "<>":
		c.Ranges = []shard.Range{{Max: k, MaxOpen: true}, {Min: k, MinOpen: true}}
	case "<":
		c.Ranges = []shard.Range{{Max: k, MaxOpen: true}}
	case "<=":
		c.Ranges = []shard.Range{{Max: k}}
	case ">":
		c.Ranges = []shard.Range{{Min: k, MinOpen: true}}
	case ">=":
		c.Ranges = []shard.Range{{Min: k}}
	default:
		return c, false
	}
	return c, true
}

// swapped is the operator that says the same with its sides changed.
func swapped(symbol string) string {
	switch symbol {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	}
	return symbol
}

// ordered says whether values of the two types compare in SQL as their data do. A date and a timestamp count
// different things; of an xid only half the bits count.
func ordered(a, b types.T) bool {
	if a.OID == types.OIDXid || b.OID == types.OIDXid || (a.OID == types.OIDDate) != (b.OID == types.OIDDate) {
		return false
	}
	return a.Kind() == b.Kind()
}

// column is the column that an expression is, through casts that change nothing but the type.
func column(e scalar.Expr) (int, bool) {
	c, ok := bare(e).(*scalar.Col)
	if !ok {
		return 0, false
	}
	return c.Index, true
}

func bare(e scalar.Expr) scalar.Expr {
	for {
		c, ok := e.(*scalar.Call)
		if !ok || !c.Func.Relabel {
			return e
		}
		e = c.Args[0]
	}
}

func point(d vec.Datum) []shard.Range { return []shard.Range{{Min: d, Max: d}} }
