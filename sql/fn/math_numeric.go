package fn

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/vec"
)

var numericFuncs = []scalar.Func{
	kern("mod", 1728, strict|fails, sig(tNumeric, tNumeric), tNumeric, numeric2(adt.Numeric.Mod), docMod),
	kern("div", 1973, strict|fails, sig(tNumeric, tNumeric), tNumeric, numeric2(adt.Numeric.QuoInt), docDivInt),
	kern("ceil", 1711, strict|fails, sig(tNumeric), tNumeric, numeric1(adt.Numeric.Ceil), docCeil),
	kern("ceiling", 2167, strict|fails, sig(tNumeric), tNumeric, numeric1(adt.Numeric.Ceil), docCeil),
	kern("floor", 1712, strict|fails, sig(tNumeric), tNumeric, numeric1(adt.Numeric.Floor), docFloor),
	kern("round", 1708, strict|fails, sig(tNumeric), tNumeric, numeric1(roundNumeric), docRound),
	kern("round", 1707, strict|fails, sig(tNumeric, tInt4), tNumeric, roundPlaces(adt.Numeric.Round),
		"rounded to n digits after the point, halves away from zero"),
	kern("trunc", 1710, strict|fails, sig(tNumeric), tNumeric, numeric1(truncNumeric), docTrunc),
	kern("trunc", 1709, strict|fails, sig(tNumeric, tInt4), tNumeric, roundPlaces(truncPlaces),
		"cut to n digits after the point"),
	kern("sign", 1706, strict|fails, sig(tNumeric), tNumeric, numeric1(signNumeric), docSign),
	kern("trim_scale", 5043, strict|fails, sig(tNumeric), tNumeric, numeric1(sameNumeric), "the number without zeros at its end"),
	row("scale", 3281, strict|nulls, sig(tNumeric), tInt4, scaleNumeric, docScale),
	row("min_scale", 5042, strict|nulls, sig(tNumeric), tInt4, scaleNumeric, docScale),
	row("gcd", 5048, strict|fails, sig(tNumeric, tNumeric), tNumeric, numericRow2(gcdNumeric), docGCD),
	row("lcm", 5049, strict|fails, sig(tNumeric, tNumeric), tNumeric, numericRow2(lcmNumeric), docLCM),
	row("factorial", 1376, strict|fails, sig(tInt8), tNumeric, factorial, "the product of all integers from 1 to n"),
	row("sqrt", 1730, strict|fails, sig(tNumeric), tNumeric, numericRow(sqrtNumeric), docSqrt),
	row("exp", 1732, strict|fails, sig(tNumeric), tNumeric, numericRow(expNumeric), docExp),
	row("ln", 1734, strict|fails, sig(tNumeric), tNumeric, numericRow(lnNumeric), docLn),
	row("log", 1741, strict|fails, sig(tNumeric), tNumeric, numericRow(log10Numeric), docLog10),
	row("log10", 1481, strict|fails, sig(tNumeric), tNumeric, numericRow(log10Numeric), docLog10),
	row("log", 1736, strict|fails, sig(tNumeric, tNumeric), tNumeric, numericRow2(logNumeric), "the logarithm of y to base b"),
	row("pow", 1738, strict|fails, sig(tNumeric, tNumeric), tNumeric, numericRow2(powNumeric), docPower),
	row("power", 2169, strict|fails, sig(tNumeric, tNumeric), tNumeric, numericRow2(powNumeric), docPower),
	row("^", 1038, strict|fails, sig(tNumeric, tNumeric), tNumeric, numericRow2(powNumeric), docPower),
	row("width_bucket", 2170, strict|fails, sig(tNumeric, tNumeric, tNumeric, tInt4), tInt4, widthBucketNumeric, docWidthBucket),
}

const (
	docRound = "the nearest integer, halves away from zero"
	docScale = "the number of digits after the point"
)

func negNumeric(b *scalar.Batch) { plainNumeric(b, adt.Numeric.Neg) }
func absNumeric(b *scalar.Batch) { plainNumeric(b, adt.Numeric.Abs) }

// plainNumeric is numeric1 for what cannot fail.
func plainNumeric(b *scalar.Batch, f func(adt.Numeric) adt.Numeric) {
	x := b.Arg(0)
	for _, i := range b.Sel {
		b.Begin(int(i))
		b.Out.Data = f(adt.NumericOf(x.At(int(i)))).Append(b.Out.Data)
		b.End()
	}
}

// numericDatum is n as a value.
func numericDatum(n adt.Numeric) vec.Datum { return vec.BytesOf(n.Append(nil)) }

func numericRow(f func(adt.Numeric) (adt.Numeric, error)) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		n, err := f(adt.NumericOf(a[0].Bytes()))
		if err != nil {
			return vec.Null, err
		}
		return numericDatum(n), nil
	}
}

func numericRow2(f func(x, y adt.Numeric) (adt.Numeric, error)) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		n, err := f(adt.NumericOf(a[0].Bytes()), adt.NumericOf(a[1].Bytes()))
		if err != nil {
			return vec.Null, err
		}
		return numericDatum(n), nil
	}
}

func roundNumeric(n adt.Numeric) (adt.Numeric, error)            { return n.Round(0) }
func truncNumeric(n adt.Numeric) (adt.Numeric, error)            { return n.Trunc(0), nil }
func truncPlaces(n adt.Numeric, places int) (adt.Numeric, error) { return n.Trunc(places), nil }
func sameNumeric(n adt.Numeric) (adt.Numeric, error)             { return n, nil }

// roundPlaces is the kernel of a function of a numeric and a number of digits.
func roundPlaces(f func(n adt.Numeric, places int) (adt.Numeric, error)) kernel {
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for _, i := range b.Sel {
			// A numeric has no digits beyond these.
			places := min(max(b.Args[1].Ints[i], -2*adt.NumericDigits), 2*adt.NumericDigits)
			n, err := f(adt.NumericOf(x.At(int(i))), int(places))
			putNumeric(b, int(i), n, err, -1)
		}
	}
}

func signNumeric(n adt.Numeric) (adt.Numeric, error) {
	if n.IsNaN() {
		return n, nil
	}
	return adt.NumericFromInt(int64(n.Sign())), nil
}

func scaleNumeric(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	n := adt.NumericOf(a[0].Bytes())
	if !n.IsFinite() {
		return vec.Null, nil
	}
	return vec.IntOf(int64(n.Scale())), nil
}

func gcdNumeric(x, y adt.Numeric) (adt.Numeric, error) {
	if !x.IsFinite() || !y.IsFinite() {
		return adt.NumericNaN, nil
	}
	x, y = x.Abs(), y.Abs()
	for y.Sign() != 0 {
		r, err := x.Mod(y)
		if err != nil {
			return r, err
		}
		x, y = y, r
	}
	return x, nil
}

func lcmNumeric(x, y adt.Numeric) (adt.Numeric, error) {
	g, err := gcdNumeric(x, y)
	if err != nil || !g.IsFinite() || g.Sign() == 0 {
		return g, err
	}
	// x is a multiple of g, so that nothing is rounded.
	part, err := x.Div(g)
	if err != nil {
		return part, err
	}
	r, err := part.Mul(y)
	return r.Abs(), err
}

func factorial(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	n := a[0].Int()
	if n < 0 {
		return vec.Null, pgerr.New(pgerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	}
	product := adt.NumericFromInt(1)
	// 34! has 39 digits; 35! has more, and ends the loop by its error.
	for k := int64(2); k <= n; k++ {
		var err error
		if product, err = product.Mul(adt.NumericFromInt(k)); err != nil {
			return vec.Null, err
		}
	}
	return numericDatum(product), nil
}

// workDigits is how many digits inexact functions work with: enough that the 39 of the result are right also
// after an exponentiation, which moves as many digits as its exponent has in front of the point.
const workDigits = 100

// decimalContext has no traps: what would be one is seen in the result.
func decimalContext() *apd.Context {
	return &apd.Context{Precision: workDigits, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent,
		Rounding: apd.RoundHalfUp}
}

// byDecimal computes a function of finite numerics with apd.
func byDecimal(f func(c *apd.Context, r *apd.Decimal, args ...*apd.Decimal) (apd.Condition, error),
	args ...adt.Numeric) (adt.Numeric, error) {
	ds := make([]*apd.Decimal, len(args))
	for i, n := range args {
		ds[i] = new(apd.Decimal)
		n.Decimal(ds[i])
	}
	var r apd.Decimal
	if _, err := f(decimalContext(), &r, ds...); err != nil {
		return adt.Numeric{}, pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	return adt.NumericFromDecimal(&r)
}

func sqrtNumeric(n adt.Numeric) (adt.Numeric, error) {
	switch {
	case n.Sign() < 0:
		return n, errSqrtNegative
	case !n.IsFinite():
		return n, nil
	}
	return byDecimal(func(c *apd.Context, r *apd.Decimal, a ...*apd.Decimal) (apd.Condition, error) {
		return c.Sqrt(r, a[0])
	}, n)
}

// expLimit is an exponent of e that no numeric is large enough for: 10^39 is e^89.8.
const expLimit = 90

func expNumeric(n adt.Numeric) (adt.Numeric, error) {
	switch {
	case n.IsInf() && n.Sign() < 0:
		return adt.Numeric{}, nil
	case !n.IsFinite():
		return n, nil
	}
	switch x := n.Float(); {
	case x > expLimit:
		return n, pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
	case x < -2*expLimit:
		return adt.Numeric{}, nil
	}
	return byDecimal(func(c *apd.Context, r *apd.Decimal, a ...*apd.Decimal) (apd.Condition, error) {
		return c.Exp(r, a[0])
	}, n)
}

// checkLog gives the error of a logarithm's argument.
func checkLog(n adt.Numeric) error {
	switch {
	case n.IsNaN():
		return nil
	case n.Sign() == 0:
		return errLogZero
	case n.Sign() < 0:
		return errLogNegative
	}
	return nil
}

func lnNumeric(n adt.Numeric) (adt.Numeric, error) {
	if err := checkLog(n); err != nil || !n.IsFinite() {
		return n, err
	}
	return byDecimal(func(c *apd.Context, r *apd.Decimal, a ...*apd.Decimal) (apd.Condition, error) {
		return c.Ln(r, a[0])
	}, n)
}

func log10Numeric(n adt.Numeric) (adt.Numeric, error) {
	if err := checkLog(n); err != nil || !n.IsFinite() {
		return n, err
	}
	return byDecimal(func(c *apd.Context, r *apd.Decimal, a ...*apd.Decimal) (apd.Condition, error) {
		return c.Log10(r, a[0])
	}, n)
}

// logNumeric is the logarithm of y to base b.
func logNumeric(b, y adt.Numeric) (adt.Numeric, error) {
	if b.IsNaN() || y.IsNaN() {
		return adt.NumericNaN, nil
	}
	for _, n := range []adt.Numeric{b, y} {
		if err := checkLog(n); err != nil {
			return n, err
		}
	}
	switch {
	case b.IsInf() && y.IsInf():
		return adt.NumericNaN, nil
	case b.IsInf():
		return adt.Numeric{}, nil
	case y.IsInf():
		return y, nil
	case b == adt.NumericFromInt(1):
		return b, errDivisionByZero
	}
	return byDecimal(func(c *apd.Context, r *apd.Decimal, a ...*apd.Decimal) (apd.Condition, error) {
		var lb, ly apd.Decimal
		if _, err := c.Ln(&lb, a[0]); err != nil {
			return 0, err
		}
		if _, err := c.Ln(&ly, a[1]); err != nil {
			return 0, err
		}
		return c.Quo(r, &ly, &lb)
	}, b, y)
}

func powNumeric(x, y adt.Numeric) (adt.Numeric, error) {
	one := adt.NumericFromInt(1)
	switch {
	case x.IsNaN() || y.IsNaN():
		if y == (adt.Numeric{}) || x == one {
			return one, nil
		}
		return adt.NumericNaN, nil
	case x.Sign() == 0 && y.Sign() < 0:
		return x, errPowerZero
	case x.Sign() < 0 && y.IsFinite() && !y.IsInteger():
		return x, errPowerComplex
	case !x.IsFinite() || !y.IsFinite():
		return powInfinite(x, y), nil
	case y.Sign() == 0:
		return one, nil
	case x.Sign() == 0:
		return x, nil
	}
	switch size := y.Float() * math.Log(math.Abs(x.Float())); {
	case size > expLimit:
		return x, pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
	case size < -2*expLimit:
		return adt.Numeric{}, nil
	}
	return byDecimal(func(c *apd.Context, r *apd.Decimal, a ...*apd.Decimal) (apd.Condition, error) {
		if whole, err := a[1].Int64(); err == nil && whole <= math.MaxInt16 && whole >= math.MinInt16 {
			return powInteger(c, r, a[0], whole)
		}
		odd := a[0].Negative && isOdd(a[1])
		a[0].Negative = false
		var ln, product apd.Decimal
		if _, err := c.Ln(&ln, a[0]); err != nil {
			return 0, err
		}
		if _, err := c.Mul(&product, &ln, a[1]); err != nil {
			return 0, err
		}
		cond, err := c.Exp(r, &product)
		r.Negative = odd
		return cond, err
	}, x, y)
}

// powInteger multiplies, which is exact where the result has few digits.
func powInteger(c *apd.Context, r, x *apd.Decimal, n int64) (apd.Condition, error) {
	r.SetInt64(1)
	square := new(apd.Decimal).Set(x)
	for k := magnitude(n); k > 0; k >>= 1 {
		if k&1 != 0 {
			if _, err := c.Mul(r, r, square); err != nil {
				return 0, err
			}
		}
		if _, err := c.Mul(square, square, square); err != nil {
			return 0, err
		}
	}
	if n < 0 {
		return c.Quo(r, apd.New(1, 0), r)
	}
	return 0, nil
}

// isOdd says whether an integer is odd.
func isOdd(d *apd.Decimal) bool {
	if d.Exponent > 0 {
		return false
	}
	return d.Coeff.Bit(0) == 1
}

// powInfinite is a power of which the base or the exponent is infinite.
func powInfinite(x, y adt.Numeric) adt.Numeric {
	one := adt.NumericFromInt(1)
	if y.IsInf() {
		switch size := x.Abs().Cmp(one); {
		case size == 0:
			return one
		case size > 0 == (y.Sign() > 0):
			return adt.NumericInf
		}
		return adt.Numeric{}
	}
	switch {
	case y.Sign() == 0:
		return one
	case y.Sign() < 0:
		return adt.Numeric{}
	case x.Sign() < 0:
		var d apd.Decimal
		if y.Decimal(&d); isOdd(&d) {
			return adt.NumericNegInf
		}
	}
	return adt.NumericInf
}

func widthBucketNumeric(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	x, lo, hi := adt.NumericOf(a[0].Bytes()), adt.NumericOf(a[1].Bytes()), adt.NumericOf(a[2].Bytes())
	n := a[3].Int()
	err := checkBuckets(n, x.IsNaN() || lo.IsNaN() || hi.IsNaN(), lo.IsInf() || hi.IsInf(), lo == hi)
	if err != nil {
		return vec.Null, err
	}
	if lo.Cmp(hi) > 0 {
		x, lo, hi = x.Neg(), lo.Neg(), hi.Neg()
	}
	switch {
	case x.Cmp(lo) < 0:
		return vec.IntOf(0), nil
	case x.Cmp(hi) >= 0:
		return bucket(n + 1)
	}
	part, err := byDecimal(func(c *apd.Context, r *apd.Decimal, d ...*apd.Decimal) (apd.Condition, error) {
		var above, span apd.Decimal
		if _, err := c.Sub(&above, d[0], d[1]); err != nil {
			return 0, err
		}
		if _, err := c.Sub(&span, d[2], d[1]); err != nil {
			return 0, err
		}
		if _, err := c.Mul(r, &above, apd.New(n, 0)); err != nil {
			return 0, err
		}
		return c.QuoInteger(r, r, &span)
	}, x, lo, hi)
	if err != nil {
		return vec.Null, err
	}
	at, _ := part.Int64() // below n
	return bucket(at + 1)
}
