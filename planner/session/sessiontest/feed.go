package sessiontest

import (
	"context"
	"sync"

	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Subscribe is coord.Read's.
func (r *read) Subscribe(_ context.Context, s *coord.Subscription) (coord.Feed, error) {
	if err := r.check(s.Dataflow.Imports()); err != nil {
		return nil, err
	}
	r.c.hold(1)
	f := &feed{c: r.c, s: s, at: r.at, was: plantest.Rows{}}
	if s.NoSnapshot {
		r.c.mu.Lock()
		defer r.c.mu.Unlock()
		rows, err := r.c.evalLocked(s.Dataflow, r.at, nil)
		if err != nil {
			return nil, err
		}
		f.was = rows
	}
	return f, nil
}

// feed is coord.Feed: it recomputes the result at every time and gives the differences.
type feed struct {
	c    *Coord
	s    *coord.Subscription
	at   tvc.Time // of the next look
	seen bool     // the look at the start is done
	was  plantest.Rows
	done bool
	once sync.Once
}

func (f *feed) Next(ctx context.Context) (coord.Delivery, bool, error) {
	for {
		if f.done || f.s.UpTo != 0 && f.s.UpTo <= tvc.Frontier(f.at) {
			return coord.Delivery{}, false, nil
		}
		d, ready, moved, err := f.look()
		if err != nil || ready {
			return d, err == nil, err
		}
		select {
		case <-ctx.Done():
			return coord.Delivery{}, false, context.Cause(ctx)
		case <-moved:
		}
	}
}

// look takes the changes of the next time at which there can be some.
func (f *feed) look() (d coord.Delivery, ready bool, moved <-chan struct{}, err error) {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if f.seen {
		next := tvc.Time(0)
		for _, id := range f.s.Dataflow.Imports() {
			under := map[tvc.ID]bool{}
			f.tablesLocked(id, under)
			for table := range under {
				for _, ch := range f.c.mu.tables[table] {
					if ch.at >= f.at && (next == 0 || ch.at < next) {
						next = ch.at
					}
				}
			}
		}
		if next == 0 {
			return d, false, f.c.mu.moved, nil
		}
		f.at = next
		if f.s.UpTo != 0 && f.s.UpTo <= tvc.Frontier(f.at) {
			f.done = true
			return d, false, closed(), nil
		}
	}
	rows, err := f.c.evalLocked(f.s.Dataflow, f.at, nil)
	if err != nil {
		return d, false, nil, err
	}
	d.Upper = tvc.Frontier(f.at) + 1
	d.Rows = difference(f.was, rows, f.at, kinds(f.s.Cols))
	if !f.seen && len(f.s.Dataflow.Imports()) == 0 {
		f.done = true
	}
	f.was, f.seen, f.at = rows, true, f.at+1
	return d, true, nil, nil
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func (f *feed) tablesLocked(id tvc.ID, to map[tvc.ID]bool) {
	to[id] = true
	if it := f.c.mu.catalog.Item(id); it != nil {
		for _, on := range it.DependsOn {
			f.tablesLocked(on, to)
		}
	}
}

func difference(was, is plantest.Rows, at tvc.Time, ks []types.Kind) *vec.Block {
	all := plantest.Rows{}
	for _, r := range is {
		all.Add(r.Data, r.Count)
	}
	for _, r := range was {
		all.Add(r.Data, -r.Count)
	}
	out := vec.NewBlock(ks, len(all))
	out.Diffs = []int64{}
	for _, r := range all.Sorted() {
		out.AppendRow(r.Count, r.Data...)
		out.Times = append(out.Times, uint64(at))
	}
	if out.Len == 0 {
		return nil
	}
	return out
}

func (f *feed) Close() { f.once.Do(func() { f.c.hold(-1) }) }
