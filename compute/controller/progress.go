package controller

import (
	"context"

	"github.com/tributary-db/tributary/compute/engine"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

var (
	_ protocol.Listener = (*Controller)(nil)
	_ protocol.Inputs   = (*Controller)(nil)
)

// Closed is protocol.Inputs's.
func (c *Controller) Closed() tvc.Time { return c.o.Oracle.Closed() }

// Complete is protocol.Inputs's: the claim of promise C1.
func (c *Controller) Complete(id tvc.ID, closed tvc.Time) (physical, logical tvc.Frontier) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[id]
	if x == nil {
		return 0, 0
	}
	return x.complete(closed)
}

// complete works the claim out, from the inputs' claims. The controller's lock is held.
func (x *coll) complete(closed tvc.Time) (physical, logical tvc.Frontier) {
	if x.create == nil {
		x.claimed = max(x.claimed, tvc.After(closed))
		return x.shard.Upper(), x.claimed
	}
	if !x.hydrated {
		return 0, 0
	}
	if x.claimed < tvc.After(closed) {
		logical, settled := tvc.After(closed), true
		for _, in := range x.inputs {
			p, l := in.complete(closed)
			logical = min(logical, l)
			settled = settled && x.through[in.id] >= p
		}
		if settled {
			x.claimed = max(x.claimed, logical)
		}
	}
	// Read after the claim was found true: what it speaks of is physically there.
	return x.physical(), max(x.claimed, x.physical())
}

// physical is through where the collection's own updates go.
func (x *coll) physical() tvc.Frontier {
	if x.shard != nil {
		return x.shard.Upper()
	}
	return x.upper
}

// Progress is protocol.Listener's.
func (c *Controller) Progress(p protocol.Progress) {
	c.mu.Lock()
	x := c.mu.collections[p.ID]
	if x == nil {
		c.mu.Unlock()
		return
	}
	x.hydrated = true
	x.upper = max(x.upper, p.Upper)
	for id, f := range p.Through {
		x.through[id] = max(x.through[id], f)
	}
	x.notifyAll()
	var wake []*coll
	for _, d := range x.dependents {
		wake = append(wake, d)
	}
	since := x.sinceLocked()
	replicas := make([][]*engine.Engine, len(wake))
	for i, d := range wake {
		replicas[i] = c.mu.clusters[d.cluster]
	}
	own := c.mu.clusters[x.cluster]
	c.mu.Unlock()
	for i, d := range wake {
		for _, e := range replicas[i] {
			e.Wake(d.id)
		}
	}
	if x.hold != nil {
		x.hold.Downgrade(p.Upper - 1)
	}
	if x.create.Index != nil {
		for _, e := range own {
			e.Compact(x.id, since)
		}
	}
}

// Applied says that a write to tables has been applied to the oracle: closed time has passed it, and what
// reads one of the tables beside others that were not written can go on. Whoever calls
// Oracle.ApplyWrite owes it.
func (c *Controller) Applied(tables ...tvc.ID) {
	type target struct {
		id      tvc.ID
		engines []*engine.Engine
	}
	var wake []target
	c.mu.Lock()
	for _, id := range tables {
		x := c.mu.collections[id]
		if x == nil {
			continue
		}
		for _, d := range x.dependents {
			if len(d.inputs) > 1 {
				wake = append(wake, target{d.id, c.mu.clusters[d.cluster]})
			}
		}
	}
	c.mu.Unlock()
	for _, t := range wake {
		for _, e := range t.engines {
			e.Wake(t.id)
		}
	}
}

// notifyAll lets whoever waits for x, or for what is computed from it, look again.
func (x *coll) notifyAll() {
	x.notify()
	for _, d := range x.dependents {
		d.notifyAll()
	}
}

// Failed is protocol.Listener's.
func (c *Controller) Failed(id tvc.ID, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.mu.collections[id]; x != nil {
		x.err = brokenError(x.create.Plan.Name, err)
		x.notifyAll()
	}
}

// brokenError is what who reads a collection is told that cannot be kept up to date.
func brokenError(name string, reason error) error {
	return pgerr.Newf(pgerr.DataCorrupted, "%s is broken and cannot be read: %v", name, reason).
		WithHint("Drop it and create it again; the server's log says more.")
}

// Wait returns when all the collections are complete through the time (promise C2), or fails if one of
// them cannot be.
func (c *Controller) Wait(ctx context.Context, ids []tvc.ID, at tvc.Time) error {
	for _, id := range ids {
		if err := c.wait(ctx, id, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *Controller) wait(ctx context.Context, id tvc.ID, at tvc.Time) error {
	for {
		c.mu.Lock()
		x := c.mu.collections[id]
		if x == nil {
			c.mu.Unlock()
			return errDropped
		}
		_, logical := x.complete(at)
		changed, err := x.changed, x.broken()
		c.mu.Unlock()
		switch {
		case err != nil:
			return err
		case logical > tvc.Frontier(at):
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// broken gives the error of x or of what it is computed from.
func (x *coll) broken() error {
	if x.err != nil {
		return x.err
	}
	for _, in := range x.inputs {
		if err := in.broken(); err != nil {
			return err
		}
	}
	return nil
}

// Upper gives a time through which all the collections are complete already, as far as is known without
// waiting, and not after closed time.
func (c *Controller) Upper(ids []tvc.ID) tvc.Time {
	closed := c.Closed()
	c.mu.Lock()
	defer c.mu.Unlock()
	upper := tvc.After(closed)
	for _, id := range ids {
		if x := c.mu.collections[id]; x != nil {
			_, logical := x.complete(closed)
			upper = min(upper, logical)
		}
	}
	return upper.Last()
}

// IndexHold keeps an index readable from a time on. It is owed a Release.
type IndexHold struct {
	c *Controller
	x *coll
}

// HoldIndex holds an index from its since on, which it gives.
func (c *Controller) HoldIndex(id tvc.ID) (*IndexHold, tvc.Frontier, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[id]
	if x == nil {
		return nil, 0, errDropped
	}
	h := &IndexHold{c: c, x: x}
	since := x.sinceLocked()
	x.held[h] = since
	return h, since, nil
}

// Downgrade lets what is before f go.
func (h *IndexHold) Downgrade(f tvc.Frontier) {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if since, ok := h.x.held[h]; ok {
		h.x.held[h] = max(since, f)
	}
}

// Release ends the hold. More than once is harmless.
func (h *IndexHold) Release() {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	delete(h.x.held, h)
}

// sinceLocked is from when on an index must stay readable: its newest time, or what readers hold.
func (x *coll) sinceLocked() tvc.Frontier {
	if x.create == nil {
		return 0
	}
	since := tvc.Frontier(x.create.AsOf)
	if x.upper > 0 {
		since = max(since, x.upper-1)
	}
	for _, held := range x.held {
		since = min(since, held)
	}
	return since
}

// Status is how a dataflow stands, for system relations.
type Status struct {
	ID       tvc.ID
	Hydrated bool
	Upper    tvc.Frontier
	Err      error
}

// Status gives how a collection's dataflow stands; false for one that has none.
func (c *Controller) Status(id tvc.ID) (Status, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[id]
	if x == nil || x.create == nil {
		return Status{}, false
	}
	return Status{ID: id, Hydrated: x.hydrated, Upper: x.upper, Err: x.err}, true
}
