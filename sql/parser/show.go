package parser

import (
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
)

// show reads the rest of SHOW.
func (p *parser) show(pos ast.Pos) ast.Statement {
	switch {
	case p.accept("create"):
		return p.showCreate(pos, false)
	case p.accept("redacted"):
		p.expect("create")
		return p.showCreate(pos, true)
	case p.accept("privileges"):
		return p.showPrivileges(&ast.ShowPrivileges{Pos: pos})
	case p.accept("default", "privileges"):
		return p.showPrivileges(&ast.ShowPrivileges{Pos: pos, Default: true})
	case p.accept("role", "membership"):
		return p.showPrivileges(&ast.ShowPrivileges{Pos: pos, Membership: true})
	}
	if k, ok := p.objectKind(true); ok {
		return p.showObjects(&ast.ShowObjects{Pos: pos, Kind: k})
	}
	s := &ast.ShowVar{Pos: pos}
	switch {
	case p.accept("all"):
	case p.accept("time", "zone"):
		s.Name = "timezone"
	case p.is("transaction", "isolation"):
		p.expect("transaction", "isolation", "level")
		s.Name = "transaction_isolation"
	case p.accept("session", "authorization"):
		s.Name = "session_authorization"
	case p.accept("names"):
		s.Name = "client_encoding"
	default:
		s.Name = p.variable()
	}
	return s
}

func (p *parser) showCreate(pos ast.Pos, redacted bool) ast.Statement {
	k, ok := p.objectKind(false)
	if !ok {
		p.syntax()
	}
	return &ast.ShowCreate{Pos: pos, Kind: k, Name: p.name(), Redacted: redacted}
}

func (p *parser) showPrivileges(s *ast.ShowPrivileges) ast.Statement {
	if !s.Membership && p.accept("on") {
		k, ok := p.objectKind(true)
		if !ok {
			p.syntax()
		}
		s.On = k
	}
	if p.accept("for") {
		r := p.role()
		s.For = &r
	}
	s.Like = p.showFilter(&s.Where)
	return s
}

func (p *parser) showObjects(s *ast.ShowObjects) ast.Statement {
	if s.Kind == ast.KindColumn {
		if !p.accept("in") {
			p.expect("from")
		}
		s.On = p.name()
	} else {
		switch {
		case p.accept("from"):
			s.From = p.name()
		case p.accept("on"):
			s.On = p.name()
		case p.word() == "in" && !p.is("in", "cluster"):
			p.next()
			s.From = p.name()
		}
		s.Cluster = p.inCluster()
	}
	s.Like = p.showFilter(&s.Where)
	return s
}

// showFilter reads LIKE 'pattern' or WHERE condition, if either is there.
func (p *parser) showFilter(where *ast.Expr) *string {
	switch {
	case p.accept("like"):
		s := p.stringValue()
		return &s
	case p.accept("where"):
		p.embedInto(where)
	}
	return nil
}

// inCluster reads IN CLUSTER name, if it is there.
func (p *parser) inCluster() string {
	if p.accept("in", "cluster") {
		return p.ident()
	}
	return ""
}

// showBody writes a SHOW that stands in FROM as the query that it is.
func (p *parser) showBody() {
	pos := p.pos()
	p.next()
	m := p.newSelect(nil)
	m.queryPos = pos
	var inline []func(a *args)
	p.inline = &inline
	m.body, _ = p.show(pos).(ast.QueryBody)
	p.inline = nil
	p.shut()
	p.noFrom()
	m.build = func(a *args) {
		for _, fill := range inline {
			fill(a)
		}
	}
}

// explainStages are the stages whose plans can be asked for.
var explainStages = []string{"raw", "decorrelated", "locally optimized", "optimized", "physical"}

// explain reads the rest of EXPLAIN.
func (p *parser) explain(pos ast.Pos) ast.Statement {
	s := &ast.Explain{Pos: pos}
	switch {
	case p.accept("timestamp"):
		s.Kind = ast.ExplainTimestamp
	case p.accept("filter", "pushdown"):
		s.Kind = ast.ExplainFilterPushdown
	case p.is("analyze", "cpu"), p.is("analyze", "memory"), p.is("analyze", "hints"):
		p.next()
		s.Kind = ast.ExplainAnalyze
		s.Stage = upperWord(p.label())
	case p.is("replan"), p.is("optimizer", "trace"), p.is("plan", "insights"), p.is("key", "schema"), p.is("value", "schema"),
		p.is("broken"), p.is("analyze", "cluster"):
		p.unsupported(pos, "EXPLAIN %s", upperWord(p.word()))
	case p.kind() == '(' && !p.tok().query && p.ahead(1).kind != '(':
		s.Options = parenList(p, p.wordOption)
		s.Statement = p.explained()
		return s
	default:
		p.explainStage(s)
	}
	if p.accept("with") {
		s.Options = append(s.Options, p.options()...)
	}
	if p.accept("as") {
		s.Format = p.explainFormat()
	}
	p.accept("for")
	p.explainTarget(s)
	return s
}

// explainStage reads [stage] PLAN, or PostgreSQL's ANALYZE and VERBOSE.
func (p *parser) explainStage(s *ast.Explain) {
	for _, stage := range explainStages {
		ws := append(strings.Fields(stage), "plan")
		if p.accept(ws...) {
			s.Stage = upperWord(stage)
			return
		}
	}
	if p.accept("plan") {
		return
	}
	for _, w := range []string{"analyze", "verbose"} {
		at := p.pos()
		if p.accept(w) {
			s.Options = append(s.Options, ast.Option{Pos: at, Name: upperWord(w)})
		}
	}
}

func (p *parser) explainFormat() string {
	switch {
	case p.accept("verbose", "text"):
		return "VERBOSE TEXT"
	case p.accept("text"), p.accept("json"), p.accept("dot"), p.accept("sql"):
		return upperWord(words[p.toks[p.i-1].word])
	}
	p.syntax()
	return ""
}

func (p *parser) explainTarget(s *ast.Explain) {
	for _, k := range []ast.ObjectKind{ast.KindMaterializedView, ast.KindView, ast.KindIndex} {
		first, second, two := cutWord(k.String())
		if p.accept(first) {
			if two {
				p.expect(second)
			}
			s.Object, s.Name = k, p.name()
			return
		}
	}
	s.Statement = p.explained()
}

func (p *parser) explained() ast.Statement {
	return p.inner1("insert", "update", "delete", "subscribe", "create", "declare", "execute")
}
