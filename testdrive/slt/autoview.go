package slt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/script"
)

// autoView runs the record's query as a materialized view and as a view with an index, and compares as multisets, since
// a view has no order. want is the query's own answer, or nil if it must fail.
func (e *execution) autoView(ctx context.Context, session *action.Session, r record, q *query, want *answer) error {
	if !e.o.AutoView || q.noView || !viewable(r.sql) {
		return nil
	}
	conn, err := session.Conn(ctx)
	if err != nil {
		return err
	}
	if conn.TxStatus() != 'I' {
		return nil // Views are not made inside transactions.
	}
	var columns []string
	if want != nil {
		for i := range want.columns {
			columns = append(columns, fmt.Sprintf("c%d", i+1))
		}
	}
	for _, kind := range []string{"MATERIALIZED VIEW", "VIEW"} {
		e.views++
		name := fmt.Sprintf("slt_auto_view_%d", e.views)
		if err := e.viaView(ctx, session, r, q, want, view{kind, name, columns}); err != nil {
			return fmt.Errorf("as a %s: %w", strings.ToLower(kind), err)
		}
	}
	return nil
}

// viewable says whether a statement can be a view's query.
func viewable(sql string) bool {
	words := script.Words(sql, 1)
	return len(words) == 1 && slices.Contains([]string{"SELECT", "WITH", "VALUES", "TABLE"}, words[0]) &&
		len(script.Split(sql)) == 1
}

type view struct {
	kind, name string
	columns    []string // nil: those of the query
}

// viaView makes the view, reads it and drops it.
func (e *execution) viaView(ctx context.Context, s *action.Session, r record, q *query, want *answer, v view) error {
	names := ""
	if v.columns != nil {
		names = " (" + strings.Join(v.columns, ", ") + ")"
	}
	_, err := execute(ctx, s, fmt.Sprintf("CREATE %s %s%s AS %s", v.kind, v.name, names, strings.TrimSuffix(r.sql, ";")))
	if err != nil {
		return e.viewFailed(q, err)
	}
	got, err := e.readView(ctx, s, r, q, want, v)
	_, dropErr := execute(ctx, s, fmt.Sprintf("DROP %s %s", v.kind, v.name))
	if dropErr != nil {
		return fmt.Errorf("drop failed\n%s", actualText(dropErr))
	}
	switch {
	case err != nil:
		return e.viewFailed(q, err)
	case want == nil:
		return errors.New("read succeeded\nexpected " + q.fails.String())
	}
	expected := &answer{values: slices.Clone(want.values)}
	how := rowSort
	if q.sort == valueSort {
		how = valueSort
	}
	expected.arrange(how, len(q.types))
	got.arrange(how, len(q.types))
	if !slices.Equal(expected.values, got.values) {
		return errors.New("result differs from the query's own\n" +
			action.Diff("row", e.layout(expected.values, q, r.mode), e.layout(got.values, q, r.mode)))
	}
	return nil
}

// readView reads the view, with an index on it where a view can have one.
func (e *execution) readView(ctx context.Context, s *action.Session, r record, q *query, want *answer, v view) (*answer, error) {
	if want != nil && v.kind == "VIEW" && !e.env.Server.Postgres {
		if _, err := execute(ctx, s, fmt.Sprintf("CREATE INDEX %s_idx ON %s (%s)", v.name, v.name, v.columns[0])); err != nil {
			return nil, err
		}
	}
	return e.ask(ctx, s, "SELECT * FROM "+v.name, q, r.mode)
}

// viewFailed accepts the error that the query itself was to give, whether it comes with the view or with its read.
func (e *execution) viewFailed(q *query, err error) error {
	if q.fails == nil {
		return fmt.Errorf("view failed\n%s", actualText(err))
	}
	return e.compareFailure(q.fails, err)
}
