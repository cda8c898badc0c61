package ast_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgtest"
)

func col(name string) ast.Expr { return &ast.Column{Names: []string{name}} }

func binary(left ast.Expr, op string, right ast.Expr) ast.Expr {
	return &ast.Binary{Op: ast.Op{Symbol: op}, Left: left, Right: right}
}

// TestParentheses holds that they stand where the tree asks for them, and not where precedence says the same.
func TestParentheses(t *testing.T) {
	a, b, c := col("a"), col("b"), col("c")
	minus := &ast.Literal{Kind: ast.Number, Text: "-5"}
	for want, e := range map[string]ast.Expr{
		"a + b * c":             binary(a, "+", binary(b, "*", c)),
		"(a + b) * c":           binary(binary(a, "+", b), "*", c),
		"a - b - c":             binary(binary(a, "-", b), "-", c),
		"a - (b - c)":           binary(a, "-", binary(b, "-", c)),
		"(a = b) = c":           binary(binary(a, "=", b), "=", c),
		"a || b = c":            binary(binary(a, "||", b), "=", c),
		"-5 + a":                binary(minus, "+", a),
		"(-5)::text":            &ast.Cast{Arg: minus, Type: &ast.TypeName{Name: []string{"text"}}},
		"(a OR b) AND c":        &ast.And{Args: []ast.Expr{&ast.Or{Args: []ast.Expr{a, b}}, c}},
		"a AND b OR c":          &ast.Or{Args: []ast.Expr{&ast.And{Args: []ast.Expr{a, b}}, c}},
		"NOT a = b":             &ast.Not{Arg: binary(a, "=", b)},
		"(NOT a) = b":           binary(&ast.Not{Arg: a}, "=", b),
		"(a IS NULL) IS NULL":   &ast.Is{Arg: &ast.Is{Arg: a}},
		"a IN (b, c)":           &ast.In{Arg: a, List: []ast.Expr{b, c}},
		"(a || b) < ANY (c)":    &ast.Quantified{Left: binary(a, "||", b), Op: ast.Op{Symbol: "<"}, Array: c},
		"(a).b.c":               &ast.Field{Arg: &ast.Field{Arg: a, Name: "b"}, Name: "c"},
		"(a[b]).c":              &ast.Field{Arg: &ast.Subscript{Arg: a, Indexes: []ast.Index{{Lower: b}}}, Name: "c"},
		"(f(a))[b]":             &ast.Subscript{Arg: &ast.Call{Func: ast.MakeName("f"), Args: []ast.Expr{a}}, Indexes: []ast.Index{{Lower: b}}},
		`"T"."select".c`:        &ast.Column{Names: []string{"T", "select", "c"}},
		"a OPERATOR(s.+) b * c": &ast.Binary{Op: ast.Op{Schema: "s", Symbol: "+"}, Left: a, Right: binary(b, "*", c)},
	} {
		if got := ast.Format(e); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	named := func(name string, mods ...int64) *ast.TypeName {
		return &ast.TypeName{Name: []string{"pg_catalog", name}, Mods: mods}
	}
	for want, typ := range map[string]*ast.TypeName{
		"integer":                     named("int4"),
		"character varying(10)":       named("varchar", 10),
		"timestamp(3) with time zone": named("timestamptz", 3),
		"character(1)":                named("bpchar", 1),
		"pg_catalog.bpchar":           named("bpchar"),
		"numeric(10, 2)[]":            {Kind: ast.ArrayType, Elem: named("numeric", 10, 2)},
		"map[text => integer list]": {Kind: ast.MapType, Key: &ast.TypeName{Name: []string{"text"}},
			Elem: &ast.TypeName{Kind: ast.ListType, Elem: named("int4")}},
		"interval DAY TO SECOND(3)": {Name: []string{"pg_catalog", "interval"}, Fields: "DAY TO SECOND", Mods: []int64{3}},
		`"char"`:                    {Name: []string{"char"}},
	} {
		if got := typ.String(); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

func TestNames(t *testing.T) {
	n := ast.MakeName("d", "s", "T")
	if n.Object() != "T" || n.Schema() != "s" || n.Database() != "d" || n.String() != `d.s."T"` || !n.Given() {
		t.Errorf("%#v", n)
	}
	if n := ast.MakeName(); n.Given() || n.Object() != "" || n.Schema() != "" || n.Database() != "" {
		t.Errorf("%#v", n)
	}
	for name, want := range map[string]string{
		"a": "a", "a1": "a1", "_a": "_a", "1a": `"1a"`, "A": `"A"`, "a b": `"a b"`, `a"b`: `"a""b"`, "select": `"select"`,
		"values": `"values"`, "left": `"left"`, "name": "name", "é": `"é"`, "a$": `"a$"`, "": `""`, "of": `"of"`,
	} {
		if got := ast.QuoteIdent(name); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	if got := ast.QuoteString("a'b"); got != "'a''b'" {
		t.Error(got)
	}
}

// TestKeywords holds the words against PostgreSQL's own list.
func TestKeywords(t *testing.T) {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	results, err := conn.Exec(ctx, "select word, catcode::text, barelabel from pg_get_keywords()").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	categories := map[string]ast.Category{"U": ast.Unreserved, "C": ast.ColumnName, "T": ast.TypeFuncName, "R": ast.Reserved}
	for _, row := range results[0].Rows {
		word, category, bare := string(row[0]), categories[string(row[1])], string(row[2]) == "t"
		if ast.CategoryOf(word) != category || ast.BareLabel(word) != bare {
			t.Errorf("%s is %d, %v there, %d, %v here", word, category, bare, ast.CategoryOf(word), ast.BareLabel(word))
		}
	}
}
