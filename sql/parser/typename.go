package parser

import (
	"math"
	"strconv"
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
	if p.accept("array") {
		if p.acceptKind('[') {
			p.integer(math.MaxInt32)
			p.expectKind(']')
		}
		return &ast.TypeName{Pos: pos, Kind: ast.ArrayType, Elem: t}
	}
	for p.err == nil {
		switch {
		case p.acceptKind('['):
			if p.kind() != ']' {
				p.integer(math.MaxInt32)
			}
			p.expectKind(']')
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
		return p.lengthType(pos, "bit", "varbit", p.typeMods, false)
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
	if !p.isFunc() {
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
	var mods []int64
	for {
		if mod, ok := p.typeMod(); ok {
			mods = append(mods, mod)
		} else {
			p.late = pgerr.New(pgerr.SyntaxError, "type modifiers must be simple constants or identifiers").At(int(p.pos()))
			p.expr() // only to find a syntax error in it
		}
		if !p.acceptKind(',') {
			break
		}
	}
	p.expectKind(')')
	return mods
}

// typeMod reads a modifier that is an integer.
func (p *parser) typeMod() (int64, bool) {
	n := 0
	if k := p.kind(); k == '-' || k == '+' {
		n = 1
	}
	_, err := strconv.ParseInt(p.ahead(n).text(p), 10, 64)
	if end := p.ahead(n + 1).kind; err != nil || end != ',' && end != ')' {
		return 0, false
	}
	return p.signed(), true
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
func (p *parser) lengthType(pos ast.Pos, fixed, varying string, mods func() []int64, already bool) *ast.TypeName {
	if already || p.accept("varying") {
		return catalogType(pos, varying, mods()...)
	}
	length := mods()
	if length == nil {
		length = []int64{1}
	}
	return catalogType(pos, fixed, length...)
}

func (p *parser) characterType(pos ast.Pos, w string) *ast.TypeName {
	p.next()
	if w == "national" {
		if !p.accept("character") {
			p.expect("char")
		}
	}
	return p.lengthType(pos, "bpchar", "varchar", p.precision, w == "varchar")
}

func (p *parser) timeType(pos ast.Pos, w string) *ast.TypeName {
	p.next()
	mods := p.precision()
	switch {
	case p.is("with", "time"):
		p.expect("with", "time", "zone")
		return catalogType(pos, w+"tz", mods...)
	case p.word() == "without":
		p.expect("without", "time", "zone")
	}
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
	var t *ast.TypeName
	if p.ahead(1).kind == '.' { // a qualifier may be a word that no type's name may be
		t = &ast.TypeName{Pos: pos, Name: p.name().Parts}
		t.Mods = p.typeMods()
	} else {
		t = p.baseType()
	}
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

// typedLiteralFollows says whether the words here are a type before a string rather than a name. For types with
// words of their own the next token decides, as for PostgreSQL's parser; other names must have the string.
func (p *parser) typedLiteralFollows() bool {
	next := p.ahead(1)
	word := words[next.word]
	switch p.word() {
	case "double":
		if word == "precision" {
			return true
		}
	case "national":
		return word == "character" || word == "char"
	case "char", "character", "nchar", "bit":
		return word == "varying" || next.kind == '(' || isString(next.kind)
	case "time", "timestamp":
		zone := word == "without" || word == "with" && words[p.ahead(2).word] == "time"
		return zone || next.kind == '(' || isString(next.kind)
	case "float", "dec", "decimal", "numeric", "varchar", "interval":
		return next.kind == '(' || isString(next.kind)
	case "int", "integer", "smallint", "bigint", "real", "boolean":
		return isString(next.kind)
	}
	if next.kind == '.' && !p.isName() || next.kind != '.' && !p.isFunc() {
		return false
	}
	n := 1
	for p.ahead(n).kind == '.' {
		n += 2
	}
	if t := p.ahead(n); t.kind == '(' && t.match > 0 && p.ahead(n+1).kind != ')' {
		n = int(t.match) - p.i + 1
	}
	return isString(p.ahead(n).kind)
}
