package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Report is what Check has found.
type Report struct {
	Since, Upper tvc.Frontier
	Sealed       bool
	Totals       Totals
	// Batches counts the batches; InlineBytes are those of rows that lie in the state.
	Batches, InlineBytes int
	// Objects are the keys of all objects that the state names.
	Objects []string
	// Faults are broken promises; none is good.
	Faults []error
}

// Check reads a shard from the stores, past everything this process keeps in memory, and holds all of it against what
// its state says: batches tile, every part is there, whole, sorted and within its times and statistics, and the sums
// are those of the rows. An error means that the state itself could not be read.
func (c *Client) Check(ctx context.Context, id ID) (Report, error) {
	st, err := c.loadExisting(ctx, id)
	if err != nil {
		return Report{}, err
	}
	r := Report{
		Since: st.since, Upper: st.upper, Sealed: st.sealed, Totals: st.totals, Batches: len(st.batches), InlineBytes: st.inlineBytes,
	}
	st.objects(id, func(key string) { r.Objects = append(r.Objects, key) })
	if st.rollup.version > 0 {
		r.add(c.checkRollup(ctx, id, st))
	}
	r.Faults = append(r.Faults, st.faults()...)
	// A handle of its own, which shares no decoded part with the process's.
	sh := &Shard{id: id, client: c, key: st.key}
	for _, b := range st.batches {
		r.add(sh.checkBatch(ctx, st, b))
	}
	return r, nil
}

// faults says where a state contradicts itself, whatever is in its parts.
func (s *state) faults() (out []error) {
	fault := func(format string, args ...any) { out = append(out, fmt.Errorf(format, args...)) }
	at, total := tvc.Frontier(0), Totals{}
	for _, b := range s.batches {
		if b.lower != at || b.upper <= b.lower {
			fault("batch %d is of [%v, %v), the one before ends at %v", b.id, b.lower, b.upper, at)
		}
		at = b.upper
		total = total.Add(b.totals)
	}
	if at > s.upper {
		fault("batches end at %v, past the upper %v", at, s.upper)
	}
	if s.since > s.upper {
		fault("since %v is past the upper %v", s.since, s.upper)
	}
	if total != s.totals {
		fault("the batches' sums are %+v, the state says %+v", total, s.totals)
	}
	return out
}

func (r *Report) add(err error) {
	if err != nil {
		r.Faults = append(r.Faults, err)
	}
}

// checkRollup reads the rollup that the state names.
func (c *Client) checkRollup(ctx context.Context, id ID, st *state) error {
	key := rollupKey(id, st.rollup.object)
	data, err := c.blob.Get(ctx, key)
	if err != nil {
		return err
	}
	switch old, err := decodeRollup(data); {
	case err != nil:
		return fmt.Errorf("%s: %w", key, err)
	case old.version != st.rollup.version:
		return fmt.Errorf("%s is of version %d, the state says %d", key, old.version, st.rollup.version)
	}
	return nil
}

// checkBatch reads a batch and adds up its rows.
func (s *Shard) checkBatch(ctx context.Context, st *state, b *batch) error {
	sums, got := tvc.NewFingerprinter(st.key, st.schema().Errors), Totals{}
	for i, r := range b.runs {
		var last *vec.Block
		for _, p := range r {
			if p.times.min > p.times.max || tvc.Frontier(p.times.min) < b.lower || !b.upper.Past(p.times.max) {
				return fmt.Errorf("batch %d [%v, %v): %s is of times %d to %d",
					b.id, b.lower, b.upper, p.describe(s.id), p.times.min, p.times.max)
			}
			blocks, err := s.fresh(ctx, st, p)
			if err != nil {
				return err
			}
			if err := checkPart(p, blocks, last); err != nil {
				return fmt.Errorf("batch %d, run %d, %s: %w", b.id, i, p.describe(s.id), err)
			}
			for _, block := range blocks {
				got = got.Add(totalsOf(sums, migrate(block, p.schema, st)))
				last = block
			}
		}
	}
	if got != b.totals {
		return fmt.Errorf("batch %d: the rows' sums are %+v, the state says %+v", b.id, got, b.totals)
	}
	return nil
}

// fresh reads all blocks of a part from where it lies.
func (s *Shard) fresh(ctx context.Context, st *state, p *partRef) ([]*vec.Block, error) {
	uncached := *p
	uncached.slot = &slot{}
	d, err := s.read(ctx, st, &uncached)
	s.client.cache.drop(uncached.slot)
	if err != nil {
		return nil, err
	}
	blocks := make([]*vec.Block, d.count())
	for k := range blocks {
		if blocks[k], err = d.block(k, st.schemas[p.schema-1].Kinds(), nil); err != nil {
			return nil, fmt.Errorf("%s: %w", p.describe(s.id), err)
		}
	}
	return blocks, nil
}

func totalsOf(sums *tvc.Fingerprinter, b *vec.Block) Totals {
	t := Totals{Rows: int64(b.Len), Fingerprint: sums.Rows(b)}
	for i := range b.Len {
		t.DiffSum += b.Diff(i)
	}
	return t
}

// checkPart holds a part's blocks against what the state says of it, and the block before them in the run.
func checkPart(p *partRef, blocks []*vec.Block, last *vec.Block) error {
	for _, b := range blocks {
		if err := checkBlock(p, b, last); err != nil {
			return err
		}
		last = b
	}
	for c, s := range p.stats {
		nulls := 0
		for _, b := range blocks {
			for i := range b.Len {
				switch d := b.Cols[c].Datum(i); {
				case d.IsNull():
					nulls++
				case s.Known && (d.Compare(s.Min) < 0 || d.Compare(s.Max) > 0):
					return fmt.Errorf("row %d, column %d is outside of its statistics", i, c)
				}
			}
		}
		if nulls != s.Nulls {
			return fmt.Errorf("column %d is NULL in %d rows, in %d by its statistics", c, nulls, s.Nulls)
		}
	}
	return nil
}

// checkBlock holds a block against its part and the block before it in the run. All its rows have times afterwards.
func checkBlock(p *partRef, b, last *vec.Block) error {
	switch {
	case p.times.own != (b.Times != nil):
		return errors.New("times where there should be none, or none where there should be")
	case len(p.stats) > len(b.Cols):
		return fmt.Errorf("statistics of %d columns, of which there are %d", len(p.stats), len(b.Cols))
	case !p.times.own:
		b.Times = slices.Repeat([]uint64{uint64(p.times.min)}, b.Len)
	}
	for i := range b.Len {
		if b.Diff(i) == 0 {
			return fmt.Errorf("row %d counts nothing", i)
		}
		if b.Times[i] < uint64(p.times.min) || b.Times[i] > uint64(p.times.max) {
			return fmt.Errorf("row %d is at %d, outside of %d to %d", i, b.Times[i], p.times.min, p.times.max)
		}
		before, k := b, i-1
		if k < 0 {
			if last == nil {
				continue
			}
			before, k = last, last.Len-1
		}
		if c := before.CompareRows(k, b, i); c > 0 || c == 0 && before.Times[k] >= b.Times[i] {
			return fmt.Errorf("row %d is out of order", i)
		}
	}
	return nil
}
