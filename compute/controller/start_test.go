package controller_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// TestAnIndexBeginsWhereItsInputsAreReadable: when the time from which an index was made is no longer readable, it begins at
// a later one, be it on another replica or built anew on the same.
// Of what must be kept, this is: the first time of a dataflow is never before the since of what it reads.
func TestAnIndexBeginsWhereItsInputsAreReadable(t *testing.T) {
	e := newEnv(t, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e.must(e.sets.Set("storage_retain_history", "0"))
	a := e.table(1)
	table, _ := e.set.Shard(a)
	e.write(map[tvc.ID]*vec.Block{a: numbers(3, 1, 2)})
	var fuse, none atomic.Int64
	x := e.index(10, panicking(a, &fuse), 0)
	rows, began := 0, e.heldFrom(x)
	goOn := func() {
		t.Helper()
		for range 3 {
			at := e.write(map[tvc.ID]*vec.Block{a: single(rows)})
			e.must(e.c.Wait(ctx, []tvc.ID{x}, at))
			rows++
		}
		if since := table.Since(); since <= began {
			t.Fatalf("since is %v, and the index has begun at %v: nothing is tested", since, began)
		}
		e.check(x, panicking(a, &none), e.live)
	}
	goOn()
	e.c.SetCluster(cluster, replica(2, 2))
	began = e.heldFrom(x)
	goOn()
	fuse.Store(1)
	e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	goOn()
	if fuse.Load() >= 0 {
		t.Error("the index was not built anew")
	}
}

// heldFrom is the first time at which an index can be held.
func (e *env) heldFrom(x tvc.ID) tvc.Frontier {
	e.t.Helper()
	hold, since, err := e.c.HoldIndex(x)
	e.must(err)
	hold.Release()
	return since
}

// TestAViewGoesOnFromItsUpper: what is written while nothing computes a view is in it afterwards, each change at its time; be
// the view new, or stored already as far as an earlier process or another replica has got. What is stored stays.
// Of what must be kept, this is: the first time of a view's dataflow is not past its upper, so that nothing is left out.
func TestAViewGoesOnFromItsUpper(t *testing.T) {
	e := newEnv(t, 2)
	e.must(e.sets.Set("storage_retain_history", "1h"))
	a := e.table(1)
	type point struct {
		at   tvc.Time
		want string
	}
	var points []point
	write := func(b *vec.Block) {
		at := e.write(map[tvc.ID]*vec.Block{a: b})
		points = append(points, point{at, plantest.Eval(groups(a), e.live, nil).Rows.String()})
	}
	gone := func() {
		e.c.SetCluster(cluster)
		for i := range int64(3) {
			write(numbers(2+i, i, i+1))
		}
	}
	write(numbers(5, 1))
	e.c.SetCluster(cluster)
	v := e.view(10, groups(a))
	sh, _ := e.set.Shard(v)
	points[0].at = tvc.Time(sh.Since())
	gone()
	for range 2 {
		e.c.SetCluster(cluster, replica(2, 3))
		e.check(v, groups(a), e.live)
		gone()
		e.stop()
		e.start(2)
		e.check(v, groups(a), e.live)
		gone()
	}
	e.c.SetCluster(cluster, replica(3, 1))
	for i, p := range points {
		got, err := e.readAt(v, p.at)
		e.must(err)
		if got.String() != p.want {
			t.Errorf("at its change %d, at %d, the view is\n%swant\n%s", i, p.at, got, p.want)
		}
	}
	if n := e.labelled("tributary_sink_rebuilds_total", "view", v.String()); n > 0 {
		t.Errorf("the view was built anew %v times", n)
	}
}
