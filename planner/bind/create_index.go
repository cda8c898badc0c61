package bind

import (
	"strconv"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/tvc"
)

// CreateIndex binds CREATE INDEX. The item has no ID, OID and Owner yet, and a Cluster only if the statement says
// which; an index without a name gets one.
func CreateIndex(env *Env, e *ast.CreateIndex) (*catalog.Item, error) {
	b := newBinder(lasting(env))
	switch {
	case e.Unique:
		return nil, unsupported(e.Pos, "CREATE UNIQUE INDEX")
	case e.Using != "" && e.Using != "arrangement":
		return nil, fail(e.Pos, pgerr.UndefinedObject, "access method \"%s\" does not exist", e.Using)
	case len(e.Options) > 0:
		return nil, unsupported(e.Options[0].Pos, "the option %s of an index", e.Options[0].Name)
	}
	on, err := b.relation(e.On)
	if err != nil {
		return nil, err
	}
	if on.Kind.System() {
		return nil, unsupported(e.On.Pos, "an index on a system relation")
	}
	it := &catalog.Item{Kind: catalog.Index, Schema: on.Schema, Name: e.Name.Name, On: on.ID, DependsOn: []tvc.ID{on.ID}}
	if err := b.indexKey(it, on, e); err != nil {
		return nil, err
	}
	if on.Kind.IsView() {
		n, err := b.contents(on)
		if err == nil {
			err = Maintainable(n)
		}
		if err != nil {
			return nil, err
		}
	}
	if it.Name == "" {
		it.Name = b.indexName(it, on, e.Default)
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

func (b *binder) indexKey(it, on *catalog.Item, e *ast.CreateIndex) error {
	if e.Default {
		for _, c := range defaultKey(on) {
			b.keyPart(it, catalog.KeyPart{Column: c, Type: on.Rel.Cols[c].Type}, on.Rel.Cols[c])
		}
		return nil
	}
	for _, k := range e.Keys {
		if k.Desc || k.Nulls != ast.NullsDefault {
			return unsupported(posOf(k.Expr), "an order of index keys")
		}
		x, err := b.rowExpr(on, inIndex, k.Expr)
		if err != nil {
			return err
		}
		if scalar.Depends(x) != scalar.Immutable {
			return fail(posOf(k.Expr), pgerr.InvalidObjectDefinition, "functions in index expression must be marked IMMUTABLE")
		}
		if err := b.checkLarge(); err != nil {
			return err
		}
		if c, ok := x.(*scalar.Col); ok {
			b.keyPart(it, catalog.KeyPart{Column: c.Index, Type: c.T}, on.Rel.Cols[c.Index])
			continue
		}
		col := types.Column{Name: keyName(k.Expr), Type: x.Type(), Nullable: logical.Nullable(x, &on.Rel)}
		text, err := b.keyText(on, k.Expr)
		if err != nil {
			return err
		}
		b.keyPart(it, catalog.KeyPart{Column: -1, SQL: text, Type: x.Type()}, col)
	}
	return nil
}

// keyPart adds a column to an index, under a name that no other of its columns has: a, a1, a2.
func (b *binder) keyPart(it *catalog.Item, part catalog.KeyPart, col types.Column) {
	base := col.Name
	for i := 1; columnAt(it, col.Name) >= 0; i++ {
		col.Name = base + strconv.Itoa(i)
	}
	it.Key = append(it.Key, part)
	it.Rel.Cols = append(it.Rel.Cols, col)
}

// keyName is the name of an index's column for an expression, "expr" where a query would have none.
func keyName(e ast.Expr) string {
	if name := figureName(e); name != "?column?" {
		return name
	}
	return "expr"
}

// defaultKey is a key of the relation, the smallest known; all columns if none is.
func defaultKey(on *catalog.Item) []int {
	var best []int
	for _, k := range on.Rel.Keys {
		if len(k) > 0 && (best == nil || len(k) < len(best)) {
			best = k
		}
	}
	if best == nil {
		return logical.Identity(len(on.Rel.Cols))
	}
	return best
}

// keyText is a key's expression with its columns named by themselves, so that a renamed relation does not matter,
// and its literals spelled with their types.
// The client's tree is not written to: a copy is.
func (b *binder) keyText(on *catalog.Item, e ast.Expr) (string, error) {
	own, err := parser.Expr(ast.Format(e))
	if err != nil {
		return "", err
	}
	env := *b.env
	c := newBinder(&env)
	c.noted = newNotes(1)
	if _, err := c.rowExpr(on, inIndex, own); err != nil {
		return "", err
	}
	c.noted.shorten()
	return ast.FormatAs(own, &c.noted.spelling), nil
}

// indexName makes up a name that nothing else has: t_a_b_idx, then t_a_b_idx1.
func (b *binder) indexName(it, on *catalog.Item, primary bool) string {
	name := on.Name
	if primary {
		name += "_primary"
	} else {
		for _, c := range it.Rel.Cols {
			name += "_" + c.Name
		}
	}
	name += "_idx"
	taken := func(n string) bool { return b.env.Catalog.ItemNamed(on.Schema, n) != nil }
	if !taken(name) {
		return name
	}
	i := 1
	for taken(name + strconv.Itoa(i)) {
		i++
	}
	return name + strconv.Itoa(i)
}
