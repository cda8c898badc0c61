package parser

import (
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// create reads the rest of CREATE.
func (p *parser) create(pos ast.Pos) ast.Statement {
	orReplace := p.acceptThen("or", "replace")
	temporary := p.temporary()
	switch {
	case p.is("recursive", "view"):
		p.unsupported(pos, "CREATE RECURSIVE VIEW")
		return nil
	case p.accept("view"):
		return p.createView(&ast.CreateView{Pos: pos, OrReplace: orReplace, Temporary: temporary})
	case p.acceptThen("materialized", "view"):
		return p.createMaterializedView(&ast.CreateMaterializedView{Pos: pos, OrReplace: orReplace})
	case p.accept("replacement", "materialized", "view"):
		return p.createReplacement(&ast.CreateMaterializedView{Pos: pos})
	case orReplace:
		p.createOther(pos)
		return nil
	case p.accept("table"):
		return p.createTable(&ast.CreateTable{Pos: pos, Temporary: temporary})
	}
	switch {
	case p.accept("database"):
		s := &ast.CreateDatabase{Pos: pos, IfNotExists: p.ifNotExists()}
		s.Name = p.ident()
		if k := p.kind(); k != tEOF && k != ';' {
			p.unsupported(p.pos(), "an option of CREATE DATABASE")
		}
		return s
	case p.accept("schema"):
		return p.createSchema(pos)
	case p.is("index"), p.is("unique"), p.is("default"):
		return p.createIndex(pos)
	case p.accept("type"):
		return p.createType(pos)
	case p.accept("cluster", "replica"):
		return p.createClusterReplica(pos)
	case p.accept("cluster"):
		return p.createCluster(pos)
	case p.accept("role"):
		s := &ast.CreateRole{Pos: pos, Name: p.roleName()}
		s.Attributes = p.roleAttributes()
		return s
	case p.accept("source"):
		return p.createSource(pos)
	}
	p.createOther(pos)
	return nil
}

func (p *parser) temporary() bool {
	if p.accept("global") || p.accept("local") {
		if !p.accept("temp") {
			p.expect("temporary")
		}
		return true
	}
	return p.accept("temporary") || p.accept("temp")
}

// createOther refuses what PostgreSQL and Materialize can create and we cannot.
func (p *parser) createOther(pos ast.Pos) {
	switch w := p.word(); w {
	case "user", "group", "function", "procedure", "trigger", "sequence", "extension", "aggregate", "cast", "collation",
		"conversion", "domain", "event", "foreign", "language", "operator", "policy", "publication", "rule", "server",
		"statistics", "subscription", "tablespace", "text", "transform", "unlogged", "constraint", "access", "trusted",
		"procedural", "sink", "connection", "secret", "network", "webhook", "source", "subsource", "metric", "replacement":
		p.unsupported(pos, "CREATE %s", upperWord(w))
	}
	p.syntax()
}

func (p *parser) createSchema(pos ast.Pos) ast.Statement {
	s := &ast.CreateSchema{Pos: pos, IfNotExists: p.ifNotExists()}
	if p.word() == "authorization" {
		p.unsupported(p.pos(), "CREATE SCHEMA AUTHORIZATION")
	}
	s.Name = p.name()
	switch p.word() {
	case "authorization", "create", "grant":
		p.unsupported(p.pos(), "%s in CREATE SCHEMA", upperWord(p.word()))
	}
	return s
}

func (p *parser) createView(s *ast.CreateView) ast.Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	s.Columns = p.maybeColumns()
	if p.word() == "with" {
		p.unsupported(p.pos(), "WITH (…) on a view")
	}
	p.expect("as")
	s.Query = p.embedQuery()
	if p.word() == "with" {
		p.unsupported(p.pos(), "WITH CHECK OPTION")
	}
	return s
}

func (p *parser) createReplacement(s *ast.CreateMaterializedView) ast.Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	p.expect("for")
	s.Replaces = p.name()
	p.materializedBody(s)
	return s
}

func (p *parser) createMaterializedView(s *ast.CreateMaterializedView) ast.Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	s.Columns = p.maybeColumns()
	p.materializedBody(s)
	return s
}

func (p *parser) materializedBody(s *ast.CreateMaterializedView) {
	if p.word() == "using" {
		p.unsupported(p.pos(), "an access method")
	}
	if s.Cluster = p.inCluster(); s.Cluster != "" && p.accept("replica") {
		s.Replica = p.ident()
	}
	if p.accept("with") {
		p.expectKind('(')
		for {
			if p.accept("refresh") {
				p.refresh(s)
			} else {
				s.Options = append(s.Options, p.viewOption())
			}
			if !p.acceptKind(',') {
				break
			}
		}
		p.expectKind(')')
	}
	p.expect("as")
	s.Query = p.embedQuery()
	if p.accept("with") {
		if p.is("no", "data") {
			p.unsupported(p.pos(), "WITH NO DATA")
		}
		p.expect("data")
	}
}

// viewOption reads ASSERT NOT NULL [=] column, or an option like any other.
func (p *parser) viewOption() ast.Option {
	if at := p.pos(); p.accept("assert", "not", "null") {
		p.acceptKind('=')
		column := &ast.Literal{Pos: p.pos(), Kind: ast.String}
		if isString(p.kind()) {
			column.Text = p.stringValue()
		} else {
			column.Text = p.ident()
		}
		return ast.Option{Pos: at, Name: "ASSERT NOT NULL", Value: column}
	}
	return p.option()
}

// refresh reads what follows REFRESH, of which there may be several.
func (p *parser) refresh(s *ast.CreateMaterializedView) {
	r := ast.Refresh{Pos: ast.Pos(p.toks[p.i-1].pos)}
	n := len(s.Refresh)
	at := func() { r.At = p.embed(func(e ast.Expr) { s.Refresh[n].At = e }) }
	p.acceptKind('=')
	switch {
	case p.accept("on", "commit"):
	case p.accept("at", "creation"):
		r.Kind = ast.RefreshAtCreation
	case p.accept("at"):
		r.Kind = ast.RefreshAt
		at()
	default:
		p.expect("every")
		r.Kind = ast.RefreshEvery
		at()
		if p.accept("aligned", "to") {
			r.AlignedTo = p.embed(func(e ast.Expr) { s.Refresh[n].AlignedTo = e })
		}
	}
	s.Refresh = append(s.Refresh, r)
}

// createTable reads the rest of CREATE TABLE.
func (p *parser) createTable(s *ast.CreateTable) ast.Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	switch {
	case p.word() == "as":
		p.unsupported(s.Pos, "CREATE TABLE AS")
	case p.is("from", "source"):
		p.unsupported(s.Pos, "CREATE TABLE FROM SOURCE")
	case p.is("of"), p.is("partition", "of"):
		p.unsupported(p.pos(), "CREATE TABLE %s", upperWord(p.word()))
	}
	p.expectKind('(')
	if p.kind() != ')' {
		for {
			p.tableElement(s)
			if !p.acceptKind(',') {
				break
			}
		}
	}
	p.expectKind(')')
	p.tableEnd(s)
	return s
}

// tableEnd reads what stands behind the columns of a table.
func (p *parser) tableEnd(s *ast.CreateTable) {
	if p.accept("with") {
		s.Options = p.options()
	}
	switch p.word() {
	case "inherits", "partition", "tablespace":
		p.unsupported(p.pos(), "%s", upperWord(p.word()))
	case "using":
		p.unsupported(p.pos(), "a table access method")
	case "on":
		p.unsupported(p.pos(), "ON COMMIT")
	case "as":
		p.unsupported(s.Pos, "CREATE TABLE AS")
	}
}

func (p *parser) tableElement(s *ast.CreateTable) {
	switch w := p.word(); w {
	case "constraint", "check", "primary", "unique", "foreign", "exclude":
		if w == "exclude" && p.ahead(1).kind != '(' && words[p.ahead(1).word] != "using" {
			break // a column of that name
		}
		n := len(s.Constraints)
		s.Constraints = append(s.Constraints, p.tableConstraint(func(e ast.Expr) { s.Constraints[n].Expr = e }))
		return
	case "like":
		p.unsupported(p.pos(), "LIKE in CREATE TABLE")
	}
	n := len(s.Columns)
	s.Columns = append(s.Columns, p.columnDef(func(k int, e ast.Expr) { s.Columns[n].Constraints[k].Expr = e }))
}

// columnDef reads a column and its constraints; set gets the expression of the k-th constraint.
func (p *parser) columnDef(set func(k int, e ast.Expr)) ast.ColumnDef {
	d := ast.ColumnDef{Pos: p.pos(), Name: p.ident()}
	d.Type = p.typeName()
	for p.err == nil {
		if p.accept("collate") {
			d.Collation = p.name()
			continue
		}
		k := len(d.Constraints)
		c, ok := p.columnConstraint(func(e ast.Expr) { set(k, e) })
		if !ok {
			break
		}
		d.Constraints = append(d.Constraints, c)
	}
	return d
}

func (p *parser) constraintName() string {
	if p.accept("constraint") {
		return p.ident()
	}
	return ""
}

func (p *parser) columnConstraint(set func(ast.Expr)) (ast.Constraint, bool) {
	c := ast.Constraint{Pos: p.pos(), Name: p.constraintName()}
	switch {
	case p.word() == "not" && words[p.ahead(1).word] != "deferrable":
		p.expect("not", "null")
		c.Kind = ast.NotNull
	case p.accept("null"):
		c.Kind = ast.Nullable
	case p.accept("default"):
		c.Kind = ast.DefaultValue
		c.Expr = p.embedPlain(set)
	case p.acceptThen("primary", "key"):
		c.Kind = ast.PrimaryKey
	case p.accept("unique"):
		c.Kind = ast.Unique
	case p.accept("check"):
		c.Kind = ast.Check
		c.Expr = p.embedParen(set)
	default:
		p.otherConstraint()
		if c.Name != "" {
			p.syntax()
		}
		return c, false
	}
	return c, true
}

func (p *parser) otherConstraint() {
	switch p.word() {
	case "references", "generated", "storage", "compression", "deferrable", "initially":
		p.unsupported(p.pos(), "%s", upperWord(p.word()))
	case "foreign":
		p.unsupported(p.pos(), "FOREIGN KEY")
	case "exclude":
		p.unsupported(p.pos(), "EXCLUDE")
	case "not":
		if words[p.ahead(1).word] == "deferrable" {
			p.unsupported(p.pos(), "NOT DEFERRABLE")
		}
	}
}

func (p *parser) tableConstraint(set func(ast.Expr)) ast.Constraint {
	c := ast.Constraint{Pos: p.pos(), Name: p.constraintName()}
	switch {
	case p.acceptThen("primary", "key"):
		c.Kind = ast.PrimaryKey
		c.Columns = parenList(p, p.identAt)
	case p.accept("unique"):
		c.Kind = ast.Unique
		c.Columns = parenList(p, p.identAt)
	case p.accept("check"):
		c.Kind = ast.Check
		c.Expr = p.embedParen(set)
	default:
		p.otherConstraint()
		p.syntax()
	}
	p.otherConstraint()
	return c
}

// embedPlain is embed for an expression behind which words such as NOT NULL mean something else.
func (p *parser) embedPlain(set func(ast.Expr)) ast.Expr {
	p.outside(p.plainExpr, func(a *args) { set(a.take()) })
	return nil
}

// embedParen is embed for an expression in parentheses.
func (p *parser) embedParen(set func(ast.Expr)) ast.Expr {
	p.expectKind('(')
	e := p.embed(set)
	p.expectKind(')')
	return e
}

// createIndex reads the rest of CREATE [UNIQUE | DEFAULT] INDEX.
func (p *parser) createIndex(pos ast.Pos) ast.Statement {
	s := &ast.CreateIndex{Pos: pos, Unique: p.accept("unique"), Default: p.accept("default")}
	p.expect("index")
	if p.word() == "concurrently" {
		p.unsupported(p.pos(), "CONCURRENTLY")
	}
	s.IfNotExists = p.ifNotExists()
	if s.IfNotExists || p.word() != "on" && !p.is("in", "cluster") {
		s.Name = p.identAt()
	}
	s.Cluster = p.inCluster()
	p.expect("on")
	s.On = p.onlyName()
	if p.accept("using") {
		s.Using = p.ident()
	}
	if !s.Default {
		p.expectKind('(')
		s.Keys = p.indexKeys()
		p.expectKind(')')
	}
	if p.accept("with") {
		s.Options = p.options()
	}
	switch p.word() {
	case "include", "where", "tablespace":
		p.unsupported(p.pos(), "%s in CREATE INDEX", upperWord(p.word()))
	}
	return s
}

func (p *parser) indexKeys() (items []ast.OrderItem) {
	p.outside(func() { items = list(p, p.indexKey) }, func(a *args) { a.order(items) })
	return items
}

func (p *parser) indexKey() ast.OrderItem {
	p.argument()
	if p.isName() && p.word() != "nulls" {
		p.unsupported(p.pos(), "an operator class")
	}
	return p.orderPlacement()
}

// createType reads the rest of CREATE TYPE.
func (p *parser) createType(pos ast.Pos) ast.Statement {
	s := &ast.CreateType{Pos: pos, Name: p.name()}
	if p.word() != "as" {
		p.unsupported(pos, "CREATE TYPE without AS")
	}
	p.next()
	switch {
	case p.accept("list"):
		s.As = ast.ListType
	case p.accept("map"):
		s.As = ast.MapType
	case p.is("enum"), p.is("range"):
		p.unsupported(p.pos(), "CREATE TYPE AS %s", upperWord(p.word()))
	default:
		s.Fields = parenList(p, p.typedColumn)
		return s
	}
	s.Options = parenList(p, p.typeOption)
	return s
}

func (p *parser) typeOption() ast.TypeOption {
	o := ast.TypeOption{Pos: p.pos()}
	switch p.word() {
	case "element", "key", "value":
		o.Name = upperWord(p.word()) + " TYPE"
		p.next()
	}
	p.expect("type")
	p.acceptKind('=')
	o.Type = p.typeName()
	return o
}

// createCluster reads the rest of CREATE CLUSTER, whose options may stand without parentheses.
func (p *parser) createCluster(pos ast.Pos) ast.Statement {
	s := &ast.CreateCluster{Pos: pos, Name: p.ident()}
	parens := p.acceptKind('(')
	for {
		if p.accept("replicas") {
			p.acceptKind('=')
			p.expectKind('(')
			s.Replicas = []ast.ReplicaDef{}
			if p.kind() != ')' {
				s.Replicas = list(p, p.replicaDef)
			}
			p.expectKind(')')
		} else {
			s.Options = append(s.Options, p.option())
		}
		if !p.acceptKind(',') {
			break
		}
	}
	if parens {
		p.expectKind(')')
	}
	return s
}

func (p *parser) replicaDef() ast.ReplicaDef {
	r := ast.ReplicaDef{Pos: p.pos(), Name: p.ident()}
	p.expectKind('(')
	if p.kind() != ')' {
		r.Options = list(p, p.option)
	}
	p.expectKind(')')
	return r
}

func (p *parser) createClusterReplica(pos ast.Pos) ast.Statement {
	s := &ast.CreateClusterReplica{Pos: pos, Cluster: p.ident()}
	p.expectKind('.')
	s.Name = p.label()
	if p.kind() == '(' {
		s.Options = p.options()
	} else {
		s.Options = list(p, p.option)
	}
	return s
}

// roleAttributes reads [WITH] and attributes such as LOGIN and PASSWORD 'x'.
func (p *parser) roleAttributes() []ast.Option {
	p.accept("with")
	var list []ast.Option
	for p.kind() == tIdent {
		o := ast.Option{Pos: p.pos()}
		switch w := p.word(); w {
		case "login", "nologin", "superuser", "nosuperuser", "inherit", "noinherit", "createdb", "nocreatedb", "createrole",
			"nocreaterole", "createcluster", "nocreatecluster", "createnetworkpolicy", "bypassrls", "nobypassrls",
			"replication", "noreplication":
			o.Name = upperWord(w)
			p.next()
		case "password", "encrypted":
			p.accept("encrypted")
			p.expect("password")
			o.Name = "PASSWORD"
			if at := p.pos(); p.accept("null") {
				o.Value = &ast.Literal{Pos: at}
			} else {
				o.Value = p.stringLiteral()
			}
		case "valid", "connection", "in", "role", "admin", "user", "sysid":
			p.unsupported(p.pos(), "the role attribute %s", upperWord(w))
		default:
			if isPostgresWord(w) {
				p.syntax()
			}
			p.fail(pgerr.Newf(pgerr.SyntaxError, "unrecognized role option \"%s\"", p.identText(p.tok())).At(int(p.pos())))
		}
		list = append(list, o)
	}
	return list
}

// createSource reads the rest of CREATE SOURCE … FROM LOAD GENERATOR.
func (p *parser) createSource(pos ast.Pos) ast.Statement {
	s := &ast.CreateSource{Pos: pos, IfNotExists: p.ifNotExists()}
	s.Name = p.name()
	s.Cluster = p.inCluster()
	p.expect("from")
	if !p.accept("load", "generator") {
		p.unsupported(pos, "CREATE SOURCE FROM %s", upperWord(p.tok().text(p)))
		return s
	}
	s.Generator = upperWord(p.label())
	for p.word() == "value" {
		s.Generator += " " + upperWord(p.label()) // KEY VALUE
	}
	if p.kind() == '(' {
		s.GenOptions = p.options()
	}
	switch {
	case p.accept("for", "all", "tables"):
		s.AllTables = true
	case p.accept("for", "tables"):
		s.Tables = parenList(p, func() ast.SourceTable {
			t := ast.SourceTable{Reference: p.name()}
			if p.accept("as") {
				t.Name = p.name()
			}
			return t
		})
	}
	for _, w := range []string{"include", "expose", "envelope"} {
		if p.word() == w {
			p.unsupported(p.pos(), "%s in CREATE SOURCE", upperWord(w))
		}
	}
	if p.accept("with") {
		s.Options = p.options()
	}
	return s
}
