package bind

import (
	"slices"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// TypeOf gives the type that a name in a statement means.
func TypeOf(_ *Env, t *ast.TypeName) (types.T, error) { return typeOf(t) }

// aliases are names of types that are not pg_type's own.
var aliases = map[string]types.T{
	"json": types.TJsonb, "string": types.TText, "bytes": types.TBytea, "int": types.TInt4, "integer": types.TInt4,
	"bigint": types.TInt8, "smallint": types.TInt2, "boolean": types.TBool, "decimal": types.TNumeric, "dec": types.TNumeric,
}

// absent are the types of PostgreSQL that are not here. A statement that names one fails for what is missing, not as
// if the name were misspelt.
var absent = []string{
	"serial", "serial2", "serial4", "serial8", "smallserial", "bigserial",
	"bit", "varbit", "money", "xml", "timetz", "inet", "cidr", "macaddr", "macaddr8",
	"point", "line", "lseg", "box", "path", "polygon", "circle", "tsvector", "tsquery", "jsonpath",
	"int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange",
	"int4multirange", "int8multirange", "nummultirange", "tsmultirange", "tstzmultirange", "datemultirange",
	"tid", "xid", "xid8", "cid", "pg_lsn", "pg_snapshot", "txid_snapshot",
}

func typeOf(t *ast.TypeName) (types.T, error) {
	switch t.Kind {
	case ast.ArrayType:
		e, err := typeOf(t.Elem)
		if err != nil {
			return types.T{}, err
		}
		if e.IsArray() {
			return e, nil // an array of any number of dimensions is one type
		}
		a, ok := e.Array()
		if !ok {
			return types.T{}, fail(t.Pos, pgerr.UndefinedObject, "type \"%s[]\" does not exist", e.Name())
		}
		return a, nil
	case ast.ListType:
		return types.T{}, unsupported(t.Pos, "type %s", t)
	case ast.MapType:
		return types.T{}, unsupported(t.Pos, "type %s", t)
	}
	base, err := namedType(t)
	if err != nil {
		return types.T{}, err
	}
	return withMods(base, t)
}

func namedType(t *ast.TypeName) (types.T, error) {
	name := t.Name[len(t.Name)-1]
	unknown := func() error {
		full := ""
		for i, part := range t.Name {
			if i > 0 {
				full += "."
			}
			full += part
		}
		return fail(t.Pos, pgerr.UndefinedObject, "type \"%s\" does not exist", full)
	}
	if len(t.Name) > 1 {
		switch schema := t.Name[len(t.Name)-2]; schema {
		case "pg_catalog", "mz_catalog":
		default:
			return types.T{}, unknown()
		}
	}
	if a, ok := aliases[name]; ok {
		return a, nil
	}
	base, ok := types.ByName(name)
	switch {
	case ok:
		return base, nil
	case slices.Contains(absent, name):
		return types.T{}, unsupported(t.Pos, "type %s", name)
	}
	return types.T{}, unknown()
}

// withMods applies the modifiers in parentheses.
func withMods(base types.T, t *ast.TypeName) (types.T, error) {
	n := len(t.Mods)
	bad := func(format string, args ...any) (types.T, error) {
		return types.T{}, fail(t.Pos, pgerr.InvalidParameterValue, format, args...)
	}
	switch base.OID {
	case types.OIDVarchar, types.OIDBpchar:
		return lengthType(base, t)
	case types.OIDNumeric:
		if n == 0 {
			return base, nil
		}
		const most = 39
		p, s := t.Mods[0], int64(0)
		if n > 1 {
			s = t.Mods[1]
		}
		switch {
		case n > 2:
			return bad("invalid NUMERIC type modifier")
		case p < 1 || p > most:
			return bad("NUMERIC precision %d must be between 1 and %d", p, most)
		case s < 0 || s > most:
			return bad("NUMERIC scale %d must be between 0 and %d", s, most)
		}
		base.Mod = int32(p<<16|s) + 4
		return base, nil
	case types.OIDTime, types.OIDTimestamp, types.OIDTimestampTZ:
		if n == 0 {
			return base, nil
		}
		if n > 1 || t.Mods[0] < 0 {
			return bad("%s(%d) precision must not be negative", timeName(base), t.Mods[0])
		}
		base.Mod = int32(min(t.Mods[0], 6))
		return base, nil
	case types.OIDInterval:
		if n > 0 {
			return types.T{}, unsupported(t.Pos, "a precision of interval")
		}
		return base, nil
	}
	if n > 0 {
		return types.T{}, fail(t.Pos, pgerr.SyntaxError, "type modifier is not allowed for type \"%s\"", base.Name())
	}
	return base, nil
}

func timeName(t types.T) string {
	switch t.OID {
	case types.OIDTime:
		return "TIME"
	case types.OIDTimestamp:
		return "TIMESTAMP"
	}
	return "TIMESTAMP WITH TIME ZONE"
}

// lengthType is varchar and char; char without a length is char(1).
func lengthType(base types.T, t *ast.TypeName) (types.T, error) {
	name := "varchar"
	if base.OID == types.OIDBpchar {
		name = "char"
	}
	const most = 10485760
	switch {
	case len(t.Mods) == 0:
		return base, nil
	case len(t.Mods) > 1:
		return types.T{}, fail(t.Pos, pgerr.InvalidParameterValue, "invalid type modifier")
	case t.Mods[0] < 1:
		return types.T{}, fail(t.Pos, pgerr.InvalidParameterValue, "length for type %s must be at least 1", name)
	case t.Mods[0] > most:
		return types.T{}, fail(t.Pos, pgerr.InvalidParameterValue, "length for type %s cannot exceed %d", name, most)
	}
	base.Mod = int32(t.Mods[0]) + 4
	return base, nil
}
