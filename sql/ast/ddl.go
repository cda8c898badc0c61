package ast

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	Pos
	IfNotExists bool
	Name        string
}

// CreateSchema is CREATE SCHEMA.
type CreateSchema struct {
	Pos
	IfNotExists bool
	Name        Name
}

// ConstraintKind tells constraints apart.
type ConstraintKind uint8

// The constraints.
const (
	NotNull ConstraintKind = iota
	Nullable
	DefaultValue // Expr is the value
	PrimaryKey   // Columns, unless it stands behind a column
	Unique
	Check // Expr is the condition
)

// Constraint is a constraint of a column or of a table.
type Constraint struct {
	Pos
	Name    string
	Kind    ConstraintKind
	Expr    Expr
	Columns []Ident
}

// ColumnDef is a column with its type.
type ColumnDef struct {
	Pos
	Name        string
	Type        *TypeName
	Collation   Name
	Constraints []Constraint
}

// CreateTable is CREATE TABLE.
type CreateTable struct {
	Pos
	Temporary   bool
	IfNotExists bool
	Name        Name
	Columns     []ColumnDef
	Constraints []Constraint
	Options     []Option // WITH (…)
}

// CreateView is CREATE VIEW.
type CreateView struct {
	Pos
	OrReplace   bool
	Temporary   bool
	IfNotExists bool
	Name        Name
	Columns     []Ident
	Query       *Query
}

// RefreshKind says when a materialized view changes.
type RefreshKind uint8

// The kinds of REFRESH.
const (
	RefreshOnCommit RefreshKind = iota
	RefreshAtCreation
	RefreshAt
	RefreshEvery
)

// Refresh is REFRESH among the options of a materialized view.
type Refresh struct {
	Pos
	Kind RefreshKind
	// At is the time of RefreshAt, the interval of RefreshEvery.
	At Expr
	// AlignedTo is RefreshEvery's ALIGNED TO; nil without it.
	AlignedTo Expr
}

// CreateMaterializedView is CREATE MATERIALIZED VIEW, and CREATE REPLACEMENT MATERIALIZED VIEW … FOR.
type CreateMaterializedView struct {
	Pos
	OrReplace   bool
	IfNotExists bool
	Name        Name
	Replaces    Name // CREATE REPLACEMENT … FOR
	Columns     []Ident
	Cluster     string // IN CLUSTER; empty: not said
	Replica     string
	// Options are WITH (…) but for REFRESH: ASSERT NOT NULL, RETAIN HISTORY, PARTITION BY.
	Options []Option
	Refresh []Refresh
	Query   *Query
}

// CreateIndex is CREATE INDEX and CREATE DEFAULT INDEX.
type CreateIndex struct {
	Pos
	Default     bool // the key is left to us; Keys is empty
	Unique      bool
	IfNotExists bool
	Name        Ident // empty: to be made up
	Cluster     string
	On          Name
	Using       string
	Keys        []OrderItem
	Options     []Option
}

// CreateType is CREATE TYPE. As is ListType or MapType with Options, or NamedType for a record with Fields.
type CreateType struct {
	Pos
	Name    Name
	As      TypeKind
	Options []TypeOption
	Fields  []ColumnDef
}

// TypeOption is ELEMENT TYPE = t, KEY TYPE = t or VALUE TYPE = t.
type TypeOption struct {
	Pos
	Name string
	Type *TypeName
}

// CreateCluster is CREATE CLUSTER. Replicas is nil unless REPLICAS was written.
type CreateCluster struct {
	Pos
	Name     string
	Options  []Option
	Replicas []ReplicaDef
}

// ReplicaDef is one of REPLICAS (name (options), …).
type ReplicaDef struct {
	Pos
	Name    string
	Options []Option
}

// CreateClusterReplica is CREATE CLUSTER REPLICA cluster.replica.
type CreateClusterReplica struct {
	Pos
	Cluster string
	Name    string
	Options []Option
}

// CreateSource is CREATE SOURCE … FROM LOAD GENERATOR.
type CreateSource struct {
	Pos
	IfNotExists bool
	Name        Name
	Cluster     string
	Generator   string // AUCTION, TPCH, …
	GenOptions  []Option
	AllTables   bool
	Tables      []SourceTable
	Options     []Option
}

// SourceTable is one of FOR TABLES (reference [AS name], …).
type SourceTable struct {
	Reference, Name Name
}

// CreateRole is CREATE ROLE. Attributes are options such as LOGIN, NOLOGIN and PASSWORD.
type CreateRole struct {
	Pos
	Name       string
	Attributes []Option
}

// Drop is DROP of one or more objects of a kind.
type Drop struct {
	Pos
	Kind     ObjectKind
	IfExists bool
	Names    []Name
	Cascade  bool
	Restrict bool
}

// DropOwned is DROP OWNED BY.
type DropOwned struct {
	Pos
	Roles    []Role
	Cascade  bool
	Restrict bool
}

// ReassignOwned is REASSIGN OWNED BY … TO.
type ReassignOwned struct {
	Pos
	Roles []Role
	To    Role
}

// Rename is ALTER … RENAME TO; Column is set for RENAME COLUMN.
type Rename struct {
	Pos
	Kind     ObjectKind
	IfExists bool
	Name     Name
	Column   string
	To       Ident
}

// Swap is ALTER SCHEMA or CLUSTER … SWAP WITH.
type Swap struct {
	Pos
	Kind ObjectKind
	Name Name
	With Ident
}

// AlterOwner is ALTER … OWNER TO.
type AlterOwner struct {
	Pos
	Kind     ObjectKind
	IfExists bool
	Name     Name
	Owner    Role
}

// AlterOptions is ALTER … SET (…) or RESET (…), with what may stand behind it in WITH (…).
type AlterOptions struct {
	Pos
	Kind     ObjectKind
	IfExists bool
	Name     Name
	Set      []Option
	Reset    []Ident
	With     []Option
}

// AlterCluster is ALTER … SET CLUSTER c: moves an object.
type AlterCluster struct {
	Pos
	Kind     ObjectKind
	IfExists bool
	Name     Name
	Cluster  string
}

// AddColumn is ALTER TABLE … ADD COLUMN.
type AddColumn struct {
	Pos
	IfExists    bool
	Table       Name
	IfNotExists bool
	Column      ColumnDef
}

// ApplyReplacement is ALTER MATERIALIZED VIEW … APPLY REPLACEMENT.
type ApplyReplacement struct {
	Pos
	IfExists    bool
	Name        Name
	Replacement Name
}

// AlterRole is ALTER ROLE: attributes, or else a setting of the role (Set), or one taken away (Reset).
type AlterRole struct {
	Pos
	Name       Role
	Attributes []Option
	Set        *SetVar
	Reset      *ResetVar
}

// AlterSystem is ALTER SYSTEM SET, RESET and RESET ALL. RESET has Reset set; an empty Name is ALL.
type AlterSystem struct {
	Pos
	Reset  bool
	Name   string
	Values []Expr // empty with SET: DEFAULT
}

// Comment is COMMENT ON; a nil Text is NULL. The name of a column ends in the column.
type Comment struct {
	Pos
	Kind ObjectKind
	Name Name
	Text *string
}

// Grant is GRANT and REVOKE of privileges. No Privileges is ALL.
type Grant struct {
	Pos
	Revoke      bool
	Privileges  []string
	Kind        ObjectKind
	All         bool // ON ALL kinds, in InSchemas or InDatabases if given
	Names       []Name
	InSchemas   []Name
	InDatabases []Name
	Roles       []Role
}

// GrantRole is GRANT role TO role and REVOKE role FROM role.
type GrantRole struct {
	Pos
	Revoke  bool
	Granted []Role
	Roles   []Role
}

// AlterDefaultPrivileges is ALTER DEFAULT PRIVILEGES.
type AlterDefaultPrivileges struct {
	Pos
	ForAll      bool // FOR ALL ROLES
	For         []Role
	InSchemas   []Name
	InDatabases []Name
	Revoke      bool
	Privileges  []string
	Kind        ObjectKind
	Roles       []Role
}

func (*CreateDatabase) statement()         {}
func (*CreateSchema) statement()           {}
func (*CreateTable) statement()            {}
func (*CreateView) statement()             {}
func (*CreateMaterializedView) statement() {}
func (*CreateIndex) statement()            {}
func (*CreateType) statement()             {}
func (*CreateCluster) statement()          {}
func (*CreateClusterReplica) statement()   {}
func (*CreateSource) statement()           {}
func (*CreateRole) statement()             {}
func (*Drop) statement()                   {}
func (*DropOwned) statement()              {}
func (*ReassignOwned) statement()          {}
func (*Rename) statement()                 {}
func (*Swap) statement()                   {}
func (*AlterOwner) statement()             {}
func (*AlterOptions) statement()           {}
func (*AlterCluster) statement()           {}
func (*AddColumn) statement()              {}
func (*ApplyReplacement) statement()       {}
func (*AlterRole) statement()              {}
func (*AlterSystem) statement()            {}
func (*Comment) statement()                {}
func (*Grant) statement()                  {}
func (*GrantRole) statement()              {}
func (*AlterDefaultPrivileges) statement() {}
