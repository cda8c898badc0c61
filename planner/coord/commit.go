package coord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// maxAhead is how far write times may run ahead of the clock before the line waits and gathers more.
const maxAhead = 100 * time.Millisecond

// maxGroup bounds the transactions that become one unit.
const maxGroup = 1024

// commitLine is where writes stand: whoever comes while nobody leads, leads; the others' transactions
// gather behind it and go together, at one time, in one unit.
type commitLine struct {
	mu struct {
		sync.Mutex
		queue   []*pendingCommit
		leading bool
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
	done   chan struct{}
	at     tvc.Time
	err    error
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
// written is used up, unless the error is txn.ErrIndeterminate.
func (c *Coord) commitWrites(p *pendingCommit) (tvc.Time, error) {
	l := &c.commit
	p.done = make(chan struct{})
	l.mu.Lock()
	l.mu.queue = append(l.mu.queue, p)
	lead := !l.mu.leading
	l.mu.leading = true
	l.mu.Unlock()
	if lead {
		c.lead(p)
	}
	<-p.done
	return p.at, p.err
}

// lead commits groups until p is done, and then hands the line on.
func (c *Coord) lead(p *pendingCommit) {
	l := &c.commit
	for {
		l.mu.Lock()
		n := min(len(l.mu.queue), maxGroup)
		group := l.mu.queue[:n:n]
		l.mu.queue = l.mu.queue[n:]
		if n == 0 {
			l.mu.leading = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		c.commitGroup(group)
		select {
		case <-p.done:
			// The leader has an answer to give; another may lead.
			if next := l.successor(); next != nil {
				go c.lead(next)
			}
			return
		default:
		}
	}
}

// successor gives a transaction that waits, to lead; with none the line is left without a leader.
func (l *commitLine) successor() *pendingCommit {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.mu.queue) == 0 {
		l.mu.leading = false
		return nil
	}
	return l.mu.queue[0]
}

// commitGroup commits some transactions at one time, all in one unit; if that is refused, each by itself.
func (c *Coord) commitGroup(group []*pendingCommit) {
	if ahead := c.oracle.Ahead(); ahead > maxAhead {
		_ = sleep(context.Background(), tvc.Time((ahead - maxAhead).Microseconds()))
	}
	refused := c.tryGroup(group)
	for _, p := range refused {
		if again := c.tryGroup([]*pendingCommit{p}); len(again) > 0 {
			c.fail(p, p.err)
		}
	}
}

// tryGroup answers every transaction of the group but those that it gives back: their unit was refused.
func (c *Coord) tryGroup(group []*pendingCommit) (refused []*pendingCommit) {
	t := c.oracle.WriteTime()
	going, ops := c.admit(group, t)
	if len(going) == 0 {
		c.oracle.Forget(t)
		return nil
	}
	out, err := c.set.Group().Do(context.Background(), txn.Unit{Ops: ops})
	switch {
	case err != nil:
		if !errors.Is(err, txn.ErrIndeterminate) {
			c.oracle.Forget(t)
		}
		for _, p := range going {
			c.fail(p, storeError(err))
		}
		return nil
	case !out.Done():
		c.oracle.Forget(t)
		for _, p := range going {
			p.err = refusedError(p, out.Refused)
		}
		return going
	}
	tables := c.commit.wrote(going, t)
	err = c.oracle.ApplyWrite(context.Background(), t)
	c.control.Applied(tables...)
	for _, p := range going {
		p.at, p.err = t, err
		close(p.done)
	}
	return nil
}

// admit checks what the transactions have read, each also against those before it in the group, and gives
// those that may go, with what they append. The others are answered.
func (c *Coord) admit(group []*pendingCommit, t tvc.Time) (going []*pendingCommit, ops []shard.Op) {
	l := &c.commit
	l.mu.Lock()
	defer l.mu.Unlock()
	writing := map[tvc.ID]*shard.Append{}
	var order []tvc.ID
	for _, p := range group {
		if err := l.conflict(p, func(id tvc.ID) bool { return writing[id] != nil }); err != nil {
			c.fail(p, err)
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

// wrote notes the time of a group's writes and gives the tables that were written.
func (l *commitLine) wrote(group []*pendingCommit, t tvc.Time) (tables []tvc.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range group {
		for _, w := range p.writes {
			if l.mu.last[w.id] != t {
				l.mu.last[w.id] = t
				tables = append(tables, w.id)
			}
		}
	}
	return tables
}

// fail answers a transaction with an error and drops what it had written.
func (c *Coord) fail(p *pendingCommit, err error) {
	if !errors.Is(err, txn.ErrIndeterminate) {
		for _, w := range p.writes {
			w.written.Discard(context.WithoutCancel(p.ctx))
		}
	}
	p.err = err
	close(p.done)
}

// refusedError is what the client of a refused transaction is told.
func refusedError(p *pendingCommit, r *shard.Refusal) error {
	if r.Reason == shard.Sealed {
		for _, w := range p.writes {
			if w.shard.ID() == r.Shard {
				return pgerr.Newf(pgerr.UndefinedTable, "table %q was dropped", w.name)
			}
		}
	}
	return pgerr.Newf(pgerr.SerializationFailure, "could not commit: %v", r).WithHint("Run the transaction again.")
}

// storeError is what a client is told of the store's failure.
func storeError(err error) error {
	switch {
	case errors.Is(err, txn.ErrFenced):
		return pgerr.New(pgerr.AdminShutdown, "another server has taken over this data; this one can write nothing any more")
	case errors.Is(err, txn.ErrIndeterminate):
		return fmt.Errorf("%w: %w", pgerr.New(pgerr.IOError, "it is not known whether the change was made"), err)
	}
	return err
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
