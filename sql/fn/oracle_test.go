package fn_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// edges are values of each type that are worth trying, as literals.
var edges = map[types.OID][]string{
	types.OIDBool: {"t", "f"},
	types.OIDInt2: {"0", "1", "-1", "2", "7", "-3", "100", "32767", "-32768"},
	types.OIDInt4: {"0", "1", "-1", "2", "3", "-2", "7", "16", "31", "33", "65", "100", "1000", "2147483647", "-2147483648"},
	types.OIDInt8: {"0", "1", "-1", "2", "10", "-7", "63", "65", "1000000", "4294967296", "9223372036854775807", "-9223372036854775808"},
	types.OIDFloat4: {"0", "1", "-1", "0.5", "2.5", "-2.5", "3.1415927", "1e-45", "3.4e38", "-3.4e38", "NaN", "Infinity", "-Infinity",
		"16777217"},
	types.OIDFloat8: {"0", "1", "-1", "0.5", "1.5", "2.5", "-2.5", "0.1", "3.141592653589793", "10", "30", "45", "90", "100", "1e-300",
		"1e300", "-1e300", "5e-324", "1.7976931348623157e308", "NaN", "Infinity", "-Infinity", "9007199254740993",
		"-0.49999999999999994"},
	types.OIDNumeric: {"0", "1", "-1", "2", "0.5", "1.5", "2.5", "-2.5", "0.1", "3.14159", "100", "0.001", "12345678.9",
		"-12345.678", "99999999999999999999",
		"0.00000000000000000001", "NaN", "Infinity", "-Infinity", "1e20", "7"},
	types.OIDText: {"", "a", "abc", "ABC", "Hello World", "  pad  ", "a%b", "_", "%", `a\b`, "äöü", "日本語", "x,y,z", "it's", "1",
		"12", "-5", "0", "abcabc",
		"NULL", "day", "month", "2024-01-31", "hex", "base64", "escape", "xyxyx", "aGVsbG8=", "6162", `\\141`, "select",
		"quoted Ident", "a.b", "^a", "b$",
		"[a-c]+", "(a)(b)?", "(", "UTC", "Europe/Berlin", "b", "bc", "g", "i", " ", "tHE quick-brown fox2jumps",
		"{abcdef}"},
	types.OIDVarchar: {"", "a", "abc", "it's", "äöü"},
	types.OIDBpchar:  {"", "a", "ab c", "it's"},
	types.OIDName:    {"", "a", "abc", "pg_class", "UTF8", "Weird Name"},
	types.OIDChar:    {"", "a", "Z", "1"},
	types.OIDBytea:   {"", "abc", `\x00`, `\xff00ff`, `\x616263`, "a%c", `\x5c`, `\xc3a4`},
	types.OIDDate: {"2000-01-01", "2024-02-29", "1999-12-31", "1970-01-01", "0001-01-01", "4713-01-01 BC", "infinity",
		"-infinity", "5874897-12-31"},
	types.OIDTime: {"00:00:00", "12:34:56.789", "23:59:59.999999", "24:00:00", "01:02:03"},
	types.OIDTimestamp: {"2000-01-01 00:00:00", "2024-02-29 12:34:56.789012", "1999-12-31 23:59:59.999999", "infinity",
		"-infinity", "0044-03-15 BC", "294276-12-31 23:59:59", "2024-12-30 00:00:00"},
	types.OIDTimestampTZ: {"2000-01-01 00:00:00+00", "2024-02-29 12:34:56.789012+00", "1969-12-31 23:59:59.5+00", "infinity",
		"-infinity", "2024-07-01 00:00:00+00"},
	types.OIDInterval: {"0", "1 day", "1 month", "-1 month", "1 year 2 months 3 days 04:05:06.789", "-1 day 23:00:00",
		"36 hours", "40 days", "1 microsecond", "178000000 years", "100 years -3 days"},
	types.OIDUUID: {"00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
		"ffffffff-ffff-ffff-ffff-ffffffffffff"},
	types.OIDJsonb: {"null", "true", "1", "-1.5", `"a"`, `"abc"`, "[]", "{}", `[1, 2, "a", null]`,
		`{"a": 1, "b": [1, {"c": null}]}`, `{"a": {"b": "c"}}`, `[[1], [2, 3]]`,
		`{"abc": null}`, `["a", "abc", {"a": 1}]`, "1e3", "123456789012345678901234567890"},
	types.OIDOid:        {"0", "1", "16", "23", "25", "1043", "1259", "1700", "4294967295"},
	types.OIDXid:        {"0", "1", "4294967295"},
	types.OIDRegclass:   {"0", "1259"},
	1000:                {"{}", "{t,f,NULL}"},
	1003:                {"{}", "{a,b}"},
	1015:                {"{}", "{abc,NULL}"},
	1005:                {"{}", "{1,2}"},
	1007:                {"{}", "{1}", "{1,2,3}", "{3,NULL,1}", "{{1,2},{3,4}}", "[0:1]={5,6}", "{NULL}", "{2,2}"},
	1016:                {"{}", "{1,2}", "{9223372036854775807}"},
	1009:                {"{}", "{a}", "{a,b,c}", "{a,NULL}", "{{a,b},{c,d}}", "{1,2}", "{abc}", `{"x y",""}`, "{b,c}"},
	1231:                {"{}", "{1.5,2}", "{NULL,0}", "{1.25}"},
	1022:                {"{}", "{1.5,NaN}"},
	2287:                {},
	types.OIDInt2Vector: {"", "1 2", "3"},
	types.OIDOidVector:  {"", "23 25", "16"},
}

// instances are types that stand for the generic ones.
func concrete(t types.T, n int) types.T {
	pick := []types.T{types.TInt4, types.TText, types.TNumeric}[n%3]
	switch t.OID {
	case types.OIDAny, types.OIDAnyElement, types.OIDAnyNonArray, types.OIDAnyCompatible, types.OIDAnyCompatibleNonArray:
		return pick
	case types.OIDAnyArray, types.OIDAnyCompatibleArray:
		a, _ := pick.Array()
		return a
	}
	return t
}

// literalSQL is a value as the oracle reads it.
func literalSQL(t types.T, text string, null bool) string {
	name := t.String()
	if t.Equal(types.TBpchar) {
		name = "bpchar" // character alone is one of them
	}
	if null {
		return "NULL::" + name
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'::" + name
}

// randomCall makes a call of f with edge values; ok is false if a type has none.
func randomCall(r *rand.Rand, f *scalar.Func) (c call, sql string, ok bool) {
	c = call{name: f.Name}
	params := f.Args
	if f.Variadic {
		for range r.IntN(3) {
			params = append(params[:len(params):len(params)], params[len(params)-1])
		}
	}
	which := r.IntN(3)
	var parts []string
	for _, p := range params {
		t := concrete(p, which)
		texts := edges[t.OID]
		if len(texts) == 0 {
			return c, "", false
		}
		text, null := texts[r.IntN(len(texts))], r.IntN(12) == 0
		v := value{t: t}
		if !null {
			d, err := fn.Literal(nil, t, text)
			if err != nil {
				return c, "", false
			}
			v.d = d
		}
		c.args = append(c.args, v)
		parts = append(parts, literalSQL(t, text, null))
	}
	return c, sqlCall(f.Name, parts), true
}

// answer is a value as text, or the code of an error.
type answer struct {
	text, code, message string
	null                bool
}

func (a answer) String() string {
	switch {
	case a.code != "":
		return a.code + " " + a.message
	case a.null:
		return "NULL"
	}
	return strconv.Quote(a.text)
}

func askOracle(t *testing.T, conn *pgx.Conn, expr string) answer {
	results, err := conn.PgConn().Exec(context.Background(), "SELECT "+expr).ReadAll()
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e):
		return answer{code: e.Code, message: e.Message}
	case err != nil:
		t.Fatalf("%s: %v", expr, err)
	}
	text := results[0].Rows[0][0]
	return answer{text: string(text), null: text == nil}
}

func ourAnswer(c call) (types.T, answer) {
	v, err := c.eval(nil)
	return v.t, answerOf(v, err)
}

// answerOf is a value, or an error, of ours as an answer.
func answerOf(v value, err error) answer {
	switch {
	case err != nil:
		e := pgerr.From(err)
		return answer{code: string(e.Code), message: e.Message}
	case v.d.IsNull():
		return answer{null: true}
	}
	return answer{text: string(textOf(v))}
}

// textOf is a value that is not NULL as text.
func textOf(v value) []byte {
	if v.t.OID == types.OIDRegtype {
		if d, err := castValue(nil, v, types.TText, types.Explicit); err == nil {
			return d.Bytes()
		}
	}
	if v.d.IsNull() {
		return nil
	}
	return row.AppendTextDatum(nil, v.t, v.d)
}

// oracleError is an error of the oracle's in the form in which ours are shown.
func oracleError(t *testing.T, err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	return said(nil, &pgerr.Error{Code: pgerr.Code(e.Code), Message: e.Message, Detail: e.Detail, Hint: e.Hint})
}

// sameAnswer compares values as far as we mean to agree: numerics to their digits here, floats to the last few
// bits, JSON as values.
func sameAnswer(t types.T, ours, theirs answer) bool {
	if ours.null != theirs.null || ours.code != theirs.code {
		return false
	}
	if ours.code != "" {
		return ours.message == theirs.message
	}
	if ours.text == theirs.text {
		return true
	}
	switch t.OID {
	case types.OIDFloat4, types.OIDFloat8:
		x, xerr := strconv.ParseFloat(ours.text, 64)
		y, yerr := strconv.ParseFloat(theirs.text, 64)
		return xerr == nil && yerr == nil && closeTo(x, y, 1e-14)
	case types.OIDNumeric:
		x, xerr := adt.ParseNumeric(ours.text)
		y, yerr := adt.ParseNumeric(theirs.text)
		return xerr == nil && yerr == nil && (x == y || closeTo(x.Float(), y.Float(), 1e-14) || sameDigits(ours.text, theirs.text))
	case types.OIDJsonb:
		x, xerr := adt.ParseJsonb(nil, ours.text)
		y, yerr := adt.ParseJsonb(nil, theirs.text)
		return xerr == nil && yerr == nil && string(x) == string(y)
	}
	if elem, ok := t.Elem(); ok && elem.OID == types.OIDNumeric {
		x, xerr := fn.Literal(nil, t, ours.text)
		y, yerr := fn.Literal(nil, t, theirs.text)
		return xerr == nil && yerr == nil && x.Equal(y)
	}
	return false
}

func closeTo(x, y, within float64) bool {
	if x == y || math.IsNaN(x) && math.IsNaN(y) {
		return true
	}
	return math.Abs(x-y) <= within*math.Max(math.Abs(x), math.Abs(y))
}

// sameDigits says whether ours, rounded to the digits that PostgreSQL gives, is theirs.
func sameDigits(ours, theirs string) bool {
	x, err := adt.ParseNumeric(ours)
	if err != nil {
		return false
	}
	_, frac, _ := strings.Cut(theirs, ".")
	x, err = x.Round(len(frac))
	y, yerr := adt.ParseNumeric(theirs)
	return err == nil && yerr == nil && x == y
}

// exception says why an answer differs, if it is meant to.
func exception(c call, ours, theirs answer) string {
	text := func(i int) string {
		if i >= len(c.args) || c.args[i].d.IsNull() || c.args[i].t.Kind() != types.Bytes {
			return ""
		}
		return c.args[i].d.Str()
	}
	ascii := func(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 127 }) < 0 }
	uses := func(oid types.OID) bool {
		return slices.ContainsFunc(c.args, func(v value) bool { return v.t.OID == oid })
	}
	switch {
	case slices.Contains([]string{"lower", "upper", "initcap", "~~*", "!~~*"}, c.name) && !(ascii(text(0)) && ascii(text(1))):
		return "letters' case by Unicode"
	case strings.Contains("= <> < <= > >=", c.name) && uses(types.OIDInterval):
		return "intervals are compared field by field"
	case slices.Contains([]string{"convert_from", "convert_to", "pg_char_to_encoding", "pg_encoding_to_char"}, c.name):
		return "UTF8 is the only encoding"
	case c.name == "age" && strings.Contains(ours.message, "out of range"):
		return "infinities are no numbers"
	case strings.Contains(ours.message, "numeric format") && theirs.code == "":
		return "numerics have 39 digits"
	case c.name == "to_char" && ours.code == "22007":
		return "the ISO calendar means nothing for intervals"
	case strings.HasPrefix(c.name, "make_") && ours.code == theirs.code:
		return "numbers in messages"
	case ours.code == "22008" && theirs.code == "":
		return "PostgreSQL overflows"
	case c.name == "right" && theirs.text != "":
		return "PostgreSQL overflows"
	case slices.Contains([]string{"->", "->>", "jsonb_array_element", "jsonb_array_element_text"}, c.name) && ours.null:
		return "scalars have no elements"
	case strings.Contains("= <> < <= > >=", c.name) && uses(types.OIDJsonb):
		return "an empty array is an array"
	case uses(types.OIDJsonb) && sameAnswer(types.TJsonb, ours, theirs):
		return "JSON as text has no blanks"
	case strings.HasPrefix(ours.message, "regular expression option"):
		return "options that we do not have"
	case strings.HasPrefix(ours.message, "time zone") && strings.HasSuffix(ours.message, "not recognized"):
		return "PostgreSQL takes any word with a number for a zone"
	case regexSyntax(c) && strings.ContainsAny(text(1), `\|+`):
		return "regular expressions have Go's syntax"
	}
	return ""
}

// aboutServer says whether a function's answer depends on the server that is asked.
func aboutServer(f *scalar.Func) bool {
	return f.Volatility != scalar.Immutable || strings.HasPrefix(f.Name, "has_") || f.Name == "row_security_active" ||
		strings.HasPrefix(f.Name, "pg_") && f.Name != "pg_size_pretty" && f.Name != "pg_typeof"
}

func regexSyntax(c call) bool {
	return strings.HasPrefix(c.name, "regexp_") || slices.Contains([]string{"~", "!~", "~*", "!~*", "substring"}, c.name)
}

func TestValuesAgainstOracle(t *testing.T) {
	conn := connect(t)
	perFunc := 25
	if testing.Short() {
		perFunc = 3
	}
	tried, bad := 0, 0
	for _, f := range append(fn.All().Scalars, fn.All().Operators...) {
		if f.OID >= ourNumbers && f.OID < endOfOurs && f.Name != "greatest" && f.Name != "least" || aboutServer(f) {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(f.OID), uint64(len(f.Name))))
		shown := 0
		for range perFunc * max(1, len(f.Args)) {
			c, sql, ok := randomCall(r, f)
			if !ok {
				continue
			}
			typ, ours := ourAnswer(c)
			theirs := askOracle(t, conn, sql)
			tried++
			if !sameAnswer(typ, ours, theirs) && exception(c, ours, theirs) == "" {
				bad++
				if shown++; shown <= 3 {
					t.Errorf("%s:\n ours   %s\n theirs %s", sql, ours, theirs)
				}
			}
		}
	}
	t.Logf("%d calls, %d differ", tried, bad)
}
