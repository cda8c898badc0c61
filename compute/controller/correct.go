package controller

import "github.com/tributary-db/tributary/storage/tvc"

// What is said to be complete cannot be corrected any more: who read it would never hear of the correction. So while a
// replica computes one, nothing more is claimed of the view than what is stored.

// Corrects is protocol.Listener's.
func (r *replica) Corrects(id tvc.ID) (claimed tvc.Frontier) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	x := r.c.mu.collections[id]
	if x == nil || x.runs[r] == nil {
		return 0
	}
	for other, run := range x.runs {
		if other != r && run.err == nil {
			other.engine.Yield(id)
		}
	}
	x.corrector = r
	return max(x.output.claimed, x.output.upper)
}

// Waited is protocol.Listener's.
func (r *replica) Waited(id tvc.ID) {
	c := r.c
	c.mu.Lock()
	var wake map[stalled]struct{}
	if x := c.mu.collections[id]; x != nil {
		wake = c.goOnLocked(x)
	}
	c.mu.Unlock()
	wakeAll(wake)
}

// goOnLocked lets more be claimed of a view again, and gives the dataflows that are to be woken.
func (c *Controller) goOnLocked(x *coll) map[stalled]struct{} {
	if x.corrector == nil {
		return nil
	}
	x.corrector = nil
	c.notifyAll(x)
	return c.takeStalledLocked()
}
