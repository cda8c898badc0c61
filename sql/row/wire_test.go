package row_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// samples are texts of values of each type.
var samples = map[types.OID][]string{
	types.OIDBool:         {"t", "f"},
	types.OIDBytea:        {`\x`, `\x00ff10`},
	types.OIDChar:         {"a", "", `\377`},
	types.OIDName:         {"abc", ""},
	types.OIDInt8:         {"0", "-1", "9223372036854775807", "-9223372036854775808"},
	types.OIDInt2:         {"0", "-1", "32767", "-32768"},
	types.OIDInt4:         {"0", "-1", "2147483647", "-2147483648"},
	types.OIDText:         {"", "abc", "ä€😀"},
	types.OIDVarchar:      {"", "abc "},
	types.OIDBpchar:       {"", "abc"},
	types.OIDOid:          {"0", "4294967295"},
	types.OIDXid:          {"0", "4294967295"},
	types.OIDFloat4:       {"0", "1.5", "-1e+30", "NaN", "Infinity", "-Infinity", "0.1"},
	types.OIDFloat8:       {"0", "1.5", "-1e+300", "NaN", "Infinity", "-Infinity", "0.1"},
	types.OIDNumeric:      {"0", "1", "-1", "1.5", "-0.0001", "12345678901234567890123456789.0123456789", "10000", "100000000", "0.00001", "NaN", "Infinity", "-Infinity", "99990000.0001"},
	types.OIDDate:         {"2000-01-01", "1999-12-31", "infinity", "-infinity", "0044-03-15 BC"},
	types.OIDTime:         {"00:00:00", "12:34:56.789", "24:00:00"},
	types.OIDTimestamp:    {"2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "infinity", "-infinity"},
	types.OIDTimestampTZ:  {"2000-01-01 00:00:00+00", "1999-12-31 23:59:59.999999+00", "infinity", "-infinity"},
	types.OIDInterval:     {"00:00:00", "1 year 2 mons 3 days 04:05:06.789", "-1 years -2 mons +3 days -04:05:06"},
	types.OIDUUID:         {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
	types.OIDJSON:         {`{"a": 1}`, "null"},
	types.OIDJsonb:        {"null", "1", `"x"`, "[]", "{}", "[1,2,3]"},
	types.OIDInt2Vector:   {"", "1", "1 2 3"},
	types.OIDOidVector:    {"", "1", "1 2 4294967295"},
	types.OIDRegproc:      {"0"},
	types.OIDRegprocedure: {"0"}, types.OIDRegoper: {"0"}, types.OIDRegoperator: {"0"}, types.OIDRegclass: {"123456789"},
	types.OIDRegtype: {"123456789"}, types.OIDRegconfig: {"123456789"}, types.OIDRegnamespace: {"123456789"},
	types.OIDRegrole: {"123456789"}, types.OIDRegcollation: {"123456789"},
	types.OIDACLItem: {"=r/postgres"},
}

// noWire are the types that have no values, or none that PostgreSQL knows.
func noWire(t types.T) bool {
	return t.Category() == 'P' || t.OID == types.OIDUnknown || t.OID == types.OIDMzTimestamp
}

func parse(t testing.TB, typ types.T, s string) *vec.Vec {
	t.Helper()
	v := vec.New(typ.Kind(), 1)
	if err := row.ParseText(typ, []byte(s), &v); err != nil {
		t.Fatalf("%v %q: %v", typ, s, err)
	}
	return &v
}

func TestEveryTypeHasSamples(t *testing.T) {
	for _, oid := range types.All() {
		if typ := types.Of(oid); !noWire(typ) && samples[oid] == nil {
			t.Errorf("no samples of %v", typ)
		}
	}
}

func TestTextRoundTrip(t *testing.T) {
	for _, oid := range types.All() {
		typ := types.Of(oid)
		for _, s := range samples[oid] {
			v := parse(t, typ, s)
			want := s
			if oid == types.OIDRegproc {
				want = "0"
			}
			if got := string(row.AppendText(nil, typ, v, 0)); got != want {
				t.Errorf("%v %q prints as %q", typ, s, got)
			}
			if got := string(row.AppendTextDatum(nil, typ, v.Datum(0))); got != want {
				t.Errorf("%v %q prints as %q by itself", typ, s, got)
			}
		}
	}
}

// wire is a connection that shows the protocol's own bytes.
type wire struct {
	t    *testing.T
	conn *pgx.Conn
}

func connect(t *testing.T) *wire {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	return &wire{t, conn}
}

// ask sends one parameter and gets one value, both in the formats given.
func (w *wire) ask(sql string, typ types.T, value []byte, format, result int16) ([]byte, error) {
	r := w.conn.PgConn().ExecParams(context.Background(), sql, [][]byte{value}, []uint32{uint32(typ.OID)}, []int16{format}, []int16{result})
	res := r.Read()
	if res.Err != nil {
		return nil, res.Err
	}
	return bytes.Clone(res.Rows[0][0]), nil
}

func TestBinaryAgainstOracle(t *testing.T) {
	w := connect(t)
	for _, oid := range types.All() {
		typ := types.Of(oid)
		if noWire(typ) || oid == types.OIDACLItem {
			continue
		}
		forms := []types.T{typ}
		if a, ok := typ.Array(); ok {
			forms = append(forms, a)
		}
		for _, form := range forms {
			for _, s := range samplesOf(form) {
				w.checkBinary(form, s)
			}
		}
	}
}

// samplesOf makes arrays of all samples of their elements.
func samplesOf(typ types.T) []string {
	elem, ok := typ.Elem()
	if !ok || samples[typ.OID] != nil {
		return samples[typ.OID]
	}
	quote := func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	all := make([]string, 0, 10)
	for _, s := range samples[elem.OID] {
		all = append(all, quote(s))
	}
	first := all[0]
	return []string{"{}", "{" + strings.Join(all, ",") + "}", "{NULL," + first + "}", "[0:1]={" + first + ",NULL}",
		"{{" + first + "," + first + "},{" + first + ",NULL}}"}
}

func (w *wire) checkBinary(typ types.T, s string) {
	w.t.Helper()
	v := parse(w.t, typ, s)
	theirs, err := w.ask("select $1", typ, []byte(s), 0, 1)
	if err != nil {
		w.t.Errorf("%v %q: %v", typ, s, err)
		return
	}
	back := vec.New(typ.Kind(), 1)
	if err := row.ParseBinary(typ, theirs, &back); err != nil || !back.Datum(0).Equal(v.Datum(0)) {
		w.t.Errorf("%v %q: oracle's %x is read as %v, %v", typ, s, theirs, back, err)
	}
	ours := row.AppendBinary(nil, typ, v, 0)
	if got := row.AppendBinaryDatum(nil, typ, v.Datum(0)); !bytes.Equal(got, ours) {
		w.t.Errorf("%v %q: %x by itself, %x in a vector", typ, s, got, ours)
	}
	if elem, _ := typ.Elem(); typ.OID != types.OIDJsonb && elem.OID != types.OIDJsonb && !bytes.Equal(ours, theirs) {
		// jsonb differs in blanks.
		w.t.Errorf("%v %q: ours %x, oracle %x", typ, s, ours, theirs)
	}
	if _, err := w.ask("select $1", typ, theirs, 1, 0); err != nil {
		return // the oracle does not read its own empty vectors
	}
	text, err := w.ask("select $1", typ, ours, 1, 0)
	if err != nil {
		w.t.Errorf("%v %q: oracle refuses %x: %v", typ, s, ours, err)
		return
	}
	again := vec.New(typ.Kind(), 1)
	if err := row.ParseText(typ, text, &again); err != nil || !again.Datum(0).Equal(v.Datum(0)) {
		w.t.Errorf("%v %q: oracle reads %x as %s", typ, s, ours, text)
	}
}

func TestNumericBinaryAgainstOracle(t *testing.T) {
	w := connect(t)
	r := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		digits := make([]byte, 1+r.IntN(38))
		for i := range digits {
			digits[i] = byte('0' + r.IntN(10)*r.IntN(2))
		}
		s := string(digits)
		if n := r.IntN(len(s) + 1); r.IntN(3) > 0 {
			s = s[:n] + "." + s[n:]
		}
		if r.IntN(2) == 0 {
			s = "-" + s
		}
		if _, err := adt.ParseNumeric(s); err != nil {
			continue
		}
		v := parse(t, types.TNumeric, s)
		ours := row.AppendBinary(nil, types.TNumeric, v, 0)
		theirs, err := w.ask("select trim_scale($1)", types.TNumeric, []byte(s), 0, 1)
		if err != nil || !bytes.Equal(ours, theirs) {
			t.Fatalf("%s: ours %x, oracle %x, %v", s, ours, theirs, err)
		}
		back := vec.New(types.Bytes, 1)
		if err := row.ParseBinary(types.TNumeric, ours, &back); err != nil || !back.Datum(0).Equal(v.Datum(0)) {
			t.Fatalf("%s: %x is read as %v, %v", s, ours, back, err)
		}
	}
}

// TestBinaryWithDriver reads what we write, and writes what we read, with a driver's own types.
func TestBinaryWithDriver(t *testing.T) {
	m := pgtype.NewMap()
	intArray, _ := types.TInt4.Array()
	textArray, _ := types.TText.Array()
	at := time.Date(2024, 2, 29, 12, 34, 56, 789000000, time.UTC)
	for _, c := range []struct {
		typ   types.T
		text  string
		value any
	}{
		{types.TInt8, "-5", int64(-5)},
		{types.TFloat4, "1.5", float32(1.5)},
		{types.TText, "ä", "ä"},
		{types.TBool, "t", true},
		{types.TTimestamp, "2024-02-29 12:34:56.789", at},
		{types.TTimestampTZ, "2024-02-29 12:34:56.789+00", at},
		{types.TDate, "2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{types.TTime, "12:34:56.789", pgtype.Time{Microseconds: 45296789000, Valid: true}},
		{types.TInterval, "1 mon 2 days 00:00:03", pgtype.Interval{Months: 1, Days: 2, Microseconds: 3000000, Valid: true}},
		{types.TUUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", [16]byte{0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e, 0xf8, 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11}},
		{types.TBytea, `\x00ff`, []byte{0, 255}},
		{types.TJsonb, `{"a":[1,2]}`, map[string]any{"a": []any{1.0, 2.0}}},
		{intArray, "{1,2,3}", []int32{1, 2, 3}},
		{textArray, `{a,"b c"}`, []string{"a", "b c"}},
	} {
		sent, err := m.Encode(uint32(c.typ.OID), pgtype.BinaryFormatCode, c.value, nil)
		if err != nil {
			t.Fatalf("%v: %v", c.typ, err)
		}
		v := vec.New(c.typ.Kind(), 1)
		if err := row.ParseBinary(c.typ, sent, &v); err != nil {
			t.Errorf("%v: %x: %v", c.typ, sent, err)
			continue
		}
		if got := string(row.AppendText(nil, c.typ, &v, 0)); got != c.text {
			t.Errorf("%v: the driver's %v is %s", c.typ, c.value, got)
		}
		got := newLike(c.value)
		if err := m.Scan(uint32(c.typ.OID), pgtype.BinaryFormatCode, row.AppendBinary(nil, c.typ, &v, 0), got); err != nil {
			t.Errorf("%v: the driver cannot read %s: %v", c.typ, c.text, err)
		} else if s := fmt.Sprint(deref(got)); s != fmt.Sprint(c.value) {
			t.Errorf("%v: the driver reads %s as %s", c.typ, c.text, s)
		}
	}
}

func newLike(x any) any {
	switch x.(type) {
	case int64:
		return new(int64)
	case float32:
		return new(float32)
	case string:
		return new(string)
	case bool:
		return new(bool)
	case time.Time:
		return new(time.Time)
	case pgtype.Time:
		return new(pgtype.Time)
	case pgtype.Interval:
		return new(pgtype.Interval)
	case [16]byte:
		return new([16]byte)
	case []byte:
		return new([]byte)
	case map[string]any:
		return new(map[string]any)
	case []int32:
		return new([]int32)
	}
	return new([]string)
}

func deref(p any) any {
	switch x := p.(type) {
	case *int64:
		return *x
	case *float32:
		return *x
	case *string:
		return *x
	case *bool:
		return *x
	case *time.Time:
		return x.UTC()
	case *pgtype.Time:
		return *x
	case *pgtype.Interval:
		return *x
	case *[16]byte:
		return *x
	case *[]byte:
		return *x
	case *map[string]any:
		return *x
	case *[]int32:
		return *x
	case *[]string:
		return *x
	}
	return nil
}

func recordType() types.T {
	ints, _ := types.TInt4.Array()
	inner := types.T{OID: types.OIDRecord, Mod: types.NoMod, Record: &types.Record{Fields: []types.Field{{Name: "f1", Type: types.TBool}, {Name: "f2", Type: types.TFloat8}}}}
	return types.T{OID: types.OIDRecord, Mod: types.NoMod, Record: &types.Record{Fields: []types.Field{
		{Name: "f1", Type: types.TInt4}, {Name: "f2", Type: types.TText}, {Name: "f3", Type: ints}, {Name: "f4", Type: inner}}}}
}

func TestRecordsAgainstOracle(t *testing.T) {
	w := connect(t)
	typ := recordType()
	for sql, text := range map[string]string{
		"select row($1::int, 'a,b'::text, array[1,null,3], row(true, 1.5::float8))":  `(7,"a,b","{1,NULL,3}","(t,1.5)")`,
		"select row($1::int, ''::text, null::int[], row(null::bool, 'nan'::float8))": `(7,"",,"(,NaN)")`,
	} {
		v := parse(t, typ, text)
		if got := string(row.AppendText(nil, typ, v, 0)); got != text {
			t.Errorf("%s prints as %s", text, got)
		}
		theirs, err := w.ask(sql, types.TInt4, []byte("7"), 0, 0)
		if err != nil || string(theirs) != text {
			t.Errorf("%s: oracle %s, %v", text, theirs, err)
		}
		if theirs, err = w.ask(sql, types.TInt4, []byte("7"), 0, 1); err != nil {
			t.Fatal(err)
		}
		if ours := row.AppendBinary(nil, typ, v, 0); !bytes.Equal(ours, theirs) {
			t.Errorf("%s: ours %x, oracle %x", text, ours, theirs)
		}
		back := vec.New(types.Bytes, 1)
		if err := row.ParseBinary(typ, theirs, &back); err != nil || !back.Datum(0).Equal(v.Datum(0)) {
			t.Errorf("%s: %x is read as %v, %v", text, theirs, back, err)
		}
	}
}

func TestModifiersApply(t *testing.T) {
	for _, c := range []struct {
		n    types.Name
		in   string
		want string
	}{
		{types.Name{Parts: []string{"varchar"}, Mods: []int64{3}}, "abcd", "error 22001: value too long for type character varying(3)"},
		{types.Name{Parts: []string{"varchar"}, Mods: []int64{3}}, "ab   ", "ab "},
		{types.Name{Parts: []string{"char"}, Mods: []int64{4}}, "ä ", "ä   "},
		{types.Name{Parts: []string{"numeric"}, Mods: []int64{5, 2}}, "1.005", "1.01"},
		{types.Name{Parts: []string{"numeric"}, Mods: []int64{5, 2}}, "1000", "error 22003: numeric field overflow"},
		{types.Name{Parts: []string{"numeric"}, Mods: []int64{2, -2}}, "1250", "1300"},
		{types.Name{Parts: []string{"timestamp"}, Mods: []int64{1}}, "2000-01-01 00:00:00.25", "2000-01-01 00:00:00.3"},
		{types.Name{Parts: []string{"time"}, Mods: []int64{0}}, "00:00:00.5", "00:00:01"},
		{types.Name{Parts: []string{"interval"}, Fields: "year to month"}, "1-2", "1 year 2 mons"},
		{types.Name{Parts: []string{"interval"}, Fields: "day"}, "3", "3 days"},
		{types.Name{Parts: []string{"numeric"}, Mods: []int64{4, 1}, Array: true}, "{1.25,NULL}", "{1.3,NULL}"},
	} {
		typ, err := types.ParseName(c.n)
		if err != nil {
			t.Fatal(err)
		}
		v := vec.New(typ.Kind(), 1)
		got := ""
		if err := row.ParseText(typ, []byte(c.in), &v); err != nil {
			got = show(err)
		} else {
			got = string(row.AppendText(nil, typ, &v, 0))
			// In binary it comes to the same.
			free := typ
			free.Mod = types.NoMod
			if _, isArray := typ.Elem(); !isArray && typ.OID != types.OIDInterval {
				b, w := row.AppendBinary(nil, free, parse(t, free, c.in), 0), vec.New(typ.Kind(), 1)
				if err := row.ParseBinary(typ, b, &w); err != nil || !w.Datum(0).Equal(v.Datum(0)) {
					t.Errorf("%v %q: binary gives %v, %v", typ, c.in, w, err)
				}
			}
		}
		if got != c.want {
			t.Errorf("%v of %q is %q, want %q", typ, c.in, got, c.want)
		}
	}
}

func show(err error) string {
	var e *pgerr.Error
	if !errors.As(err, &e) {
		return "not a client's error: " + err.Error()
	}
	return fmt.Sprintf("error %s: %s", e.Code, e.Message)
}

func TestErrorsLeaveTheVectorAlone(t *testing.T) {
	ints, _ := types.TInt4.Array()
	for typ, bad := range map[types.OID]string{types.OIDInt4: "x", types.OIDFloat8: "x", types.OIDBool: "x", types.OIDNumeric: "x", types.OIDJsonb: "{",
		types.OIDUUID: "a0ee", types.OIDBytea: `\x0`, types.OIDInterval: "x", ints.OID: "{1,x}", types.OIDAny: "x", types.OIDRecord: "(1)"} {
		typ := types.Of(typ)
		v := vec.New(typ.Kind(), 4)
		if s := samplesOf(typ); len(s) > 0 {
			v = *parse(t, typ, s[len(s)-1])
		}
		before := fmt.Sprint(v.Len, len(v.Data), len(v.Offs))
		if err := row.ParseText(typ, []byte(bad), &v); err == nil {
			t.Errorf("%v takes %q", typ, bad)
		}
		if err := row.ParseBinary(typ, []byte{9, 9, 9}, &v); err == nil && typ.OID != types.OIDBytea {
			t.Errorf("%v takes three bytes", typ)
		}
		if after := fmt.Sprint(v.Len, len(v.Data), len(v.Offs)); typ.OID != types.OIDBytea && v.Len > 0 && after != before {
			t.Errorf("%v: %s became %s", typ, before, after)
		}
	}
}

func TestCheckText(t *testing.T) {
	for in, want := range map[string]string{
		"abc":              "",
		"a\x00b":           `error 22021: invalid byte sequence for encoding "UTF8": 0x00`,
		"a\xffb":           `error 22021: invalid byte sequence for encoding "UTF8": 0xff`,
		"ä\xc3(":           `error 22021: invalid byte sequence for encoding "UTF8": 0xc3 0x28`,
		"\xed\xa0\x80\x00": `error 22021: invalid byte sequence for encoding "UTF8": 0xed 0xa0 0x80`,
	} {
		got := ""
		if err := row.CheckText(in); err != nil {
			got = show(err)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestWireDoesNotAllocate(t *testing.T) {
	out := make([]byte, 0, 1000)
	for _, oid := range []types.OID{types.OIDInt4, types.OIDInt8, types.OIDFloat8, types.OIDText, types.OIDVarchar, types.OIDBool, types.OIDDate,
		types.OIDTimestamp, types.OIDTimestampTZ, types.OIDNumeric, types.OIDUUID, types.OIDBytea} {
		typ := types.Of(oid)
		text := []byte(samples[oid][1%len(samples[oid])])
		v := vec.New(typ.Kind(), 2000)
		v.Data = make([]byte, 0, 1<<16)
		b := row.AppendBinary(nil, typ, parse(t, typ, string(text)), 0)
		if n := testing.AllocsPerRun(100, func() {
			v.Reset()
			if row.ParseText(typ, text, &v) != nil || row.ParseBinary(typ, b, &v) != nil {
				panic("refused")
			}
			out = row.AppendText(out[:0], typ, &v, 0)
			out = row.AppendBinary(out[:0], typ, &v, 0)
		}); n != 0 {
			t.Errorf("%v allocates %v times", typ, n)
		}
	}
}

func FuzzParseBinary(f *testing.F) {
	ints, _ := types.TInt4.Array()
	nums, _ := types.TNumeric.Array()
	forms := []types.T{types.TNumeric, types.TJsonb, types.TInterval, types.TText, ints, nums, recordType(), types.Of(types.OIDInt2Vector),
		types.TTimestamp, types.TDate, types.TUUID}
	for i, typ := range forms {
		for _, s := range samplesOf(typ) {
			f.Add(i, row.AppendBinary(nil, typ, parse(f, typ, s), 0))
		}
	}
	f.Fuzz(func(t *testing.T, i int, b []byte) {
		typ := forms[uint(i)%uint(len(forms))]
		v := vec.New(typ.Kind(), 1)
		if row.ParseBinary(typ, b, &v) != nil {
			return
		}
		back := vec.New(typ.Kind(), 1)
		if err := row.ParseBinary(typ, row.AppendBinary(nil, typ, &v, 0), &back); err != nil || !back.Datum(0).Equal(v.Datum(0)) {
			t.Fatalf("%v %x: %v, %v", typ, b, back, err)
		}
		text := row.AppendText(nil, typ, &v, 0)
		again := vec.New(typ.Kind(), 1)
		if err := row.ParseText(typ, text, &again); err != nil || !again.Datum(0).Equal(v.Datum(0)) {
			if typ.OID == types.OIDInt2Vector {
				return // its text does not show a first subscript
			}
			t.Fatalf("%v %x prints as %q: %v", typ, b, text, err)
		}
	})
}

func BenchmarkWire(b *testing.B) {
	for _, c := range []struct {
		typ  types.T
		text string
	}{
		{types.TInt4, "12345"}, {types.TInt8, "1234567890123"}, {types.TFloat8, "1234.5678"}, {types.TText, "some text of the usual length"},
		{types.TBool, "t"}, {types.TDate, "2024-02-29"}, {types.TTimestamp, "2024-02-29 12:34:56"}, {types.TNumeric, "12345.67"},
	} {
		text := []byte(c.text)
		v := vec.New(c.typ.Kind(), 1<<16)
		v.Data = make([]byte, 0, 1<<22)
		b.Run("parse "+c.typ.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v.Len == 1<<16 {
					v.Reset()
				}
				if err := row.ParseText(c.typ, text, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
		out := make([]byte, 0, 100)
		b.Run("print "+c.typ.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out = row.AppendText(out[:0], c.typ, &v, 0)
			}
		})
	}
}
