package fn

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"github.com/cockroachdb/apd/v3"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/vec"
)

// States are words in which everything is a sum of what each row contributes, modulo 2^64 a word or 2^128 and so
// on a number: so order does not matter, and a row that is taken back leaves nothing behind. Almost all begin
// with the number of values that are not NULL.

// resultFunc gives the value of a state.
type resultFunc = func(state []uint64, rows int64) (vec.Datum, error)

// times is how often row i counts.
func times(diffs []int64, i int) int64 {
	if diffs == nil {
		return 1
	}
	return diffs[i]
}

var countRows = scalar.Accum{
	Words: 1,
	Update: func(slab []uint64, stride, at int, groups []int32, _ []*vec.Vec, diffs []int64) {
		for i, g := range groups {
			if g >= 0 {
				slab[int(g)*stride+at] += uint64(times(diffs, i))
			}
		}
	},
	Result: func(state []uint64, _ int64) (vec.Datum, error) { return vec.IntOf(int64(state[0])), nil },
}

var countValues = scalar.Accum{
	Words: 1,
	Update: func(slab []uint64, stride, at int, groups []int32, args []*vec.Vec, diffs []int64) {
		v := args[0]
		for i, g := range groups {
			if g >= 0 && !v.IsNull(i) {
				slab[int(g)*stride+at] += uint64(times(diffs, i))
			}
		}
	},
	Result: func(state []uint64, _ int64) (vec.Datum, error) { return vec.IntOf(int64(state[0])), nil },
}

// sumInts keeps the number of values and their sum in 128 bits.
func sumInts(result resultFunc) scalar.Accum {
	return scalar.Accum{Words: 3, Result: unlessNone(result), Update: func(slab []uint64, stride, at int, groups []int32,
		args []*vec.Vec, diffs []int64) {
		v := args[0]
		for i, g := range groups {
			if g < 0 || v.IsNull(i) {
				continue
			}
			s := slab[int(g)*stride+at:][:3]
			x, n := v.Ints[i], times(diffs, i)
			s[0] += uint64(n)
			if n != 1 {
				add128(s[1:3], x, n)
				continue
			}
			var carry uint64
			s[1], carry = bits.Add64(s[1], uint64(x), 0)
			s[2] += uint64(x>>63) + carry
		}
	}}
}

// add128 adds x·n to the low and high words of a sum.
func add128(s []uint64, x, n int64) {
	hi, lo := bits.Mul64(uint64(x), uint64(n))
	var carry uint64
	s[0], carry = bits.Add64(s[0], lo, 0)
	s[1] += uint64(int64(hi)-x>>63&n-n>>63&x) + carry
}

// unlessNone gives NULL where there was no value.
func unlessNone(f resultFunc) resultFunc {
	return func(state []uint64, rows int64) (vec.Datum, error) {
		if state[0] == 0 {
			return vec.Null, nil
		}
		return f(state, rows)
	}
}

func sumOfInts(state []uint64, _ int64) (vec.Datum, error) {
	if int64(state[2]) != int64(state[1])>>63 {
		return vec.Null, width8.err
	}
	return vec.IntOf(int64(state[1])), nil
}

func sumAsNumeric(state []uint64, _ int64) (vec.Datum, error) {
	n, err := numeric128(state[1], state[2])
	if err != nil {
		return vec.Null, err
	}
	return numericDatum(n), nil
}

// numeric128 is a number of two words as numeric.
func numeric128(lo, hi uint64) (adt.Numeric, error) {
	if int64(hi) == int64(lo)>>63 {
		return adt.NumericFromInt(int64(lo)), nil
	}
	return numericOfInt(wideInt([]uint64{lo, hi}), 0)
}

// wideInt is words in two's complement, the lowest first, as an integer.
func wideInt(words []uint64) *big.Int {
	n := len(words)
	neg := int64(words[n-1]) < 0
	bytes := make([]byte, 8*n)
	var borrow uint64
	for i, x := range words {
		if neg {
			x, borrow = bits.Sub64(0, x, borrow)
		}
		binary.BigEndian.PutUint64(bytes[8*(n-1-i):], x)
	}
	x := new(big.Int).SetBytes(bytes)
	if neg {
		x.Neg(x)
	}
	return x
}

// numericOfInt is x / 10^scale.
func numericOfInt(x *big.Int, scale int32) (adt.Numeric, error) {
	var coeff apd.BigInt
	coeff.SetMathBigInt(x)
	return adt.NumericFromDecimal(apd.NewWithBigInt(&coeff, -scale))
}

func averageOfInts(state []uint64, _ int64) (vec.Datum, error) {
	sum, err := numeric128(state[1], state[2])
	if err != nil {
		return vec.Null, err
	}
	return numericOver(sum, state[0])
}

// numericOver is n divided by a count.
func numericOver(n adt.Numeric, count uint64) (vec.Datum, error) {
	mean, err := n.Div(adt.NumericFromInt(int64(count)))
	if err != nil {
		return vec.Null, err
	}
	return numericDatum(mean), nil
}

// sumNumerics keeps the number of values and their exact sum.
func sumNumerics(result resultFunc) scalar.Accum {
	return scalar.Accum{Words: 1 + adt.NumericSumWords, Result: unlessNone(result), Update: func(slab []uint64, stride, at int,
		groups []int32, args []*vec.Vec, diffs []int64) {
		v := args[0]
		for i, g := range groups {
			if g < 0 || v.IsNull(i) {
				continue
			}
			s := slab[int(g)*stride+at:][:1+adt.NumericSumWords]
			n := times(diffs, i)
			s[0] += uint64(n)
			adt.NumericSumAdd(s[1:], adt.NumericOf(v.Bytes(i)), n)
		}
	}}
}

func sumOfNumerics(state []uint64, _ int64) (vec.Datum, error) {
	n, err := adt.NumericSum(state[1:])
	if err != nil {
		return vec.Null, err
	}
	return numericDatum(n), nil
}

func averageOfNumerics(state []uint64, _ int64) (vec.Datum, error) {
	n, err := adt.NumericSum(state[1:])
	if err != nil {
		return vec.Null, err
	}
	return numericOver(n, state[0])
}

// sumIntervals keeps the number of values and, in 128 bits each, the sums of months, days and microseconds.
func sumIntervals(result resultFunc) scalar.Accum {
	return scalar.Accum{Words: 7, Result: unlessNone(result), Update: func(slab []uint64, stride, at int, groups []int32,
		args []*vec.Vec, diffs []int64) {
		v := args[0]
		for i, g := range groups {
			if g < 0 || v.IsNull(i) {
				continue
			}
			s := slab[int(g)*stride+at:][:7]
			iv, n := adt.IntervalOf(v.Bytes(i)), times(diffs, i)
			s[0] += uint64(n)
			add128(s[1:3], int64(iv.Months), n)
			add128(s[3:5], int64(iv.Days), n)
			add128(s[5:7], iv.Micros, n)
		}
	}}
}

// intervalOfSum gives the interval of a state; an error if a part is out of its range.
func intervalOfSum(s []uint64) (adt.Interval, error) {
	for _, part := range [][]uint64{s[1:3], s[3:5], s[5:7]} {
		if int64(part[1]) != int64(part[0])>>63 {
			return adt.Interval{}, errIntervalRange
		}
	}
	months, days := int64(s[1]), int64(s[3])
	if months != int64(int32(months)) || days != int64(int32(days)) {
		return adt.Interval{}, errIntervalRange
	}
	return adt.Interval{Months: int32(months), Days: int32(days), Micros: int64(s[5])}, nil
}

func sumOfIntervals(state []uint64, _ int64) (vec.Datum, error) {
	return intervalDatum(intervalOfSum(state))
}

func averageOfIntervals(state []uint64, _ int64) (vec.Datum, error) {
	iv, err := intervalOfSum(state)
	if err != nil {
		return vec.Null, err
	}
	return intervalDatum(iv.Div(float64(int64(state[0]))))
}

// truths keeps how often a condition was true and how often false.
func truths(result func(yes, no uint64) bool) scalar.Accum {
	return scalar.Accum{
		Words: 2,
		Update: func(slab []uint64, stride, at int, groups []int32, args []*vec.Vec, diffs []int64) {
			v := args[0]
			for i, g := range groups {
				if g >= 0 && !v.IsNull(i) {
					slab[int(g)*stride+at+int(v.Bools[i])] += uint64(times(diffs, i))
				}
			}
		},
		Result: func(state []uint64, _ int64) (vec.Datum, error) {
			if state[0] == 0 && state[1] == 0 {
				return vec.Null, nil
			}
			return vec.BoolOf(result(state[1], state[0])), nil
		},
	}
}

func allTrue(_, no uint64) bool  { return no == 0 }
func anyTrue(yes, _ uint64) bool { return yes != 0 }
