package catalog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// testSystem is a system relation as package builtin would bring it.
func testSystem() System {
	return System{Items: []*Item{{
		ID: tvc.ID{Class: 's', N: FirstSystemItem}, OID: 1259, Schema: SchemaPgCatalog, Name: "pg_class",
		Kind: SystemTable, Owner: RoleSystem, Version: 1,
		Rel: types.Rel{Cols: []types.Column{{Name: "oid", Type: types.TOid}}},
	}}}
}

// TestCatalog drives a catalog by text files. Every step is also checked against promise C4: the rows of
// the changes, added to the rows before, load to the same catalog.
func TestCatalog(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		s, c := New(testSystem(), 4)
		rows := []*vec.Block{c.Rows()}
		path_ := Path{Database: DefaultDatabase, Search: []string{"public"}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "path":
				path_ = Path{Database: d.CmdArgs[0].Key}
				for _, a := range d.CmdArgs[1:] {
					path_.Search = append(path_.Search, a.Key)
				}
				return ""
			case "apply":
				var ops []Op
				// Names on later lines may be those of what earlier lines make.
				for ahead := s; len(ops) < strings.Count(d.Input, "\n")+1 && ahead != nil; {
					line := strings.Split(d.Input, "\n")[len(ops)]
					ops = append(ops, parseOp(t, ahead, path_, line))
					ahead, _, _ = s.Apply(ops)
				}
				next, changes, err := s.Apply(ops)
				if err != nil {
					return errorText(err)
				}
				rows = append(rows, changes.Rows())
				s = checkLoad(t, next, rows)
				return showRows(changes.Rows()) + strings.Join(changes.Cascaded, "\n")
			case "resolve":
				var out strings.Builder
				for line := range strings.Lines(d.Input) {
					it, err := s.Relation(path_, parseName(strings.TrimSpace(line)))
					if err != nil {
						out.WriteString(errorText(err) + "\n")
						continue
					}
					fmt.Fprintf(&out, "%v %s, shown as %s\n", it.ID, s.Describe(Path{}, it.ID), s.ShownName(path_, it))
				}
				return out.String()
			case "create-sql":
				var out strings.Builder
				for it := range s.Items() {
					if sql := s.CreateSQL(it); sql != "" {
						out.WriteString(sql + "\n")
					}
				}
				return out.String()
			case "state":
				return state(s)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func checkLoad(t *testing.T, want *Snapshot, rows []*vec.Block) *Snapshot {
	t.Helper()
	got, err := Load(testSystem(), rows)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := state(got), state(want); a != b {
		t.Fatalf("loaded:\n%s\nwant:\n%s", a, b)
	}
	return want
}

func errorText(err error) string {
	e := pgerr.From(err)
	text := fmt.Sprintf("%s: %s", e.Code, e.Message)
	if e.Detail != "" {
		text += "\nDETAIL: " + e.Detail
	}
	if e.Hint != "" {
		text += "\nHINT: " + e.Hint
	}
	return text
}

func showRows(b *vec.Block) string {
	var out strings.Builder
	for i := range b.Len {
		payload := b.Cols[2].Bytes(i)
		fmt.Fprintf(&out, "%+d %s %s v%d %s\n", b.Diff(i), b.Cols[0].Bytes(i), b.Cols[1].Bytes(i), payload[0], payload[1:])
	}
	return out.String()
}

// state shows all a snapshot holds that is not the system's, derived edges included.
func state(s *Snapshot) string {
	var out strings.Builder
	for d := range s.Databases() {
		fmt.Fprintf(&out, "database %+v\n", *d)
		for c := range s.SchemasIn(d.ID) {
			fmt.Fprintf(&out, "schema %+v\n", *c)
			for it := range s.ItemsIn(c.ID) {
				fmt.Fprintf(&out, "item %+v\n", *it)
				for by := range s.Dependents(it.ID) {
					fmt.Fprintf(&out, "  needed by %v\n", by.ID)
				}
			}
		}
	}
	for c := range s.Clusters() {
		fmt.Fprintf(&out, "cluster %+v\n", *c)
		for by := range s.Dependents(c.ID) {
			fmt.Fprintf(&out, "  needed by %v\n", by.ID)
		}
	}
	for r := range s.Roles() {
		fmt.Fprintf(&out, "role %+v\n", *r)
	}
	for name, value := range s.Settings() {
		fmt.Fprintf(&out, "setting %s=%s\n", name, value)
	}
	for shard := range s.Garbage() {
		fmt.Fprintf(&out, "garbage %s\n", shard)
	}
	fmt.Fprintf(&out, "next %v\n", s.next)
	return out.String()
}

func parseName(text string) Name {
	parts := strings.Split(text, ".")
	switch len(parts) {
	case 1:
		return Name{Item: parts[0]}
	case 2:
		return Name{Schema: parts[0], Item: parts[1]}
	}
	return Name{Database: parts[0], Schema: parts[1], Item: parts[2]}
}

func lookUp(t *testing.T, s *Snapshot, p Path, kind, name string) tvc.ID {
	t.Helper()
	n := parseName(name)
	switch kind {
	case "database":
		return s.DatabaseNamed(name).ID
	case "schema":
		c, err := s.ResolveSchema(p, Name{Database: n.Schema, Schema: n.Item})
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	case "cluster":
		return s.ClusterNamed(name).ID
	case "role":
		return s.RoleNamed(name).ID
	}
	if it := s.Resolve(p, n); it != nil {
		return it.ID
	}
	t.Fatalf("no %s", name)
	return tvc.ID{}
}

func parseOp(t *testing.T, s *Snapshot, p Path, line string) Op {
	t.Helper()
	w := strings.Fields(line)
	owner := s.RoleNamed(DefaultRole).ID
	switch w[0] {
	case "database":
		return &CreateDatabase{Name: w[1], Owner: owner}
	case "schema":
		return &CreateSchema{Database: s.DatabaseNamed(w[1]).ID, Name: w[2], Owner: owner}
	case "cluster", "alter-cluster":
		size, err := ParseSize(w[2])
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(w[3])
		if w[0] == "cluster" {
			return &CreateCluster{Name: w[1], Owner: owner, Size: size, Replicas: n}
		}
		return &AlterCluster{ID: lookUp(t, s, p, "cluster", w[1]), Size: size, Replicas: n}
	case "table", "view", "mview", "index":
		return &CreateItem{parseItem(t, s, p, owner, w)}
	case "drop", "drop-cascade":
		op := &Drop{Cascade: w[0] == "drop-cascade", Path: p}
		for _, name := range w[2:] {
			op.IDs = append(op.IDs, lookUp(t, s, p, w[1], name))
		}
		return op
	case "rename":
		return &Rename{ID: lookUp(t, s, p, w[1], w[2]), Name: w[3]}
	case "comment":
		column, _ := strconv.Atoi(w[3])
		return &Comment{ID: lookUp(t, s, p, w[1], w[2]), Column: column, Text: strings.Join(w[4:], " ")}
	case "set":
		return &SetSystem{Name: w[1], Value: w[2]}
	case "reset":
		return &ResetSystem{Name: strings.Join(w[1:], "")}
	case "forget":
		return &ForgetShard{Shard: w[1]}
	}
	t.Fatalf("unknown operation %s", line)
	return nil
}

// parseItem reads: table NAME column:type[!][=default] …; view|mview NAME needed…; index NAME on column….
func parseItem(t *testing.T, s *Snapshot, p Path, owner tvc.ID, w []string) Item {
	t.Helper()
	schema, err := s.ResolveSchema(p, parseName(w[1]))
	if err != nil {
		t.Fatal(err)
	}
	it := Item{Schema: schema.ID, Name: parseName(w[1]).Item, Owner: owner}
	switch w[0] {
	case "table":
		it.Kind = Table
		it.Defaults = make([]string, len(w)-2)
		for i, c := range w[2:] {
			c, it.Defaults[i], _ = strings.Cut(c, "=")
			name, typ, _ := strings.Cut(c, ":")
			typ, notNull := strings.CutSuffix(typ, "!")
			ty, ok := types.ByName(typ)
			if !ok {
				t.Fatalf("unknown type %s", typ)
			}
			it.Rel.Cols = append(it.Rel.Cols, types.Column{Name: name, Type: ty, Nullable: !notNull})
		}
		if strings.Join(it.Defaults, "") == "" {
			it.Defaults = nil
		}
		return it
	case "index":
		on := s.Item(lookUp(t, s, p, "item", w[2]))
		it.Kind, it.On, it.Cluster = Index, on.ID, s.ClusterNamed(DefaultCluster).ID
		for _, name := range w[3:] {
			part := KeyPart{Column: -1, SQL: name, Type: types.TText}
			for i, c := range on.Rel.Cols {
				if c.Name == name {
					part = KeyPart{Column: i, Type: c.Type}
				}
			}
			it.Key = append(it.Key, part)
			it.Rel.Cols = append(it.Rel.Cols, types.Column{Name: name, Type: part.Type, Nullable: true})
		}
		return it
	}
	it.Kind = View
	if w[0] == "mview" {
		it.Kind, it.Cluster = MaterializedView, s.ClusterNamed(DefaultCluster).ID
	}
	var from []string
	for _, name := range w[2:] {
		on := s.Item(lookUp(t, s, p, "item", name))
		from = append(from, fmt.Sprintf(`"%s" AS %s`, Mark(on.ID), ast.QuoteIdent(on.Name)))
		it.Rel.Cols = append(it.Rel.Cols, on.Rel.Cols...)
	}
	it.Query = ParseText("SELECT * FROM " + strings.Join(from, ", "))
	it.DependsOn = it.Query.Refs()
	return it
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]string{
		"scale=1,workers=8":    "scale=1,workers=8",
		"scale=2, workers=4":   "scale=2,workers=4",
		"scale=1,workers=1024": "scale=1,workers=1024",
		"scale=2,workers=1024": "", "small": "", "": "", "scale=0,workers=1": "", "scale=1,workers=": "",
		"scale=1": "", "scale=+1,workers=1": "", "scale=1,workers=8,x": "", "scale=99999999999,workers=1": "",
	} {
		size, err := ParseSize(text)
		if got := size.String(); err == nil && got != want || err != nil && want != "" {
			t.Errorf("size %q is %v, %v", text, size, err)
		}
	}
}

func TestTextRoundTrip(t *testing.T) {
	sql := `SELECT "a""b", '` + "x" + `' FROM "` + Mark(tvc.ID{Class: 'u',
		N: 7}) + `" AS t JOIN "` + Mark(tvc.ID{Class: 's', N: 1000}) + `" AS "q" ON true`
	text := ParseText(sql)
	got := text.Render(func(id tvc.ID) string { return "<" + id.String() + ">" })
	if want := `SELECT "a""b", 'x' FROM <u7> AS t JOIN <s1000> AS "q" ON true`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if again := ParseText(text.marked()); again.marked() != text.marked() {
		t.Errorf("again: %q, want %q", again.marked(), text.marked())
	}
	if refs := text.Refs(); len(refs) != 2 || refs[0].N != 1000 {
		t.Errorf("refs %v", refs)
	}
	if !ParseText("").IsEmpty() || ParseText("x").IsEmpty() || ParseText("x").marked() != "x" {
		t.Error("plain texts do not come back")
	}
}

var rewriteFossils = flag.Bool("write-fossil", false, "write the golden of the current durable version, which must not exist yet")

// fossil is a catalog with every kind of durable row.
func fossil(t *testing.T) ([]*vec.Block, *Snapshot) {
	s, c := New(testSystem(), 4)
	p := Path{Database: DefaultDatabase, Search: []string{"public"}}
	rows := []*vec.Block{c.Rows()}
	for _, line := range []string{
		"table t a:int4!=1 b:varchar ü:numeric", "view v t", "mview m v t", "index i m a lower(b)", "database d", "schema d s",
		"cluster c scale=2,workers=3 2", "set x y", "comment item t -1 on t", "comment item t 1 on b", "comment cluster c -1 on c",
		"table gone a:int4", "drop item gone",
	} {
		next, changes, err := s.Apply([]Op{parseOp(t, s, p, line)})
		if err != nil {
			t.Fatal(err)
		}
		s, rows = next, append(rows, changes.Rows())
	}
	return rows, s
}

// TestFossils reads the durable rows that each version has ever written.
func TestFossils(t *testing.T) {
	rows, s := fossil(t)
	file := filepath.Join("testdata", fmt.Sprintf("v%d", payloadVersion), "catalog.rows")
	all := vec.NewBlock(Rel().Kinds(), 0)
	for _, b := range rows {
		all.AppendBlock(b)
	}
	text := showRows(all.Consolidated())
	if *rewriteFossils {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != text {
		t.Errorf("version %d now writes:\n%s", payloadVersion, text)
	}
	got, err := Load(testSystem(), []*vec.Block{parseRows(t, string(stored))})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := state(got), state(s); a != b {
		t.Errorf("loaded:\n%s\nwant:\n%s", a, b)
	}
}

func parseRows(t *testing.T, text string) *vec.Block {
	t.Helper()
	b := vec.NewBlock(Rel().Kinds(), 0)
	for line := range strings.Lines(text) {
		w := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		version, err := strconv.Atoi(w[3][1:])
		if err != nil {
			t.Fatal(err)
		}
		b.AppendRow(1, vec.StrOf(w[1]), vec.StrOf(w[2]), vec.StrOf(string(rune(version))+w[4]))
	}
	return b
}

// FuzzLoad: no row makes loading panic.
func FuzzLoad(f *testing.F) {
	rows, _ := fossilForFuzz()
	for i := range rows.Len {
		f.Add(string(rows.Cols[0].Bytes(i)), string(rows.Cols[1].Bytes(i)), rows.Cols[2].Bytes(i))
	}
	f.Fuzz(func(t *testing.T, kind, id string, payload []byte) {
		b := vec.NewBlock(Rel().Kinds(), 0)
		b.AppendRow(1, vec.StrOf(kind), vec.StrOf(id), vec.BytesOf(payload))
		if s, err := Load(testSystem(), []*vec.Block{rows, b}); err == nil {
			_ = state(s)
		}
	})
}

func fossilForFuzz() (*vec.Block, *Snapshot) {
	s, c := New(testSystem(), 4)
	return c.Rows(), s
}

// BenchmarkCreateTable is one more table among 10,000 objects, with its durable rows.
func BenchmarkCreateTable(b *testing.B) {
	s, _ := New(testSystem(), 4)
	public := s.SchemaNamed(s.DatabaseNamed(DefaultDatabase).ID, "public")
	item := func(n int) *CreateItem {
		return &CreateItem{Item{Schema: public.ID, Name: fmt.Sprint("t", n), Kind: Table, Owner: RoleSystem,
			Rel: types.Rel{Cols: []types.Column{{Name: "a", Type: types.TInt8}}}}}
	}
	for n := range 10_000 {
		next, _, err := s.Apply([]Op{item(n)})
		if err != nil {
			b.Fatal(err)
		}
		s = next
	}
	b.ReportAllocs()
	for b.Loop() {
		_, c, err := s.Apply([]Op{item(10_000)})
		if err != nil || c.Rows().Len == 0 {
			b.Fatal(err)
		}
	}
}
