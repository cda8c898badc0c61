package row

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/tributary-db/tributary/sql/adt"
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

// Byte strings end with these two, as adt.AppendEscaped writes them.
const (
	escape    = 0x00
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
			dst = binary.BigEndian.AppendUint64(dst, adt.OrderedFloat(v.Floats[i]))
		case types.Bytes:
			dst = adt.AppendEscaped(dst, v.Bytes(i))
		}
		if col.Desc {
			invert(dst[from:])
		}
	}
	return dst
}

// AddSizes adds to each of sizes the length of that row's key.
func (k *Key) AddSizes(sizes []uint32, b *vec.Block) {
	for c := range k.cols {
		v := &b.Cols[k.cols[c].Col]
		width := uint32(9)
		switch k.cols[c].Kind {
		case types.Bool:
			width = 2
		case types.Bytes:
			for i := range sizes {
				if v.IsNull(i) {
					sizes[i]++
					continue
				}
				s := v.Data[v.Offs[i]:v.Offs[i+1]]
				sizes[i] += uint32(len(s)+bytes.Count(s, zero)) + 3
			}
			continue
		}
		if v.Valid == nil {
			for i := range sizes {
				sizes[i] += width
			}
			continue
		}
		for i := range sizes {
			if v.IsNull(i) {
				sizes[i]++
			} else {
				sizes[i] += width
			}
		}
	}
}

var zero = []byte{0}

// Put writes the keys of all rows of b into memory, each row's where at says, and moves at behind them.
func (k *Key) Put(arena []byte, at []uint32, b *vec.Block) {
	for c := range k.cols {
		col := &k.cols[c]
		v := &b.Cols[col.Col]
		switch col.Kind {
		case types.Int:
			col.putInts(arena, at, v)
		case types.Float:
			col.putFloats(arena, at, v)
		case types.Bool:
			col.putBools(arena, at, v)
		case types.Bytes:
			col.putBytes(arena, at, v)
		}
	}
}

// flip is what every bit of a value is turned by.
func (c *KeyCol) flip() uint64 {
	if c.Desc {
		return math.MaxUint64
	}
	return 0
}

func (c *KeyCol) putInts(arena []byte, at []uint32, v *vec.Vec) {
	flip := c.flip() ^ 1<<63
	if v.Valid == nil {
		for i, x := range v.Ints[:len(at)] {
			put64(arena, &at[i], uint64(x)^flip)
		}
		return
	}
	for i, x := range v.Ints[:len(at)] {
		if v.IsNull(i) {
			arena[at[i]] = c.null()
			at[i]++
			continue
		}
		put64(arena, &at[i], uint64(x)^flip)
	}
}

func put64(arena []byte, at *uint32, x uint64) {
	p := arena[*at : *at+9]
	p[0] = tagValue
	binary.BigEndian.PutUint64(p[1:], x)
	*at += 9
}

func (c *KeyCol) putFloats(arena []byte, at []uint32, v *vec.Vec) {
	flip := c.flip()
	for i, x := range v.Floats[:len(at)] {
		if v.IsNull(i) {
			arena[at[i]] = c.null()
			at[i]++
			continue
		}
		put64(arena, &at[i], adt.OrderedFloat(x)^flip)
	}
}

func (c *KeyCol) putBools(arena []byte, at []uint32, v *vec.Vec) {
	flip := byte(c.flip())
	for i, x := range v.Bools[:len(at)] {
		if v.IsNull(i) {
			arena[at[i]] = c.null()
			at[i]++
			continue
		}
		p := arena[at[i] : at[i]+2]
		p[0], p[1] = tagValue, x^flip
		at[i] += 2
	}
}

func (c *KeyCol) putBytes(arena []byte, at []uint32, v *vec.Vec) {
	for i := range at {
		if v.IsNull(i) {
			arena[at[i]] = c.null()
			at[i]++
			continue
		}
		s, from := v.Data[v.Offs[i]:v.Offs[i+1]], at[i]+1
		arena[at[i]] = tagValue
		end := from + uint32(len(s)) + 2
		if bytes.IndexByte(s, 0) < 0 {
			copy(arena[from:], s)
			arena[end-2], arena[end-1] = escape, escapeEnd
		} else {
			// There is room for exactly this, so it lands in the arena.
			end = from + uint32(len(adt.AppendEscaped(arena[from:from], s)))
		}
		if c.Desc {
			invert(arena[from:end])
		}
		at[i] = end
	}
}

// EncodeBlock appends the keys of all rows of b to arena, column by column: sizes first, then each column's
// bytes into their places. offs has one entry at least, the end of what is in arena already, and gets one more
// for each row.
func (k *Key) EncodeBlock(arena []byte, offs []uint32, b *vec.Block) ([]byte, []uint32) {
	first := len(offs)
	offs = slices.Grow(offs, b.Len)[:first+b.Len]
	// The sizes are made where the offsets of the rows' beginnings will be, which Put moves to their ends.
	at := offs[first:]
	clear(at)
	k.AddSizes(at, b)
	pos := int(offs[first-1])
	for i, size := range at {
		at[i] = arenaEnd(pos)
		pos += int(size)
	}
	arenaEnd(pos)
	arena = slices.Grow(arena, pos-len(arena))[:pos]
	k.Put(arena, at, b)
	return arena, offs
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
		dst = binary.BigEndian.AppendUint64(dst, adt.OrderedFloat(d.Float()))
	case types.Bytes:
		dst = adt.AppendEscaped(dst, d.Bytes())
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
		v.AppendFloat(adt.FloatOfOrdered(binary.BigEndian.Uint64(src) ^ mask))
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
