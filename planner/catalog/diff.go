package catalog

import "github.com/tributary-db/tributary/storage/tvc"

// Changes is what differs between two snapshots, each list in order of ids or names. What must be done
// about a change (shards made and sealed, dataflows started and stopped) follows from it alone, never
// from the statement.
type Changes struct {
	Databases []Change[Database]
	Schemas   []Change[Schema]
	Items     []Change[Item]
	Clusters  []Change[Cluster]
	Roles     []Change[Role]
	Settings  []SettingChange
	// Garbage has the shards that became garbage, Forgotten those that no longer are.
	Garbage, Forgotten []string
	// Cascaded says what a DROP … CASCADE took along, one line each, for a NOTICE. It is not part of the
	// difference.
	Cascaded []string

	from, to *Snapshot
}

// Change is one object before and after: Old is nil if it is new, New is nil if it is gone.
type Change[T any] struct{ Old, New *T }

// SettingChange is a system-wide value before and after; nil where it was not, or is no longer, set.
type SettingChange struct {
	Name     string
	Old, New *string
}

// Diff gives what differs between two snapshots of one catalog.
func Diff(from, to *Snapshot) *Changes {
	c := &Changes{from: from, to: to}
	c.Databases = objectChanges(from.databases, to.databases)
	c.Schemas = objectChanges(from.schemas, to.schemas)
	c.Items = objectChanges(from.items, to.items)
	c.Clusters = objectChanges(from.clusters, to.clusters)
	c.Roles = objectChanges(from.roles, to.roles)
	changes(from.settings, to.settings, func(name, old, new string, hasOld, hasNew bool) {
		change := SettingChange{Name: name}
		if hasOld {
			change.Old = &old
		}
		if hasNew {
			change.New = &new
		}
		c.Settings = append(c.Settings, change)
	})
	changes(from.garbage, to.garbage, func(shard string, _, _ struct{}, _, hasNew bool) {
		if hasNew {
			c.Garbage = append(c.Garbage, shard)
		} else {
			c.Forgotten = append(c.Forgotten, shard)
		}
	})
	return c
}

func objectChanges[T any](from, to tree[tvc.ID, *T]) []Change[T] {
	var list []Change[T]
	changes(from, to, func(_ tvc.ID, old, new *T, _, _ bool) { list = append(list, Change[T]{old, new}) })
	return list
}

// IsEmpty says whether nothing differs.
func (c *Changes) IsEmpty() bool {
	return len(c.Databases)+len(c.Schemas)+len(c.Items)+len(c.Clusters)+len(c.Roles)+
		len(c.Settings)+len(c.Garbage)+len(c.Forgotten) == 0
}
