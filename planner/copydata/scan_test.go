package copydata

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/pgtest"
)

func option(name, value string) ast.Option {
	return ast.Option{Name: name, Value: &ast.Literal{Kind: ast.String, Text: value}}
}

// TestScannerIsPostgres gives the same bytes, cut into pieces here and there, to the scanner and to PostgreSQL.
func TestScannerIsPostgres(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE TEMP TABLE copied (a text, b text)"); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	for round := range 3000 {
		var options []ast.Option
		var clauses []string
		set := func(name, value string) {
			options = append(options, option(name, value))
			clauses = append(clauses, name+" "+"'"+strings.ReplaceAll(value, "'", "''")+"'")
		}
		csv := rnd.IntN(2) == 0
		alphabet := []string{"a", "b", "1", "\\", "\t", "\n", "N", ".", "\\N", "\\n", "\\x41", "\\101", "\\.", "ü", "\\\n"}
		if csv {
			set("FORMAT", "csv")
			alphabet = []string{"a", "b", ",", ",", "\"", "\"", "\n", "\\", "\\.", "ü", "'", ";", "x\"\"y", "\n"}
		}
		if rnd.IntN(4) == 0 {
			set("DELIMITER", ";")
			alphabet = append(alphabet, ";", ";")
		}
		if rnd.IntN(4) == 0 {
			set("NULL", "b")
		}
		if csv && rnd.IntN(4) == 0 {
			set("ESCAPE", "\\")
		}
		if csv && rnd.IntN(4) == 0 {
			set("QUOTE", "'")
		}
		switch rnd.IntN(12) {
		case 0:
			alphabet = append(alphabet, "\r\n", "\r\n")
		case 1:
			alphabet = append(alphabet, "\r")
		case 2:
			alphabet = append(alphabet, "\xff", "\xe2\x82", "\x00", "\\xff")
		case 3:
			set("HEADER", "true")
		}
		var data strings.Builder
		for range rnd.IntN(24) {
			data.WriteString(alphabet[rnd.IntN(len(alphabet))])
			if rnd.IntN(5) == 0 { // some rows should be whole
				data.WriteString([]string{"x\ty\n", "x,y\n"}[map[bool]int{false: 0, true: 1}[csv]])
			}
		}
		want := copyInPostgres(t, conn, data.String(), strings.Join(clauses, ", "))
		for range 3 {
			if got := scanAll(t, options, data.String(), rnd); got != want {
				t.Fatalf("round %d: COPY with (%s) of %q gives\n%s\nwant\n%s", round, strings.Join(clauses, ", "),
					data.String(), got, want)
			}
		}
	}
}

func copyInPostgres(t *testing.T, conn *pgx.Conn, data, options string) string {
	t.Helper()
	ctx := context.Background()
	if _, err := conn.Exec(ctx, "TRUNCATE copied"); err != nil {
		t.Fatal(err)
	}
	if options != "" {
		options = " WITH (" + options + ")"
	}
	if _, err := conn.PgConn().CopyFrom(ctx, strings.NewReader(data), "COPY copied FROM STDIN"+options); err != nil {
		var e *pgconn.PgError
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s %s\n%s\n%s", e.Code, e.Message, e.Hint, e.Where)
	}
	rows, err := conn.Query(ctx, "SELECT a, b FROM copied")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var a, b *string
	if _, err := pgx.ForEachRow(rows, []any{&a, &b}, func() error {
		fmt.Fprintf(&out, "%s %s\n", quoteOrNull(a), quoteOrNull(b))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func quoteOrNull(s *string) string {
	if s == nil {
		return "null"
	}
	return fmt.Sprintf("%q", *s)
}

// scanAll scans data in random pieces.
func scanAll(t *testing.T, options []ast.Option, data string, rnd *rand.Rand) string {
	t.Helper()
	f, err := ParseOptions(options, true)
	if err != nil {
		t.Fatal(err)
	}
	s := newScanner(f)
	var out strings.Builder
	fail := func(err error) string {
		e := pgerr.From(err)
		return fmt.Sprintf("%s %s\n%s\n%s", e.Code, e.Message, e.Hint, s.context("copied", "", nil))
	}
	take := func() error {
		for {
			ok, err := s.next()
			if err != nil || !ok {
				return err
			}
			switch n := len(s.fields); {
			case n < 2:
				return pgerr.Newf(pgerr.BadCopyFileFormat, "missing data for column %q", []string{"a", "b"}[n])
			case n > 2:
				return pgerr.New(pgerr.BadCopyFileFormat, "extra data after last expected column")
			}
			for i, f := range s.fields {
				if i > 0 {
					out.WriteByte(' ')
				}
				if f.null {
					out.WriteString("null")
				} else {
					fmt.Fprintf(&out, "%q", f.bytes)
				}
			}
			out.WriteByte('\n')
		}
	}
	for rest := data; rest != ""; {
		n := 1 + rnd.IntN(len(rest))
		if rnd.IntN(2) == 0 {
			n = min(n, 1+rnd.IntN(3))
		}
		s.add([]byte(rest[:n]))
		rest = rest[n:]
		if err := take(); err != nil {
			return fail(err)
		}
	}
	s.finish()
	if err := take(); err != nil {
		return fail(err)
	}
	return out.String()
}

func BenchmarkScan(b *testing.B) {
	var data []byte
	for i := range 10_000 {
		data = fmt.Appendf(data, "%d\t%d\n", i*7919, i)
	}
	f, err := ParseOptions(nil, true)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		s := newScanner(f)
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 64<<10)
			s.add(rest[:n])
			rest = rest[n:]
			for {
				ok, err := s.next()
				if err != nil {
					b.Fatal(err)
				}
				if !ok {
					break
				}
				rows++
			}
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
