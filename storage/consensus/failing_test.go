package consensus_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
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
