package shard

import (
	"context"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Shard is a process's one handle on a shard. It is safe for concurrent use.
type Shard struct {
	id ID
}

// ID is the shard's name.
func (s *Shard) ID() ID { return s.id }

// Upper is the physical upper: complete below it, durably.
func (s *Shard) Upper() tvc.Frontier { panic("sketch") }

// Since is the least as-of that can be read.
func (s *Shard) Since() tvc.Frontier { panic("sketch") }

// Schema is the latest schema and its number.
func (s *Shard) Schema() (Schema, SchemaID) { panic("sketch") }

// IsSealed says whether the shard has been dropped.
func (s *Shard) IsSealed() bool { panic("sketch") }

// FingerprintKey is the key of the shard's fingerprints (tvc.NewFingerprinter).
func (s *Shard) FingerprintKey() tvc.FingerprintKey { panic("sketch") }

// Fingerprint is the fingerprint of all updates below Upper, both of one moment.
func (s *Shard) Fingerprint() (tvc.Fingerprint, tvc.Frontier) { panic("sketch") }

// Watch sends on ch, without waiting, whenever upper has moved or the shard was sealed, until cancel is
// called. One slot is enough: a full channel already means "look again".
func (s *Shard) Watch(ch chan<- struct{}) (cancel func()) { panic("sketch") }

// ScanOptions says what a scan gives.
type ScanOptions struct {
	// Project lists the columns to give, in this order; nil gives all. The error column of a schema with
	// Errors is number len(Rel.Cols).
	Project []int
	// Consolidate gives the rows sorted, each (at each time, for Updates) once, zeros left out. Rows are
	// consolidated before they are projected.
	Consolidate bool
}

// Snapshot reads the contents at asOf: blocks with diffs and without times. Unless consolidated, a row may
// come several times, with diffs that add up to its count, also negative ones. Refused with an error if asOf
// is before Since; asOf may lie at or past Upper: the caller knows that the shard is complete through it.
func (s *Shard) Snapshot(ctx context.Context, asOf tvc.Time, o ScanOptions) (*Scan, error) {
	panic("sketch")
}

// Updates reads exactly the updates at times in [lower, upper) that lie below Upper, each with its time. It
// needs since < lower, unless lower is 0: a bound or hold at lower-1 keeps that true.
func (s *Shard) Updates(ctx context.Context, lower, upper tvc.Frontier, o ScanOptions) (*Scan, error) {
	panic("sketch")
}

// Scan is a stream of blocks. It keeps what it reads from being deleted until Close.
type Scan struct{}

// Next gives the next block, nil at the end. The block is borrowed until the next call and is never written
// to: it may be shared with other readers.
func (s *Scan) Next(ctx context.Context) (*vec.Block, error) { panic("sketch") }

// Close ends the scan. It must be called once, also after an error.
func (s *Scan) Close() { panic("sketch") }

// Origin says whose bytes something is, in metrics.
type Origin uint8

const (
	OriginAppend Origin = iota
	OriginCompaction
	OriginRollup
)

// WriterOptions says how rows are written.
type WriterOptions struct {
	// Spill lets Add write full parts as objects while more rows come; without it (a sink's staging) the
	// rows stay in memory until Finish.
	NoInline bool
}

// NewWriter begins to write rows for the shard, bound to its latest schema.
func (s *Shard) NewWriter(o WriterOptions) *Writer { panic("sketch") }

// Writer turns blocks into sorted parts. Full-size parts are put as objects while more rows are added; the
// rest is decided by Finish: up to storage_inline_append_max_bytes it is inline, else one more object.
type Writer struct{}

// Add adds rows of the shard's stored columns (Schema.Kinds). All blocks of a writer have times, or none has:
// then they get their time from the Append. The block is not kept.
func (w *Writer) Add(ctx context.Context, b *vec.Block) error { panic("sketch") }

// Finish gives what was written; the writer is used up.
func (w *Writer) Finish(ctx context.Context) (*Written, error) { panic("sketch") }

// Abort drops what was written so far and deletes its objects.
func (w *Writer) Abort(ctx context.Context) { panic("sketch") }

// Written is sorted parts that no state names yet: durable objects, and rows that will be inline. It is used
// in one Append, which may be tried again until it is done; or else Discard.
type Written struct{}

// Totals says what is in it: how many updates, Σ diff, and the fingerprint (without times).
func (w *Written) Totals() Totals { panic("sketch") }

// Objects and Inline count its parts.
func (w *Written) Objects() int { panic("sketch") }

// Inline says whether it holds an inline part.
func (w *Written) Inline() bool { panic("sketch") }

// Discard deletes the objects of what was determinately not appended.
func (w *Written) Discard(ctx context.Context) { panic("sketch") }

// Totals are linear sums over updates: equal for equal multisets of rows, however they are cut.
type Totals struct {
	Rows        int64
	DiffSum     int64
	Fingerprint tvc.Fingerprint
}
