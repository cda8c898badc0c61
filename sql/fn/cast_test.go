package fn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/types"
)

// castTargets are types with modifiers, besides the plain ones.
var castTargets = append(argTypes[1:len(argTypes):len(argTypes)],
	types.T{OID: types.OIDVarchar, Mod: 2 + 4}, types.T{OID: types.OIDBpchar, Mod: 3 + 4}, types.T{OID: types.OIDNumeric,
		Mod: 5<<16 + 2 + 4},
	types.T{OID: types.OIDTimestamp, Mod: 0}, types.T{OID: types.OIDTimestampTZ, Mod: 3}, types.T{OID: types.OIDTime, Mod: 1},
	types.Of(1016), types.Of(1022), types.T{OID: 1015, Mod: 2 + 4}, types.T{OID: 1231, Mod: 4<<16 + 1 + 4})

// castException says why a cast gives something else, if it is meant to.
func castException(from, to types.T, ours, theirs answer) string {
	switch {
	case from.OID == types.OIDJsonb && to.Category() == 'S':
		return "JSON as text has no blanks"
	case to.OID == types.OIDRegclass || from.OID == types.OIDRegclass:
		return "names are the catalog's to know"
	case ours.message == "value overflows numeric format" && theirs.code == "":
		return "numerics have 39 digits"
	case from.OID == types.OIDNumeric && to.Category() == 'S':
		return "numerics print no zeros at the end"
	case to.OID == types.OIDNumeric && ours.code == "22003" && theirs.code == "22003",
		to.OID == types.OIDInt2Vector && ours.code == theirs.code:
		return "said in other words"
	case to.OID == types.OIDBpchar && strings.TrimRight(ours.text, " ") == strings.TrimRight(theirs.text, " "):
		return "blanks at the end do not count"
	case to.OID == types.OIDXid || from.OID == types.OIDXid:
		return "no casts of xid"
	}
	return ""
}

func TestCastsAgainstOracle(t *testing.T) {
	conn := connect(t)
	tried, bad := 0, 0
	for _, from := range append(argTypes[1:len(argTypes):len(argTypes)], types.Of(1015)) {
		for _, to := range castTargets {
			texts := edges[from.OID]
			if testing.Short() {
				texts = texts[:min(2, len(texts))]
			}
			shown := 0
			for _, text := range texts {
				d, err := fn.Literal(nil, from, text)
				if err != nil {
					t.Fatalf("%v %q: %v", from, text, err)
				}
				name := to.String()
				if to.Equal(types.TBpchar) {
					name = "bpchar"
				}
				sql := "CAST(" + literalSQL(from, text, false) + " AS " + name + ")"
				theirs := askOracle(t, conn, sql)
				ours := castAnswer(value{from, d}, to)
				tried++
				if !sameAnswer(to, ours, theirs) && castException(from, to, ours, theirs) == "" {
					if bad++; shown < 2 {
						t.Errorf("%s:\n ours   %s\n theirs %s", sql, ours, theirs)
					}
					shown++
				}
			}
		}
	}
	t.Logf("%d casts, %d differ", tried, bad)
}

func castAnswer(v value, to types.T) answer {
	d, err := castValue(testEnv{}, v, to, types.Explicit)
	return answerOf(value{to, d}, err)
}

// TestCastContextsAreThoseOfPostgreSQL holds where casts are done without being written against pg_cast.
func TestCastContextsAreThoseOfPostgreSQL(t *testing.T) {
	conn := connect(t)
	rows, err := conn.Query(context.Background(), "SELECT castsource, casttarget, castcontext::text FROM pg_cast")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	type pair struct{ from, to types.OID }
	contexts := map[pair]types.CastContext{}
	for rows.Next() {
		var p pair
		var ctx string
		if err := rows.Scan((*uint32)(&p.from), (*uint32)(&p.to), &ctx); err != nil {
			t.Fatal(err)
		}
		contexts[p] = map[string]types.CastContext{"i": types.Implicit, "a": types.Assignment, "e": types.Explicit}[ctx]
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, from := range argTypes[1:] {
		for _, to := range argTypes[1:] {
			want, ok := contexts[pair{from.OID, to.OID}]
			switch {
			case ok || from.OID == to.OID:
			case to.Category() == 'S':
				want, ok = types.Assignment, true
			case from.Category() == 'S':
				want, ok = types.Explicit, true
			case from.IsArray() && to.IsArray():
				continue // as their elements
			}
			ok = ok || from.OID == to.OID
			for ctx := types.Implicit; ctx <= types.Explicit; ctx++ {
				if _, got := fn.Cast(from, to, ctx); got != (ok && ctx >= want) {
					t.Errorf("%s: cast from %s to %s: %v", ctx, from, to, got)
				}
			}
		}
	}
}

// TestTablesAgainstOracle calls table functions with edge values.
func TestTablesAgainstOracle(t *testing.T) {
	conn := connect(t)
	for _, c := range []string{
		"generate_series(int4 '1', int4 '5')", "generate_series(int4 '5', int4 '1')", "generate_series(int4 '5', int4 '1', int4 '-2')",
		"generate_series(int4 '1', int4 '2', int4 '0')", "generate_series(int4 '2147483640', int4 '2147483647', int4 '3')",
		"generate_series(int8 '9223372036854775800', int8 '9223372036854775807', int8 '5')", "generate_series(int4 null, int4 '2')",
		"generate_series(int8 '-9223372036854775808', int8 '-9223372036854775800', int8 '7')", "generate_series(int4 '1', int8 '2')",
		"generate_series(numeric '1', numeric '2.5', numeric '0.5')", "generate_series(numeric '1', numeric 'NaN')",
		"generate_series(numeric '1', numeric '2', numeric '0')", "generate_series(numeric 'Infinity', numeric '2')",
		"generate_series(numeric '3', numeric '1', numeric '-1')",
		"generate_series(timestamp '2024-01-30', timestamp '2024-04-01', interval '1 month')",
		"generate_series(timestamp '2024-01-01', timestamp '2023-12-30', interval '-12:00')",
		"generate_series(timestamp '2024-01-01', timestamp '2024-01-02', interval '0')",
		"generate_series(date '2024-01-01', date '2024-01-03', interval '1 day')",
		"generate_subscripts(_int4 '{1,2,3}', int4 '1')", "generate_subscripts(_int4 '[0:1]={5,6}', int4 '1')",
		"generate_subscripts(_int4 '{{1,2},{3,4}}', int4 '2', bool 't')",
		"generate_subscripts(_int4 '{1}', int4 '2')", "generate_subscripts(int2vector '1 2', int4 '1')",
		"unnest(_int4 '{1,NULL,3}')", "unnest(_text '{{a,b},{c,d}}')", "unnest(int2vector '3 4')", "unnest(oidvector '23 25')",
		"unnest(_int4 '{}')",
		"regexp_split_to_table(text 'a1b22c', text '[0-9]')", "regexp_split_to_table(text 'abc', text '')",
		"regexp_split_to_table(text 'a', text '(')",
		"regexp_matches(text 'foobarbequebaz', text 'ba.', text 'g')", "regexp_matches(text 'foobarbequebaz', text '(b)(.)')",
		"regexp_matches(text 'x', text 'y')",
		"string_to_table(text 'a,b,c', text ',')", "string_to_table(text 'abc', text null)",
		"string_to_table(text 'a,b', text ',', text 'b')", "string_to_table(text '', text ',')",
		`jsonb_array_elements(jsonb '[1,"a",null,{"b":2}]')`, `jsonb_array_elements_text(jsonb '[1,"a",null]')`,
		"jsonb_array_elements(jsonb '1')", "jsonb_array_elements(jsonb '{}')",
		`jsonb_each(jsonb '{"a":1,"b":null}')`, `jsonb_each_text(jsonb '{"a":"x","b":null}')`, "jsonb_each(jsonb '[]')",
		"jsonb_each_text(jsonb '1')",
		`jsonb_object_keys(jsonb '{"b":1,"a":2}')`, "jsonb_object_keys(jsonb '[]')", "jsonb_object_keys(jsonb '1')",
		"pg_options_to_table(_text '{a=1,b,c=x=y}')",
	} {
		parsed, err := parseCall(c)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		ours := said(evalTable(parsed))
		if theirs := oracleRows(t, conn, parsed); ours != theirs {
			t.Errorf("%s:\nours\n%s\ntheirs\n%s", c, ours, theirs)
		}
	}
}

// oracleRows asks the oracle for a table function's rows, in the form in which ours are shown.
func oracleRows(t *testing.T, conn *pgx.Conn, c call) string {
	var parts []string
	for _, a := range c.args {
		parts = append(parts, literalSQL(a.t, string(textOf(a)), a.d.IsNull()))
	}
	results, err := conn.PgConn().Exec(context.Background(), "SELECT * FROM "+sqlCall(c.name, parts)).ReadAll()
	if err != nil {
		return oracleError(t, err)
	}
	r, err := fn.ResolveTable(c.name, c.types())
	if err != nil {
		t.Fatal(err)
	}
	var out rowsOf
	for _, row := range results[0].Rows {
		line := ""
		for i, text := range row {
			if i > 0 {
				line += ", "
			}
			v := value{t: r.Func.Cols[i].Type}
			if text != nil {
				if v.d, err = fn.Literal(nil, v.t, string(text)); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			line += fmt.Sprint(v)
		}
		out = append(out, line)
	}
	return out.String()
}
