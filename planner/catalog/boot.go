package catalog

import (
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/storage/tvc"
)

// System is what the system brings along: the same at every start of one version of the program.
type System struct{ Items []*Item }

// The system's schemas and roles, with ids and OIDs that are the same everywhere. PostgreSQL's own OIDs
// are used where it has the object.
var (
	SchemaPgCatalog         = tvc.ID{Class: 's', N: 1}
	SchemaInformationSchema = tvc.ID{Class: 's', N: 2}
	SchemaMzCatalog         = tvc.ID{Class: 's', N: 3}
	SchemaMzInternal        = tvc.ID{Class: 's', N: 4}
	SchemaMzUnsafe          = tvc.ID{Class: 's', N: 5}

	RoleSystem = tvc.ID{Class: 's', N: 16}
)

// FirstSystemItem is the least number of a system item's id.
const FirstSystemItem = 1000

// addTo puts the system's objects into a snapshot that nobody else has yet.
func (sys System) addTo(s *Snapshot) {
	s.putRole(nil, &Role{ID: RoleSystem, OID: 10, Name: "mz_system", Super: true})
	for _, c := range []Schema{
		{ID: SchemaPgCatalog, OID: 11, Name: "pg_catalog"},
		{ID: SchemaInformationSchema, OID: 12, Name: "information_schema"},
		{ID: SchemaMzCatalog, OID: 16500, Name: "mz_catalog"},
		{ID: SchemaMzInternal, OID: 16501, Name: "mz_internal"},
		{ID: SchemaMzUnsafe, OID: 16502, Name: "mz_unsafe"},
	} {
		c.Owner = RoleSystem
		s.putSchema(nil, &c)
	}
	for _, it := range sys.Items {
		s.putItem(nil, it)
	}
}

// The names of what a new environment has.
const (
	DefaultDatabase = "materialize"
	DefaultRole     = "materialize"
	DefaultCluster  = "quickstart"
)

// New makes the catalog of a new environment: the system's objects; the role and the database
// "materialize", with its schema; and the cluster "quickstart" with one replica of the given number of
// workers. The changes are from nothing: their Rows are all the durable rows there are.
func New(system System, workers int) (*Snapshot, *Changes) {
	before := empty()
	system.addTo(before)
	s := *before
	role := &Role{ID: s.newID(), OID: s.newOID(), Name: DefaultRole, Super: true}
	s.putRole(nil, role)
	for _, op := range []Op{
		&CreateDatabase{Name: DefaultDatabase, Owner: role.ID},
		&CreateCluster{Name: DefaultCluster, Owner: role.ID, Size: Size{1, workers}, Replicas: 1},
	} {
		if _, err := s.apply(op); err != nil {
			invariants.Failf("catalog: a new environment: %v", err)
		}
	}
	return &s, Diff(before, &s)
}
