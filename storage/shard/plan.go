package shard

import (
	"slices"

	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/tvc"
)

const (
	// drainBytes is how many inline bytes a state holds before they are made into an object.
	drainBytes = 256 << 10
	// drainBatches is how many batches a state holds before the inline ones are made into one: what a
	// state costs to copy and a snapshot to read grows with them.
	drainBatches = 1024
	// mergeRuns is how many runs of objects are let be before they are merged.
	mergeRuns = 8
	// rollupEvery is after how many versions a rollup is written at least.
	rollupEvery = 128
	// rollupShare makes rollups of large states rarer: a rollup is written when the entries since the last
	// one (at 100 bytes or so each) come to about half its size.
	rollupShare = 256
)

// wantsMaintenance says whether there is anything to do for the shard, with since where it is.
func (s *state) wantsMaintenance() bool {
	if s.sealed || s.rollupDue() {
		return true
	}
	if !s.mayMerge() {
		return false
	}
	_, _, ok := s.plan(s.since)
	return ok
}

// mayMerge says, at the cost of a few comparisons, that it may be worth to plan a merge.
func (s *state) mayMerge() bool {
	return s.inlineBytes >= drainBytes || len(s.batches) >= drainBatches || s.objectRuns >= 2 ||
		s.objectRuns > 0 && s.inlineBytes >= drainBytes/2
}

func (s *state) rollupDue() bool {
	if s.sealed {
		return false
	}
	every := max(rollupEvery, (s.inlineBytes+64*len(s.batches))/rollupShare)
	return s.version-s.rollup.version >= consensus.Version(every)
}

// plan says which batches [from, to) are to be merged into one, now that since is at since.
//
// The batches fall into two zones. Those all of whose times since has reached are settled: merged, all their rows
// are at one time, and rows that cancel vanish. The others are recent: readers may still ask for their updates one by
// one, so they are merged among themselves only, with their times.
func (s *state) plan(since tvc.Frontier) (from, to int, ok bool) {
	settled := s.settled(since)
	if s.inlineBytes >= drainBytes || len(s.batches) >= drainBatches {
		if from, to, ok = s.planDrain(settled); ok {
			return from, to, true
		}
	}
	if from, ok = s.planMerge(0, settled, true); ok {
		return from, settled, true
	}
	if from, ok = s.planMerge(settled, len(s.batches), false); ok {
		return from, len(s.batches), true
	}
	return 0, 0, false
}

// settled counts the batches all of whose times since has reached.
func (s *state) settled(since tvc.Frontier) int {
	if i := slices.IndexFunc(s.batches, func(b *batch) bool { return b.upper > since+1 }); i >= 0 {
		return i
	}
	return len(s.batches)
}

// planDrain picks the zone with more inline bytes and, of it, what there is from its first inline batch on, with
// older batches that are no larger than all of that.
func (s *state) planDrain(settled int) (from, to int, ok bool) {
	lo, hi := 0, settled
	if inlineOf(s.batches[:settled]) < inlineOf(s.batches[settled:]) {
		lo, hi = settled, len(s.batches)
	}
	from = slices.IndexFunc(s.batches[lo:hi], func(b *batch) bool { return b.inline > 0 })
	if from < 0 {
		return 0, 0, false
	}
	from += lo
	size := bytesOf(s.batches[from:hi])
	for from > lo && s.batches[from-1].bytes <= size {
		from--
		size += s.batches[from].bytes
	}
	return from, hi, hi-from > 1
}

func inlineOf(batches []*batch) int {
	n := 0
	for _, b := range batches {
		n += b.inline
	}
	return n
}

func bytesOf(batches []*batch) int64 {
	n := int64(0)
	for _, b := range batches {
		n += b.bytes
	}
	return n
}

// planMerge picks, of a zone [lo, hi), the longest tail whose first batch is at most twice as large as the rest, if
// it has so many runs that merging them is worth it. If the tail is the whole of the settled zone, then merging it
// gives back what updates have left dead, and the rest need only be as large as a drain; or smaller than half if it
// deletes a third of the rows, as deletions may be far leaner than the rows they take away.
func (s *state) planMerge(lo, hi int, settled bool) (from int, ok bool) {
	rest := bytesOf(s.batches[lo:hi])
	// A deletion counts twice: it is dead, and so is the row that it takes away.
	runs, dead := 0, int64(0)
	for _, b := range s.batches[lo:hi] {
		runs += b.objectRuns
		dead += b.totals.Rows - b.totals.DiffSum
	}
	for i, b := range s.batches[lo:hi] {
		rest -= b.bytes
		dead -= b.totals.Rows - b.totals.DiffSum
		large := rest >= b.bytes/2 || b.objectRuns >= mergeRuns
		all := settled && i == 0 && hi-lo > 1 && rest >= drainBytes/2
		if runs < 1 {
			return 0, false
		}
		if large && runs >= mergeRuns || all && (large || 3*dead >= 2*b.totals.Rows) {
			return lo + i, true
		}
		runs -= b.objectRuns
	}
	return 0, false
}
