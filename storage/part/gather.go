package part

import (
	"fmt"
	"math/bits"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// gather makes a block of the rows of b at the given positions, in fresh memory of just the right size. The
// diffs are given; nil means once each.
func gather(b *vec.Block, sel []int32, diffs []int64) *vec.Block {
	out := &vec.Block{Len: len(sel), Cols: make([]vec.Vec, len(b.Cols)), Diffs: diffs}
	for c := range b.Cols {
		out.Cols[c] = gatherColumn(&b.Cols[c], sel)
	}
	if b.Times != nil {
		out.Times = pick(b.Times, sel)
	}
	return out
}

func pick[T any](src []T, sel []int32) []T {
	out := make([]T, len(sel))
	for i, s := range sel {
		out[i] = src[s]
	}
	return out
}

func gatherColumn(v *vec.Vec, sel []int32) vec.Vec {
	out := vec.Vec{Kind: v.Kind, Len: len(sel), Valid: gatherValid(v, sel)}
	switch v.Kind {
	case types.Bool:
		out.Bools = pick(v.Bools, sel)
	case types.Int:
		out.Ints = pick(v.Ints, sel)
	case types.Float:
		out.Floats = pick(v.Floats, sel)
	case types.Bytes:
		gatherBytes(v, sel, &out)
	default:
		panic(fmt.Sprintf("part: gather of %v", v.Kind))
	}
	return out
}

// gatherValid gathers a bitmap; nil if none of the values is NULL. The bits past the last value are zero, so
// that equal values are equal bytes.
func gatherValid(v *vec.Vec, sel []int32) []byte {
	if v.Valid == nil {
		return nil
	}
	out := make([]byte, (len(sel)+7)>>3)
	set := 0
	for i, s := range sel {
		out[i>>3] |= v.Valid[s>>3] >> (s & 7) & 1 << (i & 7)
	}
	for _, x := range out {
		set += bits.OnesCount8(x)
	}
	if set == len(sel) {
		return nil
	}
	return out
}

func gatherBytes(v *vec.Vec, sel []int32, out *vec.Vec) {
	if len(sel) == 0 {
		return
	}
	out.Offs = make([]int32, len(sel)+1)
	total := int32(0)
	for i, s := range sel {
		total += v.Offs[s+1] - v.Offs[s]
		out.Offs[i+1] = total
	}
	out.Data = make([]byte, total)
	for i, s := range sel {
		copy(out.Data[out.Offs[i]:], v.Data[v.Offs[s]:v.Offs[s+1]])
	}
}

// Consolidate gives the rows of b sorted, equal ones (at equal times) added up and zeros left out. The result
// has memory of its own, or is b itself if nothing had to change. A sum that overflows is an error.
func (s *Sorter) Consolidate(b *vec.Block) (*vec.Block, error) {
	perm, dup := s.Sort(b)
	if perm == nil && !anySet(dup) && !anyZero(b.Diffs) {
		return b, nil
	}
	if !anySet(dup) && b.Diffs == nil {
		return gather(b, perm, nil), nil
	}
	sel, diffs, err := sums(b, perm, dup)
	if err != nil {
		return nil, err
	}
	return gather(b, sel, diffs), nil
}

// ErrOverflow says that a row counts more often than an int64 can say.
var ErrOverflow = fmt.Errorf("multiplicity out of range")

// sums adds up the diffs of equal rows: the position of one of each, and how often it counts.
func sums(b *vec.Block, perm []int32, dup []bool) (sel []int32, diffs []int64, err error) {
	sel, diffs = make([]int32, 0, b.Len), make([]int64, 0, b.Len)
	at := func(i int) int32 {
		if perm == nil {
			return int32(i)
		}
		return perm[i]
	}
	for i := 0; i < b.Len; {
		row := at(i)
		sum := b.Diff(int(row))
		for i++; i < b.Len && dup[i]; i++ {
			d := b.Diff(int(at(i)))
			next := sum + d
			if (next > sum) != (d > 0) && d != 0 {
				return nil, nil, ErrOverflow
			}
			sum = next
		}
		if sum != 0 {
			sel, diffs = append(sel, row), append(diffs, sum)
		}
	}
	return sel, normalDiffs(diffs), nil
}

// normalDiffs gives nil for diffs that are all 1.
func normalDiffs(diffs []int64) []int64 {
	for _, d := range diffs {
		if d != 1 {
			return diffs
		}
	}
	return nil
}

func anySet(dup []bool) bool {
	for _, d := range dup {
		if d {
			return true
		}
	}
	return false
}

func anyZero(diffs []int64) bool {
	for _, d := range diffs {
		if d == 0 {
			return true
		}
	}
	return false
}
