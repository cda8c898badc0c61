package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tributary-db/tributary/compute/sink"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Of the replicas that compute a view, one appends what has changed, and the others stand by: they compute the same, put
// nothing, and compare their own fingerprint with the stored one as far as the first has appended. There is no vote.
// Who loses the race for an append stands by from then on; who stands by and has changes that nobody appends for a
// while appends them. If two do, one of them loses.

// A replica that stands by waits so long for another's append: one of changes, or the view's first. Each time that it
// takes over it has twice the patience, until an append of its own has landed.
const (
	patience      = time.Second
	firstPatience = 10 * time.Second
	maxPatience   = time.Minute
)

// Who finds that what is stored is not what the query gives computes it anew, to append the difference. If the others went
// on meanwhile, that append would be late each time; so they stand by for it. Each time that it does not come they wait for
// twice as long at the next: a correction takes as long as the view takes to compute.
const (
	minYield = 10 * time.Second
	maxYield = time.Hour
)

// race is what a view's driver knows of the others.
type race struct {
	// lost is the interval whose append somebody else's was before; nil when it was dealt with.
	lost *sink.Interval
	// goal is what somebody else had appended when it was last looked at, to which the dataflow is to catch up first: it
	// might never reach what is newest.
	goal stored
	// unwatch ends the watch on the view's own shard; nil if there is none.
	unwatch func()
	// timer runs while changes wait for somebody's append, and then sets due, which is of this wait alone.
	timer *time.Timer
	due   *atomic.Bool
}

// stored is what a view's shard holds: everything below upper, and its fingerprint.
type stored struct {
	content tvc.Fingerprint
	upper   tvc.Frontier
}

func (r *race) close(ctx context.Context) {
	if r.lost != nil {
		r.lost.Discard(ctx)
		r.lost = nil
	}
	r.calm()
	r.leave()
}

// calm ends the wait for an append.
func (r *race) calm() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer, r.due = nil, nil
	}
}

// isDue says whether the wait for an append is over.
func (r *race) isDue() bool { return r.due != nil && r.due.Load() }

func (r *race) leave() {
	if r.unwatch != nil {
		r.unwatch()
		r.unwatch = nil
	}
}

// yields says whether the next append is left to somebody who corrects what is stored.
func (v *viewDriver) yields() bool {
	if v.d.asked.Swap(false) && !v.d.yielding {
		v.d.yielding = true
		v.race.calm() // and wait anew
	}
	return v.d.yielding
}

// called says whether a driver that stands by has something to do without a change of its own.
func (v *viewDriver) called() bool {
	return v.shard.Upper() > v.lower || v.race.isDue() || v.sink.Dirty() && v.d.promoted.Load()
}

// follow goes on from where somebody else has appended, if they have; or appends after all, if they do not.
func (v *viewDriver) follow(ctx context.Context) error {
	v.yields()
	v.d.standsBy, v.d.contended = true, true
	v.sink.StandBy(true)
	if v.race.unwatch == nil {
		v.race.unwatch = v.shard.Watch(v.d.signal)
	}
	for v.behind() {
		if !v.d.reaches(v.race.goal.upper) {
			v.race.calm()
			return nil // the dataflow's own ticks come first
		}
		if err := v.concede(ctx, v.race.goal); err != nil {
			return err
		}
	}
	switch {
	case !v.sink.Dirty() && !v.holdsBack():
		v.idle()
		v.d.progress()
		return nil
	case v.race.isDue(), v.d.promoted.Load():
		return v.takeOver(ctx)
	case v.race.timer == nil:
		v.await()
	}
	return nil
}

// idle waits for nothing but a correction.
func (v *viewDriver) idle() {
	if v.d.yielding && v.race.isDue() {
		v.waited()
	}
	switch {
	case !v.d.yielding:
		v.race.calm()
	case v.race.timer == nil:
		v.await()
	}
}

// waited ends the wait for a correction that has not come.
func (v *viewDriver) waited() {
	v.d.yielding, v.d.yield = false, min(2*v.d.yield, maxYield)
	v.d.e.o.Listener.Waited(v.d.c.ID)
}

// behind says whether somebody else has appended, and sees to it that there is a goal then.
func (v *viewDriver) behind() bool {
	if v.race.goal.upper <= v.lower {
		v.race.goal.content, v.race.goal.upper = v.shard.Fingerprint()
	}
	return v.race.goal.upper > v.lower
}

// concede drops what somebody else has appended, up to the goal, and compares what they had stored there with what the
// dataflow has computed.
func (v *viewDriver) concede(ctx context.Context, goal stored) error {
	dropped, ok := v.sink.DropBelow(ctx, v.race.lost, goal.upper)
	if !ok {
		return &sink.LostError{Upper: goal.upper}
	}
	v.race.lost = nil
	v.race.calm()
	v.own, v.lower, v.d.taken = v.own.Add(dropped), goal.upper, 0
	v.d.past = v.lower
	if v.own != goal.content && !v.d.doubted {
		// Who is wrong? Before anything is corrected, this dataflow is computed anew.
		v.d.doubted = true
		return &sink.LostError{Upper: goal.upper}
	}
	if err := v.compare(goal.content); err != nil {
		return err
	}
	v.d.settled, v.d.doubted = true, false
	v.d.yielding, v.d.yield = false, minYield
	return nil
}

// await begins to wait for somebody's append.
func (v *viewDriver) await() {
	wait := v.d.patience
	if v.d.c.View.Fresh && v.lower == tvc.Frontier(v.d.c.AsOf) {
		wait = max(wait, firstPatience)
	}
	if v.d.yielding {
		wait = max(wait, v.d.yield)
	}
	due := &atomic.Bool{}
	v.race.due = due
	v.race.timer = time.AfterFunc(wait, func() {
		due.Store(true)
		v.d.signal()
	})
}

// takeOver appends what nobody else has.
func (v *viewDriver) takeOver(ctx context.Context) error {
	v.race.calm()
	v.race.leave()
	v.d.promoted.Store(false)
	v.d.standsBy = false
	if v.d.yielding {
		v.waited()
	}
	v.d.patience = min(2*v.d.patience, maxPatience)
	v.sink.StandBy(false)
	if !v.sink.IsWhole() {
		return &sink.LostError{Upper: v.lower} // from the inputs, then
	}
	return v.launch(ctx)
}

// reaches says whether the dataflow has taken in all there is below a frontier. If so, it is that far from then on.
func (d *running) reaches(f tvc.Frontier) bool {
	if f <= d.upper {
		return true
	}
	bound, what := d.look(d.e.o.Inputs.Closed())
	if bound < f || what == updates || what == tooEarly {
		return false
	}
	d.goOn(f)
	return true
}
