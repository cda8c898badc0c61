package vec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/types"
)

// Block is rows in columns, with how often each counts. It is what crosses walls.
type Block struct {
	Len  int
	Cols []Vec
	// Diffs says how often each row counts; nil means once each.
	Diffs []int64
	// Times has each row's time; nil where whoever passes the block along knows its one time.
	Times []uint64
}

// NewBlock makes an empty block with columns of the given kinds and room for n rows.
func NewBlock(kinds []types.Kind, n int) *Block {
	b := &Block{Cols: make([]Vec, len(kinds))}
	for i, k := range kinds {
		b.Cols[i] = New(k, n)
	}
	return b
}

// Reset empties the block and keeps its memory; whether it has times is open again.
func (b *Block) Reset() {
	b.Len = 0
	for i := range b.Cols {
		b.Cols[i].Reset()
	}
	if b.Diffs != nil {
		b.Diffs = b.Diffs[:0]
	}
	b.Times = nil
}

// Kinds gives the kinds of the columns.
func (b *Block) Kinds() []types.Kind {
	kinds := make([]types.Kind, len(b.Cols))
	for i := range b.Cols {
		kinds[i] = b.Cols[i].Kind
	}
	return kinds
}

// Diff is how often row i counts.
func (b *Block) Diff(i int) int64 {
	if b.Diffs == nil {
		return 1
	}
	return b.Diffs[i]
}

// needDiffs writes out the diffs if they are implied.
func (b *Block) needDiffs() {
	if b.Diffs == nil {
		b.Diffs = make([]int64, b.Len, b.Len+1)
		for i := range b.Diffs {
			b.Diffs[i] = 1
		}
	}
}

// AppendRow appends one row. Times must be nil.
func (b *Block) AppendRow(diff int64, row ...Datum) {
	for i, d := range row {
		b.Cols[i].AppendDatum(d)
	}
	b.pushDiff(diff)
}

func (b *Block) pushDiff(diff int64) {
	if diff != 1 || b.Diffs != nil {
		b.needDiffs()
		b.Diffs = append(b.Diffs, diff)
	}
	b.Len++
}

// AppendFrom appends row i of src, a block of the same kinds, with the given diff. Its time goes along
// if b has times (an empty b takes to having them as src does).
func (b *Block) AppendFrom(src *Block, i int, diff int64) {
	for c := range b.Cols {
		b.Cols[c].AppendFrom(&src.Cols[c], i)
	}
	if src.Times != nil {
		b.Times = append(b.Times, src.Times[i])
	}
	b.pushDiff(diff)
}

// AppendBlock appends all rows of src, a block of the same kinds; both or neither have times, unless b
// is empty.
func (b *Block) AppendBlock(src *Block) { b.AppendRange(src, 0, src.Len) }

// AppendRange appends rows [from, to) of src as AppendBlock does.
func (b *Block) AppendRange(src *Block, from, to int) {
	for c := range b.Cols {
		b.Cols[c].AppendRange(&src.Cols[c], from, to)
	}
	b.AppendCounts(src, from, to)
}

// AppendCounts appends the diffs and times of rows [from, to) of src, for who has appended to the columns
// already, and counts the rows.
func (b *Block) AppendCounts(src *Block, from, to int) {
	b.appendDiffs(src, from, to)
	if src.Times != nil {
		b.Times = append(b.Times, src.Times[from:to]...)
	}
	b.Len += to - from
}

func (b *Block) appendDiffs(src *Block, from, to int) {
	if src.Diffs == nil && b.Diffs == nil {
		return
	}
	b.needDiffs()
	if src.Diffs != nil {
		b.Diffs = append(b.Diffs, src.Diffs[from:to]...)
		return
	}
	for range to - from {
		b.Diffs = append(b.Diffs, 1)
	}
}

// AppendSel appends the rows of src at the given positions.
func (b *Block) AppendSel(src *Block, sel []int32) {
	for c := range b.Cols {
		b.Cols[c].AppendSel(&src.Cols[c], sel)
	}
	b.AppendCountsSel(src, sel)
}

// AppendCountsSel is AppendCounts for the rows of src at the given positions.
func (b *Block) AppendCountsSel(src *Block, sel []int32) {
	if src.Diffs != nil || b.Diffs != nil {
		b.needDiffs()
		for _, i := range sel {
			b.Diffs = append(b.Diffs, src.Diff(int(i)))
		}
	}
	if src.Times != nil {
		for _, i := range sel {
			b.Times = append(b.Times, src.Times[i])
		}
	}
	b.Len += len(sel)
}

// Slice is rows [from, to), sharing b's memory as Vec.Slice does.
func (b *Block) Slice(from, to int) *Block {
	s := &Block{Len: to - from, Cols: make([]Vec, len(b.Cols))}
	for c := range b.Cols {
		s.Cols[c] = b.Cols[c].Slice(from, to)
	}
	if b.Diffs != nil {
		s.Diffs = b.Diffs[from:to:to]
	}
	if b.Times != nil {
		s.Times = b.Times[from:to:to]
	}
	return s
}

// Clone copies the block into memory of its own.
func (b *Block) Clone() *Block {
	c := &Block{Len: b.Len, Cols: make([]Vec, len(b.Cols)), Diffs: slices.Clone(b.Diffs), Times: slices.Clone(b.Times)}
	for i := range b.Cols {
		c.Cols[i] = b.Cols[i].Clone()
	}
	return c
}

// Size is about how many bytes the block takes.
func (b *Block) Size() int {
	n := 8*len(b.Diffs) + 8*len(b.Times)
	for i := range b.Cols {
		n += b.Cols[i].Size()
	}
	return n
}

// Row gives row i, borrowed from the block, in dst's memory.
func (b *Block) Row(i int, dst []Datum) []Datum {
	dst = dst[:0]
	for c := range b.Cols {
		dst = append(dst, b.Cols[c].Datum(i))
	}
	return dst
}

// CompareRows orders row i of b against row j of o, column by column, as Vec.Compare does.
func (b *Block) CompareRows(i int, o *Block, j int) int {
	for c := range b.Cols {
		if r := b.Cols[c].Compare(i, &o.Cols[c], j); r != 0 {
			return r
		}
	}
	return 0
}

// SortPerm gives the positions of b's rows ordered by row, then time. It is the reference for tests and
// for small blocks; large runs are sorted as bytes (package row).
func (b *Block) SortPerm() []int32 {
	perm := make([]int32, b.Len)
	for i := range perm {
		perm[i] = int32(i)
	}
	slices.SortFunc(perm, func(x, y int32) int {
		if r := b.CompareRows(int(x), b, int(y)); r != 0 {
			return r
		}
		if b.Times != nil {
			return cmp.Compare(b.Times[x], b.Times[y])
		}
		return 0
	})
	return perm
}

// Consolidated gives the rows of b with equal rows (at equal times) added up and zeros left out, sorted.
// It is meant for small blocks and tests.
func (b *Block) Consolidated() *Block {
	out := NewBlock(b.Kinds(), b.Len)
	perm := b.SortPerm()
	for at := 0; at < len(perm); {
		first, sum := int(perm[at]), int64(0)
		end := at
		for ; end < len(perm); end++ {
			i := int(perm[end])
			if b.CompareRows(first, b, i) != 0 || b.Times != nil && b.Times[first] != b.Times[i] {
				break
			}
			sum += b.Diff(i)
		}
		if sum != 0 {
			out.AppendFrom(b, first, sum)
		}
		at = end
	}
	return out
}

// String shows the rows one a line, with diff and time, for tests.
func (b *Block) String() string {
	var s strings.Builder
	for i := range b.Len {
		for c := range b.Cols {
			if c > 0 {
				s.WriteByte(' ')
			}
			s.WriteString(b.Cols[c].Datum(i).GoString())
		}
		s.WriteString(" ×" + strconv.FormatInt(b.Diff(i), 10))
		if b.Times != nil {
			s.WriteString(" @" + strconv.FormatUint(b.Times[i], 10))
		}
		s.WriteByte('\n')
	}
	return s.String()
}
