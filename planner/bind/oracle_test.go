package bind_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/planner/bind/bindtest"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/sql/types"
)

// statement is one of a corpus: its text, and what the comment line before it asks for.
type statement struct {
	sql     string
	ordered bool // the order of rows counts
	code    bool // of an error only the code counts
}

// corpus reads statements, which end in a semicolon at the end of a line. A line "--ordered" or "--code" before
// one says how it is compared.
func corpus(t testing.TB, name string) []statement {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var list []statement
	var s statement
	for line := range strings.Lines(string(text)) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "--ordered":
			s.ordered = true
		case trimmed == "--code":
			s.code = true
		case strings.HasPrefix(trimmed, "--") || trimmed == "" && s.sql == "":
		default:
			s.sql += line
			if strings.HasSuffix(trimmed, ";") {
				s.sql = strings.TrimSuffix(strings.TrimSpace(s.sql), ";")
				list = append(list, s)
				s = statement{}
			}
		}
	}
	return list
}

// oracle is a PostgreSQL with the same tables.
type oracle struct{ conn *pgconn.PgConn }

func newOracle(t testing.TB, setup []statement) *oracle {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), pgtest.Start(t).NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, s := range setup {
		if _, err := conn.Exec(context.Background(), s.sql).ReadAll(); err != nil {
			t.Fatalf("oracle: %s: %v", s.sql, err)
		}
	}
	return &oracle{conn}
}

// trailing are the zeros that we do not print behind a numeric's point.
var trailing = regexp.MustCompile(`(\.\d*?)0+$`)

// query gives PostgreSQL's bindtest.Answer, printed as we print.
func (o *oracle) query(sql string) (bindtest.Answer, int) {
	res, err := o.conn.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		var e *pgconn.PgError
		if errors.As(err, &e) {
			return bindtest.Answer{Err: &pgerr.Error{Code: pgerr.Code(e.Code), Message: e.Message, Hint: e.Hint, Detail: e.Detail}}, int(e.Position)
		}
		return bindtest.Failed(err), 0
	}
	var out bindtest.Answer
	for _, row := range res[0].Rows {
		parts := make([]string, len(row))
		for i, v := range row {
			parts[i] = oracleText(v, types.OID(res[0].FieldDescriptions[i].DataTypeOID))
		}
		out.Rows = append(out.Rows, strings.Join(parts, "|"))
	}
	return out, 0
}

func oracleText(v []byte, oid types.OID) string {
	if v == nil {
		return "NULL"
	}
	s := string(v)
	switch oid {
	case types.OIDNumeric:
		s = strings.TrimSuffix(trailing.ReplaceAllString(s, "$1"), ".")
	case types.OIDJsonb:
		s = strings.ReplaceAll(strings.ReplaceAll(s, ": ", ":"), ", ", ",")
	}
	return s
}

// same compares two answers.
func same(s statement, a, b bindtest.Answer) bool {
	if a.Err != nil || b.Err != nil {
		return a.Err != nil && b.Err != nil && a.Err.Code == b.Err.Code && (s.code || a.Err.Message == b.Err.Message)
	}
	if s.ordered {
		return slices.EqualFunc(a.Rows, b.Rows, sameRow)
	}
	return slices.EqualFunc(bindtest.Sorted(a.Rows), bindtest.Sorted(b.Rows), sameRow)
}

// sameRow compares rows; of numbers that are not whole only so many digits as PostgreSQL computes.
func sameRow(a, b string) bool {
	if a == b {
		return true
	}
	return slices.EqualFunc(strings.Split(a, "|"), strings.Split(b, "|"), func(x, y string) bool {
		if x == y {
			return true
		}
		f, err1 := strconv.ParseFloat(x, 64)
		g, err2 := strconv.ParseFloat(y, 64)
		return err1 == nil && err2 == nil && strings.Contains(x+y, ".") && math.Abs(f-g) <= 1e-12*math.Abs(g)
	})
}

func filled(t testing.TB, file string) (*bindtest.World, []statement) {
	w := bindtest.New(t)
	setup := corpus(t, file)
	for _, s := range setup {
		w.Exec(s.sql)
	}
	return w, setup
}

// TestAnswersArePostgres holds the whole way (bind, rewrite, lower, each evaluated dumbly) against PostgreSQL,
// rule by rule.
func TestAnswersArePostgres(t *testing.T) {
	w, setup := filled(t, "setup.sql")
	pg := newOracle(t, setup)
	for _, file := range corpora(t, "queries") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, s := range corpus(t, file) {
				want, _ := pg.query(s.sql)
				q, err := w.Query(s.sql)
				if err != nil {
					if got := bindtest.Failed(err); !same(s, got, want) {
						t.Errorf("%s\n--- ours:\n%v\n--- PostgreSQL:\n%v", s.sql, got, want)
					}
					continue
				}
				if got := w.Reference(q); !same(s, got, want) {
					t.Errorf("%s\n--- bound:\n%v\n--- PostgreSQL:\n%v", s.sql, got, want)
					continue
				}
				if err := w.CheckRels(q); err != nil {
					t.Errorf("%s: %v", s.sql, err)
				}
				for _, rule := range append([]rewrite.Rule{""}, rewrite.Rules()...) {
					off := rewrite.Options{Off: map[rewrite.Rule]bool{rule: true}}
					if got := w.Planned(q, off); !same(s, got, want) {
						t.Errorf("%s\n--- planned without %q:\n%v\n--- PostgreSQL:\n%v", s.sql, rule, got, want)
						break
					}
				}
			}
		})
	}
}

// TestErrorsArePostgres compares code, words and position of errors.
func TestErrorsArePostgres(t *testing.T) {
	w, setup := filled(t, "setup.sql")
	pg := newOracle(t, setup)
	for _, s := range corpus(t, "errors.sql") {
		want, pos := pg.query(s.sql)
		if want.Err == nil {
			t.Errorf("%s: PostgreSQL gives no error", s.sql)
			continue
		}
		_, err := w.Query(s.sql)
		if err == nil {
			t.Errorf("%s: no error; PostgreSQL: %v at %d", s.sql, want, pos)
			continue
		}
		got := pgerr.From(err)
		if !same(s, bindtest.Failed(err), want) || !s.code && (pos != 0 && got.Position != pos || got.Hint != want.Err.Hint || got.Detail != want.Err.Detail) {
			t.Errorf("%s\n--- ours:\n%v at %d %q %q\n--- PostgreSQL:\n%v at %d %q %q", s.sql, bindtest.Failed(err), got.Position, got.Detail, got.Hint,
				want, pos, want.Err.Detail, want.Err.Hint)
		}
	}
}

// TestNamesArePostgres compares the names and types of results.
func TestNamesArePostgres(t *testing.T) {
	w, setup := filled(t, "setup.sql")
	pg := newOracle(t, setup)
	for _, file := range append(corpora(t, "queries"), "names.sql") {
		for _, s := range corpus(t, file) {
			q, err := w.Query(s.sql)
			if err != nil {
				continue // TestAnswersArePostgres says so
			}
			res := pg.conn.Exec(context.Background(), s.sql)
			if !res.NextResult() {
				_ = res.Close()
				continue
			}
			var ours, theirs []string
			for _, c := range q.Rel.Cols {
				ours = append(ours, c.Name+" "+types.Of(c.Type.OID).String())
			}
			for _, f := range res.ResultReader().FieldDescriptions() {
				t := types.Of(types.OID(f.DataTypeOID))
				if !types.Known(t.OID) {
					t.OID = types.OIDRecord // the type of a table's rows
				}
				theirs = append(theirs, f.Name+" "+t.String())
			}
			_ = res.Close()
			if !slices.Equal(ours, theirs) {
				t.Errorf("%s\n--- ours: %q\n--- PostgreSQL: %q", s.sql, ours, theirs)
			}
		}
	}
}

func corpora(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpora in %s: %v", dir, err)
	}
	for i, f := range files {
		files[i], _ = filepath.Rel("testdata", f)
	}
	return files
}
