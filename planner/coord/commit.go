package coord

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// maxAhead is how far write times may run ahead of the clock before the line waits and gathers more.
const maxAhead = 100 * time.Millisecond

// clockSetBack is how far the times given out may be ahead of the clock by themselves: after a crash they begin less than that
// ahead. When it is more, the clock was set back, and to wait for it could take hours.
const clockSetBack = time.Second

// maxGroup bounds the transactions that become one unit.
const maxGroup = 1024

// commitLine is where writes stand: whoever comes while nobody leads, leads; the others' transactions
// gather behind it and go together, at one time, in one unit. Then the first of those who wait leads. It owns no
// goroutine: one of the callers leads each group.
type commitLine struct {
	// setBack says that the clock was behind when the last group went, which was logged; only the leader touches it.
	setBack bool

	mu struct {
		sync.Mutex
		queue []*pendingCommit
		// leader is who commits a group, or has been told to; nil when nothing is to do.
		leader *pendingCommit
		// last is the time of the last write to each table.
		last map[tvc.ID]tvc.Time
	}
}

// pendingCommit is a transaction in the line.
type pendingCommit struct {
	ctx    context.Context
	writes []tableWrite
	reads  []tvc.ID
	readAt tvc.Time
	// lead has a word when the transaction, the first in line, is to lead.
	lead chan struct{}
	// done is closed when there is an answer.
	done chan struct{}
	at   tvc.Time
	err  error
}

// tableWrite is what a transaction writes to one table.
type tableWrite struct {
	id      tvc.ID
	name    string
	shard   *shard.Shard
	written *shard.Written
}

// opened makes a table known to the line.
func (l *commitLine) opened(id tvc.ID, upper tvc.Frontier) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.last == nil {
		l.mu.last = map[tvc.ID]tvc.Time{}
	}
	if upper > 0 {
		l.mu.last[id] = upper.Last()
	}
}

func (l *commitLine) forget(id tvc.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.mu.last, id)
}

// commitWrites puts a transaction in the line and gives the time at which it was committed. What was
// written is used up, unless the error is txn.ErrIndeterminate. Until its unit is sent it can be cancelled.
func (c *Coord) commitWrites(p *pendingCommit) (tvc.Time, error) {
	p.lead, p.done = make(chan struct{}, 1), make(chan struct{})
	if c.commit.enter(p) {
		c.lead()
		return p.at, p.err
	}
	select {
	case <-p.done:
	case <-p.lead:
		c.lead()
	case <-p.ctx.Done():
		if c.commit.withdraw(p) {
			c.refuse(p, context.Cause(p.ctx))
		}
		<-p.done
	}
	return p.at, p.err
}

// enter puts p in line and says whether it is to lead.
func (l *commitLine) enter(p *pendingCommit) (lead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.queue = append(l.mu.queue, p)
	if l.mu.leader != nil {
		return false
	}
	l.mu.leader = p
	return true
}

// withdraw takes p out of the line, unless it is in a group already.
func (l *commitLine) withdraw(p *pendingCommit) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.mu.queue, p)
	if at < 0 {
		return false
	}
	l.mu.queue = slices.Delete(l.mu.queue, at, at+1)
	if l.mu.leader == p {
		l.handOverLocked()
	}
	return true
}

// take takes those who go together next.
func (l *commitLine) take() []*pendingCommit {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.mu.queue), maxGroup)
	group := l.mu.queue[:n:n]
	l.mu.queue = slices.Clone(l.mu.queue[n:])
	return group
}

// handOverLocked tells the first in line to lead.
func (l *commitLine) handOverLocked() {
	l.mu.leader = nil
	if len(l.mu.queue) > 0 {
		l.mu.leader = l.mu.queue[0]
		l.mu.leader.lead <- struct{}{}
	}
}

// errFault is what everybody in a group gets whose leader has panicked.
var errFault = pgerr.New(pgerr.InternalError, "the server has stopped committing after a fault of its own")

// lead commits the group that the first in line, who calls it, is in, and has the next one lead.
func (c *Coord) lead() {
	group := c.commit.take()
	finished := false
	defer func() {
		if !finished {
			// That is a fault of ours. What has become of the group is not known, and nobody may wait for ever.
			c.o.Log.Error("a group of transactions was not committed because of a fault", "transactions", len(group))
			c.set.Group().Stop()
			for _, p := range group {
				select {
				case <-p.done:
				default:
					c.answer(p, 0, errFault)
				}
			}
		}
		c.commit.mu.Lock()
		defer c.commit.mu.Unlock()
		c.commit.handOverLocked()
	}()
	c.commitGroup(group)
	finished = true
}

// commitGroup commits some transactions at one time, all in one unit; if that is refused, each by itself.
func (c *Coord) commitGroup(group []*pendingCommit) {
	c.keepToClock()
	refused := c.tryGroup(group)
	for _, p := range refused {
		if again := c.tryGroup([]*pendingCommit{p}); len(again) > 0 {
			c.refuse(p, p.err)
		}
	}
}

// keepToClock waits until the times given out are near the clock again, if they run ahead of it. If the clock was set back, they
// go on from the last one, a microsecond a write, until it has caught up.
func (c *Coord) keepToClock() {
	ahead := c.oracle.Ahead()
	before := c.commit.setBack
	c.commit.setBack = ahead > clockSetBack
	switch {
	case c.commit.setBack && !before:
		c.o.Log.Warn("the clock was set back: times stand still but for writes until it has caught up", "behind", ahead)
	case !c.commit.setBack && ahead > maxAhead:
		_ = sleep(context.Background(), tvc.Time((ahead - maxAhead).Microseconds()))
	}
}

// tryGroup answers every transaction of the group but those that it gives back: their unit was refused.
func (c *Coord) tryGroup(group []*pendingCommit) (refused []*pendingCommit) {
	t := c.oracle.WriteTime()
	going, ops := c.admit(group, t)
	if len(going) == 0 {
		c.forgetTime(t)
		return nil
	}
	out, err := c.set.Group().Do(context.Background(), txn.Unit{Ops: ops})
	switch {
	case errors.Is(err, txn.ErrIndeterminate):
		for _, p := range going {
			c.answer(p, 0, c.storeError(err))
		}
		return nil
	case err != nil:
		c.forgetTime(t)
		for _, p := range going {
			c.refuse(p, c.storeError(err))
		}
		return nil
	case !out.Done():
		c.forgetTime(t)
		for _, p := range going {
			p.err = refusedError(p, out.Refused)
		}
		return going
	}
	c.commit.wrote(going, t)
	err = c.applyTime(t)
	for _, p := range going {
		c.answer(p, t, err)
	}
	return nil
}

// applyTime says that the write at t is durable; when it returns nil every read sees it.
func (c *Coord) applyTime(t tvc.Time) error {
	err := c.oracle.ApplyWrite(context.Background(), t)
	c.control.Applied()
	return err
}

// forgetTime says that there is no write at t.
func (c *Coord) forgetTime(t tvc.Time) {
	c.oracle.Forget(t)
	c.control.Applied()
}

// admit checks what the transactions have read, each also against those before it in the group, and gives
// those that may go, with what they append. The others are answered, also those that were cancelled.
func (c *Coord) admit(group []*pendingCommit, t tvc.Time) (going []*pendingCommit, ops []shard.Op) {
	l := &c.commit
	l.mu.Lock()
	defer l.mu.Unlock()
	writing := map[tvc.ID]*shard.Append{}
	var order []tvc.ID
	for _, p := range group {
		err := context.Cause(p.ctx)
		if err == nil {
			err = l.conflict(p, func(id tvc.ID) bool { return writing[id] != nil })
		}
		if err != nil {
			c.refuse(p, err)
			continue
		}
		going = append(going, p)
		for _, w := range p.writes {
			a := writing[w.id]
			if a == nil {
				a = &shard.Append{Shard: w.shard, AnyLower: true, Upper: tvc.After(t)}
				writing[w.id] = a
				order = append(order, w.id)
			}
			a.Written = append(a.Written, w.written)
		}
	}
	for _, id := range order {
		ops = append(ops, *writing[id])
	}
	return going, ops
}

// conflict says whether something that p has read was changed since. The line's lock is held.
func (l *commitLine) conflict(p *pendingCommit, writing func(tvc.ID) bool) error {
	for _, id := range p.reads {
		if writing(id) || l.mu.last[id] > p.readAt {
			return pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent update").
				WithHint("Run the transaction again.")
		}
	}
	return nil
}

// wrote notes the time of a group's writes.
func (l *commitLine) wrote(group []*pendingCommit, t tvc.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range group {
		for _, w := range p.writes {
			l.mu.last[w.id] = t
		}
	}
}

// refuse answers a transaction that determinately did not happen, and drops what it had written.
func (c *Coord) refuse(p *pendingCommit, err error) {
	for _, w := range p.writes {
		w.written.Discard(context.WithoutCancel(p.ctx))
	}
	c.answer(p, 0, err)
}

func (c *Coord) answer(p *pendingCommit, at tvc.Time, err error) {
	p.at, p.err = at, err
	close(p.done)
}

// refusedError is what the client of a refused transaction is told.
func refusedError(p *pendingCommit, r *shard.Refusal) error {
	if r.Reason == shard.Sealed {
		for _, w := range p.writes {
			if w.shard.ID() == r.Shard {
				return droppedError(w.name)
			}
		}
	}
	return pgerr.Newf(pgerr.SerializationFailure, "could not commit: %v", r).WithHint("Run the transaction again.")
}

// droppedError is what who reads or writes a relation is told when it is gone.
func droppedError(name string) error {
	return pgerr.Newf(pgerr.UndefinedTable, "relation %q does not exist", name).WithDetail("It has just been dropped.")
}

// sleep waits for some microseconds of the clock.
func sleep(ctx context.Context, micros tvc.Time) error {
	t := time.NewTimer(time.Duration(micros) * time.Microsecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
