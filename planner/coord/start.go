package coord

import (
	"context"
	"slices"
	"time"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
)

// itemFlow is what keeps an item up to date; nil for a table.
type itemFlow struct {
	plan *plan.Dataflow
	keys []int // an index's
}

// planItem makes the dataflow of a materialized view or index, from the catalog alone.
func planItem(snap *catalog.Snapshot, it *catalog.Item) (*itemFlow, error) {
	env := &bind.Env{Catalog: snap}
	switch it.Kind {
	case catalog.Table:
		return nil, nil
	case catalog.MaterializedView:
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
	case catalog.Index:
		return planIndex(env, snap, it)
	}
	invariants.Failf("plan of a %v", it.Kind)
	return nil, nil
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
	d := collection.Desc{ID: it.ID, Shard: shard.ID(it.Shard), Name: snap.FullName(it), Retain: retain}
	if f != nil {
		d.Inputs = f.plan.Imports()
	}
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

// retain is how much history stays readable although nobody holds it.
const retain = time.Second

// startItem starts a view or an index from where it stands.
func (c *Coord) startItem(ctx context.Context, it *catalog.Item, f *itemFlow) error {
	switch it.Kind {
	case catalog.MaterializedView:
		sh, _ := c.set.Shard(it.ID)
		c.control.View(it.Cluster, it.ID, f.plan, sh)
	case catalog.Index:
		return c.control.Index(ctx, it.Cluster, it.ID, f.plan, f.keys)
	}
	return nil
}
