package coord

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Options are what a Coord stands on. The stores are the caller's to close, after the Coord.
type Options struct {
	Consensus collection.ConsensusStore
	Blob      collection.BlobStore
	// Clock is the wall clock.
	Clock tvc.Clock
	// Random keys fingerprints; crypto/rand.Reader outside of tests.
	Random   io.Reader
	Registry collection.Registry
	Log      *slog.Logger
	// Settings are the dynamic parameters of everything below; their durable values are read at boot.
	Settings *settings.Set
	// Workers is the number of workers that a new environment's cluster gets. 0 means 1.
	Workers int
}

// Coord is the shared state.
type Coord struct {
	o       Options
	system  *builtin.Set
	set     *collection.Set
	oracle  *oracle.Oracle
	control *controller.Controller
	catalog atomic.Pointer[catalog.Snapshot]
	// store is the catalog's own shard.
	store  *shard.Shard
	commit commitLine
	// ddl is the line that DDL stands in.
	ddl sync.Mutex
}

// Catalog gives the newest snapshot.
func (c *Coord) Catalog() *catalog.Snapshot { return c.catalog.Load() }

// System gives the system's relations.
func (c *Coord) System() *builtin.Set { return c.system }

// Settings gives the dynamic parameters.
func (c *Coord) Settings() *settings.Set { return c.o.Settings }

// Log gives the log.
func (c *Coord) Log() *slog.Logger { return c.o.Log }

// Close stops dataflows and maintenance. Nothing may be asked of the Coord any more.
func (c *Coord) Close() error {
	c.control.Close()
	return c.set.Close(context.Background())
}

// nameOf gives a collection's full SQL name.
func (c *Coord) nameOf(id tvc.ID) string {
	snap := c.Catalog()
	if it := snap.Item(id); it != nil {
		return snap.FullName(it)
	}
	return id.String()
}

// waitClosed makes sure that closed time has reached t, waiting for the clock if need be.
func (c *Coord) waitClosed(ctx context.Context, t tvc.Time) error {
	for {
		now, err := c.oracle.ReadTime(ctx)
		if err != nil {
			return err
		}
		if now >= t {
			return nil
		}
		if err := sleep(ctx, tvc.Time(t-now)); err != nil {
			return err
		}
	}
}
