package bind

import (
	"strconv"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// wholeRow is a relation's name as a value: a record of its columns, NULL where an outer join has no row of it.
// Such a row is told by all its columns being NULL.
func (q *query) wholeRow(src *source, level int, pos ast.Pos) (scalar.Expr, error) {
	if q.clause == inIndex {
		return nil, unsupported(pos, "a whole row in an index")
	}
	args := make([]scalar.Expr, len(src.cols))
	nulls := make([]scalar.Expr, len(src.cols))
	for i, c := range src.cols {
		args[i] = q.seen(found{c.expr, level}.outer(), pos)
		nulls[i] = &scalar.IsNull{Arg: args[i]}
	}
	t := src.recordOf()
	r := record(t, args)
	if !src.missing {
		return r, nil
	}
	return &scalar.Case{Whens: []scalar.When{{Cond: scalar.AndOf(nulls...), Then: logical.Null(t)}}, Else: r, T: t}, nil
}

// starValue is t.* as one value: the whole row.
func (q *query) starValue(e *ast.Star) (scalar.Expr, error) {
	if e.Qualifier == nil {
		return nil, fail(e.Pos, pgerr.SyntaxError, "row expansion via \"*\" is not supported here")
	}
	src, level, err := q.starred(e)
	if err != nil {
		return nil, err
	}
	return q.wholeRow(src, level, e.Pos)
}

// record is a record of the given fields.
func record(t types.T, fields []scalar.Expr) scalar.Expr {
	ts, names := make([]types.T, len(fields)), make([]string, len(fields))
	for i, f := range t.Record.Fields {
		ts[i], names[i] = f.Type, f.Name
	}
	return &scalar.Call{Func: fn.MakeRow(ts, names), Args: fields, T: t}
}

// row is ROW(…) as a value.
func (q *query) row(e *ast.Row) (scalar.Expr, error) {
	fields, items, err := q.spread(e.Items)
	if err != nil {
		return nil, err
	}
	r := &types.Record{}
	for i, x := range fields {
		if fields[i], err = q.b.settle(x, posOf(items[i])); err != nil {
			return nil, err
		}
		r.Fields = append(r.Fields, types.Field{Name: fieldName(i + 1), Type: fields[i].Type()})
	}
	return record(types.T{OID: types.OIDRecord, Mod: types.NoMod, Record: r}, fields), nil
}

// spread binds the fields of a row, of which t.* is several. It gives for each where it stands.
func (q *query) spread(list []ast.Expr) ([]scalar.Expr, []ast.Expr, error) {
	fields, items := make([]scalar.Expr, 0, len(list)), make([]ast.Expr, 0, len(list))
	for _, e := range list {
		if star, ok := e.(*ast.Star); ok {
			outs, err := q.star(star)
			if err != nil {
				return nil, nil, err
			}
			for _, o := range outs {
				fields, items = append(fields, o.expr), append(items, e)
			}
			continue
		}
		x, err := q.expr(e)
		if err != nil {
			return nil, nil, err
		}
		fields, items = append(fields, x), append(items, e)
	}
	return fields, items, nil
}

func fieldName(i int) string { return "f" + strconv.Itoa(i) }

// field is (x).name.
func (q *query) field(e *ast.Field) (scalar.Expr, error) {
	x, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	t := x.Type()
	if t.Record == nil {
		if t.OID == types.OIDRecord {
			return nil, fail(posOf(e), pgerr.UndefinedColumn, "could not identify column \"%s\" in record data type", e.Name)
		}
		return nil, fail(posOf(e), pgerr.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type",
			e.Name, types.Of(t.OID))
	}
	for i, f := range t.Record.Fields {
		if f.Name == e.Name {
			return fieldOf(x, i), nil
		}
	}
	return nil, fail(posOf(e), pgerr.UndefinedColumn, "could not identify column \"%s\" in record data type", e.Name)
}

// fieldOf is field i of a record; of one that is made right there, what it is made of.
func fieldOf(x scalar.Expr, i int) scalar.Expr {
	t := x.Type()
	if c, ok := x.(*scalar.Call); ok && c.Func.Name == "ROW" {
		return c.Args[i]
	}
	return &scalar.Call{Func: fn.Field(t, i), Args: []scalar.Expr{x}, T: t.Record.Fields[i].Type}
}

// fields is (x).* in a list of results.
func (q *query) fields(e *ast.Field) ([]output, error) {
	x, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	t := x.Type()
	if t.Record == nil {
		return nil, fail(e.Pos, pgerr.WrongObjectType, "type %s is not composite", types.Of(t.OID))
	}
	outs := make([]output, len(t.Record.Fields))
	for i, f := range t.Record.Fields {
		outs[i] = output{f.Name, fieldOf(x, i), e.Pos}
	}
	return outs, nil
}

// nullRecord is x IS [NOT] NULL for a record: whether all its fields are, or none is.
func nullRecord(x scalar.Expr, e *ast.Is) (scalar.Expr, error) {
	t := x.Type()
	if t.Record == nil {
		var r scalar.Expr = &scalar.IsNull{Arg: x}
		if e.Not {
			r = fn.Not(r)
		}
		return r, nil
	}
	parts := make([]scalar.Expr, len(t.Record.Fields))
	for i := range parts {
		parts[i] = &scalar.IsNull{Arg: fieldOf(x, i)}
		if e.Not {
			parts[i] = fn.Not(parts[i])
		}
	}
	return scalar.AndOf(parts...), nil
}

// emptyArray is the array of a type without elements.
func (b *binder) emptyArray(t types.T, pos ast.Pos) (scalar.Expr, error) {
	e, err := b.literal(&scalar.Const{Value: vec.StrOf("{}"), T: types.TUnknown}, t, types.Explicit, pos)
	if err == nil && e == nil {
		return nil, unsupported(pos, "an empty array of type %s", t)
	}
	return e, err
}

// arrayOf is ARRAY[…]; want is the elements' type where a cast around it says so.
func (q *query) arrayOf(e *ast.Array, want *types.T) (scalar.Expr, error) {
	elems := make([]scalar.Expr, len(e.Elems))
	for i, item := range e.Elems {
		var x scalar.Expr
		var err error
		// Arrays in an array are its further dimensions: they have the same elements.
		if inner, ok := item.(*ast.Array); ok && !inner.List && inner.Query == nil {
			x, err = q.arrayOf(inner, want)
		} else {
			x, err = q.expr(item)
		}
		if err != nil {
			return nil, err
		}
		if want != nil && !x.Type().IsArray() {
			if x, err = q.b.cast(x, *want, posOf(item), posOf(item)); err != nil {
				return nil, err
			}
		}
		elems[i] = x
	}
	if len(elems) == 0 {
		if want == nil {
			return nil, fail(e.Pos, pgerr.IndeterminateDatatype, "cannot determine type of empty array").
				WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
		}
		t, _ := want.Array()
		return q.b.emptyArray(t, e.Pos)
	}
	t, err := q.b.common("ARRAY", elems, func(i int) ast.Pos { return posOf(e.Elems[i]) })
	if err != nil {
		return nil, err
	}
	f, err := fn.MakeArray(t, len(elems))
	if err != nil {
		return nil, at(err, e.Pos)
	}
	t, err = resultType(f.Ret, nil, e.Pos)
	return &scalar.Call{Func: f, Args: elems, T: t}, err
}

// subscript is x[i], or x[i:j].
func (q *query) subscript(e *ast.Subscript) (scalar.Expr, error) {
	x, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	slice := false
	for _, ix := range e.Indexes {
		slice = slice || ix.Slice
	}
	args := []scalar.Expr{x}
	var open []bool
	for _, ix := range e.Indexes {
		lower := ix.Lower
		if slice {
			// One subscript among slices is a slice from 1 to it.
			upper := ix.Upper
			if !ix.Slice {
				lower, upper = &ast.Literal{Kind: ast.Number, Text: "1"}, ix.Lower
			}
			open = append(open, lower == nil, upper == nil)
			if args, err = q.subscriptArg(args, lower); err == nil {
				args, err = q.subscriptArg(args, upper)
			}
		} else {
			args, err = q.subscriptArg(args, lower)
		}
		if err != nil {
			return nil, err
		}
	}
	var f *scalar.Func
	if slice {
		f, err = fn.Slice(x.Type(), len(e.Indexes), open)
	} else {
		f, err = fn.Subscript(x.Type(), len(e.Indexes))
	}
	if err != nil {
		return nil, at(err, posOf(e.Arg))
	}
	return &scalar.Call{Func: f, Args: args, T: f.Ret}, nil
}

// subscriptArg binds a subscript; one that is left out is NULL.
func (q *query) subscriptArg(args []scalar.Expr, e ast.Expr) ([]scalar.Expr, error) {
	if e == nil {
		return append(args, logical.Null(types.TInt4)), nil
	}
	i, err := q.expr(e)
	if err != nil {
		return nil, err
	}
	r, err := q.b.coerce(i, types.TInt4, types.Assignment, posOf(e))
	if err == nil && r == nil {
		return nil, fail(posOf(e), pgerr.DatatypeMismatch, "array subscript must have type integer")
	}
	return append(args, r), err
}

// anyElement is left op ANY (array), or ALL.
func (q *query) anyElement(e *ast.Quantified, left, array scalar.Expr) (scalar.Expr, error) {
	if isUnknown(array) {
		t := left.Type()
		if t.OID == types.OIDUnknown {
			t = types.TText
		}
		a, ok := t.Array()
		if !ok {
			return nil, fail(posOf(e.Array), pgerr.UndefinedObject, "could not find array type for data type %s", types.Of(t.OID))
		}
		var err error
		if array, err = q.b.implicit(array, a, posOf(e.Array)); err != nil {
			return nil, err
		}
	}
	elem, ok := array.Type().Elem()
	if !ok {
		return nil, fail(e.Pos, pgerr.WrongObjectType, "op ANY/ALL (array) requires array on right side")
	}
	c, err := fn.ResolveOperator(e.Op.Symbol, left.Type(), elem)
	if err != nil {
		return nil, at(err, e.Pos)
	}
	if c.Ret.OID != types.OIDBool {
		return nil, fail(e.Pos, pgerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean")
	}
	if left, err = q.b.implicit(left, c.Args[0], posOf(e.Left)); err != nil {
		return nil, err
	}
	if to, ok := c.Args[1].Array(); ok && c.Args[1].OID != elem.OID {
		if array, err = q.b.implicit(array, to, posOf(e.Array)); err != nil {
			return nil, err
		}
	}
	return &scalar.Call{Func: fn.AnyOf(c.Func, array.Type(), e.All), Args: []scalar.Expr{left, array}, T: types.TBool}, nil
}
