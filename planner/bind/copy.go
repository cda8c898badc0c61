package bind

import (
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// CopyTarget is where COPY … FROM puts rows.
type CopyTarget struct {
	Table *catalog.Item
	// Columns are the places of the columns that the client sends, in his order.
	Columns []int
	// defaults are what the other columns get; nil for those that are sent.
	defaults []scalar.Expr
	env      scalar.Env
}

// CopyFrom binds the table and the columns of COPY … FROM.
func CopyFrom(env *Env, e *ast.Copy) (*CopyTarget, error) {
	b := newBinder(env)
	if e.Where != nil {
		return nil, unsupported(posOf(e.Where), "WHERE in COPY")
	}
	it, err := b.target(e.Table, "copy to")
	if err != nil {
		return nil, err
	}
	cols, err := columnsOf(it, e.Columns)
	if err != nil {
		return nil, err
	}
	t := &CopyTarget{Table: it, Columns: cols, defaults: make([]scalar.Expr, len(it.Rel.Cols)), env: env.Scalar}
	sent := logical.SetOf(cols...)
	for c := range t.defaults {
		if !sent.Has(c) {
			if t.defaults[c], err = b.defaultOf(it, c); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// Types are the types of the columns that the client sends.
func (t *CopyTarget) Types() []types.T {
	ts := make([]types.T, len(t.Columns))
	for i, c := range t.Columns {
		ts[i] = t.Table.Rel.Cols[c].Type
	}
	return ts
}

// Complete makes rows of the table of rows that the client sent, whose memory it uses, and checks them for NOT
// NULL.
func (t *CopyTarget) Complete(sent *vec.Block) (*vec.Block, error) {
	out := &vec.Block{Len: sent.Len, Cols: make([]vec.Vec, len(t.defaults))}
	for i, c := range t.Columns {
		out.Cols[c] = sent.Cols[i]
	}
	for c, e := range t.defaults {
		if e == nil {
			continue
		}
		col := vec.New(t.Table.Rel.Cols[c].Type.Kind(), sent.Len)
		for range sent.Len {
			d, err := scalar.Eval(e, nil, t.env)
			if err != nil {
				return nil, err
			}
			col.AppendDatum(d)
		}
		out.Cols[c] = col
	}
	return out, NotNull(t.Table, out, 0)
}

// CopyTo binds what COPY … TO sends: a table's columns, or a query.
func CopyTo(env *Env, e *ast.Copy) (*Query, error) {
	if q, ok := e.Source.(*ast.Query); ok {
		return Select(env, q)
	}
	if e.Source != nil {
		return nil, unsupported(ast.Pos(e.Source.Position()), "COPY of this kind of statement")
	}
	b := newBinder(env)
	it, err := b.relation(e.Table)
	if err != nil {
		return nil, err
	}
	if it.Kind.IsView() {
		return nil, fail(e.Table.Pos, pgerr.WrongObjectType, "cannot copy from view \"%s\"", it.Name).
			WithHint("Try the COPY (SELECT ...) TO variant.")
	}
	cols, err := columnsOf(it, e.Columns)
	if err != nil {
		return nil, err
	}
	n, err := b.contents(it)
	if err != nil {
		return nil, err
	}
	n = logical.NewProject(n, cols)
	return b.finished(&relation{node: n, cols: colsOf(n), visible: len(cols)})
}

// colsOf are a node's columns as those of a bound query.
func colsOf(n logical.Node) []relCol {
	cols := make([]relCol, logical.Arity(n))
	for i, c := range n.Rel().Cols {
		cols[i] = relCol{name: c.Name, t: c.Type}
	}
	return cols
}
