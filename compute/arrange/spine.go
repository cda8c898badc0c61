package arrange

import (
	"bytes"
	"sync/atomic"

	"github.com/tributary-db/tributary/storage/tvc"
)

// Spine is an arrangement that grows: runs of roughly halving sizes, oldest and largest first. Two
// neighbours of like size are merged, a few rows for each row inserted, so that there are never more
// than some log₂(rows) runs and no insert pays for a large merge at once.
//
// The arithmetic: a merge of two runs with n rows together is given mergeFuel steps for each row
// inserted, so it is over before n/mergeFuel more rows have come, which is before the next run of its
// size can be there to wait for it.
type Spine struct {
	items []item
	since tvc.Frontier
	runs  atomic.Pointer[[]*Run]
}

// item is a run, or two neighbours being merged.
type item struct {
	run   *Run
	merge *merge
}

const (
	// mergeFuel is how many rows are merged for each row inserted.
	mergeFuel = 4
	// mergeFloor is how many are merged in every step, so that many tiny inserts do not starve a merge.
	mergeFloor = 64
	// mergeNow is the size up to which a merge is done at once: it costs less than to keep it open.
	mergeNow = 256
)

// Runs gives the spine's runs: a slice that never changes, safe to keep and to read from any goroutine.
func (s *Spine) Runs() []*Run {
	if p := s.runs.Load(); p != nil {
		return *p
	}
	return nil
}

// Advance promises that no cursor will be opened before since again.
func (s *Spine) Advance(since tvc.Frontier) { s.since = max(s.since, since) }

// Insert adds runs, whose times are after all that were inserted before, and merges a little.
func (s *Spine) Insert(runs []*Run) {
	if len(runs) == 0 {
		return
	}
	n := 0
	for _, r := range runs {
		s.items = append(s.items, item{run: r})
		n += r.rows
	}
	s.schedule()
	s.step(mergeFuel*n + mergeFloor)
	s.publish()
}

func (it *item) rows() int {
	if it.merge != nil {
		return it.merge.a.rows + it.merge.b.rows
	}
	return it.run.rows
}

// schedule starts a merge wherever two neighbours have come to like sizes.
func (s *Spine) schedule() {
	for i := len(s.items) - 1; i > 0; i-- {
		if i >= len(s.items) {
			continue
		}
		old, young := &s.items[i-1], &s.items[i]
		if old.merge != nil || young.merge != nil || old.run.rows > 2*young.run.rows {
			continue
		}
		m := newMerge(old.run, young.run, s.since)
		s.items[i-1] = item{merge: m}
		s.items = append(s.items[:i], s.items[i+1:]...)
		if m.a.rows+m.b.rows <= mergeNow {
			m.step(mergeNow + 1)
			s.settle(i - 1)
			i++ // look at the pair with what was merged again
		}
	}
}

// settle replaces a finished merge by its result, and says whether anything is left there.
func (s *Spine) settle(i int) bool {
	m := s.items[i].merge
	if m == nil || !m.done {
		return true
	}
	if m.out == nil {
		s.items = append(s.items[:i], s.items[i+1:]...)
		return false
	}
	s.items[i] = item{run: m.out}
	return true
}

// step gives every merge, youngest first, the fuel.
func (s *Spine) step(fuel int) {
	for i := len(s.items) - 1; i >= 0; i-- {
		if m := s.items[i].merge; m != nil {
			m.step(fuel)
			s.settle(i)
		}
	}
}

func (s *Spine) publish() {
	runs := make([]*Run, 0, len(s.items)+1)
	for _, it := range s.items {
		if it.merge != nil {
			runs = append(runs, it.merge.a, it.merge.b)
		} else {
			runs = append(runs, it.run)
		}
	}
	s.runs.Store(&runs)
}

// merge makes one run of two, some rows at a time.
type merge struct {
	a, b   *Run
	pa, pb pos
	since  tvc.Time
	w      *writer
	times  []uint64
	diffs  []int64
	out    *Run
	done   bool
}

func newMerge(a, b *Run, since tvc.Frontier) *merge {
	m := &merge{a: a, b: b, pa: pos{run: a}, pb: pos{run: b}, since: tvc.Time(since)}
	at := max(a.at, b.at)
	// Times stay only while somebody may still tell them apart.
	m.w = newWriter(at > m.since && (a.first != at || b.first != at), at)
	return m
}

// step merges about fuel rows.
func (m *merge) step(fuel int) {
	for spent := 0; spent < fuel && !m.done; {
		switch {
		case !m.pa.valid() && !m.pb.valid():
			m.out, m.done = m.w.finish(), true
			return
		case !m.pb.valid():
			spent += m.copyEqual(&m.pa, nil)
		case !m.pa.valid():
			spent += m.copyEqual(&m.pb, nil)
		default:
			switch o := bytes.Compare(m.pa.row(), m.pb.row()); {
			case o < 0:
				spent += m.copyEqual(&m.pa, nil)
			case o > 0:
				spent += m.copyEqual(&m.pb, nil)
			default:
				spent += m.copyEqual(&m.pa, &m.pb)
			}
		}
	}
}

// copyEqual writes all updates of the row at p (and at q, which has the same row), added up by the times
// that can still be told apart. It gives how many updates it took.
func (m *merge) copyEqual(p, q *pos) int {
	row := p.row()
	if q == nil && !m.w.multi {
		// The common case: one update, nothing to add it to.
		diff := p.diff()
		p.next()
		if !p.valid() || !bytes.Equal(p.row(), row) {
			m.w.add(row, diff, 0)
			return 1
		}
		taken := 1
		for ; p.valid() && bytes.Equal(p.row(), row); p.next() {
			diff += p.diff()
			taken++
		}
		if diff != 0 {
			m.w.add(row, diff, 0)
		}
		return taken
	}
	m.times, m.diffs = m.times[:0], m.diffs[:0]
	m.gather(p, row)
	if q != nil {
		m.gather(q, row)
	}
	taken := len(m.times)
	m.addUp()
	for i, d := range m.diffs {
		if d != 0 {
			m.w.add(row, d, m.times[i])
		}
	}
	return taken
}

func (m *merge) gather(p *pos, row []byte) {
	for ; p.valid() && bytes.Equal(p.row(), row); p.next() {
		t := p.time()
		switch {
		case !m.w.multi:
			t = 0
		case tvc.Time(t) < m.since:
			t = uint64(m.since)
		}
		m.times, m.diffs = append(m.times, t), append(m.diffs, p.diff())
	}
}

// addUp sorts what was gathered by time and adds up equal times. There are few.
func (m *merge) addUp() {
	for i := 1; i < len(m.times); i++ {
		for j := i; j > 0 && m.times[j] < m.times[j-1]; j-- {
			m.times[j], m.times[j-1] = m.times[j-1], m.times[j]
			m.diffs[j], m.diffs[j-1] = m.diffs[j-1], m.diffs[j]
		}
	}
	n := 0
	for i := range m.times {
		if n > 0 && m.times[n-1] == m.times[i] {
			m.diffs[n-1] += m.diffs[i]
			continue
		}
		m.times[n], m.diffs[n] = m.times[i], m.diffs[i]
		n++
	}
	m.times, m.diffs = m.times[:n], m.diffs[:n]
}
