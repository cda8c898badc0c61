package builtin

import (
	"strings"
	"time"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Input is what the rows of system relations are made of.
type Input struct {
	Catalog *catalog.Snapshot
	// Database is the name of the session's database: pg_catalog and information_schema show it alone.
	Database string
	// Settings gives all settings a client may see, by name.
	Settings func() []Setting
	// Sessions gives the connections there are, by PID.
	Sessions func() []Session
	// Prepared and Cursors give what the session keeps, by name.
	Prepared func() []Prepared
	Cursors  func() []Cursor
	// Sink gives what was done for a materialized view.
	Sink func(id tvc.ID) SinkStatistics
}

// SinkStatistics is what was done for a materialized view since the process began, or since it was made.
type SinkStatistics struct {
	controller.SinkStatistics
	// Objects were put by appends, also by those that then lost.
	Objects int64
	// AppendBytes were committed to the view's register by its appends, MaintenanceBytes by compactions and rollups.
	AppendBytes, MaintenanceBytes int64
}

// Setting is one setting as pg_settings shows it.
type Setting struct {
	Name, Value, Default, Doc string
	// Kind is bool, integer, real, string or enum.
	Kind string
	// Unit is the unit of a number, or "".
	Unit string
	// System: ALTER SYSTEM sets it, SET does not.
	System bool
}

// Session is one connection.
type Session struct {
	PID                       uint32
	Database, User, App, Addr string
	Started                   time.Time
	// State is active, idle, idle in transaction, or idle in transaction (aborted).
	State string
	// Query is the text of the latest statement, begun at QueryStarted.
	Query        string
	QueryStarted time.Time
}

// Prepared is one prepared statement of the session.
type Prepared struct {
	Name, Statement string
	Params          []types.OID
	FromSQL         bool
	At              time.Time
}

// Cursor is one open cursor of the session.
type Cursor struct {
	Name, Statement string
	At              time.Time
}

// relation is one system relation.
type relation struct {
	item *catalog.Item
	rows func(in *input, out *vec.Block)
}

// input is an Input with what many relations need to know.
type input struct {
	Input
	database *catalog.Database
}

// define makes a relation. The columns are written as: name type, name type!, …; an exclamation mark says that
// there are no NULLs. oid is the relation's OID and, after an s, its id.
func define(schema tvc.ID, oid uint32, name, columns string, rows func(in *input, out *vec.Block)) relation {
	it := &catalog.Item{ID: tvc.ID{Class: 's', N: uint64(oid)}, OID: oid, Schema: schema, Name: name,
		Kind: catalog.SystemTable, Owner: catalog.RoleSystem, Version: 1}
	for c := range strings.SplitSeq(columns, ",") {
		column, typ, _ := strings.Cut(strings.TrimSpace(c), " ")
		typ, notNull := strings.CutSuffix(typ, "!")
		t, ok := types.ByName(typ)
		if !ok {
			invariants.Failf("builtin: %s.%s has unknown type %q", name, column, typ)
		}
		it.Rel.Cols = append(it.Rel.Cols, types.Column{Name: column, Type: t, Nullable: !notNull})
	}
	return relation{it, rows}
}

// noRows makes the rows of a relation about things that we do not have.
func noRows(*input, *vec.Block) {}

// Short names for what rows are made of.

var null = vec.Null

func str(s string) vec.Datum                   { return vec.StrOf(s) }
func boolean(x bool) vec.Datum                 { return vec.BoolOf(x) }
func num[T int | int16 | int64](x T) vec.Datum { return vec.IntOf(int64(x)) }
func seconds(x time.Duration) vec.Datum        { return vec.FloatOf(x.Seconds()) }
func oid(x uint32) vec.Datum                   { return vec.IntOf(int64(x)) }
func id(x tvc.ID) vec.Datum                    { return vec.StrOf(x.String()) }

// char is a value of PostgreSQL's type "char".
func char(c byte) vec.Datum { return vec.IntOf(int64(int8(c))) }

// orNull is s, or NULL if there is nothing in it.
func orNull(s string) vec.Datum {
	if s == "" {
		return null
	}
	return str(s)
}

func idOrNull(x tvc.ID) vec.Datum {
	if x == (tvc.ID{}) {
		return null
	}
	return id(x)
}

// at is a timestamptz; NULL for the zero time.
func at(t time.Time) vec.Datum {
	if t.IsZero() {
		return null
	}
	return vec.IntOf(t.UnixMicro() - postgresEpochMicros)
}

// postgresEpochMicros is 2000-01-01 in microseconds since 1970.
const postgresEpochMicros = 946_684_800_000_000
