package bind

import (
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// functionName gives the name under which the function tables have a function, looked up in the schemas that
// hold functions.
func functionName(n ast.Name) (string, error) {
	switch n.Schema() {
	case "", "pg_catalog", "mz_catalog", "mz_internal", "mz_unsafe", "information_schema":
		return n.Object(), nil
	}
	return "", fail(n.Pos, pgerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Schema())
}

// call binds a call: of an aggregate, a set-returning function, or a plain one.
func (q *query) call(e *ast.Call) (scalar.Expr, error) {
	name, err := functionName(e.Func)
	if err != nil {
		return nil, err
	}
	if e.Over != nil {
		return nil, unsupported(e.Pos, "a window function")
	}
	if e.WithinGroup != nil {
		return nil, unsupported(e.Pos, "WITHIN GROUP")
	}
	if name == "mz_now" {
		return nil, unsupported(e.Pos, "mz_now()")
	}
	if len(fn.Aggregate(name)) > 0 {
		return q.aggregate(name, e)
	}
	args, err := q.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	if err := plainCall(name, e); err != nil {
		return nil, err
	}
	if e.Variadic {
		return nil, unsupported(e.Pos, "VARIADIC")
	}
	pos := func(i int) ast.Pos { return posOf(e.Args[i]) }
	if len(fn.Table(name)) > 0 && len(fn.Scalar(name)) == 0 {
		return q.setReturning(name, args, e)
	}
	return q.function(name, args, e.Pos, pos)
}

// plainCall refuses what only an aggregate's call may have.
func plainCall(name string, e *ast.Call) error {
	what := ""
	switch {
	case e.Star:
		if _, err := fn.Resolve(name, nil); err != nil {
			return at(err, e.Pos)
		}
		return fail(e.Pos, pgerr.WrongObjectType, "%s(*) specified, but %s is not an aggregate function", name, name)
	case e.Distinct:
		what = "DISTINCT"
	case e.OrderBy != nil:
		what = "ORDER BY"
	case e.Filter != nil:
		what = "FILTER"
	default:
		return nil
	}
	if len(fn.Scalar(name)) == 0 && len(fn.Table(name)) == 0 {
		return nil // that there is no such function is said first
	}
	return fail(e.Pos, pgerr.WrongObjectType, "%s specified, but %s is not an aggregate function", what, name)
}

// function applies a plain function to bound arguments.
func (q *query) function(name string, args []scalar.Expr, pos ast.Pos, argPos func(int) ast.Pos) (scalar.Expr, error) {
	c, err := fn.Resolve(name, typesOf(args))
	if err != nil {
		return nil, at(err, pos)
	}
	if c.Func.IsCast() {
		return q.b.cast(args[0], c.Ret, pos, argPos(0))
	}
	out := make([]scalar.Expr, len(args))
	for i, a := range args {
		if out[i], err = q.b.implicit(a, c.Args[i], argPos(i)); err != nil {
			return nil, err
		}
	}
	t, err := resultType(c.Ret, out, pos)
	return &scalar.Call{Func: c.Func, Args: out, T: t}, err
}

// resultType is the type of what a function gives: a record that it is given is one of the same fields. Nothing
// says of which fields the records in an array are.
func resultType(t types.T, args []scalar.Expr, pos ast.Pos) (types.T, error) {
	if elem, ok := t.Elem(); ok && elem.OID == types.OIDRecord {
		return t, unsupported(pos, "an array of records")
	}
	if t.OID != types.OIDRecord || t.Record != nil {
		return t, nil
	}
	for _, a := range args {
		if t := a.Type(); t.OID == types.OIDRecord {
			return t, nil
		}
	}
	return t, nil
}

// valueFunc binds current_timestamp and its like, which are calls without parentheses.
func (q *query) valueFunc(e *ast.ValueFunc) (scalar.Expr, error) {
	name, t := e.Name, types.T{}
	switch e.Name {
	case "current_timestamp":
		name, t = "now", types.TTimestampTZ
	case "localtimestamp":
		name, t = "now", types.TTimestamp
	case "current_date":
		name, t = "now", types.TDate
	case "localtime":
		name, t = "now", types.TTime
	case "current_time":
		return nil, unsupported(e.Pos, "type time with time zone")
	case "current_catalog":
		name = "current_database"
	case "current_role", "user":
		name = "current_user"
	}
	f, err := q.function(name, nil, e.Pos, func(int) ast.Pos { return e.Pos })
	if err != nil || t.OID == 0 {
		return f, err
	}
	t = types.Of(t.OID)
	if e.Precision >= 0 {
		t.Mod = int32(min(e.Precision, 6))
	}
	return q.b.cast(f, t, e.Pos, e.Pos)
}

// setReturning makes a set-returning function of a list of results a virtual column.
func (q *query) setReturning(name string, args []scalar.Expr, e *ast.Call) (scalar.Expr, error) {
	switch {
	case q.inAgg > 0:
		return nil, fail(e.Pos, pgerr.FeatureNotSupported, "aggregate function calls cannot contain set-returning function calls")
	case q.inCase > 0:
		return nil, fail(e.Pos, pgerr.FeatureNotSupported, "set-returning functions are not allowed in %s", "CASE").
			WithHint("You might be able to move the set-returning function into a LATERAL FROM item.")
	case q.clause != inSelect && q.clause != inGroupBy && q.clause != inOrderBy:
		return nil, q.notAllowed("set-returning functions", pgerr.FeatureNotSupported, e.Pos)
	}
	f, args, err := q.b.tableFunc(name, args, e)
	if err != nil {
		return nil, err
	}
	for _, a := range args {
		if hasVirtual(a, setCol) {
			return nil, unsupported(e.Pos, "a set-returning function within another")
		}
	}
	q.sets = append(q.sets, setFunc{fn: f.Func, args: args, t: f.Ret, cols: f.Func.Cols})
	return &scalar.Col{Index: setCol + len(q.sets) - 1, T: setType(f)}, nil
}

// setType is the type of a set-returning function's rows as values: of its column if there is one.
func setType(f fn.Call[scalar.TableFunc]) types.T {
	if len(f.Func.Cols) == 1 {
		return f.Func.Cols[0].Type
	}
	r := &types.Record{}
	for _, c := range f.Func.Cols {
		r.Fields = append(r.Fields, types.Field{Name: c.Name, Type: c.Type})
	}
	return types.T{OID: types.OIDRecord, Mod: types.NoMod, Record: r}
}

// tableFunc resolves a function that gives rows.
func (b *binder) tableFunc(name string, args []scalar.Expr, e *ast.Call) (fn.Call[scalar.TableFunc], []scalar.Expr, error) {
	c, err := fn.ResolveTable(name, typesOf(args))
	if err != nil {
		return c, nil, at(err, e.Pos)
	}
	out := make([]scalar.Expr, len(args))
	for i, a := range args {
		if out[i], err = b.implicit(a, c.Args[i], posOf(e.Args[i])); err != nil {
			return c, nil, err
		}
	}
	return c, out, nil
}
