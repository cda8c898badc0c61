package controller_test

import (
	"context"
	mrand "math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/tvc"
)

// patient is a store whose commits take a while.
type patient struct{ consensus.Store }

func (p patient) Commit(ctx context.Context, units []consensus.Unit) ([]consensus.Outcome, error) {
	time.Sleep(time.Millisecond)
	return p.Store.Commit(ctx, units)
}

// TestViewsOfATableShareOneCommit: however many views a change has, they are written together, by one commit beside the
// change's own; by two now and then, if the scheduler lets one of them go ahead of its wake-up of the others. Time stands still
// here while they compute: it shows that they wait for each other, not for how long.
func TestViewsOfATableShareOneCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvOn(t, patient{consensus.NewMemory()}, 4)
		defer e.stop()
		r := mrand.New(mrand.NewPCG(8, 8))
		a := e.table(1)
		e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
		var views []tvc.ID
		for n := range uint64(8) {
			views = append(views, e.view(10+n, groups(a)))
		}
		for _, v := range views {
			e.check(v, groups(a), e.live)
		}
		const changes = 20
		before := e.counter("tributary_storage_consensus_view_commits_total")
		for range changes {
			e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
			e.must(e.c.Wait(context.Background(), views, e.readTime()))
		}
		if n := e.counter("tributary_storage_consensus_view_commits_total") - before; n < changes || n > changes+changes/4 {
			t.Errorf("%v commits for %d changes of %d views", n, changes, len(views))
		}
		for _, v := range views {
			e.check(v, groups(a), e.live)
		}
	})
}
