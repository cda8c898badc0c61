package vec

import (
	"cmp"
	"math"
	"strconv"
	"unsafe"

	"github.com/tributary-db/tributary/sql/types"
)

// Datum is one value, NULL included. It fits four words, so that it travels in registers. A Datum
// taken from a vector or an arrangement borrows its bytes: who keeps it, clones it.
type Datum struct {
	kind types.Kind // 0: NULL
	bits uint64
	str  string
}

const _ = uint(32 - unsafe.Sizeof(Datum{}))

// Null is the NULL of every type.
var Null = Datum{}

// BoolOf makes a Datum of kind Bool.
func BoolOf(x bool) Datum {
	if x {
		return Datum{kind: types.Bool, bits: 1}
	}
	return Datum{kind: types.Bool}
}

// IntOf makes a Datum of kind Int.
func IntOf(x int64) Datum { return Datum{kind: types.Int, bits: uint64(x)} }

// FloatOf makes a Datum of kind Float, in its canonical form.
func FloatOf(x float64) Datum {
	return Datum{kind: types.Float, bits: math.Float64bits(CanonFloat(x))}
}

// StrOf makes a Datum of kind Bytes.
func StrOf(s string) Datum { return Datum{kind: types.Bytes, str: s} }

// BytesOf makes a Datum of kind Bytes that borrows b: it is valid while b is not changed.
func BytesOf(b []byte) Datum {
	return Datum{kind: types.Bytes, str: unsafe.String(unsafe.SliceData(b), len(b))}
}

// Kind is the kind of the value; 0 for NULL.
func (d Datum) Kind() types.Kind { return d.kind }

// IsNull says whether d is NULL.
func (d Datum) IsNull() bool { return d.kind == 0 }

// Bool is the value of a Bool datum.
func (d Datum) Bool() bool { return d.bits != 0 }

// Int is the value of an Int datum.
func (d Datum) Int() int64 { return int64(d.bits) }

// Float is the value of a Float datum.
func (d Datum) Float() float64 { return math.Float64frombits(d.bits) }

// Str is the value of a Bytes datum; borrowed as the Datum is.
func (d Datum) Str() string { return d.str }

// Bytes is the value of a Bytes datum, not to be written to; borrowed as the Datum is.
func (d Datum) Bytes() []byte { return unsafe.Slice(unsafe.StringData(d.str), len(d.str)) }

// Clone gives d with bytes of its own.
func (d Datum) Clone() Datum {
	if d.kind == types.Bytes {
		d.str = string(append([]byte(nil), d.str...))
	}
	return d
}

// Equal says whether two data of one type are the same value; NULL equals NULL.
func (d Datum) Equal(e Datum) bool { return d.Compare(e) == 0 }

// Compare orders data of one type; NULL is after everything, NaN after all other numbers.
func (d Datum) Compare(e Datum) int {
	if d.kind == 0 || e.kind == 0 {
		switch {
		case d.kind == e.kind:
			return 0
		case d.kind == 0:
			return 1
		}
		return -1
	}
	switch d.kind {
	case types.Int:
		return cmp.Compare(int64(d.bits), int64(e.bits))
	case types.Float:
		return CompareFloat(d.Float(), e.Float())
	case types.Bytes:
		return cmp.Compare(d.str, e.str)
	}
	return cmp.Compare(d.bits, e.bits)
}

// GoString shows the datum for tests and for plans that know no type.
func (d Datum) GoString() string {
	switch d.kind {
	case 0:
		return "null"
	case types.Bool:
		return strconv.FormatBool(d.Bool())
	case types.Int:
		return strconv.FormatInt(d.Int(), 10)
	case types.Float:
		return strconv.FormatFloat(d.Float(), 'g', -1, 64)
	}
	return strconv.Quote(d.str)
}

// Datum gives value i; it points into the vector.
func (v *Vec) Datum(i int) Datum {
	if v.IsNull(i) {
		return Null
	}
	switch v.Kind {
	case types.Bool:
		return Datum{kind: types.Bool, bits: uint64(v.Bools[i])}
	case types.Int:
		return Datum{kind: types.Int, bits: uint64(v.Ints[i])}
	case types.Float:
		return Datum{kind: types.Float, bits: math.Float64bits(v.Floats[i])}
	}
	return BytesOf(v.Bytes(i))
}
