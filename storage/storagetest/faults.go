// Package storagetest is stores that fail, lie and crash, and a checker of everything durable: what the tests of
// storage, and of what stands on it, run against.
//
// A Disk is a file system that knows what was synced. Open starts a process on it: real stores on that disk, behind
// faults. Crash gives the disk as a power cut at that moment would leave it.
//
// A call can fail before or after its work, be lost, be late, or come after one that was made later; a disk can run full;
// a process can die at a call. It can also lose its lease, which here is the epoch: a process holds it until another one has
// raised it (Process.Succeed), and is fenced from then on, whether it knows or not.
package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/txn"
)

// Call is one call of a store.
type Call struct {
	// N counts the calls of all stores of a process from 1.
	N int
	// Op is "head", "scan", "commit", "truncate", "keys", "get", "put", "delete" or "list".
	Op string
}

// Verdict is what becomes of a call.
type Verdict uint8

const (
	// Pass lets it through.
	Pass Verdict = iota
	// Fail makes it fail, and nothing happened.
	Fail
	// Lose makes a write fail with an unknown outcome, and nothing happened.
	Lose
	// Hide lets a write happen and then reports an unknown outcome.
	Hide
	// Delay makes the call take a while.
	Delay
	// Reorder keeps the call back until one that was made later has finished, or none comes for a while.
	Reorder
	// DieBefore ends the process before the call, DieAfter when the call has done its work: this call and all
	// later ones fail.
	DieBefore
	DieAfter
	// Full has the disk run full before the call.
	Full
	// Depose has another process take the environment over before the call: the epoch is raised, and this process fenced.
	Depose
)

// Plan decides about calls. It is called for one call at a time.
type Plan func(c Call) Verdict

// Random is a plan that lets things go wrong now and then, each with a chance of one in odds.
func Random(seed uint64, odds int) Plan {
	rng := rand.New(rand.NewPCG(seed, 99))
	return func(c Call) Verdict {
		if rng.IntN(odds) > 0 {
			return Pass
		}
		return []Verdict{Fail, Lose, Hide, Delay, Reorder}[rng.IntN(5)]
	}
}

// DieAt is a plan that ends the process at the n-th call.
func DieAt(n int, v Verdict) Plan {
	return func(c Call) Verdict {
		if c.N == n {
			return v
		}
		return Pass
	}
}

// Until goes by one plan until the n-th call, at which the process ends.
func Until(n int, v Verdict, plan Plan) Plan {
	return func(c Call) Verdict {
		if c.N == n {
			return v
		}
		return plan(c)
	}
}

// Fate lets calls go wrong like Random. It also gives the process, by chance, an end at one of so many calls after the given
// one: death, a full disk, or a successor.
func Fate(seed uint64, odds, after, within int) Plan {
	rng := rand.New(rand.NewPCG(seed, 98))
	end := []Verdict{Pass, DieBefore, DieAfter, Full, Depose}[rng.IntN(5)]
	return Until(after+1+rng.IntN(within), end, Random(seed, odds))
}

// ErrInjected is the error of a call that was made to fail.
var ErrInjected = errors.New("injected failure")

// ErrDead is the error of all calls of a process that has died: nothing that is left of it need try again.
var ErrDead = fmt.Errorf("%w: the process is dead", consensus.ErrBroken)

// IsFault says whether an error is the work of a plan.
func IsFault(err error) bool {
	for _, fault := range []error{ErrInjected, ErrDead, syscall.ENOSPC, consensus.ErrBroken, txn.ErrFenced, txn.ErrIndeterminate} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}

// IsUnknown says whether a write that gave the error may have happened, as far as somebody knows who outlives the process.
func IsUnknown(err error) bool {
	return errors.Is(err, ErrDead) || errors.Is(err, txn.ErrIndeterminate) || errors.Is(err, consensus.ErrBroken)
}

// Faults stands between a process and its stores.
type Faults struct {
	// full and depose do what the verdicts say.
	full, depose func()

	mu struct {
		sync.Mutex
		plan  Plan
		calls int
		dead  bool
		// held are the calls that are kept back, with what lets them go.
		held map[int]chan struct{}
	}
}

func newFaults(plan Plan, full, depose func()) *Faults {
	f := &Faults{full: full, depose: depose}
	f.mu.held = map[int]chan struct{}{}
	f.Follow(plan)
	return f
}

// Follow has all further calls go by another plan; nil lets everything pass.
func (f *Faults) Follow(plan Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.plan = plan
}

// Calls counts the calls so far.
func (f *Faults) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.calls
}

// IsDead says whether the process has died.
func (f *Faults) IsDead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.dead
}

// Kill ends the process.
func (f *Faults) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.dead = true
}

// begin gives the number of a call and the verdict on it; with an error, the call must not be made.
func (f *Faults) begin(op string) (int, Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.dead {
		return 0, Fail, ErrDead
	}
	f.mu.calls++
	n, v := f.mu.calls, Pass
	if f.mu.plan != nil {
		v = f.mu.plan(Call{N: n, Op: op})
	}
	switch v {
	case DieBefore:
		f.mu.dead = true
		return n, v, ErrDead
	case Fail:
		return n, v, ErrInjected
	case Full:
		f.full()
	case Depose:
		f.depose()
	}
	return n, v, nil
}

// delay is how long a call takes that is delayed, and how long one is kept back at most.
const delay = 2 * time.Millisecond

// wait takes the time of a call that is delayed or kept back, or until ctx ends.
func (f *Faults) wait(ctx context.Context, n int, v Verdict) {
	if v != Delay && v != Reorder {
		return
	}
	overtaken := make(chan struct{})
	if v == Reorder {
		f.mu.Lock()
		f.mu.held[n] = overtaken
		f.mu.Unlock()
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-overtaken:
	case <-timer.C:
	case <-ctx.Done():
	}
	f.mu.Lock()
	delete(f.mu.held, n)
	f.mu.Unlock()
}

// end lets those go that the call has overtaken, and gives the error of a call that was made, for its verdict.
func (f *Faults) end(n int, v Verdict, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for earlier, overtaken := range f.mu.held {
		if earlier < n {
			close(overtaken)
			delete(f.mu.held, earlier)
		}
	}
	switch v {
	case DieAfter:
		f.mu.dead = true
		return ErrDead
	case Hide:
		return errors.Join(consensus.ErrIndeterminate, ErrInjected)
	}
	return err
}

// Consensus puts the faults before a store.
func (f *Faults) Consensus(s consensus.Store) consensus.Store { return &faultyConsensus{f, s} }

// Blob puts the faults before a store.
func (f *Faults) Blob(s blob.Store) blob.Store { return &faultyBlob{f, s} }

type faultyConsensus struct {
	f *Faults
	s consensus.Store
}

// read makes a call that only reads: it is let through, or fails.
func read[T any](ctx context.Context, f *Faults, op string, call func() (T, error)) (T, error) {
	n, v, err := f.begin(op)
	if err == nil && (v == Lose || v == Hide) {
		err = ErrInjected
	}
	if err != nil {
		var none T
		return none, err
	}
	f.wait(ctx, n, v)
	out, err := call()
	return out, f.end(n, v, err)
}

// write makes a call that writes.
func write(ctx context.Context, f *Faults, op string, call func() error) error {
	n, v, err := f.begin(op)
	if err != nil {
		return err
	}
	if v == Lose {
		return errors.Join(consensus.ErrIndeterminate, ErrInjected)
	}
	f.wait(ctx, n, v)
	return f.end(n, v, call())
}

// Head implements consensus.Store.
func (c *faultyConsensus) Head(ctx context.Context, key string) (consensus.Versioned, error) {
	return read(ctx, c.f, "head", func() (consensus.Versioned, error) { return c.s.Head(ctx, key) })
}

// Scan implements consensus.Store.
func (c *faultyConsensus) Scan(ctx context.Context, key string, from consensus.Version, limit int) ([]consensus.Versioned, error) {
	return read(ctx, c.f, "scan", func() ([]consensus.Versioned, error) { return c.s.Scan(ctx, key, from, limit) })
}

// Commit implements consensus.Store.
func (c *faultyConsensus) Commit(ctx context.Context, units []consensus.Unit) (out []consensus.Outcome, err error) {
	err = write(ctx, c.f, "commit", func() (err error) {
		out, err = c.s.Commit(ctx, units)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Truncate implements consensus.Store.
func (c *faultyConsensus) Truncate(ctx context.Context, key string, before consensus.Version) error {
	return write(ctx, c.f, "truncate", func() error { return c.s.Truncate(ctx, key, before) })
}

// Keys implements consensus.Store.
func (c *faultyConsensus) Keys(ctx context.Context, prefix string) ([]string, error) {
	return read(ctx, c.f, "keys", func() ([]string, error) { return c.s.Keys(ctx, prefix) })
}

type faultyBlob struct {
	f *Faults
	s blob.Store
}

// Get implements blob.Store.
func (b *faultyBlob) Get(ctx context.Context, key string) ([]byte, error) {
	return read(ctx, b.f, "get", func() ([]byte, error) { return b.s.Get(ctx, key) })
}

// Put implements blob.Store.
func (b *faultyBlob) Put(ctx context.Context, key string, data []byte) error {
	return write(ctx, b.f, "put", func() error { return b.s.Put(ctx, key, data) })
}

// Delete implements blob.Store.
func (b *faultyBlob) Delete(ctx context.Context, key string) error {
	return write(ctx, b.f, "delete", func() error { return b.s.Delete(ctx, key) })
}

// List implements blob.Store.
func (b *faultyBlob) List(ctx context.Context, prefix string) ([]blob.Info, error) {
	return read(ctx, b.f, "list", func() ([]blob.Info, error) { return b.s.List(ctx, prefix) })
}
