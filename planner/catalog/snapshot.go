package catalog

import (
	"cmp"
	"iter"
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/storage/tvc"
)

// FirstUserOID is where the OIDs of users' objects start; below are PostgreSQL's own and the system's.
const FirstUserOID = 20000

// Snapshot is all that exists at one moment. The zero Snapshot is not valid: see New and Load.
type Snapshot struct {
	databases tree[tvc.ID, *Database]
	schemas   tree[tvc.ID, *Schema]
	items     tree[tvc.ID, *Item]
	clusters  tree[tvc.ID, *Cluster]
	roles     tree[tvc.ID, *Role]
	settings  tree[string, string]
	// garbage has the shards that are sealed but not yet cleaned up.
	garbage tree[string, struct{}]

	// The rest is derived: it is the same for the same objects.
	databaseNames tree[string, *Database]
	schemaNames   tree[nameKey, *Schema]
	itemNames     tree[nameKey, *Item]
	clusterNames  tree[string, *Cluster]
	roleNames     tree[string, *Role]
	oids          tree[uint32, *Item]
	// dependents has an edge for each entry of DependsOn, On and Cluster, from what is needed to who
	// needs it.
	dependents tree[edge, struct{}]

	next counters
}

// counters are the numbers to be given next.
type counters struct {
	ID  uint64 // of users' objects
	OID uint32
}

// nameKey is a name within a database or a schema.
type nameKey struct {
	in   tvc.ID
	name string
}

func compareNames(a, b nameKey) int {
	if c := a.in.Compare(b.in); c != 0 {
		return c
	}
	return strings.Compare(a.name, b.name)
}

type edge struct{ on, by tvc.ID }

func compareEdges(a, b edge) int {
	if c := a.on.Compare(b.on); c != 0 {
		return c
	}
	return a.by.Compare(b.by)
}

func empty() *Snapshot {
	return &Snapshot{
		databases:     newTree[tvc.ID, *Database](tvc.ID.Compare),
		schemas:       newTree[tvc.ID, *Schema](tvc.ID.Compare),
		items:         newTree[tvc.ID, *Item](tvc.ID.Compare),
		clusters:      newTree[tvc.ID, *Cluster](tvc.ID.Compare),
		roles:         newTree[tvc.ID, *Role](tvc.ID.Compare),
		settings:      newTree[string, string](strings.Compare),
		garbage:       newTree[string, struct{}](strings.Compare),
		databaseNames: newTree[string, *Database](strings.Compare),
		schemaNames:   newTree[nameKey, *Schema](compareNames),
		itemNames:     newTree[nameKey, *Item](compareNames),
		clusterNames:  newTree[string, *Cluster](strings.Compare),
		roleNames:     newTree[string, *Role](strings.Compare),
		oids:          newTree[uint32, *Item](cmp.Compare[uint32]),
		dependents:    newTree[edge, struct{}](compareEdges),
		next:          counters{ID: 1, OID: FirstUserOID},
	}
}

// Database gives the database with the id, nil if there is none.
func (s *Snapshot) Database(id tvc.ID) *Database { d, _ := s.databases.get(id); return d }

// Schema gives the schema with the id, nil if there is none.
func (s *Snapshot) Schema(id tvc.ID) *Schema { c, _ := s.schemas.get(id); return c }

// Item gives the item with the id, nil if there is none.
func (s *Snapshot) Item(id tvc.ID) *Item { it, _ := s.items.get(id); return it }

// ItemByOID gives the item with the OID, nil if there is none.
func (s *Snapshot) ItemByOID(oid uint32) *Item { it, _ := s.oids.get(oid); return it }

// Cluster gives the cluster with the id, nil if there is none.
func (s *Snapshot) Cluster(id tvc.ID) *Cluster { c, _ := s.clusters.get(id); return c }

// Role gives the role with the id, nil if there is none.
func (s *Snapshot) Role(id tvc.ID) *Role { r, _ := s.roles.get(id); return r }

// DatabaseNamed gives the database of that name, nil if there is none.
func (s *Snapshot) DatabaseNamed(name string) *Database { d, _ := s.databaseNames.get(name); return d }

// ClusterNamed gives the cluster of that name, nil if there is none.
func (s *Snapshot) ClusterNamed(name string) *Cluster { c, _ := s.clusterNames.get(name); return c }

// RoleNamed gives the role of that name, nil if there is none.
func (s *Snapshot) RoleNamed(name string) *Role { r, _ := s.roleNames.get(name); return r }

// SchemaNamed gives the schema of that name in a database, or the system's schema of that name; nil if
// there is none.
func (s *Snapshot) SchemaNamed(database tvc.ID, name string) *Schema {
	if c, ok := s.schemaNames.get(nameKey{database, name}); ok {
		return c
	}
	c, _ := s.schemaNames.get(nameKey{tvc.ID{}, name})
	return c
}

// ItemNamed gives the item of that name in a schema, nil if there is none.
func (s *Snapshot) ItemNamed(schema tvc.ID, name string) *Item {
	it, _ := s.itemNames.get(nameKey{schema, name})
	return it
}

// Setting gives the value that ALTER SYSTEM SET gave to a setting.
func (s *Snapshot) Setting(name string) (string, bool) { return s.settings.get(name) }

// Databases goes through all databases by id.
func (s *Snapshot) Databases() iter.Seq[*Database] { return values(s.databases) }

// Schemas goes through all schemas by id, the system's first.
func (s *Snapshot) Schemas() iter.Seq[*Schema] { return values(s.schemas) }

// Items goes through all items by id, the system's first.
func (s *Snapshot) Items() iter.Seq[*Item] { return values(s.items) }

// Clusters goes through all clusters by id.
func (s *Snapshot) Clusters() iter.Seq[*Cluster] { return values(s.clusters) }

// Roles goes through all roles by id.
func (s *Snapshot) Roles() iter.Seq[*Role] { return values(s.roles) }

// Settings goes through the settings that ALTER SYSTEM SET has set, by name.
func (s *Snapshot) Settings() iter.Seq2[string, string] { return s.settings.all }

// Garbage goes through the shards that belonged to dropped items and are still to be cleaned up, by name.
func (s *Snapshot) Garbage() iter.Seq[string] {
	return func(yield func(string) bool) {
		s.garbage.all(func(shard string, _ struct{}) bool { return yield(shard) })
	}
}

// ItemsIn goes through a schema's items by name.
func (s *Snapshot) ItemsIn(schema tvc.ID) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		s.itemNames.from(nameKey{in: schema}, func(k nameKey, it *Item) bool { return k.in == schema && yield(it) })
	}
}

// SchemasIn goes through a database's schemas by name, the system's not among them.
func (s *Snapshot) SchemasIn(database tvc.ID) iter.Seq[*Schema] {
	return func(yield func(*Schema) bool) {
		s.schemaNames.from(nameKey{in: database}, func(k nameKey, c *Schema) bool { return k.in == database && yield(c) })
	}
}

// Dependents goes through the items that need the item or cluster with the id directly, by id: views over
// it, indexes on it, what is maintained in it.
func (s *Snapshot) Dependents(id tvc.ID) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		s.dependents.from(edge{on: id}, func(e edge, _ struct{}) bool { return e.on == id && yield(s.Item(e.by)) })
	}
}

// IndexesOn goes through the indexes on an item, by id.
func (s *Snapshot) IndexesOn(id tvc.ID) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for it := range s.Dependents(id) {
			if it.Kind == Index && !yield(it) {
				return
			}
		}
	}
}

// DatabaseOf gives the database an item is in; nil for the system's.
func (s *Snapshot) DatabaseOf(it *Item) *Database { return s.Database(s.Schema(it.Schema).Database) }

// NextID is the id that the first object made by the next Apply will have: the n-th is NextID(n), n from 0.
func (s *Snapshot) NextID(n int) tvc.ID { return tvc.ID{Class: 'u', N: s.next.ID + uint64(n)} }

// FullName is an item's name with schema and database (system items have none), quoted where needed.
func (s *Snapshot) FullName(it *Item) string {
	schema := s.Schema(it.Schema)
	name := ast.QuoteIdent(schema.Name) + "." + ast.QuoteIdent(it.Name)
	if d := s.Database(schema.Database); d != nil {
		return ast.QuoteIdent(d.Name) + "." + name
	}
	return name
}

// SQL writes a text out with the full names of what it refers to. A reference to what is no longer there
// cannot be: who refers depends.
func (s *Snapshot) SQL(t Text) string {
	return t.Render(func(id tvc.ID) string { return s.FullName(s.Item(id)) })
}

func values[K, V any](t tree[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) { t.all(func(_ K, v V) bool { return yield(v) }) }
}
