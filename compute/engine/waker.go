package engine

import (
	"sync"

	"github.com/tributary-db/tributary/storage/txn"
)

// waker wakes the goroutine that drives a dataflow, and announces to the line of commits that the view may soon have an
// append: from when it is woken until a tick has brought nothing or it sleeps again, or until the append is in line. signal is
// safe for concurrent use; the others are the driver's.
type waker struct {
	// woken has one slot: a full channel already means "look again".
	woken chan struct{}
	line  announcer
	mu    struct {
		sync.Mutex
		// open says that who is woken could append soon.
		open bool
		// announced is what the line was told; 0 if nothing.
		announced txn.Announcement
		// ticks is about what is announced from a wake-up on, writes about appends from their launch on.
		ticks, writes tardiness
	}
}

// announcer is txn.Group's part.
type announcer interface {
	Expect() txn.Announcement
	Met(txn.Announcement)
	Late(txn.Announcement) bool
}

// tardiness decides whether something is announced that comes again and again: ever less often if waits have ended without it
// the last times.
type tardiness struct {
	// row is how often that was so in a row, at most maxRow; skip is how many times more it is not announced.
	row, skip int
}

// maxRow bounds how many times are skipped in the end: 63.
const maxRow = 6

// came notes that it has come, late or not.
func (t *tardiness) came(announced, late bool) {
	switch {
	case !announced:
		t.skip = max(0, t.skip-1)
	case late:
		t.row = min(t.row+1, maxRow)
		t.skip = 1<<t.row - 1
	default:
		t.row = 0
	}
}

// signal makes the dataflow look at its inputs again.
func (w *waker) signal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.open && w.mu.announced == 0 && w.mu.ticks.skip == 0 {
		w.mu.announced = w.line.Expect()
	}
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// rest is called before the driver sleeps: what was announced does not come, unless it was woken again. appends says
// whether it could append soon when it is woken the next time.
func (w *waker) rest(appends bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.open = appends; !appends || len(w.woken) == 0 {
		if w.mu.announced != 0 && w.line.Late(w.mu.announced) {
			w.mu.ticks.came(true, true)
		}
		w.metLocked()
	}
}

// shut takes back what was announced, and announces nothing more until rest opens it.
func (w *waker) shut() { w.rest(false) }

// pass says that a tick has brought nothing to append: what was announced does not come, unless it was woken again.
func (w *waker) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if late := w.tickedLocked(); late || len(w.woken) == 0 {
		w.metLocked()
	}
}

// launch gives the announcement of an append that is on its way, before whose end there is no other: nothing more is
// announced until rest opens it. It is 0 if it takes long to write, or if the last ones were late.
func (w *waker) launch(long bool) txn.Announcement {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.open = false
	w.tickedLocked()
	announced := txn.Announcement(0)
	switch {
	case long:
	case w.mu.writes.skip > 0:
		w.mu.writes.came(false, false)
	default:
		// If the tick was late, its append may be waited for all the same: it is about to come.
		announced = w.line.Expect()
	}
	w.metLocked()
	return announced
}

// landed says that an append has ended that was announced, and whether it was late.
func (w *waker) landed(late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.writes.came(true, late)
}

// tickedLocked notes that a tick has come to its end, and says whether it was late.
func (w *waker) tickedLocked() bool {
	announced := w.mu.announced != 0
	late := announced && w.line.Late(w.mu.announced)
	w.mu.ticks.came(announced, late)
	return late
}

func (w *waker) metLocked() {
	if w.mu.announced != 0 {
		w.line.Met(w.mu.announced)
		w.mu.announced = 0
	}
}
