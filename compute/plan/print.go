package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// String shows the dataflow, one node a line: its number, what it does, and in parentheses the numbers of
// the nodes it reads. The last one is the result.
func (d *Dataflow) String() string {
	var b strings.Builder
	for i := range d.Nodes {
		n := &d.Nodes[i]
		fmt.Fprintf(&b, "%%%d = %s\n", i, n.text())
		if c, ok := n.Op.(*Constant); ok {
			rows(&b, c, n.Cols)
		}
	}
	return b.String()
}

// text is the node without its number.
func (n *Node) text() string {
	in := make([]string, len(n.Inputs))
	for i, id := range n.Inputs {
		in[i] = "%" + strconv.Itoa(int(id))
	}
	from := strings.Join(in, ", ")
	switch op := n.Op.(type) {
	case *Get:
		return "Get " + op.Name
	case *Constant:
		if op.Err != nil {
			return "Constant error " + strconv.Quote(op.Err.Error())
		}
		return fmt.Sprintf("Constant (%s)", typeList(n.Cols))
	case *MFP:
		return strings.TrimSpace("MFP (" + from + ") " + op.MFP.String())
	case *TableFunc:
		s := fmt.Sprintf("TableFunc (%s) %s(%s)", from, op.Func.Name, scalar.FormatList(op.Args, nil))
		if op.Ordinality {
			s += " with ordinality"
		}
		return s
	case *Join:
		return "Join (" + from + ")" + op.text()
	case *Reduce:
		return "Reduce (" + from + ") " + op.text()
	case *TopK:
		return "TopK (" + from + ")" + op.text()
	case *Threshold:
		return "Threshold (" + from + ")"
	case *Negate:
		return "Negate (" + from + ")"
	case *Union:
		return "Union (" + from + ")"
	case *Guard:
		return fmt.Sprintf("Guard (%s) at most one for (%s)", from, columns(first(op.Keys)))
	}
	panic(fmt.Sprintf("plan: unknown operator %T", n.Op))
}

// shownRows bounds how many rows of a constant are shown: enough for what people write by hand.
const shownRows = 20

func rows(b *strings.Builder, c *Constant, cols []types.T) {
	if c.Rows == nil {
		return
	}
	for i := range min(c.Rows.Len, shownRows) {
		vals := make([]string, len(cols))
		for j, t := range cols {
			vals[j] = scalar.FormatConst(c.Rows.Cols[j].Datum(i), t)
		}
		fmt.Fprintf(b, "    (%s)", strings.Join(vals, ", "))
		if d := c.Rows.Diff(i); d != 1 {
			fmt.Fprintf(b, " x %d", d)
		}
		b.WriteByte('\n')
	}
	if rest := c.Rows.Len - shownRows; rest > 0 {
		fmt.Fprintf(b, "    … and %d more\n", rest)
	}
}

func typeList(ts []types.T) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

func first(n int) []int {
	cols := make([]int, n)
	for i := range cols {
		cols[i] = i
	}
	return cols
}

func columns(cols []int) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = "#" + strconv.Itoa(c)
	}
	return strings.Join(parts, ", ")
}

// equations shows a stage's keys: left columns of the inputs so far, right ones of the new input. NULL joins
// NULL where it says "is".
func equations(left, right []int, nullEq []bool) string {
	if len(left) == 0 {
		return "all"
	}
	parts := make([]string, len(left))
	for i := range left {
		op := " = "
		if nullEq[i] {
			op = " is "
		}
		parts[i] = columns(left[i:i+1]) + op + columns(right[i:i+1])
	}
	return strings.Join(parts, " and ")
}

func (j *Join) text() string {
	var b strings.Builder
	if j.Delta {
		b.WriteString(" delta")
		for i, p := range j.Paths {
			fmt.Fprintf(&b, " [%d:", i)
			for _, l := range p.Lookups {
				fmt.Fprintf(&b, " %d on %s", l.Input, equations(l.Left, l.Right, l.NullEq))
			}
			b.WriteByte(']')
		}
	} else {
		for _, s := range j.Stages {
			b.WriteString(" on " + equations(s.Left, s.Right, s.NullEq))
		}
	}
	return b.String() + " giving (" + columns(j.Out) + ")"
}

func (r *Reduce) text() string {
	if len(r.Aggs) == 0 {
		return "distinct (" + columns(first(r.Keys)) + ")"
	}
	parts := make([]string, len(r.Aggs))
	for i, a := range r.Aggs {
		parts[i] = a.text()
	}
	return "by (" + columns(first(r.Keys)) + ") " + strings.Join(parts, ", ")
}

func (a *Agg) text() string {
	args := columns(a.Args)
	if len(a.Args) == 0 {
		args = "*"
	}
	if a.Distinct {
		args = "distinct " + args
	}
	if len(a.Order) > 0 {
		args += " order by " + orderText(a.Order)
	}
	s := a.Func.Name + "(" + args + ")"
	if a.Filter >= 0 {
		s += " filter " + columns([]int{a.Filter})
	}
	return s
}

func orderText(order []Order) string {
	parts := make([]string, len(order))
	for i, o := range order {
		parts[i] = columns([]int{o.Col})
		if o.Desc {
			parts[i] += " desc"
		}
		switch {
		case o.NullsFirst && !o.Desc:
			parts[i] += " nulls first"
		case !o.NullsFirst && o.Desc:
			parts[i] += " nulls last"
		}
	}
	return strings.Join(parts, ", ")
}

func (t *TopK) text() string {
	var s string
	if len(t.Group) > 0 {
		s += " for each (" + columns(t.Group) + ")"
	}
	if len(t.Order) > 0 {
		s += " order by " + orderText(t.Order)
	}
	if t.Limit >= 0 {
		s += " limit " + strconv.FormatInt(t.Limit, 10)
	}
	if t.Offset > 0 {
		s += " offset " + strconv.FormatInt(t.Offset, 10)
	}
	return s
}

// String shows the finishing on one line.
func (f *Finishing) String() string {
	t := TopK{Order: f.Order, Limit: f.Limit, Offset: f.Offset}
	return strings.TrimSpace(t.text() + " giving (" + columns(f.Project) + ")")
}

// String shows the lookup on one line.
func (l *Lookup) String() string {
	keys := "all"
	if l.Keys != nil {
		parts := make([]string, min(l.Keys.Len, shownRows))
		for i := range parts {
			vals := make([]string, len(l.Keys.Cols))
			for c := range l.Keys.Cols {
				vals[c] = l.Keys.Cols[c].Datum(i).GoString()
			}
			parts[i] = "(" + strings.Join(vals, ", ") + ")"
		}
		keys = strings.Join(parts, ", ")
		if l.Keys.Len > shownRows {
			keys += ", …"
		}
	}
	return strings.TrimSpace("Lookup " + l.Index.String() + " " + keys + " " + l.MFP.String())
}
