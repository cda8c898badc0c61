package part

import (
	"math/bits"
	"slices"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/vec"
)

// Sorter orders rows column by column (as vec.Compare does), then by time. It packs as many columns as fit,
// each narrowed to the range of its values, into the high bits of a word whose low bits are the row's number,
// and sorts the words by radix; rows that tie go on with the columns that did not fit.
//
// A Sorter has scratch memory and belongs to one goroutine.
type Sorter struct {
	b           *vec.Block
	words, swap []uint64
	codes       []uint64
	perm        []int32
	dup         []bool
	rowBits     uint
	rowMask     uint64
}

// position is where in a row's columns a comparison goes on: at byte off of column col (off is 0 but for
// columns of kind Bytes). The column past the last one is the time.
type position struct{ col, off int }

const (
	// insertionMax is the size up to which rows are sorted by comparing them: below it, setting up a radix
	// pass costs more than it saves.
	insertionMax = 24
	// comparisonMax is the size up to which words are sorted by comparing them.
	comparisonMax = 512
	// wideDigitMin is the size from which a radix pass takes 11 bits instead of 8: a table of 2048 counters
	// must pay for itself.
	wideDigitMin = 1 << 13
)

// Sort gives the order of b's rows as positions, and which of them (by place in that order) are equal to the
// one before, time included. perm is nil if the rows are in order already. Both are borrowed until the next
// call.
func (s *Sorter) Sort(b *vec.Block) (perm []int32, dup []bool) {
	n := b.Len
	s.b = b
	s.rowBits = uint(bits.Len(uint(max(n-1, 0))))
	s.rowMask = uint64(1)<<s.rowBits - 1
	s.words, s.swap, s.codes = grow(s.words, n), grow(s.swap, n), grow(s.codes, n)
	s.perm, s.dup = grow(s.perm, n), grow(s.dup, n)
	clear(s.dup)
	for i := range s.words {
		s.words[i] = uint64(i)
	}
	moved := s.sort(0, n, position{})
	s.b = nil
	if !moved {
		return nil, s.dup
	}
	for i, w := range s.words {
		s.perm[i] = int32(w & s.rowMask)
	}
	return s.perm, s.dup
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// sort orders words[lo:hi], rows that are equal before position at, whose words are just their numbers. It
// says whether any row moved. The words keep their numbers in the low bits.
func (s *Sorter) sort(lo, hi int, at position) bool {
	if hi-lo < 2 {
		return false
	}
	if hi-lo <= insertionMax && !invariants.Sometimes(50) {
		return s.insertion(lo, hi, at.col)
	}
	p := packer{s: s, words: s.words[lo:hi], codes: s.codes[:hi-lo], room: 64 - s.rowBits}
	p.pack(at)
	moved := !slices.IsSorted(p.words)
	if moved {
		s.radix(lo, hi, 64-s.rowBits-p.room)
	}
	for i := lo; i < hi; {
		key := s.words[i] >> s.rowBits
		end := i + 1
		for end < hi && s.words[end]>>s.rowBits == key {
			end++
		}
		if end-i > 1 {
			moved = s.ties(i, end, &p, key) || moved
		}
		i = end
	}
	return moved
}

// ties orders words[lo:hi], of which all that p packed is equal.
func (s *Sorter) ties(lo, hi int, p *packer, key uint64) bool {
	if p.end == packedAll {
		for i := lo + 1; i < hi; i++ {
			s.dup[i] = true
		}
		return false
	}
	next := p.next
	if p.end == packedBytes && int(key&lengthMask) <= p.bytes {
		// These strings ended within what was packed.
		next = position{col: next.col + 1}
	}
	for i := lo; i < hi; i++ {
		s.words[i] &= s.rowMask
	}
	return s.sort(lo, hi, next)
}

// radix sorts words[lo:hi] by the keyBits bits above the row number; equal keys stay in order.
func (s *Sorter) radix(lo, hi int, keyBits uint) {
	n := hi - lo
	if n <= comparisonMax && !invariants.Sometimes(50) {
		slices.Sort(s.words[lo:hi])
		return
	}
	width := uint(8)
	if n >= wideDigitMin {
		width = 11
	}
	// Digits of equal size: 24 bits are better taken as three of 8 than as 11, 11 and 2.
	passes := (keyBits + width - 1) / width
	width = (keyBits + passes - 1) / passes
	src, dst := s.words[lo:hi], s.swap[lo:hi]
	var counts [1 << 11]uint32
	for pass := range passes {
		shift := s.rowBits + pass*width
		mask := uint64(1)<<width - 1
		table := counts[:1<<width]
		clear(table)
		for _, w := range src {
			table[w>>shift&mask]++
		}
		if table[src[0]>>shift&mask] == uint32(n) {
			continue
		}
		sum := uint32(0)
		for d, c := range table {
			table[d] = sum
			sum += c
		}
		for _, w := range src {
			d := w >> shift & mask
			dst[table[d]] = w
			table[d]++
		}
		src, dst = dst, src
	}
	if &src[0] != &s.words[lo] {
		copy(s.words[lo:hi], src)
	}
}

// insertion orders words[lo:hi] by comparing rows from column col on.
func (s *Sorter) insertion(lo, hi, col int) bool {
	moved := false
	w := s.words[lo:hi]
	for i := 1; i < len(w); i++ {
		x := w[i]
		k := i
		for k > 0 {
			if s.compare(int(w[k-1]&s.rowMask), int(x&s.rowMask), col) <= 0 {
				break
			}
			w[k] = w[k-1]
			k--
		}
		w[k] = x
		moved = moved || k != i
	}
	for i := 1; i < len(w); i++ {
		s.dup[lo+i] = s.compare(int(w[i-1]&s.rowMask), int(w[i]&s.rowMask), col) == 0
	}
	return moved
}

func (s *Sorter) compare(i, j, col int) int {
	b := s.b
	for c := col; c < len(b.Cols); c++ {
		if r := b.Cols[c].Compare(i, &b.Cols[c], j); r != 0 {
			return r
		}
	}
	if b.Times == nil || b.Times[i] == b.Times[j] {
		return 0
	}
	if b.Times[i] < b.Times[j] {
		return -1
	}
	return 1
}
