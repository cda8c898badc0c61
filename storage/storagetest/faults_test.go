package storagetest_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/txn"
)

var (
	seeds     = flag.Uint64("seeds", 50, "how many random histories each scenario has")
	firstSeed = flag.Uint64("first-seed", 0, "the first of the seeds")
)

// TestEveryAnswerIsTrue has units on several shards go through a process's line over bad stores, through the lives of several
// processes. Whatever Do says about a unit must be so: done and there, or not done and never seen; only of what was under way
// when a process ended nothing was said. After each life everything durable is whole.
//
// Of what must be kept, this is: determinate and unknown failures are told apart, and a unit whose outcome is unknown is
// settled by looking, never by guessing; a unit has a token of its own, so that it happens once, however often it is tried.
func TestEveryAnswerIsTrue(t *testing.T) {
	ctx := context.Background()
	var failures atomic.Int64
	forSeeds(t, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 23))
		s := newScenario(t)
		if err := s.start(nil); err != nil {
			t.Fatal(err)
		}
		if err := s.run(ctx, 1); err != nil {
			t.Fatal(err)
		}
		follow := func() { s.p.Faults.Follow(storagetest.Fate(rng.Uint64(), 12, s.p.Faults.Calls(), 150)) }
		follow()
		const steps = 62
		for s.done < steps {
			err := s.run(ctx, steps)
			if err == nil {
				break
			}
			if !storagetest.IsFault(err) {
				t.Fatal(err)
			}
			failures.Add(1)
			if storagetest.IsUnknown(err) || errors.Is(err, txn.ErrFenced) {
				s.again(t, rng, storagetest.IsUnknown(err))
				follow()
			} else if s.done%25 == 24 {
				// Maintenance that failed is tried again later.
				s.done++
			}
		}
		s.p.Faults.Follow(nil)
		s.again(t, rng, false)
		s.p.Stop(t)
	})
	t.Cleanup(func() {
		if failures.Load() == 0 {
			t.Error("nothing failed")
		}
	})
}

// again starts the next process, and checks what it finds. inDoubt says that a step was under way when the last one ended.
func (s *scenario) again(t *testing.T, rng *rand.Rand, inDoubt bool) {
	t.Helper()
	s.disk = crash(t, s, rng.Int(), 50*rng.IntN(2))
	if err := s.start(nil); err != nil {
		t.Fatal(err)
	}
	done := s.done
	s.verify(context.Background())
	if s.done != done && !inDoubt {
		t.Fatal("a step has happened that was said not to have")
	}
}
