package sink

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// StandBy says whether another replica appends what this one computes too. Then nothing is written: what a worker cannot
// stage is dropped, and only its sums are kept.
func (v *View) StandBy(stands bool) {
	if v.standsBy != stands {
		v.standsBy = stands
		v.account.write(!stands)
	}
	for w := range v.shares {
		s := &v.shares[w]
		if s.bytes == 0 || s.standing == stands {
			s.standing = stands
			continue
		}
		s.count(v.account, stands)
		if stands && s.writer == nil && v.o.Staging.isOverdrawn() {
			s.drop()
			v.unstage(s)
		}
	}
}

// count counts what is staged as of one who stands by, or as of one who writes if the budget has room for it.
func (r *report) count(a *account, standing bool) {
	if r.standing != standing && a.move(r.bytes, standing) {
		r.standing = standing
	}
}

// IsWhole says whether all rows of the open interval are here, so that it can be appended: none was dropped while the
// view stood by.
func (v *View) IsWhole() bool {
	return !slices.ContainsFunc(v.shares, func(s stage) bool { return len(s.gone) > 0 })
}

// drop keeps of the staged rows only the sums, time by time.
func (s *stage) drop() {
	at := map[uint64][]int32{}
	for i, t := range s.staged.Times {
		at[t] = append(at[t], int32(i))
	}
	one := vec.NewBlock(s.staged.Kinds(), 0)
	for _, t := range slices.Sorted(maps.Keys(at)) {
		one.Reset()
		one.AppendSel(s.staged, at[t])
		sums := sumsAt{tvc.Time(t), sumsOf(s.fp, one, 0)}
		i, found := slices.BinarySearchFunc(s.gone, sums.at, func(g sumsAt, at tvc.Time) int { return cmp.Compare(g.at, at) })
		if found {
			s.gone[i].add(sums.totals)
		} else {
			s.gone = slices.Insert(s.gone, i, sums)
		}
	}
}

// DropBelow drops what lies below upper, up to where somebody else has appended, and gives its fingerprint: of an
// interval that was lost to them, if there is one, and of the open one, which then begins with what is left of the lost
// one. It is false if a writer has rows on both sides, which can no longer be told apart; then both are of no use.
func (v *View) DropBelow(ctx context.Context, lost *Interval, upper tvc.Frontier) (dropped tvc.Fingerprint, ok bool) {
	for w := range v.shares {
		s := &v.shares[w]
		if lost != nil {
			r := &lost.reports[w]
			content, ok := v.dropBelow(ctx, s.fp, r, upper)
			if !ok || r.away.rows > 0 || len(r.gone) > 0 {
				return tvc.Fingerprint{}, false
			}
			dropped = dropped.Add(content)
		}
		content, ok := v.dropBelow(ctx, s.fp, &s.report, upper)
		if !ok {
			return tvc.Fingerprint{}, false
		}
		dropped = dropped.Add(content)
		if lost != nil {
			v.prepend(s, &lost.reports[w])
		}
		if s.totals.rows == 0 {
			s.report, s.open = report{}, false
		}
	}
	return dropped, true
}

// dropBelow drops what one worker has below upper.
func (v *View) dropBelow(ctx context.Context, fp *tvc.Fingerprinter, r *report, upper tvc.Frontier) (content tvc.Fingerprint, ok bool) {
	switch {
	case r.away.rows == 0:
	case upper.Past(r.awayTo):
		if r.writer != nil {
			r.writer.Abort(ctx)
			r.writer = nil
		}
		r.away = totals{}
	case upper.Past(r.awayFrom):
		return tvc.Fingerprint{}, false
	}
	kept, size := r.away, int64(0)
	r.gone = slices.DeleteFunc(r.gone, func(g sumsAt) bool { return upper.Past(g.at) })
	for _, g := range r.gone {
		kept.add(g.totals)
	}
	if r.staged = past(r.staged, upper); r.staged != nil {
		kept.add(sumsOf(fp, r.staged, 0))
		size = min(r.bytes, int64(r.staged.Size()))
	}
	v.account.give(r.bytes-size, r.standing)
	v.metrics.stage(size - r.bytes)
	content = r.totals.content.Sub(kept.content)
	r.bytes, r.totals = size, kept
	return content, true
}

// past gives the rows of a block with times that are at or past a frontier; nil if there are none.
func past(b *vec.Block, f tvc.Frontier) *vec.Block {
	if b == nil || b.Len == 0 {
		return nil
	}
	if !f.Past(tvc.Time(slices.Min(b.Times))) {
		return b
	}
	if f.Past(tvc.Time(slices.Max(b.Times))) {
		return nil
	}
	var sel []int32
	for i, at := range b.Times {
		if !f.Past(tvc.Time(at)) {
			sel = append(sel, int32(i))
		}
	}
	rest := vec.NewBlock(b.Kinds(), len(sel))
	rest.AppendSel(b, sel)
	return rest
}

// prepend puts what is left of a lost interval, all of it staged, before what a worker has since.
func (v *View) prepend(s *stage, r *report) {
	if r.staged == nil {
		return
	}
	v.begin(s)
	if r.count(v.account, s.standing); r.standing != s.standing {
		s.count(v.account, r.standing)
	}
	if s.staged != nil {
		r.staged.AppendBlock(s.staged)
	}
	s.staged, s.began, s.since = r.staged, r.began, r.since
	s.totals.add(r.totals)
	s.bytes += r.bytes
	*r = report{}
}
