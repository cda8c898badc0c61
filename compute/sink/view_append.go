package sink

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// ErrNotConserved says that what was about to be appended is not what the workers reported.
var ErrNotConserved = errors.New("the rows to append are not the rows that the workers reported")

// ErrPanic says that an append ended in a panic, whose stack is in the log.
var ErrPanic = errors.New("panic")

// LostError says that somebody else appended to the view first.
type LostError struct{ Upper tvc.Frontier }

func (e *LostError) Error() string {
	return fmt.Sprintf("another writer has appended up to %v", e.Upper)
}

// Appender appends a view's intervals. It belongs to one goroutine.
type Appender struct {
	o       ViewOptions
	group   *txn.Group
	metrics *viewMetrics
}

// NewAppender makes the appender of a view.
func NewAppender(o ViewOptions, group *txn.Group) *Appender {
	o.defaults()
	return &Appender{o: o, group: group, metrics: o.Metrics.of(o.Shard.ID())}
}

// Append appends an interval (promises V1 and V2). On an error nothing was appended, unless it is
// txn.ErrIndeterminate or tells of a panic. The interval is used up, unless it was to be kept (Interval.Keep) and the
// error is a LostError: then what was staged is still in it, and it is owed a View.DropBelow or a Discard. What a panic
// leaves in the store goes with the next process's sweep.
func (a *Appender) Append(ctx context.Context, iv *Interval) error {
	err := a.attempt(func() error { return a.append(ctx, iv) })
	if announced := iv.takeAnnounced(); announced != 0 {
		iv.Late = a.group.Late(announced)
		a.group.Met(announced)
	}
	var lost *LostError
	if !iv.Keep || !errors.As(err, &lost) {
		iv.Discard(ctx)
		return err
	}
	for i := range iv.reports {
		iv.reports[i].count(iv.account, true) // until somebody else's append is found right
	}
	return err
}

// attempt calls f and makes an error of a panic, so that it ends this view's dataflow and not the process.
func (a *Appender) attempt(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			a.o.Log.Error("append panicked", "view", a.o.Name(), "panic", v, "stack", string(debug.Stack()))
			what, _, _ := strings.Cut(fmt.Sprint(v), "\n")
			err = fmt.Errorf("append to %s: %w: %s", a.o.Name(), ErrPanic, what)
		}
	}()
	return f()
}

func (a *Appender) append(ctx context.Context, iv *Interval) error {
	var want totals
	for i := range iv.reports {
		want.add(iv.reports[i].totals)
	}
	tick, change := iv.began()
	took := laps{at: tick}
	took.lap(Dataflow, change)
	took.lap(Wait, clock())
	if !iv.isBounded() {
		return fmt.Errorf("%s: at times outside of [%v, %v): %w", a.o.Name(), iv.Lower, iv.Upper, ErrNotConserved)
	}
	written, err := a.o.Sharing.write(ctx, a, iv)
	took.lap(Encode, clock())
	took.move(putWait(written), Encode, Put)
	if !iv.Keep {
		iv.Discard(ctx)
	}
	if err == nil {
		err = a.conserved(written, want)
	}
	if err != nil {
		discard(ctx, written)
		return err
	}
	op := shard.Append{Shard: a.o.Shard, Lower: iv.Lower, Upper: iv.Upper, Written: written}
	iv.Late = iv.Announced != 0 && a.group.Late(iv.Announced)
	out, err := a.group.Do(ctx, txn.Unit{Ops: []shard.Op{op}, Derived: true, Announced: iv.takeAnnounced()})
	took.lap(Step, clock())
	if err != nil {
		if !errors.Is(err, txn.ErrIndeterminate) {
			discard(ctx, written)
		}
		return err
	}
	if !out.Done() {
		discard(ctx, written)
		switch out.Refused.Reason {
		case shard.UpperMismatch:
			a.metrics.count(func(s *Statistics) { s.Refused++ })
			return &LostError{Upper: out.Refused.Upper}
		case shard.Sealed:
			return fmt.Errorf("append to %s: %w", a.o.Name(), shard.ErrSealed)
		}
		return fmt.Errorf("append to %s: %v", a.o.Name(), out.Refused)
	}
	a.metrics.appended(op, want.rows, &took)
	return nil
}

// finish ends writers side by side.
func (a *Appender) finish(ctx context.Context, writers []*shard.Writer) ([]*shard.Written, error) {
	written, errs := make([]*shard.Written, len(writers)), make([]error, len(writers))
	for _, w := range writers {
		w.ShareInline(len(writers))
	}
	if len(writers) == 1 {
		written[0], errs[0] = writers[0].Finish(ctx)
	} else {
		var wg sync.WaitGroup
		for i, w := range writers {
			wg.Go(func() {
				errs[i] = a.attempt(func() (err error) {
					written[i], err = w.Finish(ctx)
					return err
				})
			})
		}
		wg.Wait()
	}
	out := written[:0]
	for _, w := range written {
		if w != nil {
			out = append(out, w)
		}
	}
	return out, errors.Join(errs...)
}

// conserved compares what was written with what the workers reported.
func (a *Appender) conserved(written []*shard.Written, want totals) error {
	have := totals{rows: want.rows} // consolidation may have made them fewer
	for _, w := range written {
		t := w.Totals()
		have.add(totals{diffSum: t.DiffSum, content: t.Fingerprint, moves: w.Moves()})
	}
	if have != want {
		return fmt.Errorf("%s: %w", a.o.Name(), ErrNotConserved)
	}
	return nil
}

func discard(ctx context.Context, written []*shard.Written) {
	for _, w := range written {
		w.Discard(ctx)
	}
}

// putWait is how long writers that ended side by side waited for objects to be put.
func putWait(written []*shard.Written) time.Duration {
	longest := time.Duration(0)
	for _, w := range written {
		longest = max(longest, w.PutWait())
	}
	return longest
}
