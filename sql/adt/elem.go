package adt

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/tributary-db/tributary/sql/types"
)

// The elements of arrays and the fields of records are encoded one after the other: a tag, then for a value
// that is not NULL its bytes by its kind. NULL is after all values; the end is before everything.
const (
	elemEnd   = 0x01
	elemValue = 0x02
	elemNull  = 0x03
)

// A byte string inside of something ordered ends with escByte, escEnd; a zero byte in it is followed by escMore.
const (
	escByte = 0x00
	escEnd  = 0x01
	escMore = 0xFF
)

// AppendEscaped appends a byte string in a form that says where it ends and keeps the order: 00 becomes
// 00 FF, and 00 01 is the end.
func AppendEscaped(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, escByte)
		if i < 0 {
			dst = append(dst, b...)
			return append(dst, escByte, escEnd)
		}
		dst = append(append(dst, b[:i+1]...), escMore)
		b = b[i+1:]
	}
}

// SplitEscaped finds the end of the escaped byte string that b begins with: what is before the end (still
// escaped if plain is false) and how much of b it takes; size is 0 if there is no end.
func SplitEscaped(b []byte) (body []byte, plain bool, size int) {
	plain = true
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], escByte)
		if i < 0 || at+i+1 == len(b) {
			return nil, false, 0
		}
		at += i
		switch b[at+1] {
		case escEnd:
			return b[:at], plain, at + 2
		case escMore:
			plain = false
			at += 2
		default:
			return nil, false, 0
		}
	}
}

// AppendUnescaped appends what an escaped body stands for.
func AppendUnescaped(dst, body []byte) []byte {
	for {
		i := bytes.IndexByte(body, escByte)
		if i < 0 {
			return append(dst, body...)
		}
		dst = append(dst, body[:i+1]...)
		body = body[i+2:]
	}
}

// OrderedInt is x as an unsigned number in the same order.
func OrderedInt(x int64) uint64 { return uint64(x) ^ 1<<63 }

// OrderedFloat is f, in its canonical form, as an unsigned number in PostgreSQL's order: NaN last.
func OrderedFloat(f float64) uint64 {
	u := math.Float64bits(f)
	// All bits of a negative number are turned over, of others the sign: what a shift makes of the sign.
	return u ^ (uint64(int64(u)>>63) | 1<<63)
}

// FloatOfOrdered takes OrderedFloat back.
func FloatOfOrdered(u uint64) float64 {
	return math.Float64frombits(u ^ (^uint64(int64(u)>>63) | 1<<63))
}

// ElemBuilder makes arrays and records: elements one after the other, then FinishArray or FinishRecord. The
// zero builder is ready; Reset begins anew.
type ElemBuilder struct {
	buf []byte
	n   int
}

// Reset begins a new array or record that is appended to dst.
func (b *ElemBuilder) Reset(dst []byte) { b.buf, b.n = dst, 0 }

// Len is the number of elements so far.
func (b *ElemBuilder) Len() int { return b.n }

func (b *ElemBuilder) tag(t byte) {
	b.buf = append(b.buf, t)
	b.n++
}

// Null adds a NULL.
func (b *ElemBuilder) Null() { b.tag(elemNull) }

// Bool adds an element of kind Bool.
func (b *ElemBuilder) Bool(x bool) {
	b.tag(elemValue)
	if x {
		b.buf = append(b.buf, 1)
		return
	}
	b.buf = append(b.buf, 0)
}

// Int adds an element of kind Int.
func (b *ElemBuilder) Int(x int64) {
	b.tag(elemValue)
	b.buf = binary.BigEndian.AppendUint64(b.buf, OrderedInt(x))
}

// Float adds an element of kind Float, which must be in its canonical form.
func (b *ElemBuilder) Float(x float64) {
	b.tag(elemValue)
	b.buf = binary.BigEndian.AppendUint64(b.buf, OrderedFloat(x))
}

// Bytes adds an element of kind Bytes.
func (b *ElemBuilder) Bytes(x []byte) {
	b.tag(elemValue)
	b.buf = AppendEscaped(b.buf, x)
}

// Raw adds an element as ElemReader.Raw gives it.
func (b *ElemBuilder) Raw(x []byte) {
	b.buf = append(b.buf, x...)
	b.n++
}

// FinishRecord ends a record and gives what Reset was given with the record appended.
func (b *ElemBuilder) FinishRecord() []byte {
	b.buf = append(b.buf, elemEnd)
	return b.buf
}

// ElemReader goes through elements. It belongs to one goroutine.
type ElemReader struct {
	b       []byte
	at      int // where the present element begins
	next    int
	kind    types.Kind
	body    []byte
	plain   bool
	scratch []byte
	bad     bool
}

// ReadRecord reads the fields of a record.
func ReadRecord(b []byte) ElemReader { return ElemReader{b: b} }

// Next moves to the next element, of the given kind; false at the end, and for bytes that no builder made.
func (r *ElemReader) Next(kind types.Kind) bool {
	r.at, r.body, r.kind = r.next, nil, kind
	if r.at >= len(r.b) {
		r.bad = true
		return false
	}
	rest := r.b[r.at+1:]
	switch r.b[r.at] {
	case elemEnd:
		return false
	case elemNull:
		r.next = r.at + 1
		return true
	case elemValue:
		size := 8
		switch kind {
		case types.Bool:
			size = 1
		case types.Bytes:
			var body []byte
			if body, r.plain, size = SplitEscaped(rest); size > 0 {
				r.body, r.next = body, r.at+1+size
				return true
			}
		}
		if size > 0 && size <= len(rest) {
			r.body, r.next = rest[:size:size], r.at+1+size
			return true
		}
	}
	r.bad = true
	return false
}

// Bad says whether Next ended at bytes that no builder made.
func (r *ElemReader) Bad() bool { return r.bad }

// IsNull says whether the element is NULL.
func (r *ElemReader) IsNull() bool { return r.b[r.at] == elemNull }

// Bool is the value of an element of kind Bool.
func (r *ElemReader) Bool() bool { return r.body[0] != 0 }

// Int is the value of an element of kind Int.
func (r *ElemReader) Int() int64 { return int64(be64(r.body) ^ 1<<63) }

// Float is the value of an element of kind Float.
func (r *ElemReader) Float() float64 { return FloatOfOrdered(be64(r.body)) }

// Bytes is the value of an element of kind Bytes; it is valid until the next call of Next or Bytes.
func (r *ElemReader) Bytes() []byte {
	if r.plain {
		return r.body
	}
	r.scratch = AppendUnescaped(r.scratch[:0], r.body)
	return r.scratch
}

// Raw is the element as ElemBuilder.Raw takes it.
func (r *ElemReader) Raw() []byte { return r.b[r.at:r.next] }
