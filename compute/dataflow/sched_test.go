package dataflow_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-db/tributary/compute/dataflow"
)

// TestLargeTicksTakeTurns: no more large ticks are under way than there are processors, and who waits for a turn can
// be called off.
func TestLargeTicksTakeTurns(t *testing.T) {
	s := dataflow.NewScheduler()
	var under []*dataflow.Turn
	for range runtime.GOMAXPROCS(0) {
		turn, err := s.Large(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		under = append(under, turn)
	}
	off := errors.New("called off")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(off)
	if _, err := s.Large(ctx); !errors.Is(err, off) {
		t.Fatalf("one too many: %v", err)
	}
	waits := make(chan error)
	go func() {
		turn, err := s.Large(context.Background())
		if err == nil {
			turn.Done()
		}
		waits <- err
	}()
	under[0].Done()
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	for _, turn := range under[1:] {
		turn.Done()
	}
}

// TestWaitingForAStoreLendsTheTurn: who waits for long has no turn meanwhile, and has one again when the wait is over, or
// none if the tick was called off; who waits for a moment keeps it. In the end all turns are there.
func TestWaitingForAStoreLendsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := dataflow.NewScheduler()
		procs := runtime.GOMAXPROCS(0)
		ctx, cancel := context.WithCancel(t.Context())
		// free says how many more large ticks could begin.
		free := func() (n int) {
			now, over := context.WithCancel(context.Background())
			over()
			for range 100 * procs { // a slot and an end that are both there are chosen by chance
				if turn, err := s.Large(now); err == nil {
					n++
					defer turn.Done()
				}
			}
			return n
		}
		turn, err := s.Large(ctx)
		if err != nil {
			t.Fatal(err)
		}
		answer := make(chan struct{})
		var lanes sync.WaitGroup
		for range 2 {
			lanes.Go(func() { turn.Wait(func() { <-answer }) })
		}
		time.Sleep(100 * time.Millisecond)
		if n := free(); n != procs-1 {
			t.Errorf("after a moment %d slots are free of %d", n, procs)
		}
		time.Sleep(time.Minute)
		if n := free(); n != procs {
			t.Errorf("after a minute %d slots are free of %d", n, procs)
		}
		close(answer)
		lanes.Wait()
		if n := free(); n != procs-1 {
			t.Errorf("after the wait %d slots are free of %d", n, procs)
		}
		turn.Wait(func() {
			time.Sleep(time.Minute)
			cancel()
		})
		turn.Done()
		if n := free(); n != procs {
			t.Errorf("in the end %d slots are free of %d", n, procs)
		}
		var small *dataflow.Turn
		small.Wait(func() { time.Sleep(time.Minute) })
	})
}
