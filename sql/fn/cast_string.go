package fn

import (
	"bytes"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// stringCasts are the casts among strings, and those to strings that are no mere printing.
var stringCasts = []cast{
	{from: tText, to: tVarchar, oid: 17120, relabel: true},
	{from: tText, to: tBpchar, oid: 17121, kernel: trimBlanks},
	{from: tText, to: tName, oid: 407, kernel: cutName},
	{from: tText, to: tChar, ctx: types.Assignment, oid: 944, kernel: firstByte},
	{from: tVarchar, to: tText, oid: 17122, relabel: true},
	{from: tVarchar, to: tBpchar, oid: 17123, kernel: trimBlanks},
	{from: tVarchar, to: tName, oid: 1400, kernel: cutName},
	{from: tVarchar, to: tChar, ctx: types.Assignment, oid: 944, kernel: firstByte},
	{from: tBpchar, to: tText, oid: 401, relabel: true},
	{from: tBpchar, to: tVarchar, oid: 401, relabel: true},
	{from: tBpchar, to: tName, oid: 409, kernel: cutName},
	{from: tBpchar, to: tChar, ctx: types.Assignment, oid: 944, kernel: firstByte},
	{from: tName, to: tText, oid: 406, relabel: true},
	{from: tName, to: tVarchar, ctx: types.Assignment, oid: 1401, relabel: true},
	{from: tName, to: tBpchar, ctx: types.Assignment, oid: 408, kernel: trimBlanks},
	{from: tChar, to: tText, oid: 946, kernel: charToText},
	{from: tChar, to: tVarchar, ctx: types.Assignment, oid: 946, kernel: charToText},
	{from: tChar, to: tBpchar, ctx: types.Assignment, oid: 860, kernel: charToText},
	{from: tChar, to: tInt4, ctx: types.Explicit, oid: 77, kernel: charToInt},
	{from: tInt4, to: tChar, ctx: types.Explicit, oid: 78, at: fails, kernel: intToChar},
	{from: tBool, to: tText, ctx: types.Assignment, oid: 2971, kernel: boolToText},
	{from: tBool, to: tVarchar, ctx: types.Assignment, oid: 2971, kernel: boolToText},
	{from: tBool, to: tBpchar, ctx: types.Assignment, oid: 2971, kernel: boolToText},
}

// mapBytes is the kernel of a function of one byte string whose result is a part of it.
func mapBytes(f func([]byte) []byte) kernel {
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for _, i := range b.Sel {
			b.Begin(int(i))
			b.Out.Data = append(b.Out.Data, f(x.At(int(i)))...)
			b.End()
		}
	}
}

// trimBlanks makes a bpchar, which is kept without the blanks at its end.
var trimBlanks = mapBytes(func(s []byte) []byte { return bytes.TrimRight(s, " ") })

var cutName = mapBytes(func(s []byte) []byte { return s[:clip(s, adt.MaxNameLen)] })

// clip is the length of the longest beginning of s that has at most n bytes and cuts no character in two.
func clip(s []byte, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

func firstByte(b *scalar.Batch) {
	x := b.Arg(0)
	for i := range b.N {
		b.Out.Ints[i] = 0
		if s := x.At(i); len(s) > 0 {
			b.Out.Ints[i] = int64(s[0])
		}
	}
}

func charToText(b *scalar.Batch) {
	for _, i := range b.Sel {
		b.Begin(int(i))
		b.Out.Data = adt.AppendChar(b.Out.Data, b.Args[0].Ints[i])
		b.End()
	}
}

func charToInt(b *scalar.Batch) {
	for i, x := range b.Args[0].Ints[:b.N] {
		b.Out.Ints[i] = int64(int8(x))
	}
}

func intToChar(b *scalar.Batch) {
	x := b.Args[0].Ints
	for k := range selected(b) {
		i := at(b, k)
		if x[i] < -128 || x[i] > 127 {
			b.Fail(i, pgerr.New(pgerr.NumericValueOutOfRange, `"char" out of range`))
		}
		b.Out.Ints[i] = int64(uint8(x[i]))
	}
}

func boolToText(b *scalar.Batch) {
	for _, i := range b.Sel {
		b.Begin(int(i))
		if b.Args[0].Bools[i] != 0 {
			b.Out.Data = append(b.Out.Data, "true"...)
		} else {
			b.Out.Data = append(b.Out.Data, "false"...)
		}
		b.End()
	}
}

// stringLength holds strings to a length. A cast that was written cuts; elsewhere only blanks are cut, and
// anything more is an error.
func stringLength(t types.T, ctx types.CastContext) *modifier {
	fit, explicit := adt.FitVarchar, ctx == types.Explicit
	m := &modifier{oid: 669, fails: !explicit}
	if t.OID == types.OIDBpchar {
		m.oid, fit = 668, adt.FitBpchar
	}
	if m.fails {
		// What fails is another function than what cuts.
		m.oid += 17000
	}
	m.kernel = func(b *scalar.Batch) {
		x := b.Arg(0)
		for _, i := range b.Sel {
			s, err := fit(vec.BytesOf(x.At(int(i))).Str(), t.Mod, explicit)
			if err != nil {
				b.Fail(int(i), pgerr.From(err))
				continue
			}
			b.Begin(int(i))
			b.Out.Data = append(b.Out.Data, s...)
			b.End()
		}
	}
	return m
}

// prefix is the length in bytes of the first n characters.
func prefix(s []byte, n int) int {
	if len(s) <= n {
		return len(s)
	}
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRune(s[at:])
		at += size
	}
	return at
}

// padded is a bpchar as it prints: filled up with blanks to the length of its type.
func padded(s string, t types.T) string { return string(adt.AppendBpchar(nil, s, t.Mod)) }
