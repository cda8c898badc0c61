package dataflow

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

var oneInt = []types.Kind{types.Int}

// counts is a sink that counts what it absorbs.
type counts struct {
	tb     testing.TB
	rows   atomic.Int64
	most   atomic.Int64 // rows in one block
	inside [4]atomic.Bool
}

func (c *counts) Begin(int, *Tick) {}

func (c *counts) Absorb(_ *Lane, w, _ int, b *vec.Block) {
	if c.inside[w].Swap(true) {
		c.tb.Error("a share absorbs twice at the same time")
	}
	c.rows.Add(int64(b.Len))
	for most := c.most.Load(); int64(b.Len) > most && !c.most.CompareAndSwap(most, int64(b.Len)); most = c.most.Load() {
	}
	c.inside[w].Store(false)
}

func (c *counts) AbsorbErrors(*Lane, *Tick, *vec.Block) {}
func (c *counts) Emit(*Lane, int, *Output) bool         { return false }
func (c *counts) End(*Lane, int)                        {}

// repeat gives every row many times.
type repeat int

func (n repeat) Apply(lane *Lane, in, out *vec.Block) {
	for i := range in.Len {
		for k := range int(n) {
			out.AppendRow(1, vec.IntOf(in.Cols[0].Ints[i]+int64(k)))
			if out.Len == RoundRows {
				if err := lane.Flush(out); err != nil {
					lane.Abort(err)
				}
			}
		}
	}
}

// ints are blocks of RoundRows integers.
func ints(blocks int) []*vec.Block {
	out := make([]*vec.Block, blocks)
	for n := range out {
		out[n] = vec.NewBlock(oneInt, RoundRows)
		for i := range RoundRows {
			out[n].AppendRow(1, vec.IntOf(int64(n*RoundRows+i)))
		}
	}
	return out
}

// through is a dataflow of a source, a transform and a sink, of two lanes.
func through(sink ErrorSink, f Transform) (*Dataflow, NodeID) {
	d := New(4, &Scheduler{procs: 2})
	src := d.Source(oneInt)
	mid := d.Stateless(oneInt, []NodeID{src}, func() Transform { return f })
	d.Operator(nil, []Port{{From: mid, Route: ByRow()}}, nil, sink)
	return d, src
}

func tick(d *Dataflow, src NodeID, blocks []*vec.Block) error {
	return d.Tick(context.Background(), Tick{Upper: 11, At: 10}, []Feed{{Source: src, Next: Blocks(blocks), Stable: true}})
}

// TestFlushedRowsAreAbsorbedAtOnce: many rows made of few do not wait at the ports, on one lane or several, and every
// share absorbs one block at a time.
func TestFlushedRowsAreAbsorbedAtOnce(t *testing.T) {
	for _, oneLane := range []bool{false, true} {
		sink := &counts{tb: t}
		d, src := through(sink, repeat(100))
		if oneLane {
			d.OneLane()
		}
		if err := tick(d, src, ints(4)); err != nil {
			t.Fatal(err)
		}
		if got, most := sink.rows.Load(), sink.most.Load(); got != 4*100*RoundRows || most > RoundRows {
			t.Errorf("one lane %v: %d rows came, at most %d together", oneLane, got, most)
		}
		if want := map[bool]int{true: 1, false: 2}[oneLane]; len(d.lanes) != want {
			t.Errorf("one lane %v: %d lanes are used", oneLane, len(d.lanes))
		}
	}
}

// fails is a transform that panics.
type fails struct{}

func (fails) Apply(*Lane, *vec.Block, *vec.Block) { panic("out of order") }

// TestPanicOfALaneKeepsItsStack: where a panic on another goroutine came from can still be told, and its text is one
// line.
func TestPanicOfALaneKeepsItsStack(t *testing.T) {
	d, src := through(&counts{tb: t}, fails{})
	defer func() {
		f, ok := recover().(*Fault)
		if !ok || f.Error() != "out of order" || !strings.Contains(string(f.Stack), "dataflow.fails.Apply") {
			t.Errorf("the panic is %v", f)
		}
	}()
	_ = tick(d, src, ints(4))
}

// slow is a sink of which one share does not end.
type slow struct {
	counts
	end      chan struct{}
	absorbed [4]atomic.Int64
}

func (s *slow) Absorb(lane *Lane, w, port int, b *vec.Block) {
	if w == 3 {
		<-s.end
	}
	s.counts.Absorb(lane, w, port, b)
	s.absorbed[w].Add(int64(b.Len))
}

// TestATickEndsWhenAllSharesHave: while one share has not done its part a tick has not ended, though the others are done.
// Of what must be kept, this is: that a tick is over is the proof that every worker has done its part.
func TestATickEndsWhenAllSharesHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &slow{counts: counts{tb: t}, end: make(chan struct{})}
		d := New(4, &Scheduler{procs: 4})
		src := d.Source(oneInt)
		d.Operator(nil, []Port{{From: src, Route: ByRow()}}, nil, sink)
		ended := make(chan error, 1)
		go func() { ended <- tick(d, src, ints(1)) }()
		synctest.Wait()
		for w := range sink.absorbed {
			if got := sink.absorbed[w].Load(); (got > 0) != (w != 3) {
				t.Errorf("share %d has absorbed %d rows", w, got)
			}
		}
		select {
		case err := <-ended:
			t.Errorf("the tick has ended, %v, before one of its shares", err)
		default:
		}
		close(sink.end)
		if err := <-ended; err != nil || sink.rows.Load() != RoundRows {
			t.Errorf("%d rows came, %v", sink.rows.Load(), err)
		}
	})
}
