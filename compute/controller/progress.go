package controller

import (
	"context"
	"maps"

	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

var (
	_ protocol.Listener = (*replica)(nil)
	_ protocol.Inputs   = (*replica)(nil)
)

// Closed is protocol.Inputs's.
func (r *replica) Closed() tvc.Time { return r.c.o.Oracle.Closed() }

// Complete is protocol.Inputs's.
func (r *replica) Complete(id tvc.ID, closed tvc.Time) (physical, logical tvc.Frontier) {
	cl := r.c.complete(id, closed)
	return cl.physical, cl.logical
}

// Stalled is protocol.Inputs's.
func (r *replica) Stalled(id tvc.ID) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if x := r.c.mu.collections[id]; x != nil && x.runs[r] != nil {
		r.c.mu.stalled[stalled{r, id}] = struct{}{}
	}
}

// stalled is a dataflow that has changes which it cannot take in before more is claimed about its inputs.
type stalled struct {
	r  *replica
	id tvc.ID
}

// Applied says that closed time may have moved past a write, since it was applied or given up: what waited
// for that can go on. Whoever calls Oracle.ApplyWrite or Oracle.Forget owes it.
func (c *Controller) Applied() {
	c.mu.Lock()
	wake := c.takeStalledLocked()
	c.mu.Unlock()
	wakeAll(wake)
}

// takeStalledLocked gives the dataflows that are to be woken; they register again if that did not help.
func (c *Controller) takeStalledLocked() map[stalled]struct{} {
	if len(c.mu.stalled) == 0 {
		return nil
	}
	wake := maps.Clone(c.mu.stalled)
	clear(c.mu.stalled)
	return wake
}

func wakeAll(wake map[stalled]struct{}) {
	for s := range wake {
		s.r.engine.Wake(s.id)
	}
}

// complete works out the claim of promise C1, for no more than closed time.
func (c *Controller) complete(id tvc.ID, closed tvc.Time) claim {
	closed = min(closed, c.o.Oracle.Closed())
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[id]
	if x == nil {
		return claim{}
	}
	return c.claimLocked(x, closed)
}

func (c *Controller) claimLocked(x *coll, closed tvc.Time) claim {
	c.mu.walk++
	return x.claim(closed, c.mu.walk)
}

// claim works the claim out from the inputs' claims. Of an index or subscription it is that of the run that
// has got furthest.
func (x *coll) claim(closed tvc.Time, walk uint64) claim {
	if x.walk == walk {
		return x.seen
	}
	x.walk = walk
	switch {
	case x.create == nil:
		x.claimed = max(x.claimed, tvc.After(closed))
		x.seen = claim{x.shard.Upper(), x.claimed}
	case x.output != nil:
		x.seen = claim{}
		if l := x.output.claim(x, closed, walk); l > 0 {
			// Read after the claim was found true: what it speaks of is physically there.
			upper := x.shard.Upper()
			x.seen = claim{upper, max(l, upper)}
		}
	default:
		x.seen = claim{}
		for _, r := range x.runs {
			if l := r.claim(x, closed, walk); l > x.seen.logical {
				x.seen = claim{r.upper, l}
			}
		}
	}
	return x.seen
}

// claim gives the frontier below which a dataflow's output is complete: as far as the dataflow has said, or if
// everything that is physically there of the inputs is in the output, as far as they all are. 0: it is not there yet.
func (o *output) claim(x *coll, closed tvc.Time, walk uint64) tvc.Frontier {
	if !o.hydrated {
		return 0
	}
	if o.claimed < tvc.After(closed) && x.corrector == nil {
		logical, settled := tvc.After(closed), true
		for _, in := range x.inputs {
			cl := in.claim(closed, walk)
			logical = min(logical, cl.logical)
			settled = settled && o.through[in.id] >= cl.physical
		}
		if settled {
			o.claimed = max(o.claimed, logical)
		}
	}
	return max(o.claimed, o.upper)
}

// Progress is protocol.Listener's.
func (r *replica) Progress(p protocol.Progress) {
	c := r.c
	c.mu.Lock()
	x := c.mu.collections[p.ID]
	if x == nil || x.runs[r] == nil {
		c.mu.Unlock()
		return // of a replica or a collection that is gone
	}
	o := x.runs[r].output
	o.hydrated = true
	if x.corrector == r {
		x.corrector = nil
	}
	if x.corrector != nil {
		p.Upper = min(p.Upper, x.shard.Upper())
	}
	o.upper = max(o.upper, p.Upper)
	for _, in := range p.Through {
		o.through[in.ID] = max(o.through[in.ID], in.Upper)
	}
	since, compact := x.compactLocked(o)
	name, lagging := x.name, c.lagLocked(x)
	c.notifyAll(x)
	wake := c.takeStalledLocked()
	c.mu.Unlock()
	c.warn(name, lagging)
	if compact {
		r.engine.Compact(x.id, since)
	}
	wakeAll(wake)
}

// compactLocked lets go what one output of an index or subscription no longer needs, of the inputs what none
// of them needs. compact says that the index is to be compacted.
func (x *coll) compactLocked(o *output) (since tvc.Frontier, compact bool) {
	if x.hold == nil {
		return 0, false
	}
	since = o.upper - 1
	for _, held := range x.held {
		since = min(since, held)
	}
	if since <= o.since {
		return 0, false
	}
	o.since = since
	least := since
	for _, r := range x.runs {
		if r.err == nil {
			least = min(least, r.since)
		}
	}
	x.hold.Downgrade(least)
	return since, x.create.Index != nil
}

// Reset is protocol.Listener's.
func (r *replica) Reset(id tvc.ID) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if x := r.c.mu.collections[id]; x != nil && x.runs[r] != nil && x.output == nil {
		since := x.runs[r].since
		x.runs[r].output = newOutput(since)
	}
}

// notifyAll lets whoever waits for x, or for what is computed from it, look again. The controller's lock is
// held.
func (c *Controller) notifyAll(x *coll) {
	c.mu.walk++
	x.notifyAll(c.mu.walk)
}

func (x *coll) notifyAll(walk uint64) {
	if x.walk == walk {
		return
	}
	x.walk = walk
	x.notify()
	for _, d := range x.dependents {
		d.notifyAll(walk)
	}
}

// Failed is protocol.Listener's.
func (r *replica) Failed(id tvc.ID, err error) {
	wakeAll(r.failed(id, err))
}

// failed gives the dataflows that are to be woken.
func (r *replica) failed(id tvc.ID, err error) map[stalled]struct{} {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[id]
	if x == nil || x.runs[r] == nil {
		return nil
	}
	x.runs[r].err = brokenError(x.name, err)
	x.runs[r].held.release()
	if x.corrector == r {
		x.corrector = nil
	}
	c.succeedLocked(x)
	c.lostLocked(x)
	c.notifyAll(x)
	return c.takeStalledLocked()
}

// lostLocked ends the subscriptions to a collection, if it is broken, and to what is computed from it.
func (c *Controller) lostLocked(x *coll) {
	if err := x.failure(); err != nil {
		c.mu.walk++
		x.endSubscriptions(err, c.mu.walk)
	}
}

func (x *coll) endSubscriptions(err error, walk uint64) {
	if x.walk == walk {
		return
	}
	x.walk = walk
	if x.create != nil && x.create.Subscribe != nil {
		x.create.Subscribe.Feed.Fail(err)
	}
	for _, d := range x.dependents {
		d.endSubscriptions(err, walk)
	}
}

// failure says why a collection, by itself, cannot be kept up to date: it has ended on all replicas that it runs on.
func (x *coll) failure() error {
	err := x.err
	if err != nil {
		return err
	}
	for _, r := range x.runs {
		if err = r.err; err == nil {
			return nil
		}
	}
	return err
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
		err := c.await(ctx, id, func(x *coll) bool { return c.claimLocked(x, at).logical > tvc.Frontier(at) })
		if err != nil {
			return err
		}
	}
	return nil
}

// await returns when ready, which is asked with the lock held whenever the collection may have got further.
func (c *Controller) await(ctx context.Context, id tvc.ID, ready func(x *coll) bool) error {
	for {
		c.mu.Lock()
		x := c.mu.collections[id]
		if x == nil {
			c.mu.Unlock()
			return errDropped
		}
		err := c.brokenLocked(x)
		if err != nil || ready(x) {
			c.mu.Unlock()
			return err
		}
		changed := x.wait()
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// brokenLocked gives the error of x or of what it is computed from.
func (c *Controller) brokenLocked(x *coll) error {
	c.mu.walk++
	return x.broken(c.mu.walk)
}

func (x *coll) broken(walk uint64) error {
	if x.walk == walk {
		return nil
	}
	x.walk = walk
	if err := x.failure(); err != nil {
		return err
	}
	for _, in := range x.inputs {
		if err := in.broken(walk); err != nil {
			return err
		}
	}
	return nil
}

// Upper gives a time through which all the collections are complete already, as far as is known without
// waiting, and not after closed time; 0 if one of them is not there yet.
func (c *Controller) Upper(ids []tvc.ID) tvc.Time {
	closed := c.o.Oracle.Closed()
	c.mu.Lock()
	defer c.mu.Unlock()
	upper := tvc.After(closed)
	for _, id := range ids {
		x := c.mu.collections[id]
		if x == nil {
			continue
		}
		upper = min(upper, c.claimLocked(x, closed).logical)
	}
	if upper == 0 {
		return 0
	}
	return upper.Last()
}

// IndexHold keeps an index readable from a time on. It is owed a Release.
type IndexHold struct {
	c *Controller
	x *coll
}

// HoldIndex holds an index from a time on, which it gives: the first at which all its replicas can be read. A broken
// one can be held too, but not be read.
func (c *Controller) HoldIndex(id tvc.ID) (*IndexHold, tvc.Frontier, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[id]
	if x == nil {
		return nil, 0, errDropped
	}
	since := tvc.Frontier(0)
	if x.hold != nil {
		since = x.hold.Since()
	}
	for _, r := range x.runs {
		if r.err == nil {
			since = max(since, r.since)
		}
	}
	h := &IndexHold{c: c, x: x}
	x.held[h] = since
	return h, since, nil
}

// Downgrade lets everything before f go; it never goes back.
func (h *IndexHold) Downgrade(f tvc.Frontier) {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if at, held := h.x.held[h]; held {
		h.x.held[h] = max(at, f)
	}
}

// Release ends the hold. More than once is harmless.
func (h *IndexHold) Release() {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	delete(h.x.held, h)
}
