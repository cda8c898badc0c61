package bind

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// relation is a bound query: its columns, and behind them hidden ones to sort by.
type relation struct {
	node    logical.Node
	cols    []relCol
	visible int
	order   []logical.Order
	// scope is what LIMIT must not name: the row of a SELECT. nil: there is none.
	scope *scope
	// limit and offset are constants or parameters; nil: none.
	limit, offset scalar.Expr
}

// relCol is a column of a bound query.
type relCol struct {
	name string
	t    types.T
	// literal is what the column is in every row if it is a literal that has no type yet; else nil.
	literal scalar.Expr
	pos     ast.Pos
}

func intDatum(n int64) vec.Datum { return vec.IntOf(n) }

// types gives the types of the visible columns.
func (r *relation) types() []types.T {
	ts := make([]types.T, len(r.cols))
	for i, c := range r.cols {
		ts[i] = c.t
	}
	return ts
}

// rows is the query as a relation: the visible columns, of the rows that LIMIT and OFFSET leave.
func (r *relation) rows() logical.Node {
	n := r.limited()
	return logical.NewProject(n, logical.Identity(r.visible))
}

// limited is the query with its LIMIT, hidden columns included.
func (r *relation) limited() logical.Node {
	if r.limit == nil && r.offset == nil {
		return r.node
	}
	return logical.NewTopK(r.node, nil, r.order, r.limit, r.offset)
}

// ordered is the query for who takes its rows in order.
func (r *relation) ordered() (logical.Node, []logical.Order) { return r.limited(), r.order }

// settle makes text of literals without a type.
func (r *relation) settle(b *binder) error {
	ts := r.types()
	for i, t := range ts {
		if t.OID == types.OIDUnknown {
			ts[i] = types.TText
		}
	}
	return r.coerce(b, ts, func(i int, from types.T) error {
		return fail(r.cols[i].pos, pgerr.IndeterminateDatatype, "could not determine data type of column \"%s\"", r.cols[i].name)
	})
}

// coerce gives the visible columns types; literals without a type are read as these. bad makes the error where
// there is no implicit cast.
func (r *relation) coerce(b *binder, ts []types.T, bad func(i int, from types.T) error) error {
	return r.coerceIn(types.Implicit, b, ts, bad)
}

func (r *relation) coerceIn(ctx types.CastContext, b *binder, ts []types.T, bad func(i int, from types.T) error) error {
	exprs := make([]scalar.Expr, logical.Arity(r.node))
	changed := false
	for i := range exprs {
		exprs[i] = logical.ColOf(r.node, i)
		if i >= r.visible || r.cols[i].t.Equal(ts[i]) {
			continue
		}
		c := &r.cols[i]
		from := exprs[i]
		if c.literal != nil {
			from = c.literal
		}
		e, err := b.coerce(from, ts[i], ctx, c.pos)
		if err != nil {
			return err
		}
		if e == nil {
			return bad(i, c.t)
		}
		changed = changed || e != exprs[i]
		exprs[i] = e
		c.t, c.literal = ts[i], nil
	}
	if changed {
		r.node = logical.Compute(r.node, exprs...)
	}
	return nil
}

// query binds a query; parent is the scope of the query it is in, nil at the top.
func (b *binder) query(e *ast.Query, parent *scope) (*relation, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	if e.AsOf != nil && b.depth > 1 {
		return nil, unsupported(posOf(e.AsOf.At), "AS OF in a subquery")
	}
	return b.with(e.With, parent, func() (*relation, error) {
		r, err := b.body(e.Body, e.OrderBy, parent)
		if err != nil {
			return nil, err
		}
		return r, b.limits(r, e, parent)
	})
}

// body binds what gives a query's rows, and its ORDER BY.
func (b *binder) body(body ast.QueryBody, order []ast.OrderItem, parent *scope) (*relation, error) {
	switch e := body.(type) {
	case *ast.Select:
		return b.selectBody(e, order, parent)
	case *ast.Query:
		if e.With == nil && e.OrderBy == nil && e.Limit == nil && e.Offset == nil {
			return b.body(e.Body, order, parent)
		}
	}
	r, err := b.unordered(body, parent)
	if err != nil {
		return nil, err
	}
	return r, b.orderByOutput(r, order)
}

// unordered binds a body whose ORDER BY, if any, can only be about its output.
func (b *binder) unordered(body ast.QueryBody, parent *scope) (*relation, error) {
	switch e := body.(type) {
	case *ast.Select:
		return b.selectBody(e, nil, parent)
	case *ast.SetOp:
		return b.setOp(e, parent)
	case *ast.Values:
		return b.values(e, parent)
	case *ast.Query:
		r, err := b.query(e, parent)
		if err != nil {
			return nil, err
		}
		return &relation{node: r.rows(), cols: r.cols, visible: r.visible}, nil
	case *ast.ShowObjects:
		if b.env.Show == nil {
			return nil, unsupported(e.Pos, "SHOW in this place")
		}
		q, err := b.env.Show(e)
		if err != nil {
			return nil, err
		}
		return b.query(q, nil)
	}
	return nil, unsupported(ast.Pos(body.Position()), "this form of query")
}

// orderByOutput sorts by columns of the output.
func (b *binder) orderByOutput(r *relation, order []ast.OrderItem) error {
	if len(order) == 0 {
		return nil
	}
	q := b.newQuery(nil, nil)
	for _, o := range order {
		at := -1
		k, err := q.sortKey(o, func() (scalar.Expr, error) {
			var err error
			at, err = outputColumn(r, o.Expr)
			return nil, err
		})
		if err != nil {
			return err
		}
		r.order = append(r.order, logical.Order{Col: at, Desc: k.desc, NullsFirst: k.nullsFirst})
	}
	return nil
}

func outputColumn(r *relation, e ast.Expr) (int, error) {
	switch e := e.(type) {
	case *ast.Column:
		if len(e.Names) > 1 {
			return 0, fail(e.Pos, pgerr.UndefinedTable, "missing FROM-clause entry for table \"%s\"", e.Names[len(e.Names)-2])
		}
		for i, c := range r.cols {
			if c.name == e.Names[0] {
				return i, nil
			}
		}
		return 0, fail(e.Pos, pgerr.UndefinedColumn, "column \"%s\" does not exist", e.Names[0])
	case *ast.Literal:
		return ordinal(e, "ORDER BY", r.visible)
	}
	return 0, fail(posOf(e), pgerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
		WithDetail("Only result column names can be used, not expressions or functions.").
		WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
}

// limits binds LIMIT and OFFSET.
func (b *binder) limits(r *relation, e *ast.Query, parent *scope) error {
	var err error
	sc := r.scope
	if sc == nil {
		sc = &scope{parent: parent}
	}
	if r.offset, err = b.limit(e.Offset, "OFFSET", inOffset, sc); err != nil {
		return err
	}
	r.limit, err = b.limit(e.Limit, "LIMIT", inLimit, sc)
	return err
}

func (b *binder) limit(e ast.Expr, what string, c clause, sc *scope) (scalar.Expr, error) {
	if e == nil {
		return nil, nil
	}
	q := b.newQuery(sc.parent, sc.sources)
	x, err := q.in(c, e)
	if err != nil {
		return nil, err
	}
	var column *scalar.Col
	scalar.Walk(x, func(e scalar.Expr) bool {
		if c, ok := e.(*scalar.Col); ok && c.Index < aggCol {
			column = c
		}
		return column == nil
	})
	if column != nil {
		return nil, fail(b.pos[column], pgerr.InvalidColumnReference, "argument of %s must not contain variables", what)
	}
	if len(q.subs) > 0 {
		return nil, unsupported(posOf(e), "a subquery in %s", what)
	}
	r, err := b.coerce(x, types.TInt8, types.Assignment, posOf(e))
	if err == nil && r == nil {
		return nil, fail(posOf(e), pgerr.DatatypeMismatch, "argument of %s must be type bigint, not type %s", what, types.Of(x.Type().OID))
	}
	return r, err
}

// setOp binds UNION, EXCEPT and INTERSECT.
func (b *binder) setOp(e *ast.SetOp, parent *scope) (*relation, error) {
	left, err := b.unordered(e.Left, parent)
	if err != nil {
		return nil, err
	}
	right, err := b.unordered(e.Right, parent)
	if err != nil {
		return nil, err
	}
	what := e.Kind.String()
	if len(left.cols) != len(right.cols) {
		pos := e.Pos
		if len(right.cols) > 0 {
			pos = right.cols[0].pos
		}
		return nil, fail(pos, pgerr.SyntaxError, "each %s query must have the same number of columns", what)
	}
	ts := make([]types.T, len(left.cols))
	for i := range ts {
		l, r := left.cols[i], right.cols[i]
		t, err := fn.CommonType(what, l.t, r.t)
		if err != nil {
			return nil, at(err, r.pos)
		}
		if l.t.OID == t.OID && r.t.OID == t.OID && l.t.Mod == r.t.Mod {
			t = l.t
		}
		ts[i] = t
	}
	for _, side := range []*relation{left, right} {
		err := side.coerce(b, ts, func(i int, from types.T) error {
			return fail(side.cols[i].pos, pgerr.CannotCoerce, "%s could not convert type %s to %s", what,
				types.Of(from.OID), types.Of(ts[i].OID))
		})
		if err != nil {
			return nil, err
		}
	}
	r := &relation{node: setNode(e, left.node, right.node), cols: left.cols, visible: len(left.cols)}
	for i := range r.cols {
		r.cols[i].literal = nil
	}
	return r, nil
}

// setNode makes EXCEPT and INTERSECT of union, negation and threshold: A − B is what is left of A, and what A
// and B share is A less what is left of A without B.
func setNode(e *ast.SetOp, left, right logical.Node) logical.Node {
	if e.Kind == ast.Union {
		if e.All {
			return logical.NewUnion(left, right)
		}
		return logical.NewDistinct(logical.NewUnion(left, right))
	}
	if !e.All {
		left, right = logical.NewDistinct(left), logical.NewDistinct(right)
	}
	rest := logical.NewThreshold(logical.NewUnion(left, logical.NewNegate(right)))
	if e.Kind == ast.Except {
		return rest
	}
	return logical.NewUnion(left, logical.NewNegate(rest))
}
