package fn

import (
	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// What clients ask about the session, the server and the catalog. The Env answers what only it can know; what
// Tributary does not have (triggers, rules, partitions, other sessions' temporary schemas) is answered with NULL, or
// with the number of no object.
var systemFuncs = []scalar.Func{
	row("version", 89, strict|stable|fails, nil, tText, asks(scalar.AskVersion), "the version of PostgreSQL that is spoken, and our own"),
	row("mz_version", 17700, strict|stable|fails|inMz, nil, tText, asks(scalar.AskMzVersion), "our own version"),
	row("mz_version_num", 17701, strict|stable|fails|inMz, nil, tInt4, asks(scalar.AskMzVersionNum), "our own version as a number"),
	row("mz_environment_id", 17702, strict|stable|fails|inMz, nil, tText, asks(scalar.AskEnvironmentID), "the environment's id"),
	row("mz_uptime", 17703, strict|stable|fails|inMz, nil, tInterval, uptime, "how long the server has been running"),
	row("mz_is_superuser", 17704, strict|stable|fails|inMz, nil, tBool, asks(scalar.AskIsSuperuser), "whether the role is a superuser"),
	row("pg_postmaster_start_time", 2560, strict|stable|fails, nil, tTimestampTZ, asks(scalar.AskStartTime), "when the server started"),
	row("current_database", 861, strict|stable|fails, nil, tName, asks(scalar.AskCurrentDatabase), docDatabase),
	row("current_catalog", 17705, strict|stable|fails, nil, tName, asks(scalar.AskCurrentDatabase), docDatabase),
	row("current_schema", 1402, strict|stable|fails|nulls, nil, tName, asks(scalar.AskCurrentSchema),
		"the schema that new objects go to"),
	row("current_schemas", 1403, strict|stable|fails, sig(tBool), tNameArray, asksArg(scalar.AskCurrentSchemas),
		"the schemas in which names are looked up"),
	row("current_user", 745, strict|stable|fails, nil, tName, asks(scalar.AskCurrentUser), docUser),
	row("user", 17706, strict|stable|fails, nil, tName, asks(scalar.AskCurrentUser), docUser),
	row("current_role", 17707, strict|stable|fails, nil, tName, asks(scalar.AskCurrentUser), docUser),
	row("session_user", 746, strict|stable|fails, nil, tName, asks(scalar.AskSessionUser), "the role that connected"),
	row("current_setting", 2077, strict|stable|fails, sig(tText), tText, currentSetting, docSetting),
	row("current_setting", 3294, strict|stable|fails|nulls, sig(tText, tBool), tText, currentSetting, docSetting),
	row("pg_backend_pid", 2026, strict|stable|fails, nil, tInt4, asks(scalar.AskBackendPID), "the number of the connection"),
	row("pg_cancel_backend", 2171, strict|volatile|fails, sig(tInt4), tBool, asksArg(scalar.AskCancelBackend),
		"tells a connection's statement to stop"),
	row("pg_terminate_backend", 2096, strict|volatile|fails, sig(tInt4), tBool, asksArg(scalar.AskTerminateBackend), "ends a connection"),
	row("pg_is_in_recovery", 3810, strict, nil, tBool, always(vec.BoolOf(false)), "false: there are no standby servers"),
	row("pg_my_temp_schema", 2854, strict, nil, tOid, always(vec.IntOf(0)), "0: there are no temporary schemas"),
	row("pg_is_other_temp_schema", 2855, strict, sig(tOid), tBool, always(vec.BoolOf(false)), "false: there are no temporary schemas"),
	row("pg_client_encoding", 810, strict, nil, tName, always(vec.StrOf("UTF8")), "the encoding, which is UTF8"),
	row("getdatabaseencoding", 1039, strict, nil, tName, always(vec.StrOf("UTF8")), "the encoding, which is UTF8"),
	row("pg_encoding_to_char", 1597, strict, sig(tInt4), tName, encodingName, "the name of an encoding"),
	row("pg_char_to_encoding", 1264, strict, sig(tName), tInt4, encodingNumber, "the number of an encoding; -1 if unknown"),

	row("pg_table_is_visible", 2079, strict|stable|fails|nulls, sig(tOid), tBool, asksArg(scalar.AskRelVisible), docVisible),
	row("pg_type_is_visible", 2080, strict|stable|fails|nulls, sig(tOid), tBool, asksArg(scalar.AskTypeVisible), docVisible),
	row("pg_function_is_visible", 2081, strict|stable|fails|nulls, sig(tOid), tBool, asksArg(scalar.AskProcVisible), docVisible),
	row("pg_operator_is_visible", 2082, strict|stable|fails|nulls, sig(tOid), tBool, asksArg(scalar.AskOperVisible), docVisible),
	// What these are about is all in pg_catalog.
	row("pg_opclass_is_visible", 2083, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),
	row("pg_opfamily_is_visible", 3829, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),
	row("pg_collation_is_visible", 3815, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),
	row("pg_conversion_is_visible", 2093, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),
	row("pg_statistics_obj_is_visible", 3403, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),
	row("pg_ts_config_is_visible", 3758, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),
	row("pg_ts_dict_is_visible", 3757, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),
	row("pg_ts_parser_is_visible", 3756, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),
	row("pg_ts_template_is_visible", 3768, strict, sig(tOid), tBool, always(vec.BoolOf(true)), docVisible),

	row("format_type", 1081, stable|fails|nulls, sig(tOid, tInt4), tText, formatType, "the name of a type with its modifier"),
	row("pg_get_userbyid", 1642, strict|stable|fails, sig(tOid), tName, userByID, "the name of a role"),
	row("pg_get_expr", 1716, strict, sig(tText, tOid), tText, firstArg, docExpr),
	row("pg_get_expr", 2509, strict, sig(tText, tOid, tBool), tText, firstArg, docExpr),
	row("pg_get_viewdef", 1641, strict|stable|fails|nulls, sig(tOid), tText, asksArg(scalar.AskViewDef), docViewDef),
	row("pg_get_viewdef", 2506, strict|stable|fails|nulls, sig(tOid, tBool), tText, asksArg(scalar.AskViewDef), docViewDef),
	row("pg_get_viewdef", 3159, strict|stable|fails|nulls, sig(tOid, tInt4), tText, asksArg(scalar.AskViewDef), docViewDef),
	row("pg_get_viewdef", 1640, strict|stable|fails|nulls, sig(tText), tText, viewDefByName, docViewDef),
	row("pg_get_viewdef", 2505, strict|stable|fails|nulls, sig(tText, tBool), tText, viewDefByName, docViewDef),
	row("pg_get_indexdef", 1643, strict|stable|fails|nulls, sig(tOid), tText, asksArg(scalar.AskIndexDef), docIndexDef),
	row("pg_get_indexdef", 2507, strict|stable|fails|nulls, sig(tOid, tInt4, tBool), tText, indexColumn, docIndexDef),
	row("pg_get_constraintdef", 1387, strict|stable|fails|nulls, sig(tOid), tText, asksArg(scalar.AskConstraintDef), docConstraint),
	row("pg_get_constraintdef", 2508, strict|stable|fails|nulls, sig(tOid, tBool), tText, asksArg(scalar.AskConstraintDef),
		docConstraint),
	row("pg_get_function_result", 2165, strict|stable|fails|nulls, sig(tOid), tText, asksArg(scalar.AskProcResult),
		"what a function gives"),
	row("pg_get_function_arguments", 2162, strict|stable|fails|nulls, sig(tOid), tText, asksArg(scalar.AskProcArguments), docProcArgs),
	row("pg_get_function_identity_arguments", 2232, strict|stable|fails|nulls, sig(tOid), tText,
		asksArg(scalar.AskProcArguments), docProcArgs),
	row("pg_get_function_sqlbody", 6197, strict|nulls, sig(tOid), tText, always(vec.Null), "NULL: functions are not written in SQL"),
	row("pg_get_functiondef", 2098, strict|nulls, sig(tOid), tText, always(vec.Null), "NULL: functions are not written in SQL"),
	row("pg_get_triggerdef", 1662, strict|nulls, sig(tOid), tText, always(vec.Null), docNoTriggers),
	row("pg_get_triggerdef", 2730, strict|nulls, sig(tOid, tBool), tText, always(vec.Null), docNoTriggers),
	row("pg_get_ruledef", 1573, strict|nulls, sig(tOid), tText, always(vec.Null), docNoRules),
	row("pg_get_ruledef", 2504, strict|nulls, sig(tOid, tBool), tText, always(vec.Null), docNoRules),
	row("pg_get_partkeydef", 3352, strict|nulls, sig(tOid), tText, always(vec.Null), "NULL: there are no partitions"),
	row("pg_get_serial_sequence", 1665, strict|nulls, sig(tText, tText), tText, always(vec.Null), "NULL: there are no sequences"),
	row("pg_get_statisticsobjdef_columns", 6174, strict|nulls, sig(tOid), tText, always(vec.Null),
		"NULL: there are no extended statistics"),
	row("pg_relation_is_publishable", 6121, strict, sig(tRegclass), tBool, always(vec.BoolOf(false)), "false: there are no publications"),
	row("pg_tablespace_location", 3778, strict, sig(tOid), tText, always(vec.StrOf("")), "nothing: there are no tablespaces"),
	row("row_security_active", 3298, strict, sig(tOid), tBool, always(vec.BoolOf(false)), "false: there is no row security"),
	row("row_security_active", 3299, strict, sig(tText), tBool, always(vec.BoolOf(false)), "false: there is no row security"),

	row("obj_description", 1348, strict|stable|fails|nulls, sig(tOid), tText, asksArg(scalar.AskAnyComment), docComment),
	row("obj_description", 1215, strict|stable|fails|nulls, sig(tOid, tName), tText, objDescription, docComment),
	row("shobj_description", 1993, strict|stable|fails|nulls, sig(tOid, tName), tText, objDescription, docComment),
	row("col_description", 1216, strict|stable|fails|nulls, sig(tOid, tInt4), tText, asksPair(scalar.AskColumnComment),
		"the comment on a column"),

	row("pg_size_pretty", 2288, strict|fails, sig(tInt8), tText, sizePretty, docSize),
	row("pg_size_pretty", 3166, strict|fails, sig(tNumeric), tText, sizePretty, docSize),
	row("pg_table_size", 2997, strict|stable|fails|nulls, sig(tRegclass), tInt8, asksArg(scalar.AskRelSize), docRelSize),
	row("pg_relation_size", 2325, strict|stable|fails|nulls, sig(tRegclass), tInt8, asksArg(scalar.AskRelSize), docRelSize),
	row("pg_relation_size", 2332, strict|stable|fails|nulls, sig(tRegclass, tText), tInt8, asksArg(scalar.AskRelSize), docRelSize),
	row("pg_total_relation_size", 2286, strict|stable|fails|nulls, sig(tRegclass), tInt8, asksArg(scalar.AskRelSize), docRelSize),
	row("pg_indexes_size", 2998, strict, sig(tRegclass), tInt8, always(vec.IntOf(0)), "0: indexes are not stored"),
	row("pg_tablespace_size", 2322, strict|nulls, sig(tOid), tInt8, always(vec.Null), docTablespaceSize),
	row("pg_tablespace_size", 2323, strict|nulls, sig(tName), tInt8, always(vec.Null), docTablespaceSize),
	row("pg_database_size", 2324, strict|stable|fails|nulls, sig(tOid), tInt8, asksArg(scalar.AskDatabaseSize),
		"bytes stored for a database"),
	row("pg_database_size", 2168, strict|stable|fails|nulls, sig(tName), tInt8, databaseSizeByName, "bytes stored for a database"),
}

const (
	docDatabase       = "the database of the session"
	docUser           = "the role whose rights count"
	docSetting        = "the value of a setting"
	docVisible        = "whether the object's bare name finds it"
	docExpr           = "an expression of the catalog as text"
	docViewDef        = "the query of a view"
	docIndexDef       = "the statement that makes an index, or the expression of one of its columns"
	docConstraint     = "the definition of a constraint"
	docProcArgs       = "what a function takes"
	docNoTriggers     = "NULL: there are no triggers"
	docNoRules        = "NULL: there are no rules"
	docComment        = "the comment on an object"
	docTablespaceSize = "NULL: what is stored belongs to databases, not to tablespaces"
	docSize           = "a number of bytes as people write it"
	docRelSize        = "bytes stored for a relation"
)

// encodingUTF8 is PostgreSQL's number of the encoding.
const encodingUTF8 = 6

func encodingName(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	switch a[0].Int() {
	case 0:
		return vec.StrOf("SQL_ASCII"), nil
	case encodingUTF8:
		return vec.StrOf("UTF8"), nil
	}
	return vec.StrOf(""), nil
}

func encodingNumber(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if isUTF8(a[0].Str()) {
		return vec.IntOf(encodingUTF8), nil
	}
	return vec.IntOf(-1), nil
}

func firstArg(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return a[0], nil }

func uptime(env scalar.Env, _ []vec.Datum) (vec.Datum, error) {
	start, err := ask(env, scalar.AskStartTime, vec.Null)
	if err != nil {
		return vec.Null, err
	}
	now, err := ask(env, scalar.AskNow, vec.Null)
	if err != nil {
		return vec.Null, err
	}
	return intervalDatum(timestampSub(now.Int(), start.Int()))
}

func currentSetting(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	v, err := ask(env, scalar.AskSetting, a[0])
	if err == nil && v.IsNull() && (len(a) < 2 || !a[1].Bool()) {
		return vec.Null, pgerr.Newf(pgerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", a[0].Str())
	}
	return v, err
}

func formatType(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	switch {
	case a[0].IsNull():
		return vec.Null, nil
	case a[0].Int() == 0:
		return vec.StrOf("-"), nil
	}
	t := types.Of(types.OID(a[0].Int()))
	if !a[1].IsNull() {
		t.Mod = max(int32(a[1].Int()), types.NoMod)
	}
	switch {
	case !types.Known(t.OID):
		name, err := ask(env, scalar.AskTypeName, a[0])
		if err == nil && name.IsNull() {
			name = vec.StrOf("???")
		}
		return name, err
	case t.OID == types.OIDBpchar && t.Mod < 0 && !a[1].IsNull():
		// With a modifier that says nothing PostgreSQL gives the type's inner name, which unlike the other does not
		// mean one character.
		return vec.StrOf("bpchar"), nil
	}
	return vec.StrOf(t.String()), nil
}

func userByID(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	name, err := ask(env, scalar.AskRoleName, a[0])
	if err == nil && name.IsNull() {
		name = vec.StrOf("unknown (OID=" + itoa(a[0].Int()) + ")")
	}
	return name, err
}

func viewDefByName(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	oid, err := readNamed(env, tRegclass, a[0].Str())
	if err != nil {
		return vec.Null, err
	}
	return ask(env, scalar.AskViewDef, oid)
}

func indexColumn(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if a[1].Int() == 0 {
		return ask(env, scalar.AskIndexDef, a[0])
	}
	return ask(env, scalar.AskIndexColumn, scalar.Ask2(uint32(a[0].Int()), uint32(a[1].Int())))
}

// catalogTables are the relations whose objects have comments.
var catalogTables = map[string]uint32{
	"pg_am": 2601, "pg_attrdef": 2604, "pg_authid": 1260, "pg_cast": 2605, "pg_class": 1259, "pg_collation": 3456,
	"pg_constraint": 2606, "pg_database": 1262, "pg_language": 2612, "pg_namespace": 2615, "pg_opclass": 2616,
	"pg_operator": 2617, "pg_opfamily": 2753, "pg_proc": 1255, "pg_rewrite": 2618, "pg_tablespace": 1213,
	"pg_trigger": 2620, "pg_type": 1247,
}

func objDescription(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	class, ok := catalogTables[a[1].Str()]
	if !ok {
		return vec.Null, nil
	}
	return ask(env, scalar.AskComment, scalar.Ask2(class, uint32(a[0].Int())))
}

func databaseSizeByName(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	oid, err := ask(env, scalar.AskDatabaseOID, a[0])
	switch {
	case err != nil:
		return vec.Null, err
	case oid.IsNull():
		return vec.Null, pgerr.Newf(pgerr.InvalidCatalogName, "database \"%s\" does not exist", a[0].Str())
	}
	return ask(env, scalar.AskDatabaseSize, oid)
}

// sizeUnits are the units of pg_size_pretty: up to which number each is used, and how far it shifts.
var sizeUnits = []struct {
	name  string
	limit int64
	bits  uint
}{
	{"bytes", 10 * 1024, 0}, {"kB", 20*1024 - 1, 10}, {"MB", 20*1024 - 1, 20}, {"GB", 20*1024 - 1, 30},
	{"TB", 20*1024 - 1, 40}, {"PB", 20*1024 - 1, 50},
}

// sizePretty cuts, as PostgreSQL does, to half units and rounds these.
func sizePretty(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	var n adt.Numeric
	if a[0].Kind() == types.Int {
		n = adt.NumericFromInt(a[0].Int())
	} else {
		n = adt.NumericOf(a[0].Bytes())
	}
	shifted := uint(0)
	for i, u := range sizeUnits {
		if i > 0 {
			by := u.bits - 1 - shifted
			shifted += by
			var err error
			if n, err = n.QuoInt(adt.NumericFromInt(1 << by)); err != nil {
				return vec.Null, err
			}
		}
		if n.Abs().Cmp(adt.NumericFromInt(u.limit)) >= 0 && i < len(sizeUnits)-1 {
			continue
		}
		if i > 0 {
			half := adt.NumericFromInt(int64(max(n.Sign(), -1)))
			if n.Sign() == 0 {
				half = adt.NumericFromInt(1)
			}
			sum, err := n.Add(half)
			if err != nil {
				return vec.Null, err
			}
			if n, err = sum.QuoInt(adt.NumericFromInt(2)); err != nil {
				return vec.Null, err
			}
		}
		return vec.StrOf(n.String() + " " + u.name), nil
	}
	return vec.Null, nil
}
