package bind_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/planner/bind/bindtest"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// TestWritesArePostgres runs statements that write, here and on PostgreSQL, and compares what they return, what
// they count, their errors, and after each the tables.
func TestWritesArePostgres(t *testing.T) {
	w, setup := filled(t, "setup.sql")
	pg := newOracle(t, setup)
	for _, s := range corpus(t, "writes.sql") {
		list, err := parser.Parse(s.sql)
		if err != nil {
			t.Errorf("%s: %v", s.sql, err)
			continue
		}
		want, pos := pg.write(s.sql)
		got := w.Write(list[0].AST)
		switch {
		case !same(s, got, want):
			t.Errorf("%s\n--- ours:\n%v\n--- PostgreSQL:\n%v", s.sql, got, want)
		case got.Err != nil && !s.code && (pos != 0 && got.Err.Position != pos || got.Err.Hint != want.Err.Hint || got.Err.Detail != want.Err.Detail):
			t.Errorf("%s\n--- ours:\n%v at %d %q %q\n--- PostgreSQL:\n%v at %d %q %q", s.sql, got, got.Err.Position, got.Err.Detail, got.Err.Hint,
				want, pos, want.Err.Detail, want.Err.Hint)
		}
		for _, table := range []string{"t", "u", "d1"} {
			q, err := w.Query("SELECT * FROM " + table)
			if err != nil {
				t.Fatal(err)
			}
			theirs, _ := pg.query("SELECT * FROM " + table)
			if ours := w.Reference(q); !same(statement{}, ours, theirs) {
				t.Fatalf("after %s\n--- our %s:\n%v\n--- PostgreSQL's:\n%v", s.sql, table, ours, theirs)
			}
		}
	}
}

// write runs a statement; the answer ends in how many rows it says it wrote.
func (o *oracle) write(sql string) (bindtest.Answer, int) {
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
	out.Rows = append(out.Rows, fmt.Sprintf("%d rows", res[0].CommandTag.RowsAffected()))
	return out, 0
}
