package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/source"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// gatherRows is how many updates of each input are read ahead, to find out how many times they are at.
// What is more than that at one time is streamed; what is more at several is cut into several ticks.
const gatherRows = 128 << 10

// errMixedTimes says that a stream that began with one time had others behind it.
var errMixedTimes = errors.New("updates of several times in a stream of one")

// gathered is what was read ahead.
type gathered struct {
	blocks map[tvc.ID][]*vec.Block
	errs   []*vec.Block
	rest   map[tvc.ID]*source.Stream // streams that were not read to their end
	rows   int
	first  uint64
	last   uint64
}

// advance takes in all updates below bound, in one tick if it can.
func (d *running) advance(ctx context.Context, bound tvc.Frontier) error {
	for d.upper < bound {
		next, err := d.step(ctx, bound)
		if err != nil {
			return err
		}
		d.upper = next
	}
	return nil
}

// step takes in the updates below some frontier at most bound, which it gives.
func (d *running) step(ctx context.Context, bound tvc.Frontier) (tvc.Frontier, error) {
	for {
		g, err := d.gather(ctx, bound)
		if err != nil {
			g.close()
			return 0, err
		}
		if len(g.rest) > 0 && g.first != g.last {
			g.close()
			bound = g.half()
			continue
		}
		if len(g.rest) > 0 && tvc.After(tvc.Time(g.last)) < bound {
			// Much at one time: that time alone.
			g.close()
			bound = tvc.After(tvc.Time(g.last))
			continue
		}
		err = d.take(ctx, bound, g)
		g.close()
		return bound, err
	}
}

// gather reads ahead.
func (d *running) gather(ctx context.Context, bound tvc.Frontier) (*gathered, error) {
	g := &gathered{blocks: map[tvc.ID][]*vec.Block{}, rest: map[tvc.ID]*source.Stream{}}
	for _, src := range d.flow.Sources {
		in := d.inputs[src.ID]
		if in == nil {
			continue
		}
		s, err := in.Updates(ctx, d.upper, bound)
		if err != nil {
			return g, err
		}
		if s == nil {
			continue
		}
		g.rest[src.ID] = s
		for limit := g.rows + gatherRows; g.rows < limit; {
			b, err := s.Next(ctx)
			if err != nil {
				return g, err
			}
			if s.Errs != nil {
				g.note(s.Errs)
				g.errs = append(g.errs, s.Errs)
				s.Errs = nil
			}
			if b == nil {
				s.Close()
				delete(g.rest, src.ID)
				break
			}
			g.note(b)
			g.blocks[src.ID] = append(g.blocks[src.ID], b.Clone())
		}
	}
	return g, nil
}

// note takes a block's times and rows into account.
func (g *gathered) note(b *vec.Block) {
	for _, t := range b.Times {
		if g.rows == 0 {
			g.first, g.last = t, t
		}
		g.first, g.last = min(g.first, t), max(g.last, t)
		g.rows++
	}
}

// half gives a frontier with about half of the updates read ahead below it. Halving also ends when the
// times come in no order, as they do from merged parts.
func (g *gathered) half() tvc.Frontier {
	var times []uint64
	for _, blocks := range g.blocks {
		for _, b := range blocks {
			times = append(times, b.Times...)
		}
	}
	for _, e := range g.errs {
		times = append(times, e.Times...)
	}
	slices.Sort(times)
	return tvc.Frontier(max(times[len(times)/2], g.first+1))
}

func (g *gathered) close() {
	for _, s := range g.rest {
		s.Close()
	}
	g.rest = nil
}

// take makes a tick of what was gathered and what follows it.
func (d *running) take(ctx context.Context, upper tvc.Frontier, g *gathered) error {
	d.e.o.Metrics.rows.Add(float64(g.rows))
	d.taken += g.rows
	if g.rows > 0 {
		t := dataflow.Tick{Lower: d.upper, Upper: upper, At: tvc.Time(g.last), Multi: g.first != g.last}
		var feeds []dataflow.Feed
		for _, src := range d.flow.Sources {
			blocks, rest := g.blocks[src.ID], g.rest[src.ID]
			if len(blocks) == 0 && rest == nil {
				continue
			}
			if !t.Multi {
				for _, b := range blocks {
					b.Times = nil
				}
			}
			f := dataflow.Feed{Source: src.Node, Next: dataflow.Blocks(blocks), Stable: rest == nil}
			if rest != nil {
				f.Next = d.then(blocks, rest, g.last)
			}
			feeds = append(feeds, f)
		}
		for _, errs := range g.errs {
			d.flow.Flow.Fail(errs)
		}
		if err := d.tick(ctx, t, feeds); err != nil {
			return err
		}
	}
	for _, in := range d.inputs {
		in.Advance(min(in.Shard.Upper(), upper))
	}
	return nil
}

// then gives the blocks and after them the rest of a stream, all of it at one time.
func (d *running) then(blocks []*vec.Block, rest *source.Stream, at uint64) func(context.Context) (*vec.Block, error) {
	first, more := dataflow.Blocks(blocks), feedOf(d.flow.Flow, rest)
	return func(ctx context.Context) (*vec.Block, error) {
		if b, _ := first(ctx); b != nil {
			return b, nil
		}
		b, err := more(ctx)
		if b == nil {
			return nil, err
		}
		for _, t := range b.Times {
			if t != at {
				return nil, errMixedTimes
			}
		}
		return &vec.Block{Len: b.Len, Cols: b.Cols, Diffs: b.Diffs}, nil
	}
}
