package dataflow

import (
	"context"
	"sync"
	"time"
)

// Turn is what a large tick has while it is under way. Small ones have none: nil, which may be used like one.
type Turn struct {
	s   *Scheduler
	ctx context.Context
	mu  struct {
		sync.Mutex
		// waiting counts those of the tick's goroutines that may be waiting for a store; lent says that the slot is
		// another tick's meanwhile.
		waiting int
		lent    bool
	}
}

// storePatience is how long a large tick keeps its slot while it waits for a store: longer than one that works takes.
const storePatience = time.Second

// Large begins a large tick, when fewer are under way than there are processors: more at once would not end
// sooner, but take more memory. If ctx ends it fails with ctx's cause; else what it gives is owed a Done.
func (s *Scheduler) Large(ctx context.Context) (*Turn, error) {
	select {
	case s.large <- struct{}{}:
		return &Turn{s: s, ctx: ctx}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Wait calls f, which may have to wait for a store. If the store takes long, other large ticks go on until it has answered, so
// that a store that hangs for one dataflow stops no other. Several goroutines of the tick may wait at the same time.
func (t *Turn) Wait(f func()) {
	if t == nil {
		f()
		return
	}
	t.mu.Lock()
	t.mu.waiting++
	t.mu.Unlock()
	timer := time.AfterFunc(storePatience, t.lend)
	defer t.goOn(timer)
	f()
}

// lend gives the slot away if somebody still waits.
func (t *Turn) lend() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.waiting > 0 && !t.mu.lent {
		<-t.s.large
		t.mu.lent = true
	}
}

// goOn ends a wait. The last one takes a slot again, if there was need to give it away; others of the tick that would go on
// meanwhile wait for that too.
func (t *Turn) goOn(timer *time.Timer) {
	timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.waiting--; t.mu.waiting > 0 || !t.mu.lent {
		return
	}
	select {
	case t.s.large <- struct{}{}:
		t.mu.lent = false
	case <-t.ctx.Done():
	}
}

// Done ends the tick.
func (t *Turn) Done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.mu.lent {
		<-t.s.large
	}
}
