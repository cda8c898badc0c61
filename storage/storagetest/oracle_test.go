package storagetest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// times is an oracle under random use, and what somebody knows of the times it gave.
type times struct {
	t     *testing.T
	rng   *rand.Rand
	disk  *storagetest.Disk
	p     *storagetest.Process
	m     *local
	clock tvc.Time

	// given is the latest time that this process has given out, known the latest that matters after its end: it was read at,
	// or a write at it is durable. applied is the latest of an acknowledged write.
	given, known, applied tvc.Time
	// open are the writes in flight, in the order of their times.
	open []tvc.Time
}

func (x *times) start() {
	p, err := x.disk.Open(x.t, storagetest.Options{Clock: func() tvc.Time { return x.clock }})
	if err != nil {
		x.t.Fatal(err)
	}
	m, err := openLocal(context.Background(), p.Set)
	if err != nil {
		x.t.Fatal(err)
	}
	if upper := m.shards[0].Upper(); upper > 0 {
		// Perhaps nobody was told of it.
		x.known = max(x.known, upper.Last())
	}
	x.p, x.m, x.given, x.open = p, m, x.known, nil
	p.Faults.Follow(storagetest.Fate(x.rng.Uint64(), 12, p.Faults.Calls(), 60))
}

// end ends the process, in good order or not. The next one's clock may be behind.
func (x *times) end(close bool) {
	if close {
		if err := x.p.Set.Close(context.Background()); err != nil && !storagetest.IsFault(err) {
			x.t.Fatal(err)
		}
	}
	disk := x.disk.Crash(x.rng.Uint64(), 50*x.rng.IntN(2))
	x.p.Stop(x.t)
	x.disk = disk
	x.clock += tvc.Time(x.rng.IntN(3_000_000))
	x.clock -= min(x.clock, 1_000_000)
	x.start()
}

// fault says whether an error is one that the stores were to cause, and starts the next process if need be.
func (x *times) fault(err error) bool {
	x.t.Helper()
	switch {
	case err == nil:
		return false
	case !storagetest.IsFault(err):
		x.t.Fatal(err)
	case storagetest.IsUnknown(err), errors.Is(err, txn.ErrFenced):
		x.end(false)
	}
	return true
}

func (x *times) begin() {
	w := x.p.Set.Oracle().WriteTime()
	if w <= x.given {
		x.t.Fatalf("write time %d is not above %d", w, x.given)
	}
	x.given = w
	x.open = append(x.open, w)
}

// finish makes one of the writes in flight durable and tells the oracle; or it fails.
func (x *times) finish() {
	if len(x.open) == 0 {
		return
	}
	i := x.rng.IntN(len(x.open))
	w, o := x.open[i], x.p.Set.Oracle()
	out, err := x.p.Set.Group().Do(context.Background(), unit(shard.Append{Shard: x.m.shards[0], AnyLower: true, Upper: tvc.After(w)}))
	if x.fault(err) {
		if len(x.open) > i && x.open[i] == w {
			o.Forget(w)
			x.open = append(x.open[:i:i], x.open[i+1:]...)
		}
		return
	}
	x.open = append(x.open[:i:i], x.open[i+1:]...)
	if !out.Done() {
		// A later one was faster.
		o.Forget(w)
		return
	}
	x.known = max(x.known, w)
	x.checkMark(w)
	// It waits for those before it.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := o.ApplyWrite(ctx, w); err == nil {
		x.applied = max(x.applied, w)
		if len(x.open) > 0 && x.open[0] < w {
			x.t.Fatalf("the write at %d is acknowledged while that at %d is in flight", w, x.open[0])
		}
	}
}

func (x *times) read() {
	r, err := x.p.Set.Oracle().ReadTime(context.Background())
	if x.fault(err) {
		return
	}
	if r < x.applied || len(x.open) > 0 && r >= x.open[0] {
		x.t.Fatalf("read time %d; applied %d, in flight %v", r, x.applied, x.open)
	}
	x.given, x.known = max(x.given, r), max(x.known, r)
	x.checkMark(r)
}

// checkMark looks past the faults whether a time lies within what is durable.
func (x *times) checkMark(at tvc.Time) {
	head, err := x.p.Consensus.Head(context.Background(), oracle.MarkKey)
	if err != nil {
		x.t.Fatal(err)
	}
	if mark, err := oracle.DecodeMark(head.Data); err != nil || at > mark {
		x.t.Fatalf("time %d is past the durable mark %d, %v", at, mark, err)
	}
}

// TestTimesOverBadStores: over bad stores, with clocks that go back, and through the lives of several processes, a write time
// is later than all that anybody knows; what was acknowledged is read, and what is read is never past the durable mark.
//
// Of what must be kept, this is: a write is acknowledged only when it is durable and applied, as are all before it.
func TestTimesOverBadStores(t *testing.T) {
	forSeeds(t, func(t *testing.T, seed uint64) {
		x := &times{t: t, rng: rand.New(rand.NewPCG(seed, 31)), disk: storagetest.NewDisk(), clock: 5_000_000}
		x.start()
		for range 120 {
			x.clock += tvc.Time(x.rng.IntN(200_000))
			switch n := x.rng.IntN(40); {
			case n < 14:
				x.begin()
			case n < 26:
				x.finish()
			case n < 39:
				x.read()
			default:
				x.end(x.rng.IntN(2) == 0)
			}
		}
		x.p.Stop(t)
	})
}
