package fn

import (
	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Functions of any types.
var genericFuncs = []scalar.Func{
	notFunc,
	row("num_nulls", 438, variadic, sig(tAny), tInt4, countNulls(true), "how many arguments are NULL"),
	row("num_nonnulls", 440, variadic, sig(tAny), tInt4, countNulls(false), "how many arguments are not NULL"),
	// PostgreSQL has these two in its grammar.
	extreme("greatest", 17500, 1, "the greatest argument that is not NULL"),
	extreme("least", 17501, -1, "the least argument that is not NULL"),
	typeOf("pg_typeof", 1619, "the type of the argument"),
}

func countNulls(want bool) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		n := int64(0)
		for _, d := range a {
			if d.IsNull() == want {
				n++
			}
		}
		return vec.IntOf(n), nil
	}
}

// extreme is an entry for the greatest (sign 1) or least (-1) argument. Values are ordered as their bytes are, so
// that no type need be known.
func extreme(name string, oid uint32, sign int, doc string) scalar.Func {
	f := row(name, oid, nulls|variadic, sig(tCompatible), tCompatible, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		top := vec.Null
		for _, d := range a {
			if !d.IsNull() && (top.IsNull() || d.Compare(top)*sign > 0) {
				top = d
			}
		}
		return top, nil
	}, doc)
	return f
}

func typeOf(name string, oid uint32, doc string) scalar.Func {
	e := entry(name, oid, 0, sig(tAny), tRegtype, doc)
	e.For = func(args []types.T) *scalar.Func {
		g := e
		g.For = nil
		g.Row = always(vec.IntOf(int64(args[0].OID)))
		return &g
	}
	return e
}

// NullIf gives NULL if the two values are equal, as the given "=" says, else the first.
func NullIf(eq *scalar.Func, a, b scalar.Expr) scalar.Expr {
	return &scalar.Case{
		Whens: []scalar.When{{
			Cond: &scalar.Call{Func: eq, Args: []scalar.Expr{a, b}, T: tBool},
			Then: &scalar.Const{Value: vec.Null, T: a.Type()},
		}},
		Else: a,
		T:    a.Type(),
	}
}

// The rest are Funcs that the grammar has no names for. Their numbers say which they are.

// MakeArray gives the Func for ARRAY[…] with n elements of a type; of arrays, an array with one dimension more.
func MakeArray(elem types.T, n int) (*scalar.Func, error) {
	t, ok := elem.Array()
	if nested, isArray := elem.Elem(); isArray {
		t, ok, elem = elem, true, nested
		f := row("ARRAY", 17510, fails, repeated(t, n), types.Of(t.OID), nil, "an array of the arguments, which are arrays")
		f.Row = func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return nestArrays(elem.Kind(), a) }
		return &f, nil
	}
	if !ok {
		return nil, pgerr.Newf(pgerr.UndefinedObject, "could not find array type for data type %s", elem)
	}
	f := row("ARRAY", 17511, 0, repeated(elem, n), types.Of(t.OID), func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return array(a), nil
	}, "an array of the arguments")
	return &f, nil
}

func repeated(t types.T, n int) []types.T {
	ts := make([]types.T, n)
	for i := range ts {
		ts[i] = t
	}
	return ts
}

var errArrayShape = pgerr.New(pgerr.ArraySubscriptError,
	"multidimensional arrays must have array expressions with matching dimensions")

// nestArrays makes one array of arrays of equal shape. NULL and empty ones are left out if all are so.
func nestArrays(kind types.Kind, parts []vec.Datum) (vec.Datum, error) {
	var inner []adt.Dim
	var data []vec.Datum
	empty := 0
	for i, p := range parts {
		e := elementsOf(p, kind)
		if len(e.dims) == 0 {
			empty++
			continue
		}
		if inner == nil {
			inner = e.dims
		}
		if empty > 0 || i > 0 && !sameShape(inner, e.dims) {
			return vec.Null, errArrayShape
		}
		data = append(data, e.data...)
	}
	switch {
	case empty == len(parts):
		return array(nil), nil
	case empty > 0:
		return vec.Null, errArrayShape
	case len(inner) == adt.MaxDims:
		return vec.Null, pgerr.Newf(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)",
			adt.MaxDims+1, adt.MaxDims)
	}
	return array(data, append([]adt.Dim{{Lower: 1, Len: int32(len(parts))}}, inner...)...), nil
}

func sameShape(x, y []adt.Dim) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// Subscript gives the Func for array[i, j, …] with n subscripts of type integer: the array first, then they. A place
// outside of the array is NULL.
func Subscript(t types.T, n int) (*scalar.Func, error) {
	elem, ok := t.Elem()
	if !ok {
		return nil, pgerr.Newf(pgerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", t)
	}
	args := append(sig(t), repeated(tInt4, n)...)
	f := row("[]", 17512, strict|nulls, args, types.T{OID: elem.OID, Mod: t.Mod}, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		x := adt.ArrayOf(a[0].Bytes())
		at := x.Offset(subscripts(a[1:])...)
		if at < 0 {
			return vec.Null, nil
		}
		r, ok := x.At(at, elem.Kind())
		if !ok {
			return vec.Null, nil
		}
		return elemDatum(&r, elem.Kind()), nil
	}, "an element of an array")
	return &f, nil
}

func subscripts(a []vec.Datum) []int32 {
	subs := make([]int32, len(a))
	for i, d := range a {
		subs[i] = int32(d.Int())
	}
	return subs
}

// Slice gives the Func for array[a:b, c:d, …] with n pairs of bounds of type integer: the array first, then lower
// and upper bound of each. A bound that is left out is NULL there if open says so for it.
func Slice(t types.T, n int, open []bool) (*scalar.Func, error) {
	elem, ok := t.Elem()
	if !ok {
		return nil, pgerr.Newf(pgerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", t)
	}
	args := append(sig(t), repeated(tInt4, 2*n)...)
	ret := types.Of(arrayOf(elem).OID)
	name := ""
	for i := range n {
		lo, hi := "a", "b"
		if open[2*i] {
			lo = ""
		}
		if open[2*i+1] {
			hi = ""
		}
		name += "[" + lo + ":" + hi + "]"
	}
	f := row(name, 17513, nulls, args, ret, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		if a[0].IsNull() {
			return vec.Null, nil
		}
		x := adt.ArrayOf(a[0].Bytes())
		var bounds []adt.Bounds
		for i := range n {
			lo, hi := a[1+2*i], a[2+2*i]
			if lo.IsNull() && !open[2*i] || hi.IsNull() && !open[2*i+1] {
				return vec.Null, nil
			}
			if i < x.NDims() {
				bounds = append(bounds, boundsOf(x.Dims()[i], lo, hi))
			}
		}
		if n > x.NDims() {
			return array(nil), nil
		}
		var b adt.ElemBuilder
		return vec.BytesOf(b.Slice(nil, &x, elem.Kind(), bounds...)), nil
	}, "a part of an array")
	return &f, nil
}

// boundsOf are the bounds of one dimension; one that is NULL is the array's own.
func boundsOf(d adt.Dim, lo, hi vec.Datum) adt.Bounds {
	b := adt.Bounds{Lower: d.Lower, Upper: upper(d)}
	if !lo.IsNull() {
		b.Lower = int32(lo.Int())
	}
	if !hi.IsNull() {
		b.Upper = int32(hi.Int())
	}
	return b
}

// AnyOf gives the Func for value op ANY (array), or ALL: the value first, then an array whose elements op takes as
// they are.
func AnyOf(op *scalar.Func, array types.T, all bool) *scalar.Func {
	name, oid := op.Name+" ANY", uint32(17514)
	if all {
		name, oid = op.Name+" ALL", 17515
	}
	elem, _ := array.Elem()
	f := row(name, oid, nulls, sig(op.Args[0], array), tBool, func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
		if a[1].IsNull() {
			return vec.Null, nil
		}
		x := adt.ArrayOf(a[1].Bytes())
		unknown := false
		for r := x.Elems(); r.Next(elem.Kind()); {
			d, err := op.Apply(env, []vec.Datum{a[0], elemDatum(&r, elem.Kind())}, types.Bool)
			switch {
			case err != nil:
				return vec.Null, err
			case d.IsNull():
				unknown = true
			case d.Bool() != all:
				return d, nil
			}
		}
		if unknown {
			return vec.Null, nil
		}
		return vec.BoolOf(all), nil
	}, "whether the operator holds for some element, or for all")
	f.CanFail, f.Volatility = op.CanFail, op.Volatility
	return &f
}

// MakeRow gives the Func for ROW(…) with fields of these types, which are named f1, f2, … unless names has others.
func MakeRow(fields []types.T, names []string) *scalar.Func {
	t := tRecord
	t.Record = &types.Record{}
	for i, f := range fields {
		name := "f" + itoa(int64(i+1))
		if i < len(names) && names[i] != "" {
			name = names[i]
		}
		t.Record.Fields = append(t.Record.Fields, types.Field{Name: name, Type: f})
	}
	f := row("ROW", 17516, 0, fields, t, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		var b adt.ElemBuilder
		for _, d := range a {
			addElem(&b, d)
		}
		return vec.BytesOf(b.FinishRecord()), nil
	}, "a record of the arguments")
	return &f
}

// Field gives the Func for field i of records of type t.
func Field(t types.T, i int) *scalar.Func {
	// The number tells fields of one name apart.
	f := row("."+t.Record.Fields[i].Name, uint32(17600+i), strict|nulls, sig(t), t.Record.Fields[i].Type,
		func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
			r := adt.ReadRecord(a[0].Bytes())
			for k, f := range t.Record.Fields {
				if !r.Next(f.Type.Kind()) {
					break
				}
				if k == i {
					return elemDatum(&r, f.Type.Kind()), nil
				}
			}
			return vec.Null, nil
		}, "a field of a record")
	return &f
}
