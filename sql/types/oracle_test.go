package types_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/sql/types"
)

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	return conn
}

// shared are the types that PostgreSQL has too, arrays included.
func shared() []types.T {
	var ts []types.T
	for _, oid := range types.All() {
		t := types.Of(oid)
		if oid == types.OIDMzTimestamp {
			continue
		}
		ts = append(ts, t)
		if a, ok := t.Array(); ok {
			ts = append(ts, a)
		}
	}
	return ts
}

func TestTypesAgainstOracle(t *testing.T) {
	conn := connect(t)
	for _, typ := range shared() {
		var name, format, category string
		var preferred bool
		var length int16
		var array, elem uint32
		err := conn.QueryRow(context.Background(), `select typname, format_type(oid, null), typcategory::text, typispreferred, typlen, typarray,
			typelem from pg_type where oid = $1`, uint32(typ.OID)).Scan(&name, &format, &category, &preferred, &length, &array, &elem)
		if err != nil {
			t.Errorf("%v: %v", typ, err)
			continue
		}
		gotArray, _ := typ.Array()
		gotElem, isArray := typ.Elem()
		got := fmt.Sprint(typ.Name(), " ", typ, " ", string(typ.Category()), " ", typ.Preferred(), " ", typ.Len(), " ", gotArray.OID)
		want := fmt.Sprint(name, " ", format, " ", category, " ", preferred, " ", length, " ", array)
		if got != want {
			t.Errorf("type %d: ours %s, oracle %s", typ.OID, got, want)
		}
		if isArray && uint32(gotElem.OID) != elem {
			t.Errorf("type %d: element %d, oracle %d", typ.OID, gotElem.OID, elem)
		}
	}
}

// TestCastsAgainstOracle asks PostgreSQL to cast every type to every other one in each place.
func TestCastsAgainstOracle(t *testing.T) {
	conn := connect(t)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec(`create function pg_temp.accepts(q text) returns bool language plpgsql as $$ begin
		execute 'prepare p as ' || q; deallocate p; return true;
		exception when others then return false; end $$`)
	var ts []types.T
	for _, typ := range shared() {
		elem, isArray := typ.Elem()
		if typ.Category() == 'P' || typ.OID == types.OIDUnknown || typ.OID == types.OIDACLItem || isArray && elem.OID == types.OIDACLItem {
			continue
		}
		ts = append(ts, typ)
	}
	for _, typ := range ts {
		exec(fmt.Sprintf("create temp table %q (x %v)", "to_"+typ.Name(), typ))
		exec(fmt.Sprintf("create function pg_temp.%q(%v) returns int language sql as 'select 1'", "takes_"+typ.Name(), typ))
	}
	for _, from := range ts {
		var queries []string
		for _, to := range ts {
			queries = append(queries,
				fmt.Sprintf("select pg_temp.%q(null::%v)", "takes_"+to.Name(), from),
				fmt.Sprintf("insert into %q select null::%v", "to_"+to.Name(), from),
				fmt.Sprintf("select null::%v::%v", from, to))
		}
		rows, err := conn.Query(context.Background(),
			"select pg_temp.accepts(q) from unnest($1::text[]) with ordinality as u(q, n) order by n", queries)
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := pgx.CollectRows(rows, pgx.RowTo[bool])
		if err != nil {
			t.Fatal(err)
		}
		for i, to := range ts {
			ctx, ok := types.CanCast(from, to)
			got := fmt.Sprint(ok && ctx <= types.Implicit, ok && ctx <= types.Assignment, ok)
			if want := fmt.Sprint(accepted[3*i], accepted[3*i+1], accepted[3*i+2]); got != want {
				t.Errorf("%v to %v (implicit, assignment, explicit): ours %s, oracle %s", from, to, got, want)
			}
		}
	}
}

func TestCommonTypeAgainstOracle(t *testing.T) {
	conn := connect(t)
	pool := []types.T{types.TInt2, types.TInt4, types.TInt8, types.TFloat4, types.TFloat8, types.TNumeric, types.TText, types.TVarchar,
		types.TBpchar, types.TName, types.TDate, types.TTimestamp, types.TTimestampTZ, types.TTime, types.TInterval, types.TBool,
		types.TUUID, types.TJsonb, types.TOid, types.Of(types.OIDRegclass), types.TUnknown}
	for _, a := range pool {
		for _, b := range pool {
			for _, c := range []types.T{types.TUnknown, types.TInt8, types.TText, types.TTimestamp} {
				value := func(t types.T) string {
					if t.OID == types.OIDUnknown {
						return "null"
					}
					return fmt.Sprintf("null::%v", t)
				}
				var oid uint32
				want := ""
				err := conn.QueryRow(context.Background(), fmt.Sprintf("select pg_typeof(case when true then %s when false then %s else %s end)::oid",
					value(a), value(b), value(c))).Scan(&oid)
				if err == nil {
					want = types.Of(types.OID(oid)).String()
				} else if want = err.Error(); strings.Contains(want, "could not convert") {
					continue // found a common type that one of them is not cast to
				} else {
					want = strings.TrimSuffix(strings.TrimPrefix(want, "ERROR: "), " (SQLSTATE 42804)")
				}
				// The last branch of a CASE comes first.
				got, gotErr := types.CommonType("CASE", c, a, b)
				show := got.String()
				if gotErr != nil {
					show = gotErr.Error()
				}
				if show != want {
					t.Errorf("%v, %v, %v: ours %s, oracle %s", a, b, c, show, want)
				}
			}
		}
	}
}

func TestNamesAgainstOracle(t *testing.T) {
	conn := connect(t)
	for _, c := range []struct {
		sql string
		n   types.Name
	}{
		{"integer", types.Name{Parts: []string{"integer"}}},
		{"bigint[]", types.Name{Parts: []string{"bigint"}, Array: true}},
		{"int2vector[]", types.Name{Parts: []string{"int2vector"}, Array: true}},
		{"_int4[]", types.Name{Parts: []string{"_int4"}, Array: true}},
		{"character varying(10)", types.Name{Parts: []string{"character varying"}, Mods: []int64{10}}},
		{"varchar(0)", types.Name{Parts: []string{"varchar"}, Mods: []int64{0}}},
		{"varchar(10485761)", types.Name{Parts: []string{"varchar"}, Mods: []int64{10485761}}},
		{"char(3)", types.Name{Parts: []string{"char"}, Mods: []int64{3}}},
		{`"char"`, types.Name{Parts: []string{"char"}, Quoted: true}},
		{"numeric(10,2)", types.Name{Parts: []string{"numeric"}, Mods: []int64{10, 2}}},
		{"numeric(10,-2)", types.Name{Parts: []string{"numeric"}, Mods: []int64{10, -2}}},
		{"numeric(5)", types.Name{Parts: []string{"decimal"}, Mods: []int64{5}}},
		{"numeric(1,2,3)", types.Name{Parts: []string{"numeric"}, Mods: []int64{1, 2, 3}}},
		{"timestamp(3) with time zone", types.Name{Parts: []string{"timestamp with time zone"}, Mods: []int64{3}}},
		{"time(0)", types.Name{Parts: []string{"time"}, Mods: []int64{0}}},
		{"timestamp(9)", types.Name{Parts: []string{"timestamp"}, Mods: []int64{9}}},
		{"double precision", types.Name{Parts: []string{"double precision"}}},
		{"interval", types.Name{Parts: []string{"interval"}}},
		{"interval(3)", types.Name{Parts: []string{"interval"}, Mods: []int64{3}}},
		{"interval year to month", types.Name{Parts: []string{"interval"}, Fields: "YEAR TO MONTH"}},
		{"interval day to second(2)", types.Name{Parts: []string{"interval"}, Fields: "DAY TO SECOND", Mods: []int64{2}}},
		{"interval second(0)", types.Name{Parts: []string{"interval"}, Fields: "second", Mods: []int64{0}}},
		{"nosuch", types.Name{Parts: []string{"nosuch"}}},
		{"pg_catalog.nosuch", types.Name{Parts: []string{"pg_catalog", "nosuch"}}},
		{"pg_catalog.integer", types.Name{Parts: []string{"pg_catalog", "integer"}}},
		{"uuid(3)", types.Name{Parts: []string{"uuid"}, Mods: []int64{3}}},
		{"text(3)", types.Name{Parts: []string{"text"}, Mods: []int64{3}}},
	} {
		var want string
		err := conn.QueryRow(context.Background(), fmt.Sprintf("create temp table named (x %s)", c.sql)).Scan()
		if err != nil && err != pgx.ErrNoRows {
			want = err.Error()
		} else {
			err = conn.QueryRow(context.Background(), `select format_type(atttypid, atttypmod) from pg_attribute
				where attrelid = 'named'::regclass and attname = 'x'`).Scan(&want)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(context.Background(), "drop table named"); err != nil {
				t.Fatal(err)
			}
		}
		typ, err := types.ParseName(c.n)
		got := typ.String()
		if err != nil {
			got = "ERROR: " + err.Error()
			want, _, _ = strings.Cut(want, " (SQLSTATE")
		}
		if got != want {
			t.Errorf("%s: ours %s, oracle %s", c.sql, got, want)
		}
	}
}
