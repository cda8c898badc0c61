package fn

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/vec"
)

// fixed describes a fixed-point number wide enough for any sum of floats of a size: words in two's complement, of
// which the lowest bit stands for 2^-below. It is the idea of Kulisch's long accumulator ("Computer Arithmetic and
// Validity", 2008); Neal's two ("Fast exact summation using small and large superaccumulators", 2015) trade
// twice the memory for fewer carries, and memory is what there is one of for each group. A number has one
// representation, so that a state depends on its sum alone.
type fixed struct {
	words int
	below int
}

var (
	// Floats reach from 2^-1074 to 2^1024, float4 from 2^-149 to 2^128; squares twice as far. 64 bits more count
	// the rows, and one is the sign.
	float8Sum     = fixed{34, 1074}
	float4Sum     = fixed{6, 149}
	float8Squares = fixed{67, 2148}
	float4Squares = fixed{10, 298}
)

// A state of floats is how many values there are, of them NaNs, infinities and negative infinities, then sums.
const (
	floatCount = iota
	floatNaNs
	floatInfs
	floatNegInfs
	floatSums
)

// add adds ±hi:lo·2^exp·n to the number in w; hi:lo is a magnitude of at most 106 bits.
func (f fixed) add(w []uint64, hi, lo uint64, exp int, neg bool, n int64) {
	if n < 0 {
		neg = !neg
	}
	abs := magnitude(n)
	// The product, of at most 170 bits, in three words.
	p := [4]uint64{lo, hi}
	if abs != 1 {
		h0, l0 := bits.Mul64(lo, abs)
		h1, l1 := bits.Mul64(hi, abs)
		var c uint64
		p[0] = l0
		p[1], c = bits.Add64(l1, h0, 0)
		p[2] = h1 + c
	}
	bit := exp + f.below
	at, shift := bit>>6, uint(bit&63)
	if shift != 0 {
		p[3] = p[2] >> (64 - shift)
		p[2] = p[2]<<shift | p[1]>>(64-shift)
		p[1] = p[1]<<shift | p[0]>>(64-shift)
		p[0] <<= shift
	}
	// What lies above the highest word is zero.
	w = w[at:f.words]
	var carry uint64
	if neg {
		for i := range w {
			x := uint64(0)
			if i < 4 {
				x = p[i]
			} else if carry == 0 {
				return
			}
			w[i], carry = bits.Sub64(w[i], x, carry)
		}
		return
	}
	for i := range w {
		x := uint64(0)
		if i < 4 {
			x = p[i]
		} else if carry == 0 {
			return
		}
		w[i], carry = bits.Add64(w[i], x, carry)
	}
}

// split gives a float that is finite and not zero as mantissa and exponent.
func (f fixed) split(x float64) (mant uint64, exp int, neg bool) {
	b := math.Float64bits(x)
	exp = int(b >> 52 & 0x7ff)
	mant = b & (1<<52 - 1)
	if exp == 0 {
		exp = 1
	} else {
		mant |= 1 << 52
	}
	exp -= 1075
	if exp < -f.below {
		// A float4, of which what would lie below its fixed-point numbers is zeros.
		zeros := bits.TrailingZeros64(mant)
		mant, exp = mant>>zeros, exp+zeros
	}
	return mant, exp, b>>63 != 0
}

// addOnce adds x, which is finite and not zero, to the number in w. It reaches two words, seldom more.
func (f fixed) addOnce(w []uint64, x float64) {
	mant, exp, neg := f.split(x)
	bit := uint(exp + f.below)
	shift := bit & 63
	w = w[bit>>6 : f.words]
	lo, hi := mant<<shift, mant>>1>>(63-shift)
	var carry uint64
	if neg {
		w[0], carry = bits.Sub64(w[0], lo, 0)
		w[1], carry = bits.Sub64(w[1], hi, carry)
		for i := 2; carry != 0 && i < len(w); i++ {
			w[i], carry = bits.Sub64(w[i], 0, carry)
		}
		return
	}
	w[0], carry = bits.Add64(w[0], lo, 0)
	w[1], carry = bits.Add64(w[1], hi, carry)
	for i := 2; carry != 0 && i < len(w); i++ {
		w[i], carry = bits.Add64(w[i], 0, carry)
	}
}

// countFloat counts a value and says whether it is a number that is to be added.
func countFloat(s []uint64, x float64, n int64) bool {
	s[floatCount] += uint64(n)
	switch {
	case x != x:
		s[floatNaNs] += uint64(n)
	case x > math.MaxFloat64:
		s[floatInfs] += uint64(n)
	case x < -math.MaxFloat64:
		s[floatNegInfs] += uint64(n)
	default:
		return x != 0
	}
	return false
}

// sumFloats keeps an exact sum.
func sumFloats(f fixed, result func(f fixed, state []uint64) (float64, error)) scalar.Accum {
	words := floatSums + f.words
	return scalar.Accum{
		Words: words,
		Update: func(slab []uint64, stride, at int, groups []int32, args []*vec.Vec, diffs []int64) {
			v := args[0]
			for i, g := range groups {
				if g < 0 || v.IsNull(i) {
					continue
				}
				s := slab[int(g)*stride+at:][:words]
				n := times(diffs, i)
				switch {
				case !countFloat(s, v.Floats[i], n) || n == 0:
				case n == 1:
					f.addOnce(s[floatSums:], v.Floats[i])
				default:
					mant, exp, neg := f.split(v.Floats[i])
					f.add(s[floatSums:], 0, mant, exp, neg, n)
				}
			}
		},
		Result: unlessNone(func(state []uint64, _ int64) (vec.Datum, error) {
			if x, ok := specialSum(state); ok {
				return vec.FloatOf(x), nil
			}
			x, err := result(f, state)
			return vec.FloatOf(x), err
		}),
	}
}

// specialSum is a sum that no finite values can change.
func specialSum(s []uint64) (float64, bool) {
	switch inf, negInf := s[floatInfs] != 0, s[floatNegInfs] != 0; {
	case s[floatNaNs] != 0 || inf && negInf:
		return math.NaN(), true
	case inf:
		return math.Inf(1), true
	case negInf:
		return math.Inf(-1), true
	}
	return 0, false
}

// value is the number in w, exactly.
func (f fixed) value(w []uint64) *big.Float {
	x := wideInt(w[:f.words])
	v := new(big.Float).SetInt(x)
	return v.SetMantExp(v, -f.below)
}

// float is the float (or float4) nearest to the number in w, of two the even one. Nothing of a number lies below
// the smallest float, so that small results are exact.
func (f fixed) float(w []uint64, narrow bool) (float64, error) {
	keep, limit := 53, math.MaxFloat64
	if narrow {
		keep, limit = 24, math.MaxFloat32
	}
	var abs [67]uint64
	neg := int64(w[f.words-1]) < 0
	var borrow uint64
	top := -1
	for i, x := range w[:f.words] {
		if neg {
			x, borrow = bits.Sub64(0, x, borrow)
		}
		if abs[i] = x; x != 0 {
			top = i
		}
	}
	if top < 0 {
		return 0, nil
	}
	zeros := bits.LeadingZeros64(abs[top])
	mant, rest := abs[top]<<zeros, uint64(0)
	if top > 0 {
		mant |= abs[top-1] >> (64 - zeros)
		rest = abs[top-1] << zeros
		for _, x := range abs[:top-1] {
			rest |= x
		}
	}
	cut := 64 - keep
	kept, lost := mant>>cut, mant&(1<<cut-1)
	if half := uint64(1) << (cut - 1); lost > half || lost == half && (rest != 0 || kept&1 != 0) {
		kept++
	}
	x := math.Ldexp(float64(kept), 64*top-zeros-f.below+cut)
	if x > limit {
		return 0, errFloatOverflow
	}
	if neg {
		x = -x
	}
	return x, nil
}

func checkSum(x float64) error {
	if math.IsInf(x, 0) {
		return errFloatOverflow
	}
	return nil
}

func sumOfFloats(narrow bool) func(f fixed, state []uint64) (float64, error) {
	return func(f fixed, state []uint64) (float64, error) { return f.float(state[floatSums:], narrow) }
}

// quotientBits: a quotient by a number of 63 bits that is not half-way between two floats differs from that within
// 53 + 63 bits, so that rounding to these first and to a float then is like rounding once.
const quotientBits = 128

// averageOfFloats rounds the exact quotient.
func averageOfFloats(f fixed, state []uint64) (float64, error) {
	n := new(big.Float).SetInt64(int64(state[floatCount]))
	mean := new(big.Float).SetPrec(quotientBits).Quo(f.value(state[floatSums:]), n)
	x, _ := mean.Float64()
	return x, checkSum(x)
}

// squareFloats keeps exact sums of values and of squares.
func squareFloats(f, squares fixed, kind spread) scalar.Accum {
	words := floatSums + f.words + squares.words
	return scalar.Accum{
		Words: words,
		Update: func(slab []uint64, stride, at int, groups []int32, args []*vec.Vec, diffs []int64) {
			v := args[0]
			for i, g := range groups {
				if g < 0 || v.IsNull(i) {
					continue
				}
				s := slab[int(g)*stride+at:][:words]
				n := times(diffs, i)
				if countFloat(s, v.Floats[i], n) && n != 0 {
					mant, exp, neg := f.split(v.Floats[i])
					f.add(s[floatSums:], 0, mant, exp, neg, n)
					hi, lo := bits.Mul64(mant, mant)
					squares.add(s[floatSums+f.words:], hi, lo, 2*exp, false, n)
				}
			}
		},
		Result: func(state []uint64, _ int64) (vec.Datum, error) {
			n := int64(state[floatCount])
			if n < kind.least() {
				return vec.Null, nil
			}
			if _, ok := specialSum(state); ok {
				return vec.FloatOf(math.NaN()), nil
			}
			sum := wideInt(state[floatSums:][:f.words])
			square := wideInt(state[floatSums+f.words:][:squares.words])
			q := kind.quotient(sum, square, n)
			return kind.float(q, squares.below)
		},
	}
}
