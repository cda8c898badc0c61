package logical

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// Format shows a tree as EXPLAIN does: one operator a line, its inputs indented below it. Columns are #0,
// #1, … with their names, where they have one, in braces.
func Format(n Node) string {
	var p printer
	p.node(n)
	return p.String()
}

type printer struct {
	strings.Builder
	depth int
}

func (p *printer) line(format string, args ...any) {
	for range p.depth {
		p.WriteString("  ")
	}
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func (p *printer) node(n Node) {
	if l, ok := n.(*Let); ok {
		p.line("Let l%d =", l.ID)
		p.depth++
		p.node(l.Value())
		p.depth--
		p.node(l.Body())
		return
	}
	p.line("%s", head(n))
	p.depth++
	if c, ok := n.(*Constant); ok && !IsUnit(c) {
		p.rows(c)
	}
	for _, in := range n.Inputs() {
		p.node(in)
	}
	p.depth--
}

// shownRows bounds how many rows of a constant are shown: enough for what people write by hand.
const shownRows = 20

func (p *printer) rows(c *Constant) {
	for i := range min(c.Rows.Len, shownRows) {
		vals := make([]string, len(c.Rows.Cols))
		for j := range c.Rows.Cols {
			vals[j] = scalar.FormatConst(c.Rows.Cols[j].Datum(i), c.r.Cols[j].Type)
		}
		times := ""
		if d := c.Rows.Diff(i); d != 1 {
			times = fmt.Sprintf(" x %d", d)
		}
		p.line("(%s)%s", strings.Join(vals, ", "), times)
	}
	if rest := c.Rows.Len - shownRows; rest > 0 {
		p.line("… and %d more", rest)
	}
}

// head is the node's own line.
func head(n Node) string {
	switch n := n.(type) {
	case *Constant:
		if IsUnit(n) {
			return "Constant ()"
		}
		return "Constant " + n.r.String()
	case *Get:
		return "Get " + n.Name
	case *Filter:
		return "Filter " + exprs(n.Preds, " AND ", n.Input())
	case *Map:
		return "Map " + exprs(n.Exprs, ", ", n.Input())
	case *Project:
		return "Project " + orNothing(columns(n.Cols, n.Input()))
	case *Join:
		if len(n.Preds) == 0 {
			return "CrossJoin"
		}
		return "Join " + exprs(n.Preds, " AND ", n.Ins...)
	case *OuterJoin:
		kind := "LeftJoin"
		if n.Full {
			kind = "FullJoin"
		}
		return strings.TrimSpace(kind + " " + exprs(n.On, " AND ", n.Sides[:]...))
	case *SemiJoin:
		kind := "SemiJoin"
		if n.Anti {
			kind = "AntiJoin"
		}
		return strings.TrimSpace(kind + " " + exprs(n.On, " AND ", n.Sides[:]...))
	case *Apply:
		return "Apply " + n.Kind.String()
	case *TableFunc:
		s := "TableFunc " + n.Func.Name + "(" + exprs(n.Args, ", ", n.Input()) + ")"
		if n.Ordinality {
			s += " with ordinality"
		}
		return s
	case *Reduce:
		return n.head()
	case *TopK:
		return n.head()
	case *Union:
		return "Union"
	case *Negate:
		return "Negate"
	case *Threshold:
		return "Threshold"
	case *Guard:
		return "Guard at most one for " + orNothing(columns(n.Keys, n.Input()))
	case *LetRef:
		return "Get l" + strconv.Itoa(n.ID)
	case *Let:
		return "Let l" + strconv.Itoa(n.ID)
	}
	panic(fmt.Sprintf("logical: unknown node %T", n))
}

func orNothing(s string) string {
	if s == "" {
		return "()"
	}
	return s
}

// names gives the columns of the nodes, side by side, as they are shown.
func names(ins []Node) []string {
	var out []string
	for _, in := range ins {
		for _, c := range in.Rel().Cols {
			out = append(out, shown(len(out), c))
		}
	}
	return out
}

func shown(i int, c types.Column) string {
	if c.Name == "" {
		return "#" + strconv.Itoa(i)
	}
	return "#" + strconv.Itoa(i) + "{" + c.Name + "}"
}

func exprs(es []scalar.Expr, between string, ins ...Node) string {
	names := names(ins)
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = scalar.Format(e, names)
	}
	return strings.Join(parts, between)
}

func columns(cols []int, in Node) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = shown(c, in.Rel().Cols[c])
	}
	return strings.Join(parts, ", ")
}

func orderText(order []Order, in Node) string {
	parts := make([]string, len(order))
	for i, o := range order {
		parts[i] = columns([]int{o.Col}, in)
		if o.Desc {
			parts[i] += " desc"
		}
		// NULL is greater than everything unless the query says otherwise.
		if o.NullsFirst != o.Desc {
			parts[i] += map[bool]string{true: " nulls first", false: " nulls last"}[o.NullsFirst]
		}
	}
	return strings.Join(parts, ", ")
}

func (n *Reduce) head() string {
	if n.IsDistinct() {
		return "Distinct"
	}
	if len(n.Aggs) == 0 && !n.Global {
		return "Distinct on " + orNothing(columns(n.Keys, n.Input()))
	}
	parts := make([]string, len(n.Aggs))
	for i, a := range n.Aggs {
		parts[i] = a.text(n.Input())
	}
	s := "Reduce " + strings.Join(parts, ", ")
	if n.Global {
		return strings.TrimSpace(s)
	}
	return s + " by " + orNothing(columns(n.Keys, n.Input()))
}

func (a *Agg) text(in Node) string {
	args := columns(a.Args, in)
	if len(a.Args) == 0 {
		args = "*"
	}
	if a.Distinct {
		args = "distinct " + args
	}
	if len(a.Order) > 0 {
		args += " order by " + orderText(a.Order, in)
	}
	s := a.Func.Name + "(" + args + ")"
	if a.Filter >= 0 {
		s += " filter " + columns([]int{a.Filter}, in)
	}
	return s
}

func (n *TopK) head() string {
	s := "TopK"
	if len(n.Group) > 0 {
		s += " for each " + columns(n.Group, n.Input())
	}
	if len(n.Order) > 0 {
		s += " order by " + orderText(n.Order, n.Input())
	}
	if n.Limit != nil {
		s += " limit " + scalar.String(n.Limit)
	}
	if n.Offset != nil {
		s += " offset " + scalar.String(n.Offset)
	}
	return s
}
