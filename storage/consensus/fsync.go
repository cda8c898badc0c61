package consensus

import "github.com/cockroachdb/pebble/v2/vfs"

// countingFS counts what its files do to become durable.
type countingFS struct {
	vfs.FS
	synced counter
}

// counter is the side of a metric that the file system sees.
type counter interface{ Inc() }

func (c countingFS) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return countingFile{f, c.synced}, nil
}

// Create implements vfs.FS.
func (c countingFS) Create(name string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	return c.wrap(c.FS.Create(name, cat))
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
func (c countingFS) OpenDir(name string) (vfs.File, error) { return c.wrap(c.FS.OpenDir(name)) }

// ReuseForWrite implements vfs.FS.
func (c countingFS) ReuseForWrite(oldname, newname string, cat vfs.DiskWriteCategory) (vfs.File, error) {
	return c.wrap(c.FS.ReuseForWrite(oldname, newname, cat))
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
