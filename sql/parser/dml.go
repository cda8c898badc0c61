package parser

import (
	"github.com/tributary-db/tributary/sql/ast"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// queryOrDML reads a query, INSERT, UPDATE or DELETE, with what WITH says before it.
func (p *parser) queryOrDML() ast.Statement {
	verb := p.word()
	if verb == "with" {
		verb = p.afterWith()
	}
	switch verb {
	case "insert", "update", "delete":
		with := p.dmlWith()
		switch verb {
		case "insert":
			return p.insert(with)
		case "update":
			return p.update(with)
		}
		return p.delete(with)
	case "merge":
		p.unsupported(p.pos(), "MERGE")
		return nil
	}
	return p.embedQuery()
}

// afterWith gives the word behind a WITH clause, which follows the parenthesis that closes the last binding.
func (p *parser) afterWith() string {
	for n := 1; ; n++ {
		t := p.ahead(n)
		if t.kind == '(' && t.match > 0 {
			n = int(t.match) - p.i
			continue
		}
		switch w := words[t.word]; w {
		case "select", "values", "table", "insert", "update", "delete", "merge":
			if p.ahead(n-1).kind == ')' {
				return w
			}
		}
		if t.kind == tEOF || t.kind == ';' {
			return ""
		}
	}
}

// dmlWith reads the WITH before INSERT and the like, as a query of its own that gives nothing.
func (p *parser) dmlWith() *ast.With {
	if p.word() != "with" {
		return nil
	}
	with := new(ast.With)
	verb := p.afterWith()
	p.with()
	if p.word() != verb {
		p.syntax()
	}
	p.newSelect(&ast.Select{})
	p.shut()
	p.noFrom()
	p.sink(func(l *lifter, n tidb.StmtNode) { *with = *l.query(n).With })
	return with
}

func (p *parser) insert(with *ast.With) ast.Statement {
	s := &ast.Insert{Pos: p.pos(), With: with}
	p.next()
	p.expect("into")
	s.Table = p.name()
	if p.accept("as") {
		s.Alias = p.ident()
	}
	s.Columns = p.insertColumns()
	if p.word() == "overriding" {
		p.unsupported(p.pos(), "OVERRIDING")
	}
	if s.Columns == nil && p.accept("default") {
		p.expect("values")
	} else {
		p.insertSource(s)
	}
	if at := p.pos(); p.acceptThen("on", "conflict") {
		p.unsupported(at, "ON CONFLICT")
	}
	p.returning(&s.Returning)
	return s
}

// insertSource reads what is inserted. Rows of literals, the bulk of all that is ever parsed, do not go through
// the skeleton.
func (p *parser) insertSource(s *ast.Insert) {
	if q := p.literalRows(); q != nil {
		s.Source = q
		return
	}
	p.write("INSERT INTO t_0 ")
	p.query()
	p.sink(func(l *lifter, n tidb.StmtNode) { s.Source = l.query(n.(*tidb.InsertStmt).Select) })
}

func (p *parser) insertColumns() []ast.Ident {
	if p.kind() != '(' || p.tok().query || p.ahead(1).kind == '(' {
		return nil
	}
	return parenList(p, func() ast.Ident {
		id := p.identAt()
		if p.kind() == '.' || p.kind() == '[' {
			p.unsupported(p.pos(), "a part of a column as the target of INSERT")
		}
		return id
	})
}

// returning reads RETURNING, as a query of its own.
func (p *parser) returning(to *[]ast.SelectItem) {
	if !p.accept("returning") {
		return
	}
	s := &ast.Select{}
	m := p.newSelect(s)
	p.shut()
	p.results(m)
	p.noFrom()
	p.sink(func(l *lifter, n tidb.StmtNode) {
		l.query(n)
		*to = s.Items
	})
}

func (p *parser) dmlAlias(stop string) string {
	if p.accept("as") {
		return p.ident()
	}
	if p.isName() && p.word() != stop {
		return p.ident()
	}
	return ""
}

func (p *parser) update(with *ast.With) ast.Statement {
	s := &ast.Update{Pos: p.pos(), With: with}
	p.next()
	s.Table = p.onlyName()
	s.Alias = p.dmlAlias("set")
	p.expect("set")
	p.write("UPDATE t_0 SET ")
	for {
		s.Sets = append(s.Sets, p.assign())
		if !p.acceptKind(',') {
			break
		}
		p.write(", ")
	}
	values := func(l *lifter, u *tidb.UpdateStmt) {
		for i := range s.Sets {
			s.Sets[i].Value = l.expr(u.List[i].Expr)
		}
	}
	if p.accept("from") {
		p.sink(func(l *lifter, n tidb.StmtNode) { values(l, n.(*tidb.UpdateStmt)) })
		p.fromWhere(&s.From, &s.Where)
	} else {
		p.where()
		p.sink(func(l *lifter, n tidb.StmtNode) {
			u := n.(*tidb.UpdateStmt)
			values(l, u)
			s.Where = l.optional(u.Where)
		})
	}
	p.returning(&s.Returning)
	return s
}

// assign reads column = value and (columns) = values.
func (p *parser) assign() ast.Assign {
	a := ast.Assign{Pos: p.pos()}
	if p.kind() == '(' {
		a.Multi = true
		a.Columns = parenList(p, p.identAt)
	} else {
		a.Columns = []ast.Ident{p.identAt()}
	}
	if p.kind() == '.' || p.kind() == '[' {
		p.unsupported(p.pos(), "a part of a column as the target of UPDATE")
	}
	p.expectKind('=')
	p.write("c_0 = ")
	p.expr()
	return a
}

func (p *parser) where() {
	if p.accept("where") {
		if p.is("current", "of") {
			p.unsupported(p.pos(), "WHERE CURRENT OF")
		}
		p.write("WHERE ")
		p.expr()
	}
}

// fromWhere reads a list of tables and a condition, as a query of their own.
func (p *parser) fromWhere(from *[]ast.TableExpr, where *ast.Expr) {
	s := &ast.Select{}
	p.newSelect(s)
	p.shut()
	p.from()
	p.where()
	p.sink(func(l *lifter, n tidb.StmtNode) {
		l.query(n)
		*from, *where = s.From, s.Where
	})
}

func (p *parser) delete(with *ast.With) ast.Statement {
	s := &ast.Delete{Pos: p.pos(), With: with}
	p.next()
	p.expect("from")
	s.Table = p.onlyName()
	s.Alias = p.dmlAlias("using")
	if p.accept("using") {
		p.fromWhere(&s.Using, &s.Where)
	} else {
		p.write("DELETE FROM t_0 ")
		p.where()
		p.sink(func(l *lifter, n tidb.StmtNode) { s.Where = l.optional(n.(*tidb.DeleteStmt).Where) })
	}
	p.returning(&s.Returning)
	return s
}
