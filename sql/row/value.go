package row

import (
	"encoding/binary"
	"math"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Value encodes some columns compactly: a bit for each NULL, then the columns of fixed width (Bool one
// byte, Int and Float eight), then where each Bytes column ends (four bytes, counted from the first of
// them), then their bytes. Columns that are NULL are zeros, or empty.
type Value struct {
	cols  []valueCol
	fixed int // where the end offsets begin
	data  int // where the bytes begin
}

type valueCol struct {
	col  int
	kind types.Kind
	at   int // of its fixed part, or of its end offset
	nth  int // among the Bytes columns
}

// NewValue makes the codec for the given columns of blocks with the given kinds.
func NewValue(kinds []types.Kind, cols []int) *Value {
	v := &Value{cols: make([]valueCol, len(cols))}
	at := (len(cols) + 7) / 8
	for i, c := range cols {
		v.cols[i] = valueCol{col: c, kind: kinds[c], at: at}
		switch kinds[c] {
		case types.Bool:
			at++
		case types.Int, types.Float:
			at += 8
		}
	}
	v.fixed = at
	nth := 0
	for i := range v.cols {
		if v.cols[i].kind == types.Bytes {
			v.cols[i].at, v.cols[i].nth = at, nth
			at += 4
			nth++
		}
	}
	v.data = at
	return v
}

// Append appends the value of row i of b.
func (v *Value) Append(dst []byte, b *vec.Block, i int) []byte {
	base := len(dst)
	dst = v.room(dst)
	for k := range v.cols {
		c := &v.cols[k]
		src := &b.Cols[c.col]
		if src.IsNull(i) {
			dst[base+k>>3] |= 1 << (k & 7)
			if c.kind == types.Bytes {
				v.end(dst, base, c)
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
			v.end(dst, base, c)
		}
	}
	return dst
}

// AppendRow appends the value of a row given as data.
func (v *Value) AppendRow(dst []byte, row []vec.Datum) []byte {
	base := len(dst)
	dst = v.room(dst)
	for k := range v.cols {
		c := &v.cols[k]
		d := row[c.col]
		switch {
		case d.IsNull():
			dst[base+k>>3] |= 1 << (k & 7)
		case c.kind == types.Bool:
			if d.Bool() {
				dst[base+c.at] = 1
			}
		case c.kind == types.Int:
			binary.LittleEndian.PutUint64(dst[base+c.at:], uint64(d.Int()))
		case c.kind == types.Float:
			binary.LittleEndian.PutUint64(dst[base+c.at:], math.Float64bits(d.Float()))
		default:
			dst = append(dst, d.Str()...)
		}
		if c.kind == types.Bytes {
			v.end(dst, base, c)
		}
	}
	return dst
}

// room appends the part of fixed size, all zero.
func (v *Value) room(dst []byte) []byte {
	var zeros [64]byte
	for n := v.data; n > 0; n -= len(zeros) {
		dst = append(dst, zeros[:min(n, len(zeros))]...)
	}
	return dst
}

func (v *Value) end(dst []byte, base int, c *valueCol) {
	binary.LittleEndian.PutUint32(dst[base+c.at:], uint32(len(dst)-base-v.data))
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
	return vec.BytesOf(v.bytes(src, c))
}

func (v *Value) bytes(src []byte, c *valueCol) []byte {
	from := 0
	if c.nth > 0 {
		from = int(binary.LittleEndian.Uint32(src[c.at-4:]))
	}
	to := int(binary.LittleEndian.Uint32(src[c.at:]))
	return src[v.data+from : v.data+to]
}

// Decode appends the columns to dst, one vector for each (nil: not wanted).
func (v *Value) Decode(src []byte, dst []*vec.Vec) {
	for k := range v.cols {
		to := dst[k]
		if to == nil {
			continue
		}
		if src[k>>3]&(1<<(k&7)) != 0 {
			to.AppendNull()
			continue
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
			to.AppendBytes(v.bytes(src, c))
		}
	}
}
