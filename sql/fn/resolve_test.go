package fn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// argTypes are the types that calls are tried with; unknown is a literal without a type.
var argTypes = []types.T{
	types.TUnknown, types.TBool, types.TInt2, types.TInt4, types.TInt8, types.TFloat4, types.TFloat8, types.TNumeric, types.TText,
	types.TVarchar, types.TBpchar, types.TName, types.TChar, types.TBytea, types.TDate, types.TTime, types.TTimestamp, types.TTimestampTZ,
	types.TInterval, types.TUUID, types.TJsonb, types.TOid, types.Of(types.OIDRegclass), types.Of(1007), types.Of(1009), types.Of(1231),
	types.Of(types.OIDInt2Vector),
}

// askType asks the oracle for the type of an expression, or the code of its error.
func askType(t *testing.T, conn *pgx.Conn, expr string) string {
	var name string
	err := conn.QueryRow(context.Background(), "SELECT pg_typeof("+expr+")::text", pgx.QueryExecModeSimpleProtocol).Scan(&name)
	var e *pgconn.PgError
	switch {
	case err == nil:
		return name
	case errors.As(err, &e):
		return e.Code
	}
	t.Fatalf("%s: %v", expr, err)
	return ""
}

func ourType(c call) string {
	r, err := c.resolve()
	if err != nil {
		return string(pgerr.From(err).Code)
	}
	return types.Of(r.Ret.OID).String()
}

// nullCall is a call with NULLs of the given types, here and for the oracle.
func nullCall(name string, ts []types.T) (call, string) {
	c := call{name: name}
	var parts []string
	for _, t := range ts {
		c.args = append(c.args, value{t: t})
		if t.OID == types.OIDUnknown {
			parts = append(parts, "NULL")
		} else {
			parts = append(parts, "NULL::"+t.String())
		}
	}
	return c, sqlCall(name, parts)
}

func sqlCall(name string, parts []string) string {
	switch {
	case isSymbol(name) && len(parts) == 2:
		return "(" + parts[0] + " OPERATOR(pg_catalog." + name + ") " + parts[1] + ")"
	case isSymbol(name):
		return "(OPERATOR(pg_catalog." + name + ") " + parts[0] + ")"
	case name == "greatest" || name == "least":
		return name + "(" + strings.Join(parts, ", ") + ")"
	}
	return `pg_catalog."` + name + `"(` + strings.Join(parts, ", ") + ")"
}

// otherwise says why a call resolves otherwise in PostgreSQL, if it should.
func otherwise(name string, theirs string) string {
	switch {
	case theirs == "42725" && slices.Contains([]string{"#>", "#>>", "&&", "->", "->>", "<@", "@>", "?|", "age"}, name):
		return "ambiguous there for types that we do not have: json, ranges, xid"
	case slices.Contains([]string{"json", "point", "box", "path", "circle", "bit", "inet", "money", "pg_lsn"}, theirs):
		return "a type that we do not have"
	case strings.HasPrefix(name, "array_") && theirs == "42704":
		return "no array of arrays: said in other words"
	case name == "array_fill" || name == "jsonb_build_object":
		return "fails for these arguments"
	case theirs == "42725" && slices.Contains([]string{"bit_count", "get_bit", "trunc"}, name):
		return "ambiguous there for types that we do not have: bit, macaddr"
	case name == "to_char" && theirs == "text":
		return "only times are written by templates"
	case name == "pg_get_expr":
		return "expressions are kept as text"
	case name == "timezone" && theirs == "time with time zone":
		return "a type that we do not have"
	}
	return ""
}

func TestResolutionAgainstOracle(t *testing.T) {
	conn := connect(t)
	names := map[string][]int{}
	for _, f := range append(fn.All().Scalars, fn.All().Operators...) {
		if f.OID >= ourNumbers && f.Name != "greatest" || f.Name == "pg_cancel_backend" || f.Name == "pg_terminate_backend" {
			continue
		}
		if n := len(f.Args); n > 0 && n <= 2 && !slices.Contains(names[f.Name], n) {
			names[f.Name] = append(names[f.Name], n)
		}
	}
	ordered := make([]string, 0, len(names))
	for name := range names {
		ordered = append(ordered, name)
	}
	slices.Sort(ordered)
	// All of them take half a minute; these still try every type in every place. 1 tries them all.
	step := 5
	if testing.Short() {
		step = 41
	}
	tried, bad := 0, 0
	for _, name := range ordered {
		for _, n := range names[name] {
			for k := 0; k < len(argTypes)*max(1, (n-1)*len(argTypes)); k += step {
				ts := []types.T{argTypes[k%len(argTypes)]}
				if n == 2 {
					ts = append(ts, argTypes[k/len(argTypes)])
				}
				c, sql := nullCall(name, ts)
				ours, theirs := ourType(c), askType(t, conn, sql)
				tried++
				if ours != theirs && otherwise(name, theirs) == "" {
					if bad++; bad <= 200 {
						t.Errorf("%s: ours %s, theirs %s", sql, ours, theirs)
					}
				}
			}
		}
	}
	t.Logf("%d calls, %d differ", tried, bad)
}
