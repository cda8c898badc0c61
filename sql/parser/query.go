package parser

import (
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// startsQuery says whether a query starts here.
func (p *parser) startsQuery() bool {
	switch p.word() {
	case "select", "values", "table", "with":
		return true
	}
	return p.kind() == '('
}

// parenQuery writes a query in parentheses.
func (p *parser) parenQuery() {
	p.expectKind('(')
	p.write("(")
	p.query()
	p.write(")")
	p.expectKind(')')
}

// query writes a query: WITH, bodies with set operators between them, ORDER BY and the rest.
func (p *parser) query() {
	p.enter()
	pos := p.pos()
	if p.word() == "with" {
		p.with()
	}
	p.bodies(pos)
	p.tail()
	p.leave()
}

// embedQuery reads a query that stands in a statement of ours. The lift fills it.
func (p *parser) embedQuery() *ast.Query {
	q := new(ast.Query)
	p.query()
	p.sink(func(l *lifter, n tidb.StmtNode) { *q = *l.query(n) })
	return q
}

// bodies writes the bodies of a query; their number is bounded since set operations nest to the left.
func (p *parser) bodies(queryPos ast.Pos) {
	m := p.body()
	m.queryPos = queryPos
	for n := 1; p.err == nil; n++ {
		pos, op := p.pos(), p.word()
		if op != "union" && op != "except" && op != "intersect" {
			break
		}
		p.next()
		p.write(" " + op + " ")
		if p.accept("all") {
			p.write("ALL ")
		} else {
			p.accept("distinct")
		}
		p.body().setPos = pos
		p.inner++
		if n > maxHeight || p.inner > maxHeight {
			p.tooDeep()
		}
	}
}

// newSelect writes SELECT and the mark of a body, whose arguments follow until endMark.
func (p *parser) newSelect(body ast.QueryBody) *selectMark {
	m := &selectMark{body: body}
	p.selects = append(p.selects, m)
	p.write("SELECT ")
	p.number('s', len(p.selects))
	p.write("(")
	return m
}

// noFrom ends a body that reads from nothing. Every SELECT has a FROM here, since TiDB's grammar has no
// GROUP BY without one.
func (p *parser) noFrom() { p.write("FROM t_0 ") }

func (p *parser) body() *selectMark {
	switch {
	case p.word() == "select":
		return p.selectBody()
	case p.word() == "values":
		return p.values()
	case p.word() == "table":
		s := &ast.Select{Pos: p.pos()}
		p.next()
		s.Items = []ast.SelectItem{{Expr: &ast.Star{Pos: p.pos()}}}
		s.From = []ast.TableExpr{&ast.TableRef{Pos: p.pos(), Name: p.onlyName()}}
		m := p.newSelect(s)
		p.shut()
		p.noFrom()
		return m
	case p.kind() == '(':
		m := p.newSelect(nil)
		p.parenQuery()
		p.shut()
		p.noFrom()
		m.build = func(a *args) { m.body = a.takeQuery() }
		return m
	}
	p.syntax()
	return &selectMark{}
}

func (p *parser) values() *selectMark {
	v := &ast.Values{Pos: p.pos()}
	m := p.newSelect(v)
	p.next()
	v.Rows = p.valueRows()
	p.shut()
	p.noFrom()
	m.build = func(a *args) {
		for _, row := range v.Rows {
			a.fill(row)
		}
	}
	return m
}

// valueRows reads rows, writing what is not a plain operand.
func (p *parser) valueRows() [][]ast.Expr {
	var rows [][]ast.Expr
	for {
		p.expectKind('(')
		first := p.pos()
		row := p.exprs()
		p.expectKind(')')
		if len(rows) > 0 && len(row) != len(rows[0]) {
			p.late = pgerr.New(pgerr.SyntaxError, "VALUES lists must all be the same length").At(int(first))
		}
		rows = append(rows, row)
		if !p.acceptKind(',') {
			return rows
		}
	}
}

// selectBody writes a SELECT up to what follows its last clause.
func (p *parser) selectBody() *selectMark {
	s := &ast.Select{Pos: p.pos()}
	m := p.newSelect(s)
	p.next()
	p.distinct(s)
	p.shut()
	m.build = func(a *args) { a.fill(s.DistinctOn) }
	if s.Distinct || p.resultFollows() {
		p.results(m)
	}
	if p.word() == "into" {
		p.unsupported(p.pos(), "SELECT INTO")
	}
	if p.accept("from") {
		p.from()
	} else {
		p.noFrom()
	}
	if p.accept("where") {
		p.write("WHERE ")
		p.expr()
	}
	if p.acceptThen("group", "by") {
		p.groupBy()
	}
	p.havingAndAfter(m, s)
	return m
}

func (p *parser) distinct(s *ast.Select) {
	switch {
	case p.accept("distinct"):
		s.Distinct = true
		if p.accept("on") {
			p.expectKind('(')
			s.DistinctOn = p.exprs()
			p.expectKind(')')
		}
	default:
		p.accept("all")
	}
}

// results writes a list of results, keeping their names in the mark.
func (p *parser) results(m *selectMark) {
	for {
		p.write(", ")
		if p.kind() == '*' {
			p.hole(&ast.Star{Pos: p.pos()})
			p.next()
			m.aliases = append(m.aliases, "")
		} else {
			p.chain(&chain{label: true})
			m.aliases = append(m.aliases, p.resultAlias())
		}
		if !p.acceptKind(',') {
			return
		}
	}
}

// resultFollows says whether a list of results is not empty, as in SELECT FROM t.
func (p *parser) resultFollows() bool {
	switch p.kind() {
	case tEOF, ';', ')':
		return false
	case tIdent:
		return !resultEnd(p.word())
	}
	return true
}

// resultEnd says whether a word ends the list of results.
func resultEnd(w string) bool {
	switch w {
	case "from", "where", "group", "having", "window", "order", "limit", "offset", "fetch", "for", "union", "except",
		"intersect", "into", "with", "returning", "on":
		return true
	}
	return false
}

func (p *parser) resultAlias() string {
	if p.accept("as") {
		return p.label()
	}
	t := p.tok()
	if p.nullsPlace() {
		return ""
	}
	if t.kind == tQuoted || t.kind == tUQuoted || t.kind == tIdent && wordInfos[t.word].bare {
		p.next()
		return p.identText(t)
	}
	return ""
}

func (p *parser) groupBy() {
	p.write("GROUP BY ")
	switch p.word() {
	case "all", "distinct":
		p.unsupported(p.pos(), "GROUP BY %s", upperWord(p.word()))
	}
	for {
		switch {
		case p.is("rollup") && p.ahead(1).kind == '(', p.is("cube") && p.ahead(1).kind == '(':
			p.unsupported(p.pos(), "%s", upperWord(p.word()))
		case p.is("grouping", "sets"):
			p.unsupported(p.pos(), "GROUPING SETS")
		case p.kind() == '(' && p.ahead(1).kind == ')':
			p.unsupported(p.pos(), "an empty grouping set")
		}
		p.expr()
		if !p.acceptKind(',') {
			return
		}
		p.write(", ")
	}
}

// havingAndAfter writes HAVING, WINDOW and QUALIFY as one condition, and reads OPTIONS.
func (p *parser) havingAndAfter(m *selectMark, s *ast.Select) {
	opened := 0
	open := func() {
		if opened == 0 {
			p.write("HAVING ")
			opened = p.open('m')
		}
	}
	hasHaving, hasQualify := p.accept("having"), false
	if hasHaving {
		open()
		p.argument()
	}
	if p.accept("window") {
		open()
		s.Windows = list(p, func() ast.NamedWindow {
			name := p.ident()
			p.expect("as")
			return ast.NamedWindow{Name: name, Window: p.window()}
		})
	}
	if p.qualifyFollows() {
		hasQualify = true
		p.next()
		open()
		p.argument()
	}
	if p.optionsFollow() {
		p.next()
		s.Options = p.options()
	}
	if opened == 0 {
		return
	}
	p.shut()
	p.setMark(opened, func(a *args) ast.Expr {
		if hasHaving {
			s.Having = a.take()
		}
		for _, w := range s.Windows {
			a.window(w.Window)
		}
		if hasQualify {
			s.Qualify = a.take()
		}
		return nil
	})
}

// qualifyFollows says whether QUALIFY starts a clause here. PostgreSQL does not have it, and the word may be
// an alias; no expression can follow an alias.
func (p *parser) qualifyFollows() bool {
	if p.word() != "qualify" {
		return false
	}
	switch t := p.ahead(1); t.kind {
	case tEOF, ';', ')', ',', '.', '[':
		return false
	case tIdent:
		return wordInfos[t.word].category != ast.Reserved || words[t.word] == "not" || words[t.word] == "case"
	}
	return true
}

// optionsFollow says whether OPTIONS (a = b) starts here, rather than an alias with columns.
func (p *parser) optionsFollow() bool {
	if p.word() != "options" || p.ahead(1).kind != '(' {
		return false
	}
	for n := 2; ; n++ {
		switch p.ahead(n).kind {
		case '=':
			return true
		case tIdent:
			continue
		}
		return false
	}
}

// tail writes ORDER BY, LIMIT, OFFSET, FETCH and AS OF, in the order PostgreSQL allows.
func (p *parser) tail() {
	t := &tail{p: p}
	t.orderBy()
	t.limits()
	if p.asOfFollows() {
		t.open()
		t.asOf = p.asOf()
	}
	if p.word() == "for" {
		p.unsupported(p.pos(), "SELECT FOR %s", upperWord(p.toks[p.i+1].text(p)))
	}
	t.close()
}

// tail is the end of a query while it is written. Its expressions are arguments of one mark, which is
// opened by the first of them.
type tail struct {
	p             *parser
	mark          *tailMark // nil: nothing was written yet
	order         []ast.OrderItem
	limit, offset limitPart
	asOf          *ast.AsOf
	// offsetFirst says that OFFSET was written before LIMIT.
	offsetFirst bool
}

// limitPart is a LIMIT or OFFSET: at is set if it was given, literal if it needs no lifting.
type limitPart struct {
	given   bool
	literal ast.Expr
}

func (t *tail) open() {
	if t.mark == nil {
		t.mark = &tailMark{}
		t.p.tails = append(t.p.tails, t.mark)
		t.p.write(" ORDER BY ")
		t.p.number('o', len(t.p.tails))
		t.p.write("(")
	}
}

func (t *tail) orderBy() {
	if t.p.word() == "order" {
		t.open()
		t.order = t.p.orderBy()
	}
}

func (t *tail) limits() {
	p := t.p
	for range 2 {
		at := p.pos()
		switch {
		case !t.limit.given && p.accept("limit"):
			t.open()
			t.limit.given = true
			if p.accept("all") {
				t.limit.literal = &ast.Literal{}
			} else {
				p.argument()
			}
			if p.kind() == ',' {
				p.fail(pgerr.New(pgerr.SyntaxError, "LIMIT #,# syntax is not supported").
					WithHint("Use separate LIMIT and OFFSET clauses.").At(int(at)))
			}
		case !t.offset.given && p.accept("offset"):
			t.open()
			t.offset.given, t.offsetFirst = true, !t.limit.given
			p.argument()
			if !p.accept("row") {
				p.accept("rows")
			}
		case !t.limit.given && p.word() == "fetch":
			t.open()
			t.fetchFirst()
		}
	}
}

// fetchFirst reads FETCH FIRST n ROWS ONLY, whose count is a literal, a parameter or in parentheses.
func (t *tail) fetchFirst() {
	p := t.p
	p.next()
	t.limit.given = true
	if !p.accept("first") {
		p.expect("next")
	}
	if w := words[p.ahead(1).word]; (p.word() == "row" || p.word() == "rows") && (w == "only" || w == "with") {
		t.limit.literal = &ast.Literal{Kind: ast.Number, Text: "1"}
	} else {
		p.arg()
		p.fetchFirstCount()
	}
	if !p.accept("row") {
		p.expect("rows")
	}
	if p.is("with", "ties") {
		p.unsupported(p.pos(), "WITH TIES")
	}
	p.expect("only")
}

// fetchFirstCount writes the count of FETCH FIRST: a number with a sign, or an operand without.
func (p *parser) fetchFirstCount() {
	if k := p.kind(); k == '+' || k == '-' {
		p.hole(p.numberValue())
		return
	}
	p.inner = max(p.inner, p.primary(&chain{plain: true, call: true}))
}

func (t *tail) close() {
	if t.mark == nil {
		return
	}
	t.p.shut()
	t.mark.build = t.fill
}

func (t *tail) fill(q *ast.Query, a *args) {
	a.order(t.order)
	q.OrderBy = t.order
	take := func(part limitPart) ast.Expr {
		switch {
		case !part.given:
			return nil
		case part.literal != nil:
			if part.literal.(*ast.Literal).Kind == ast.Null {
				return nil // LIMIT ALL
			}
			return part.literal
		}
		return a.take()
	}
	if t.offsetFirst {
		q.Offset = take(t.offset)
	}
	q.Limit = take(t.limit)
	if !t.offsetFirst {
		q.Offset = take(t.offset)
	}
	if t.asOf != nil {
		t.asOf.At = a.take()
		q.AsOf = t.asOf
	}
}

// asOfFollows says whether AS OF starts here, rather than an alias called "of".
func (p *parser) asOfFollows() bool {
	if !p.is("as", "of") {
		return false
	}
	switch t := p.ahead(2); t.kind {
	case tEOF, ';', ')', ',':
		return false
	case tIdent:
		w := words[t.word]
		return wordInfos[t.word].category != ast.Reserved || w == "case" || w == "cast" || w == "null" || w == "current_timestamp"
	}
	return true
}

// asOf reads AS OF [AT LEAST] and writes its time as an argument.
func (p *parser) asOf() *ast.AsOf {
	a := &ast.AsOf{Pos: p.pos()}
	p.i += 2
	a.AtLeast = p.accept("at", "least")
	p.argument()
	return a
}

// with writes a WITH clause.
func (p *parser) with() {
	w := &ast.With{Pos: p.pos()}
	p.next()
	switch {
	case p.accept("mutually", "recursive"):
		w.Mutual = true
		if p.kind() == '(' {
			w.Options = p.options()
		}
	case p.word() == "recursive" && words[p.ahead(1).word] != "as" && p.ahead(1).kind != '(':
		p.next()
		w.Recursive = true
	}
	p.write("WITH ")
	for {
		p.cte(w)
		if !p.acceptKind(',') {
			return
		}
		p.write(", ")
	}
}

func (p *parser) cte(w *ast.With) {
	m := &cteMark{with: w, cte: ast.CTE{Pos: p.pos(), Name: p.ident()}}
	if p.kind() == '(' {
		if w.Mutual {
			m.cte.Defs = parenList(p, p.typedColumn)
		} else {
			m.cte.Columns = parenList(p, p.ident)
		}
	}
	p.expect("as")
	switch {
	case p.accept("materialized"):
		m.cte.Materialize = ast.MaterializeAlways
	case p.acceptThen("not", "materialized"):
		m.cte.Materialize = ast.MaterializeNever
	}
	p.ctes = append(p.ctes, m)
	p.number('c', len(p.ctes))
	p.write(" AS ")
	if p.kind() == '(' {
		switch words[p.ahead(1).word] {
		case "insert", "update", "delete":
			p.unsupported(p.toksPos(1), "%s in WITH", upperWord(words[p.ahead(1).word]))
		}
	}
	p.parenQuery()
	switch p.word() {
	case "search", "cycle":
		p.unsupported(p.pos(), "%s", upperWord(p.word()))
	}
}

// typedColumn reads a name and a type.
func (p *parser) typedColumn() ast.ColumnDef {
	d := ast.ColumnDef{Pos: p.pos(), Name: p.ident()}
	d.Type = p.typeName()
	if p.accept("collate") {
		d.Collation = p.name()
	}
	return d
}

func (p *parser) toksPos(n int) ast.Pos { return ast.Pos(p.ahead(n).pos) }
