package fn

import (
	"math"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Numbers. Functions of floats are as exact as Go's library, which may differ from C's in the last digit. Those
// of numerics that have no exact result give 39 digits, as Materialize does, not PostgreSQL's 16 or so.
var mathFuncs = []scalar.Func{
	kern("-", 559, strict|fails, sig(tInt2), tInt2, negInt(width2), docNeg),
	kern("-", 558, strict|fails, sig(tInt4), tInt4, negInt(width4), docNeg),
	kern("-", 484, strict|fails, sig(tInt8), tInt8, negInt(width8), docNeg),
	kern("-", 584, strict, sig(tFloat4), tFloat4, negFloat, docNeg),
	kern("-", 585, strict, sig(tFloat8), tFloat8, negFloat, docNeg),
	kern("-", 1751, strict, sig(tNumeric), tNumeric, negNumeric, docNeg),
	same("+", 1917, tInt2), same("+", 1918, tInt4), same("+", 1916, tInt8),
	same("+", 1919, tFloat4), same("+", 1920, tFloat8), same("+", 1921, tNumeric),

	kern("@", 682, strict|fails, sig(tInt2), tInt2, absInt(width2), docAbs),
	kern("@", 773, strict|fails, sig(tInt4), tInt4, absInt(width4), docAbs),
	kern("@", 473, strict|fails, sig(tInt8), tInt8, absInt(width8), docAbs),
	kern("@", 590, strict, sig(tFloat4), tFloat4, absFloat, docAbs),
	kern("@", 595, strict, sig(tFloat8), tFloat8, absFloat, docAbs),
	kern("@", 1763, strict, sig(tNumeric), tNumeric, absNumeric, docAbs),
	kern("abs", 1398, strict|fails, sig(tInt2), tInt2, absInt(width2), docAbs),
	kern("abs", 1397, strict|fails, sig(tInt4), tInt4, absInt(width4), docAbs),
	kern("abs", 1396, strict|fails, sig(tInt8), tInt8, absInt(width8), docAbs),
	kern("abs", 1394, strict, sig(tFloat4), tFloat4, absFloat, docAbs),
	kern("abs", 1395, strict, sig(tFloat8), tFloat8, absFloat, docAbs),
	kern("abs", 1705, strict, sig(tNumeric), tNumeric, absNumeric, docAbs),

	kern("&", 1874, strict, sig(tInt2, tInt2), tInt2, bitwise(and), docBitAnd),
	kern("&", 1880, strict, sig(tInt4, tInt4), tInt4, bitwise(and), docBitAnd),
	kern("&", 1886, strict, sig(tInt8, tInt8), tInt8, bitwise(and), docBitAnd),
	kern("|", 1875, strict, sig(tInt2, tInt2), tInt2, bitwise(or), docBitOr),
	kern("|", 1881, strict, sig(tInt4, tInt4), tInt4, bitwise(or), docBitOr),
	kern("|", 1887, strict, sig(tInt8, tInt8), tInt8, bitwise(or), docBitOr),
	kern("#", 1876, strict, sig(tInt2, tInt2), tInt2, bitwise(xor), docBitXor),
	kern("#", 1882, strict, sig(tInt4, tInt4), tInt4, bitwise(xor), docBitXor),
	kern("#", 1888, strict, sig(tInt8, tInt8), tInt8, bitwise(xor), docBitXor),
	kern("~", 1877, strict, sig(tInt2), tInt2, bitNot, docBitNot),
	kern("~", 1883, strict, sig(tInt4), tInt4, bitNot, docBitNot),
	kern("~", 1889, strict, sig(tInt8), tInt8, bitNot, docBitNot),
	kern("<<", 1878, strict, sig(tInt2, tInt4), tInt2, shiftLeft(16), docShiftLeft),
	kern("<<", 1884, strict, sig(tInt4, tInt4), tInt4, shiftLeft(32), docShiftLeft),
	kern("<<", 1890, strict, sig(tInt8, tInt4), tInt8, shiftLeft(64), docShiftLeft),
	kern(">>", 1879, strict, sig(tInt2, tInt4), tInt2, shiftRight(32), docShiftRight),
	kern(">>", 1885, strict, sig(tInt4, tInt4), tInt4, shiftRight(32), docShiftRight),
	kern(">>", 1891, strict, sig(tInt8, tInt4), tInt8, shiftRight(64), docShiftRight),

	kern("mod", 940, strict|fails, sig(tInt2, tInt2), tInt2, modInts, docMod),
	kern("mod", 941, strict|fails, sig(tInt4, tInt4), tInt4, modInts, docMod),
	kern("mod", 947, strict|fails, sig(tInt8, tInt8), tInt8, modInts, docMod),
	row("gcd", 5044, strict|fails, sig(tInt4, tInt4), tInt4, gcdInts(width4), docGCD),
	row("gcd", 5045, strict|fails, sig(tInt8, tInt8), tInt8, gcdInts(width8), docGCD),
	row("lcm", 5046, strict|fails, sig(tInt4, tInt4), tInt4, lcmInts(width4), docLCM),
	row("lcm", 5047, strict|fails, sig(tInt8, tInt8), tInt8, lcmInts(width8), docLCM),

	row("ceil", 2308, strict, sig(tFloat8), tFloat8, float1(math.Ceil), docCeil),
	row("ceiling", 2320, strict, sig(tFloat8), tFloat8, float1(math.Ceil), docCeil),
	row("floor", 2309, strict, sig(tFloat8), tFloat8, float1(math.Floor), docFloor),
	row("round", 1342, strict, sig(tFloat8), tFloat8, float1(math.RoundToEven), "the nearest integer, of two the even one"),
	row("trunc", 1343, strict, sig(tFloat8), tFloat8, float1(math.Trunc), docTrunc),
	row("sign", 2310, strict, sig(tFloat8), tFloat8, float1(signFloat), docSign),
	row("sqrt", 1344, strict|fails, sig(tFloat8), tFloat8, float1E(sqrtFloat), docSqrt),
	row("|/", 596, strict|fails, sig(tFloat8), tFloat8, float1E(sqrtFloat), docSqrt),
	row("cbrt", 1345, strict, sig(tFloat8), tFloat8, float1(math.Cbrt), docCbrt),
	row("||/", 597, strict, sig(tFloat8), tFloat8, float1(math.Cbrt), docCbrt),
	row("exp", 1347, strict|fails, sig(tFloat8), tFloat8, float1E(expFloat), docExp),
	row("ln", 1341, strict|fails, sig(tFloat8), tFloat8, float1E(logFloat(math.Log)), docLn),
	row("log", 1340, strict|fails, sig(tFloat8), tFloat8, float1E(logFloat(math.Log10)), docLog10),
	row("log10", 1194, strict|fails, sig(tFloat8), tFloat8, float1E(logFloat(math.Log10)), docLog10),
	row("pow", 1346, strict|fails, sig(tFloat8, tFloat8), tFloat8, float2E(powFloat), docPower),
	row("power", 1368, strict|fails, sig(tFloat8, tFloat8), tFloat8, float2E(powFloat), docPower),
	row("^", 965, strict|fails, sig(tFloat8, tFloat8), tFloat8, float2E(powFloat), docPower),
	row("pi", 1610, strict, nil, tFloat8, always(vec.FloatOf(math.Pi)), "the ratio of a circle's circumference to its diameter"),
	row("width_bucket", 320, strict|fails, sig(tFloat8, tFloat8, tFloat8, tInt4), tInt4, widthBucketFloat, docWidthBucket),
}

const (
	docNeg         = "the number with the other sign"
	docAbs         = "the absolute value"
	docBitAnd      = "the bits that both have"
	docBitOr       = "the bits that either has"
	docBitXor      = "the bits in which the two differ"
	docBitNot      = "the other bits"
	docShiftLeft   = "the bits moved up"
	docShiftRight  = "the bits moved down, the sign kept"
	docGCD         = "the greatest common divisor"
	docLCM         = "the least common multiple"
	docCeil        = "the least integer that is not less"
	docFloor       = "the greatest integer that is not greater"
	docTrunc       = "the integer part"
	docSign        = "-1, 0 or 1"
	docSqrt        = "the square root"
	docCbrt        = "the cube root"
	docExp         = "e to this power"
	docLn          = "the natural logarithm"
	docLog10       = "the logarithm to base 10"
	docPower       = "the left number to the power of the right one"
	docWidthBucket = "which of n equal parts of a range a number lies in; 0 below it, n+1 above it"
)

var (
	errSqrtNegative = pgerr.New(pgerr.InvalidArgumentForPowerFunction, "cannot take square root of a negative number")
	errLogZero      = pgerr.New(pgerr.InvalidArgumentForLogarithm, "cannot take logarithm of zero")
	errLogNegative  = pgerr.New(pgerr.InvalidArgumentForLogarithm, "cannot take logarithm of a negative number")
	errPowerZero    = pgerr.New(pgerr.InvalidArgumentForPowerFunction, "zero raised to a negative power is undefined")
	errPowerComplex = pgerr.New(pgerr.InvalidArgumentForPowerFunction,
		"a negative number raised to a non-integer power yields a complex result")
	errInputRange = pgerr.New(pgerr.NumericValueOutOfRange, "input is out of range")
)

// same is an entry that gives its argument.
func same(name string, oid uint32, t types.T) scalar.Func {
	e := entry(name, oid, strict, sig(t), t, "the number itself")
	e.Relabel = true
	return e
}

func negInt(w *width) kernel {
	return func(b *scalar.Batch) {
		x, out := b.Args[0].Ints, b.Out.Ints
		for k := range selected(b) {
			i := at(b, k)
			if x[i] == w.lo {
				b.Fail(i, w.err)
			}
			out[i] = -x[i]
		}
	}
}

func absInt(w *width) kernel {
	return func(b *scalar.Batch) {
		x, out := b.Args[0].Ints, b.Out.Ints
		for k := range selected(b) {
			i := at(b, k)
			if x[i] == w.lo {
				b.Fail(i, w.err)
			}
			out[i] = max(x[i], -x[i])
		}
	}
}

func negFloat(b *scalar.Batch) {
	for i, x := range b.Args[0].Floats[:b.N] {
		b.Out.Floats[i] = canon(-x)
	}
}

func absFloat(b *scalar.Batch) {
	for i, x := range b.Args[0].Floats[:b.N] {
		b.Out.Floats[i] = canon(math.Abs(x))
	}
}

// bitOp is one of the three.
type bitOp uint8

const (
	and bitOp = iota
	or
	xor
)

func bitwise(op bitOp) kernel {
	return func(b *scalar.Batch) {
		out := b.Out.Ints[:b.N]
		x, y := b.Args[0].Ints[:len(out)], b.Args[1].Ints[:len(out)]
		switch op {
		case and:
			for i := range out {
				out[i] = x[i] & y[i]
			}
		case or:
			for i := range out {
				out[i] = x[i] | y[i]
			}
		case xor:
			for i := range out {
				out[i] = x[i] ^ y[i]
			}
		}
	}
}

func bitNot(b *scalar.Batch) {
	for i, x := range b.Args[0].Ints[:b.N] {
		b.Out.Ints[i] = ^x
	}
}

// shiftLeft shifts as the processors that PostgreSQL runs on do: by the amount modulo 32 or 64, and what is
// then beyond the type's bits is lost.
func shiftLeft(bits uint) kernel {
	mask := int64(max(bits, 32) - 1)
	return func(b *scalar.Batch) {
		x, y := b.Args[0].Ints, b.Args[1].Ints
		for i := range b.N {
			r := x[i] << (y[i] & mask)
			b.Out.Ints[i] = r << (64 - bits) >> (64 - bits)
		}
	}
}

func shiftRight(bits uint) kernel {
	mask := int64(bits - 1)
	return func(b *scalar.Batch) {
		x, y := b.Args[0].Ints, b.Args[1].Ints
		for i := range b.N {
			b.Out.Ints[i] = x[i] >> (y[i] & mask)
		}
	}
}

// gcd works on magnitudes, so that the smallest integer is no special case.
func gcd(x, y uint64) uint64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func gcdInts(w *width) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		g := gcd(magnitude(a[0].Int()), magnitude(a[1].Int()))
		if g > uint64(w.hi) {
			return vec.Null, w.err
		}
		return vec.IntOf(int64(g)), nil
	}
}

func lcmInts(w *width) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		x, y := magnitude(a[0].Int()), magnitude(a[1].Int())
		if x == 0 || y == 0 {
			return vec.IntOf(0), nil
		}
		part := x / gcd(x, y)
		if part > uint64(w.hi)/y {
			return vec.Null, w.err
		}
		return vec.IntOf(int64(part * y)), nil
	}
}

// float1 and float2 make rowFuncs of functions of floats; those with E can fail.
func float1(f func(float64) float64) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return vec.FloatOf(f(a[0].Float())), nil }
}

func float1E(f func(float64) (float64, error)) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		x, err := f(a[0].Float())
		return vec.FloatOf(x), err
	}
}

func float2E(f func(x, y float64) (float64, error)) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		x, err := f(a[0].Float(), a[1].Float())
		return vec.FloatOf(x), err
	}
}

func signFloat(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x != x:
		return x
	}
	return 0
}

func sqrtFloat(x float64) (float64, error) {
	if x < 0 {
		return 0, errSqrtNegative
	}
	return math.Sqrt(x), nil
}

func expFloat(x float64) (float64, error) {
	r := math.Exp(x)
	switch {
	case math.IsInf(x, 0) || x != x:
		return r, nil
	case math.IsInf(r, 0):
		return 0, errFloatOverflow
	case r == 0:
		return 0, errFloatUnderflow
	}
	return r, nil
}

// Go's Log, Log10 and Pow are wrong for floats below smallestNormal on some processors; such are scaled up first.
const (
	smallestNormal = 0x1p-1022
	scaleBits      = 54
)

func logFloat(log func(float64) float64) func(float64) (float64, error) {
	return func(x float64) (float64, error) {
		switch {
		case x == 0:
			return 0, errLogZero
		case x < 0:
			return 0, errLogNegative
		case x < smallestNormal:
			return log(x*(1<<scaleBits)) - scaleBits*log(2), nil
		}
		return log(x), nil
	}
}

func powFloat(x, y float64) (float64, error) {
	switch {
	case x == 0 && y < 0:
		return 0, errPowerZero
	case x < 0 && y != math.Trunc(y) && y == y:
		return 0, errPowerComplex
	}
	// Go's Pow has C's special cases.
	r := math.Pow(x, y)
	if math.Abs(x) < smallestNormal && x != 0 {
		r = math.Pow(x*(1<<scaleBits), y) * math.Pow(2, -scaleBits*y)
	}
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0) || r != r:
		return r, nil
	case math.IsInf(r, 0):
		return 0, errFloatOverflow
	case r == 0 && x != 0:
		return 0, errFloatUnderflow
	}
	return r, nil
}

func widthBucketFloat(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	x, lo, hi, n := a[0].Float(), a[1].Float(), a[2].Float(), a[3].Int()
	if err := checkBuckets(n, x != x || lo != lo || hi != hi, math.IsInf(lo, 0) || math.IsInf(hi, 0), lo == hi); err != nil {
		return vec.Null, err
	}
	down := lo > hi
	if down {
		// Counting from the top is counting from the bottom of the mirrored range.
		x, lo, hi = -x, -lo, -hi
	}
	switch {
	case x < lo:
		return vec.IntOf(0), nil
	case x >= hi:
		return bucket(n + 1)
	}
	part := int64(float64(n) * ((x - lo) / (hi - lo)))
	if math.IsInf(hi-lo, 0) {
		part = int64(float64(n) * ((x/2 - lo/2) / (hi/2 - lo/2)))
	}
	// Rounding must not carry a value that is below the bound into the bucket above it.
	return bucket(min(part, n-1) + 1)
}

func bucket(n int64) (vec.Datum, error) {
	if n > maxInt4 {
		return vec.Null, width4.err
	}
	return vec.IntOf(n), nil
}

func checkBuckets(n int64, nan, inf, empty bool) error {
	bad := func(message string) error { return pgerr.New(pgerr.InvalidArgumentForWidthBucket, message) }
	switch {
	case n <= 0:
		return bad("count must be greater than zero")
	case nan:
		return bad("operand, lower bound, and upper bound cannot be NaN")
	case inf:
		return bad("lower and upper bounds must be finite")
	case empty:
		return bad("lower bound cannot equal upper bound")
	}
	return nil
}
