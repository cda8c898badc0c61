package fn

import (
	"math"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

var errOIDRange = pgerr.New(pgerr.NumericValueOutOfRange, "OID out of range")

// regTypes are the types of numbers that print as names.
var regTypes = []types.T{
	types.Of(types.OIDRegproc), types.Of(types.OIDRegprocedure), types.Of(types.OIDRegoper), types.Of(types.OIDRegoperator),
	tRegclass, tRegtype, types.Of(types.OIDRegconfig), types.Of(types.OIDRegnamespace), types.Of(types.OIDRegrole),
	types.Of(types.OIDRegcollation),
}

// numberCasts are the casts among numbers, truth values and OIDs.
func numberCasts() []cast {
	casts := []cast{
		{from: tBool, to: tInt4, ctx: types.Explicit, oid: 2558, kernel: boolToInt},
		{from: tInt4, to: tBool, ctx: types.Explicit, oid: 2557, kernel: intToBool},

		{from: tInt2, to: tInt4, oid: 313, relabel: true},
		{from: tInt2, to: tInt8, oid: 754, relabel: true},
		{from: tInt2, to: tFloat4, oid: 236, kernel: intToFloat},
		{from: tInt2, to: tFloat8, oid: 235, kernel: intToFloat},
		{from: tInt2, to: tNumeric, oid: 1782, sized: intToNumeric},
		{from: tInt4, to: tInt2, ctx: types.Assignment, oid: 314, at: fails, kernel: narrow(width2)},
		{from: tInt4, to: tInt8, oid: 481, relabel: true},
		{from: tInt4, to: tFloat4, oid: 318, kernel: intToFloat4},
		{from: tInt4, to: tFloat8, oid: 316, kernel: intToFloat},
		{from: tInt4, to: tNumeric, oid: 1740, sized: intToNumeric},
		{from: tInt8, to: tInt2, ctx: types.Assignment, oid: 714, at: fails, kernel: narrow(width2)},
		{from: tInt8, to: tInt4, ctx: types.Assignment, oid: 480, at: fails, kernel: narrow(width4)},
		{from: tInt8, to: tFloat4, oid: 652, kernel: intToFloat4},
		{from: tInt8, to: tFloat8, oid: 482, kernel: intToFloat},
		{from: tInt8, to: tNumeric, oid: 1781, sized: intToNumeric},

		{from: tFloat4, to: tInt2, ctx: types.Assignment, oid: 238, at: fails, kernel: floatToInt(width2)},
		{from: tFloat4, to: tInt4, ctx: types.Assignment, oid: 319, at: fails, kernel: floatToInt(width4)},
		{from: tFloat4, to: tInt8, ctx: types.Assignment, oid: 653, at: fails, kernel: floatToInt(width8)},
		{from: tFloat4, to: tFloat8, oid: 311, relabel: true},
		{from: tFloat4, to: tNumeric, ctx: types.Assignment, oid: 1742, at: fails, sized: floatToNumeric(adt.NumericFromFloat4)},
		{from: tFloat8, to: tInt2, ctx: types.Assignment, oid: 237, at: fails, kernel: floatToInt(width2)},
		{from: tFloat8, to: tInt4, ctx: types.Assignment, oid: 317, at: fails, kernel: floatToInt(width4)},
		{from: tFloat8, to: tInt8, ctx: types.Assignment, oid: 483, at: fails, kernel: floatToInt(width8)},
		{from: tFloat8, to: tFloat4, ctx: types.Assignment, oid: 312, at: fails, kernel: narrowFloat},
		{from: tFloat8, to: tNumeric, ctx: types.Assignment, oid: 1743, at: fails, sized: floatToNumeric(adt.NumericFromFloat)},

		{from: tNumeric, to: tInt2, ctx: types.Assignment, oid: 1783, at: fails, kernel: numericToInt(16)},
		{from: tNumeric, to: tInt4, ctx: types.Assignment, oid: 1744, at: fails, kernel: numericToInt(32)},
		{from: tNumeric, to: tInt8, ctx: types.Assignment, oid: 1779, at: fails, kernel: numericToInt(64)},
		{from: tNumeric, to: tFloat4, oid: 1745, at: fails, kernel: numericToFloat4},
		{from: tNumeric, to: tFloat8, oid: 1746, kernel: numericToFloat},

		{from: tInt4, to: tMzTimestamp, oid: 17100, at: fails, kernel: toMzTimestamp},
		{from: tInt8, to: tMzTimestamp, oid: 17101, at: fails, kernel: toMzTimestamp},
		{from: tNumeric, to: tMzTimestamp, oid: 17102, at: fails, kernel: numericToMzTimestamp},
		{from: tMzTimestamp, to: tInt8, ctx: types.Explicit, oid: 17103, relabel: true},
		{from: tMzTimestamp, to: tNumeric, ctx: types.Explicit, oid: 17104, sized: intToNumeric},
	}
	return append(casts, oidCasts()...)
}

// oidCasts are those of OIDs and of the types that are OIDs which print as names.
func oidCasts() []cast {
	var casts []cast
	for _, t := range append([]types.T{tOid}, regTypes...) {
		casts = append(casts,
			cast{from: tInt2, to: t, oid: 313, kernel: intToOID},
			cast{from: tInt4, to: t, oid: 17110, kernel: intToOID},
			cast{from: tInt8, to: t, oid: 1287, at: fails, kernel: int8ToOID},
			cast{from: t, to: tInt4, ctx: types.Assignment, oid: 17111, kernel: oidToInt4},
			cast{from: t, to: tInt8, ctx: types.Assignment, oid: 1288, relabel: true})
		if t.OID != types.OIDOid {
			casts = append(casts,
				cast{from: tOid, to: t, oid: 17112, relabel: true},
				cast{from: t, to: tOid, oid: 17113, relabel: true})
		}
	}
	for _, pair := range [][2]types.OID{{types.OIDRegproc, types.OIDRegprocedure}, {types.OIDRegoper, types.OIDRegoperator}} {
		casts = append(casts,
			cast{from: types.Of(pair[0]), to: types.Of(pair[1]), oid: 17114, relabel: true},
			cast{from: types.Of(pair[1]), to: types.Of(pair[0]), oid: 17115, relabel: true})
	}
	return casts
}

func boolToInt(b *scalar.Batch) {
	for i, x := range b.Args[0].Bools[:b.N] {
		b.Out.Ints[i] = int64(x)
	}
}

func intToBool(b *scalar.Batch) {
	for i, x := range b.Args[0].Ints[:b.N] {
		b.Out.Bools[i] = bit(x != 0)
	}
}

func intToFloat(b *scalar.Batch) {
	for i, x := range b.Args[0].Ints[:b.N] {
		b.Out.Floats[i] = float64(x)
	}
}

func intToFloat4(b *scalar.Batch) {
	for i, x := range b.Args[0].Ints[:b.N] {
		b.Out.Floats[i] = float64(float32(x))
	}
}

// narrow checks that integers fit a smaller type.
func narrow(w *width) kernel {
	return func(b *scalar.Batch) {
		x, out := b.Args[0].Ints[:b.N], b.Out.Ints[:b.N]
		for k := range selected(b) {
			i := at(b, k)
			out[i] = x[i]
			if x[i] < w.lo || x[i] > w.hi {
				b.Fail(i, w.err)
			}
		}
	}
}

// floatToInt rounds to the nearest integer, halves to the even one.
func floatToInt(w *width) kernel {
	// 2^63 is a float, 2^63-1 is not: so the upper bound is exclusive.
	lo, end := float64(w.lo), -float64(w.lo)
	return func(b *scalar.Batch) {
		x, out := b.Args[0].Floats[:b.N], b.Out.Ints[:b.N]
		for k := range selected(b) {
			i := at(b, k)
			r := math.RoundToEven(x[i])
			if !(r >= lo && r < end) {
				b.Fail(i, w.err)
				r = 0
			}
			out[i] = int64(r)
		}
	}
}

func narrowFloat(b *scalar.Batch) {
	x, out := b.Args[0].Floats[:b.N], b.Out.Floats[:b.N]
	for k := range selected(b) {
		i := at(b, k)
		r := float64(float32(x[i]))
		switch {
		case math.IsInf(r, 0) && !math.IsInf(x[i], 0):
			b.Fail(i, errFloatOverflow)
		case r == 0 && x[i] != 0:
			b.Fail(i, errFloatUnderflow)
		}
		out[i] = canon(r)
	}
}

func intToNumeric(mod int32) kernel {
	return func(b *scalar.Batch) {
		for _, i := range b.Sel {
			putNumeric(b, int(i), adt.NumericFromInt(b.Args[0].Ints[i]), nil, mod)
		}
	}
}

func floatToNumeric(f func(float64) (adt.Numeric, error)) func(mod int32) kernel {
	return func(mod int32) kernel {
		return func(b *scalar.Batch) {
			for _, i := range b.Sel {
				n, err := f(b.Args[0].Floats[i])
				putNumeric(b, int(i), n, err, mod)
			}
		}
	}
}

// numericFit applies a modifier to numerics.
func numericFit(mod int32) kernel {
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for _, i := range b.Sel {
			putNumeric(b, int(i), adt.NumericOf(x.At(int(i))), nil, mod)
		}
	}
}

// putNumeric makes n, brought to the modifier's form, the result of row i, unless there is an error.
func putNumeric(b *scalar.Batch, i int, n adt.Numeric, err error, mod int32) {
	if err == nil {
		n, err = n.FitMod(mod)
	}
	if err != nil {
		b.Fail(i, pgerr.From(err))
		return
	}
	b.Begin(i)
	b.Out.Data = n.Append(b.Out.Data)
	b.End()
}

func numericToInt(bits int) kernel {
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for k := range selected(b) {
			i := at(b, k)
			v, err := adt.NumericOf(x.At(i)).Int(bits)
			if err != nil {
				b.Fail(i, pgerr.From(err))
			}
			b.Out.Ints[i] = v
		}
	}
}

func numericToFloat(b *scalar.Batch) {
	x := b.Arg(0)
	for k := range selected(b) {
		i := at(b, k)
		// A row with NULL has no bytes.
		if s := x.At(i); len(s) > 0 {
			b.Out.Floats[i] = adt.NumericOf(s).Float()
		}
	}
}

func numericToFloat4(b *scalar.Batch) {
	x := b.Arg(0)
	for k := range selected(b) {
		i := at(b, k)
		n := adt.NumericOf(x.At(i))
		v := n.Float4()
		if math.IsInf(v, 0) && !n.IsInf() {
			b.Fail(i, pgerr.Newf(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type real", n))
		}
		b.Out.Floats[i] = v
	}
}

func intToOID(b *scalar.Batch) {
	for i, x := range b.Args[0].Ints[:b.N] {
		b.Out.Ints[i] = int64(uint32(x))
	}
}

func int8ToOID(b *scalar.Batch) {
	x, out := b.Args[0].Ints[:b.N], b.Out.Ints[:b.N]
	for k := range selected(b) {
		i := at(b, k)
		out[i] = x[i]
		if x[i] < 0 || x[i] > math.MaxUint32 {
			b.Fail(i, errOIDRange)
		}
	}
}

func oidToInt4(b *scalar.Batch) {
	for i, x := range b.Args[0].Ints[:b.N] {
		b.Out.Ints[i] = int64(int32(x))
	}
}

// toMzTimestamp refuses times before 1970.
func toMzTimestamp(b *scalar.Batch) {
	x, out := b.Args[0].Ints[:b.N], b.Out.Ints[:b.N]
	for k := range selected(b) {
		i := at(b, k)
		out[i] = x[i]
		if x[i] < 0 {
			b.Fail(i, pgerr.New(pgerr.NumericValueOutOfRange, "mz_timestamp out of range"))
		}
	}
}

func numericToMzTimestamp(b *scalar.Batch) {
	x := b.Arg(0)
	for k := range selected(b) {
		i := at(b, k)
		v, ok := adt.NumericOf(x.At(i)).Int64()
		if !ok || v < 0 {
			b.Fail(i, pgerr.New(pgerr.NumericValueOutOfRange, "mz_timestamp out of range"))
		}
		b.Out.Ints[i] = v
	}
}
