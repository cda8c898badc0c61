package bind_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// TestParametersArePostgres compares the types that parameters and results are found to have.
func TestParametersArePostgres(t *testing.T) {
	w, setup := filled(t, "setup.sql")
	pg := newOracle(t, setup)
	for _, s := range corpus(t, "params.sql") {
		list, err := parser.Parse(s.sql)
		if err != nil {
			t.Errorf("%s: %v", s.sql, err)
			continue
		}
		env := w.Env()
		var cols []types.Column
		switch e := list[0].AST.(type) {
		case *ast.Query:
			var q *bind.Query
			if q, err = bind.Select(env, e); err == nil {
				cols = q.Rel.Cols
			}
		case *ast.Insert:
			_, err = bind.Insert(env, e)
		case *ast.Update:
			_, err = bind.Update(env, e)
		case *ast.Delete:
			_, err = bind.Delete(env, e)
		}
		desc, pgErr := pg.conn.Prepare(context.Background(), "", s.sql, nil)
		var e *pgconn.PgError
		if errors.As(pgErr, &e) {
			if err == nil || string(pgerr.From(err).Code) != e.Code || pgerr.From(err).Message != e.Message {
				t.Errorf("%s\n--- ours: %v\n--- PostgreSQL: %s %s", s.sql, err, e.Code, e.Message)
			}
			continue
		}
		if err != nil || pgErr != nil {
			t.Errorf("%s: %v; PostgreSQL: %v", s.sql, err, pgErr)
			continue
		}
		var ours, theirs []string
		for _, p := range env.Params {
			ours = append(ours, types.Of(p.OID).String())
		}
		for _, oid := range desc.ParamOIDs {
			theirs = append(theirs, types.Of(types.OID(oid)).String())
		}
		if _, ok := list[0].AST.(*ast.Query); ok {
			for _, c := range cols {
				ours = append(ours, "-> "+types.Of(c.Type.OID).String())
			}
			for _, f := range desc.Fields {
				theirs = append(theirs, "-> "+types.Of(types.OID(f.DataTypeOID)).String())
			}
		}
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s\n--- ours: %q\n--- PostgreSQL: %q", s.sql, ours, theirs)
		}
	}
}
