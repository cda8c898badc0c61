package dataflow

import (
	"cmp"
	"slices"

	"github.com/tributary-db/tributary/sql/vec"
)

func sortByTime(perm []int32, times []uint64) {
	slices.SortStableFunc(perm, func(a, b int32) int { return cmp.Compare(times[a], times[b]) })
}

// EachTime calls f once for each distinct time of the block's rows, ascending, with the rows at that time
// as a block without times. The block f gets is borrowed. It is how an operator whose state is "now" takes
// a tick of several times: as several ticks of one.
func EachTime(b *vec.Block, f func(t uint64, rows *vec.Block)) {
	perm := timeOrder(b)
	rows := vec.NewBlock(b.Kinds(), 0)
	for at := 0; at < len(perm); {
		t := b.Times[perm[at]]
		end := at
		for end < len(perm) && b.Times[perm[end]] == t {
			end++
		}
		rows.Reset()
		rows.AppendSel(b, perm[at:end])
		rows.Times = nil
		f(t, rows)
		at = end
	}
}
