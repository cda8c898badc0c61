package fn

import (
	"math"
	"math/bits"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

var (
	errDivisionByZero = pgerr.New(pgerr.DivisionByZero, "division by zero")
	errFloatOverflow  = pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: overflow")
	errFloatUnderflow = pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: underflow")
)

// width is a size of integer: how many bits, and what says that a result does not fit.
type width struct {
	bits   uint
	lo, hi int64
	err    *pgerr.Error
}

var (
	width2 = &width{16, math.MinInt16, math.MaxInt16, pgerr.From(adt.ErrIntRange(16))}
	width4 = &width{32, math.MinInt32, math.MaxInt32, pgerr.From(adt.ErrIntRange(32))}
	width8 = &width{64, math.MinInt64, math.MaxInt64, pgerr.From(adt.ErrIntRange(64))}
)

// intPairs are the pairs of integers that can be added and so on, the result, and the numbers of + - * / and %
// (which has one only between equals).
var intPairs = []struct {
	left, right, ret types.T
	w                *width
	oids             [5]uint32
}{
	{tInt2, tInt2, tInt2, width2, [5]uint32{550, 554, 526, 527, 529}},
	{tInt2, tInt4, tInt4, width4, [5]uint32{552, 556, 544, 546}},
	{tInt2, tInt8, tInt8, width8, [5]uint32{822, 823, 824, 825}},
	{tInt4, tInt2, tInt4, width4, [5]uint32{553, 557, 545, 547}},
	{tInt4, tInt4, tInt4, width4, [5]uint32{551, 555, 514, 528, 530}},
	{tInt4, tInt8, tInt8, width8, [5]uint32{692, 693, 694, 695}},
	{tInt8, tInt2, tInt8, width8, [5]uint32{818, 819, 820, 821}},
	{tInt8, tInt4, tInt8, width8, [5]uint32{688, 689, 690, 691}},
	{tInt8, tInt8, tInt8, width8, [5]uint32{684, 685, 686, 687, 439}},
}

// floatPairs are the same for floats, without %.
var floatPairs = []struct {
	left, right, ret types.T
	oids             [4]uint32
}{
	{tFloat4, tFloat4, tFloat4, [4]uint32{586, 587, 589, 588}},
	{tFloat4, tFloat8, tFloat8, [4]uint32{1116, 1117, 1119, 1118}},
	{tFloat8, tFloat4, tFloat8, [4]uint32{1126, 1127, 1129, 1128}},
	{tFloat8, tFloat8, tFloat8, [4]uint32{591, 592, 594, 593}},
}

// arithmetic makes the operators of all pairs.
func arithmetic() []scalar.Func {
	var fs []scalar.Func
	add := func(symbol string, oid uint32, args []types.T, ret types.T, k kernel, doc string) {
		if oid != 0 {
			fs = append(fs, kern(symbol, oid, strict|fails, args, ret, k, doc))
		}
	}
	for _, p := range intPairs {
		w, args := p.w, sig(p.left, p.right)
		add("+", p.oids[0], args, p.ret, func(b *scalar.Batch) { addInts(b, w) }, docAdd)
		add("-", p.oids[1], args, p.ret, func(b *scalar.Batch) { subInts(b, w) }, docSub)
		add("*", p.oids[2], args, p.ret, func(b *scalar.Batch) { mulInts(b, w) }, docMul)
		add("/", p.oids[3], args, p.ret, func(b *scalar.Batch) { divInts(b, w) }, docDivInt)
		add("%", p.oids[4], args, p.ret, modInts, docMod)
	}
	for _, p := range floatPairs {
		args, narrow := sig(p.left, p.right), p.ret.OID == types.OIDFloat4
		add("+", p.oids[0], args, p.ret, func(b *scalar.Batch) { addFloats(b, narrow, 1) }, docAdd)
		add("-", p.oids[1], args, p.ret, func(b *scalar.Batch) { addFloats(b, narrow, -1) }, docSub)
		add("*", p.oids[2], args, p.ret, func(b *scalar.Batch) { mulFloats(b, narrow) }, docMul)
		add("/", p.oids[3], args, p.ret, func(b *scalar.Batch) { divFloats(b, narrow) }, docDiv)
	}
	for i, op := range numericOps {
		add(op.symbol, [...]uint32{1758, 1759, 1760, 1761, 1762}[i], sig(tNumeric, tNumeric), tNumeric,
			numeric2(op.f), op.doc)
	}
	return fs
}

const (
	docAdd    = "the sum"
	docSub    = "the difference"
	docMul    = "the product"
	docDiv    = "the quotient"
	docDivInt = "the quotient, cut towards zero"
	docMod    = "the remainder, with the sign of the left value"
)

var numericOps = []struct {
	symbol string
	f      func(x, y adt.Numeric) (adt.Numeric, error)
	doc    string
}{
	{"+", adt.Numeric.Add, docAdd},
	{"-", adt.Numeric.Sub, docSub},
	{"*", adt.Numeric.Mul, docMul},
	{"/", adt.Numeric.Div, docDiv},
	{"%", adt.Numeric.Mod, docMod},
}

// numeric2 is the kernel of a function of two numerics. A call through f costs a small part of what it does.
func numeric2(f func(x, y adt.Numeric) (adt.Numeric, error)) kernel {
	return func(b *scalar.Batch) {
		x, y := numericsOf(b, 0), numericsOf(b, 1)
		for _, i := range b.Sel {
			r, err := f(x.at(int(i)), y.at(int(i)))
			if err != nil {
				b.Fail(int(i), pgerr.From(err))
				continue
			}
			b.Begin(int(i))
			b.Out.Data = r.Append(b.Out.Data)
			b.End()
		}
	}
}

// numerics reads a numeric argument, a constant one only once.
type numerics struct {
	scalar.Values
	one   adt.Numeric
	isOne bool
}

func numericsOf(b *scalar.Batch, k int) numerics {
	n := numerics{Values: b.Arg(k)}
	if b.Const>>k&1 != 0 {
		n.one, n.isOne = adt.NumericOf(n.At(0)), true
	}
	return n
}

func (n *numerics) at(i int) adt.Numeric {
	if n.isOne {
		return n.one
	}
	return adt.NumericOf(n.At(i))
}

// numeric1 is the kernel of a function of one numeric.
func numeric1(f func(x adt.Numeric) (adt.Numeric, error)) kernel {
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for _, i := range b.Sel {
			r, err := f(adt.NumericOf(x.At(int(i))))
			if err != nil {
				b.Fail(int(i), pgerr.From(err))
				continue
			}
			b.Begin(int(i))
			b.Out.Data = r.Append(b.Out.Data)
			b.End()
		}
	}
}

// The loops over all rows below first compute everything and gather whether anything went wrong in one word:
// without a branch in the loop it is twice as fast. Only if something did, the loop over chosen rows, which
// looks at each, runs over all.

// rowsOf gives the rows to compute one by one.
func rowsOf(b *scalar.Batch) []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	rows := make([]int32, b.N)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

func addInts(b *scalar.Batch, w *width) {
	out := b.Out.Ints[:b.N]
	x, y := b.Args[0].Ints[:len(out)], b.Args[1].Ints[:len(out)]
	if b.Sel == nil {
		var bad int64
		if w.bits == 64 {
			for i := range out {
				s := x[i] + y[i]
				out[i] = s
				bad |= (x[i] ^ s) & (y[i] ^ s)
			}
		} else {
			for i := range out {
				s := x[i] + y[i]
				out[i] = s
				bad |= (s - w.lo) | (w.hi - s)
			}
		}
		if bad >= 0 {
			return
		}
	}
	for _, i := range rowsOf(b) {
		s := x[i] + y[i]
		if (x[i]^s)&(y[i]^s) < 0 || s < w.lo || s > w.hi {
			b.Fail(int(i), w.err)
			s = 0
		}
		out[i] = s
	}
}

func subInts(b *scalar.Batch, w *width) {
	out := b.Out.Ints[:b.N]
	x, y := b.Args[0].Ints[:len(out)], b.Args[1].Ints[:len(out)]
	if b.Sel == nil {
		var bad int64
		if w.bits == 64 {
			for i := range out {
				s := x[i] - y[i]
				out[i] = s
				bad |= (x[i] ^ y[i]) & (x[i] ^ s)
			}
		} else {
			for i := range out {
				s := x[i] - y[i]
				out[i] = s
				bad |= (s - w.lo) | (w.hi - s)
			}
		}
		if bad >= 0 {
			return
		}
	}
	for _, i := range rowsOf(b) {
		s := x[i] - y[i]
		if (x[i]^y[i])&(x[i]^s) < 0 || s < w.lo || s > w.hi {
			b.Fail(int(i), w.err)
			s = 0
		}
		out[i] = s
	}
}

func mulInts(b *scalar.Batch, w *width) {
	out := b.Out.Ints[:b.N]
	x, y := b.Args[0].Ints[:len(out)], b.Args[1].Ints[:len(out)]
	if b.Sel == nil {
		var bad int64
		if w.bits == 64 {
			for i := range out {
				s, over := mulInt(x[i], y[i])
				out[i] = s
				bad |= over
			}
		} else {
			for i := range out {
				s := x[i] * y[i]
				out[i] = s
				bad |= (s-w.lo)>>63 | (w.hi-s)>>63
			}
		}
		if bad == 0 {
			return
		}
	}
	for _, i := range rowsOf(b) {
		s, over := mulInt(x[i], y[i])
		if over != 0 || s < w.lo || s > w.hi {
			b.Fail(int(i), w.err)
			s = 0
		}
		out[i] = s
	}
}

// mulInt multiplies; over is 0 if the product fits 64 bits.
func mulInt(x, y int64) (product, over int64) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// The unsigned product's high word becomes the signed one's.
	signed := int64(hi) - x>>63&y - y>>63&x
	return int64(lo), signed ^ int64(lo)>>63
}

func divInts(b *scalar.Batch, w *width) {
	out := b.Out.Ints[:b.N]
	x, y := b.Args[0].Ints[:len(out)], b.Args[1].Ints[:len(out)]
	for k := range selected(b) {
		i := at(b, k)
		switch {
		case y[i] == 0:
			b.Fail(i, errDivisionByZero)
			out[i] = 0
		case y[i] == -1 && x[i] == w.lo:
			b.Fail(i, w.err)
			out[i] = 0
		default:
			out[i] = x[i] / y[i]
		}
	}
}

func modInts(b *scalar.Batch) {
	out := b.Out.Ints[:b.N]
	x, y := b.Args[0].Ints[:len(out)], b.Args[1].Ints[:len(out)]
	for k := range selected(b) {
		switch i := at(b, k); y[i] {
		case 0:
			b.Fail(i, errDivisionByZero)
			out[i] = 0
		case -1:
			out[i] = 0 // the machine traps on the smallest integer
		default:
			out[i] = x[i] % y[i]
		}
	}
}

// selected is how many rows are to be computed; at is the k-th of them. For loops whose body costs more than
// the choice.
func selected(b *scalar.Batch) int {
	if b.Sel == nil {
		return b.N
	}
	return len(b.Sel)
}

func at(b *scalar.Batch, k int) int {
	if b.Sel == nil {
		return k
	}
	return int(b.Sel[k])
}

// special has bit 11 set if x is infinite or NaN; others do not carry so far.
func special(x float64) uint64 { return math.Float64bits(x)>>52&0x7ff + 1 }

// specials is where special's bit is.
const specials = 1 << 11

// addFloats computes x + sign*y. The sum of values that are not -0 is not -0.
func addFloats(b *scalar.Batch, narrow bool, sign float64) {
	out := b.Out.Floats[:b.N]
	x, y := b.Args[0].Floats[:len(out)], b.Args[1].Floats[:len(out)]
	if b.Sel == nil && !narrow {
		var bad uint64
		for i := range out {
			s := x[i] + sign*y[i]
			out[i] = s
			bad |= special(s)
		}
		if bad&specials == 0 {
			return
		}
	}
	for _, i := range rowsOf(b) {
		s := x[i] + sign*y[i]
		if narrow {
			s = float64(float32(s))
		}
		if special(s)&specials != 0 {
			if math.IsInf(s, 0) && !math.IsInf(x[i], 0) && !math.IsInf(y[i], 0) {
				b.Fail(int(i), errFloatOverflow)
			}
			s = canon(s)
		}
		out[i] = s
	}
}

func mulFloats(b *scalar.Batch, narrow bool) {
	out := b.Out.Floats[:b.N]
	x, y := b.Args[0].Floats[:len(out)], b.Args[1].Floats[:len(out)]
	if b.Sel == nil && !narrow {
		var bad uint64
		for i := range out {
			s := x[i]*y[i] + 0 // -0 becomes 0
			out[i] = s
			bad |= special(s) | uint64(bit(s == 0)&bit(x[i] != 0)&bit(y[i] != 0))<<11
		}
		if bad&specials == 0 {
			return
		}
	}
	for _, i := range rowsOf(b) {
		s := x[i] * y[i]
		if narrow {
			s = float64(float32(s))
		}
		switch {
		case math.IsInf(s, 0) && !math.IsInf(x[i], 0) && !math.IsInf(y[i], 0):
			b.Fail(int(i), errFloatOverflow)
		case s == 0 && x[i] != 0 && y[i] != 0:
			b.Fail(int(i), errFloatUnderflow)
		}
		out[i] = canon(s)
	}
}

func divFloats(b *scalar.Batch, narrow bool) {
	out := b.Out.Floats[:b.N]
	x, y := b.Args[0].Floats[:len(out)], b.Args[1].Floats[:len(out)]
	for k := range selected(b) {
		i := at(b, k)
		if y[i] == 0 && x[i] == x[i] {
			b.Fail(i, errDivisionByZero)
			out[i] = 0
			continue
		}
		s := x[i] / y[i]
		if narrow {
			s = float64(float32(s))
		}
		switch {
		case math.IsInf(s, 0) && !math.IsInf(x[i], 0):
			b.Fail(i, errFloatOverflow)
		case s == 0 && x[i] != 0 && !math.IsInf(y[i], 0):
			b.Fail(i, errFloatUnderflow)
		}
		out[i] = canon(s)
	}
}

// canon gives the one zero and the one NaN.
func canon(x float64) float64 {
	if x == 0 {
		return 0
	}
	if x != x {
		return math.NaN()
	}
	return x
}
