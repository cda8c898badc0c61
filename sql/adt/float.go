package adt

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

func floatName(size int) string {
	if size == 32 {
		return "real"
	}
	return "double precision"
}

// ParseFloat reads a float of 64 or 32 bits as PostgreSQL does.
func ParseFloat(s string, size int) (float64, error) {
	t := trimSpace(s)
	f, err := strconv.ParseFloat(t, size)
	switch {
	case err == nil && f != 0 && strings.IndexByte(t, '_') < 0:
		return f, nil
	case err != nil && err.(*strconv.NumError).Err == strconv.ErrRange, err == nil && f == 0 && !isZeroText(t):
		return 0, pgerr.Newf(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t, floatName(size))
	case err == nil && strings.IndexByte(t, '_') < 0:
		return 0, nil
	case strings.EqualFold(t, "-nan") || strings.EqualFold(t, "+nan"):
		return math.NaN(), nil
	}
	return 0, pgerr.Newf(pgerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", floatName(size), s)
}

// isZeroText says whether a number that was read as zero says zero, rather than something too small.
func isZeroText(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c|0x20 == 'e' || c|0x20 == 'p':
			return true
		case c >= '1' && c <= '9':
			return false
		}
	}
	return true
}

// AppendFloat appends f, of 64 or 32 bits, as PostgreSQL prints it: the shortest decimal that is read as f
// and is not on the border between f and its neighbour, plain or with an exponent by its size.
func AppendFloat(dst []byte, f float64, size int) []byte {
	switch {
	case f != f:
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	plainDigits, limit := 15, 1e15
	if size == 32 {
		plainDigits, limit = 6, 1e6
	}
	if math.Abs(f) < limit && f == math.Trunc(f) {
		return appendInt(dst, int64(f))
	}
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, size)
	if onBorder(f, text, size) {
		text = inside(buf[:0], f, text, size)
	} else {
		evenTie(f, text, size)
	}
	return layoutFloat(dst, text, plainDigits)
}

// layoutFloat writes d.ddde±xx as PostgreSQL does.
func layoutFloat(dst, text []byte, plainDigits int) []byte {
	if text[0] == '-' {
		dst, text = append(dst, '-'), text[1:]
	}
	digits, exp := cutExponent(text)
	if exp < -4 || exp >= plainDigits {
		return append(dst, text...)
	}
	first, rest := digits[:1], digits[min(2, len(digits)):]
	if exp < 0 {
		dst = append(dst, "0.000"[:1-exp]...)
		return append(append(dst, first...), rest...)
	}
	dst = append(dst, first...)
	if len(rest) <= exp {
		dst = append(dst, rest...)
		for range exp - len(rest) {
			dst = append(dst, '0')
		}
		return dst
	}
	dst = append(append(dst, rest[:exp]...), '.')
	return append(dst, rest[exp:]...)
}

// cutExponent takes d.ddde±xx apart.
func cutExponent(text []byte) (digits []byte, exp int) {
	i := len(text) - 1
	for by := 1; isDigit(text[i]); i-- {
		exp += int(text[i]-'0') * by
		by *= 10
	}
	if text[i] == '-' {
		exp = -exp
	}
	return text[:i-1], exp
}

// onBorder says whether a decimal lies exactly half-way between f and a neighbour. strconv takes such a one
// where reading it gives f back by rounding to even; PostgreSQL never does. Only integers of more digits than
// the mantissa has bits for can be there.
func onBorder(f float64, text []byte, size int) bool {
	mantBits := 53
	if size == 32 {
		mantBits = 24
	}
	f = math.Abs(f)
	if f < math.Ldexp(1, mantBits) || f > 1e40 {
		return false
	}
	m, ok := scanMantissa(borrow(trimMinus(text)))
	if !ok {
		return false
	}
	_, exp := cutExponent(text)
	whole, ok := m.coef.mul(pow10[exp-m.scale])
	if !ok {
		return false
	}
	frac, e := math.Frexp(f)
	mant := uint64(math.Ldexp(frac, mantBits))
	// Twice the mantissa and one more or less, at half the unit: the borders. Below a power of two the lower
	// one is nearer by half.
	shift := e - mantBits - 1
	upper := coef{lo: 2*mant + 1}.shl(shift)
	lower := coef{lo: 2*mant - 1}.shl(shift)
	if mant == 1<<(mantBits-1) && shift > 0 {
		lower = coef{lo: 4*mant - 1}.shl(shift - 1)
	}
	return whole == upper || whole == lower
}

// evenTie sees to it that of two shortest decimals as near to f as each other the even one is taken, as
// PostgreSQL does.
func evenTie(f float64, text []byte, size int) {
	digits, _ := cutExponent(text)
	last := &digits[len(digits)-1]
	if *last&1 == 0 {
		return
	}
	// f = mant·2^exp, mant odd. There can be a tie only if all of f's digits are one more than there are.
	u := math.Float64bits(f)
	mant := u&(1<<52-1) | 1<<52
	zeros := bits.TrailingZeros64(mant)
	exp := int(u>>52&0x7ff) - 1075 + zeros
	exact := coef{lo: mant >> zeros}
	switch {
	case exp < -len(pow5)+1 || exp > 80:
		return
	case exp < 0:
		exact, _ = exact.mulWord(pow5[-exp])
	default:
		exact, _ = exact.shl(exp).stripZeros(coefDigits)
	}
	n := len(trimMinus(digits))
	if n > 1 {
		n--
	}
	if exact.digits() != n+1 {
		return
	}
	exact, rem := exact.divWord(10)
	if rem != 5 {
		return
	}
	// What is odd is either cut (and must go up) or rounded up already (and must come down).
	odd := *last
	if _, rem = exact.divWord(10); byte(rem) == odd-'0' {
		*last++
	} else {
		*last--
	}
	// Below a power of two the neighbour is nearer, and the even one may be beyond the border.
	if back, err := strconv.ParseFloat(borrow(text), size); err != nil || back != f {
		*last = odd
	}
}

// pow5 has the powers of five that fit a word.
var pow5 = makePow5()

func makePow5() (p [28]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 5 * p[i-1]
	}
	return p
}

func trimMinus(text []byte) []byte {
	if text[0] == '-' {
		return text[1:]
	}
	return text
}

// inside finds the shortest decimal that is not on the border, having more digits than one that is.
func inside(buf []byte, f float64, text []byte, size int) []byte {
	digits, _ := cutExponent(trimMinus(text))
	for prec := max(len(digits)-1, 1); ; prec++ {
		text = strconv.AppendFloat(buf, f, 'e', prec, size)
		back, err := strconv.ParseFloat(borrow(text), size)
		if prec > 20 || err == nil && back == f && !onBorder(f, text, size) {
			return text
		}
	}
}
