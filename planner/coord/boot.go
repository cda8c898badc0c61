package coord

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// catalogShard is the shard that the catalog is stored in.
const catalogShard = shard.ID("catalog")

// catalogName labels its metrics.
const catalogName = "mz_internal.catalog"

// catalogID is the collection that it is.
var catalogID = tvc.ID{Class: 's', N: 1}

// New takes an environment over: in this order its epoch, its catalog, its settings, its clusters, its
// collections, its dataflows, each from where its output stands. A new environment is made.
func New(ctx context.Context, o Options) (*Coord, error) {
	o.Workers = max(o.Workers, 1)
	c := &Coord{o: o, system: builtin.New()}
	set, err := collection.Open(ctx, collection.Options{Consensus: o.Consensus, Blob: o.Blob, Clock: o.Clock,
		Registry: o.Registry, Log: o.Log, Random: o.Random, Settings: o.Settings})
	if err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	c.set, c.oracle = set, set.Oracle()
	c.control = controller.New(controller.Options{Set: set, Oracle: c.oracle, Settings: o.Settings, Registry: o.Registry,
		Log: o.Log, Name: c.nameOf})
	if err := c.boot(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Coord) boot(ctx context.Context) error {
	snap, err := c.loadCatalog(ctx)
	if err != nil {
		return fmt.Errorf("load the catalog: %w", err)
	}
	c.catalog.Store(snap)
	for name, value := range snap.Settings() {
		if err := c.o.Settings.Set(name, value); err != nil {
			c.o.Log.Warn("a stored setting is not taken", "setting", name, "value", value, "error", err)
		}
	}
	for cl := range snap.Clusters() {
		c.setCluster(cl)
	}
	if err := c.openAll(ctx, snap); err != nil {
		return err
	}
	c.set.Start()
	return nil
}

// loadCatalog reads the catalog, or makes that of a new environment.
func (c *Coord) loadCatalog(ctx context.Context) (*catalog.Snapshot, error) {
	var err error
	c.store, err = c.set.Open(ctx, c.catalogDesc())
	if errors.Is(err, shard.ErrNotFound) {
		return c.newCatalog(ctx)
	}
	if err != nil {
		return nil, err
	}
	scan, err := c.store.Snapshot(ctx, c.store.Upper().Last(), shard.ScanOptions{Consolidate: true})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	var blocks []*vec.Block
	for {
		b, err := scan.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return catalog.Load(c.system.System(), blocks)
		}
		blocks = append(blocks, b.Clone())
	}
}

func (c *Coord) catalogDesc() collection.Desc {
	return collection.Desc{ID: catalogID, Shard: catalogShard, Name: catalogName}
}

func (c *Coord) newCatalog(ctx context.Context) (*catalog.Snapshot, error) {
	snap, changes := catalog.New(c.system.System(), c.o.Workers)
	create := shard.Create{ID: catalogShard, Name: catalogName, Schema: shard.Schema{Rel: catalog.Rel()}}
	out, err := c.set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{create}})
	if err != nil {
		return nil, err
	}
	if !out.Done() {
		return nil, fmt.Errorf("make the catalog: %v", out.Refused)
	}
	if c.store, err = c.set.Open(ctx, c.catalogDesc()); err != nil {
		return nil, err
	}
	_, err = c.writeCatalog(ctx, changes, nil)
	return snap, err
}

// writeCatalog makes a change of the catalog durable, with what goes with it in one unit, and gives its
// time.
func (c *Coord) writeCatalog(ctx context.Context, changes *catalog.Changes, ops []shard.Op) (tvc.Time, error) {
	w := c.store.NewWriter(shard.WriterOptions{})
	if err := w.Add(ctx, changes.Rows()); err != nil {
		w.Abort(ctx)
		return 0, err
	}
	written, err := w.Finish(ctx)
	if err != nil {
		return 0, err
	}
	t := c.oracle.WriteTime()
	ops = append(ops, shard.Append{Shard: c.store, AnyLower: true, Upper: tvc.After(t), Written: []*shard.Written{written}})
	out, err := c.set.Group().Do(ctx, txn.Unit{Ops: ops})
	if err == nil && !out.Done() {
		err = fmt.Errorf("change the catalog: %v", out.Refused)
	}
	if err != nil {
		c.oracle.Forget(t)
		written.Discard(ctx)
		return 0, storeError(err)
	}
	return t, c.oracle.ApplyWrite(ctx, t)
}

// setCluster gives a cluster its replicas.
func (c *Coord) setCluster(cl *catalog.Cluster) {
	var workers []int
	for _, r := range cl.Replicas {
		workers = append(workers, r.Size.Scale*r.Size.Workers)
	}
	c.control.SetCluster(cl.ID, workers...)
}

// openAll opens every collection, in an order in which inputs come first, and starts what computes them.
func (c *Coord) openAll(ctx context.Context, snap *catalog.Snapshot) error {
	var items []*catalog.Item
	for it := range snap.Items() {
		if it.Kind == catalog.Table || it.Kind == catalog.MaterializedView || it.Kind == catalog.Index {
			items = append(items, it)
		}
	}
	slices.SortFunc(items, func(a, b *catalog.Item) int { return a.ID.Compare(b.ID) })
	// Everything is opened before anything runs, so that nothing is compacted away under a view.
	flows := make([]*itemFlow, len(items))
	for i, it := range items {
		f, err := planItem(snap, it)
		if err != nil {
			return fmt.Errorf("plan %s: %w", snap.FullName(it), err)
		}
		flows[i] = f
		if err := c.openItem(ctx, snap, it, f); err != nil {
			return fmt.Errorf("open %s: %w", snap.FullName(it), err)
		}
	}
	for i, it := range items {
		if err := c.startItem(ctx, it, flows[i]); err != nil {
			return fmt.Errorf("start %s: %w", snap.FullName(it), err)
		}
	}
	return nil
}
