package server

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// watcher looks, while a statement runs, whether the client is still there. It does nothing for the first
// moments, which is all that most statements take; then a goroutine peeks into the connection until it ends or
// the statement does. It never takes a byte away from the connection's goroutine.
type watcher struct {
	c     *conn
	timer *time.Timer
	mu    struct {
		sync.Mutex
		on bool
		// peeking is closed when the goroutine has ended; nil if there is none.
		peeking chan struct{}
	}
}

// watchAfter is how long a statement runs before it is worth a goroutine to watch its client.
const watchAfter = 200 * time.Millisecond

// start begins to watch.
func (w *watcher) start() {
	w.mu.Lock()
	w.mu.on = true
	w.mu.Unlock()
	if w.timer == nil {
		w.timer = time.AfterFunc(watchAfter, w.peek)
		return
	}
	w.timer.Reset(watchAfter)
}

// stop ends the watch; afterwards the connection may be read again.
func (w *watcher) stop() {
	w.timer.Stop()
	w.mu.Lock()
	w.mu.on = false
	peeking := w.mu.peeking
	w.mu.Unlock()
	if peeking == nil {
		return
	}
	// A read that waits is interrupted by a deadline that has passed.
	w.c.net.SetReadDeadline(w.c.o.Now().Add(-time.Second))
	<-peeking
	w.mu.Lock()
	w.mu.peeking = nil
	w.mu.Unlock()
	if w.c.ctx.Err() == nil {
		w.c.net.SetReadDeadline(time.Time{})
	}
}

// peek waits until the client goes away, or sends more than fits into the buffer: then it is there.
func (w *watcher) peek() {
	w.mu.Lock()
	if !w.mu.on || w.mu.peeking != nil {
		w.mu.Unlock()
		return
	}
	done := make(chan struct{})
	w.mu.peeking = done
	w.mu.Unlock()
	defer close(done)
	for n := w.c.in.Buffered() + 1; n <= readBytes; n = w.c.in.Buffered() + 1 {
		_, err := w.c.in.Peek(n)
		switch {
		case err == nil:
		case isTimeout(err):
			return
		case errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || isNetwork(err):
			w.c.cancel(errGone)
			return
		default:
			return
		}
	}
}
