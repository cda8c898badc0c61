package catalog

// The put functions replace old (nil: nothing) by new (nil: remove it) in every tree of a snapshot that
// nobody else has yet. They are the only places that write to the trees of objects.

func (s *Snapshot) putDatabase(old, new *Database) {
	if old != nil {
		s.databaseNames = s.databaseNames.remove(old.Name)
	}
	if new == nil {
		s.databases = s.databases.remove(old.ID)
		return
	}
	s.databases = s.databases.set(new.ID, new)
	s.databaseNames = s.databaseNames.set(new.Name, new)
}

func (s *Snapshot) putSchema(old, new *Schema) {
	if old != nil {
		s.schemaNames = s.schemaNames.remove(nameKey{old.Database, old.Name})
	}
	if new == nil {
		s.schemas = s.schemas.remove(old.ID)
		return
	}
	s.schemas = s.schemas.set(new.ID, new)
	s.schemaNames = s.schemaNames.set(nameKey{new.Database, new.Name}, new)
}

func (s *Snapshot) putItem(old, new *Item) {
	if old != nil {
		s.itemNames = s.itemNames.remove(nameKey{old.Schema, old.Name})
		for _, e := range edges(old) {
			s.dependents = s.dependents.remove(e)
		}
	}
	if new == nil {
		s.items, s.oids = s.items.remove(old.ID), s.oids.remove(old.OID)
		return
	}
	s.items, s.oids = s.items.set(new.ID, new), s.oids.set(new.OID, new)
	s.itemNames = s.itemNames.set(nameKey{new.Schema, new.Name}, new)
	for _, e := range edges(new) {
		s.dependents = s.dependents.set(e, struct{}{})
	}
}

// edges lists what an item needs.
func edges(it *Item) []edge {
	var list []edge
	for _, id := range it.DependsOn {
		list = append(list, edge{id, it.ID})
	}
	if it.Kind == Index {
		list = append(list, edge{it.On, it.ID})
	}
	if it.Cluster.Class != 0 {
		list = append(list, edge{it.Cluster, it.ID})
	}
	return list
}

func (s *Snapshot) putCluster(old, new *Cluster) {
	if old != nil {
		s.clusterNames = s.clusterNames.remove(old.Name)
	}
	if new == nil {
		s.clusters = s.clusters.remove(old.ID)
		return
	}
	s.clusters = s.clusters.set(new.ID, new)
	s.clusterNames = s.clusterNames.set(new.Name, new)
}

func (s *Snapshot) putRole(old, new *Role) {
	if old != nil {
		s.roleNames = s.roleNames.remove(old.Name)
	}
	if new == nil {
		s.roles = s.roles.remove(old.ID)
		return
	}
	s.roles = s.roles.set(new.ID, new)
	s.roleNames = s.roleNames.set(new.Name, new)
}
