package bind

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// clause is where in a statement an expression stands; it decides what may stand there.
type clause uint8

const (
	inNone clause = iota
	inSelect
	inFrom // arguments of functions in FROM
	inJoin // JOIN … ON
	inWhere
	inGroupBy
	inHaving
	inOrderBy
	inDistinctOn
	inFilter // of an aggregate
	inLimit
	inOffset
	inValues
	inUpdate
	inReturning
	inDefault
	inIndex
	inCopyWhere
)

// clauseNames are for "… are not allowed in WHERE".
var clauseNames = [...]string{
	inNone: "this context", inSelect: "SELECT", inFrom: "functions in FROM", inJoin: "JOIN conditions",
	inWhere: "WHERE", inGroupBy: "GROUP BY", inHaving: "HAVING", inOrderBy: "ORDER BY", inDistinctOn: "DISTINCT ON",
	inFilter: "FILTER", inLimit: "LIMIT", inOffset: "OFFSET", inValues: "VALUES", inUpdate: "UPDATE",
	inReturning: "RETURNING", inDefault: "DEFAULT expressions", inIndex: "index expressions",
	inCopyWhere: "COPY FROM WHERE conditions",
}

// Virtual columns stand in expressions for what is made a column later.
const (
	aggCol = 1 << 24 // aggregate i of the query is column aggCol + i
	subCol = 1 << 25 // so for subqueries
	setCol = 1 << 26 // and for set-returning functions
)

// query is one SELECT, or the like, while its expressions are bound.
type query struct {
	b  *binder
	sc *scope
	// columns are those of the row, as far as they are known: which may be NULL.
	columns []types.Column
	// clause is the one being bound.
	clause clause
	aggs   []aggregate
	subs   []subquery
	sets   []setFunc
	// guards are conditions under which alone the value of what is being bound is asked for: branches of CASE.
	guards []scalar.Expr
	// inAgg counts the aggregates around what is being bound; inCase the CASEs and COALESCEs.
	inAgg, inCase int
}

// aggregate is an aggregate of a query; its arguments are over the row before grouping.
type aggregate struct {
	fn       *scalar.Agg
	args     []scalar.Expr
	distinct bool
	filter   scalar.Expr
	order    []sortKey
	t        types.T
}

// sortKey is an expression to sort by.
type sortKey struct {
	expr             scalar.Expr
	desc, nullsFirst bool
}

// subquery is a query in an expression, which an Apply makes a column. Its Outer columns of level 1 are of the
// query's row, virtual columns included.
type subquery struct {
	kind logical.ApplyKind
	node logical.Node
	t    types.T
	pos  ast.Pos
}

// setFunc is a set-returning function in a list of results.
type setFunc struct {
	fn   *scalar.TableFunc
	args []scalar.Expr
	t    types.T
	cols []types.Column
}

// newQuery makes a query whose row is described by sources.
func (b *binder) newQuery(parent *scope, sources []*source) *query {
	q := &query{b: b}
	q.sc = &scope{parent: parent, sources: sources, query: q}
	return q
}

// in binds an expression in a clause.
func (q *query) in(c clause, e ast.Expr) (scalar.Expr, error) {
	before := q.clause
	q.clause = c
	defer func() { q.clause = before }()
	return q.expr(e)
}

// addSub makes a subquery a virtual column. One that may give too many rows is computed only where its value is
// asked for.
func (q *query) addSub(kind logical.ApplyKind, node logical.Node, t types.T, pos ast.Pos) scalar.Expr {
	if kind == logical.ApplyScalar && len(q.guards) > 0 && !logical.HasKey(node.Rel(), nil) {
		guards := make([]scalar.Expr, len(q.guards))
		for i, g := range q.guards {
			guards[i] = inward(g)
		}
		node = logical.NewFilter(node, guards...)
	}
	q.subs = append(q.subs, subquery{kind, node, t, pos})
	return &scalar.Col{Index: subCol + len(q.subs) - 1, T: t}
}

// placing puts subqueries into a tree: rel grows by a column for each, and expressions that had virtual
// columns get real ones.
type placing struct {
	q   *query
	rel logical.Node
	// real gives the real column of the query's row, or of an aggregate, for what is in an expression; it fails
	// for what the row, once grouped, no longer has. nil: columns are what they are.
	real   func(col int, t types.T, pos ast.Pos, sub bool) (int, error)
	placed map[int]int
	err    error
}

func (q *query) placing(rel logical.Node) *placing {
	return &placing{q: q, rel: rel, placed: map[int]int{}}
}

// at gives the real column for a column of an expression.
func (p *placing) at(col int, t types.T, pos ast.Pos, sub bool) int {
	if col >= subCol && col < setCol {
		return p.sub(col - subCol)
	}
	if p.real == nil || p.err != nil {
		return col
	}
	c, err := p.real(col, t, pos, sub)
	if err != nil {
		p.err = err
	}
	return c
}

// sub gives the column of subquery i, putting it into the tree first if it is not there.
func (p *placing) sub(i int) int {
	if c, ok := p.placed[i]; ok {
		return c
	}
	s := p.q.subs[i]
	node := logical.MapOuter(s.node, func(o *scalar.Outer) scalar.Expr {
		if o.Level != 1 {
			return o
		}
		// This may put another subquery below: the operand of IN, say.
		return &scalar.Outer{Level: 1, Index: p.at(o.Index, o.T, p.q.placeOf(s, o.Index), true), T: o.T}
	})
	c := logical.Arity(p.rel)
	p.placed[i] = c
	p.rel = logical.NewApply(s.kind, p.rel, node)
	return c
}

// placeOf finds where in a subquery's text a column of the query's row is named.
func (q *query) placeOf(s subquery, col int) ast.Pos {
	pos := s.pos
	logical.OuterCols(s.node, func(level int, o *scalar.Outer) {
		if at, ok := q.b.pos[o]; ok && level == 1 && o.Index == col {
			pos = at
		}
	})
	return pos
}

// expr gives e with real columns.
func (p *placing) expr(e scalar.Expr) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		c, ok := e.(*scalar.Col)
		if !ok {
			return e
		}
		if at := p.at(c.Index, c.T, p.q.b.pos[c], false); at != c.Index {
			return &scalar.Col{Index: at, T: c.T}
		}
		return c
	})
}

func (p *placing) exprs(es []scalar.Expr) []scalar.Expr {
	out := make([]scalar.Expr, len(es))
	for i, e := range es {
		out[i] = p.expr(e)
	}
	return out
}

// filter keeps the rows for which e, and all its conjuncts, are true. Conjuncts without subqueries go first, so
// that subqueries are computed for fewer rows.
func (p *placing) filter(e scalar.Expr) error {
	var plain, rest []scalar.Expr
	for _, c := range scalar.Conjuncts(e) {
		if hasVirtual(c, subCol) {
			rest = append(rest, c)
		} else {
			plain = append(plain, c)
		}
	}
	p.rel = logical.NewFilter(p.rel, p.exprs(plain)...)
	for _, c := range rest {
		e := p.expr(c)
		p.rel = logical.NewFilter(p.rel, e)
	}
	return p.err
}

// hasVirtual says whether an expression has a virtual column of the sort that begins at from.
func hasVirtual(e scalar.Expr, from int) bool {
	return scalar.Any(e, func(e scalar.Expr) bool {
		c, ok := e.(*scalar.Col)
		return ok && c.Index >= from && c.Index < 2*from
	})
}

// replace is e with f applied from the top: where f gives an expression that stands there, and is not looked
// into.
func replace(e scalar.Expr, f func(scalar.Expr) scalar.Expr) scalar.Expr {
	if r := f(e); r != nil {
		return r
	}
	old := scalar.Children(e)
	if len(old) == 0 {
		return e
	}
	parts := make([]scalar.Expr, len(old))
	for i, p := range old {
		parts[i] = replace(p, f)
	}
	if slices.Equal(old, parts) {
		return e
	}
	return scalar.WithChildren(e, parts)
}

// notAllowed refuses something in the clause being bound.
func (q *query) notAllowed(what string, code pgerr.Code, pos ast.Pos) error {
	return fail(pos, code, "%s are not allowed in %s", what, clauseNames[q.clause])
}
