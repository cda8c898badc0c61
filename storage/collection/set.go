// Package collection knows which shard stores which collection, who holds them back, and keeps them in good
// shape in the background.
//
// Promises:
//
//	S1  while a Hold is held, its collections can be read at its time and at every later one.
//	S2  a view's inputs stay readable from the view's durable upper - 1 on, also across restarts (Desc.Inputs).
//	S3  maintenance (compaction, drain, rollups, garbage) runs only when something was written or let go, which the
//	    end of its retained history does too: after that, as time passes, an idle Set does nothing.
//	S4  a collection's metrics end when it is forgotten.
//
// Set and Hold are safe for concurrent use. A Set owns the maintenance goroutines; Close ends them.
package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// ConsensusStore and BlobStore are the stores, for those who only pass them on.
type (
	ConsensusStore = consensus.Store
	BlobStore      = blob.Store
)

// Options is what a Set stands on.
type Options struct {
	Consensus consensus.Store
	Blob      blob.Store
	// Clock is the wall clock.
	Clock tvc.Clock
	// Settings has the values of Settings(), among others; it may not be nil.
	Settings *settings.Set
	// Registry takes the metrics; it may not be nil.
	Registry Registry
	// Log takes what only an operator can act on; nil means slog.Default().
	Log *slog.Logger
	// Random keys the fingerprints; nil means crypto/rand.Reader.
	Random io.Reader
}

// Settings lists the dynamic parameters of storage.
func Settings() []settings.Param { return append(shard.Settings(), retainDefault, compactionEnabled) }

var compactionEnabled = settings.NewBool("storage_compaction_enabled", true,
	"whether what is stored is merged in the background; while it is off, disk use and what reads cost grow with every write",
	"next write to the collection")

var retainDefault = settings.NewDuration("storage_retain_history", time.Second, 0, 365*24*time.Hour,
	"how much history of a collection stays readable although nobody holds it, unless the collection says otherwise",
	"next write to the collection")

// Set is the collections of an environment, as one process sees them.
type Set struct {
	clock    tvc.Clock
	settings *settings.Set
	log      *slog.Logger
	epoch    consensus.Version
	client   *shard.Client
	oracle   *oracle.Oracle
	group    *txn.Group
	keeper   keeper

	mu struct {
		sync.Mutex
		entries map[tvc.ID]*entry
	}
}

// entry is an open collection; the Set's lock guards all but desc's ID and shard.
type entry struct {
	desc  Desc
	shard *shard.Shard
	// holds are at what time or later the collection must be readable.
	holds map[*Hold]tvc.Frontier
	// floor is how far since may have been moved by now: nobody is promised less.
	floor tvc.Frontier
	// behind are views that read the collection.
	behind map[*entry]bool
	// retained runs while a change is retained that may hold compaction back; else it is nil.
	retained *time.Timer
	// settled is the upper when that last ended.
	settled tvc.Frontier
}

// Open takes the environment over: it raises the epoch, so that a process that had it before can write
// nothing any more, and starts the oracle above that process's mark. No collection is open yet, and
// maintenance does not run until Start: the caller first opens every collection and tells who stands behind
// whom, so that nothing is compacted away under a view.
func Open(ctx context.Context, o Options) (*Set, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	epoch, err := raiseEpoch(ctx, o.Consensus)
	if err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	// Only now is it certain that nobody else moves the mark.
	head, err := o.Consensus.Head(ctx, oracle.MarkKey)
	if err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	mark, err := oracle.DecodeMark(head.Data)
	if err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	s := &Set{clock: o.Clock, settings: o.Settings, log: o.Log, epoch: epoch}
	s.mu.entries = map[tvc.ID]*entry{}
	s.keeper.init(s)
	s.client, err = shard.NewClient(shard.ClientOptions{
		Consensus: o.Consensus, Blob: o.Blob, Epoch: uint64(epoch), Settings: o.Settings, Registry: o.Registry, Log: o.Log,
		Random: o.Random, Wake: s.keeper.wake,
	})
	if err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	s.oracle = oracle.New(oracle.Options{Clock: o.Clock, Mark: mark, Renew: func(ctx context.Context) error {
		return s.group.Renew(ctx)
	}})
	s.group = txn.NewGroup(txn.Options{
		Consensus: o.Consensus, Client: s.client, Oracle: s.oracle, Epoch: epoch, Mark: head.Version, Registry: o.Registry, Log: o.Log,
	})
	return s, nil
}

// epochVersion is the version of the format of the epoch register's entries: this byte is all they say.
const epochVersion = 1

// raiseEpoch makes this process the one that may write.
func raiseEpoch(ctx context.Context, store consensus.Store) (consensus.Version, error) {
	head, err := store.Head(ctx, txn.EpochKey)
	if err != nil {
		return 0, err
	}
	if head.Version > 0 && (len(head.Data) != 1 || head.Data[0] != epochVersion) {
		return 0, fmt.Errorf("register %s: % x is of a version that this program does not know", txn.EpochKey, head.Data)
	}
	out, err := store.Commit(ctx, []consensus.Unit{{{Key: txn.EpochKey, Expect: head.Version, Data: []byte{epochVersion}}}})
	if err != nil {
		return 0, err
	}
	if !out[0].Done {
		return 0, errors.New("another process is taking over this environment at the same time")
	}
	return head.Version + 1, store.Truncate(ctx, txn.EpochKey, head.Version+1)
}

// Start begins background maintenance, and sweeps what earlier processes left unlinked.
func (s *Set) Start() {
	s.keeper.start()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.mu.entries {
		s.lookAgainLocked(e)
	}
}

// Close ends maintenance and waits for it, and leaves the oracle's mark where the next process can begin. Nothing
// can be written any more. The stores are the caller's to close. If ctx ends first, what is still unknown stays so.
func (s *Set) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.group.Stop)()
	s.keeper.close()
	s.stopTimers()
	if err := s.group.Close(ctx); err != nil {
		return fmt.Errorf("close storage: %w", err)
	}
	return nil
}

// stopTimers ends what waits for history to end, once maintenance has ended and nothing starts it any more.
func (s *Set) stopTimers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.mu.entries {
		e.stopTimer()
	}
}

// stopTimer is called under the Set's lock.
func (e *entry) stopTimer() {
	if e.retained != nil {
		e.retained.Stop()
	}
}

// Epoch is the environment's epoch, which this process has made.
func (s *Set) Epoch() uint64 { return uint64(s.epoch) }

// Group gives the line to the consensus store.
func (s *Set) Group() *txn.Group { return s.group }

// Oracle gives the oracle.
func (s *Set) Oracle() *oracle.Oracle { return s.oracle }

// Client gives the shards.
func (s *Set) Client() *shard.Client { return s.client }

// Desc says what a collection is.
type Desc struct {
	ID    tvc.ID
	Shard shard.ID
	// Name is the full SQL name, the label of its metrics.
	Name string
	// Retain is how much history stays readable although nobody holds it. 0 means what the setting
	// storage_retain_history says; negative means none.
	Retain time.Duration
	// Inputs are the collections a view reads, which must be open: they stay readable from the view's durable
	// upper - 1.
	Inputs []tvc.ID
}

// Open makes a collection known, whose shard exists (created by an earlier process or by a unit that is
// done).
func (s *Set) Open(ctx context.Context, d Desc) (*shard.Shard, error) {
	e := &entry{desc: d, holds: map[*Hold]tvc.Frontier{}, behind: map[*entry]bool{}}
	var err error
	e.shard, err = s.client.Open(ctx, d.Shard, shard.OpenOptions{
		Name: d.Name, Bound: func(upper tvc.Frontier) tvc.Frontier { return s.bound(e, upper) }})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", d.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.entries[d.ID] != nil {
		return nil, fmt.Errorf("open %s: collection %v is open already", d.Name, d.ID)
	}
	for _, in := range d.Inputs {
		if s.mu.entries[in] == nil {
			return nil, fmt.Errorf("open %s: its input %v is not open", d.Name, in)
		}
	}
	for _, in := range d.Inputs {
		s.mu.entries[in].behind[e] = true
	}
	s.mu.entries[d.ID] = e
	s.lookAgainLocked(e)
	return e.shard, nil
}

// Shard gives an open collection's shard.
func (s *Set) Shard(id tvc.ID) (*shard.Shard, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.mu.entries[id]
	if e == nil {
		return nil, false
	}
	return e.shard, true
}

// Rename changes the label of its metrics.
func (s *Set) Rename(id tvc.ID, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.mu.entries[id]
	if e == nil || e.desc.Name == name {
		return
	}
	e.shard.Rename(name)
	was := e.desc.Name
	e.desc.Name = name
	s.endMetricsLocked(was)
}

// Retain changes how much of its history stays readable; see Desc.Retain. What is gone already stays so.
func (s *Set) Retain(id tvc.ID, retain time.Duration) {
	s.mu.Lock()
	e := s.mu.entries[id]
	if e == nil {
		s.mu.Unlock()
		return
	}
	e.desc.Retain = retain
	// A timer that is past being stopped looks at once.
	if e.retained == nil || e.retained.Stop() {
		e.retained = nil
		s.lookAgainLocked(e)
	}
	s.mu.Unlock()
	s.keeper.wakeIfWanted(e.shard)
}

// endMetricsLocked ends the metrics of a name that no collection has any more.
func (s *Set) endMetricsLocked(name string) {
	for _, e := range s.mu.entries {
		if e.desc.Name == name {
			return
		}
	}
	s.client.EndMetrics(name)
}

// Forget closes a collection: its metrics and its hold on inputs end. If its shard is sealed, its objects go
// once nobody reads them.
func (s *Set) Forget(id tvc.ID) {
	s.mu.Lock()
	e := s.mu.entries[id]
	if e == nil {
		s.mu.Unlock()
		return
	}
	delete(s.mu.entries, id)
	e.stopTimer()
	s.endMetricsLocked(e.desc.Name)
	var inputs []*shard.Shard
	for _, in := range e.desc.Inputs {
		if up := s.mu.entries[in]; up != nil {
			delete(up.behind, e)
			s.lookAgainLocked(up)
			inputs = append(inputs, up.shard)
		}
	}
	s.mu.Unlock()
	for _, sh := range inputs {
		s.keeper.wakeIfWanted(sh)
	}
}

// Clean has maintenance clean up what is left of a sealed shard that belongs to no collection any more.
func (s *Set) Clean(ctx context.Context, id shard.ID) error {
	sh, err := s.client.Open(ctx, id, shard.OpenOptions{})
	if err != nil {
		return fmt.Errorf("clean up %s: %w", id, err)
	}
	if !sh.IsSealed() {
		return fmt.Errorf("clean up %s: the shard is not sealed", id)
	}
	s.client.EndMetrics(string(id))
	return nil
}

// IsClean says whether nothing is left to be done about a sealed shard: one that Forget or Clean was called for.
func (s *Set) IsClean(id shard.ID) bool { return !s.client.IsOpen(id) }

// bound says how far the since of a collection may go when its upper is the one given.
func (s *Set) bound(e *entry, upper tvc.Frontier) tvc.Frontier {
	now := s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := tvc.Done
	if retain := s.retain(e); retain >= 0 {
		// What is read is at most retain old by the clock; the collection's last change, however long ago, is no
		// reason to keep more.
		back := tvc.Frontier(retain.Microseconds())
		f = max(sub(upper, back+1), sub(tvc.Frontier(now), back))
		if retainedFrom := sub(tvc.Frontier(now), back); retainedFrom < upper || e.settled < upper {
			s.settleLaterLocked(e, retain)
		}
	}
	for _, at := range e.holds {
		f = min(f, at)
	}
	for view := range e.behind {
		f = min(f, view.needs())
	}
	e.floor = max(e.floor, f)
	return f
}

// retain is how much of a collection's history stays readable; negative means none. It is called under the Set's lock.
func (s *Set) retain(e *entry) time.Duration {
	if e.desc.Retain == 0 {
		return retainDefault.Get(s.settings)
	}
	return e.desc.Retain
}

// lookAgainLocked is called when history may end that was kept until now: by a process that has ended, by somebody who held
// it, by a view that was behind, or since it was to be retained for longer.
func (s *Set) lookAgainLocked(e *entry) {
	if s.mu.entries[e.desc.ID] != e {
		return
	}
	if retain := s.retain(e); retain >= 0 && max(e.floor, e.shard.Since()) < sub(e.shard.Upper(), 1) {
		s.settleLaterLocked(e, retain)
	}
}

// settleLaterLocked has a collection looked at once its last change need not be retained any more: nothing else might ever
// move its since, and what was updated would stay. It looks once a second at most, so changes may come meanwhile.
func (s *Set) settleLaterLocked(e *entry, retain time.Duration) {
	if e.retained == nil && s.keeper.runs() {
		e.retained = time.AfterFunc(max(retain, time.Second), func() { s.settle(e) })
	}
}

// settle wakes the maintenance of what the end of e's history may let go: its own rows, and those of its inputs, which may
// have been read only now though they are older.
func (s *Set) settle(e *entry) {
	s.mu.Lock()
	e.retained = nil
	if s.mu.entries[e.desc.ID] != e {
		s.mu.Unlock()
		return
	}
	settled := e.shard.Upper()
	e.settled = settled
	woken := []*shard.Shard{e.shard}
	for _, in := range e.desc.Inputs {
		if up := s.mu.entries[in]; up != nil {
			woken = append(woken, up.shard)
			s.lookAgainLocked(up)
		}
	}
	s.mu.Unlock()
	// If there were changes meanwhile, this has it look again.
	s.bound(e, settled)
	for _, sh := range woken {
		s.keeper.wakeIfWanted(sh)
	}
}

// needs is from where on a view that is open reads its inputs when it is started anew: from its durable upper - 1,
// or, while nothing has been written to it, from where it begins.
func (e *entry) needs() tvc.Frontier {
	if e.shard.IsSealed() {
		return tvc.Done
	}
	return max(sub(e.shard.Upper(), 1), e.shard.Since())
}

func sub(f, by tvc.Frontier) tvc.Frontier {
	if f < by {
		return 0
	}
	return f - by
}

// Hold keeps collections readable. It is owed a Release.
type Hold struct {
	set   *Set
	owner string
	at    tvc.Frontier // guarded by the Set's lock
	on    []*entry
}

// Hold takes a hold on collections that are open, for an owner that is named to people, at the least time at
// which all of them can be read.
func (s *Set) Hold(owner string, ids ...tvc.ID) (*Hold, error) {
	h := &Hold{set: s, owner: owner}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		e := s.mu.entries[id]
		if e == nil {
			return nil, fmt.Errorf("hold %v: the collection is not open", id)
		}
		if e.shard.IsSealed() {
			return nil, fmt.Errorf("hold %s: %w", e.desc.Name, shard.ErrSealed)
		}
		h.on = append(h.on, e)
		h.at = max(h.at, e.floor, e.shard.Since())
	}
	for _, e := range h.on {
		e.holds[h] = h.at
	}
	return h, nil
}

// Since is what the hold promises: all its collections can be read at this time and later.
func (h *Hold) Since() tvc.Frontier {
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	return h.at
}

// Downgrade lets everything before f go; it never goes back.
func (h *Hold) Downgrade(f tvc.Frontier) {
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	if f <= h.at {
		return
	}
	h.at = f
	for _, e := range h.on {
		if _, held := e.holds[h]; held {
			e.holds[h] = f
			h.set.lookAgainLocked(e)
		}
	}
}

// Release ends the hold. More than once is harmless.
func (h *Hold) Release() {
	h.set.mu.Lock()
	on := h.on
	h.on = nil
	for _, e := range on {
		delete(e.holds, h)
		h.set.lookAgainLocked(e)
	}
	h.set.mu.Unlock()
	for _, e := range on {
		h.set.keeper.wakeIfWanted(e.shard)
	}
}

// HoldInfo describes a hold on a collection, for the system relation of holds. Owner is, of a view that stands
// behind its inputs, the view's ID.
type HoldInfo struct {
	Owner string
	ID    tvc.ID
	Since tvc.Frontier
}

// Holds lists all holds, ordered by collection, then owner, then time.
func (s *Set) Holds() []HoldInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []HoldInfo
	for id, e := range s.mu.entries {
		for h, at := range e.holds {
			out = append(out, HoldInfo{h.owner, id, at})
		}
		for view := range e.behind {
			out = append(out, HoldInfo{view.desc.ID.String(), id, view.needs()})
		}
	}
	slices.SortFunc(out, func(a, b HoldInfo) int {
		return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Since, b.Since))
	})
	return out
}
