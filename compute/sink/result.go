package sink

import (
	"bytes"
	"context"
	"math"

	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Result is the sink of a one-off query: it gathers the rows and finishes them (order, offset, limit,
// projection). What it keeps is bounded by its maximum, and, when a row that has come cannot be taken back, by
// offset and limit: then the rows behind them are dropped, however many come.
type Result struct {
	// Positive promises that every row counts more than zero times. It is set before the first row.
	Positive bool
	// StopsWhenFull makes it end the tick (dataflow.Lane.Stop) once it has all the rows it wants. It is set
	// before the first row, where the rest of the tick can be done without; see Bound.
	StopsWhenFull bool

	kinds []types.Kind
	fin   plan.Finishing
	// want is how many rows the client can get to see with those that it skips; < 0: all.
	want int64
	max  int64
	// count and bytes are of what is kept; past checkAt bytes it is added up before it is found too large.
	count, bytes, checkAt int64
	// rows are kept as they come if no order is asked for, until they must be added up; then (sorted) they are
	// in the builder, as bytes that sort.
	rows    []*vec.Block
	sorted  bool
	key     *row.Key
	order   []int // the columns in the key's order
	builder arrange.Builder
	// last, if set, is the last of the first want rows: what sorts behind it is not among them.
	last     []byte
	negative bool
	errs     []*pgerr.Error
}

// NewResult makes the sink for rows of the given types. maxBytes bounds what is kept; 0 is no bound.
func NewResult(cols []types.T, fin plan.Finishing, maxBytes int64) *Result {
	r := &Result{fin: fin, want: -1, max: maxBytes, checkAt: maxBytes, sorted: len(fin.Order) > 0}
	switch {
	case fin.Limit == 0:
		r.want = 0
	case fin.Limit > 0 && fin.Offset <= math.MaxInt64-fin.Limit:
		r.want = fin.Offset + fin.Limit
	}
	for _, c := range cols {
		r.kinds = append(r.kinds, c.Kind())
	}
	var key []row.KeyCol
	used := make([]bool, len(cols))
	for _, o := range fin.Order {
		if !used[o.Col] {
			used[o.Col] = true
			key = append(key, row.KeyCol{Col: o.Col, Kind: r.kinds[o.Col], Desc: o.Desc, NullsFirst: o.NullsFirst})
			r.order = append(r.order, o.Col)
		}
	}
	for c, u := range used {
		if !u {
			key = append(key, row.KeyCol{Col: c, Kind: r.kinds[c]})
			r.order = append(r.order, c)
		}
	}
	r.key = row.NewKey(key)
	r.builder.Reset(0, false)
	return r
}

// Bound makes what is kept of a plan's first tick as little as the plan allows. consolidated says that the
// snapshots must come consolidated for that. failing says that errors may be stored among the rows of a
// collection that is read: as they make the whole result an error, all rows are read.
func (r *Result) Bound(p *plan.Dataflow, failing bool) (consolidated bool) {
	if r.want < 0 {
		return false
	}
	consolidated = !p.Positive(false) && p.Positive(true)
	r.Positive = p.Positive(consolidated)
	r.StopsWhenFull = p.Streams() && !failing
	return consolidated
}

// Begin is dataflow.Operator's.
func (r *Result) Begin(int, *dataflow.Tick) {}

// Absorb is dataflow.Operator's.
func (r *Result) Absorb(lane *dataflow.Lane, _, _ int, b *vec.Block) {
	if err := r.Add(b); err != nil {
		lane.Abort(err)
	}
	if r.StopsWhenFull && r.Full() {
		lane.Stop()
	}
}

// Full says that further rows would change nothing.
func (r *Result) Full() bool {
	return r.want == 0 || r.Positive && r.want > 0 && !r.sorted && r.count >= r.want
}

// Add takes in rows.
func (r *Result) Add(b *vec.Block) error {
	for _, d := range b.Diffs {
		r.negative = r.negative || d < 0
	}
	switch {
	case r.Positive && r.negative:
		return errNegative
	case r.Full():
		return nil
	case r.sorted:
		r.sort(b)
	default:
		r.keep(b)
	}
	if r.bounded() && r.sorted && r.count-r.want >= r.want+dataflow.RoundRows {
		r.addUp()
	}
	if r.max == 0 || r.bytes <= r.checkAt {
		return nil
	}
	if err := r.fits(); err != nil {
		return err
	}
	// Unless much was dropped, adding up again soon would gain nothing.
	r.checkAt = max(r.max, 2*r.bytes)
	return nil
}

// fits adds up what is kept and says so if it is too large even then.
func (r *Result) fits() error {
	r.addUp()
	if r.bytes <= r.max {
		return nil
	}
	return pgerr.Newf(pgerr.ConfigurationLimitExceeded, "result exceeds max size of %d bytes", r.max).
		WithHint("Add a LIMIT, or raise max_query_result_size.")
}

// bounded says that what lies behind the first want rows need not be kept.
func (r *Result) bounded() bool { return r.Positive && r.want >= 0 }

// joinBytes is up to how many bytes rows are put into one block: a few large ones would be more than a vector can hold.
const joinBytes = 4 << 20

// keep keeps rows as they come.
func (r *Result) keep(b *vec.Block) {
	to := 0
	for ; to < b.Len && !r.Full(); to++ {
		r.count += b.Diff(to)
	}
	if n := len(r.rows); n > 0 && r.rows[n-1].Len+to <= dataflow.RoundRows && r.rows[n-1].Size()+b.Size() <= joinBytes {
		r.bytes -= int64(r.rows[n-1].Size())
		r.rows[n-1].AppendRange(b, 0, to)
		r.bytes += int64(r.rows[n-1].Size())
		return
	}
	kept := vec.NewBlock(r.kinds, to)
	kept.AppendRange(b, 0, to)
	r.rows = append(r.rows, kept)
	r.bytes += int64(kept.Size())
}

// sort keeps rows as bytes that sort, but for those behind the last row that is wanted.
func (r *Result) sort(b *vec.Block) {
	for i := range b.Len {
		from := len(r.builder.Data)
		r.builder.Data = r.key.Append(r.builder.Data, b, i)
		added := r.builder.Data[from:]
		if r.last != nil && bytes.Compare(added, r.last) > 0 {
			r.builder.Data = r.builder.Data[:from]
			continue
		}
		r.close(len(added), b.Diff(i))
	}
}

// rowOverhead is about how many bytes a row in the builder takes beside its own.
const rowOverhead = 16

// close ends a row of n bytes in the builder.
func (r *Result) close(n int, diff int64) {
	r.builder.End(diff, 0)
	r.count += diff
	r.bytes += int64(n) + rowOverhead
}

// addUp makes one row of equal ones, so that rows that cancel vanish, and drops what need not be kept. Rows
// without an order are left as they are if none can vanish.
func (r *Result) addUp() {
	if !r.sorted {
		if !r.negative {
			return
		}
		r.unordered()
	}
	var cur arrange.Cursor
	cur.OpenAll(r.builder.Finish())
	cur.First()
	r.builder.Reset(0, false)
	r.count, r.bytes = 0, 0
	for !r.bounded() || r.count < r.want {
		if !cur.Next() {
			return
		}
		diff := cur.Diff()
		if r.bounded() {
			diff = min(diff, r.want-r.count)
		}
		r.builder.Data = append(r.builder.Data, cur.Row()...)
		r.close(len(cur.Row()), diff)
	}
	r.last = append(r.last[:0], cur.Row()...)
}

// unordered begins to sort rows that no order was asked for: to add them up.
func (r *Result) unordered() {
	r.sorted = true
	for _, b := range r.rows {
		r.sort(b)
	}
	r.rows = nil
}

// AbsorbErrors is dataflow.ErrorSink's.
func (r *Result) AbsorbErrors(_ *dataflow.Lane, _ *dataflow.Tick, b *vec.Block) {
	for i := range b.Len {
		if b.Diff(i) > 0 {
			r.errs = append(r.errs, pgerr.Decode(b.Cols[0].Bytes(i)))
		}
	}
}

// Emit is dataflow.Operator's.
func (r *Result) Emit(*dataflow.Lane, int, *dataflow.Output) bool { return false }

// End is dataflow.Operator's.
func (r *Result) End(*dataflow.Lane, int) {}

// Finish makes the gathered rows ready to be read; after it Next gives them.
func (r *Result) Finish() (*Rows, error) {
	if len(r.errs) > 0 {
		return nil, r.errs[0]
	}
	if r.max > 0 && r.bytes > r.max {
		if err := r.fits(); err != nil {
			return nil, err
		}
	}
	out := &Rows{r: r, skip: r.fin.Offset, left: r.fin.Limit}
	if r.negative && !r.sorted {
		r.unordered() // rows that cancel must not be seen
	}
	out.sorted = r.sorted
	if out.sorted {
		out.cur.OpenAll(r.builder.Finish())
		out.cur.First()
		out.buf = vec.NewBlock(r.kinds, 0)
		for _, c := range r.order {
			out.dst = append(out.dst, &out.buf.Cols[c])
		}
	}
	return out, nil
}

var errNegative = pgerr.New(pgerr.InternalError, "invalid data in a result: more rows were deleted than there are")

// Rows is a finished result. It belongs to one goroutine.
type Rows struct {
	r      *Result
	sorted bool
	cur    arrange.Cursor
	buf    *vec.Block
	dst    []*vec.Vec
	skip   int64
	left   int64 // < 0: no limit
}

// Next gives the next rows, nil at the end; borrowed until the next call. Diffs are positive.
func (o *Rows) Next(ctx context.Context) (*vec.Block, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b, err := o.next()
		if err != nil || b == nil {
			return nil, err
		}
		if b = o.cut(b); b == nil {
			return nil, nil
		}
		if b.Len == 0 {
			continue
		}
		return o.project(b), nil
	}
}

func (o *Rows) next() (*vec.Block, error) {
	if !o.sorted {
		if len(o.r.rows) == 0 {
			return nil, nil
		}
		b := o.r.rows[0]
		o.r.rows = o.r.rows[1:]
		return b, nil
	}
	o.buf.Reset()
	for bytes := 0; o.buf.Len < dataflow.RoundRows && bytes < joinBytes && o.cur.Next(); bytes += len(o.cur.Row()) {
		if o.cur.Diff() < 0 {
			return nil, errNegative
		}
		o.r.key.Decode(o.cur.Row(), o.dst)
		o.buf.Diffs = append(o.buf.Diffs, o.cur.Diff())
		o.buf.Len++
	}
	if o.buf.Len == 0 {
		return nil, nil
	}
	return o.buf, nil
}

// cut applies offset and limit; nil means that the limit was reached before this block.
func (o *Rows) cut(b *vec.Block) *vec.Block {
	if o.left == 0 {
		return nil
	}
	if o.skip == 0 && o.left < 0 {
		return b
	}
	out := vec.NewBlock(b.Kinds(), b.Len)
	for i := range b.Len {
		n := b.Diff(i)
		drop := min(o.skip, n)
		o.skip -= drop
		n -= drop
		if o.left >= 0 {
			n = min(n, o.left)
			o.left -= n
		}
		if n > 0 {
			out.AppendFrom(b, i, n)
		}
	}
	return out
}

// project picks the result's columns.
func (o *Rows) project(b *vec.Block) *vec.Block {
	if o.r.fin.Project == nil {
		return b
	}
	out := &vec.Block{Len: b.Len, Diffs: b.Diffs}
	for _, c := range o.r.fin.Project {
		out.Cols = append(out.Cols, b.Cols[c])
	}
	return out
}
