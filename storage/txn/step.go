package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// step decides all requests of a batch, with one durable write if nothing interferes.
func (g *Group) step(batch []*request) {
	for len(batch) > 0 {
		batch = g.attempt(batch)
	}
}

// candidate is a request that was evaluated and is part of a Commit.
type candidate struct {
	request   *request
	evaluated shard.Evaluated
}

// attempt evaluates requests, commits, and gives those that must be evaluated again since another process has
// written meanwhile.
func (g *Group) attempt(batch []*request) (again []*request) {
	if err := g.Err(); err != nil {
		refuseAll(batch, err)
		return nil
	}
	units, mark := g.markUnit(batch)
	marks := len(units)
	var candidates []candidate
	var refused []*request
	step := g.client.NewStep()
	for _, r := range batch {
		r.out, r.err = Outcome{}, nil
		e, refusal, err := step.Add(r.token, r.unit.Ops)
		switch {
		case err != nil:
			r.err = err
		case refusal != nil:
			r.out.Refused = refusal
			refused = append(refused, r)
		default:
			candidates = append(candidates, candidate{r, e})
			units = append(units, g.unitOf(r, e))
		}
	}
	if len(candidates) == 0 && marks == 0 {
		return nil
	}
	if slices.ContainsFunc(candidates, func(c candidate) bool { return c.request.unit.Derived }) {
		g.metrics.viewCommits.Inc()
	}
	outcomes, err := g.commit(units)
	if err != nil {
		for _, c := range candidates {
			c.request.err = err
		}
		// What was refused may have been refused because of what did not happen.
		refuseAll(refused, err)
		return nil
	}
	if marks > 0 {
		if outcomes[0].Key == oracle.MarkKey {
			invariants.Failf("the oracle's mark is at version %d, not %d", outcomes[0].Head.Version, g.mark)
		}
		if outcomes[0].Done {
			g.mark++
			g.oracle.Renewed(mark)
			g.cutMarks()
		}
	}
	return g.conclude(candidates, outcomes[marks:], refused)
}

// marksKept is how many old marks are let be before they are cut off.
const marksKept = 256

// cutMarks now and then cuts old marks off their register. That it failed does no harm: the next one tries again.
func (g *Group) cutMarks() {
	if g.mark%marksKept != 0 {
		return
	}
	if err := g.consensus.Truncate(g.stop, oracle.MarkKey, g.mark); err != nil {
		g.log.Warn("old oracle marks could not be removed", "error", err)
	}
}

func refuseAll(batch []*request, err error) {
	for _, r := range batch {
		r.out, r.err = Outcome{}, err
	}
}

// markUnit gives the unit that renews the oracle's mark, if it is due, or leaves the last one.
func (g *Group) markUnit(batch []*request) (units []consensus.Unit, mark tvc.Time) {
	mark, due := g.oracle.Renewal()
	if slices.ContainsFunc(batch, func(r *request) bool { return r.unit.final }) {
		mark, due = g.oracle.Retire(), true
	}
	if !due {
		return nil, 0
	}
	return []consensus.Unit{{
		{Key: EpochKey, Expect: g.epoch},
		{Key: oracle.MarkKey, Expect: g.mark, Data: oracle.EncodeMark(mark)},
	}}, mark
}

// unitOf gives all that a request compares and writes.
func (g *Group) unitOf(r *request, e shard.Evaluated) consensus.Unit {
	unit := make(consensus.Unit, 0, 1+len(e.Entries)+len(r.unit.Registers))
	unit = append(unit, consensus.Entry{Key: EpochKey, Expect: g.epoch})
	unit = append(unit, e.Entries...)
	for _, reg := range r.unit.Registers {
		unit = append(unit, consensus.Entry(reg))
	}
	return unit
}

// conclude installs what was done, in order, and tells each request what became of it.
func (g *Group) conclude(candidates []candidate, outcomes []consensus.Outcome, refused []*request) (again []*request) {
	for i, c := range candidates {
		if outcomes[i].Done {
			g.client.Install(c.evaluated)
		}
	}
	// Only now is a shard read anew: what was read would have the entries of units that were done, after an unknown outcome
	// also of ones that come later than the one that was refused.
	for i, c := range candidates {
		o := outcomes[i]
		if !o.Done {
			g.metrics.refused.Inc()
		}
		switch {
		case o.Done:
		case o.Key == EpochKey:
			c.request.err = g.epochIs(o.Head.Version)
		case strings.HasPrefix(o.Key, shard.RegisterPrefix):
			id := shard.ID(strings.TrimPrefix(o.Key, shard.RegisterPrefix))
			if err := g.client.Refresh(g.stop, id); err != nil {
				c.request.err = err
				continue
			}
			again = append(again, c.request)
		default:
			c.request.out.Refused = &shard.Refusal{
				Op: len(c.request.unit.Ops), Reason: shard.VersionMismatch, Register: o.Key, Version: o.Head.Version}
		}
	}
	if len(again) > 0 || g.Err() != nil {
		again = append(again, refused...)
	}
	return again
}

// epochIs ends the group since the epoch's register is at another version than the one this process has made. It gives what
// that means: an epoch of the past is no other process's, but the registers are not those that this one has written.
func (g *Group) epochIs(now consensus.Version) error {
	err := ErrFenced
	if now < g.epoch {
		err = fmt.Errorf("%w: the register %s has gone back from version %d to %d", consensus.ErrCorrupt, EpochKey, g.epoch, now)
	}
	g.log.Error("the epoch has changed", "epoch", g.epoch, "now", now, "error", err)
	g.fail(err)
	return err
}

// CheckEpoch fails the group if another process has taken over, which else only the next write or read would notice. It
// reads, and writes nothing. What it cannot find out it leaves to the next time.
func (g *Group) CheckEpoch(ctx context.Context) error {
	head, err := g.consensus.Head(ctx, EpochKey)
	if err != nil {
		return err
	}
	if head.Version != g.epoch && g.Err() == nil {
		return g.epochIs(head.Version)
	}
	return g.Err()
}

// commit writes units durably and gives their outcomes, settling an unknown one. An error means that nothing
// happened, except ErrIndeterminate.
func (g *Group) commit(units []consensus.Unit) ([]consensus.Outcome, error) {
	began := g.metrics.began()
	out, err := g.consensus.Commit(g.stop, units)
	g.took = g.metrics.committed(len(units), began, err)
	if err == nil {
		return out, nil
	}
	if !errors.Is(err, consensus.ErrIndeterminate) {
		g.checkBroken(err)
		return nil, fmt.Errorf("commit: %w", err)
	}
	g.log.Warn("outcome of a commit is unknown", "units", len(units), "error", err)
	return g.settle(units, err)
}

// checkBroken ends the group when the store says that it can do nothing any more.
func (g *Group) checkBroken(err error) {
	if errors.Is(err, consensus.ErrBroken) {
		g.log.Error("the consensus store is broken", "error", err)
		g.fail(err)
	}
}

// The pause between attempts to settle doubles from the first to the last.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// settle finds out what became of units whose outcome is unknown. It commits the very same units again: a
// unit that had not happened happens now or is refused, and then it never will, since the registers have moved on;
// one that had happened is refused, and its entries are found where they would have to be.
func (g *Group) settle(units []consensus.Unit, cause error) ([]consensus.Outcome, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		g.metrics.settling()
		out, err := g.consensus.Commit(g.stop, units)
		if err == nil {
			err = g.findDone(units, out)
		}
		if err == nil {
			return out, nil
		}
		g.checkBroken(err)
		if errors.Is(err, consensus.ErrCorrupt) {
			// Damage does not pass.
			g.fail(err)
		}
		if errors.Is(err, consensus.ErrBroken) || errors.Is(err, consensus.ErrCorrupt) || g.stop.Err() != nil {
			return nil, fmt.Errorf("commit: %w: %w", consensus.ErrIndeterminate, errors.Join(cause, err))
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-g.stop.Done():
			timer.Stop()
		}
	}
}

// findDone turns refusals of units that have happened before into what they are: done.
func (g *Group) findDone(units []consensus.Unit, out []consensus.Outcome) error {
	for i, u := range units {
		if out[i].Done {
			continue
		}
		done, written := 0, 0
		for _, e := range u {
			if e.Data == nil {
				continue
			}
			written++
			there, err := g.consensus.Scan(g.stop, e.Key, e.Expect+1, 1)
			if err != nil {
				return err
			}
			if len(there) == 1 && there[0].Version == e.Expect+1 && bytes.Equal(there[0].Data, e.Data) {
				done++
			}
		}
		switch {
		case done == 0:
		case done == written:
			out[i] = consensus.Outcome{Done: true}
		default:
			invariants.Failf("%d of %d entries of a unit are there", done, written)
		}
	}
	return nil
}
