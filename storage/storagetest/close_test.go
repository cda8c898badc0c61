package storagetest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// TestCloseDoesNotWaitForAStoreForEver: a store that answers nothing but "unknown" holds a commit up; who closes says for
// how long.
func TestCloseDoesNotWaitForAStoreForEver(t *testing.T) {
	s := newScenario(t)
	if err := s.start(nil); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := s.run(ctx, 3); err != nil {
		t.Fatal(err)
	}
	sh, err := s.shard(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan struct{}, 1000)
	s.p.Faults.Follow(func(c storagetest.Call) storagetest.Verdict {
		select {
		case entered <- struct{}{}:
		default:
		}
		return storagetest.Lose
	})
	result := make(chan error, 1)
	go func() {
		_, err := s.p.Set.Group().Do(ctx, unit(shard.Append{Shard: sh, AnyLower: true, Upper: sh.Upper() + tvc.Frontier(1)}))
		result <- err
	}()
	<-entered
	closing, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.p.Set.Close(closing); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := <-result; !errors.Is(err, consensus.ErrIndeterminate) && !errors.Is(err, txn.ErrClosed) {
		t.Fatal(err)
	}
	s.p.Stop(t)
}
