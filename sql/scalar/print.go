package scalar

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Cast names begin with the type's, then the arrow: "int4→text".
const castArrow = "→"

// CastName is the name of the Func that casts one type to another.
func CastName(from, to types.T) string { return from.Name() + castArrow + to.Name() }

// IsCast says whether f is a cast.
func (f *Func) IsCast() bool { return strings.Contains(f.Name, castArrow) }

// IsOperator says whether f is an operator.
func (f *Func) IsOperator() bool {
	return f.Name != "" && strings.IndexByte("+-*/<>=~!@#%^&|?`", f.Name[0]) >= 0
}

// String is Format without names.
func String(e Expr) string { return Format(e, nil) }

// Format shows an expression as EXPLAIN does. Columns are #0, #1, … or, where names has one that is not empty,
// by name.
func Format(e Expr, names []string) string {
	p := printer{names: names}
	p.print(e)
	return p.String()
}

// FormatList shows several expressions with commas between.
func FormatList(exprs []Expr, names []string) string {
	p := printer{names: names}
	p.list(exprs, ", ")
	return p.String()
}

type printer struct {
	strings.Builder
	names []string
}

func (p *printer) list(exprs []Expr, between string) {
	for i, e := range exprs {
		if i > 0 {
			p.WriteString(between)
		}
		p.print(e)
	}
}

func (p *printer) print(e Expr) {
	switch e := e.(type) {
	case *Col:
		if e.Index < len(p.names) && p.names[e.Index] != "" {
			p.WriteString(p.names[e.Index])
			return
		}
		fmt.Fprintf(p, "#%d", e.Index)
	case *Outer:
		fmt.Fprintf(p, "#^%d.%d", e.Level, e.Index)
	case *Param:
		fmt.Fprintf(p, "$%d", e.Index+1)
	case *Const:
		p.WriteString(FormatConst(e.Value, e.T))
	case *Call:
		p.call(e)
	case *And:
		p.wrapped(e.Args, " AND ")
	case *Or:
		p.wrapped(e.Args, " OR ")
	case *Case:
		p.WriteString("CASE")
		for _, w := range e.Whens {
			p.WriteString(" WHEN ")
			p.print(w.Cond)
			p.WriteString(" THEN ")
			p.print(w.Then)
		}
		p.WriteString(" ELSE ")
		p.print(e.Else)
		p.WriteString(" END")
	case *Coalesce:
		p.function("coalesce", e.Args)
	case *IsNull:
		p.WriteByte('(')
		p.print(e.Arg)
		p.WriteString(" IS NULL)")
	case *In:
		p.in(e)
	default:
		panic(fmt.Sprintf("scalar: unknown expression %T", e))
	}
}

func (p *printer) wrapped(args []Expr, between string) {
	p.WriteByte('(')
	p.list(args, between)
	p.WriteByte(')')
}

func (p *printer) function(name string, args []Expr) {
	p.WriteString(name)
	p.wrapped(args, ", ")
}

func (p *printer) call(e *Call) {
	switch {
	case e.Func.IsCast():
		p.WriteByte('(')
		p.print(e.Args[0])
		p.WriteString(")::" + e.T.String())
	case e.Func.IsOperator() && len(e.Args) == 2:
		p.wrapped(e.Args, " "+e.Func.Name+" ")
	case e.Func.IsOperator() && len(e.Args) == 1:
		p.WriteByte('(')
		p.WriteString(e.Func.Name + " ")
		p.print(e.Args[0])
		p.WriteByte(')')
	default:
		p.function(e.Func.Name, e.Args)
	}
}

func (p *printer) in(e *In) {
	p.WriteByte('(')
	p.print(e.Arg)
	p.WriteString(" IN (")
	for i, d := range e.Set {
		if i > 0 {
			p.WriteString(", ")
		}
		p.WriteString(FormatConst(d, e.Arg.Type()))
	}
	if e.HasNull {
		p.WriteString(", null")
	}
	p.WriteString("))")
}

// FormatConst shows a constant as SQL would have it: numbers and truth values bare, strings quoted, others
// quoted with their type.
func FormatConst(d vec.Datum, t types.T) string {
	if d.IsNull() {
		return "null"
	}
	if t.OID == types.OIDBool {
		return strconv.FormatBool(d.Bool())
	}
	text := string(row.AppendTextDatum(nil, t, d))
	switch t.OID {
	case types.OIDInt2, types.OIDInt4, types.OIDInt8, types.OIDOid, types.OIDNumeric, types.OIDFloat4, types.OIDFloat8:
		if strings.Trim(text, "-.0123456789e+") == "" {
			return text
		}
	case types.OIDText, types.OIDVarchar, types.OIDName, types.OIDUnknown:
		return quoted(text)
	}
	return quoted(text) + "::" + t.String()
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// String shows the MFP on one line, for EXPLAIN.
func (m MFP) String() string { return m.Format(nil) }

// Format is String with the input columns' names.
func (m MFP) Format(names []string) string {
	var parts []string
	for i, e := range m.Map {
		parts = append(parts, fmt.Sprintf("map #%d = %s", m.Arity+i, Format(e, names)))
	}
	if len(m.Filter) > 0 {
		p := printer{names: names}
		p.list(m.Filter, " AND ")
		parts = append(parts, "filter "+p.String())
	}
	if len(m.Project) != m.Arity+len(m.Map) || !IsIdentityProject(m.Project) {
		cols := make([]Expr, len(m.Project))
		for i, c := range m.Project {
			cols[i] = &Col{Index: c}
		}
		parts = append(parts, "project ("+FormatList(cols, names)+")")
	}
	return strings.Join(parts, "; ")
}

// IsIdentityProject says whether a projection keeps columns 0, 1, … in their places.
func IsIdentityProject(project []int) bool {
	for i, c := range project {
		if c != i {
			return false
		}
	}
	return true
}
