package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/blob"
)

// stores are the implementations; each promise below is tested on all of them.
var stores = map[string]func(testing.TB) blob.Store{
	"memory":    func(testing.TB) blob.Store { return blob.NewMemory() },
	"directory": func(tb testing.TB) blob.Store { return openDirectory(tb, tb.TempDir()+"/blob", vfs.Default) },
	"directory in memory": func(tb testing.TB) blob.Store {
		return openDirectory(tb, "blob", vfs.NewMem())
	},
	"measured":       func(testing.TB) blob.Store { return blob.Measured(blob.NewMemory(), prometheus.NewRegistry()) },
	"s3":             func(tb testing.TB) blob.Store { return openS3(tb, newFake(tb).url("bucket")) },
	"s3 in a folder": func(tb testing.TB) blob.Store { return openS3(tb, newFake(tb).url("bucket/some/folder")) },
}

func openDirectory(tb testing.TB, dir string, fs vfs.FS) *blob.Directory {
	tb.Helper()
	d, err := blob.OpenDirectory(dir, blob.DirectoryOptions{FS: fs, Registry: prometheus.NewRegistry()})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// s3Env names a bucket on a server of S3's protocol, as OpenS3 takes it but without a folder: the promises are then tested
// there as well, in folders that are new.
const s3Env = "TRIBUTARY_TEST_S3"

func onAll(t *testing.T, test func(*testing.T, blob.Store)) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
	if bucket := os.Getenv(s3Env); bucket != "" {
		place, options, _ := strings.Cut(bucket, "?")
		folder := fmt.Sprintf("%s/%016x?%s", place, rand.Uint64(), options)
		t.Run("s3 elsewhere", func(t *testing.T) { test(t, openS3(t, folder)) })
	}
}

func list(t testing.TB, s blob.Store, prefix string) string {
	t.Helper()
	infos, err := s.List(context.Background(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, i := range infos {
		out += fmt.Sprintf("%s:%d ", i.Key, i.Size)
	}
	return out
}

func TestGetGivesWhatWasPut(t *testing.T) {
	ctx := context.Background()
	onAll(t, func(t *testing.T, s blob.Store) {
		for _, data := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("0123456789"), 100_000)} {
			key := fmt.Sprintf("u1/p-%d", len(data))
			if _, err := s.Get(ctx, key); !errors.Is(err, blob.ErrNotFound) {
				t.Fatal(err)
			}
			for range 2 {
				if err := s.Put(ctx, key, data); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.Get(ctx, key)
			if err != nil || !bytes.Equal(got, data) {
				t.Fatal(len(got), err)
			}
			for range 2 {
				if err := s.Delete(ctx, key); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Get(ctx, key); !errors.Is(err, blob.ErrNotFound) {
				t.Fatal(err)
			}
		}
	})
}

func TestTheCallersBytesStayTheCallers(t *testing.T) {
	ctx := context.Background()
	onAll(t, func(t *testing.T, s blob.Store) {
		data := []byte("abc")
		if err := s.Put(ctx, "k", data); err != nil {
			t.Fatal(err)
		}
		data[0] = 'x'
		got, err := s.Get(ctx, "k")
		if err != nil || string(got) != "abc" {
			t.Fatal(string(got), err)
		}
		got[1] = 'x'
		if got, err := s.Get(ctx, "k"); err != nil || string(got) != "abc" {
			t.Fatal(string(got), err)
		}
	})
}

func TestListIsSortedAndByPrefix(t *testing.T) {
	ctx := context.Background()
	onAll(t, func(t *testing.T, s blob.Store) {
		for _, k := range []string{"u2/p1", "u10/p1", "u1/p2", "u1/p1", "u1/r/x", "top"} {
			if err := s.Put(ctx, k, []byte(k)); err != nil {
				t.Fatal(err)
			}
		}
		for prefix, want := range map[string]string{
			"":       "top:3 u1/p1:5 u1/p2:5 u1/r/x:6 u10/p1:6 u2/p1:5 ",
			"u1":     "u1/p1:5 u1/p2:5 u1/r/x:6 u10/p1:6 ",
			"u1/":    "u1/p1:5 u1/p2:5 u1/r/x:6 ",
			"u1/p":   "u1/p1:5 u1/p2:5 ",
			"u1/r/x": "u1/r/x:6 ",
			"u3/":    "",
		} {
			if got := list(t, s, prefix); got != want {
				t.Errorf("list %q: %q, want %q", prefix, got, want)
			}
		}
	})
}

func TestRefusesBadKeys(t *testing.T) {
	onAll(t, func(t *testing.T, s blob.Store) {
		for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", ".tmp/a", "A", "a b"} {
			if err := s.Put(context.Background(), key, nil); err == nil {
				t.Errorf("%q was taken", key)
			}
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	ctx := context.Background()
	onAll(t, func(t *testing.T, s blob.Store) {
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := range 10 {
					key := fmt.Sprintf("f%d/o%d", i%3, w*100+i)
					err := s.Put(ctx, key, []byte(key))
					if err == nil && i%2 == 0 {
						err = s.Delete(ctx, key)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		infos, err := s.List(ctx, "")
		if err != nil || len(infos) != 40 {
			t.Fatal(len(infos), err)
		}
	})
}

// TestFoldersGoWithTheirLastObject: objects that are deleted leave nothing behind, and a folder that has gone can be
// put into again, by many at once.
func TestFoldersGoWithTheirLastObject(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	s := openDirectory(t, "blob", fs)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				key := fmt.Sprintf("a/b%d/o%d", i%2, w)
				if err := errors.Join(s.Put(ctx, key, []byte(key)), s.Delete(ctx, key)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	left, err := fs.List("blob")
	if err != nil || len(left) != 1 || left[0] != ".tmp" {
		t.Fatal(left, err)
	}
	for _, key := range []string{"a/b/o", "a/o"} {
		if err := s.Put(ctx, key, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(ctx, "a/b/o"); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, ""); got != "a/o:0 " {
		t.Fatal(got)
	}
	if left, err := fs.List("blob/a"); err != nil || len(left) != 1 {
		t.Fatal(left, err)
	}
}

// TestDirectoryPutSurvivesACrash takes a crash clone after each step of a history: what was put is there,
// and nothing is there in part.
func TestDirectoryPutSurvivesACrash(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewCrashableMem()
	s := openDirectory(t, "data/blob", fs)
	var want []string
	for i := range 20 {
		key := fmt.Sprintf("u%d/p%d", i%4, i)
		if err := s.Put(ctx, key, []byte(key)); err != nil {
			t.Fatal(err)
		}
		want = append(want, key)
		crashed := openDirectory(t, "data/blob", fs.CrashClone(vfs.CrashCloneCfg{}))
		for _, k := range want {
			if got, err := crashed.Get(ctx, k); err != nil || string(got) != k {
				t.Fatalf("%s after a crash: %q %v", k, got, err)
			}
		}
	}
}

// TestDirectoryHoldsObjects: what is deleted under a hold is there until the last one ends, and is gone then.
func TestDirectoryHoldsObjects(t *testing.T) {
	ctx := t.Context()
	s := openDirectory(t, "blob", vfs.NewMem())
	for _, k := range []string{"u/a", "u/b"} {
		if err := s.Put(ctx, k, []byte(k)); err != nil {
			t.Fatal(err)
		}
	}
	first, second := s.Hold(), s.Hold()
	if err := errors.Join(s.Delete(ctx, "u/a"), first(), first()); err != nil {
		t.Fatal(err)
	}
	to := blob.NewMemory()
	if n, size, err := blob.Copy(ctx, s, to); err != nil || n != 2 || size != 6 {
		t.Error(n, size, err)
	}
	if got := list(t, to, ""); got != "u/a:3 u/b:3 " {
		t.Error(got)
	}
	err := errors.Join(s.Delete(ctx, "u/none"), s.Delete(ctx, "u/b"), s.Put(ctx, "u/b", []byte("u/b")), second())
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, ""); got != "u/b:3 " {
		t.Error(got)
	}
	if err := s.Delete(ctx, "u/b"); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, ""); got != "" {
		t.Error(got)
	}
}

func TestDirectoryForReadingOnly(t *testing.T) {
	ctx := t.Context()
	fs := vfs.NewMem()
	o := blob.DirectoryOptions{FS: fs, Registry: prometheus.NewRegistry(), ReadOnly: true}
	if _, err := blob.OpenDirectory("blob", o); err == nil {
		t.Error("a directory that is not there was opened")
	}
	if err := openDirectory(t, "blob", fs).Put(ctx, "k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	s, err := blob.OpenDirectory("blob", o)
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, ""); got != "k:1 " {
		t.Error(got)
	}
	for _, err := range []error{s.Put(ctx, "l", nil), s.Delete(ctx, "k")} {
		if !errors.Is(err, blob.ErrReadOnly) {
			t.Error(err)
		}
	}
}
