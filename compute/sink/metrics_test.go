package sink

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// statistics gives the view's statistics, without how long anything took; that must be there for what happened and not
// for anything else.
func (e *env) statistics() Statistics {
	e.tb.Helper()
	s := e.o.Metrics.Of(e.o.Shard.ID())
	for p := range s.Phases {
		phase := &s.Phases[p]
		if phase.Times == 0 && phase.Total != 0 || phase.Total < 0 || phase.Total > time.Hour {
			e.tb.Errorf("%v took %v, %d times", Phase(p), phase.Total, phase.Times)
		}
		phase.Total = 0
	}
	return s
}

// times are phases that happened so often; put apart.
func times(appends, put int64) [Phases]Spent {
	return [Phases]Spent{Dataflow: {Times: appends}, Wait: {Times: appends}, Encode: {Times: appends}, Put: {Times: put}, Step: {Times: appends}}
}

// TestStatistics follows a view through every kind of append.
func TestStatistics(t *testing.T) {
	e := newEnv(t, 2)
	check := func(what string, want Statistics) {
		t.Helper()
		if got := e.statistics(); got != want {
			t.Errorf("%s:\n%+v\nwant\n%+v", what, got, want)
		}
	}
	check("nothing", Statistics{})
	f := e.newFlow()
	f.tick(10)
	f.append()
	check("an empty append", Statistics{EmptyAppends: 1})

	e.set("storage_inline_append_max_bytes", "32kB")
	f.tick(20, rows(0, 10, 1))
	f.tick(30, rows(10, 10, 1))
	want := e.statistics()
	staged := e.o.Staging.used()
	if staged == 0 || want.StagedBytes != staged || want.StagedBytesPeak != staged {
		t.Errorf("%d bytes are staged, it says %+v", staged, want)
	}
	f.append()
	got := e.statistics()
	if size := got.InlineBytes + got.ObjectBytes; size < 100 || size > 4000 {
		t.Errorf("20 rows are %d bytes", size)
	}
	put := int64(e.puts) // none, unless invariants try what is rare
	want = Statistics{Appends: 1, EmptyAppends: 1, Rows: 20, InlineParts: 1 - put, InlineBytes: got.InlineBytes, ObjectParts: put,
		ObjectBytes: got.ObjectBytes, StagedBytesPeak: staged, Phases: times(1, put)}
	check("an inline append", want)

	// Both workers have more than they may stage.
	e.set("storage_inline_append_max_bytes", "0")
	f.tick(40, rows(100, 3000, 1))
	f.append()
	got = e.statistics()
	parts := int64(e.puts)
	if parts == put || got.ObjectBytes-want.ObjectBytes < 3000 || got.StagedBytesPeak < staged {
		t.Errorf("%d objects; %+v", parts, got)
	}
	want.Appends, want.Rows, want.Spills, want.Phases = 2, 3020, 2, times(2, put+1)
	want.ObjectParts, want.ObjectBytes, want.StagedBytesPeak = parts, got.ObjectBytes, got.StagedBytesPeak
	check("an append of two spills", want)

	// Somebody else is first.
	f.tick(50, rows(0, 1, -1))
	iv := f.seal()
	other := e.newFlow()
	other.now = 45
	other.append()
	var lost *LostError
	if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), iv); !errors.As(err, &lost) {
		t.Fatal(err)
	}
	want.Refused, want.EmptyAppends = 1, 2
	check("a lost race", want)
	e.o.Metrics.Rebuilt(e.o.Shard.ID())
	want.Rebuilds = 1
	check("a tear-down", want)
}

// TestStagedBytesEnd: whatever becomes of what is staged, in the end none of it counts as staged.
func TestStagedBytesEnd(t *testing.T) {
	e := newEnv(t, 2)
	for what, end := range map[string]func(f *flow){
		"discarded": func(f *flow) { f.view.Seal().Discard(context.Background()) },
		"kept, lost and dropped": func(f *flow) {
			iv := f.seal()
			iv.Keep, iv.Lower = true, iv.Lower+1
			var lost *LostError
			if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), iv); !errors.As(err, &lost) {
				t.Fatal(err)
			}
			if e.statistics().StagedBytes == 0 {
				t.Error("a kept interval is not staged")
			}
			if _, ok := f.view.DropBelow(context.Background(), iv, tvc.After(f.now)); !ok {
				t.Error("what is staged could not be dropped")
			}
		},
		"appended": (*flow).append,
	} {
		f := e.newFlow()
		f.tick(tvc.Time(e.o.Shard.Upper())+10, rows(0, 20, 1))
		if s := e.statistics(); s.StagedBytes == 0 || s.StagedBytes != e.o.Staging.used() {
			t.Errorf("%s: %d bytes are staged, it says %d", what, e.o.Staging.used(), s.StagedBytes)
		}
		end(f)
		if s := e.statistics(); s.StagedBytes != 0 || e.o.Staging.used() != 0 {
			t.Errorf("%s: it says that %d bytes are staged, and %d are", what, s.StagedBytes, e.o.Staging.used())
		}
	}
}

// TestStagedBytesAreTheRows: what counts as staged is what the rows take, whether a tick's rows have times of their own or not.
func TestStagedBytesAreTheRows(t *testing.T) {
	e := newEnv(t, 2)
	var counted []int64
	for _, multi := range []bool{false, true} {
		f := e.newFlow()
		at := tvc.Time(e.o.Shard.Upper()) + 10
		b := rows(0, 20, 1)
		if multi {
			b.Times = slices.Repeat([]uint64{uint64(at)}, b.Len)
		}
		err := f.df.Tick(context.Background(), dataflow.Tick{Upper: tvc.After(at), At: at, Multi: multi},
			[]dataflow.Feed{{Source: f.src, Next: dataflow.Blocks([]*vec.Block{b}), Stable: true}})
		if err != nil {
			t.Fatal(err)
		}
		check := func() {
			take := int64(0)
			for w := range f.view.shares {
				take += int64(f.view.shares[w].staged.Size())
			}
			counted = append(counted, e.o.Staging.used())
			if counted[len(counted)-1] != take {
				t.Errorf("times of their own %v: %d bytes count as staged, the rows take %d", multi, counted[len(counted)-1], take)
			}
		}
		check()
		f.tick(at+1, rows(100, 20, -1)) // now each row has a number of its own
		check()
		f.view.Close(context.Background())
	}
	if counted[0] != counted[2] || counted[1] != counted[3] || counted[0] == counted[1] {
		t.Errorf("%d bytes without times and %d with them", counted[:2], counted[2:])
	}
}

// TestPhasesBeginWithTheFirstChange: an interval begins with the tick of the change that came first.
func TestPhasesBeginWithTheFirstChange(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	iv := &Interval{reports: []report{{began: at(5), since: at(7)}, {}, {began: at(1), since: at(6)}, {began: at(6), since: at(8)}}}
	if tick, change := iv.began(); tick != at(1) || change != at(6) {
		t.Errorf("a tick at %v, a change at %v", tick.Unix(), change.Unix())
	}
	if tick, change := (&Interval{reports: make([]report, 2)}).began(); !tick.IsZero() || !change.IsZero() {
		t.Errorf("nothing began at %v, %v", tick, change)
	}

	e := newEnv(t, 1)
	f := e.newFlow()
	started := time.Now().Add(-time.Minute)
	err := f.df.Tick(context.Background(), dataflow.Tick{Upper: 11, At: 10, Began: started},
		[]dataflow.Feed{{Source: f.src, Next: dataflow.Blocks([]*vec.Block{rows(0, 1, 1)}), Stable: true}})
	if err != nil {
		t.Fatal(err)
	}
	f.now = 10
	f.append()
	s := e.o.Metrics.Of(e.o.Shard.ID())
	sum := time.Duration(0)
	for _, p := range s.Phases {
		sum += p.Total
	}
	if all := time.Since(started); s.Phases[Dataflow].Total < time.Minute || sum > all {
		t.Errorf("of %v the dataflow took %v, all phases %v", all, s.Phases[Dataflow].Total, sum)
	}
}

// TestWhatTakesLongToWrite: much that is staged, and what a worker has written by itself.
func TestWhatTakesLongToWrite(t *testing.T) {
	for _, c := range []struct {
		threshold string
		rows      int
		want      bool
	}{{"1MB", 1000, false}, {"1MB", 20_000, true}, {"1kB", 1000, true}, {"0", 1000, false}} {
		e := newEnv(t, 4)
		e.set("compute_mv_sink_shared_batch_max_bytes", c.threshold)
		f := e.newFlow()
		f.tick(10, rows(0, c.rows, 1))
		iv := f.seal()
		if got := iv.TakesLong(); got != c.want {
			t.Errorf("threshold %s, %d rows: it takes long: %v", c.threshold, c.rows, got)
		}
		iv.Discard(context.Background())
		f.view.Close(context.Background())
	}
}

// TestAppendSaysWhetherItWasLate: others had waited in vain for what was announced, before it was in line.
func TestAppendSaysWhetherItWasLate(t *testing.T) {
	e := newEnv(t, 2)
	g, f := e.p.Set.Group(), e.newFlow()
	for i, late := range []bool{false, true, false} {
		f.tick(tvc.Time(10+i), rows(10*i, 10, 1))
		iv := f.seal()
		iv.Announced = g.Expect()
		if late {
			if _, err := g.Do(context.Background(), txn.Unit{Derived: true}); err != nil {
				t.Fatal(err)
			}
		}
		if err := NewAppender(e.o, g).Append(context.Background(), iv); err != nil || iv.Late != late {
			t.Errorf("append %d was late: %v, want %v; %v", i, iv.Late, late, err)
		}
	}
	if n := e.p.Registry.Sum("tributary_storage_appends_announced"); n != 0 {
		t.Errorf("%v are still announced", n)
	}
}
