package engine

import (
	"context"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/source"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// tickRows is about how many updates of each input make up one tick, where a dataflow is so far behind that
// there are more. What was appended in one step is not cut.
const tickRows = 128 << 10

// advance takes in all updates below bound.
func (d *running) advance(ctx context.Context, bound tvc.Frontier) error {
	for d.upper < bound {
		if err := d.step(ctx, bound); err != nil {
			return err
		}
	}
	return nil
}

// step takes in the updates below some frontier at most bound, in one tick.
func (d *running) step(ctx context.Context, bound tvc.Frontier) error {
	for _, in := range d.inputs {
		bound = in.Cut(d.upper, bound, tickRows)
	}
	d.attempt = bound
	d.streams = d.streams[:0]
	defer d.closeStreams()
	t := dataflow.Tick{Lower: d.upper, Upper: bound, Began: clock()}
	first, any, rows := tvc.Time(0), false, 0
	for i, in := range d.inputs {
		s, err := in.Updates(ctx, d.upper, bound)
		if err != nil {
			return ofStorage(err)
		}
		if s == nil {
			continue
		}
		d.streams = append(d.streams, stream{s, i})
		rows += s.Rows()
		lo, hi, ok := s.Times()
		switch {
		case !ok:
		case !any:
			first, t.At, any = lo, hi, true
		default:
			first, t.At = min(first, lo), max(t.At, hi)
		}
	}
	if any {
		t.Multi = first != t.At
		if err := d.tick(ctx, t, d.feeds(t.Multi), rows); err != nil {
			return err
		}
	}
	for _, s := range d.streams {
		d.inputs[s.input].Advance(s.Upper)
	}
	d.goOn(bound)
	return nil
}

// stream is what is read of an input in a tick.
type stream struct {
	*source.Stream
	input int
}

func (d *running) closeStreams() {
	for _, s := range d.streams {
		s.Close()
	}
}

// feeds makes feeds of the tick's streams.
func (d *running) feeds(multi bool) []dataflow.Feed {
	feeds := make([]dataflow.Feed, 0, len(d.streams))
	for _, s := range d.streams {
		if !multi {
			s.Uniform()
		}
		next := feedOf(d.flow.Flow, s.Stream)
		feeds = append(feeds, dataflow.Feed{Source: d.nodes[s.input], Next: func(ctx context.Context) (*vec.Block, error) {
			b, err := next(ctx)
			if b != nil {
				d.taken += b.Len
				d.e.o.Metrics.rows.Add(float64(b.Len))
			}
			return b, err
		}})
	}
	return feeds
}
