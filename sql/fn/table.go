package fn

import (
	"math"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// emit takes one row of a table function.
type emit = func(row ...vec.Datum) error

type tableRows = func(env scalar.Env, a []vec.Datum, emit emit) error

// table is a function of rows; strict ones give none for NULL.
func table(name string, oid uint32, at attr, args []types.T, cols []types.Column, rows tableRows, doc string) scalar.TableFunc {
	return scalar.TableFunc{Name: name, Schema: schemaOf(at), OID: oid, Args: args, Variadic: at&variadic != 0,
		Cols: cols, Strict: at&strict != 0, Rows: rows, Doc: doc}
}

// column is one column of a function's rows.
func column(name string, t types.T, nullable bool) []types.Column {
	return []types.Column{{Name: name, Type: t, Nullable: nullable}}
}

// tableFuncs makes the functions that give rows.
func tableFuncs() []scalar.TableFunc {
	return []scalar.TableFunc{
		table("generate_series", 1067, strict, sig(tInt4, tInt4), column("generate_series", tInt4, false),
			seriesInts(math.MaxInt32), docSeries),
		table("generate_series", 1066, strict, sig(tInt4, tInt4, tInt4), column("generate_series", tInt4, false),
			seriesInts(math.MaxInt32),
			docSeries),
		table("generate_series", 1069, strict, sig(tInt8, tInt8), column("generate_series", tInt8, false),
			seriesInts(math.MaxInt64), docSeries),
		table("generate_series", 1068, strict, sig(tInt8, tInt8, tInt8), column("generate_series", tInt8, false),
			seriesInts(math.MaxInt64),
			docSeries),
		table("generate_series", 3260, strict, sig(tNumeric, tNumeric), column("generate_series", tNumeric, false),
			seriesNumerics, docSeries),
		table("generate_series", 3259, strict, sig(tNumeric, tNumeric, tNumeric), column("generate_series", tNumeric, false),
			seriesNumerics,
			docSeries),
		table("generate_series", 938, strict, sig(tTimestamp, tTimestamp, tInterval), column("generate_series", tTimestamp,
			false), seriesTimes,
			docSeries),
		table("generate_series", 939, strict, sig(tTimestampTZ, tTimestampTZ, tInterval), column("generate_series", tTimestampTZ, false),
			seriesTimes, docSeries),
		table("generate_subscripts", 1192, strict, sig(tAnyArray, tInt4), column("generate_subscripts", tInt4, false),
			subscriptRows, docSubscripts),
		table("generate_subscripts", 1191, strict, sig(tAnyArray, tInt4, tBool), column("generate_subscripts", tInt4, false),
			subscriptRows,
			docSubscripts),
		unnest(),

		table("regexp_split_to_table", 2765, strict, sig(tText, tText), column("regexp_split_to_table", tText, false),
			splitRows, docRegexpSplit),
		table("regexp_split_to_table", 2766, strict, sig(tText, tText, tText), column("regexp_split_to_table", tText, false), splitRows,
			docRegexpSplit),
		table("regexp_matches", 2763, strict, sig(tText, tText), column("regexp_matches", tTextArray, false), matchRows, docMatches),
		table("regexp_matches", 2764, strict, sig(tText, tText, tText), column("regexp_matches", tTextArray, false), matchRows,
			docMatches),
		table("string_to_table", 6160, 0, sig(tText, tText), column("string_to_table", tText, true), stringRows, docStringToArray),
		table("string_to_table", 6161, 0, sig(tText, tText, tText), column("string_to_table", tText, true), stringRows, docStringToArray),

		table("jsonb_array_elements", 3219, strict, sig(tJsonb), column("value", tJsonb, false), elementRows(false), docElements),
		table("jsonb_array_elements_text", 3465, strict, sig(tJsonb), column("value", tText, true), elementRows(true), docElements),
		table("jsonb_each", 3208, strict, sig(tJsonb), append(column("key", tText, false), column("value", tJsonb, false)...),
			pairRows(false),
			docEach),
		table("jsonb_each_text", 3932, strict, sig(tJsonb), append(column("key", tText, false), column("value", tText,
			true)...), pairRows(true),
			docEach),
		table("jsonb_object_keys", 3931, strict, sig(tJsonb), column("jsonb_object_keys", tText, false), keyRows,
			"the keys of an object"),
		table("pg_options_to_table", 2289, strict, sig(tTextArray), append(column("option_name", tText, false),
			column("option_value", tText, true)...), optionRows, "options written as name=value"),
		table("pg_partition_tree", 3423, strict, sig(tRegclass), []types.Column{
			{Name: "relid", Type: tRegclass, Nullable: true}, {Name: "parentrelid", Type: tRegclass, Nullable: true},
			{Name: "isleaf", Type: tBool, Nullable: true}, {Name: "level", Type: tInt4, Nullable: true},
		}, func(scalar.Env, []vec.Datum, emit) error { return nil }, "no rows: there are no partitions"),
	}
}

const (
	docSeries     = "the values from one to another, by steps of one or of a given size"
	docSubscripts = "the subscripts of a dimension of an array"
	docMatches    = "the groups of the first match (or, with flag g, of every match)"
	docElements   = "the elements of an array"
	docEach       = "the keys and values of an object"
)

var errStepZero = pgerr.New(pgerr.InvalidParameterValue, "step size cannot equal zero")

func seriesInts(most int64) tableRows {
	return func(_ scalar.Env, a []vec.Datum, emit emit) error {
		at, end, step := a[0].Int(), a[1].Int(), int64(1)
		if len(a) > 2 {
			step = a[2].Int()
		}
		if step == 0 {
			return errStepZero
		}
		for step > 0 && at <= end || step < 0 && at >= end {
			if err := emit(vec.IntOf(at)); err != nil {
				return err
			}
			next := at + step
			if (at^next)&(step^next) < 0 || next > most || next < -most-1 {
				break // past the last number there is
			}
			at = next
		}
		return nil
	}
}

func seriesNumerics(_ scalar.Env, a []vec.Datum, emit emit) error {
	at, end, step := adt.NumericOf(a[0].Bytes()), adt.NumericOf(a[1].Bytes()), adt.NumericFromInt(1)
	if len(a) > 2 {
		step = adt.NumericOf(a[2].Bytes())
	}
	for i, what := range []string{"start value", "stop value", "step size"} {
		n := []adt.Numeric{at, end, step}[i]
		switch {
		case n.IsNaN():
			return pgerr.Newf(pgerr.InvalidParameterValue, "%s cannot be NaN", what)
		case n.IsInf():
			return pgerr.Newf(pgerr.InvalidParameterValue, "%s cannot be infinity", what)
		}
	}
	if step.Sign() == 0 {
		return errStepZero
	}
	for step.Sign() > 0 && at.Cmp(end) <= 0 || step.Sign() < 0 && at.Cmp(end) >= 0 {
		if err := emit(numericDatum(at)); err != nil {
			return err
		}
		next, err := at.Add(step)
		if err != nil || next == at {
			return nil // past the largest number, or the step is lost to rounding
		}
		at = next
	}
	return nil
}

func seriesTimes(_ scalar.Env, a []vec.Datum, emit emit) error {
	at, end, step := adt.Timestamp(a[0].Int()), adt.Timestamp(a[1].Int()), adt.IntervalOf(a[2].Bytes())
	size, over := step.Micros24()
	if size == 0 && !over {
		return errStepZero
	}
	down := size < 0
	if over {
		down = step.Months < 0 || step.Months == 0 && step.Days < 0
	}
	for !down && at <= end || down && at >= end {
		if err := emit(vec.IntOf(int64(at))); err != nil {
			return err
		}
		next, err := at.Add(step)
		if err != nil {
			return err
		}
		if next == at {
			return nil // an infinity, from which no step leads away
		}
		at = next
	}
	return nil
}

func subscriptRows(_ scalar.Env, a []vec.Datum, emit emit) error {
	x := adt.ArrayOf(a[0].Bytes())
	n := a[1].Int()
	if n < 1 || n > int64(x.NDims()) {
		return nil
	}
	d := x.Dims()[n-1]
	for i := range d.Len {
		sub := d.Lower + i
		if len(a) > 2 && a[2].Bool() {
			sub = upper(d) - i
		}
		if err := emit(vec.IntOf(int64(sub))); err != nil {
			return err
		}
	}
	return nil
}

func unnest() scalar.TableFunc {
	f := table("unnest", 2331, strict, sig(tAnyArray), nil, nil, "the elements of an array")
	f.For = func(args []types.T) *scalar.TableFunc {
		g := f
		g.For = nil
		elem, _ := args[0].Elem()
		g.Cols = column("unnest", elem, true)
		g.Rows = func(_ scalar.Env, a []vec.Datum, emit emit) error {
			x := adt.ArrayOf(a[0].Bytes())
			for r := x.Elems(); r.Next(elem.Kind()); {
				if err := emit(elemDatum(&r, elem.Kind())); err != nil {
					return err
				}
			}
			return nil
		}
		return &g
	}
	return f
}

// tableRegex compiles the pattern of a table function.
func tableRegex(name string, a []vec.Datum, global bool) (*regex, error) {
	flags := ""
	if len(a) > 2 {
		flags = a[2].Str()
	}
	return compileRegex(name, a[1].Str(), flags, global)
}

func splitRows(_ scalar.Env, a []vec.Datum, emit emit) error {
	re, err := tableRegex("regexp_split_to_table", a, false)
	if err != nil {
		return err
	}
	for _, d := range splitMatches(re, a[0].Str()) {
		if err := emit(d); err != nil {
			return err
		}
	}
	return nil
}

func matchRows(_ scalar.Env, a []vec.Datum, emit emit) error {
	re, err := tableRegex("regexp_matches", a, true)
	if err != nil {
		return err
	}
	limit := 1
	if re.global {
		limit = -1
	}
	for _, m := range re.FindAllStringSubmatchIndex(a[0].Str(), limit) {
		if err := emit(textArray(groups(a[0].Str(), m))); err != nil {
			return err
		}
	}
	return nil
}

func stringRows(_ scalar.Env, a []vec.Datum, emit emit) error {
	if a[0].IsNull() {
		return nil
	}
	for _, s := range splitString(a[0].Str(), a[1]) {
		d := vec.StrOf(s)
		if len(a) > 2 && !a[2].IsNull() && s == a[2].Str() {
			d = vec.Null
		}
		if err := emit(d); err != nil {
			return err
		}
	}
	return nil
}

// plainDatum is a JSON value as text, or as it is.
func plainDatum(j adt.Jsonb, text bool) vec.Datum {
	if !text {
		return vec.BytesOf(j)
	}
	out, ok := appendPlain(nil, j)
	if !ok {
		return vec.Null
	}
	return vec.BytesOf(out)
}

func elementRows(text bool) tableRows {
	return func(_ scalar.Env, a []vec.Datum, emit emit) error {
		j := adt.JsonbOf(a[0].Bytes())
		switch {
		case j.Kind() == adt.JsonObject:
			return pgerr.New(pgerr.InvalidParameterValue, "cannot extract elements from an object")
		case j.IsScalar():
			return pgerr.New(pgerr.InvalidParameterValue, "cannot extract elements from a scalar")
		}
		for _, e := range j.Elems() {
			if err := emit(plainDatum(e, text)); err != nil {
				return err
			}
		}
		return nil
	}
}

func pairRows(text bool) tableRows {
	name := "jsonb_each"
	if text {
		name = "jsonb_each_text"
	}
	return func(_ scalar.Env, a []vec.Datum, emit emit) error {
		j := adt.JsonbOf(a[0].Bytes())
		if j.Kind() != adt.JsonObject {
			return pgerr.Newf(pgerr.InvalidParameterValue, "cannot call %s on a non-object", name)
		}
		for k, v := range j.Pairs() {
			if err := emit(vec.StrOf(k), plainDatum(v, text)); err != nil {
				return err
			}
		}
		return nil
	}
}

func keyRows(_ scalar.Env, a []vec.Datum, emit emit) error {
	j := adt.JsonbOf(a[0].Bytes())
	switch {
	case j.Kind() == adt.JsonArray:
		return pgerr.New(pgerr.InvalidParameterValue, "cannot call jsonb_object_keys on an array")
	case j.IsScalar():
		return pgerr.New(pgerr.InvalidParameterValue, "cannot call jsonb_object_keys on a scalar")
	}
	for k := range j.Pairs() {
		if err := emit(vec.StrOf(k)); err != nil {
			return err
		}
	}
	return nil
}

func optionRows(_ scalar.Env, a []vec.Datum, emit emit) error {
	for _, s := range texts(a[0]) {
		name, value, ok := cutOption(s)
		if err := emit(vec.StrOf(name), orNull(value, ok)); err != nil {
			return err
		}
	}
	return nil
}

func cutOption(s string) (name, value string, ok bool) {
	for i := range len(s) {
		if s[i] == '=' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func orNull(s string, ok bool) vec.Datum {
	if !ok {
		return vec.Null
	}
	return vec.StrOf(s)
}
