package fn

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// JSON. It prints without blanks and with sorted keys, as in Materialize, not as PostgreSQL does.
var jsonbFuncs = []scalar.Func{
	kern("->", 3211, strict|nulls, sig(tJsonb, tText), tJsonb, jsonbGet(byField, appendJSON), docJSONField),
	kern("->", 3212, strict|nulls, sig(tJsonb, tInt4), tJsonb, jsonbGet(byIndex, appendJSON), docJSONElem),
	kern("->>", 3477, strict|nulls, sig(tJsonb, tText), tText, jsonbGet(byField, appendPlain), docJSONField+", as text"),
	kern("->>", 3481, strict|nulls, sig(tJsonb, tInt4), tText, jsonbGet(byIndex, appendPlain), docJSONElem+", as text"),
	kern("#>", 3213, strict|nulls, sig(tJsonb, tTextArray), tJsonb, jsonbGet(byPath, appendJSON), docJSONPath),
	kern("#>>", 3206, strict|nulls, sig(tJsonb, tTextArray), tText, jsonbGet(byPath, appendPlain), docJSONPath+", as text"),
	kern("jsonb_object_field", 3478, strict|nulls, sig(tJsonb, tText), tJsonb, jsonbGet(byField, appendJSON), docJSONField),
	kern("jsonb_object_field_text", 3214, strict|nulls, sig(tJsonb, tText), tText, jsonbGet(byField, appendPlain),
		docJSONField+", as text"),
	kern("jsonb_array_element", 3215, strict|nulls, sig(tJsonb, tInt4), tJsonb, jsonbGet(byIndex, appendJSON), docJSONElem),
	kern("jsonb_array_element_text", 3216, strict|nulls, sig(tJsonb, tInt4), tText, jsonbGet(byIndex, appendPlain),
		docJSONElem+", as text"),
	row("jsonb_extract_path", 3217, strict|nulls|variadic, sig(tJsonb, tText), tJsonb, extractPath(appendJSON), docJSONPath),
	row("jsonb_extract_path_text", 3940, strict|nulls|variadic, sig(tJsonb, tText), tText, extractPath(appendPlain),
		docJSONPath+", as text"),

	row("@>", 3246, strict, sig(tJsonb, tJsonb), tBool, jsonb2Bool(jsonbContains), docJSONContains),
	row("<@", 3250, strict, sig(tJsonb, tJsonb), tBool, jsonb2Bool(func(x, y adt.Jsonb) bool { return jsonbContains(y, x) }),
		"whether the first value is contained in the second"),
	row("jsonb_contains", 4046, strict, sig(tJsonb, tJsonb), tBool, jsonb2Bool(jsonbContains), docJSONContains),
	row("?", 3247, strict, sig(tJsonb, tText), tBool, jsonbHas, docJSONHas),
	row("?|", 3248, strict, sig(tJsonb, tTextArray), tBool, jsonbHasSome, "whether any of these texts is a key or an element"),
	row("?&", 3249, strict, sig(tJsonb, tTextArray), tBool, jsonbHasAll, "whether all of these texts are keys or elements"),
	row("jsonb_exists", 4047, strict, sig(tJsonb, tText), tBool, jsonbHas, docJSONHas),
	row("||", 3284, strict, sig(tJsonb, tJsonb), tJsonb, jsonbConcat, "objects merged, or arrays one after the other"),
	row("-", 3285, strict|fails, sig(tJsonb, tText), tJsonb, jsonbDelete, docJSONDelete),
	row("-", 3286, strict|fails, sig(tJsonb, tInt4), tJsonb, jsonbDeleteIndex, "the array without an element"),
	row("-", 3398, strict|fails, sig(tJsonb, tTextArray), tJsonb, jsonbDeleteAll, docJSONDelete),
	row("#-", 3287, strict|fails, sig(tJsonb, tTextArray), tJsonb, jsonbDeletePath, "the value without what a path leads to"),

	row("jsonb_typeof", 3210, strict, sig(tJsonb), tText, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return vec.StrOf(adt.JsonbOf(a[0].Bytes()).TypeOf()), nil
	}, "what sort of value it is"),
	row("jsonb_array_length", 3207, strict|fails, sig(tJsonb), tInt4, jsonbArrayLength, "the number of elements"),
	row("jsonb_strip_nulls", 3262, strict, sig(tJsonb), tJsonb, jsonbStripNulls, "the value without fields that are null"),
	row("jsonb_pretty", 3306, strict, sig(tJsonb), tText, jsonbPretty, "the value as indented text"),
	row("jsonb_object", 3263, strict|fails, sig(tTextArray), tJsonb, jsonbObject, "an object of keys and values in turn"),
	row("jsonb_object", 3264, strict|fails, sig(tTextArray, tTextArray), tJsonb, jsonbObject, "an object of keys and values"),

	building("to_jsonb", 3787, strict|fails, sig(tAnyElement), toJsonb, "the value as JSON"),
	building("jsonb_build_array", 3271, fails|variadic, sig(tAny), jsonbBuildArray, docBuildArray),
	building("jsonb_build_array", 3272, fails, nil, jsonbBuildArray, docBuildArray),
	building("jsonb_build_object", 3273, fails|variadic, sig(tAny), jsonbBuildObject, docBuildObject),
	building("jsonb_build_object", 3274, fails, nil, jsonbBuildObject, docBuildObject),
}

const (
	docJSONField    = "the value of a key of an object"
	docJSONElem     = "an element of an array, counted from 0, or from the end if negative"
	docJSONPath     = "what a path of keys and positions leads to"
	docJSONContains = "whether the second value is contained in the first"
	docJSONHas      = "whether the text is a key or an element"
	docJSONDelete   = "the object without a key, or the array without a text"
	docBuildArray   = "an array of the arguments"
	docBuildObject  = "an object of the arguments, keys and values in turn"
)

// step finds a part of a value for row i of a batch.
type step = func(j adt.Jsonb, b *scalar.Batch, i int) (adt.Jsonb, bool)

func byField(j adt.Jsonb, b *scalar.Batch, i int) (adt.Jsonb, bool) {
	key := b.Arg(1)
	return j.Field(vec.BytesOf(key.At(i)).Str())
}

func byIndex(j adt.Jsonb, b *scalar.Batch, i int) (adt.Jsonb, bool) {
	return j.Index(int(b.Args[1].Ints[i]))
}

func byPath(j adt.Jsonb, b *scalar.Batch, i int) (adt.Jsonb, bool) {
	path := b.Arg(1)
	a := adt.ArrayOf(path.At(i))
	return walkPath(j, &a)
}

// walkPath follows an array of texts; a NULL in it leads nowhere.
func walkPath(j adt.Jsonb, path *adt.Array) (adt.Jsonb, bool) {
	for r := path.Elems(); r.Next(types.Bytes); {
		if r.IsNull() {
			return nil, false
		}
		var ok bool
		if j, ok = j.Step(vec.BytesOf(r.Bytes()).Str()); !ok {
			return nil, false
		}
	}
	return j, true
}

// give appends a part of a value; false for NULL.
type give = func(dst []byte, j adt.Jsonb) ([]byte, bool)

func appendJSON(dst []byte, j adt.Jsonb) ([]byte, bool) { return append(dst, j...), true }

func appendPlain(dst []byte, j adt.Jsonb) ([]byte, bool) {
	if j.Kind() == adt.JsonNull {
		return dst, false
	}
	return j.AppendPlain(dst), true
}

func jsonbGet(find step, out give) kernel {
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for _, i := range b.Sel {
			part, ok := find(adt.JsonbOf(x.At(int(i))), b, int(i))
			if ok {
				b.Begin(int(i))
				if b.Out.Data, ok = out(b.Out.Data, part); ok {
					b.End()
				}
			}
			if !ok {
				b.Null(int(i))
			}
		}
	}
}

func extractPath(out give) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		j := adt.JsonbOf(a[0].Bytes())
		for _, name := range a[1:] {
			var ok bool
			if j, ok = j.Step(name.Str()); !ok {
				return vec.Null, nil
			}
		}
		data, ok := out(nil, j)
		if !ok {
			return vec.Null, nil
		}
		return vec.BytesOf(data), nil
	}
}

func jsonb2Bool(f func(x, y adt.Jsonb) bool) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return vec.BoolOf(f(adt.JsonbOf(a[0].Bytes()), adt.JsonbOf(a[1].Bytes()))), nil
	}
}

// jsonbContains is @>: objects key by key, arrays as sets; and an array contains a scalar that is in it.
func jsonbContains(x, y adt.Jsonb) bool {
	switch {
	case x.Kind() == adt.JsonArray && y.IsScalar():
		return hasElem(x, y)
	case x.Kind() != y.Kind() || x.IsScalar():
		return bytes.Equal(x, y)
	case x.Kind() == adt.JsonArray:
		for _, e := range y.Elems() {
			if e.IsScalar() && !hasElem(x, e) || !e.IsScalar() && !containsElem(x, e) {
				return false
			}
		}
		return true
	}
	for k, v := range y.Pairs() {
		mine, ok := x.Field(k)
		if !ok || mine.Kind() != v.Kind() || !jsonbContains(mine, v) {
			return false
		}
	}
	return true
}

func hasElem(x, e adt.Jsonb) bool {
	for _, mine := range x.Elems() {
		if bytes.Equal(mine, e) {
			return true
		}
	}
	return false
}

// containsElem says whether an element of x contains e, which is an array or object.
func containsElem(x, e adt.Jsonb) bool {
	for _, mine := range x.Elems() {
		if mine.Kind() == e.Kind() && jsonbContains(mine, e) {
			return true
		}
	}
	return false
}

// has says whether a text is a key of an object, an element of an array, or the value itself.
func has(j adt.Jsonb, key string) bool {
	switch j.Kind() {
	case adt.JsonObject:
		_, ok := j.Field(key)
		return ok
	case adt.JsonArray:
		for _, e := range j.Elems() {
			if e.Kind() == adt.JsonString && e.Str() == key {
				return true
			}
		}
	case adt.JsonString:
		return j.Str() == key
	}
	return false
}

func jsonbHas(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return vec.BoolOf(has(adt.JsonbOf(a[0].Bytes()), a[1].Str())), nil
}

// texts are the elements of a text array that are not NULL.
func texts(d vec.Datum) []string {
	var out []string
	x := adt.ArrayOf(d.Bytes())
	for r := x.Elems(); r.Next(types.Bytes); {
		if !r.IsNull() {
			out = append(out, string(r.Bytes()))
		}
	}
	return out
}

func jsonbHasSome(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	j := adt.JsonbOf(a[0].Bytes())
	return vec.BoolOf(slices.ContainsFunc(texts(a[1]), func(s string) bool { return has(j, s) })), nil
}

func jsonbHasAll(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	j := adt.JsonbOf(a[0].Bytes())
	return vec.BoolOf(!slices.ContainsFunc(texts(a[1]), func(s string) bool { return !has(j, s) })), nil
}

// built is the value that f builds.
func built(f func(b *adt.JsonbBuilder)) vec.Datum {
	var b adt.JsonbBuilder
	b.Reset(nil)
	f(&b)
	return vec.BytesOf(b.Bytes())
}

func jsonbConcat(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	x, y := adt.JsonbOf(a[0].Bytes()), adt.JsonbOf(a[1].Bytes())
	return built(func(b *adt.JsonbBuilder) {
		if x.Kind() == adt.JsonObject && y.Kind() == adt.JsonObject {
			b.BeginObject()
			addPairs(b, x)
			addPairs(b, y)
			b.End()
			return
		}
		b.BeginArray()
		addElems(b, x)
		addElems(b, y)
		b.End()
	}), nil
}

func addPairs(b *adt.JsonbBuilder, j adt.Jsonb) {
	for k, v := range j.Pairs() {
		b.Key(k)
		b.Raw(v)
	}
}

// addElems adds the elements of an array, or anything else as one element.
func addElems(b *adt.JsonbBuilder, j adt.Jsonb) {
	if j.Kind() != adt.JsonArray {
		b.Raw(j)
		return
	}
	for _, e := range j.Elems() {
		b.Raw(e)
	}
}

var (
	errDeleteScalar = pgerr.New(pgerr.InvalidParameterValue, "cannot delete from scalar")
	errDeleteObject = pgerr.New(pgerr.InvalidParameterValue, "cannot delete from object using integer index")
)

func jsonbDelete(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return deleteKeys(adt.JsonbOf(a[0].Bytes()), []string{a[1].Str()})
}

func jsonbDeleteAll(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	x := adt.ArrayOf(a[1].Bytes())
	if x.NDims() > 1 {
		return vec.Null, pgerr.New(pgerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	return deleteKeys(adt.JsonbOf(a[0].Bytes()), texts(a[1]))
}

func deleteKeys(j adt.Jsonb, keys []string) (vec.Datum, error) {
	if j.IsScalar() {
		return vec.Null, errDeleteScalar
	}
	return built(func(b *adt.JsonbBuilder) {
		if j.Kind() == adt.JsonObject {
			b.BeginObject()
			for k, v := range j.Pairs() {
				if !slices.Contains(keys, k) {
					b.Key(k)
					b.Raw(v)
				}
			}
		} else {
			b.BeginArray()
			for _, e := range j.Elems() {
				if e.Kind() != adt.JsonString || !slices.Contains(keys, e.Str()) {
					b.Raw(e)
				}
			}
		}
		b.End()
	}), nil
}

func jsonbDeleteIndex(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	j, at := adt.JsonbOf(a[0].Bytes()), int(a[1].Int())
	switch {
	case j.IsScalar():
		return vec.Null, errDeleteScalar
	case j.Kind() == adt.JsonObject:
		return vec.Null, errDeleteObject
	}
	if at < 0 {
		at += j.Len()
	}
	return built(func(b *adt.JsonbBuilder) {
		b.BeginArray()
		for i, e := range j.Elems() {
			if i != at {
				b.Raw(e)
			}
		}
		b.End()
	}), nil
}

func jsonbDeletePath(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	j := adt.JsonbOf(a[0].Bytes())
	x := adt.ArrayOf(a[1].Bytes())
	switch {
	case x.NDims() > 1:
		return vec.Null, pgerr.New(pgerr.ArraySubscriptError, "wrong number of array subscripts")
	case j.IsScalar():
		return vec.Null, pgerr.New(pgerr.InvalidParameterValue, "cannot delete path in scalar")
	case x.Len() == 0 || j.Len() == 0:
		return a[0], nil
	}
	var path []vec.Datum
	for r := x.Elems(); r.Next(types.Bytes); {
		path = append(path, elemDatum(&r, types.Bytes).Clone())
	}
	var b adt.JsonbBuilder
	b.Reset(nil)
	if err := deletePath(&b, j, path, 1); err != nil {
		return vec.Null, err
	}
	return vec.BytesOf(b.Bytes()), nil
}

// deletePath adds j without what path leads to.
func deletePath(b *adt.JsonbBuilder, j adt.Jsonb, path []vec.Datum, depth int) error {
	if j.IsScalar() {
		b.Raw(j)
		return nil
	}
	if path[0].IsNull() {
		return pgerr.Newf(pgerr.NullValueNotAllowed, "path element at position %d is null", depth)
	}
	name := path[0].Str()
	if j.Kind() == adt.JsonObject {
		b.BeginObject()
		for k, v := range j.Pairs() {
			if k != name {
				b.Key(k)
				b.Raw(v)
				continue
			}
			if len(path) > 1 {
				b.Key(k)
				if err := deletePath(b, v, path[1:], depth+1); err != nil {
					return err
				}
			}
		}
		b.End()
		return nil
	}
	at, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return pgerr.Newf(pgerr.InvalidTextRepresentation, "path element at position %d is not an integer: \"%s\"", depth, name)
	}
	if at < 0 {
		at += int64(j.Len())
	}
	b.BeginArray()
	for i, e := range j.Elems() {
		switch {
		case int64(i) != at:
			b.Raw(e)
		case len(path) > 1:
			if err := deletePath(b, e, path[1:], depth+1); err != nil {
				return err
			}
		}
	}
	b.End()
	return nil
}

func jsonbArrayLength(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	j := adt.JsonbOf(a[0].Bytes())
	switch {
	case j.IsScalar():
		return vec.Null, pgerr.New(pgerr.InvalidParameterValue, "cannot get array length of a scalar")
	case j.Kind() == adt.JsonObject:
		return vec.Null, pgerr.New(pgerr.InvalidParameterValue, "cannot get array length of a non-array")
	}
	return vec.IntOf(int64(j.Len())), nil
}

func jsonbStripNulls(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return built(func(b *adt.JsonbBuilder) { stripNulls(b, adt.JsonbOf(a[0].Bytes())) }), nil
}

func stripNulls(b *adt.JsonbBuilder, j adt.Jsonb) {
	switch j.Kind() {
	case adt.JsonObject:
		b.BeginObject()
		for k, v := range j.Pairs() {
			if v.Kind() != adt.JsonNull {
				b.Key(k)
				stripNulls(b, v)
			}
		}
		b.End()
	case adt.JsonArray:
		b.BeginArray()
		for _, e := range j.Elems() {
			stripNulls(b, e)
		}
		b.End()
	default:
		b.Raw(j)
	}
}

func jsonbPretty(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return vec.BytesOf(appendPretty(nil, adt.JsonbOf(a[0].Bytes()), 0)), nil
}

const indentation = 4

func appendPretty(dst []byte, j adt.Jsonb, depth int) []byte {
	line := func(depth int) {
		dst = append(dst, '\n')
		dst = append(dst, bytes.Repeat([]byte{' '}, indentation*depth)...)
	}
	first := true
	next := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		line(depth + 1)
	}
	switch j.Kind() {
	case adt.JsonObject:
		dst = append(dst, '{')
		for k, v := range j.Pairs() {
			next()
			dst = append(adt.AppendJsonString(dst, k), ": "...)
			dst = appendPretty(dst, v, depth+1)
		}
		line(depth)
		return append(dst, '}')
	case adt.JsonArray:
		dst = append(dst, '[')
		for _, e := range j.Elems() {
			next()
			dst = appendPretty(dst, e, depth+1)
		}
		line(depth)
		return append(dst, ']')
	}
	return j.AppendText(dst)
}

// jsonbObject takes keys and values in turn, or pairs, or two arrays.
func jsonbObject(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	keys := elementsOf(a[0], types.Bytes)
	var values []vec.Datum
	wrong := pgerr.New(pgerr.ArraySubscriptError, "wrong number of array subscripts")
	switch {
	case len(a) == 2:
		other := elementsOf(a[1], types.Bytes)
		values = other.data
		if len(keys.dims) > 1 || len(keys.dims) != len(other.dims) {
			return vec.Null, wrong
		}
		if len(keys.data) != len(values) {
			return vec.Null, pgerr.New(pgerr.ArraySubscriptError, "mismatched array dimensions")
		}
	case len(keys.dims) > 2:
		return vec.Null, wrong
	case len(keys.dims) == 2 && keys.dims[1].Len != 2:
		return vec.Null, pgerr.New(pgerr.ArraySubscriptError, "array must have two columns")
	case len(keys.data)%2 != 0:
		return vec.Null, pgerr.New(pgerr.ArraySubscriptError, "array must have even number of elements")
	default:
		var odd []vec.Datum
		for i := 0; i < len(keys.data); i += 2 {
			odd = append(odd, keys.data[i])
			values = append(values, keys.data[i+1])
		}
		keys.data = odd
	}
	if slices.ContainsFunc(keys.data, vec.Datum.IsNull) {
		return vec.Null, pgerr.New(pgerr.NullValueNotAllowed, "null value not allowed for object key")
	}
	return built(func(b *adt.JsonbBuilder) {
		b.BeginObject()
		for i, k := range keys.data {
			b.Key(k.Str())
			if values[i].IsNull() {
				b.Null()
			} else {
				b.String(values[i].Str())
			}
		}
		b.End()
	}), nil
}
