package parser

import (
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
)

// variable reads the name of a setting.
func (p *parser) variable() string {
	name := p.ident()
	for p.acceptKind('.') {
		name += "." + p.ident()
	}
	return name
}

// set reads the rest of SET.
func (p *parser) set(pos ast.Pos) ast.Statement {
	s := &ast.SetVar{Pos: pos}
	if p.setFollows() { // a setting may be called like a word below
		p.setRest(s)
		return s
	}
	switch {
	case p.accept("transaction"):
		return p.setTransaction(pos)
	case p.accept("session", "characteristics"):
		p.expect("as", "transaction")
		s := p.setTransaction(pos)
		s.Session = true
		return s
	case p.accept("constraints"):
		p.unsupported(pos, "SET CONSTRAINTS")
		return nil
	case p.word() == "session" && !p.is("session", "authorization"):
		p.next()
		s.Scope = ast.ScopeSession
	case p.accept("local"):
		s.Scope = ast.ScopeLocal
	}
	p.setRest(s)
	return s
}

// setFollows says whether the next token is a name before TO, = or a dot.
func (p *parser) setFollows() bool {
	t := p.ahead(1)
	return t.kind == '=' || t.kind == '.' || words[t.word] == "to"
}

func (p *parser) setTransaction(pos ast.Pos) *ast.SetTransaction {
	if p.word() == "snapshot" {
		p.unsupported(pos, "SET TRANSACTION SNAPSHOT")
	}
	s := &ast.SetTransaction{Pos: pos, Modes: p.transactionModes()}
	if s.Modes == nil {
		p.syntax()
	}
	return s
}

// setRest reads the name and value of a SET, and the forms that have words for names.
func (p *parser) setRest(s *ast.SetVar) {
	if p.setFollows() {
		s.Name = p.variable()
		s.Values = p.setValues()
		return
	}
	switch {
	case p.acceptThen("time", "zone"):
		s.Name = "timezone"
		if !p.accept("default") && !p.accept("local") {
			s.Values = []ast.Expr{p.zoneValue()}
		}
	case p.accept("names"):
		s.Name = "client_encoding"
		if isString(p.kind()) {
			s.Values = []ast.Expr{p.value()}
		} else {
			p.accept("default")
		}
	case p.accept("schema"):
		s.Name, s.Values = "search_path", []ast.Expr{p.stringLiteral()}
	case p.accept("role"):
		s.Name, s.Values = "role", []ast.Expr{p.wordOrString()}
	case p.acceptThen("session", "authorization"):
		s.Name = "session_authorization"
		if !p.accept("default") {
			s.Values = []ast.Expr{p.wordOrString()}
		}
	case p.is("xml", "option"), p.is("catalog") && isString(p.ahead(1).kind):
		p.unsupported(p.pos(), "SET %s", upperWord(p.word()))
	default:
		s.Name = p.variable()
		s.Values = p.setValues()
	}
}

// wordOrString reads a word that is not reserved, or a string.
func (p *parser) wordOrString() ast.Expr {
	if isString(p.kind()) {
		return p.stringLiteral()
	}
	return &ast.Literal{Pos: p.pos(), Kind: ast.String, Text: p.roleName()}
}

// zoneValue reads a time zone: a string, a name that is no keyword, a number or an interval.
func (p *parser) zoneValue() ast.Expr {
	switch t := p.tok(); {
	case t.kind == tIdent && t.word != 0 && p.word() != "interval" && isPostgresWord(p.word()), t.kind == '(', t.kind == '[':
		p.syntax()
	}
	return p.value()
}

// setValues reads TO or = and what follows.
func (p *parser) setValues() []ast.Expr {
	if at := p.pos(); p.acceptThen("from", "current") {
		p.unsupported(at, "SET FROM CURRENT")
	}
	if !p.acceptKind('=') {
		p.expect("to")
	}
	if p.accept("default") {
		return nil
	}
	return list(p, p.setValue)
}

// setValue reads one value: a constant, ON, or a word that is not reserved.
func (p *parser) setValue() ast.Expr {
	t := p.tok()
	if t.kind == tIdent && wordInfos[t.word].category == ast.Reserved {
		switch words[t.word] {
		case "true", "false", "on":
		default:
			p.syntax()
			return nil
		}
	}
	if t.kind == '(' || t.kind == '[' {
		p.syntax()
		return nil
	}
	return p.value()
}

func (p *parser) reset(pos ast.Pos) *ast.ResetVar {
	s := &ast.ResetVar{Pos: pos}
	switch {
	case p.accept("all"):
	case p.accept("time", "zone"):
		s.Name = "timezone"
	case p.is("transaction", "isolation"):
		p.expect("transaction", "isolation", "level")
		s.Name = "transaction_isolation"
	case p.accept("session", "authorization"):
		s.Name = "session_authorization"
	default:
		s.Name = p.variable()
	}
	return s
}

// transactionModes reads modes apart by commas or blanks; nil if there are none.
func (p *parser) transactionModes() []ast.TransactionMode {
	var modes []ast.TransactionMode
	for {
		var m ast.TransactionMode
		switch {
		case p.acceptThen("isolation", "level"):
			m.Isolation = p.isolation()
		case p.accept("read", "only"):
			m.Access = "READ ONLY"
		case p.acceptThen("read", "write"):
			m.Access = "READ WRITE"
		case p.accept("deferrable"):
			m.Deferrable = "DEFERRABLE"
		case p.acceptThen("not", "deferrable"):
			m.Deferrable = "NOT DEFERRABLE"
		default:
			if len(modes) > 0 && p.toks[p.i-1].kind == ',' {
				p.syntax()
			}
			return modes
		}
		modes = append(modes, m)
		p.acceptKind(',')
	}
}

// isolationLevels are the levels that have words.
var isolationLevels = []string{
	"strong session serializable", "strict serializable", "serializable", "repeatable read", "read committed",
	"read uncommitted",
}

func (p *parser) isolation() string {
	for _, level := range isolationLevels {
		if p.accept(strings.Fields(level)...) {
			return level
		}
	}
	switch p.word() { // the first word promised another
	case "strong", "strict", "repeatable", "read":
		p.next()
	}
	p.syntax()
	return ""
}

func (p *parser) workOrTransaction() {
	if !p.accept("work") {
		p.accept("transaction")
	}
}

func (p *parser) begin(pos ast.Pos) ast.Statement {
	if words[p.toks[p.i-1].word] == "start" {
		p.expect("transaction")
	} else {
		p.workOrTransaction()
	}
	return &ast.Begin{Pos: pos, Modes: p.transactionModes()}
}

// chained reads [AND [NO] CHAIN] behind COMMIT and ROLLBACK.
func (p *parser) chained(verb string) bool {
	if p.word() == "prepared" {
		p.unsupported(p.pos(), "%s PREPARED", verb)
	}
	p.workOrTransaction()
	if !p.accept("and") {
		return false
	}
	no := p.accept("no")
	p.expect("chain")
	return !no
}

func (p *parser) commit(pos ast.Pos) ast.Statement {
	return &ast.Commit{Pos: pos, Chain: p.chained("COMMIT")}
}

func (p *parser) rollback(pos ast.Pos) ast.Statement {
	s := &ast.Rollback{Pos: pos, Chain: p.chained("ROLLBACK")}
	if p.word() == "to" {
		p.unsupported(pos, "ROLLBACK TO SAVEPOINT")
	}
	return s
}

func (p *parser) prepare(pos ast.Pos) ast.Statement {
	if p.word() == "transaction" && isString(p.ahead(1).kind) {
		p.unsupported(pos, "PREPARE TRANSACTION")
	}
	s := &ast.Prepare{Pos: pos, Name: p.ident()}
	if p.kind() == '(' {
		s.Types = parenList(p, p.typeName)
	}
	p.expect("as")
	s.Statement = p.inner1("insert", "update", "delete", "subscribe", "show")
	return s
}

// inner1 reads a statement inside another: a query, or one that starts with one of the given words.
func (p *parser) inner1(also ...string) ast.Statement {
	if p.startsQuery() {
		return p.statement()
	}
	for _, w := range also {
		if p.word() == w {
			return p.statement()
		}
	}
	p.syntax()
	return nil
}

func (p *parser) execute(pos ast.Pos) ast.Statement {
	if p.is("unit", "test") {
		p.unsupported(pos, "EXECUTE UNIT TEST")
	}
	s := &ast.Execute{Pos: pos, Name: p.ident()}
	if p.acceptKind('(') {
		p.outside(func() { s.Args = p.exprs() }, func(a *args) { a.fill(s.Args) })
		p.expectKind(')')
	}
	return s
}

func (p *parser) deallocate(pos ast.Pos) ast.Statement {
	if p.word() == "prepare" && p.ahead(1).kind != ';' && p.ahead(1).kind != tEOF {
		p.next()
	}
	s := &ast.Deallocate{Pos: pos}
	if !p.accept("all") {
		s.Name = p.ident()
	}
	return s
}

func (p *parser) discard(pos ast.Pos) ast.Statement {
	s := &ast.Discard{Pos: pos}
	switch p.word() {
	case "all", "plans", "sequences", "temp":
		s.What = upperWord(p.word())
	case "temporary":
		s.What = "TEMP"
	default:
		p.syntax()
	}
	p.next()
	return s
}
