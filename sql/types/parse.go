package types

import (
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// aliases are names of types that are not pg_type's own: the standard's, and those of Materialize.
var aliases = map[string]OID{
	"boolean": OIDBool, "smallint": OIDInt2, "int": OIDInt4, "integer": OIDInt4, "bigint": OIDInt8, "real": OIDFloat4,
	"float": OIDFloat8, "double precision": OIDFloat8, "double": OIDFloat8, "decimal": OIDNumeric, "dec": OIDNumeric,
	"character varying": OIDVarchar, "character": OIDBpchar, "char": OIDBpchar, "string": OIDText, "bytes": OIDBytea,
	"time without time zone": OIDTime, "timestamp without time zone": OIDTimestamp,
	"timestamp with time zone": OIDTimestampTZ, "json": OIDJsonb,
}

// Name is a type as written, its words folded to lower case.
type Name struct {
	// Parts are the schema, if one is given, and the name: one that pg_type has, or words such as "character
	// varying". A quoted name (Quoted) is pg_type's alone: "char" is not char.
	Parts  []string
	Quoted bool
	// Mods are the modifiers in parentheses.
	Mods []int64
	// Fields is the restriction of an interval, such as DAY TO SECOND; any case.
	Fields string
	// Array is set for arrays, which are one type whatever their dimensions.
	Array bool
}

// ParseName finds the type that a name means.
func ParseName(n Name) (T, error) {
	t, ok := n.base()
	if !ok {
		return T{}, pgerr.Newf(pgerr.UndefinedObject, "type \"%s\" does not exist", strings.Join(n.Parts, "."))
	}
	t, err := t.withMods(n)
	if err != nil || !n.Array {
		return t, err
	}
	a, ok := t.Array()
	if !ok {
		return T{}, pgerr.Newf(pgerr.UndefinedObject, "type \"%s[]\" does not exist", strings.Join(n.Parts, "."))
	}
	return a, nil
}

func (n Name) base() (T, bool) {
	name := n.Parts[len(n.Parts)-1]
	if len(n.Parts) > 1 {
		switch n.Parts[len(n.Parts)-2] {
		case "pg_catalog", "mz_catalog":
		default:
			return T{}, false
		}
	}
	if oid, ok := aliases[name]; ok && !n.Quoted && len(n.Parts) == 1 {
		return Of(oid), true
	}
	if name == "json" {
		return TJsonb, true
	}
	return ByName(name)
}

// The bounds of modifiers: PostgreSQL's, save for the precision of numeric, which is ours.
const (
	maxCharLen   = 10485760
	maxPrecision = 39
	maxFraction  = 6
)

// withMods applies modifiers.
func (t T) withMods(n Name) (T, error) {
	if n.Fields != "" && t.OID != OIDInterval {
		return T{}, pgerr.Newf(pgerr.SyntaxError, "fields are not allowed for type \"%s\"", t.Name())
	}
	if len(n.Mods) == 0 && n.Fields == "" {
		return t, nil
	}
	switch t.OID {
	case OIDVarchar:
		return t.withLength("varchar", n.Mods)
	case OIDBpchar:
		return t.withLength("char", n.Mods)
	case OIDNumeric:
		return t.withPrecision(n.Mods)
	case OIDTime:
		return t.withFraction("TIME(%d) precision must not be negative", n.Mods)
	case OIDTimestamp:
		return t.withFraction("TIMESTAMP(%d) precision must not be negative", n.Mods)
	case OIDTimestampTZ:
		return t.withFraction("TIMESTAMP(%d) WITH TIME ZONE precision must not be negative", n.Mods)
	case OIDInterval:
		return t.withFields(n)
	}
	return T{}, pgerr.Newf(pgerr.SyntaxError, "type modifier is not allowed for type \"%s\"", t.Name())
}

var errModifier = pgerr.New(pgerr.InvalidParameterValue, "invalid type modifier")

func (t T) withLength(name string, mods []int64) (T, error) {
	switch n := mods[0]; {
	case len(mods) != 1:
		return T{}, errModifier
	case n < 1:
		return T{}, pgerr.Newf(pgerr.InvalidParameterValue, "length for type %s must be at least 1", name)
	case n > maxCharLen:
		return T{}, pgerr.Newf(pgerr.InvalidParameterValue, "length for type %s cannot exceed %d", name, maxCharLen)
	}
	t.Mod = int32(mods[0]) + 4
	return t, nil
}

func (t T) withPrecision(mods []int64) (T, error) {
	precision, scale := mods[0], int64(0)
	if len(mods) > 1 {
		scale = mods[1]
	}
	switch {
	case len(mods) > 2:
		return T{}, pgerr.New(pgerr.InvalidParameterValue, "invalid NUMERIC type modifier")
	case precision < 1 || precision > maxPrecision:
		return T{}, pgerr.Newf(pgerr.InvalidParameterValue, "NUMERIC precision %d must be between 1 and %d", precision, maxPrecision)
	case scale < -maxPrecision || scale > maxPrecision:
		return T{}, pgerr.Newf(pgerr.InvalidParameterValue, "NUMERIC scale %d must be between %d and %d",
			scale, -maxPrecision, maxPrecision)
	}
	t.Mod = int32(precision<<16|scale&0x7ff) + 4
	return t, nil
}

// withFraction is about digits after the second, of which there are six at most, whatever is asked.
func (t T) withFraction(negative string, mods []int64) (T, error) {
	switch {
	case len(mods) != 1:
		return T{}, errModifier
	case mods[0] < 0:
		return T{}, pgerr.Newf(pgerr.InvalidParameterValue, negative, mods[0])
	}
	t.Mod = int32(min(mods[0], maxFraction))
	return t, nil
}

// An interval's modifier has the fields in its high half and the digits after the second in its low one; all
// bits are set where nothing is said.
const (
	allFields    = 0x7FFF
	allPrecision = 0xFFFF
)

// intervalFields are the restrictions of an interval, in PostgreSQL's bits.
var intervalFields = []struct {
	name string
	bits int32
}{
	{"year", 1 << 2}, {"month", 1 << 1}, {"day", 1 << 3}, {"hour", 1 << 10}, {"minute", 1 << 11}, {"second", 1 << 12},
	{"year to month", 1<<2 | 1<<1}, {"day to hour", 1<<3 | 1<<10}, {"day to minute", 1<<3 | 1<<10 | 1<<11},
	{"day to second", 1<<3 | 1<<10 | 1<<11 | 1<<12}, {"hour to minute", 1<<10 | 1<<11},
	{"hour to second", 1<<10 | 1<<11 | 1<<12}, {"minute to second", 1<<11 | 1<<12},
}

func (t T) withFields(n Name) (T, error) {
	fields, precision := int32(allFields), int32(allPrecision)
	if n.Fields != "" {
		fields = 0
		for _, f := range intervalFields {
			if strings.EqualFold(f.name, n.Fields) {
				fields = f.bits
			}
		}
		if fields == 0 {
			return T{}, pgerr.New(pgerr.InvalidParameterValue, "invalid INTERVAL type modifier")
		}
	}
	if len(n.Mods) > 0 {
		p, err := t.withFraction("INTERVAL(%d) precision must not be negative", n.Mods)
		if err != nil {
			return T{}, err
		}
		precision = p.Mod
	}
	t.Mod = fields<<16 | precision
	return t, nil
}

// intervalName prints an interval with its modifier.
func intervalName(mod int32) string {
	name := "interval"
	for _, f := range intervalFields {
		if f.bits == mod>>16&allFields {
			name += " " + f.name
		}
	}
	if p := mod & allPrecision; p != allPrecision {
		name += "(" + string(rune('0'+p)) + ")"
	}
	return name
}
