package adt

import (
	"math"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

func errNumericSyntax(s string) error {
	return pgerr.Newf(pgerr.InvalidTextRepresentation, "invalid input syntax for type numeric: \"%s\"", s)
}

// ParseNumeric reads a numeric as PostgreSQL's input function does.
func ParseNumeric(s string) (Numeric, error) {
	t := trimSpace(s)
	n, size, err := scanNumeric(t)
	switch {
	case size == 0 || size != len(t):
		return Numeric{}, errNumericSyntax(s)
	case err != nil:
		return Numeric{}, err
	}
	return n, nil
}

// scanNumeric reads a number at the beginning of s and says how long it is; 0 if there is none. The error
// is that it is out of range.
func scanNumeric(s string) (n Numeric, size int, err error) {
	i, neg := 0, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	m, ok := scanMantissa(s[i:])
	if !ok {
		if n, ok := numericWord(s[i:], s[:i]); ok {
			return n, len(s), nil
		}
		return Numeric{}, 0, nil
	}
	i += m.len
	scale := m.scale
	if i < len(s) && s[i]|0x20 == 'e' {
		exp, size := scanExponent(s[i+1:])
		if size == 0 {
			return Numeric{}, 0, nil
		}
		i, scale = i+1+size, scale-exp
	}
	n, err = makeNumeric(neg, m.coef, scale)
	return n, i, err
}

// numericWord reads the spellings of what is not a number.
func numericWord(s, sign string) (Numeric, bool) {
	switch strings.ToLower(s) {
	case "nan":
		return NumericNaN, sign == ""
	case "infinity", "inf":
		if sign == "-" {
			return NumericNegInf, true
		}
		return NumericInf, true
	}
	return Numeric{}, false
}

// mantissa is digits with a point among them: coef / 10^scale, len bytes long.
type mantissa struct {
	coef  coef
	scale int
	len   int
}

// keepDigits of a mantissa are kept; of the rest only whether it is zero, as one more digit, so that
// rounding sees which side of a half it is on.
const keepDigits = coefDigits - 2

func scanMantissa(s string) (m mantissa, ok bool) {
	i, point := 0, -1
	var word uint64
	for ; i < len(s); i++ {
		if c := s[i]; c-'0' <= 9 {
			if word > (math.MaxUint64-9)/10 {
				break
			}
			word = word*10 + uint64(c-'0')
		} else if c == '.' && point < 0 {
			point = i
		} else {
			break
		}
	}
	m.coef.lo = word
	sticky, dropped := false, 0
	for kept := 19; i < len(s); i++ {
		c := s[i]
		if c == '.' && point < 0 {
			point = i
			continue
		}
		if c-'0' > 9 {
			break
		}
		if kept++; kept > keepDigits {
			sticky, dropped = sticky || c != '0', dropped+1
			continue
		}
		m.coef, _ = m.coef.mulWord(10)
		m.coef = m.coef.add(coef{lo: uint64(c - '0')})
	}
	m.len = i
	if point >= 0 {
		m.scale = i - point - 1
	}
	m.scale -= dropped
	if sticky {
		m.coef, _ = m.coef.mulWord(10)
		m.coef, m.scale = m.coef.add(coef{lo: 1}), m.scale+1
	}
	return m, i > 1 || i == 1 && point < 0
}

// maxExponent bounds what an exponent is read as: far outside of every numeric, far inside of every int.
const maxExponent = 1 << 24

// scanExponent reads an exponent after its e; size is 0 if there is none.
func scanExponent(s string) (exp, size int) {
	i, neg := 0, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	start := i
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		exp = min(exp*10+int(s[i]-'0'), maxExponent)
	}
	if i == start {
		return 0, 0
	}
	if neg {
		exp = -exp
	}
	return exp, i
}

// AppendText appends n as SQL prints it: in full, without trailing zeros after the point.
func (n Numeric) AppendText(dst []byte) []byte {
	switch {
	case n.form == nan:
		return append(dst, "NaN"...)
	case n.form == infinite && n.neg:
		return append(dst, "-Infinity"...)
	case n.form == infinite:
		return append(dst, "Infinity"...)
	}
	if n.neg {
		dst = append(dst, '-')
	}
	if n.scale == 0 && n.coef.isSmall() {
		return strconv.AppendUint(dst, n.coef.lo, 10)
	}
	var buf [2*NumericDigits + 4]byte
	at := len(buf)
	point := at - int(n.scale)
	for c := n.coef; !c.isZero() || at >= point; {
		var rem uint64
		if c.isSmall() {
			c.lo, rem = 0, c.lo
		} else {
			c, rem = c.divWord(chunk)
		}
		for i := 0; rem != 0 || !c.isZero() && i < chunkDigits || c.isZero() && at >= point; i++ {
			at--
			buf[at] = byte('0' + rem%10)
			rem /= 10
		}
	}
	dst = append(dst, buf[at:point]...)
	if n.scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, buf[point:]...)
	}
	return dst
}

func (n Numeric) String() string { return string(n.AppendText(nil)) }

// NumericFromFloat gives x as numeric, by its first digits as PostgreSQL does: 15 of a float8.
func NumericFromFloat(x float64) (Numeric, error) { return numericFromFloat(x, 15) }

// NumericFromFloat4 gives a float4 as numeric, by its first 6 digits.
func NumericFromFloat4(x float64) (Numeric, error) { return numericFromFloat(x, 6) }

func numericFromFloat(x float64, digits int) (Numeric, error) {
	switch {
	case x != x:
		return NumericNaN, nil
	case math.IsInf(x, 1):
		return NumericInf, nil
	case math.IsInf(x, -1):
		return NumericNegInf, nil
	}
	if digits == 15 && x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return NumericFromInt(int64(x)), nil
	}
	var buf [32]byte
	n, _, err := scanNumeric(borrow(strconv.AppendFloat(buf[:0], x, 'e', digits-1, 64)))
	return n, err
}

var pow10Float = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Float gives the nearest float8. Every numeric is in its range.
func (n Numeric) Float() float64 {
	switch {
	case n.form == nan:
		return math.NaN()
	case n.form == infinite && n.neg:
		return math.Inf(-1)
	case n.form == infinite:
		return math.Inf(1)
	}
	if n.coef.isSmall() && n.coef.lo <= 1<<53 && int(n.scale) < len(pow10Float) {
		// Both are exact as floats, so their quotient is rounded once.
		x := float64(n.coef.lo) / pow10Float[n.scale]
		if n.neg {
			return -x
		}
		return x
	}
	var buf [2*NumericDigits + 4]byte
	// What AppendText writes is always in the syntax and range of a float.
	x, _ := strconv.ParseFloat(borrow(n.AppendText(buf[:0])), 64)
	return x
}

// Float4 gives the nearest float4, as a float64.
func (n Numeric) Float4() float64 {
	if n.form != finite {
		return n.Float()
	}
	var buf [2*NumericDigits + 4]byte
	x, err := strconv.ParseFloat(borrow(n.AppendText(buf[:0])), 32)
	if err != nil {
		// 10^39 is past the largest float4: the caller sees an infinity that n is not.
		return math.Inf(n.Sign())
	}
	return x
}
