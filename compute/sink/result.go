package sink

import (
	"context"

	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Result is the sink of a one-off query: it gathers the rows and finishes them (order, offset, limit,
// projection).
type Result struct {
	kinds []types.Kind
	fin   plan.Finishing
	max   int64
	bytes int64
	// rows are kept as they come if no order is asked for; else they are in the builder, as bytes that sort.
	rows     []*vec.Block
	key      *row.Key
	order    []int // the columns in the key's order
	builder  arrange.Builder
	negative bool
	errs     []*pgerr.Error
}

// NewResult makes the sink for rows of the given types. maxBytes bounds what is gathered; 0 is no bound.
func NewResult(cols []types.T, fin plan.Finishing, maxBytes int64) *Result {
	r := &Result{fin: fin, max: maxBytes}
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

// Begin is dataflow.Operator's.
func (r *Result) Begin(int, *dataflow.Tick) {}

// Absorb is dataflow.Operator's.
func (r *Result) Absorb(lane *dataflow.Lane, _, _ int, b *vec.Block) {
	if err := r.Add(b); err != nil {
		lane.Abort(err)
	}
}

// Add takes in rows.
func (r *Result) Add(b *vec.Block) error {
	r.bytes += int64(b.Size())
	if r.max > 0 && r.bytes > r.max {
		return pgerr.Newf(pgerr.ConfigurationLimitExceeded, "result exceeds max size of %d bytes", r.max).
			WithHint("Add a LIMIT, or raise max_query_result_size.")
	}
	for _, d := range b.Diffs {
		r.negative = r.negative || d < 0
	}
	if len(r.fin.Order) == 0 {
		r.keep(b)
		return nil
	}
	for i := range b.Len {
		r.builder.Data = r.key.Append(r.builder.Data, b, i)
		r.builder.End(b.Diff(i), 0)
	}
	return nil
}

func (r *Result) keep(b *vec.Block) {
	if n := len(r.rows); n > 0 && r.rows[n-1].Len+b.Len <= dataflow.RoundRows {
		r.rows[n-1].AppendBlock(b)
		return
	}
	r.rows = append(r.rows, b.Clone())
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
	out := &Rows{r: r, skip: r.fin.Offset, left: r.fin.Limit}
	if len(r.fin.Order) == 0 && r.negative {
		// Rows that cancel must not be seen: sort them after all.
		for _, b := range r.rows {
			for i := range b.Len {
				r.builder.Data = r.key.Append(r.builder.Data, b, i)
				r.builder.End(b.Diff(i), 0)
			}
		}
		r.rows = nil
	}
	out.sorted = len(r.fin.Order) > 0 || r.negative
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
	for o.buf.Len < dataflow.RoundRows && o.cur.Next() {
		if o.cur.Diff() < 0 {
			return nil, pgerr.New(pgerr.InternalError, "invalid data in a result: more rows were deleted than there are")
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
