package part

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// packer packs columns of some rows into the high bits of their words, the first column highest, so that the
// words' order is the rows' order as far as they were packed.
type packer struct {
	s     *Sorter
	words []uint64
	codes []uint64 // scratch, one for each word
	room  uint     // bits left

	// What is left to compare where packed bits are equal:
	end  packEnd
	next position // where to go on
	// bytes is, with packedBytes, how many bytes of each string were packed.
	bytes int
}

// packEnd says how packing ended.
type packEnd uint8

const (
	// packedSome: the next column starts afresh, or its high bits were packed and are equal now.
	packedSome packEnd = iota
	// packedAll: equal words are equal rows.
	packedAll
	// packedBytes: the last thing packed was a piece of strings with, lowest, the length of what there was.
	packedBytes
)

// The low bits of a packed piece of a string say how many bytes of it there were, or one more than the piece
// has if the string goes on; this tells "a" from "a\x00".
const (
	lengthBits = 4
	lengthMask = 1<<lengthBits - 1
	// pieceMax is how many bytes a piece has at most.
	pieceMax = 7
)

// pack packs from position at on, until there is no room or no column left.
func (p *packer) pack(at position) {
	b := p.s.b
	for ; at.col < len(b.Cols); at = (position{col: at.col + 1}) {
		v := &b.Cols[at.col]
		if v.Kind == types.Bytes {
			if !p.packNulls(v) || !p.packPiece(v, &at) {
				p.next = at
				return
			}
			continue
		}
		if !p.packNulls(v) {
			p.next = at
			return
		}
		p.fixed(v)
		if !p.addCodes(v) {
			p.next = at
			return
		}
	}
	p.next = at
	if b.Times != nil {
		for i, w := range p.words {
			p.codes[i] = b.Times[w&p.s.rowMask]
		}
		if !p.addCodes(nil) {
			return
		}
	}
	p.end = packedAll
}

// packNulls packs a bit that puts NULLs last, if any two rows differ in it.
func (p *packer) packNulls(v *vec.Vec) bool {
	if v.Valid == nil {
		return true
	}
	for i, w := range p.words {
		row := w & p.s.rowMask
		p.codes[i] = uint64(v.Valid[row>>3]>>(row&7)&1) ^ 1
	}
	return p.addCodes(nil)
}

// fixed computes the codes of a column of fixed width: unsigned numbers in the order of the values.
func (p *packer) fixed(v *vec.Vec) {
	const sign = 1 << 63
	mask := p.s.rowMask
	codes := p.codes[:len(p.words)]
	switch v.Kind {
	case types.Bool:
		for i, w := range p.words {
			codes[i] = uint64(v.Bools[w&mask])
		}
	case types.Int:
		for i, w := range p.words {
			codes[i] = uint64(v.Ints[w&mask]) ^ sign
		}
	case types.Float:
		for i, w := range p.words {
			x := math.Float64bits(v.Floats[w&mask])
			// Negative numbers: all bits turned; others: only the sign. NaN, of which there is one, is last.
			codes[i] = x ^ (uint64(int64(x)>>63) | sign)
		}
	default:
		panic(fmt.Sprintf("part: fixed width of %v", v.Kind))
	}
}

// addCodes packs the codes, narrowed to their range; those of NULLs of v (if any) do not matter. It says
// whether all their bits had room.
func (p *packer) addCodes(v *vec.Vec) bool {
	lo, hi := uint64(math.MaxUint64), uint64(0)
	if v != nil && v.Valid != nil {
		lo, hi = p.rangeOfValid(v)
	} else {
		for _, c := range p.codes {
			lo, hi = min(lo, c), max(hi, c)
		}
	}
	if hi <= lo {
		return true
	}
	width := uint(bits.Len64(hi - lo))
	drop := uint(0)
	if width > p.room {
		drop = width - p.room
		width = p.room
	}
	p.add(lo, drop, width)
	return drop == 0
}

// rangeOfValid gives the range of the codes that are not of NULLs, and sets those of NULLs into it.
func (p *packer) rangeOfValid(v *vec.Vec) (lo, hi uint64) {
	lo, hi = math.MaxUint64, 0
	for i, w := range p.words {
		if !v.IsNull(int(w & p.s.rowMask)) {
			lo, hi = min(lo, p.codes[i]), max(hi, p.codes[i])
		}
	}
	for i, w := range p.words {
		if v.IsNull(int(w & p.s.rowMask)) {
			p.codes[i] = lo
		}
	}
	return lo, hi
}

// add packs (code - lo) >> drop, which has width bits.
func (p *packer) add(lo uint64, drop, width uint) {
	mask, shift := p.s.rowMask, p.s.rowBits
	for i, w := range p.words {
		p.words[i] = (w&^mask)<<width | (p.codes[i]-lo)>>drop<<shift | w&mask
	}
	p.room -= width
}

// packPiece packs the next bytes of strings, from at.off on. It says whether that was all of them; if not, at
// is where to go on.
func (p *packer) packPiece(v *vec.Vec, at *position) bool {
	if p.room < lengthBits+8 {
		return false
	}
	common, longest := p.commonPrefix(v, at.off)
	at.off += common
	longest -= at.off
	if longest <= 0 {
		return true
	}
	n := min(int(p.room-lengthBits)/8, pieceMax, longest)
	lo, hi := p.pieces(v, at.off, n)
	width := uint(bits.Len64(hi>>lengthBits-lo>>lengthBits)) + lengthBits
	p.add(lo&^lengthMask, 0, width)
	if longest <= n {
		return true
	}
	p.end, p.bytes = packedBytes, n
	at.off += n
	return false
}

// pieces computes as codes n bytes of each string from off on, followed by their length, and gives their range.
func (p *packer) pieces(v *vec.Vec, off, n int) (lo, hi uint64) {
	lo, hi = math.MaxUint64, 0
	drop := uint(8 * (8 - n))
	for i, w := range p.words {
		row := w & p.s.rowMask
		start, end := int(v.Offs[row])+off, int(v.Offs[row+1])
		var c uint64
		switch rest := end - start; {
		case rest <= 0:
		case start+8 <= len(v.Data):
			c = binary.BigEndian.Uint64(v.Data[start:])
			if rest < n {
				c &^= math.MaxUint64 >> (8 * rest)
			}
			c = c>>drop<<lengthBits | uint64(min(rest, n+1))
		default:
			var buf [8]byte
			copy(buf[:], v.Data[start:end])
			c = binary.BigEndian.Uint64(buf[:])
			c = c>>drop<<lengthBits | uint64(min(rest, n+1))
		}
		p.codes[i] = c
		lo, hi = min(lo, c), max(hi, c)
	}
	return lo, hi
}

// commonPrefix gives how many bytes from off on all strings have in common, and the length of the longest
// string. NULLs, which are empty, count only if all rows are NULL or if the column has some packed as equal.
func (p *packer) commonPrefix(v *vec.Vec, off int) (common, longest int) {
	first := v.Bytes(int(p.words[0] & p.s.rowMask))
	longest = len(first)
	if off >= len(first) {
		for _, w := range p.words[1:] {
			row := w & p.s.rowMask
			longest = max(longest, int(v.Offs[row+1]-v.Offs[row]))
		}
		return 0, longest
	}
	prefix := first[off:]
	for _, w := range p.words[1:] {
		x := v.Bytes(int(w & p.s.rowMask))
		longest = max(longest, len(x))
		if len(prefix) > 0 {
			prefix = prefix[:sharedBytes(prefix, x[min(off, len(x)):])]
		}
	}
	return len(prefix), longest
}

// sharedBytes counts the bytes that a and b begin with alike.
func sharedBytes(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
