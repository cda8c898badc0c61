package collection

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/txn"
)

// keeper maintains shards in the background: one goroutine does the small things, some others merge. All of them
// sleep until a shard wants something.
type keeper struct {
	set    *Set
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	light  queue
	heavy  queue

	mu struct {
		sync.Mutex
		started bool
		// failing are shards whose last maintenance failed: it is told once, not for every write.
		failing map[*shard.Shard]bool
	}
}

func (k *keeper) init(s *Set) {
	k.set = s
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.light.init()
	k.heavy.init()
	k.mu.failing = map[*shard.Shard]bool{}
}

// wake notes that a shard wants maintenance. It never waits.
func (k *keeper) wake(sh *shard.Shard) { k.light.add(sh) }

// wakeIfWanted wakes a shard that may have been held back.
func (k *keeper) wakeIfWanted(sh *shard.Shard) {
	if sh.MayWantMaintenance() {
		k.wake(sh)
	}
}

func (k *keeper) start() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.started {
		return
	}
	k.mu.started = true
	k.done.Go(func() {
		k.sweep()
		k.work(&k.light, k.maintain)
	})
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		k.done.Go(func() { k.work(&k.heavy, k.compact) })
	}
}

// runs says whether maintenance has been started and not ended.
func (k *keeper) runs() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.started && k.ctx.Err() == nil
}

func (k *keeper) close() {
	k.cancel()
	k.done.Wait()
}

func (k *keeper) work(q *queue, do func(*shard.Shard)) {
	for {
		sh := q.take(k.ctx)
		if sh == nil {
			return
		}
		do(sh)
		q.finished(sh)
	}
}

func (k *keeper) sweep() {
	n, err := k.set.client.Sweep(k.ctx)
	switch {
	case k.ctx.Err() != nil:
	case err != nil:
		k.set.log.Warn("objects left by earlier processes could not all be removed", "removed", n, "error", err)
	case n > 0:
		k.set.log.Info("removed objects left by earlier processes", "objects", n)
	}
}

func (k *keeper) maintain(sh *shard.Shard) {
	compact, err := sh.Maintain(k.ctx, k.submit)
	k.report(sh, err)
	if compact && compactionEnabled.Get(k.set.settings) {
		k.heavy.add(sh)
	}
}

func (k *keeper) compact(sh *shard.Shard) {
	more, err := sh.Compact(k.ctx, k.submit)
	k.report(sh, err)
	if more && err == nil {
		// Others first; and the light things of this shard may be due.
		k.light.add(sh)
	}
}

func (k *keeper) submit(ctx context.Context, op shard.Op) (*shard.Refusal, error) {
	out, err := k.set.group.Do(ctx, txn.Unit{Ops: []shard.Op{op}, Background: true})
	return out.Refused, err
}

// report logs the first failure of a shard's maintenance since it last succeeded. Nothing is lost by a failure: the
// next write tries again.
func (k *keeper) report(sh *shard.Shard, err error) {
	k.mu.Lock()
	first := err != nil && !k.mu.failing[sh]
	if err == nil {
		delete(k.mu.failing, sh)
	} else {
		k.mu.failing[sh] = true
	}
	k.mu.Unlock()
	if !first || k.ctx.Err() != nil || errors.Is(err, txn.ErrFenced) || errors.Is(err, txn.ErrClosed) {
		return
	}
	if errors.Is(err, shard.ErrCorrupt) || errors.Is(err, consensus.ErrBroken) {
		k.set.log.Error("maintenance of a shard failed", "shard", sh.ID(), "error", err)
		return
	}
	k.set.log.Warn("maintenance of a shard failed; the next write tries again", "shard", sh.ID(), "error", err)
}

// queue is shards that want work, each at most once, in the order they came. A shard that wants more while it is
// worked on comes again. Its length is bounded by the number of shards.
type queue struct {
	mu struct {
		sync.Mutex
		waiting []*shard.Shard
		state   map[*shard.Shard]queueState
	}
	// some has a word when there may be a waiting shard.
	some chan struct{}
}

// queueState says where a shard is; one that is not in the map wants nothing.
type queueState uint8

const (
	waiting queueState = iota + 1
	working
	workingAndWanted
)

func (q *queue) init() {
	q.some = make(chan struct{}, 1)
	q.mu.state = map[*shard.Shard]queueState{}
}

func (q *queue) add(sh *shard.Shard) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch q.mu.state[sh] {
	case 0:
		q.mu.state[sh] = waiting
		q.mu.waiting = append(q.mu.waiting, sh)
		q.signalLocked()
	case working:
		q.mu.state[sh] = workingAndWanted
	}
}

func (q *queue) signalLocked() {
	select {
	case q.some <- struct{}{}:
	default:
	}
}

// take waits for a shard; nil when ctx has ended.
func (q *queue) take(ctx context.Context) *shard.Shard {
	for {
		if ctx.Err() != nil {
			return nil
		}
		if sh := q.first(); sh != nil {
			return sh
		}
		select {
		case <-q.some:
		case <-ctx.Done():
		}
	}
}

func (q *queue) first() *shard.Shard {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.mu.waiting) == 0 {
		return nil
	}
	sh := q.mu.waiting[0]
	q.mu.waiting = q.mu.waiting[1:]
	q.mu.state[sh] = working
	if len(q.mu.waiting) > 0 {
		// Another worker may take the next one.
		q.signalLocked()
	}
	return sh
}

func (q *queue) finished(sh *shard.Shard) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.state[sh] == working {
		delete(q.mu.state, sh)
		return
	}
	q.mu.state[sh] = waiting
	q.mu.waiting = append(q.mu.waiting, sh)
	q.signalLocked()
}
