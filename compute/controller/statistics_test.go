package controller_test

import (
	mrand "math/rand/v2"
	"testing"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// TestSinkStatisticsAreOfOneView: what the replicas of a cluster do for a view is counted as one, under its name, from
// its beginning or that of the process until it is dropped.
func TestSinkStatisticsAreOfOneView(t *testing.T) {
	e := newEnv(t, 1)
	r := mrand.New(mrand.NewPCG(8, 8))
	a := e.table(1)
	e.c.SetCluster(cluster, replica(1, 1), replica(2, 4), replica(3, 2))
	p := e.view(10, groups(a))
	other := e.view(11, groups(a))
	const writes = 20
	for range writes {
		e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
		e.check(p, groups(a), e.live)
	}
	appends := func(name string) float64 { return e.labelled("tributary_sink_appends_total", "view", name) }
	s := e.c.SinkStatistics(p)
	// The last append may have been read before it was counted.
	if s.Appends < writes-1 || s.Appends > writes || s.Rows < s.Appends || s.ObjectParts+s.InlineParts != s.Appends ||
		s.StagedBytesPeak == 0 {
		t.Errorf("after %d writes: %+v", writes, s)
	}
	if got := appends(p.String()); got < float64(s.Appends+s.EmptyAppends) || got > float64(s.Appends+s.EmptyAppends+2) {
		t.Errorf("the series say that there were %v appends, it was %+v", got, s)
	}
	if got := e.c.SinkStatistics(a); got != (controller.SinkStatistics{}) {
		t.Errorf("a table has %+v", got)
	}

	e.c.Rename(p, "another name")
	if was, is := appends(p.String()), appends("another name"); was != 0 || is < float64(s.Appends) {
		t.Errorf("renamed, it has %v appends by its old name and %v by its new one", was, is)
	}
	e.c.Drop(p)
	if left := appends("another name"); left != 0 || e.c.SinkStatistics(p) != (controller.SinkStatistics{}) {
		t.Errorf("dropped, it has %v appends", left)
	}
	e.check(other, groups(a), e.live)
	if appends(other.String()) == 0 {
		t.Error("with the one view, the other's series ended")
	}

	e.views = e.views[1:]
	e.stop()
	e.start(2)
	e.check(other, groups(a), e.live)
	if s := e.c.SinkStatistics(other); s.Appends != 0 || s.Rows != 0 {
		t.Errorf("a process that has not appended anything says %+v", s)
	}
}
