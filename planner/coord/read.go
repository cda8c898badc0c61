package coord

import (
	"context"
	"sync"
	"time"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/tvc"
)

// read is a time with holds.
type read struct {
	c    *Coord
	at   tvc.Time
	once sync.Once
	hold *collection.Hold
	// indexes are the holds on indexes.
	indexes []*controller.IndexHold
}

// Read chooses a time for the collections and holds them there: first the holds, then the time, so that
// what the time needs is still there.
func (c *Coord) Read(ctx context.Context, ids []tvc.ID, o ReadOptions) (Read, error) {
	if o.All {
		ids = c.everything()
	}
	r := &read{c: c}
	since, err := r.take(ids)
	if err == nil {
		r.at, err = c.chooseTime(ctx, ids, since, o)
	}
	if err != nil {
		r.Release()
		return nil, err
	}
	return r, nil
}

// everything lists all collections there are.
func (c *Coord) everything() []tvc.ID {
	var ids []tvc.ID
	for it := range c.Catalog().Items() {
		if it.Kind.Stored() || it.Kind == catalog.Index {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

// take holds the collections and gives the least time at which all can be read.
func (r *read) take(ids []tvc.ID) (tvc.Frontier, error) {
	var stored []tvc.ID
	since := tvc.Frontier(0)
	for _, id := range ids {
		if _, ok := r.c.set.Shard(id); ok {
			stored = append(stored, id)
			continue
		}
		h, s, err := r.c.control.HoldIndex(id)
		if err != nil {
			return 0, err
		}
		r.indexes = append(r.indexes, h)
		since = max(since, s)
	}
	if len(stored) == 0 {
		return since, nil
	}
	h, err := r.c.set.Hold("query", stored...)
	if err != nil {
		return 0, err
	}
	r.hold = h
	return max(since, h.Since()), nil
}

// chooseTime picks the time of a read.
func (c *Coord) chooseTime(ctx context.Context, ids []tvc.ID, since tvc.Frontier, o ReadOptions) (tvc.Time, error) {
	if o.AsOf != nil {
		at := *o.AsOf
		if tvc.Frontier(at) < since {
			if !o.AtLeast {
				return 0, pgerr.Newf(pgerr.ObjectNotInPrerequisiteState,
					"timestamp %d is no longer readable: history reaches back to %d", at.Millis(), tvc.Time(since+999).Millis()).
					WithHint("RETAIN HISTORY keeps more of it.")
			}
			at = tvc.Time(since)
		}
		return at, c.waitClosed(ctx, at)
	}
	if o.Isolation == Serializable {
		return max(c.control.Upper(ids), tvc.Time(since)), nil
	}
	now, err := c.oracle.ReadTime(ctx)
	return max(now, tvc.Time(since)), err
}

// At is Read's.
func (r *read) At() tvc.Time { return r.at }

// Release is Read's.
func (r *read) Release() {
	r.once.Do(func() {
		if r.hold != nil {
			r.hold.Release()
		}
		for _, h := range r.indexes {
			h.Release()
		}
	})
}

// Query is Read's.
func (r *read) Query(ctx context.Context, q *Query) (Cursor, error) {
	run := &controller.Query{Plan: q.Dataflow, Lookup: q.Lookup, Finishing: q.Finishing, Cluster: q.Cluster, At: r.at,
		MaxBytes: q.MaxBytes, Env: q.Env}
	if q.Lookup != nil {
		var err error
		if run.Cols, err = r.c.indexColumns(q.Lookup.Index); err != nil {
			return nil, err
		}
	}
	rows, err := r.c.control.Query(ctx, run)
	if err != nil {
		return nil, err
	}
	return cursor{rows}, nil
}

// indexColumns gives the types of the columns of the relation that an index is on.
func (c *Coord) indexColumns(id tvc.ID) ([]types.T, error) {
	snap := c.Catalog()
	if ix := snap.Item(id); ix != nil {
		if on := snap.Item(ix.On); on != nil {
			cols := make([]types.T, len(on.Rel.Cols))
			for i, col := range on.Rel.Cols {
				cols[i] = col.Type
			}
			return cols, nil
		}
	}
	return nil, pgerr.New(pgerr.UndefinedObject, "the index was dropped")
}

// cursor makes a Cursor of a result that is there.
type cursor struct{ controller.Rows }

func (cursor) Close() {}

// Subscribe is Read's.
func (r *read) Subscribe(_ context.Context, s *Subscription) (Feed, error) {
	sub, err := r.c.control.Subscribe(s.Cluster, controller.SubscribeOptions{Plan: s.Dataflow, At: r.at,
		NoSnapshot: s.NoSnapshot, UpTo: s.UpTo, MaxLagBytes: s.MaxLagBytes})
	if err != nil {
		return nil, err
	}
	return &feed{c: r.c, sub: sub, progress: s.Progress, upTo: s.UpTo}, nil
}

// progressInterval is how often a subscriber that asked for it hears that time has passed.
const progressInterval = time.Second

// feed is a subscription as a session sees it.
type feed struct {
	c        *Coord
	sub      *controller.Subscription
	progress bool
	upTo     tvc.Frontier
	upper    tvc.Frontier
	once     sync.Once
}

// Next is Feed's.
func (f *feed) Next(ctx context.Context) (Delivery, bool, error) {
	for {
		tick, stop := ctx, context.CancelFunc(func() {})
		if f.progress {
			tick, stop = context.WithTimeoutCause(ctx, progressInterval, errProgress)
		}
		rows, upper, ok, err := f.sub.Next(tick)
		stop()
		if err == errProgress {
			if f.passed(ctx) {
				return Delivery{Upper: f.upper}, true, nil
			}
			continue
		}
		if ok {
			f.upper = max(f.upper, upper)
		}
		return Delivery{Rows: rows, Upper: upper}, ok, err
	}
}

var errProgress = pgerr.New(pgerr.InternalError, "time for progress")

// passed says whether the subscription has become complete further although nothing came.
func (f *feed) passed(ctx context.Context) bool {
	now, err := f.c.oracle.ReadTime(ctx)
	if err != nil {
		return false
	}
	upper := f.sub.Complete(now)
	if f.upTo != 0 {
		upper = min(upper, f.upTo)
	}
	if upper <= f.upper {
		return false
	}
	f.upper = upper
	return true
}

// Close is Feed's.
func (f *feed) Close() { f.once.Do(f.sub.Close) }
