package shard

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/meter"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/tvc"
)

// ScanOptions says what a scan gives.
type ScanOptions struct {
	// Project lists the columns to give, in this order; nil gives all. The error column of a schema with
	// Errors is number len(Rel.Cols).
	Project []int
	// Consolidate gives the rows sorted, each (at each time, for Updates) once, zeros left out. Rows are
	// consolidated before they are projected.
	Consolidate bool
	// Filter says which rows are wanted: others may be left out.
	Filter Filter
}

// Scan is a stream of blocks. It keeps what it reads from being deleted until Close.
type Scan struct {
	sh     *Shard
	state  *state
	schema Schema
	// cols are the columns that are decoded, nil for all; kinds are theirs. project picks of a consolidating scan's
	// rows, which are whole.
	cols    []int
	kinds   []types.Kind
	project []int
	// skipped are the parts that have nothing that is wanted.
	skipped map[*partRef]bool
	// meter counts what is read; nil for compactions.
	meter *meter.Meter
	// Updates of these batches at times in [from, to) are given; with times if timed.
	batches  []*batch
	from, to tvc.Frontier
	timed    bool

	merger *part.Merger // consolidating
	run    part.Run     // else: all parts, one after the other
}

// Snapshot reads the contents at asOf: blocks with diffs and without times. Unless consolidated, a row may
// come several times, with diffs that add up to its count, also negative ones. ErrBeforeSince if asOf is before
// Since. asOf may lie at or past Upper: then the caller knows that the shard is complete through it.
func (s *Shard) Snapshot(ctx context.Context, asOf tvc.Time, o ScanOptions) (*Scan, error) {
	sc := &Scan{sh: s, from: 0, to: tvc.After(asOf)}
	return sc.begin(ctx, o, func(st *state) bool { return tvc.Frontier(asOf) >= st.since })
}

// Updates reads exactly the updates at times in [lower, upper) that lie below Upper, each with its time. It
// needs since < lower, unless both are 0, else ErrBeforeSince: a hold or bound at lower-1 keeps that true.
func (s *Shard) Updates(ctx context.Context, lower, upper tvc.Frontier, o ScanOptions) (*Scan, error) {
	sc := &Scan{sh: s, from: lower, to: upper, timed: true}
	return sc.begin(ctx, o, func(st *state) bool { return st.since < lower || st.since == 0 })
}

func (sc *Scan) begin(ctx context.Context, o ScanOptions, readable func(*state) bool) (*Scan, error) {
	st := sc.sh.pin()
	var err error
	switch {
	case st.sealed:
		err = ErrSealed
	case !readable(st):
		err = fmt.Errorf("%w: since is %v", ErrBeforeSince, st.since)
	}
	if err != nil {
		sc.sh.unpin(st)
		return nil, fmt.Errorf("read shard %s from %v to %v: %w", sc.sh.id, sc.from, sc.to, err)
	}
	sc.state, sc.schema, sc.kinds = st, st.schema(), st.schema().Kinds()
	sc.batches, sc.to, sc.meter = st.batches, min(sc.to, st.upper), sc.sh.client.metrics
	if err := sc.open(ctx, o); err != nil {
		sc.Close()
		return nil, fmt.Errorf("read shard %s: %w", sc.sh.id, err)
	}
	return sc, nil
}

// open finds out what is to be read.
func (sc *Scan) open(ctx context.Context, o ScanOptions) error {
	all := sc.kinds
	if o.Project != nil {
		sc.cols, sc.kinds = o.Project, make([]types.Kind, len(o.Project))
		for i, c := range o.Project {
			sc.kinds[i] = all[c]
		}
	}
	if err := sc.skip(ctx, o.Filter); err != nil {
		return err
	}
	if !o.Consolidate {
		sc.run = sc.runOf(sc.parts())
		return nil
	}
	sc.cols, sc.kinds, sc.project = nil, all, o.Project
	runs, err := sc.runs(ctx)
	if err != nil {
		return err
	}
	sc.merger = part.NewMerger(sc.kinds, runs)
	return nil
}

// Cut gives a frontier after lower, at most upper, such that about so many rows at most lie in [lower, it), or
// else those of one batch: a reader far behind can take what is there in pieces.
func (s *Shard) Cut(lower, upper tvc.Frontier, rows int) tvc.Frontier {
	n := 0
	for _, b := range s.current().batches {
		if b.upper <= lower {
			continue
		}
		if b.lower >= upper {
			break
		}
		if n > 0 && n+int(b.totals.Rows) > rows {
			return max(b.lower, lower+1)
		}
		n += int(b.totals.Rows)
	}
	return upper
}

// Times says between which times the updates of a scan lie: in [first, last]; ok is false if there are none.
// It is asked before the first Next.
func (sc *Scan) Times() (first, last tvc.Time, ok bool) {
	for _, p := range sc.parts() {
		lo, hi := max(p.times.min, tvc.Time(sc.from)), min(p.times.max, sc.to.Last())
		if !ok {
			first, last, ok = lo, hi, true
		}
		first, last = min(first, lo), max(last, hi)
	}
	return first, last, ok
}

// Rows says how many updates a scan has at most: those of all the parts that have some.
func (sc *Scan) Rows() int {
	n := 0
	for _, p := range sc.parts() {
		n += int(p.rows)
	}
	return n
}

// Upper is through where the scan reads: everything below it, as far as it was asked for.
func (sc *Scan) Upper() tvc.Frontier { return sc.to }

// Next gives the next block, nil at the end. The block is borrowed until the next call and is never written
// to: it may be shared with other readers.
func (sc *Scan) Next(ctx context.Context) (*vec.Block, error) {
	var b *vec.Block
	var err error
	if sc.merger != nil {
		b, err = sc.merger.Next(ctx)
	} else {
		b, err = sc.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read shard %s: %w", sc.sh.id, err)
	}
	if b == nil {
		return nil, nil
	}
	return picked(b, sc.project), nil
}

// Close ends the scan. It must be called, also after an error; more than once is harmless.
func (sc *Scan) Close() {
	if sc.state != nil {
		sc.sh.unpin(sc.state)
		sc.state = nil
	}
}

// overlaps says whether a part can have updates at the times that are wanted.
func (sc *Scan) overlaps(p *partRef) bool {
	return sc.from <= tvc.Frontier(p.times.max) && sc.to.Past(p.times.min)
}

// parts lists the parts to be read, in the order of time.
func (sc *Scan) parts() []*partRef {
	var out []*partRef
	for _, r := range sc.wantedRuns() {
		out = append(out, r...)
	}
	return out
}

// wantedRuns lists the runs to be read, without the parts that have nothing that is wanted.
func (sc *Scan) wantedRuns() []run {
	var out []run
	for _, b := range sc.batches {
		if b.upper <= sc.from || b.lower >= sc.to {
			continue
		}
		for _, r := range b.runs {
			var wanted run
			for _, p := range r {
				if sc.overlaps(p) && !sc.skipped[p] {
					wanted = append(wanted, p)
				}
			}
			if len(wanted) > 0 {
				out = append(out, wanted)
			}
		}
	}
	return out
}

// runs gives the sorted runs for a merge. The inline parts, which may be thousands, are made into one.
func (sc *Scan) runs(ctx context.Context) ([]part.Run, error) {
	var out []part.Run
	var inline []*partRef
	for _, r := range sc.wantedRuns() {
		if len(r) == 1 && r[0].isInline() {
			inline = append(inline, r[0])
		} else {
			out = append(out, sc.runOf(r))
		}
	}
	if len(inline) == 1 {
		return append(out, sc.runOf(inline)), nil
	}
	if len(inline) > 1 {
		b, err := sortedUnion(ctx, sc.kinds, sc.runOf(inline))
		if err != nil {
			return nil, err
		}
		out = append(out, onceRun(b))
	}
	return out, nil
}

// sortedUnion reads all blocks of a run that is not sorted, and gives them as one consolidated block.
func sortedUnion(ctx context.Context, kinds []types.Kind, next part.Run) (*vec.Block, error) {
	all := vec.NewBlock(kinds, 0)
	for {
		b, err := next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		all.AppendBlock(b)
	}
	var s part.Sorter
	return s.Consolidate(all)
}

// onceRun gives one block.
func onceRun(b *vec.Block) part.Run {
	return func(context.Context) (*vec.Block, error) {
		out := b
		b = nil
		if out != nil && out.Len == 0 {
			out = nil
		}
		return out, nil
	}
}

// runOf reads parts one after the other.
func (sc *Scan) runOf(parts []*partRef) part.Run {
	var d *decoded
	at, block := -1, 0
	return func(ctx context.Context) (*vec.Block, error) {
		for {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if d == nil || block == d.count() {
				if at++; at >= len(parts) {
					d = nil
					at = len(parts)
					return nil, nil
				}
				var err error
				if d, err = sc.sh.read(ctx, sc.state, parts[at]); err != nil {
					return nil, err
				}
				sc.meter.Met(parts[at].fateRead(), parts[at].bytes())
				block = 0
			}
			p := parts[at]
			b, err := sc.state.block(d, block, p, sc.cols)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.describe(sc.sh.id), err)
			}
			block++
			if b = sc.wanted(p, b); b.Len > 0 {
				return b, nil
			}
		}
	}
}

// fateRead is what has become of a part that was read.
func (p *partRef) fateRead() meter.Fate {
	if p.isInline() {
		return meter.Inline
	}
	return meter.Read
}

// describe names a part for people.
func (p *partRef) describe(id ID) string {
	if p.isInline() {
		return "inline part of " + string(id)
	}
	return "object " + partKey(id, p.object)
}

// read gives a part decoded, from the cache or from where it lies.
func (s *Shard) read(ctx context.Context, st *state, p *partRef) (*decoded, error) {
	c := s.client
	if d := c.cache.get(p.slot); d != nil {
		c.metrics.CacheHits.Inc()
		return d, nil
	}
	c.metrics.CacheMisses.Inc()
	d := &decoded{}
	if p.isInline() {
		b, err := part.DecodeInline(p.inline, st.schemas[p.schema-1].Kinds())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.describe(s.id), err)
		}
		d.blocks, d.size = []*vec.Block{b}, int64(b.Size())
	} else {
		data, err := c.blob.Get(ctx, partKey(s.id, p.object))
		if err != nil {
			return nil, err
		}
		if d.object, err = c.codec.Open(data); err != nil {
			return nil, fmt.Errorf("%s: %w", p.describe(s.id), err)
		}
		if d.object.Rows != p.rows || SchemaID(d.object.Schema) != p.schema {
			return nil, fmt.Errorf("%s: %w: %d rows of schema %d where the state says %d of %d",
				p.describe(s.id), part.ErrCorrupt, d.object.Rows, d.object.Schema, p.rows, p.schema)
		}
		d.size = d.object.Size()
	}
	c.cache.put(p.slot, d, c.cacheMax())
	return d, nil
}

// block gives block i of a part, of the given columns of the latest schema; nil is all of them. Columns that were
// added after the part was written are NULL in every row.
func (s *state) block(d *decoded, i int, p *partRef, cols []int) (*vec.Block, error) {
	old := s.schemas[p.schema-1]
	if cols == nil {
		b, err := d.block(i, old.Kinds(), nil)
		if err != nil {
			return nil, err
		}
		return migrate(b, p.schema, s), nil
	}
	stored := make([]int, 0, len(cols))
	for _, c := range cols {
		if at := s.stored(p, c); at >= 0 {
			stored = append(stored, at)
		}
	}
	b, err := d.block(i, old.Kinds(), stored)
	if err != nil || len(stored) == len(cols) {
		return b, err
	}
	kinds := s.schema().Kinds()
	out := &vec.Block{Len: b.Len, Cols: make([]vec.Vec, len(cols)), Diffs: b.Diffs, Times: b.Times}
	next := 0
	for k, c := range cols {
		if s.stored(p, c) < 0 {
			out.Cols[k] = vec.Repeat(vec.Null, kinds[c], b.Len)
		} else {
			out.Cols[k] = b.Cols[next]
			next++
		}
	}
	return out, nil
}

// stored is where a column of the latest schema lies in a part; -1 if it was added later.
func (s *state) stored(p *partRef, col int) int {
	had, has := len(s.schemas[p.schema-1].Rel.Cols), len(s.schema().Rel.Cols)
	switch {
	case col < had:
		return col
	case col == has: // the error column
		return had
	}
	return -1
}

// migrate gives a block of an older schema the columns that were added since: NULL in every row.
func migrate(b *vec.Block, from SchemaID, st *state) *vec.Block {
	old, now := st.schemas[from-1], st.schema()
	had, has := len(old.Rel.Cols), len(now.Rel.Cols)
	if had == has {
		return b
	}
	out := &vec.Block{Len: b.Len, Diffs: b.Diffs, Times: b.Times}
	out.Cols = append(out.Cols, b.Cols[:had]...)
	for _, c := range now.Rel.Cols[had:] {
		out.Cols = append(out.Cols, vec.Repeat(vec.Null, c.Type.Kind(), b.Len))
	}
	out.Cols = append(out.Cols, b.Cols[had:]...)
	return out
}

// wanted gives the updates of a part's block that the scan is for. The block's memory is not written to.
func (sc *Scan) wanted(p *partRef, b *vec.Block) *vec.Block {
	if !p.times.own {
		if !sc.timed {
			return b
		}
		out := *b
		out.Times = slices.Repeat([]uint64{uint64(p.times.min)}, b.Len)
		return &out
	}
	if tvc.Frontier(p.times.min) < sc.from || !sc.to.Past(p.times.max) {
		var sel []int32
		for i, t := range b.Times {
			if t >= uint64(sc.from) && sc.to.Past(tvc.Time(t)) {
				sel = append(sel, int32(i))
			}
		}
		some := vec.NewBlock(sc.kinds, len(sel))
		some.AppendSel(b, sel)
		b = some
	}
	if sc.timed {
		return b
	}
	out := *b
	out.Times = nil
	return &out
}
