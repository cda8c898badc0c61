package consensus

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// countingFS counts what its files do to become durable, and freezes its directory at the first error of writing.
type countingFS struct {
	vfs.FS
	synced counter
	frozen *frozen
	old    *oldLogs
}

// oldLogs are logs whose removal waits until the store is open. Opening it, Pebble removes those whose contents are in tables
// now before it makes the next one; if the process ended in between, a directory would be left that has no log, as if
// somebody had lost it.
type oldLogs struct {
	mu struct {
		sync.Mutex
		open bool
		logs []string
	}
}

// keep says whether the removal of a file has to wait.
func (o *oldLogs) keep(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.open || !isLog(name) {
		return false
	}
	o.mu.logs = append(o.mu.logs, name)
	return true
}

// opened says that the store has a log of its own, and gives those that may go.
func (o *oldLogs) opened() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	logs := o.mu.logs
	o.mu.open, o.mu.logs = true, nil
	return logs
}

// frozen holds the first error of making, writing or syncing a file or the directory itself. Pebble would end the process over
// a write-ahead log, a manifest or a marker, so it is not told; a table it would try to make again at once, and for
// ever. From then on the directory stays as it is, just as if the process had ended: files that are made are made in
// memory, and nothing is removed, renamed or written to logs and manifests, since what Pebble now believes durable is
// not. Who commits asks here before anything is acknowledged. Pebble goes on in memory until it is closed; little, as
// nothing is committed any more.
//
// A directory that was moved, replaced or removed while it is open freezes too: what is at its path now is not its own.
type frozen struct {
	first  atomic.Pointer[error]
	memory *vfs.MemFS
	place  *place
}

func newFrozen() *frozen { return &frozen{memory: vfs.NewMem()} }

// note freezes the directory if err, of a file, is one.
func (z *frozen) note(name string, err error) {
	if err == nil {
		return
	}
	var named *fs.PathError
	if !errors.As(err, &named) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	z.first.CompareAndSwap(nil, &err)
}

func (z *frozen) err() error {
	if z.first.Load() == nil {
		if err := z.place.check(); err != nil {
			z.first.CompareAndSwap(nil, &err)
		}
	}
	if err := z.first.Load(); err != nil {
		return *err
	}
	return nil
}

// create makes a file in memory.
func (z *frozen) create(name string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	return z.memory.Create(filepath.Base(name), cat)
}

// isVital says whether Pebble ends the process, or gives up opening the store, when the file cannot be made or written. That it
// gives up is no better: it closes what its goroutines, which it has started by then, still use, and they panic.
func isVital(name string) bool {
	base := filepath.Base(name)
	return isLog(base) || strings.HasPrefix(base, "MANIFEST-") || strings.HasPrefix(base, "marker.") || strings.HasSuffix(base, ".dbtmp")
}

// counter is the side of a metric that the file system sees.
type counter interface{ Inc() }

func (c countingFS) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return countingFile{f, c.synced}, nil
}

// makeFile makes a file, in memory if the directory is frozen, or freezes because this one cannot be made.
func (c countingFS) makeFile(name string, cat vfs.DiskWriteCategory, create func() (vfs.File, error)) (vfs.File, error) {
	if c.frozen.err() != nil {
		return c.frozen.create(name, cat)
	}
	f, err := c.wrap(create())
	if err != nil {
		if c.frozen.note(name, err); !isVital(name) {
			return nil, err
		}
		return c.frozen.create(name, cat)
	}
	return writtenFile{f, name, isVital(name), c.frozen}, nil
}

// Create implements vfs.FS.
func (c countingFS) Create(name string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	return c.makeFile(name, cat, func() (vfs.File, error) { return c.FS.Create(name, cat) })
}

// ReuseForWrite implements vfs.FS.
func (c countingFS) ReuseForWrite(oldname, newname string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	return c.makeFile(newname, cat, func() (vfs.File, error) { return c.FS.ReuseForWrite(oldname, newname, cat) })
}

// Open implements vfs.FS.
func (c countingFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if c.frozen.err() != nil {
		if f, err := c.frozen.memory.Open(filepath.Base(name)); err == nil {
			return f, nil
		}
	}
	return c.wrap(c.FS.Open(name, opts...))
}

// OpenReadWrite implements vfs.FS.
func (c countingFS) OpenReadWrite(name string, cat vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return c.wrap(c.FS.OpenReadWrite(name, cat, opts...))
}

// OpenDir implements vfs.FS.
func (c countingFS) OpenDir(name string) (vfs.File, error) {
	f, err := c.wrap(c.FS.OpenDir(name))
	if err != nil {
		return nil, err
	}
	return writtenFile{f, name, true, c.frozen}, nil
}

// Remove implements vfs.FS.
func (c countingFS) Remove(name string) error {
	if c.frozen.err() != nil || c.old.keep(name) {
		return nil
	}
	return c.FS.Remove(name)
}

// Rename implements vfs.FS.
func (c countingFS) Rename(oldname, newname string) error {
	if c.frozen.err() == nil {
		c.frozen.note(newname, c.FS.Rename(oldname, newname))
	}
	return nil
}

// Unwrap implements vfs.FS.
func (c countingFS) Unwrap() vfs.FS { return c.FS }

// countingFile counts each sync, also one that fails: it is what the disk was asked for.
type countingFile struct {
	vfs.File
	synced counter
}

func (f countingFile) Sync() error {
	f.synced.Inc()
	return f.File.Sync()
}

func (f countingFile) SyncData() error {
	f.synced.Inc()
	return f.File.SyncData()
}

func (f countingFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	if full {
		f.synced.Inc()
	}
	return full, err
}

// writtenFile is a file that is written, or a directory that is synced. If it is vital it fails to nobody but frozen.
type writtenFile struct {
	vfs.File
	name   string
	vital  bool
	frozen *frozen
}

// do does something to the file; if it is vital, only unless the directory is frozen.
func (f writtenFile) do(what func() error) error {
	if f.vital && f.frozen.err() != nil {
		return nil
	}
	err := what()
	if f.frozen.note(f.name, err); f.vital {
		return nil
	}
	return err
}

func (f writtenFile) Write(p []byte) (n int, err error) {
	if err := f.do(func() error { n, err = f.File.Write(p); return err }); err != nil {
		return n, err
	}
	return len(p), nil
}

func (f writtenFile) Preallocate(offset, length int64) error {
	return f.do(func() error { return f.File.Preallocate(offset, length) })
}

func (f writtenFile) Sync() error { return f.do(f.File.Sync) }

func (f writtenFile) SyncData() error { return f.do(f.File.SyncData) }

func (f writtenFile) SyncTo(length int64) (full bool, err error) {
	err = f.do(func() (err error) { full, err = f.File.SyncTo(length); return err })
	return full, err
}

func (f writtenFile) Close() error {
	err := f.File.Close()
	if f.frozen.note(f.name, err); f.vital {
		return nil
	}
	return err
}
