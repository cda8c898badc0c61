package adt

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// MaxDims is the largest number of dimensions of an array.
const MaxDims = 6

// maxArrayLen bounds the number of elements, as PostgreSQL does for pointers of 8 bytes.
const maxArrayLen = math.MaxInt32 / 8

// Dim is one dimension of an array: its first subscript and how many there are.
type Dim struct{ Lower, Len int32 }

// Array is the encoding of an array: the elements in row-major order and their end, the number of
// dimensions, their lengths, their lower bounds (big-endian, these with the sign turned over), and the
// number of dimensions again, by which a reader finds the rest from behind. An empty array has no
// dimensions. Arrays are ordered by elements, then by the number of dimensions, lengths and bounds.
type Array struct {
	b     []byte // the elements and their end
	ndims int
	dims  [MaxDims]Dim
}

// FinishArray ends an array of the given dimensions and gives what Reset was given with the array
// appended. No dimensions mean one that begins at 1.
func (b *ElemBuilder) FinishArray(dims ...Dim) []byte {
	if b.n == 0 {
		dims = nil
	} else if len(dims) == 0 {
		dims = []Dim{{Lower: 1, Len: int32(b.n)}}
	}
	want := 1
	b.buf = append(b.buf, elemEnd, byte(len(dims)))
	for _, d := range dims {
		want *= int(d.Len)
		b.buf = binary.BigEndian.AppendUint32(b.buf, uint32(d.Len))
	}
	if len(dims) > MaxDims || len(dims) > 0 && want != b.n {
		invariants.Failf("array: %d elements in dimensions %v", b.n, dims)
	}
	for _, d := range dims {
		b.buf = binary.BigEndian.AppendUint32(b.buf, uint32(d.Lower)^1<<31)
	}
	b.buf = append(b.buf, byte(len(dims)))
	return b.buf
}

// ReadArray reads an encoding's dimensions; ok is false if there can be none. The elements are not looked at.
func ReadArray(b []byte) (a Array, ok bool) {
	if len(b) < 3 {
		return Array{}, false
	}
	a.ndims = int(b[len(b)-1])
	head := len(b) - 2 - 8*a.ndims
	if a.ndims > MaxDims || head < 1 || int(b[head]) != a.ndims || b[head-1] != elemEnd {
		return Array{}, false
	}
	n := 1
	for i := range a.ndims {
		at := head + 1 + 4*i
		a.dims[i] = Dim{
			Len:   int32(binary.BigEndian.Uint32(b[at:])),
			Lower: int32(binary.BigEndian.Uint32(b[at+4*a.ndims:]) ^ 1<<31),
		}
		if a.dims[i].Len <= 0 || n > maxArrayLen/int(a.dims[i].Len) {
			return Array{}, false
		}
		n *= int(a.dims[i].Len)
	}
	a.b = b[:head]
	return a, true
}

// ArrayOf reads an encoding from our own vectors.
func ArrayOf(b []byte) Array {
	a, ok := ReadArray(b)
	if !ok {
		invariants.Failf("array: bytes %x are no encoding", b)
	}
	return a
}

// CheckArray says whether b is an encoding that a builder could have made, of elements of the given kind.
func CheckArray(b []byte, kind types.Kind) bool {
	a, ok := ReadArray(b)
	if !ok {
		return false
	}
	r, n := a.Elems(), 0
	for r.Next(kind) {
		n++
	}
	return !r.Bad() && n == a.Len() && r.next == len(a.b)-1
}

// NDims is the number of dimensions; 0 for an empty array.
func (a *Array) NDims() int { return a.ndims }

// Dims are the dimensions.
func (a *Array) Dims() []Dim { return a.dims[:a.ndims] }

// Len is the number of elements.
func (a *Array) Len() int {
	if a.ndims == 0 {
		return 0
	}
	n := 1
	for _, d := range a.Dims() {
		n *= int(d.Len)
	}
	return n
}

// Elems goes through the elements in row-major order.
func (a *Array) Elems() ElemReader { return ElemReader{b: a.b} }

// Offset is the position, in row-major order, of the element with the given subscripts; -1 if there is none.
func (a *Array) Offset(subs ...int32) int {
	if len(subs) != a.ndims || a.ndims == 0 {
		return -1
	}
	at := 0
	for i, d := range a.Dims() {
		k := int64(subs[i]) - int64(d.Lower)
		if k < 0 || k >= int64(d.Len) {
			return -1
		}
		at = at*int(d.Len) + int(k)
	}
	return at
}

// At gives a reader that stands at the element of the given position; ok is false if there is none.
func (a *Array) At(i int, kind types.Kind) (r ElemReader, ok bool) {
	r = a.Elems()
	if i < 0 {
		return r, false
	}
	for range i + 1 {
		if !r.Next(kind) {
			return r, false
		}
	}
	return r, true
}

// Bounds is one dimension of a slice, both ends included.
type Bounds struct{ Lower, Upper int32 }

// Slice makes the part of an array that lies within bounds, of which there is one for each dimension at
// most (those not given are taken whole). Its lower bounds are 1; outside of the array there is nothing.
func (b *ElemBuilder) Slice(dst []byte, a *Array, kind types.Kind, bounds ...Bounds) []byte {
	b.Reset(dst)
	if a.ndims == 0 || len(bounds) > a.ndims {
		return b.FinishArray()
	}
	var dims [MaxDims]Dim
	var from, to [MaxDims]int32
	for i, d := range a.Dims() {
		from[i], to[i] = 0, d.Len
		if i < len(bounds) {
			low := max(int64(bounds[i].Lower)-int64(d.Lower), 0)
			high := min(int64(bounds[i].Upper)-int64(d.Lower)+1, int64(d.Len))
			if low >= high {
				return b.FinishArray()
			}
			from[i], to[i] = int32(low), int32(high)
		}
		dims[i] = Dim{Lower: 1, Len: to[i] - from[i]}
	}
	var at [MaxDims]int32
	for r := a.Elems(); r.Next(kind); {
		inside := true
		for i := range a.ndims {
			inside = inside && at[i] >= from[i] && at[i] < to[i]
		}
		if inside {
			b.Raw(r.Raw())
		}
		for i := a.ndims - 1; i >= 0; i-- {
			if at[i]++; at[i] < a.dims[i].Len {
				break
			}
			at[i] = 0
		}
	}
	return b.FinishArray(dims[:a.ndims]...)
}

// AppendArrayText appends an array as text. elem appends one element that is not NULL; quotes are put
// around it where it needs them.
func AppendArrayText(dst []byte, a *Array, kind types.Kind, elem func(dst []byte, r *ElemReader) []byte) []byte {
	if a.ndims == 0 {
		return append(dst, "{}"...)
	}
	dst = a.appendBounds(dst)
	var at [MaxDims]int32
	open := a.ndims
	for r := a.Elems(); r.Next(kind); {
		for range open {
			dst = append(dst, '{')
		}
		if r.IsNull() {
			dst = append(dst, "NULL"...)
		} else {
			from := len(dst)
			dst = quoteElem(elem(dst, &r), from)
		}
		open = 0
		for i := a.ndims - 1; i >= 0; i-- {
			if at[i]++; at[i] < a.dims[i].Len {
				break
			}
			at[i] = 0
			dst = append(dst, '}')
			open++
		}
		if open < a.ndims {
			dst = append(dst, ',')
		}
	}
	return dst
}

// appendBounds appends the dimensions unless all begin at 1.
func (a *Array) appendBounds(dst []byte) []byte {
	plain := true
	for _, d := range a.Dims() {
		plain = plain && d.Lower == 1
	}
	if plain {
		return dst
	}
	for _, d := range a.Dims() {
		dst = appendInt(append(dst, '['), int64(d.Lower))
		dst = append(appendInt(append(dst, ':'), int64(d.Lower)+int64(d.Len)-1), ']')
	}
	return append(dst, '=')
}

// quoteElem puts dst[from:] into quotes if it could be taken for something else.
func quoteElem(dst []byte, from int) []byte {
	s := borrow(dst[from:])
	if s != "" && !strings.EqualFold(s, "null") && !strings.ContainsAny(s, "\"\\{}, \t\n\v\f\r") {
		return dst
	}
	return quoteFrom(dst, from, '\\')
}

// quoteFrom puts dst[from:] into quotes, with a backslash before backslashes, and before quotes the given
// byte.
func quoteFrom(dst []byte, from int, beforeQuote byte) []byte {
	extra := 2
	for _, c := range dst[from:] {
		if c == '"' || c == '\\' {
			extra++
		}
	}
	read := len(dst)
	for range extra {
		dst = append(dst, 0)
	}
	// From behind, so that nothing is overwritten before it is read.
	at := len(dst) - 1
	dst[at] = '"'
	for read--; read >= from; read-- {
		c := dst[read]
		at--
		dst[at] = c
		if c == '\\' {
			at--
			dst[at] = '\\'
		} else if c == '"' {
			at--
			dst[at] = beforeQuote
		}
	}
	dst[from] = '"'
	return dst
}

// ErrArrayTooLarge says that an array would have too many elements.
func ErrArrayTooLarge() error {
	return pgerr.Newf(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayLen)
}
