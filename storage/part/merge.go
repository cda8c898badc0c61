package part

import (
	"cmp"
	"context"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Run gives a sorted run block by block: nil at its end. A block is borrowed until the next call. Blocks that
// say nothing of times are at one time, which does not matter to whoever merges them.
type Run func(ctx context.Context) (*vec.Block, error)

// Merger merges sorted runs into one consolidated, sorted stream, a block at a time: it takes from each run the
// rows up to the least of the runs' last rows at hand, which are all there are up to there, and sorts these as
// one block. So the work for a row is that of sorting it, without a comparison of rows for each, and the memory
// is a block of each run.
//
// A Merger belongs to one goroutine.
type Merger struct {
	inputs []mergeInput
	sorter Sorter
	union  *vec.Block
	ends   []int
	// last is the greatest row of what was merged so far, not given out yet: the next block may have more
	// of it.
	last *vec.Block
}

// mergeInput is one run: block's rows from at on are not merged yet.
type mergeInput struct {
	next  Run
	block *vec.Block
	at    int
	ended bool
}

// NewMerger makes a merger of runs of columns of the given kinds. Either all blocks of all runs have times, or
// none has.
func NewMerger(kinds []types.Kind, runs []Run) *Merger {
	m := &Merger{union: vec.NewBlock(kinds, 0)}
	for _, r := range runs {
		m.inputs = append(m.inputs, mergeInput{next: r})
	}
	return m
}

// Next gives the next rows, nil at the end. The block is borrowed until the next call.
func (m *Merger) Next(ctx context.Context) (*vec.Block, error) {
	for {
		if err := m.fill(ctx); err != nil {
			return nil, err
		}
		if len(m.inputs) == 0 {
			out := m.last
			m.last = nil
			return out, nil
		}
		out, err := m.sorter.Consolidate(m.take())
		if err != nil {
			return nil, err
		}
		if out = m.holdLast(out); out.Len > 0 {
			return out, nil
		}
	}
}

// fill gives every input that has not ended a block with rows, and drops those that have.
func (m *Merger) fill(ctx context.Context) error {
	kept := m.inputs[:0]
	for _, in := range m.inputs {
		for in.block == nil || in.at == in.block.Len {
			b, err := in.next(ctx)
			if err != nil {
				return err
			}
			if b == nil {
				in.ended = true
				break
			}
			in.block, in.at = b, 0
		}
		if !in.ended {
			kept = append(kept, in)
		}
	}
	clear(m.inputs[len(kept):])
	m.inputs = kept
	return nil
}

// take gives all rows up to the least of the inputs' last rows, with the row that was held back.
func (m *Merger) take() *vec.Block {
	least := &m.inputs[0]
	for i := range m.inputs[1:] {
		if in := &m.inputs[i+1]; compareAt(in.block, in.block.Len-1, least.block, least.block.Len-1) < 0 {
			least = in
		}
	}
	bound, boundAt := least.block, least.block.Len-1
	ends := m.ends[:0]
	only := -1
	for i := range m.inputs {
		ends = append(ends, m.inputs[i].upTo(bound, boundAt))
		switch {
		case ends[i] == m.inputs[i].at:
		case only < 0:
			only = i
		default:
			only = len(m.inputs)
		}
	}
	m.ends = ends
	if only < len(m.inputs) && m.last == nil && !invariants.Sometimes(50) {
		// Nothing else lies between: no need to copy.
		in := &m.inputs[only]
		from := in.at
		in.at = ends[only]
		return in.block.Slice(from, in.at)
	}
	m.union.Reset()
	m.union.Diffs, m.union.Times = nil, nil
	if m.last != nil {
		m.union.AppendBlock(m.last)
		m.last = nil
	}
	for i := range m.inputs {
		in := &m.inputs[i]
		if ends[i] > in.at {
			m.union.AppendRange(in.block, in.at, ends[i])
			in.at = ends[i]
		}
	}
	return m.union
}

// upTo gives the end of in's rows that are not past row k of bound.
func (in *mergeInput) upTo(bound *vec.Block, k int) int {
	if in.block == bound {
		return k + 1
	}
	lo, hi := in.at, in.block.Len
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if compareAt(in.block, mid, bound, k) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// compareAt orders two updates of different blocks by row, then time.
func compareAt(a *vec.Block, i int, b *vec.Block, j int) int {
	if c := a.CompareRows(i, b, j); c != 0 || a.Times == nil {
		return c
	}
	return cmp.Compare(a.Times[i], b.Times[j])
}

// holdLast keeps back the last row of what was merged. Rows of the next round are at or past it.
func (m *Merger) holdLast(b *vec.Block) *vec.Block {
	if b.Len == 0 {
		return b
	}
	n := b.Len - 1
	m.last = b.Slice(n, n+1).Clone()
	return b.Slice(0, n)
}
