package txn

import "time"

// Announcement is the ticket of a unit that may come: units that are waited for together have the same. 0 is none.
type Announcement uint64

// Expect announces a Derived unit that may come soon. It is owed a Met, or a unit that was Announced.
func (g *Group) Expect() Announcement {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.expected++
	g.metrics.expected.Inc()
	return g.mu.announcement
}

// Late says whether a wait for what was announced has ended without it, so that nobody waits for it any more.
func (g *Group) Late(a Announcement) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return a != g.mu.announcement
}

// Met says that a unit that was announced does not come, or not soon.
func (g *Group) Met(a Announcement) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.metLocked(a)
}

func (g *Group) metLocked(a Announcement) {
	if a == 0 {
		return
	}
	g.metrics.expected.Dec()
	if a != g.mu.announcement {
		return // it was late
	}
	if g.mu.expected--; g.mu.expected == 0 {
		g.goOnLocked()
	}
}

// wait is for announced units, before a step.
type wait struct {
	// over is closed when it is: nothing is expected any more, a client's unit is in line, enough for a step is, or the group
	// has failed.
	over chan struct{}
	// size is about how many bytes the units in line will write; came says that some came since that was last asked.
	size int
	came bool
}

// expectMax bounds a wait for announced units.
const expectMax = 10 * time.Millisecond

// await lets derived units that are in line wait for announced ones, unless there is a client's unit or enough for a step. It goes
// on as long as somebody comes in each time that a commit takes, as who comes in the middle of a commit waits for that and
// then for its own.
func (g *Group) await() {
	w := g.beginWait()
	if w == nil {
		return
	}
	pause := min(g.took, expectMax)
	most, next := time.NewTimer(expectMax), time.NewTimer(pause)
	defer most.Stop()
	defer next.Stop()
	for {
		select {
		case <-w.over:
			return
		case <-most.C:
			g.giveUp(w)
			return
		case <-next.C:
			if !g.hasAnyCome(w) {
				g.giveUp(w)
				return
			}
			next.Reset(pause)
		}
	}
}

// beginWait is nil if there is nothing to wait for.
func (g *Group) beginWait() *wait {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.expected == 0 || len(g.mu.clients) == 0 || g.mu.err != nil {
		return nil
	}
	w := &wait{over: make(chan struct{})}
	for _, r := range g.mu.clients {
		if w.size += r.size(); !r.unit.Derived || w.size > stepMax {
			return nil
		}
	}
	g.mu.wait = w
	return w
}

// cameLocked notes that a unit has come in line.
func (g *Group) cameLocked(r *request) {
	w := g.mu.wait
	if w == nil || r.unit.Background {
		return
	}
	w.came = true
	if w.size += r.size(); !r.unit.Derived || w.size > stepMax {
		g.goOnLocked()
	}
}

// leftLocked notes that a unit has left the line.
func (g *Group) leftLocked(r *request) {
	if w := g.mu.wait; w != nil && !r.unit.Background {
		w.size -= r.size()
	}
}

// hasAnyCome says whether units have come since it was last asked.
func (g *Group) hasAnyCome(w *wait) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	came := w.came
	w.came = false
	return came
}

// giveUp ends a wait for units that are late.
func (g *Group) giveUp(w *wait) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.wait == w {
		g.mu.wait = nil
		g.mu.announcement++
		g.mu.expected = 0
	}
}

// goOnLocked ends the wait for announced units.
func (g *Group) goOnLocked() {
	if g.mu.wait != nil {
		close(g.mu.wait.over)
		g.mu.wait = nil
	}
}
