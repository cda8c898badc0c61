package shard

import (
	"context"
	"errors"
	"fmt"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Submit makes an operation happen, as a unit of its own (txn.Group.Do).
type Submit func(ctx context.Context, op Op) (*Refusal, error)

// Maintain does the small things there are to do for the shard: delete objects nobody can reach, write a rollup
// and cut the register. It says whether batches want to be merged (Compact). Only one call at a time works on a
// shard; another one waits.
func (s *Shard) Maintain(ctx context.Context, submit Submit) (compact bool, err error) {
	s.maintaining.Lock()
	defer s.maintaining.Unlock()
	for _, d := range s.deletable() {
		s.client.delete(ctx, d.key)
	}
	st := s.current()
	if st.sealed {
		return false, s.finish(ctx, st)
	}
	if st.rollupDue() {
		if err := s.writeRollup(ctx, submit); err != nil {
			return false, err
		}
	}
	if _, _, _, compact = s.toCompact(); compact {
		s.client.metrics.CompactionsRequested.Inc()
	}
	return compact, nil
}

// finish cuts a sealed shard's register down to what says that it is sealed, and forgets the handle once nobody
// reads the shard any more.
func (s *Shard) finish(ctx context.Context, st *state) error {
	if err := s.cut(ctx, st.version); err != nil {
		return err
	}
	s.mu.Lock()
	idle := len(s.mu.dead) == 0 && len(s.mu.pins) == 0
	s.mu.Unlock()
	if idle {
		s.client.release(s)
	}
	return nil
}

// toCompact says which batches are to be merged, if any, and where since goes with that.
func (s *Shard) toCompact() (first, last uint64, since tvc.Frontier, ok bool) {
	st := s.current()
	if st.sealed {
		return 0, 0, 0, false
	}
	since = sinceFor(st.since, st.upper, s.boundOf())
	from, to, ok := st.plan(since)
	if !ok {
		return 0, 0, 0, false
	}
	return st.batches[from].id, st.batches[to-1].id, since, true
}

// Compact merges the batches that most want it, and says whether there may be more to merge. It takes as long as
// reading and writing them. Only one call at a time works on a shard; another one waits.
func (s *Shard) Compact(ctx context.Context, submit Submit) (more bool, err error) {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	first, last, since, ok := s.toCompact()
	if !ok {
		s.client.metrics.NothingToCompact()
		return false, nil
	}
	return true, s.compact(ctx, submit, first, last, since)
}

// boundOf is how far since may go, nil if nothing was said of that. A shard that is yet to be made is nil.
func (s *Shard) boundOf() func(tvc.Frontier) tvc.Frontier {
	if s == nil {
		return nil
	}
	if b := s.bound.Load(); b != nil {
		return *b
	}
	return nil
}

// writeRollup puts the whole state as an object, has the state name it, and then cuts off what of the register it
// makes superfluous. A crash in between leaves a register that is longer than it need be.
func (s *Shard) writeRollup(ctx context.Context, submit Submit) error {
	st := s.current()
	data := encodeRollup(st)
	r := rollupRef{version: st.version, object: s.client.newObject(), size: int64(len(data))}
	key := rollupKey(s.id, r.object)
	if err := s.put(ctx, key, data, OriginRollup); err != nil {
		return err
	}
	refusal, err := submit(ctx, setRollup{sh: s, rollup: r})
	if err != nil {
		if !errors.Is(err, consensus.ErrIndeterminate) {
			s.client.delete(ctx, key)
		}
		return fmt.Errorf("name rollup of shard %s: %w", s.id, err)
	}
	if refusal != nil {
		s.client.delete(ctx, key)
		return nil
	}
	return s.cut(ctx, r.version+1)
}

// cut removes the register's entries before a version.
func (s *Shard) cut(ctx context.Context, before consensus.Version) error {
	if err := s.client.consensus.Truncate(ctx, RegisterKey(s.id), before); err != nil {
		return fmt.Errorf("truncate register of shard %s: %w", s.id, err)
	}
	return nil
}

// mergeWidth is how many runs are merged at once: each holds an object in memory. More are merged in several
// passes.
const mergeWidth = 16

// CompactAll merges all batches that are settled into one, and all others into another, whether or not that is worth it:
// what an operator may ask for before a backup.
func (s *Shard) CompactAll(ctx context.Context, submit Submit) error {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	st := s.current()
	if st.sealed {
		return nil
	}
	since := sinceFor(st.since, st.upper, s.boundOf())
	settled := st.settled(since)
	for _, zone := range [][]*batch{st.batches[:settled], st.batches[settled:]} {
		if len(zone) == 0 {
			continue
		}
		if err := s.compact(ctx, submit, zone[0].id, zone[len(zone)-1].id, since); err != nil {
			return err
		}
	}
	return nil
}

// compact merges the batches with ids first to last into one run, with times moved to since.
func (s *Shard) compact(ctx context.Context, submit Submit, first, last uint64, since tvc.Frontier) error {
	st := s.pin()
	defer s.unpin(st)
	from, to, ok := st.find(first, last)
	if !ok {
		s.client.metrics.NothingToCompact()
		return nil
	}
	old := st.batches[from:to]
	s.merging.Store(int64(len(old)))
	defer s.merging.Store(0)
	outcome := "failed"
	ended := s.client.metrics.Compacting()
	defer func() { ended(outcome) }()
	m := &compaction{sh: s, since: since, scan: &Scan{
		sh: s, state: st, schema: st.schema(), kinds: st.schema().Kinds(), batches: old,
		to: tvc.Done, timed: old[len(old)-1].upper > since+1,
	}}
	written, err := m.run(ctx)
	// What intermediate passes have put is of no use in either case.
	for _, w := range m.between {
		w.Discard(ctx)
	}
	if err != nil {
		return fmt.Errorf("compact shard %s: %w", s.id, err)
	}
	if err := written.check(old); err != nil {
		written.Discard(ctx)
		return err
	}
	refusal, err := submit(ctx, replace{sh: s, first: first, last: last, since: since, written: written})
	switch {
	case errors.Is(err, consensus.ErrIndeterminate):
		// Perhaps the state names the objects now; if not, the next process sweeps them.
		return fmt.Errorf("compact shard %s: %w", s.id, err)
	case err != nil:
		written.Discard(ctx)
		return fmt.Errorf("compact shard %s: %w", s.id, err)
	case refusal != nil:
		outcome = "refused"
		written.Discard(ctx)
		return nil
	}
	outcome = "applied"
	s.client.metrics.CompactedRows.Add(float64(written.totals.Rows))
	return nil
}

// check proves that what a compaction has written is what the batches were.
func (w *Written) check(old []*batch) error {
	var was Totals
	for _, b := range old {
		was = was.Add(b.totals)
	}
	if w.totals.DiffSum != was.DiffSum || w.totals.Fingerprint != was.Fingerprint {
		return fmt.Errorf("%w: merged, batches of shard %s have Σdiff %d and fingerprint %v, the state says %d and %v",
			ErrCorrupt, w.sh.id, w.totals.DiffSum, w.totals.Fingerprint, was.DiffSum, was.Fingerprint)
	}
	return nil
}

// compaction is one compaction at work.
type compaction struct {
	sh    *Shard
	scan  *Scan
	since tvc.Frontier
	// between are the results of passes that are merged again.
	between []*Written
}

func (m *compaction) run(ctx context.Context) (*Written, error) {
	runs, err := m.scan.runs(ctx)
	if err != nil {
		return nil, err
	}
	for len(runs) > mergeWidth {
		w, err := m.merge(ctx, runs[:mergeWidth], WriterOptions{InlineMax: -1})
		if err != nil {
			return nil, err
		}
		m.between = append(m.between, w)
		runs = runs[mergeWidth:]
		if len(w.runs) > 0 {
			runs = append(runs, m.scan.runOf(w.runs[0]))
		}
	}
	return m.merge(ctx, runs, WriterOptions{})
}

// merge merges runs into one.
func (m *compaction) merge(ctx context.Context, runs []part.Run, o WriterOptions) (*Written, error) {
	w := m.sh.newWriter(m.scan.schema, m.scan.state.schemaID(), o, OriginCompaction)
	w.sorted = true
	if err := m.copy(ctx, w, runs); err != nil {
		w.Abort(ctx)
		return nil, err
	}
	return w.Finish(ctx)
}

func (m *compaction) copy(ctx context.Context, w *Writer, runs []part.Run) error {
	if m.scan.timed {
		for i, r := range runs {
			runs[i] = m.advanced(r)
		}
	}
	merger := part.NewMerger(m.scan.kinds, runs)
	for {
		b, err := merger.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		if err := w.Add(ctx, b); err != nil {
			return err
		}
		invariants.Point("storage/shard: compacting")
	}
}

// advanced moves the times of a run's blocks to since. Rows stay in order.
func (m *compaction) advanced(next part.Run) part.Run {
	return func(ctx context.Context) (*vec.Block, error) {
		b, err := next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		out := *b
		out.Times = make([]uint64, b.Len)
		for i, t := range b.Times {
			out.Times[i] = max(t, uint64(m.since))
		}
		return &out, nil
	}
}
