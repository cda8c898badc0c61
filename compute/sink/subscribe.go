package sink

import (
	"context"

	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Subscribe is the sink of a subscription: it gathers a tick's changes and hands them to a Feed. What there is
// at the start waits for a client that is slow; of later changes only so much may wait as the feed allows.
type Subscribe struct {
	feed *protocol.Feed
	// snapshot gathers the first tick, as bytes that sort; nil after it, or if it is not wanted.
	snapshot *arrange.Builder
	key      *row.Key
	rows     *vec.Block
	err      *pgerr.Error
	tick     dataflow.Tick
}

// NewSubscribe makes the sink for rows of the given types.
func NewSubscribe(cols []types.T, noSnapshot bool, feed *protocol.Feed) *Subscribe {
	kinds, key := make([]types.Kind, len(cols)), make([]row.KeyCol, len(cols))
	for i, c := range cols {
		kinds[i] = c.Kind()
		key[i] = row.KeyCol{Col: i, Kind: kinds[i]}
	}
	s := &Subscribe{feed: feed, rows: vec.NewBlock(kinds, 0), key: row.NewKey(key)}
	if !noSnapshot {
		s.snapshot = &arrange.Builder{}
		s.snapshot.Reset(0, false)
	}
	return s
}

// Begin is dataflow.Operator's.
func (s *Subscribe) Begin(_ int, t *dataflow.Tick) { s.tick = *t }

// Absorb is dataflow.Operator's.
func (s *Subscribe) Absorb(lane *dataflow.Lane, _, _ int, b *vec.Block) {
	switch {
	case !s.tick.Fresh:
		s.gather(lane, b)
	case s.snapshot != nil:
		for i := range b.Len {
			s.snapshot.Data = s.key.Append(s.snapshot.Data, b, i)
			s.snapshot.End(b.Diff(i), 0)
		}
	}
}

func (s *Subscribe) gather(lane *dataflow.Lane, b *vec.Block) {
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
func (s *Subscribe) Deliver(ctx context.Context, upper tvc.Frontier) error {
	if s.err != nil {
		s.feed.Fail(s.err)
		return nil
	}
	if s.snapshot != nil {
		if err := s.deliverSnapshot(ctx, upper); err != nil {
			return err
		}
	}
	if s.rows.Len == 0 {
		s.feed.Push(protocol.Delivery{Upper: upper})
		return nil
	}
	out := inTimeOrder(s.rows.Consolidated())
	s.rows = vec.NewBlock(s.rows.Kinds(), 0)
	s.feed.Push(protocol.Delivery{Rows: out, Upper: upper})
	return nil
}

// deliverSnapshot hands over the contents in portions, as the client takes them. They are so small that one that waits
// leaves room for the changes behind it.
func (s *Subscribe) deliverSnapshot(ctx context.Context, upper tvc.Frontier) error {
	var cur arrange.Cursor
	cur.OpenAll(s.snapshot.Finish())
	s.snapshot = nil
	cur.First()
	at := uint64(upper.Last())
	for more := cur.Next(); more; {
		b := vec.NewBlock(s.rows.Kinds(), 0)
		dst := make([]*vec.Vec, len(b.Cols))
		for c := range dst {
			dst[c] = &b.Cols[c]
		}
		for bytes := 0; more && b.Len < dataflow.RoundRows && bytes < s.feed.Max()/8; more = cur.Next() {
			bytes += len(cur.Row()) + 16
			s.key.Decode(cur.Row(), dst)
			b.Diffs, b.Times = append(b.Diffs, cur.Diff()), append(b.Times, at)
			b.Len++
		}
		if err := s.feed.PushWhenRoom(ctx, protocol.Delivery{Rows: b, Upper: tvc.Frontier(at)}); err != nil {
			return err
		}
	}
	return nil
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
