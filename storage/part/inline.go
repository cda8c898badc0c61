package part

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// The inline encoding, see FORMAT.md.
const (
	inlineVersion = 1

	inlineTimes = 1 << 0
	inlineDiffs = 1 << 1

	columnKind  = 0x0f
	columnNulls = 1 << 4
	// columnDelta: each value is coded by what it differs in from the one before.
	columnDelta = 1 << 5

	// maxInlineRows bounds what a decoder takes memory for.
	maxInlineRows = 1 << 22
)

// AppendInline appends the inline encoding of a sorted block to dst. A block without times is at one time,
// which is kept elsewhere.
func AppendInline(dst []byte, b *vec.Block) []byte {
	flags := byte(0)
	if b.Times != nil {
		flags |= inlineTimes
	}
	diffs := normalDiffs(b.Diffs)
	if diffs != nil {
		flags |= inlineDiffs
	}
	dst = append(dst, inlineVersion, flags)
	dst = binary.AppendUvarint(dst, uint64(b.Len))
	dst = binary.AppendUvarint(dst, uint64(len(b.Cols)))
	last := uint64(0)
	for _, t := range b.Times {
		dst = binary.AppendVarint(dst, int64(t-last))
		last = t
	}
	for i := 0; i < len(diffs); {
		end := i + 1
		for end < len(diffs) && diffs[end] == diffs[i] {
			end++
		}
		dst = binary.AppendUvarint(dst, uint64(end-i))
		dst = binary.AppendVarint(dst, diffs[i])
		i = end
	}
	for c := range b.Cols {
		dst = appendColumn(dst, &b.Cols[c])
	}
	return dst
}

func appendColumn(dst []byte, v *vec.Vec) []byte {
	tag := byte(v.Kind)
	bitmap := cleanBitmap(v)
	if bitmap != nil {
		tag |= columnNulls
	}
	switch v.Kind {
	case types.Bool:
		dst = append(append(dst, tag), bitmap...)
		bits := make([]byte, (v.Len+7)>>3)
		for i, x := range v.Bools[:v.Len] {
			bits[i>>3] |= x << (i & 7)
		}
		return append(dst, bits...)
	case types.Int:
		if intSize(v, true) < intSize(v, false) {
			tag |= columnDelta
		}
		return appendInts(append(append(dst, tag), bitmap...), v, tag&columnDelta != 0)
	case types.Float:
		dst = append(append(dst, tag), bitmap...)
		for i, x := range v.Floats[:v.Len] {
			if !v.IsNull(i) {
				dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
			}
		}
		return dst
	case types.Bytes:
		if bytesSize(v, true) < bytesSize(v, false) {
			tag |= columnDelta
		}
		return appendStrings(append(append(dst, tag), bitmap...), v, tag&columnDelta != 0)
	}
	panic(fmt.Sprintf("part: inline column of %v", v.Kind))
}

// intSize is how many bytes appendInts takes.
func intSize(v *vec.Vec, delta bool) int {
	n, last := 0, int64(0)
	for i, x := range v.Ints[:v.Len] {
		if v.IsNull(i) {
			continue
		}
		d := x
		if delta {
			d -= last
			last = x
		}
		n += varintSize(uint64(d<<1) ^ uint64(d>>63))
	}
	return n
}

func varintSize(x uint64) int {
	n := 1
	for ; x >= 0x80; x >>= 7 {
		n++
	}
	return n
}

func appendInts(dst []byte, v *vec.Vec, delta bool) []byte {
	last := int64(0)
	for i, x := range v.Ints[:v.Len] {
		if v.IsNull(i) {
			continue
		}
		dst = binary.AppendVarint(dst, x-last)
		if delta {
			last = x
		}
	}
	return dst
}

// bytesSize is how many bytes appendStrings takes.
func bytesSize(v *vec.Vec, delta bool) int {
	n := 0
	var last []byte
	for i := range v.Len {
		if v.IsNull(i) {
			continue
		}
		x := v.Bytes(i)
		if delta {
			shared := sharedBytes(last, x)
			n += varintSize(uint64(shared)) - shared
			last = x
		}
		n += varintSize(uint64(len(x))) + len(x)
	}
	return n
}

func appendStrings(dst []byte, v *vec.Vec, delta bool) []byte {
	var last []byte
	for i := range v.Len {
		if v.IsNull(i) {
			continue
		}
		x := v.Bytes(i)
		rest := x
		if delta {
			shared := sharedBytes(last, x)
			dst = binary.AppendUvarint(dst, uint64(shared))
			rest, last = x[shared:], x
		}
		dst = binary.AppendUvarint(dst, uint64(len(rest)))
		dst = append(dst, rest...)
	}
	return dst
}

// DecodeInline reads what AppendInline wrote, columns of the given kinds. The block has memory of its own.
func DecodeInline(data []byte, kinds []types.Kind) (*vec.Block, error) {
	if len(data) < 2 || data[0] != inlineVersion {
		return nil, fmt.Errorf("%w: inline part of an unknown version", ErrCorrupt)
	}
	d := decoder{data: data[2:]}
	n, cols := int(d.count(maxInlineRows)), d.uvarint()
	if d.failed || cols != uint64(len(kinds)) {
		return nil, fmt.Errorf("%w: inline part of %d columns", ErrCorrupt, cols)
	}
	b := &vec.Block{Len: n, Cols: make([]vec.Vec, len(kinds))}
	if data[1]&inlineTimes != 0 {
		b.Times = d.times(n)
	}
	if data[1]&inlineDiffs != 0 {
		b.Diffs = d.diffs(n)
	}
	for c, k := range kinds {
		b.Cols[c] = d.column(n, k)
		if d.failed {
			return nil, fmt.Errorf("%w: inline column %d", ErrCorrupt, c)
		}
	}
	if d.failed || len(d.data) != 0 {
		return nil, fmt.Errorf("%w: inline part", ErrCorrupt)
	}
	return b, nil
}

// decoder reads from data; after a failure everything it gives is zero.
type decoder struct {
	data   []byte
	failed bool
}

func (d *decoder) fail() { d.failed, d.data = true, nil }

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[n:]
	return x
}

func (d *decoder) varint() int64 {
	x, n := binary.Varint(d.data)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[n:]
	return x
}

// count reads a number that may be limit at most.
func (d *decoder) count(limit uint64) uint64 {
	x := d.uvarint()
	if x > limit {
		d.fail()
		return 0
	}
	return x
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.fail()
		return nil
	}
	x := d.data[:n:n]
	d.data = d.data[n:]
	return x
}

func (d *decoder) times(n int) []uint64 {
	if n > len(d.data) {
		d.fail()
		return nil
	}
	out := make([]uint64, n)
	last := uint64(0)
	for i := range out {
		last += uint64(d.varint())
		out[i] = last
	}
	return out
}

func (d *decoder) diffs(n int) []int64 {
	out := make([]int64, 0, n)
	for len(out) < n && !d.failed {
		run := d.count(uint64(n - len(out)))
		x := d.varint()
		if run == 0 {
			d.fail()
		}
		for range run {
			out = append(out, x)
		}
	}
	return out
}

func (d *decoder) column(n int, k types.Kind) vec.Vec {
	v := vec.Vec{Kind: k, Len: n}
	tag := d.take(1)
	if d.failed || types.Kind(tag[0]&columnKind) != k || tag[0]&^(columnKind|columnNulls|columnDelta) != 0 {
		d.fail()
		return v
	}
	present := n
	if tag[0]&columnNulls != 0 {
		v.Valid = append([]byte{}, d.take((n+7)>>3)...)
		if d.failed {
			return v
		}
		present = n - nulls(v.Valid, n)
	}
	// Every value has at least one byte (bools: one bit), so that no memory is taken for what is not there.
	if k != types.Bool && present > len(d.data) || present < 0 || present > n {
		d.fail()
		return v
	}
	delta := tag[0]&columnDelta != 0
	switch k {
	case types.Bool:
		d.bools(&v)
	case types.Int:
		d.ints(&v, delta)
	case types.Float:
		d.floats(&v)
	case types.Bytes:
		d.strings(&v, delta)
	default:
		panic(fmt.Sprintf("part: inline column of %v", k))
	}
	return v
}

func (d *decoder) bools(v *vec.Vec) {
	bits := d.take((v.Len + 7) >> 3)
	if d.failed {
		return
	}
	v.Bools = make([]byte, v.Len)
	for i := range v.Bools {
		v.Bools[i] = bits[i>>3] >> (i & 7) & 1
		if v.Bools[i] != 0 && v.IsNull(i) {
			d.fail()
			return
		}
	}
}

func (d *decoder) ints(v *vec.Vec, delta bool) {
	v.Ints = make([]int64, v.Len)
	last := int64(0)
	for i := range v.Ints {
		if v.IsNull(i) {
			continue
		}
		x := d.varint() + last
		if delta {
			last = x
		}
		v.Ints[i] = x
	}
}

func (d *decoder) floats(v *vec.Vec) {
	v.Floats = make([]float64, v.Len)
	for i := range v.Floats {
		if v.IsNull(i) {
			continue
		}
		raw := d.take(8)
		if d.failed {
			return
		}
		v.Floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw))
	}
}

func (d *decoder) strings(v *vec.Vec, delta bool) {
	if v.Len == 0 {
		return
	}
	v.Offs = make([]int32, 1, v.Len+1)
	from, to := 0, 0 // where the value before lies
	for i := range v.Len {
		if !v.IsNull(i) {
			shared := 0
			if delta {
				shared = int(d.count(uint64(to - from)))
			}
			rest := d.take(int(d.count(math.MaxInt32)))
			if d.failed || len(v.Data)+shared+len(rest) > math.MaxInt32 {
				d.fail()
				return
			}
			at := len(v.Data)
			v.Data = append(v.Data, v.Data[from:from+shared]...)
			v.Data = append(v.Data, rest...)
			from, to = at, len(v.Data)
		}
		v.Offs = append(v.Offs, int32(len(v.Data)))
	}
}
