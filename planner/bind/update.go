package bind

import (
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
)

// Update binds UPDATE.
func Update(env *Env, e *ast.Update) (*Write, error) {
	b := newBinder(env)
	if e.From != nil {
		return nil, unsupported(e.Pos, "UPDATE ... FROM")
	}
	it, err := b.target(e.Table, "update")
	if err != nil {
		return nil, err
	}
	w := &Write{Kind: UpdateRows, Table: it, Reads: true}
	r, err := b.with(e.With, nil, func() (*relation, error) {
		n, err := b.updated(it, e)
		if err != nil {
			return nil, err
		}
		w.Root = n
		// RETURNING sees the row as it has become.
		m := len(it.Rel.Cols)
		if err := b.returning(w, e.Returning, []*source{tableSource(it, e.Alias, m)}); err != nil {
			return nil, err
		}
		return &relation{node: w.Root}, nil
	})
	if err != nil {
		return nil, err
	}
	w.Root = b.closed(r.node)
	return w, b.checkOpen()
}

// updated is the rows that are updated, before and after.
func (b *binder) updated(it *catalog.Item, e *ast.Update) (logical.Node, error) {
	rows := b.get(it)
	q := b.newQuery(nil, []*source{tableSource(it, e.Alias, 0)})
	q.columns = it.Rel.Cols
	p := q.placing(rows)
	if err := q.where(p, e.Where); err != nil {
		return nil, err
	}
	m := len(it.Rel.Cols)
	exprs := make([]scalar.Expr, 2*m)
	for i, c := range it.Rel.Cols {
		exprs[i] = &scalar.Col{Index: i, T: c.Type}
		exprs[m+i] = exprs[i]
	}
	var set logical.Set
	for _, s := range e.Sets {
		if err := b.setColumns(q, it, s, exprs[m:], &set); err != nil {
			return nil, err
		}
	}
	exprs = p.exprs(exprs)
	return logical.Compute(p.rel, exprs...), p.err
}

// where keeps the rows of a statement that writes.
func (q *query) where(p *placing, e ast.Expr) error {
	if e == nil {
		return nil
	}
	before := q.clause
	q.clause = inWhere
	cond, err := q.condition(e, "WHERE")
	q.clause = before
	if err != nil {
		return err
	}
	return p.filter(cond)
}

// setColumns binds one assignment into the row as it becomes.
func (b *binder) setColumns(q *query, it *catalog.Item, s ast.Assign, row []scalar.Expr, set *logical.Set) error {
	q.clause = inUpdate
	values := []ast.Expr{s.Value}
	var bound []scalar.Expr
	if s.Multi {
		switch v := s.Value.(type) {
		case *ast.Row:
			values = v.Items
		case *ast.Subquery:
			r, err := q.nested(v.Query)
			if err != nil {
				return err
			}
			values = nil
			for i, c := range r.cols {
				values = append(values, s.Value)
				bound = append(bound, q.addSub(logical.ApplyScalar, logical.NewProject(r.rows(), []int{i}), c.t, v.Pos))
			}
		default:
			if len(s.Columns) > 1 {
				return fail(posOf(s.Value), pgerr.FeatureNotSupported,
					"source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
			}
		}
		if len(values) != len(s.Columns) {
			return fail(posOf(s.Value), pgerr.SyntaxError, "number of columns does not match number of values")
		}
	}
	for i, name := range s.Columns {
		at := columnAt(it, name.Name)
		if at < 0 {
			return noTargetColumn(it, name)
		}
		if set.Has(at) {
			return fail(name.Pos, pgerr.SyntaxError, "multiple assignments to same column \"%s\"", name.Name)
		}
		set.Add(at)
		var x scalar.Expr
		var err error
		switch {
		case bound != nil:
			x = bound[i]
		default:
			if _, ok := values[i].(*ast.Default); ok {
				if row[at], err = b.defaultOf(it, at); err != nil {
					return err
				}
				continue
			}
			if x, err = q.expr(values[i]); err != nil {
				return err
			}
		}
		if row[at], err = b.assign(x, it.Rel.Cols[at], posOf(values[i])); err != nil {
			return err
		}
	}
	return nil
}
