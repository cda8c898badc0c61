package parser

import (
	"slices"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// drop reads the rest of DROP.
func (p *parser) drop(pos ast.Pos) ast.Statement {
	if p.acceptThen("owned", "by") {
		s := &ast.DropOwned{Pos: pos, Roles: list(p, p.role)}
		s.Cascade, s.Restrict = p.behaviour()
		return s
	}
	k := p.kindBut("DROP", pos, ast.KindObject, ast.KindColumn, ast.KindFunction, ast.KindSubsource)
	s := &ast.Drop{Pos: pos, Kind: k}
	if p.word() == "concurrently" {
		p.unsupported(p.pos(), "CONCURRENTLY")
	}
	s.IfExists = p.ifExists()
	if k == ast.KindRole {
		s.Names = list(p, func() ast.Name { return ast.Name{Pos: p.pos(), Parts: []string{p.role().Name}} })
	} else {
		s.Names = list(p, p.name)
	}
	s.Cascade, s.Restrict = p.behaviour()
	return s
}

func (p *parser) behaviour() (cascade, restrict bool) {
	cascade = p.accept("cascade")
	return cascade, !cascade && p.accept("restrict")
}

// kindBut reads a kind of object, of which some are not for this statement.
func (p *parser) kindBut(verb string, pos ast.Pos, not ...ast.ObjectKind) ast.ObjectKind {
	at := p.i
	k, ok := p.objectKind(false)
	if !ok || slices.Contains(not, k) {
		p.i = at
		p.otherKind(verb, pos)
	}
	return k
}

// otherKind refuses a kind of object that PostgreSQL or Materialize has and we do not.
func (p *parser) otherKind(verb string, pos ast.Pos) {
	switch w := p.word(); w {
	case "function", "procedure", "routine", "aggregate", "trigger", "sequence", "extension", "cast", "collation",
		"conversion", "domain", "event", "foreign", "language", "operator", "policy", "publication", "rule", "server",
		"statistics", "subscription", "tablespace", "text", "transform", "user", "group", "access", "trusted", "procedural",
		"large", "subsource":
		p.unsupported(pos, "%s %s", verb, upperWord(w))
	}
	p.syntax()
}

// alter reads the rest of ALTER.
func (p *parser) alter(pos ast.Pos) ast.Statement {
	switch {
	case p.accept("system"):
		return p.alterSystem(pos)
	case p.acceptThen("default", "privileges"):
		return p.alterDefaultPrivileges(pos)
	case p.accept("role"), p.accept("user"):
		return p.alterRole(pos)
	}
	k := p.kindBut("ALTER", pos, ast.KindObject, ast.KindColumn, ast.KindFunction, ast.KindSubsource)
	ifExists := p.ifExists()
	name := p.onlyName()
	switch {
	case p.accept("rename"):
		return p.rename(&ast.Rename{Pos: pos, Kind: k, IfExists: ifExists, Name: name})
	case (k == ast.KindSchema || k == ast.KindCluster) && p.accept("swap", "with"):
		return &ast.Swap{Pos: pos, Kind: k, Name: name, With: p.identAt()}
	case p.accept("owner", "to"):
		return &ast.AlterOwner{Pos: pos, Kind: k, IfExists: ifExists, Name: name, Owner: p.role()}
	case p.accept("set", "cluster"):
		return &ast.AlterCluster{Pos: pos, Kind: k, IfExists: ifExists, Name: name, Cluster: p.ident()}
	case (p.is("set") || p.is("reset")) && p.ahead(1).kind == '(':
		return p.alterOptions(&ast.AlterOptions{Pos: pos, Kind: k, IfExists: ifExists, Name: name})
	case k == ast.KindMaterializedView && p.accept("apply", "replacement"):
		return &ast.ApplyReplacement{Pos: pos, IfExists: ifExists, Name: name, Replacement: p.name()}
	case k == ast.KindTable && p.accept("add"):
		return p.addColumn(&ast.AddColumn{Pos: pos, IfExists: ifExists, Table: name})
	}
	if w := p.word(); w != "" {
		p.unsupported(p.pos(), "ALTER %s … %s", k, upperWord(w))
	}
	p.syntax()
	return nil
}

func (p *parser) rename(s *ast.Rename) ast.Statement {
	switch {
	case p.accept("column"):
		s.Column = p.ident()
	case s.Kind != ast.KindTable && s.Kind != ast.KindView && s.Kind != ast.KindMaterializedView:
	case p.word() == "constraint":
		p.unsupported(p.pos(), "RENAME CONSTRAINT")
	case p.word() != "to":
		s.Column = p.ident()
	}
	p.expect("to")
	if s.Kind == ast.KindRole {
		s.To = ast.Ident{Pos: p.pos(), Name: p.roleName()}
	} else {
		s.To = p.identAt()
	}
	return s
}

func (p *parser) alterOptions(s *ast.AlterOptions) ast.Statement {
	if p.accept("set") {
		s.Set = p.options()
	} else {
		p.next()
		s.Reset = parenList(p, func() ast.Ident { return ast.Ident{Pos: p.pos(), Name: p.optionName()} })
	}
	if p.accept("with") {
		s.With = p.options()
	}
	return s
}

func (p *parser) addColumn(s *ast.AddColumn) ast.Statement {
	switch p.word() {
	case "constraint", "check", "primary", "unique", "foreign", "exclude":
		p.unsupported(p.pos(), "ALTER TABLE … ADD %s", upperWord(p.word()))
	}
	p.accept("column")
	s.IfNotExists = p.ifNotExists()
	s.Column = p.columnDef(func(k int, e ast.Expr) { s.Column.Constraints[k].Expr = e })
	if p.kind() == ',' {
		p.unsupported(p.pos(), "more than one action in ALTER TABLE")
	}
	return s
}

func (p *parser) alterSystem(pos ast.Pos) ast.Statement {
	s := &ast.AlterSystem{Pos: pos}
	if p.accept("reset") {
		s.Reset = true
		if !p.accept("all") {
			s.Name = p.variable()
		}
		return s
	}
	p.expect("set")
	s.Name = p.variable()
	s.Values = p.setValues()
	return s
}

func (p *parser) alterRole(pos ast.Pos) ast.Statement {
	s := &ast.AlterRole{Pos: pos}
	if p.word() == "all" {
		p.unsupported(p.pos(), "ALTER ROLE ALL")
	}
	s.Name = p.role()
	if p.is("in", "database") {
		p.unsupported(p.pos(), "ALTER ROLE IN DATABASE")
	}
	at := p.pos()
	switch {
	case p.accept("set"):
		s.Set = &ast.SetVar{Pos: at}
		p.setRest(s.Set)
	case p.accept("reset"):
		s.Reset = p.reset(at)
	case p.accept("rename"):
		return p.rename(&ast.Rename{Pos: pos, Kind: ast.KindRole, Name: ast.Name{Pos: s.Name.Pos, Parts: []string{s.Name.Name}}})
	default:
		s.Attributes = p.roleAttributes()
	}
	return s
}

// comment reads the rest of COMMENT.
func (p *parser) comment(pos ast.Pos) ast.Statement {
	p.expect("on")
	k := p.kindBut("COMMENT ON", pos, ast.KindObject, ast.KindFunction, ast.KindSubsource)
	s := &ast.Comment{Pos: pos, Kind: k, Name: p.name()}
	p.expect("is")
	if !p.accept("null") {
		text := p.stringValue()
		s.Text = &text
	}
	return s
}

// privilegeWords are the privileges there are.
var privilegeWords = map[string]bool{
	"select": true, "insert": true, "update": true, "delete": true, "usage": true, "create": true, "createrole": true,
	"createdb": true, "createcluster": true, "createnetworkpolicy": true, "references": true, "trigger": true,
	"truncate": true, "connect": true, "temporary": true, "temp": true, "execute": true, "maintain": true,
}

// grant reads the rest of GRANT and REVOKE.
func (p *parser) grant(pos ast.Pos, revoke bool) ast.Statement {
	if revoke && p.is("grant", "option", "for") || revoke && p.is("admin", "option", "for") {
		p.unsupported(p.pos(), "REVOKE %s OPTION FOR", upperWord(p.word()))
	}
	privileges := p.privileges()
	if privileges != nil && p.word() != "on" {
		return p.grantRole(&ast.GrantRole{Pos: pos, Revoke: revoke}, privileges)
	}
	s := &ast.Grant{Pos: pos, Revoke: revoke, Privileges: p.known(privileges)}
	p.expect("on")
	p.grantObjects(s)
	s.Roles = p.grantees(revoke)
	return s
}

// privileges reads a list of words, which may be privileges or roles; nil is ALL.
func (p *parser) privileges() []ast.Role {
	if p.accept("all") {
		p.accept("privileges")
		return nil
	}
	return list(p, func() ast.Role {
		r := ast.Role{Pos: p.pos()}
		switch p.word() {
		case "select", "references", "create":
			r.Name = p.label()
		default:
			r = p.role()
		}
		if p.kind() == '(' {
			p.unsupported(p.pos(), "a privilege on columns")
		}
		return r
	})
}

// known gives privileges by their names, and refuses those that there are not.
func (p *parser) known(words []ast.Role) []string {
	var names []string
	for _, w := range words {
		if !privilegeWords[w.Name] {
			p.late = pgerr.Newf(pgerr.SyntaxError, "unrecognized privilege type \"%s\"", w.Name).At(w.Position())
		}
		names = append(names, upperWord(w.Name))
	}
	return names
}

func (p *parser) grantRole(s *ast.GrantRole, granted []ast.Role) ast.Statement {
	for _, r := range granted {
		switch r.Name {
		case "select", "references", "create":
			if p.word() == "to" || p.word() == "from" {
				p.fail(pgerr.Newf(pgerr.UndefinedObject, "role \"%s\" does not exist", r.Name).At(r.Position()))
			}
		}
	}
	s.Granted = granted
	s.Roles = p.grantees(s.Revoke)
	return s
}

// grantObjects reads what privileges are on. A name without a kind is a table.
func (p *parser) grantObjects(s *ast.Grant) {
	switch {
	case p.accept("system"):
		s.Kind = ast.KindSystem
		return
	case p.accept("all"):
		s.All = true
		k, ok := p.objectKind(true)
		if !ok {
			p.otherKind("GRANT ON ALL", p.pos())
		}
		s.Kind = k
		s.InSchemas, s.InDatabases = p.within1()
		return
	}
	at := p.i
	k, ok := p.objectKind(false)
	if ok && k != ast.KindTable && !p.isName() {
		ok, p.i = false, at // a table that is called like a kind
	}
	if !ok {
		k = ast.KindTable
	}
	s.Kind = k
	s.Names = list(p, p.name)
}

// within1 reads IN SCHEMA or IN DATABASE.
func (p *parser) within1() (schemas, databases []ast.Name) {
	switch {
	case p.accept("in", "database"):
		return nil, list(p, p.name)
	case p.acceptThen("in", "schema"):
		return list(p, p.name), nil
	}
	return nil, nil
}

func (p *parser) grantees(revoke bool) []ast.Role {
	if revoke {
		p.expect("from")
	} else {
		p.expect("to")
	}
	roles := list(p, func() ast.Role {
		p.accept("group")
		return p.role()
	})
	switch {
	case p.is("with"), p.is("granted"):
		p.unsupported(p.pos(), "%s in GRANT", upperWord(p.word()))
	case revoke:
		if cascade, _ := p.behaviour(); cascade {
			p.unsupported(p.pos(), "REVOKE … CASCADE")
		}
	}
	return roles
}

func (p *parser) alterDefaultPrivileges(pos ast.Pos) ast.Statement {
	s := &ast.AlterDefaultPrivileges{Pos: pos}
	switch {
	case p.accept("for", "all", "roles"):
		s.ForAll = true
	case p.accept("for"):
		if !p.accept("user") {
			p.expect("role")
		}
		s.For = list(p, p.role)
	}
	s.InSchemas, s.InDatabases = p.within1()
	if p.accept("revoke") {
		s.Revoke = true
	} else {
		p.expect("grant")
	}
	s.Privileges = p.known(p.privileges())
	p.expect("on")
	k, ok := p.objectKind(true)
	if !ok {
		p.otherKind("ALTER DEFAULT PRIVILEGES ON", pos)
	}
	s.Kind = k
	s.Roles = p.grantees(s.Revoke)
	return s
}

func (p *parser) reassign(pos ast.Pos) ast.Statement {
	p.expect("owned", "by")
	s := &ast.ReassignOwned{Pos: pos, Roles: list(p, p.role)}
	p.expect("to")
	s.To = p.role()
	return s
}
