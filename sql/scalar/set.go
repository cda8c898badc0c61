package scalar

import (
	"math"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// set is the constants of an In, made ready to be looked up. It is immutable.
type set struct {
	values  []vec.Datum
	hasNull bool
	// few holds the values of a short list, as bits; table those of a long one, by hash, with empty slots
	// marked in used; strs those of kind Bytes.
	few   []uint64
	table []uint64
	used  []bool
	strs  map[string]struct{}
}

// fewValues is up to how many values are found faster by trying all than by hashing, as measured.
const fewValues = 4

func newSet(e *In) *set {
	s := &set{values: e.Set, hasNull: e.HasNull}
	if e.Arg.Type().Kind() == types.Bytes {
		s.strs = make(map[string]struct{}, len(e.Set))
		for _, d := range e.Set {
			s.strs[d.Str()] = struct{}{}
		}
		return s
	}
	if len(e.Set) <= fewValues {
		for _, d := range e.Set {
			s.few = append(s.few, bitsOf(d))
		}
		return s
	}
	size := 16
	for size < 2*len(e.Set) {
		size *= 2
	}
	s.table, s.used = make([]uint64, size), make([]bool, size)
	for _, d := range e.Set {
		s.insert(bitsOf(d))
	}
	return s
}

func bitsOf(d vec.Datum) uint64 {
	switch d.Kind() {
	case types.Bool:
		return uint64(b2i(d.Bool()))
	case types.Float:
		return floatBits(d.Float())
	}
	return uint64(d.Int())
}

// floatBits is one number for each float that SQL tells apart: values are canonical.
func floatBits(x float64) uint64 { return math.Float64bits(x) }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *set) insert(x uint64) {
	mask := uint64(len(s.table) - 1)
	at := spread(x) & mask
	for s.used[at] && s.table[at] != x {
		at = (at + 1) & mask
	}
	s.table[at], s.used[at] = x, true
}

// spread is a multiplicative hash: the high bits of a product by the golden ratio, brought low.
func spread(x uint64) uint64 { return x * 0x9E3779B97F4A7C15 >> 32 }

func (s *set) has(x uint64) bool {
	if s.table == nil {
		for _, y := range s.few {
			if x == y {
				return true
			}
		}
		return false
	}
	mask := uint64(len(s.table) - 1)
	for at := spread(x) & mask; s.used[at]; at = (at + 1) & mask {
		if s.table[at] == x {
			return true
		}
	}
	return false
}

// hasDatum says whether d, which is not NULL, is one of the values.
func (s *set) hasDatum(d vec.Datum) bool {
	if s.strs != nil {
		_, ok := s.strs[d.Str()]
		return ok
	}
	return s.has(bitsOf(d))
}

// tag tells sets with and without NULL apart.
func (s *set) tag() int { return b2i(s.hasNull) }

// lookup computes dst[i] for every row i of sel (nil: all), 1 for a hit. NULL rows give anything.
func (s *set) lookup(v *vec.Vec, sel []int32, dst []byte) {
	switch v.Kind {
	case types.Bool:
		hit := [2]byte{byte(b2i(s.has(0))), byte(b2i(s.has(1)))}
		for i, x := range v.Bools[:len(dst)] {
			dst[i] = hit[x]
		}
	case types.Int:
		if sel == nil {
			for i, x := range v.Ints[:len(dst)] {
				dst[i] = byte(b2i(s.has(uint64(x))))
			}
		}
		for _, i := range sel {
			dst[i] = byte(b2i(s.has(uint64(v.Ints[i]))))
		}
	case types.Float:
		for i, x := range v.Floats[:len(dst)] {
			dst[i] = byte(b2i(s.has(floatBits(x))))
		}
	case types.Bytes:
		if sel == nil {
			for i := range dst {
				_, ok := s.strs[string(v.Data[v.Offs[i]:v.Offs[i+1]])]
				dst[i] = byte(b2i(ok))
			}
		}
		for _, i := range sel {
			_, ok := s.strs[string(v.Data[v.Offs[i]:v.Offs[i+1]])]
			dst[i] = byte(b2i(ok))
		}
	}
}
