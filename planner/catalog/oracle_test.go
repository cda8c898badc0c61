package catalog

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/pgtest"
)

// TestDropMessagesArePostgres drops the same things here and in PostgreSQL.
func TestDropMessagesArePostgres(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	exec := func(sql string) error { _, err := conn.Exec(ctx, sql); return err }
	s, _ := New(testSystem(), 1)
	p := Path{Database: DefaultDatabase, Search: []string{"dropped", "public"}}
	for _, step := range []struct{ sql, op string }{
		{"CREATE SCHEMA dropped", "schema materialize dropped"},
		{"CREATE SCHEMA other", "schema materialize other"},
		{"SET search_path TO dropped, public", ""},
		{"CREATE TABLE t (a int)", "table t a:int4"},
		{"CREATE VIEW v1 AS SELECT * FROM t", "view v1 t"},
		{`CREATE VIEW "V2" AS SELECT * FROM t`, "view V2 t"},
		{`CREATE VIEW w AS SELECT v1.a, y.a b FROM v1, "V2" y`, "view w v1 V2"},
		{"CREATE INDEX i ON t (a)", "index i t a"},
		{"CREATE MATERIALIZED VIEW other.m AS SELECT w.a, t.a b FROM w, t", "mview other.m w t"},
		{"CREATE VIEW other.z AS SELECT a FROM other.m", "view other.z other.m"},
		{"CREATE TABLE other.u (a int)", "table other.u a:int4"},
		{"DROP TABLE t", "drop item t"},
		{"DROP VIEW v1", "drop item v1"},
		{`DROP VIEW v1, "V2"`, "drop item v1 V2"},
		{"DROP MATERIALIZED VIEW other.m", "drop item other.m"},
		{"DROP SCHEMA other", "drop schema other"},
		{"DROP SCHEMA dropped", "drop schema dropped"},
		{"DROP SCHEMA dropped, other", "drop schema dropped other"},
		{"CREATE SCHEMA dropped", "schema materialize dropped"},
		{"CREATE TABLE t (a int)", "table t a:int4"},
	} {
		var want, got *pgerr.Error
		if err := exec(step.sql); err != nil {
			var e = fromWire(err)
			want = e
		}
		if step.op == "" {
			continue
		}
		next, _, err := s.Apply([]Op{parseOp(t, s, p, step.op)})
		if err != nil {
			got = pgerr.From(err)
		} else {
			s = next
		}
		switch {
		case (got == nil) != (want == nil):
			t.Errorf("%s: got %v, want %v", step.sql, got, want)
		case got != nil && errorText(got) != errorText(want):
			t.Errorf("%s: got\n%s\nwant\n%s", step.sql, errorText(got), errorText(want))
		}
	}
}

func fromWire(err error) *pgerr.Error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return pgerr.From(err)
	}
	return &pgerr.Error{Code: pgerr.Code(e.Code), Message: e.Message, Detail: e.Detail, Hint: e.Hint}
}
