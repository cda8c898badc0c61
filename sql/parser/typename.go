package parser

import (
	"math"
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

func catalogType(pos ast.Pos, name string, mods ...int64) *ast.TypeName {
	return &ast.TypeName{Pos: pos, Name: []string{"pg_catalog", name}, Mods: mods}
}

// typeName reads the name of a type, arrays and lists included.
func (p *parser) typeName() *ast.TypeName {
	p.enter()
	defer p.leave()
	pos := p.pos()
	t := p.baseType()
	for p.err == nil {
		switch {
		case p.kind() == '[':
			for p.acceptKind('[') {
				if p.kind() != ']' {
					p.integer(math.MaxInt32)
				}
				p.expectKind(']')
				t = p.wrapType(&ast.TypeName{Pos: pos, Kind: ast.ArrayType, Elem: t})
			}
		case p.accept("array"):
			if p.acceptKind('[') {
				p.integer(math.MaxInt32)
				p.expectKind(']')
			}
			t = p.wrapType(&ast.TypeName{Pos: pos, Kind: ast.ArrayType, Elem: t})
		case p.accept("list"):
			t = p.wrapType(&ast.TypeName{Pos: pos, Kind: ast.ListType, Elem: t})
		default:
			return t
		}
	}
	return t
}

// wrapType bounds how many brackets may stand behind a type.
func (p *parser) wrapType(t *ast.TypeName) *ast.TypeName {
	n := 0
	for e := t; e != nil; e = e.Elem {
		n++
	}
	if n > maxDepth {
		p.tooDeep()
	}
	return t
}

// simpleTypes are the keywords that stand for one type and take no modifier.
var simpleTypes = map[string]string{
	"int": "int4", "integer": "int4", "smallint": "int2", "bigint": "int8", "real": "float4", "boolean": "bool",
}

func (p *parser) baseType() *ast.TypeName {
	pos, w := p.pos(), p.word()
	if name, ok := simpleTypes[w]; ok {
		p.next()
		return catalogType(pos, name)
	}
	switch w {
	case "dec", "decimal", "numeric":
		p.next()
		return catalogType(pos, "numeric", p.typeMods()...)
	case "float":
		return p.floatType(pos)
	case "double":
		if p.accept("double", "precision") {
			return catalogType(pos, "float8")
		}
	case "bit":
		p.next()
		return p.lengthType(pos, "bit", "varbit", false)
	case "char", "character", "nchar", "national", "varchar":
		return p.characterType(pos, w)
	case "time", "timestamp":
		return p.timeType(pos, w)
	case "interval":
		p.next()
		t := catalogType(pos, "interval", p.precision()...)
		if t.Mods == nil {
			p.intervalFields(t)
		}
		return t
	case "map":
		if p.ahead(1).kind == '[' {
			return p.mapType(pos)
		}
	case "setof":
		p.unsupported(pos, "SETOF")
	}
	if !p.isFunc(p.tok()) {
		p.syntax()
		return &ast.TypeName{}
	}
	t := &ast.TypeName{Pos: pos, Name: p.nameOf(ast.TypeFuncName).Parts}
	if p.kind() == '%' && words[p.ahead(1).word] == "type" {
		p.unsupported(pos, "%%TYPE")
	}
	t.Mods = p.typeMods()
	return t
}

func (p *parser) mapType(pos ast.Pos) *ast.TypeName {
	p.i += 2
	t := &ast.TypeName{Pos: pos, Kind: ast.MapType, Key: p.typeName()}
	p.expectKind(tArrow)
	t.Elem = p.typeName()
	p.expectKind(']')
	return t
}

// typeMods reads modifiers in parentheses, if there are any.
func (p *parser) typeMods() []int64 {
	if !p.acceptKind('(') {
		return nil
	}
	mods := list(p, func() int64 {
		if k := p.kind(); k != tNumber && k != '-' && k != '+' && k != tEOF && k != ')' {
			p.fail(pgerr.New(pgerr.SyntaxError, "type modifiers must be simple constants or identifiers").At(int(p.pos())))
		}
		return p.signed()
	})
	p.expectKind(')')
	return mods
}

// precision reads one unsigned modifier, if there is one.
func (p *parser) precision() []int64 {
	if !p.acceptKind('(') {
		return nil
	}
	n := p.integer(math.MaxInt32)
	p.expectKind(')')
	return []int64{n}
}

func (p *parser) floatType(pos ast.Pos) *ast.TypeName {
	p.next()
	at := p.ahead(1).pos
	mods := p.precision()
	switch {
	case mods == nil || mods[0] >= 25 && mods[0] <= 53:
		return catalogType(pos, "float8")
	case mods[0] < 1:
		p.fail(pgerr.New(pgerr.InvalidParameterValue, "precision for type float must be at least 1 bit").At(int(at)))
	case mods[0] > 53:
		p.fail(pgerr.New(pgerr.InvalidParameterValue, "precision for type float must be less than 54 bits").At(int(at)))
	}
	return catalogType(pos, "float4")
}

// lengthType reads VARYING and a length. Without a length the fixed type has length one.
func (p *parser) lengthType(pos ast.Pos, fixed, varying string, already bool) *ast.TypeName {
	if p.accept("varying") || already {
		return catalogType(pos, varying, p.typeMods()...)
	}
	mods := p.typeMods()
	if mods == nil {
		mods = []int64{1}
	}
	return catalogType(pos, fixed, mods...)
}

func (p *parser) characterType(pos ast.Pos, w string) *ast.TypeName {
	p.next()
	if w == "national" {
		if !p.accept("character") {
			p.expect("char")
		}
	}
	return p.lengthType(pos, "bpchar", "varchar", w == "varchar")
}

func (p *parser) timeType(pos ast.Pos, w string) *ast.TypeName {
	p.next()
	mods := p.precision()
	if p.accept("with", "time", "zone") {
		return catalogType(pos, w+"tz", mods...)
	}
	p.accept("without", "time", "zone")
	return catalogType(pos, w, mods...)
}

// intervalRanges are the fields that may follow another behind TO.
var intervalRanges = map[string]string{
	"year": "month", "day": "hour minute second", "hour": "minute second", "minute": "second", "month": "", "second": "",
}

// intervalFields reads a restriction such as DAY TO SECOND(3), if there is one.
func (p *parser) intervalFields(t *ast.TypeName) {
	first := p.word()
	ends, ok := intervalRanges[first]
	if !ok {
		return
	}
	p.next()
	t.Fields = upperWord(first)
	last := first
	if ends != "" && p.accept("to") {
		last = p.word()
		if last == "" || !strings.Contains(" "+ends+" ", " "+last+" ") {
			p.syntax()
			return
		}
		p.next()
		t.Fields += " TO " + upperWord(last)
	}
	if last == "second" {
		t.Mods = p.precision()
	}
}

// typedLiteral reads a type and a string: DATE '2001-02-03'. It gives nil, and reads nothing, if none follows.
func (p *parser) typedLiteral() ast.Expr {
	if !p.typedLiteralFollows() {
		return nil
	}
	pos := p.pos()
	w := p.word()
	t := p.baseType()
	switch w {
	case "char", "character", "nchar", "national", "bit":
		if p.toks[p.i-1].kind != ')' {
			t.Mods = nil // without a length of its own the literal has the length that it has
		}
	}
	at := p.pos()
	e := &ast.Cast{Pos: pos, Arg: &ast.Literal{Pos: at, Kind: ast.String, Text: p.stringValue()}, Type: t}
	if w == "interval" && t.Mods == nil {
		p.intervalFields(t)
	}
	return e
}

// typedLiteralFollows looks past the words and modifiers of a type for a string.
func (p *parser) typedLiteralFollows() bool {
	n := 1
	skip := func(w string) {
		if words[p.ahead(n).word] == w {
			n++
		}
	}
	switch p.word() {
	case "double":
		skip("precision")
	case "national":
		n++
		skip("varying")
	case "char", "character", "nchar", "bit":
		skip("varying")
	case "int", "integer", "smallint", "bigint", "real", "boolean", "float", "dec", "decimal", "numeric", "varchar",
		"time", "timestamp", "interval":
	default:
		if !p.isFunc(p.tok()) {
			return false
		}
		for p.ahead(n).kind == '.' {
			n += 2
		}
	}
	if t := p.ahead(n); t.kind == '(' && t.match > 0 {
		n = int(t.match) - p.i + 1
	}
	if w := words[p.ahead(n).word]; w == "with" || w == "without" {
		if (p.word() != "time" && p.word() != "timestamp") || words[p.ahead(n+1).word] != "time" || words[p.ahead(n+2).word] != "zone" {
			return false
		}
		n += 3
	}
	return isString(p.ahead(n).kind)
}
