package coord

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
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
	// held are the collections that are held.
	held []tvc.ID
	// catalog is what the reader goes by.
	catalog *catalog.Snapshot
}

// Read chooses a time for the collections and holds them there: first the holds, then the time, so that
// what the time needs is still there. What is before the time is let go at once: else reads of which one is always
// under way would hold all history since the first.
func (c *Coord) Read(ctx context.Context, ids []tvc.ID, o ReadOptions) (Read, error) {
	r := &read{c: c, catalog: o.Catalog}
	if r.catalog == nil {
		r.catalog = c.Catalog()
	}
	since, err := r.take(ids, o.All)
	if err == nil {
		r.at, err = c.chooseTime(ctx, ids, since, o)
	}
	if err != nil {
		r.Release()
		return nil, err
	}
	if r.hold != nil {
		r.hold.Downgrade(tvc.Frontier(r.at))
	}
	for _, h := range r.indexes {
		h.Downgrade(tvc.Frontier(r.at))
	}
	return r, nil
}

// take holds the collections, with all of them also whatever others there are, and gives the least time at which
// what is held can be read.
func (r *read) take(ids []tvc.ID, all bool) (since tvc.Frontier, err error) {
	var asked, others []tvc.ID
	for _, id := range ids {
		switch {
		case !r.isIndex(id):
			asked = append(asked, id)
		case !r.takeIndex(id, &since):
			return 0, r.dropped(id)
		}
	}
	if all {
		for it := range r.catalog.Items() {
			switch {
			case it.Kind == catalog.Index:
				r.takeIndex(it.ID, &since)
			case it.Kind.Stored() && !slices.Contains(asked, it.ID):
				others = append(others, it.ID)
			}
		}
	}
	for {
		stored, err := r.stored(asked, others)
		if err != nil || len(stored) == 0 {
			return since, err
		}
		h, err := r.c.set.Hold("query", stored...)
		if err == nil {
			r.hold = h
			r.held = append(r.held, stored...)
			return max(since, h.Since()), nil
		}
		// Something was dropped just now. If it was asked for, the next look finds out.
	}
}

func (r *read) isIndex(id tvc.ID) bool {
	it := r.catalog.Item(id)
	return it != nil && it.Kind == catalog.Index
}

// takeIndex holds an index if it is there, and moves since to where it can be read.
func (r *read) takeIndex(id tvc.ID, since *tvc.Frontier) bool {
	h, s, err := r.c.control.HoldIndex(id)
	if err != nil {
		return false
	}
	r.indexes = append(r.indexes, h)
	r.held = append(r.held, id)
	*since = max(*since, s)
	return true
}

// stored lists the collections to be held: those asked for, which must be there, and of the others those that are.
func (r *read) stored(asked, others []tvc.ID) ([]tvc.ID, error) {
	var stored []tvc.ID
	for _, id := range asked {
		if !r.c.isThere(id) {
			return nil, r.dropped(id)
		}
		stored = append(stored, id)
	}
	for _, id := range others {
		if r.c.isThere(id) {
			stored = append(stored, id)
		}
	}
	return stored, nil
}

// isThere says whether a collection is open and not dropped.
func (c *Coord) isThere(id tvc.ID) bool {
	sh, ok := c.set.Shard(id)
	return ok && !sh.IsSealed()
}

// dropped is the error of a read of what is not there.
func (r *read) dropped(id tvc.ID) error {
	it := r.catalog.Item(id)
	switch {
	case it == nil:
		return droppedError(id.String())
	case it.Kind == catalog.Index:
		return pgerr.Newf(pgerr.UndefinedObject, "index %q does not exist", it.Name).WithDetail("It has just been dropped.")
	}
	return droppedError(it.Name)
}

// explain says of an error of a read of some collections that one of them was dropped, if that is why, and else what
// has failed.
func (r *read) explain(ids []tvc.ID, err error) error {
	var told *pgerr.Error
	if err == nil || !errors.Is(err, shard.ErrSealed) && !(errors.As(err, &told) && told.Code == pgerr.UndefinedObject) {
		return ofStorage(err)
	}
	for _, id := range ids {
		if now := r.c.Catalog().Item(id); now == nil || now.Kind.Stored() && !r.c.isThere(id) {
			return r.dropped(id)
		}
	}
	return err
}

// chooseTime picks the time of a read. It is closed: what has not happened yet is at no time that anybody reads.
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
	if o.Isolation == StrictSerializable {
		return c.closedFrom(ctx, since)
	}
	// Of what is still being filled nothing is known to be complete; then it is waited for.
	if at := min(c.control.Upper(ids), c.oracle.Closed()); tvc.Frontier(at) >= since {
		return at, nil
	}
	return tvc.Time(since), c.waitClosed(ctx, tvc.Time(since))
}

// closedFrom gives the latest closed time, once there is one at or after since.
func (c *Coord) closedFrom(ctx context.Context, since tvc.Frontier) (tvc.Time, error) {
	now, err := c.readTime(ctx)
	if err != nil || tvc.Frontier(now) >= since {
		return now, err
	}
	return tvc.Time(since), c.waitClosed(ctx, tvc.Time(since))
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
	var reads []tvc.ID
	if q.Lookup != nil {
		reads = []tvc.ID{q.Lookup.Index}
		var err error
		if run.Cols, err = r.indexColumns(q.Lookup.Index); err != nil {
			return nil, err
		}
	} else {
		reads = q.Dataflow.Imports()
	}
	rows, err := r.c.control.Query(ctx, run)
	if err != nil {
		return nil, r.explain(reads, err)
	}
	return cursor{rows, r, reads}, nil
}

// indexColumns gives the types of the columns of the relation that an index is on.
func (r *read) indexColumns(id tvc.ID) ([]types.T, error) {
	snap := r.c.Catalog()
	if ix := snap.Item(id); ix != nil {
		if on := snap.Item(ix.On); on != nil {
			cols := make([]types.T, len(on.Rel.Cols))
			for i, col := range on.Rel.Cols {
				cols[i] = col.Type
			}
			return cols, nil
		}
	}
	return nil, r.dropped(id)
}

// cursor makes a Cursor of a result.
type cursor struct {
	controller.Rows
	read *read
	ids  []tvc.ID
}

// Next is Cursor's.
func (c cursor) Next(ctx context.Context) (*vec.Block, error) {
	b, err := c.Rows.Next(ctx)
	return b, c.read.explain(c.ids, err)
}

// Close is Cursor's.
func (cursor) Close() {}

// Subscribe is Read's.
func (r *read) Subscribe(_ context.Context, s *Subscription) (Feed, error) {
	sub, err := r.c.control.Subscribe(s.Cluster, controller.SubscribeOptions{Plan: s.Dataflow, At: r.at,
		NoSnapshot: s.NoSnapshot, UpTo: s.UpTo, MaxLagBytes: s.MaxLagBytes})
	ids := s.Dataflow.Imports()
	if err != nil {
		return nil, r.explain(ids, err)
	}
	return &feed{c: r.c, sub: sub, progress: s.Progress, upTo: s.UpTo, read: r, ids: ids}, nil
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
	// read and ids say what is read.
	read *read
	ids  []tvc.ID
}

// Next is Feed's.
func (f *feed) Next(ctx context.Context) (Delivery, bool, error) {
	d, ok, err := f.await(ctx)
	return d, ok, f.read.explain(f.ids, err)
}

// await waits for what comes next.
func (f *feed) await(ctx context.Context) (Delivery, bool, error) {
	if !f.progress && f.upTo == 0 {
		return f.next(ctx)
	}
	for {
		tick, stop := context.WithTimeoutCause(ctx, f.pause(), errProgress)
		d, ok, err := f.next(tick)
		if err == errProgress {
			d, ok, err = f.passed(ctx, tick)
		}
		stop()
		if err != errProgress {
			return d, ok, err
		}
	}
}

// next gives the next delivery.
func (f *feed) next(ctx context.Context) (Delivery, bool, error) {
	rows, upper, ok, err := f.sub.Next(ctx)
	if ok {
		f.upper = max(f.upper, upper)
	}
	return Delivery{Rows: rows, Upper: upper}, ok, err
}

// pause is for how long it is of no use to look whether time alone has passed.
func (f *feed) pause() time.Duration {
	if f.upTo == 0 || f.upTo == tvc.Done {
		return progressInterval
	}
	left := time.Duration(f.upTo-min(f.upTo, tvc.Frontier(f.c.oracle.Closed()))) * time.Microsecond
	return min(max(left, time.Millisecond), progressInterval)
}

var errProgress = pgerr.New(pgerr.InternalError, "time for progress")

// passed finds out through where the subscription has become complete by time alone: that may be its end, or
// worth telling; errProgress if neither. expired is a context that has ended.
func (f *feed) passed(ctx, expired context.Context) (Delivery, bool, error) {
	now, err := f.c.oracle.ReadTime(ctx)
	if err != nil {
		return Delivery{}, false, err
	}
	complete := f.sub.Complete(now)
	// What is below it is there by now, and goes first.
	if d, ok, err := f.next(expired); err != errProgress {
		return d, ok, err
	}
	if f.upTo != 0 {
		complete = min(complete, f.upTo)
	}
	switch {
	case f.progress && complete > f.upper:
		f.upper = complete
		return Delivery{Upper: complete}, true, nil
	case f.upTo != 0 && complete >= f.upTo:
		return Delivery{}, false, nil
	}
	return Delivery{}, false, errProgress
}

// Close is Feed's.
func (f *feed) Close() { f.once.Do(f.sub.Close) }
