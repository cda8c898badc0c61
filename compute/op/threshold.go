package op

import (
	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// counter keeps how often each value of some columns comes, in shares; Threshold and Guard differ in what
// they make of it.
type counter struct {
	kinds  []types.Kind
	key    *row.Key
	shares []countShare
}

type countShare struct {
	table   arrange.Table
	counts  []int64
	was     []int64
	touched []int32
	mark    []uint32
	pass    uint32
	tick    dataflow.Tick
	pending *vec.Block
	passes  []timedRows
	ready   bool
	at      int
	buf     []byte
}

func newCounter(workers int, kinds []types.Kind, cols []int) counter {
	return counter{kinds: kinds, key: row.AscKey(kinds, cols), shares: make([]countShare, workers)}
}

func (c *counter) begin(w int, t *dataflow.Tick) {
	s := &c.shares[w]
	s.tick, s.ready, s.passes = *t, false, nil
	s.startPass(t.At)
}

func (s *countShare) startPass(at tvc.Time) {
	s.tick.At = at
	s.pass++
	s.touched, s.was, s.at = s.touched[:0], s.was[:0], 0
}

func (c *counter) take(w int, b *vec.Block) {
	s := &c.shares[w]
	if !s.tick.Multi {
		c.count(s, b)
		return
	}
	if s.pending == nil {
		s.pending = vec.NewBlock(c.kinds, b.Len)
	}
	s.pending.AppendBlock(b)
}

func (c *counter) count(s *countShare, b *vec.Block) {
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

// each calls f for every touched value, in every time of the tick, with how often it came before and
// comes now, until f says that the round is full; then each says that there is more.
func (c *counter) each(w int, f func(s *countShare, g int32, was, now int64) (full bool)) (more bool) {
	s := &c.shares[w]
	if s.pending != nil {
		dataflow.EachTime(s.pending, func(t uint64, rows *vec.Block) {
			s.passes = append(s.passes, timedRows{at: tvc.Time(t), rows: rows.Clone()})
		})
		s.pending = nil
	}
	for {
		if !s.ready && s.tick.Multi {
			if len(s.passes) == 0 {
				return false
			}
			s.startPass(s.passes[0].at)
			c.count(s, s.passes[0].rows)
			s.passes = s.passes[1:]
		}
		s.ready = true
		for s.at < len(s.touched) {
			g := s.touched[s.at]
			full := f(s, g, s.was[s.at], s.counts[g])
			if s.counts[g] == 0 {
				s.table.Remove(g)
			}
			s.at++
			if full {
				return true
			}
		}
		s.ready = false
		if !s.tick.Multi {
			return false
		}
	}
}

// Size is about how many bytes are kept.
func (c *counter) Size() int {
	n := 0
	for w := range c.shares {
		n += c.shares[w].table.Size() + 8*cap(c.shares[w].counts)
	}
	return n
}

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
func (t *Threshold) Begin(w int, tick *dataflow.Tick) { t.begin(w, tick) }

// Absorb is dataflow.Operator's.
func (t *Threshold) Absorb(_ *dataflow.Lane, w, _ int, b *vec.Block) { t.take(w, b) }

// Emit is dataflow.Operator's.
func (t *Threshold) Emit(_ *dataflow.Lane, w int, out *dataflow.Output) bool {
	b := out.Block()
	dst := make([]*vec.Vec, len(t.kinds))
	for c := range dst {
		dst[c] = &b.Cols[c]
	}
	return t.each(w, func(s *countShare, g int32, was, now int64) bool {
		if diff := max(now, 0) - max(was, 0); diff != 0 {
			t.key.Decode(s.table.Key(g), dst)
			if s.tick.Multi {
				b.Times = append(b.Times, uint64(s.tick.At))
			}
			pushDiff(b, diff)
		}
		return b.Len >= dataflow.RoundRows
	})
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
func (g *Guard) Begin(w int, tick *dataflow.Tick) { g.begin(w, tick) }

// Absorb is dataflow.Operator's.
func (g *Guard) Absorb(_ *dataflow.Lane, w, _ int, b *vec.Block) { g.take(w, b) }

// Emit is dataflow.Operator's.
func (g *Guard) Emit(lane *dataflow.Lane, w int, _ *dataflow.Output) bool {
	return g.each(w, func(s *countShare, _ int32, was, now int64) bool {
		if (was > 1) != (now > 1) {
			lane.Fail(g.err, oneIfPositive(now-1)-oneIfPositive(was-1), uint64(s.tick.At))
		}
		return false
	})
}

// End is dataflow.Operator's.
func (g *Guard) End(*dataflow.Lane, int) {}
