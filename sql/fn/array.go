package fn

import (
	"slices"
	"strings"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

var (
	tTextArray = arrayOf(types.TText)
	tInt4Array = arrayOf(types.TInt4)
	tNameArray = arrayOf(types.TName)

	tCompatible      = types.Of(types.OIDAnyCompatible)
	tCompatibleArray = types.Of(types.OIDAnyCompatibleArray)
)

// arrayOf is the type of arrays of a built-in type.
func arrayOf(t types.T) types.T {
	a, _ := t.Array()
	return a
}

// Arrays.
var arrayFuncs = []scalar.Func{
	generic1("@>", 2751, strict, sig(tAnyArray, tAnyArray), tBool, elementwise(contains), docArrayContains),
	generic1("<@", 2752, strict, sig(tAnyArray, tAnyArray), tBool, elementwise(func(x, y []vec.Datum) bool { return contains(y, x) }),
		"whether every element of the first array is in the second"),
	generic1("&&", 2750, strict, sig(tAnyArray, tAnyArray), tBool, elementwise(overlaps), "whether the arrays have an element in common"),
	generic1("||", 349, fails|nulls, sig(tCompatibleArray, tCompatible), tCompatibleArray, arrayAppend, docArrayAppend),
	generic1("||", 374, fails|nulls, sig(tCompatible, tCompatibleArray), tCompatibleArray, arrayPrepend, docArrayPrepend),
	generic1("||", 375, fails|nulls, sig(tCompatibleArray, tCompatibleArray), tCompatibleArray, arrayCat, docArrayCat),
	generic1("array_append", 378, fails|nulls, sig(tCompatibleArray, tCompatible), tCompatibleArray, arrayAppend, docArrayAppend),
	generic1("array_prepend", 379, fails|nulls, sig(tCompatible, tCompatibleArray), tCompatibleArray, arrayPrepend, docArrayPrepend),
	generic1("array_cat", 383, fails|nulls, sig(tCompatibleArray, tCompatibleArray), tCompatibleArray, arrayCat, docArrayCat),

	row("array_length", 2176, strict|nulls, sig(tAnyArray, tInt4), tInt4, dimension(func(d adt.Dim) int32 { return d.Len }),
		"the length of a dimension"),
	row("array_lower", 2091, strict|nulls, sig(tAnyArray, tInt4), tInt4, dimension(func(d adt.Dim) int32 { return d.Lower }),
		"the first subscript of a dimension"),
	row("array_upper", 2092, strict|nulls, sig(tAnyArray, tInt4), tInt4, dimension(upper), "the last subscript of a dimension"),
	row("array_ndims", 748, strict|nulls, sig(tAnyArray), tInt4, arrayNDims, "the number of dimensions"),
	row("array_dims", 747, strict|nulls, sig(tAnyArray), tText, arrayDims, "the subscripts of all dimensions, as text"),
	row("cardinality", 3179, strict, sig(tAnyArray), tInt4, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		x := adt.ArrayOf(a[0].Bytes())
		return vec.IntOf(int64(x.Len())), nil
	}, "the number of elements"),

	generic1("array_position", 3277, fails|nulls, sig(tCompatibleArray, tCompatible), tInt4, arrayPosition, docArrayPosition),
	generic1("array_position", 3278, fails|nulls, sig(tCompatibleArray, tCompatible, tInt4), tInt4, arrayPosition, docArrayPosition),
	generic1("array_positions", 3279, fails|nulls, sig(tCompatibleArray, tCompatible), tInt4Array, arrayPositions,
		"the subscripts of all elements that are this value"),
	generic1("array_remove", 3167, fails|nulls, sig(tCompatibleArray, tCompatible), tCompatibleArray, arrayRemove,
		"the array without the elements that are this value"),
	generic1("array_replace", 3168, nulls, sig(tCompatibleArray, tCompatible, tCompatible), tCompatibleArray, arrayReplace,
		"the array with elements that are the one value replaced by the other"),
	generic1("array_fill", 1193, fails, sig(tAnyElement, tInt4Array), tAnyArray, arrayFill, docArrayFill),
	generic1("array_fill", 1286, fails, sig(tAnyElement, tInt4Array, tInt4Array), tAnyArray, arrayFill, docArrayFill),

	row("string_to_array", 394, nulls, sig(tText, tText), tTextArray, stringToArray, docStringToArray),
	row("string_to_array", 376, nulls, sig(tText, tText, tText), tTextArray, stringToArray, docStringToArray),
	printing("array_to_string", 395, strict|fails, sig(tAnyArray, tText), tText, arrayToString, docArrayToString),
	printing("array_to_string", 384, nulls|fails, sig(tAnyArray, tText, tText), tText, arrayToString, docArrayToString),
}

const (
	docArrayContains = "whether every element of the second array is in the first"
	docArrayAppend   = "the array with an element added at its end"
	docArrayPrepend  = "the array with an element added at its beginning"
	docArrayCat      = "the elements of both arrays"
	docArrayPosition = "the subscript of the first element that is this value"
	docArrayFill     = "an array of the given dimensions in which every element is this value"
	docStringToArray = "the parts of a text between separators, or its characters if the separator is NULL"
	docArrayToString = "the elements as text with a separator between them"
)

// elements is an array taken apart.
type elements struct {
	kind types.Kind
	dims []adt.Dim
	data []vec.Datum
}

// elementsOf takes an array value apart; NULL gives no elements.
func elementsOf(d vec.Datum, kind types.Kind) elements {
	e := elements{kind: kind}
	if d.IsNull() {
		return e
	}
	a := adt.ArrayOf(d.Bytes())
	e.dims = slices.Clone(a.Dims())
	e.data = make([]vec.Datum, 0, a.Len())
	for r := a.Elems(); r.Next(kind); {
		e.data = append(e.data, elemDatum(&r, kind).Clone())
	}
	return e
}

// elemDatum is the element that r stands at; it points into r.
func elemDatum(r *adt.ElemReader, kind types.Kind) vec.Datum {
	if r.IsNull() {
		return vec.Null
	}
	switch kind {
	case types.Bool:
		return vec.BoolOf(r.Bool())
	case types.Int:
		return vec.IntOf(r.Int())
	case types.Float:
		return vec.FloatOf(r.Float())
	}
	return vec.BytesOf(r.Bytes())
}

// addElem adds an element to an array or record under construction.
func addElem(b *adt.ElemBuilder, d vec.Datum) {
	switch d.Kind() {
	case types.Bool:
		b.Bool(d.Bool())
	case types.Int:
		b.Int(d.Int())
	case types.Float:
		b.Float(d.Float())
	case types.Bytes:
		b.Bytes(d.Bytes())
	default:
		b.Null()
	}
}

// array is the value of an array with these elements; no dimensions mean one that begins at 1.
func array(data []vec.Datum, dims ...adt.Dim) vec.Datum {
	var b adt.ElemBuilder
	for _, d := range data {
		addElem(&b, d)
	}
	return vec.BytesOf(b.FinishArray(dims...))
}

func textArray(parts []vec.Datum) vec.Datum { return array(parts) }

// genericFunc computes a function whose first array argument has elements of the given type.
type genericFunc func(elem types.T, a []vec.Datum) (vec.Datum, error)

// generic1 is an entry that needs to know the type of elements.
func generic1(name string, oid uint32, at attr, args []types.T, ret types.T, f genericFunc, doc string) scalar.Func {
	e := entry(name, oid, at, args, ret, doc)
	e.For = func(args []types.T) *scalar.Func {
		g := e
		elem := elemOf(args, e.Args)
		g.For = nil
		g.Row = func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return f(elem, a) }
		g.Ret = instance(e.Ret, elem)
		return &g
	}
	return e
}

// elemOf is the type of elements that the arguments of a call with these parameters say.
func elemOf(args, params []types.T) types.T {
	for i, p := range params {
		if isGenericArray(p.OID) {
			if elem, ok := args[i].Elem(); ok {
				return elem
			}
		}
	}
	for i, p := range params {
		if isGeneric(p.OID) {
			return args[i]
		}
	}
	return tUnknown
}

// instance is what a generic result type stands for.
func instance(ret, elem types.T) types.T {
	switch {
	case isGenericArray(ret.OID):
		return types.Of(arrayOf(elem).OID)
	case isGeneric(ret.OID):
		return types.Of(elem.OID)
	}
	return ret
}

func elementwise(f func(x, y []vec.Datum) bool) genericFunc {
	return func(elem types.T, a []vec.Datum) (vec.Datum, error) {
		return vec.BoolOf(f(elementsOf(a[0], elem.Kind()).data, elementsOf(a[1], elem.Kind()).data)), nil
	}
}

// contains says whether x has every element of y; NULL is in no array.
func contains(x, y []vec.Datum) bool {
	for _, d := range y {
		if d.IsNull() || !slices.Contains(x, d) {
			return false
		}
	}
	return true
}

func overlaps(x, y []vec.Datum) bool {
	return slices.ContainsFunc(y, func(d vec.Datum) bool { return !d.IsNull() && slices.Contains(x, d) })
}

var (
	errOneDimension = pgerr.New(pgerr.DataException, "argument must be empty or one-dimensional array")
	errSubscripts   = pgerr.New(pgerr.NumericValueOutOfRange, "integer out of range")
)

func arrayAppend(elem types.T, a []vec.Datum) (vec.Datum, error) {
	return arrayAdd(elem, a[0], a[1], false)
}

func arrayPrepend(elem types.T, a []vec.Datum) (vec.Datum, error) {
	return arrayAdd(elem, a[1], a[0], true)
}

func arrayAdd(elem types.T, to, d vec.Datum, front bool) (vec.Datum, error) {
	e := elementsOf(to, elem.Kind())
	switch {
	case len(e.dims) > 1:
		return vec.Null, errOneDimension
	case len(e.dims) == 0:
		return array([]vec.Datum{d}), nil
	}
	dim := e.dims[0]
	dim.Len++
	if !front {
		if int64(dim.Lower)+int64(dim.Len) > maxInt4 {
			return vec.Null, errSubscripts
		}
		return array(append(e.data, d), dim), nil
	}
	// The new element takes the old first subscript, as in PostgreSQL.
	return array(append([]vec.Datum{d}, e.data...), dim), nil
}

func arrayCat(elem types.T, a []vec.Datum) (vec.Datum, error) {
	switch {
	case a[0].IsNull():
		return a[1], nil
	case a[1].IsNull():
		return a[0], nil
	}
	x, y := elementsOf(a[0], elem.Kind()), elementsOf(a[1], elem.Kind())
	switch {
	case len(x.dims) == 0 && len(y.dims) > 0:
		return a[1], nil
	case len(y.dims) == 0:
		return a[0], nil
	}
	dims, err := catDims(x.dims, y.dims)
	if err != nil {
		return vec.Null, err
	}
	if len(x.data)+len(y.data) > maxAggBytes {
		return vec.Null, adt.ErrArrayTooLarge()
	}
	return array(append(x.data, y.data...), dims...), nil
}

// catDims is the shape of two arrays after one another: of as many dimensions, or one an element of the other.
func catDims(x, y []adt.Dim) ([]adt.Dim, error) {
	bad := pgerr.New(pgerr.ArraySubscriptError, "cannot concatenate incompatible arrays")
	var dims []adt.Dim
	switch {
	case len(x) == len(y):
		if !slices.Equal(x[1:], y[1:]) {
			return nil, bad.WithDetail("Arrays with differing element dimensions are not compatible for concatenation.")
		}
		dims = slices.Clone(x)
		dims[0].Len += y[0].Len
	case len(x) == len(y)-1:
		if !slices.Equal(x, y[1:]) {
			return nil, bad.WithDetail("Arrays with differing dimensions are not compatible for concatenation.")
		}
		dims = slices.Clone(y)
		dims[0].Len++
	case len(x)-1 == len(y):
		if !slices.Equal(x[1:], y) {
			return nil, bad.WithDetail("Arrays with differing dimensions are not compatible for concatenation.")
		}
		dims = slices.Clone(x)
		dims[0].Len++
	default:
		return nil, bad.WithDetail("Arrays of %d and %d dimensions are not compatible for concatenation.", len(x), len(y))
	}
	return dims, nil
}

func upper(d adt.Dim) int32 { return d.Lower + d.Len - 1 }

func dimension(f func(adt.Dim) int32) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		x := adt.ArrayOf(a[0].Bytes())
		if n := a[1].Int(); n >= 1 && n <= int64(x.NDims()) {
			return vec.IntOf(int64(f(x.Dims()[n-1]))), nil
		}
		return vec.Null, nil
	}
}

func arrayNDims(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	x := adt.ArrayOf(a[0].Bytes())
	if x.NDims() == 0 {
		return vec.Null, nil
	}
	return vec.IntOf(int64(x.NDims())), nil
}

func arrayDims(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	x := adt.ArrayOf(a[0].Bytes())
	if x.NDims() == 0 {
		return vec.Null, nil
	}
	var out strings.Builder
	for _, d := range x.Dims() {
		out.WriteString("[" + itoa(int64(d.Lower)) + ":" + itoa(int64(upper(d))) + "]")
	}
	return vec.StrOf(out.String()), nil
}

func arrayPosition(elem types.T, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.Null, nil
	}
	e := elementsOf(a[0], elem.Kind())
	if len(e.dims) > 1 {
		return vec.Null, pgerr.Unsupported("searching for elements in multidimensional arrays")
	}
	from := int64(0)
	if len(a) > 2 && len(e.data) > 0 {
		if a[2].IsNull() {
			return vec.Null, pgerr.New(pgerr.NullValueNotAllowed, "initial position must not be null")
		}
		from = max(a[2].Int()-int64(e.dims[0].Lower), 0)
	}
	for i := from; i < int64(len(e.data)); i++ {
		if e.data[i] == a[1] {
			return vec.IntOf(int64(e.dims[0].Lower) + i), nil
		}
	}
	return vec.Null, nil
}

func arrayPositions(elem types.T, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.Null, nil
	}
	e := elementsOf(a[0], elem.Kind())
	if len(e.dims) > 1 {
		return vec.Null, pgerr.Unsupported("searching for elements in multidimensional arrays")
	}
	var at []vec.Datum
	for i, d := range e.data {
		if d == a[1] {
			at = append(at, vec.IntOf(int64(e.dims[0].Lower)+int64(i)))
		}
	}
	return array(at), nil
}

func arrayRemove(elem types.T, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.Null, nil
	}
	e := elementsOf(a[0], elem.Kind())
	if len(e.dims) > 1 {
		return vec.Null, pgerr.Unsupported("removing elements from multidimensional arrays")
	}
	kept := slices.DeleteFunc(e.data, func(d vec.Datum) bool { return d == a[1] })
	if len(kept) == 0 {
		return array(nil), nil
	}
	return array(kept, adt.Dim{Lower: e.dims[0].Lower, Len: int32(len(kept))}), nil
}

func arrayReplace(elem types.T, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.Null, nil
	}
	e := elementsOf(a[0], elem.Kind())
	for i, d := range e.data {
		if d == a[1] {
			e.data[i] = a[2]
		}
	}
	return array(e.data, e.dims...), nil
}

// maxFill bounds how many elements an array made of one may have.
const maxFill = 1 << 20

func arrayFill(_ types.T, a []vec.Datum) (vec.Datum, error) {
	if a[1].IsNull() || len(a) > 2 && a[2].IsNull() {
		return vec.Null, pgerr.New(pgerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
	}
	lens := elementsOf(a[1], types.Int)
	lows := elements{}
	if len(a) > 2 {
		lows = elementsOf(a[2], types.Int)
	}
	if err := checkFill(lens, lows, len(a) > 2); err != nil {
		return vec.Null, err
	}
	dims := make([]adt.Dim, len(lens.data))
	n := int64(1)
	for i := range dims {
		dims[i] = adt.Dim{Lower: 1, Len: int32(lens.data[i].Int())}
		if len(a) > 2 {
			dims[i].Lower = int32(lows.data[i].Int())
		}
		if n *= int64(dims[i].Len); n > maxFill || n < 0 {
			return vec.Null, adt.ErrArrayTooLarge()
		}
	}
	if n == 0 || len(dims) == 0 {
		return array(nil), nil
	}
	return array(slices.Repeat([]vec.Datum{a[0]}, int(n)), dims...), nil
}

func checkFill(lens, lows elements, haveLows bool) error {
	wrong := pgerr.New(pgerr.ArraySubscriptError, "wrong number of array subscripts")
	for _, e := range []elements{lens, lows} {
		if len(e.dims) > 1 {
			return wrong.WithDetail("Dimension array must be one dimensional.")
		}
		if slices.ContainsFunc(e.data, vec.Datum.IsNull) {
			return pgerr.New(pgerr.NullValueNotAllowed, "dimension values cannot be null")
		}
	}
	if len(lens.data) > adt.MaxDims {
		return pgerr.Newf(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)",
			len(lens.data), adt.MaxDims)
	}
	if haveLows && len(lens.data) != len(lows.data) {
		return wrong.WithDetail("Low bound array has different size than dimensions array.")
	}
	return nil
}

func stringToArray(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.Null, nil
	}
	var parts []vec.Datum
	for _, s := range splitString(a[0].Str(), a[1]) {
		d := vec.StrOf(s)
		if len(a) > 2 && !a[2].IsNull() && s == a[2].Str() {
			d = vec.Null
		}
		parts = append(parts, d)
	}
	return array(parts), nil
}

// splitString cuts a text at a separator: NULL cuts between characters, the empty one nowhere.
func splitString(s string, sep vec.Datum) []string {
	switch {
	case s == "":
		return nil
	case sep.IsNull():
		return strings.Split(s, "")
	case sep.Str() == "":
		return []string{s}
	}
	return strings.Split(s, sep.Str())
}

// arrayToString leaves NULL elements out, unless there is a text for them.
func arrayToString(p *printer, env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() {
		return vec.Null, nil
	}
	elem, _ := p.args[0].Elem()
	var out []byte
	first := true
	x := adt.ArrayOf(a[0].Bytes())
	for r := x.Elems(); r.Next(elem.Kind()); {
		null := r.IsNull()
		if null && (len(a) < 3 || a[2].IsNull()) {
			continue
		}
		if !first {
			out = append(out, a[1].Str()...)
		}
		first = false
		if null {
			out = append(out, a[2].Str()...)
		} else {
			var err error
			if out, err = p.append(env, out, elem, elemDatum(&r, elem.Kind())); err != nil {
				return vec.Null, err
			}
		}
		if err := checkAggSize(len(out)); err != nil {
			return vec.Null, err
		}
	}
	return vec.BytesOf(out), nil
}
