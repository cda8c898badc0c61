package bind

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
)

// cte is a binding of WITH that names may refer to.
type cte struct {
	next *cte // further out
	name string
	cols []relCol
	node logical.Node
	// let is its Let; 0 if it is correlated, and then put in place of every reference, depth scopes deep.
	let   int
	depth int
	used  bool
}

// depth counts the scopes around.
func (s *scope) depth() int {
	n := 0
	for ; s != nil; s = s.parent {
		n++
	}
	return n
}

// with binds what has a WITH clause around it.
func (b *binder) with(w *ast.With, parent *scope, body func() (*relation, error)) (*relation, error) {
	if w == nil {
		return body()
	}
	switch {
	case w.Mutual:
		return nil, unsupported(w.Pos, "WITH MUTUALLY RECURSIVE")
	case w.Recursive:
		return nil, unsupported(w.Pos, "WITH RECURSIVE")
	}
	before := b.ctes
	defer func() { b.ctes = before }()
	var made []*cte
	for i := range w.CTEs {
		e := &w.CTEs[i]
		for _, c := range made {
			if c.name == e.Name {
				return nil, fail(e.Pos, pgerr.DuplicateAlias, "WITH query name \"%s\" specified more than once", e.Name)
			}
		}
		c, err := b.bindCTE(e, parent)
		if err != nil {
			return nil, err
		}
		c.next = b.ctes
		b.ctes = c
		made = append(made, c)
	}
	r, err := body()
	if err != nil {
		return nil, err
	}
	for i := len(made) - 1; i >= 0; i-- {
		if c := made[i]; c.let != 0 && c.used {
			r.node = logical.NewLet(c.let, c.node, r.node)
		}
	}
	return r, nil
}

func (b *binder) bindCTE(e *ast.CTE, parent *scope) (*cte, error) {
	r, err := b.query(e.Query, parent)
	if err != nil {
		return nil, err
	}
	if err := r.settle(b); err != nil {
		return nil, err
	}
	if len(e.Columns) > len(r.cols) {
		return nil, fail(e.Pos, pgerr.InvalidColumnReference, "WITH query \"%s\" has %d columns available but %d columns specified",
			e.Name, len(r.cols), len(e.Columns))
	}
	c := &cte{name: e.Name, cols: r.cols, node: r.rows(), depth: parent.depth()}
	for i, name := range e.Columns {
		c.cols[i].name = name
	}
	if !logical.Correlated(c.node) {
		c.let = b.newLet()
	}
	return c, nil
}

// findCTE finds the binding a name refers to; nil if there is none.
func (b *binder) findCTE(name string) *cte {
	for c := b.ctes; c != nil; c = c.next {
		if c.name == name {
			return c
		}
	}
	return nil
}

// refer is the rows of a binding, read in a FROM whose entries see outer.
func (c *cte) refer(outer *scope) logical.Node {
	c.used = true
	if c.let != 0 {
		return logical.NewLetRef(c.let, c.node)
	}
	deeper := outer.depth() - c.depth
	return logical.MapOuter(c.node, func(o *scalar.Outer) scalar.Expr {
		return &scalar.Outer{Level: o.Level + deeper, Index: o.Index, T: o.T}
	})
}
