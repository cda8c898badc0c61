package fn

import (
	"bytes"
	"math"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// relation is a comparison: a bit for each outcome (less, equal, greater) for which it is true.
type relation uint8

const (
	less relation = 1 << iota
	equal
	greater
)

// relations are the comparison operators, in the order of the numbers below.
var relations = [6]struct {
	symbol string
	rel    relation
	doc    string
}{
	{"=", equal, "whether two values are equal"},
	{"<>", less | greater, "whether two values differ"},
	{"<", less, "whether the left value is before the right one"},
	{"<=", less | equal, "whether the left value is not after the right one"},
	{">", greater, "whether the left value is after the right one"},
	{">=", greater | equal, "whether the left value is not before the right one"},
}

// comparable is two types that can be compared, and the numbers of =, <>, <, <=, > and >=; 0 where there is none.
type comparable struct {
	left, right types.T
	oids        [6]uint32
}

var comparables = []comparable{
	{tBool, tBool, [6]uint32{91, 85, 58, 1694, 59, 1695}},
	{tInt2, tInt2, [6]uint32{94, 519, 95, 522, 520, 524}},
	{tInt2, tInt4, [6]uint32{532, 538, 534, 540, 536, 542}},
	{tInt2, tInt8, [6]uint32{1862, 1863, 1864, 1866, 1865, 1867}},
	{tInt4, tInt2, [6]uint32{533, 539, 535, 541, 537, 543}},
	{tInt4, tInt4, [6]uint32{96, 518, 97, 523, 521, 525}},
	{tInt4, tInt8, [6]uint32{15, 36, 37, 80, 76, 82}},
	{tInt8, tInt2, [6]uint32{1868, 1869, 1870, 1872, 1871, 1873}},
	{tInt8, tInt4, [6]uint32{416, 417, 418, 420, 419, 430}},
	{tInt8, tInt8, [6]uint32{410, 411, 412, 414, 413, 415}},
	{tOid, tOid, [6]uint32{607, 608, 609, 611, 610, 612}},
	{tXid, tXid, [6]uint32{352, 3315}},
	{tXid, tInt4, [6]uint32{353, 3316}},
	{tChar, tChar, [6]uint32{92, 630, 631, 632, 633, 634}},
	{tFloat4, tFloat4, [6]uint32{620, 621, 622, 624, 623, 625}},
	{tFloat4, tFloat8, [6]uint32{1120, 1121, 1122, 1124, 1123, 1125}},
	{tFloat8, tFloat4, [6]uint32{1130, 1131, 1132, 1134, 1133, 1135}},
	{tFloat8, tFloat8, [6]uint32{670, 671, 672, 673, 674, 675}},
	{tNumeric, tNumeric, [6]uint32{1752, 1753, 1754, 1755, 1756, 1757}},
	{tText, tText, [6]uint32{98, 531, 664, 665, 666, 667}},
	{tName, tName, [6]uint32{93, 643, 660, 661, 662, 663}},
	{tName, tText, [6]uint32{254, 259, 255, 256, 258, 257}},
	{tText, tName, [6]uint32{260, 265, 261, 262, 264, 263}},
	{tBpchar, tBpchar, [6]uint32{1054, 1057, 1058, 1059, 1060, 1061}},
	{tBytea, tBytea, [6]uint32{1955, 1956, 1957, 1958, 1959, 1960}},
	{tDate, tDate, [6]uint32{1093, 1094, 1095, 1096, 1097, 1098}},
	{tDate, tTimestamp, [6]uint32{2347, 2350, 2345, 2346, 2349, 2348}},
	{tDate, tTimestampTZ, [6]uint32{2360, 2363, 2358, 2359, 2362, 2361}},
	{tTimestamp, tDate, [6]uint32{2373, 2376, 2371, 2372, 2375, 2374}},
	{tTimestampTZ, tDate, [6]uint32{2386, 2389, 2384, 2385, 2388, 2387}},
	{tTime, tTime, [6]uint32{1108, 1109, 1110, 1111, 1112, 1113}},
	{tTimestamp, tTimestamp, [6]uint32{2060, 2061, 2062, 2063, 2064, 2065}},
	{tTimestamp, tTimestampTZ, [6]uint32{2536, 2539, 2534, 2535, 2538, 2537}},
	{tTimestampTZ, tTimestamp, [6]uint32{2542, 2545, 2540, 2541, 2544, 2543}},
	{tTimestampTZ, tTimestampTZ, [6]uint32{1320, 1321, 1322, 1323, 1324, 1325}},
	{tInterval, tInterval, [6]uint32{1330, 1331, 1332, 1333, 1334, 1335}},
	{tUUID, tUUID, [6]uint32{2972, 2973, 2974, 2976, 2975, 2977}},
	{tJsonb, tJsonb, [6]uint32{3240, 3241, 3242, 3244, 3243, 3245}},
	{tOidVector, tOidVector, [6]uint32{649, 644, 645, 647, 646, 648}},
	{tAnyArray, tAnyArray, [6]uint32{1070, 1071, 1072, 1074, 1073, 1075}},
	{tRecord, tRecord, [6]uint32{2988, 2989, 2990, 2992, 2991, 2993}},
	{tMzTimestamp, tMzTimestamp, [6]uint32{17000, 17001, 17002, 17003, 17004, 17005}},
}

// comparisons makes the operators of all comparable types. Values are canonical and ordered as their bytes or
// machine words are, so there is one implementation for each kind.
func comparisons() []scalar.Func {
	var fs []scalar.Func
	for _, c := range comparables {
		for i, r := range relations {
			if c.oids[i] != 0 {
				k := compareKernel(c.left, c.right, r.rel)
				fs = append(fs, kern(r.symbol, c.oids[i], strict, sig(c.left, c.right), tBool, k, r.doc))
			}
		}
	}
	return fs
}

func compareKernel(left, right types.T, rel relation) kernel {
	switch {
	case left.OID == types.OIDDate && right.OID != types.OIDDate:
		return func(b *scalar.Batch) { compareDates(b, b.Args[0].Ints, b.Args[1].Ints, rel) }
	case right.OID == types.OIDDate && left.OID != types.OIDDate:
		return func(b *scalar.Batch) { compareDates(b, b.Args[1].Ints, b.Args[0].Ints, rel.swapped()) }
	}
	if left.OID == types.OIDXid {
		return func(b *scalar.Batch) { equalXids(b, bit(rel != equal)) }
	}
	switch left.Kind() {
	case types.Bool:
		return func(b *scalar.Batch) { compareBools(b, rel) }
	case types.Int:
		return compareIntsBy(rel)
	case types.Float:
		return func(b *scalar.Batch) { compareFloats(b, rel) }
	}
	if rel == equal || rel == less|greater {
		return func(b *scalar.Batch) { equalBytes(b, rel) }
	}
	return func(b *scalar.Batch) { compareBytes(b, rel) }
}

// swapped is the relation of the right value to the left one.
func (r relation) swapped() relation { return r&equal | r>>2 | r<<2&greater }

func compareBools(b *scalar.Batch, rel relation) {
	x, y := b.Args[0].Bools[:b.N], b.Args[1].Bools[:b.N]
	for i := range b.Out.Bools {
		b.Out.Bools[i] = byte(rel>>(1+x[i]-y[i])) & 1
	}
}

// compareIntsBy gives the loop for a relation, each written out since these are what queries do most.
func compareIntsBy(rel relation) kernel {
	switch rel {
	case equal:
		return func(b *scalar.Batch) { equalInts(b, 0) }
	case less | greater:
		return func(b *scalar.Batch) { equalInts(b, 1) }
	case less:
		return func(b *scalar.Batch) { lessInts(b, b.Args[0].Ints, b.Args[1].Ints, 0) }
	case greater:
		return func(b *scalar.Batch) { lessInts(b, b.Args[1].Ints, b.Args[0].Ints, 0) }
	case less | equal:
		return func(b *scalar.Batch) { lessInts(b, b.Args[1].Ints, b.Args[0].Ints, 1) }
	}
	return func(b *scalar.Batch) { lessInts(b, b.Args[0].Ints, b.Args[1].Ints, 1) }
}

// equalInts computes x = y, or its contrary if not is 1.
func equalInts(b *scalar.Batch, not byte) {
	out := b.Out.Bools[:b.N]
	x, y := b.Args[0].Ints[:len(out)], b.Args[1].Ints[:len(out)]
	if b.Sel != nil {
		for _, i := range b.Sel {
			out[i] = bit(x[i] == y[i]) ^ not
		}
		return
	}
	for i := range out {
		out[i] = bit(x[i] == y[i]) ^ not
	}
}

// equalXids compares 32 bits, whatever their sign.
func equalXids(b *scalar.Batch, not byte) {
	for i := range b.N {
		b.Out.Bools[i] = bit(uint32(b.Args[0].Ints[i]) == uint32(b.Args[1].Ints[i])) ^ not
	}
}

// lessInts computes x < y, or its contrary if not is 1.
func lessInts(b *scalar.Batch, x, y []int64, not byte) {
	out := b.Out.Bools[:b.N]
	x, y = x[:len(out)], y[:len(out)]
	if b.Sel != nil {
		for _, i := range b.Sel {
			out[i] = bit(x[i] < y[i]) ^ not
		}
		return
	}
	for i := range out {
		out[i] = bit(x[i] < y[i]) ^ not
	}
}

// bit is 1 for true; the compiler makes one instruction of it.
func bit(b bool) byte {
	var x byte
	if b {
		x = 1
	}
	return x
}

// compareFloats orders NaN, which is equal to itself, after all other numbers.
func compareFloats(b *scalar.Batch, rel relation) {
	out := b.Out.Bools[:b.N]
	x, y := b.Args[0].Floats[:len(out)], b.Args[1].Floats[:len(out)]
	if b.Sel != nil {
		for _, i := range b.Sel {
			out[i] = floatOutcome(x[i], y[i], rel)
		}
		return
	}
	for i := range out {
		out[i] = floatOutcome(x[i], y[i], rel)
	}
}

func floatOutcome(x, y float64, rel relation) byte {
	after := bit(x > y) | bit(x != x) // x is NaN: after y, if that is not NaN too
	before := bit(x < y) | bit(y != y)
	return byte(rel>>(1+after-before)) & 1
}

func equalBytes(b *scalar.Batch, rel relation) {
	x, y, out := b.Arg(0), b.Arg(1), b.Out.Bools
	not := bit(rel != equal)
	if b.Sel != nil {
		for _, i := range b.Sel {
			out[i] = bit(bytes.Equal(x.At(int(i)), y.At(int(i)))) ^ not
		}
		return
	}
	for i := range b.N {
		out[i] = bit(bytes.Equal(x.At(i), y.At(i))) ^ not
	}
}

func compareBytes(b *scalar.Batch, rel relation) {
	x, y, out := b.Arg(0), b.Arg(1), b.Out.Bools
	if b.Sel != nil {
		for _, i := range b.Sel {
			out[i] = byte(rel>>(1+bytes.Compare(x.At(int(i)), y.At(int(i))))) & 1
		}
		return
	}
	for i := range b.N {
		out[i] = byte(rel>>(1+bytes.Compare(x.At(i), y.At(i)))) & 1
	}
}

const microsPerDay int64 = 86400 * 1e6

// compareDates compares dates with times of day; a date is its first moment.
func compareDates(b *scalar.Batch, dates, times []int64, rel relation) {
	for i := range b.N {
		x, y := dateStart(dates[i]), times[i]
		b.Out.Bools[i] = byte(rel>>(1+bit(x > y)-bit(x < y))) & 1
	}
}

// dateStart is the first moment of a day. Days beyond the range of timestamps are before or after all of them,
// but not infinite.
func dateStart(day int64) int64 {
	switch {
	case day == math.MaxInt32:
		return math.MaxInt64
	case day == math.MinInt32:
		return math.MinInt64
	case day > math.MaxInt64/microsPerDay:
		return math.MaxInt64 - 1
	case day < math.MinInt64/microsPerDay:
		return math.MinInt64 + 1
	}
	return day * microsPerDay
}

// Distinct gives the Func for IS DISTINCT FROM between arguments that the given "=" compares: NULL is a value
// like others there.
func Distinct(eq *scalar.Func) *scalar.Func {
	f := kern("IS DISTINCT FROM", eq.OID, 0, eq.Args, tBool, func(b *scalar.Batch) { distinct(b, eq) },
		"whether two values differ, NULL being a value like others")
	return &f
}

func distinct(b *scalar.Batch, eq *scalar.Func) {
	eq.Kernel(b)
	x, y, out := b.Args[0], b.Args[1], b.Out.Bools
	xs, ys := stride(b, 0), stride(b, 1)
	for i := range b.N {
		out[i] ^= 1
		if xn, yn := x.IsNull(i*xs), y.IsNull(i*ys); xn || yn {
			out[i] = bit(xn != yn)
		}
	}
}

// stride is 0 for a constant byte string, of which there is one value for all rows; else 1.
func stride(b *scalar.Batch, k int) int {
	if b.Const>>k&1 != 0 && b.Args[k].Kind == types.Bytes {
		return 0
	}
	return 1
}

// Not is the negation of a condition.
func Not(e scalar.Expr) scalar.Expr {
	return &scalar.Call{Func: &notFunc, Args: []scalar.Expr{e}, T: tBool}
}

var notFunc = kern("NOT", 17010, strict, sig(tBool), tBool, func(b *scalar.Batch) {
	x, out := b.Args[0].Bools[:b.N], b.Out.Bools[:b.N]
	for i := range out {
		out[i] = 1 - x[i]
	}
}, "true for false and false for true")
