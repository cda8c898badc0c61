package coord

import (
	"context"
	"io"
	"log/slog"
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
	// ViewSharing is how views' changes become parts, to compare other ways with the one that nil means.
	ViewSharing controller.Sharing
}

// Coord is the shared state.
type Coord struct {
	o       Options
	system  *builtin.Set
	set     *collection.Set
	oracle  *oracle.Oracle
	control *controller.Controller
	catalog atomic.Pointer[catalog.Snapshot]
	// coming is the catalog that is being put into effect: it names what is started before it is published.
	coming atomic.Pointer[catalog.Snapshot]
	// store is the catalog's own shard.
	store  *shard.Shard
	commit commitLine
	// ddl is the line that DDL stands in: who can put something into it changes the catalog.
	ddl chan struct{}
}

// Catalog gives the newest snapshot.
func (c *Coord) Catalog() *catalog.Snapshot { return c.catalog.Load() }

// System gives the system's relations.
func (c *Coord) System() *builtin.Set { return c.system }

// SinkStatistics gives what was done for a materialized view.
func (c *Coord) SinkStatistics(id tvc.ID) builtin.SinkStatistics {
	s := builtin.SinkStatistics{SinkStatistics: c.control.SinkStatistics(id)}
	if sh, ok := c.set.Shard(id); ok {
		s.Objects, s.AppendBytes = sh.Work(shard.OriginAppend)
		for _, o := range []shard.Origin{shard.OriginCompaction, shard.OriginRollup} {
			_, bytes := sh.Work(o)
			s.MaintenanceBytes += bytes
		}
	}
	return s
}

// Settings gives the dynamic parameters.
func (c *Coord) Settings() *settings.Set { return c.o.Settings }

// Log gives the log.
func (c *Coord) Log() *slog.Logger { return c.o.Log }

// Failed is closed when nothing can be written any more, which Err explains: another process has taken over, the
// store broke, or a fault of ours. The process should end then.
func (c *Coord) Failed() <-chan struct{} { return c.set.Group().Failed() }

// Err is why nothing can be written any more; nil while all is well.
func (c *Coord) Err() error { return c.set.Group().Err() }

// CheckEpoch finds out whether another process has taken over, which then Failed tells: a process that only sends
// subscriptions what there is would not notice.
func (c *Coord) CheckEpoch(ctx context.Context) error { return c.set.Group().CheckEpoch(ctx) }

// GiveUp ends the waiting for stores that do not answer: who waits for a write is told that the database shuts down, or that
// it is not known whether it was made. Nothing can be written any more.
func (c *Coord) GiveUp() { c.set.Group().Stop() }

// Close stops dataflows and maintenance. Nothing may be asked of the Coord any more. It waits for the stores until they
// answer, or until GiveUp.
func (c *Coord) Close() error {
	c.control.Close()
	return c.set.Close(context.Background())
}

// nameOf gives a collection's full SQL name.
func (c *Coord) nameOf(id tvc.ID) string {
	for _, snap := range []*catalog.Snapshot{c.coming.Load(), c.Catalog()} {
		if it := snap.Item(id); it != nil {
			return snap.FullName(it)
		}
	}
	return id.String()
}

// lockDDL enters the line of DDL; unlockDDL leaves it.
func (c *Coord) lockDDL(ctx context.Context) error {
	select {
	case c.ddl <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Coord) unlockDDL() { <-c.ddl }

// leastPause is how long it is at least waited for closed time: what is applied meanwhile counts too.
const leastPause = tvc.Time(1000)

// waitClosed makes sure that closed time has reached t, waiting for the clock, or for a write in flight, if need
// be.
func (c *Coord) waitClosed(ctx context.Context, t tvc.Time) error {
	for {
		now, err := c.readTime(ctx)
		if err != nil {
			return err
		}
		if now >= t {
			return nil
		}
		if err := sleep(ctx, max(t-now, leastPause)); err != nil {
			return err
		}
	}
}

// readTime gives the latest closed time.
func (c *Coord) readTime(ctx context.Context) (tvc.Time, error) {
	t, err := c.oracle.ReadTime(ctx)
	if err != nil {
		return 0, c.storeError(err)
	}
	return t, nil
}
