package sink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// TestLostIntervalsGoOn: a view that was not the first to append drops what the first one has appended, wherever that ends,
// has its fingerprint, and goes on with the rest; or says that it cannot, if rows were written that are on both sides.
// Of what must be kept, this is: a view's intervals follow each other, each from where what is stored ends.
func TestLostIntervalsGoOn(t *testing.T) {
	ctx := context.Background()
	went, couldNot := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		e := newEnv(t, 1+rng.IntN(3))
		e.set("compute_mv_sink_shared_batch_max_bytes", []string{"0", "2kB", "1MB"}[rng.IntN(3)])
		leader, loser := e.newFlow(), e.newFlow()
		loser.view.StandBy(rng.IntN(3) == 0)
		// Ticks at 10, 20, …; the leader appends after some of them, the loser seals after another.
		ticks, appended, sealed := 6, 1+rng.IntN(6), 1+rng.IntN(6)
		var lost *Interval
		var whole bool
		var want []*vec.Block
		for i := 1; i <= ticks; i++ {
			b := rows(i*1000, 1+rng.IntN(120), 1)
			want = append(want, b)
			leader.tick(tvc.Time(10*i), b)
			loser.tick(tvc.Time(10*i), b)
			if i == sealed {
				whole = loser.view.IsWhole()
				lost = loser.seal()
			}
			if i == appended {
				leader.append()
			}
		}
		if sealed >= appended && whole {
			lost.Lower, lost.Keep = 0, true
			var lostRace *LostError
			if err := NewAppender(e.o, e.p.Set.Group()).Append(ctx, lost); !errors.As(err, &lostRace) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		stored, upper := e.o.Shard.Fingerprint()
		if rng.IntN(3) == 0 {
			// What was lost counts to those who stand by, and finds no room among those who write.
			e.set("compute_mv_sink_staging_max_bytes", "0")
		}
		own, ok := loser.view.DropBelow(ctx, lost, upper)
		if !ok {
			couldNot++
			lost.Discard(ctx)
		} else {
			went++
			if own != stored {
				t.Fatalf("seed %d: the fingerprint is %v, stored is %v", seed, own, stored)
			}
			if loser.view.IsWhole() {
				loser.append()
				e.holds(seed, want)
			}
		}
		loser.view.Seal().Discard(ctx)
		leader.view.Seal().Discard(ctx)
		e.statistics() // which fails if a phase took less than no time
		if w, s := e.o.Staging.staged(); w != 0 || s != 0 {
			t.Fatalf("seed %d: %d and %d bytes are staged", seed, w, s)
		}
	}
	if went < 20 || couldNot < 2 {
		t.Errorf("%d went on, %d could not: the cases are not mixed", went, couldNot)
	}
}

// holds fails unless the view holds the rows of the blocks.
func (e *env) holds(seed uint64, blocks []*vec.Block) {
	e.tb.Helper()
	want := ""
	for _, b := range blocks {
		for i := range b.Len {
			want += fmt.Sprintf("%#v %d\n", append(b.Row(i, nil), vec.Null), b.Diff(i))
		}
	}
	if got := e.contents(); got != want {
		e.tb.Fatalf("seed %d: contents are\n%swant\n%s", seed, got, want)
	}
}

// staged is what those have staged who write, and who stand by.
func (b *Budget) staged() (writing, standing int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.writing, b.mu.standing
}

// used is what all together have staged.
func (b *Budget) used() int64 {
	writing, standing := b.staged()
	return writing + standing
}

// TestStandingByLeavesTheBudget: however much those stage who stand by, or did so as writers until they lost a race, who
// writes can stage as much as without them; and all of it is given back.
func TestStandingByLeavesTheBudget(t *testing.T) {
	const budget = 256 << 10
	ctx := context.Background()
	e := newEnv(t, 2)
	e.set("compute_mv_sink_shared_batch_max_bytes", "1GB")
	e.set("compute_mv_sink_staging_max_bytes", fmt.Sprint(budget))
	var others []*flow
	lost := e.newFlow()
	lost.tick(5, rows(0, 1000, 1))
	first := lost.seal()
	winner := e.newFlow()
	winner.tick(5, rows(0, 1000, 1))
	winner.append()
	first.Lower, first.Keep = 0, true
	var lostRace *LostError
	if err := NewAppender(e.o, e.p.Set.Group()).Append(ctx, first); !errors.As(err, &lostRace) {
		t.Fatal(err)
	}
	for i := range 5 {
		f := e.newFlow()
		f.view.StandBy(i%2 == 0)
		f.tick(10, rows(0, 4000, 1))
		f.view.StandBy(true)
		others = append(others, f)
	}
	if writing, standing := e.o.Staging.staged(); writing != 0 || standing == 0 || standing > budget/2 {
		t.Errorf("nobody writes and has staged %d bytes; those who stand by %d of %d", writing, standing, budget)
	}
	writer := e.newFlow()
	for i := range 20 { // as much as there is room for
		writer.tick(tvc.Time(10+i), rows(1000*i, 100, 1))
	}
	if n, _ := e.o.Staging.staged(); n < budget/4 {
		t.Errorf("who writes has staged %d bytes of %d", n, budget)
	}
	for w := range writer.view.shares {
		if writer.view.shares[w].writer != nil {
			t.Errorf("worker %d has written parts of its own", w)
		}
	}
	// Who takes over has what it staged counted as a writer's.
	others[0].view.StandBy(false)
	first.Discard(ctx)
	for _, f := range append(others, writer) {
		f.view.Seal().Discard(ctx)
	}
	if w, s := e.o.Staging.staged(); w != 0 || s != 0 {
		t.Errorf("%d and %d bytes are staged", w, s)
	}
}

// TestStandingByPutsNothing: a view that stands by keeps what it can stage, and of the rest the sums.
func TestStandingByPutsNothing(t *testing.T) {
	e := newEnv(t, 2)
	f := e.newFlow()
	f.view.StandBy(true)
	f.tick(10, rows(0, 20, 1))
	if !f.view.IsWhole() {
		t.Error("a few rows were dropped")
	}
	f.tick(20, rows(1000, 5000, 1))
	if f.view.IsWhole() {
		t.Error("5000 rows were staged")
	}
	leader := e.newFlow()
	leader.tick(10, rows(0, 20, 1))
	leader.tick(20, rows(1000, 5000, 1))
	leader.append()
	before := e.puts
	stored, upper := e.o.Shard.Fingerprint()
	own, ok := f.view.DropBelow(context.Background(), nil, upper)
	if !ok || own != stored {
		t.Errorf("%v, %v; stored is %v", own, ok, stored)
	}
	if f.view.Dirty() || !f.view.IsWhole() || e.puts != before {
		t.Errorf("something is left, or %d objects were put", e.puts-before)
	}
}

// TestWhoAppendsNothingKeepsLittle: rows come and go, far more than may be staged, for a view that stands by, for one that only
// counts, and for one whose append is under way. None of them ever keeps more rows than a worker may stage, and each has
// the fingerprint of all that came. Once somebody has appended it, who stood by has nothing left.
// Of what must be kept, this is: what has yet to be stored is bounded, also where nothing is written.
func TestWhoAppendsNothingKeepsLittle(t *testing.T) {
	const workers, limit, ticks, times = 2, 4 << 10, 200, 10
	e := newEnv(t, workers)
	ctx := context.Background()
	leader := e.newFlow()
	kinds := map[string]*flow{"stands by": e.newFlow(), "counts": e.newFlow(), "is appending": e.newFlow()}
	kinds["stands by"].view.StandBy(true)
	kinds["counts"].view.CountOnly(true)
	kinds["is appending"].tick(5, rows(0, 10, 1))
	flying := kinds["is appending"].seal()
	for i := range ticks {
		at, b := tvc.Time(10+i*times/ticks), rows(1000, 300, 1-2*int64(i%2))
		if i == ticks-1 {
			b = rows(2000, 300, 1) // so that something is left in the end
		}
		leader.tick(at, b)
		for kind, f := range kinds {
			f.tick(at, b)
			for w := range f.view.shares {
				s := &f.view.shares[w]
				if s.staged != nil && s.staged.Size() > limit || len(s.gone) > times {
					t.Fatalf("who %s has %d bytes staged after %d ticks, and %d sums", kind, s.staged.Size(), i+1, len(s.gone))
				}
			}
		}
	}
	flying.Discard(ctx)
	leader.append()
	stored, upper := e.o.Shard.Fingerprint()
	for kind, f := range kinds {
		if kind == "stands by" {
			own, ok := f.view.DropBelow(ctx, nil, upper)
			if !ok || own != stored || f.view.Dirty() {
				t.Errorf("who %s dropped %v of %v, %v, and has more: %v", kind, own, stored, ok, f.view.Dirty())
			}
			continue
		}
		iv := f.view.Seal()
		if iv.Content() != stored {
			t.Errorf("who %s has the fingerprint %v, stored is %v", kind, iv.Content(), stored)
		}
		iv.Discard(ctx)
	}
	if n := e.o.Staging.used(); n != 0 {
		t.Errorf("%d bytes are staged", n)
	}
}
