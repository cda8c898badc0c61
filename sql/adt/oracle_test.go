package adt_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/sql/types"
)

// oracle is a connection to PostgreSQL that evaluates an expression for many inputs at once.
type oracle struct {
	tb   testing.TB
	conn *pgx.Conn
}

func newOracle(tb testing.TB) *oracle {
	tb.Helper()
	s := pgtest.Start(tb)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close(ctx) })
	_, err = conn.Exec(ctx, `create function pg_temp.try(q text, s text) returns text language plpgsql as $$
		declare r text; c text; m text; d text; begin
		execute q using s into r; return coalesce(r, 'NULL');
		exception when others then
		get stacked diagnostics c = returned_sqlstate, m = message_text, d = pg_exception_detail;
		return 'error ' || c || ': ' || m || case when d <> '' then ' / ' || d else '' end; end $$;
		create type pg_temp.pair as (a text, b int);
		create function pg_temp.literal(s text, t text) returns text language plpgsql as $$
		declare r text; begin execute format('select (%L::%s)::text', s, t) into r; return r; end $$`)
	if err != nil {
		tb.Fatal(err)
	}
	return &oracle{tb, conn}
}

// eval gives, for each input, the text of an expression over $1 (a text), or its error.
func (o *oracle) eval(expr string, inputs []string) []string {
	o.tb.Helper()
	rows, err := o.conn.Query(context.Background(),
		"select pg_temp.try($1, s) from unnest($2::text[]) with ordinality as u(s, n) order by n", "select ("+expr+")::text", inputs)
	if err != nil {
		o.tb.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		o.tb.Fatal(err)
	}
	return out
}

// sampled is how many of n random cases are asked about: fewer in a short run.
func sampled(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// show gives a value's text, or its error as eval does.
func show(text fmt.Stringer, err error) string {
	if err != nil {
		return showErr(err)
	}
	return text.String()
}

func showErr(err error) string {
	var e *pgerr.Error
	if !errors.As(err, &e) {
		return "not a client's error: " + err.Error()
	}
	if e.Detail != "" {
		return fmt.Sprintf("error %s: %s / %s", e.Code, e.Message, e.Detail)
	}
	return fmt.Sprintf("error %s: %s", e.Code, e.Message)
}

// compare asks the oracle about all inputs and reports differences.
func (o *oracle) compare(expr string, inputs []string, ours func(s string) string) {
	o.tb.Helper()
	bad := 0
	for i, want := range o.eval(expr, inputs) {
		if got := ours(inputs[i]); got != want {
			o.tb.Errorf("%s of %q:\n  ours   %s\n  oracle %s", expr, inputs[i], got, want)
			if bad++; bad > 30 {
				o.tb.Fatal("and so on")
			}
		}
	}
}

type stringer string

func (s stringer) String() string { return string(s) }

// parsers are our side of the oracle's casts from text.
var parsers = map[string]func(s string) string{
	"date":      func(s string) string { d, err := adt.ParseDate(s, adt.Clock{}); return show(d, err) },
	"time":      func(s string) string { d, err := adt.ParseTime(s, -1, adt.Clock{}); return show(d, err) },
	"timestamp": func(s string) string { d, err := adt.ParseTimestamp(s, -1, adt.Clock{}); return show(d, err) },
	"timestamptz": func(s string) string {
		d, err := adt.ParseTimestampTZ(s, -1, adt.Clock{})
		return show(stringer(d.AppendTextTZ(nil)), err)
	},
	"interval": func(s string) string { d, err := adt.ParseInterval(s, -1); return show(d, err) },
	"bool": func(s string) string {
		x, err := adt.ParseBool(s)
		return show(stringer(fmt.Sprint(x)), err)
	},
	"int2":     func(s string) string { x, err := adt.ParseInt(s, 16); return show(stringer(fmt.Sprint(x)), err) },
	"int4":     func(s string) string { x, err := adt.ParseInt(s, 32); return show(stringer(fmt.Sprint(x)), err) },
	"int8":     func(s string) string { x, err := adt.ParseInt(s, 64); return show(stringer(fmt.Sprint(x)), err) },
	"oid":      func(s string) string { x, err := adt.ParseOID(s); return show(stringer(fmt.Sprint(x)), err) },
	"\"char\"": func(s string) string { return string(adt.AppendChar(nil, adt.ParseChar(s))) },
	"float4": func(s string) string {
		x, err := adt.ParseFloat(s, 32)
		return show(stringer(adt.AppendFloat(nil, x, 32)), err)
	},
	"float8": func(s string) string {
		x, err := adt.ParseFloat(s, 64)
		return show(stringer(adt.AppendFloat(nil, x, 64)), err)
	},
	"uuid": func(s string) string {
		x, err := adt.ParseUUID(nil, s)
		return show(stringer(adt.AppendUUID(nil, x)), err)
	},
	"bytea": func(s string) string {
		x, err := adt.ParseBytea(nil, s)
		return show(stringer(adt.AppendBytea(nil, x)), err)
	},
	"int4[]":  parseIntArray,
	"text[]":  parseTextArray,
	"pair":    parsePair,
	"name":    func(s string) string { return adt.FitName(s) },
	"varchar": func(s string) string { x, err := adt.FitVarchar(s, 7, true); return show(stringer(x), err) },
	"jsonb": func(s string) string {
		j, err := adt.ParseJsonb(nil, s)
		return show(adt.Jsonb(j), err)
	},
	"numeric": func(s string) string { d, err := adt.ParseNumeric(s); return show(d, err) },
}

func parseIntArray(s string) string {
	var b adt.ElemBuilder
	enc, err := b.ParseArray(nil, s, func(b *adt.ElemBuilder, text string) error {
		x, err := adt.ParseInt(text, 32)
		b.Int(x)
		return err
	})
	if err != nil {
		return showErr(err)
	}
	a := adt.ArrayOf(enc)
	return string(adt.AppendArrayText(nil, &a, types.Int, func(dst []byte, r *adt.ElemReader) []byte {
		return strconv.AppendInt(dst, r.Int(), 10)
	}))
}

func textArray(s string) ([]byte, error) {
	var b adt.ElemBuilder
	return b.ParseArray(nil, s, func(b *adt.ElemBuilder, text string) error {
		b.Bytes([]byte(text))
		return nil
	})
}

func showTextArray(enc []byte) string {
	a := adt.ArrayOf(enc)
	return string(adt.AppendArrayText(nil, &a, types.Bytes, func(dst []byte, r *adt.ElemReader) []byte {
		return append(dst, r.Bytes()...)
	}))
}

func parseTextArray(s string) string {
	enc, err := textArray(s)
	if err != nil {
		return showErr(err)
	}
	return showTextArray(enc)
}

// pairRecord reads a record of a text and an int.
func pairRecord(s string) ([]byte, error) {
	var b adt.ElemBuilder
	return b.ParseRecord(nil, s, 2, func(b *adt.ElemBuilder, i int, text string) error {
		if i == 0 {
			b.Bytes([]byte(text))
			return nil
		}
		x, err := adt.ParseInt(text, 32)
		b.Int(x)
		return err
	})
}

func parsePair(s string) string {
	enc, err := pairRecord(s)
	if err != nil {
		return showErr(err)
	}
	return showPair(enc)
}

func showPair(enc []byte) string {
	var w adt.RecordText
	out := w.Begin(nil)
	r := adt.ReadRecord(enc)
	out = w.Field(out)
	if r.Next(types.Bytes); !r.IsNull() {
		out = w.EndField(append(out, r.Bytes()...))
	}
	out = w.Field(out)
	if r.Next(types.Int); !r.IsNull() {
		out = w.EndField(strconv.AppendInt(out, r.Int(), 10))
	}
	return string(w.Done(out))
}

// lines reads a corpus: one value a line, quoted as in Go where it begins with a quote.
func lines(tb testing.TB, text string) []string {
	tb.Helper()
	var out []string
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if strings.HasPrefix(l, `"`) {
			q, err := strconv.Unquote(l)
			if err != nil {
				tb.Fatalf("%s: %v", l, err)
			}
			l = q
		}
		out = append(out, l)
	}
	return out
}
