package parser

import (
	"github.com/tributary-db/tributary/sql/ast"
)

// compound writes an operand that has expressions inside.
func (p *parser) compound(c *chain) {
	t := p.tok()
	pos := ast.Pos(t.pos)
	switch {
	case t.kind == '(':
		p.paren(c, pos)
		return
	case t.kind != tIdent:
		if p.isName() {
			p.call(c)
			return
		}
		p.syntax()
		return
	}
	switch w := words[t.word]; w {
	case "case":
		p.caseExpr(c, pos)
	case "cast":
		p.castCall(c, pos)
	case "exists":
		p.next()
		n := p.open('m')
		p.parenQuery()
		p.close(c, n, false, func(a *args) ast.Expr { return &ast.Exists{Pos: pos, Query: a.takeQuery()} })
	case "array":
		p.array(c, pos, false)
	case "list", "map":
		if k := p.ahead(1).kind; k != '[' && !(k == '(' && p.ahead(1).query) {
			p.call(c)
		} else if w == "list" {
			p.array(c, pos, true)
		} else {
			p.mapExpr(c, pos)
		}
	case "row":
		p.rowExpr(c, pos)
	case "coalesce":
		p.special(c, ast.Coalesce)
	case "nullif":
		p.special(c, ast.NullIf)
	case "greatest":
		p.special(c, ast.Greatest)
	case "least":
		p.special(c, ast.Least)
	default:
		if !p.syntaxCall(c, w, pos) {
			p.call(c)
		}
	}
}

// paren writes what stands in parentheses: a query, an expression or a row.
func (p *parser) paren(c *chain, pos ast.Pos) {
	n := p.open('m')
	if p.tok().query {
		p.parenQuery()
		p.close(c, n, true, func(a *args) ast.Expr { return &ast.Subquery{Pos: pos, Query: a.takeQuery()} })
		return
	}
	p.next()
	es := p.exprs()
	p.expectKind(')')
	p.close(c, n, len(es) == 1, func(a *args) ast.Expr {
		a.fill(es)
		if len(es) == 1 {
			return es[0]
		}
		return &ast.Row{Pos: pos, Items: es}
	})
}

func (p *parser) rowExpr(c *chain, pos ast.Pos) {
	if p.ahead(1).kind != '(' {
		p.call(c)
		return
	}
	p.i += 2
	n := p.open('m')
	var es []ast.Expr
	if p.kind() != ')' {
		es = p.exprs()
	}
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr {
		a.fill(es)
		return &ast.Row{Pos: pos, Items: es, Explicit: true}
	})
}

func (p *parser) caseExpr(c *chain, pos ast.Pos) {
	p.next()
	n := p.open('m')
	e := &ast.Case{Pos: pos}
	one := func() {
		p.arg()
		p.expr()
	}
	hasArg := p.word() != "when"
	if hasArg {
		one()
	}
	whens := 0
	for p.accept("when") {
		one()
		p.expect("then")
		one()
		whens++
	}
	if whens == 0 {
		p.syntax()
	}
	hasElse := p.accept("else")
	if hasElse {
		one()
	}
	p.expect("end")
	p.close(c, n, false, func(a *args) ast.Expr {
		if hasArg {
			e.Arg = a.take()
		}
		for range whens {
			e.Whens = append(e.Whens, ast.When{Cond: a.take(), Then: a.take()})
		}
		if hasElse {
			e.Else = a.take()
		}
		return e
	})
}

func (p *parser) castCall(c *chain, pos ast.Pos) {
	p.next()
	p.expectKind('(')
	n := p.open('m')
	p.expr()
	p.expect("as")
	t := p.typeName()
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr { return &ast.Cast{Pos: pos, Arg: a.take(), Type: t} })
}

// array writes ARRAY[…], ARRAY(query) and the same of LIST.
func (p *parser) array(c *chain, pos ast.Pos, isList bool) {
	p.next()
	n := p.open('m')
	if p.kind() == '(' {
		p.parenQuery()
		p.close(c, n, false, func(a *args) ast.Expr { return &ast.Array{Pos: pos, List: isList, Query: a.takeQuery()} })
		return
	}
	if p.kind() != '[' {
		p.syntax()
	}
	build := p.elements(isList)
	p.close(c, n, false, build)
}

// elements reads […], in which further […] may stand for arrays of more dimensions.
func (p *parser) elements(isList bool) mark {
	e := &ast.Array{Pos: p.pos(), List: isList, Elems: []ast.Expr{}}
	p.expectKind('[')
	p.enter()
	nested := map[int]mark{}
	for more := p.kind() != ']'; more; more = p.acceptKind(',') {
		i := len(e.Elems)
		if p.kind() == '[' {
			if !isList && len(nested) < i {
				p.syntax() // in an array either all are […] or none is
			}
			nested[i] = p.elements(isList)
			e.Elems = append(e.Elems, written)
			continue
		}
		if !isList && len(nested) > 0 {
			p.syntax()
		}
		e.Elems = append(e.Elems, p.item())
	}
	p.leave()
	p.expectKind(']')
	return func(a *args) ast.Expr {
		for i, elem := range e.Elems {
			if build, ok := nested[i]; ok {
				e.Elems[i] = build(a)
			} else if elem == nil {
				e.Elems[i] = a.take()
			}
		}
		return e
	}
}

func (p *parser) mapExpr(c *chain, pos ast.Pos) {
	p.next()
	n := p.open('m')
	if p.kind() == '(' {
		p.parenQuery()
		p.close(c, n, false, func(a *args) ast.Expr { return &ast.Map{Pos: pos, Query: a.takeQuery()} })
		return
	}
	p.expectKind('[')
	entries := 0
	for p.kind() != ']' && p.err == nil {
		p.arg()
		p.expr()
		p.expectKind(tArrow)
		p.arg()
		p.expr()
		entries++
		if !p.acceptKind(',') {
			break
		}
	}
	p.expectKind(']')
	p.close(c, n, false, func(a *args) ast.Expr {
		e := &ast.Map{Pos: pos}
		for range entries {
			e.Entries = append(e.Entries, ast.MapEntry{Key: a.take(), Value: a.take()})
		}
		return e
	})
}

func (p *parser) special(c *chain, f ast.SpecialFunc) {
	e := &ast.Special{Pos: p.pos(), Func: f}
	p.next()
	p.expectKind('(')
	n := p.open('m')
	e.Args = p.exprs()
	if f == ast.NullIf && len(e.Args) != 2 {
		p.syntax()
	}
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr {
		a.fill(e.Args)
		return e
	})
}

func catalogName(pos ast.Pos, name string) ast.Name {
	return ast.Name{Pos: pos, Parts: []string{"pg_catalog", name}}
}

// syntaxCall writes the calls that have words between their arguments, and refuses those we do not have.
func (p *parser) syntaxCall(c *chain, w string, pos ast.Pos) bool {
	if p.ahead(1).kind != '(' {
		if w == "collation" && p.is("collation", "for") {
			p.unsupported(pos, "COLLATION FOR")
			return true
		}
		return false
	}
	switch w {
	case "extract":
		p.extract(c, pos)
	case "position":
		p.position(c, pos)
	case "substring":
		p.substring(c, pos)
	case "overlay":
		p.overlay(c, pos)
	case "trim":
		p.trim(c, pos)
	case "normalize":
		p.normalize(c, pos)
	case "grouping", "treat", "xmlattributes", "xmlconcat", "xmlelement", "xmlexists", "xmlforest",
		"xmlnamespaces", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable", "unique":
		p.unsupported(pos, "%s", upperWord(w))
	default:
		return false
	}
	return true
}

// catalogCall opens a call of a function of pg_catalog. Its arguments are given in the order of writing;
// order has the place of each in the call.
func (p *parser) catalogCall(c *chain, n int, pos ast.Pos, name string, order ...int) {
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr {
		call := &ast.Call{Pos: pos, Func: catalogName(pos, name), Args: make([]ast.Expr, len(order))}
		for _, place := range order {
			call.Args[place] = a.take()
		}
		return call
	})
}

// argument writes one more argument.
func (p *parser) argument() {
	p.arg()
	p.expr()
}

// startCall takes the word and the parenthesis.
func (p *parser) startCall() int {
	p.i += 2
	return p.open('m')
}

func (p *parser) extract(c *chain, pos ast.Pos) {
	n := p.startCall()
	at := p.pos()
	field := ""
	if isString(p.kind()) {
		field = p.stringValue()
	} else {
		switch w := p.word(); w {
		case "year", "month", "day", "hour", "minute", "second":
		default:
			if isPostgresWord(w) {
				p.syntax()
			}
		}
		field = p.label()
	}
	p.hole(&ast.Literal{Pos: at, Kind: ast.String, Text: field})
	p.expect("from")
	p.argument()
	p.catalogCall(c, n, pos, "extract", 0, 1)
}

func (p *parser) position(c *chain, pos ast.Pos) {
	n := p.startCall()
	p.plainExpr()
	p.expect("in")
	p.arg()
	p.plainExpr()
	p.catalogCall(c, n, pos, "position", 1, 0)
}

// ordinary writes the rest of a call whose first argument has been written and which turns out to be like
// any other.
func (p *parser) ordinary(c *chain, n int, name ast.Name) {
	count := 1
	for p.acceptKind(',') {
		p.argument()
		count++
	}
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr {
		return &ast.Call{Pos: name.Pos, Func: name, Args: a.takeAll(count)}
	})
}

func (p *parser) substring(c *chain, pos ast.Pos) {
	n := p.startCall()
	if p.acceptKind(')') {
		p.emptyCall(c, n, pos, "substring")
		return
	}
	p.arg()
	p.chain(&chain{substring: true})
	switch {
	case p.accept("from"):
		p.argument()
		if p.accept("for") {
			p.argument()
			p.catalogCall(c, n, pos, "substring", 0, 1, 2)
			return
		}
		p.catalogCall(c, n, pos, "substring", 0, 1)
	case p.accept("for"):
		p.argument()
		if p.accept("from") {
			p.argument()
			p.catalogCall(c, n, pos, "substring", 0, 2, 1)
			return
		}
		p.substringFor(c, n, pos)
	case p.accept("similar"):
		p.argument()
		p.expect("escape")
		p.argument()
		p.catalogCall(c, n, pos, "substring", 0, 1, 2)
	default:
		p.ordinary(c, n, ast.Name{Pos: pos, Parts: []string{"substring"}})
	}
}

// substringFor ends SUBSTRING(x FOR n), which is substring(x, 1, n::int4) to PostgreSQL.
func (p *parser) substringFor(c *chain, n int, pos ast.Pos) {
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr {
		x, count := a.take(), a.take()
		one := &ast.Literal{Kind: ast.Number, Text: "1"}
		count = &ast.Cast{Pos: pos, Arg: count, Type: catalogType(pos, "int4")}
		return &ast.Call{Pos: pos, Func: catalogName(pos, "substring"), Args: []ast.Expr{x, one, count}}
	})
}

func (p *parser) emptyCall(c *chain, n int, pos ast.Pos, name string) {
	p.close(c, n, false, func(*args) ast.Expr {
		return &ast.Call{Pos: pos, Func: ast.Name{Pos: pos, Parts: []string{name}}}
	})
}

func (p *parser) overlay(c *chain, pos ast.Pos) {
	n := p.startCall()
	if p.acceptKind(')') {
		p.emptyCall(c, n, pos, "overlay")
		return
	}
	p.argument()
	if !p.accept("placing") {
		p.ordinary(c, n, ast.Name{Pos: pos, Parts: []string{"overlay"}})
		return
	}
	p.argument()
	p.expect("from")
	p.argument()
	if p.accept("for") {
		p.argument()
		p.catalogCall(c, n, pos, "overlay", 0, 1, 2, 3)
		return
	}
	p.catalogCall(c, n, pos, "overlay", 0, 1, 2)
}

// trim writes TRIM([BOTH | LEADING | TRAILING] [characters] [FROM] x [, characters]).
func (p *parser) trim(c *chain, pos ast.Pos) {
	n := p.startCall()
	name := "btrim"
	switch {
	case p.accept("both"):
	case p.accept("leading"):
		name = "ltrim"
	case p.accept("trailing"):
		name = "rtrim"
	}
	before := 0
	if p.word() != "from" {
		p.argument()
		before = 1
	}
	after := 0
	if p.accept("from") || before == 1 && p.acceptKind(',') {
		if p.toks[p.i-1].kind == ',' {
			before, after = 0, 1 // TRIM(x, characters)
		}
		p.argument()
		after++
		for p.acceptKind(',') {
			p.argument()
			after++
		}
	}
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr {
		first := a.takeAll(before)
		return &ast.Call{Pos: pos, Func: catalogName(pos, name), Args: append(a.takeAll(after), first...)}
	})
}

func (p *parser) normalize(c *chain, pos ast.Pos) {
	n := p.startCall()
	p.argument()
	if p.acceptKind(',') {
		at, form := p.pos(), p.word()
		switch form {
		case "nfc", "nfd", "nfkc", "nfkd":
			p.next()
		default:
			p.syntax()
		}
		p.arg()
		p.hole(&ast.Literal{Pos: at, Kind: ast.String, Text: upperWord(form)})
		p.catalogCall(c, n, pos, "normalize", 0, 1)
		return
	}
	p.catalogCall(c, n, pos, "normalize", 0)
}
