package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// Disk is a file system in memory that knows what was synced.
type Disk struct {
	fs *vfs.MemFS
}

// NewDisk makes an empty one.
func NewDisk() *Disk { return &Disk{fs: vfs.NewCrashableMem()} }

// Crash gives the disk as a power cut at this moment leaves it: what was synced, and of the rest, by a chance of keep
// in a hundred, this or that.
func (d *Disk) Crash(seed uint64, keep int) *Disk {
	return &Disk{fs: d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: keep, RNG: rand.New(rand.NewPCG(seed, 0))})}
}

// Options says how a process is started.
type Options struct {
	// Plan lets calls of the stores go wrong; nil lets all pass.
	Plan Plan
	// Clock is the wall clock; nil is one that stands at a second and never moves.
	Clock tvc.Clock
	// Settings has the values of the dynamic parameters; nil means their defaults.
	Settings *settings.Set
}

// Process is storage as one process has it open.
type Process struct {
	Set      *collection.Set
	Faults   *Faults
	Registry *Registry
	// Stores without faults, for looking past them.
	Consensus consensus.Store
	Blob      blob.Store
	pebble    *consensus.Pebble
}

// Open starts a process on the disk, without maintenance. That it fails is an answer when the plan says so.
func (d *Disk) Open(tb testing.TB, o Options) (*Process, error) {
	tb.Helper()
	if o.Clock == nil {
		o.Clock = func() tvc.Time { return 1_000_000 }
	}
	if o.Settings == nil {
		o.Settings = settings.NewSet(collection.Settings()...)
	}
	p := &Process{Faults: NewFaults(o.Plan), Registry: NewRegistry()}
	blobs, err := blob.OpenDirectory("data/blob", blob.DirectoryOptions{FS: d.fs, Registry: p.Registry.Metrics()})
	if err != nil {
		tb.Fatal(err)
	}
	p.pebble, err = consensus.OpenPebble("data/consensus", consensus.PebbleOptions{FS: d.fs, Registry: p.Registry.Metrics()})
	if err != nil {
		tb.Fatal(err)
	}
	p.Consensus, p.Blob = p.pebble, blobs
	p.Set, err = collection.Open(context.Background(), collection.Options{
		Consensus: p.Faults.Consensus(p.pebble), Blob: p.Faults.Blob(blobs), Clock: o.Clock, Settings: o.Settings,
		Registry: p.Registry.Metrics(), Random: bytes.NewReader(bytes.Repeat([]byte("fingerprint key."), 1000)),
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		p.Stop(tb)
		return nil, err
	}
	return p, nil
}

// Stop lets go of the disk, as the end of a process does: nothing is said good-bye to.
func (p *Process) Stop(tb testing.TB) {
	tb.Helper()
	p.Faults.Kill()
	if err := p.pebble.Close(); err != nil {
		tb.Error(err)
	}
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
