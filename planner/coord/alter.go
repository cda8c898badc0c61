package coord

import (
	"context"
	"errors"
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
	if err := c.lockDDL(ctx); err != nil {
		return nil, err
	}
	defer c.unlockDDL()
	if c.Catalog() != base {
		return nil, nil
	}
	next, changes, err := base.Apply(c.withForgotten(base, ops))
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
	if err := c.writeCatalog(ctx, changes, e.ops); err != nil {
		return nil, err
	}
	if err := c.effect(context.WithoutCancel(ctx), next, changes, e); err != nil {
		// It is durable; what could not be started here will be by the next boot.
		return nil, fmt.Errorf("the change is made, but not all of it has taken effect: %w", err)
	}
	return changes, nil
}

// withForgotten adds to a change that shards dropped earlier are no longer to be cleaned up, if that is so.
func (c *Coord) withForgotten(base *catalog.Snapshot, ops []catalog.Op) []catalog.Op {
	ops = slices.Clone(ops)
	for id := range base.Garbage() {
		if c.set.IsClean(shard.ID(id)) {
			ops = append(ops, &catalog.ForgetShard{Shard: id})
		}
	}
	return ops
}

// effects is what a change of the catalog asks for.
type effects struct {
	flows map[tvc.ID]*itemFlow
	// ops make and seal shards in the unit of the change itself.
	ops []shard.Op
	// holds keep the inputs of new views and indexes readable until they do so themselves.
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
				// Something went wrong when it was made.
				var err error
				if sh, err = c.set.Client().Open(ctx, shard.ID(ch.Old.Shard), shard.OpenOptions{}); err != nil {
					return e, fmt.Errorf("drop %s: %w", ch.Old.Name, err)
				}
			}
			e.ops = append(e.ops, shard.Seal{Shard: sh})
		}
	}
	return e, nil
}

func (c *Coord) prepareNew(ctx context.Context, e *effects, next *catalog.Snapshot, it *catalog.Item) error {
	switch it.Kind {
	case catalog.Table:
		e.flows[it.ID] = &itemFlow{}
		e.ops = append(e.ops, shard.Create{ID: shard.ID(it.Shard), Name: next.FullName(it), Schema: schemaOf(it)})
	case catalog.MaterializedView, catalog.Index:
		f, err := planItem(next, it)
		if err != nil {
			return err
		}
		// What the same change makes needs no hold: nobody else can move it on.
		var held []tvc.ID
		for _, id := range f.inputs {
			switch _, open := c.set.Shard(id); {
			case open:
				held = append(held, id)
			case e.flows[id] == nil:
				return pgerr.Unsupported("a materialized view or index over system relations")
			}
		}
		e.flows[it.ID] = f
		at, err := c.beginning(ctx, e, next.FullName(it), held)
		if err != nil || it.Kind == catalog.Index {
			return err
		}
		e.ops = append(e.ops, shard.Create{ID: shard.ID(it.Shard), Name: next.FullName(it), Schema: schemaOf(it), Since: at, Upper: at})
	}
	return nil
}

// beginning gives the time from which on something new is kept up to date: closed, and held.
func (c *Coord) beginning(ctx context.Context, e *effects, name string, inputs []tvc.ID) (tvc.Frontier, error) {
	hold, err := c.set.Hold("creation of "+name, inputs...)
	if err != nil {
		return 0, err
	}
	e.holds = append(e.holds, hold)
	at, err := c.closedFrom(ctx, hold.Since())
	return tvc.Frontier(at), err
}

// effect makes what is running follow the committed difference (promise P4). What is new is there before anybody can
// see it, and what is gone goes when nobody can any more. What cannot be started is broken, and keeps nothing else
// from going on.
func (c *Coord) effect(ctx context.Context, next *catalog.Snapshot, changes *catalog.Changes, e *effects) error {
	c.coming.Store(next)
	for _, s := range changes.Settings {
		c.applySetting(s)
	}
	for _, ch := range changes.Clusters {
		if ch.New != nil {
			c.setCluster(ch.New)
		}
	}
	var failed []error
	for _, ch := range changes.Items {
		if ch.Old != nil || !hasFlow(ch.New) {
			continue
		}
		if err := c.bringUp(ctx, next, ch.New, e.flows[ch.New.ID]); err != nil {
			failed = append(failed, err)
		}
	}
	before := c.catalog.Swap(next)
	c.dropItems(changes)
	for _, ch := range changes.Clusters {
		if ch.New == nil {
			c.control.SetCluster(ch.Old.ID)
		}
	}
	c.rename(before, next, changes)
	for _, ch := range changes.Items {
		if ch.Old != nil && ch.New != nil && ch.Old.Retain != ch.New.Retain {
			c.set.Retain(ch.New.ID, ch.New.Retain)
		}
	}
	return errors.Join(failed...)
}

// rename tells below what full names have changed. Only a schema's or a database's new name is those of items that the
// change does not have.
func (c *Coord) rename(before, next *catalog.Snapshot, changes *catalog.Changes) {
	if renamed(changes.Schemas) || renamed(changes.Databases) {
		for it := range next.Items() {
			c.renameItem(before, next, it)
		}
		return
	}
	for _, ch := range changes.Items {
		if ch.New != nil {
			c.renameItem(before, next, ch.New)
		}
	}
}

// renamed says whether an object is there before and after a change, and differs.
func renamed[T any](changes []catalog.Change[T]) bool {
	return slices.ContainsFunc(changes, func(ch catalog.Change[T]) bool { return ch.Old != nil && ch.New != nil })
}

func (c *Coord) renameItem(before, next *catalog.Snapshot, it *catalog.Item) {
	old := before.Item(it.ID)
	if old == nil || !hasFlow(it) {
		return
	}
	name := next.FullName(it)
	if name == before.FullName(old) {
		return
	}
	if it.Kind.Stored() {
		c.set.Rename(it.ID, name)
	}
	c.control.Rename(it.ID, name)
}

// hasFlow says whether an item is something that runs or is stored.
func hasFlow(it *catalog.Item) bool {
	return it.Kind == catalog.Table || it.Kind == catalog.MaterializedView || it.Kind == catalog.Index
}

// bringUp opens and starts an item.
func (c *Coord) bringUp(ctx context.Context, snap *catalog.Snapshot, it *catalog.Item, f *itemFlow) error {
	err := c.openItem(ctx, snap, it, f)
	if err == nil {
		err = c.startItem(ctx, it, f)
	}
	if err != nil {
		err = fmt.Errorf("start %s: %w", snap.FullName(it), err)
		c.o.Log.Error("what was made could not be started; the next boot will", "error", err)
		sh, _ := c.set.Shard(it.ID)
		c.control.Broken(it.ID, sh, err)
	}
	return err
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
