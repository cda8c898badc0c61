package op

import (
	"slices"
	"sort"

	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// TopK gives, of each group, the rows [offset, offset+limit) in an order; ties go by all of its
// columns. It keeps the group's rows arranged by group and order, and the group's head: its first
// offset+limit rows, complete up to the last of them. Changes behind a full head do not touch it; others are
// applied to it from the first changed row on, and only if it comes out short is it refilled, from behind its
// last row.
type TopK struct {
	layout *Layout
	limit  int64 // < 0: none
	offset int64
	// head is how many rows a group's head has at least, if the group has that many.
	head   int64
	name   string
	shares []topShare
}

type topShare struct {
	turns
	k       *TopK
	rows    sorted
	table   arrange.Table
	heads   []head
	mark    []uint32
	pass    uint32
	touched []int32
	at      int
	key     []byte
	tail    []headRow    // of the head being made
	windows [2][]headRow // scratch
	reader  *Reader
	dst     []*vec.Vec
	forB    *vec.Block
}

// head is the first rows of a group.
type head struct {
	rows []headRow
	// total is how many rows they count for, but for those that count less than zero times.
	total int64
	// bad is how many of them count less than zero times.
	bad int64
	// whole says that the group has no rows behind the head. If it is not set, total is as large as is wanted.
	whole bool
}

type headRow struct {
	row   string
	count int64
}

// NewTopK makes the operator for input rows of the given kinds. limit < 0 is no limit.
func NewTopK(workers int, kinds []types.Kind, group []int, order []Ordering, limit, offset int64, name string) *TopK {
	// Ties go by all columns, ascending, so that a plain reading of the result explains it.
	order = slices.Clip(order)
	for c := range kinds {
		order = append(order, Ordering{Col: c})
	}
	t := &TopK{layout: NewLayout(kinds, group, order), limit: limit, offset: offset,
		head: offset, name: name, shares: make([]topShare, workers)}
	if limit >= 0 {
		t.head = addCapped(offset, limit)
	}
	for w := range t.shares {
		t.shares[w].k = t
	}
	return t
}

// addCapped adds two counts that are not negative, up to the largest one there is.
func addCapped(a, b int64) int64 {
	if a > 1<<62-b {
		return 1 << 62
	}
	return a + b
}

// Begin is dataflow.Operator's.
func (k *TopK) Begin(w int, t *dataflow.Tick) { k.shares[w].begin(&k.shares[w], t) }

// Absorb is dataflow.Operator's.
func (k *TopK) Absorb(_ *dataflow.Lane, w, _ int, b *vec.Block) {
	k.shares[w].take(&k.shares[w], k.layout.kinds, b)
}

// Emit is dataflow.Operator's.
func (k *TopK) Emit(lane *dataflow.Lane, w int, out *dataflow.Output) bool {
	s := &k.shares[w]
	k.into(s, out.Block())
	return s.emit(s, lane, out)
}

func (s *topShare) start() {
	s.pass++
	s.touched, s.at = s.touched[:0], 0
}

func (s *topShare) absorb(b *vec.Block) {
	to := s.rows.adding(s.tick.At)
	for i := range b.Len {
		from := len(to.Data)
		to.Data = s.k.layout.Append(to.Data, b, i)
		key := to.Data[from : from+s.k.layout.KeyLen(to.Data[from:])]
		g, added := s.table.Put(key)
		if added && int(g) >= len(s.heads) {
			s.heads, s.mark = append(s.heads, head{whole: true}), append(s.mark, 0)
		}
		if s.mark[g] != s.pass {
			s.mark[g] = s.pass
			s.touched = append(s.touched, g)
		}
		to.End(b.Diff(i), 0)
	}
}

func (s *topShare) seal() { s.rows.seal() }

func (s *topShare) give(lane *dataflow.Lane, out *dataflow.Output) (full bool) {
	for ; s.at < len(s.touched); s.at++ {
		if out.Block().Len >= dataflow.RoundRows {
			return true
		}
		s.k.group(lane, s, s.touched[s.at], out)
	}
	return false
}

func (s *topShare) done() { s.rows.done(s.tick.Upper) }

// into makes the share's decoder write into the output block.
func (k *TopK) into(s *topShare, b *vec.Block) {
	if s.reader == nil {
		s.reader, s.dst = k.layout.Reader(), make([]*vec.Vec, len(k.layout.kinds))
	}
	if s.forB == b {
		return
	}
	s.forB = b
	for c := range s.dst {
		s.dst[c] = &b.Cols[c]
	}
	s.reader.Into(s.dst)
}

// group brings a group's head up to date and gives how its window changed.
func (k *TopK) group(lane *dataflow.Lane, s *topShare, g int32, out *dataflow.Output) {
	h := &s.heads[g]
	s.key = append(s.key[:0], s.table.Key(g)...)
	s.rows.news.Seek(s.key, nil)
	if s.rows.news.Next() {
		bad := oneIfPositive(h.bad)
		if n := len(h.rows); h.total >= k.head && (n == 0 || string(s.rows.news.Row()) > h.rows[n-1].row) {
			h.whole = false // the head is as it was, with rows behind it
		} else {
			k.apply(lane, s, h, out)
		}
		if k.limit < 0 {
			k.pushDelta(s, out)
		}
		if diff := oneIfPositive(h.bad) - bad; diff != 0 {
			lane.Fail(negative(k.name), diff, uint64(s.tick.At))
		}
	}
	if len(h.rows) == 0 && h.whole {
		*h = head{whole: true}
		s.table.Remove(g)
	}
}

// apply makes the head what it is after the pass's changes, of which the news cursor has the first: from there on
// its rows and the changes within its reach are merged in order until there are enough. It gives how the window
// changed.
func (k *TopK) apply(lane *dataflow.Lane, s *topShare, h *head, out *dataflow.Output) {
	first := s.rows.news.Row()
	from := sort.Search(len(h.rows), func(i int) bool { return h.rows[i].row >= string(first) })
	old := h.rows[from:]
	lane.Reads += int64(len(old))
	for _, r := range old {
		h.count(r, -1)
	}
	before := h.total
	last := ""
	if n := len(h.rows); n > 0 {
		last = h.rows[n-1].row
	}
	s.tail = s.tail[:0]
	if k.merge(s, h, old, last) && h.total < k.head && !h.whole {
		k.refill(lane, s, h, last)
	}
	was, is := k.window(s.windows[0], old, before), k.window(s.windows[1], s.tail, before)
	s.windows = [2][]headRow{was, is}
	if k.limit >= 0 {
		k.push(s, out, was, is)
	} else {
		k.push(s, out, is, was) // the result is all rows but these
	}
	h.rows = slices.Replace(h.rows, from, len(h.rows), s.tail...)
	// The rows are the heads' to keep.
	clear(s.tail)
	clear(was)
	clear(is)
}

// merge merges the head's old rows, up to last, with the changes there, and says whether it came to their end.
// Otherwise the head has enough without the rest.
func (k *TopK) merge(s *topShare, h *head, old []headRow, last string) bool {
	for more := true; ; {
		if more && !h.whole && string(s.rows.news.Row()) > last {
			more = false // behind what the head knows
		}
		if len(old) == 0 && !more {
			return true
		}
		if h.total >= k.head {
			h.whole = false
			return false
		}
		var r headRow
		switch {
		case !more || len(old) > 0 && old[0].row < string(s.rows.news.Row()):
			r, old = old[0], old[1:]
		case len(old) > 0 && old[0].row == string(s.rows.news.Row()):
			r, old = headRow{row: old[0].row, count: old[0].count + s.rows.news.Diff()}, old[1:]
			more = s.rows.news.Next()
		default:
			r = headRow{row: string(s.rows.news.Row()), count: s.rows.news.Diff()}
			more = s.rows.news.Next()
		}
		s.add(h, r)
	}
}

// add adds a row at the end of the head being made.
func (s *topShare) add(h *head, r headRow) {
	if r.count != 0 {
		s.tail = append(s.tail, r)
		h.count(r, 1)
	}
}

// count adds a row's count to the head's sums (1), or takes it from them (-1).
func (h *head) count(r headRow, sign int64) {
	if r.count < 0 {
		h.bad += sign
		return
	}
	h.total += sign * r.count
}

// refill adds rows from behind last until the head is long enough.
func (k *TopK) refill(lane *dataflow.Lane, s *topShare, h *head, last string) {
	var from []byte
	if last != "" {
		from = append([]byte(last), 0)
	}
	s.rows.all.Seek(s.key, from)
	h.whole = true
	for s.rows.all.Next() {
		if h.total >= k.head {
			h.whole = false
			return
		}
		lane.Reads++
		s.add(h, headRow{row: string(s.rows.all.Row()), count: s.rows.all.Diff()})
	}
}

// window gives the part of a head's rows, of which so many come before these, that the result is made of: the
// rows [offset, head) of the group if there is a limit, else its rows [0, offset).
func (k *TopK) window(into, rows []headRow, before int64) []headRow {
	from, to := k.offset, k.head
	if k.limit < 0 {
		from, to = 0, k.offset
	}
	into = into[:0]
	at := before
	for _, r := range rows {
		if r.count <= 0 {
			continue
		}
		lo, hi := max(at, from), min(at+r.count, to)
		if lo < hi {
			into = append(into, headRow{row: r.row, count: hi - lo})
		}
		at += r.count
	}
	return into
}

// push gives the rows of now, and those of old taken back.
func (k *TopK) push(s *topShare, out *dataflow.Output, old, now []headRow) {
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].row < now[0].row:
			k.pushRow(s, out, []byte(old[0].row), -old[0].count)
			old = old[1:]
		case len(old) == 0 || now[0].row < old[0].row:
			k.pushRow(s, out, []byte(now[0].row), now[0].count)
			now = now[1:]
		default:
			if d := now[0].count - old[0].count; d != 0 {
				k.pushRow(s, out, []byte(now[0].row), d)
			}
			old, now = old[1:], now[1:]
		}
	}
}

// pushDelta gives the changes of a group as they are.
func (k *TopK) pushDelta(s *topShare, out *dataflow.Output) {
	s.rows.news.Seek(s.key, nil)
	for s.rows.news.Next() {
		k.pushRow(s, out, s.rows.news.Row(), s.rows.news.Diff())
	}
}

func (k *TopK) pushRow(s *topShare, out *dataflow.Output, bytes []byte, diff int64) {
	b := out.Block()
	s.reader.Read(bytes)
	if s.tick.Multi {
		b.Times = append(b.Times, uint64(s.tick.At))
	}
	pushDiff(b, diff)
	if b.Len >= 4*dataflow.RoundRows {
		out.Flush()
	}
}

// End is dataflow.Operator's.
func (k *TopK) End(_ *dataflow.Lane, w int) {
	s := &k.shares[w]
	if cap(s.tail) > 1<<16 {
		s.tail, s.windows = nil, [2][]headRow{}
	}
}
