package engine

import (
	"context"
	"errors"

	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/compute/sink"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// viewDriver moves a view's changes from its sink to its shard: one append at a time, the next one
// gathering meanwhile. race.go has what it does when another replica was faster.
type viewDriver struct {
	d     *running
	shard *shard.Shard
	sink  *sink.View
	app   *sink.Appender
	o     sink.ViewOptions
	start startMode
	// lower is through where the shard is known to hold what the dataflow has computed, and own the fingerprint of that.
	lower  tvc.Frontier
	own    tvc.Fingerprint
	flying *flight
	landed chan error // one slot
	reads  []protocol.Read
	race   race
}

// startMode says what the first tick's result is for.
type startMode uint8

const (
	// started: it is behind us.
	started startMode = iota
	// first: it is the view's first contents.
	first
	// verify: it should be what is stored already.
	verify
	// correct: the difference between it and what is stored is to be appended.
	correct
)

// What a view has read but not moved past durably keeps its inputs from being compacted. So without a change
// of its own it appends an empty interval when its inputs move, once it has read heldUpdates of them, but not more
// often than once in heldLeast, or any at all and heldMost has gone by: microseconds. While nothing moves nothing
// is kept that could go.
const (
	heldUpdates = 64 << 10
	heldLeast   = 1_000_000
	heldMost    = 10_000_000
)

// flight is an append under way.
type flight struct {
	iv      *sink.Interval
	content tvc.Fingerprint
	through []protocol.Read
	// corrects says that it is a correction's, announced that it was announced when it was launched.
	corrects, announced bool
}

// newViewDriver makes the sink of a view, and gives the time to start from.
func newViewDriver(ctx context.Context, d *running) (*viewDriver, tvc.Time, error) {
	sh, ok := d.e.o.Shard(d.c.ID)
	if !ok || sh.IsSealed() {
		return nil, 0, errDropped
	}
	if !d.e.o.Inputs.Hold(d.c.ID) {
		return nil, 0, errDropped
	}
	if d.promoted.Swap(false) {
		d.standsBy = false
	}
	v := &viewDriver{d: d, shard: sh, landed: make(chan error, 1), start: verify}
	v.own, v.lower = sh.Fingerprint()
	v.o = sink.ViewOptions{Shard: sh, Workers: d.e.o.Workers, Settings: d.e.o.Settings,
		Staging: d.e.o.Staging, Metrics: d.e.o.SinkMetrics, Name: d.name, Log: d.e.o.Log, Sharing: d.e.o.Sharing}
	v.sink, v.app = sink.NewView(ctx, v.o), sink.NewAppender(v.o, d.e.o.Group)
	switch {
	case d.c.View.Fresh && v.lower == tvc.Frontier(d.c.AsOf):
		v.start = first
		v.sink.StandBy(d.standsBy)
		return v, d.c.AsOf, nil
	case d.differs:
		d.differs, d.standsBy, v.start = false, false, correct
		claimed := d.e.o.Listener.Corrects(d.c.ID)
		return v, max(d.e.o.Inputs.Closed(), tvc.Time(v.lower), tvc.Time(claimed)), nil
	}
	v.sink.CountOnly(true)
	return v, v.lower.Last(), nil
}

// emit is called after every tick.
func (v *viewDriver) emit(ctx context.Context) error {
	switch v.start {
	case first:
		v.start = started
		if v.d.standsBy || v.shard.Upper() > v.lower {
			return v.follow(ctx)
		}
		return v.launch(ctx)
	case verify:
		return v.verify(ctx)
	case correct:
		return v.correct(ctx)
	}
	if !v.sink.Dirty() && !v.holdsBack() {
		v.d.waker.pass()
	}
	return v.next(ctx)
}

// next starts an append if there is something to append and none is under way. With nothing to append the
// view is as far as its dataflow.
func (v *viewDriver) next(ctx context.Context) error {
	switch {
	case v.flying != nil:
		return nil
	case v.d.standsBy, v.shard.Upper() > v.lower, v.yields():
		return v.follow(ctx)
	case v.sink.Dirty(), v.holdsBack():
		return v.launch(ctx)
	}
	v.d.progress()
	return nil
}

// holdsBack says whether the inputs have waited long enough for the view to move on.
func (v *viewDriver) holdsBack() bool {
	if v.d.upper <= v.lower {
		return false
	}
	behind := v.d.upper - v.lower
	return v.d.taken >= heldUpdates && behind > heldLeast || v.d.taken > 0 && behind > heldMost
}

// launch appends what has gathered.
func (v *viewDriver) launch(ctx context.Context) error {
	iv := v.sink.Seal()
	iv.Lower, iv.Upper, iv.Keep = v.lower, v.d.upper, v.d.contended
	v.d.taken = 0
	v.reads = v.d.through(v.reads[:0])
	iv.Announced = v.d.waker.launch(iv.TakesLong())
	v.flying = &flight{iv: iv, content: iv.Content(), through: v.reads, announced: iv.Announced != 0}
	v.d.e.wg.Go(func() {
		v.landed <- ofStorage(v.app.Append(ctx, iv))
		v.d.signal()
	})
	return nil
}

// settle takes note of an append that is over, and goes on.
func (v *viewDriver) settle(ctx context.Context) error {
	if v.flying == nil {
		if v.start == started && (v.d.asked.Load() || v.d.standsBy && v.called()) {
			return v.follow(ctx)
		}
		return nil
	}
	select {
	case err := <-v.landed:
		f := v.flying
		v.flying = nil
		if f.announced {
			v.d.waker.landed(f.iv.Late)
		}
		var lost *sink.LostError
		switch {
		case errors.As(err, &lost) && f.iv.Keep:
			v.race.lost = f.iv
		case errors.As(err, &lost):
			v.d.standsBy, v.d.contended = true, true
			return err
		case err != nil:
			return err
		default:
			v.lower, v.own = f.iv.Upper, v.own.Add(f.content)
			v.d.past = v.lower
			v.d.settled, v.d.doubted, v.d.patience = true, false, patience
			v.d.promoted.Store(false)
			if f.corrects {
				// Who else corrects the view now finds nothing to correct.
				v.d.asked.Store(false)
				v.d.yielding = false
			}
			v.d.e.o.Listener.Progress(protocol.Progress{ID: v.d.c.ID, Through: f.through, Upper: v.lower})
		}
		return v.next(ctx)
	default:
		return nil
	}
}

// verify compares what was computed with what is stored, by their fingerprints. If somebody else has appended
// meanwhile, that is done once the dataflow has got as far as they.
func (v *viewDriver) verify(ctx context.Context) error {
	v.start = started
	iv := v.sink.Seal()
	v.own, v.lower = iv.Content(), v.d.upper
	iv.Discard(ctx)
	v.sink.CountOnly(false)
	if stored, upper := v.shard.Fingerprint(); upper == v.lower {
		if err := v.compare(stored); err != nil {
			return err
		}
	}
	return v.next(ctx)
}

// compare holds what is stored below lower against what the dataflow has computed.
func (v *viewDriver) compare(stored tvc.Fingerprint) error {
	if v.own == stored {
		return nil
	}
	v.d.differs = true
	v.d.e.o.Log.Warn("a view's stored contents differ from its query and are corrected", "view", v.o.Name())
	return errDiffers
}

// correct appends the difference between what was computed and what is stored.
func (v *viewDriver) correct(ctx context.Context) error {
	v.start = started
	// An append that was under way when the others were told to wait may have come.
	if v.own, v.lower = v.shard.Fingerprint(); v.lower >= v.d.upper {
		v.d.standsBy, v.d.contended = true, true
		return &sink.LostError{Upper: v.lower}
	}
	if err := v.takeBack(ctx); err != nil {
		return err
	}
	if err := v.launch(ctx); err != nil {
		return err
	}
	v.flying.corrects = true
	return nil
}

// takeBack adds the stored contents, negated, to the open interval.
func (v *viewDriver) takeBack(ctx context.Context) error {
	scan, err := v.shard.Snapshot(ctx, v.lower.Last(), shard.ScanOptions{})
	if err != nil {
		return ofStorage(err)
	}
	defer scan.Close()
	for {
		b, err := scan.Next(ctx)
		if err != nil || b == nil {
			return ofStorage(err)
		}
		if err := v.sink.TakeBack(b, v.d.upper.Last()); err != nil {
			return err
		}
	}
}

// close waits for an append under way and drops what has gathered.
func (v *viewDriver) close(cancel context.CancelFunc) {
	cancel()
	if v.flying != nil {
		if err := <-v.landed; err == nil {
			v.d.past = v.flying.iv.Upper
		}
		v.flying.iv.Discard(context.WithoutCancel(v.d.ctx))
		v.flying = nil
	}
	v.race.close(context.WithoutCancel(v.d.ctx))
	v.sink.Close(context.WithoutCancel(v.d.ctx))
}
