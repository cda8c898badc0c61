package catalog

import (
	"time"

	"github.com/tributary-db/tributary/storage/tvc"
)

// Op is one change of the catalog. The set of its members is closed: CreateDatabase, CreateSchema,
// CreateItem, CreateCluster, Drop, Rename, AlterCluster, Retain, Comment, SetSystem, ResetSystem, ForgetShard.
type Op interface{ op() }

// CreateDatabase makes a database with a schema called public.
type CreateDatabase struct {
	Name  string
	Owner tvc.ID
}

// CreateSchema makes a schema.
type CreateSchema struct {
	Database tvc.ID
	Name     string
	Owner    tvc.ID
}

// CreateItem makes an item. Apply gives it its ID (Snapshot.NextID foretells it), OID, Shard and Version;
// everything else is as given, and not to be written to any more.
type CreateItem struct{ Item Item }

// CreateCluster makes a cluster with the given number of replicas.
type CreateCluster struct {
	Name     string
	Owner    tvc.ID
	Size     Size
	Replicas int
}

// Drop removes databases, schemas, items and clusters. Without Cascade it is refused if others, not
// themselves listed, need them; an index goes with what it is on in any case.
type Drop struct {
	IDs     []tvc.ID
	Cascade bool
	// Path says how the session calls what is named in an error.
	Path Path
}

// Rename gives a database, schema, item or cluster a new name.
type Rename struct {
	ID   tvc.ID
	Name string
}

// AlterCluster changes a cluster's size and its number of replicas.
type AlterCluster struct {
	ID       tvc.ID
	Size     Size
	Replicas int
}

// Retain says how much of a table's or materialized view's history stays readable; For 0 leaves it to the system.
type Retain struct {
	ID  tvc.ID
	For time.Duration
}

// Comment sets the comment on a database, schema, item, cluster or role, or on a column of an item; ""
// removes it.
type Comment struct {
	ID tvc.ID
	// Column is the position from 0; -1 for the object itself.
	Column int
	Text   string
}

// SetSystem gives a setting a system-wide value. Whether there is such a setting and whether the value is
// good is the caller's to check.
type SetSystem struct{ Name, Value string }

// ResetSystem takes a system-wide value away; with Name "" all of them.
type ResetSystem struct{ Name string }

// ForgetShard says that a dropped item's shard has been cleaned up.
type ForgetShard struct{ Shard string }

func (*CreateDatabase) op() {}
func (*CreateSchema) op()   {}
func (*CreateItem) op()     {}
func (*CreateCluster) op()  {}
func (*Drop) op()           {}
func (*Rename) op()         {}
func (*AlterCluster) op()   {}
func (*Retain) op()         {}
func (*Comment) op()        {}
func (*SetSystem) op()      {}
func (*ResetSystem) op()    {}
func (*ForgetShard) op()    {}
