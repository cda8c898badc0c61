package consensus_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/consensus"
)

// stores are the implementations; each promise below is tested on all of them.
var stores = map[string]func(testing.TB) consensus.Store{
	"memory":   func(testing.TB) consensus.Store { return consensus.NewMemory() },
	"pebble":   func(tb testing.TB) consensus.Store { return openPebble(tb, vfs.NewMem(), prometheus.NewRegistry()) },
	"postgres": func(tb testing.TB) consensus.Store { return openPostgres(tb, newSchema(tb)) },
}

func openPebble(tb testing.TB, fs vfs.FS, reg *prometheus.Registry) *consensus.Pebble {
	tb.Helper()
	p, err := consensus.OpenPebble("consensus", consensus.PebbleOptions{FS: fs, Registry: reg})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

func onAll(t *testing.T, test func(*testing.T, consensus.Store)) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func commit(t testing.TB, s consensus.Store, units ...consensus.Unit) []consensus.Outcome {
	t.Helper()
	out, err := s.Commit(context.Background(), units)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func head(t testing.TB, s consensus.Store, key string) string {
	t.Helper()
	h, err := s.Head(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d:%s", h.Version, h.Data)
}

func put(key string, expect consensus.Version, data string) consensus.Entry {
	return consensus.Entry{Key: key, Expect: expect, Data: []byte(data)}
}

func compare(key string, expect consensus.Version) consensus.Entry {
	return consensus.Entry{Key: key, Expect: expect}
}

func TestUnitIsAllOrNothing(t *testing.T) {
	onAll(t, func(t *testing.T, s consensus.Store) {
		if o := commit(t, s, consensus.Unit{put("a", 0, "a1"), put("b", 0, "b1")}); !o[0].Done {
			t.Fatalf("fresh registers: %+v", o)
		}
		o := commit(t, s, consensus.Unit{put("c", 0, "c1"), put("b", 0, "no")})
		want := consensus.Outcome{Key: "b", Head: consensus.Versioned{Version: 1, Data: []byte("b1")}}
		if !reflect.DeepEqual(o[0], want) {
			t.Fatalf("got %+v, want %+v", o[0], want)
		}
		if h := head(t, s, "c"); h != "0:" {
			t.Fatalf("part of a refused unit happened: %s", h)
		}
	})
}

func TestLaterUnitBuildsOnEarlier(t *testing.T) {
	onAll(t, func(t *testing.T, s consensus.Store) {
		o := commit(t, s,
			consensus.Unit{put("a", 0, "a1")},
			consensus.Unit{put("a", 1, "a2"), put("b", 0, "b1")},
			consensus.Unit{put("a", 1, "no"), put("c", 0, "no")},
			consensus.Unit{put("d", 5, "no")},
			consensus.Unit{put("a", 2, "a3"), compare("b", 1)},
			consensus.Unit{compare("c", 0), compare("a", 3)},
		)
		var done []bool
		for _, x := range o {
			done = append(done, x.Done)
		}
		if want := []bool{true, true, false, false, true, true}; !reflect.DeepEqual(done, want) {
			t.Fatalf("done %v, want %v", done, want)
		}
		if o[2].Key != "a" || o[2].Head.Version != 2 || string(o[2].Head.Data) != "a2" {
			t.Fatalf("refusal carries %+v", o[2])
		}
		if o[3].Key != "d" || o[3].Head.Version != 0 {
			t.Fatalf("refusal carries %+v", o[3])
		}
		if h := head(t, s, "a"); h != "3:a3" {
			t.Fatalf("head of a: %s", h)
		}
	})
}

func TestScanAndTruncate(t *testing.T) {
	ctx := context.Background()
	onAll(t, func(t *testing.T, s consensus.Store) {
		for v := range 10 {
			commit(t, s, consensus.Unit{put("a", consensus.Version(v), fmt.Sprint("a", v+1)), put("ab", consensus.Version(v), "x")})
		}
		scan := func(from consensus.Version, limit int) string {
			vs, err := s.Scan(ctx, "a", from, limit)
			if err != nil {
				t.Fatal(err)
			}
			out := ""
			for _, v := range vs {
				out += fmt.Sprintf("%d:%s ", v.Version, v.Data)
			}
			return out
		}
		if got := scan(0, 2); got != "1:a1 2:a2 " {
			t.Fatal(got)
		}
		if err := s.Truncate(ctx, "a", 9); err != nil {
			t.Fatal(err)
		}
		if got := scan(0, 100); got != "9:a9 10:a10 " {
			t.Fatal(got)
		}
		if err := s.Truncate(ctx, "a", 99); err != nil {
			t.Fatal(err)
		}
		if got := scan(0, 100); got != "10:a10 " {
			t.Fatalf("the head must stay: %s", got)
		}
		if err := s.Truncate(ctx, "none", 5); err != nil {
			t.Fatal(err)
		}
		commit(t, s, consensus.Unit{put("a", 10, "a11")})
		if got := scan(11, 100); got != "11:a11 " {
			t.Fatal(got)
		}
		if keys, err := s.Keys(ctx, "a"); err != nil || !reflect.DeepEqual(keys, []string{"a", "ab"}) {
			t.Fatal(keys, err)
		}
		if keys, err := s.Keys(ctx, "ab"); err != nil || !reflect.DeepEqual(keys, []string{"ab"}) {
			t.Fatal(keys, err)
		}
	})
}

func TestRefusesBadKeys(t *testing.T) {
	onAll(t, func(t *testing.T, s consensus.Store) {
		for _, u := range []consensus.Unit{{put("", 0, "x")}, {put("a b", 0, "x")}, {put("a", 0, "x"), compare("a", 0)}} {
			if _, err := s.Commit(context.Background(), []consensus.Unit{u}); err == nil {
				t.Errorf("%v: no error", u)
			}
		}
	})
}

func TestEmptyDataIsAnEntry(t *testing.T) {
	onAll(t, func(t *testing.T, s consensus.Store) {
		commit(t, s, consensus.Unit{{Key: "a", Data: []byte{}}})
		if h := head(t, s, "a"); h != "1:" {
			t.Fatal(h)
		}
	})
}

// TestConcurrentIncrements lets many writers race for one register and one that they share in pairs: every
// entry must be one success, in order.
func TestConcurrentIncrements(t *testing.T) {
	onAll(t, func(t *testing.T, s consensus.Store) {
		const writers, each = 8, 20
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				own := consensus.Version(0)
				for own < each {
					h, err := s.Head(context.Background(), "all")
					if err != nil {
						t.Error(err)
						return
					}
					o, err := s.Commit(context.Background(), []consensus.Unit{{
						put("all", h.Version, fmt.Sprint(w)), put(fmt.Sprint("own", w), own, "x")}})
					if err != nil {
						t.Error(err)
						return
					}
					if o[0].Done {
						own++
					}
				}
			})
		}
		wg.Wait()
		if h, err := s.Head(context.Background(), "all"); err != nil || h.Version != writers*each {
			t.Fatal(h.Version, err)
		}
	})
}

// TestAgainstModel drives all stores with one random history; they must agree with each other.
func TestAgainstModel(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		t.Run(name, func(t *testing.T) {
			seeds := uint64(20)
			if name == "postgres" {
				seeds = 5 // Each call is a round trip.
			}
			for seed := range seeds {
				againstModel(t, seed, stores["memory"](t), stores[name](t))
			}
		})
	}
}

func againstModel(t *testing.T, seed uint64, model, store consensus.Store) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(seed, 1))
	for step := range 60 {
		var units []consensus.Unit
		for range 1 + rng.IntN(4) {
			var u consensus.Unit
			for _, k := range rng.Perm(4)[:1+rng.IntN(3)] {
				key := fmt.Sprint("k", k)
				h, err := model.Head(ctx, key)
				if err != nil {
					t.Fatal(err)
				}
				e := consensus.Entry{Key: key, Expect: h.Version + consensus.Version(rng.IntN(3)/2)}
				if rng.IntN(4) > 0 {
					e.Data = fmt.Append(nil, step, k)
				}
				u = append(u, e)
			}
			units = append(units, u)
		}
		a, b := commit(t, model, units...), commit(t, store, units...)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d step %d: %+v\n%+v\n%+v", seed, step, units, a, b)
		}
		if rng.IntN(5) == 0 {
			v := consensus.Version(rng.IntN(20))
			if err := errors.Join(model.Truncate(ctx, "k0", v), store.Truncate(ctx, "k0", v)); err != nil {
				t.Fatal(err)
			}
		}
	}
	x, errX := model.Keys(ctx, "")
	y, errY := store.Keys(ctx, "")
	if errX != nil || errY != nil || !reflect.DeepEqual(x, y) {
		t.Fatal(seed, x, y, errX, errY)
	}
	for k := range 4 {
		x, errX := model.Scan(ctx, fmt.Sprint("k", k), 0, 1000)
		y, errY := store.Scan(ctx, fmt.Sprint("k", k), 0, 1000)
		if errX != nil || errY != nil || !reflect.DeepEqual(x, y) {
			t.Fatal(seed, k, x, y, errX, errY)
		}
	}
}

func TestPebbleKeepsWhatWasCommittedAcrossACrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := openPebble(t, fs, prometheus.NewRegistry())
	for v := range consensus.Version(50) {
		commit(t, s, consensus.Unit{put("a", v, fmt.Sprint("a", v+1))})
		crashed := openPebble(t, fs.CrashClone(vfs.CrashCloneCfg{}), prometheus.NewRegistry())
		if h := head(t, crashed, "a"); h != fmt.Sprintf("%d:a%d", v+1, v+1) {
			t.Fatalf("after version %d a crash leaves %s", v+1, h)
		}
	}
}

func TestPebbleOneFsyncACommit(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := openPebble(t, vfs.NewMem(), reg)
	count := func() float64 {
		ms, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		return ms[0].Metric[0].Counter.GetValue()
	}
	before := count()
	const n = 100
	for v := range consensus.Version(n) {
		commit(t, s, consensus.Unit{put("a", v, "x")}, consensus.Unit{put("b", v, "x"), compare("a", v+1)})
	}
	if got := count() - before; got != n {
		t.Fatalf("%v fsyncs for %d commits", got, n)
	}
	before = count()
	commit(t, s, consensus.Unit{compare("a", n)})
	if got := count() - before; got != 0 {
		t.Fatalf("%v fsyncs for a commit that writes nothing", got)
	}
}

func TestPebbleIsForOneProcess(t *testing.T) {
	dir := t.TempDir()
	p, err := consensus.OpenPebble(dir, consensus.PebbleOptions{Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := consensus.OpenPebble(dir, consensus.PebbleOptions{Registry: prometheus.NewRegistry()}); !errors.Is(err, consensus.ErrInUse) {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p, err = consensus.OpenPebble(dir, consensus.PebbleOptions{Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
