package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Kind is what an item is.
type Kind uint8

// The kinds of items.
const (
	Table Kind = iota + 1
	View
	MaterializedView
	Index
	// SystemTable is a relation whose rows the system makes.
	SystemTable
	// SystemView is a view over system relations.
	SystemView
)

// Kinds lists all kinds of items.
func Kinds() []Kind { return []Kind{Table, View, MaterializedView, Index, SystemTable, SystemView} }

// String is the kind as messages name it.
func (k Kind) String() string {
	switch k {
	case Table, SystemTable:
		return "table"
	case View, SystemView:
		return "view"
	case MaterializedView:
		return "materialized view"
	case Index:
		return "index"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// System says whether items of the kind belong to the system.
func (k Kind) System() bool { return k == SystemTable || k == SystemView }

// IsView says whether items of the kind have a query that reads of them are replaced by.
func (k Kind) IsView() bool { return k == View || k == SystemView }

// Stored says whether items of the kind have a shard.
func (k Kind) Stored() bool { return k == Table || k == MaterializedView }

// Database is a name space for schemas.
type Database struct {
	ID      tvc.ID
	OID     uint32
	Name    string
	Owner   tvc.ID
	Comment string
}

// Schema is a name space for items.
type Schema struct {
	ID  tvc.ID
	OID uint32
	// Database is the database's id; the zero ID for the system's schemas, which are in every database.
	Database tvc.ID
	Name     string
	Owner    tvc.ID
	Comment  string
}

// System says whether the schema is one of the system's.
func (s *Schema) System() bool { return s.Database == tvc.ID{} }

// Item is a table, a view, a materialized view or an index.
type Item struct {
	ID     tvc.ID
	OID    uint32
	Schema tvc.ID
	Name   string
	Kind   Kind
	Owner  tvc.ID
	// Rel describes the rows. For an index it is the key: one column for each part, then nothing else.
	Rel types.Rel
	// Defaults of a table: for each column the text of its DEFAULT, "" for none. nil: none at all.
	Defaults []string
	// Query of a view: what it is defined as.
	Query Text
	// On and Key of an index: the relation it is on, and what it is ordered by.
	On  tvc.ID
	Key []KeyPart
	// Cluster is where a materialized view or an index is maintained.
	Cluster tvc.ID
	// Shard is where the contents of a table or materialized view are stored.
	Shard string
	// Retain is how much of its history stays readable, of a table or materialized view for which that was said; 0
	// means what the system has for all.
	Retain time.Duration
	// DependsOn lists, ascending and each once, the items this one cannot be without, the cluster not
	// among them.
	DependsOn []tvc.ID
	Comment   string
	// ColumnComments has the comments on columns; nil: none at all.
	ColumnComments []string
	// Version counts the changes of the item since it was made, from 1.
	Version uint64
}

// KeyPart is one part of an index's key: a column of the relation, or an expression over its columns.
type KeyPart struct {
	// Column is the position from 0; -1 for an expression.
	Column int
	// SQL is the expression's text; "" for a column.
	SQL  string
	Type types.T
}

// Default gives the text of column i's DEFAULT, "" without one.
func (it *Item) Default(i int) string {
	if it.Defaults == nil {
		return ""
	}
	return it.Defaults[i]
}

// ColumnComment gives the comment on column i, "" without one.
func (it *Item) ColumnComment(i int) string {
	if it.ColumnComments == nil {
		return ""
	}
	return it.ColumnComments[i]
}

// Cluster is a pool of workers that maintains views and indexes.
type Cluster struct {
	ID    tvc.ID
	Name  string
	Owner tvc.ID
	// Size is what each replica has.
	Size Size
	// Replicas do the same work, each by itself; they are called r1, r2, …
	Replicas []Replica
	Comment  string
}

// Replica is one copy of a cluster's work.
type Replica struct {
	ID   tvc.ID
	Name string
	Size Size
}

// Size is how much a replica has: Scale processes of Workers workers each.
type Size struct{ Scale, Workers int }

// MaxWorkers bounds a replica's workers: past it shares get so small that a tick is all overhead.
const MaxWorkers = 1024

// Total is the number of workers.
func (s Size) Total() int { return s.Scale * s.Workers }

func (s Size) String() string { return fmt.Sprintf("scale=%d,workers=%d", s.Scale, s.Workers) }

// ParseSize reads a cluster size as a client writes it.
func ParseSize(text string) (Size, error) {
	unknown := pgerr.Newf(pgerr.InvalidParameterValue, "unknown cluster replica size %s", text).
		WithHint(`A size is "scale=S,workers=N" with at most %d workers in all.`, MaxWorkers)
	scale, workers, ok := strings.Cut(text, ",")
	if !ok {
		return Size{}, unknown
	}
	s, ok1 := sizePart(scale, "scale=")
	w, ok2 := sizePart(workers, "workers=")
	if !ok1 || !ok2 || s*w > MaxWorkers {
		return Size{}, unknown
	}
	return Size{Scale: s, Workers: w}, nil
}

func sizePart(text, name string) (int, bool) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(text), name)
	n, err := strconv.Atoi(digits)
	// The bound on each keeps their product from overflowing.
	return n, ok && err == nil && n >= 1 && n <= MaxWorkers && digits[0] != '+' && digits[0] != '0'
}

// Role is a user, a group, or both.
type Role struct {
	ID      tvc.ID
	OID     uint32
	Name    string
	Super   bool
	Comment string
}
