// Package oracle gives out read and write times and says which times are closed.
//
// Promises:
//
//	O1  every write time is greater than all write and read times given before, also before a crash.
//	O2  ReadTime gives a time such that every write at or before it is applied, every later write gets a
//	    greater one, and every write applied before the call is at or before it.
//	O3  no read time lies beyond the durable mark, and no write is durable beyond it (package txn writes the
//	    mark along). The mark is renewed only when somebody asks for a time: an idle oracle writes nothing.
//
// Oracle is safe for concurrent use; it owns no goroutine.
package oracle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/storage/tvc"
)

const (
	// reserve is how far ahead of the clock a renewed mark lies. After a crash the next process starts at the
	// mark, and its first writes are that much ahead of the clock.
	reserve = tvc.Time(500_000)
	// renewBelow is how much of it may be left when a write that goes to disk anyway renews it.
	renewBelow = reserve / 2
	// aheadReserve is how far a renewed mark lies beyond the last time given out while that is far ahead of the clock: less
	// than passes between a crash and the next one, lest processes that die soon after each other drive times away from
	// the clock.
	aheadReserve = tvc.Time(10_000)
)

// Options is what an Oracle stands on.
type Options struct {
	// Clock is the wall clock.
	Clock tvc.Clock
	// Mark is the durable mark: no time beyond it was ever given out.
	Mark tvc.Time
	// Renew makes a later mark durable (Renewal, Renewed) and waits for it.
	Renew func(ctx context.Context) error
}

// Oracle is the one source of times of an environment.
type Oracle struct {
	clock tvc.Clock
	renew func(ctx context.Context) error

	mu struct {
		sync.Mutex
		// last is the greatest time given out.
		last tvc.Time
		// applied is the greatest time such that all writes up to it are applied and none is in flight.
		applied tvc.Time
		// mark is durable.
		mark tvc.Time
		// inFlight are writes, in the order of their times.
		inFlight []*write
	}
}

// write is a write time that was given out.
type write struct {
	at tvc.Time
	// over says that it is durable, or will never be.
	over, done bool
	// applied is closed when it and all earlier ones are over.
	applied chan struct{}
}

// New makes an oracle that starts above the mark.
func New(o Options) *Oracle {
	or := &Oracle{clock: o.Clock, renew: o.Renew}
	or.mu.last, or.mu.applied, or.mu.mark = o.Mark, o.Mark, o.Mark
	return or
}

// WriteTime allocates a time for a write: max(last+1, now). Closed time stays below it until ApplyWrite or
// Forget, one of which the caller owes.
func (o *Oracle) WriteTime() tvc.Time {
	now := o.clock()
	o.mu.Lock()
	defer o.mu.Unlock()
	at := max(o.mu.last+1, now)
	o.mu.last = at
	o.mu.inFlight = append(o.mu.inFlight, &write{at: at, applied: make(chan struct{})})
	return at
}

// ApplyWrite says that the write at t is durable. When it returns nil, every ReadTime is at or after t: it waits
// for writes at earlier times that are still in flight.
func (o *Oracle) ApplyWrite(ctx context.Context, t tvc.Time) error {
	w := o.end(t, true)
	select {
	case <-w.applied:
		return nil
	default:
	}
	select {
	case <-w.applied:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Forget says that there will be no write at t: it was determinately refused.
func (o *Oracle) Forget(t tvc.Time) { o.end(t, false) }

func (o *Oracle) end(t tvc.Time, done bool) *write {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := slices.IndexFunc(o.mu.inFlight, func(w *write) bool { return w.at == t })
	if at < 0 || o.mu.inFlight[at].over {
		invariants.Failf("the write at %d is not in flight", t)
	}
	w := o.mu.inFlight[at]
	w.over, w.done = true, done
	for len(o.mu.inFlight) > 0 && o.mu.inFlight[0].over {
		first := o.mu.inFlight[0]
		if first.done {
			o.mu.applied = max(o.mu.applied, first.at)
		}
		close(first.applied)
		o.mu.inFlight = o.mu.inFlight[1:]
	}
	return w
}

// ReadTime gives the latest closed time, following the wall clock. It may wait for a durable write, twice a second
// at most for all callers, which renews the mark.
func (o *Oracle) ReadTime(ctx context.Context) (tvc.Time, error) {
	t, fresh := o.closed()
	if fresh {
		return t, nil
	}
	if err := o.renew(ctx); err != nil {
		return 0, fmt.Errorf("renew the oracle's mark: %w", err)
	}
	t, _ = o.closed()
	return t, nil
}

// Closed gives the latest time that is closed without any renewal: it lags behind the wall clock when nobody
// has asked for a while. It never waits.
func (o *Oracle) Closed() tvc.Time {
	t, _ := o.closed()
	return t
}

// closed gives the latest time that can be closed now, and whether that is all the clock would allow.
func (o *Oracle) closed() (t tvc.Time, fresh bool) {
	now := o.clock()
	o.mu.Lock()
	defer o.mu.Unlock()
	t, fresh = now, true
	if len(o.mu.inFlight) > 0 {
		t = min(t, o.mu.inFlight[0].at-1)
	}
	if t > o.mu.mark {
		t, fresh = o.mu.mark, false
	}
	t = max(t, o.mu.applied)
	o.mu.last = max(o.mu.last, t)
	// What is closed stays closed, also when the clock goes back.
	o.mu.applied = t
	return t, fresh
}

// Ahead says how far the last time given out is ahead of the wall clock; 0 if it is not.
func (o *Oracle) Ahead() time.Duration {
	now := o.clock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.last <= now {
		return 0
	}
	return time.Duration(o.mu.last-now) * time.Microsecond
}

// Renewal gives the mark that is to be made durable with what is written now; ok is false if the durable one will
// do. Only one renewal is in flight at a time.
func (o *Oracle) Renewal() (mark tvc.Time, ok bool) {
	now := o.clock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if max(o.mu.last, now)+renewBelow <= o.mu.mark {
		return 0, false
	}
	mark = max(now+reserve, o.mu.last+aheadReserve)
	return mark, mark > o.mu.mark
}

// Renewed says that a mark is durable.
func (o *Oracle) Renewed(mark tvc.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.mark = max(o.mu.mark, mark)
}

// Retire gives the mark to leave behind when the process ends: from now on no time beyond it is closed, so that the
// next process need not start ahead of the clock.
func (o *Oracle) Retire() (mark tvc.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.mark = min(o.mu.mark, o.mu.last)
	return o.mu.last
}

// MarkKey is the key of the register that holds the mark.
const MarkKey = "oracle"

// markVersion is the version of the format of the mark: this byte, then the time in eight bytes, big-endian.
const markVersion = 1

// ErrCorrupt says that the durable mark cannot be read.
var ErrCorrupt = errors.New("corrupt oracle mark")

// EncodeMark gives the bytes of a mark.
func EncodeMark(mark tvc.Time) []byte {
	return binary.BigEndian.AppendUint64([]byte{markVersion}, uint64(mark))
}

// DecodeMark reads a mark; that of an environment that has none yet is 0.
func DecodeMark(data []byte) (tvc.Time, error) {
	if len(data) == 0 {
		return 0, nil
	}
	if len(data) != 9 || data[0] != markVersion {
		return 0, fmt.Errorf("%w: % x", ErrCorrupt, data)
	}
	return tvc.Time(binary.BigEndian.Uint64(data[1:])), nil
}
