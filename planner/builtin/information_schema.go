package builtin

import (
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// infoRelations are the relations of the SQL standard's view of the catalog, in the shape PostgreSQL gives it. Its domains
// are their base types here.
var infoRelations = []struct {
	oid           uint32
	name, columns string
	rows          func(in *input, out *vec.Block)
}{
	{13227, "information_schema_catalog_name",
		"catalog_name name",
		infoCatalogName},
	{13382, "schemata",
		"catalog_name name, schema_name name, schema_owner name, default_character_set_catalog name, " +
			"default_character_set_schema name, default_character_set_name name, sql_path varchar",
		infoSchemata},
	{13425, "tables",
		"table_catalog name, table_schema name, table_name name, table_type varchar, self_referencing_column_name name, " +
			"reference_generation varchar, user_defined_type_catalog name, user_defined_type_schema name, " +
			"user_defined_type_name name, is_insertable_into varchar, is_typed varchar, commit_action varchar",
		infoTables},
	{13295, "columns",
		"table_catalog name, table_schema name, table_name name, column_name name, ordinal_position int4, " +
			"column_default varchar, is_nullable varchar, data_type varchar, character_maximum_length int4, " +
			"character_octet_length int4, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, " +
			"datetime_precision int4, interval_type varchar, interval_precision int4, character_set_catalog name, " +
			"character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, collation_name name, " +
			"domain_catalog name, domain_schema name, domain_name name, udt_catalog name, udt_schema name, udt_name name, " +
			"scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name, " +
			"is_self_referencing varchar, is_identity varchar, identity_generation varchar, identity_start varchar, " +
			"identity_increment varchar, identity_maximum varchar, identity_minimum varchar, identity_cycle varchar, " +
			"is_generated varchar, generation_expression varchar, is_updatable varchar",
		infoColumns},
	{13483, "views",
		"table_catalog name, table_schema name, table_name name, view_definition varchar, check_option varchar, " +
			"is_updatable varchar, is_insertable_into varchar, is_trigger_updatable varchar, is_trigger_deletable varchar, " +
			"is_trigger_insertable_into varchar",
		infoViews},
	{13325, "enabled_roles",
		"role_name name",
		infoEnabledRoles},
	{13236, "applicable_roles",
		"grantee name, role_name name, is_grantable varchar",
		noRows},
	{13250, "character_sets",
		"character_set_catalog name, character_set_schema name, character_set_name name, character_repertoire name, " +
			"form_of_use name, default_collate_catalog name, default_collate_schema name, default_collate_name name",
		infoCharacterSets},
	{13416, "table_privileges",
		"grantor name, grantee name, table_catalog name, table_schema name, table_name name, privilege_type varchar, " +
			"is_grantable varchar, with_hierarchy varchar",
		infoTablePrivileges},
	{13421, "role_table_grants",
		"grantor name, grantee name, table_catalog name, table_schema name, table_name name, privilege_type varchar, " +
			"is_grantable varchar, with_hierarchy varchar",
		infoTablePrivileges},
	{13478, "view_table_usage",
		"view_catalog name, view_schema name, view_name name, table_catalog name, table_schema name, table_name name",
		infoViewTableUsage},
	{13493, "element_types",
		"object_catalog name, object_schema name, object_name name, object_type varchar, collection_type_identifier name, " +
			"data_type varchar, character_maximum_length int4, character_octet_length int4, character_set_catalog name, " +
			"character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, collation_name name, " +
			"numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, " +
			"interval_type varchar, interval_precision int4, domain_default varchar, udt_catalog name, udt_schema name, " +
			"udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name",
		infoElementTypes},
	{13411, "table_constraints",
		"constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema name, " +
			"table_name name, constraint_type varchar, is_deferrable varchar, initially_deferred varchar, enforced varchar, " +
			"nulls_distinct varchar",
		noRows},
	{13329, "key_column_usage",
		"constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema name, " +
			"table_name name, column_name name, ordinal_position int4, position_in_unique_constraint int4",
		noRows},
	{13386, "sequences",
		"sequence_catalog name, sequence_schema name, sequence_name name, data_type varchar, numeric_precision int4, " +
			"numeric_precision_radix int4, numeric_scale int4, start_value varchar, minimum_value varchar, maximum_value varchar, " +
			"increment varchar, cycle_option varchar",
		noRows},
	{13300, "constraint_column_usage",
		"table_catalog name, table_schema name, table_name name, column_name name, constraint_catalog name, " +
			"constraint_schema name, constraint_name name",
		noRows},
	{13305, "constraint_table_usage",
		"table_catalog name, table_schema name, table_name name, constraint_catalog name, constraint_schema name, " +
			"constraint_name name",
		noRows},
	{13339, "referential_constraints",
		"constraint_catalog name, constraint_schema name, constraint_name name, unique_constraint_catalog name, " +
			"unique_constraint_schema name, unique_constraint_name name, match_option varchar, update_rule varchar, " +
			"delete_rule varchar",
		noRows},
	{13260, "check_constraints",
		"constraint_catalog name, constraint_schema name, constraint_name name, check_clause varchar",
		noRows},
	{13285, "column_privileges",
		"grantor name, grantee name, table_catalog name, table_schema name, table_name name, column_name name, " +
			"privilege_type varchar, is_grantable varchar",
		noRows},
	{13440, "triggers",
		"trigger_catalog name, trigger_schema name, trigger_name name, event_manipulation varchar, event_object_catalog name, " +
			"event_object_schema name, event_object_table name, action_order int4, action_condition varchar, " +
			"action_statement varchar, action_orientation varchar, action_timing varchar, action_reference_old_table name, " +
			"action_reference_new_table name, action_reference_old_row name, action_reference_new_row name, created timestamptz",
		noRows},
	{13320, "domains",
		"domain_catalog name, domain_schema name, domain_name name, data_type varchar, character_maximum_length int4, " +
			"character_octet_length int4, character_set_catalog name, character_set_schema name, character_set_name name, " +
			"collation_catalog name, collation_schema name, collation_name name, numeric_precision int4, " +
			"numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, " +
			"interval_precision int4, domain_default varchar, udt_catalog name, udt_schema name, udt_name name, scope_catalog name, " +
			"scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name",
		noRows},
	{13454, "usage_privileges",
		"grantor name, grantee name, object_catalog name, object_schema name, object_name name, object_type varchar, " +
			"privilege_type varchar, is_grantable varchar",
		noRows},
	{13377, "routines",
		"specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema name, " +
			"routine_name name, routine_type varchar, module_catalog name, module_schema name, module_name name, udt_catalog name, " +
			"udt_schema name, udt_name name, data_type varchar, character_maximum_length int4, character_octet_length int4, " +
			"character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, " +
			"collation_schema name, collation_name name, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, " +
			"datetime_precision int4, interval_type varchar, interval_precision int4, type_udt_catalog name, type_udt_schema name, " +
			"type_udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, " +
			"dtd_identifier name, routine_body varchar, routine_definition varchar, external_name varchar, " +
			"external_language varchar, parameter_style varchar, is_deterministic varchar, sql_data_access varchar, " +
			"is_null_call varchar, sql_path varchar, schema_level_routine varchar, max_dynamic_result_sets int4, " +
			"is_user_defined_cast varchar, is_implicitly_invocable varchar, security_type varchar, to_sql_specific_catalog name, " +
			"to_sql_specific_schema name, to_sql_specific_name name, as_locator varchar, created timestamptz, " +
			"last_altered timestamptz, new_savepoint_level varchar, is_udt_dependent varchar, result_cast_from_data_type varchar, " +
			"result_cast_as_locator varchar, result_cast_char_max_length int4, result_cast_char_octet_length int4, " +
			"result_cast_char_set_catalog name, result_cast_char_set_schema name, result_cast_char_set_name name, " +
			"result_cast_collation_catalog name, result_cast_collation_schema name, result_cast_collation_name name, " +
			"result_cast_numeric_precision int4, result_cast_numeric_precision_radix int4, result_cast_numeric_scale int4, " +
			"result_cast_datetime_precision int4, result_cast_interval_type varchar, result_cast_interval_precision int4, " +
			"result_cast_type_udt_catalog name, result_cast_type_udt_schema name, result_cast_type_udt_name name, " +
			"result_cast_scope_catalog name, result_cast_scope_schema name, result_cast_scope_name name, " +
			"result_cast_maximum_cardinality int4, result_cast_dtd_identifier name",
		noRows},
	{13334, "parameters",
		"specific_catalog name, specific_schema name, specific_name name, ordinal_position int4, parameter_mode varchar, " +
			"is_result varchar, as_locator varchar, parameter_name name, data_type varchar, character_maximum_length int4, " +
			"character_octet_length int4, character_set_catalog name, character_set_schema name, character_set_name name, " +
			"collation_catalog name, collation_schema name, collation_name name, numeric_precision int4, " +
			"numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, " +
			"interval_precision int4, udt_catalog name, udt_schema name, udt_name name, scope_catalog name, scope_schema name, " +
			"scope_name name, maximum_cardinality int4, dtd_identifier name, parameter_default varchar",
		noRows},
}

// informationSchema are the relations of information_schema.
func informationSchema() []relation {
	var list []relation
	for _, r := range infoRelations {
		list = append(list, define(catalog.SchemaInformationSchema, r.oid, r.name, r.columns, r.rows))
	}
	return list
}

// here is the session's database as every row of the schema begins with it.
func (in *input) here() vec.Datum { return str(in.Database) }

func yesNo(x bool) vec.Datum {
	if x {
		return str("YES")
	}
	return str("NO")
}

func infoCatalogName(in *input, out *vec.Block) { out.AppendRow(1, in.here()) }

func infoSchemata(in *input, out *vec.Block) {
	for c := range in.schemas() {
		out.AppendRow(1, in.here(), str(c.Name), str(in.roleName(c.Owner)), null, null, null, null)
	}
}

// shown says whether information_schema shows an item: it knows neither indexes nor materialized views, but
// these are what a user most looks for, so materialized views count as views here.
func shown(it *catalog.Item) bool { return it.Kind != catalog.Index }

func infoTables(in *input, out *vec.Block) {
	for it := range in.items() {
		if !shown(it) {
			continue
		}
		kind := "BASE TABLE"
		switch it.Kind {
		case catalog.View, catalog.SystemView:
			kind = "VIEW"
		case catalog.MaterializedView:
			kind = "MATERIALIZED VIEW"
		}
		out.AppendRow(1, in.here(), str(in.schemaName(it)), str(it.Name), str(kind), null, null, null, null, null,
			yesNo(it.Kind == catalog.Table), str("NO"), null)
	}
}

func infoColumns(in *input, out *vec.Block) {
	for it := range in.items() {
		if !shown(it) {
			continue
		}
		for i, c := range it.Rel.Cols {
			d := describe(c.Type)
			no := str("NO")
			out.AppendRow(1, in.here(), str(in.schemaName(it)), str(it.Name), str(c.Name), num(i+1), orNull(it.Default(i)),
				yesNo(c.Nullable), str(d.name), d.maxLength, d.octets, d.precision, d.radix, d.scale, d.datetime,
				d.intervalType, null, null, null, null, null, null, null,
				null, null, null, in.here(), str(in.Catalog.Schema(typeSchema(c.Type)).Name), str(c.Type.Name()),
				null, null, null, null, str(position(i)), no, no, null,
				null, null, null, null, no, str("NEVER"), null,
				yesNo(it.Kind == catalog.Table))
		}
	}
}

// description is what information_schema says of a column's type.
type description struct {
	name                                                               string
	maxLength, octets, precision, radix, scale, datetime, intervalType vec.Datum
}

// maxOctets is what PostgreSQL says of text without a length: 2^30.
const maxOctets = 1 << 30

func describe(t types.T) description {
	d := description{name: types.Of(t.OID).String()}
	if t.IsArray() {
		d.name = "ARRAY"
		return d
	}
	set := func(precision, radix, scale int) {
		d.precision, d.radix, d.scale = num(precision), num(radix), num(scale)
	}
	switch t.OID {
	case types.OIDText, types.OIDName:
		if t.OID == types.OIDText {
			d.octets = num(maxOctets)
		}
	case types.OIDVarchar, types.OIDBpchar:
		d.octets = num(maxOctets)
		if t.Mod >= 4 {
			// A character takes four bytes at most.
			d.maxLength, d.octets = num(int64(t.Mod-4)), num(int64(t.Mod-4)*4)
		}
	case types.OIDInt2:
		set(16, 2, 0)
	case types.OIDInt4:
		set(32, 2, 0)
	case types.OIDInt8:
		set(64, 2, 0)
	case types.OIDFloat4:
		set(24, 2, 0)
		d.scale = null
	case types.OIDFloat8:
		set(53, 2, 0)
		d.scale = null
	case types.OIDNumeric:
		d.radix = num(10)
		if t.Mod >= 4 {
			set(int(t.Mod-4)>>16, 10, int(t.Mod-4)&0x7ff)
		}
	case types.OIDDate:
		d.datetime = num(0)
	case types.OIDTime, types.OIDTimestamp, types.OIDTimestampTZ, types.OIDInterval:
		d.datetime = num(6)
		if t.Mod >= 0 && t.OID != types.OIDInterval {
			d.datetime = num(int64(t.Mod))
		}
	}
	return d
}

func infoViews(in *input, out *vec.Block) {
	for it := range in.items() {
		if it.Kind == catalog.View || it.Kind == catalog.SystemView || it.Kind == catalog.MaterializedView {
			no := str("NO")
			out.AppendRow(1, in.here(), str(in.schemaName(it)), str(it.Name), str(viewDefinition(in.Catalog, it)), str("NONE"),
				no, no, no, no, no)
		}
	}
}

func infoEnabledRoles(in *input, out *vec.Block) {
	for r := range in.Catalog.Roles() {
		out.AppendRow(1, str(r.Name))
	}
}

func infoCharacterSets(in *input, out *vec.Block) {
	out.AppendRow(1, null, null, str("UTF8"), str("UCS"), str("UTF8"), in.here(), str("pg_catalog"), str("C"))
}

// infoTablePrivileges are the owner's rights on each relation: all that there are.
func infoTablePrivileges(in *input, out *vec.Block) {
	for it := range in.items() {
		if !shown(it) {
			continue
		}
		rights := []string{"SELECT"}
		if it.Kind == catalog.Table {
			rights = []string{"DELETE", "INSERT", "SELECT", "UPDATE"}
		}
		owner := str(in.roleName(it.Owner))
		for _, r := range rights {
			out.AppendRow(1, owner, owner, in.here(), str(in.schemaName(it)), str(it.Name), str(r), str("YES"), yesNo(r == "SELECT"))
		}
	}
}

func infoViewTableUsage(in *input, out *vec.Block) {
	for it := range in.items() {
		if it.Kind == catalog.Index {
			continue
		}
		for _, on := range it.DependsOn {
			used := in.Catalog.Item(on)
			out.AppendRow(1, in.here(), str(in.schemaName(it)), str(it.Name), in.here(), str(in.schemaName(used)), str(used.Name))
		}
	}
}

func infoElementTypes(in *input, out *vec.Block) {
	for it := range in.items() {
		for i, c := range it.Rel.Cols {
			e, ok := c.Type.Elem()
			if !ok || !shown(it) {
				continue
			}
			kind := "TABLE"
			if it.Kind != catalog.Table && it.Kind != catalog.SystemTable {
				kind = "VIEW"
			}
			d := describe(e)
			out.AppendRow(1, in.here(), str(in.schemaName(it)), str(it.Name), str(kind), str(position(i)), str(d.name),
				null, null, null, null, null, null, null, null, null, null, null, null, null, null,
				null, in.here(), str(in.Catalog.Schema(typeSchema(e)).Name), str(e.Name()), null, null,
				null, null, str("a"+position(i)))
		}
	}
}
