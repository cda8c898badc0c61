package coord

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// lookPause is how long after one look at system relations the next one is due.
const lookPause = time.Second

// ErrWaited, as the cause of a context, says that a Feed's Next has waited for long enough. What there is already, or is
// due, is still wanted.
var ErrWaited = errors.New("the time to wait is over")

// Looking is a subscription to what does not tell of its changes, such as system relations. The whole query is run again
// and again.
type Looking struct {
	*Subscription
	// Read makes the next read, Query what is to be run at it. They are called by Feed.Next.
	Read  func(ctx context.Context) (Read, error)
	Query func(r Read) *Query
	// Now is the clock.
	Now func() time.Time
}

// looks is the feed of one: what has changed from one look to the next. Nothing happens while nobody asks for it.
type looks struct {
	Looking
	// found is the result of the last look, consolidated, which was at a time; the next one is due.
	found *vec.Block
	at    tvc.Time
	due   time.Time
	// first is what the subscription begins with, until it is given.
	first *Delivery
	ended bool
}

// Look starts such a subscription with a first look, at the read's time.
func Look(ctx context.Context, o Looking, read Read) (Feed, error) {
	l := &looks{Looking: o, found: vec.NewBlock(kindsOf(o.Cols), 0)}
	if o.UpTo != 0 && o.UpTo <= tvc.Frontier(read.At()) {
		l.ended = true
		return l, nil
	}
	changes, err := l.look(ctx, read)
	if err != nil {
		return nil, err
	}
	l.first = &Delivery{Upper: tvc.After(l.at)}
	if !o.NoSnapshot {
		l.first.Rows = changes
	}
	return l, nil
}

func kindsOf(cols []types.T) []types.Kind {
	kinds := make([]types.Kind, len(cols))
	for i, t := range cols {
		kinds[i] = t.Kind()
	}
	return kinds
}

// Next is Feed's.
func (l *looks) Next(ctx context.Context) (d Delivery, ok bool, err error) {
	if first := l.first; first != nil {
		l.first = nil
		return *first, true, nil
	}
	if l.ended {
		return Delivery{}, false, nil
	}
	if err := l.wait(ctx); err != nil {
		return Delivery{}, false, err
	}
	ctx, stop := beyondWait(ctx)
	defer stop()
	read, err := l.Read(ctx)
	if err != nil {
		return Delivery{}, false, err
	}
	defer read.Release()
	switch at := read.At(); {
	case l.UpTo != 0 && tvc.Frontier(at) >= l.UpTo:
		l.ended = true
		return Delivery{Upper: l.UpTo}, true, nil
	case at <= l.at:
		// The clock stands still, and so does the subscription.
		l.due = l.Now().Add(lookPause)
		return Delivery{Upper: tvc.After(l.at)}, true, nil
	}
	changes, err := l.look(ctx, read)
	if err != nil {
		return Delivery{}, false, err
	}
	return Delivery{Rows: changes, Upper: tvc.After(l.at)}, true, nil
}

// Close is Feed's.
func (l *looks) Close() { l.ended, l.first, l.found = true, nil, nil }

// wait waits until a look is due.
func (l *looks) wait(ctx context.Context) error {
	left := l.due.Sub(l.Now())
	if left <= 0 {
		return nil
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// beyondWait gives a context that goes on when only the time to wait is over.
func beyondWait(ctx context.Context) (context.Context, func()) {
	beyond, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, ErrWaited) {
			cancel(cause)
		}
	})
	return beyond, func() {
		stop()
		cancel(nil)
	}
}

// look runs the query and gives how its result differs from the last one; nil if it does not.
func (l *looks) look(ctx context.Context, read Read) (changes *vec.Block, err error) {
	cursor, err := read.Query(ctx, l.Query(read))
	if err != nil {
		return nil, err
	}
	defer cursor.Close()
	now := vec.NewBlock(l.found.Kinds(), l.found.Len)
	for {
		b, err := cursor.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		now.AppendBlock(b)
	}
	now = now.Consolidated()
	changes = now.Clone()
	for i := range l.found.Len {
		changes.AppendFrom(l.found, i, -l.found.Diff(i))
	}
	changes = changes.Consolidated()
	l.found, l.at, l.due = now, read.At(), l.Now().Add(lookPause)
	if changes.Len == 0 {
		return nil, nil
	}
	changes.Times = slices.Repeat([]uint64{uint64(l.at)}, changes.Len)
	return changes, nil
}
