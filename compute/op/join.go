package op

import (
	"bytes"
	"math/bits"

	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/vec"
)

// Join gives the pairs of rows of two arrangements that have equal keys. It keeps nothing: in each tick
// it joins the changes of the left side with all of the right, new changes included, and what the left
// was before with the changes of the right. Both sides' keys have the same kinds, and both are dealt to
// shares by them.
type Join struct {
	left, right *Arrange
	// out has, for each column emitted, its column of the left side, or len(left kinds) plus its column
	// of the right side.
	out    []int
	shares []joinShare
}

// NewJoin joins two arrangements. out picks the columns: those of the left, then those of the right side,
// are numbered from 0.
func NewJoin(workers int, left, right *Arrange, out []int) *Join {
	return &Join{left: left, right: right, out: out, shares: make([]joinShare, workers)}
}

// joinShare is where a share stands in its turn.
type joinShare struct {
	multi bool
	// phase is 0 while the changes of the left side are joined, 1 for those of the right side.
	phase int
	// outer is where the changes stand that are joined with inner; rest are the runs of changes behind it.
	outer arrange.Scan
	rest  []*arrange.Run
	inner []innerRun
	// key is the key of the outer row being joined; k and at say where in inner.
	key []byte
	k   int
	at  arrange.Scan
	// mid says that the pairs of the outer row are not all made.
	mid          bool
	readL, readR *Reader
	dstL, dstR   []*vec.Vec
	readersFor   *vec.Block
}

// innerRun is one of the runs joined with, and the first of its rows that is not before the current key.
type innerRun struct {
	run  *arrange.Run
	from arrange.Scan
}

// Begin is dataflow.Operator's.
func (j *Join) Begin(w int, t *dataflow.Tick) {
	s := &j.shares[w]
	s.multi, s.phase, s.mid = t.Multi, 0, false
	s.outer, s.rest, s.inner = arrange.Scan{}, nil, s.inner[:0]
	j.start(w, j.left.Delta(w), j.right.Old(w), j.right.Delta(w))
}

// start makes the share join the outer runs with the inner ones.
func (j *Join) start(w int, outer []*arrange.Run, inner ...[]*arrange.Run) {
	s := &j.shares[w]
	s.rest, s.outer, s.inner, s.key, s.mid = outer, arrange.Scan{}, s.inner[:0], nil, false
	for _, runs := range inner {
		for _, r := range runs {
			s.inner = append(s.inner, innerRun{run: r})
		}
	}
}

// Absorb is dataflow.Operator's; a join takes no rows, it reads its arrangements.
func (j *Join) Absorb(*dataflow.Lane, int, int, *vec.Block) {
	invariants.Failf("a join has no port")
}

// Emit is dataflow.Operator's.
func (j *Join) Emit(lane *dataflow.Lane, w int, out *dataflow.Output) bool {
	s := &j.shares[w]
	j.readers(s, out.Block())
	for {
		if !s.mid && !j.nextOuter(s) {
			if s.phase == 1 {
				return false
			}
			s.phase = 1
			j.start(w, j.right.Delta(w), j.left.Old(w))
			continue
		}
		if j.pairs(lane, s, out) {
			return true
		}
	}
}

// readers makes the share's decoders write into the output block.
func (j *Join) readers(s *joinShare, b *vec.Block) {
	if s.readL == nil {
		s.readL, s.readR = j.left.layout.Reader(), j.right.layout.Reader()
		s.dstL, s.dstR = make([]*vec.Vec, len(j.left.layout.kinds)), make([]*vec.Vec, len(j.right.layout.kinds))
	}
	if s.readersFor == b {
		return
	}
	s.readersFor = b
	for i, c := range j.out {
		if c < len(s.dstL) {
			s.dstL[c] = &b.Cols[i]
		} else {
			s.dstR[c-len(s.dstL)] = &b.Cols[i]
		}
	}
	s.readL.Into(s.dstL)
	s.readR.Into(s.dstR)
}

// nextOuter moves to the next changed row of the outer side and to its key's place in the inner runs.
func (j *Join) nextOuter(s *joinShare) bool {
	if len(s.inner) == 0 {
		return false
	}
	if s.outer.Valid() {
		s.outer.Next()
	}
	for !s.outer.Valid() {
		if len(s.rest) == 0 {
			return false
		}
		s.outer.Over(s.rest[0])
		s.rest = s.rest[1:]
		s.key = nil
	}
	layout := j.left.layout
	if s.phase == 1 {
		layout = j.right.layout
	}
	row := s.outer.Row()
	if s.key == nil || !bytes.HasPrefix(row, s.key) {
		first := s.key == nil
		s.key = row[:layout.KeyLen(row)]
		for k := range s.inner {
			in := &s.inner[k]
			if first {
				in.from.Over(in.run)
				in.from.Restart(s.key)
			} else {
				in.from.Seek(s.key)
			}
		}
	}
	s.k, s.at, s.mid = 0, s.inner[0].from, true
	return true
}

// pairs makes the pairs of the current outer row. It says whether it stopped because the round is full.
func (j *Join) pairs(lane *dataflow.Lane, s *joinShare, out *dataflow.Output) (full bool) {
	b := out.Block()
	outerRow, outerDiff, outerTime := s.outer.Row(), s.outer.Diff(), s.outer.Time()
	for {
		for s.at.Has(s.key) {
			lane.Reads++
			if s.phase == 0 {
				s.readL.Read(outerRow)
				s.readR.Read(s.at.Row())
			} else {
				s.readL.Read(s.at.Row())
				s.readR.Read(outerRow)
			}
			pushDiff(b, mulDiff(outerDiff, s.at.Diff()))
			if s.multi {
				b.Times = append(b.Times, max(outerTime, s.at.Time()))
			}
			s.at.Next()
			if b.Len >= dataflow.RoundRows {
				out.Flush()
				return true
			}
		}
		s.k++
		if s.k == len(s.inner) {
			s.mid = false
			return false
		}
		s.at = s.inner[s.k].from
	}
}

// pushDiff closes a row whose columns were appended to b one by one.
func pushDiff(b *vec.Block, diff int64) {
	if diff != 1 && b.Diffs == nil {
		b.Diffs = make([]int64, b.Len, b.Len+64)
		for i := range b.Diffs {
			b.Diffs[i] = 1
		}
	}
	if b.Diffs != nil {
		b.Diffs = append(b.Diffs, diff)
	}
	b.Len++
}

// mulDiff multiplies two diffs. A product that does not fit makes the tick panic, and so the dataflow
// fail: no table holds 2⁶³ rows, so it is reached only through diffs that are wrong already.
func mulDiff(a, b int64) int64 {
	if a == 1 {
		return b
	}
	if b == 1 {
		return a
	}
	hi, lo := bits.Mul64(uint64(abs(a)), uint64(abs(b)))
	if hi != 0 || lo > 1<<62 {
		invariants.Failf("multiplicity overflow: %d times %d", a, b)
	}
	if (a < 0) != (b < 0) {
		return -int64(lo)
	}
	return int64(lo)
}

func abs(a int64) int64 {
	if a < 0 {
		return -a
	}
	return a
}

// End is dataflow.Operator's.
func (j *Join) End(_ *dataflow.Lane, w int) {
	// The runs of this tick are not kept from being merged away.
	s := &j.shares[w]
	clear(s.inner)
	s.inner, s.rest, s.outer, s.at, s.key = s.inner[:0], nil, arrange.Scan{}, arrange.Scan{}, nil
}
