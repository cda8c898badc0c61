package bind

import (
	"slices"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// CreateView binds CREATE VIEW. The item has no ID, OID and Owner yet.
func CreateView(env *Env, e *ast.CreateView) (*catalog.Item, error) {
	if e.Temporary {
		return nil, unsupported(e.Pos, "CREATE TEMPORARY VIEW")
	}
	return newBinder(lasting(env)).stored(catalog.View, e.Name, e.Columns, e.Query)
}

// lasting is where what is stored is bound: there is no session to ask, as there will be none later.
func lasting(env *Env) *Env {
	e := *env
	e.Scalar, e.Show, e.Params, e.NoParams = nil, nil, nil, true
	return &e
}

// CreateMaterializedView binds CREATE MATERIALIZED VIEW but for its options. The item has no ID, OID, Owner and Shard
// yet, and a Cluster only if the statement says which.
func CreateMaterializedView(env *Env, e *ast.CreateMaterializedView) (*catalog.Item, error) {
	b := newBinder(lasting(env))
	switch {
	case e.Replaces.Given():
		return nil, unsupported(e.Pos, "CREATE REPLACEMENT MATERIALIZED VIEW")
	case e.Replica != "":
		return nil, unsupported(e.Pos, "IN CLUSTER ... REPLICA")
	}
	for _, r := range e.Refresh {
		if r.Kind != ast.RefreshOnCommit {
			return nil, unsupported(r.Pos, "REFRESH other than ON COMMIT")
		}
	}
	it, err := b.stored(catalog.MaterializedView, e.Name, e.Columns, e.Query)
	if err != nil {
		return nil, err
	}
	if e.Cluster != "" {
		c, err := env.Catalog.ResolveCluster(e.Cluster)
		if err != nil {
			return nil, at(err, e.Pos)
		}
		it.Cluster = c.ID
	}
	return it, nil
}

// stored binds the definition of a view.
func (b *binder) stored(kind catalog.Kind, name ast.Name, columns []ast.Ident, query *ast.Query) (*catalog.Item, error) {
	it, err := b.newItem(kind, name)
	if err != nil {
		return nil, err
	}
	if query.AsOf != nil {
		return nil, unsupported(posOf(query.AsOf.At), "AS OF in a view")
	}
	r, err := b.query(query, nil)
	if err != nil {
		return nil, err
	}
	if err := r.settle(b); err != nil {
		return nil, err
	}
	if err := b.checkLarge(); err != nil {
		return nil, err
	}
	if err := checkColumns(len(r.cols), name.Pos); err != nil {
		return nil, err
	}
	if len(columns) > len(r.cols) {
		return nil, fail(columns[len(r.cols)].Pos, pgerr.SyntaxError, "CREATE VIEW specifies more column names than columns")
	}
	for i, c := range columns {
		r.cols[i].name = c.Name
	}
	for _, c := range r.cols {
		if err := storable(c.t, c.name, c.pos); err != nil {
			return nil, err
		}
	}
	root := b.closed(r.rows())
	it.Rel = relOf(root, r.cols)
	if err := distinctNames(it.Rel.Cols, name.Pos); err != nil {
		return nil, err
	}
	if err := noNames(root); err != nil {
		return nil, err
	}
	if kind == catalog.MaterializedView {
		if err := Maintainable(root); err != nil {
			return nil, err
		}
	}
	if it.Query, err = b.text(query); err != nil {
		return nil, err
	}
	it.DependsOn = it.Query.Refs()
	return it, b.checkText(it)
}

// noNames refuses literals that name objects, such as 't'::regclass: they would mean another object once theirs is
// renamed.
func noNames(n logical.Node) error {
	var err error
	logical.Walk(n, func(n logical.Node) bool {
		for _, e := range logical.Exprs(n) {
			scalar.Walk(e, func(e scalar.Expr) bool {
				if c, ok := e.(*scalar.Call); ok && c.Func.IsCast() && isUnknown(c.Args[0]) && c.Func.Volatility != scalar.Immutable {
					err = pgerr.Unsupported("a literal of type %s in a view", c.T)
				}
				return err == nil
			})
		}
		return err == nil
	})
	return err
}

// checkText binds a view's text as it will be bound from now on. What comes to grief are relations of one name, of two
// schemas, without aliases: the text has no schemas in front of columns.
func (b *binder) checkText(it *catalog.Item) error {
	c := newBinder(b.env)
	r, err := c.viewQuery(it)
	if err == nil && !slices.EqualFunc(r.types(), it.Rel.Cols, func(t types.T, c types.Column) bool { return t.Equal(c.Type) }) {
		err = pgerr.Newf(pgerr.InternalError, "view %q has other columns when it is read again", it.Name)
	}
	if pgerr.Is(err, pgerr.DuplicateAlias) || pgerr.Is(err, pgerr.AmbiguousAlias) {
		return pgerr.Unsupported("a view over two relations of one name, neither of which has an alias,").
			WithHint("Give them aliases.")
	}
	return err
}

// text is a query as the catalog keeps it: relations by id. The client's tree is not written to; a copy, made by
// printing and parsing, is bound once more to see which name means what.
func (b *binder) text(query *ast.Query) (catalog.Text, error) {
	list, err := parser.Parse(ast.Format(query))
	if err != nil {
		return catalog.Text{}, err
	}
	own, ok := list[0].AST.(*ast.Query)
	if !ok {
		return catalog.Text{}, pgerr.New(pgerr.InternalError, "a query does not print as one")
	}
	env := *b.env
	c := newBinder(&env)
	c.noted = newNotes(2)
	if _, err := c.query(own, nil); err != nil {
		return catalog.Text{}, err
	}
	for ref, it := range c.noted.tables {
		if ref.Alias == nil {
			ref.Alias = &ast.Alias{Name: it.Name}
		}
		ref.Name = ast.MakeName(catalog.Mark(it.ID))
	}
	c.noted.shorten()
	return catalog.ParseText(ast.Format(own)), nil
}
