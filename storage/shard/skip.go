package shard

import (
	"context"
	"errors"
	"fmt"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/meter"
	"github.com/tributary-db/tributary/storage/part"
)

// Condition is what a row must meet in one column; Range is a part of one.
type (
	Condition = part.Condition
	Range     = part.Range
)

// Filter says which rows a reader wants. Parts whose statistics prove that they have none may be left out of a scan,
// except those that may have errors among their rows; all other rows are given, wanted or not.
type Filter struct {
	// Any lists what makes a row wanted: that it meets all conditions of one of the lists. The conditions are about
	// columns of the latest schema. nil: every row is wanted.
	Any [][]Condition
	// Wants says whether the reader would make anything of some row of a block of the scan. A sample of what is left
	// out is read and shown to it.
	Wants func(*vec.Block) bool
}

// ErrStatistics says that a part has rows that its statistics rule out: what was left out of scans before may
// have been wanted.
var ErrStatistics = errors.New("a part that its statistics say need not be read has rows that are wanted")

// skip finds the parts that have nothing that is wanted, and proves for some of them that it is so.
func (sc *Scan) skip(ctx context.Context, f Filter) error {
	if f.Any == nil || !filterPushdown.Get(sc.sh.client.settings) {
		return nil
	}
	for _, b := range sc.batches {
		if b.objectRuns == 0 || b.upper <= sc.from || b.lower >= sc.to {
			continue
		}
		for _, r := range b.runs {
			for _, p := range r {
				if !sc.overlaps(p) || sc.mayWant(p, f) {
					continue
				}
				if err := sc.leaveOut(ctx, p, f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// leaveOut notes that a part is not to be read.
func (sc *Scan) leaveOut(ctx context.Context, p *partRef, f Filter) error {
	if sc.skipped == nil {
		sc.skipped = map[*partRef]bool{}
	}
	sc.skipped[p] = true
	sc.meter.Met(meter.Skipped, p.bytes())
	if int64(p.object.hash()%100) < auditPercent.Get(sc.sh.client.settings) {
		return sc.audit(ctx, p, f)
	}
	return nil
}

// mayWant says whether a part can have a row that is wanted, or an error. Inline parts have no statistics.
func (sc *Scan) mayWant(p *partRef, f Filter) bool {
	if p.isInline() {
		return true
	}
	if sc.schema.Errors {
		if errs := sc.statsOf(p, len(sc.schema.Rel.Cols)); errs.Nulls != p.rows {
			return true
		}
	}
	for _, all := range f.Any {
		may := true
		for i := range all {
			stats := sc.statsOf(p, all[i].Col)
			may = may && stats.MayMeet(&all[i], p.rows)
		}
		if may {
			return true
		}
	}
	return false
}

// statsOf gives what is known of a column of the latest schema.
func (sc *Scan) statsOf(p *partRef, col int) part.ColumnStats {
	switch at := sc.state.stored(p, col); {
	case at < 0:
		return part.ColumnStats{Nulls: p.rows}
	case at < len(p.stats):
		return p.stats[at]
	}
	// Some may be NULL, and some not.
	return part.ColumnStats{Nulls: unknownNulls}
}

// unknownNulls is a count that no part has.
const unknownNulls = 1 << 62

// audit reads a part that is left out. That counts as audited, not as read.
func (sc *Scan) audit(ctx context.Context, p *partRef, f Filter) error {
	sc.meter.Met(meter.Audited, p.bytes())
	once := *sc
	once.meter = nil
	next := once.runOf([]*partRef{p})
	for {
		b, err := next(ctx)
		if err != nil || b == nil {
			return err
		}
		if f.Wants(b) {
			sc.sh.client.metrics.AuditsFailed.Inc()
			return fmt.Errorf("%s: %w", p.describe(sc.sh.id), ErrStatistics)
		}
	}
}

// hash spreads objects evenly, each always to the same place.
func (o objectName) hash() uint64 {
	h := (o.epoch<<32 ^ o.n) * 0x9e3779b97f4a7c15
	return h >> 32
}
