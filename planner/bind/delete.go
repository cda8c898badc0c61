package bind

import (
	"slices"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
)

// Delete binds DELETE.
func Delete(env *Env, e *ast.Delete) (*Write, error) {
	b := newBinder(env)
	it, err := b.target(e.Table, "delete from")
	if err != nil {
		return nil, err
	}
	w := &Write{Kind: DeleteRows, Table: it, Reads: true}
	r, err := b.with(e.With, nil, func() (*relation, error) {
		n, err := b.deleted(it, e)
		if err != nil {
			return nil, err
		}
		w.Root = n
		err = b.returning(w, e.Returning, []*source{tableSource(it, e.Alias, 0)})
		if len(e.Using) > 0 && (pgerr.Is(err, pgerr.UndefinedTable) || returnsAll(e.Returning)) {
			return nil, unsupported(e.Pos, "RETURNING of what USING names")
		}
		if err != nil {
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

// deleted is the rows that are deleted. With USING these are the rows for which there is some row there: one is
// deleted once, however many it meets.
func (b *binder) deleted(it *catalog.Item, e *ast.Delete) (logical.Node, error) {
	var rows logical.Node = b.get(it)
	src := tableSource(it, e.Alias, 0)
	if len(e.Using) == 0 {
		q := b.newQuery(nil, []*source{src})
		q.columns = it.Rel.Cols
		p := q.placing(rows)
		err := q.where(p, e.Where)
		return logical.NewProject(p.rel, logical.Identity(len(it.Rel.Cols))), err
	}
	// The target is to the left of USING's entries, but these may not name it: a lateral one would be another row.
	outer := &scope{sources: []*source{src}, hidden: true}
	var acc *item
	for _, t := range e.Using {
		seen := outer
		if acc != nil {
			seen = &scope{parent: outer, sources: acc.sources, more: true}
		}
		next, err := b.tableExpr(t, seen)
		if err != nil {
			return nil, err
		}
		if acc == nil {
			acc = next
			continue
		}
		if acc, err = beside(acc, next, 0); err != nil {
			return nil, err
		}
	}
	sources, err := sideBySide(&item{rows, []*source{src}}, acc, e.Table.Pos)
	if err != nil {
		return nil, err
	}
	q := b.newQuery(nil, sources)
	q.clause = inWhere
	cond := scalar.Expr(scalar.True)
	if e.Where != nil {
		if cond, err = q.condition(e.Where, "WHERE"); err != nil {
			return nil, err
		}
	}
	// As in a left join, the condition becomes one on the other rows, which see the target's from within.
	apply, err := q.leftJoin(rows, acc.node, cond)
	if err != nil {
		return nil, err
	}
	if j, ok := apply.(*logical.OuterJoin); ok {
		return logical.NewSemiJoin(false, j.Left(), j.Right(), j.On...), nil
	}
	return logical.NewApply(logical.ApplySemi, apply.Inputs()[0], apply.Inputs()[1]), nil
}

// returnsAll says whether there is a * that stands for all relations.
func returnsAll(items []ast.SelectItem) bool {
	return slices.ContainsFunc(items, func(i ast.SelectItem) bool {
		star, ok := i.Expr.(*ast.Star)
		return ok && star.Qualifier == nil
	})
}
