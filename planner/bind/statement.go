package bind

import (
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Query is a bound query.
type Query struct {
	// Rel describes what the client gets.
	Rel types.Rel
	// Root gives the rows, with hidden columns to sort by behind.
	Root logical.Node
	// Order, Limit, Offset (nil: none) and Project are what is done to Root's rows last.
	Order         []logical.Order
	Limit, Offset scalar.Expr
	Project       []int
	// AsOf is when the client wants to read; nil: now.
	AsOf *ast.AsOf
}

// Select binds a query.
func Select(env *Env, e *ast.Query) (*Query, error) {
	b := newBinder(env)
	r, err := b.query(e, nil)
	if err != nil {
		return nil, err
	}
	q, err := b.finished(r)
	if err != nil {
		return nil, err
	}
	q.AsOf = e.AsOf
	return q, b.checkOpen()
}

// finished is a bound query for who runs it.
func (b *binder) finished(r *relation) (*Query, error) {
	if err := r.settle(b); err != nil {
		return nil, err
	}
	q := &Query{
		Root: b.closed(r.node), Order: r.order, Limit: r.limit, Offset: r.offset, Project: logical.Identity(r.visible),
	}
	cols := r.node.Rel().Cols
	for i, c := range r.cols {
		q.Rel.Cols = append(q.Rel.Cols, types.Column{Name: c.name, Type: c.t, Nullable: cols[i].Nullable})
	}
	q.Rel.Keys = logical.NewProject(r.limited(), q.Project).Rel().Keys
	return q, nil
}

// Tree is the query as a relation, of exactly the columns of Rel.
func (q *Query) Tree() logical.Node {
	n := q.Root
	if q.Limit != nil || q.Offset != nil {
		n = logical.NewTopK(n, nil, q.Order, q.Limit, q.Offset)
	}
	return logical.NewProject(n, q.Project)
}

// Finishing is what is done last, computed. Parameters must have been put in.
func (q *Query) Finishing(env scalar.Env) (plan.Finishing, error) {
	limit, offset, err := lower.Limits(q.Limit, q.Offset, env)
	return plan.Finishing{Order: q.Order, Limit: limit, Offset: offset, Project: q.Project}, err
}

// WithParams is the query with the client's parameters put in.
func (q *Query) WithParams(values []vec.Datum) (*Query, error) {
	if len(values) == 0 {
		return q, nil
	}
	p := *q
	var err error
	if p.Root, err = logical.WithParams(q.Root, values); err != nil {
		return nil, err
	}
	for _, e := range []*scalar.Expr{&p.Limit, &p.Offset} {
		if *e != nil && err == nil {
			*e, err = scalar.SubstParams(*e, values)
		}
	}
	return &p, err
}

// View binds the query of a view or a materialized view. Its columns are called and typed as the item says.
func View(env *Env, it *catalog.Item) (*Query, error) {
	b := newBinder(env)
	r, err := b.viewQuery(it)
	if err != nil {
		return nil, err
	}
	q, err := b.finished(r)
	if err != nil {
		return nil, err
	}
	for i := range q.Rel.Cols {
		q.Rel.Cols[i].Name = it.Rel.Cols[i].Name
	}
	return q, nil
}

// Index gives an index's key over the columns of the relation it is on, and that relation's rows: read as they
// are, or a view's query.
func Index(env *Env, it *catalog.Item) (lower.Index, logical.Node, error) {
	on := env.Catalog.Item(it.On)
	if on == nil {
		return lower.Index{}, nil, pgerr.Newf(pgerr.InternalError, "index %q is on nothing", it.Name)
	}
	b := newBinder(env)
	b.path = catalog.Path{}
	ix := lower.Index{ID: it.ID}
	for _, part := range it.Key {
		if part.Column >= 0 {
			ix.Key = append(ix.Key, &scalar.Col{Index: part.Column, T: on.Rel.Cols[part.Column].Type})
			continue
		}
		e, err := parser.Expr(part.SQL)
		if err != nil {
			return ix, nil, stored(err, it)
		}
		key, err := b.rowExpr(on, inIndex, e)
		if err != nil {
			return ix, nil, stored(err, it)
		}
		ix.Key = append(ix.Key, key)
	}
	n, err := b.contents(on)
	if err != nil {
		return ix, nil, err
	}
	return ix, b.closed(n), nil
}

// rowExpr binds an expression over the columns of one relation.
func (b *binder) rowExpr(it *catalog.Item, c clause, e ast.Expr) (scalar.Expr, error) {
	q := b.rowQuery(it)
	x, err := q.in(c, e)
	if err != nil {
		return nil, err
	}
	if x, err = b.settle(x, posOf(e)); err != nil {
		return nil, err
	}
	return x, nil
}

// rowQuery has the row of a relation, under its own name.
func (b *binder) rowQuery(it *catalog.Item) *query {
	src := &source{name: it.Name, item: it, bare: true, qualified: true}
	for i, c := range it.Rel.Cols {
		src.cols = append(src.cols, column{c.Name, &scalar.Col{Index: i, T: c.Type}})
	}
	q := b.newQuery(nil, []*source{src})
	q.columns = it.Rel.Cols
	return q
}

// Constant computes an expression without columns as a value of a type: AS OF, options, the arguments of
// EXECUTE.
func Constant(env *Env, e ast.Expr, want types.T) (vec.Datum, error) {
	b := newBinder(env)
	q := b.newQuery(nil, nil)
	x, err := q.expr(e)
	if err != nil {
		return vec.Null, err
	}
	if len(q.subs) > 0 {
		return vec.Null, unsupported(posOf(e), "a subquery in this place")
	}
	r, err := b.coerce(x, want, types.Assignment, posOf(e))
	if err != nil {
		return vec.Null, err
	}
	if r == nil {
		return vec.Null, fail(posOf(e), pgerr.DatatypeMismatch, "expression is of type %s, not %s", types.Of(x.Type().OID), want)
	}
	if err := b.checkLarge(); err != nil {
		return vec.Null, err
	}
	d, err := scalar.Eval(r, nil, env.Scalar)
	return d.Clone(), at(err, posOf(e))
}
