package adt

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/tributary-db/tributary/sql/pgerr"
)

var errDivisionByZero = pgerr.New(pgerr.DivisionByZero, "division by zero")

// Neg gives -n.
func (n Numeric) Neg() Numeric {
	if n.form != nan && !(n.form == finite && n.coef.isZero()) {
		n.neg = !n.neg
	}
	return n
}

// Abs gives the absolute value.
func (n Numeric) Abs() Numeric {
	n.neg = false
	return n
}

// Add gives n+m, rounded as every numeric is.
func (n Numeric) Add(m Numeric) (Numeric, error) {
	if n.form != finite || m.form != finite {
		switch {
		case n.form == nan || m.form == nan || n.form == m.form && n.neg != m.neg:
			return NumericNaN, nil
		case n.form == infinite:
			return n, nil
		}
		return m, nil
	}
	if n.scale < m.scale {
		n, m = m, n
	}
	scale := int(n.scale)
	mc, ok := m.coef.mul(pow10[n.scale-m.scale])
	// The highest bit is left free for the sum's carry.
	if !ok || mc.hi>>63 != 0 {
		return exact(func(r, x, y *apd.Decimal) (apd.Condition, error) { return apd.BaseContext.Add(r, x, y) }, n, m)
	}
	if n.neg == m.neg {
		return makeNumeric(n.neg, n.coef.add(mc), scale)
	}
	if n.coef.cmp(mc) >= 0 {
		return makeNumeric(n.neg, n.coef.sub(mc), scale)
	}
	return makeNumeric(m.neg, mc.sub(n.coef), scale)
}

// Sub gives n-m.
func (n Numeric) Sub(m Numeric) (Numeric, error) { return n.Add(m.Neg()) }

// Mul gives n·m, rounded as every numeric is.
func (n Numeric) Mul(m Numeric) (Numeric, error) {
	if n.form != finite || m.form != finite {
		switch {
		case n.form == nan || m.form == nan || n.Sign() == 0 || m.Sign() == 0:
			return NumericNaN, nil
		case n.neg != m.neg:
			return NumericNegInf, nil
		}
		return NumericInf, nil
	}
	c, ok := n.coef.mul(m.coef)
	if !ok {
		return exact(func(r, x, y *apd.Decimal) (apd.Condition, error) { return apd.BaseContext.Mul(r, x, y) }, n, m)
	}
	return makeNumeric(n.neg != m.neg, c, int(n.scale)+int(m.scale))
}

// exact computes with as many digits as it takes and rounds once.
func exact(op func(r, x, y *apd.Decimal) (apd.Condition, error), n, m Numeric) (Numeric, error) {
	var r, x, y apd.Decimal
	n.Decimal(&x)
	m.Decimal(&y)
	if _, err := op(&r, &x, &y); err != nil {
		return Numeric{}, errNumericOverflow
	}
	return NumericFromDecimal(&r)
}

// Div gives n/m: exactly if that takes no more than 39 digits, 39 of them after the point; else rounded to
// that, half away from zero. (PostgreSQL stops after about 16 to 20 digits instead.)
func (n Numeric) Div(m Numeric) (Numeric, error) {
	if n.form != finite || m.form != finite {
		switch {
		case n.form == nan || m.form == nan || n.form == m.form:
			return NumericNaN, nil
		case m.form == infinite:
			return Numeric{}, nil
		case m.coef.isZero():
			return Numeric{}, errDivisionByZero
		case n.neg != m.neg:
			return NumericNegInf, nil
		}
		return NumericInf, nil
	}
	if m.coef.isZero() {
		return Numeric{}, errDivisionByZero
	}
	neg, scale := n.neg != m.neg, int(n.scale)-int(m.scale)
	if n.coef.isSmall() && m.coef.isSmall() && n.coef.lo%m.coef.lo == 0 {
		return makeNumeric(neg, coef{lo: n.coef.lo / m.coef.lo}, scale)
	}
	// Raise the dividend until the quotient has 40 digits, or as many after the point as can be kept and
	// one more. It is always positive: no numeric has more than 39 digits.
	raise := min(NumericDigits+1+m.coef.digits()-n.coef.digits(), NumericDigits+1-scale)
	if raise > coefDigits {
		return divBig(neg, n.coef, m.coef, raise, scale)
	}
	c, ok := n.coef.mul(pow10[raise])
	if !ok {
		return divBig(neg, n.coef, m.coef, raise, scale)
	}
	q, rem := c.div(m.coef)
	return roundQuotient(neg, q, rem.isZero(), scale+raise)
}

// roundQuotient rounds a quotient of at least 39 digits, or more digits after the point than are kept,
// once: a further digit stands for a remainder.
func roundQuotient(neg bool, q coef, isExact bool, scale int) (Numeric, error) {
	if !isExact {
		q, _ = q.mulWord(10)
		q, scale = q.add(coef{lo: 1}), scale+1
	}
	return makeNumeric(neg, q, scale)
}

func divBig(neg bool, n, m coef, raise, scale int) (Numeric, error) {
	var x, y, q, rem apd.BigInt
	n.big(&x)
	m.big(&y)
	q.Exp(apd.NewBigInt(10), apd.NewBigInt(int64(raise)), nil)
	x.Mul(&x, &q)
	q.QuoRem(&x, &y, &rem)
	c, ok := coefOf(&q)
	if !ok {
		return Numeric{}, errNumericOverflow
	}
	return roundQuotient(neg, c, rem.Sign() == 0, scale+raise)
}

// Mod gives what is left of n after taking m off it as often as it goes, with n's sign.
func (n Numeric) Mod(m Numeric) (Numeric, error) {
	if n.form != finite || m.form != finite {
		switch {
		case n.form == nan || m.form == nan:
			return NumericNaN, nil
		case n.form == infinite && m.Sign() == 0:
			return Numeric{}, errDivisionByZero
		case n.form == infinite:
			return NumericNaN, nil
		}
		return n, nil
	}
	if m.coef.isZero() {
		return Numeric{}, errDivisionByZero
	}
	_, rem, _ := alignedQuoRem(n, m)
	return makeNumeric(n.neg, rem, int(max(n.scale, m.scale)))
}

// QuoInt gives n/m without its fraction (PostgreSQL's div).
func (n Numeric) QuoInt(m Numeric) (Numeric, error) {
	if n.form != finite || m.form != finite || m.coef.isZero() {
		return n.Div(m)
	}
	q, _, ok := alignedQuoRem(n, m)
	if !ok {
		return Numeric{}, errNumericOverflow
	}
	return makeNumeric(n.neg != m.neg, q, 0)
}

// alignedQuoRem divides coefficients brought to the larger scale of both, which the remainder has. ok is
// false if the quotient does not fit; the remainder always does, being no larger than the operand that
// needed no raising.
func alignedQuoRem(n, m Numeric) (q, rem coef, ok bool) {
	scale := max(n.scale, m.scale)
	nc, nok := n.coef.mul(pow10[scale-n.scale])
	mc, mok := m.coef.mul(pow10[scale-m.scale])
	if nok && mok {
		q, rem = nc.div(mc)
		return q, rem, true
	}
	var x, y, by, r apd.BigInt
	n.coef.big(&x)
	m.coef.big(&y)
	pow10[scale-n.scale].big(&by)
	x.Mul(&x, &by)
	pow10[scale-m.scale].big(&by)
	y.Mul(&y, &by)
	x.QuoRem(&x, &y, &r)
	rem, _ = coefOf(&r)
	q, ok = coefOf(&x)
	return q, rem, ok
}

// Round rounds to the given number of digits after the point (before it, if negative), half away from zero.
func (n Numeric) Round(places int) (Numeric, error) { return n.cut(places, 0) }

// Trunc cuts digits off after the given number of them.
func (n Numeric) Trunc(places int) Numeric {
	n, _ = n.cut(places, 2) // Cutting makes nothing larger, so it cannot fail.
	return n
}

// cut drops digits and takes the next larger magnitude if what was cut is half or more by the measure of
// divPow10.
func (n Numeric) cut(places, half int) (Numeric, error) {
	drop := int(n.scale) - places
	if n.form != finite || drop <= 0 {
		return n, nil
	}
	c, part := n.coef.divPow10(drop)
	if part >= half {
		c = c.add(coef{lo: 1})
	}
	return makeNumeric(n.neg, c, places)
}

// Ceil gives the smallest integer that is not smaller.
func (n Numeric) Ceil() (Numeric, error) {
	t := n.Trunc(0)
	if n.neg || t == n {
		return t, nil
	}
	return t.Add(NumericFromInt(1))
}

// Floor gives the largest integer that is not larger.
func (n Numeric) Floor() (Numeric, error) {
	t := n.Trunc(0)
	if !n.neg || t == n {
		return t, nil
	}
	return t.Sub(NumericFromInt(1))
}

// Fit applies a type modifier's precision and scale: rounds to the scale, and refuses what has too many
// digits before the point.
func (n Numeric) Fit(precision, scale int) (Numeric, error) {
	errField := pgerr.New(pgerr.NumericValueOutOfRange, "numeric field overflow")
	switch n.form {
	case nan:
		return n, nil
	case infinite:
		return Numeric{}, errField.WithDetail(
			"A field with precision %d, scale %d cannot hold an infinite value.", precision, scale)
	}
	r, err := n.Round(scale)
	if err == nil && (r.coef.isZero() || r.coef.digits()-int(r.scale) <= precision-scale) {
		return r, nil
	}
	if precision == scale {
		return Numeric{}, errField.WithDetail(
			"A field with precision %d, scale %d must round to an absolute value less than 1.", precision, scale)
	}
	return Numeric{}, errField.WithDetail(
		"A field with precision %d, scale %d must round to an absolute value less than 10^%d.",
		precision, scale, precision-scale)
}

// FitMod applies a numeric type modifier; -1 changes nothing.
func (n Numeric) FitMod(mod int32) (Numeric, error) {
	if mod < 0 {
		return n, nil
	}
	precision, scale := NumericMod(mod)
	// Nothing to round and surely few enough digits: the common case of a value that fits.
	if n.form == finite && n.coef.isSmall() && int(n.scale) <= scale && n.coef.digits()-int(n.scale) <= precision-scale {
		return n, nil
	}
	return n.Fit(precision, scale)
}

// NumericMod takes a type modifier apart; the scale may be negative.
func NumericMod(mod int32) (precision, scale int) {
	// The scale is the low 11 bits in two's complement.
	mod -= 4
	return int(mod >> 16), int(mod&0x7ff ^ 0x400 - 0x400)
}

// Int64 rounds to the nearest integer; ok is false if that is no int64.
func (n Numeric) Int64() (x int64, ok bool) {
	if n.form != finite {
		return 0, false
	}
	if n.scale > 0 {
		var err error
		if n, err = n.Round(0); err != nil {
			return 0, false
		}
	}
	if !n.coef.isSmall() {
		return 0, false
	}
	if n.neg {
		return -int64(n.coef.lo), n.coef.lo <= 1<<63
	}
	return int64(n.coef.lo), n.coef.lo <= math.MaxInt64
}

// Int rounds to the nearest integer of a type with the given number of bits (16, 32 or 64).
func (n Numeric) Int(bits int) (int64, error) {
	if n.form != finite {
		what := "NaN"
		if n.form == infinite {
			what = "infinity"
		}
		return 0, pgerr.Newf(pgerr.FeatureNotSupported, "cannot convert %s to %s", what, IntName(bits))
	}
	x, ok := n.Int64()
	if !ok || x != x<<(64-bits)>>(64-bits) {
		return 0, ErrIntRange(bits)
	}
	return x, nil
}

// Decimal sets d to n.
func (n Numeric) Decimal(d *apd.Decimal) {
	*d = apd.Decimal{Negative: n.neg, Exponent: -int32(n.scale)}
	switch n.form {
	case nan:
		d.Form = apd.NaN
	case infinite:
		d.Form = apd.Infinite
	case finite:
		n.coef.big(&d.Coeff)
	}
}

// NumericFromDecimal gives the numeric nearest to d.
func NumericFromDecimal(d *apd.Decimal) (Numeric, error) {
	switch d.Form {
	case apd.NaN, apd.NaNSignaling:
		return NumericNaN, nil
	case apd.Infinite:
		if d.Negative {
			return NumericNegInf, nil
		}
		return NumericInf, nil
	}
	scale := -int64(d.Exponent)
	if c, ok := coefOf(&d.Coeff); ok {
		if scale > maxExponent {
			return Numeric{}, nil
		}
		return makeNumeric(d.Negative, c, int(max(scale, -maxExponent)))
	}
	// Keep as many digits as a coef holds, and let one more say whether the rest was nothing.
	drop := d.NumDigits() - keepDigits
	var q, rem, by apd.BigInt
	by.Exp(apd.NewBigInt(10), apd.NewBigInt(drop), nil)
	q.QuoRem(&d.Coeff, &by, &rem)
	c, _ := coefOf(&q)
	scale = min(max(scale-drop, -maxExponent), maxExponent)
	return roundQuotient(d.Negative, c, rem.Sign() == 0, int(scale))
}

func (c coef) big(b *apd.BigInt) {
	if c.isSmall() {
		b.SetUint64(c.lo)
		return
	}
	var word apd.BigInt
	b.SetUint64(c.hi)
	b.Lsh(b, 64).Or(b, word.SetUint64(c.mid))
	b.Lsh(b, 64).Or(b, word.SetUint64(c.lo))
}

// coefOf gives a BigInt that is not negative as a coef, if it fits.
func coefOf(b *apd.BigInt) (c coef, ok bool) {
	if b.IsUint64() {
		return coef{lo: b.Uint64()}, true
	}
	if b.BitLen() > 192 {
		return coef{}, false
	}
	var buf [24]byte
	b.FillBytes(buf[:])
	return coef{hi: be64(buf[:8]), mid: be64(buf[8:16]), lo: be64(buf[16:])}, true
}
