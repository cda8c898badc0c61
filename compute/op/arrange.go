package op

import (
	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Arrange keeps its input sorted by key, for joins of the same dataflow and for whoever reads the index
// it may be. It emits nothing.
type Arrange struct {
	layout *Layout
	// skip has the key columns in which NULL keeps a row out: it could never join.
	skip []int
	// Since, if set, says from when on somebody may read the arrangement; else nobody but the dataflow
	// does, and never before its upper.
	Since  func() tvc.Frontier
	shares []arrangeShare
}

type arrangeShare struct {
	builder arrange.Builder
	spine   arrange.Spine
	delta   []*arrange.Run
	upper   tvc.Frontier
}

// NewArrange arranges by a layout, in the given number of shares. skipNulls are columns that must not be
// NULL in a row that is kept.
func NewArrange(workers int, layout *Layout, skipNulls []int) *Arrange {
	return &Arrange{layout: layout, skip: skipNulls, shares: make([]arrangeShare, workers)}
}

// Layout is how the rows lie.
func (a *Arrange) Layout() *Layout { return a.layout }

// Old gives a share's runs as of before the current tick; between ticks, all of them.
func (a *Arrange) Old(w int) []*arrange.Run { return a.shares[w].spine.Runs() }

// Delta gives the runs of the current tick, once the operator has had its turn.
func (a *Arrange) Delta(w int) []*arrange.Run { return a.shares[w].delta }

// Begin is dataflow.Operator's.
func (a *Arrange) Begin(w int, t *dataflow.Tick) {
	s := &a.shares[w]
	s.builder.Reset(t.At, t.Multi)
	s.upper = t.Upper
}

// Absorb is dataflow.Operator's.
func (a *Arrange) Absorb(_ *dataflow.Lane, w, _ int, b *vec.Block) {
	s := &a.shares[w]
rows:
	for i := range b.Len {
		for _, c := range a.skip {
			if b.Cols[c].IsNull(i) {
				continue rows
			}
		}
		s.builder.Data = a.layout.Append(s.builder.Data, b, i)
		s.builder.End(b.Diff(i), timeOf(b, i))
	}
}

// Emit is dataflow.Operator's.
func (a *Arrange) Emit(_ *dataflow.Lane, w int, _ *dataflow.Output) bool {
	s := &a.shares[w]
	s.delta = s.builder.Finish()
	return false
}

// End is dataflow.Operator's.
func (a *Arrange) End(_ *dataflow.Lane, w int) {
	s := &a.shares[w]
	since := s.upper - 1
	if a.Since != nil {
		since = min(since, a.Since())
	}
	s.spine.Advance(since)
	s.spine.Insert(s.delta)
	s.delta = nil
}

func timeOf(b *vec.Block, i int) uint64 {
	if b.Times == nil {
		return 0
	}
	return b.Times[i]
}
