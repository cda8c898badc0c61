package builtin

import (
	"fmt"
	"strings"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/vec"
)

// mzInternal is what SHOW looks at, and what changes too often to promise its shape.
func mzInternal() []relation {
	p := catalog.SchemaMzInternal
	named := "id text!, schema_id text!, name text!, comment text!"
	return []relation{
		define(p, 16700, "mz_comments", "id text!, object_type text!, object_sub_id int4, comment text!", mzComments),
		define(p, 16701, "mz_object_dependencies", "object_id text!, referenced_object_id text!", mzObjectDependencies),
		define(p, 16702, "mz_sessions", "connection_id int8!, role_id text, client_ip text, connected_at timestamptz!", mzSessions),
		define(p, 16710, "mz_show_databases", "id text!, name text!, comment text!", mzShowDatabases),
		define(p, 16711, "mz_show_schemas", "id text!, database_id text, name text!, comment text!", mzShowSchemas),
		define(p, 16712, "mz_show_tables", named, showItems(catalog.Table, catalog.SystemTable)),
		define(p, 16713, "mz_show_views", named, showItems(catalog.View, catalog.SystemView)),
		define(p, 16714, "mz_show_materialized_views", "id text!, schema_id text!, name text!, cluster_id text!, cluster text!, "+
			"comment text!", mzShowMaterializedViews),
		define(p, 16715, "mz_show_indexes", "id text!, schema_id text!, on_id text!, cluster_id text!, name text!, on text!, "+
			"cluster text!, key _text!, comment text!", mzShowIndexes),
		define(p, 16716, "mz_show_columns",
			"id text!, name text!, nullable bool!, type text!, position int8!, comment text!", mzShowColumns),
		define(p, 16717, "mz_show_clusters", "id text!, name text!, replicas text!, comment text!", mzShowClusters),
		define(p, 16718, "mz_show_cluster_replicas",
			"cluster text!, replica text!, size text!, ready bool!, comment text!", mzShowClusterReplicas),
		define(p, 16719, "mz_show_objects", "id text!, schema_id text!, name text!, type text!, comment text!", mzShowObjects),
		define(p, 16720, "mz_show_types", named, mzShowTypes),
		define(p, 16721, "mz_show_roles", "id text!, name text!, comment text!", mzShowRoles),
		define(p, 16722, "mz_show_sources", "id text!, schema_id text!, name text!, type text!, cluster_id text, cluster text, "+
			"comment text!", noRows),
		define(p, 16723, "mz_show_sinks", "id text!, schema_id text!, name text!, type text!, cluster_id text, cluster text, "+
			"comment text!", noRows),
		define(p, 16724, "mz_show_connections", "id text!, schema_id text!, name text!, type text!, comment text!", noRows),
		define(p, 16725, "mz_show_secrets", named, noRows),
		define(p, 16726, "mz_show_all_settings", "name text!, setting text!, description text!", mzShowAllSettings),
		define(p, 16730, "mz_sink_statistics", "id text!, appends int8!, empty_appends int8!, refused_appends int8!, rows int8!, "+
			"parts_object int8!, parts_inline int8!, bytes_object int8!, bytes_inline int8!, objects int8!, consensus_bytes int8!, "+
			"maintenance_consensus_bytes int8!, spills int8!, rebuilds int8!, staged_bytes int8!, staged_bytes_peak int8!, "+
			"dataflow_seconds float8!, wait_seconds float8!, encode_seconds float8!, put_seconds float8!, append_seconds float8!",
			mzSinkStatistics),
	}
}

func mzComments(in *input, out *vec.Block) {
	add := func(of vec.Datum, kind string, sub vec.Datum, text string) {
		if text != "" {
			out.AppendRow(1, of, str(kind), sub, str(text))
		}
	}
	for d := range in.Catalog.Databases() {
		add(id(d.ID), "database", null, d.Comment)
	}
	for c := range in.Catalog.Schemas() {
		add(id(c.ID), "schema", null, c.Comment)
	}
	for it := range in.Catalog.Items() {
		add(id(it.ID), kindName(it.Kind), null, it.Comment)
		for i := range it.ColumnComments {
			add(id(it.ID), kindName(it.Kind), num(i+1), it.ColumnComment(i))
		}
	}
	for c := range in.Catalog.Clusters() {
		add(id(c.ID), "cluster", null, c.Comment)
	}
	for r := range in.Catalog.Roles() {
		add(id(r.ID), "role", null, r.Comment)
	}
}

func mzObjectDependencies(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind == catalog.Index {
			out.AppendRow(1, id(it.ID), id(it.On))
			continue
		}
		for _, on := range it.DependsOn {
			out.AppendRow(1, id(it.ID), id(on))
		}
	}
}

func mzSessions(in *input, out *vec.Block) {
	for _, s := range in.Sessions() {
		role := null
		if r := in.Catalog.RoleNamed(s.User); r != nil {
			role = id(r.ID)
		}
		out.AppendRow(1, oid(s.PID), role, orNull(s.Addr), at(s.Started))
	}
}

func mzShowDatabases(in *input, out *vec.Block) {
	for d := range in.Catalog.Databases() {
		out.AppendRow(1, id(d.ID), str(d.Name), str(d.Comment))
	}
}

func mzShowSchemas(in *input, out *vec.Block) {
	for c := range in.Catalog.Schemas() {
		out.AppendRow(1, id(c.ID), idOrNull(c.Database), str(c.Name), str(c.Comment))
	}
}

// showItems makes the rows of the items of two kinds.
func showItems(a, b catalog.Kind) func(in *input, out *vec.Block) {
	return func(in *input, out *vec.Block) {
		for it := range in.Catalog.Items() {
			if it.Kind == a || it.Kind == b {
				out.AppendRow(1, id(it.ID), id(it.Schema), str(it.Name), str(it.Comment))
			}
		}
	}
}

func mzShowMaterializedViews(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind == catalog.MaterializedView {
			out.AppendRow(1, id(it.ID), id(it.Schema), str(it.Name), id(it.Cluster),
				str(in.Catalog.Cluster(it.Cluster).Name), str(it.Comment))
		}
	}
}

func mzShowIndexes(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind != catalog.Index {
			continue
		}
		on := in.Catalog.Item(it.On)
		key := make([]string, len(it.Key))
		for i, k := range it.Key {
			key[i] = k.SQL
			if k.Column >= 0 {
				key[i] = on.Rel.Cols[k.Column].Name
			}
		}
		out.AppendRow(1, id(it.ID), id(it.Schema), id(it.On), id(it.Cluster), str(it.Name), str(on.Name),
			str(in.Catalog.Cluster(it.Cluster).Name), TextArray(key), str(it.Comment))
	}
}

func mzShowColumns(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind == catalog.Index {
			continue
		}
		for i, c := range it.Rel.Cols {
			out.AppendRow(1, id(it.ID), str(c.Name), boolean(c.Nullable), str(typeName(c.Type)), num(i+1), str(it.ColumnComment(i)))
		}
	}
}

func mzShowClusters(in *input, out *vec.Block) {
	for c := range in.Catalog.Clusters() {
		list := make([]string, len(c.Replicas))
		for i, r := range c.Replicas {
			list[i] = fmt.Sprintf("%s (%v)", r.Name, r.Size)
		}
		out.AppendRow(1, id(c.ID), str(c.Name), str(strings.Join(list, ", ")), str(c.Comment))
	}
}

func mzShowClusterReplicas(in *input, out *vec.Block) {
	for c := range in.Catalog.Clusters() {
		for _, r := range c.Replicas {
			out.AppendRow(1, str(c.Name), str(r.Name), str(r.Size.String()), boolean(true), str(""))
		}
	}
}

func mzShowObjects(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		out.AppendRow(1, id(it.ID), id(it.Schema), str(it.Name), str(kindName(it.Kind)), str(it.Comment))
	}
}

func mzShowTypes(_ *input, out *vec.Block) {
	for t := range allTypes() {
		out.AppendRow(1, id(typeID(t)), id(typeSchema(t)), str(t.Name()), str(""))
	}
}

func mzShowRoles(in *input, out *vec.Block) {
	for r := range in.Catalog.Roles() {
		out.AppendRow(1, id(r.ID), str(r.Name), str(r.Comment))
	}
}

func mzShowAllSettings(in *input, out *vec.Block) {
	for _, s := range in.Settings() {
		out.AppendRow(1, str(s.Name), str(s.Value), str(s.Doc))
	}
}

// mzSinkStatistics has a row for every materialized view.
func mzSinkStatistics(in *input, out *vec.Block) {
	for it := range in.Catalog.Items() {
		if it.Kind != catalog.MaterializedView {
			continue
		}
		s := in.Sink(it.ID)
		took := func(p controller.SinkPhase) vec.Datum { return seconds(s.Phases[p].Total) }
		out.AppendRow(1, id(it.ID), num(s.Appends), num(s.EmptyAppends), num(s.Refused), num(s.Rows),
			num(s.ObjectParts), num(s.InlineParts), num(s.ObjectBytes), num(s.InlineBytes), num(s.Objects), num(s.AppendBytes),
			num(s.MaintenanceBytes), num(s.Spills), num(s.Rebuilds), num(s.StagedBytes), num(s.StagedBytesPeak),
			took(controller.SinkDataflow),
			took(controller.SinkWait), took(controller.SinkEncode), took(controller.SinkPut), took(controller.SinkStep))
	}
}
