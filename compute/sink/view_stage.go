package sink

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// totals are linear sums over a worker's updates of an interval (promise V2).
type totals struct {
	rows    int64
	diffSum int64
	// content is Σ diff·H(row), what a shard's state carries; moves is Σ diff·H(row, time).
	content, moves tvc.Fingerprint
}

func (t *totals) add(u totals) {
	t.rows += u.rows
	t.diffSum += u.diffSum
	t.content, t.moves = t.content.Add(u.content), t.moves.Add(u.moves)
}

// report is what one worker has for an interval: rows that are staged, or were given to a writer of its own,
// or both.
type report struct {
	staged *vec.Block
	// alone says that what is staged becomes a part of its own: the worker does not share.
	alone  bool
	writer *shard.Writer
	totals totals
	bytes  int64 // taken from the budget
	// standing says that they are of the share of those who stand by.
	standing bool
	// began is when the tick of its first rows began, since when they came.
	began, since time.Time
	// away are the sums of the rows that the writer has, whose times are from awayFrom to awayTo.
	away             totals
	awayFrom, awayTo tvc.Time
	// gone are the sums of the rows that were dropped while the view stood by, in the order of their times.
	gone []sumsAt
}

// sumsAt are the sums of the rows at a time.
type sumsAt struct {
	at tvc.Time
	totals
}

// stage is a worker's side of the open interval.
type stage struct {
	report
	open  bool
	limit int64
	fp    *tvc.Fingerprinter
	tick  dataflow.Tick
	// stored is the block that came last, with View.none as its column of errors.
	stored vec.Block
}

// View is the sink of a materialized view. Its Operator methods are the dataflow's to call; Seal, Dirty,
// CountOnly, TakeBack and Close are the goroutine's that drives the dataflow.
type View struct {
	o      ViewOptions
	kinds  []types.Kind // of what is stored: the columns, then the error
	ctx    context.Context
	shares []stage
	// none is a column of NULLs, as long as any block was. It is never changed, and all workers have it: there may be many
	// of them, of many views.
	none atomic.Pointer[vec.Vec]
	// metrics are the view's own.
	metrics *viewMetrics
	// account is what the view has of the budget.
	account *account
	// countOnly: see CountOnly.
	countOnly bool
	// standsBy: see StandBy.
	standsBy bool
}

// ViewOptions are what a view sink works with.
type ViewOptions struct {
	Shard   *shard.Shard
	Workers int
	// Settings has the threshold, read once per worker and interval.
	Settings *settings.Set
	// Staging bounds what all sinks of the process stage.
	Staging *Budget
	Metrics *Metrics
	// Name gives the view's full SQL name, for logs and errors.
	Name func() string
	// Log takes the stacks of panics; nil means slog.Default().
	Log *slog.Logger
	// Sharing is how the workers' changes become parts; nil means up to the threshold in one part of all workers.
	Sharing Sharing
}

func (o *ViewOptions) defaults() {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Sharing == nil {
		o.Sharing = upToThreshold{}
	}
}

// NewView makes the sink, which is owed a Close. ctx ends the writes it has in hand.
func NewView(ctx context.Context, o ViewOptions) *View {
	o.defaults()
	schema, _ := o.Shard.Schema()
	v := &View{o: o, kinds: schema.Kinds(), ctx: ctx, shares: make([]stage, o.Workers), metrics: o.Metrics.of(o.Shard.ID()),
		account: &account{budget: o.Staging}}
	v.account.write(true)
	for w := range v.shares {
		v.shares[w].fp = tvc.NewFingerprinter(o.Shard.FingerprintKey(), true)
	}
	return v
}

// CountOnly says whether what comes from now on is counted and nothing else: it is not staged, written or
// appended. It serves to compare what the dataflow computes with what is stored (promise V5), and is set while
// the open interval is empty.
func (v *View) CountOnly(only bool) { v.countOnly = only }

// Route deals rows to workers by all of their bytes, so that a row and its retraction meet, and no two
// workers have the same row.
func (v *View) Route() dataflow.Route { return dataflow.ByRow() }

// Begin is dataflow.Operator's.
func (v *View) Begin(w int, t *dataflow.Tick) { v.shares[w].tick = *t }

// Absorb is dataflow.Operator's.
func (v *View) Absorb(lane *dataflow.Lane, w, _ int, b *vec.Block) {
	s := &v.shares[w]
	if err := v.put(s, v.withoutError(s, b)); err != nil {
		lane.Abort(err)
	}
}

// withoutError gives the rows as they are stored: with a column of errors that is NULL throughout. The block is
// borrowed until the worker's next call.
func (v *View) withoutError(s *stage, b *vec.Block) *vec.Block {
	all := v.none.Load()
	if all == nil || all.Len < b.Len {
		n := b.Len
		if all != nil {
			n = max(n, 2*all.Len)
		}
		longer := vec.Repeat(vec.Null, types.Bytes, n)
		all = &longer
		v.none.Store(all)
	}
	none := vec.Vec{Kind: types.Bytes, Len: b.Len, Valid: all.Valid[:(b.Len+7)/8], Offs: all.Offs[:b.Len+1]}
	s.stored = vec.Block{Len: b.Len, Cols: append(append(s.stored.Cols[:0], b.Cols...), none), Diffs: b.Diffs, Times: b.Times}
	return &s.stored
}

// AbsorbErrors is dataflow.ErrorSink's: errors are rows of the view too, and worker 0 has them.
func (v *View) AbsorbErrors(lane *dataflow.Lane, t *dataflow.Tick, b *vec.Block) {
	stored := &vec.Block{Len: b.Len, Diffs: b.Diffs, Times: b.Times}
	for _, k := range v.kinds[:len(v.kinds)-1] {
		stored.Cols = append(stored.Cols, vec.Repeat(vec.Null, k, b.Len))
	}
	stored.Cols = append(stored.Cols, b.Cols[0])
	v.shares[0].tick = *t
	if err := v.put(&v.shares[0], stored); err != nil {
		lane.Abort(err)
	}
}

// TakeBack adds the negation of stored rows to the interval, at the given time: each row to the worker that has
// what the dataflow computes of it.
func (v *View) TakeBack(b *vec.Block, at tvc.Time) error {
	last := len(b.Cols) - 1
	sels := make([][]int32, len(v.shares))
	v.Route().Deal(&vec.Block{Len: b.Len, Cols: b.Cols[:last]}, nil, sels)
	var failed []int32
	for w := range sels {
		sels[w] = slices.DeleteFunc(sels[w], func(i int32) bool {
			if b.Cols[last].IsNull(int(i)) {
				return false
			}
			failed = append(failed, i)
			return true
		})
	}
	sels[0] = append(sels[0], failed...)
	for w, sel := range sels {
		if len(sel) == 0 {
			continue
		}
		neg := vec.NewBlock(v.kinds, len(sel))
		for _, i := range sel {
			neg.AppendFrom(b, int(i), -b.Diff(int(i)))
		}
		v.shares[w].tick = dataflow.Tick{At: at}
		if err := v.put(&v.shares[w], neg); err != nil {
			return err
		}
	}
	return nil
}

// put adds rows to a worker's side of the interval.
func (v *View) put(s *stage, b *vec.Block) error {
	if b.Len == 0 {
		return nil
	}
	v.begin(s)
	at := uint64(s.tick.At)
	s.totals.add(sumsOf(s.fp, b, s.tick.At))
	if v.countOnly {
		return nil
	}
	if s.staged == nil {
		s.staged = vec.NewBlock(v.kinds, b.Len)
	}
	before := s.staged.Size()
	s.staged.AppendBlock(b)
	if b.Times == nil {
		s.staged.Times = slices.Grow(s.staged.Times, b.Len)
		for range b.Len {
			s.staged.Times = append(s.staged.Times, at)
		}
	}
	size := int64(s.staged.Size() - before)
	granted := v.account.take(size, s.standing)
	if granted {
		s.bytes += size
		v.metrics.stage(size)
	}
	if granted && int64(s.staged.Size()) <= s.limit {
		return nil
	}
	return v.spill(s)
}

// begin opens a worker's side of the interval, if it is not open.
func (v *View) begin(s *stage) {
	if s.open {
		return
	}
	s.open, s.standing, s.since = true, v.standsBy, clock()
	s.began = s.tick.Began
	if s.began.IsZero() {
		s.began = s.since
	}
	s.limit, s.alone = v.o.Sharing.stages(v.o.Settings)
}

// spill hands what a worker has staged to a writer of its own, or drops it if the view stands by.
func (v *View) spill(s *stage) error {
	var err error
	if s.writer == nil && (v.standsBy || len(s.gone) > 0) {
		s.drop()
	} else {
		from, to := tvc.Time(slices.Min(s.staged.Times)), tvc.Time(slices.Max(s.staged.Times))
		if s.writer == nil {
			s.writer, s.awayFrom, s.awayTo = v.o.Shard.NewWriter(shard.WriterOptions{}), from, to
		}
		s.away, s.awayFrom, s.awayTo = s.totals, min(from, s.awayFrom), max(to, s.awayTo)
		s.tick.Turn.Wait(func() { err = s.writer.Add(v.ctx, s.staged) })
	}
	v.unstage(s)
	return err
}

// unstage forgets what is staged.
func (v *View) unstage(s *stage) {
	s.staged.Reset()
	v.account.give(s.bytes, s.standing)
	v.metrics.stage(-s.bytes)
	s.bytes = 0
}

// sumsOf gives the sums of a block, whose rows are at the given time if they have none of their own.
func sumsOf(fp *tvc.Fingerprinter, b *vec.Block, at tvc.Time) totals {
	t := totals{rows: int64(b.Len), diffSum: int64(b.Len)}
	t.content, t.moves = fp.Both(b, at)
	if b.Diffs != nil {
		t.diffSum = 0
	}
	for _, d := range b.Diffs {
		t.diffSum += d
	}
	return t
}

// Emit is dataflow.Operator's.
func (v *View) Emit(*dataflow.Lane, int, *dataflow.Output) bool { return false }

// End is dataflow.Operator's.
func (v *View) End(*dataflow.Lane, int) {}

// Dirty says whether the open interval has anything.
func (v *View) Dirty() bool {
	for w := range v.shares {
		if v.shares[w].open {
			return true
		}
	}
	return false
}

// Seal ends the open interval and gives what each worker has for it, in order; the next interval is open.
func (v *View) Seal() *Interval {
	iv := &Interval{reports: make([]report, len(v.shares)), metrics: v.metrics, account: v.account}
	for w := range v.shares {
		s := &v.shares[w]
		iv.reports[w] = s.report
		s.report, s.open = report{}, false
	}
	return iv
}

// Close drops the open interval and ends the view's share of the budget. Intervals that were sealed are still owed what they
// were.
func (v *View) Close(ctx context.Context) {
	v.Seal().Discard(ctx)
	v.account.write(false)
}

// Interval is what all workers have for one interval. It is owed an append or a Discard.
type Interval struct {
	Lower, Upper tvc.Frontier
	// Keep holds what is staged until the interval is appended, in case somebody else is faster.
	Keep bool
	// Announced is what the group has given for its append (txn.Group.Expect); Append sees that it is met.
	Announced txn.Announcement
	// Late is set by Append if it was announced and others had waited for it in vain before it was in line.
	Late    bool
	reports []report
	metrics *viewMetrics
	account *account
}

// longBytes is how much is staged at most if making parts of it does not take long.
const longBytes = 256 << 10

// TakesLong says whether it is so much that making parts of it takes longer than others should wait for it.
func (iv *Interval) TakesLong() bool {
	staged := int64(0)
	for i := range iv.reports {
		if iv.reports[i].writer != nil {
			return true
		}
		staged += iv.reports[i].bytes
	}
	return staged > longBytes
}

// takeAnnounced gives the announcement that is still to be met.
func (iv *Interval) takeAnnounced() txn.Announcement {
	a := iv.Announced
	iv.Announced = 0
	return a
}

// began is when the tick of its first change began, and when that came; zero if it has none.
func (iv *Interval) began() (tick, change time.Time) {
	for i := range iv.reports {
		if r := &iv.reports[i]; !r.since.IsZero() && (change.IsZero() || r.since.Before(change)) {
			tick, change = r.began, r.since
		}
	}
	return tick, change
}

// Content is the fingerprint of everything in it, without times.
func (iv *Interval) Content() tvc.Fingerprint {
	var t totals
	for _, r := range iv.reports {
		t.add(r.totals)
	}
	return t.content
}

// isBounded says whether all rows are at times of the interval. The store would take others for a fault of its own.
func (iv *Interval) isBounded() bool {
	for i := range iv.reports {
		r := &iv.reports[i]
		if r.away.rows > 0 && (tvc.Frontier(r.awayFrom) < iv.Lower || !iv.Upper.Past(r.awayTo)) {
			return false
		}
		if b := r.staged; b != nil && b.Len > 0 {
			if tvc.Frontier(slices.Min(b.Times)) < iv.Lower || !iv.Upper.Past(tvc.Time(slices.Max(b.Times))) {
				return false
			}
		}
	}
	return true
}

// Discard drops the interval and what was written for it. It may be called again.
func (iv *Interval) Discard(ctx context.Context) {
	for i := range iv.reports {
		r := &iv.reports[i]
		if r.writer != nil {
			r.writer.Abort(ctx)
			r.writer = nil
		}
		iv.account.give(r.bytes, r.standing)
		iv.metrics.stage(-r.bytes)
		r.bytes, r.staged = 0, nil
	}
}
