// Package ddl binds what changes the catalog: CREATE, ALTER, DROP, COMMENT and ALTER SYSTEM become operations on a snapshot,
// and notices.
//
// Promises:
//
//	D1  binding changes nothing: the same statement bound against the same snapshot gives the same operations.
//	D2  errors and notices have PostgreSQL's words and codes wherever PostgreSQL has the situation.
//	D3  what it does not have it refuses by name.
//
// Everything here is a pure function of its arguments; an Env belongs to one goroutine.
package ddl

import (
	"fmt"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Env is what a statement is bound in.
type Env struct {
	Catalog *catalog.Snapshot
	// Path is where names are looked up.
	Path catalog.Path
	// Owner is the role that owns what is made.
	Owner tvc.ID
	// Cluster is the name of the session's cluster, where what says no other is maintained.
	Cluster string
	// Settings are those that ALTER SYSTEM may change.
	Settings *settings.Set
	// Bind makes what queries and expressions within the statement are bound in.
	Bind func() *bind.Env
}

// Bound is what a statement comes to: operations to be applied to the snapshot, and what there is to say once they
// have been.
type Bound struct {
	Ops     []catalog.Op
	Notices []*pgerr.Error
}

// binding is one statement while it is bound.
type binding struct {
	*Env
	Bound
}

func (b *binding) notice(e *pgerr.Error) { b.Notices = append(b.Notices, e) }

// Bind binds a statement.
func Bind(env *Env, st ast.Statement) (*Bound, error) {
	b := &binding{Env: env}
	if err := b.bind(st); err != nil {
		return nil, err
	}
	return &b.Bound, nil
}

func (b *binding) bind(st ast.Statement) error {
	switch st := st.(type) {
	case *ast.CreateDatabase:
		return b.createDatabase(st)
	case *ast.CreateSchema:
		return b.createSchema(st)
	case *ast.CreateTable:
		return b.createTable(st)
	case *ast.CreateView:
		return b.createView(st)
	case *ast.CreateMaterializedView:
		return b.createMaterializedView(st)
	case *ast.CreateIndex:
		return b.createIndex(st)
	case *ast.CreateCluster:
		return b.createCluster(st)
	case *ast.Drop:
		return b.drop(st)
	case *ast.Rename:
		return b.rename(st)
	case *ast.AlterOptions:
		return b.alterOptions(st)
	case *ast.Comment:
		return b.comment(st)
	case *ast.AlterSystem:
		return b.alterSystem(st)
	}
	if feature := missing(st); feature != "" {
		return pgerr.Unsupported("%s", feature).At(st.Position())
	}
	panic(fmt.Sprintf("ddl: unknown statement %T", st))
}

// missing names a statement that there is not; "" for all others.
func missing(st ast.Statement) string {
	switch st := st.(type) {
	case *ast.CreateType:
		return "CREATE TYPE"
	case *ast.CreateClusterReplica:
		return "CREATE CLUSTER REPLICA"
	case *ast.CreateSource:
		return "CREATE SOURCE"
	case *ast.CreateRole:
		return "CREATE ROLE"
	case *ast.AlterRole:
		return "ALTER ROLE"
	case *ast.DropOwned:
		return "DROP OWNED"
	case *ast.ReassignOwned:
		return "REASSIGN OWNED"
	case *ast.Swap:
		return fmt.Sprintf("ALTER %s … SWAP", st.Kind)
	case *ast.AlterOwner:
		return fmt.Sprintf("ALTER %s … OWNER", st.Kind)
	case *ast.AlterCluster:
		return fmt.Sprintf("ALTER %s … SET CLUSTER", st.Kind)
	case *ast.AddColumn:
		return "ALTER TABLE … ADD COLUMN"
	case *ast.ApplyReplacement:
		return "ALTER MATERIALIZED VIEW … APPLY REPLACEMENT"
	case *ast.Grant:
		return grantOrRevoke(st.Revoke)
	case *ast.GrantRole:
		return grantOrRevoke(st.Revoke)
	case *ast.AlterDefaultPrivileges:
		return "ALTER DEFAULT PRIVILEGES"
	case *ast.ShowPrivileges:
		return "SHOW PRIVILEGES"
	}
	return ""
}

func grantOrRevoke(revoke bool) string {
	if revoke {
		return "REVOKE"
	}
	return "GRANT"
}

// Tag is a statement's command tag.
func Tag(st ast.Statement) string {
	switch st := st.(type) {
	case *ast.CreateDatabase:
		return "CREATE DATABASE"
	case *ast.CreateSchema:
		return "CREATE SCHEMA"
	case *ast.CreateTable:
		return "CREATE TABLE"
	case *ast.CreateView:
		return "CREATE VIEW"
	case *ast.CreateMaterializedView:
		return "CREATE MATERIALIZED VIEW"
	case *ast.CreateIndex:
		return "CREATE INDEX"
	case *ast.CreateCluster:
		return "CREATE CLUSTER"
	case *ast.Drop:
		return "DROP " + st.Kind.String()
	case *ast.Rename:
		return "ALTER " + st.Kind.String()
	case *ast.AlterOptions:
		return "ALTER " + st.Kind.String()
	case *ast.Comment:
		return "COMMENT"
	case *ast.AlterSystem:
		return "ALTER SYSTEM"
	}
	return missing(st)
}
