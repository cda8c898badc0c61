package bind

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// checkOperator refuses an operator of a schema that has none.
func checkOperator(op ast.Op, pos ast.Pos) error {
	if op.Schema != "" && op.Schema != "pg_catalog" {
		return fail(pos, pgerr.InvalidSchemaName, "schema \"%s\" does not exist", op.Schema)
	}
	return nil
}

func (q *query) unary(e *ast.Unary) (scalar.Expr, error) {
	if err := checkOperator(e.Op, e.Pos); err != nil {
		return nil, err
	}
	arg, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	c, err := fn.ResolveOperator(e.Op.Symbol, arg.Type())
	if err != nil {
		return nil, at(err, e.Pos)
	}
	if arg, err = q.b.implicit(arg, c.Args[0], posOf(e.Arg)); err != nil {
		return nil, err
	}
	return &scalar.Call{Func: c.Func, Args: []scalar.Expr{arg}, T: c.Ret}, nil
}

func (q *query) binary(e *ast.Binary) (scalar.Expr, error) {
	if err := checkOperator(e.Op, e.Pos); err != nil {
		return nil, err
	}
	l, lok := e.Left.(*ast.Row)
	r, rok := e.Right.(*ast.Row)
	if lok && rok && isComparison(e.Op.Symbol) {
		return q.compareRows(e, l, r)
	}
	if lok && isComparison(e.Op.Symbol) {
		if sub, ok := e.Right.(*ast.Subquery); ok {
			return q.rowSubquery(e, l, sub)
		}
	}
	left, err := q.expr(e.Left)
	if err != nil {
		return nil, err
	}
	right, err := q.expr(e.Right)
	if err != nil {
		return nil, err
	}
	return q.operator(e.Op.Symbol, left, right, e.Pos, posOf(e.Left), posOf(e.Right))
}

// operator applies an infix operator to bound operands.
func (q *query) operator(symbol string, left, right scalar.Expr, pos, leftPos, rightPos ast.Pos) (scalar.Expr, error) {
	c, err := fn.ResolveOperator(symbol, left.Type(), right.Type())
	if err != nil {
		return nil, at(err, pos)
	}
	if left, err = q.b.implicit(left, c.Args[0], leftPos); err != nil {
		return nil, err
	}
	if right, err = q.b.implicit(right, c.Args[1], rightPos); err != nil {
		return nil, err
	}
	if err := comparable(left.Type().Record, right.Type().Record); err != nil {
		return nil, at(err, pos)
	}
	return &scalar.Call{Func: c.Func, Args: []scalar.Expr{left, right}, T: c.Ret}, nil
}

// comparable refuses the comparison of records that are not of the same types: what lies in memory is compared.
func comparable(a, b *types.Record) error {
	if a == nil || b == nil {
		return nil
	}
	for i := range min(len(a.Fields), len(b.Fields)) {
		x, y := a.Fields[i].Type, b.Fields[i].Type
		if x.OID != y.OID {
			return pgerr.Newf(pgerr.DatatypeMismatch, "cannot compare dissimilar column types %s and %s at record column %d",
				types.Of(x.OID), types.Of(y.OID), i+1)
		}
		if err := comparable(x.Record, y.Record); err != nil {
			return err
		}
	}
	if len(a.Fields) != len(b.Fields) {
		return pgerr.Newf(pgerr.DatatypeMismatch, "cannot compare record types with different numbers of columns")
	}
	return nil
}

func isComparison(symbol string) bool {
	return slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, symbol)
}

// compareRows compares row constructors field by field.
func (q *query) compareRows(e *ast.Binary, l, r *ast.Row) (scalar.Expr, error) {
	left, lefts, err := q.spread(l.Items)
	if err != nil {
		return nil, err
	}
	right, rights, err := q.spread(r.Items)
	if err != nil {
		return nil, err
	}
	switch {
	case len(left) != len(right):
		return nil, fail(e.Pos, pgerr.SyntaxError, "unequal number of entries in row expressions")
	case len(left) == 0:
		return nil, fail(e.Pos, pgerr.FeatureNotSupported, "cannot compare rows of zero length")
	}
	return q.rowOperator(e.Op.Symbol, left, right, places{e.Pos, lefts, rights})
}

// places are where an operator and its operands stand.
type places struct {
	op          ast.Pos
	left, right []ast.Expr // nil: the operands stand nowhere themselves
}

func (p places) of(i int) (left, right ast.Pos) {
	left, right = p.op, p.op
	if i < len(p.left) {
		left = posOf(p.left[i])
	}
	if i < len(p.right) {
		right = posOf(p.right[i])
	}
	return left, right
}

// rowOperator compares fields: rows are equal if all fields are; else the first that differ decide.
func (q *query) rowOperator(symbol string, left, right []scalar.Expr, at places) (scalar.Expr, error) {
	each := func(symbol string) ([]scalar.Expr, error) {
		out := make([]scalar.Expr, len(left))
		for i := range left {
			leftPos, rightPos := at.of(i)
			c, err := q.operator(symbol, left[i], right[i], at.op, leftPos, rightPos)
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return out, nil
	}
	if len(left) == 1 {
		leftPos, rightPos := at.of(0)
		return q.operator(symbol, left[0], right[0], at.op, leftPos, rightPos)
	}
	switch symbol {
	case "=":
		cs, err := each("=")
		return scalar.AndOf(cs...), err
	case "<>":
		cs, err := each("<>")
		return scalar.OrOf(cs...), err
	}
	eqs, err := each("=")
	if err != nil {
		return nil, err
	}
	strict, err := each(symbol[:1])
	if err != nil {
		return nil, err
	}
	lasts, err := each(symbol)
	if err != nil {
		return nil, err
	}
	r := lasts[len(lasts)-1]
	for i := len(left) - 2; i >= 0; i-- {
		r = scalar.OrOf(strict[i], scalar.AndOf(eqs[i], r))
	}
	return r, nil
}

// rowsDistinct: rows are distinct if some field is.
func (q *query) rowsDistinct(e *ast.IsDistinct, l, r *ast.Row) (scalar.Expr, error) {
	left, _, err := q.spread(l.Items)
	if err != nil {
		return nil, err
	}
	right, _, err := q.spread(r.Items)
	if err != nil {
		return nil, err
	}
	if len(left) != len(right) {
		return nil, fail(e.Pos, pgerr.SyntaxError, "unequal number of entries in row expressions")
	}
	parts := make([]scalar.Expr, len(left))
	for i := range left {
		if parts[i], err = q.distinct(left[i], right[i], e); err != nil {
			return nil, err
		}
	}
	d := scalar.OrOf(parts...)
	if e.Not {
		return fn.Not(d), nil
	}
	return d, nil
}

func (q *query) like(e *ast.Like) (scalar.Expr, error) {
	if e.Kind == ast.SimilarOp {
		return nil, unsupported(e.Pos, "SIMILAR TO")
	}
	symbol := map[ast.LikeKind]string{ast.LikeOp: "~~", ast.ILikeOp: "~~*"}[e.Kind]
	if e.Not {
		symbol = "!" + symbol
	}
	arg, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	pattern, err := q.expr(e.Pattern)
	if err != nil {
		return nil, err
	}
	if e.Escape != nil {
		escape, err := q.expr(e.Escape)
		if err != nil {
			return nil, err
		}
		pos := func(i int) ast.Pos { return posOf([]ast.Expr{e.Pattern, e.Escape}[i]) }
		if pattern, err = q.function("like_escape", []scalar.Expr{pattern, escape}, e.Pos, pos); err != nil {
			return nil, err
		}
	}
	return q.operator(symbol, arg, pattern, e.Pos, posOf(e.Arg), posOf(e.Pattern))
}

// inList is IN over a list or a query.
func (q *query) inList(e *ast.In) (scalar.Expr, error) {
	if e.List == nil {
		return q.inQuery(e)
	}
	r, err := q.oneOf(e)
	if err == nil && e.Not {
		r = fn.Not(r)
	}
	return r, err
}

// oneOf is IN over a list. The list gets one type with the operand if it can, as PostgreSQL makes an array of
// it; else each item is compared by itself.
func (q *query) oneOf(e *ast.In) (scalar.Expr, error) {
	if l, ok := e.Arg.(*ast.Row); ok {
		return q.rowOneOf(e, l)
	}
	arg, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	items, err := q.exprs(e.List)
	if err != nil {
		return nil, err
	}
	all := append([]scalar.Expr{arg}, items...)
	if t, err := fn.CommonType("IN", typesOf(all)...); err == nil && t.OID != types.OIDRecord {
		for i, item := range items {
			if items[i], err = q.b.implicit(item, t, posOf(e.List[i])); err != nil {
				return nil, err
			}
		}
	}
	eqs := make([]scalar.Expr, len(items))
	for i, item := range items {
		if eqs[i], err = q.operator("=", arg, item, e.Pos, posOf(e.Arg), posOf(e.List[i])); err != nil {
			return nil, err
		}
	}
	return setOf(eqs), nil
}

// setOf makes one In of equations of one expression with constants, else a disjunction.
func setOf(eqs []scalar.Expr) scalar.Expr {
	in := &scalar.In{}
	for _, e := range eqs {
		a, b, ok := logical.Equation(e)
		c, isConst := b.(*scalar.Const)
		if !ok || !isConst || in.Arg != nil && !scalar.Equal(in.Arg, a) || a.Type().Kind() != b.Type().Kind() {
			return scalar.OrOf(eqs...)
		}
		in.Arg = a
		if c.Value.IsNull() {
			in.HasNull = true
		} else {
			in.Set = append(in.Set, c.Value)
		}
	}
	if len(eqs) == 1 {
		return eqs[0]
	}
	slices.SortFunc(in.Set, vec.Datum.Compare)
	in.Set = slices.CompactFunc(in.Set, vec.Datum.Equal)
	return in
}

// rowOneOf is (a, b) IN (…): with rows the fields are compared, with other values a record.
func (q *query) rowOneOf(e *ast.In, l *ast.Row) (scalar.Expr, error) {
	left, lefts, err := q.spread(l.Items)
	if err != nil {
		return nil, err
	}
	alternatives := make([]scalar.Expr, len(e.List))
	for i, item := range e.List {
		r, ok := item.(*ast.Row)
		if !ok {
			if alternatives[i], err = q.recordIs(l, item, e.Pos); err != nil {
				return nil, err
			}
			continue
		}
		right, rights, err := q.spread(r.Items)
		if err != nil {
			return nil, err
		}
		if len(right) != len(left) {
			return nil, fail(e.Pos, pgerr.SyntaxError, "unequal number of entries in row expressions")
		}
		if alternatives[i], err = q.rowOperator("=", left, right, places{e.Pos, lefts, rights}); err != nil {
			return nil, err
		}
	}
	return scalar.OrOf(alternatives...), nil
}

// recordIs compares a row, as the record that it is, with another value.
func (q *query) recordIs(l *ast.Row, e ast.Expr, pos ast.Pos) (scalar.Expr, error) {
	left, err := q.row(l)
	if err != nil {
		return nil, err
	}
	right, err := q.expr(e)
	if err != nil {
		return nil, err
	}
	return q.operator("=", left, right, pos, l.Pos, posOf(e))
}
