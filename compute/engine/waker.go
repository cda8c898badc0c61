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
		// late is how often in a row, up to a bound, others have waited in vain for what was announced; so many wake-ups
		// more than mute says go unannounced.
		late, mute int
	}
}

// announcer is txn.Group's part.
type announcer interface {
	Expect() txn.Announcement
	Met(txn.Announcement)
	Late(txn.Announcement) bool
}

// maxLate bounds how many wake-ups go unannounced after one that was late: two to that power, less one.
const maxLate = 6

// signal makes the dataflow look at its inputs again.
func (w *waker) signal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.mu.open, w.mu.announced != 0:
	case w.mu.mute > 0:
		w.mu.mute--
	default:
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
		w.judgeLocked()
		w.metLocked()
	}
}

// shut takes back what was announced, and announces nothing more until rest opens it.
func (w *waker) shut() { w.rest(false) }

// launch gives the announcement of an append that is on its way, before whose end there is no other: nothing more is
// announced until rest opens it. If it takes long to write, it is announced no more: 0.
func (w *waker) launch(long bool) txn.Announcement {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.open = false
	if w.mu.announced != 0 && !w.judgeLocked() {
		w.mu.late = 0
	}
	if long {
		w.metLocked()
		return 0
	}
	// What was late may be waited for anew, now that it is about to come.
	announced := w.line.Expect()
	w.metLocked()
	return announced
}

func (w *waker) metLocked() {
	if w.mu.announced != 0 {
		w.line.Met(w.mu.announced)
		w.mu.announced = 0
	}
}

// judgeLocked says whether what was announced is late. Who is late again and again is announced ever less often, lest all
// others wait for it every time.
func (w *waker) judgeLocked() bool {
	if w.mu.announced == 0 || !w.line.Late(w.mu.announced) {
		return false
	}
	w.mu.late = min(w.mu.late+1, maxLate)
	w.mu.mute = 1<<w.mu.late - 1
	return true
}
