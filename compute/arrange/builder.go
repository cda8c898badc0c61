package arrange

import (
	"cmp"
	"slices"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/storage/tvc"
)

const (
	// pieceBytes is how many bytes of rows a Builder gathers before it sorts them: enough to make runs
	// worth having, little enough that sorting stays in a fast part of memory.
	pieceBytes = 4 << 20
	// smallBytes is the size up to which the arena grows by doubling; past it a whole piece's worth is
	// taken at once, since growing a large arena bit by bit copies it many times.
	smallBytes = 128 << 10
)

// Builder gathers the updates of one tick in any order and gives them as runs. Write a row's bytes by
// appending to Data, then call End. The zero Builder is ready after Reset.
type Builder struct {
	// Data is the arena rows are appended to.
	Data  []byte
	offs  []uint32
	diffs []int64
	times []uint64
	at    tvc.Time
	multi bool
	large bool // the arena has room for a piece
	runs  []*Run
	ents  []entry
	sort  sorter
}

// Reset makes ready for a tick whose updates are all at the time at, or (multi) have times of their own.
func (b *Builder) Reset(at tvc.Time, multi bool) {
	b.clear()
	b.at, b.multi, b.runs = at, multi, nil
}

func (b *Builder) clear() {
	b.Data, b.offs, b.diffs, b.times = b.Data[:0], append(b.offs[:0], 0), b.diffs[:0], b.times[:0]
}

// End closes the row whose bytes were appended to Data since the last End. t is its time in a multi tick.
func (b *Builder) End(diff int64, t uint64) {
	if len(b.Data)-int(b.offs[len(b.offs)-1]) > maxRow {
		invariants.Failf("arranged row of %d bytes", len(b.Data)-int(b.offs[len(b.offs)-1]))
	}
	b.offs = append(b.offs, uint32(len(b.Data)))
	b.diffs = append(b.diffs, diff)
	if b.multi {
		b.times = append(b.times, t)
	}
	switch n := len(b.Data); {
	case n >= pieceBytes:
		b.piece()
	case n > smallBytes && !b.large:
		b.enlarge()
	}
}

// enlarge takes room for a whole piece.
func (b *Builder) enlarge() {
	b.large = true
	b.Data = append(make([]byte, 0, pieceBytes+pieceBytes/8), b.Data...)
	rows := len(b.offs) * (pieceBytes / len(b.Data))
	b.offs, b.diffs = slices.Grow(b.offs, rows), slices.Grow(b.diffs, rows)
	b.ents, b.sort.scratch = slices.Grow(b.ents, rows), make([]entry, rows)
	if b.multi {
		b.times = slices.Grow(b.times, rows)
	}
}

// Finish gives what was added as runs, newest last; none if all cancelled. The Builder must be Reset
// before it is used again. A large tick's arena is given back: of each share of each operator that would be much.
func (b *Builder) Finish() []*Run {
	b.piece()
	runs := b.runs
	b.runs = nil
	if b.large {
		*b = Builder{}
	}
	return runs
}

// piece sorts what was gathered into one more run.
func (b *Builder) piece() {
	n := len(b.offs) - 1
	if n == 0 {
		return
	}
	b.ents = b.ents[:0]
	for i := range n {
		b.ents = append(b.ents, entry{idx: uint32(i)})
	}
	b.sort.data, b.sort.offs = b.Data, b.offs
	b.sort.sort(b.ents)
	w := newWriter(b.multi, b.at)
	for at := 0; at < n; {
		end := at + 1
		row := b.sort.row(b.ents[at])
		for end < n && string(b.sort.row(b.ents[end])) == string(row) {
			end++
		}
		b.addEqual(w, row, b.ents[at:end])
		at = end
	}
	if run := w.finish(); run != nil {
		b.runs = append(b.runs, run)
	}
	b.clear()
}

// addEqual writes the updates of one row, added up by time.
func (b *Builder) addEqual(w *writer, row []byte, ents []entry) {
	if !b.multi {
		sum := int64(0)
		for _, e := range ents {
			sum += b.diffs[e.idx]
		}
		if sum != 0 {
			w.add(row, sum, 0)
		}
		return
	}
	if len(ents) > 1 {
		slices.SortFunc(ents, func(x, y entry) int { return cmp.Compare(b.times[x.idx], b.times[y.idx]) })
	}
	for at := 0; at < len(ents); {
		t, sum := b.times[ents[at].idx], int64(0)
		for ; at < len(ents) && b.times[ents[at].idx] == t; at++ {
			sum += b.diffs[ents[at].idx]
		}
		if sum != 0 {
			w.add(row, sum, t)
		}
	}
}
