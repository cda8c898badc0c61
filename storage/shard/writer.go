package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/meter"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/tvc"
)

const (
	// partBytes is the size at which rows become an object: large enough that putting it costs little beside
	// encoding it, small enough that a merge of some tens of runs holds one of each.
	partBytes = 8 << 20
	// putsInFlight is how many objects of a writer are being put while it goes on.
	putsInFlight = 2
)

// WriterOptions says how rows are written.
type WriterOptions struct {
	// InlineMax, if it is not 0, stands in for storage_inline_append_max_bytes. Below 0, everything becomes an object.
	InlineMax int
}

// NewWriter begins to write rows for the shard, bound to its latest schema.
func (s *Shard) NewWriter(o WriterOptions) *Writer {
	schema, id := s.Schema()
	return s.newWriter(schema, id, o, OriginAppend)
}

func (s *Shard) newWriter(schema Schema, id SchemaID, o WriterOptions, origin Origin) *Writer {
	w := &Writer{
		sh: s, kinds: schema.Kinds(), options: o,
		sums:     tvc.NewFingerprinter(s.FingerprintKey(), schema.Errors),
		encoders: make(chan *part.Encoder, putsInFlight),
		out:      &Written{sh: s, schema: id, origin: origin},
	}
	w.pending = vec.NewBlock(w.kinds, 0)
	for range putsInFlight {
		w.encoders <- s.client.codec.NewEncoder()
	}
	return w
}

// Writer turns blocks into sorted parts. Full-size parts are put as objects while more rows are added; the
// rest is decided by Finish: up to storage_inline_append_max_bytes it is inline, else one more object. It
// starts goroutines that put objects; Finish and Abort wait for them.
type Writer struct {
	sh      *Shard
	kinds   []types.Kind
	options WriterOptions
	// shares: see ShareInline.
	shares int
	// sorted says that rows come in order and consolidated, so that all parts are one run.
	sorted bool
	sorter part.Sorter
	sums   *tvc.Fingerprinter

	// pending are rows that are in no part yet.
	pending *vec.Block
	// any says that there were rows, timed that they have times.
	any, timed bool
	out        *Written

	// encoders are those that are free: one is with each object that is being put.
	encoders chan *part.Encoder
	puts     sync.WaitGroup
	mu       struct {
		sync.Mutex
		err error // of the first put that failed
	}
}

// Add adds rows of the shard's stored columns (Schema.Kinds). All blocks of a writer have times, or none has:
// then they get their time from the Append. The block is not kept. A shard that has been dropped has no columns any
// more: ErrSealed.
func (w *Writer) Add(ctx context.Context, b *vec.Block) error {
	if b.Len == 0 {
		return nil
	}
	if !slices.Equal(b.Kinds(), w.kinds) {
		if w.sh.IsSealed() {
			return fmt.Errorf("write to shard %s: %w", w.sh.id, ErrSealed)
		}
		return fmt.Errorf("write to shard %s: columns %v where %v are stored", w.sh.id, b.Kinds(), w.kinds)
	}
	if w.any && w.timed != (b.Times != nil) {
		return fmt.Errorf("write to shard %s: some rows have times and some have not", w.sh.id)
	}
	w.any, w.timed = true, b.Times != nil
	// A large block is taken in pieces, so that no part grows far past its size.
	piece := min(part.BlockRows, 1+partBytes*b.Len/(b.Size()+1))
	for from := 0; from < b.Len; from += piece {
		w.pending.AppendRange(b, from, min(b.Len, from+piece))
		if w.pending.Size() >= partBytes {
			if err := w.flush(ctx, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush makes a part of the pending rows. The last one may be inline.
func (w *Writer) flush(ctx context.Context, last bool) error {
	rows := w.pending
	if !w.sorted {
		var err error
		if rows, err = w.sorter.Consolidate(w.pending); err != nil {
			return fmt.Errorf("write to shard %s: %w", w.sh.id, err)
		}
	}
	if rows == w.pending {
		// The part keeps it; the next one will have about as many rows.
		w.pending = vec.NewBlock(w.kinds, rows.Len+rows.Len/8)
	} else {
		w.pending.Reset()
		w.pending.Diffs, w.pending.Times = nil, nil
	}
	if rows.Len == 0 {
		return nil
	}
	p := &partRef{schema: w.out.schema, rows: rows.Len, slot: &slot{}}
	rows = w.note(rows, p)
	if last && w.mayInline(rows) && !invariants.Sometimes(5) {
		inline := part.AppendInline(make([]byte, 0, rows.Size()/2+64), rows)
		if len(inline) <= w.inlineMax() {
			p.inline = slices.Clip(inline)
			w.add(p, []*vec.Block{rows})
			return nil
		}
	}
	return w.put(ctx, p, rows)
}

func (w *Writer) inlineMax() int {
	return cmp.Or(w.options.InlineMax, w.sh.client.inlineMax()) / max(1, w.shares)
}

// ShareInline says, before Finish, that an append has the parts of so many writers: they share what may be inline.
func (w *Writer) ShareInline(writers int) { w.shares = writers }

// mayInline says whether the rows are few enough that encoding them inline is worth a try. A shard whose drain
// lags takes no more.
func (w *Writer) mayInline(rows *vec.Block) bool {
	// In the leanest case a row takes about an eighth of its size in memory.
	return rows.Size() <= 8*w.inlineMax() && w.sh.current().inlineBytes < inlineTotalMax
}

// inlineTotalMax is how many inline bytes a shard's state may hold before appends write objects.
const inlineTotalMax = 1 << 20

// note adds the rows to the sums and finds out about their times. Times that are all the same leave the block.
func (w *Writer) note(rows *vec.Block, p *partRef) *vec.Block {
	t := Totals{Rows: int64(rows.Len)}
	if rows.Times == nil {
		t.Fingerprint = w.sums.Rows(rows)
	} else {
		var moves tvc.Fingerprint
		t.Fingerprint, moves = w.sums.Both(rows, 0)
		w.out.moves = w.out.moves.Add(moves)
	}
	if rows.Diffs == nil {
		t.DiffSum = int64(rows.Len)
	}
	for _, d := range rows.Diffs {
		t.DiffSum += d
	}
	w.out.totals = w.out.totals.Add(t)
	if rows.Times == nil {
		w.out.stamp = true
		return rows
	}
	p.times.min, p.times.max = tvc.Time(slices.Min(rows.Times)), tvc.Time(slices.Max(rows.Times))
	if len(w.out.runs) == 0 {
		w.out.times = p.times
	}
	w.out.times.min, w.out.times.max = min(w.out.times.min, p.times.min), max(w.out.times.max, p.times.max)
	if p.times.own = p.times.min != p.times.max; p.times.own {
		return rows
	}
	same := *rows
	same.Times = nil
	return &same
}

// add notes a part that is made, or is being put.
func (w *Writer) add(p *partRef, blocks []*vec.Block) {
	if w.sorted && len(w.out.runs) > 0 {
		w.out.runs[0] = append(w.out.runs[0], p)
	} else {
		w.out.runs = append(w.out.runs, run{p})
	}
	// Besides its rows, a part costs what its vectors and its place in the cache take.
	d := &decoded{blocks: blocks, size: 256}
	for _, b := range blocks {
		d.size += int64(b.Size())
	}
	w.sh.client.cache.put(p.slot, d, w.sh.client.cacheMax())
}

// put encodes the rows as an object and begins to put it.
func (w *Writer) put(ctx context.Context, p *partRef, rows *vec.Block) error {
	var e *part.Encoder
	select {
	case e = <-w.encoders:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := w.failed(); err != nil {
		w.encoders <- e
		return err
	}
	blocks := pieces(rows)
	data, err := e.Encode(blocks, part.EncodeOptions{
		Schema: uint32(p.schema), Compress: w.out.origin == OriginCompaction})
	if err != nil {
		w.encoders <- e
		return fmt.Errorf("write to shard %s: %w", w.sh.id, err)
	}
	p.object = w.sh.client.newObject()
	p.size, p.stats = int64(len(data)), part.StatsOf(blocks)
	w.add(p, blocks)
	w.puts.Go(func() {
		err := w.sh.put(ctx, partKey(w.sh.id, p.object), data, w.out.origin)
		if err != nil {
			w.mu.Lock()
			w.mu.err = errors.Join(w.mu.err, err)
			w.mu.Unlock()
		}
		w.encoders <- e
	})
	return nil
}

func (w *Writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.err
}

// pieces cuts rows into the blocks of an object.
func pieces(rows *vec.Block) []*vec.Block {
	n := min(part.BlockRows, 1+part.BlockBytes*rows.Len/(rows.Size()+1))
	if rows.Len <= n {
		return []*vec.Block{rows}
	}
	var out []*vec.Block
	for at := 0; at < rows.Len; at += n {
		out = append(out, rows.Slice(at, min(rows.Len, at+n)))
	}
	return out
}

// Finish gives what was written; the writer is used up. After an error, what had been put is deleted.
func (w *Writer) Finish(ctx context.Context) (*Written, error) {
	err := w.flush(ctx, true)
	put := meter.Stopwatch(&w.out.putWait)
	w.puts.Wait()
	put()
	if err = errors.Join(err, w.failed()); err != nil {
		w.out.Discard(ctx)
		return nil, err
	}
	return w.out, nil
}

// Abort drops what was written so far and deletes its objects.
func (w *Writer) Abort(ctx context.Context) {
	w.puts.Wait()
	w.out.Discard(ctx)
}

// Written is sorted parts that no state names yet: durable objects, and rows that will be inline. It is used
// in one Append, which may be tried again until it is done; or else Discard.
type Written struct {
	sh     *Shard
	schema SchemaID
	runs   []run
	totals Totals
	moves  tvc.Fingerprint
	// stamp says that the rows have no times yet; else times bounds theirs.
	stamp   bool
	times   timesOf
	origin  Origin
	putWait time.Duration
}

// PutWait is how long the writer's Finish waited for objects to be put.
func (w *Written) PutWait() time.Duration { return w.putWait }

// Totals says what is in it.
func (w *Written) Totals() Totals { return w.totals }

// Moves is Σ diff·H(row, time) of the updates that have times: two writers that split the same updates
// differently come to the same sum.
func (w *Written) Moves() tvc.Fingerprint { return w.moves }

// Objects counts the objects.
func (w *Written) Objects() int {
	n := 0
	for _, r := range w.runs {
		for _, p := range r {
			if !p.isInline() {
				n++
			}
		}
	}
	return n
}

// Inline counts the inline parts: none or one.
func (w *Written) Inline() int {
	n := -w.Objects()
	for _, r := range w.runs {
		n += len(r)
	}
	return n
}

// Bytes is how large the parts are, encoded.
func (w *Written) Bytes() int64 {
	n := int64(0)
	for _, r := range w.runs {
		for _, p := range r {
			n += p.bytes()
		}
	}
	return n
}

// Discard deletes the objects of what was determinately not appended, also when ctx has ended. What cannot be
// deleted is left to the sweep of the next process.
func (w *Written) Discard(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, r := range w.runs {
		for _, p := range r {
			w.sh.client.cache.drop(p.slot)
			if !p.isInline() {
				w.sh.client.delete(ctx, partKey(w.sh.id, p.object))
			}
		}
	}
	w.runs = nil
}

// Totals are linear sums over updates: equal for equal multisets of rows, however they are cut.
type Totals struct {
	Rows        int64
	DiffSum     int64
	Fingerprint tvc.Fingerprint
}

// Add gives the sums of both.
func (t Totals) Add(u Totals) Totals {
	return Totals{t.Rows + u.Rows, t.DiffSum + u.DiffSum, t.Fingerprint.Add(u.Fingerprint)}
}
