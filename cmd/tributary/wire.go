package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/tvc"
)

// allSettings joins the settings that the doors know.
func allSettings() *settings.Set {
	return settings.NewSet(slices.Concat(session.Settings(), controller.Settings(), collection.Settings())...)
}

// coordParts is what the coordinator is made of beside its stores.
type coordParts struct {
	settings *settings.Set
	registry *prometheus.Registry
	log      *slog.Logger
}

// openCoord opens the stores and the coordinator over them; the function it gives closes them again.
func openCoord(ctx context.Context, o serveOptions, p coordParts) (*coord.Coord, func() error, error) {
	registers, objects, closeStores, err := o.open(o, p)
	if err != nil {
		return nil, nil, err
	}
	c, err := coord.New(ctx, coord.Options{Consensus: registers, Blob: objects, Random: rand.Reader, Registry: p.registry, Log: p.log,
		Clock:    func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) },
		Settings: p.settings, Workers: o.workers})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start: %w", err), closeStores())
	}
	return c, func() error { return errors.Join(c.Close(), closeStores()) }, nil
}

// openStores opens the stores of the data directory, or makes some in memory. It is the one place that knows which
// there are.
func openStores(o serveOptions, p coordParts) (consensus.Store, blob.Store, func() error, error) {
	if o.inMemory {
		return consensus.NewMemory(), blob.NewMemory(), func() error { return nil }, nil
	}
	if err := os.MkdirAll(o.dataDir, 0o700); err != nil {
		return nil, nil, nil, fmt.Errorf("make data directory: %w", err)
	}
	registers, err := consensus.OpenPebble(filepath.Join(o.dataDir, "consensus"), consensus.PebbleOptions{Registry: p.registry, Log: p.log})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("open data directory %s: %w", o.dataDir, err)
	}
	objects, err := blob.OpenDirectory(filepath.Join(o.dataDir, "blob"), blob.DirectoryOptions{Registry: p.registry})
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("open data directory %s: %w", o.dataDir, err), registers.Close())
	}
	return registers, objects, registers.Close, nil
}
