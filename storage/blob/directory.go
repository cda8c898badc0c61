package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Directory is a Store in a directory of a file system: each object is a file, slashes in keys make folders.
// An object is written under a temporary name, synced, renamed, and then the folder is synced, so that a crash
// leaves it whole or not at all. A folder goes with its last object.
type Directory struct {
	root     string
	fs       vfs.FS
	readOnly bool
	synced   counter
	inPlace  func() error
	temps    atomic.Uint64

	mu struct {
		sync.Mutex
		// folders has those known to be there durably.
		folders map[string]bool
		// puts counts the objects that are being put into a folder or one below it, which keeps the folder.
		puts map[string]int
		// holds counts who keeps objects from being deleted, and held are those that wait for it.
		holds int
		held  []string
	}
}

// counter is the side of a metric that the store sees.
type counter interface{ Inc() }

// DirectoryOptions says how a directory is opened.
type DirectoryOptions struct {
	// FS is where the directory lies; nil means the file system of the machine.
	FS vfs.FS
	// Registry takes the metrics; it may not be nil.
	Registry Registry
	// ReadOnly leaves the directory as it is.
	ReadOnly bool
	// InPlace is asked before anything is written or deleted, and after something was read: with an error, the directory is
	// not the one that was opened, and nothing is done. Nil means that it is always the one.
	InPlace func() error
}

// ErrReadOnly says that the store was opened for reading only.
var ErrReadOnly = errors.New("the store is open for reading only")

// temporary is the folder of objects that are being written. A key cannot begin with a dot.
const temporary = ".tmp"

// OpenDirectory opens or creates a store in a directory, and removes what a crash left half written. Only one
// process may write to a directory.
func OpenDirectory(root string, o DirectoryOptions) (*Directory, error) {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.InPlace == nil {
		o.InPlace = func() error { return nil }
	}
	d := &Directory{root: root, fs: o.FS, readOnly: o.ReadOnly, synced: newFsyncs(o.Registry), inPlace: o.InPlace}
	d.mu.folders, d.mu.puts = map[string]bool{"": true}, map[string]int{}
	if d.readOnly {
		if _, err := d.fs.Stat(root); err != nil {
			return nil, fmt.Errorf("open %s: %w", root, err)
		}
		return d, nil
	}
	if err := d.fs.RemoveAll(d.path(temporary)); err != nil {
		return nil, fmt.Errorf("open %s: %w", root, err)
	}
	if err := errors.Join(d.makeRoot(), d.makeFolder(temporary)); err != nil {
		return nil, fmt.Errorf("open %s: %w", root, err)
	}
	return d, nil
}

func (d *Directory) path(key string) string {
	if key == "" {
		return d.root
	}
	return d.fs.PathJoin(append([]string{d.root}, strings.Split(key, "/")...)...)
}

// Get implements Store.
func (d *Directory) Get(ctx context.Context, key string) ([]byte, error) {
	if err := begin(ctx, key); err != nil {
		return nil, err
	}
	data, err := d.get(key)
	if moved := d.inPlace(); moved != nil {
		err = moved // whatever was read is another's
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, notFound(key)
	case err != nil:
		return nil, fmt.Errorf("get object %s: %w", key, err)
	}
	return data, nil
}

func (d *Directory) get(key string) ([]byte, error) {
	f, err := d.fs.Open(d.path(key), vfs.SequentialReadsOption)
	if err != nil {
		return nil, err
	}
	data, err := readAll(f)
	return data, errors.Join(err, f.Close())
}

func readAll(f vfs.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return data, nil
}

func (d *Directory) beginWrite(ctx context.Context, key string) error {
	if d.readOnly {
		return ErrReadOnly
	}
	return errors.Join(begin(ctx, key), d.inPlace())
}

// Put implements Store.
func (d *Directory) Put(ctx context.Context, key string, data []byte) error {
	if err := d.beginWrite(ctx, key); err != nil {
		return err
	}
	if err := d.put(key, data); err != nil {
		return fmt.Errorf("put object %s: %w", key, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// It was deleted under a hold, and is wanted again.
	d.mu.held = slices.DeleteFunc(d.mu.held, func(held string) bool { return held == key })
	return nil
}

func (d *Directory) put(key string, data []byte) error {
	folder := parent(key)
	d.keep(folder, 1)
	defer d.keep(folder, -1)
	if err := d.makeFolder(folder); err != nil {
		return err
	}
	temp := d.path(temporary + "/" + strconv.FormatUint(d.temps.Add(1), 10))
	if err := d.writeFile(temp, data); err != nil {
		// The error that matters is the first; what is left is removed by the next open.
		_ = d.fs.Remove(temp)
		return err
	}
	if err := d.fs.Rename(temp, d.path(key)); err != nil {
		_ = d.fs.Remove(temp)
		return err
	}
	return d.syncFolder(folder)
}

// writeChunk is how much is written at once: a few calls for a large object, and a buffer that stays in the cache.
const writeChunk = 1 << 20

func (d *Directory) writeFile(name string, data []byte) error {
	f, err := d.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	// A vfs.File may change what it is given to write, and data is the caller's.
	buf := make([]byte, min(len(data), writeChunk))
	for len(data) > 0 {
		n := copy(buf, data)
		if _, err := f.Write(buf[:n]); err != nil {
			return errors.Join(err, f.Close())
		}
		data = data[n:]
	}
	d.synced.Inc()
	return errors.Join(f.Sync(), f.Close())
}

func (d *Directory) syncFolder(folder string) error { return d.syncPath(d.path(folder)) }

func (d *Directory) syncPath(dir string) error {
	f, err := d.fs.OpenDir(dir)
	if err != nil {
		return err
	}
	d.synced.Inc()
	return errors.Join(f.Sync(), f.Close())
}

// parent gives the folder that a key or folder lies in; "" is the root.
func parent(key string) string {
	if at := strings.LastIndexByte(key, '/'); at >= 0 {
		return key[:at]
	}
	return ""
}

// keep counts a put that begins (1) or has ended (-1).
func (d *Directory) keep(folder string, by int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for at := folder; at != ""; at = parent(at) {
		if d.mu.puts[at] += by; d.mu.puts[at] == 0 {
			delete(d.mu.puts, at)
		}
	}
}

// prune removes a folder that is empty, and then what it leaves empty.
func (d *Directory) prune(folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for at := folder; at != "" && d.mu.puts[at] == 0; at = parent(at) {
		if d.fs.Remove(d.path(at)) != nil {
			return // it holds other objects, as a rule
		}
		delete(d.mu.folders, at)
	}
}

// makeFolder makes a folder durably, with its parents.
func (d *Directory) makeFolder(folder string) error {
	d.mu.Lock()
	known := d.mu.folders[folder]
	d.mu.Unlock()
	if known {
		return nil
	}
	if err := d.fs.MkdirAll(d.path(folder), 0o755); err != nil {
		return err
	}
	for at := folder; at != ""; {
		at = parent(at)
		if err := d.syncFolder(at); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.folders[folder] = true
	return nil
}

// makeRoot makes the root durably, with those of its parents that are not there yet.
func (d *Directory) makeRoot() error {
	var made []string
	for at := d.root; ; at = d.fs.PathDir(at) {
		_, err := d.fs.Stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		made = append(made, at)
		if up := d.fs.PathDir(at); up == at || up == "." {
			break
		}
	}
	if err := d.fs.MkdirAll(d.root, 0o755); err != nil {
		return err
	}
	for _, at := range made {
		if err := d.syncPath(d.fs.PathDir(at)); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements Store. It is not synced: an object that comes back after a crash is swept.
func (d *Directory) Delete(ctx context.Context, key string) error {
	if err := d.beginWrite(ctx, key); err != nil {
		return err
	}
	if d.isHeld(key) {
		return nil
	}
	return d.remove(key)
}

// remove is what Delete does, perhaps when a hold has ended.
func (d *Directory) remove(key string) error {
	if err := d.inPlace(); err != nil {
		return err
	}
	if err := d.fs.Remove(d.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete object %s: %w", key, err)
	}
	d.prune(parent(key))
	return nil
}

// Hold keeps every object from being deleted until release is called: what Delete is called for meanwhile goes then. A
// process that dies before has not deleted it.
func (d *Directory) Hold() (release func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.holds++
	return sync.OnceValue(func() error {
		var errs []error
		for _, key := range d.unhold() {
			errs = append(errs, d.remove(key))
		}
		return errors.Join(errs...)
	})
}

func (d *Directory) isHeld(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.holds == 0 {
		return false
	}
	d.mu.held = append(d.mu.held, key)
	return true
}

// unhold ends one hold, and gives what can go now.
func (d *Directory) unhold() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.holds--; d.mu.holds > 0 {
		return nil
	}
	held := d.mu.held
	d.mu.held = nil
	return held
}

// List implements Store.
func (d *Directory) List(ctx context.Context, prefix string) ([]Info, error) {
	// Only the folder that the prefix names needs to be walked.
	var out []Info
	if err := d.walk(ctx, parent(prefix), prefix, &out); err != nil {
		return nil, fmt.Errorf("list objects %s*: %w", prefix, err)
	}
	sortInfos(out)
	return out, nil
}

func (d *Directory) walk(ctx context.Context, folder, prefix string, out *[]Info) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	names, err := d.fs.List(d.path(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		key := path.Join(folder, name)
		if name[0] == '.' || !strings.HasPrefix(key+"/", prefix) && !strings.HasPrefix(key, prefix) {
			continue
		}
		info, err := d.fs.Stat(d.path(key))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// Deleted since the folder was listed.
		case err != nil:
			return err
		case info.IsDir():
			if err := d.walk(ctx, key, prefix, out); err != nil {
				return err
			}
		case strings.HasPrefix(key, prefix):
			*out = append(*out, Info{key, info.Size()})
		}
	}
	return nil
}
