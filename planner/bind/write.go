package bind

import (
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// WriteKind is what a Write does to its table.
type WriteKind uint8

// The kinds of writes.
const (
	InsertRows WriteKind = iota + 1
	UpdateRows
	DeleteRows
)

// Write is a bound INSERT, UPDATE or DELETE.
type Write struct {
	Kind  WriteKind
	Table *catalog.Item
	// Rows are the rows of an INSERT of constants, all columns of the table, checked for NOT NULL. nil: Root
	// gives them.
	Rows *vec.Block
	// Root gives, for each row to be inserted its columns; for each to be deleted its columns; for each to be
	// updated its columns before, then after. Behind these come the columns of RETURNING. How often a row
	// counts is how often it is written. nil with Rows, unless there is RETURNING.
	Root logical.Node
	// Returning describes what the client gets; nil: nothing but a count.
	Returning *types.Rel
	// Reads: what is written depends on what is stored.
	Reads bool
}

// target finds the table that a statement writes to; verb is for messages.
func (b *binder) target(n ast.Name, verb string) (*catalog.Item, error) {
	it, err := b.relation(n)
	if err != nil {
		return nil, err
	}
	switch it.Kind {
	case catalog.Table:
		return it, nil
	case catalog.View:
		return nil, fail(n.Pos, pgerr.ObjectNotInPrerequisiteState, "cannot %s view \"%s\"", verb, it.Name)
	case catalog.MaterializedView:
		return nil, fail(n.Pos, pgerr.WrongObjectType, "cannot change materialized view \"%s\"", it.Name)
	}
	return nil, fail(n.Pos, pgerr.InsufficientPrivilege, "permission denied for %s %s", it.Kind, it.Name)
}

// defaultOf binds a column's DEFAULT; NULL without one.
func (b *binder) defaultOf(it *catalog.Item, col int) (scalar.Expr, error) {
	c := it.Rel.Cols[col]
	text := it.Default(col)
	if text == "" {
		return logical.Null(c.Type), nil
	}
	e, err := parser.Expr(text)
	if err != nil {
		return nil, stored(err, it)
	}
	path := b.path
	b.path = catalog.Path{}
	defer func() { b.path = path }()
	x, err := b.newQuery(nil, nil).in(inDefault, e)
	if err == nil {
		x, err = b.assign(x, c, 0)
	}
	if err != nil {
		return nil, stored(err, it)
	}
	return x, nil
}

// columnsOf gives the places of the columns that a statement lists; all of them if it lists none.
func columnsOf(it *catalog.Item, names []ast.Ident) ([]int, error) {
	if names == nil {
		return logical.Identity(len(it.Rel.Cols)), nil
	}
	cols := make([]int, len(names))
	var seen logical.Set
	for i, n := range names {
		at := columnAt(it, n.Name)
		if at < 0 {
			return nil, noTargetColumn(it, n)
		}
		if seen.Has(at) {
			return nil, fail(n.Pos, pgerr.DuplicateColumn, "column \"%s\" specified more than once", n.Name)
		}
		seen.Add(at)
		cols[i] = at
	}
	return cols, nil
}

func columnAt(it *catalog.Item, name string) int {
	for i, c := range it.Rel.Cols {
		if c.Name == name {
			return i
		}
	}
	return -1
}

func noTargetColumn(it *catalog.Item, n ast.Ident) error {
	return fail(n.Pos, pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n.Name, it.Name)
}

// NotNull refuses a NULL in a column of the table that may have none. The table's columns are those of rows from
// column from on.
func NotNull(it *catalog.Item, rows *vec.Block, from int) error {
	for i, c := range it.Rel.Cols {
		v := &rows.Cols[from+i]
		if c.Nullable || v.Valid == nil {
			continue
		}
		for r := range rows.Len {
			if v.IsNull(r) {
				return pgerr.Newf(pgerr.NotNullViolation, "null value in column \"%s\" of relation \"%s\" violates not-null constraint",
					c.Name, it.Name).WithDetail("Failing row contains (%s).", rowText(it, rows, r, from))
			}
		}
	}
	return nil
}

// maxShown bounds how much of a value a message shows, as PostgreSQL does.
const maxShown = 64

func rowText(it *catalog.Item, rows *vec.Block, r, from int) string {
	parts := make([]string, len(it.Rel.Cols))
	for i, c := range it.Rel.Cols {
		parts[i] = valueText(rows.Cols[from+i].Datum(r), c.Type)
	}
	return strings.Join(parts, ", ")
}

func valueText(d vec.Datum, t types.T) string {
	if d.IsNull() {
		return "null"
	}
	f, ok := fn.Cast(t, types.TText, types.Explicit)
	if !ok {
		return "?"
	}
	text, err := f.Apply(nil, []vec.Datum{d}, types.Bytes)
	if err != nil {
		return "?"
	}
	s := []rune(text.Str())
	if len(s) > maxShown {
		return string(s[:maxShown]) + "..."
	}
	return string(s)
}

// returning appends the columns of RETURNING to a tree whose columns from row on are the table's; sources name
// what the expressions may use.
func (b *binder) returning(w *Write, items []ast.SelectItem, sources []*source) error {
	if items == nil {
		return nil
	}
	q := b.newQuery(nil, sources)
	q.columns = w.Root.Rel().Cols
	q.clause = inReturning
	outs, err := q.items(items)
	if err != nil {
		return err
	}
	m := logical.Arity(w.Root)
	exprs := make([]scalar.Expr, 0, m+len(outs))
	for i := range m {
		exprs = append(exprs, logical.ColOf(w.Root, i))
	}
	w.Returning = &types.Rel{}
	p := q.placing(w.Root)
	for _, o := range outs {
		e, err := b.settle(o.expr, o.pos)
		if err != nil {
			return err
		}
		e = p.expr(e)
		exprs = append(exprs, e)
		w.Returning.Cols = append(w.Returning.Cols, types.Column{Name: o.name, Type: e.Type(), Nullable: true})
	}
	w.Reads = w.Reads || len(q.subs) > 0
	w.Root = logical.Compute(p.rel, exprs...)
	return p.err
}

// tableSource names the columns of a table, which are those from column from on.
func tableSource(it *catalog.Item, alias string, from int) *source {
	src := &source{name: it.Name, item: it, stored: it, bare: true, qualified: true}
	if alias != "" && alias != it.Name {
		src.name, src.item, src.hiddenItem = alias, nil, it
	}
	for i, c := range it.Rel.Cols {
		src.cols = append(src.cols, column{c.Name, &scalar.Col{Index: from + i, T: c.Type}})
	}
	return src
}
