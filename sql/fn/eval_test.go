package fn_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// value is a value with its type, as tests write it: int4 '5', text null.
type value struct {
	t types.T
	d vec.Datum
}

func (v value) String() string {
	if v.d.IsNull() {
		return v.t.Name() + " null"
	}
	return v.t.Name() + " '" + string(row.AppendTextDatum(nil, v.t, v.d)) + "'"
}

// call is a function or operator with arguments.
type call struct {
	name string
	args []value
}

// parseCall reads name(type 'text', …). Types are names of pg_type, perhaps with a modifier: varchar(3).
func parseCall(line string) (call, error) {
	at := strings.IndexByte(line, '(')
	if at < 0 || !strings.HasSuffix(line, ")") {
		return call{}, fmt.Errorf("%q is no call", line)
	}
	c := call{name: line[:at]}
	rest := line[at+1 : len(line)-1]
	for rest = strings.TrimSpace(rest); rest != ""; {
		var v value
		var err error
		if v, rest, err = parseValue(rest); err != nil {
			return c, err
		}
		c.args = append(c.args, v)
		rest = strings.TrimPrefix(strings.TrimSpace(rest), ",")
		rest = strings.TrimSpace(rest)
	}
	return c, nil
}

func parseValue(s string) (value, string, error) {
	name, rest, ok := strings.Cut(s, " ")
	if !ok {
		return value{}, "", fmt.Errorf("%q is no value", s)
	}
	t, err := parseType(name)
	if err != nil {
		return value{}, "", err
	}
	rest = strings.TrimSpace(rest)
	if after, ok := strings.CutPrefix(rest, "null"); ok {
		return value{t, vec.Null}, after, nil
	}
	if !strings.HasPrefix(rest, "'") {
		return value{}, "", fmt.Errorf("%q is no literal", rest)
	}
	var text strings.Builder
	i := 1
	for ; i < len(rest); i++ {
		if rest[i] == '\'' {
			if i+1 < len(rest) && rest[i+1] == '\'' {
				i++
			} else {
				break
			}
		}
		text.WriteByte(rest[i])
	}
	d, err := fn.Literal(testEnv{}, t, text.String())
	return value{t, d}, rest[i+1:], err
}

// parseType reads int4, varchar(3), numeric(10,2), _text.
func parseType(s string) (types.T, error) {
	name, mods, has := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	t, ok := types.ByName(name)
	if !ok {
		return t, fmt.Errorf("unknown type %q", s)
	}
	if !has {
		return t, nil
	}
	var nums []int32
	for m := range strings.SplitSeq(mods, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(m), 10, 32)
		if err != nil {
			return t, err
		}
		nums = append(nums, int32(n))
	}
	switch t.OID {
	case types.OIDVarchar, types.OIDBpchar:
		t.Mod = nums[0] + 4
	case types.OIDNumeric:
		t.Mod = nums[0]<<16 + 4
		if len(nums) > 1 {
			t.Mod += nums[1] & 0x7ff
		}
	default:
		t.Mod = nums[0]
	}
	return t, nil
}

// testEnv answers as a small, fixed catalog would.
type testEnv struct{}

func (testEnv) Ask(q scalar.Question, arg vec.Datum) (vec.Datum, error) {
	switch q {
	case scalar.AskNow, scalar.AskStatementTime, scalar.AskClock:
		return vec.IntOf(int64(mustTimestamp("2024-02-29 12:34:56.789"))), nil
	case scalar.AskStartTime:
		return vec.IntOf(int64(mustTimestamp("2024-02-28 00:00:00"))), nil
	case scalar.AskCurrentDatabase:
		return vec.StrOf("materialize"), nil
	case scalar.AskVersion, scalar.AskMzVersion, scalar.AskEnvironmentID, scalar.AskCurrentUser, scalar.AskSessionUser:
		return vec.StrOf("test"), nil
	case scalar.AskBackendPID, scalar.AskMzVersionNum, scalar.AskMzNow:
		return vec.IntOf(7), nil
	case scalar.AskIsSuperuser, scalar.AskCancelBackend, scalar.AskTerminateBackend:
		return vec.BoolOf(true), nil
	case scalar.AskCurrentSchemas:
		return fn.Literal(nil, types.Of(1003), "{public}")
	case scalar.AskRelOID:
		if arg.Str() == "pg_class" {
			return vec.IntOf(1259), nil
		}
	case scalar.AskRelName:
		if arg.Int() == 1259 {
			return vec.StrOf("pg_class"), nil
		}
	case scalar.AskSetting:
		if arg.Str() == "server_version" {
			return vec.StrOf("15.0"), nil
		}
	case scalar.AskComment, scalar.AskColumnComment:
		hi, lo := scalar.Asked2(arg)
		return vec.StrOf(fmt.Sprintf("comment on %d %d", hi, lo)), nil
	}
	return vec.Null, nil
}

func mustTimestamp(s string) adt.Timestamp {
	t, err := adt.ParseTimestamp(s, -1, adt.Clock{})
	if err != nil {
		panic(err)
	}
	return t
}

func (c call) types() []types.T {
	ts := make([]types.T, len(c.args))
	for i, a := range c.args {
		ts[i] = a.t
	}
	return ts
}

// isSymbol says whether a name is an operator's.
func isSymbol(name string) bool { return strings.Trim(name, "+-*/<>=~!@#%^&|?`") == "" }

// resolve finds the function of a call.
func (c call) resolve() (fn.Call[scalar.Func], error) {
	if isSymbol(c.name) {
		return fn.ResolveOperator(c.name, c.types()...)
	}
	return fn.Resolve(c.name, c.types())
}

// eval computes a call: resolves it, casts its arguments, applies it.
func (c call) eval(env scalar.Env) (value, error) {
	r, err := c.resolve()
	if err != nil {
		return value{}, err
	}
	args := make([]vec.Datum, len(c.args))
	for i, a := range c.args {
		if args[i], err = castValue(env, a, r.Args[i], types.Implicit); err != nil {
			return value{}, err
		}
	}
	d, err := r.Func.Apply(env, args, r.Ret.Kind())
	return value{r.Ret, d}, err
}

func castValue(env scalar.Env, v value, to types.T, ctx types.CastContext) (vec.Datum, error) {
	if v.t.Equal(to) {
		return v.d, nil
	}
	f, ok := fn.Cast(v.t, to, ctx)
	if !ok {
		return vec.Null, fn.CannotCast(v.t, to)
	}
	return f.Apply(env, []vec.Datum{v.d}, to.Kind())
}

// said is a value, or an error with its code.
func said(v fmt.Stringer, err error) string {
	if err == nil {
		return v.String()
	}
	var e *pgerr.Error
	if !errors.As(err, &e) {
		return "NOT A CLIENT'S ERROR: " + err.Error()
	}
	s := fmt.Sprintf("%s %s", e.Code, e.Message)
	if e.Detail != "" {
		s += " DETAIL " + e.Detail
	}
	if e.Hint != "" {
		s += " HINT " + e.Hint
	}
	return s
}

// rowsOf lists what a table function gives.
type rowsOf []string

func (r rowsOf) String() string {
	if len(r) == 0 {
		return "no rows"
	}
	return strings.Join(r, "\n")
}

func evalTable(c call) (rowsOf, error) {
	r, err := fn.ResolveTable(c.name, c.types())
	if err != nil {
		return nil, err
	}
	args := make([]vec.Datum, len(c.args))
	for i, a := range c.args {
		if args[i], err = castValue(testEnv{}, a, r.Args[i], types.Implicit); err != nil {
			return nil, err
		}
		if args[i].IsNull() && r.Func.Strict {
			return nil, nil
		}
	}
	var out rowsOf
	err = r.Func.Rows(testEnv{}, args, func(row ...vec.Datum) error {
		parts := make([]string, len(row))
		for i, d := range row {
			parts[i] = value{r.Func.Cols[i].Type, d}.String()
		}
		if out = append(out, strings.Join(parts, ", ")); len(out) > 20 {
			return pgerr.New(pgerr.ProgramLimitExceeded, "more than 20 rows")
		}
		return nil
	})
	return out, err
}

// TestGolden runs testdata: "eval" calls functions, "cast" casts (a value, the place, a type), "table" calls table
// functions, "resolve" shows which overload a call means. One call a line.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				line = strings.TrimSuffix(line, "\n")
				out.WriteString(golden(d.Cmd, line) + "\n")
			}
			return out.String()
		})
	})
}

func golden(command, line string) string {
	if command == "cast" {
		return goldenCast(line)
	}
	c, err := parseCall(line)
	if err != nil {
		return said(value{}, err)
	}
	switch command {
	case "eval":
		return said(c.eval(testEnv{}))
	case "table":
		return said(evalTable(c))
	case "resolve":
		r, err := c.resolve()
		if err != nil {
			return said(value{}, err)
		}
		return fmt.Sprintf("%s(%s) → %s", r.Func.Name, listTypes(r.Args), r.Ret)
	}
	return "unknown command"
}

func goldenCast(line string) string {
	v, rest, err := parseValue(line)
	if err != nil {
		return said(value{}, err)
	}
	place, name, _ := strings.Cut(strings.TrimSpace(rest), " ")
	to, err := parseType(name)
	if err != nil {
		return err.Error()
	}
	for ctx := types.Implicit; ctx <= types.Explicit; ctx++ {
		if ctx.String() == place {
			d, err := castValue(testEnv{}, v, to, ctx)
			return said(value{to, d}, err)
		}
	}
	return "unknown place " + place
}
