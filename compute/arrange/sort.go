package arrange

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// entry is a row to be sorted: eight of its bytes, and which row it is.
type entry struct {
	prefix uint64
	idx    uint32
}

// sorter sorts rows of an arena by their bytes: radix sort on eight bytes at a time (least significant
// digit first, bytes that do not differ skipped), then again within groups that agree so far.
type sorter struct {
	data    []byte
	offs    []uint32
	scratch []entry
}

// radixMin is the group size from which radix sorting beats comparing.
const radixMin = 192

func (s *sorter) row(e entry) []byte { return s.data[s.offs[e.idx]:s.offs[e.idx+1]] }

// sort orders ents by row bytes; rows with equal bytes stay in the order of idx.
func (s *sorter) sort(ents []entry) {
	if cap(s.scratch) < len(ents) {
		s.scratch = make([]entry, len(ents))
	}
	s.level(ents, 0)
}

// level sorts rows that agree on the first 8·depth bytes.
func (s *sorter) level(ents []entry, depth int) {
	if len(ents) < 2 {
		return
	}
	if len(ents) < radixMin {
		s.compareSort(ents, 8*depth)
		return
	}
	short := false
	for i := range ents {
		tail := s.row(ents[i])[min(8*depth, len(s.row(ents[i]))):]
		ents[i].prefix = prefix(tail)
		short = short || len(tail) <= 8
	}
	s.radix(ents)
	for at := 0; at < len(ents); {
		end := at + 1
		for end < len(ents) && ents[end].prefix == ents[at].prefix {
			end++
		}
		if group := ents[at:end]; len(group) > 1 {
			if short {
				// A row may end within these eight bytes, where padding would hide its length.
				s.compareSort(group, 8*depth)
			} else {
				s.level(group, depth+1)
			}
		}
		at = end
	}
}

// prefix is the first eight bytes as a number, padded with zeros.
func prefix(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var pad [8]byte
	copy(pad[:], b)
	return binary.BigEndian.Uint64(pad[:])
}

func (s *sorter) compareSort(ents []entry, skip int) {
	slices.SortFunc(ents, func(a, b entry) int {
		x, y := s.row(a), s.row(b)
		if c := bytes.Compare(x[min(skip, len(x)):], y[min(skip, len(y)):]); c != 0 {
			return c
		}
		return int(a.idx) - int(b.idx)
	})
}

// radix sorts by prefix, stably.
func (s *sorter) radix(ents []entry) {
	all, any := ^uint64(0), uint64(0)
	for _, e := range ents {
		all &= e.prefix
		any |= e.prefix
	}
	differ := all ^ any
	from, to := ents, s.scratch[:len(ents)]
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var count [256]int
		for i := range from {
			count[from[i].prefix>>shift&0xff]++
		}
		sum := 0
		for d := range count {
			count[d], sum = sum, sum+count[d]
		}
		for i := range from {
			d := from[i].prefix >> shift & 0xff
			to[count[d]] = from[i]
			count[d]++
		}
		from, to = to, from
	}
	if &from[0] != &ents[0] {
		copy(ents, from)
	}
}
