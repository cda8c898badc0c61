package session

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/tributary-db/tributary/storage/tvc"
)

// TestTurnsAreOneAtATime: at one table one has the turn, at different ones many have, and whose context ends waits no more.
func TestTurnsAreOneAtATime(t *testing.T) {
	var turns turns
	a, b := tvc.ID{Class: 'u', N: 1}, tvc.ID{Class: 'u', N: 2}
	inside := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				end, err := turns.take(t.Context(), a)
				if err != nil {
					t.Error(err)
					return
				}
				inside++ // guarded by the turn, as the race detector will see
				end()
			}
		})
	}
	all.Wait()
	if inside != 1600 {
		t.Errorf("%d turns", inside)
	}
	endA, err := turns.take(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	endB, err := turns.take(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := turns.take(ctx, a); !errors.Is(err, stop) {
		t.Errorf("a wait that was stopped: %v", err)
	}
	endA()
	endB()
	if len(turns.mu.tables) != 0 {
		t.Errorf("%d tables are left", len(turns.mu.tables))
	}
}
