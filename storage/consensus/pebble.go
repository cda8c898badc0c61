package consensus

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble is a Store in a directory of its own, for one process at a time. An entry is one key-value pair:
//
//	'r' key 00 version(8 bytes, big-endian) → data
//
// One Commit is one synced batch. Pebble checks what it reads by its own checksums.
type Pebble struct {
	db       *pebble.DB
	lock     *pebble.Lock
	readOnly bool
	frozen   *frozen

	// commit serializes Commits: what one decided must be in the store before the next one looks.
	commit sync.Mutex

	mu struct {
		sync.Mutex
		// heads has the versions of registers that were looked at: only this process writes.
		heads map[string]Version
		// broken is set once a commit failed or the directory froze: the process cannot tell any more what is durable.
		broken error
	}
}

// PebbleOptions says how a directory is opened.
type PebbleOptions struct {
	// FS is where the directory lies; nil means the file system of the machine.
	FS vfs.FS
	// Registry takes the metrics; it may not be nil.
	Registry Registry
	// Log takes what Pebble wants an operator to know; nil means slog.Default().
	Log *slog.Logger
	// ReadOnly opens a store that is there, and leaves it as it is.
	ReadOnly bool
}

// ErrReadOnly says that the store was opened for reading only.
var ErrReadOnly = errors.New("the store is open for reading only")

// ErrInUse says that another process has the directory open.
var ErrInUse = errors.New("the directory is in use by another process")

// pebbleMemTable is the size of a memory table. Registers are small and truncated soon, so a small table
// keeps start-up (replay of the log) short.
const pebbleMemTable = 16 << 20

// OpenPebble opens or creates a store in a directory.
func OpenPebble(dir string, o PebbleOptions) (*Pebble, error) {
	onDisk := o.FS == nil
	if onDisk {
		o.FS = vfs.Default
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	frozen := newFrozen()
	counted := countingFS{FS: o.FS, synced: newFsyncs(o.Registry), frozen: frozen, old: &oldLogs{}}
	if o.ReadOnly {
		if _, err := counted.Stat(dir); err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, err)
		}
	} else if err := errors.Join(makeDirectory(counted, dir), frozen.err()); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	lock, err := pebble.LockDirectory(dir, counted)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOSPC):
		return nil, fmt.Errorf("open %s: %w", dir, err)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w (%w)", dir, ErrInUse, err)
	}
	if onDisk {
		if frozen.place, err = placeOf(dir); err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, errors.Join(err, lock.Close()))
		}
	}
	db, err := openDB(dir, counted, lock, o)
	if err = errors.Join(err, frozen.err()); err != nil {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
		return nil, fmt.Errorf("open %s: %w", dir, errors.Join(err, lock.Close()))
	}
	for _, name := range counted.old.opened() {
		if err := counted.Remove(name); err != nil {
			o.Log.Warn("an old write-ahead log cannot be removed yet", "file", name, "error", err)
		}
	}
	p := &Pebble{db: db, lock: lock, readOnly: o.ReadOnly, frozen: frozen}
	p.mu.heads = map[string]Version{}
	return p, nil
}

func openDB(dir string, files countingFS, lock *pebble.Lock, o PebbleOptions) (*pebble.DB, error) {
	names, err := files.List(dir)
	if err != nil {
		return nil, err
	}
	if err := checkFiles(files, dir, names); err != nil {
		return nil, err
	}
	open := func() (*pebble.DB, error) {
		db, err := pebble.Open(dir, &pebble.Options{
			FS:                 files,
			Lock:               lock,
			Logger:             pebbleLog{dir, o.Log},
			MemTableSize:       pebbleMemTable,
			FormatMajorVersion: pebble.FormatNewest,
			ReadOnly:           o.ReadOnly,
			// Left alone, Pebble ends the process over a damaged table. Whoever reads it gets an error besides.
			EventListener: &pebble.EventListener{DataCorruption: func(info pebble.DataCorruptionInfo) {
				o.Log.Error("a file of the consensus store is damaged", "file", info.Path, "details", info.Details)
			}},
		})
		return db, ofPebble(err)
	}
	db, err := open()
	if err != nil || o.ReadOnly || slices.ContainsFunc(names, isLog) {
		return db, err
	}
	// The first log of a new directory is in an old format, in which no damage can be told from its end.
	if err := db.Close(); err != nil {
		return nil, err
	}
	return open()
}

// makeDirectory makes a directory whose name survives a crash, if its parent's does.
func makeDirectory(fs vfs.FS, dir string) error {
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	parent, err := fs.OpenDir(fs.PathDir(dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// Close closes the store. No call may be in flight.
func (p *Pebble) Close() error {
	err := p.err()
	var fatal pebbleFatal
	if errors.As(err, &fatal) {
		// Pebble's commit pipeline is stuck after a failed commit; closing it would wait for ever.
		return err
	}
	if err := errors.Join(err, p.db.Close(), p.lock.Close()); err != nil {
		return fmt.Errorf("close consensus store: %w", err)
	}
	return nil
}

func (p *Pebble) writable() error {
	if p.readOnly {
		return ErrReadOnly
	}
	return p.err()
}

func (p *Pebble) err() error {
	err := p.frozen.err()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.broken == nil && err != nil {
		p.mu.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return p.mu.broken
}

// Head implements Store.
func (p *Pebble) Head(ctx context.Context, key string) (Versioned, error) {
	if err := p.ready(ctx, key); err != nil {
		return Versioned{}, err
	}
	for {
		v, err := p.head(key)
		if err != nil || v == 0 {
			return Versioned{}, err
		}
		data, err := p.read(key, v)
		if errors.Is(err, pebble.ErrNotFound) {
			// Between the two looks a Commit moved the head and a Truncate removed this one.
			if now, herr := p.head(key); herr == nil && now != v {
				continue
			}
		}
		return Versioned{v, data}, err
	}
}

func (p *Pebble) ready(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.err()
}

// head gives the version of a register's head.
func (p *Pebble) head(key string) (Version, error) {
	p.mu.Lock()
	v, ok := p.mu.heads[key]
	p.mu.Unlock()
	if ok {
		return v, nil
	}
	it, err := p.db.NewIter(registerBounds(key))
	if err != nil {
		return 0, fmt.Errorf("read register %s: %w", key, ofPebble(err))
	}
	if it.Last() {
		if _, v, err = parseEntryKey(it.Key()); err != nil {
			return 0, errors.Join(err, it.Close())
		}
	}
	if err := it.Close(); err != nil {
		return 0, fmt.Errorf("read register %s: %w", key, ofPebble(err))
	}
	p.mu.Lock()
	// A Commit may have moved the head since the iterator looked.
	if now, ok := p.mu.heads[key]; ok {
		v = now
	} else {
		p.mu.heads[key] = v
	}
	p.mu.Unlock()
	return v, nil
}

func (p *Pebble) read(key string, v Version) ([]byte, error) {
	data, closer, err := p.db.Get(entryKey(nil, key, v))
	if err != nil {
		return nil, fmt.Errorf("read register %s version %d: %w", key, v, ofPebble(err))
	}
	out := append([]byte{}, data...)
	return out, closer.Close()
}

// Scan implements Store.
func (p *Pebble) Scan(ctx context.Context, key string, from Version, limit int) ([]Versioned, error) {
	if err := p.ready(ctx, key); err != nil {
		return nil, err
	}
	it, err := p.db.NewIter(registerBounds(key))
	if err != nil {
		return nil, fmt.Errorf("scan register %s: %w", key, ofPebble(err))
	}
	var out []Versioned
	for ok := it.SeekGE(entryKey(nil, key, from)); ok && len(out) < limit; ok = it.Next() {
		data, err := it.ValueAndErr()
		if err != nil {
			return nil, fmt.Errorf("scan register %s: %w", key, ofPebble(errors.Join(err, it.Close())))
		}
		_, v, err := parseEntryKey(it.Key())
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
		out = append(out, Versioned{v, append([]byte{}, data...)})
	}
	if err := it.Close(); err != nil {
		return nil, fmt.Errorf("scan register %s: %w", key, ofPebble(err))
	}
	return out, nil
}

// Commit implements Store.
func (p *Pebble) Commit(ctx context.Context, units []Unit) ([]Outcome, error) {
	if err := checkUnits(units); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.commit.Lock()
	defer p.commit.Unlock()
	if err := p.writable(); err != nil {
		return nil, err
	}
	writes, refused, err := evaluate(units, p.head)
	if err != nil {
		return nil, err
	}
	out, err := outcomes(len(units), refused, p.read)
	if err != nil || len(writes) == 0 {
		return out, err
	}
	if err := p.store(writes); err != nil {
		p.mu.Lock()
		p.mu.broken = fmt.Errorf("%w: %w", ErrBroken, err)
		p.mu.Unlock()
		return nil, fmt.Errorf("%w: %w", ErrIndeterminate, err)
	}
	p.mu.Lock()
	for _, w := range writes {
		p.mu.heads[w.key] = w.version
	}
	p.mu.Unlock()
	return out, nil
}

// store writes and syncs. Pebble reports a failed commit by Logger.Fatalf, which must not return: pebbleLog
// panics, and here the panic becomes an error.
func (p *Pebble) store(writes []write) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case pebbleFatal:
			err = r
		default:
			panic(r)
		}
	}()
	b := p.db.NewBatch()
	var key []byte
	for _, w := range writes {
		key = entryKey(key[:0], w.key, w.version)
		if err := b.Set(key, w.data, nil); err != nil {
			return fmt.Errorf("write register %s: %w", w.key, errors.Join(err, b.Close()))
		}
	}
	if err := errors.Join(b.Commit(pebble.Sync), p.frozen.err()); err != nil {
		return fmt.Errorf("write %d registers: %w", len(writes), err)
	}
	return b.Close()
}

// Truncate implements Store. It is not synced: that the entries come back after a crash does no harm.
func (p *Pebble) Truncate(ctx context.Context, key string, before Version) error {
	if err := errors.Join(p.ready(ctx, key), p.writable()); err != nil {
		return err
	}
	head, err := p.head(key)
	if err != nil || head == 0 {
		return err
	}
	err = p.db.DeleteRange(entryKey(nil, key, 0), entryKey(nil, key, min(before, head)), pebble.NoSync)
	if err != nil {
		return fmt.Errorf("truncate register %s: %w", key, err)
	}
	return nil
}

// Keys implements Store.
func (p *Pebble) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	it, err := p.db.NewIter(&pebble.IterOptions{
		LowerBound: append([]byte{registerTag}, prefix...),
		// Keys are printable, so 0xff is past every key with the prefix.
		UpperBound: append(append([]byte{registerTag}, prefix...), 0xff),
	})
	if err != nil {
		return nil, fmt.Errorf("list registers: %w", ofPebble(err))
	}
	var keys []string
	for ok := it.First(); ok; {
		name, _, err := parseEntryKey(it.Key())
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
		keys = append(keys, name)
		ok = it.SeekGE(registerBounds(name).UpperBound)
	}
	if err := it.Close(); err != nil {
		return nil, fmt.Errorf("list registers: %w", ofPebble(err))
	}
	return keys, nil
}

// ofPebble says of an error of reading whether it is that a file is damaged, and where, if Pebble tells.
func ofPebble(err error) error {
	if !pebble.IsCorruptionError(err) || errors.Is(err, ErrCorrupt) {
		return err
	}
	var detailed interface{ ErrorDetail() string }
	if errors.As(err, &detailed) {
		return fmt.Errorf("%w: %w: %s", ErrCorrupt, err, detailed.ErrorDetail())
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

const registerTag = 'r'

func entryKey(dst []byte, key string, v Version) []byte {
	dst = append(append(append(dst, registerTag), key...), 0)
	return binary.BigEndian.AppendUint64(dst, uint64(v))
}

// versionBytes is how long a version is at the end of an entry's key.
const versionBytes = 8

// parseEntryKey takes apart what entryKey has made.
func parseEntryKey(k []byte) (key string, v Version, err error) {
	at := len(k) - versionBytes - 1
	if at < 1 || k[0] != registerTag || k[at] != 0 || bytes.IndexByte(k, 0) != at {
		return "", 0, fmt.Errorf("%w: an entry has the key %q", ErrCorrupt, k)
	}
	return string(k[1:at]), Version(binary.BigEndian.Uint64(k[at+1:])), nil
}

func registerBounds(key string) *pebble.IterOptions {
	prefix := append(append([]byte{registerTag}, key...), 0)
	return &pebble.IterOptions{LowerBound: prefix, UpperBound: append(prefix[:len(prefix)-1:len(prefix)-1], 1)}
}

// pebbleFatal is what pebbleLog panics with.
type pebbleFatal string

func (f pebbleFatal) Error() string { return string(f) }

// pebbleLog passes Pebble's log on. What Pebble calls information is a trace of its inner life.
type pebbleLog struct {
	dir string
	log *slog.Logger
}

func (l pebbleLog) Infof(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("pebble", "message", fmt.Sprintf(format, args...))
	}
}

func (l pebbleLog) Errorf(format string, args ...any) {
	l.log.Error("pebble", "message", fmt.Sprintf(format, args...))
}

// Fatalf must not return.
func (l pebbleLog) Fatalf(format string, args ...any) {
	panic(pebbleFatal(l.dir + ": " + fmt.Sprintf(format, args...)))
}
