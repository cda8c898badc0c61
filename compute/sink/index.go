package sink

import (
	"sync"

	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/op"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Index is the sink of an index: the result, arranged by key, to be read at any time from its since on.
type Index struct {
	*op.Arrange
	workers int
	mu      struct {
		sync.Mutex
		since tvc.Frontier
		errs  []errUpdate
	}
}

type errUpdate struct {
	err  string
	at   tvc.Time
	diff int64
}

// NewIndex makes the sink for rows of the given types, keyed by some columns.
func NewIndex(workers int, cols []types.T, keys []int, since tvc.Frontier) *Index {
	kinds := make([]types.Kind, len(cols))
	for i, c := range cols {
		kinds[i] = c.Kind()
	}
	x := &Index{Arrange: op.NewArrange(workers, op.NewLayout(kinds, keys, nil), nil), workers: workers}
	x.mu.since = since
	x.Arrange.Since = x.Since
	return x
}

// Since is from when on the index can be read. Safe for concurrent use, as are Compact, Err and Read.
func (x *Index) Since() tvc.Frontier {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mu.since
}

// Compact promises that nobody will read before since.
func (x *Index) Compact(since tvc.Frontier) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mu.since = max(x.mu.since, since)
}

// AbsorbErrors is dataflow.ErrorSink's.
func (x *Index) AbsorbErrors(_ *dataflow.Lane, t *dataflow.Tick, b *vec.Block) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range b.Len {
		at := t.At
		if b.Times != nil {
			at = tvc.Time(b.Times[i])
		}
		x.mu.errs = append(x.mu.errs, errUpdate{err: string(b.Cols[0].Bytes(i)), at: at, diff: b.Diff(i)})
	}
	x.mu.errs = compactErrs(x.mu.errs, x.mu.since)
}

// compactErrs adds up what happened before since.
func compactErrs(errs []errUpdate, since tvc.Frontier) []errUpdate {
	sums := map[string]int64{}
	for _, e := range errs {
		if since.Past(e.at) {
			sums[e.err] += e.diff
		}
	}
	kept := errs[:0]
	for _, e := range errs {
		if !since.Past(e.at) {
			kept = append(kept, e)
			continue
		}
		if n := sums[e.err]; n != 0 {
			kept = append(kept, errUpdate{err: e.err, at: e.at, diff: n})
			sums[e.err] = 0
		}
	}
	return kept
}

// Err gives the error that stands in the place of the index's rows at a time, if there is one.
func (x *Index) Err(at tvc.Time) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	sums := map[string]int64{}
	for _, e := range x.mu.errs {
		if e.at <= at {
			sums[e.err] += e.diff
		}
	}
	least := ""
	for e, n := range sums {
		if n > 0 && (least == "" || e < least) {
			least = e
		}
	}
	if least == "" {
		return nil
	}
	return pgerr.Decode([]byte(least))
}

// Read gives the rows with the given keys (all rows if keys is nil) at a time: it appends them to blocks of
// the relation's columns and calls emit for each block, which is borrowed.
func (x *Index) Read(at tvc.Time, keys *vec.Block, emit func(*vec.Block) error) error {
	layout := x.Layout()
	out := vec.NewBlock(layout.Kinds(), 0)
	reader := layout.Reader()
	dst := make([]*vec.Vec, len(out.Cols))
	for c := range dst {
		dst[c] = &out.Cols[c]
	}
	reader.Into(dst)
	var cur arrange.Cursor
	drain := func() error {
		for cur.Next() {
			if cur.Diff() < 0 {
				return pgerr.New(pgerr.InternalError, "invalid data in an index: more rows were deleted than there are")
			}
			reader.Read(cur.Row())
			out.Diffs = append(out.Diffs, cur.Diff())
			out.Len++
			if out.Len == dataflow.RoundRows {
				if err := emit(out); err != nil {
					return err
				}
				out.Reset()
			}
		}
		return nil
	}
	out.Diffs = []int64{}
	if keys == nil {
		for w := range x.workers {
			cur.Open(x.Old(w), at)
			cur.First()
			if err := drain(); err != nil {
				return err
			}
		}
		return emit(out)
	}
	var key []byte
	var vals []vec.Datum
	for i, h := range keys.Hash(upTo(len(keys.Cols)), nil) {
		vals = keys.Row(i, vals)
		key = layout.AppendKeyOf(key[:0], vals)
		cur.Open(x.Old(vec.Worker(h, x.workers)), at)
		cur.Seek(key, nil)
		if err := drain(); err != nil {
			return err
		}
	}
	return emit(out)
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
