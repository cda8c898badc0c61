package controller_test

import (
	"context"
	mrand "math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// TestNobodyIsAnsweredBeforeAllWorkersAreThere: one worker of four does not end, and the others have long done their part. A view
// is not appended to, and neither a read of it or of an index nor a query is answered; when the worker ends, all of them
// are, with what all workers have. What was complete before can be read all the time.
// Of what must be kept, this is: nothing is answered or stored of a time until every worker has done its part of it.
func TestNobodyIsAnsweredBeforeAllWorkersAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, 4)
		e.must(e.sets.Set("storage_retain_history", "1h"))
		a := e.table(1)
		e.write(map[tvc.ID]*vec.Block{a: randomRows(mrand.New(mrand.NewPCG(1, 1)), 20)})
		var asked atomic.Int64
		end := make(chan struct{})
		slow := special(a, func() int64 {
			asked.Add(1)
			<-end
			return 13
		})
		truth := special(a, func() int64 { return 13 })
		view, index := e.view(10, slow), e.index(11, slow, 0)
		e.check(view, truth, e.live)
		e.check(index, truth, e.live)
		sh, _ := e.set.Shard(view)
		upper, at := sh.Upper(), e.readTime()
		hold, _, err := e.c.HoldIndex(index)
		e.must(err)
		defer hold.Release()
		before := plantest.Eval(truth, e.live, nil).Rows.String()
		change := thirteen()
		change.AppendBlock(numbers(1, numbersTo(9000)...))
		e.write(map[tvc.ID]*vec.Block{a: change})
		want := plantest.Eval(truth, e.live, nil).Rows.String()
		var answered atomic.Int64
		answers := make(chan string, 3)
		answer := func(read func() (plantest.Rows, error)) {
			got, err := read()
			answered.Add(1)
			if err != nil {
				t.Error(err)
			}
			answers <- got.String()
		}
		for _, id := range []tvc.ID{view, index} {
			go answer(func() (plantest.Rows, error) { return e.read(id) })
		}
		go answer(func() (plantest.Rows, error) { return e.once(slow) })
		synctest.Wait()
		if n := asked.Load(); n != 3 {
			t.Errorf("%d workers of three dataflows do not end", n)
		}
		if n := answered.Load(); n != 0 || sh.Upper() != upper {
			t.Errorf("%d are answered, and the view's upper is %v after %v", n, sh.Upper(), upper)
		}
		for _, id := range []tvc.ID{view, index} {
			if got, err := e.readAt(id, at); err != nil || got.String() != before {
				t.Errorf("before the change %v is\n%s%v, want\n%s", id, got, err, before)
			}
		}
		close(end)
		for range 3 {
			if got := <-answers; got != want {
				t.Errorf("the answer has %d bytes, want %d", len(got), len(want))
			}
		}
	})
}

// once runs a plan at the newest time.
func (e *env) once(p *plan.Dataflow) (plantest.Rows, error) {
	ctx, out := context.Background(), plantest.Rows{}
	hold, err := e.set.Hold("test", p.Imports()...)
	if err != nil {
		return nil, err
	}
	defer hold.Release()
	rows, err := e.c.Query(ctx, &controller.Query{Cluster: cluster, Plan: p, Finishing: plan.Finishing{Limit: -1}, At: e.readTime()})
	for err == nil {
		var b *vec.Block
		if b, err = rows.Next(ctx); b == nil {
			break
		}
		out.AddBlock(b)
	}
	return out, err
}
