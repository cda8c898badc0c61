package dataflow_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/tributary-db/tributary/compute/dataflow"
)

// TestLargeTicksTakeTurns: no more large ticks are under way than there are processors, and who waits for a turn can
// be called off.
func TestLargeTicksTakeTurns(t *testing.T) {
	s := dataflow.NewScheduler()
	var under []func()
	for range runtime.GOMAXPROCS(0) {
		done, err := s.Large(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		under = append(under, done)
	}
	off := errors.New("called off")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(off)
	if _, err := s.Large(ctx); !errors.Is(err, off) {
		t.Fatalf("one too many: %v", err)
	}
	waits := make(chan error)
	go func() {
		done, err := s.Large(context.Background())
		if err == nil {
			done()
		}
		waits <- err
	}()
	under[0]()
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	for _, done := range under[1:] {
		done()
	}
}
