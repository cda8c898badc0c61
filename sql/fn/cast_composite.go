package fn

import (
	"slices"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// castArray casts arrays element by element; nil if the elements cannot be cast.
func castArray(from, to types.T, ctx types.CastContext) *scalar.Func {
	x, xok := from.Elem()
	y, yok := to.Elem()
	if !xok || !yok || isVector(to.OID) {
		return nil
	}
	elem, ok := Cast(x, y, ctx)
	if !ok {
		return nil
	}
	// With the elements' number, which tells a cast that cuts from one that fails.
	f := newCast(from, to, elem.OID, strict)
	f.CanFail, f.Volatility = elem.CanFail, elem.Volatility
	if elem.Relabel {
		// Elements of one kind are encoded alike.
		return (*scalar.Func)(f.relabelled())
	}
	f.Row = func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
		e := elementsOf(a[0], x.Kind())
		for i, d := range e.data {
			var err error
			if e.data[i], err = applyCast(elem, env, d); err != nil {
				return vec.Null, err
			}
		}
		return array(e.data, e.dims...), nil
	}
	return (*scalar.Func)(f)
}

// castRecord casts records field by field; nil if a field cannot be cast.
func castRecord(from, to types.T, ctx types.CastContext) *scalar.Func {
	if len(from.Record.Fields) != len(to.Record.Fields) {
		return nil
	}
	casts := make([]*scalar.Func, len(from.Record.Fields))
	f := newCast(from, to, 17980+uint32(ctx), strict)
	for i, field := range from.Record.Fields {
		c, ok := Cast(field.Type, to.Record.Fields[i].Type, ctx)
		if !ok {
			return nil
		}
		casts[i] = c
		f.CanFail = f.CanFail || c.CanFail
		f.Volatility = max(f.Volatility, c.Volatility)
	}
	if !slices.ContainsFunc(casts, func(c *scalar.Func) bool { return !c.Relabel }) {
		return (*scalar.Func)(f.relabelled())
	}
	f.Row = func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
		var b adt.ElemBuilder
		r := adt.ReadRecord(a[0].Bytes())
		for i, c := range casts {
			kind := from.Record.Fields[i].Type.Kind()
			if !r.Next(kind) {
				break
			}
			d, err := applyCast(c, env, elemDatum(&r, kind))
			if err != nil {
				return vec.Null, err
			}
			addElem(&b, d)
		}
		return vec.BytesOf(b.FinishRecord()), nil
	}
	return (*scalar.Func)(f)
}

// applyCast casts one value.
func applyCast(f *scalar.Func, env scalar.Env, v vec.Datum) (vec.Datum, error) {
	if v.IsNull() {
		return v, nil
	}
	return f.Apply(env, []vec.Datum{v}, f.Ret.Kind())
}
