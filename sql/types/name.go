package types

import (
	"fmt"
	"strings"
)

// info is what pg_type says of a type.
type info struct {
	oid   OID
	name  string // pg_type.typname
	sql   string // format_type's name
	array OID    // the type of arrays of it; 0: none
	len   int16  // typlen: bytes, -1 variable, -2 C string
	cat   byte   // typcategory
	pref  bool   // typispreferred
}

var infos = []info{
	{OIDBool, "bool", "boolean", 1000, 1, 'B', true},
	{OIDBytea, "bytea", "bytea", 1001, -1, 'U', false},
	{OIDChar, "char", `"char"`, 1002, 1, 'Z', false},
	{OIDName, "name", "name", 1003, 64, 'S', false},
	{OIDInt8, "int8", "bigint", 1016, 8, 'N', false},
	{OIDInt2, "int2", "smallint", 1005, 2, 'N', false},
	{OIDInt2Vector, "int2vector", "int2vector", 1006, -1, 'A', false},
	{OIDInt4, "int4", "integer", 1007, 4, 'N', false},
	{OIDRegproc, "regproc", "regproc", 1008, 4, 'N', false},
	{OIDText, "text", "text", 1009, -1, 'S', true},
	{OIDOid, "oid", "oid", 1028, 4, 'N', true},
	{OIDXid, "xid", "xid", 1011, 4, 'U', false},
	{OIDOidVector, "oidvector", "oidvector", 1013, -1, 'A', false},
	{OIDJSON, "json", "json", 199, -1, 'U', false},
	{OIDFloat4, "float4", "real", 1021, 4, 'N', false},
	{OIDFloat8, "float8", "double precision", 1022, 8, 'N', true},
	{OIDUnknown, "unknown", "unknown", 0, -2, 'X', false},
	{OIDACLItem, "aclitem", "aclitem", 1034, 12, 'U', false},
	{OIDBpchar, "bpchar", "character", 1014, -1, 'S', false},
	{OIDVarchar, "varchar", "character varying", 1015, -1, 'S', false},
	{OIDDate, "date", "date", 1182, 4, 'D', false},
	{OIDTime, "time", "time without time zone", 1183, 8, 'D', false},
	{OIDTimestamp, "timestamp", "timestamp without time zone", 1115, 8, 'D', false},
	{OIDTimestampTZ, "timestamptz", "timestamp with time zone", 1185, 8, 'D', true},
	{OIDInterval, "interval", "interval", 1187, 16, 'T', true},
	{OIDNumeric, "numeric", "numeric", 1231, -1, 'N', false},
	{OIDRegprocedure, "regprocedure", "regprocedure", 2207, 4, 'N', false},
	{OIDRegoper, "regoper", "regoper", 2208, 4, 'N', false},
	{OIDRegoperator, "regoperator", "regoperator", 2209, 4, 'N', false},
	{OIDRegclass, "regclass", "regclass", 2210, 4, 'N', false},
	{OIDRegtype, "regtype", "regtype", 2211, 4, 'N', false},
	{OIDRecord, "record", "record", 2287, -1, 'P', false},
	{OIDVoid, "void", "void", 0, 4, 'P', false},
	{OIDTrigger, "trigger", "trigger", 0, 4, 'P', false},
	{OIDAny, "any", `"any"`, 0, 4, 'P', false},
	{OIDAnyArray, "anyarray", "anyarray", 0, -1, 'P', false},
	{OIDAnyElement, "anyelement", "anyelement", 0, 4, 'P', false},
	{OIDAnyNonArray, "anynonarray", "anynonarray", 0, 4, 'P', false},
	{OIDAnyCompatible, "anycompatible", "anycompatible", 0, 4, 'P', false},
	{OIDAnyCompatibleArray, "anycompatiblearray", "anycompatiblearray", 0, -1, 'P', false},
	{OIDAnyCompatibleNonArray, "anycompatiblenonarray", "anycompatiblenonarray", 0, 4, 'P', false},
	{OIDUUID, "uuid", "uuid", 2951, 16, 'U', false},
	{OIDJsonb, "jsonb", "jsonb", 3807, -1, 'U', false},
	{OIDRegconfig, "regconfig", "regconfig", 3735, 4, 'N', false},
	{OIDRegnamespace, "regnamespace", "regnamespace", 4090, 4, 'N', false},
	{OIDRegrole, "regrole", "regrole", 4097, 4, 'N', false},
	{OIDRegcollation, "regcollation", "regcollation", 4192, 4, 'N', false},
	{OIDMzTimestamp, "mz_timestamp", "mz_timestamp", 16553, 8, 'N', false},
}

var byOID, byArray, byName = index()

func index() (byOID, byArray map[OID]*info, byName map[string]*info) {
	byOID, byArray, byName = map[OID]*info{}, map[OID]*info{}, map[string]*info{}
	for i := range infos {
		f := &infos[i]
		byOID[f.oid], byName[f.name] = f, f
		if f.array != 0 {
			byArray[f.array] = f
		}
	}
	return byOID, byArray, byName
}

// All lists the OIDs of the base types we know, in ascending order of declaration.
func All() []OID {
	oids := make([]OID, len(infos))
	for i, f := range infos {
		oids[i] = f.oid
	}
	return oids
}

// Known says whether we know a type of this OID, arrays included.
func Known(oid OID) bool { return byOID[oid] != nil || byArray[oid] != nil }

// Elem gives the element type of an array type; false for other types. int2vector and oidvector are
// arrays too.
func (t T) Elem() (T, bool) {
	switch t.OID {
	case OIDInt2Vector:
		return TInt2, true
	case OIDOidVector:
		return TOid, true
	}
	if f := byArray[t.OID]; f != nil {
		return T{OID: f.oid, Mod: t.Mod}, true
	}
	return T{}, false
}

// IsArray says whether values are arrays.
func (t T) IsArray() bool { _, ok := t.Elem(); return ok }

// Array gives the type of arrays of t; false if there is none.
func (t T) Array() (T, bool) {
	if f := byOID[t.OID]; f != nil && f.array != 0 {
		return T{OID: f.array, Mod: t.Mod}, true
	}
	return T{}, false
}

// Name is pg_type.typname, such as int4 and _int4.
func (t T) Name() string {
	if f := byOID[t.OID]; f != nil {
		return f.name
	}
	if f := byArray[t.OID]; f != nil {
		return "_" + f.name
	}
	return fmt.Sprintf("oid %d", t.OID)
}

// ByName finds a type by pg_type.typname.
func ByName(name string) (T, bool) {
	if f := byName[name]; f != nil {
		return Of(f.oid), true
	}
	if rest, ok := strings.CutPrefix(name, "_"); ok {
		if f := byName[rest]; f != nil && f.array != 0 {
			return Of(f.array), true
		}
	}
	return T{}, false
}

// Len is pg_type.typlen.
func (t T) Len() int16 {
	if f := byOID[t.OID]; f != nil {
		return f.len
	}
	return -1
}

// Category is pg_type.typcategory.
func (t T) Category() byte {
	if f := byOID[t.OID]; f != nil {
		return f.cat
	}
	switch e, ok := t.Elem(); {
	case ok && e.OID == OIDRecord:
		return 'P'
	case ok:
		return 'A'
	}
	return 'X'
}

// Preferred is pg_type.typispreferred.
func (t T) Preferred() bool { f := byOID[t.OID]; return f != nil && f.pref }

// String is the type as PostgreSQL's format_type prints it, such as "character varying(10)".
func (t T) String() string {
	if e, ok := t.Elem(); ok && byOID[t.OID] == nil {
		return e.String() + "[]"
	}
	f := byOID[t.OID]
	if f == nil {
		return "???"
	}
	if t.Mod < 0 {
		return f.sql
	}
	switch t.OID {
	case OIDVarchar, OIDBpchar:
		return fmt.Sprintf("%s(%d)", f.sql, t.Mod-4)
	case OIDNumeric:
		// The scale is eleven bits in two's complement.
		return fmt.Sprintf("numeric(%d,%d)", (t.Mod-4)>>16, ((t.Mod-4)&0x7ff^0x400)-0x400)
	case OIDInterval:
		return intervalName(t.Mod)
	case OIDTime, OIDTimestamp, OIDTimestampTZ:
		kind, zone, _ := strings.Cut(f.sql, " ")
		return fmt.Sprintf("%s(%d) %s", kind, t.Mod, zone)
	}
	return f.sql
}
