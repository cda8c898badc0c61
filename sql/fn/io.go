package fn

import (
	"slices"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	rows "github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// printer prints the arguments of functions that take any type.
type printer struct{ args []types.T }

// append prints one value, which is not NULL, of type t.
func (*printer) append(env scalar.Env, dst []byte, t types.T, d vec.Datum) ([]byte, error) {
	return appendText(env, dst, t, d)
}

// arg prints argument i, which is not NULL.
func (p *printer) arg(env scalar.Env, dst []byte, a []vec.Datum, i int) ([]byte, error) {
	return appendText(env, dst, p.args[i], a[i])
}

// printing is an entry that prints its arguments.
func printing(name string, oid uint32, at attr, args []types.T, ret types.T,
	f func(p *printer, env scalar.Env, a []vec.Datum) (vec.Datum, error), doc string) scalar.Func {
	e := entry(name, oid, at, args, ret, doc)
	e.For = func(args []types.T) *scalar.Func {
		g := e
		p := &printer{args}
		g.For = nil
		if slices.ContainsFunc(args, hasNamed) {
			g.Volatility = max(g.Volatility, scalar.Stable)
		}
		g.Row = func(env scalar.Env, a []vec.Datum) (vec.Datum, error) { return f(p, env, a) }
		return &g
	}
	return e
}

// isNamed says whether values print as names that the catalog knows.
func isNamed(oid types.OID) bool { return regInfo(oid) != nil }

// PrintsNames says whether values of a type, or parts of them, print as names that only the catalog knows.
func PrintsNames(t types.T) bool { return hasNamed(t) }

// hasNamed says whether a value of the type, or a part of it, prints so.
func hasNamed(t types.T) bool {
	if elem, ok := t.Elem(); ok {
		return hasNamed(elem)
	}
	if t.Record != nil {
		for _, f := range t.Record.Fields {
			if hasNamed(f.Type) {
				return true
			}
		}
	}
	return isNamed(t.OID)
}

// appendText prints a value that is not NULL.
func appendText(env scalar.Env, dst []byte, t types.T, d vec.Datum) ([]byte, error) {
	switch {
	case !hasNamed(t):
		return rows.AppendTextDatum(dst, t, d), nil
	case isNamed(t.OID):
		name, err := regName(env, t, d)
		return append(dst, name...), err
	case t.Record != nil:
		return appendRecord(env, dst, t, d)
	}
	elem, _ := t.Elem()
	a := adt.ArrayOf(d.Bytes())
	var failed error
	dst = adt.AppendArrayText(dst, &a, elem.Kind(), func(dst []byte, r *adt.ElemReader) []byte {
		out, err := appendText(env, dst, elem, elemDatum(r, elem.Kind()))
		if err != nil {
			failed = err
		}
		return out
	})
	return dst, failed
}

func appendRecord(env scalar.Env, dst []byte, t types.T, d vec.Datum) ([]byte, error) {
	var w adt.RecordText
	dst = w.Begin(dst)
	r := adt.ReadRecord(d.Bytes())
	for _, f := range t.Record.Fields {
		if !r.Next(f.Type.Kind()) {
			break
		}
		dst = w.Field(dst)
		if r.IsNull() {
			continue
		}
		var err error
		if dst, err = appendText(env, dst, f.Type, elemDatum(&r, f.Type.Kind())); err != nil {
			return dst, err
		}
		dst = w.EndField(dst)
	}
	return w.Done(dst), nil
}

// printCast prints values as strings of a type.
func printCast(from, to types.T) *castFunc {
	f := newCast(from, to, 0, strict)
	if !hasNamed(from) {
		f.Kernel = func(b *scalar.Batch) { printValues(b, from, to) }
		return f
	}
	f.CanFail, f.Volatility = true, scalar.Stable
	f.Row = func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
		s, err := appendText(env, nil, from, a[0])
		return vec.BytesOf(finishString(s, 0, to)), err
	}
	return f
}

func printValues(b *scalar.Batch, from, to types.T) {
	s := stride(b, 0)
	for _, i := range b.Sel {
		b.Begin(int(i))
		at := len(b.Out.Data)
		b.Out.Data = finishString(rows.AppendText(b.Out.Data, from, b.Args[0], int(i)*s), at, to)
		b.End()
	}
}

// finishString makes what was appended to dst after at a value of a string type.
func finishString(dst []byte, at int, to types.T) []byte {
	switch to.OID {
	case types.OIDName:
		return dst[:at+clip(dst[at:], adt.MaxNameLen)]
	case types.OIDBpchar:
		for len(dst) > at && dst[len(dst)-1] == ' ' {
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}

// readCast reads values of a type from strings, and does what the type's modifier asks for. Strings of other
// types are cast, not read.
func readCast(from, to types.T, ctx types.CastContext) *scalar.Func {
	if pseudo(to) && to.Record == nil || to.OID == types.OIDUnknown {
		return nil
	}
	if plain := types.Of(to.OID); to.IsArray() && to.Mod != types.NoMod {
		// Elements that are too long are an error to who reads, but a cast that was written cuts them.
		return (*castFunc)(readCast(from, plain, ctx)).then(castArray(plain, to, ctx))
	}
	f := newCast(from, to, 0, strict|fails)
	if hasNamed(to) {
		f.Volatility = scalar.Stable
		f.Row = func(env scalar.Env, a []vec.Datum) (vec.Datum, error) { return readNamed(env, to, a[0].Str()) }
	} else {
		f.Kernel = func(b *scalar.Batch) { readValues(b, to) }
	}
	return (*scalar.Func)(f)
}

// readValues reads the values of a batch into a vector of its own, which is the result's except that rows have
// their places.
func readValues(b *scalar.Batch, t types.T) {
	x := b.Arg(0)
	got := vec.Vec{Kind: t.Kind()}
	if got.Kind == types.Bytes {
		got.Offs, got.Data = b.Out.Offs, b.Out.Data
	}
	for k := range selected(b) {
		i := at(b, k)
		if got.Kind == types.Bytes {
			for got.BeginBytes(); got.Len < i; {
				got.EndBytes()
			}
		} else {
			got.Reset()
		}
		if err := rows.ParseTextAt(t, vec.BytesOf(x.At(i)).Str(), adt.Clock{}, &got); err != nil {
			b.Fail(i, pgerr.From(err))
			continue
		}
		switch got.Kind {
		case types.Bool:
			b.Out.Bools[i] = got.Bools[0]
		case types.Int:
			b.Out.Ints[i] = got.Ints[0]
		case types.Float:
			b.Out.Floats[i] = got.Floats[0]
		}
	}
	if got.Kind == types.Bytes {
		b.Out.Offs, b.Out.Data = got.Offs, got.Data
	}
}

// Literal reads a literal as a value of a type. Words such as "now" mean env's present, and are refused without an
// env: what is maintained cannot mean them.
func Literal(env scalar.Env, t types.T, s string) (vec.Datum, error) {
	if env != nil && isTime(t.OID) {
		now, err := env.Ask(scalar.AskNow, vec.Null)
		if err != nil {
			return vec.Null, err
		}
		v := vec.New(types.Int, 1)
		if err := rows.ParseTextAt(t, s, adt.Clock{Now: adt.Timestamp(now.Int()), Known: true}, &v); err != nil {
			return vec.Null, err
		}
		return v.Datum(0), nil
	}
	f, ok := Cast(tUnknown, t, types.Implicit)
	if !ok {
		return vec.Null, CannotCast(tUnknown, t)
	}
	return f.Apply(env, []vec.Datum{vec.StrOf(s)}, t.Kind())
}

func isTime(oid types.OID) bool {
	switch oid {
	case types.OIDDate, types.OIDTime, types.OIDTimestamp, types.OIDTimestampTZ:
		return true
	}
	return false
}
