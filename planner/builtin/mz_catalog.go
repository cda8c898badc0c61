package builtin

import (
	"strconv"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// mzCatalog is the catalog by id, in Materialize's shape: all databases at once.
func mzCatalog() []relation {
	p := catalog.SchemaMzCatalog
	sql := ", create_sql text, redacted_create_sql text"
	object := "id text!, oid oid!, schema_id text!, name text!, type text!, owner_id text!, cluster_id text, privileges _aclitem"
	return []relation{
		define(p, 16600, "mz_databases", "id text!, oid oid!, name text!, owner_id text!, privileges _aclitem", mzDatabases),
		define(p, 16601, "mz_schemas",
			"id text!, oid oid!, database_id text, name text!, owner_id text!, privileges _aclitem", mzSchemas),
		define(p, 16602, "mz_objects", object, mzObjects),
		define(p, 16603, "mz_relations", object, mzRelations),
		define(p, 16604, "mz_tables", "id text!, oid oid!, schema_id text!, name text!, owner_id text!, privileges _aclitem"+sql+
			", source_id text", mzTables),
		define(p, 16605, "mz_views", "id text!, oid oid!, schema_id text!, name text!, definition text!, owner_id text!, "+
			"privileges _aclitem"+sql, mzViews),
		define(p, 16606, "mz_materialized_views", "id text!, oid oid!, schema_id text!, name text!, cluster_id text!, "+
			"definition text!, owner_id text!, privileges _aclitem"+sql, mzMaterializedViews),
		define(p, 16607, "mz_indexes", "id text!, oid oid!, name text!, on_id text!, cluster_id text!, owner_id text!"+sql, mzIndexes),
		define(p, 16608, "mz_index_columns", "index_id text!, index_position int8!, on_position int8, on_expression text, "+
			"nullable bool!", mzIndexColumns),
		define(p, 16609, "mz_columns", "id text!, name text!, position int8!, nullable bool!, type text!, default text, "+
			"type_oid oid!, type_mod int4!", mzColumns),
		define(p, 16610, "mz_types", "id text!, oid oid!, schema_id text!, name text!, category text!, owner_id text!, "+
			"privileges _aclitem"+sql, mzTypes),
		define(p, 16611, "mz_base_types", "id text!", mzBaseTypes),
		define(p, 16612, "mz_array_types", "id text!, element_id text!", mzArrayTypes),
		define(p, 16613, "mz_pseudo_types", "id text!", mzPseudoTypes),
		define(p, 16614, "mz_list_types", "id text!, element_id text!, element_modifiers _int8", noRows),
		define(p, 16615, "mz_map_types", "id text!, key_id text!, value_id text!, key_modifiers _int8, value_modifiers _int8", noRows),
		define(p, 16616, "mz_clusters", "id text!, name text!, owner_id text!, privileges _aclitem, managed bool!, size text, "+
			"replication_factor int4, disk bool, availability_zones _text, introspection_debugging bool, "+
			"introspection_interval interval", mzClusters),
		define(p, 16617, "mz_cluster_replicas", "id text!, name text!, cluster_id text!, size text, availability_zone text, "+
			"owner_id text!, disk bool", mzClusterReplicas),
		define(p, 16618, "mz_cluster_replica_sizes", "size text!, processes int8!, workers int8!, cpu_nano_cores int8, "+
			"memory_bytes int8, disk_bytes int8, credits_per_hour numeric", mzClusterReplicaSizes),
		define(p, 16619, "mz_roles", "id text!, oid oid!, name text!, inherit bool!, rolcanlogin bool, rolsuper bool", mzRoles),
		define(p, 16620, "mz_role_members", "role_id text!, member text!, grantor text!", noRows),
		define(p, 16621, "mz_role_parameters", "role_id text!, parameter_name text!, parameter_value text!", noRows),
		define(p, 16622, "mz_system_privileges", "privileges aclitem!", noRows),
		define(p, 16623, "mz_default_privileges", "role_id text!, database_id text, schema_id text, object_type text!, "+
			"grantee text!, privileges aclitem!", noRows),
		define(p, 16624, "mz_sources", "id text!, oid oid!, schema_id text!, name text!, type text!, connection_id text, size text, "+
			"envelope_type text, key_format text, value_format text, cluster_id text, owner_id text!, privileges _aclitem"+sql, noRows),
		define(p, 16625, "mz_sinks", "id text!, oid oid!, schema_id text!, name text!, type text!, connection_id text, size text, "+
			"envelope_type text, format text, key_format text, value_format text, cluster_id text, owner_id text!"+sql, noRows),
		define(p, 16626, "mz_connections", "id text!, oid oid!, schema_id text!, name text!, type text!, owner_id text!, "+
			"privileges _aclitem"+sql, noRows),
		define(p, 16627, "mz_secrets", "id text!, oid oid!, schema_id text!, name text!, owner_id text!, privileges _aclitem", noRows),
	}
}

// kindName is a kind as mz_objects names it.
func kindName(k catalog.Kind) string {
	if k == catalog.MaterializedView {
		return "materialized-view"
	}
	return k.String()
}

// createSQL is an item's CREATE statement; NULL for what no statement made.
func (in *input) createSQL(it *catalog.Item) vec.Datum {
	if it.Kind.System() {
		return null
	}
	return str(in.Catalog.CreateSQL(it))
}

func mzDatabases(in *input, out *vec.Block) {
	for d := range in.Catalog.Databases() {
		out.AppendRow(1, id(d.ID), oid(d.OID), str(d.Name), id(d.Owner), null)
	}
}

func mzSchemas(in *input, out *vec.Block) {
	for c := range in.Catalog.Schemas() {
		out.AppendRow(1, id(c.ID), oid(c.OID), idOrNull(c.Database), str(c.Name), id(c.Owner), null)
	}
}

func mzObjects(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		out.AppendRow(1, id(it.ID), oid(it.OID), id(it.Schema), str(it.Name), str(kindName(it.Kind)), id(it.Owner),
			idOrNull(it.Cluster), null)
	}
	for t := range allTypes() {
		out.AppendRow(1, id(typeID(t)), oid(uint32(t.OID)), id(typeSchema(t)), str(t.Name()), str("type"),
			id(catalog.RoleSystem), null, null)
	}
}

func mzRelations(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind != catalog.Index {
			out.AppendRow(1, id(it.ID), oid(it.OID), id(it.Schema), str(it.Name), str(kindName(it.Kind)), id(it.Owner),
				idOrNull(it.Cluster), null)
		}
	}
}

func mzTables(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind == catalog.Table || it.Kind == catalog.SystemTable {
			sql := in.createSQL(it)
			out.AppendRow(1, id(it.ID), oid(it.OID), id(it.Schema), str(it.Name), id(it.Owner), null, sql, sql, null)
		}
	}
}

func mzViews(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind.IsView() {
			sql := in.createSQL(it)
			out.AppendRow(1, id(it.ID), oid(it.OID), id(it.Schema), str(it.Name), str(viewDefinition(in.Catalog, it)),
				id(it.Owner), null, sql, sql)
		}
	}
}

func mzMaterializedViews(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind == catalog.MaterializedView {
			sql := in.createSQL(it)
			out.AppendRow(1, id(it.ID), oid(it.OID), id(it.Schema), str(it.Name), id(it.Cluster), str(viewDefinition(in.Catalog, it)),
				id(it.Owner), null, sql, sql)
		}
	}
}

func mzIndexes(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind == catalog.Index {
			sql := in.createSQL(it)
			out.AppendRow(1, id(it.ID), oid(it.OID), str(it.Name), id(it.On), id(it.Cluster), id(it.Owner), sql, sql)
		}
	}
}

func mzIndexColumns(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		for i, k := range it.Key {
			column, expression := null, null
			if k.Column >= 0 {
				column = num(k.Column + 1)
			} else {
				expression = str(k.SQL)
			}
			out.AppendRow(1, id(it.ID), num(i+1), column, expression, boolean(it.Rel.Cols[i].Nullable))
		}
	}
}

func mzColumns(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind == catalog.Index {
			continue
		}
		for i, c := range it.Rel.Cols {
			out.AppendRow(1, id(it.ID), str(c.Name), num(i+1), boolean(c.Nullable), str(typeName(c.Type)), orNull(it.Default(i)),
				oid(uint32(c.Type.OID)), num(int64(c.Type.Mod)))
		}
	}
}

// typeName is a type's name without its modifier, as SHOW COLUMNS and mz_columns show it.
func typeName(t types.T) string { return types.Of(t.OID).String() }

// typeID is a type's id: as those of relations, s and the OID.
func typeID(t types.T) tvc.ID { return tvc.ID{Class: 's', N: uint64(t.OID)} }

// categories names pg_type's categories as mz_types does.
func category(t types.T) string {
	switch t.Category() {
	case 'A':
		return "array"
	case 'B':
		return "boolean"
	case 'D':
		return "date-time"
	case 'N':
		return "numeric"
	case 'P', 'X':
		return "pseudo"
	case 'S':
		return "string"
	case 'T':
		return "timespan"
	}
	return "user-defined"
}

func mzTypes(_ *input, out *vec.Block) {
	for t := range allTypes() {
		out.AppendRow(1, id(typeID(t)), oid(uint32(t.OID)), id(typeSchema(t)), str(t.Name()), str(category(t)),
			id(catalog.RoleSystem), null, null, null)
	}
}

func mzBaseTypes(_ *input, out *vec.Block) {
	for t := range allTypes() {
		if category(t) != "pseudo" && category(t) != "array" {
			out.AppendRow(1, id(typeID(t)))
		}
	}
}

func mzArrayTypes(_ *input, out *vec.Block) {
	for t := range allTypes() {
		if e, ok := t.Elem(); ok {
			out.AppendRow(1, id(typeID(t)), id(typeID(e)))
		}
	}
}

func mzPseudoTypes(_ *input, out *vec.Block) {
	for t := range allTypes() {
		if category(t) == "pseudo" {
			out.AppendRow(1, id(typeID(t)))
		}
	}
}

func mzClusters(in *input, out *vec.Block) {
	for c := range in.Catalog.Clusters() {
		out.AppendRow(1, id(c.ID), str(c.Name), id(c.Owner), null, boolean(true), str(c.Size.String()), num(len(c.Replicas)),
			null, null, null, null)
	}
}

func mzClusterReplicas(in *input, out *vec.Block) {
	for c := range in.Catalog.Clusters() {
		for _, r := range c.Replicas {
			out.AppendRow(1, id(r.ID), str(r.Name), id(c.ID), str(r.Size.String()), null, id(c.Owner), null)
		}
	}
}

// mzClusterReplicaSizes has the sizes in use: every size up to a limit may be asked for.
func mzClusterReplicaSizes(in *input, out *vec.Block) {
	seen := map[catalog.Size]bool{}
	for c := range in.Catalog.Clusters() {
		if !seen[c.Size] {
			seen[c.Size] = true
			out.AppendRow(1, str(c.Size.String()), num(c.Size.Scale), num(c.Size.Workers), null, null, null, null)
		}
	}
}

func mzRoles(in *input, out *vec.Block) {
	for r := range in.Catalog.Roles() {
		out.AppendRow(1, id(r.ID), oid(r.OID), str(r.Name), boolean(true), boolean(true), boolean(r.Super))
	}
}

// position is a position from 0 as text that counts from 1.
func position(i int) string { return strconv.Itoa(i + 1) }
