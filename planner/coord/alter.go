package coord

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Alter applies catalog operations if the catalog is still base; if it is not it gives nil, and the caller
// binds its statement again. When it returns the change is durable and published, and its effects are under
// way: a read that follows in any session sees it.
func (c *Coord) Alter(ctx context.Context, base *catalog.Snapshot, ops []catalog.Op) (*catalog.Changes, error) {
	c.ddl.Lock()
	defer c.ddl.Unlock()
	if c.Catalog() != base {
		return nil, nil
	}
	next, changes, err := base.Apply(ops)
	if err != nil {
		return nil, err
	}
	if changes.IsEmpty() {
		return changes, nil
	}
	e, err := c.prepare(ctx, next, changes)
	defer e.release()
	if err != nil {
		return nil, err
	}
	if _, err := c.writeCatalog(ctx, changes, e.ops); err != nil {
		return nil, err
	}
	if err := c.effect(context.WithoutCancel(ctx), next, changes, e); err != nil {
		// It is durable; what could not be started here will be by the next boot.
		return nil, fmt.Errorf("the change is done but could not take effect: %w", err)
	}
	return changes, nil
}

// effects is what a change of the catalog asks for.
type effects struct {
	flows map[tvc.ID]*itemFlow
	// ops make and seal shards in the unit of the change itself.
	ops []shard.Op
	// holds keep the inputs of new views readable until their shards do.
	holds []*collection.Hold
}

func (e *effects) release() {
	for _, h := range e.holds {
		h.Release()
	}
}

// prepare plans what is new and says what becomes of shards.
func (c *Coord) prepare(ctx context.Context, next *catalog.Snapshot, changes *catalog.Changes) (*effects, error) {
	e := &effects{flows: map[tvc.ID]*itemFlow{}}
	for _, ch := range changes.Items {
		switch {
		case ch.Old == nil:
			if err := c.prepareNew(ctx, e, next, ch.New); err != nil {
				return e, err
			}
		case ch.New == nil && ch.Old.Kind.Stored():
			sh, ok := c.set.Shard(ch.Old.ID)
			if !ok {
				return e, fmt.Errorf("drop %s: its shard is not open", ch.Old.Name)
			}
			e.ops = append(e.ops, shard.Seal{Shard: sh})
		}
	}
	return e, nil
}

func (c *Coord) prepareNew(ctx context.Context, e *effects, next *catalog.Snapshot, it *catalog.Item) error {
	switch it.Kind {
	case catalog.Table:
		e.ops = append(e.ops, shard.Create{ID: shard.ID(it.Shard), Name: next.FullName(it), Schema: schemaOf(it)})
	case catalog.MaterializedView, catalog.Index:
		f, err := planItem(next, it)
		if err != nil {
			return err
		}
		for _, id := range f.plan.Imports() {
			if _, ok := c.set.Shard(id); !ok {
				return pgerr.Unsupported("a materialized view or index over system relations")
			}
		}
		e.flows[it.ID] = f
		if it.Kind == catalog.Index {
			return nil
		}
		hold, err := c.set.Hold("creation of "+next.FullName(it), f.plan.Imports()...)
		if err != nil {
			return err
		}
		e.holds = append(e.holds, hold)
		asOf, err := c.oracle.ReadTime(ctx)
		if err != nil {
			return err
		}
		at := max(tvc.Frontier(asOf), hold.Since())
		e.ops = append(e.ops, shard.Create{ID: shard.ID(it.Shard), Name: next.FullName(it), Schema: schemaOf(it), Since: at, Upper: at})
	}
	return nil
}

// effect makes what is running follow the committed difference (promise P4).
func (c *Coord) effect(ctx context.Context, next *catalog.Snapshot, changes *catalog.Changes, e *effects) error {
	for _, s := range changes.Settings {
		c.applySetting(s)
	}
	c.dropItems(changes)
	c.catalog.Store(next)
	for _, ch := range changes.Clusters {
		if ch.New != nil {
			c.setCluster(ch.New)
		} else {
			c.control.SetCluster(ch.Old.ID)
		}
	}
	for _, ch := range changes.Items {
		it := ch.New
		switch {
		case it == nil:
		case ch.Old != nil:
			if it.Kind.Stored() {
				c.set.Rename(it.ID, next.FullName(it))
			}
		default:
			if err := c.openItem(ctx, next, it, e.flows[it.ID]); err != nil {
				return err
			}
			if err := c.startItem(ctx, it, e.flows[it.ID]); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropItems stops and forgets what is gone, dependents first: an item depends only on older ones.
func (c *Coord) dropItems(changes *catalog.Changes) {
	var gone []*catalog.Item
	for _, ch := range changes.Items {
		if ch.New == nil {
			gone = append(gone, ch.Old)
		}
	}
	slices.SortFunc(gone, func(a, b *catalog.Item) int { return b.ID.Compare(a.ID) })
	for _, it := range gone {
		c.control.Drop(it.ID)
		if it.Kind.Stored() {
			c.set.Forget(it.ID)
			c.commit.forget(it.ID)
		}
	}
}

func (c *Coord) applySetting(s catalog.SettingChange) {
	err := error(nil)
	if s.New == nil {
		err = c.o.Settings.Reset(s.Name)
	} else {
		err = c.o.Settings.Set(s.Name, *s.New)
	}
	if err != nil {
		c.o.Log.Warn("a setting is not taken", "setting", s.Name, "error", err)
	}
}
