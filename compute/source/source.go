// Package source brings collections into dataflows: the contents at the as-of first, then every change.
//
// Promises: what an Input gives, added up to a time, is the collection's contents at that time; errors
// stored in a view's rows come apart from the rows; nothing is read twice or left out, whatever the
// boundaries of ticks.
//
// An Input belongs to its dataflow's goroutine.
package source

import (
	"context"
	"slices"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Input is a collection as one dataflow reads it.
type Input struct {
	ID    tvc.ID
	Shard *shard.Shard
	// Consolidate makes a Snapshot give each row once, with its count.
	Consolidate bool

	errs bool
	// cols is how many columns rows have; project lists them and the error column, nil for all.
	cols    int
	project []int
	filter  shard.Filter
	// read is the physical upper read through.
	read tvc.Frontier
	// small gathers blocks that are not worth a round each. Streams of one input are not read side by side.
	small *vec.Block
}

// New makes the input of a collection: of the columns listed, nil for all, and of no rows but those that the filter
// wants, though of others too. Errors come in any case.
func New(id tvc.ID, sh *shard.Shard, cols []int, filter shard.Filter) *Input {
	schema, _ := sh.Schema()
	in := &Input{ID: id, Shard: sh, errs: schema.Errors, cols: len(schema.Rel.Cols), filter: filter}
	kinds := schema.Rel.Kinds()
	if cols != nil {
		all := kinds
		kinds = make([]types.Kind, len(cols))
		for i, c := range cols {
			kinds[i] = all[c]
		}
		in.cols, in.project = len(cols), slices.Clip(cols)
		if in.errs {
			in.project = append(in.project, len(schema.Rel.Cols))
		}
	}
	if filter.Any != nil && in.errs {
		in.filter.Wants = in.wants(filter.Wants)
	}
	in.small = vec.NewBlock(kinds, 0)
	return in
}

// wants says of blocks with an error column whether they are wanted.
func (in *Input) wants(rows func(*vec.Block) bool) func(*vec.Block) bool {
	return func(b *vec.Block) bool {
		return anyValid(&b.Cols[in.cols]) || rows(&vec.Block{Len: b.Len, Cols: b.Cols[:in.cols]})
	}
}

// options say what is read.
func (in *Input) options() shard.ScanOptions {
	return shard.ScanOptions{Project: in.project, Filter: in.filter}
}

// HasErrors says that the rows may have errors among them.
func (in *Input) HasErrors() bool { return in.errs }

// Read is the physical upper read through.
func (in *Input) Read() tvc.Frontier { return in.read }

// Stream is blocks of a collection's columns, with the errors among its rows apart.
type Stream struct {
	in   *Input
	scan *shard.Scan
	// ahead is a block that comes after those that were gathered.
	ahead *vec.Block
	// uniform leaves the times out.
	uniform bool
	// Upper is through where it reads.
	Upper tvc.Frontier
	// Errs are the errors met so far: one Bytes column, with diffs and, for updates, times. Whoever takes
	// them sets it to nil.
	Errs *vec.Block
}

// Snapshot reads the contents at asOf, through which the collection must be complete. It counts as read
// once Advance says so, as do Updates.
func (in *Input) Snapshot(ctx context.Context, asOf tvc.Time) (*Stream, error) {
	o := in.options()
	o.Consolidate = in.Consolidate
	scan, err := in.Shard.Snapshot(ctx, asOf, o)
	if err != nil {
		return nil, err
	}
	return &Stream{in: in, scan: scan, Upper: scan.Upper()}, nil
}

// Updates reads the changes since what was read before, up to the time bound; nil if there can be none.
// The collection is known to have none below lower that were not read.
func (in *Input) Updates(ctx context.Context, lower, bound tvc.Frontier) (*Stream, error) {
	upper := min(in.Shard.Upper(), bound)
	lower = max(lower, in.read)
	if upper <= lower {
		return nil, nil
	}
	scan, err := in.Shard.Updates(ctx, lower, upper, in.options())
	if err != nil {
		return nil, err
	}
	return &Stream{in: in, scan: scan, Upper: upper}, nil
}

// Cut gives a frontier at most bound such that about so many rows at most are left to be read below it.
func (in *Input) Cut(lower, bound tvc.Frontier, rows int) tvc.Frontier {
	lower = max(lower, in.read)
	if bound <= lower {
		return bound
	}
	return in.Shard.Cut(lower, bound, rows)
}

// Advance says that everything below upper was read.
func (in *Input) Advance(upper tvc.Frontier) { in.read = max(in.read, upper) }

// Times says between which times the changes lie; ok is false if there are none.
func (s *Stream) Times() (first, last tvc.Time, ok bool) { return s.scan.Times() }

// Rows says how many there are at most.
func (s *Stream) Rows() int { return s.scan.Rows() }

// Uniform leaves the times out of the blocks: all are the same.
func (s *Stream) Uniform() { s.uniform = true }

// A block of smallRows rows, or of smallBytes however few they are, is worth a round of its own; smaller ones are put
// together. Without the second bound, large rows that lie in an object each would be copied again and again, and be more
// than a vector can hold.
const (
	smallRows  = 2048
	smallBytes = 1 << 20
)

// small says that a block is not worth a round of its own.
func small(b *vec.Block) bool { return b.Len < smallRows && b.Size() < smallBytes }

// Next gives the next block, nil at the end; borrowed until the next call.
func (s *Stream) Next(ctx context.Context) (*vec.Block, error) {
	if b := s.ahead; b != nil {
		s.ahead = nil
		return s.timed(b), nil
	}
	gathered := s.in.small
	gathered.Reset()
	for small(gathered) {
		b, err := s.next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		if !small(b) {
			if gathered.Len == 0 {
				return s.timed(b), nil
			}
			s.ahead = b
			break
		}
		gathered.AppendBlock(b)
	}
	if gathered.Len == 0 {
		return nil, nil
	}
	return s.timed(gathered), nil
}

// timed takes the times off, if that is asked for.
func (s *Stream) timed(b *vec.Block) *vec.Block {
	if !s.uniform || b.Times == nil {
		return b
	}
	return &vec.Block{Len: b.Len, Cols: b.Cols, Diffs: b.Diffs}
}

// next gives the scan's next block without the errors.
func (s *Stream) next(ctx context.Context) (*vec.Block, error) {
	for {
		b, err := s.scan.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if !s.in.errs {
			return b, nil
		}
		if b = s.split(b); b.Len > 0 {
			return b, nil
		}
	}
}

// split takes the errors out of a view's block.
func (s *Stream) split(b *vec.Block) *vec.Block {
	col := &b.Cols[s.in.cols]
	rows := &vec.Block{Len: b.Len, Cols: b.Cols[:s.in.cols:s.in.cols], Diffs: b.Diffs, Times: b.Times}
	if !anyValid(col) {
		return rows
	}
	var good, bad []int32
	for i := range b.Len {
		if col.IsNull(i) {
			good = append(good, int32(i))
		} else {
			bad = append(bad, int32(i))
		}
	}
	if s.Errs == nil {
		s.Errs = vec.NewBlock([]types.Kind{types.Bytes}, len(bad))
	}
	s.Errs.AppendSel(&vec.Block{Len: b.Len, Cols: b.Cols[s.in.cols:], Diffs: b.Diffs, Times: b.Times}, bad)
	out := vec.NewBlock(rows.Kinds(), len(good))
	out.AppendSel(rows, good)
	return out
}

// anyValid says whether a vector has a value that is not NULL.
func anyValid(v *vec.Vec) bool {
	if v.Valid == nil {
		return v.Len > 0
	}
	for i := 0; i < v.Len; i += 8 {
		bits := v.Valid[i>>3]
		if n := v.Len - i; n < 8 {
			bits &= 1<<n - 1
		}
		if bits != 0 {
			return true
		}
	}
	return false
}

// Close ends the stream.
func (s *Stream) Close() { s.scan.Close() }
