package consensus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/consensus"
)

// failing is a file system whose files cannot be written or synced any more, once fail is set.
type failing struct {
	vfs.FS
	fail *atomic.Bool
}

type failingFile struct {
	vfs.File
	fail *atomic.Bool
}

var errFull = errors.New("no space left on device")

func (f failing) wrap(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return failingFile{file, f.fail}, nil
}

func (f failing) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.fail.Load() {
		return nil, errFull
	}
	return f.wrap(f.FS.Create(name, c))
}

func (f failing) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.fail.Load() {
		return nil, errFull
	}
	return f.wrap(f.FS.ReuseForWrite(from, to, c))
}

func (f failingFile) Write(p []byte) (int, error) {
	if f.fail.Load() {
		return 0, errFull
	}
	return f.File.Write(p)
}

func (f failingFile) Sync() error {
	if f.fail.Load() {
		return errFull
	}
	return f.File.Sync()
}

func (f failingFile) SyncData() error {
	if f.fail.Load() {
		return errFull
	}
	return f.File.SyncData()
}

// TestPebbleOnAFullDisk: the commit that fails has an unknown outcome, everything after it a clear error; nothing hangs,
// and what was acknowledged is there when the directory is opened anew.
func TestPebbleOnAFullDisk(t *testing.T) {
	ctx := context.Background()
	fs, fail := vfs.NewCrashableMem(), &atomic.Bool{}
	s, err := consensus.OpenPebble("consensus", consensus.PebbleOptions{
		FS: failing{fs, fail}, Registry: prometheus.NewRegistry(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, consensus.Unit{put("a", 0, "a1")})
	fail.Store(true)
	if _, err := s.Commit(ctx, []consensus.Unit{{put("a", 1, "a2")}}); !errors.Is(err, consensus.ErrIndeterminate) {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Commit(ctx, []consensus.Unit{{put("a", 1, "a2")}}); !errors.Is(err, consensus.ErrBroken) || errors.Is(err, consensus.ErrIndeterminate) {
			t.Fatal(err)
		}
		if _, err := s.Head(ctx, "a"); !errors.Is(err, consensus.ErrBroken) {
			t.Fatal(err)
		}
	}
	if err := s.Close(); !errors.Is(err, consensus.ErrBroken) {
		t.Fatal(err)
	}
	again := openPebble(t, fs.CrashClone(vfs.CrashCloneCfg{}), prometheus.NewRegistry())
	if h := head(t, again, "a"); h != "1:a1" {
		t.Fatal(h)
	}
}

// TestPebbleNoticesDamagedFiles: with a table of Pebble's damaged, a store does not open, or what cannot be read is an
// error; nothing else is given for what was committed.
func TestPebbleNoticesDamagedFiles(t *testing.T) {
	ctx := context.Background()
	const entries = 20
	want := make([][]byte, entries)
	rng := rand.NewChaCha8([32]byte{3})
	for i := range want {
		want[i] = make([]byte, 50_000)
		rng.Read(want[i])
	}
	open := func(dir string) (*consensus.Pebble, error) {
		return consensus.OpenPebble(dir, consensus.PebbleOptions{Registry: prometheus.NewRegistry(),
			Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	}
	for name, damage := range map[string]func(table string, data []byte) error{
		"cut short":     func(table string, data []byte) error { return os.WriteFile(table, data[:len(data)/2], 0o600) },
		"empty":         func(table string, _ []byte) error { return os.WriteFile(table, nil, 0o600) },
		"gone":          func(table string, _ []byte) error { return os.Remove(table) },
		"a flipped bit": func(table string, data []byte) error { data[len(data)/2] ^= 8; return os.WriteFile(table, data, 0o600) },
	} {
		dir := t.TempDir()
		s, err := open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i, data := range want {
			commit(t, s, consensus.Unit{put(fmt.Sprintf("k%02d", i), 0, string(data))})
		}
		// What was in the log is in a table once the store has been opened again.
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = open(dir); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
		if err != nil || len(tables) == 0 {
			t.Fatal(tables, err)
		}
		for _, table := range tables {
			data, err := os.ReadFile(table)
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(table, data); err != nil {
				t.Fatal(err)
			}
		}
		if s, err = open(dir); err != nil {
			continue
		}
		failed := 0
		for i, data := range want {
			h, err := s.Head(ctx, fmt.Sprintf("k%02d", i))
			switch {
			case err != nil:
				failed++
			case h.Version != 1 || !slices.Equal(h.Data, data):
				t.Errorf("%s: register %d is at version %d with %d bytes", name, i, h.Version, len(h.Data))
			}
		}
		if failed == 0 {
			t.Errorf("%s: nobody notices", name)
		}
		_ = s.Close() // it may say again what is damaged
	}
}

// TestPebbleOnADiskThatIsFullWhenTheLogChanges: Pebble goes from one write-ahead log to the next every few megabytes. A disk
// on which the old one cannot be ended, or the new one made, is as full as any: one commit's outcome is unknown, and
// nothing that was acknowledged is lost.
func TestPebbleOnADiskThatIsFullWhenTheLogChanges(t *testing.T) {
	ctx := context.Background()
	for _, kind := range []string{"the old log cannot be ended", "the new log cannot be made", "its name cannot be synced"} {
		t.Run(kind, func(t *testing.T) {
			fs, fail := vfs.NewCrashableMem(), &atomic.Bool{}
			var under vfs.FS = failing{fs, fail}
			switch kind {
			case "the new log cannot be made":
				under = noNewLogs{fs, fail}
			case "its name cannot be synced":
				under = noDirSyncs{fs, fail}
			}
			o := consensus.PebbleOptions{FS: under, Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler)}
			s, err := consensus.OpenPebble("consensus", o)
			if err != nil {
				t.Fatal(err)
			}
			value := bytes.Repeat([]byte("v"), 1<<20)
			last := consensus.Version(0)
			for {
				if last == 2 {
					fail.Store(true)
				}
				_, err := s.Commit(ctx, []consensus.Unit{{consensus.Entry{Key: "a", Expect: last, Data: value}}})
				if err != nil {
					if !errors.Is(err, consensus.ErrIndeterminate) || !errors.Is(err, errFull) {
						t.Fatal(err)
					}
					break
				}
				if last++; last > 100 {
					t.Fatal("the log never changed")
				}
			}
			if _, err := s.Head(ctx, "a"); !errors.Is(err, consensus.ErrBroken) || !errors.Is(err, errFull) {
				t.Fatal(err)
			}
			o.FS, o.Registry = fs.CrashClone(vfs.CrashCloneCfg{}), prometheus.NewRegistry()
			again, err := consensus.OpenPebble("consensus", o)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			head, err := again.Head(ctx, "a")
			if err != nil || head.Version < last || head.Version > last+1 || !bytes.Equal(head.Data, value) {
				t.Errorf("version %d, %v; %d were acknowledged", head.Version, err, last)
			}
		})
	}
}

// noNewLogs is a file system on which no write-ahead log can be made any more, once fail is set; all else goes well.
type noNewLogs struct {
	vfs.FS
	fail *atomic.Bool
}

func (n noNewLogs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if n.fail.Load() && filepath.Ext(name) == ".log" {
		return nil, errFull
	}
	return n.FS.Create(name, c)
}

func (n noNewLogs) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if n.fail.Load() {
		return nil, errFull
	}
	return n.FS.ReuseForWrite(from, to, c)
}

// noDirSyncs is a file system whose directories cannot be synced any more, once fail is set; all else goes well.
type noDirSyncs struct {
	vfs.FS
	fail *atomic.Bool
}

func (n noDirSyncs) OpenDir(name string) (vfs.File, error) {
	f, err := n.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return failingFile{f, n.fail}, nil
}

// TestPebbleNoticesADamagedLog: whichever byte of a log is damaged, if commits follow after it the store does not open, and
// says which file it is; nothing is lost without a word.
func TestPebbleNoticesADamagedLog(t *testing.T) {
	const commits = 30
	fs := vfs.NewCrashableMem()
	open := func(fs vfs.FS) (*consensus.Pebble, error) {
		return consensus.OpenPebble("consensus", consensus.PebbleOptions{FS: fs, ReadOnly: true,
			Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler)})
	}
	s := openPebble(t, fs, prometheus.NewRegistry())
	for i := range commits {
		commit(t, s, consensus.Unit{put("a", consensus.Version(i), fmt.Sprint("value ", i))})
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	names, err := crashed.List("consensus")
	if err != nil {
		t.Fatal(err)
	}
	// A crash may bring back the log before, which was removed.
	name := slices.Max(slices.DeleteFunc(names, func(n string) bool { return filepath.Ext(n) != ".log" }))
	whole := readFile(t, crashed, "consensus/"+name)
	length := len(bytes.TrimRight(whole, "\x00"))
	for at := range length * 3 / 4 {
		bad := bytes.Clone(whole)
		bad[at] ^= 1 << (at % 8)
		writeFile(t, crashed, "consensus/"+name, bad)
		s, err := open(crashed)
		if err == nil {
			t.Errorf("byte %d of %d is damaged and the store opens with %s", at, length, head(t, s, "a"))
			s.Close()
		} else if !errors.Is(err, consensus.ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("byte %d of %d: %v", at, length, err)
		}
	}
	writeFile(t, crashed, "consensus/"+name, whole)
	if s, err = open(crashed); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if h, err := s.Head(context.Background(), "a"); err != nil || h.Version != commits {
		t.Error(h, err)
	}
}

func readFile(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

// writeFile makes a file. The caller keeps data: a file system of Pebble's tests may spoil what it is given.
func writeFile(t *testing.T, fs vfs.FS, name string, data []byte) {
	t.Helper()
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(bytes.Clone(data))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
