package protocol

import (
	"context"
	"sync"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Delivery is one portion of a feed: changes in order of time, all below Upper and not below the Upper of
// the one before, and the promise that nothing below Upper will come.
type Delivery struct {
	Rows  *vec.Block // nil: none
	Upper tvc.Frontier
}

// DefaultLagBytes is how much may wait for a slow client.
const DefaultLagBytes = 64 << 20

// ErrLag ends a feed whose client reads too slowly.
var ErrLag = pgerr.New(pgerr.ProgramLimitExceeded, "subscription fell too far behind").
	WithHint("Read faster, or subscribe to less.")

// Feed is the bounded queue between a subscription's dataflow and its client. It is safe for concurrent
// use.
type Feed struct {
	max  int
	wake chan struct{} // one slot: a full channel already means "look again"
	mu   struct {
		sync.Mutex
		queue []Delivery
		bytes int
		err   error
		done  bool
	}
}

// NewFeed makes a feed in which at most maxBytes of changes wait; 0 means DefaultLagBytes.
func NewFeed(maxBytes int64) *Feed {
	if maxBytes <= 0 {
		maxBytes = DefaultLagBytes
	}
	return &Feed{max: int(maxBytes), wake: make(chan struct{}, 1)}
}

// Push appends a delivery; one that only makes progress is joined with the one before.
func (f *Feed) Push(d Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.signal()
	if f.mu.err != nil || f.mu.done {
		return
	}
	if n := len(f.mu.queue); n > 0 && d.Rows == nil {
		f.mu.queue[n-1].Upper = d.Upper
		return
	}
	f.mu.queue = append(f.mu.queue, d)
	if d.Rows != nil {
		f.mu.bytes += d.Rows.Size()
	}
	if f.mu.bytes > f.max {
		f.mu.err, f.mu.queue, f.mu.bytes = ErrLag, nil, 0
	}
}

// Fail ends the feed with an error, once what is queued has been taken.
func (f *Feed) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.err == nil && !f.mu.done {
		f.mu.err = err
	}
	f.signal()
}

// Finish ends the feed: nothing more will come.
func (f *Feed) Finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.done = true
	f.signal()
}

// Ended says whether the feed takes no more.
func (f *Feed) Ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.done || f.mu.err != nil
}

// Max is how many bytes may wait.
func (f *Feed) Max() int { return f.max }

func (f *Feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Next gives the next delivery, waiting for one; ok is false at the end. If ctx ends it fails with ctx's
// cause and nothing is lost.
func (f *Feed) Next(ctx context.Context) (d Delivery, ok bool, err error) {
	for {
		f.mu.Lock()
		if len(f.mu.queue) > 0 {
			d = f.mu.queue[0]
			f.mu.queue = f.mu.queue[1:]
			if d.Rows != nil {
				f.mu.bytes -= d.Rows.Size()
			}
			f.mu.Unlock()
			return d, true, nil
		}
		err, done := f.mu.err, f.mu.done
		f.mu.Unlock()
		if err != nil || done {
			return Delivery{}, false, err
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return Delivery{}, false, context.Cause(ctx)
		}
	}
}
