package fn

import (
	"math"
	"slices"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	rows "github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

var tJSON = types.Of(types.OIDJSON)

// jsonbCasts take a JSON number or boolean out, and change between the two forms of JSON.
var jsonbCasts = []cast{
	{from: tJsonb, to: tBool, ctx: types.Explicit, oid: 3556, at: fails, row: jsonbToBool},
	{from: tJsonb, to: tInt2, ctx: types.Explicit, oid: 3450, at: fails, row: jsonbToInt("smallint", 16)},
	{from: tJsonb, to: tInt4, ctx: types.Explicit, oid: 3451, at: fails, row: jsonbToInt("integer", 32)},
	{from: tJsonb, to: tInt8, ctx: types.Explicit, oid: 3452, at: fails, row: jsonbToInt("bigint", 64)},
	{from: tJsonb, to: tFloat4, ctx: types.Explicit, oid: 3453, at: fails, row: jsonbToFloat4},
	{from: tJsonb, to: tFloat8, ctx: types.Explicit, oid: 2580, at: fails, row: jsonbToFloat},
	{from: tJsonb, to: tNumeric, ctx: types.Explicit, oid: 3449, at: fails, row: jsonbToNumeric},
	{from: tJsonb, to: tJSON, ctx: types.Assignment, oid: 17400, row: jsonbToJSON},
	{from: tJSON, to: tJsonb, ctx: types.Assignment, oid: 17401, at: fails, row: jsonToJsonb},
}

// jsonbOf takes a scalar of the wanted kind; an error names what is there instead.
func jsonbOf(d vec.Datum, want adt.JsonKind, to string) (adt.Jsonb, error) {
	j := adt.JsonbOf(d.Bytes())
	what := ""
	switch k := j.Kind(); {
	case k == want:
		return j, nil
	case k == adt.JsonNull:
		what = "null"
	case k == adt.JsonString:
		what = "string"
	case k == adt.JsonNumber:
		what = "numeric"
	case k == adt.JsonArray:
		what = "array"
	case k == adt.JsonObject:
		what = "object"
	default:
		what = "boolean"
	}
	return nil, pgerr.Newf(pgerr.InvalidParameterValue, "cannot cast jsonb %s to type %s", what, to)
}

func jsonbToBool(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	switch adt.JsonbOf(a[0].Bytes()).Kind() {
	case adt.JsonTrue:
		return vec.BoolOf(true), nil
	case adt.JsonFalse:
		return vec.BoolOf(false), nil
	}
	_, err := jsonbOf(a[0], adt.JsonTrue, "boolean")
	return vec.Null, err
}

func jsonbToInt(name string, bits int) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		j, err := jsonbOf(a[0], adt.JsonNumber, name)
		if err != nil {
			return vec.Null, err
		}
		x, err := j.Number().Int(bits)
		return vec.IntOf(x), err
	}
}

func jsonbToFloat(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	j, err := jsonbOf(a[0], adt.JsonNumber, "double precision")
	if err != nil {
		return vec.Null, err
	}
	return vec.FloatOf(j.Number().Float()), nil
}

func jsonbToFloat4(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	j, err := jsonbOf(a[0], adt.JsonNumber, "real")
	if err != nil {
		return vec.Null, err
	}
	x := j.Number().Float4()
	if math.IsInf(x, 0) {
		return vec.Null, pgerr.Newf(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type real", j.Number())
	}
	return vec.FloatOf(x), nil
}

func jsonbToNumeric(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	j, err := jsonbOf(a[0], adt.JsonNumber, "numeric")
	if err != nil {
		return vec.Null, err
	}
	return numericDatum(j.Number()), nil
}

func jsonbToJSON(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return vec.BytesOf(adt.JsonbOf(a[0].Bytes()).AppendText(nil)), nil
}

func jsonToJsonb(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	data, err := adt.ParseJsonb(nil, a[0].Str())
	return vec.BytesOf(data), err
}

// jsonFunc builds JSON of arguments of any types.
type jsonFunc func(env scalar.Env, b *adt.JsonbBuilder, args []types.T, a []vec.Datum) error

// building is an entry that builds JSON of its arguments.
func building(name string, oid uint32, at attr, args []types.T, f jsonFunc, doc string) scalar.Func {
	e := entry(name, oid, at, args, tJsonb, doc)
	e.For = func(args []types.T) *scalar.Func {
		g := e
		g.For = nil
		if slices.ContainsFunc(args, hasNamed) {
			g.Volatility = max(g.Volatility, scalar.Stable)
		}
		g.Row = func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
			var b adt.JsonbBuilder
			b.Reset(nil)
			if err := f(env, &b, args, a); err != nil {
				return vec.Null, err
			}
			return vec.BytesOf(b.Bytes()), nil
		}
		return &g
	}
	return e
}

func toJsonb(env scalar.Env, b *adt.JsonbBuilder, args []types.T, a []vec.Datum) error {
	return addJSON(env, b, args[0], a[0])
}

// addJSON adds a value of any type: numbers and truth values as such, dates in ISO form, arrays and records by
// their parts, the rest as their text.
func addJSON(env scalar.Env, b *adt.JsonbBuilder, t types.T, d vec.Datum) error {
	if d.IsNull() {
		b.Null()
		return nil
	}
	switch t.OID {
	case types.OIDBool:
		b.Bool(d.Bool())
		return nil
	case types.OIDInt2, types.OIDInt4, types.OIDInt8:
		b.Number(adt.NumericFromInt(d.Int()))
		return nil
	case types.OIDFloat4, types.OIDFloat8:
		return addJSONNumber(b, string(rows.AppendTextDatum(nil, t, d)))
	case types.OIDNumeric:
		if n := adt.NumericOf(d.Bytes()); n.IsFinite() {
			b.Number(n)
			return nil
		}
	case types.OIDJsonb:
		b.Raw(adt.JsonbOf(d.Bytes()))
		return nil
	case types.OIDJSON:
		data, err := adt.ParseJsonb(nil, d.Str())
		if err == nil {
			b.Raw(data)
		}
		return err
	case types.OIDDate, types.OIDTimestamp, types.OIDTimestampTZ:
		b.String(isoTime(t, d))
		return nil
	case types.OIDRecord:
		return addJSONRecord(env, b, t, d)
	}
	if elem, ok := t.Elem(); ok {
		return addJSONArray(env, b, elem, elementsOf(d, elem.Kind()))
	}
	s, err := appendText(env, nil, t, d)
	b.String(string(s))
	return err
}

// addJSONNumber adds a float by its shortest text; those that JSON has no numbers for are strings.
func addJSONNumber(b *adt.JsonbBuilder, s string) error {
	n, err := adt.ParseNumeric(s)
	switch {
	case err != nil:
		return err
	case !n.IsFinite():
		b.String(s)
	default:
		b.Number(n)
	}
	return nil
}

// isoTime is a date or time as XML and JSON have it: with a T before the time, and a zone's minutes.
func isoTime(t types.T, d vec.Datum) string {
	if t.OID == types.OIDDate {
		return adt.Date(d.Int()).String()
	}
	ts := adt.Timestamp(d.Int())
	s := []byte(ts.String())
	if !ts.IsFinite() {
		return string(s)
	}
	for i, c := range s {
		if c == ' ' {
			s[i] = 'T'
			break
		}
	}
	if t.OID == types.OIDTimestampTZ {
		if n := len(s) - len(" BC"); n > 0 && string(s[n:]) == " BC" {
			return string(s[:n]) + "+00:00 BC"
		}
		s = append(s, "+00:00"...)
	}
	return string(s)
}

func addJSONArray(env scalar.Env, b *adt.JsonbBuilder, elem types.T, e elements) error {
	b.BeginArray()
	defer b.End()
	if len(e.dims) <= 1 {
		for _, d := range e.data {
			if err := addJSON(env, b, elem, d); err != nil {
				return err
			}
		}
		return nil
	}
	size := len(e.data) / int(e.dims[0].Len)
	for i := 0; i < len(e.data); i += size {
		part := elements{kind: e.kind, dims: e.dims[1:], data: e.data[i : i+size]}
		if err := addJSONArray(env, b, elem, part); err != nil {
			return err
		}
	}
	return nil
}

func addJSONRecord(env scalar.Env, b *adt.JsonbBuilder, t types.T, d vec.Datum) error {
	b.BeginObject()
	defer b.End()
	if t.Record == nil {
		return nil
	}
	r := adt.ReadRecord(d.Bytes())
	for _, f := range t.Record.Fields {
		if !r.Next(f.Type.Kind()) {
			break
		}
		b.Key(f.Name)
		if err := addJSON(env, b, f.Type, elemDatum(&r, f.Type.Kind()).Clone()); err != nil {
			return err
		}
	}
	return nil
}

func jsonbBuildArray(env scalar.Env, b *adt.JsonbBuilder, args []types.T, a []vec.Datum) error {
	b.BeginArray()
	defer b.End()
	for i, d := range a {
		if err := addJSON(env, b, args[i], d); err != nil {
			return err
		}
	}
	return nil
}

func jsonbBuildObject(env scalar.Env, b *adt.JsonbBuilder, args []types.T, a []vec.Datum) error {
	if len(a)%2 != 0 {
		return pgerr.New(pgerr.InvalidParameterValue, "argument list must have even number of elements").
			WithHint("The arguments of jsonb_build_object() must consist of alternating keys and values.")
	}
	b.BeginObject()
	defer b.End()
	for i := 0; i < len(a); i += 2 {
		key, err := jsonKey(env, args[i], a[i], i+1)
		if err != nil {
			return err
		}
		b.Key(key)
		if err := addJSON(env, b, args[i+1], a[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// jsonKey is a value as the key of an object: its text, if it is a scalar.
func jsonKey(env scalar.Env, t types.T, d vec.Datum, position int) (string, error) {
	if d.IsNull() {
		return "", pgerr.Newf(pgerr.InvalidParameterValue, "argument %d: key must not be null", position)
	}
	bad := pgerr.New(pgerr.InvalidParameterValue, "key value must be scalar, not array, composite, or json")
	switch {
	case t.OID == types.OIDJSON || t.OID == types.OIDJsonb || t.IsArray() || t.OID == types.OIDRecord:
		return "", bad
	case t.OID == types.OIDBool:
		if d.Bool() {
			return "true", nil
		}
		return "false", nil
	case t.OID == types.OIDDate || t.OID == types.OIDTimestamp || t.OID == types.OIDTimestampTZ:
		return isoTime(t, d), nil
	}
	s, err := appendText(env, nil, t, d)
	return string(s), err
}
