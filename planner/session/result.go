package session

import (
	"context"
	"errors"

	"github.com/tributary-db/tributary/planner/copydata"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Column is one column of a result.
type Column struct {
	Name string
	Type types.T
}

// Rows gives rows block by block. It belongs to one goroutine.
type Rows interface {
	// Next gives the next rows, at least one; nil at the end. The block has no diffs and is borrowed until the
	// next call.
	Next(ctx context.Context) (*vec.Block, error)
	// Close gives back what the rows hold. Calling it again does nothing.
	Close()
}

// Result is what one statement gives while it runs. It must be brought to its end by Finish or Fail.
type Result struct {
	// Columns describe the rows; nil if there are none to come.
	Columns []Column
	// CopyIn is set for COPY FROM STDIN: the client's data goes there.
	CopyIn *CopyIn
	// CopyOut is set for COPY TO STDOUT: it says how the rows are written.
	CopyOut *copydata.Format
	// Stream says that rows come as time passes, so what there is should be sent on at once.
	Stream bool

	s       *Session
	stmt    *statement
	rows    *blockReader
	tag     func(rows int64) string
	count   int64
	limit   int64 // of rows in this portion; 0: none
	portion int64 // rows given in this portion
	// commit ends the transaction that the statement is all of, before its tag is given.
	commit bool
	// portal, if set, keeps the rows that the limit left.
	portal *portal
	// names are the columns that Render has found to be names.
	names []nameColumn
	done  bool
}

// HasRows says whether rows are to be sent.
func (r *Result) HasRows() bool { return r.rows != nil }

// Next gives the next rows, nil at the end or at the limit. The block is borrowed until the next call.
func (r *Result) Next() (*vec.Block, error) {
	most := 0
	if r.limit > 0 {
		if most = int(r.limit - r.portion); most == 0 {
			return nil, nil
		}
	}
	b, err := r.rows.next(r.stmt.ctx, most)
	if err != nil || b == nil {
		return nil, err
	}
	r.count += int64(b.Len)
	r.portion += int64(b.Len)
	if r.names != nil {
		return r.named(b)
	}
	return b, nil
}

// Suspended says, after the last block, whether the limit was reached: there may be more rows, and the portal can
// be run on. Such a result needs no Finish.
func (r *Result) Suspended() bool { return r.limit > 0 && r.portion >= r.limit }

// Suspend ends this portion of the result.
func (r *Result) Suspend() {
	if !r.done {
		r.done = true
		r.s.suspend(r)
	}
}

// Finish ends a statement whose rows have all been taken, commits if the statement is a transaction of its own, and
// gives the command tag.
func (r *Result) Finish() (string, error) {
	if r.done {
		return "", errors.New("session: result finished twice")
	}
	r.done = true
	return r.s.finish(r)
}

// Fail ends a statement that came to nothing: by the given error of its own, or because the client has gone.
func (r *Result) Fail(err error) {
	if !r.done {
		r.done = true
		r.s.fail(r, err)
	}
}

// blockReader hands out the blocks of Rows in pieces of at most so many rows.
type blockReader struct {
	rows Rows
	left *vec.Block // what a limit left of the last block
}

func (b *blockReader) next(ctx context.Context, most int) (*vec.Block, error) {
	block := b.left
	b.left = nil
	for block == nil || block.Len == 0 {
		var err error
		if block, err = b.rows.Next(ctx); block == nil || err != nil {
			return nil, err
		}
	}
	if most > 0 && block.Len > most {
		b.left = block.Slice(most, block.Len)
		return block.Slice(0, most), nil
	}
	return block, nil
}

func (b *blockReader) close() {
	if b != nil {
		b.left = nil
		b.rows.Close()
	}
}

// fixedRows are rows that are there already.
type fixedRows struct{ blocks []*vec.Block }

func (f *fixedRows) Next(context.Context) (*vec.Block, error) {
	if len(f.blocks) == 0 {
		return nil, nil
	}
	b := f.blocks[0]
	f.blocks = f.blocks[1:]
	return b, nil
}

func (f *fixedRows) Close() { f.blocks = nil }

// textRows makes a result's rows of texts: one column for each.
func textRows(rows ...[]string) *fixedRows {
	if len(rows) == 0 {
		return &fixedRows{}
	}
	b := &vec.Block{Len: len(rows), Cols: make([]vec.Vec, len(rows[0]))}
	for c := range b.Cols {
		b.Cols[c] = vec.New(types.Bytes, len(rows))
		for _, r := range rows {
			b.Cols[c].AppendString(r[c])
		}
	}
	return &fixedRows{blocks: []*vec.Block{b}}
}

// repeated gives the rows of a cursor of the coordinator's, each as often as it counts.
type repeated struct {
	cursor interface {
		Next(ctx context.Context) (*vec.Block, error)
		Close()
	}
	out *vec.Block
	src *vec.Block
	at  int   // the row of src that is next
	n   int64 // how often it has been given already
}

// repeatRows bounds the blocks that are made of rows that count more than once.
const repeatRows = 1024

func (r *repeated) Next(ctx context.Context) (*vec.Block, error) {
	for r.src == nil || r.at == r.src.Len {
		b, err := r.cursor.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if b.Diffs == nil {
			return b, nil
		}
		r.src, r.at, r.n = b, 0, 0
	}
	if r.out == nil {
		r.out = vec.NewBlock(r.src.Kinds(), repeatRows)
	}
	r.out.Reset()
	for r.out.Len < repeatRows && r.at < r.src.Len {
		if r.n == r.src.Diff(r.at) {
			r.at, r.n = r.at+1, 0
			continue
		}
		if r.src.Diff(r.at) < 0 {
			return nil, pgerr.New(pgerr.InternalError, "a result has rows that count less than zero times")
		}
		for c := range r.out.Cols {
			r.out.Cols[c].AppendFrom(&r.src.Cols[c], r.at)
		}
		r.out.Len++
		r.n++
	}
	if r.out.Len == 0 {
		return r.Next(ctx)
	}
	return r.out, nil
}

func (r *repeated) Close() { r.cursor.Close() }
