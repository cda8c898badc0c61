package parser

import (
	"github.com/tributary-db/tributary/sql/ast"
)

// from writes a list of entries. TiDB's trees of joins lean to the left, so their number counts as height.
func (p *parser) from() {
	saved := p.inner
	p.inner = 0
	p.write("FROM ")
	f := fromList{p: p}
	f.list()
	p.inner = max(saved, p.inner+f.entries)
	if p.inner > maxHeight {
		p.tooDeep()
	}
}

// fromList is FROM while it is written. All joins are LEFT JOINs with a condition to TiDB; what they are waits
// in open until the condition comes, which belongs to the innermost join that waits.
type fromList struct {
	p       *parser
	entries int
	open    []*ast.Join
	last    *ast.Join // the join that was completed last
}

func (f *fromList) list() {
	for {
		f.joins()
		if !f.p.acceptKind(',') {
			return
		}
		f.p.write(", ")
	}
}

// joins writes one entry with the joins behind it.
func (f *fromList) joins() {
	p := f.p
	outer := f.open
	f.open = nil
	f.primary()
	for p.err == nil {
		join, ok := p.joinWords()
		if ok {
			p.write("LEFT JOIN ")
			f.primary()
			if join.Kind == ast.CrossJoin || join.Natural {
				f.on(join, false)
				p.shut()
			} else {
				f.open = append(f.open, join)
			}
			continue
		}
		if n := len(f.open); n > 0 && (p.word() == "on" || p.word() == "using") {
			join, f.open = f.open[n-1], f.open[:n-1]
			f.condition(join)
			continue
		}
		break
	}
	if len(f.open) > 0 {
		p.syntax()
	}
	f.open = outer
}

// joinWords takes the words of a join, if one follows.
func (p *parser) joinWords() (*ast.Join, bool) {
	j := &ast.Join{Pos: p.pos()}
	switch p.word() {
	case "cross":
		p.next()
		j.Kind = ast.CrossJoin
		p.expect("join")
		return j, true
	case "natural":
		p.next()
		j.Natural = true
	case "join", "inner", "left", "right", "full":
	default:
		return nil, false
	}
	switch p.word() {
	case "inner":
		p.next()
	case "left", "right", "full":
		j.Kind = map[string]ast.JoinKind{"left": ast.LeftJoin, "right": ast.RightJoin, "full": ast.FullJoin}[p.word()]
		p.next()
		p.accept("outer")
	}
	p.expect("join")
	return j, true
}

// on writes ON and the mark of a join, whose arguments follow.
func (f *fromList) on(j *ast.Join, hasCondition bool) {
	p := f.p
	p.joins = append(p.joins, j)
	p.write("ON ")
	p.number('j', len(p.joins))
	p.write("(")
	if hasCondition {
		j.On = written
	}
	f.last = j
}

func (f *fromList) condition(j *ast.Join) {
	p := f.p
	if p.accept("on") {
		f.on(j, true)
		p.expr()
		p.shut()
		f.last = j
		return
	}
	p.next()
	j.Using = parenList(p, p.identAt)
	if p.is("as") && !p.asOfFollows() {
		p.next()
		j.UsingAlias = p.ident()
	}
	f.on(j, false)
	p.shut()
}

// primary writes one entry without joins, or joins in parentheses.
func (f *fromList) primary() {
	p := f.p
	f.entries++
	pos := p.pos()
	if p.kind() == '(' && !p.tok().query && !p.showFollows() {
		f.paren()
		return
	}
	lateral := p.accept("lateral")
	switch {
	case p.kind() == '(':
		p.derived(pos, lateral)
	case p.is("rows", "from"):
		p.rowsFrom(pos, lateral)
	case p.word() == "only" || !lateral && !p.functionFollows():
		p.tableRef(pos)
	default:
		p.tableFunc(pos, lateral)
	}
	if p.word() == "tablesample" {
		p.unsupported(p.pos(), "TABLESAMPLE")
	}
}

func (f *fromList) paren() {
	p := f.p
	p.next()
	p.enter()
	p.write("(")
	f.last = nil
	f.joins()
	join := f.last
	if join == nil {
		p.syntax() // (t) is no join
		return
	}
	p.leave()
	p.expectKind(')')
	p.write(") ")
	f.last = join
	if a := p.alias(); a != nil {
		join.Alias = a
		f.last = nil // with an alias it is no join to further parentheses
	}
}

// showFollows says whether a SHOW statement in parentheses starts here.
func (p *parser) showFollows() bool {
	return p.kind() == '(' && words[p.ahead(1).word] == "show" && p.ahead(2).kind == tIdent
}

// newTable numbers an entry and writes its name.
func (p *parser) newTable(t ast.TableExpr) {
	p.tables = append(p.tables, t)
	p.number('t', len(p.tables))
	p.write(" ")
}

func (p *parser) derived(pos ast.Pos, lateral bool) {
	d := &ast.Derived{Pos: pos, Lateral: lateral}
	if p.showFollows() {
		p.next()
		p.write("(")
		p.showBody()
		p.write(")")
		p.expectKind(')')
	} else {
		p.parenQuery()
	}
	d.Alias = p.alias()
	p.newTable(d)
}

// onlyName takes a name of a relation. ONLY and * say nothing where tables do not inherit.
func (p *parser) onlyName() ast.Name {
	only := p.accept("only")
	inParens := only && p.acceptKind('(')
	n := p.name()
	if inParens {
		p.expectKind(')')
	}
	if !only {
		p.acceptKind('*')
	}
	return n
}

func (p *parser) tableRef(pos ast.Pos) {
	t := &ast.TableRef{Pos: pos, Name: p.onlyName()}
	t.Alias = p.alias()
	p.newTable(t)
}

// functionFollows says whether the entry is a function rather than a table.
func (p *parser) functionFollows() bool {
	if p.valueFuncFollows() || p.word() == "cast" || p.isFunc() && !p.isName() {
		return true
	}
	n := 1
	for p.ahead(n).kind == '.' {
		n += 2
	}
	return p.ahead(n).kind == '('
}

func (p *parser) valueFuncFollows() bool {
	switch p.word() {
	case "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "current_role",
		"current_user", "session_user", "user", "current_catalog":
		return true
	case "current_schema":
		return p.ahead(1).kind != '(' && p.ahead(1).kind != '.'
	}
	return false
}

func (p *parser) tableFunc(pos ast.Pos, lateral bool) {
	f := &ast.TableFunc{Pos: pos, Lateral: lateral}
	p.write("(")
	m := p.newSelect(&ast.Select{})
	f.Calls = []ast.TableCall{p.tableCall()}
	p.shut()
	p.noFrom()
	p.write(")")
	p.tableFuncEnd(m, f)
}

// tableFuncEnd reads what stands behind functions in FROM.
func (p *parser) tableFuncEnd(m *selectMark, f *ast.TableFunc) {
	f.Ordinality = p.accept("with", "ordinality")
	f.Alias = p.funcAlias()
	m.build = func(a *args) {
		for i := range f.Calls {
			if f.Calls[i].Call == nil {
				f.Calls[i].Call = a.take()
			}
		}
	}
	p.newTable(f)
}

// tableCall writes as an argument what looks like a call: operators, casts and clauses such as OVER do not
// belong to it.
func (p *parser) tableCall() ast.TableCall {
	if p.valueFuncFollows() {
		e, _ := p.simple(true)
		return ast.TableCall{Call: e}
	}
	switch p.word() {
	case "case", "array":
		p.syntax()
	case "exists", "row": // names, but of no functions
		p.next()
		p.syntax()
	}
	if p.tok().kind != tIdent && !p.isName() {
		p.syntax()
	}
	p.arg()
	p.compound(&chain{plain: true, call: true})
	return ast.TableCall{}
}

func (p *parser) rowsFrom(pos ast.Pos, lateral bool) {
	f := &ast.TableFunc{Pos: pos, Lateral: lateral, RowsFrom: true}
	p.i += 2
	p.expectKind('(')
	p.write("(")
	m := p.newSelect(&ast.Select{})
	f.Calls = list(p, func() ast.TableCall {
		c := p.tableCall()
		if p.accept("as") {
			c.Defs = parenList(p, p.typedColumn)
		}
		return c
	})
	p.expectKind(')')
	p.shut()
	p.noFrom()
	p.write(")")
	p.tableFuncEnd(m, f)
}

// alias reads [AS] name (columns), if it is there.
func (p *parser) alias() *ast.Alias {
	a := &ast.Alias{Pos: p.pos()}
	switch {
	case p.word() == "as" && !p.asOfFollows():
		p.next()
	case !p.isName() || p.qualifyFollows() || p.optionsFollow():
		return nil
	}
	a.Name = p.ident()
	if p.kind() == '(' {
		a.Columns = parenList(p, p.ident)
	}
	return a
}

// funcAlias is alias with columns that may have types, and may have no name.
func (p *parser) funcAlias() *ast.Alias {
	as := p.word() == "as"
	if as && p.ahead(1).kind == '(' {
		a := &ast.Alias{Pos: p.pos()}
		p.next()
		a.Defs = parenList(p, p.typedColumn)
		return a
	}
	n := 1
	if as {
		n = 2
	}
	typed := p.ahead(n).kind == '(' && p.ahead(n+2).kind != ',' && p.ahead(n+2).kind != ')'
	if !typed || as && p.asOfFollows() || !as && (!p.isName() || p.optionsFollow()) {
		return p.alias()
	}
	a := &ast.Alias{Pos: p.pos()}
	if as {
		p.next()
	}
	a.Name = p.ident()
	a.Defs = parenList(p, p.typedColumn)
	return a
}
