package protocol

import (
	"context"
	"sync"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Delivery is one portion of a feed: changes in order of time, none below Upper of the one before, and the
// promise that nothing below Upper will come. Of one time there may be several portions; then Upper is that
// time until the last of them.
type Delivery struct {
	Rows  *vec.Block // nil: none
	Upper tvc.Frontier
}

// DefaultLagBytes is how much may wait for a slow client.
const DefaultLagBytes = 64 << 20

// joinRows is up to how many rows deliveries are put together while they wait.
const joinRows = 4096

// ErrLag ends a feed whose client reads too slowly.
var ErrLag = pgerr.New(pgerr.ProgramLimitExceeded, "subscription fell too far behind").
	WithHint("Read faster, or subscribe to less.")

// Feed is the bounded queue between a subscription's dataflow and its client. It is safe for concurrent
// use.
type Feed struct {
	max  int
	wake chan struct{} // one slot: a full channel already means "look again"
	room chan struct{} // the same, for who waits for room
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
	return &Feed{max: int(maxBytes), wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Push appends a delivery, whose rows become the feed's. What waits may be joined with it. Too much, and the
// feed ends with ErrLag.
func (f *Feed) Push(d Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer signal(f.wake)
	if f.mu.err != nil || f.mu.done {
		return
	}
	f.pushLocked(d)
	if f.mu.bytes > f.max {
		f.mu.err, f.mu.queue, f.mu.bytes = ErrLag, nil, 0
	}
}

func (f *Feed) pushLocked(d Delivery) {
	if n := len(f.mu.queue); n > 0 {
		last := &f.mu.queue[n-1]
		switch {
		case d.Rows == nil:
			last.Upper = d.Upper
			return
		case last.Rows == nil:
			*last = Delivery{Rows: d.Rows, Upper: d.Upper}
			f.mu.bytes += d.Rows.Size()
			return
		case last.Rows.Len+d.Rows.Len <= joinRows:
			f.mu.bytes -= last.Rows.Size()
			last.Rows.AppendBlock(d.Rows)
			last.Upper = d.Upper
			f.mu.bytes += last.Rows.Size()
			return
		}
	}
	f.mu.queue = append(f.mu.queue, d)
	if d.Rows != nil {
		f.mu.bytes += d.Rows.Size()
	}
}

// PushWhenRoom appends a delivery once there is room for it: half of the feed, as the rest is for what Push brings
// behind it. If ctx ends it fails with ctx's cause; a feed that has ended takes it and forgets it.
func (f *Feed) PushWhenRoom(ctx context.Context, d Delivery) error {
	size := d.Rows.Size()
	for {
		f.mu.Lock()
		if f.mu.err != nil || f.mu.done {
			f.mu.Unlock()
			return nil
		}
		if f.mu.bytes == 0 || f.mu.bytes+size <= f.max/2 {
			f.pushLocked(d)
			f.mu.Unlock()
			signal(f.wake)
			return nil
		}
		f.mu.Unlock()
		select {
		case <-f.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Fail ends the feed with an error, once what is queued has been taken.
func (f *Feed) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.err == nil && !f.mu.done {
		f.mu.err = err
	}
	signal(f.wake)
	signal(f.room)
}

// Finish ends the feed: nothing more will come.
func (f *Feed) Finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.done = true
	signal(f.wake)
	signal(f.room)
}

// Ended says whether the feed takes no more.
func (f *Feed) Ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.done || f.mu.err != nil
}

// Max is how many bytes may wait.
func (f *Feed) Max() int { return f.max }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Next gives the next delivery, waiting for one; ok is false at the end. If ctx ends it fails with ctx's
// cause and nothing is lost; what is there already is given even then.
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
			signal(f.room)
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
