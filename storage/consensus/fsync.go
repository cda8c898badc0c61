package consensus

import (
	"path/filepath"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// countingFS counts what its files do to become durable, and keeps the errors of write-ahead logs.
type countingFS struct {
	vfs.FS
	synced counter
	wal    *walErrors
}

// walErrors holds the first error of a file of the write-ahead log. Pebble would end the process if it met one while it
// changes from one log to the next, so it is not told: from then on nothing more is written to logs, and who commits
// asks here before anything is acknowledged.
type walErrors struct {
	first atomic.Pointer[error]
	// made is set while a log is new and the directory was not synced since.
	made atomic.Bool
}

func (w *walErrors) note(err error) {
	if err != nil {
		w.first.CompareAndSwap(nil, &err)
	}
}

func (w *walErrors) err() error {
	if err := w.first.Load(); err != nil {
		return *err
	}
	return nil
}

func isWAL(name string) bool { return filepath.Ext(name) == ".log" }

// counter is the side of a metric that the file system sees.
type counter interface{ Inc() }

func (c countingFS) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return countingFile{f, c.synced}, nil
}

// wrapNew wraps a file that is new. A log that cannot be made is one in memory, to which nothing is written.
func (c countingFS) wrapNew(name string, cat vfs.DiskWriteCategory, f vfs.File, err error) (vfs.File, error) {
	if !isWAL(name) {
		return c.wrap(f, err)
	}
	c.wal.made.Store(true)
	if c.wal.note(err); err != nil {
		if f, err = vfs.NewMem().Create("log", cat); err != nil {
			return nil, err
		}
	}
	return walFile{countingFile{f, c.synced}, c.wal}, nil
}

// Create implements vfs.FS.
func (c countingFS) Create(name string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := c.FS.Create(name, cat)
	return c.wrapNew(name, cat, f, err)
}

// Open implements vfs.FS.
func (c countingFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return c.wrap(c.FS.Open(name, opts...))
}

// OpenReadWrite implements vfs.FS.
func (c countingFS) OpenReadWrite(name string, cat vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return c.wrap(c.FS.OpenReadWrite(name, cat, opts...))
}

// OpenDir implements vfs.FS.
func (c countingFS) OpenDir(name string) (vfs.File, error) {
	f, err := c.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return dirFile{countingFile{f, c.synced}, c.wal}, nil
}

// ReuseForWrite implements vfs.FS.
func (c countingFS) ReuseForWrite(oldname, newname string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := c.FS.ReuseForWrite(oldname, newname, cat)
	return c.wrapNew(newname, cat, f, err)
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

// walFile is a log that is written. It fails to nobody but wal.
type walFile struct {
	countingFile
	wal *walErrors
}

func (f walFile) Write(p []byte) (int, error) {
	if f.wal.err() == nil {
		_, err := f.countingFile.Write(p)
		f.wal.note(err)
	}
	return len(p), nil
}

func (f walFile) Preallocate(offset, length int64) error {
	if f.wal.err() == nil {
		f.wal.note(f.countingFile.Preallocate(offset, length))
	}
	return nil
}

func (f walFile) Sync() error {
	f.wal.note(f.countingFile.Sync())
	return nil
}

func (f walFile) SyncData() error {
	f.wal.note(f.countingFile.SyncData())
	return nil
}

func (f walFile) SyncTo(length int64) (bool, error) {
	full, err := f.countingFile.SyncTo(length)
	f.wal.note(err)
	return full, nil
}

func (f walFile) Close() error {
	f.wal.note(f.countingFile.Close())
	return nil
}

// dirFile is a directory. If it cannot be synced after a log was made, only wal is told; once a log has failed,
// nothing else in the directory is to be believed durable.
type dirFile struct {
	countingFile
	wal *walErrors
}

func (f dirFile) Sync() error {
	made, err := f.wal.made.Swap(false), f.wal.err()
	if err == nil {
		err = f.countingFile.Sync()
	}
	if made {
		f.wal.note(err)
		return nil
	}
	return err
}
