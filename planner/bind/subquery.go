package bind

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// nested binds a query in an expression.
func (q *query) nested(e *ast.Query) (*relation, error) {
	if q.clause == inDefault || q.clause == inIndex || q.clause == inCopyWhere {
		what := map[clause]string{
			inDefault: "DEFAULT expression", inIndex: "index expression", inCopyWhere: "COPY FROM WHERE condition",
		}[q.clause]
		return nil, fail(e.Pos, pgerr.FeatureNotSupported, "cannot use subquery in %s", what)
	}
	r, err := q.b.query(e, q.sc)
	if err != nil {
		return nil, err
	}
	return r, r.settle(q.b)
}

func (q *query) exists(e *ast.Exists) (scalar.Expr, error) {
	r, err := q.nested(e.Query)
	if err != nil {
		return nil, err
	}
	return q.existsIn(r.rows(), e.Pos), nil
}

func (q *query) existsIn(n logical.Node, pos ast.Pos) scalar.Expr {
	return q.addSub(logical.ApplyExists, n, types.TBool, pos)
}

func (q *query) scalarSubquery(e *ast.Subquery) (scalar.Expr, error) {
	r, err := q.nested(e.Query)
	if err != nil {
		return nil, err
	}
	if len(r.cols) != 1 {
		return nil, fail(e.Pos, pgerr.SyntaxError, "subquery must return only one column")
	}
	return q.addSub(logical.ApplyScalar, r.rows(), r.cols[0].t, e.Pos), nil
}

// rowSubquery compares a row with the one row of a query: each field by a subquery of its own, which are one
// when they are computed.
func (q *query) rowSubquery(e *ast.Binary, l *ast.Row, sub *ast.Subquery) (scalar.Expr, error) {
	left, lefts, err := q.spread(l.Items)
	if err != nil {
		return nil, err
	}
	r, err := q.nested(sub.Query)
	if err != nil {
		return nil, err
	}
	if len(r.cols) != len(left) {
		return nil, columnCount(len(r.cols), len(left), sub.Pos)
	}
	right := make([]scalar.Expr, len(left))
	for i := range right {
		one := logical.NewProject(r.rows(), []int{i})
		right[i] = q.addSub(logical.ApplyScalar, one, r.cols[i].t, sub.Pos)
	}
	return q.rowOperator(e.Op.Symbol, left, right, places{op: e.Pos, left: lefts})
}

func columnCount(have, want int, pos ast.Pos) error {
	if have > want {
		return fail(pos, pgerr.SyntaxError, "subquery has too many columns")
	}
	return fail(pos, pgerr.SyntaxError, "subquery has too few columns")
}

// inQuery is IN over a query.
func (q *query) inQuery(e *ast.In) (scalar.Expr, error) {
	r, err := q.anyOf(e.Arg, "=", e.Query, false, e.Pos)
	if err == nil && e.Not {
		r = fn.Not(r)
	}
	return r, err
}

func (q *query) quantified(e *ast.Quantified) (scalar.Expr, error) {
	if err := checkOperator(e.Op, e.Pos); err != nil {
		return nil, err
	}
	if e.Query != nil {
		return q.anyOf(e.Left, e.Op.Symbol, e.Query, e.All, e.Pos)
	}
	left, err := q.expr(e.Left)
	if err != nil {
		return nil, err
	}
	array, err := q.expr(e.Array)
	if err != nil {
		return nil, err
	}
	return q.anyElement(e, left, array)
}

// operands binds what is compared with the columns of a query: the fields of a row, or one value.
func (q *query) operands(e ast.Expr) ([]scalar.Expr, []ast.Expr, error) {
	if row, ok := e.(*ast.Row); ok {
		return q.spread(row.Items)
	}
	x, err := q.expr(e)
	return []scalar.Expr{x}, []ast.Expr{e}, err
}

// anyOf is arg op ANY (query), or ALL. With f the comparison, true means: f is true for some row; else NULL means:
// f is NULL for some row; else it is false. Since comparisons are NULL just when an operand is, the second
// question is put to each side alone: whether the query has a NULL, and whether arg is NULL and the query has any
// row. ALL is the contrary: false if f is false for some row.
func (q *query) anyOf(arg ast.Expr, symbol string, query *ast.Query, all bool, pos ast.Pos) (scalar.Expr, error) {
	left, items, err := q.operands(arg)
	if err != nil {
		return nil, err
	}
	r, err := q.nested(query)
	if err != nil {
		return nil, err
	}
	if len(r.cols) != len(left) {
		return nil, columnCount(len(r.cols), len(left), pos)
	}
	rows := r.rows()
	// Within the query the operands are one scope further out.
	out := make([]scalar.Expr, len(left))
	right := make([]scalar.Expr, len(left))
	for i, e := range left {
		right[i] = logical.ColOf(rows, i)
		if hasVirtual(e, setCol) {
			return nil, unsupported(posOf(items[i]), "a set-returning function compared with a query")
		}
		if isUnknown(e) {
			if left[i], err = q.b.implicit(e, right[i].Type(), posOf(items[i])); err != nil {
				return nil, err
			}
		}
		out[i] = inward(left[i])
	}
	cond, err := q.rowOperator(symbol, out, right, places{op: pos, left: items})
	if err != nil {
		return nil, err
	}
	if c, ok := cond.(*scalar.Call); ok && c.T.OID != types.OIDBool {
		return nil, fail(pos, pgerr.DatatypeMismatch, "operator must return boolean, not type %s", types.Of(c.T.OID))
	}
	decides := cond
	if all {
		decides = fn.Not(cond)
	}
	found := q.existsIn(logical.NewFilter(rows, decides), pos)
	unknown := q.unknownIn(cond, left, rows, pos)
	c := &scalar.Case{
		Whens: []scalar.When{{Cond: found, Then: boolConst(!all)}}, Else: boolConst(all), T: types.TBool,
	}
	if !logical.NeverTrue(unknown) {
		c.Whens = append(c.Whens, scalar.When{Cond: unknown, Then: logical.Null(types.TBool)})
	}
	return c, nil
}

func boolConst(v bool) scalar.Expr {
	if v {
		return scalar.True
	}
	return scalar.False
}

// inward is an expression of a query's row as a query in it sees it.
func inward(e scalar.Expr) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		switch e := e.(type) {
		case *scalar.Col:
			return &scalar.Outer{Level: 1, Index: e.Index, T: e.T}
		case *scalar.Outer:
			return &scalar.Outer{Level: e.Level + 1, Index: e.Index, T: e.T}
		}
		return e
	})
}

// unknownIn asks whether the comparison is NULL for some row.
func (q *query) unknownIn(cond scalar.Expr, left []scalar.Expr, rows logical.Node, pos ast.Pos) scalar.Expr {
	c, ok := cond.(*scalar.Call)
	if !ok || !c.Func.Strict || c.Func.CanNull || len(left) != 1 {
		return q.existsIn(logical.NewFilter(rows, &scalar.IsNull{Arg: cond}), pos)
	}
	var ways []scalar.Expr
	if rows.Rel().Cols[0].Nullable {
		ways = append(ways, q.existsIn(logical.NewFilter(rows, &scalar.IsNull{Arg: c.Args[1]}), pos))
	}
	if q.nullable(left[0]) {
		ways = append(ways, scalar.AndOf(&scalar.IsNull{Arg: left[0]}, q.existsIn(rows, pos)))
	}
	return scalar.OrOf(ways...)
}

// nullable says whether an expression may be NULL, as far as that is known while it is bound.
func (q *query) nullable(e scalar.Expr) bool {
	return scalar.Nullable(e, func(c int) bool { return q.columns == nil || c >= len(q.columns) || q.columns[c].Nullable })
}

// array is ARRAY[…] or ARRAY(query).
func (q *query) array(e *ast.Array) (scalar.Expr, error) {
	if e.List {
		return nil, unsupported(e.Pos, "LIST")
	}
	if e.Query == nil {
		return q.arrayOf(e, nil)
	}
	r, err := q.nested(e.Query)
	if err != nil {
		return nil, err
	}
	if len(r.cols) != 1 {
		return nil, fail(e.Pos, pgerr.SyntaxError, "subquery must return only one column")
	}
	elem := r.cols[0].t
	t, ok := elem.Array()
	if elem.IsArray() {
		t, ok = elem, true
	}
	if !ok {
		return nil, fail(e.Pos, pgerr.UndefinedObject, "could not find array type for data type %s", types.Of(elem.OID))
	}
	if t, err = resultType(t, nil, e.Pos); err != nil {
		return nil, err
	}
	c, err := fn.ResolveAggregate("array_agg", []types.T{elem})
	if err != nil {
		return nil, at(err, e.Pos)
	}
	in, order := r.ordered()
	agg := logical.Agg{Func: c.Func, Args: []int{0}, Filter: -1, Order: order, T: c.Ret}
	sub := q.addSub(logical.ApplyScalar, logical.NewGlobalReduce(in, []logical.Agg{agg}), t, e.Pos)
	none, err := q.b.emptyArray(t, e.Pos)
	if err != nil {
		return nil, err
	}
	return &scalar.Coalesce{Args: []scalar.Expr{sub, none}, T: t}, nil
}
