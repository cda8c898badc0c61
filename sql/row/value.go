package row

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Value encodes some columns compactly: a bit for each NULL and one more that says whether the row is wide;
// then the columns of fixed width (Bool one byte, Int and Float eight, little-endian), then where each Bytes
// column ends, counted from the beginning of the first one's bytes (two bytes each, four in a wide row), then
// their bytes. Columns that are NULL are zeros, or empty. A row is wide only if its bytes need it, so equal
// rows are equal bytes.
type Value struct {
	cols []valueCol
	head int // bytes of the bits
	ends int // where the ends begin
	vars int // how many Bytes columns there are
}

type valueCol struct {
	col  int
	kind types.Kind
	at   int // Bytes: which of the Bytes columns it is; others: where it lies
}

const (
	narrowEnd = 2
	wideEnd   = 4
	// maxNarrow is how many bytes the Bytes columns of a row that is not wide may have.
	maxNarrow = math.MaxUint16
)

// NewValue makes the codec for the given columns of blocks with the given kinds.
func NewValue(kinds []types.Kind, cols []int) *Value {
	v := &Value{cols: make([]valueCol, len(cols)), head: len(cols)/8 + 1}
	at := v.head
	for i, c := range cols {
		v.cols[i] = valueCol{col: c, kind: kinds[c], at: at}
		switch kinds[c] {
		case types.Bool:
			at++
		case types.Int, types.Float:
			at += 8
		case types.Bytes:
			v.cols[i].at = v.vars
			v.vars++
		}
	}
	v.ends = at
	return v
}

// Len is the number of columns.
func (v *Value) Len() int { return len(v.cols) }

// width is how many bytes an end takes where the Bytes columns have n bytes in all.
func (v *Value) width(n int) int {
	if n > maxNarrow {
		return wideEnd
	}
	return narrowEnd
}

// isWide reads the bit after those of the NULLs.
func (v *Value) isWide(src []byte) bool {
	n := len(v.cols)
	return src[n>>3]&(1<<(n&7)) != 0
}

// room appends the part before the bytes, all zero save for the wide bit, and makes room for n bytes.
func (v *Value) room(dst []byte, n int) []byte {
	base, size := len(dst), v.ends+v.vars*v.width(n)
	dst = slices.Grow(dst, size+n)[:base+size]
	clear(dst[base:])
	if n > maxNarrow {
		v.setWide(dst[base:])
	}
	return dst
}

func (v *Value) setWide(row []byte) {
	n := len(v.cols)
	row[n>>3] |= 1 << (n & 7)
}

// putEnd writes where the nth Bytes column ends.
func (v *Value) putEnd(row []byte, nth, end int, wide bool) {
	if wide {
		binary.LittleEndian.PutUint32(row[v.ends+wideEnd*nth:], uint32(end))
		return
	}
	binary.LittleEndian.PutUint16(row[v.ends+narrowEnd*nth:], uint16(end))
}

// total is how many bytes the Bytes columns of row i of b have.
func (v *Value) total(b *vec.Block, i int) int {
	total := 0
	if v.vars == 0 {
		return 0
	}
	for k := range v.cols {
		if c := &v.cols[k]; c.kind == types.Bytes {
			if src := &b.Cols[c.col]; !src.IsNull(i) {
				total += int(src.Offs[i+1] - src.Offs[i])
			}
		}
	}
	return total
}

// Append appends the value of row i of b.
func (v *Value) Append(dst []byte, b *vec.Block, i int) []byte {
	total := v.total(b, i)
	base, wide := len(dst), total > maxNarrow
	dst = v.room(dst, total)
	data := len(dst)
	for k := range v.cols {
		c := &v.cols[k]
		src := &b.Cols[c.col]
		if src.IsNull(i) {
			dst[base+k>>3] |= 1 << (k & 7)
			if c.kind == types.Bytes {
				v.putEnd(dst[base:], c.at, len(dst)-data, wide)
			}
			continue
		}
		switch c.kind {
		case types.Bool:
			dst[base+c.at] = src.Bools[i]
		case types.Int:
			binary.LittleEndian.PutUint64(dst[base+c.at:], uint64(src.Ints[i]))
		case types.Float:
			binary.LittleEndian.PutUint64(dst[base+c.at:], math.Float64bits(src.Floats[i]))
		case types.Bytes:
			dst = append(dst, src.Data[src.Offs[i]:src.Offs[i+1]]...)
			v.putEnd(dst[base:], c.at, len(dst)-data, wide)
		}
	}
	return dst
}

// AppendRow appends the value of a row given as data.
func (v *Value) AppendRow(dst []byte, row []vec.Datum) []byte {
	total := 0
	for k := range v.cols {
		if c := &v.cols[k]; c.kind == types.Bytes {
			total += len(row[c.col].Str())
		}
	}
	base, wide := len(dst), total > maxNarrow
	dst = v.room(dst, total)
	data := len(dst)
	for k := range v.cols {
		c := &v.cols[k]
		d := row[c.col]
		if d.IsNull() {
			dst[base+k>>3] |= 1 << (k & 7)
		}
		switch {
		case c.kind == types.Bytes:
			dst = append(dst, d.Str()...)
			v.putEnd(dst[base:], c.at, len(dst)-data, wide)
		case d.IsNull():
		case c.kind == types.Bool:
			if d.Bool() {
				dst[base+c.at] = 1
			}
		case c.kind == types.Int:
			binary.LittleEndian.PutUint64(dst[base+c.at:], uint64(d.Int()))
		case c.kind == types.Float:
			binary.LittleEndian.PutUint64(dst[base+c.at:], math.Float64bits(d.Float()))
		}
	}
	return dst
}

// EncodeBlock appends the values of all rows of b to arena and, for each, where it ends to offs. (Going by
// columns, as Key does, was measured and is slower: the ends make every row be looked at several times.)
func (v *Value) EncodeBlock(arena []byte, offs []uint32, b *vec.Block) ([]byte, []uint32) {
	for i := range b.Len {
		arena = v.Append(arena, b, i)
		offs = append(offs, arenaEnd(len(arena)))
	}
	return arena, offs
}

// Column gives the k-th of the codec's columns, borrowed from src.
func (v *Value) Column(src []byte, k int) vec.Datum {
	if src[k>>3]&(1<<(k&7)) != 0 {
		return vec.Null
	}
	c := &v.cols[k]
	switch c.kind {
	case types.Bool:
		return vec.BoolOf(src[c.at] != 0)
	case types.Int:
		return vec.IntOf(int64(binary.LittleEndian.Uint64(src[c.at:])))
	case types.Float:
		return vec.FloatOf(math.Float64frombits(binary.LittleEndian.Uint64(src[c.at:])))
	}
	return vec.BytesOf(v.bytes(src, c.at))
}

// bytes is the nth Bytes column.
func (v *Value) bytes(src []byte, nth int) []byte {
	from, to := 0, 0
	if !v.isWide(src) {
		at := v.ends + narrowEnd*nth
		if nth > 0 {
			from = int(binary.LittleEndian.Uint16(src[at-narrowEnd:]))
		}
		to = int(binary.LittleEndian.Uint16(src[at:]))
		src = src[v.ends+narrowEnd*v.vars:]
	} else {
		at := v.ends + wideEnd*nth
		if nth > 0 {
			from = int(binary.LittleEndian.Uint32(src[at-wideEnd:]))
		}
		to = int(binary.LittleEndian.Uint32(src[at:]))
		src = src[v.ends+wideEnd*v.vars:]
	}
	return src[from:to]
}

// Decode appends the columns to dst, one vector for each (nil: not wanted).
func (v *Value) Decode(src []byte, dst []*vec.Vec) {
	for k := range v.cols {
		if to := dst[k]; to != nil {
			v.decodeColumn(src, k, to)
		}
	}
}

func (v *Value) decodeColumn(src []byte, k int, to *vec.Vec) {
	if src[k>>3]&(1<<(k&7)) != 0 {
		to.AppendNull()
		return
	}
	c := &v.cols[k]
	switch c.kind {
	case types.Bool:
		to.AppendBool(src[c.at] != 0)
	case types.Int:
		to.AppendInt(int64(binary.LittleEndian.Uint64(src[c.at:])))
	case types.Float:
		to.AppendFloat(math.Float64frombits(binary.LittleEndian.Uint64(src[c.at:])))
	case types.Bytes:
		to.AppendBytes(v.bytes(src, c.at))
	}
}

// DecodeBlock appends the columns of many values, value i being arena[offs[i]:offs[i+1]], to dst (nil: not
// wanted). It goes by rows: going by columns fetches every row's memory several times, and was measured slower.
func (v *Value) DecodeBlock(arena []byte, offs []uint32, dst []*vec.Vec) {
	for i := range len(offs) - 1 {
		v.Decode(arena[offs[i]:offs[i+1]], dst)
	}
}
