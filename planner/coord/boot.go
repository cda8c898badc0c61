package coord

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
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
	c := &Coord{o: o, system: builtin.New(), ddl: make(chan struct{}, 1)}
	set, err := collection.Open(ctx, collection.Options{Consensus: o.Consensus, Blob: o.Blob, Clock: o.Clock,
		Registry: o.Registry, Log: o.Log, Random: o.Random, Settings: o.Settings})
	if err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	c.set, c.oracle = set, set.Oracle()
	c.control = controller.New(controller.Options{Set: set, Oracle: c.oracle, Settings: o.Settings, Registry: o.Registry,
		Log: o.Log, Name: c.nameOf, Sharing: o.ViewSharing})
	// Nobody has been promised anything yet: there is nothing to wait for.
	defer context.AfterFunc(ctx, c.GiveUp)()
	if err := c.boot(ctx); err != nil {
		c.GiveUp()
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Coord) boot(ctx context.Context) error {
	snap, err := c.loadCatalog(ctx)
	if err != nil {
		return fmt.Errorf("load the catalog: %w", err)
	}
	c.coming.Store(snap)
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
	for id := range snap.Garbage() {
		if err := c.set.Clean(ctx, shard.ID(id)); err != nil {
			return fmt.Errorf("clean up after a drop: %w", err)
		}
	}
	c.set.Start()
	return nil
}

// loadCatalog reads the catalog, or makes that of a new environment.
func (c *Coord) loadCatalog(ctx context.Context) (*catalog.Snapshot, error) {
	var err error
	c.store, err = c.set.Open(ctx, c.catalogDesc())
	switch {
	case errors.Is(err, shard.ErrNotFound):
		if err := c.makeCatalog(ctx); err != nil {
			return nil, fmt.Errorf("make it: %w", err)
		}
		return c.firstCatalog(ctx)
	case err != nil:
		return nil, err
	case c.store.Upper() == 0:
		// The process that made it died before it wrote to it.
		return c.firstCatalog(ctx)
	}
	return readCatalog(ctx, c.system.System(), c.store)
}

func (c *Coord) catalogDesc() collection.Desc {
	return collection.Desc{ID: catalogID, Shard: catalogShard, Name: catalogName}
}

// makeCatalog makes the catalog's shard and opens it.
func (c *Coord) makeCatalog(ctx context.Context) error {
	create := shard.Create{ID: catalogShard, Name: catalogName, Schema: shard.Schema{Rel: catalog.Rel()}}
	out, err := c.set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{create}})
	if err != nil {
		return err
	}
	if !out.Done() {
		return fmt.Errorf("refused: %v", out.Refused)
	}
	c.store, err = c.set.Open(ctx, c.catalogDesc())
	return err
}

// firstCatalog writes the catalog of a new environment.
func (c *Coord) firstCatalog(ctx context.Context) (*catalog.Snapshot, error) {
	snap, changes := catalog.New(c.system.System(), c.o.Workers)
	return snap, c.writeCatalog(ctx, changes, nil)
}

// writeCatalog makes a change of the catalog durable, with what goes with it in one unit. An error means that it
// did not happen, except txn.ErrIndeterminate: then the line to the store has ended, and what the catalog is only the
// next boot finds out. Once the unit is sent, ctx is no longer heeded: what was committed must be published.
func (c *Coord) writeCatalog(ctx context.Context, changes *catalog.Changes, ops []shard.Op) error {
	w := c.store.NewWriter(shard.WriterOptions{})
	if err := w.Add(ctx, changes.Rows()); err != nil {
		w.Abort(context.WithoutCancel(ctx))
		return ofStorage(err)
	}
	written, err := w.Finish(ctx)
	if err != nil {
		return ofStorage(err)
	}
	committing := context.WithoutCancel(ctx)
	if err := context.Cause(ctx); err != nil {
		written.Discard(committing)
		return err
	}
	t := c.oracle.WriteTime()
	ops = append(ops, shard.Append{Shard: c.store, AnyLower: true, Upper: tvc.After(t), Written: []*shard.Written{written}})
	out, err := c.set.Group().Do(committing, txn.Unit{Ops: ops})
	if errors.Is(err, txn.ErrIndeterminate) {
		return c.storeError(err)
	}
	if err == nil && !out.Done() {
		err = fmt.Errorf("change the catalog: %v", out.Refused)
	}
	if err != nil {
		c.forgetTime(t)
		written.Discard(committing)
		return c.storeError(err)
	}
	return c.applyTime(t)
}

// setCluster gives a cluster its replicas.
func (c *Coord) setCluster(cl *catalog.Cluster) {
	var replicas []controller.ReplicaDesc
	for _, r := range cl.Replicas {
		replicas = append(replicas, controller.ReplicaDesc{ID: r.ID, Workers: r.Size.Total()})
	}
	c.control.SetCluster(cl.ID, replicas...)
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
			// This program no longer understands it. That is no reason to do without all the others.
			c.o.Log.Error("what cannot be planned any more is not kept up to date", "name", snap.FullName(it), "error", err)
			f = brokenItem(snap, it, err)
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
