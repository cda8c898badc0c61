package parser

import (
	"math"
	"strconv"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// primary writes an operand without prefixes, with all that may stand behind it (::, COLLATE, AT TIME ZONE,
// subscripts), and gives its height. What has no expression inside becomes a hole, all else a marked call.
func (p *parser) primary(c *chain) int {
	saved := p.inner
	p.inner = 0
	if e, indirection := p.simple(c.plain); e != nil {
		e, cast := p.castsOf(c, e)
		indirection = indirection && !cast
		if p.suffixFollows(c, indirection) {
			n := p.open('m')
			p.hole(e)
			p.close(c, n, indirection, func(a *args) ast.Expr { return a.take() })
		} else {
			p.hole(e)
		}
	} else if p.err == nil {
		p.compound(c)
	}
	h := p.inner + 1
	p.inner = saved
	return h
}

// simple reads an operand that has no expression inside: a literal, a parameter, a column, current_date and
// the like. It gives nil if the next operand is none. plain is as in chain; indirection says whether
// subscripts may follow.
func (p *parser) simple(plain bool) (e ast.Expr, indirection bool) {
	t := p.tok()
	switch t.kind {
	case tNumber:
		p.next()
		return &ast.Literal{Pos: ast.Pos(t.pos), Kind: ast.Number, Text: t.text(p)}, false
	case tString, tEString, tUString:
		p.next()
		return &ast.Literal{Pos: ast.Pos(t.pos), Kind: ast.String, Text: p.stringText(t)}, false
	case tBits:
		p.next()
		text := t.text(p)
		return &ast.Literal{Pos: ast.Pos(t.pos), Kind: ast.Bits, Text: string(text[0]|0x20) + joined(text[1:])}, false
	case tNString:
		p.next()
		s := &ast.Literal{Pos: ast.Pos(t.pos), Kind: ast.String, Text: p.stringText(t)}
		return &ast.Cast{Pos: s.Pos, Arg: s, Type: catalogType(s.Pos, "bpchar")}, false
	case tParam:
		return p.param(), true
	case tQuoted, tUQuoted:
		if e := p.typedLiteral(); e != nil {
			return e, false
		}
		return p.column()
	case tIdent:
		return p.simpleWord(t, plain)
	}
	return nil, false
}

func (p *parser) param() ast.Expr {
	t := p.tok()
	n, err := strconv.ParseInt(p.src[t.beg+1:t.end], 10, 32)
	if err != nil {
		p.fail(pgerr.Newf(pgerr.UndefinedParameter, "there is no parameter %s", t.text(p)).At(int(t.pos)))
		return nil
	}
	p.next()
	return &ast.Param{Pos: ast.Pos(t.pos), Number: int(n)}
}

func (p *parser) simpleWord(t *token, plain bool) (ast.Expr, bool) {
	pos := ast.Pos(t.pos)
	switch words[t.word] {
	case "null":
		p.next()
		return &ast.Literal{Pos: pos, Kind: ast.Null}, false
	case "true", "false":
		p.next()
		return &ast.Literal{Pos: pos, Kind: ast.Bool, Text: words[t.word]}, false
	case "default":
		if plain {
			return nil, false
		}
		p.next()
		return &ast.Default{Pos: pos}, false
	case "current_date", "current_user", "current_role", "current_catalog", "session_user", "user":
		p.next()
		return &ast.ValueFunc{Pos: pos, Name: words[t.word], Precision: -1}, false
	case "current_schema":
		if p.ahead(1).kind != '(' && p.ahead(1).kind != '.' {
			p.next()
			return &ast.ValueFunc{Pos: pos, Name: words[t.word], Precision: -1}, false
		}
	case "current_time", "current_timestamp", "localtime", "localtimestamp":
		p.next()
		f := &ast.ValueFunc{Pos: pos, Name: words[t.word], Precision: -1}
		if p.acceptKind('(') {
			f.Precision = int(p.integer(math.MaxInt32))
			p.expectKind(')')
		}
		return f, false
	}
	if e := p.typedLiteral(); e != nil {
		return e, false
	}
	return p.column()
}

// integer takes an unsigned integer.
func (p *parser) integer(most int64) int64 {
	t := p.tok()
	n, err := strconv.ParseInt(t.text(p), 10, 64)
	if t.kind != tNumber || err != nil || n > most {
		p.syntax()
		return 0
	}
	p.next()
	return n
}

// signed takes an integer that may have a sign.
func (p *parser) signed() int64 {
	if p.acceptKind('-') {
		return -p.integer(math.MaxInt64)
	}
	p.acceptKind('+')
	return p.integer(math.MaxInt64)
}

// column reads a name with qualifiers, or t.*; a name that a call follows is not read.
func (p *parser) column() (ast.Expr, bool) {
	if !p.isName() {
		return nil, false
	}
	start := p.i
	first := p.tok()
	p.next()
	names := []string{p.identText(first)}
	for p.kind() == '.' {
		if p.ahead(1).kind == '*' {
			p.i += 2
			return &ast.Star{Pos: ast.Pos(first.pos), Qualifier: names}, false
		}
		p.next()
		names = append(names, p.label())
	}
	if p.kind() == '(' || p.kind() == '[' && constructorWord(words[first.word]) && len(names) == 1 {
		p.i = start
		return nil, false
	}
	return &ast.Column{Pos: ast.Pos(first.pos), Names: names}, true
}

// constructorWord says whether a bracket behind the word makes a list or map.
func constructorWord(w string) bool { return w == "list" || w == "map" }

// castsOf reads the casts and collations behind an operand that is already whole, and says whether there
// were any.
func (p *parser) castsOf(c *chain, e ast.Expr) (ast.Expr, bool) {
	any := false
	for s := p.cast(c); s != nil; s = p.cast(c) {
		e, any = s(e, nil), true
		p.taller()
	}
	return e, any
}

// suffix wraps an operand in what stands behind it, whose expressions are the next arguments.
type suffix func(e ast.Expr, a *args) ast.Expr

// cast reads one :: or COLLATE, if one follows.
func (p *parser) cast(c *chain) suffix {
	pos := p.pos()
	switch {
	case c.call:
	case p.kind() == tCast:
		p.next()
		t := p.typeName()
		return func(e ast.Expr, _ *args) ast.Expr { return &ast.Cast{Pos: pos, Arg: e, Type: t} }
	case p.collateFollows(c):
		p.next()
		name := p.name()
		return func(e ast.Expr, _ *args) ast.Expr { return &ast.Collate{Pos: pos, Arg: e, Collation: name} }
	}
	return nil
}

// suffixFollows says whether something with an expression inside follows an operand.
func (p *parser) suffixFollows(c *chain, indirection bool) bool {
	if indirection && (p.kind() == '[' || p.kind() == '.') {
		return true
	}
	return p.zoneFollows(c)
}

func (p *parser) zoneFollows(c *chain) bool {
	if c.plain || c.stop >= levelZone || p.word() != "at" {
		return false
	}
	return !c.label || c.lowest != 0 || words[p.ahead(1).word] == "time"
}

func (p *parser) collateFollows(c *chain) bool {
	if c.plain || c.stop >= levelCollate || p.word() != "collate" {
		return false
	}
	return !c.label || c.lowest != 0 || !p.labelEnds()
}

// close ends a marked operand: reads what stands behind it, and shuts the call. If nothing was written inside, the
// operand is whole already, and becomes a hole.
func (p *parser) close(c *chain, n int, indirection bool, build mark) {
	var suffixes []suffix
	for {
		s := p.suffix(c, &indirection)
		if s == nil {
			break
		}
		suffixes = append(suffixes, s)
		p.taller()
	}
	whole := build
	if suffixes != nil {
		whole = func(a *args) ast.Expr {
			e := build(a)
			for _, s := range suffixes {
				e = s(e, a)
			}
			return e
		}
	}
	if p.err == nil && p.dropEmpty('m', n) {
		p.hole(whole(&args{}))
		return
	}
	p.shut()
	p.setMark(n, whole)
}

// suffix reads one thing that stands behind an operand, if one does. Subscripts and fields end with the first
// cast or zone.
func (p *parser) suffix(c *chain, indirection *bool) suffix {
	switch {
	case *indirection && p.kind() == '[':
		return p.subscripts()
	case *indirection && p.kind() == '.':
		return p.field()
	}
	*indirection = false
	if p.zoneFollows(c) {
		return p.atTimeZone()
	}
	return p.cast(c)
}

func (p *parser) atTimeZone() suffix {
	pos := p.pos()
	p.expect("at", "time", "zone")
	p.arg()
	p.chain(&chain{stop: levelZone})
	return func(e ast.Expr, a *args) ast.Expr {
		return &ast.Call{Pos: pos, Func: catalogName(pos, "timezone"), Args: []ast.Expr{a.take(), e}}
	}
}

func (p *parser) field() suffix {
	p.next()
	pos := p.pos()
	if p.acceptKind('*') {
		return func(e ast.Expr, _ *args) ast.Expr { return &ast.Field{Pos: pos, Arg: e} }
	}
	name := p.label()
	return func(e ast.Expr, _ *args) ast.Expr { return &ast.Field{Pos: pos, Arg: e, Name: name} }
}

// subscripts reads [i], [i:j] and several of them. Bounds that are not there stay nil.
func (p *parser) subscripts() suffix {
	pos := p.pos()
	var indexes []ast.Index
	for p.acceptKind('[') {
		var x ast.Index
		if p.kind() != ':' {
			x.Lower = p.bound()
		}
		if p.acceptKind(':') {
			x.Slice = true
			if p.kind() != ']' {
				x.Upper = p.bound()
			}
		}
		p.expectKind(']')
		indexes = append(indexes, x)
	}
	return func(e ast.Expr, a *args) ast.Expr {
		for i := range indexes {
			if indexes[i].Lower != nil {
				indexes[i].Lower = a.take()
			}
			if indexes[i].Upper != nil {
				indexes[i].Upper = a.take()
			}
		}
		return &ast.Subscript{Pos: pos, Arg: e, Indexes: indexes}
	}
}

// written stands for an expression that has been written and is yet to be lifted.
var written = &ast.Default{}

func (p *parser) bound() ast.Expr {
	p.arg()
	p.expr()
	return written
}

// exprs reads a list of expressions. Operands that stand by themselves are read here and now; for the others
// the list has nil, they are written as arguments, and args.fill puts them in. This is what makes long
// lists of literals fast.
func (p *parser) exprs() []ast.Expr {
	es := make([]ast.Expr, 0, 4)
	for {
		es = append(es, p.item())
		if !p.acceptKind(',') {
			return es
		}
	}
}

// item reads one expression of a list, or writes it and gives nil.
func (p *parser) item() ast.Expr {
	start := p.i
	e, _ := p.simple(false)
	if e != nil {
		e, _ = p.castsOf(&chain{}, e)
		if k := p.kind(); k == ',' || k == ')' || k == ']' {
			return e
		}
		p.i = start
	}
	from := len(p.out)
	p.arg()
	p.expr()
	if p.err == nil {
		return p.dropHole(from)
	}
	return nil
}

// embed reads an expression that stands in no query. A plain operand is given at once, anything else is nil now
// and handed to set by the lift.
func (p *parser) embed(set func(ast.Expr)) ast.Expr {
	if p.inline != nil {
		p.argument()
		*p.inline = append(*p.inline, func(a *args) { set(a.take()) })
		return nil
	}
	var e ast.Expr
	p.outside(func() { e = p.item() }, func(a *args) { set(a.take()) })
	return e
}

// embedInto reads an expression into a place that stays where it is.
func (p *parser) embedInto(to *ast.Expr) {
	*to = p.embed(func(e ast.Expr) { *to = e })
}

// outside writes expressions that stand in no query as arguments of a mark in a statement of their own, if any are
// left to be written; take gets them.
func (p *parser) outside(write func(), take func(a *args)) {
	start := len(p.out)
	p.skeleton.write("DO ")
	n := p.open('m')
	write()
	if p.dropEmpty('m', n) {
		p.out = p.out[:start]
		return
	}
	p.shut()
	p.setMark(n, func(a *args) ast.Expr {
		take(a)
		return nil
	})
	p.sink(func(l *lifter, n tidb.StmtNode) { l.expr(n.(*tidb.DoStmt).Exprs[0]) })
}
