package op

import (
	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/vec"
)

// accum keeps a linear aggregate: a few words a group, in the share's slab, to which rows are added and
// from which they are taken.
type accum struct {
	agg    *Agg
	share  *reduceShare
	at     int // of its words among the group's
	args   []*vec.Vec
	masked []int32
}

func (a *accum) absorb(b *vec.Block, groups []int32) {
	a.update(b, a.filtered(b, groups), b.Diffs)
}

func (a *accum) update(b *vec.Block, groups []int32, diffs []int64) {
	a.args = a.args[:0]
	for _, c := range a.agg.Args {
		a.args = append(a.args, &b.Cols[c])
	}
	a.agg.Func.Accum.Update(a.share.slab, a.share.stride, a.at, groups, a.args, diffs)
}

// filtered gives groups with -1 for the rows that the aggregate's filter leaves out.
func (a *accum) filtered(b *vec.Block, groups []int32) []int32 {
	if a.agg.Filter < 0 {
		return groups
	}
	a.masked = filterGroups(b, a.agg.Filter, groups, a.masked)
	return a.masked
}

func filterGroups(b *vec.Block, filter int, groups, buf []int32) []int32 {
	buf = buf[:0]
	cond := &b.Cols[filter]
	for i, g := range groups {
		if cond.IsNull(i) || cond.Bools[i] == 0 {
			g = -1
		}
		buf = append(buf, g)
	}
	return buf
}

func (a *accum) seal(dataflow.Tick) {}

func (a *accum) before(_ *dataflow.Lane, idx int, _ int32, rows int64) (vec.Datum, error) {
	acc := a.agg.Func.Accum
	return acc.Result(a.share.old[idx*a.share.stride+a.at:][:acc.Words], rows)
}

func (a *accum) after(_ *dataflow.Lane, _ int, g int32, rows int64) (vec.Datum, error) {
	acc := a.agg.Func.Accum
	return acc.Result(a.share.slab[int(g)*a.share.stride+a.at:][:acc.Words], rows)
}

func (a *accum) commit(int32, bool) {}
func (a *accum) done()              {}

// distinctAccum is an accum in which equal arguments of a group count once: it keeps how often each comes
// and passes on only when one appears or vanishes.
type distinctAccum struct {
	accum
	args   *row.Key
	table  arrange.Table
	counts []int64
	buf    []byte
	picked []int32
	diffs  []int64
}

func (a *distinctAccum) absorb(b *vec.Block, groups []int32) {
	groups = a.filtered(b, groups)
	a.picked, a.diffs = a.picked[:0], a.diffs[:0]
	for i, g := range groups {
		d := int64(0)
		if g >= 0 {
			d = a.change(b, i, g)
		}
		if d == 0 {
			g = -1
		}
		a.picked, a.diffs = append(a.picked, g), append(a.diffs, d)
	}
	a.update(b, a.picked, a.diffs)
}

// change counts row i and says whether its arguments appear (1), vanish (-1) or neither in their group.
func (a *distinctAccum) change(b *vec.Block, i int, g int32) int64 {
	key := a.share.table.Key(g)
	a.buf = append(a.buf[:0], key...)
	a.buf = a.args.Append(a.buf, b, i)
	slot, added := a.table.Put(a.buf)
	if added && int(slot) >= len(a.counts) {
		a.counts = append(a.counts, 0)
	}
	old := a.counts[slot]
	now := old + b.Diff(i)
	a.counts[slot] = now
	if now == 0 {
		a.table.Remove(slot)
	}
	return oneIfPositive(now) - oneIfPositive(old)
}

func oneIfPositive(n int64) int64 {
	if n > 0 {
		return 1
	}
	return 0
}
