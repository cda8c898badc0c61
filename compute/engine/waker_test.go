package engine

import (
	"testing"

	"github.com/tributary-db/tributary/storage/txn"
)

// line has what is announced to it.
type line struct {
	last        txn.Announcement
	outstanding map[txn.Announcement]bool
	// late says that everything that is outstanding is late.
	late bool
}

func (l *line) Late(txn.Announcement) bool { return l.late }

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
	launch := func() { append = w.launch(false) }
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
		{"awake", wake, 1},
		{"launched what takes long", func() { append = w.launch(true) }, 0},
		{"asleep until it has landed", func() { w.rest(false) }, 0},
		{"signalled", w.signal, 0},
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

// TestWhoIsLateIsAnnouncedLessOften: after others have waited in vain for it once, twice and so on, 1, 3 and at last 63 wake-ups
// go unannounced, until one was in time again. The append that it launches is announced all the same.
func TestWhoIsLateIsAnnouncedLessOften(t *testing.T) {
	l := &line{outstanding: map[txn.Announcement]bool{}}
	w := waker{woken: make(chan struct{}, 1), line: l}
	// unannounced counts the wake-ups until one is announced. Its append is launched, late or in time; the others sleep again.
	unannounced := func(late bool) int {
		for n := 0; ; n++ {
			l.late = false
			w.rest(true)
			w.signal()
			<-w.woken
			if len(l.outstanding) > 0 {
				l.late = late
				append := w.launch(false)
				if len(l.outstanding) != 1 || !l.outstanding[append] {
					t.Fatalf("announced are %v, the append is %d", l.outstanding, append)
				}
				l.Met(append)
				return n
			}
		}
	}
	for i, want := range []int{0, 1, 3, 7, 15, 31, 63, 63} {
		if n := unannounced(true); n != want {
			t.Errorf("late %d times, %d wake-ups are not announced, want %d", i, n, want)
		}
	}
	for _, want := range []int{63, 0, 0} {
		if n := unannounced(false); n != want {
			t.Errorf("in time again, %d wake-ups are not announced, want %d", n, want)
		}
	}
	if n := unannounced(true); n != 0 {
		t.Errorf("in time again, %d wake-ups are not announced", n)
	}
	if n := unannounced(false); n != 1 {
		t.Errorf("late once again, %d wake-ups are not announced", n)
	}
	// Woken again and again without an append, it is late too.
	for _, want := range []int{0, 1, 3} {
		n := 0
		for ; len(l.outstanding) == 0; n++ {
			w.rest(true)
			w.signal()
			<-w.woken
		}
		if l.late = true; n != want+1 {
			t.Errorf("%d wake-ups are not announced, want %d", n-1, want)
		}
		w.rest(true)
	}
}
