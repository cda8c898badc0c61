package catalog

import (
	"slices"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Path is where a session looks names up.
type Path struct {
	// Database is the name of the current database.
	Database string
	// Search has the names of schemas; new objects go into the first that exists.
	Search []string
}

// Implicit lists the schemas that are searched before those of a path, unless the path names them itself.
func Implicit() []string { return []string{"mz_catalog", "pg_catalog"} }

// Name is an object's name as a client wrote it. Database and Schema are "" where he did not say.
type Name struct{ Database, Schema, Item string }

// String is the name as PostgreSQL shows it in messages: the parts with dots, not quoted.
func (n Name) String() string {
	switch {
	case n.Database != "":
		return n.Database + "." + n.Schema + "." + n.Item
	case n.Schema != "":
		return n.Schema + "." + n.Item
	}
	return n.Item
}

// SearchPath lists the schemas in which an unqualified name is looked up, in order: the implicit ones,
// then those of the path that exist. With implicit false the implicit ones are left out unless named.
func (s *Snapshot) SearchPath(p Path, implicit bool) []*Schema {
	var names []string
	if implicit {
		for _, name := range Implicit() {
			if !slices.Contains(p.Search, name) {
				names = append(names, name)
			}
		}
	}
	var schemas []*Schema
	in := s.databaseID(p.Database)
	for _, name := range append(names, p.Search...) {
		if c := s.SchemaNamed(in, name); c != nil && !slices.Contains(schemas, c) {
			schemas = append(schemas, c)
		}
	}
	return schemas
}

// noDatabase is the id of no database: looking in it finds the system's schemas alone.
var noDatabase = tvc.ID{}

func (s *Snapshot) databaseID(name string) tvc.ID {
	if d := s.DatabaseNamed(name); d != nil {
		return d.ID
	}
	return noDatabase
}

// Resolve finds the item that a name means; nil if there is none. It is a relation or an index.
func (s *Snapshot) Resolve(p Path, n Name) *Item {
	if n.Schema == "" {
		for _, c := range s.SearchPath(p, true) {
			if it := s.ItemNamed(c.ID, n.Item); it != nil {
				return it
			}
		}
		return nil
	}
	if c := s.resolveSchema(p, n.Database, n.Schema); c != nil {
		return s.ItemNamed(c.ID, n.Item)
	}
	return nil
}

// Relation finds what can stand in FROM: a table, a view or a materialized view.
func (s *Snapshot) Relation(p Path, n Name) (*Item, error) {
	it := s.Resolve(p, n)
	if it == nil {
		return nil, pgerr.Newf(pgerr.UndefinedTable, "relation %q does not exist", n.String())
	}
	if it.Kind == Index {
		return nil, pgerr.Newf(pgerr.WrongObjectType, "%q is an index", n.Item)
	}
	return it, nil
}

func (s *Snapshot) resolveSchema(p Path, database, schema string) *Schema {
	if database == "" {
		return s.SchemaNamed(s.databaseID(p.Database), schema)
	}
	if d := s.DatabaseNamed(database); d != nil {
		return s.SchemaNamed(d.ID, schema)
	}
	return nil
}

// ResolveSchema finds the schema that a name means; Item is not looked at. Without a schema in the name
// it is the one where new objects go.
func (s *Snapshot) ResolveSchema(p Path, n Name) (*Schema, error) {
	if n.Database != "" && s.DatabaseNamed(n.Database) == nil {
		return nil, pgerr.Newf(pgerr.InvalidCatalogName, "database %q does not exist", n.Database)
	}
	if n.Schema != "" {
		if c := s.resolveSchema(p, n.Database, n.Schema); c != nil {
			return c, nil
		}
		return nil, pgerr.Newf(pgerr.InvalidSchemaName, "schema %q does not exist", n.Schema)
	}
	if schemas := s.SearchPath(p, false); len(schemas) > 0 {
		return schemas[0], nil
	}
	return nil, pgerr.New(pgerr.InvalidSchemaName, "no schema has been selected to create in")
}

// ResolveDatabase finds a database by name.
func (s *Snapshot) ResolveDatabase(name string) (*Database, error) {
	if d := s.DatabaseNamed(name); d != nil {
		return d, nil
	}
	return nil, pgerr.Newf(pgerr.InvalidCatalogName, "database %q does not exist", name)
}

// ResolveCluster finds a cluster by name.
func (s *Snapshot) ResolveCluster(name string) (*Cluster, error) {
	if c := s.ClusterNamed(name); c != nil {
		return c, nil
	}
	return nil, pgerr.Newf(pgerr.UndefinedObject, "unknown cluster %q", name)
}

// Visible says whether an unqualified name would find the item.
func (s *Snapshot) Visible(p Path, it *Item) bool { return s.Resolve(p, Name{Item: it.Name}) == it }

// ShownName is an item's name as messages and regclass show it: qualified only where it must be.
func (s *Snapshot) ShownName(p Path, it *Item) string {
	if s.Visible(p, it) {
		return ast.QuoteIdent(it.Name)
	}
	c := s.Schema(it.Schema)
	name := ast.QuoteIdent(c.Name) + "." + ast.QuoteIdent(it.Name)
	if d := s.Database(c.Database); d != nil && d.Name != p.Database {
		return ast.QuoteIdent(d.Name) + "." + name
	}
	return name
}
