package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/meter"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Shard is a process's one handle on a shard. It is safe for concurrent use.
type Shard struct {
	id     ID
	client *Client
	key    tvc.FingerprintKey

	// now is the newest durable state; written under mu.
	now     atomic.Pointer[state]
	bound   atomic.Pointer[func(upper tvc.Frontier) tvc.Frontier]
	metrics atomic.Pointer[meter.Collection]
	// work is what was done for it, whatever its name was.
	work [meter.Origins]work

	// maintaining and compacting let one goroutine at a time do each.
	maintaining, compacting sync.Mutex
	// merging is how many batches are being merged.
	merging atomic.Int64

	mu struct {
		sync.Mutex
		watchers map[*watcher]bool
		// pins counts, by version, the scans that read a state.
		pins map[consensus.Version]int
		// dead are objects that the newest state no longer names, in the order of the versions that dropped
		// them: one may be deleted when no scan reads an older version.
		dead []deadObject
	}
}

type watcher struct{ wake func() }

type deadObject struct {
	key     string
	bytes   int64
	dropped consensus.Version
}

func newShard(c *Client, id ID, name string, s *state) *Shard {
	sh := &Shard{id: id, client: c, key: s.key}
	sh.mu.watchers = map[*watcher]bool{}
	sh.mu.pins = map[consensus.Version]int{}
	sh.metrics.Store(c.metrics.Collection(name))
	sh.now.Store(s)
	return sh
}

func (s *Shard) current() *state { return s.now.Load() }

// ID is the shard's name.
func (s *Shard) ID() ID { return s.id }

// Upper is the physical upper: complete below it, durably.
func (s *Shard) Upper() tvc.Frontier { return s.current().upper }

// Since is the least as-of that can be read.
func (s *Shard) Since() tvc.Frontier { return s.current().since }

// Schema is the latest schema and its number.
func (s *Shard) Schema() (Schema, SchemaID) {
	st := s.current()
	return st.schema(), st.schemaID()
}

// IsSealed says whether the shard has been dropped.
func (s *Shard) IsSealed() bool { return s.current().sealed }

// FingerprintKey is the key of the shard's fingerprints (tvc.NewFingerprinter).
func (s *Shard) FingerprintKey() tvc.FingerprintKey { return s.key }

// Totals are the sums over all updates below Upper, of one moment. Compaction changes how many rows they are,
// but neither Σdiff nor fingerprint.
func (s *Shard) Totals() (Totals, tvc.Frontier) {
	st := s.current()
	return st.totals, st.upper
}

// Fingerprint is the fingerprint of all updates below Upper, both of one moment.
func (s *Shard) Fingerprint() (tvc.Fingerprint, tvc.Frontier) {
	st := s.current()
	return st.totals.Fingerprint, st.upper
}

// MayWantMaintenance says whether it may be worth calling Maintain, once since can go further than it did.
func (s *Shard) MayWantMaintenance() bool {
	st := s.current()
	return st.sealed || st.rollupDue() || st.mayMerge()
}

// Watch calls wake, which may neither wait nor use the shard, whenever upper has moved or the shard was sealed, until
// cancel is called.
func (s *Shard) Watch(wake func()) (cancel func()) {
	w := &watcher{wake}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.watchers[w] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.mu.watchers, w)
	}
}

// WaitPast waits until the upper is past t.
func (s *Shard) WaitPast(ctx context.Context, t tvc.Time) error {
	ch := make(chan struct{}, 1)
	cancel := s.Watch(func() {
		select {
		case ch <- struct{}{}:
		default: // a full channel already means "look again"
		}
	})
	defer cancel()
	for !s.Upper().Past(t) {
		select {
		case <-ch:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// install makes next the newest state, wakes who watches, and says whether the shard wants maintenance. It is
// called for each version, in order.
func (s *Shard) install(next *state) (wants bool) {
	last := s.current()
	if next.version != last.version+1 {
		invariants.Failf("shard %s: version %d follows %d", s.id, next.version, last.version)
	}
	var dead []deadObject
	if next.sealed || next.nextBatch != last.nextBatch || next.rollup.object != last.rollup.object {
		dead = s.dropped(last, next)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Store(next)
	s.mu.dead = append(s.mu.dead, dead...)
	if next.upper != last.upper || next.sealed != last.sealed {
		for w := range s.mu.watchers {
			w.wake()
		}
	}
	return len(s.mu.dead) > 0 || next.wantsMaintenance()
}

// dropped gives the objects that last names and next does not, and drops their parts from the cache. Batches
// leave a state only by being replaced, so those of an append need no look.
func (s *Shard) dropped(last, next *state) []deadObject {
	var dead []deadObject
	add := func(key string, bytes int64) { dead = append(dead, deadObject{key, bytes, next.version}) }
	if last.rollup.object != next.rollup.object && last.rollup.version > 0 {
		add(rollupKey(s.id, last.rollup.object), last.rollup.size)
	}
	if len(next.batches) > len(last.batches) {
		return dead
	}
	kept := make(map[*batch]bool, len(next.batches))
	for _, b := range next.batches {
		kept[b] = true
	}
	for _, b := range last.batches {
		if kept[b] {
			continue
		}
		for _, r := range b.runs {
			for _, p := range r {
				if !p.isInline() {
					add(partKey(s.id, p.object), p.size)
				}
				s.client.cache.drop(p.slot)
			}
		}
	}
	return dead
}

// pin keeps the objects of the newest state from being deleted until unpin.
func (s *Shard) pin() *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.current()
	s.mu.pins[st.version]++
	return st
}

func (s *Shard) unpin(st *state) {
	s.mu.Lock()
	if s.mu.pins[st.version]--; s.mu.pins[st.version] == 0 {
		delete(s.mu.pins, st.version)
	}
	waiting := len(s.mu.dead) > 0
	s.mu.Unlock()
	if waiting {
		s.client.wake(s)
	}
}

// deletable takes the dead objects that nobody can reach any more.
func (s *Shard) deletable() []deadObject {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.mu.dead) && !s.readBelowLocked(s.mu.dead[n].dropped) {
		n++
	}
	out := s.mu.dead[:n:n]
	s.mu.dead = s.mu.dead[n:]
	return out
}

// reachable calls visit for every object that a reader of this process can reach, or that is about to be deleted.
func (s *Shard) reachable(visit func(key string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current().objects(s.id, visit)
	for _, d := range s.mu.dead {
		visit(d.key)
	}
}

func (s *Shard) readBelowLocked(v consensus.Version) bool {
	for pinned := range s.mu.pins {
		if pinned < v {
			return true
		}
	}
	return false
}

// ErrBeforeSince says that what was asked for has been compacted away.
var ErrBeforeSince = errors.New("history is no longer there")

// ErrSealed says that a shard has been dropped.
var ErrSealed = errors.New("shard has been dropped")

// ErrNotFound says that there is no such shard.
var ErrNotFound = errors.New("shard does not exist")

// IsDamage says whether an error is that what is stored cannot be read: damaged, missing, with counts past all
// bounds or with wrong statistics. To try again is of no use.
func IsDamage(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, part.ErrCorrupt) || errors.Is(err, part.ErrOverflow) ||
		errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrCorrupt) ||
		errors.Is(err, ErrStatistics) || errors.Is(err, consensus.ErrCorrupt)
}

// IsRefusedByServer says whether an error is one of a server that keeps the objects or the registers, which refuses, fails,
// or cannot be reached.
func IsRefusedByServer(err error) bool {
	var objects *blob.ServerError
	var registers *consensus.ServerError
	return errors.As(err, &objects) || errors.As(err, &registers)
}

func (s *Shard) put(ctx context.Context, key string, data []byte, origin Origin) error {
	took := s.client.metrics.Putting(origin)
	err := s.client.blob.Put(ctx, key, data)
	took()
	if err != nil {
		return fmt.Errorf("write shard %s: %w", s.id, err)
	}
	s.metrics.Load().Put(origin, len(data))
	s.work[origin].objects.Add(1)
	return nil
}
