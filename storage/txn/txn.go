// Package txn is a process's one line to the consensus store: units of operations on shards and registers,
// each done at once and in full or not at all, many sharing one durable write.
//
// Promises:
//
//	T1  the units of a step are evaluated in the order they came, clients' before background ones; a later
//	    one sees what earlier ones of the step do.
//	T2  everything that is ready when a step is formed shares one Commit, up to 1 MiB. After a shared step others that
//	    can run are let in first. Derived units wait for those that were announced (Expect) as long as in each time that a
//	    Commit takes one comes, and at most ten milliseconds before each Commit, unless a client's unit is in line, or enough
//	    for a Commit.
//	T3  every unit compares the environment's epoch. When another process has raised it, Do gives ErrFenced
//	    and goes on doing so.
//	T4  states are installed and watchers woken only when durable.
//	T5  after an unknown outcome nothing else is tried until it is settled, by looking whether the very
//	    entries of each unit are in their registers.
//	T6  the oracle's mark rides along, so that no time that is given out lies beyond a durable mark.
//
// Group is safe for concurrent use. It owns no goroutine: one of the callers leads each step.
package txn

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
)

// ErrFenced says that another process has taken over this environment: this one can write nothing any more.
var ErrFenced = errors.New("another process has taken over this environment")

// ErrIndeterminate says that a unit may or may not have happened.
var ErrIndeterminate = consensus.ErrIndeterminate

// ErrClosed says that the group has been closed.
var ErrClosed = errors.New("storage is closed")

// EpochKey is the key of the register whose version is the environment's epoch.
const EpochKey = "epoch"

// Register is a claim on a register of the environment that is not a shard: that it is at version Expect, and
// Data as its new entry (nil: only compare).
type Register struct {
	Key    string
	Expect consensus.Version
	Data   []byte
}

// Unit is operations that happen all or not at all, evaluated in order.
type Unit struct {
	Ops       []shard.Op
	Registers []Register
	// Background lets units of clients go first.
	Background bool
	// Derived says that the unit follows from what others have written, as a view's append does: it may wait for announced
	// ones.
	Derived bool
	// Announced is what Expect gave for the unit: that it is in line meets that. 0: nobody announced it.
	Announced Announcement
	// final leaves the oracle's last mark behind.
	final bool
}

// Outcome is what became of a unit that was decided.
type Outcome struct {
	// Refused is nil if the unit was done.
	Refused *shard.Refusal
}

// Done says whether the unit happened.
func (o Outcome) Done() bool { return o.Refused == nil }

// Options is what a Group stands on.
type Options struct {
	Consensus consensus.Store
	Client    *shard.Client
	Oracle    *oracle.Oracle
	// Epoch is the version of the epoch's register that this process has made.
	Epoch consensus.Version
	// Mark is the version of the register of the oracle's mark.
	Mark consensus.Version
	// Registry takes the metrics; it may not be nil.
	Registry Registry
	// Log takes what only an operator can act on; nil means slog.Default().
	Log *slog.Logger
}

// Group is the line.
type Group struct {
	consensus consensus.Store
	client    *shard.Client
	oracle    *oracle.Oracle
	epoch     consensus.Version
	log       *slog.Logger
	metrics   *metrics

	// stop ends the attempts to settle an unknown outcome.
	stop    context.Context
	stopNow context.CancelFunc
	// failed is closed when the group can do nothing any more.
	failed chan struct{}

	// mark is the version of the mark's register; only the leader touches it.
	mark consensus.Version
	// shared is how many units the last step had; only the leader touches it.
	shared int
	// took is how long the last commit took; only the leader touches it.
	took time.Duration

	mu struct {
		sync.Mutex
		clients, background []*request
		// leader is who forms the steps, or has been told to; nil when nothing is to do.
		leader *request
		// expected counts the announced units that are not in line, with the announcement that is given out now; with an
		// older one they were late. wait is the leader's for them; nil if it does not wait.
		expected     int
		announcement Announcement
		wait         *wait
		err          error
	}
}

// request is a unit that waits in line.
type request struct {
	unit  Unit
	token shard.Token
	// told has room for one word: true is "lead", false is "you are done".
	told chan bool
	// queued is guarded by the group's lock.
	queued bool
	out    Outcome
	err    error
}

// NewGroup makes the line.
func NewGroup(o Options) *Group {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	g := &Group{
		consensus: o.Consensus, client: o.Client, oracle: o.Oracle, epoch: o.Epoch, mark: o.Mark, log: o.Log,
		metrics: newMetrics(o.Registry), failed: make(chan struct{}),
	}
	g.mu.announcement = 1
	g.stop, g.stopNow = context.WithCancel(context.Background())
	return g
}

// Do makes a unit happen, durably. An error means that it did not happen, except ErrIndeterminate,
// which Do gives only when the group ends before an unknown outcome could be settled. Once the unit is being
// written, or is the first of those that wait for announced ones, Do waits for the outcome even if ctx ends.
func (g *Group) Do(ctx context.Context, u Unit) (Outcome, error) {
	out, err := g.do(ctx, u)
	g.metrics.ended(u.Ops, out, err)
	return out, err
}

func (g *Group) do(ctx context.Context, u Unit) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		g.Met(u.Announced)
		return Outcome{}, err
	}
	r := &request{unit: u, token: g.client.Token(), told: make(chan bool, 1)}
	lead, err := g.enter(r)
	if err != nil {
		return Outcome{}, err
	}
	if !lead {
		select {
		case lead = <-r.told:
		case <-ctx.Done():
			if g.withdraw(r) {
				return Outcome{}, ctx.Err()
			}
			lead = <-r.told
		}
	}
	if lead {
		g.lead(r)
	}
	return r.out, r.err
}

// Renew makes the oracle's mark durable, if it is due.
func (g *Group) Renew(ctx context.Context) error {
	_, err := g.Do(ctx, Unit{})
	return err
}

// Register reads a register's head.
func (g *Group) Register(ctx context.Context, key string) (consensus.Versioned, error) {
	return g.consensus.Head(ctx, key)
}

// Failed is closed when the group can do nothing any more, which Err explains: it was fenced, or the store broke.
// The process should end then.
func (g *Group) Failed() <-chan struct{} { return g.failed }

// Err is why the group can do nothing any more; nil while it can.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.err
}

// Stop lets nobody in any more and gives up on outcomes that are unknown.
func (g *Group) Stop() {
	g.fail(ErrClosed)
	g.stopNow()
}

// Close leaves the oracle's mark where the next process can begin, and then lets nobody in any more: what is in line
// gets ErrClosed. When it returns, nothing is being written.
func (g *Group) Close(ctx context.Context) error {
	_, err := g.Do(ctx, Unit{final: true})
	g.Stop()
	if errors.Is(err, ErrFenced) || errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// Waiting counts the units that stand in line.
func (g *Group) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.mu.clients) + len(g.mu.background)
}

// fail makes every further Do give err.
func (g *Group) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.err == nil {
		g.mu.err = err
		close(g.failed)
		g.goOnLocked()
	}
}

// enter puts r in line and says whether it is to lead.
func (g *Group) enter(r *request) (lead bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.metLocked(r.unit.Announced)
	if g.mu.err != nil {
		return false, g.mu.err
	}
	r.queued = true
	if r.unit.Background {
		g.mu.background = append(g.mu.background, r)
	} else {
		g.mu.clients = append(g.mu.clients, r)
	}
	g.cameLocked(r)
	if g.mu.leader != nil {
		return false, nil
	}
	g.mu.leader = r
	return true, nil
}

// withdraw takes r out of the line, unless it is in a step already.
func (g *Group) withdraw(r *request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !r.queued {
		return false
	}
	g.mu.clients = without(g.mu.clients, r)
	g.mu.background = without(g.mu.background, r)
	g.leftLocked(r)
	if g.mu.leader == r {
		g.handOverLocked()
	}
	return true
}

func without(queue []*request, r *request) []*request {
	for i, q := range queue {
		if q == r {
			return append(queue[:i:i], queue[i+1:]...)
		}
	}
	return queue
}

// lead forms steps until r is done, then has somebody else lead who waits.
func (g *Group) lead(r *request) {
	var batch []*request
	finished := false
	defer func() {
		if !finished {
			// A step has panicked: that is a fault of ours, and nobody may wait for ever because of it.
			g.abandon(r, batch)
		}
	}()
	for own := false; !own; {
		g.await()
		g.gather()
		batch = g.take()
		g.shared = len(batch)
		g.step(batch)
		for _, b := range batch {
			if b == r {
				own = true
			} else {
				b.told <- false
			}
		}
	}
	finished = true
	g.mu.Lock()
	defer g.mu.Unlock()
	g.handOverLocked()
}

// gather lets goroutines that can run come in before a step is formed, if the last one was shared: those that wrote together
// were told of it together and write again together, and the first to run would go alone, with few processors many
// after it too. Who writes alone goes at once. It yields until twice nobody has come, since now and then the scheduler lets
// who has yielded run before all others.
func (g *Group) gather() {
	if g.shared < 2 {
		return
	}
	for alone := 0; alone < 2; {
		before := g.Waiting()
		runtime.Gosched()
		if alone++; g.Waiting() > before {
			alone = 0
		}
	}
}

// errFault is what everybody gets once a step has panicked.
var errFault = errors.New("storage stopped after a fault of its own")

// abandon ends the group while r led it with a batch at hand.
func (g *Group) abandon(r *request, batch []*request) {
	g.fail(errFault)
	g.mu.Lock()
	defer g.mu.Unlock()
	batch = append(append(batch, g.mu.clients...), g.mu.background...)
	g.mu.clients, g.mu.background, g.mu.leader = nil, nil, nil
	for _, b := range batch {
		if b != r {
			b.queued = false
			b.out, b.err = Outcome{}, errFault
			b.told <- false
		}
	}
}

// handOverLocked tells the first in line to lead.
func (g *Group) handOverLocked() {
	g.mu.leader = nil
	for _, queue := range [][]*request{g.mu.clients, g.mu.background} {
		if len(queue) > 0 {
			g.mu.leader = queue[0]
			queue[0].told <- true
			return
		}
	}
}

// stepMax bounds the bytes of a step, so that a client's small commit does not wait for a large write. A unit that
// is larger goes alone.
const stepMax = 1 << 20

// take takes what goes into the next step: clients first, then background, of which at least one is always taken
// lest it wait for ever. How large a unit is, is not known before it is evaluated; its data is.
func (g *Group) take() []*request {
	g.mu.Lock()
	defer g.mu.Unlock()
	var batch []*request
	size := 0
	fill := func(queue []*request, least int) []*request {
		n := 0
		for n < len(queue) && (n < least || size+queue[n].size() <= stepMax) {
			size += queue[n].size()
			queue[n].queued = false
			n++
		}
		batch = append(batch, queue[:n]...)
		return append([]*request(nil), queue[n:]...)
	}
	g.mu.clients = fill(g.mu.clients, 1)
	g.mu.background = fill(g.mu.background, 1)
	return batch
}

// size is about how many bytes a request will write.
func (r *request) size() int {
	n := 0
	for _, op := range r.unit.Ops {
		n += 100
		if a, ok := op.(shard.Append); ok {
			n += a.InlineBytes()
		}
	}
	for _, reg := range r.unit.Registers {
		n += len(reg.Key) + len(reg.Data)
	}
	return n
}
