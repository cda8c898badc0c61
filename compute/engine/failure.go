package engine

import (
	"errors"
	"time"

	"github.com/tributary-db/tributary/compute/sink"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// storageError is what storage said: it may pass. Any other error is of the engine's own, and trying again is of
// little use.
type storageError struct{ error }

func (e *storageError) Unwrap() error { return e.error }

// ofStorage marks an error as storage's.
func ofStorage(err error) error {
	if err == nil {
		return nil
	}
	return &storageError{err}
}

// passes says whether an error may pass by itself: not if it is that data cannot be read, or does not add up.
func passes(err error) bool {
	var s *storageError
	return errors.As(err, &s) && !errors.Is(err, sink.ErrNotConserved) && !errors.Is(err, sink.ErrPanic) && !shard.IsDamage(err)
}

// isGone says whether a collection is being dropped.
func isGone(err error) bool {
	return errors.Is(err, errDropped) || errors.Is(err, shard.ErrSealed) || errors.Is(err, shard.ErrNotFound)
}

// maxPause bounds the time between tries of a dataflow whose storage fails.
const maxPause = 5 * time.Second

// history is how a dataflow's incarnations ended.
type history struct {
	// faults counts those of the engine's own, without the dataflow having got past failed in between: not only its
	// operators, for a view's changes may fail to be appended long after.
	faults int
	failed tvc.Frontier
	pause  time.Duration
	// races counts those that another writer's appends have ended, without anything having been settled in between.
	races int
}

// racePause is the least time between tries of a dataflow that has lost or differed again.
const racePause = 10 * time.Millisecond

// judge says what follows on an incarnation's error: the dataflow is built anew after a pause, or is over with
// an error. A fault may be met twice at one place; storage is tried for as long as it takes.
func (h *history) judge(err error, d *running) (pause time.Duration, over error) {
	var lost *sink.LostError
	if errors.As(err, &lost) || errors.Is(err, errDiffers) {
		// Go on from where another writer has got, or correct what is stored; but slower and slower.
		if d.settled {
			d.settled, h.races = false, 0
		}
		if h.races++; h.races <= 2 {
			return 0, nil
		}
		return min(racePause<<min(h.races, 20), maxPause), nil
	}
	if d.c.Subscribe != nil || isGone(err) || errors.Is(err, txn.ErrFenced) || errors.Is(err, txn.ErrClosed) {
		return 0, err
	}
	if d.past >= h.failed {
		h.faults, h.pause = 0, 0
	}
	h.failed = max(h.failed, d.attempt)
	d.e.o.Log.Warn("dataflow is built anew", "dataflow", d.c.Plan.Name, "id", d.c.ID.String(), "error", err)
	if d.c.View != nil {
		if sh, ok := d.e.o.Shard(d.c.ID); ok {
			d.e.o.SinkMetrics.Rebuilt(sh.ID())
		}
	}
	if passes(err) {
		h.pause = min(max(2*h.pause, 100*time.Millisecond), maxPause)
		return h.pause, nil
	}
	if h.faults++; h.faults > 1 {
		return 0, err
	}
	return 0, nil
}
