package op

import (
	"slices"

	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// TopK gives, of each group, the rows [offset, offset+limit) in an order; ties go by all of its
// columns. It keeps the group's rows arranged by group and order, and the group's head: its first
// offset+limit rows, complete up to the last of them. A tick's changes are applied to the head; only if
// it comes out short is it refilled, from behind its last row.
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
	builder arrange.Builder
	spine   arrange.Spine
	delta   []*arrange.Run
	tick    dataflow.Tick
	pending *vec.Block
	passes  []timedRows
	table   arrange.Table
	heads   []head
	mark    []uint32
	pass    uint32
	touched []int32
	at      int
	sealed  bool
	news    arrange.Cursor
	all     arrange.Cursor
	runs    []*arrange.Run
	key     []byte
	reader  *Reader
	dst     []*vec.Vec
	forB    *vec.Block
}

// head is the first rows of a group.
type head struct {
	rows []headRow
	// whole says that the group has no rows behind the head.
	whole bool
	// bad says that a row among them counts less than zero times.
	bad bool
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
	return t
}

// addCapped adds two counts that are not negative, up to the largest one there is.
func addCapped(a, b int64) int64 {
	if a > 1<<62-b {
		return 1 << 62
	}
	return a + b
}

// Size is about how many bytes are kept.
func (k *TopK) Size() int {
	n := 0
	for w := range k.shares {
		n += k.shares[w].spine.Size() + k.shares[w].table.Size()
	}
	return n
}

// Begin is dataflow.Operator's.
func (k *TopK) Begin(w int, t *dataflow.Tick) {
	s := &k.shares[w]
	s.tick, s.sealed, s.passes = *t, false, nil
	s.startPass(t.At)
}

func (s *topShare) startPass(at tvc.Time) {
	s.tick.At = at
	s.pass++
	s.touched, s.at = s.touched[:0], 0
	s.builder.Reset(at, false)
}

// Absorb is dataflow.Operator's.
func (k *TopK) Absorb(_ *dataflow.Lane, w, _ int, b *vec.Block) {
	s := &k.shares[w]
	if !s.tick.Multi {
		k.absorb(s, b)
		return
	}
	if s.pending == nil {
		s.pending = vec.NewBlock(k.layout.kinds, b.Len)
	}
	s.pending.AppendBlock(b)
}

func (k *TopK) absorb(s *topShare, b *vec.Block) {
	for i := range b.Len {
		from := len(s.builder.Data)
		s.builder.Data = k.layout.Append(s.builder.Data, b, i)
		key := s.builder.Data[from : from+k.layout.KeyLen(s.builder.Data[from:])]
		g, added := s.table.Put(key)
		if added && int(g) >= len(s.heads) {
			s.heads, s.mark = append(s.heads, head{whole: true}), append(s.mark, 0)
		}
		if s.mark[g] != s.pass {
			s.mark[g] = s.pass
			s.touched = append(s.touched, g)
		}
		s.builder.End(b.Diff(i), 0)
	}
}

// Emit is dataflow.Operator's.
func (k *TopK) Emit(lane *dataflow.Lane, w int, out *dataflow.Output) bool {
	s := &k.shares[w]
	if s.pending != nil {
		dataflow.EachTime(s.pending, func(t uint64, rows *vec.Block) {
			s.passes = append(s.passes, timedRows{at: tvc.Time(t), rows: rows.Clone()})
		})
		s.pending = nil
	}
	k.into(s, out.Block())
	for {
		if !s.sealed {
			if s.tick.Multi {
				if len(s.passes) == 0 {
					return false
				}
				s.startPass(s.passes[0].at)
				k.absorb(s, s.passes[0].rows)
				s.passes = s.passes[1:]
			}
			s.seal()
		}
		for ; s.at < len(s.touched); s.at++ {
			if out.Block().Len >= dataflow.RoundRows {
				return true
			}
			k.emit(lane, s, s.touched[s.at], out)
		}
		s.spine.Advance(s.tick.Upper - 1)
		s.spine.Insert(s.delta)
		s.delta, s.sealed = nil, false
		if !s.tick.Multi {
			return false
		}
	}
}

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

func (s *topShare) seal() {
	s.delta = s.builder.Finish()
	s.runs = append(append(s.runs[:0], s.spine.Runs()...), s.delta...)
	s.all.OpenAll(s.runs)
	s.news.OpenAll(s.delta)
	s.sealed = true
}

// emit brings a group's head up to date and gives how its window changed.
func (k *TopK) emit(lane *dataflow.Lane, s *topShare, g int32, out *dataflow.Output) {
	old := s.heads[g]
	now := k.apply(lane, s, g, &old)
	t := uint64(s.tick.At)
	if k.limit >= 0 {
		k.push(s, out, k.window(&old), k.window(&now))
	} else {
		k.pushDelta(s, out)
		// Without a limit the result is all rows but the first offset.
		k.push(s, out, k.window(&now), k.window(&old))
	}
	if old.bad != now.bad {
		diff := int64(1)
		if old.bad {
			diff = -1
		}
		lane.Fail(negative(k.name), diff, t)
	}
	if len(now.rows) == 0 && now.whole {
		now = head{whole: true}
		s.heads[g] = now
		s.table.Remove(g)
		return
	}
	s.heads[g] = now
}

// apply gives the head after the pass's changes: the old head and the changes within its reach, merged in
// order until there are enough rows.
func (k *TopK) apply(lane *dataflow.Lane, s *topShare, g int32, old *head) head {
	s.key = append(s.key[:0], s.table.Key(g)...)
	now := head{rows: make([]headRow, 0, len(old.rows)+1), whole: old.whole}
	last, total, i := "", int64(0), 0
	if n := len(old.rows); n > 0 {
		last = old.rows[n-1].row
	}
	s.news.Seek(s.key, nil)
	more := s.news.Next()
	for {
		if more && !old.whole && string(s.news.Row()) > last {
			more = false // behind what the head knows
		}
		if i == len(old.rows) && !more {
			break
		}
		if total >= k.head {
			now.whole = false
			return now
		}
		var r headRow
		switch {
		case !more || i < len(old.rows) && old.rows[i].row < string(s.news.Row()):
			r = old.rows[i]
			i++
		case i < len(old.rows) && old.rows[i].row == string(s.news.Row()):
			r = headRow{row: old.rows[i].row, count: old.rows[i].count + s.news.Diff()}
			i++
			more = s.news.Next()
		default:
			r = headRow{row: string(s.news.Row()), count: s.news.Diff()}
			more = s.news.Next()
		}
		if r.count != 0 {
			now.add(r)
			total += max(r.count, 0)
		}
	}
	if total < k.head && !now.whole {
		k.refill(lane, s, &now, last, total)
	}
	return now
}

func (h *head) add(r headRow) {
	h.rows = append(h.rows, r)
	h.bad = h.bad || r.count < 0
}

// refill adds rows from behind last until the head is long enough.
func (k *TopK) refill(lane *dataflow.Lane, s *topShare, now *head, last string, total int64) {
	var from []byte
	if last != "" {
		from = append([]byte(last), 0)
	}
	s.all.Seek(s.key, from)
	now.whole = true
	for s.all.Next() {
		if total >= k.head {
			now.whole = false
			return
		}
		lane.Reads++
		n := s.all.Diff()
		now.add(headRow{row: string(s.all.Row()), count: n})
		total += max(n, 0)
	}
}

// window gives the part of a head that the result is made of: its rows [offset, head) if there is a
// limit, else its rows [0, offset).
func (k *TopK) window(h *head) []headRow {
	from, to := k.offset, k.head
	if k.limit < 0 {
		from, to = 0, k.offset
	}
	var out []headRow
	at := int64(0)
	for _, r := range h.rows {
		if r.count <= 0 {
			continue
		}
		lo, hi := max(at, from), min(at+r.count, to)
		if lo < hi {
			out = append(out, headRow{row: r.row, count: hi - lo})
		}
		at += r.count
	}
	return out
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
	s.news.Seek(s.key, nil)
	for s.news.Next() {
		k.pushRow(s, out, s.news.Row(), s.news.Diff())
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
func (k *TopK) End(*dataflow.Lane, int) {}
