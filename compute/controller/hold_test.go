package controller_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// late is a view on a table of which no history is retained, up to date on one replica, while another one that was added
// has begun to take the table's contents in and does not go on.
type late struct {
	*env
	a, v tvc.ID
	rows int
	// begun is closed when the second replica has opened the contents; resume lets it go on.
	begun  chan struct{}
	resume func()
	asked  atomic.Int64
}

func newLate(t *testing.T) *late {
	l := &late{env: newEnv(t, 1), begun: make(chan struct{})}
	stuck := make(chan struct{})
	l.resume = sync.OnceFunc(func() { close(stuck) })
	t.Cleanup(l.resume) // before the environment's own, which waits for its dataflows
	l.must(l.sets.Set("storage_retain_history", "0"))
	l.a = l.table(1)
	l.write(map[tvc.ID]*vec.Block{l.a: thirteen()})
	l.v = l.view(10, special(l.a, func() int64 {
		if l.asked.Add(1) == 2 {
			close(l.begun)
			<-stuck
		}
		return 13
	}))
	l.holds()
	l.c.SetCluster(cluster, replica(1, 1), replica(2, 2))
	<-l.begun
	return l
}

// holds fails unless the view is what its query gives.
func (l *late) holds() {
	l.t.Helper()
	l.check(l.v, special(l.a, func() int64 { return 13 }), l.live)
}

// goOn writes to the table, has the view follow, and lets all history go that nobody holds.
func (l *late) goOn(writes int) {
	l.t.Helper()
	for range writes {
		l.write(map[tvc.ID]*vec.Block{l.a: single(l.rows)})
		l.rows++
		l.holds()
	}
	sh, _ := l.set.Shard(l.a)
	l.must(sh.CompactAll(context.Background(), l.submit))
}

// until goes on until something is so.
func (l *late) until(what string, so func() bool) {
	l.t.Helper()
	for tries := 0; !so(); tries++ {
		if tries == 2000 {
			l.t.Fatalf("it does not come about that %s", what)
		}
		l.goOn(1)
	}
}

// held gives the least time from which on the second replica holds the table; 0 if it does not.
func (l *late) held() tvc.Frontier {
	for _, h := range l.set.Holds() {
		if h.ID == l.a && strings.HasSuffix(h.Owner, " on replica "+replica(2, 2).ID.String()) {
			return h.Since
		}
	}
	return 0
}

// TestASlowReplicaJoins: a replica that takes long to begin goes on from there, however far the view has got meanwhile
// and however little history is retained, and can do without the others then.
func TestASlowReplicaJoins(t *testing.T) {
	l := newLate(t)
	for range 3 {
		l.goOn(10)
	}
	start := l.held()
	l.resume()
	l.until("the second replica goes on", func() bool { return l.held() > start })
	l.goOn(10)
	l.c.SetCluster(cluster, replica(2, 2))
	l.goOn(10)
	if n := l.labelled("tributary_sink_rebuilds_total", "view", l.v.String()); n > 0 {
		t.Errorf("the view's dataflow was built anew %v times", n)
	}
	if n := l.asked.Load(); n != 2 {
		t.Errorf("the contents were taken in %d times by two replicas", n)
	}
	if h := l.set.Holds(); len(h) != 2 {
		t.Errorf("the view and its one replica have the holds %v", h)
	}
}

// TestAStuckReplicaHoldsNothingForEver: what a replica has yet to read is kept for it no longer than the setting says;
// when it goes on after all, it begins anew.
func TestAStuckReplicaHoldsNothingForEver(t *testing.T) {
	l := newLate(t)
	l.goOn(10)
	sh, _ := l.set.Shard(l.a)
	if at := l.held(); at == 0 || sh.Since() > at {
		t.Fatalf("the replica holds %v, and since is %v", at, sh.Since())
	}
	l.must(l.sets.Set("compute_standby_max_lag", "1ms"))
	start := l.held()
	l.until("what is kept for the second replica goes", func() bool { return l.held() == 0 && sh.Since() > start })
	l.must(l.sets.Set("compute_standby_max_lag", "1h"))
	l.resume()
	l.until("the second replica begins anew", func() bool { return l.held() > 0 })
	l.goOn(10)
	l.c.SetCluster(cluster, replica(2, 2))
	l.goOn(10)
	if n := l.labelled("tributary_sink_rebuilds_total", "view", l.v.String()); n != 1 {
		t.Errorf("the view's dataflow was built anew %v times", n)
	}
}
