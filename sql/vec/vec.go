// Package vec is data in columns: vectors, blocks of rows, and the loops over them that every layer
// needs (append, gather, hash, compare).
//
// A Vec lies in memory as Arrow lays it out (bools as uint8), so that storage can wrap it without a
// copy. Promises:
//
//	V1  a Vec has exactly Len values, valid or null; the bytes under a null are zero (Int, Float, Bool)
//	    or empty (Bytes).
//	V2  equal SQL values of one type are equal bytes here: floats have one zero and one NaN, variable
//	    values are canonical. So equality, hashing and grouping never look at the type.
//	V3  nothing here keeps or hands out memory it does not say: a Datum made by Vec.Datum and a
//	    byte slice made by Vec.Bytes point into the vector and end with it.
//
// Vectors and blocks are not safe for concurrent writing; reading one from many goroutines is.
package vec

import (
	"bytes"
	"cmp"
	"fmt"
	"math"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
)

// Vec is one column. Only the slices of its Kind are used.
type Vec struct {
	Kind types.Kind
	Len  int
	// Valid has a bit for each value, lowest bit first, set where the value is not NULL; nil means
	// that none is NULL.
	Valid  []byte
	Bools  []byte    // Bool: 0 or 1
	Ints   []int64   // Int
	Floats []float64 // Float
	Offs   []int32   // Bytes: value i is Data[Offs[i]:Offs[i+1]]; Len+1 entries, or none when Len is 0
	Data   []byte    // Bytes
}

// New makes an empty vector with room for n values.
func New(kind types.Kind, n int) Vec {
	v := Vec{Kind: kind}
	switch kind {
	case types.Bool:
		v.Bools = make([]byte, 0, n)
	case types.Int:
		v.Ints = make([]int64, 0, n)
	case types.Float:
		v.Floats = make([]float64, 0, n)
	case types.Bytes:
		v.Offs = make([]int32, 0, n+1)
	default:
		panic(fmt.Sprintf("vec: new of %v", kind))
	}
	return v
}

// Reset empties the vector and keeps its memory.
func (v *Vec) Reset() {
	v.Len, v.Valid = 0, nil
	v.Bools, v.Ints, v.Floats, v.Offs, v.Data = v.Bools[:0], v.Ints[:0], v.Floats[:0], v.Offs[:0], v.Data[:0]
}

// IsNull says whether value i is NULL.
func (v *Vec) IsNull(i int) bool { return v.Valid != nil && v.Valid[i>>3]&(1<<(i&7)) == 0 }

// HasNulls says whether any value is NULL.
func (v *Vec) HasNulls() bool {
	if v.Valid == nil {
		return false
	}
	for i := 0; i < v.Len; i++ {
		if v.Valid[i>>3]&(1<<(i&7)) == 0 {
			return true
		}
	}
	return false
}

// Bytes gives value i of a Bytes vector; it points into the vector.
func (v *Vec) Bytes(i int) []byte { return v.Data[v.Offs[i]:v.Offs[i+1]:v.Offs[i+1]] }

// SetNull makes value i NULL. Its bytes must be zero already (promise V1).
func (v *Vec) SetNull(i int) {
	v.needValid()
	v.Valid[i>>3] &^= 1 << (i & 7)
}

// needValid makes the bitmap, all valid, if there is none.
func (v *Vec) needValid() {
	if v.Valid == nil {
		v.Valid = AllValid(v.Len)
	}
}

// AllValid makes a bitmap of n set bits.
func AllValid(n int) []byte {
	b := make([]byte, (n+7)>>3)
	for i := range b {
		b[i] = 0xff
	}
	return b
}

// pushValid notes that one more value, not NULL, was appended.
func (v *Vec) pushValid() {
	if v.Valid != nil {
		v.growValid()
		v.Valid[v.Len>>3] |= 1 << (v.Len & 7)
	}
	v.Len++
}

func (v *Vec) growValid() {
	if need := (v.Len + 8) >> 3; len(v.Valid) < need {
		v.Valid = append(v.Valid, 0)
	}
}

// AppendNull appends a NULL.
func (v *Vec) AppendNull() {
	v.needValid()
	v.growValid()
	v.Valid[v.Len>>3] &^= 1 << (v.Len & 7)
	switch v.Kind {
	case types.Bool:
		v.Bools = append(v.Bools, 0)
	case types.Int:
		v.Ints = append(v.Ints, 0)
	case types.Float:
		v.Floats = append(v.Floats, 0)
	case types.Bytes:
		v.firstOff()
		v.Offs = append(v.Offs, v.end())
	}
	v.Len++
}

// end is where the bytes end that were appended last. Who fills a block cuts it long before its bytes are too
// many for an offset.
func (v *Vec) end() int32 {
	if len(v.Data) > math.MaxInt32 {
		invariants.Failf("vec: %d bytes in one vector", len(v.Data))
	}
	return int32(len(v.Data))
}

func (v *Vec) firstOff() {
	if len(v.Offs) == 0 {
		v.Offs = append(v.Offs, 0)
	}
}

// AppendBool appends a value to a Bool vector.
func (v *Vec) AppendBool(x bool) {
	var b byte
	if x {
		b = 1
	}
	v.Bools = append(v.Bools, b)
	v.pushValid()
}

// AppendInt appends a value to an Int vector.
func (v *Vec) AppendInt(x int64) {
	v.Ints = append(v.Ints, x)
	v.pushValid()
}

// AppendFloat appends a value to a Float vector, in its canonical form.
func (v *Vec) AppendFloat(x float64) {
	v.Floats = append(v.Floats, CanonFloat(x))
	v.pushValid()
}

// AppendBytes appends a copy of x to a Bytes vector.
func (v *Vec) AppendBytes(x []byte) {
	v.firstOff()
	v.Data = append(v.Data, x...)
	v.Offs = append(v.Offs, v.end())
	v.pushValid()
}

// AppendString appends a copy of x to a Bytes vector.
func (v *Vec) AppendString(x string) {
	v.firstOff()
	v.Data = append(v.Data, x...)
	v.Offs = append(v.Offs, v.end())
	v.pushValid()
}

// EndBytes closes a value whose bytes the caller has just appended to v.Data of a Bytes vector. Before
// the first such value the caller calls BeginBytes.
func (v *Vec) EndBytes() {
	v.Offs = append(v.Offs, v.end())
	v.pushValid()
}

// BeginBytes makes ready for appending to v.Data directly.
func (v *Vec) BeginBytes() { v.firstOff() }

// AppendDatum appends d, which must be NULL or of v's kind.
func (v *Vec) AppendDatum(d Datum) {
	if d.IsNull() {
		v.AppendNull()
		return
	}
	switch v.Kind {
	case types.Bool:
		v.AppendBool(d.Bool())
	case types.Int:
		v.AppendInt(d.Int())
	case types.Float:
		v.AppendFloat(d.Float())
	case types.Bytes:
		v.AppendString(d.Str())
	}
}

// AppendFrom appends value i of src, which has v's kind.
func (v *Vec) AppendFrom(src *Vec, i int) {
	if src.IsNull(i) {
		v.AppendNull()
		return
	}
	switch v.Kind {
	case types.Bool:
		v.Bools = append(v.Bools, src.Bools[i])
	case types.Int:
		v.Ints = append(v.Ints, src.Ints[i])
	case types.Float:
		v.Floats = append(v.Floats, src.Floats[i])
	case types.Bytes:
		v.firstOff()
		v.Data = append(v.Data, src.Data[src.Offs[i]:src.Offs[i+1]]...)
		v.Offs = append(v.Offs, v.end())
	}
	v.pushValid()
}

// AppendRange appends values [from, to) of src, which has v's kind.
func (v *Vec) AppendRange(src *Vec, from, to int) {
	if from == to {
		return
	}
	v.appendValid(src, from, to)
	switch v.Kind {
	case types.Bool:
		v.Bools = append(v.Bools, src.Bools[from:to]...)
	case types.Int:
		v.Ints = append(v.Ints, src.Ints[from:to]...)
	case types.Float:
		v.Floats = append(v.Floats, src.Floats[from:to]...)
	case types.Bytes:
		v.firstOff()
		delta := int32(len(v.Data)) - src.Offs[from]
		v.Data = append(v.Data, src.Data[src.Offs[from]:src.Offs[to]]...)
		v.end()
		for _, o := range src.Offs[from+1 : to+1] {
			v.Offs = append(v.Offs, o+delta)
		}
	}
	v.Len += to - from
}

// appendValid extends the bitmap for values [from, to) of src, before Len is moved.
func (v *Vec) appendValid(src *Vec, from, to int) {
	if src.Valid == nil && v.Valid == nil {
		return
	}
	v.needValid()
	n := v.Len + to - from
	if more := (n+7)>>3 - len(v.Valid); more > 0 {
		v.Valid = append(v.Valid, make([]byte, more)...)
	}
	for i := from; i < to; i++ {
		at := v.Len + i - from
		if src.IsNull(i) {
			v.Valid[at>>3] &^= 1 << (at & 7)
		} else {
			v.Valid[at>>3] |= 1 << (at & 7)
		}
	}
}

// AppendSel appends the values of src at the given positions.
func (v *Vec) AppendSel(src *Vec, sel []int32) {
	if src.Valid != nil || v.Valid != nil {
		v.appendValidSel(src, sel)
	}
	switch v.Kind {
	case types.Bool:
		for _, i := range sel {
			v.Bools = append(v.Bools, src.Bools[i])
		}
	case types.Int:
		for _, i := range sel {
			v.Ints = append(v.Ints, src.Ints[i])
		}
	case types.Float:
		for _, i := range sel {
			v.Floats = append(v.Floats, src.Floats[i])
		}
	case types.Bytes:
		v.firstOff()
		for _, i := range sel {
			v.Data = append(v.Data, src.Data[src.Offs[i]:src.Offs[i+1]]...)
			v.Offs = append(v.Offs, v.end())
		}
	}
	v.Len += len(sel)
}

// appendValidSel extends the bitmap for the values of src at the given positions, before Len is moved.
func (v *Vec) appendValidSel(src *Vec, sel []int32) {
	v.needValid()
	n := v.Len + len(sel)
	if more := (n+7)>>3 - len(v.Valid); more > 0 {
		v.Valid = append(v.Valid, make([]byte, more)...)
	}
	for k, i := range sel {
		at, bit := v.Len+k, byte(1)
		if src.Valid != nil {
			bit = src.Valid[i>>3] >> (i & 7) & 1
		}
		v.Valid[at>>3] = v.Valid[at>>3]&^(1<<(at&7)) | bit<<(at&7)
	}
}

// Repeat makes a vector of n times d; kind says of what kind it is when d is NULL.
func Repeat(d Datum, kind types.Kind, n int) Vec {
	v := New(kind, n)
	for range n {
		v.AppendDatum(d)
	}
	return v
}

// Slice is values [from, to), sharing v's memory except for the bitmap. What is appended to the slice goes to
// memory of its own.
func (v *Vec) Slice(from, to int) Vec {
	s := Vec{Kind: v.Kind, Len: to - from}
	if v.Valid != nil {
		s.Valid = AllValid(s.Len)
		for i := range s.Len {
			if v.IsNull(from + i) {
				s.Valid[i>>3] &^= 1 << (i & 7)
			}
		}
	}
	switch v.Kind {
	case types.Bool:
		s.Bools = v.Bools[from:to:to]
	case types.Int:
		s.Ints = v.Ints[from:to:to]
	case types.Float:
		s.Floats = v.Floats[from:to:to]
	case types.Bytes:
		if s.Len > 0 {
			// Offsets need not begin at 0: readers only ever subtract neighbours. The bytes end where the last
			// value does, without room behind, so that a value appended to the slice begins there and is in
			// memory of its own.
			end := v.Offs[to]
			s.Offs, s.Data = v.Offs[from:to+1:to+1], v.Data[:end:end]
		}
	}
	return s
}

// Clone copies the vector into memory of its own.
func (v *Vec) Clone() Vec {
	c := New(v.Kind, v.Len)
	if v.Kind == types.Bytes && v.Len > 0 {
		c.Data = make([]byte, 0, v.Offs[v.Len]-v.Offs[0])
	}
	c.AppendRange(v, 0, v.Len)
	return c
}

// Size is about how many bytes the values take.
func (v *Vec) Size() int {
	n := len(v.Valid)
	switch v.Kind {
	case types.Bool:
		n += v.Len
	case types.Int, types.Float:
		n += 8 * v.Len
	case types.Bytes:
		n += 4 * v.Len
		if v.Len > 0 {
			n += int(v.Offs[v.Len] - v.Offs[0])
		}
	}
	return n
}

// Compare orders value i of v against value j of w, of the same kind; NULL is after everything, NaN
// after all other numbers.
func (v *Vec) Compare(i int, w *Vec, j int) int {
	switch vn, wn := v.IsNull(i), w.IsNull(j); {
	case vn && wn:
		return 0
	case vn:
		return 1
	case wn:
		return -1
	}
	switch v.Kind {
	case types.Bool:
		return cmp.Compare(v.Bools[i], w.Bools[j])
	case types.Int:
		return cmp.Compare(v.Ints[i], w.Ints[j])
	case types.Float:
		return CompareFloat(v.Floats[i], w.Floats[j])
	case types.Bytes:
		return bytes.Compare(v.Bytes(i), w.Bytes(j))
	}
	panic(fmt.Sprintf("vec: compare of %v", v.Kind))
}

// CanonFloat gives the one zero for both zeros and the one NaN for all.
func CanonFloat(x float64) float64 {
	if x == 0 {
		return 0
	}
	if x != x {
		return math.NaN()
	}
	return x
}

// CompareFloat is PostgreSQL's order of floats: NaN equals itself and is after everything.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	}
	return -1
}
