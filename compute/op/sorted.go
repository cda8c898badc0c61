package op

import (
	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/storage/tvc"
)

// sorted is rows that an operator keeps arranged, those of the current pass apart from the others until done.
type sorted struct {
	builder arrange.Builder
	spine   arrange.Spine
	delta   []*arrange.Run
	runs    []*arrange.Run
	open    bool // the pass has rows
	// all reads every row, news those of the pass; from seal to done.
	all, news arrange.Cursor
}

// adding gives what the rows of the pass at a time are added to.
func (s *sorted) adding(at tvc.Time) *arrange.Builder {
	if !s.open {
		s.builder.Reset(at, false)
		s.open = true
	}
	return &s.builder
}

// seal says that all rows of the pass are added.
func (s *sorted) seal() {
	if s.open {
		s.delta = s.builder.Finish()
	}
	s.runs = append(append(s.runs[:0], s.spine.Runs()...), s.delta...)
	s.all.OpenAll(s.runs)
	s.news.OpenAll(s.delta)
}

// done ends the pass, of a tick below upper.
func (s *sorted) done(upper tvc.Frontier) {
	s.spine.Advance(upper - 1)
	s.spine.Insert(s.delta)
	s.delta, s.open = nil, false
	// Runs that are merged away are not kept from being freed.
	clear(s.runs)
	s.all, s.news = arrange.Cursor{}, arrange.Cursor{}
}
