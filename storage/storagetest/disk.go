package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// Disk is a file system in memory that knows what was synced, and that can run full.
type Disk struct {
	fs *vfs.MemFS
	// room is how many more calls may write to it.
	room *atomic.Int64
}

// NewDisk makes an empty one.
func NewDisk() *Disk { return newDisk(vfs.NewCrashableMem()) }

func newDisk(fs *vfs.MemFS) *Disk {
	d := &Disk{fs: fs, room: &atomic.Int64{}}
	d.room.Store(math.MaxInt64)
	return d
}

// Crash gives the disk as a power cut at this moment leaves it: what was synced, and of the rest, by a chance of keep
// in a hundred, this or that. It has room again.
func (d *Disk) Crash(seed uint64, keep int) *Disk {
	return newDisk(d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: keep, RNG: rand.New(rand.NewPCG(seed, 0))}))
}

// Fill lets the disk run full after some more calls that write to a file, make one, or sync it: all further ones fail with
// syscall.ENOSPC.
func (d *Disk) Fill(calls int) { d.room.Store(int64(calls)) }

// MaybeError implements errorfs.Injector.
func (d *Disk) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpReuseForWrite, errorfs.OpMkdirAll, errorfs.OpFilePreallocate, errorfs.OpFileWrite,
		errorfs.OpFileWriteAt, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpFileFlush:
		if d.room.Add(-1) < 0 {
			return syscall.ENOSPC
		}
	}
	return nil
}

// String implements errorfs.Injector.
func (d *Disk) String() string { return "disk" }

// Options says how a process is started.
type Options struct {
	// Plan lets calls of the stores go wrong; nil lets all pass.
	Plan Plan
	// Clock is the wall clock; nil is one that stands at a second and never moves.
	Clock tvc.Clock
	// Settings has the values of the dynamic parameters; nil means their defaults.
	Settings *settings.Set
}

// Stores are a disk's stores as one process has them open, behind its faults.
type Stores struct {
	Faults   *Faults
	Registry *Registry
	// Consensus and Blob have no faults, for looking past them.
	Consensus consensus.Store
	Blob      blob.Store
	// pebble is nil if the stores are another process's.
	pebble *consensus.Pebble
}

// Mount opens the stores for a process by whose plan calls go wrong; nil lets all pass.
func (d *Disk) Mount(tb testing.TB, plan Plan) *Stores {
	tb.Helper()
	s := &Stores{Registry: NewRegistry()}
	s.Faults = newFaults(plan, func() { d.Fill(0) }, func() { s.raiseEpoch(tb) })
	files := errorfs.Wrap(d.fs, d)
	blobs, err := blob.OpenDirectory("data/blob", blob.DirectoryOptions{FS: files, Registry: s.Registry.Metrics()})
	if err != nil {
		tb.Fatal(err)
	}
	s.pebble, err = consensus.OpenPebble("data/consensus", consensus.PebbleOptions{FS: files, Registry: s.Registry.Metrics(), Log: quiet()})
	if err != nil {
		tb.Fatal(err)
	}
	s.Consensus, s.Blob = s.pebble, blobs
	return s
}

// raiseEpoch does what a process does first that takes over from another.
func (s *Stores) raiseEpoch(tb testing.TB) {
	ctx := context.Background()
	head, err := s.Consensus.Head(ctx, txn.EpochKey)
	if err == nil && head.Version > 0 {
		_, err = s.Consensus.Commit(ctx, []consensus.Unit{{{Key: txn.EpochKey, Expect: head.Version, Data: head.Data}}})
	}
	if err != nil && !errors.Is(err, consensus.ErrBroken) {
		tb.Error(err)
	}
}

// quiet is a log that nobody reads.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Behind gives the stores as the process sees them, behind the faults.
func (s *Stores) Behind() (consensus.Store, blob.Store) {
	return s.Faults.Consensus(s.Consensus), s.Faults.Blob(s.Blob)
}

// Stop lets go of the disk, as the end of a process does: nothing is said good-bye to. A store that broke when the disk
// was full cannot be closed.
func (s *Stores) Stop(tb testing.TB) {
	tb.Helper()
	s.Faults.Kill()
	if s.pebble == nil {
		return
	}
	if err := s.pebble.Close(); err != nil && !errors.Is(err, consensus.ErrBroken) && !errors.Is(err, syscall.ENOSPC) {
		tb.Error(err)
	}
}

// Process is storage as one process has it open.
type Process struct {
	*Stores
	Set *collection.Set
}

// Open starts a process on the disk, without maintenance. That it fails is an answer when the plan says so.
func (d *Disk) Open(tb testing.TB, o Options) (*Process, error) {
	tb.Helper()
	return open(tb, d.Mount(tb, o.Plan), o)
}

// Succeed starts another process on the same stores while p goes on, as after a partition: it takes the environment over,
// and p, whose epoch is past, is fenced. It is to be stopped before p, whose the stores are.
func (p *Process) Succeed(tb testing.TB, o Options) (*Process, error) {
	tb.Helper()
	s := &Stores{Registry: NewRegistry(), Consensus: p.Consensus, Blob: p.Blob}
	s.Faults = newFaults(o.Plan, p.Faults.full, func() { s.raiseEpoch(tb) })
	return open(tb, s, o)
}

func open(tb testing.TB, s *Stores, o Options) (*Process, error) {
	tb.Helper()
	if o.Clock == nil {
		o.Clock = func() tvc.Time { return 1_000_000 }
	}
	if o.Settings == nil {
		o.Settings = settings.NewSet(collection.Settings()...)
	}
	p := &Process{Stores: s}
	registers, objects := p.Behind()
	var err error
	p.Set, err = collection.Open(context.Background(), collection.Options{
		Consensus: registers, Blob: objects, Clock: o.Clock, Settings: o.Settings,
		Registry: p.Registry.Metrics(), Random: bytes.NewReader(bytes.Repeat([]byte("fingerprint key."), 1000)),
		Log: quiet(),
	})
	if err != nil {
		p.Stop(tb)
		return nil, err
	}
	return p, nil
}

// Maintain does all the maintenance there is to do for some shards, and waits for it.
func (p *Process) Maintain(ctx context.Context, shards ...*shard.Shard) error {
	for _, sh := range shards {
		for more := true; more; {
			compact, err := sh.Maintain(ctx, p.Submit)
			if err != nil {
				return err
			}
			if more = compact; compact {
				if _, err := sh.Compact(ctx, p.Submit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Submit makes an operation happen, for Shard.Maintain and its like.
func (p *Process) Submit(ctx context.Context, op shard.Op) (*shard.Refusal, error) {
	out, err := p.Set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{op}, Background: true})
	return out.Refused, err
}

// Check holds everything that is durable against its promises: every shard's own (shard.Client.Check), and that there
// is no object that nobody names, of an epoch that is past. It is to be called after a sweep, while nobody writes.
func (p *Process) Check(ctx context.Context) error {
	keys, err := p.Consensus.Keys(ctx, shard.RegisterPrefix)
	if err != nil {
		return err
	}
	var faults []error
	named := map[string]bool{}
	for _, key := range keys {
		id := shard.ID(strings.TrimPrefix(key, shard.RegisterPrefix))
		r, err := p.Set.Client().Check(ctx, id)
		if err != nil {
			return err
		}
		for _, f := range r.Faults {
			faults = append(faults, fmt.Errorf("shard %s: %w", id, f))
		}
		for _, o := range r.Objects {
			named[o] = true
		}
	}
	infos, err := p.Blob.List(ctx, "")
	if err != nil {
		return err
	}
	for _, info := range infos {
		if !named[info.Key] {
			faults = append(faults, fmt.Errorf("object %s is named by nobody", info.Key))
		}
	}
	return errors.Join(faults...)
}
