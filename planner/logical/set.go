package logical

import (
	"math/bits"
	"slices"
)

// Set is a set of column positions; the zero Set is empty. A copy shares memory: Clone before changing one.
type Set struct{ words []uint64 }

// SetOf makes a set.
func SetOf(cols ...int) Set {
	var s Set
	for _, c := range cols {
		s.Add(c)
	}
	return s
}

// Add puts a position in.
func (s *Set) Add(i int) {
	for i>>6 >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[i>>6] |= 1 << (i & 63)
}

// AddAll puts all of t in.
func (s *Set) AddAll(t Set) {
	for len(s.words) < len(t.words) {
		s.words = append(s.words, 0)
	}
	for i, w := range t.words {
		s.words[i] |= w
	}
}

// Remove takes a position out.
func (s *Set) Remove(i int) {
	if i>>6 < len(s.words) {
		s.words[i>>6] &^= 1 << (i & 63)
	}
}

// Has says whether a position is in.
func (s Set) Has(i int) bool { return i>>6 < len(s.words) && s.words[i>>6]&(1<<(i&63)) != 0 }

// HasAll says whether all positions are in.
func (s Set) HasAll(cols []int) bool {
	for _, c := range cols {
		if !s.Has(c) {
			return false
		}
	}
	return true
}

// Len counts the positions.
func (s Set) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Within says whether every position of s lies in [from, to).
func (s Set) Within(from, to int) bool {
	for _, c := range s.Cols() {
		if c < from || c >= to {
			return false
		}
	}
	return true
}

// Clone copies the set.
func (s Set) Clone() Set { return Set{words: slices.Clone(s.words)} }

// Cols lists the positions in ascending order.
func (s Set) Cols() []int {
	cols := make([]int, 0, s.Len())
	for i, w := range s.words {
		for w != 0 {
			cols = append(cols, i<<6+bits.TrailingZeros64(w))
			w &= w - 1
		}
	}
	return cols
}
