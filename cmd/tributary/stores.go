package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
)

// storeOptions are the flags that say where the data is kept.
type storeOptions struct {
	dataDir   string
	inMemory  bool
	consensus string
	blob      string
}

func (o *storeOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.dataDir, "data-dir", "./tributary-data", "where the data is kept; made if it is not there")
	flags.BoolVar(&o.inMemory, "in-memory", false, "keep nothing: the data ends with the server")
	flags.StringVar(&o.consensus, "consensus", "", "URL of the PostgreSQL database that keeps what is decided, "+
		"postgres://user@host:port/database?search_path=schema; together with --blob, instead of a directory")
	flags.StringVar(&o.blob, "blob", "", "URL of the bucket that keeps the data, s3://bucket/folder?region=…&endpoint=https://host:port")
}

// check refuses flags that do not go together.
func (o *storeOptions) check(dataDirGiven bool) error {
	switch {
	case o.consensus == "" && o.blob == "":
		// With --in-memory a directory is not touched: who starts servers either way may always name one.
		return nil
	case o.consensus == "" || o.blob == "":
		return errors.New("--consensus and --blob go together: with one of them in a directory of this machine, " +
			"a server on another machine would take over without half of the data")
	case o.inMemory:
		return errors.New("--in-memory keeps nothing, so it does not go with --consensus and --blob")
	case dataDirGiven:
		return errors.New("with --consensus and --blob nothing is kept in a directory, so they do not go with --data-dir")
	}
	return nil
}

// openStores opens the stores, of the kind that the options ask for. It is the one place that knows which there are.
func openStores(ctx context.Context, o serveOptions, p coordParts) (consensus.Store, blob.Store, func() error, error) {
	switch {
	case o.stores.consensus != "":
		return openShared(ctx, o.stores, p)
	case o.stores.inMemory:
		return consensus.NewMemory(), blob.NewMemory(), func() error { return nil }, nil
	}
	dir := o.stores.dataDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, nil, fmt.Errorf("make data directory: %w", err)
	}
	if err := errors.Join(checkNotPartial(dir), checkWhole(dir)); err != nil {
		return nil, nil, nil, fmt.Errorf("open data directory %s: %w", dir, err)
	}
	registers, err := consensus.OpenPebble(filepath.Join(dir, "consensus"), consensus.PebbleOptions{Registry: p.registry, Log: p.log})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("open data directory %s: %w", dir, err)
	}
	objects, err := blob.OpenDirectory(filepath.Join(dir, "blob"), blob.DirectoryOptions{Registry: p.registry, InPlace: registers.InPlace})
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("open data directory %s: %w", dir, err), registers.Close())
	}
	stop, err := serveControl(dir, &dataDirectory{registers, objects}, p.log)
	if err != nil {
		p.log.Warn("other commands cannot reach this server: no backup can be made while it runs", "error", err)
		stop = func() error { return nil }
	}
	return registers, objects, func() error { return errors.Join(stop(), registers.Close()) }, nil
}

// errNotWhole says that a data directory has objects but no registers.
var errNotWhole = errors.New("it has objects, but no registers that name them")

// checkWhole refuses a directory of which only the objects are there, before anything is made in it. A server would begin a
// new environment beside them, whose objects in time replace those of the same names.
func checkWhole(dir string) error {
	registers, err := namesIn(filepath.Join(dir, "consensus"))
	if err != nil || len(registers) > 0 {
		return err
	}
	objects, err := namesIn(filepath.Join(dir, "blob"))
	if err != nil || len(objects) == 0 {
		return err
	}
	return fmt.Errorf("%w: blob has %s, and consensus is empty or missing", errNotWhole, objects[0])
}

// namesIn gives what is in a folder, if it is there, but for what is of no account: hidden files, the lock, and what the root of
// a file system has.
func namesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); name[0] != '.' && name != "LOCK" && name != "lost+found" {
			names = append(names, name)
		}
	}
	return names, nil
}

// closeGrace is how long connections may take to be closed.
const closeGrace = time.Second

func openShared(ctx context.Context, o storeOptions, p coordParts) (consensus.Store, blob.Store, func() error, error) {
	registers, err := consensus.OpenPostgres(ctx, o.consensus, consensus.PostgresOptions{Log: p.log})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("--consensus: %w", err)
	}
	objects, err := blob.OpenS3(ctx, o.blob)
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("--blob: %w", err), registers.Close())
	}
	if err := pair(ctx, registers, objects, rand.Reader); err != nil {
		return nil, nil, nil, errors.Join(err, registers.Close())
	}
	return registers, objects, func() error { return closeInTime(registers.Close) }, nil
}

// closeInTime closes a store, but does not wait long for it: connections to a server that has stopped to answer take a while,
// and the process ends in any case.
func closeInTime(closeStore func() error) error {
	closed := make(chan error, 1)
	go func() { closed <- closeStore() }()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case err := <-closed:
		return err
	case <-timer.C:
		return nil
	}
}

// environmentKey is the key of a register and of an object that say the same: the name that an environment on shared
// stores was given when it was made. Its first byte is the version of its format, 16 random ones follow.
const environmentKey = "environment"

const environmentVersion = 1

// errNotPaired says that registers and objects are not those of one environment.
var errNotPaired = errors.New("--consensus and --blob are not of the same environment")

// pair makes sure that registers and objects belong together, or makes them belong together if both are new. A server on
// a folder of another environment would overwrite that one's objects, and sweep away what its own registers do not know.
func pair(ctx context.Context, registers consensus.Store, objects blob.Store, random io.Reader) error {
	head, err := registers.Head(ctx, environmentKey)
	if err != nil {
		return err
	}
	name, err := objects.Get(ctx, environmentKey)
	missing := errors.Is(err, blob.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	if head.Version == 0 {
		if !missing {
			return fmt.Errorf("%w: the database is new, but the bucket's folder has objects of an environment already", errNotPaired)
		}
		if head.Data, err = nameEnvironment(ctx, registers, random); err != nil {
			return err
		}
	}
	switch {
	case len(head.Data) == 0 || head.Data[0] != environmentVersion:
		return fmt.Errorf("register %s: % x is of a version that this program does not know", environmentKey, head.Data)
	case missing:
		shards, err := registers.Keys(ctx, shard.RegisterPrefix)
		if err != nil {
			return err
		}
		// A process that ended here before has left the register without the object, and no shard yet.
		if len(shards) > 0 {
			return fmt.Errorf("%w: the database has %d collections, but the bucket's folder has nothing of them", errNotPaired, len(shards))
		}
		return objects.Put(ctx, environmentKey, head.Data)
	case !bytes.Equal(name, head.Data):
		return fmt.Errorf("%w: the bucket's folder has objects of another one", errNotPaired)
	}
	return nil
}

// nameEnvironment gives a new environment a name, and gives the name that it has: another process may have been faster.
func nameEnvironment(ctx context.Context, registers consensus.Store, random io.Reader) ([]byte, error) {
	name, err := newEnvironmentName(random)
	if err != nil {
		return nil, err
	}
	out, err := registers.Commit(ctx, []consensus.Unit{{{Key: environmentKey, Data: name}}})
	if err != nil {
		return nil, err
	}
	if !out[0].Done {
		return out[0].Head.Data, nil
	}
	return name, nil
}

func newEnvironmentName(random io.Reader) ([]byte, error) {
	name := make([]byte, 17)
	name[0] = environmentVersion
	_, err := io.ReadFull(random, name[1:])
	return name, err
}
