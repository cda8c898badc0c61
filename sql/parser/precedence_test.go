package parser

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgtest"
)

// everythingIsBoolean gives PostgreSQL operators with which every expression over booleans has a type.
const everythingIsBoolean = `
create function f(boolean, boolean) returns boolean immutable language sql as 'select $1';
create function g(boolean) returns boolean immutable language sql as 'select $1';
create operator + (leftarg = boolean, rightarg = boolean, function = f);
create operator - (leftarg = boolean, rightarg = boolean, function = f);
create operator * (leftarg = boolean, rightarg = boolean, function = f);
create operator / (leftarg = boolean, rightarg = boolean, function = f);
create operator % (leftarg = boolean, rightarg = boolean, function = f);
create operator ^ (leftarg = boolean, rightarg = boolean, function = f);
create operator || (leftarg = boolean, rightarg = boolean, function = f);
create operator @> (leftarg = boolean, rightarg = boolean, function = f);
create operator ~~ (leftarg = boolean, rightarg = boolean, function = f);
create operator !~~ (leftarg = boolean, rightarg = boolean, function = f);
create operator ~~* (leftarg = boolean, rightarg = boolean, function = f);
create operator - (rightarg = boolean, function = g);
create operator + (rightarg = boolean, function = g);
create operator @ (rightarg = boolean, function = g);
create operator !! (rightarg = boolean, function = g);
create table t (a boolean, b boolean, c boolean, d boolean[]);
set allow_system_table_mods = on;
create function pg_catalog.timezone(boolean, boolean) returns boolean immutable language sql as 'select $1';
`

var infixes = []string{
	"OR", "AND", "=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "^", "||", "@>", "OPERATOR(public.+)",
	"LIKE", "NOT LIKE", "ILIKE", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "BETWEEN a AND", "NOT BETWEEN b + c AND",
	"BETWEEN SYMMETRIC a < b AND", "AT TIME ZONE",
}

var postfixes = []string{
	"IS NULL", "IS NOT NULL", "ISNULL", "IS TRUE", "IS NOT FALSE", "IN (a, b)", "NOT IN (c)", "= ANY (d)", "<> ALL (d)",
	"@> ANY (d)", "+ ANY (d)", "::boolean",
}

var prefixes = []string{"NOT", "-", "+", "@", "!!"}

func randomExpr(rng *rand.Rand) string {
	var b strings.Builder
	operand := func() {
		for rng.IntN(4) == 0 {
			b.WriteString(prefixes[rng.IntN(len(prefixes))] + " ")
		}
		if rng.IntN(12) == 0 {
			b.WriteString("(" + randomExpr(rng) + ")")
		} else {
			b.WriteString([]string{"a", "b", "c", "true"}[rng.IntN(4)])
		}
		for rng.IntN(5) == 0 {
			b.WriteString(" " + postfixes[rng.IntN(len(postfixes))])
		}
	}
	operand()
	for range rng.IntN(5) {
		b.WriteString(" " + infixes[rng.IntN(len(infixes))] + " ")
		operand()
	}
	return b.String()
}

// full prints an expression with parentheses around everything, so that it does not lean on precedence.
func full(e ast.Expr) string {
	wrap := func(format string, args ...any) string {
		for i, a := range args {
			if e, ok := a.(ast.Expr); ok {
				args[i] = full(e)
			}
		}
		return "(" + fmt.Sprintf(format, args...) + ")"
	}
	not := func(n bool) string {
		if n {
			return "NOT "
		}
		return ""
	}
	join := func(es []ast.Expr, sep string) string {
		var parts []string
		for _, e := range es {
			parts = append(parts, full(e))
		}
		return strings.Join(parts, sep)
	}
	op := func(o ast.Op) string {
		if o.Schema != "" {
			return "OPERATOR(" + o.Schema + "." + o.Symbol + ")"
		}
		return o.Symbol
	}
	switch e := e.(type) {
	case *ast.And:
		return "(" + join(e.Args, " AND ") + ")"
	case *ast.Or:
		return "(" + join(e.Args, " OR ") + ")"
	case *ast.Not:
		return wrap("NOT %s", e.Arg)
	case *ast.Unary:
		return wrap("%s %s", op(e.Op), e.Arg)
	case *ast.Binary:
		return wrap("%s %s %s", e.Left, op(e.Op), e.Right)
	case *ast.Is:
		return wrap("%s IS %s%s", e.Arg, not(e.Not), []string{"NULL", "TRUE", "FALSE", "UNKNOWN"}[e.Test])
	case *ast.IsDistinct:
		return wrap("%s IS %sDISTINCT FROM %s", e.Left, not(e.Not), e.Right)
	case *ast.Between:
		symmetric := ""
		if e.Symmetric {
			symmetric = "SYMMETRIC"
		}
		return wrap("%s %sBETWEEN %s %s AND %s", e.Arg, not(e.Not), symmetric, e.Low, e.High)
	case *ast.In:
		return wrap("%s %sIN (%s)", e.Arg, not(e.Not), join(e.List, ", "))
	case *ast.Like:
		return wrap("%s %s%s %s", e.Arg, not(e.Not), []string{"LIKE", "ILIKE", "SIMILAR TO"}[e.Kind], e.Pattern)
	case *ast.Quantified:
		word := "ANY"
		if e.All {
			word = "ALL"
		}
		return wrap("%s %s %s (%s)", e.Left, op(e.Op), word, e.Array)
	case *ast.Cast:
		return wrap("CAST(%s AS %s)", e.Arg, e.Type)
	case *ast.Call:
		return wrap("%s AT TIME ZONE %s", e.Args[1], e.Args[0])
	}
	return ast.Format(e)
}

// TestPrecedence holds our trees of random expressions without parentheses against PostgreSQL's: the definition
// of a view is the same whether it is made from the expression or from our tree with all parentheses, and our
// own way of leaving them out means the same again.
func TestPrecedence(t *testing.T) {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, pgtest.Start(t).NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, everythingIsBoolean).ReadAll(); err != nil {
		t.Fatal(err)
	}
	view := func(expr string) string {
		results, err := conn.Exec(ctx, "begin; create view v as select "+expr+" as x from t; select pg_get_viewdef('v')").ReadAll()
		conn.Exec(ctx, "rollback").ReadAll()
		if err != nil {
			return err.Error()
		}
		return string(results[2].Rows[0][0])
	}
	rng := rand.New(rand.NewPCG(3, 4))
	o := &oracle{conn}
	n := 400
	if testing.Short() {
		n = 50
	}
	for range n {
		expr := randomExpr(rng)
		if d := o.compare("SELECT (" + expr + ") FROM t"); d != "" {
			t.Errorf("%s\n%s", expr, d)
			continue
		}
		e, err := Expr(expr)
		if err != nil {
			continue
		}
		want := view(expr)
		for _, again := range []string{full(e), ast.Format(e)} {
			if got := view(again); got != want {
				t.Errorf("%s\nread as %s\nis %s\nnot %s", expr, again, got, want)
			}
		}
	}
}
