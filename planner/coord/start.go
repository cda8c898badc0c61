package coord

import (
	"context"
	"slices"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// itemFlow is what keeps an item up to date; that of a table is empty.
type itemFlow struct {
	plan *plan.Dataflow
	keys []int // an index's
	// inputs are the collections it reads.
	inputs []tvc.ID
	// broken is why there is no plan.
	broken error
}

// brokenItem stands for the dataflow of an item that cannot be planned. Its inputs stay as they are, for a program
// that can.
func brokenItem(snap *catalog.Snapshot, it *catalog.Item, reason error) *itemFlow {
	f := &itemFlow{broken: reason}
	if it.Kind == catalog.MaterializedView {
		f.inputs = storedUnder(snap, it)
	}
	return f
}

// storedUnder lists the stored collections that an item reads, directly or through views that are not stored.
func storedUnder(snap *catalog.Snapshot, it *catalog.Item) []tvc.ID {
	var ids []tvc.ID
	for _, id := range it.DependsOn {
		switch on := snap.Item(id); {
		case on.Kind.Stored():
			ids = append(ids, id)
		case on.Kind == catalog.View:
			ids = append(ids, storedUnder(snap, on)...)
		}
	}
	slices.SortFunc(ids, tvc.ID.Compare)
	return slices.Compact(ids)
}

// planItem makes the dataflow of a materialized view or index, from the catalog alone.
func planItem(snap *catalog.Snapshot, it *catalog.Item) (*itemFlow, error) {
	env := &bind.Env{Catalog: snap}
	f, err := &itemFlow{}, error(nil)
	switch it.Kind {
	case catalog.Table:
		return f, nil
	case catalog.MaterializedView:
		f, err = planView(env, snap, it)
	case catalog.Index:
		f, err = planIndex(env, snap, it)
	default:
		invariants.Failf("plan of a %v", it.Kind)
	}
	if err != nil {
		return nil, err
	}
	f.inputs = f.plan.Imports()
	return f, nil
}

func planView(env *bind.Env, snap *catalog.Snapshot, it *catalog.Item) (*itemFlow, error) {
	q, err := bind.View(env, it)
	if err != nil {
		return nil, err
	}
	root := q.Tree()
	if err := bind.Maintainable(root); err != nil {
		return nil, err
	}
	root, err = rewrite.Tree(root, rewrite.Options{})
	if err != nil {
		return nil, err
	}
	df, err := lower.Dataflow(snap.FullName(it), root, nil)
	return &itemFlow{plan: df}, err
}

// planIndex gives the relation's columns and behind them what the key computes.
func planIndex(env *bind.Env, snap *catalog.Snapshot, it *catalog.Item) (*itemFlow, error) {
	ix, root, err := bind.Index(env, it)
	if err != nil {
		return nil, err
	}
	if err := bind.Maintainable(root); err != nil {
		return nil, err
	}
	root, err = rewrite.Tree(root, rewrite.Options{})
	if err != nil {
		return nil, err
	}
	df, err := lower.Dataflow(snap.FullName(it), root, nil)
	if err != nil {
		return nil, err
	}
	f := &itemFlow{plan: df}
	cols := df.Nodes[df.Result()].Cols
	m := scalar.Identity(len(cols))
	for _, k := range ix.Key {
		if c, ok := k.(*scalar.Col); ok {
			f.keys = append(f.keys, c.Index)
			continue
		}
		f.keys = append(f.keys, len(cols)+len(m.Map))
		m.Project = append(m.Project, len(cols)+len(m.Map))
		m.Map = append(m.Map, k)
	}
	if len(m.Map) > 0 {
		all := slices.Clone(cols)
		for _, k := range m.Map {
			all = append(all, k.Type())
		}
		df.Nodes = append(df.Nodes, plan.Node{Op: &plan.MFP{MFP: m}, Inputs: []plan.NodeID{df.Result()}, Cols: all})
	}
	return f, nil
}

// schemaOf is what an item's shard stores.
func schemaOf(it *catalog.Item) shard.Schema {
	return shard.Schema{Rel: it.Rel, Errors: it.Kind == catalog.MaterializedView}
}

// openItem opens an item's shard, if it has one, and makes a table known.
func (c *Coord) openItem(ctx context.Context, snap *catalog.Snapshot, it *catalog.Item, f *itemFlow) error {
	if !it.Kind.Stored() {
		return nil
	}
	d := collection.Desc{ID: it.ID, Shard: shard.ID(it.Shard), Name: snap.FullName(it), Retain: it.Retain, Inputs: f.inputs}
	sh, err := c.set.Open(ctx, d)
	if err != nil {
		return err
	}
	if it.Kind == catalog.Table {
		c.commit.opened(it.ID, sh.Upper())
		c.control.Table(it.ID, sh)
	}
	return nil
}

// startItem starts a view or an index from where it stands.
func (c *Coord) startItem(ctx context.Context, it *catalog.Item, f *itemFlow) error {
	sh, _ := c.set.Shard(it.ID)
	switch {
	case f.broken != nil:
		c.control.Broken(it.ID, sh, f.broken)
	case it.Kind == catalog.MaterializedView:
		c.control.View(it.Cluster, it.ID, f.plan, sh)
	case it.Kind == catalog.Index:
		return c.control.Index(ctx, it.Cluster, it.ID, f.plan, f.keys)
	}
	return nil
}
