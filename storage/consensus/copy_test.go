package consensus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/consensus"
)

// loader is a store that entries can be loaded into.
type loader interface {
	consensus.Store
	Load(context.Context, consensus.Entries) error
}

var loaders = map[string]func(testing.TB) loader{
	"pebble":   func(tb testing.TB) loader { return openPebble(tb, vfs.NewMem(), prometheus.NewRegistry()) },
	"postgres": func(tb testing.TB) loader { return openPostgres(tb, newSchema(tb)) },
}

// TestLoadedEntriesAreTheStore: a copy has what the store had, versions and what was truncated included, and goes on
// from there.
func TestLoadedEntriesAreTheStore(t *testing.T) {
	ctx := t.Context()
	from := openPebble(t, vfs.NewMem(), prometheus.NewRegistry())
	large := string(make([]byte, 300_000))
	for v := range consensus.Version(12) {
		commit(t, from, consensus.Unit{put("a", v, fmt.Sprint("a", v+1)), put("ab", v, large), {Key: "b", Expect: v, Data: []byte{}}})
	}
	if err := from.Truncate(ctx, "a", 7); err != nil {
		t.Fatal(err)
	}
	for name, open := range loaders {
		t.Run(name, func(t *testing.T) {
			to := open(t)
			commit(t, to, consensus.Unit{compare("a", 0)})
			if err := to.Load(ctx, from.Entries(ctx)); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"a", "ab", "b"} {
				x, errX := from.Scan(ctx, key, 0, 100)
				y, errY := to.Scan(ctx, key, 0, 100)
				if errX != nil || errY != nil || fmt.Sprint(x) != fmt.Sprint(y) {
					t.Errorf("%s: %d and %d entries, %v %v", key, len(x), len(y), errX, errY)
				}
			}
			if err := to.Load(ctx, from.Entries(ctx)); !errors.Is(err, consensus.ErrNotEmpty) {
				t.Errorf("a second load: %v", err)
			}
			commit(t, to, consensus.Unit{put("a", 12, "a13"), compare("b", 12)})
			if h := head(t, to, "a"); h != "13:a13" {
				t.Error(h)
			}
		})
	}
}

// TestEntriesAreOfOneMoment: while pairs of registers go on together, no copy has one ahead of the other.
func TestEntriesAreOfOneMoment(t *testing.T) {
	ctx := t.Context()
	from := openPebble(t, vfs.NewMem(), prometheus.NewRegistry())
	commit(t, from, consensus.Unit{put("a", 0, "x"), put("z", 0, "x")})
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for v := consensus.Version(1); ; v++ {
			select {
			case <-stop:
				return
			default:
				if _, err := from.Commit(ctx, []consensus.Unit{{put("a", v, "x"), put("z", v, "x")}}); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for range 50 {
		heads := map[string]consensus.Version{}
		err := from.Entries(ctx)(func(some []consensus.Copied) error {
			for _, e := range some {
				heads[e.Key] = e.Version
			}
			return nil
		})
		if err != nil || heads["a"] == 0 || heads["a"] != heads["z"] {
			t.Errorf("%v %v", heads, err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestPebbleForReadingOnly(t *testing.T) {
	ctx := t.Context()
	fs := vfs.NewMem()
	o := consensus.PebbleOptions{FS: fs, Registry: prometheus.NewRegistry(), ReadOnly: true}
	if _, err := consensus.OpenPebble("consensus", o); err == nil {
		t.Error("a store that is not there was opened")
	}
	p, err := consensus.OpenPebble("consensus", consensus.PebbleOptions{FS: fs, Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, p, consensus.Unit{put("a", 0, "a1")})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	before := files(t, fs)
	p, err = consensus.OpenPebble("consensus", o)
	if err != nil {
		t.Fatal(err)
	}
	if h := head(t, p, "a"); h != "1:a1" {
		t.Error(h)
	}
	_, err = p.Commit(ctx, []consensus.Unit{{put("a", 1, "a2")}})
	for _, err := range []error{err, p.Truncate(ctx, "a", 1), p.Load(ctx, nil)} {
		if !errors.Is(err, consensus.ErrReadOnly) {
			t.Error(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if after := files(t, fs); after != before {
		t.Errorf("it has changed\n%s\nto\n%s", before, after)
	}
}

// files shows the store's files and their sizes.
func files(t *testing.T, fs vfs.FS) string {
	t.Helper()
	names, err := fs.List("consensus")
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, name := range slices.Sorted(slices.Values(names)) {
		info, err := fs.Stat(fs.PathJoin("consensus", name))
		if err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintln(name, info.Size())
	}
	return out
}
