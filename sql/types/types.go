// Package types is what a SQL type is: its OID, its modifier, how its values lie in memory, and what
// may be cast to what.
//
// Promises: T is a plain value, safe to copy and to use from many goroutines; Equal compares what SQL
// compares; every table in this package is a literal, never changed after start.
package types

import (
	"fmt"
	"strings"
)

// Kind is how values of a type lie in a column vector. There are four, so that a kernel is written at
// most four times; a type is a kind plus a meaning.
type Kind uint8

const (
	// Bool is one byte a value, 0 or 1.
	Bool Kind = iota + 1
	// Int is an int64: the integers, OIDs, "char", dates (days), times, timestamps (microseconds).
	// Days and microseconds count from 2000-01-01 UTC; infinity and -infinity are the largest and the
	// smallest int32 (date) and int64 (timestamps).
	Int
	// Float is a float64; float4 values are rounded to float32 whenever they are made.
	Float
	// Bytes is a byte string whose order is the type's order and whose equality is SQL's equality:
	// text, bytea, uuid, and the canonical order-preserving encodings of numeric, interval, jsonb,
	// arrays and records (package adt).
	Bytes
)

func (k Kind) String() string {
	switch k {
	case Bool:
		return "bool"
	case Int:
		return "int"
	case Float:
		return "float"
	case Bytes:
		return "bytes"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// OID is PostgreSQL's number of a type; ours are PostgreSQL's wherever it has the type.
type OID uint32

// OIDs of the types we know.
const (
	OIDBool         OID = 16
	OIDBytea        OID = 17
	OIDChar         OID = 18 // "char"
	OIDName         OID = 19
	OIDInt8         OID = 20
	OIDInt2         OID = 21
	OIDInt2Vector   OID = 22
	OIDInt4         OID = 23
	OIDRegproc      OID = 24
	OIDText         OID = 25
	OIDOid          OID = 26
	OIDXid          OID = 28
	OIDOidVector    OID = 30
	OIDJSON         OID = 114
	OIDFloat4       OID = 700
	OIDFloat8       OID = 701
	OIDUnknown      OID = 705
	OIDACLItem      OID = 1033
	OIDBpchar       OID = 1042
	OIDVarchar      OID = 1043
	OIDDate         OID = 1082
	OIDTime         OID = 1083
	OIDTimestamp    OID = 1114
	OIDTimestampTZ  OID = 1184
	OIDInterval     OID = 1186
	OIDNumeric      OID = 1700
	OIDRegprocedure OID = 2202
	OIDRegoper      OID = 2203
	OIDRegoperator  OID = 2204
	OIDRegclass     OID = 2205
	OIDRegtype      OID = 2206
	OIDRecord       OID = 2249
	OIDVoid         OID = 2278
	OIDTrigger      OID = 2279
	OIDAny          OID = 2276
	OIDAnyArray     OID = 2277
	OIDAnyElement   OID = 2283
	OIDAnyNonArray  OID = 2776
	OIDUUID         OID = 2950
	OIDJsonb        OID = 3802
	OIDRegconfig    OID = 3734
	// Types of arguments that are brought to one common type.
	OIDAnyCompatible         OID = 5077
	OIDAnyCompatibleArray    OID = 5078
	OIDAnyCompatibleNonArray OID = 5079

	OIDRegnamespace OID = 4089
	OIDRegrole      OID = 4096
	OIDRegcollation OID = 4191
	// MzTimestamp is logical time in milliseconds; the number is Materialize's.
	OIDMzTimestamp OID = 16552
)

// NoMod says that a type has no modifier.
const NoMod int32 = -1

// T is a SQL type.
type T struct {
	OID OID
	// Mod is PostgreSQL's typmod: length + 4 for varchar and char, ((precision << 16) | scale) + 4 for
	// numeric, fractional digits for times; NoMod without one.
	Mod int32
	// Record has the fields of a record type; nil for all others.
	Record *Record
}

// Record is the shape of a composite value.
type Record struct{ Fields []Field }

// Field is one field of a record.
type Field struct {
	Name string
	Type T
}

// Of gives the type with the given OID and no modifier.
func Of(oid OID) T { return T{OID: oid, Mod: NoMod} }

// The types that code names most.
var (
	TBool        = Of(OIDBool)
	TInt2        = Of(OIDInt2)
	TInt4        = Of(OIDInt4)
	TInt8        = Of(OIDInt8)
	TFloat4      = Of(OIDFloat4)
	TFloat8      = Of(OIDFloat8)
	TNumeric     = Of(OIDNumeric)
	TText        = Of(OIDText)
	TVarchar     = Of(OIDVarchar)
	TBpchar      = Of(OIDBpchar)
	TName        = Of(OIDName)
	TChar        = Of(OIDChar)
	TBytea       = Of(OIDBytea)
	TDate        = Of(OIDDate)
	TTime        = Of(OIDTime)
	TTimestamp   = Of(OIDTimestamp)
	TTimestampTZ = Of(OIDTimestampTZ)
	TInterval    = Of(OIDInterval)
	TUUID        = Of(OIDUUID)
	TJsonb       = Of(OIDJsonb)
	TOid         = Of(OIDOid)
	TUnknown     = Of(OIDUnknown)
	TMzTimestamp = Of(OIDMzTimestamp)
)

// Equal says whether two types are the same, modifier included.
func (t T) Equal(u T) bool {
	if t.OID != u.OID || t.Mod != u.Mod {
		return false
	}
	if t.Record == nil || u.Record == nil {
		return t.Record == u.Record
	}
	if len(t.Record.Fields) != len(u.Record.Fields) {
		return false
	}
	for i, f := range t.Record.Fields {
		if f.Name != u.Record.Fields[i].Name || !f.Type.Equal(u.Record.Fields[i].Type) {
			return false
		}
	}
	return true
}

// Kind says how the type's values lie in memory.
func (t T) Kind() Kind {
	switch t.OID {
	case OIDBool:
		return Bool
	case OIDInt2, OIDInt4, OIDInt8, OIDOid, OIDXid, OIDChar, OIDDate, OIDTime, OIDTimestamp, OIDTimestampTZ,
		OIDRegproc, OIDRegprocedure, OIDRegoper, OIDRegoperator, OIDRegclass, OIDRegtype, OIDRegconfig,
		OIDRegnamespace, OIDRegrole, OIDRegcollation, OIDMzTimestamp:
		return Int
	case OIDFloat4, OIDFloat8:
		return Float
	}
	return Bytes
}

// Column is one column of a relation.
type Column struct {
	Name     string
	Type     T
	Nullable bool
}

// Rel describes the rows of a relation.
type Rel struct {
	Cols []Column
	// Keys lists sets of columns (ascending positions) of which no two rows have the same values.
	Keys [][]int
}

// Kinds gives the kinds of the columns.
func (r Rel) Kinds() []Kind {
	kinds := make([]Kind, len(r.Cols))
	for i, c := range r.Cols {
		kinds[i] = c.Type.Kind()
	}
	return kinds
}

// Names gives the names of the columns.
func (r Rel) Names() []string {
	names := make([]string, len(r.Cols))
	for i, c := range r.Cols {
		names[i] = c.Name
	}
	return names
}

func (r Rel) String() string {
	var b strings.Builder
	for i, c := range r.Cols {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", c.Name, c.Type)
		if !c.Nullable {
			b.WriteString(" not null")
		}
	}
	return "(" + b.String() + ")"
}
