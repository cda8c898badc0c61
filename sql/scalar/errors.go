package scalar

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// Errors are rows that failed: positions in the block that Apply was given, ascending within one call, and
// why.
type Errors struct {
	Rows []int32
	Errs []*pgerr.Error
}

// Reset forgets all and keeps the memory.
func (e *Errors) Reset() { e.Rows, e.Errs = e.Rows[:0], e.Errs[:0] }

// Len is the number of rows that failed.
func (e *Errors) Len() int { return len(e.Rows) }

func (e *Errors) add(row int32, err *pgerr.Error) {
	e.Rows = append(e.Rows, row)
	e.Errs = append(e.Errs, err)
}

// Less orders errors: by code, message, detail and hint. Where several errors stand for one row the least is
// taken, so that neither the order of evaluation nor that of a plan shows.
func Less(a, b *pgerr.Error) bool {
	return cmp.Or(strings.Compare(string(a.Code), string(b.Code)), strings.Compare(a.Message, b.Message),
		strings.Compare(a.Detail, b.Detail), strings.Compare(a.Hint, b.Hint)) < 0
}

// sort puts rows in order, for a kernel that failed them in another.
func (e *Errors) sort() {
	if slices.IsSorted(e.Rows) {
		return
	}
	perm := make([]int, len(e.Rows))
	for i := range perm {
		perm[i] = i
	}
	slices.SortFunc(perm, func(a, b int) int { return cmp.Compare(e.Rows[a], e.Rows[b]) })
	sorted := Errors{}
	for _, i := range perm {
		sorted.add(e.Rows[i], e.Errs[i])
	}
	*e = sorted
}

// merge adds the failures of o. Of two for one row the one that was here first stays, or the lesser if least
// is set.
func (e *Errors) merge(o *Errors, least bool) {
	if o.Len() == 0 {
		return
	}
	if e.Len() == 0 {
		e.Rows, e.Errs = append(e.Rows, o.Rows...), append(e.Errs, o.Errs...)
		return
	}
	var both Errors
	i, j := 0, 0
	for i < e.Len() || j < o.Len() {
		switch {
		case j == o.Len() || i < e.Len() && e.Rows[i] < o.Rows[j]:
			both.add(e.Rows[i], e.Errs[i])
			i++
		case i == e.Len() || o.Rows[j] < e.Rows[i]:
			both.add(o.Rows[j], o.Errs[j])
			j++
		default:
			err := e.Errs[i]
			if least && Less(o.Errs[j], err) {
				err = o.Errs[j]
			}
			both.add(e.Rows[i], err)
			i, j = i+1, j+1
		}
	}
	*e = both
}

// mergeSel adds those failures of o whose rows are in sel (nil: all), first come first.
func (e *Errors) mergeSel(o *Errors, sel []int32) {
	if o.Len() == 0 {
		return
	}
	if sel == nil {
		e.merge(o, false)
		return
	}
	var some Errors
	for i, row := range o.Rows {
		if _, in := slices.BinarySearch(sel, row); in {
			some.add(row, o.Errs[i])
		}
	}
	e.merge(&some, false)
}

// without gives the rows of sel (nil: all n) that have not failed, in dst's memory.
func (e *Errors) without(sel []int32, n int, dst []int32) []int32 {
	dst = none(dst)
	at := 0
	keep := func(i int32) {
		for at < len(e.Rows) && e.Rows[at] < i {
			at++
		}
		if at == len(e.Rows) || e.Rows[at] != i {
			dst = append(dst, i)
		}
	}
	if sel == nil {
		for i := range int32(n) {
			keep(i)
		}
		return dst
	}
	for _, i := range sel {
		keep(i)
	}
	return dst
}
