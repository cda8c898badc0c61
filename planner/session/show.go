package session

import (
	"fmt"
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/ddl"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// showColumns describes what SHOW gives.
func (s *Session) showColumns(st *ast.ShowVar) ([]Column, error) {
	if st.Name == "" {
		return []Column{{"name", types.TText}, {"setting", types.TText}, {"description", types.TText}}, nil
	}
	p, err := s.m.Settings.Lookup(st.Name)
	if err != nil {
		return nil, err
	}
	return []Column{{p.Name(), types.TText}}, nil
}

// showVar is SHOW of a variable, or of all.
func (s *Session) showVar(st *ast.ShowVar) (*Result, error) {
	cols, err := s.showColumns(st)
	if err != nil {
		return nil, err
	}
	var rows *fixedRows
	if st.Name == "" {
		var list [][]string
		for _, v := range s.allSettings() {
			list = append(list, []string{v.Name, v.Value, v.Doc})
		}
		rows = textRows(list...)
	} else {
		value, err := s.show(st.Name)
		if err != nil {
			return nil, err
		}
		rows = textRows([]string{value})
	}
	return &Result{Columns: cols, rows: &blockReader{rows: rows}, tag: func(int64) string { return "SHOW" }}, nil
}

// showObjects is SHOW TABLES and its like.
func (s *Session) showObjects(stmt *statement, st *ast.ShowObjects) (*Result, error) {
	q, err := s.newPlanner(stmt, nil).showQuery(st)
	if err != nil {
		return nil, err
	}
	return s.query(stmt, q, nil)
}

// showList is what one kind of SHOW lists.
type showList struct {
	relation, columns string
	// scope is the column that FROM restricts: the id of a schema, of a database, or of nothing.
	scope string
	order string
}

func showLists() map[ast.ObjectKind]showList {
	return map[ast.ObjectKind]showList{
		ast.KindDatabase:         {"mz_show_databases", "name, comment", "", "name"},
		ast.KindSchema:           {"mz_show_schemas", "name, comment", "database_id", "name"},
		ast.KindTable:            {"mz_show_tables", "name, comment", "schema_id", "name"},
		ast.KindView:             {"mz_show_views", "name, comment", "schema_id", "name"},
		ast.KindMaterializedView: {"mz_show_materialized_views", "name, cluster, comment", "schema_id", "name"},
		ast.KindIndex:            {"mz_show_indexes", `name, "on", cluster, key, comment`, "schema_id", "name"},
		ast.KindColumn:           {"mz_show_columns", "name, nullable, type, comment", "id", "position"},
		ast.KindCluster:          {"mz_show_clusters", "name, replicas, comment", "", "name"},
		ast.KindClusterReplica:   {"mz_show_cluster_replicas", "cluster, replica, size, ready, comment", "", "cluster, replica"},
		ast.KindObject:           {"mz_show_objects", "name, type, comment", "schema_id", "name"},
		ast.KindType:             {"mz_show_types", "name, comment", "schema_id", "name"},
		ast.KindRole:             {"mz_show_roles", "name, comment", "", "name"},
		ast.KindSource:           {"mz_show_sources", "name, type, cluster, comment", "schema_id", "name"},
		ast.KindSink:             {"mz_show_sinks", "name, type, cluster, comment", "schema_id", "name"},
		ast.KindConnection:       {"mz_show_connections", "name, type, comment", "schema_id", "name"},
		ast.KindSecret:           {"mz_show_secrets", "name, comment", "schema_id", "name"},
	}
}

// showQuery gives the query that a SHOW stands for. The list is one of the system's relations; FROM, ON and IN CLUSTER
// become conditions on ids, LIKE and WHERE are conditions on what is shown.
func (p *planner) showQuery(st *ast.ShowObjects) (*ast.Query, error) {
	list, ok := showLists()[st.Kind]
	if !ok {
		return nil, pgerr.Unsupported("SHOW %s", st.Kind.Plural()).At(st.Position())
	}
	conds, err := p.showScope(st, list)
	if err != nil {
		return nil, err
	}
	if st.Cluster != "" {
		c, err := p.s.cluster(p.snapshot, st.Cluster)
		if err != nil {
			return nil, err
		}
		conds = append(conds, fmt.Sprintf("cluster_id = '%v'", c.ID))
	}
	sql := fmt.Sprintf("SELECT * FROM (SELECT %s FROM mz_internal.%s", list.columns, list.relation)
	if list.order == "position" {
		// The order is not among what is shown.
		sql = fmt.Sprintf("SELECT %s FROM (SELECT %s, position FROM mz_internal.%s", list.columns, list.columns, list.relation)
	}
	if len(conds) > 0 {
		sql += " WHERE " + strings.Join(conds, " AND ")
	}
	sql += ") AS shown"
	if st.Like != nil {
		sql += " WHERE name LIKE " + quoteLiteral(*st.Like)
	}
	sql += " ORDER BY " + list.order
	parsed, err := parser.Parse(sql)
	if err != nil {
		return nil, err
	}
	q := parsed[0].AST.(*ast.Query)
	if st.Where != nil {
		q.Body.(*ast.Select).Where = st.Where
	}
	return q, nil
}

// showScope gives the conditions that FROM, ON and the search path come to.
func (p *planner) showScope(st *ast.ShowObjects, list showList) ([]string, error) {
	path := p.env.answers.Path
	is := func(id fmt.Stringer) []string { return []string{fmt.Sprintf("%s = '%v'", list.scope, id)} }
	if st.On.Given() {
		name, err := ddl.NameOf(st.On)
		if err != nil {
			return nil, err
		}
		it, err := p.snapshot.Relation(path, name)
		if err != nil {
			return nil, pgerr.From(err).At(st.On.Position())
		}
		if st.Kind == ast.KindIndex {
			return []string{fmt.Sprintf("on_id = '%v'", it.ID)}, nil
		}
		return is(it.ID), nil
	}
	switch list.scope {
	case "database_id":
		name := path.Database
		if st.From.Given() {
			name = st.From.Object()
		}
		d, err := p.snapshot.ResolveDatabase(name)
		if err != nil {
			return nil, pgerr.From(err).At(st.From.Position())
		}
		return []string{fmt.Sprintf("(database_id = '%v' OR database_id IS NULL)", d.ID)}, nil
	case "schema_id":
		if !st.From.Given() && st.Kind == ast.KindIndex && st.Cluster != "" {
			return nil, nil
		}
		name := catalog.Name{Database: st.From.Schema(), Schema: st.From.Object()}
		c, err := p.snapshot.ResolveSchema(path, name)
		if err != nil {
			return nil, pgerr.From(err).At(st.From.Position())
		}
		return is(c.ID), nil
	}
	return nil, nil
}

func quoteLiteral(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func showCreateColumns() []Column {
	return []Column{{"name", types.TText}, {"create_sql", types.TText}}
}

// showCreate is SHOW CREATE.
func (s *Session) showCreate(st *ast.ShowCreate) (*Result, error) {
	c := s.catalog()
	var name, sql string
	switch st.Kind {
	case ast.KindTable, ast.KindView, ast.KindMaterializedView, ast.KindIndex:
		it, err := ddl.Relation(c, s.path(), st.Kind, st.Name)
		if err != nil {
			return nil, err.At(st.Name.Position())
		}
		if it.Kind.System() {
			return nil, pgerr.Newf(pgerr.InsufficientPrivilege, "cannot show create for system object %s", c.FullName(it))
		}
		name, sql = c.FullName(it), c.CreateSQL(it)+";"
	case ast.KindCluster:
		cl := c.ClusterNamed(st.Name.Object())
		if cl == nil {
			return nil, pgerr.Newf(pgerr.UndefinedObject, "unknown cluster %q", st.Name.Object()).At(st.Name.Position())
		}
		name = ast.QuoteIdent(cl.Name)
		sql = fmt.Sprintf("CREATE CLUSTER %s (REPLICATION FACTOR = %d, SIZE = '%v');", name, len(cl.Replicas), cl.Size)
	default:
		return nil, pgerr.Unsupported("SHOW CREATE %s", st.Kind).At(st.Position())
	}
	return &Result{Columns: showCreateColumns(), rows: &blockReader{rows: textRows([]string{name, sql})}, tag: counted("SELECT")}, nil
}
