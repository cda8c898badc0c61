package arrange

import (
	"bytes"
	"math"
	"sort"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/storage/tvc"
)

// pageBytes is about how many bytes of rows share a page: large enough that a page's own cost is lost in
// it, small enough that a merge gives memory back as it goes.
const pageBytes = 128 << 10

// maxRow bounds one row, so that offsets within a page fit 32 bits with room to spare.
const maxRow = 1 << 30

// page is some rows of a run, without a pointer per row.
type page struct {
	data  []byte
	offs  []uint32 // row i is data[offs[i]:offs[i+1]]
	diffs []int64  // nil: all 1
	times []uint64 // nil: all at the run's own time
}

func (p *page) len() int { return len(p.offs) - 1 }

func (p *page) row(i int) []byte { return p.data[p.offs[i]:p.offs[i+1]:p.offs[i+1]] }

func (p *page) diff(i int) int64 {
	if p.diffs == nil {
		return 1
	}
	return p.diffs[i]
}

// Run is an immutable sorted sequence of updates.
type Run struct {
	pages []*page
	rows  int
	// at is the time of all rows of pages without times, and the greatest time of the others.
	at tvc.Time
	// first is the least time.
	first tvc.Time
}

// writer appends sorted rows to a new run.
type writer struct {
	run   Run
	page  *page
	multi bool // rows have times of their own
}

func newWriter(multi bool, at tvc.Time) *writer {
	return &writer{multi: multi, run: Run{at: at, first: at}}
}

// add appends a row that is not before the last one.
func (w *writer) add(row []byte, diff int64, t uint64) {
	p := w.page
	if p == nil || len(p.data)+len(row) > pageBytes && len(p.offs) > 1 {
		w.endPage()
		p = &page{offs: make([]uint32, 1, 16)}
		if len(w.run.pages) > 0 {
			// Another page is coming after a full one: it will likely be as full.
			last := w.run.pages[len(w.run.pages)-1]
			p.data, p.offs = make([]byte, 0, pageBytes), make([]uint32, 1, len(last.offs)+len(last.offs)/8)
		}
		w.page = p
	}
	p.data = append(p.data, row...)
	p.offs = append(p.offs, uint32(len(p.data)))
	if diff != 1 || p.diffs != nil {
		p.diff1(len(p.offs) - 2)
		p.diffs = append(p.diffs, diff)
	}
	if w.multi {
		p.times = append(p.times, t)
		if len(w.run.pages) == 0 && len(p.times) == 1 {
			w.run.first, w.run.at = tvc.Time(t), tvc.Time(t)
		}
		w.run.first = min(w.run.first, tvc.Time(t))
		w.run.at = max(w.run.at, tvc.Time(t))
	}
	w.run.rows++
}

// diff1 writes out n implied diffs.
func (p *page) diff1(n int) {
	if p.diffs != nil {
		return
	}
	p.diffs = make([]int64, n, n+16)
	for i := range p.diffs {
		p.diffs[i] = 1
	}
}

func (w *writer) endPage() {
	if w.page == nil {
		return
	}
	p := w.page
	// Pages are kept for long: give back what appending left over.
	if cap(p.data)-len(p.data) > len(p.data)/8 {
		p.data = append(make([]byte, 0, len(p.data)), p.data...)
	}
	if cap(p.offs)-len(p.offs) > len(p.offs)/4 {
		p.offs = append(make([]uint32, 0, len(p.offs)), p.offs...)
	}
	w.run.pages = append(w.run.pages, p)
	w.page = nil
}

// finish gives the run, or nil if nothing was added.
func (w *writer) finish() *Run {
	w.endPage()
	if w.run.rows == 0 {
		return nil
	}
	r := w.run
	return &r
}

// pos is a place in a run: row i of page p, or the end (p == len(pages)).
type pos struct {
	run  *Run
	p, i int
}

func (c *pos) valid() bool { return c.p < len(c.run.pages) }

func (c *pos) row() []byte { return c.run.pages[c.p].row(c.i) }

func (c *pos) diff() int64 { return c.run.pages[c.p].diff(c.i) }

func (c *pos) time() uint64 {
	if t := c.run.pages[c.p].times; t != nil {
		return t[c.i]
	}
	return uint64(c.run.at)
}

func (c *pos) next() {
	c.i++
	if c.i == c.run.pages[c.p].len() {
		c.p, c.i = c.p+1, 0
	}
}

// prev moves back; from the first row it goes to (-1, 0), which is not valid to read.
func (c *pos) prev() {
	c.i--
	if c.i < 0 {
		c.p--
		if c.p >= 0 {
			c.i = c.run.pages[c.p].len() - 1
		} else {
			c.i = 0
		}
	}
}

// seek moves forward to the first row that is not before target. It gallops, so that a pass of ordered
// seeks over a run costs no more than reading it.
func (c *pos) seek(target []byte) {
	if !c.valid() || bytes.Compare(c.row(), target) >= 0 {
		return
	}
	pages := c.run.pages
	if pg := pages[c.p]; bytes.Compare(pg.row(pg.len()-1), target) < 0 {
		// The target is past this page: find the first page whose last row is not before it.
		lo, step := c.p+1, 1
		hi := lo
		for hi < len(pages) && bytes.Compare(pages[hi].row(pages[hi].len()-1), target) < 0 {
			lo = hi + 1
			hi += step
			step *= 2
		}
		hi = min(hi, len(pages))
		c.p = lo + sort.Search(hi-lo, func(k int) bool {
			pg := pages[lo+k]
			return bytes.Compare(pg.row(pg.len()-1), target) >= 0
		})
		c.i = 0
		if !c.valid() {
			return
		}
		c.i = lowerBound(pages[c.p], 0, target)
		return
	}
	// The target is in this page: gallop from here.
	pg := pages[c.p]
	lo, step := c.i+1, 1
	hi := lo
	for hi < pg.len() && bytes.Compare(pg.row(hi), target) < 0 {
		lo = hi + 1
		hi += step
		step *= 2
	}
	hi = min(hi, pg.len())
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(pg.row(mid), target) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	c.i = lo
}

// lowerBound is the first row of the page, from row lo on, that is not before target.
func lowerBound(pg *page, lo int, target []byte) int {
	hi := pg.len()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(pg.row(mid), target) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// start is the first row of the run that is not before target.
func (r *Run) start(target []byte) pos {
	lo, hi := 0, len(r.pages)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		pg := r.pages[mid]
		if bytes.Compare(pg.row(pg.len()-1), target) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	c := pos{run: r, p: lo}
	if c.valid() {
		c.i = lowerBound(r.pages[lo], 0, target)
	}
	return c
}

// before is the last row of the run that is before target; its p is -1 if there is none.
func (r *Run) before(target []byte) pos {
	c := r.start(target)
	c.prev()
	return c
}

// Check panics unless the run keeps promise A2. For tests and the invariants build.
func (r *Run) Check() {
	c, rows := pos{run: r}, 0
	var last []byte
	lastTime := uint64(0)
	for ; c.valid(); c.next() {
		if o := bytes.Compare(last, c.row()); rows > 0 && (o > 0 || o == 0 && lastTime >= c.time()) {
			invariants.Failf("run out of order at row %d", rows)
		}
		if c.diff() == 0 {
			invariants.Failf("run has a zero diff at row %d", rows)
		}
		if t := tvc.Time(c.time()); t < r.first || t > r.at {
			invariants.Failf("run has time %d outside [%d, %d]", t, r.first, r.at)
		}
		last, lastTime = c.row(), c.time()
		rows++
	}
	if rows != r.rows {
		invariants.Failf("run says %d rows and has %d", r.rows, rows)
	}
}

// noTime is later than every time: reading at it reads everything.
const noTime = tvc.Time(math.MaxUint64)
