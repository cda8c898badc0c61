package txn_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/txn"
)

// slow is a store whose commits take a while, and are counted.
type slow struct {
	consensus.Store
	takes   time.Duration
	commits int
}

func (s *slow) Commit(ctx context.Context, units []consensus.Unit) ([]consensus.Outcome, error) {
	time.Sleep(s.takes)
	s.commits++
	return s.Store.Commit(ctx, units)
}

// announcing is a set on a store whose commits take two milliseconds, the last of which is over.
type announcing struct {
	*testing.T
	store *slow
	set   *collection.Set
	g     *txn.Group
	began time.Time
	units int
	wg    sync.WaitGroup
}

const commitTakes = 2 * time.Millisecond

func announced(t *testing.T, test func(a *announcing)) {
	synctest.Test(t, func(t *testing.T) {
		a := &announcing{T: t, store: &slow{Store: consensus.NewMemory(), takes: commitTakes}}
		a.set = openSet(t, a.store, blob.NewMemory())
		a.g = a.set.Group()
		makeShard(t, a.set, "first") // so that how long a commit takes is known
		a.store.commits, a.began = 0, time.Now()
		test(a)
		a.wg.Wait()
		if err := a.set.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// do makes a unit, and afterwards says how long after the test's beginning that was.
func (a *announcing) do(u txn.Unit, told *time.Duration) {
	a.units++
	u.Ops = []shard.Op{shard.Create{ID: shard.ID(fmt.Sprint("unit-", a.units)), Schema: oneInt}}
	a.wg.Go(func() {
		mustDone(a.T)(a.g.Do(context.Background(), u))
		*told = time.Since(a.began)
	})
	synctest.Wait()
}

// after lets so much time go by.
func (a *announcing) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestAnnouncedUnitsShareOneCommit: one that is in line waits for those that were announced besides.
func TestAnnouncedUnitsShareOneCommit(t *testing.T) {
	announced(t, func(a *announcing) {
		var told [3]time.Duration
		var announced [3]txn.Announcement
		for i := range announced {
			announced[i] = a.g.Expect()
		}
		for i := range told {
			a.do(txn.Unit{Derived: true, Announced: announced[i]}, &told[i])
			a.after(commitTakes / 4)
		}
		a.wg.Wait()
		for i, d := range told {
			if d != commitTakes/2+commitTakes {
				t.Errorf("unit %d was done after %v", i, d)
			}
		}
		if a.store.commits != 1 {
			t.Errorf("%d commits", a.store.commits)
		}
	})
}

// TestTheWaitGoesOnWhileSomebodyComes: who is in line waits as long as somebody else comes in each time that a commit takes, but
// not longer than ten milliseconds.
func TestTheWaitGoesOnWhileSomebodyComes(t *testing.T) {
	for n, want := range map[int]time.Duration{1: commitTakes, 4: 4 * commitTakes, 20: 5 * commitTakes} {
		announced(t, func(a *announcing) {
			never := a.g.Expect()
			told := make([]time.Duration, n)
			for i := range told {
				a.do(txn.Unit{Derived: true}, &told[i])
				a.after(commitTakes * 9 / 10)
			}
			a.wg.Wait()
			if told[0] != want+commitTakes {
				t.Errorf("the first of %d was done after %v", n, told[0])
			}
			a.g.Met(never)
		})
	}
}

// TestTheWaitEndsWithEnoughForACommit, and when the line is closed.
func TestTheWaitEndsWithEnoughForACommit(t *testing.T) {
	announced(t, func(a *announcing) {
		never := a.g.Expect()
		large := func(key string) txn.Unit {
			return txn.Unit{Derived: true, Registers: []txn.Register{{Key: key, Data: make([]byte, 600<<10)}}}
		}
		var first, second time.Duration
		a.do(large("one"), &first)
		a.after(commitTakes / 4)
		a.do(large("two"), &second)
		a.wg.Wait()
		if first != commitTakes/4+commitTakes {
			t.Errorf("it was done after %v", first)
		}
		if want := first + commitTakes + commitTakes; second != want {
			t.Errorf("the other one, which waits anew, was done after %v, want %v", second, want)
		}
		a.g.Met(never)
		never = a.g.Expect()
		began := time.Now()
		a.wg.Go(func() {
			if _, err := a.g.Do(context.Background(), txn.Unit{Derived: true}); !errors.Is(err, txn.ErrClosed) || time.Since(began) != commitTakes/4 {
				t.Errorf("when the line was closed it ended with %v after %v", err, time.Since(began))
			}
		})
		a.after(commitTakes / 4)
		a.g.Stop()
		a.wg.Wait()
		a.g.Met(never)
	})
}

// TestWhoLeavesTheLineCountsNoMore for what is enough for a commit.
func TestWhoLeavesTheLineCountsNoMore(t *testing.T) {
	announced(t, func(a *announcing) {
		never := a.g.Expect()
		large := func(ctx context.Context, key string, want error) {
			u := txn.Unit{Derived: true, Registers: []txn.Register{{Key: key, Data: make([]byte, 600<<10)}}}
			a.wg.Go(func() {
				if _, err := a.g.Do(ctx, u); !errors.Is(err, want) {
					t.Errorf("%s: %v", key, err)
				}
			})
			a.after(commitTakes / 8)
		}
		var first time.Duration
		a.do(txn.Unit{Derived: true}, &first)
		ctx, leave := context.WithCancel(context.Background())
		large(ctx, "one", context.Canceled)
		leave()
		synctest.Wait()
		large(context.Background(), "two", nil)
		a.wg.Wait()
		if want := 2*commitTakes + commitTakes; first != want { // somebody came in the first time that a commit takes
			t.Errorf("it was done after %v, want %v", first, want)
		}
		a.g.Met(never)
	})
}

// TestWhatIsNotAnnouncedWaitsForNobody, neither alone nor behind what waits.
func TestWhatIsNotAnnouncedWaitsForNobody(t *testing.T) {
	announced(t, func(a *announcing) {
		var first, second, third time.Duration
		never := a.g.Expect()
		a.do(txn.Unit{}, &first)
		a.wg.Wait()
		if first != commitTakes {
			t.Errorf("alone it was done after %v", first)
		}
		a.do(txn.Unit{Derived: true, Announced: a.g.Expect()}, &second)
		a.after(commitTakes / 4)
		a.do(txn.Unit{}, &third)
		a.wg.Wait()
		if want := first + commitTakes/4 + commitTakes; second != want || third != want {
			t.Errorf("together they were done after %v and %v instead of %v", second, third, want)
		}
		a.g.Met(never)
	})
}

// TestWaitForTheAnnouncedEnds when what was announced does not come after all, and when a commit could have been made
// meanwhile, at most after ten milliseconds. Who was late, and who ended before it was in line, is waited for no more.
func TestWaitForTheAnnouncedEnds(t *testing.T) {
	announced(t, func(a *announcing) {
		// waited says how long a unit waited for others before a commit that took so long.
		waited := func(takes time.Duration, meanwhile func()) time.Duration {
			began, told := time.Since(a.began), time.Duration(0)
			a.store.takes = takes
			a.do(txn.Unit{Derived: true, Announced: a.g.Expect()}, &told)
			meanwhile()
			a.wg.Wait()
			return told - began - takes
		}
		nothing := func() {}
		other := a.g.Expect()
		if d := waited(commitTakes, func() { a.after(commitTakes / 4); a.g.Met(other) }); d != commitTakes/4 {
			t.Errorf("for what does not come it waited %v", d)
		}
		late := a.g.Expect()
		if a.g.Late(late) {
			t.Error("it is late before anybody has waited for it")
		}
		if d := waited(time.Minute, nothing); d != commitTakes {
			t.Errorf("for what is late it waited %v", d)
		}
		if !a.g.Late(late) {
			t.Error("it is not late although it was waited for in vain")
		}
		if d := waited(time.Minute, nothing); d != 0 {
			t.Errorf("for what was late before it waited %v", d)
		}
		later := a.g.Expect()
		a.g.Met(late) // not the later one
		if d := waited(commitTakes, nothing); d != 10*time.Millisecond {
			t.Errorf("for what is late, after a commit of a minute, it waited %v", d)
		}
		a.g.Met(later)
		ended, end := context.WithCancel(context.Background())
		end()
		if _, err := a.g.Do(ended, txn.Unit{Derived: true, Announced: a.g.Expect()}); err != context.Canceled {
			t.Error(err)
		}
		if d := waited(commitTakes, nothing); d != 0 {
			t.Errorf("for what has ended it waited %v", d)
		}
	})
}

// BenchmarkAnnounced has eight units caused by one event, each ready a twentieth of a commit's time after the one before,
// as the appends of eight views of a table are; with and without an announcement in turn, as commits a round and as the
// ratio of the times until they were done, of all of them together.
func BenchmarkAnnounced(b *testing.B) {
	const units, takes = 8, time.Millisecond
	store := &slow{Store: consensus.NewMemory(), takes: takes}
	set := openSet(b, store, blob.NewMemory())
	g := set.Group()
	var shards [units]*shard.Shard
	for i := range shards {
		shards[i] = makeShard(b, set, shard.ID(fmt.Sprint(i)))
	}
	var commits [2]int
	var waited [2]time.Duration
	for b.Loop() {
		for way := range waited {
			store.commits = 0
			var announced [units]txn.Announcement
			for i := range announced {
				if way == 1 {
					announced[i] = g.Expect()
				}
			}
			began := time.Now()
			var each [units]time.Duration
			var wg sync.WaitGroup
			for i, sh := range shards {
				wg.Go(func() {
					for time.Since(began) < time.Duration(i)*takes/20 {
						runtime.Gosched()
					}
					lower := sh.Upper()
					append := shard.Append{Shard: sh, Lower: lower, Upper: lower + 1}
					if _, err := g.Do(context.Background(), txn.Unit{Ops: []shard.Op{append}, Derived: true, Announced: announced[i]}); err != nil {
						b.Error(err)
					}
					each[i] = time.Since(began)
				})
			}
			wg.Wait()
			commits[way] += store.commits
			for _, d := range each {
				waited[way] += d
			}
		}
	}
	b.ReportMetric(float64(commits[0])/float64(b.N), "commits-alone")
	b.ReportMetric(float64(commits[1])/float64(b.N), "commits-announced")
	b.ReportMetric(float64(waited[1])/float64(waited[0]), "ratio")
}
