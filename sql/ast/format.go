package ast

import "strconv"

// printer gathers SQL.
type printer struct {
	out      []byte
	spelling Spelling
}

func (p *printer) str(s string)   { p.out = append(p.out, s...) }
func (p *printer) ident(s string) { p.str(QuoteIdent(s)) }
func (p *printer) int(n int64)    { p.out = strconv.AppendInt(p.out, n, 10) }

// when writes s if c holds.
func (p *printer) when(c bool, s string) {
	if c {
		p.str(s)
	}
}

// list writes n things apart by commas.
func (p *printer) list(n int, item func(i int)) {
	for i := range n {
		p.when(i > 0, ", ")
		item(i)
	}
}

func (p *printer) exprs(es []Expr) {
	p.list(len(es), func(i int) { es[i].format(p) })
}

func (p *printer) names(ns []string) {
	p.list(len(ns), func(i int) { p.ident(ns[i]) })
}

func (p *printer) idents(ns []Ident) {
	p.list(len(ns), func(i int) { p.ident(ns[i].Name) })
}

// columns writes a list of columns in parentheses behind a blank, or nothing.
func (p *printer) columns(ns []Ident) {
	if ns != nil {
		p.str(" (")
		p.idents(ns)
		p.str(")")
	}
}

func (p *printer) objects(ns []Name) {
	p.list(len(ns), func(i int) { ns[i].format(p) })
}

func (p *printer) roles(rs []Role) {
	p.list(len(rs), func(i int) { rs[i].format(p) })
}

// clause writes a lead and an expression, or nothing for nil.
func (p *printer) clause(lead string, e Expr) {
	if e != nil {
		p.str(lead)
		e.format(p)
	}
}

// operand writes e, in parentheses unless it binds at least as strongly as asked.
func (p *printer) operand(e Expr, atLeast level) {
	if p.levelOf(e) >= atLeast {
		e.format(p)
		return
	}
	p.str("(")
	e.format(p)
	p.str(")")
}

func (p *printer) paren(n Node) {
	p.str("(")
	n.format(p)
	p.str(")")
}

func (p *printer) orderBy(lead string, items []OrderItem) {
	if len(items) > 0 {
		p.str(lead)
		p.list(len(items), func(i int) { items[i].format(p) })
	}
}

func (n Name) format(p *printer) {
	for i, s := range n.Parts {
		p.when(i > 0, ".")
		p.ident(s)
	}
}

func (r Role) format(p *printer) {
	if r.Keyword {
		p.str(r.Name)
		return
	}
	if r.Name == "public" {
		p.str(`"public"`)
		return
	}
	p.ident(r.Name)
}

func (o Op) format(p *printer) {
	if o.Schema == "" {
		p.str(o.Symbol)
		return
	}
	p.str("OPERATOR(")
	p.ident(o.Schema)
	p.str("." + o.Symbol + ")")
}

// options writes (a = b, c); nothing for none.
func (p *printer) options(lead string, os []Option) {
	if len(os) == 0 {
		return
	}
	p.str(lead + "(")
	p.list(len(os), func(i int) { os[i].format(p) })
	p.str(")")
}

func (o Option) format(p *printer) {
	p.str(o.Name)
	if o.Value != nil {
		p.str(" = ")
		o.Value.format(p)
	}
	p.options(" ", o.Options)
}

// standardTypes are the names that keywords stand for, with those keywords; the modifier goes to the place
// of the %.
var standardTypes = map[string]string{
	"bool": "boolean", "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real",
	"float8": "double precision", "numeric": "numeric%", "varchar": "character varying%",
	"timestamp": "timestamp%", "timestamptz": "timestamp% with time zone", "time": "time%",
	"timetz": "time% with time zone", "interval": "interval%", "varbit": "bit varying%",
	"bpchar": "character%", "bit": "bit%",
}

func (t *TypeName) format(p *printer) {
	switch t.Kind {
	case ArrayType:
		t.Elem.format(p)
		p.str("[]")
		return
	case ListType:
		t.Elem.format(p)
		p.str(" list")
		return
	case MapType:
		p.str("map[")
		t.Key.format(p)
		p.str(" => ")
		t.Elem.format(p)
		p.str("]")
		return
	}
	if spelling, ok := t.standard(); ok {
		before, after, hasMods := cut(spelling)
		p.str(before)
		if hasMods {
			if t.Fields != "" {
				p.str(" " + t.Fields)
			}
			p.mods(t.Mods)
		}
		p.str(after)
		return
	}
	MakeName(t.Name...).format(p)
	p.mods(t.Mods)
}

// standard gives the keywords for a type. character and bit without a length mean a length of one, so the
// bare types behind them have no such spelling.
func (t *TypeName) standard() (string, bool) {
	if len(t.Name) != 2 || t.Name[0] != "pg_catalog" {
		return "", false
	}
	name := t.Name[1]
	if (name == "bpchar" || name == "bit") && len(t.Mods) == 0 {
		return "", false
	}
	spelling, ok := standardTypes[name]
	if _, _, takes := cut(spelling); len(t.Mods) > 0 && !takes {
		return "", false
	}
	return spelling, ok
}

func cut(spelling string) (before, after string, found bool) {
	for i := range spelling {
		if spelling[i] == '%' {
			return spelling[:i], spelling[i+1:], true
		}
	}
	return spelling, "", false
}

func (p *printer) mods(mods []int64) {
	if len(mods) > 0 {
		p.str("(")
		p.list(len(mods), func(i int) { p.int(mods[i]) })
		p.str(")")
	}
}
