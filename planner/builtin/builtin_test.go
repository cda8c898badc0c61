package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// world is a catalog with one object of each kind.
func world(t testing.TB) (*Set, *catalog.Snapshot) {
	t.Helper()
	set := New()
	s, _ := catalog.New(set.System(), 2)
	db := s.DatabaseNamed(catalog.DefaultDatabase)
	public := s.SchemaNamed(db.ID, "public")
	owner := s.RoleNamed(catalog.DefaultRole).ID
	table := s.NextID(0)
	rel := types.Rel{Cols: []types.Column{{Name: "a", Type: types.TInt4}, {Name: "b", Type: types.T{OID: types.OIDVarchar,
		Mod: 14}, Nullable: true},
		{Name: "c", Type: types.T{OID: types.OIDNumeric, Mod: 10<<16 + 2 + 4}, Nullable: true}}}
	view := catalog.Item{Schema: public.ID, Name: "v", Kind: catalog.View, Owner: owner, Rel: rel, DependsOn: []tvc.ID{table},
		Query: catalog.ParseText(`SELECT * FROM "` + catalog.Mark(table) + `" AS t`)}
	mv := view
	mv.Name, mv.Kind, mv.Cluster = "M v", catalog.MaterializedView, s.ClusterNamed(catalog.DefaultCluster).ID
	next, _, err := s.Apply([]catalog.Op{
		&catalog.CreateItem{Item: catalog.Item{Schema: public.ID, Name: "t", Kind: catalog.Table, Owner: owner, Rel: rel,
			Defaults: []string{"1", "", ""}}},
		&catalog.CreateItem{Item: view},
		&catalog.CreateItem{Item: mv},
		&catalog.CreateItem{Item: catalog.Item{Schema: public.ID, Name: "i", Kind: catalog.Index, Owner: owner, On: table,
			Cluster: mv.Cluster, Key: []catalog.KeyPart{{Column: 1, Type: types.TVarchar}, {Column: -1, SQL: "a + 1", Type: types.TInt4}},
			Rel: types.Rel{Cols: []types.Column{{Name: "b", Type: types.TVarchar, Nullable: true}, {Name: "expr",
				Type: types.TInt4, Nullable: true}}}}},
		&catalog.Comment{ID: table, Column: -1, Text: "a table"},
		&catalog.Comment{ID: table, Column: 1, Text: "a column"},
		&catalog.Comment{ID: public.ID, Column: -1, Text: "a schema"},
		&catalog.CreateDatabase{Name: "other", Owner: owner},
	})
	if err != nil {
		t.Fatal(err)
	}
	return set, next
}

func testInput(s *catalog.Snapshot) *Input {
	at := time.UnixMicro(1_700_000_000_000_000)
	return &Input{Catalog: s, Database: catalog.DefaultDatabase,
		Settings: func() []Setting {
			return []Setting{{Name: "cluster", Value: "c", Default: "quickstart", Doc: "the cluster", Kind: "string"}}
		},
		Sessions: func() []Session {
			return []Session{{PID: 7, Database: "materialize", User: "materialize", App: "psql", Addr: "127.0.0.1:5",
				Started: at, State: "idle", Query: "SELECT 1"}}
		},
		Prepared: func() []Prepared {
			return []Prepared{{Name: "p", Statement: "SELECT $1", Params: []types.OID{types.OIDInt4}, At: at}}
		},
		Cursors: func() []Cursor { return []Cursor{{Name: "c", Statement: "SELECT 1", At: at}} },
		Sink: func(tvc.ID) SinkStatistics {
			s := SinkStatistics{Objects: 9, AppendBytes: 10, MaintenanceBytes: 11, SinkStatistics: controller.SinkStatistics{
				Appends: 1, EmptyAppends: 2, Refused: 3, Rows: 4, ObjectParts: 5, InlineParts: 6, ObjectBytes: 7, InlineBytes: 8,
				Spills: 12, Rebuilds: 13, StagedBytes: 14, StagedBytesPeak: 15}}
			for p := range s.Phases {
				s.Phases[p].Total = time.Duration(16+p) * time.Second
			}
			return s
		},
	}
}

// TestEveryRelationKeepsItsShape makes the rows of all relations and holds them against their columns.
func TestEveryRelationKeepsItsShape(t *testing.T) {
	set, s := world(t)
	for _, it := range set.items {
		b := set.Rows(it.ID, testInput(s))
		for c := range b.Cols {
			if b.Cols[c].Len != b.Len {
				t.Fatalf("%s.%s has %d values for %d rows", it.Name, it.Rel.Cols[c].Name, b.Cols[c].Len, b.Len)
			}
			if !it.Rel.Cols[c].Nullable && b.Cols[c].HasNulls() {
				t.Errorf("%s.%s has NULLs", it.Name, it.Rel.Cols[c].Name)
			}
		}
	}
}

// TestRows shows the rows of relations as psql would.
func TestRows(t *testing.T) {
	set, s := world(t)
	datadriven.RunTest(t, "testdata/rows", func(t *testing.T, d *datadriven.TestData) string {
		var schema, name string
		d.ScanArgs(t, "of", &schema)
		schema, name, _ = strings.Cut(schema, ".")
		it := s.ItemNamed(s.SchemaNamed(tvc.ID{}, schema).ID, name)
		columns := it.Rel.Names()
		if d.HasArg("columns") {
			columns = nil
			for _, a := range d.CmdArgs {
				if a.Key == "columns" {
					columns = a.Vals
				}
			}
		}
		b := set.Rows(it.ID, testInput(s))
		var lines []string
		for i := range b.Len {
			var line []string
			for _, c := range columns {
				at := slices.Index(it.Rel.Names(), c)
				v := &b.Cols[at]
				if v.IsNull(i) {
					line = append(line, "null")
				} else {
					line = append(line, string(row.AppendText(nil, it.Rel.Cols[at].Type, v, i)))
				}
			}
			text := strings.Join(line, "|")
			if d.HasArg("like") {
				var like string
				d.ScanArgs(t, "like", &like)
				if !strings.Contains(text, like) {
					continue
				}
			}
			lines = append(lines, text)
		}
		return strings.Join(lines, "\n")
	})
}

// TestPgCatalogHasPostgresColumns holds our pg_catalog and information_schema against PostgreSQL's.
func TestPgCatalogHasPostgresColumns(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	_, s := world(t)
	for _, schema := range []string{"pg_catalog", "information_schema"} {
		rows, err := conn.Query(ctx, `
			SELECT c.relname, string_agg(a.attname || ' ' || CASE WHEN t.typtype = 'd' THEN bt.typname ELSE t.typname END,
				', ' ORDER BY attnum)
			FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND attnum > 0
			JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type bt ON bt.oid = t.typbasetype
			WHERE nspname = $1 AND relkind IN ('r', 'v') GROUP BY 1`, schema)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		var name, cols string
		if _, err := pgx.ForEachRow(rows, []any{&name, &cols}, func() error {
			// What we have no type for is text.
			for _, other := range []string{"pg_node_tree", "inet", "pg_lsn"} {
				cols = strings.ReplaceAll(cols, " "+other, " text")
			}
			want[name] = strings.ReplaceAll(cols, " anyarray", " _text")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for it := range s.ItemsIn(s.SchemaNamed(tvc.ID{}, schema).ID) {
			var got []string
			for _, c := range it.Rel.Cols {
				got = append(got, c.Name+" "+c.Type.Name())
			}
			// Of aggregates we have the first columns only: the rest is about functions that we do not have.
			if g := strings.Join(got, ", "); g != want[it.Name] && !(it.Name == "pg_aggregate" && strings.HasPrefix(want[it.Name], g)) {
				t.Errorf("%s has\n%s\nwant\n%s", it.Name, g, want[it.Name])
			}
		}
	}
}

// TestTypesAreLaidOutAsPostgres holds pg_type against PostgreSQL's.
func TestTypesAreLaidOutAsPostgres(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for typ := range allTypes() {
		var want string
		err := conn.QueryRow(ctx, `SELECT format('%s %s %s %s %s %s %s %s', typname, typlen, typbyval, typalign, typstorage, typcategory,
			typispreferred, typcollation) FROM pg_type WHERE oid = $1`, uint32(typ.OID)).Scan(&want)
		if err != nil {
			if typ.OID == types.OIDMzTimestamp || typeSchema(typ) == catalog.SchemaMzCatalog {
				continue
			}
			t.Fatalf("%v: %v", typ, err)
		}
		l := layoutOf(typ)
		got := fmt.Sprintf("%s %d %s %c %c %c %s %d", typ.Name(), typ.Len(), tf(l.byVal), l.align, l.storage,
			typ.Category(), tf(typ.Preferred()),
			collationOf(typ))
		if got != want {
			t.Errorf("type %d: got %s, want %s", typ.OID, got, want)
		}
	}
}

func tf(x bool) string {
	if x {
		return "t"
	}
	return "f"
}

// TestAnswers asks the catalog.
func TestAnswers(t *testing.T) {
	set, s := world(t)
	a := &Answers{Set: set, Catalog: s, Path: catalog.Path{Database: catalog.DefaultDatabase, Search: []string{"public"}}}
	byName := func(name string) int64 {
		return int64(s.Resolve(a.Path, catalog.Name{Item: name}).OID)
	}
	for _, c := range []struct {
		q    scalar.Question
		arg  vec.Datum
		want vec.Datum
	}{
		{scalar.AskRelOID, str("t"), num(byName("t"))},
		{scalar.AskRelOID, str(`public."M v"`), num(byName("M v"))},
		{scalar.AskRelOID, str("PG_CLASS"), oid(1259)},
		{scalar.AskRelOID, str("nosuch"), null},
		{scalar.AskRelName, num(byName("M v")), str(`"M v"`)},
		{scalar.AskRelVisible, num(byName("t")), boolean(true)},
		{scalar.AskRelVisible, oid(16712), boolean(false)},
		{scalar.AskRelVisible, oid(1), null},
		{scalar.AskSchemaOID, str("pg_catalog"), oid(11)},
		{scalar.AskSchemaName, oid(11), str("pg_catalog")},
		{scalar.AskRoleName, oid(10), str("mz_system")},
		{scalar.AskRoleOID, str("mz_system"), oid(10)},
		{scalar.AskCollationOID, str("pg_catalog.default"), oid(100)},
		{scalar.AskViewDef, num(byName("v")), str("SELECT * FROM materialize.public.t AS t;")},
		{scalar.AskIndexDef, num(byName("i")),
			str("CREATE INDEX i IN CLUSTER quickstart ON materialize.public.t USING arrangement (b, (a + 1))")},
		{scalar.AskIndexColumn, scalar.Ask2(uint32(byName("i")), 1), str("b")},
		{scalar.AskIndexColumn, scalar.Ask2(uint32(byName("i")), 2), str("(a + 1)")},
		{scalar.AskComment, scalar.Ask2(oidPgClass, uint32(byName("t"))), str("a table")},
		{scalar.AskAnyComment, num(byName("t")), str("a table")},
		{scalar.AskColumnComment, scalar.Ask2(uint32(byName("t")), 2), str("a column")},
		{scalar.AskColumnComment, scalar.Ask2(uint32(byName("t")), 9), null},
	} {
		got, known, err := a.Ask(c.q, c.arg)
		if !known || err != nil || !got.Equal(c.want) {
			t.Errorf("question %d about %s: %s, %v, %v, want %s", c.q, c.arg.GoString(), got.GoString(), known, err, c.want.GoString())
		}
	}
	for _, name := range []string{`"`, "a..b", "", ".", "a.b.c.d"} {
		if _, _, err := a.Ask(scalar.AskRelOID, str(name)); err == nil {
			t.Errorf("the name %q is taken", name)
		} else if pgerr.From(err).Code == pgerr.InternalError {
			t.Errorf("the name %q: %v", name, err)
		}
	}
}

// BenchmarkPgAttribute makes the rows of the largest relation for 10,000 tables.
func BenchmarkPgAttribute(b *testing.B) {
	set := New()
	s, _ := catalog.New(set.System(), 1)
	public := s.SchemaNamed(s.DatabaseNamed(catalog.DefaultDatabase).ID, "public")
	var ops []catalog.Op
	for n := range 10_000 {
		it := catalog.Item{Schema: public.ID, Name: fmt.Sprint("t", n), Kind: catalog.Table, Owner: catalog.RoleSystem}
		for c := range 5 {
			it.Rel.Cols = append(it.Rel.Cols, types.Column{Name: fmt.Sprint("c", c), Type: types.TInt8})
		}
		ops = append(ops, &catalog.CreateItem{Item: it})
	}
	s, _, err := s.Apply(ops)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		set.Rows(tvc.ID{Class: 's', N: oidPgAttribute}, testInput(s))
	}
}
