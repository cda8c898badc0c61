package adt

import (
	"math/bits"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// NumericDigits bounds a numeric: its absolute value is below 10^39, it has at most 39 significant digits
// and at most 39 of them after the point. What is beyond on the right is rounded away (half away from
// zero), what is beyond on the left is an error.
const NumericDigits = 39

// Numeric is a decimal number, or NaN, or an infinity. It is a plain value: no arithmetic below allocates,
// save where coefficients beyond 192 bits come up on the way. Its zero value is 0. Equal numbers are equal
// structs.
type Numeric struct {
	// The number is coef / 10^scale; the scale is as small as it can be.
	coef  coef
	scale uint8
	form  form
	neg   bool // never for zero and NaN
}

type form uint8

const (
	finite form = iota
	infinite
	nan
)

// The numbers that are none.
var (
	NumericNaN    = Numeric{form: nan}
	NumericInf    = Numeric{form: infinite}
	NumericNegInf = Numeric{form: infinite, neg: true}
)

var errNumericOverflow = pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")

// makeNumeric gives the numeric nearest to ±c/10^scale (scale may be anything), half away from zero.
func makeNumeric(neg bool, c coef, scale int) (Numeric, error) {
	if c.isZero() {
		return Numeric{}, nil
	}
	if scale < 0 {
		if c.digits()-scale > NumericDigits {
			return Numeric{}, errNumericOverflow
		}
		c, _ = c.mul(pow10[-scale])
		return Numeric{coef: c, neg: neg}, nil
	}
	// A word needs no rounding, whatever the scale up to 39.
	if scale > NumericDigits || !c.isSmall() {
		if drop := max(c.digits()-NumericDigits, scale-NumericDigits); drop > 0 {
			if scale < drop {
				return Numeric{}, errNumericOverflow
			}
			var half int
			if c, half = c.divPow10(drop); half >= 0 {
				c = c.add(coef{lo: 1})
			}
			scale -= drop
			// 999…9 may have become 10^39: that is one digit too many unless it is a trailing zero.
			if scale == 0 && c.cmp(pow10[NumericDigits]) >= 0 {
				return Numeric{}, errNumericOverflow
			}
		}
	}
	c, stripped := c.stripZeros(scale)
	if c.isZero() {
		return Numeric{}, nil
	}
	return Numeric{coef: c, scale: uint8(scale - stripped), neg: neg}, nil
}

// NumericFromInt is x as a numeric.
func NumericFromInt(x int64) Numeric {
	if x < 0 {
		return Numeric{coef: coef{lo: -uint64(x)}, neg: true}
	}
	return Numeric{coef: coef{lo: uint64(x)}}
}

// NumericScaled is x / 10^scale, for scale ≤ 39.
func NumericScaled(x int64, scale int) Numeric {
	n := NumericFromInt(x)
	c, stripped := n.coef.stripZeros(scale)
	if c.isZero() {
		return Numeric{}
	}
	return Numeric{coef: c, scale: uint8(scale - stripped), neg: n.neg}
}

// IsNaN says whether n is NaN.
func (n Numeric) IsNaN() bool { return n.form == nan }

// IsInf says whether n is an infinity.
func (n Numeric) IsInf() bool { return n.form == infinite }

// IsFinite says whether n is a number.
func (n Numeric) IsFinite() bool { return n.form == finite }

// IsInteger says whether n is a number without a fraction.
func (n Numeric) IsInteger() bool { return n.form == finite && n.scale == 0 }

// Sign is -1, 0 or 1; 0 for NaN.
func (n Numeric) Sign() int {
	switch {
	case n.neg:
		return -1
	case n.form == nan || n.form == finite && n.coef.isZero():
		return 0
	}
	return 1
}

// Scale is the number of digits after the point, without trailing zeros.
func (n Numeric) Scale() int { return int(n.scale) }

// Precision is the number of significant digits, without zeros after the point.
func (n Numeric) Precision() int { return n.coef.digits() }

// Cmp orders numerics: -Infinity first, Infinity and then NaN last.
func (n Numeric) Cmp(m Numeric) int {
	if n.form != finite || m.form != finite {
		return n.rank() - m.rank()
	}
	if n.neg != m.neg {
		if n.neg {
			return -1
		}
		return 1
	}
	r := cmpMagnitude(n, m)
	if n.neg {
		return -r
	}
	return r
}

func (n Numeric) rank() int {
	switch {
	case n.form == nan:
		return 2
	case n.form == finite:
		return 0
	case n.neg:
		return -1
	}
	return 1
}

func cmpMagnitude(n, m Numeric) int {
	if n.scale == m.scale {
		return n.coef.cmp(m.coef)
	}
	if nd, md := n.coef.digits()-int(n.scale), m.coef.digits()-int(m.scale); nd != md {
		if n.coef.isZero() || !m.coef.isZero() && nd < md {
			return -1
		}
		return 1
	}
	// Digits before the point are as many, so raising the smaller scale keeps to 39 + 39 - … digits: at
	// most as many as the larger coefficient has.
	if n.scale < m.scale {
		c, _ := n.coef.mul(pow10[m.scale-n.scale])
		return c.cmp(m.coef)
	}
	d, _ := m.coef.mul(pow10[n.scale-m.scale])
	return n.coef.cmp(d)
}

// The header byte of an encoding says the form, the sign and the exponent e, where the absolute value is
// 0.d1d2… · 10^e with d1 ≠ 0; e lies in [-38, 39]. Then come the digits in pairs, the first pair first: 2p+1
// for a pair that others follow, 2p for the last one. So every encoding says where it ends and a longer
// fraction is after its own beginning. Negative numbers have every byte of the pairs inverted. The last
// pair is never 00, so there is one encoding for a number.
const (
	headNegInf = 0x08
	headZero   = 0x80
	headInf    = 0xF0
	headNaN    = 0xF8
	expBias    = 39 // header of a positive number: headZero + expBias + e
)

// NumericMaxLen is the length of the longest encoding.
const NumericMaxLen = 1 + (NumericDigits+1)/2

// chunkDigits decimal digits fit a word with room for one more.
const (
	chunkDigits = 18
	chunk       = 1e18
)

// Append appends the order-preserving encoding of n.
func (n Numeric) Append(dst []byte) []byte {
	switch {
	case n.form == nan:
		return append(dst, headNaN)
	case n.form == infinite && n.neg:
		return append(dst, headNegInf)
	case n.form == infinite:
		return append(dst, headInf)
	case n.coef.isZero():
		return append(dst, headZero)
	}
	c, digits := n.coef, n.coef.digits()
	e := digits - int(n.scale)
	if digits&1 != 0 {
		c, _ = c.mulWord(10)
		digits++
	}
	var buf [NumericMaxLen]byte
	end := 1 + digits/2
	putPairs(buf[1:end], c)
	for buf[end-1] == 0 {
		end--
	}
	for i := 1; i < end; i++ {
		buf[i] = buf[i]<<1 | 1
	}
	buf[end-1]--
	buf[0] = byte(headZero + expBias + e)
	if n.neg {
		buf[0] = byte(headZero - expBias - e)
		for i := 1; i < end; i++ {
			buf[i] = ^buf[i]
		}
	}
	return append(dst, buf[:end]...)
}

// putPairs writes c in base 100, filling p from its end.
func putPairs(p []byte, c coef) {
	at := len(p)
	for !c.isSmall() {
		var rem uint64
		c, rem = c.divWord(chunk)
		for range chunkDigits / 2 {
			at--
			p[at] = byte(rem % 100)
			rem /= 100
		}
	}
	for w := c.lo; at > 0; w /= 100 {
		at--
		p[at] = byte(w % 100)
	}
}

// ReadNumeric reads the encoding that b begins with and says how long it is; 0 for bytes that Append
// never made.
func ReadNumeric(b []byte) (n Numeric, size int) {
	if len(b) == 0 {
		return Numeric{}, 0
	}
	var flip byte
	e := int(b[0]) - headZero
	switch {
	case e == 0:
		return Numeric{}, 1
	case b[0] == headNaN:
		return NumericNaN, 1
	case b[0] == headInf:
		return NumericInf, 1
	case b[0] == headNegInf:
		return NumericNegInf, 1
	case e < 0:
		e, flip, n.neg = -e, 0xff, true
	}
	e -= expBias
	if e > NumericDigits || e < 1-NumericDigits {
		return Numeric{}, 0
	}
	c, size, last := readPairs(b, flip)
	if size == 0 {
		return Numeric{}, 0
	}
	return n.fromPairs(c, size, last, e)
}

// readPairs gathers the pairs after the header.
func readPairs(b []byte, flip byte) (c coef, size int, last byte) {
	var word uint64
	limit := min(len(b), NumericMaxLen)
	for i := 1; i < limit; i++ {
		p := b[i] ^ flip
		pair := p >> 1
		if pair > 99 || i == 1 && pair < 10 || p&1 == 0 && pair == 0 {
			return coef{}, 0, 0
		}
		word = word*100 + uint64(pair)
		if i == chunkDigits/2 || i == chunkDigits {
			c, word = appendChunk(c, word, chunk), 0
		}
		if p&1 == 0 {
			if i < chunkDigits/2 {
				return coef{lo: word}, i + 1, pair
			}
			if i != chunkDigits/2 && i != chunkDigits {
				c = appendChunk(c, word, pow10[2*(i%(chunkDigits/2))].lo)
			}
			return c, i + 1, pair
		}
	}
	return coef{}, 0, 0
}

func appendChunk(c coef, word, scale uint64) coef {
	c, _ = c.mulWord(scale)
	return c.add(coef{lo: word})
}

// fromPairs completes n from a coefficient of size-1 pairs whose last is given.
func (n Numeric) fromPairs(c coef, size int, last byte, e int) (Numeric, int) {
	scale := 2*(size-1) - e
	switch {
	case scale < 0:
		c, _ = c.mul(pow10[-scale])
		scale = 0
	case scale > 0 && last%10 == 0:
		c, _ = c.divWord(10)
		scale--
	}
	if scale > NumericDigits || c.cmp(pow10[NumericDigits]) >= 0 {
		return Numeric{}, 0
	}
	n.coef, n.scale = c, uint8(scale)
	return n, size
}

// NumericOf reads a whole encoding from our own vectors.
func NumericOf(b []byte) Numeric {
	n, size := ReadNumeric(b)
	if size == 0 || size != len(b) {
		invariants.Failf("numeric: bytes %x are no encoding", b)
	}
	return n
}

// sumScale is the number of fractional digits of a NumericSum.
const sumScale = NumericDigits

// NumericSumWords is the number of words of the state of an exact sum of numerics: a fixed-point number
// of six words with 39 fractional digits in two's complement (room for 2^120 values of any size), and how
// many NaNs, infinities and negative infinities there are. The state of no values is all zeros; a state
// depends on the multiset of values alone.
const NumericSumWords = 9

const sumInts = 6

// NumericSumAdd adds n, times times, to a state of NumericSumWords words.
func NumericSumAdd(state []uint64, n Numeric, times int64) {
	_ = state[NumericSumWords-1]
	if n.form != finite {
		at := sumInts
		switch {
		case n.form == infinite && n.neg:
			at = sumInts + 2
		case n.form == infinite:
			at = sumInts + 1
		}
		state[at] += uint64(times)
		return
	}
	neg, abs := n.neg, uint64(times)
	if times < 0 {
		neg, abs = !neg, -abs
	}
	var w [sumInts]uint64
	if by := pow10[sumScale-n.scale]; n.coef.isSmall() {
		var c coef
		c, w[3] = by.mulWord(n.coef.lo)
		w[0], w[1], w[2] = c.lo, c.mid, c.hi
	} else {
		mulWide(&w, n.coef, by)
	}
	if abs != 1 {
		var carry uint64
		for i, x := range w {
			h, l := bits.Mul64(x, abs)
			w[i], carry = addCarry(l, carry, h)
		}
	}
	var carry uint64
	if neg {
		for i, x := range w {
			state[i], carry = bits.Sub64(state[i], x, carry)
		}
		return
	}
	for i, x := range w {
		state[i], carry = bits.Add64(state[i], x, carry)
	}
}

// NumericSumMerge adds one state to another.
func NumericSumMerge(state, other []uint64) {
	var carry uint64
	for i := range sumInts {
		state[i], carry = bits.Add64(state[i], other[i], carry)
	}
	for i := sumInts; i < NumericSumWords; i++ {
		state[i] += other[i]
	}
}

// NumericSum gives the sum that a state stands for, rounded as every numeric is.
func NumericSum(state []uint64) (Numeric, error) {
	switch nans, inf, negInf := int64(state[sumInts]), int64(state[sumInts+1]), int64(state[sumInts+2]); {
	case nans > 0 || inf > 0 && negInf > 0:
		return NumericNaN, nil
	case inf > 0:
		return NumericInf, nil
	case negInf > 0:
		return NumericNegInf, nil
	}
	var w [sumInts]uint64
	copy(w[:], state)
	neg := int64(w[sumInts-1]) < 0
	if neg {
		var borrow uint64
		for i, x := range w {
			w[i], borrow = bits.Sub64(0, x, borrow)
		}
	}
	// Cut digits from the right until three words hold the rest, remembering whether anything was lost: a
	// last digit of 1 stands for it, so that the one rounding in makeNumeric goes the right way.
	scale, lost := sumScale, false
	for w[3]|w[4]|w[5] != 0 || w[2]>>56 != 0 {
		var rem uint64
		for i := sumInts - 1; i >= 0; i-- {
			w[i], rem = bits.Div64(rem, w[i], 100)
		}
		scale, lost = scale-2, lost || rem != 0
	}
	c := coef{w[0], w[1], w[2]}
	if lost {
		c, _ = c.mulWord(10)
		c, scale = c.add(coef{lo: 1}), scale+1
	}
	return makeNumeric(neg, c, scale)
}
