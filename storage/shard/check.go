package shard

import (
	"context"
	"errors"
	"fmt"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Report is what Check has found.
type Report struct {
	Since, Upper tvc.Frontier
	Sealed       bool
	Totals       Totals
	Batches      int
	InlineBytes  int
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
	// A handle of its own, which shares no decoded part with the process's.
	sh := &Shard{id: id, client: c, key: st.key}
	at := tvc.Frontier(0)
	var total Totals
	for _, b := range st.batches {
		if b.lower != at || b.upper <= b.lower {
			r.add(fmt.Errorf("batch %d is of [%v, %v), the one before ends at %v", b.id, b.lower, b.upper, at))
		}
		at = b.upper
		total = total.Add(b.totals)
		r.add(sh.checkBatch(ctx, st, b))
	}
	if at > st.upper {
		r.add(fmt.Errorf("batches end at %v, past the upper %v", at, st.upper))
	}
	if st.since > st.upper {
		r.add(fmt.Errorf("since %v is past the upper %v", st.since, st.upper))
	}
	if total != st.totals {
		r.add(fmt.Errorf("the batches' sums are %+v, the state says %+v", total, st.totals))
	}
	return r, nil
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
	old, err := decodeRollup(data)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if old.version != st.rollup.version {
		return fmt.Errorf("%s is of version %d, the state says %d", key, old.version, st.rollup.version)
	}
	return nil
}

// checkBatch reads a batch and adds up its rows.
func (s *Shard) checkBatch(ctx context.Context, st *state, b *batch) error {
	sums := tvc.NewFingerprinter(st.key, st.schema().Errors)
	var got Totals
	for i, r := range b.runs {
		var last *vec.Block
		for _, p := range r {
			if p.times.min > p.times.max || !b.upper.Past(p.times.max) {
				return fmt.Errorf("batch %d [%v, %v): %s is of times %d to %d",
					b.id, b.lower, b.upper, p.describe(s.id), p.times.min, p.times.max)
			}
			fresh := *p
			fresh.slot = &slot{}
			d, err := s.read(ctx, st, &fresh)
			s.client.cache.drop(fresh.slot)
			if err != nil {
				return err
			}
			kinds := st.schemas[p.schema-1].Kinds()
			for k := range d.count() {
				block, err := d.block(k, kinds, nil)
				if err != nil {
					return err
				}
				if err := checkBlock(p, block, last); err != nil {
					return fmt.Errorf("batch %d, run %d, %s: %w", b.id, i, p.describe(s.id), err)
				}
				last = block
				got = got.Add(totalsOf(sums, migrate(block, p.schema, st)))
			}
		}
	}
	if got != b.totals {
		return fmt.Errorf("batch %d: the rows' sums are %+v, the state says %+v", b.id, got, b.totals)
	}
	return nil
}

func totalsOf(sums *tvc.Fingerprinter, b *vec.Block) Totals {
	t := Totals{Rows: int64(b.Len), Fingerprint: sums.Rows(b)}
	for i := range b.Len {
		t.DiffSum += b.Diff(i)
	}
	return t
}

// checkBlock holds a block against its part and the block before it in the run.
func checkBlock(p *partRef, b, last *vec.Block) error {
	if p.times.own != (b.Times != nil) {
		return errors.New("times where there should be none, or none where there should be")
	}
	for i := range b.Len {
		if b.Diff(i) == 0 {
			return fmt.Errorf("row %d counts nothing", i)
		}
		if b.Times != nil && (b.Times[i] < uint64(p.times.min) || b.Times[i] > uint64(p.times.max)) {
			return fmt.Errorf("row %d is at %d, outside of %d to %d", i, b.Times[i], p.times.min, p.times.max)
		}
		before, k := b, i-1
		if k < 0 {
			if last == nil {
				continue
			}
			before, k = last, last.Len-1
		}
		if c := before.CompareRows(k, b, i); c > 0 || c == 0 && (b.Times == nil || before.Times != nil && before.Times[k] >= b.Times[i]) {
			return fmt.Errorf("row %d is out of order", i)
		}
	}
	for c, s := range p.stats {
		for i := range b.Len {
			d := b.Cols[c].Datum(i)
			if s.Known && !d.IsNull() && (d.Compare(s.Min) < 0 || d.Compare(s.Max) > 0) {
				return fmt.Errorf("row %d, column %d is outside of its statistics", i, c)
			}
		}
	}
	return nil
}
