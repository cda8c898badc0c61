package row

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// KeyCol is one column of a key.
type KeyCol struct {
	// Col is the column's position in the blocks and rows that are encoded.
	Col        int
	Kind       types.Kind
	Desc       bool
	NullsFirst bool
}

// Key encodes some columns as order-preserving bytes: for each a tag, then, unless it is NULL, the value,
// with all its bits turned where the order is descending.
type Key struct{ cols []KeyCol }

// The tags, in order.
const (
	tagNullFirst = 0x00
	tagValue     = 0x01
	tagNullLast  = 0x02
)

// Within a byte string a zero is escaped, so that its end, which is less than any escape, sorts first.
const (
	escape    = 0x00
	escaped00 = 0xff
	escapeEnd = 0x01
)

// NewKey makes the codec for the given columns.
func NewKey(cols []KeyCol) *Key { return &Key{cols: cols} }

// AscKey makes the codec for columns in plain ascending order.
func AscKey(kinds []types.Kind, cols []int) *Key {
	k := &Key{cols: make([]KeyCol, len(cols))}
	for i, c := range cols {
		k.cols[i] = KeyCol{Col: c, Kind: kinds[c]}
	}
	return k
}

// Len is the number of columns.
func (k *Key) Len() int { return len(k.cols) }

// Append appends the key of row i of b.
func (k *Key) Append(dst []byte, b *vec.Block, i int) []byte {
	for c := range k.cols {
		col := &k.cols[c]
		v := &b.Cols[col.Col]
		if v.IsNull(i) {
			dst = append(dst, col.null())
			continue
		}
		dst = append(dst, tagValue)
		from := len(dst)
		switch col.Kind {
		case types.Bool:
			dst = append(dst, v.Bools[i])
		case types.Int:
			dst = binary.BigEndian.AppendUint64(dst, uint64(v.Ints[i])^1<<63)
		case types.Float:
			dst = binary.BigEndian.AppendUint64(dst, floatBits(v.Floats[i]))
		case types.Bytes:
			dst = appendEscaped(dst, v.Bytes(i))
		}
		if col.Desc {
			invert(dst[from:])
		}
	}
	return dst
}

// AppendRow appends the key of a row given as data.
func (k *Key) AppendRow(dst []byte, row []vec.Datum) []byte {
	for c := range k.cols {
		dst = k.AppendDatum(dst, c, row[k.cols[c].Col])
	}
	return dst
}

// AppendDatum appends d as the key's column c.
func (k *Key) AppendDatum(dst []byte, c int, d vec.Datum) []byte {
	col := &k.cols[c]
	if d.IsNull() {
		return append(dst, col.null())
	}
	dst = append(dst, tagValue)
	from := len(dst)
	switch col.Kind {
	case types.Bool:
		b := byte(0)
		if d.Bool() {
			b = 1
		}
		dst = append(dst, b)
	case types.Int:
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.Int())^1<<63)
	case types.Float:
		dst = binary.BigEndian.AppendUint64(dst, floatBits(d.Float()))
	case types.Bytes:
		dst = appendEscaped(dst, d.Bytes())
	}
	if col.Desc {
		invert(dst[from:])
	}
	return dst
}

func (c *KeyCol) null() byte {
	if c.NullsFirst {
		return tagNullFirst
	}
	return tagNullLast
}

// floatBits orders floats as vec.CompareFloat does: NaN, which is canonical and positive, is last.
func floatBits(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

func bitsFloat(b uint64) float64 {
	if b>>63 != 0 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

func appendEscaped(dst, s []byte) []byte {
	for {
		z := bytes.IndexByte(s, 0)
		if z < 0 {
			break
		}
		dst = append(dst, s[:z]...)
		dst = append(dst, escape, escaped00)
		s = s[z+1:]
	}
	dst = append(dst, s...)
	return append(dst, escape, escapeEnd)
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// Skip is the length of the key at the start of src.
func (k *Key) Skip(src []byte) int {
	at := 0
	for c := range k.cols {
		at += k.cols[c].width(src[at:])
	}
	return at
}

// Prefix is the length of the key's first n columns at the start of src.
func (k *Key) Prefix(src []byte, n int) int {
	at := 0
	for c := range k.cols[:n] {
		at += k.cols[c].width(src[at:])
	}
	return at
}

// width is the length of the column at the start of src, its tag included.
func (c *KeyCol) width(src []byte) int {
	if src[0] != tagValue {
		return 1
	}
	switch c.Kind {
	case types.Bool:
		return 2
	case types.Int, types.Float:
		return 9
	case types.Bytes:
		esc := byte(escape)
		end := byte(escapeEnd)
		if c.Desc {
			esc, end = ^esc, ^end
		}
		for at := 1; ; at += 2 {
			at += bytes.IndexByte(src[at:], esc)
			if src[at+1] == end {
				return at + 2
			}
		}
	}
	panic(fmt.Sprintf("row: key column of kind %v", c.Kind))
}

// Decode appends the columns of the key at the start of src to dst, one vector for each column of the key
// (nil: not wanted), and gives the key's length.
func (k *Key) Decode(src []byte, dst []*vec.Vec) int {
	at := 0
	for c := range k.cols {
		col := &k.cols[c]
		w := col.width(src[at:])
		if v := dst[c]; v != nil {
			if src[at] == tagValue {
				col.decode(src[at+1:at+w], v)
			} else {
				v.AppendNull()
			}
		}
		at += w
	}
	return at
}

// decode appends a value's bytes, without tag, to v.
func (c *KeyCol) decode(src []byte, v *vec.Vec) {
	flip := byte(0)
	mask := uint64(0)
	if c.Desc {
		flip, mask = 0xff, math.MaxUint64
	}
	switch c.Kind {
	case types.Bool:
		v.AppendBool(src[0]^flip != 0)
	case types.Int:
		v.AppendInt(int64((binary.BigEndian.Uint64(src) ^ mask) ^ 1<<63))
	case types.Float:
		v.AppendFloat(bitsFloat(binary.BigEndian.Uint64(src) ^ mask))
	case types.Bytes:
		v.BeginBytes()
		from := len(v.Data)
		body := src[:len(src)-2]
		for {
			z := bytes.IndexByte(body, escape^flip)
			if z < 0 {
				break
			}
			v.Data = append(append(v.Data, body[:z]...), escape^flip)
			body = body[z+2:]
		}
		v.Data = append(v.Data, body...)
		if c.Desc {
			invert(v.Data[from:])
		}
		v.EndBytes()
	}
}
