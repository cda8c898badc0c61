package fn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// connect gives a connection to the oracle.
func connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// declaration is what a catalog says of a function.
type declaration struct {
	name, args, ret  string
	strict, variadic bool
	set              bool
}

// declared reads the oracle's functions and operators by number.
func declared(t *testing.T, conn *pgx.Conn, query string) map[uint32]declaration {
	t.Helper()
	rows, err := conn.Query(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[uint32]declaration{}
	for rows.Next() {
		var oid uint32
		var d declaration
		if err := rows.Scan(&oid, &d.name, &d.args, &d.ret, &d.strict, &d.variadic, &d.set); err != nil {
			t.Fatal(err)
		}
		all[oid] = d
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// ourNumbers are the functions that PostgreSQL does not have.
const ourNumbers, endOfOurs = 17000, 20000

func listTypes(ts []types.T) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

// different are signatures in which we mean to differ.
var different = map[string]string{
	"pg_get_expr":             "expressions are kept as text, there is no pg_node_tree",
	"jsonb_extract_path":      "a variadic parameter is declared by its elements",
	"jsonb_extract_path_text": "a variadic parameter is declared by its elements",
	"pg_terminate_backend":    "the time-out has a default",
	"regexp_matches":          "gives rows",
}

func TestSignaturesAreThoseOfPostgreSQL(t *testing.T) {
	conn := connect(t)
	procs := declared(t, conn, `SELECT oid, proname, coalesce((SELECT string_agg(format_type(a, NULL), ', ' ORDER BY i)
		FROM unnest(proargtypes) WITH ORDINALITY AS u(a, i)), ''), format_type(prorettype, NULL), proisstrict, provariadic <> 0, proretset
		FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace`)
	operators := declared(t, conn, `SELECT o.oid, oprname, CASE WHEN oprleft <> 0 THEN format_type(oprleft, NULL) || ', ' ELSE '' END
		|| format_type(oprright, NULL), format_type(oprresult, NULL), proisstrict, false, false
		FROM pg_operator o JOIN pg_proc p ON p.oid = oprcode`)
	check := func(kind string, all map[uint32]declaration, oid uint32, got declaration) {
		if oid >= ourNumbers && oid < endOfOurs {
			return
		}
		want, ok := all[oid]
		if !ok {
			t.Errorf("%s %s has number %d, which PostgreSQL does not know", kind, got.name, oid)
			return
		}
		if _, differs := different[got.name]; !differs && got != want {
			t.Errorf("%s %d:\n ours   %+v\n theirs %+v", kind, oid, got, want)
		}
	}
	seen := map[string]uint32{}
	unique := func(kind, name string, oid uint32, args string) {
		key := fmt.Sprintf("%s %d", kind, oid)
		if kind != "operator" {
			key = fmt.Sprintf("function %d", oid)
		}
		if _, twice := seen[key]; twice {
			t.Errorf("%s %s(%s): number %d is used twice", kind, name, args, oid)
		}
		seen[key] = oid
	}
	catalog := fn.All()
	for _, f := range catalog.Scalars {
		unique("function", f.Name, f.OID, listTypes(f.Args))
		check("function", procs, f.OID, declaration{f.Name, listTypes(f.Args), f.Ret.String(), f.Strict, f.Variadic, false})
	}
	for _, f := range catalog.Operators {
		unique("operator", f.Name, f.OID, listTypes(f.Args))
		check("operator", operators, f.OID, declaration{f.Name, listTypes(f.Args), f.Ret.String(), f.Strict, false, false})
	}
	for _, f := range catalog.Aggregates {
		unique("aggregate", f.Name, f.OID, listTypes(f.Args))
		check("aggregate", procs, f.OID, declaration{f.Name, listTypes(f.Args), f.Ret.String(), false, false, false})
	}
	for _, f := range catalog.Tables {
		unique("table function", f.Name, f.OID, listTypes(f.Args))
		ret := "record"
		if f.Cols == nil {
			ret = "anyelement"
		} else if len(f.Cols) == 1 {
			ret = f.Cols[0].Type.String()
		}
		check("table function", procs, f.OID, declaration{f.Name, listTypes(f.Args), ret, f.Strict, f.Variadic, true})
	}
}

func TestEveryFunctionIsComplete(t *testing.T) {
	for _, list := range [][]*scalar.Func{fn.All().Scalars, fn.All().Operators} {
		for _, f := range list {
			n := 0
			for _, has := range []bool{f.Kernel != nil, f.Row != nil, f.Relabel, f.For != nil} {
				if has {
					n++
				}
			}
			if n == 0 || f.Kernel != nil && f.Row != nil || f.Relabel && (f.Kernel != nil || f.Row != nil) {
				t.Errorf("%s(%s) has %d implementations", f.Name, listTypes(f.Args), n)
			}
			if f.Doc == "" || f.Schema == "" || f.OID == 0 {
				t.Errorf("%s(%s) lacks a sentence, a schema or a number", f.Name, listTypes(f.Args))
			}
		}
	}
	for _, f := range fn.All().Aggregates {
		n := 0
		for _, has := range []bool{f.Accum != nil, f.Order != scalar.NotOrdered, f.Fold != nil || f.For != nil} {
			if has {
				n++
			}
		}
		if n != 1 || f.Doc == "" {
			t.Errorf("aggregate %s(%s) has %d implementations, sentence %q", f.Name, listTypes(f.Args), n, f.Doc)
		}
	}
	for _, f := range fn.All().Tables {
		if f.Rows == nil && f.For == nil || f.Doc == "" {
			t.Errorf("table function %s(%s) is incomplete", f.Name, listTypes(f.Args))
		}
	}
}
