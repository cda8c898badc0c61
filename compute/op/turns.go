package op

import (
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// turns takes ticks through a share whose state is "now" (promise O3): a tick of several times in one pass for
// each, whose rows wait until all of the tick is there.
type turns struct {
	// tick is the tick under way; its At is the time of the pass.
	tick    dataflow.Tick
	pending *vec.Block
	rest    []timedRows // the passes to come
	sealed  bool        // the pass has all its rows
}

// timedRows is the rows of one time of a tick of several.
type timedRows struct {
	at   tvc.Time
	rows *vec.Block
}

// pass is what a share does with the rows of one time.
type pass interface {
	// start begins a pass; absorb takes in its rows, seal says that they are all there.
	start()
	absorb(b *vec.Block)
	seal()
	// give emits what the pass changed, and says whether it stopped because the round is full.
	give(lane *dataflow.Lane, out *dataflow.Output) (full bool)
	// done ends the pass.
	done()
}

func (t *turns) begin(p pass, tick *dataflow.Tick) {
	t.tick, t.rest, t.sealed = *tick, nil, false
	p.start()
}

// take takes in rows of the given kinds.
func (t *turns) take(p pass, kinds []types.Kind, b *vec.Block) {
	if !t.tick.Multi {
		p.absorb(b)
		return
	}
	if t.pending == nil {
		t.pending = vec.NewBlock(kinds, b.Len)
	}
	t.pending.AppendBlock(b)
}

// emit goes on with the passes until a round is full, and says whether there is more.
func (t *turns) emit(p pass, lane *dataflow.Lane, out *dataflow.Output) (more bool) {
	if t.pending != nil {
		dataflow.EachTime(t.pending, func(at uint64, rows *vec.Block) {
			t.rest = append(t.rest, timedRows{at: tvc.Time(at), rows: rows.Clone()})
		})
		t.pending = nil
	}
	for {
		if !t.sealed {
			if t.tick.Multi && !t.next(p) {
				return false
			}
			p.seal()
			t.sealed = true
		}
		if p.give(lane, out) {
			return true
		}
		p.done()
		t.sealed = false
		if !t.tick.Multi {
			return false
		}
	}
}

// next starts the pass of the next time of a tick of several, if there is one.
func (t *turns) next(p pass) bool {
	if len(t.rest) == 0 {
		return false
	}
	t.tick.At = t.rest[0].at
	p.start()
	p.absorb(t.rest[0].rows)
	t.rest = t.rest[1:]
	return true
}
