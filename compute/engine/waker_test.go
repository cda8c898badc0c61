package engine

import (
	"testing"

	"github.com/tributary-db/tributary/storage/txn"
)

// line has what is announced to it.
type line struct {
	last        txn.Announcement
	outstanding map[txn.Announcement]bool
}

func (l *line) Expect() txn.Announcement {
	l.last++
	l.outstanding[l.last] = true
	return l.last
}

func (l *line) Met(a txn.Announcement) { delete(l.outstanding, a) }

// TestAnAppendIsAnnouncedOnce: from when the dataflow is woken until it sleeps, or for the append that it launches; not
// while it could not append soon.
func TestAnAppendIsAnnouncedOnce(t *testing.T) {
	l := &line{outstanding: map[txn.Announcement]bool{}}
	w := waker{woken: make(chan struct{}, 1), line: l}
	wake := func() { <-w.woken }
	sleep := func() { w.rest(true) }
	var append txn.Announcement
	launch := func() { append = w.launch() }
	for _, step := range []struct {
		name string
		do   func()
		want int
	}{
		{"signalled before it is filled", w.signal, 0},
		{"launched what it was filled with", launch, 1},
		{"in line", func() { l.Met(append) }, 0},
		{"awake", wake, 0},
		{"asleep until that has landed", func() { w.rest(false) }, 0},
		{"signalled before that", w.signal, 0},
		{"awake", wake, 0},
		{"asleep", sleep, 0},
		{"signalled", w.signal, 1},
		{"signalled again", w.signal, 1},
		{"awake", wake, 1},
		{"asleep", sleep, 0},
		{"signalled", w.signal, 1},
		{"awake", wake, 1},
		{"signalled while it looks", w.signal, 1},
		{"asleep for no time", sleep, 1},
		{"awake", wake, 1},
		{"launched", launch, 1},
		{"signalled while the append is on its way", w.signal, 1},
		{"asleep until it has landed", func() { w.rest(false) }, 1},
		{"in line", func() { l.Met(append) }, 0},
		{"awake", wake, 0},
		{"asleep", sleep, 0},
		{"signalled", w.signal, 1},
		{"at the end", w.shut, 0},
		{"signalled after it", w.signal, 0},
	} {
		if step.do(); len(l.outstanding) != step.want {
			t.Fatalf("%s: %d are announced", step.name, len(l.outstanding))
		}
	}
}
