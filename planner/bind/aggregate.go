package bind

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// aggregate binds a call of an aggregate. It belongs to the innermost query whose columns its arguments use, or
// to the one it stands in; if that is further out, its value is a column of that query's row.
func (q *query) aggregate(name string, e *ast.Call) (scalar.Expr, error) {
	if e.Variadic {
		return nil, unsupported(e.Pos, "VARIADIC")
	}
	inCase := q.inCase
	q.inAgg, q.inCase = q.inAgg+1, 0
	a, err := q.aggregateParts(name, e)
	q.inAgg, q.inCase = q.inAgg-1, inCase
	if err != nil {
		return nil, err
	}
	level, nested := q.levelOf(a)
	if nested {
		return nil, fail(e.Pos, pgerr.GroupingError, "aggregate function calls cannot be nested")
	}
	owner := q.sc
	for range level {
		owner = owner.parent
	}
	if owner.query == nil {
		return nil, fail(e.Pos, pgerr.GroupingError, "aggregate functions are not allowed in FROM clause of their own query level")
	}
	if err := owner.query.mayAggregate(e.Pos); err != nil {
		return nil, err
	}
	if level > 0 {
		a = q.raised(a, owner.query, level)
	}
	i := owner.query.addAggregate(a)
	if level > 0 {
		return q.seen(&scalar.Outer{Level: level, Index: aggCol + i, T: a.t}, e.Pos), nil
	}
	return &scalar.Col{Index: aggCol + i, T: a.t}, nil
}

// mayAggregate refuses an aggregate in a clause that is computed before grouping.
func (q *query) mayAggregate(pos ast.Pos) error {
	switch {
	case q.inAgg > 0 && q.clause != inFilter:
		return fail(pos, pgerr.GroupingError, "aggregate function calls cannot be nested")
	case q.clause == inSelect || q.clause == inHaving || q.clause == inOrderBy || q.clause == inDistinctOn:
		return nil
	}
	return q.notAllowed("aggregate functions", pgerr.GroupingError, pos)
}

// aggregates says whether an expression of the query's row has an aggregate of the query in it, or a subquery has.
func (q *query) aggregates(e scalar.Expr) bool {
	return scalar.Any(e, func(e scalar.Expr) bool {
		c, ok := e.(*scalar.Col)
		switch {
		case !ok || c.Index < aggCol || c.Index >= setCol:
			return false
		case c.Index < subCol:
			return true
		}
		found := false
		logical.OuterCols(q.subs[c.Index-subCol].node, func(level int, o *scalar.Outer) {
			found = found || level == 1 && q.aggregates(&scalar.Col{Index: o.Index, T: o.T})
		})
		return found
	})
}

// aggregateParts binds what stands in the call.
func (q *query) aggregateParts(name string, e *ast.Call) (aggregate, error) {
	a := aggregate{distinct: e.Distinct}
	args, err := q.exprs(e.Args)
	if err != nil {
		return a, err
	}
	if e.Star && name != "count" {
		return a, at(noStar(name), e.Pos)
	}
	if !e.Star && name == "count" && len(args) == 0 {
		return a, fail(e.Pos, pgerr.WrongObjectType, "count(*) must be used to call a parameterless aggregate function")
	}
	if e.Filter != nil {
		before := q.clause
		q.clause = inFilter
		a.filter, err = q.condition(e.Filter, "FILTER")
		if q.clause = before; err != nil {
			return a, err
		}
	}
	c, err := fn.ResolveAggregate(name, typesOf(args))
	if err != nil {
		return a, at(err, e.Pos)
	}
	a.fn = c.Func
	for i, arg := range args {
		if args[i], err = q.b.implicit(arg, c.Args[i], posOf(e.Args[i])); err != nil {
			return a, err
		}
	}
	a.args = args
	if a.t, err = resultType(c.Ret, args, e.Pos); err != nil {
		return a, err
	}
	a.order, err = q.aggregateOrder(e, args)
	return a, err
}

func noStar(name string) error {
	_, err := fn.ResolveAggregate(name, nil)
	return err
}

// aggregateOrder binds the ORDER BY within an aggregate. It matters only to those that are computed from rows
// in their order.
func (q *query) aggregateOrder(e *ast.Call, args []scalar.Expr) ([]sortKey, error) {
	var keys []sortKey
	for _, o := range e.OrderBy {
		k, err := q.sortKey(o, func() (scalar.Expr, error) { return q.expr(o.Expr) })
		if err != nil {
			return nil, err
		}
		if e.Distinct && !slices.ContainsFunc(args, func(a scalar.Expr) bool { return scalar.Equal(a, k.expr) }) {
			return nil, fail(posOf(o.Expr), pgerr.InvalidColumnReference,
				"in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// parts are all expressions of an aggregate.
func (a *aggregate) parts() []scalar.Expr {
	es := slices.Clone(a.args)
	if a.filter != nil {
		es = append(es, a.filter)
	}
	for _, k := range a.order {
		es = append(es, k.expr)
	}
	return es
}

// mapped is the aggregate with f applied to its expressions.
func (a aggregate) mapped(f func(scalar.Expr) scalar.Expr) aggregate {
	args := make([]scalar.Expr, len(a.args))
	for i, e := range a.args {
		args[i] = f(e)
	}
	a.args = args
	if a.filter != nil {
		a.filter = f(a.filter)
	}
	order := slices.Clone(a.order)
	for i, k := range order {
		order[i].expr = f(k.expr)
	}
	a.order = order
	return a
}

// levelOf gives how far out the innermost columns are that the aggregate uses; 0 if it uses none. nested: one of
// them is an aggregate of that same query.
func (q *query) levelOf(a aggregate) (level int, nested bool) {
	level = -1
	aggAt := map[int]bool{}
	note := func(l, col int) {
		if level < 0 || l < level {
			level = l
		}
		aggAt[l] = aggAt[l] || col >= aggCol && col < subCol
	}
	var visit func(e scalar.Expr) bool
	visit = func(e scalar.Expr) bool {
		switch e := e.(type) {
		case *scalar.Col:
			if e.Index >= subCol && e.Index < setCol {
				logical.OuterCols(q.subs[e.Index-subCol].node, func(l int, o *scalar.Outer) { note(l-1, o.Index) })
				return true
			}
			note(0, e.Index)
		case *scalar.Outer:
			note(e.Level, e.Index)
		}
		return true
	}
	for _, e := range a.parts() {
		scalar.Walk(e, visit)
	}
	level = max(level, 0)
	return level, aggAt[level]
}

// raised is the aggregate as its owner, level scopes further out, sees it. Subqueries in it become the owner's: they
// use nothing of the rows in between.
func (q *query) raised(a aggregate, owner *query, level int) aggregate {
	return a.mapped(func(e scalar.Expr) scalar.Expr {
		return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
			switch e := e.(type) {
			case *scalar.Col:
				if e.Index < subCol || e.Index >= setCol {
					return e
				}
				s := q.subs[e.Index-subCol]
				s.node = logical.MapOuter(s.node, func(o *scalar.Outer) scalar.Expr {
					return &scalar.Outer{Level: o.Level - level, Index: o.Index, T: o.T}
				})
				owner.subs = append(owner.subs, s)
				return &scalar.Col{Index: subCol + len(owner.subs) - 1, T: e.T}
			case *scalar.Outer:
				if e.Level == level {
					return &scalar.Col{Index: e.Index, T: e.T}
				}
				return &scalar.Outer{Level: e.Level - level, Index: e.Index, T: e.T}
			}
			return e
		})
	})
}

// addAggregate gives the number of an aggregate of the query; the same one twice is one.
func (q *query) addAggregate(a aggregate) int {
	for i, b := range q.aggs {
		if a.same(b) {
			return i
		}
	}
	q.aggs = append(q.aggs, a)
	return len(q.aggs) - 1
}

func (a aggregate) same(b aggregate) bool {
	return a.fn.OID == b.fn.OID && a.fn.Name == b.fn.Name && a.t.Equal(b.t) && a.distinct == b.distinct &&
		(a.filter == nil) == (b.filter == nil) && len(a.order) == len(b.order) &&
		slices.EqualFunc(a.order, b.order, func(x, y sortKey) bool { return x.desc == y.desc && x.nullsFirst == y.nullsFirst }) &&
		slices.EqualFunc(a.parts(), b.parts(), scalar.Equal)
}

// grouping is a query after grouping: what its expressions may still use.
type grouping struct {
	q *query
	// keys are the expressions grouped by, over the row before; key i is column i, aggregate j column
	// len(keys)+j.
	keys []scalar.Expr
	rel  logical.Node
}

// group puts the grouping on rel, the row before.
func (q *query) group(rel logical.Node, keys []scalar.Expr) (*grouping, error) {
	p := q.placing(rel)
	cols := make([]scalar.Expr, 0, len(keys))
	for _, k := range keys {
		cols = append(cols, p.expr(k))
	}
	place := func(e scalar.Expr) int {
		e = p.expr(e)
		if i := slices.IndexFunc(cols, func(c scalar.Expr) bool { return scalar.Equal(c, e) }); i >= 0 {
			return i
		}
		cols = append(cols, e)
		return len(cols) - 1
	}
	aggs := make([]logical.Agg, len(q.aggs))
	for i, a := range q.aggs {
		l := logical.Agg{Func: a.fn, Distinct: a.distinct, Filter: -1, T: a.t}
		for _, e := range a.args {
			l.Args = append(l.Args, place(e))
		}
		if a.filter != nil {
			l.Filter = place(a.filter)
		}
		// Only what is computed from its rows one by one depends on their order.
		if a.fn.Fold != nil {
			for _, k := range a.order {
				l.Order = append(l.Order, logical.Order{Col: place(k.expr), Desc: k.desc, NullsFirst: k.nullsFirst})
			}
		}
		aggs[i] = l
	}
	if p.err != nil {
		return nil, p.err
	}
	in := logical.Compute(p.rel, cols...)
	g := &grouping{q: q, keys: keys}
	if len(keys) == 0 {
		g.rel = logical.NewGlobalReduce(in, aggs)
	} else {
		g.rel = logical.NewReduce(in, logical.Identity(len(keys)), aggs)
	}
	return g, nil
}

// expr is e over the grouped row: what equals a key is that key's column; what is a column of the row before
// otherwise is an error.
func (g *grouping) expr(e scalar.Expr) (scalar.Expr, error) {
	var err error
	r := replace(e, func(e scalar.Expr) scalar.Expr {
		for i, k := range g.keys {
			if scalar.Equal(e, k) {
				return &scalar.Col{Index: i, T: k.Type()}
			}
		}
		c, ok := e.(*scalar.Col)
		if !ok || c.Index >= subCol {
			return nil
		}
		at, bad := g.column(c.Index, c.T, g.q.b.pos[c], false)
		if bad != nil && err == nil {
			err = bad
		}
		return &scalar.Col{Index: at, T: c.T}
	})
	return r, err
}

// column gives the grouped row's column for a column, virtual or not, of the row before. sub: a subquery asks.
func (g *grouping) column(col int, t types.T, pos ast.Pos, sub bool) (int, error) {
	if col >= aggCol {
		return len(g.keys) + col - aggCol, nil
	}
	for i, k := range g.keys {
		if c, ok := k.(*scalar.Col); ok && c.Index == col {
			return i, nil
		}
	}
	name := g.q.columnName(col)
	if sub {
		return 0, fail(pos, pgerr.GroupingError, "subquery uses ungrouped column \"%s\" from outer query", name)
	}
	return 0, fail(pos, pgerr.GroupingError, "column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function", name)
}

// columnName is how messages call a column of the query's row.
func (q *query) columnName(col int) string {
	for _, src := range q.sc.sources {
		for _, c := range src.cols {
			if e, ok := c.expr.(*scalar.Col); ok && e.Index == col {
				if src.name == "" {
					return c.name
				}
				return src.name + "." + c.name
			}
		}
	}
	return "?column?"
}

// placing puts the subqueries of expressions over the grouped row into the tree.
func (g *grouping) placing() *placing {
	p := g.q.placing(g.rel)
	p.real = func(col int, t types.T, pos ast.Pos, sub bool) (int, error) {
		if !sub {
			return col, nil // expr has seen to it
		}
		return g.column(col, t, pos, true)
	}
	return p
}
