package controller_test

import (
	"context"
	"fmt"
	mrand "math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// brokenText is what readers of a view are told that has counted to thirteen.
func brokenText(id tvc.ID) string { return id.String() + " is broken and cannot be read: thirteen" }

// TestNewReplicaTakesOverFromABrokenOne: what has failed for good on all its replicas is read again from a new one,
// and holds its inputs no longer than the new one needs; when only those are left that have failed, readers are told
// and do not wait.
func TestNewReplicaTakesOverFromABrokenOne(t *testing.T) {
	e := newEnv(t, 1)
	r := mrand.New(mrand.NewPCG(1, 1))
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	var none atomic.Int64
	var fuses [2]atomic.Int64
	view, index := e.view(10, panicking(a, &fuses[0])), e.index(11, panicking(a, &fuses[1]), 0)
	for _, id := range []tvc.ID{view, index} {
		e.check(id, panicking(a, &none), e.live)
	}
	broken := func() {
		t.Helper()
		for _, id := range []tvc.ID{view, index} {
			if _, err := e.read(id); fmt.Sprint(err) != brokenText(id) {
				t.Fatalf("%v: %v", id, err)
			}
		}
	}
	fuses[0].Store(2)
	fuses[1].Store(2)
	at := e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	broken()
	e.c.SetCluster(cluster, replica(1, 1), replica(2, 2))
	for range 3 {
		for _, id := range []tvc.ID{view, index} {
			e.check(id, panicking(a, &none), e.live)
		}
		e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	}
	e.must(e.c.Wait(context.Background(), []tvc.ID{index}, e.readTime()))
	for _, h := range e.set.Holds() {
		if h.Owner == "index panicking" && !h.Since.Past(at) {
			t.Fatalf("the index holds its input at %v, before %v", h.Since, at)
		}
	}
	e.c.SetCluster(cluster, replica(1, 1))
	broken()
}

// TestSubscriptionToABrokenViewEnds: it is told why, also if what it reads is computed from the view; another cannot
// begin.
func TestSubscriptionToABrokenViewEnds(t *testing.T) {
	e := newEnv(t, 1)
	a := e.table(1)
	var fuse atomic.Int64
	view := e.view(10, panicking(a, &fuse))
	on := e.view(11, copied(view))
	var subs []*controller.Subscription
	for _, id := range []tvc.ID{view, on} {
		at := e.readTime()
		sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: copied(id), At: at})
		e.must(err)
		defer sub.Close()
		if _, err := e.accumulate(sub, at); err != nil {
			t.Fatal(err)
		}
		subs = append(subs, sub)
	}
	fuse.Store(2)
	at := e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	for _, sub := range subs {
		if _, err := e.accumulate(sub, at); fmt.Sprint(err) != brokenText(view) {
			t.Fatalf("a subscription to what is broken: %v", err)
		}
	}
	for _, id := range []tvc.ID{view, on} {
		_, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: copied(id), At: e.readTime()})
		if fmt.Sprint(err) != brokenText(view) {
			t.Fatalf("a new subscription to what is broken: %v", err)
		}
	}
}

// TestBrokenDataflowKeepsNoState: it stays known until it is dropped, but its memory is free.
func TestBrokenDataflowKeepsNoState(t *testing.T) {
	e := newEnv(t, 1)
	a := e.table(1)
	const rows = 200_000
	big := vec.NewBlock(kv.Kinds(), rows)
	for i := range int64(rows) {
		big.AppendRow(1, vec.IntOf(1000+i), vec.IntOf(i))
	}
	e.write(map[tvc.ID]*vec.Block{a: big})
	if _, err := e.read(a); err != nil {
		t.Fatal(err)
	}
	without := liveBytes()
	var fuse atomic.Int64
	x := e.index(10, panicking(a, &fuse), 0)
	e.must(e.c.Wait(context.Background(), []tvc.ID{x}, e.readTime()))
	with := liveBytes()
	fuse.Store(2)
	e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	if _, err := e.read(x); fmt.Sprint(err) != brokenText(x) {
		t.Fatal(err)
	}
	if broken := liveBytes(); broken-without > (with-without)/4 {
		t.Fatalf("%d bytes without the index, %d with it, %d when it is broken", without, with, broken)
	}
}

// liveBytes is how much memory is in use.
func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestReadsWaitForNoLaterWrite: a write is stored but not yet applied, as an earlier one is still under way; a view
// is read at the time before both without waiting for them.
func TestReadsWaitForNoLaterWrite(t *testing.T) {
	e := newEnv(t, 2)
	r := mrand.New(mrand.NewPCG(1, 1))
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 5)})
	g := e.view(10, groups(a))
	p := e.view(11, pick(g))
	for range 5 {
		want := map[tvc.ID]string{}
		for _, id := range []tvc.ID{g, p} {
			got, err := e.read(id)
			e.must(err)
			want[id] = got.String()
		}
		earlier := e.set.Oracle().WriteTime()
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.write(map[tvc.ID]*vec.Block{a: randomRows(r, 2)})
		}()
		for sh, _ := e.set.Shard(a); sh.Upper() <= tvc.Frontier(earlier); {
		}
		for _, id := range []tvc.ID{g, p} {
			if got, err := e.read(id); err != nil || got.String() != want[id] {
				t.Errorf("%v is\n%s%v, want\n%s", id, got, err, want[id])
			}
		}
		e.set.Oracle().Forget(earlier)
		e.c.Applied()
		<-done
	}
}

// TestSubscriptionUpTo: its end is exclusive, so one that ends where it begins gives nothing; the last it gives says
// that all before its end has come.
func TestSubscriptionUpTo(t *testing.T) {
	e := newEnv(t, 1)
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	at := e.readTime()
	read := func(upTo tvc.Frontier, then func()) (n int, last tvc.Frontier) {
		t.Helper()
		sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: copied(a), At: at, UpTo: upTo})
		e.must(err)
		defer sub.Close()
		for {
			rows, upper, ok, err := sub.Next(ctx)
			e.must(err)
			if !ok {
				return n, last
			}
			if rows != nil {
				n += rows.Len
			}
			if last = upper; then != nil && last == tvc.After(at) {
				then()
			}
		}
	}
	if n, _ := read(tvc.Frontier(at), nil); n != 0 {
		t.Fatalf("%d rows at or after the end", n)
	}
	if n, last := read(tvc.After(at), nil); n != 13 || last != tvc.After(at) {
		t.Fatalf("%d rows below %v", n, last)
	}
	// The table moves, to where the subscription is already, when time has passed its end.
	sh, _ := e.set.Shard(a)
	n, last := read(tvc.After(at)+5, func() {
		for e.readTime() < at+10 {
		}
		e.do(func(tvc.Time) []shard.Op {
			return []shard.Op{shard.Append{Shard: sh, AnyLower: true, Upper: tvc.Frontier(at)}}
		})
	})
	if n != 13 || last != tvc.After(at)+5 {
		t.Fatalf("%d rows below %v", n, last)
	}
}

// TestLookupReadsWhatWasChosen: a lookup chooses a replica and reads the index there. What it reads counts only if
// the index has not begun anew meanwhile, from an earlier time than that of the lookup.
func TestLookupReadsWhatWasChosen(t *testing.T) {
	e := newEnv(t, 1)
	a := e.table(1)
	var fuse, none atomic.Int64
	x := e.index(13, panicking(a, &fuse), 0)
	e.check(x, panicking(a, &none), e.live)
	before := e.c.Choose(x, e.readTime())
	if !before() {
		t.Fatal("nothing has happened to the index")
	}
	fuse.Store(1)
	e.write(map[tvc.ID]*vec.Block{a: thirteen()})
	e.check(x, panicking(a, &none), e.live)
	after := e.c.Choose(x, e.readTime())
	if before() || !after() {
		t.Fatal("the index has begun anew before the one choice and not since the other")
	}
	e.c.SetCluster(cluster, replica(2, 1))
	if after() {
		t.Fatal("the replica is gone")
	}
}
