package engine

import (
	"sync"

	"github.com/tributary-db/tributary/storage/txn"
)

// waker wakes the goroutine that drives a dataflow, and announces to the line of commits that the view may soon have an
// append: from when it is woken until it sleeps again. signal is safe for concurrent use; the others are the driver's.
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
	}
}

// announcer is txn.Group's part.
type announcer interface {
	Expect() txn.Announcement
	Met(txn.Announcement)
}

// signal makes the dataflow look at its inputs again.
func (w *waker) signal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.open && w.mu.announced == 0 {
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
		w.metLocked()
	}
}

// shut takes back what was announced, and announces nothing more until rest opens it.
func (w *waker) shut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.open = false
	w.metLocked()
}

func (w *waker) metLocked() {
	if w.mu.announced != 0 {
		w.line.Met(w.mu.announced)
		w.mu.announced = 0
	}
}

// launch gives the announcement of an append that is on its way, before whose end there is no other: nothing more is
// announced until rest opens it.
func (w *waker) launch() txn.Announcement {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.open = false
	a := w.mu.announced
	if w.mu.announced = 0; a == 0 {
		a = w.line.Expect()
	}
	return a
}
