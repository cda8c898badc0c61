package consensus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/consensus"
)

// fullFor is a disk that after some more calls is full for files whose name has a part: they can neither be made nor written
// nor synced. Files with other names are as ever.
type fullFor struct {
	part  string
	calls atomic.Int64
	// hit is set once a call has failed.
	hit atomic.Bool
}

// MaybeError implements errorfs.Injector.
func (f *fullFor) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpReuseForWrite, errorfs.OpRename, errorfs.OpFilePreallocate, errorfs.OpFileWrite, errorfs.OpFileSync,
		errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpFileFlush:
		if strings.Contains(op.Path, f.part) && f.calls.Add(-1) < 0 {
			f.hit.Store(true)
			return syscall.ENOSPC
		}
	}
	return nil
}

// String implements errorfs.Injector.
func (f *fullFor) String() string { return f.part }

// TestPebbleOnADiskThatIsFullForAFile: whichever call for whichever file is the first to find the disk full, also in the
// middle of what Pebble does by itself, nothing ends the process: commits go well or fail with the disk's error, and
// what was acknowledged is there when the directory is opened anew, after a crash and without one.
func TestPebbleOnADiskThatIsFullForAFile(t *testing.T) {
	for _, part := range []string{"MANIFEST-", "marker.", ".sst", ".log", ".dbtmp", "consensus"} {
		t.Run(part, func(t *testing.T) {
			for n := int64(0); ; n += 1 + n/30 {
				full := &fullFor{part: part}
				full.calls.Store(n)
				commitUntilFull(t, full)
				if !full.hit.Load() {
					if n == 0 {
						t.Fatal("the disk never was full")
					}
					return
				}
			}
		})
	}
}

func commitUntilFull(t *testing.T, full *fullFor) {
	t.Helper()
	ctx, n := context.Background(), full.calls.Load()
	fs := vfs.NewCrashableMem()
	open := func(fs vfs.FS) (*consensus.Pebble, error) {
		return consensus.OpenPebble("consensus", consensus.PebbleOptions{FS: fs, Registry: prometheus.NewRegistry(),
			Log: slog.New(slog.DiscardHandler)})
	}
	value := func(v consensus.Version) []byte { return bytes.Repeat([]byte{byte(v)}, 120_000) }
	var acknowledged consensus.Version
	// What is in the log of a directory goes to a table when it is opened, and then the log goes.
	s, err := open(fs)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, consensus.Unit{{Key: "a", Data: value(1)}})
	acknowledged++
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// Pebble itself is not told, or else the error would be there twice.
	if s, err = open(errorfs.Wrap(fs, full)); err != nil && (!errors.Is(err, syscall.ENOSPC) || errors.Is(err, consensus.ErrInUse) ||
		strings.Count(err.Error(), syscall.ENOSPC.Error()) != 1) {
		t.Fatalf("%d: %v", n, err)
	}
	for err == nil && acknowledged < 10 {
		entry := consensus.Entry{Key: "a", Expect: acknowledged, Data: value(acknowledged + 1)}
		if _, err = s.Commit(ctx, []consensus.Unit{{entry}}); err != nil {
			break
		}
		acknowledged++
	}
	if s != nil && err != nil {
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "consensus/") && !strings.Contains(err.Error(), "consensus:") {
			t.Fatalf("%d: %v", n, err)
		}
		if _, err := s.Commit(ctx, []consensus.Unit{{put("b", 0, "b1")}}); !errors.Is(err, consensus.ErrBroken) || !errors.Is(err, syscall.ENOSPC) ||
			errors.Is(err, consensus.ErrIndeterminate) {
			t.Fatalf("%d: %v", n, err)
		}
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if s != nil {
		if err := s.Close(); err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d: %v", n, err)
		}
	}
	for _, fs := range []vfs.FS{crashed, fs} {
		again, err := open(fs)
		if err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		head, err := again.Head(ctx, "a")
		if err != nil || head.Version < acknowledged || head.Version > acknowledged+1 || head.Version > 0 && !bytes.Equal(head.Data, value(head.Version)) {
			t.Fatalf("%d: version %d, %v; %d were acknowledged", n, head.Version, err, acknowledged)
		}
		entries, err := again.Scan(ctx, "a", 1, 100)
		if err != nil || len(entries) != int(head.Version) {
			t.Fatalf("%d: %d entries, %v; the head is at %d", n, len(entries), err, head.Version)
		}
		if got := fmt.Sprint(commit(t, again, consensus.Unit{put("b", 0, "b1")})[0].Done); got != "true" {
			t.Fatalf("%d: a commit afterwards: %s", n, got)
		}
		if err := again.Close(); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
	}
}
