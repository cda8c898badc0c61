package controller

import (
	"time"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/tvc"
)

// A view's inputs stay readable from its durable upper on. That is enough for the replica that appends to it, but not for
// one that is slower: so every run of a view holds the inputs for itself, from where it reads on. A run that has been
// behind who appends for longer than standbyMaxLag, and has not come nearer than that, loses its hold. If it still needs
// what then goes it begins anew, with another hold, at the view's durable upper.

var standbyMaxLag = settings.NewDuration("compute_standby_max_lag", time.Hour, 0, 365*24*time.Hour,
	"how far a replica may be behind the one that appends to a view before what it has yet to read is no longer kept for it",
	"next append to the view")

// runHold is what a run of a view holds.
type runHold struct {
	hold *collection.Hold
	// from is where the run reads on, and behind since when the view is past that; 0 if it is not.
	from   tvc.Frontier
	behind tvc.Time
}

// release lets go what is held, if anything is.
func (h *runHold) release() {
	if h.hold != nil {
		h.hold.Release()
		h.hold = nil
	}
}

// Hold is protocol.Inputs's.
func (r *replica) Hold(id tvc.ID) bool {
	ok, wake := r.holdAnew(id)
	wakeAll(wake)
	return ok
}

// holdAnew also gives the dataflows that are to be woken.
func (r *replica) holdAnew(id tvc.ID) (ok bool, wake map[stalled]struct{}) {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[id]
	if x == nil || x.runs[r] == nil {
		return false, nil
	}
	hold, err := c.o.Set.Hold("view "+x.name+" on replica "+r.desc.ID.String(), x.create.Plan.Imports()...)
	if err != nil {
		return false, nil
	}
	run := x.runs[r]
	run.held.release()
	run.held = runHold{hold: hold}
	if x.corrector == r {
		wake = c.goOnLocked(x) // a correction that came to nothing
	}
	return true, wake
}

// Reads is protocol.Inputs's.
func (r *replica) Reads(id tvc.ID, from tvc.Frontier) {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[id]
	if x == nil || x.runs[r] == nil {
		return
	}
	h := &x.runs[r].held
	if h.from = from; from >= x.output.upper {
		h.behind = 0
	}
	if h.hold != nil {
		h.hold.Downgrade(from - 1)
	}
}

// lagLocked ends the holds of a view's runs that are too far behind, and gives those that are.
func (c *Controller) lagLocked(x *coll) (lagging []*replica) {
	if x.create.View == nil {
		return nil
	}
	now := c.o.Oracle.Closed()
	most := tvc.Time(standbyMaxLag.Get(c.o.Settings).Microseconds())
	for r, run := range x.runs {
		h := &run.held
		switch {
		case h.hold == nil || h.from >= x.output.upper:
		case h.behind == 0:
			h.behind = now
		case now > max(h.behind, tvc.Time(h.from))+most:
			h.release()
			lagging = append(lagging, r)
		}
	}
	return lagging
}

// warn says which replicas are too far behind with a view.
func (c *Controller) warn(view string, lagging []*replica) {
	for _, r := range lagging {
		c.o.Log.Warn("a replica is too far behind with a view: what it has yet to read is no longer kept for it",
			"view", view, "replica", r.desc.ID.String(), "setting", standbyMaxLag.Name())
	}
}
