package sink

import (
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Subscribe is the sink of a subscription: it gathers a tick's changes and hands them to a Feed.
type Subscribe struct {
	feed *protocol.Feed
	// noSnapshot leaves out the first tick.
	noSnapshot bool
	rows       *vec.Block
	err        *pgerr.Error
	tick       dataflow.Tick
}

// NewSubscribe makes the sink for rows of the given types.
func NewSubscribe(cols []types.T, noSnapshot bool, feed *protocol.Feed) *Subscribe {
	kinds := make([]types.Kind, len(cols))
	for i, c := range cols {
		kinds[i] = c.Kind()
	}
	return &Subscribe{feed: feed, noSnapshot: noSnapshot, rows: vec.NewBlock(kinds, 0)}
}

// Begin is dataflow.Operator's.
func (s *Subscribe) Begin(_ int, t *dataflow.Tick) { s.tick = *t }

// Absorb is dataflow.Operator's.
func (s *Subscribe) Absorb(lane *dataflow.Lane, _, _ int, b *vec.Block) {
	if s.noSnapshot && s.tick.Fresh {
		return
	}
	s.rows.AppendBlock(b)
	if b.Times == nil {
		for range b.Len {
			s.rows.Times = append(s.rows.Times, uint64(s.tick.At))
		}
	}
	if s.rows.Size() > s.feed.Max() {
		lane.Abort(protocol.ErrLag)
	}
}

// AbsorbErrors is dataflow.ErrorSink's: an error ends the subscription, since what was delivered cannot be
// taken back.
func (s *Subscribe) AbsorbErrors(_ *dataflow.Lane, _ *dataflow.Tick, b *vec.Block) {
	for i := range b.Len {
		if b.Diff(i) > 0 && s.err == nil {
			s.err = pgerr.Decode(b.Cols[0].Bytes(i))
		}
	}
}

// Emit is dataflow.Operator's.
func (s *Subscribe) Emit(*dataflow.Lane, int, *dataflow.Output) bool { return false }

// End is dataflow.Operator's.
func (s *Subscribe) End(*dataflow.Lane, int) {}

// Deliver hands over what the ticks up to upper gave.
func (s *Subscribe) Deliver(upper tvc.Frontier) {
	if s.err != nil {
		s.feed.Fail(s.err)
		return
	}
	if s.rows.Len == 0 {
		s.feed.Push(protocol.Delivery{Upper: upper})
		return
	}
	out := inTimeOrder(s.rows.Consolidated())
	s.rows = vec.NewBlock(s.rows.Kinds(), 0)
	s.feed.Push(protocol.Delivery{Rows: out, Upper: upper})
}

// inTimeOrder sorts a consolidated block by time, rows of one time by their columns.
func inTimeOrder(b *vec.Block) *vec.Block {
	out := vec.NewBlock(b.Kinds(), b.Len)
	if b.Len == 0 {
		return out
	}
	dataflow.EachTime(b, func(t uint64, rows *vec.Block) {
		out.AppendBlock(rows)
		for range rows.Len {
			out.Times = append(out.Times, t)
		}
	})
	return out
}
