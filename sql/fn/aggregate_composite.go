package fn

import (
	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// compositeAggs are the aggregates that make arrays and JSON of their rows.
func compositeAggs() []scalar.Agg {
	return []scalar.Agg{
		foldFor("array_agg", 2335, sig(tAnyNonArray), tAnyArray, arrayAgg, "an array of the values"),
		foldFor("array_agg", 4053, sig(tAnyArray), tAnyArray, arrayAggNested, "an array of the arrays, with one dimension more"),
		foldFor("jsonb_agg", 3267, sig(tAnyElement), tJsonb, jsonbAgg, "a JSON array of the values"),
		foldFor("jsonb_object_agg", 3270, sig(tAny, tAny), tJsonb, jsonbObjectAgg, "a JSON object of keys and values"),
	}
}

// typedFold is a fold that knows its arguments' types.
type typedFold func(env scalar.Env, args []types.T, rows *scalar.Rows) (vec.Datum, error)

// foldFor is an aggregate of any types that sees NULLs too.
func foldFor(name string, oid uint32, args []types.T, ret types.T, f typedFold, doc string) scalar.Agg {
	g := agg(name, oid, args, ret, doc)
	g.KeepNulls = true
	g.For = func(args []types.T) *scalar.Agg {
		h := g
		h.For = nil
		h.Args = args
		h.Fold = func(env scalar.Env, rows *scalar.Rows) (vec.Datum, error) { return f(env, args, rows) }
		if isGenericArray(ret.OID) {
			h.Ret = args[0]
			if !args[0].IsArray() {
				h.Ret = arrayOf(args[0])
			}
			h.Ret.Mod = types.NoMod
		}
		return &h
	}
	return g
}

// dataOf is argument k of all rows as data.
func dataOf(rows *scalar.Rows, k int) []vec.Datum {
	data := make([]vec.Datum, rows.N)
	for i := range data {
		data[i] = rows.Args[k].Datum(i)
	}
	return data
}

func arrayAgg(_ scalar.Env, _ []types.T, rows *scalar.Rows) (vec.Datum, error) {
	if rows.N == 0 {
		return vec.Null, nil
	}
	return array(dataOf(rows, 0)), nil
}

func arrayAggNested(_ scalar.Env, args []types.T, rows *scalar.Rows) (vec.Datum, error) {
	if rows.N == 0 {
		return vec.Null, nil
	}
	data := dataOf(rows, 0)
	elem, _ := args[0].Elem()
	for i, d := range data {
		if d.IsNull() {
			return vec.Null, pgerr.New(pgerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
		if x := adt.ArrayOf(d.Bytes()); x.NDims() == 0 && i == 0 {
			return vec.Null, pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate empty arrays")
		}
	}
	nested, err := nestArrays(elem.Kind(), data)
	if err == errArrayShape {
		err = pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
	}
	return nested, err
}

func jsonbAgg(env scalar.Env, args []types.T, rows *scalar.Rows) (vec.Datum, error) {
	if rows.N == 0 {
		return vec.Null, nil
	}
	var b adt.JsonbBuilder
	b.Reset(nil)
	b.BeginArray()
	for i := range rows.N {
		if err := addJSON(env, &b, args[0], rows.Args[0].Datum(i)); err != nil {
			return vec.Null, err
		}
	}
	b.End()
	return vec.BytesOf(b.Bytes()), nil
}

func jsonbObjectAgg(env scalar.Env, args []types.T, rows *scalar.Rows) (vec.Datum, error) {
	if rows.N == 0 {
		return vec.Null, nil
	}
	var b adt.JsonbBuilder
	b.Reset(nil)
	b.BeginObject()
	for i := range rows.N {
		k := rows.Args[0].Datum(i)
		if k.IsNull() {
			return vec.Null, pgerr.New(pgerr.InvalidParameterValue, "field name must not be null")
		}
		key, err := jsonKey(env, args[0], k, 1)
		if err != nil {
			return vec.Null, err
		}
		b.Key(key)
		if err := addJSON(env, &b, args[1], rows.Args[1].Datum(i)); err != nil {
			return vec.Null, err
		}
	}
	b.End()
	return vec.BytesOf(b.Bytes()), nil
}
