// Package ast is what a client wrote, as a tree: statements, queries and expressions, unresolved.
//
// Promises:
//
//	A1  the sets of statements, query bodies, table expressions and expressions are closed: each interface
//	    has an unexported method.
//	A2  a node at which an error may point carries a Pos, which counts characters of the client's text.
//	A3  Format gives SQL that runs: one line, keywords in upper case, identifiers folded and quoted where
//	    they must be, parentheses where the tree asks for them. Parsing it gives the same tree again but for
//	    positions, and printing that gives the same text.
//	A4  identifiers are held as they are meant (folded to lower case unless quoted), operators and types as
//	    PostgreSQL's parser reads them: `!=` is `<>`, and `int` is pg_catalog.int4.
//
// Nodes are plain data. Whoever builds a tree owns it; a finished tree is read by many goroutines at once.
// The package is larger than most: it is one struct a statement, for every statement of the surface, with its
// printing beside it. There is no logic to move elsewhere.
package ast

import "strings"

// Pos counts characters (not bytes) of the client's text from 1; 0 means unknown.
type Pos int32

// Position is the place as pgerr.Error takes it.
func (p Pos) Position() int { return int(p) }

// Node is any part of a tree that prints itself.
type Node interface {
	format(p *printer)
}

// Statement is one statement of a client's.
type Statement interface {
	Node
	Position() int
	statement()
}

// Format prints a node as SQL.
func Format(n Node) string {
	var p printer
	n.format(&p)
	return string(p.out)
}

// Spelling says how literals and casts are written once it is known what they are.
type Spelling struct {
	Literals map[*Literal]Spelled
	Casts    map[*Cast]string // the type
}

// Spelled is a literal's text and the type that it is cast to; "" for none.
type Spelled struct{ Text, Type string }

// FormatAs prints an expression with literals and casts spelled as s says, the others as they are.
func FormatAs(e Expr, s *Spelling) string {
	p := printer{spelling: *s}
	e.format(&p)
	return string(p.out)
}

// Name is the name of an object, with as many qualifiers as the client wrote: table, schema.table,
// database.schema.table. A Name without parts means that none was written.
type Name struct {
	Pos
	Parts []string
}

// MakeName makes a name that stands nowhere in a client's text.
func MakeName(parts ...string) Name { return Name{Parts: parts} }

// Given says whether a name was written.
func (n Name) Given() bool { return len(n.Parts) > 0 }

// Object is the last part.
func (n Name) Object() string {
	if len(n.Parts) == 0 {
		return ""
	}
	return n.Parts[len(n.Parts)-1]
}

// Schema is the part before the last, or empty.
func (n Name) Schema() string {
	if len(n.Parts) < 2 {
		return ""
	}
	return n.Parts[len(n.Parts)-2]
}

// Database is the part before the schema, or empty.
func (n Name) Database() string {
	if len(n.Parts) < 3 {
		return ""
	}
	return n.Parts[len(n.Parts)-3]
}

func (n Name) String() string { return Format(n) }

// Ident is one identifier with its place.
type Ident struct {
	Pos
	Name string
}

// Op is an operator. Schema is given by OPERATOR(schema.symbol) only.
type Op struct {
	Schema string
	Symbol string
}

// Option is one entry of a list such as WITH (…) or (SIZE = …). Name is in upper case, its words apart by
// one blank. Value is nil for a bare name; a bare word as a value is a string literal; a list is a Row. Where the
// value is a list of options again, such as WAIT UNTIL READY (TIMEOUT '1s'), it is in Options.
type Option struct {
	Pos
	Name    string
	Value   Expr
	Options []Option
}

// Role is the name of a role. Keyword is set for PUBLIC, CURRENT_ROLE, CURRENT_USER and SESSION_USER, with
// Name in lower case.
type Role struct {
	Pos
	Name    string
	Keyword bool
}

// TypeKind tells the shapes of a TypeName apart.
type TypeKind uint8

// The shapes of type names.
const (
	NamedType TypeKind = iota
	ArrayType          // Elem[]
	ListType           // Elem list
	MapType            // map[Key => Elem]
)

// TypeName is a type as written. Spellings with keywords (integer, character varying, timestamp with time
// zone) have the name they stand for, such as pg_catalog.int4.
type TypeName struct {
	Pos
	Kind TypeKind
	Name []string
	// Mods are the modifiers in parentheses, such as 10 and 2 of numeric(10, 2).
	Mods []int64
	// Fields is the restriction of an interval, in upper case, such as DAY TO SECOND.
	Fields string
	Elem   *TypeName
	Key    *TypeName
}

func (t *TypeName) String() string { return Format(t) }

// ObjectKind is a kind of object that statements name.
type ObjectKind uint8

// The kinds of objects.
const (
	KindObject ObjectKind = iota + 1 // SHOW OBJECTS
	KindTable
	KindView
	KindMaterializedView
	KindIndex
	KindType
	KindSource
	KindSink
	KindConnection
	KindSecret
	KindSchema
	KindDatabase
	KindCluster
	KindClusterReplica
	KindRole
	KindColumn
	KindFunction
	KindNetworkPolicy
	KindSubsource
	KindSystem // GRANT … ON SYSTEM
)

var objectKinds = [...]string{
	KindObject: "OBJECT", KindTable: "TABLE", KindView: "VIEW", KindMaterializedView: "MATERIALIZED VIEW", KindIndex: "INDEX",
	KindType: "TYPE", KindSource: "SOURCE", KindSink: "SINK", KindConnection: "CONNECTION", KindSecret: "SECRET", KindSchema: "SCHEMA",
	KindDatabase: "DATABASE", KindCluster: "CLUSTER", KindClusterReplica: "CLUSTER REPLICA", KindRole: "ROLE",
	KindColumn: "COLUMN", KindFunction: "FUNCTION", KindNetworkPolicy: "NETWORK POLICY", KindSubsource: "SUBSOURCE",
	KindSystem: "SYSTEM",
}

// String is the kind in SQL, such as MATERIALIZED VIEW.
func (k ObjectKind) String() string { return objectKinds[k] }

// Plural is the kind as SHOW and GRANT … ON ALL name many, such as INDEXES.
func (k ObjectKind) Plural() string {
	switch k {
	case KindIndex:
		return "INDEXES"
	case KindNetworkPolicy:
		return "NETWORK POLICIES"
	}
	return objectKinds[k] + "S"
}

// Lower is the kind as messages name it, such as "materialized view".
func (k ObjectKind) Lower() string { return strings.ToLower(objectKinds[k]) }
