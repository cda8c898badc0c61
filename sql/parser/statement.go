package parser

import (
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
)

// statement reads one statement.
func (p *parser) statement() ast.Statement {
	p.enter()
	defer p.leave()
	if p.startsQuery() {
		return p.queryOrDML()
	}
	pos := p.pos()
	w := p.word()
	if read, ok := p.reader(w); ok {
		p.next()
		return read(pos)
	}
	switch w {
	case "insert", "update", "delete":
		return p.queryOrDML()
	case "savepoint", "release", "truncate", "lock", "listen", "notify", "unlisten", "vacuum", "cluster", "reindex",
		"checkpoint", "do", "call", "load", "merge", "move", "validate", "inspect", "analyze", "analyse":
		p.unsupported(pos, "%s", upperWord(w))
	case "refresh":
		p.unsupported(pos, "REFRESH MATERIALIZED VIEW")
	case "import":
		p.unsupported(pos, "IMPORT FOREIGN SCHEMA")
	case "security":
		p.unsupported(pos, "SECURITY LABEL")
	default:
		p.syntax()
	}
	return nil
}

// reader gives what reads the rest of a statement that starts with a word.
func (p *parser) reader(w string) (func(ast.Pos) ast.Statement, bool) {
	switch w {
	case "create":
		return p.create, true
	case "drop":
		return p.drop, true
	case "alter":
		return p.alter, true
	case "comment":
		return p.comment, true
	case "grant":
		return func(pos ast.Pos) ast.Statement { return p.grant(pos, false) }, true
	case "revoke":
		return func(pos ast.Pos) ast.Statement { return p.grant(pos, true) }, true
	case "reassign":
		return p.reassign, true
	case "show":
		return p.show, true
	case "explain":
		return p.explain, true
	case "subscribe":
		return p.subscribe, true
	case "copy":
		return p.copy, true
	case "declare":
		return p.declare, true
	case "fetch":
		return p.fetch, true
	case "close":
		return p.closeCursor, true
	}
	return p.sessionReader(w)
}

func (p *parser) sessionReader(w string) (func(ast.Pos) ast.Statement, bool) {
	switch w {
	case "set":
		return p.set, true
	case "reset":
		return func(pos ast.Pos) ast.Statement { return p.reset(pos) }, true
	case "begin", "start":
		return p.begin, true
	case "commit", "end":
		return p.commit, true
	case "rollback", "abort":
		return p.rollback, true
	case "prepare":
		return p.prepare, true
	case "execute":
		return p.execute, true
	case "deallocate":
		return p.deallocate, true
	case "discard":
		return p.discard, true
	}
	return nil, false
}

// options reads a list (NAME [=] value, …) in parentheses.
func (p *parser) options() []ast.Option { return parenList(p, p.option) }

// option reads NAME [=] value. The name is all words up to a value, of which = is the plain start; true, false, a
// string, a number or a parenthesis starts one too.
func (p *parser) option() ast.Option {
	o := ast.Option{Pos: p.pos()}
	o.Name = strings.TrimSuffix(p.optionName(), " FOR") // RETAIN HISTORY [=] FOR '1h'
	p.enter()
	p.optionValue(&o)
	p.leave()
	return o
}

func (p *parser) optionName() string {
	name := upperWord(p.label())
	for p.kind() == tIdent && p.word() != "true" && p.word() != "false" && p.err == nil {
		name += " " + upperWord(p.label())
	}
	return name
}

// optionValue reads the value of an option, if there is one.
func (p *parser) optionValue(o *ast.Option) {
	eq := p.acceptKind('=') || p.acceptKind(tArrow)
	if eq {
		p.accept("for")
	}
	if p.kind() == '(' && p.ahead(1).kind == tIdent && p.ahead(2).kind != ',' && p.ahead(2).kind != ')' {
		o.Options = p.options()
		return
	}
	switch k := p.kind(); {
	case isString(k), k == tNumber, k == '-', k == '+', k == '(', k == '[':
		o.Value = p.value()
	case k == tIdent, k == tQuoted && eq: // without a sign true and false only, all other words being of the name
		o.Value = p.value()
	case eq:
		p.syntax()
	}
}

// value reads a constant as options and settings have it: bare words are strings, lists are rows.
func (p *parser) value() ast.Expr {
	pos := p.pos()
	switch k := p.kind(); {
	case k == '(' || k == '[':
		return p.valueList(pos)
	case isString(k):
		return &ast.Literal{Pos: pos, Kind: ast.String, Text: p.stringValue()}
	case k == tNumber, k == '-', k == '+':
		return p.numberValue()
	case k == tIdent:
		return p.wordValue(pos)
	}
	return &ast.Literal{Pos: pos, Kind: ast.String, Text: p.label()}
}

func (p *parser) valueList(pos ast.Pos) ast.Expr {
	end := kind(')')
	if p.kind() == '[' {
		end = ']'
	}
	p.next()
	p.enter()
	row := &ast.Row{Pos: pos}
	if p.kind() != end {
		row.Items = list(p, p.value)
	}
	p.leave()
	p.expectKind(end)
	return row
}

func (p *parser) wordValue(pos ast.Pos) ast.Expr {
	switch p.word() {
	case "true", "false":
		return &ast.Literal{Pos: pos, Kind: ast.Bool, Text: p.label()}
	case "null":
		p.next()
		return &ast.Literal{Pos: pos}
	case "interval":
		if e := p.typedLiteral(); e != nil {
			return e
		}
	}
	return &ast.Literal{Pos: pos, Kind: ast.String, Text: p.label()}
}

// numberValue reads a number with its sign.
func (p *parser) numberValue() ast.Expr {
	l := &ast.Literal{Pos: p.pos(), Kind: ast.Number}
	if p.acceptKind('-') {
		l.Text = "-"
	} else {
		p.acceptKind('+')
	}
	t := p.tok()
	p.expectKind(tNumber)
	l.Text += t.text(p)
	return l
}

// ifExists reads IF EXISTS.
func (p *parser) ifExists() bool { return p.accept("if", "exists") }

// ifNotExists reads IF NOT EXISTS.
func (p *parser) ifNotExists() bool {
	if !p.is("if", "not") {
		return false
	}
	p.expect("if", "not", "exists")
	return true
}

// role reads the name of a role.
func (p *parser) role() ast.Role {
	r := ast.Role{Pos: p.pos()}
	t := p.tok()
	switch w := p.word(); w {
	case "current_role", "current_user", "session_user", "public":
		p.next()
		r.Name, r.Keyword = w, true
		return r
	}
	r.Name = p.roleName()
	// PostgreSQL means everybody by "public" even in quotes.
	if t.kind == tQuoted && r.Name == "public" {
		r.Keyword = true
	}
	return r
}

// objectKind reads a kind of object; plural says that many are meant (SHOW TABLES).
func (p *parser) objectKind(plural bool) (ast.ObjectKind, bool) {
	for k := ast.KindObject; k <= ast.KindSubsource; k++ {
		name := k.String()
		if plural {
			name = k.Plural()
		}
		first, second, two := cutWord(name)
		switch {
		case p.word() != first, first == "cluster" && two && words[p.ahead(1).word] != second:
			continue
		case first == "cluster" && !two && p.is("cluster", "replica"):
			continue
		case two:
			p.expect(first, second)
		default:
			p.next()
		}
		return k, true
	}
	return 0, false
}

// cutWord parts a kind of one or two words, in lower case.
func cutWord(name string) (first, second string, two bool) {
	name = lower(name)
	for i := range name {
		if name[i] == ' ' {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}
