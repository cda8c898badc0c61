package arrange

import (
	"bytes"

	"github.com/tributary-db/tributary/storage/tvc"
)

// Cursor reads several runs as one, at one time: each row once, with the sum of its diffs at or before
// that time. It goes one way, forward after Seek or First, back after SeekLast.
//
// What Row gives is borrowed from the runs and stays valid as long as they do.
type Cursor struct {
	runs   []*Run
	at     tvc.Time
	live   []pos
	prefix []byte
	back   bool
	row    []byte
	diff   int64
}

// Open makes the cursor read the given runs at time at; it is nowhere yet.
func (c *Cursor) Open(runs []*Run, at tvc.Time) {
	c.runs, c.at = runs, at
	c.live = c.live[:0]
}

// OpenAll makes the cursor read everything in the given runs.
func (c *Cursor) OpenAll(runs []*Run) { c.Open(runs, noTime) }

// Seek makes the rows with the given prefix from the row from on (which has that prefix, or is nil for
// its first) the ones that Next gives, ascending. The bytes are borrowed until the next Seek.
func (c *Cursor) Seek(prefix, from []byte) {
	if from == nil {
		from = prefix
	}
	c.prefix, c.back, c.live = prefix, false, c.live[:0]
	for _, r := range c.runs {
		if r.first > c.at {
			continue
		}
		if p := r.start(from); p.valid() && bytes.HasPrefix(p.row(), prefix) {
			c.live = append(c.live, p)
		}
	}
}

// SeekLast makes the rows with the given prefix, up to and with the row from (nil: all of them), the
// ones that Next gives, descending.
func (c *Cursor) SeekLast(prefix, from []byte) {
	c.prefix, c.back, c.live = prefix, true, c.live[:0]
	var end []byte
	if from != nil {
		end = append(append(end, from...), 0) // the least row after from
	} else {
		end = successor(prefix)
	}
	for _, r := range c.runs {
		if r.first > c.at {
			continue
		}
		var p pos
		if end == nil {
			last := len(r.pages) - 1
			p = pos{run: r, p: last, i: r.pages[last].len() - 1}
		} else {
			p = r.before(end)
		}
		if p.p >= 0 && bytes.HasPrefix(p.row(), prefix) {
			c.live = append(c.live, p)
		}
	}
}

// First makes all rows the ones that Next gives.
func (c *Cursor) First() { c.Seek(nil, nil) }

// successor is the least string after every string with the prefix; nil if there is none.
func successor(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			s := append([]byte(nil), prefix[:i+1]...)
			s[i]++
			return s
		}
	}
	return nil
}

// Next moves to the next row whose sum is not zero, and says whether there is one.
func (c *Cursor) Next() bool {
	for len(c.live) > 0 {
		best := 0
		for k := 1; k < len(c.live); k++ {
			o := bytes.Compare(c.live[k].row(), c.live[best].row())
			if o < 0 != c.back && o != 0 {
				best = k
			}
		}
		c.row, c.diff = c.live[best].row(), 0
		for k := 0; k < len(c.live); {
			if k < best || !c.take(k) {
				k++
				continue
			}
			// The position ran out and the last one took its place.
		}
		if c.diff != 0 {
			return true
		}
	}
	c.row = nil
	return false
}

// take adds up the updates of the current row at position k and moves it past them. It says whether the
// position was removed.
func (c *Cursor) take(k int) bool {
	p := &c.live[k]
	for bytes.Equal(p.row(), c.row) {
		if tvc.Time(p.time()) <= c.at {
			c.diff += p.diff()
		}
		if c.back {
			p.prev()
		} else {
			p.next()
		}
		if p.p < 0 || !p.valid() || !bytes.HasPrefix(p.row(), c.prefix) {
			last := len(c.live) - 1
			c.live[k] = c.live[last]
			c.live = c.live[:last]
			return true
		}
	}
	return false
}

// Row is the current row.
func (c *Cursor) Row() []byte { return c.row }

// Diff is the current row's sum.
func (c *Cursor) Diff() int64 { return c.diff }
