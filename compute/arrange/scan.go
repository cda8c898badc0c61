package arrange

import "bytes"

// Scan reads one run update by update, without adding anything up. The zero Scan is at no run.
type Scan struct{ pos }

// Over makes s stand at the first update of the run.
func (s *Scan) Over(r *Run) { s.pos = pos{run: r} }

// Valid says whether s stands at an update.
func (s *Scan) Valid() bool { return s.run != nil && s.valid() }

// Row is the current row, borrowed from the run.
func (s *Scan) Row() []byte { return s.row() }

// Diff is the current update's diff.
func (s *Scan) Diff() int64 { return s.diff() }

// Time is the current update's time.
func (s *Scan) Time() uint64 { return s.time() }

// Next moves to the next update.
func (s *Scan) Next() { s.next() }

// Seek moves forward to the first row that is not before target.
func (s *Scan) Seek(target []byte) { s.seek(target) }

// Restart moves to the first row of the run that is not before target, wherever s stands now.
func (s *Scan) Restart(target []byte) { s.pos = s.run.start(target) }

// Has says whether s stands at a row with the prefix.
func (s *Scan) Has(prefix []byte) bool { return s.valid() && bytes.HasPrefix(s.row(), prefix) }
