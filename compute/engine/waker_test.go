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
	var launched txn.Announcement
	launch := func() { launched = w.launch(false) }
	for _, step := range []struct {
		name string
		do   func()
		want int
	}{
		{"signalled before it is filled", w.signal, 0},
		{"launched what it was filled with", launch, 1},
		{"in line", func() { l.Met(launched) }, 0},
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
		{"in line", func() { l.Met(launched) }, 0},
		{"awake", wake, 0},
		{"asleep", sleep, 0},
		{"signalled", w.signal, 1},
		{"awake", wake, 1},
		{"launched what takes long", func() { launched = w.launch(true) }, 0},
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

// TestWhoIsLateIsAnnouncedLessOften: after others have waited in vain for a tick once, twice and so on, 1, 3 and at last 63 ticks
// go unannounced, however often each was signalled, until one was in time again. What they append is announced all the same.
// So it is with appends.
func TestWhoIsLateIsAnnouncedLessOften(t *testing.T) {
	l := &line{outstanding: map[txn.Announcement]bool{}}
	w := waker{woken: make(chan struct{}, 1), line: l}
	// tick says whether one was announced, and its append, and has each come late or not.
	tick := func(late, appendLate bool) (ticks, appends bool) {
		l.late = false
		w.rest(true)
		w.signal()
		w.signal()
		<-w.woken
		w.signal() // while it looks
		<-w.woken
		ticks, l.late = len(l.outstanding) == 1, late
		launched := w.launch(false)
		if appends = launched != 0; appends {
			l.Met(launched)
			w.landed(appendLate)
		}
		if len(l.outstanding) > 0 {
			t.Fatalf("%v are still announced", l.outstanding)
		}
		return ticks, appends
	}
	skipped := func(of func() bool) int {
		n := 0
		for ; n < 200 && !of(); n++ {
		}
		return n
	}
	for i, want := range []int{0, 1, 3, 7, 15, 31, 63, 63} {
		n := skipped(func() bool {
			ticks, appends := tick(true, false)
			if !appends {
				t.Error("the append of a late tick is not announced")
			}
			return ticks
		})
		if n != want {
			t.Errorf("late %d times, %d ticks are not announced, want %d", i, n, want)
		}
	}
	inTime := func() bool { ticks, _ := tick(false, false); return ticks }
	for _, want := range []int{63, 0, 0} {
		if n := skipped(inTime); n != want {
			t.Errorf("%d ticks are not announced, want %d", n, want)
		}
	}
	for i, want := range []int{0, 1, 3} {
		n := skipped(func() bool {
			ticks, appends := tick(false, true)
			if !ticks {
				t.Error("a tick is not announced whose append was late")
			}
			return appends
		})
		if n != want {
			t.Errorf("late %d times, %d appends are not announced, want %d", i, n, want)
		}
	}
}

// TestTicksThatBringNothing are late as others are.
func TestTicksThatBringNothing(t *testing.T) {
	l := &line{outstanding: map[txn.Announcement]bool{}}
	w := waker{woken: make(chan struct{}, 1), line: l}
	for i, want := range []bool{true, false, true, false, false, false, true} {
		l.late = false
		w.rest(true)
		w.signal()
		<-w.woken
		if got := len(l.outstanding) == 1; got != want {
			t.Errorf("tick %d is announced: %v", i, got)
		}
		l.late = true
		w.pass()
		if len(l.outstanding) > 0 {
			t.Errorf("after tick %d it is still announced", i)
		}
	}
}

// TestWakeUpsThatAreLate: what was woken and had nothing to tick is late too, but does not make good what was; who is woken again
// during a tick that brings nothing stays announced.
func TestWakeUpsThatAreLate(t *testing.T) {
	l := &line{outstanding: map[txn.Announcement]bool{}}
	w := waker{woken: make(chan struct{}, 1), line: l}
	wake := func() { w.signal(); <-w.woken }
	for _, step := range []struct {
		name string
		do   func()
		late bool
		want int
	}{
		{"asleep", func() { w.rest(true) }, false, 0},
		{"awake", wake, false, 1},
		{"asleep again, late", func() { w.rest(true) }, true, 0},
		{"awake unannounced", wake, false, 0},
		{"after a tick", w.pass, false, 0},
		{"asleep", func() { w.rest(true) }, false, 0},
		{"awake", wake, false, 1},
		{"asleep in time", func() { w.rest(true) }, false, 0},
		{"awake", wake, false, 1},
		{"asleep again, late once more", func() { w.rest(true) }, true, 0},
		{"unannounced", func() { wake(); w.pass(); w.rest(true) }, false, 0},
		{"unannounced", func() { wake(); w.pass(); w.rest(true) }, false, 0},
		{"unannounced", func() { wake(); w.pass(); w.rest(true) }, false, 0},
		{"awake", wake, false, 1},
		{"signalled during the tick", w.signal, false, 1},
		{"after that", w.pass, false, 1},
		{"awake", func() { <-w.woken }, false, 1},
		{"after the next", w.pass, false, 0},
	} {
		l.late = step.late
		if step.do(); len(l.outstanding) != step.want {
			t.Fatalf("%s: %d are announced", step.name, len(l.outstanding))
		}
	}
}
