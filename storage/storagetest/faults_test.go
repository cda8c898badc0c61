package storagetest_test

import (
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/tributary-db/tributary/storage/storagetest"
)

var seeds = flag.Uint64("seeds", 20, "how many random histories to run")

// TestEveryAnswerIsTrue lets calls fail, and lets writes happen that report an unknown outcome or none. Whatever Do
// says about a unit must be so: done and there, or not done and never seen. At the end everything durable is whole.
func TestEveryAnswerIsTrue(t *testing.T) {
	ctx := context.Background()
	n := *seeds
	if testing.Short() {
		n = min(n, 4)
	}
	failures := 0
	for seed := range n {
		s := newScenario(t)
		if err := s.start(nil); err != nil {
			t.Fatal(err)
		}
		if err := s.run(ctx, 1); err != nil {
			t.Fatal(err)
		}
		s.p.Faults.Follow(storagetest.Random(seed, 12))
		for s.done < 120 {
			err := s.run(ctx, 120)
			switch {
			case err == nil:
			case !errors.Is(err, storagetest.ErrInjected):
				t.Fatalf("seed %d: %v", seed, err)
			default:
				failures++
				if s.done%25 == 24 {
					// Maintenance that failed is tried again later.
					s.done++
				}
			}
		}
		s.p.Faults.Follow(nil)
		s.disk = crash(t, s, int(seed), 0)
		if err := s.start(nil); err != nil {
			t.Fatal(err)
		}
		done := s.done
		s.verify(ctx)
		if s.done != done {
			t.Fatalf("seed %d: a step has happened that was said not to have", seed)
		}
		s.p.Stop(t)
	}
	if failures == 0 {
		t.Fatal("nothing failed")
	}
}
