package op

import (
	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// counter keeps how often each value of some columns comes, in shares; Threshold and Guard differ in what
// they make of it.
type counter struct {
	kinds  []types.Kind
	key    *row.Key
	shares []countShare
}

type countShare struct {
	turns
	table   arrange.Table
	counts  []int64
	was     []int64
	touched []int32
	mark    []uint32
	pass    uint32
	at      int
	buf     []byte
}

func newCounter(workers int, kinds []types.Kind, cols []int) counter {
	return counter{kinds: kinds, key: row.AscKey(kinds, cols), shares: make([]countShare, workers)}
}

// counting is a pass of a share: report is called for every touched value, with how often it came before and
// comes now, until it says that the round is full.
type counting struct {
	*countShare
	key    *row.Key
	report func(lane *dataflow.Lane, g int32, was, now int64) (full bool)
}

func (c *counter) counting(w int) counting { return counting{countShare: &c.shares[w], key: c.key} }

func (s *countShare) start() {
	s.pass++
	s.touched, s.was, s.at = s.touched[:0], s.was[:0], 0
}

func (c counting) absorb(b *vec.Block) {
	s := c.countShare
	for i := range b.Len {
		s.buf = c.key.Append(s.buf[:0], b, i)
		g, added := s.table.Put(s.buf)
		if added && int(g) >= len(s.counts) {
			s.counts, s.mark = append(s.counts, 0), append(s.mark, 0)
		}
		if s.mark[g] != s.pass {
			s.mark[g] = s.pass
			s.touched, s.was = append(s.touched, g), append(s.was, s.counts[g])
		}
		s.counts[g] += b.Diff(i)
	}
}

func (s *countShare) seal() {}

func (c counting) give(lane *dataflow.Lane, _ *dataflow.Output) (full bool) {
	s := c.countShare
	for s.at < len(s.touched) && !full {
		g := s.touched[s.at]
		full = c.report(lane, g, s.was[s.at], s.counts[g])
		if s.counts[g] == 0 {
			s.table.Remove(g)
		}
		s.at++
	}
	return full
}

func (s *countShare) done() {}

// Threshold keeps the rows that count more than zero times: what EXCEPT and INTERSECT are made of.
type Threshold struct{ counter }

// NewThreshold makes the operator for rows of the given kinds.
func NewThreshold(workers int, kinds []types.Kind) *Threshold {
	cols := make([]int, len(kinds))
	for i := range cols {
		cols[i] = i
	}
	return &Threshold{newCounter(workers, kinds, cols)}
}

// Begin is dataflow.Operator's.
func (t *Threshold) Begin(w int, tick *dataflow.Tick) { t.shares[w].begin(t.counting(w), tick) }

// Absorb is dataflow.Operator's.
func (t *Threshold) Absorb(_ *dataflow.Lane, w, _ int, b *vec.Block) {
	t.shares[w].take(t.counting(w), t.kinds, b)
}

// Emit is dataflow.Operator's.
func (t *Threshold) Emit(lane *dataflow.Lane, w int, out *dataflow.Output) bool {
	b := out.Block()
	dst := make([]*vec.Vec, len(t.kinds))
	for c := range dst {
		dst[c] = &b.Cols[c]
	}
	p := t.counting(w)
	p.report = func(_ *dataflow.Lane, g int32, was, now int64) bool {
		if diff := max(now, 0) - max(was, 0); diff != 0 {
			t.key.Decode(p.table.Key(g), dst)
			if p.tick.Multi {
				b.Times = append(b.Times, uint64(p.tick.At))
			}
			pushDiff(b, diff)
		}
		return b.Len >= dataflow.RoundRows
	}
	return p.emit(p, lane, out)
}

// End is dataflow.Operator's.
func (t *Threshold) End(*dataflow.Lane, int) {}

// Guard emits nothing; it makes the result an error for as long as any value of the key columns comes more
// than once.
type Guard struct {
	counter
	err error
}

// NewGuard guards the given columns of rows of the given kinds.
func NewGuard(workers int, kinds []types.Kind, keys []int, err error) *Guard {
	return &Guard{counter: newCounter(workers, kinds, keys), err: err}
}

// Begin is dataflow.Operator's.
func (g *Guard) Begin(w int, tick *dataflow.Tick) { g.shares[w].begin(g.counting(w), tick) }

// Absorb is dataflow.Operator's.
func (g *Guard) Absorb(_ *dataflow.Lane, w, _ int, b *vec.Block) {
	g.shares[w].take(g.counting(w), g.kinds, b)
}

// Emit is dataflow.Operator's.
func (g *Guard) Emit(lane *dataflow.Lane, w int, out *dataflow.Output) bool {
	p := g.counting(w)
	p.report = func(lane *dataflow.Lane, _ int32, was, now int64) bool {
		if (was > 1) != (now > 1) {
			lane.Fail(g.err, oneIfPositive(now-1)-oneIfPositive(was-1), uint64(p.tick.At))
		}
		return false
	}
	return p.emit(p, lane, out)
}

// End is dataflow.Operator's.
func (g *Guard) End(*dataflow.Lane, int) {}
