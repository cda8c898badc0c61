package adt

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// maxJsonbDepth bounds how deeply what comes from outside is nested, so that functions may recurse.
const maxJsonbDepth = 1024

var errJsonbDepth = pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded")

// JsonbBuilder makes an encoding: values one after the other, containers between Begin and End, each value of
// an object after its Key. Of equal keys the last one wins, as it does in PostgreSQL. The zero builder is
// ready; Reset begins anew and keeps scratch memory.
type JsonbBuilder struct {
	buf     []byte
	starts  []int // where the elements of open containers begin, all containers in one stack
	open    []openContainer
	scratch []byte
	perm    []int
}

type openContainer struct {
	at     int // its first byte
	first  int // its first entry in starts
	object bool
}

// Reset begins a new value that is appended to dst.
func (b *JsonbBuilder) Reset(dst []byte) {
	b.buf, b.starts, b.open = dst, b.starts[:0], b.open[:0]
}

// Bytes gives what Reset was given with the finished value appended.
func (b *JsonbBuilder) Bytes() []byte {
	if len(b.open) != 0 {
		invariants.Failf("jsonb: %d containers left open", len(b.open))
	}
	return b.buf
}

// Depth is the number of open containers.
func (b *JsonbBuilder) Depth() int { return len(b.open) }

// elem notes that an element begins, if that is not known from its key.
func (b *JsonbBuilder) elem() {
	if n := len(b.open); n > 0 && !b.open[n-1].object {
		b.starts = append(b.starts, len(b.buf))
	}
}

// Null adds a null.
func (b *JsonbBuilder) Null() {
	b.elem()
	b.buf = append(b.buf, byte(JsonNull))
}

// Bool adds a boolean.
func (b *JsonbBuilder) Bool(x bool) {
	b.elem()
	if x {
		b.buf = append(b.buf, byte(JsonTrue))
		return
	}
	b.buf = append(b.buf, byte(JsonFalse))
}

// Number adds a number, which must be finite: JSON knows no others.
func (b *JsonbBuilder) Number(n Numeric) {
	if !n.IsFinite() {
		invariants.Failf("jsonb: number %v", n)
	}
	b.elem()
	b.buf = n.Append(append(b.buf, byte(JsonNumber)))
}

// String adds a string, which must have no zero byte, as no SQL text has.
func (b *JsonbBuilder) String(s string) {
	b.elem()
	b.buf = append(append(append(b.buf, byte(JsonString)), s...), 0)
}

// Raw adds a value that is encoded already.
func (b *JsonbBuilder) Raw(j Jsonb) {
	b.elem()
	b.buf = append(b.buf, j...)
}

// Key begins a pair of the open object.
func (b *JsonbBuilder) Key(s string) {
	b.starts = append(b.starts, len(b.buf))
	b.buf = append(append(b.buf, s...), 0)
}

// BeginArray opens an array.
func (b *JsonbBuilder) BeginArray() { b.begin(JsonArray) }

// BeginObject opens an object.
func (b *JsonbBuilder) BeginObject() { b.begin(JsonObject) }

func (b *JsonbBuilder) begin(kind JsonKind) {
	b.elem()
	b.open = append(b.open, openContainer{at: len(b.buf), first: len(b.starts), object: kind == JsonObject})
	b.buf = append(b.buf, byte(kind), 0)
}

// End closes the container opened last.
func (b *JsonbBuilder) End() {
	c := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	if c.object {
		b.sortPairs(c)
	}
	starts := b.starts[c.first:]
	b.starts = b.starts[:c.first]
	n := len(starts)
	if n < shortCount {
		b.buf[c.at+1] = byte(n)
	} else {
		b.buf[c.at+1] = shortCount
		var count [4]byte
		binary.BigEndian.PutUint32(count[:], uint32(n))
		b.buf = slices.Insert(b.buf, c.at+2, count[:]...)
		for i := range starts {
			starts[i] += len(count)
		}
	}
	if n < 2 {
		return
	}
	length := len(b.buf) - c.at
	for _, width := range [...]int{1, 2, 4} {
		if offsetWidth(length+width*(n-1)) == width {
			b.table(starts[1:], c.at, width)
			return
		}
	}
	invariants.Failf("jsonb: no offsets for %d elements in %d bytes", n, length)
}

func (b *JsonbBuilder) table(starts []int, at, width int) {
	for _, s := range starts {
		s -= at
		switch width {
		case 1:
			b.buf = append(b.buf, byte(s))
		case 2:
			b.buf = binary.LittleEndian.AppendUint16(b.buf, uint16(s))
		case 4:
			b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(s))
		}
	}
}

// key is the key of a pair that begins at the given place.
func (b *JsonbBuilder) key(at int) []byte {
	return b.buf[at : at+bytes.IndexByte(b.buf[at:], 0)]
}

// sortPairs brings the pairs of an object into the order of their keys and leaves the last of equal ones.
func (b *JsonbBuilder) sortPairs(c openContainer) {
	starts := b.starts[c.first:]
	sorted := true
	for i := 1; i < len(starts) && sorted; i++ {
		sorted = bytes.Compare(b.key(starts[i-1]), b.key(starts[i])) < 0
	}
	if sorted {
		return
	}
	b.perm = b.perm[:0]
	for i := range starts {
		b.perm = append(b.perm, i)
	}
	slices.SortStableFunc(b.perm, func(i, j int) int { return bytes.Compare(b.key(starts[i]), b.key(starts[j])) })
	end := len(b.buf)
	from := starts[0]
	b.scratch = b.scratch[:0]
	newStarts := make([]int, 0, len(starts))
	for k, i := range b.perm {
		if k+1 < len(b.perm) && bytes.Equal(b.key(starts[i]), b.key(starts[b.perm[k+1]])) {
			continue
		}
		to := end
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		newStarts = append(newStarts, from+len(b.scratch))
		b.scratch = append(b.scratch, b.buf[starts[i]:to]...)
	}
	b.buf = append(b.buf[:from], b.scratch...)
	b.starts = append(b.starts[:c.first], newStarts...)
}
