package fn

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/cockroachdb/apd/v3"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/vec"
)

var errIntervalRange = pgerr.New(pgerr.DatetimeFieldOverflow, "interval out of range")

// spread says which of variance and standard deviation, of a sample or of all, is wanted.
type spread struct{ sample, root bool }

// least is the number of values below which there is no answer.
func (k spread) least() int64 {
	if k.sample {
		return 2
	}
	return 1
}

// quotient is the variance, exactly: (n·Σx² − (Σx)²) over n² or n(n−1).
func (k spread) quotient(sum, squares *big.Int, n int64) *big.Rat {
	count := big.NewInt(n)
	num := new(big.Int).Mul(count, squares)
	num.Sub(num, new(big.Int).Mul(sum, sum))
	other := count
	if k.sample {
		other = big.NewInt(n - 1)
	}
	return new(big.Rat).SetFrac(num, new(big.Int).Mul(count, other))
}

// spreadBits is how many bits a variance is worked with before its last rounding to 53.
const spreadBits = 160

// float is the answer as a float, for a variance in units of 2^-below.
func (k spread) float(q *big.Rat, below int) (vec.Datum, error) {
	v := new(big.Float).SetPrec(spreadBits).SetRat(q)
	v.SetMantExp(v, -below)
	if k.root && v.Sign() > 0 {
		v.Sqrt(v)
	}
	x, _ := v.Float64()
	return vec.FloatOf(x), checkSum(x)
}

// numeric is the answer as a numeric, for a variance in units of 10^-scale.
func (k spread) numeric(q *big.Rat, scale int32) (vec.Datum, error) {
	var num, den apd.BigInt
	num.SetMathBigInt(q.Num())
	den.SetMathBigInt(q.Denom())
	c := decimalContext()
	c.Precision = 2 * workDigits
	var d apd.Decimal
	_, err := c.Quo(&d, apd.NewWithBigInt(&num, -scale), apd.NewWithBigInt(&den, 0))
	if err == nil && k.root {
		_, err = c.Sqrt(&d, &d)
	}
	if err != nil {
		return vec.Null, pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	n, err := adt.NumericFromDecimal(&d)
	if err != nil {
		return vec.Null, err
	}
	return numericDatum(n), nil
}

// squareInts keeps the number of values, their sum in two words and that of their squares in three.
func squareInts(kind spread) scalar.Accum {
	return scalar.Accum{
		Words: 6,
		Update: func(slab []uint64, stride, at int, groups []int32, args []*vec.Vec, diffs []int64) {
			v := args[0]
			for i, g := range groups {
				if g < 0 || v.IsNull(i) {
					continue
				}
				s := slab[int(g)*stride+at:][:6]
				n := times(diffs, i)
				s[0] += uint64(n)
				add128(s[1:3], v.Ints[i], n)
				m := magnitude(v.Ints[i])
				hi, lo := bits.Mul64(m, m)
				addWords(s[3:6], []uint64{lo, hi, 0}, n)
			}
		},
		Result: func(state []uint64, _ int64) (vec.Datum, error) {
			if n := int64(state[0]); n >= kind.least() {
				return kind.numeric(kind.quotient(wideInt(state[1:3]), wideInt(state[3:6]), n), 0)
			}
			return vec.Null, nil
		},
	}
}

// addWords adds x·n to a number of as many words.
func addWords(s, x []uint64, n int64) {
	abs := magnitude(n)
	var over, carry uint64
	for i := range s {
		hi, lo := bits.Mul64(x[i], abs)
		var c uint64
		lo, c = bits.Add64(lo, over, 0)
		over = hi + c
		if n < 0 {
			s[i], carry = bits.Sub64(s[i], lo, carry)
		} else {
			s[i], carry = bits.Add64(s[i], lo, carry)
		}
	}
}

// A numeric's fixed-point form has six words and 39 digits after the point; of a value, five words are enough, and
// of its square ten, with twice the digits.
const (
	numericWords  = 6
	valueWords    = 5
	squareWords   = 2*valueWords + 1
	numericScale  = adt.NumericDigits
	squareState   = 1 + adt.NumericSumWords
	numericStates = squareState + squareWords
)

// squareNumerics keeps the number of values, their exact sum and that of their squares.
func squareNumerics(kind spread) scalar.Accum {
	return scalar.Accum{
		Words: numericStates,
		Update: func(slab []uint64, stride, at int, groups []int32, args []*vec.Vec, diffs []int64) {
			v := args[0]
			for i, g := range groups {
				if g < 0 || v.IsNull(i) {
					continue
				}
				s := slab[int(g)*stride+at:][:numericStates]
				x, n := adt.NumericOf(v.Bytes(i)), times(diffs, i)
				s[0] += uint64(n)
				adt.NumericSumAdd(s[1:squareState], x, n)
				if x.IsFinite() {
					square := squareOf(x)
					addWords(s[squareState:], square[:], n)
				}
			}
		},
		Result: func(state []uint64, _ int64) (vec.Datum, error) {
			n := int64(state[0])
			if n < kind.least() {
				return vec.Null, nil
			}
			for _, specials := range state[1+numericWords : squareState] {
				if specials != 0 {
					return numericDatum(adt.NumericNaN), nil
				}
			}
			return kind.numeric(kind.quotient(wideInt(state[1:1+numericWords]), wideInt(state[squareState:]), n), 2*numericScale)
		},
	}
}

// squareOf is the square of |x|·10^39.
func squareOf(x adt.Numeric) (square [squareWords]uint64) {
	var w [adt.NumericSumWords]uint64
	adt.NumericSumAdd(w[:], x.Abs(), 1)
	for i := range valueWords {
		var over uint64
		for j := range valueWords {
			hi, lo := bits.Mul64(w[i], w[j])
			var c uint64
			lo, c = bits.Add64(lo, over, 0)
			hi += c
			square[i+j], c = bits.Add64(square[i+j], lo, 0)
			over = hi + c
		}
		square[i+valueWords] += over
	}
	return square
}

// foldFunc computes an aggregate from all rows.
type foldFunc = func(env scalar.Env, rows *scalar.Rows) (vec.Datum, error)

func foldBits(op bitOp) foldFunc {
	return func(_ scalar.Env, rows *scalar.Rows) (vec.Datum, error) {
		if rows.N == 0 {
			return vec.Null, nil
		}
		r := rows.Args[0].Ints[0]
		for _, x := range rows.Args[0].Ints[1:rows.N] {
			switch op {
			case and:
				r &= x
			case or:
				r |= x
			case xor:
				r ^= x
			}
		}
		return vec.IntOf(r), nil
	}
}

// maxAggBytes bounds what an aggregate makes of a group: a value must fit a vector with others.
const maxAggBytes = math.MaxInt32 / 8

func checkAggSize(n int) error {
	if n > maxAggBytes {
		return pgerr.Newf(pgerr.ProgramLimitExceeded, "result of aggregate exceeds %d bytes", maxAggBytes)
	}
	return nil
}

// stringAgg leaves out rows whose value is NULL; a separator that is NULL is empty.
func stringAgg(_ scalar.Env, rows *scalar.Rows) (vec.Datum, error) {
	if rows.N == 0 {
		return vec.Null, nil
	}
	var out []byte
	for i := range rows.N {
		if i > 0 && !rows.Args[1].IsNull(i) {
			out = append(out, rows.Args[1].Bytes(i)...)
		}
		out = append(out, rows.Args[0].Bytes(i)...)
		if err := checkAggSize(len(out)); err != nil {
			return vec.Null, err
		}
	}
	return vec.BytesOf(out), nil
}
