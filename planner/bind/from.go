package bind

import (
	"slices"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// item is an entry of FROM: its rows, and its columns as names see them. Outer columns of level 1 in the rows are
// those of the scope that the entry was bound in: the entries to its left, if there are any.
type item struct {
	node    logical.Node
	sources []*source
}

// from binds the entries of FROM; none is one row without columns.
func (b *binder) from(list []ast.TableExpr, parent *scope) (*item, error) {
	if len(list) == 0 {
		return &item{node: logical.NewUnit()}, nil
	}
	before := b.base
	b.base = parent
	defer func() { b.base = before }()
	var acc *item
	for _, e := range list {
		outer := parent
		if acc != nil {
			outer = &scope{parent: parent, sources: acc.sources}
		}
		it, err := b.tableExpr(e, outer)
		if err != nil {
			return nil, err
		}
		if acc == nil {
			acc = it
			continue
		}
		if acc, err = beside(acc, it, ast.Pos(e.Position())); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// beside is the rows of left beside those of right, which may depend on left's.
func beside(left, right *item, pos ast.Pos) (*item, error) {
	sources, err := sideBySide(left, right, pos)
	if err != nil {
		return nil, err
	}
	if lateral(right.node) {
		return &item{logical.NewApply(logical.ApplyInner, left.node, right.node), sources}, nil
	}
	return &item{logical.NewJoin([]logical.Node{left.node, lowered(right.node)}), sources}, nil
}

// lateral says whether an entry's rows depend on those to its left.
func lateral(n logical.Node) bool { return logical.OuterUsed(n, 1).Len() > 0 }

// lowered is an entry that does not depend on those to its left: the scope they make is no level around it.
func lowered(n logical.Node) logical.Node {
	return logical.MapOuter(n, func(o *scalar.Outer) scalar.Expr {
		return &scalar.Outer{Level: o.Level - 1, Index: o.Index, T: o.T}
	})
}

// sideBySide is the names of left, then those of right, whose columns come behind left's.
func sideBySide(left, right *item, pos ast.Pos) ([]*source, error) {
	out := make([]*source, 0, len(left.sources)+len(right.sources))
	for _, src := range left.sources {
		own := *src
		out = append(out, &own)
	}
	at := logical.Arity(left.node)
	for _, src := range right.sources {
		for _, l := range left.sources {
			if src.name != "" && src.qualified && l.qualified && src.name == l.name && sameQualifiers(src, l) {
				return nil, fail(pos, pgerr.DuplicateAlias, "table name \"%s\" specified more than once", src.name)
			}
		}
		moved := *src
		moved.cols = make([]column, len(src.cols))
		for i, c := range src.cols {
			moved.cols[i] = column{c.name, logical.Shift(c.expr, at)}
		}
		out = append(out, &moved)
	}
	return out, nil
}

// sameQualifiers: two relations of one name but of two schemas may stand beside each other.
func sameQualifiers(a, b *source) bool {
	return a.item == nil || b.item == nil || a.item.Schema == b.item.Schema
}

// hide is the scopes of entries to the left for an entry that may not name them.
func (b *binder) hide(s *scope) *scope {
	if s == b.base {
		return s
	}
	return &scope{parent: b.hide(s.parent), sources: s.sources, more: s.more, hidden: true}
}

// tableExpr binds one entry of FROM.
func (b *binder) tableExpr(e ast.TableExpr, outer *scope) (*item, error) {
	switch e := e.(type) {
	case *ast.TableRef:
		return b.tableRef(e, outer)
	case *ast.Derived:
		return b.derived(e, outer)
	case *ast.TableFunc:
		return b.fromFunc(e, outer)
	case *ast.Join:
		return b.join(e, outer)
	}
	return nil, unsupported(ast.Pos(e.Position()), "this form of FROM")
}

// named is an item whose columns are n's, called as the alias says.
func named(n logical.Node, names []string, name string, alias *ast.Alias) (*item, error) {
	src := &source{name: name, bare: true, qualified: true}
	for i, c := range names {
		src.cols = append(src.cols, column{c, logical.ColOf(n, i)})
	}
	it := &item{n, []*source{src}}
	if alias == nil {
		return it, nil
	}
	if alias.Name != "" {
		src.name = alias.Name
	}
	if alias.Defs != nil {
		return nil, unsupported(alias.Pos, "a column definition list")
	}
	if len(alias.Columns) > len(src.cols) {
		return nil, fail(alias.Pos, pgerr.InvalidColumnReference, "table \"%s\" has %d columns available but %d columns specified",
			src.name, len(src.cols), len(alias.Columns))
	}
	for i, c := range alias.Columns {
		src.cols[i].name = c
	}
	return it, nil
}

func (b *binder) tableRef(e *ast.TableRef, outer *scope) (*item, error) {
	if len(e.Name.Parts) == 1 {
		if c := b.findCTE(e.Name.Object()); c != nil {
			names := make([]string, len(c.cols))
			for i, col := range c.cols {
				names[i] = col.name
			}
			return named(c.refer(outer), names, c.name, e.Alias)
		}
	}
	it, err := b.relation(e.Name)
	if err != nil {
		return nil, err
	}
	if b.noted != nil {
		b.noted.tables[e] = it
	}
	n, err := b.contents(it)
	if err != nil {
		return nil, err
	}
	out, err := named(n, it.Rel.Names(), it.Name, e.Alias)
	if err == nil && (it.Kind == catalog.Table || it.Kind == catalog.MaterializedView || it.Kind == catalog.SystemTable) {
		out.sources[0].stored = it
	}
	if err == nil && e.Alias == nil {
		out.sources[0].item = it
	} else if err == nil && out.sources[0].name != it.Name {
		out.sources[0].hiddenItem = it
	}
	return out, err
}

// relation finds what a name in FROM means.
func (b *binder) relation(n ast.Name) (*catalog.Item, error) {
	name := catalogName(n)
	it, err := b.env.Catalog.Relation(b.path, name)
	return it, at(err, n.Pos)
}

func catalogName(n ast.Name) catalog.Name {
	return catalog.Name{Database: n.Database(), Schema: n.Schema(), Item: n.Object()}
}

// contents is the rows of a relation: read as they are, or by the query of a view.
func (b *binder) contents(it *catalog.Item) (logical.Node, error) {
	if !it.Kind.IsView() || b.env.Stored != nil && b.env.Stored(it) {
		return b.get(it), nil
	}
	return b.view(it)
}

// get reads a relation as it is.
func (b *binder) get(it *catalog.Item) *logical.Get {
	rows := int64(0)
	if b.env.Rows != nil {
		rows = b.env.Rows(it)
	}
	return logical.NewGet(it.ID, b.env.Catalog.FullName(it), it.Rel, rows)
}

// inlinedView is a view that was bound already.
type inlinedView struct {
	node logical.Node
	size int
	// let is the Let that names it once it is no longer copied; 0 before.
	let int
}

// maxInlined is how many operators the views of one statement may bring in by being copied to every place
// where they are named, where conditions there can make them smaller. Past it they are shared: views on views,
// each of which names another twice, would double at every step.
const maxInlined = 1000

// view is the query of a view, bound without the names of the session.
func (b *binder) view(it *catalog.Item) (logical.Node, error) {
	v := b.views[it.ID]
	if v == nil {
		r, err := b.viewQuery(it)
		if err != nil {
			return nil, err
		}
		v = &inlinedView{node: r.rows()}
		logical.Walk(v.node, func(logical.Node) bool { v.size++; return true })
		b.views[it.ID] = v
	}
	if b.inlined += v.size; b.inlined <= maxInlined {
		return v.node, nil
	}
	if v.let == 0 {
		v.let = b.newLet()
		b.shared = append(b.shared, v)
	}
	return logical.NewLetRef(v.let, v.node), nil
}

// closed is a statement's whole tree, with the Lets of shared views around it. One that uses another was made
// after it.
func (b *binder) closed(n logical.Node) logical.Node {
	for i := len(b.shared) - 1; i >= 0; i-- {
		n = logical.NewLet(b.shared[i].let, b.shared[i].node, n)
	}
	return n
}

func (b *binder) viewQuery(it *catalog.Item) (*relation, error) {
	text := b.env.Catalog.SQL(it.Query)
	list, err := parser.Parse(text)
	if err != nil {
		return nil, stored(err, it)
	}
	query, ok := list[0].AST.(*ast.Query)
	if !ok || len(list) != 1 {
		return nil, pgerr.Newf(pgerr.InternalError, "view %q is not a query", it.Name)
	}
	path, ctes, noted := b.path, b.ctes, b.noted
	b.path, b.ctes, b.noted = catalog.Path{}, nil, nil
	defer func() { b.path, b.ctes, b.noted = path, ctes, noted }()
	r, err := b.query(query, nil)
	if err == nil {
		err = r.settle(b)
	}
	if err != nil {
		return nil, stored(err, it)
	}
	if len(r.cols) != len(it.Rel.Cols) {
		return nil, pgerr.Newf(pgerr.InternalError, "view %q has %d columns, not %d", it.Name, len(r.cols), len(it.Rel.Cols))
	}
	return r, nil
}

// stored is an error in the text of a view: its position is not one in the client's text.
func stored(err error, it *catalog.Item) error {
	e := *pgerr.From(err)
	e.Position = 0
	e.Message += " (in view \"" + it.Name + "\")"
	return &e
}

func (b *binder) derived(e *ast.Derived, outer *scope) (*item, error) {
	if _, isShow := e.Query.Body.(*ast.ShowObjects); e.Alias == nil && !isShow {
		return nil, fail(e.Pos, pgerr.SyntaxError, "subquery in FROM must have an alias").
			WithHint("For example, FROM (SELECT ...) [AS] foo.")
	}
	parent := outer
	if !e.Lateral {
		parent = b.hide(outer)
	}
	r, err := b.query(e.Query, parent)
	if err != nil {
		return nil, err
	}
	if err := r.settle(b); err != nil {
		return nil, err
	}
	names := make([]string, len(r.cols))
	for i, c := range r.cols {
		names[i] = c.name
	}
	return named(r.rows(), names, "", e.Alias)
}

// fromFunc binds functions in FROM, which may use the entries to the left.
func (b *binder) fromFunc(e *ast.TableFunc, outer *scope) (*item, error) {
	q := b.newQuery(outer, nil)
	q.clause = inFrom
	var parts []calledTable
	for _, c := range e.Calls {
		if c.Defs != nil {
			return nil, unsupported(e.Pos, "a column definition list")
		}
		p, err := q.callTable(c.Call)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	node, cols, err := q.zipped(parts, e.Ordinality)
	if err != nil {
		return nil, err
	}
	name := figureName(e.Calls[0].Call)
	// A function that gives one plain column calls it as the alias calls the function.
	if len(parts) == 1 && parts[0].plain && e.Alias != nil && e.Alias.Name != "" {
		cols[0] = e.Alias.Name
	}
	if e.Ordinality {
		cols = append(cols, "ordinality")
	}
	return named(node, cols, name, e.Alias)
}

// calledTable is a call in FROM, or of a set-returning function elsewhere; its arguments are over no row.
type calledTable struct {
	fn   *scalar.TableFunc // nil: value is a plain value, in one row
	args []scalar.Expr
	cols []types.Column
	// value is a call that gives one value.
	value scalar.Expr
	// in is the one row that the arguments are over.
	in logical.Node
	// plain: there is one column, which has no name of its own.
	plain bool
}

func (q *query) callTable(e ast.Expr) (calledTable, error) {
	call, ok := e.(*ast.Call)
	if ok {
		name, err := functionName(call.Func)
		if err != nil {
			return calledTable{}, err
		}
		if len(fn.Table(name)) > 0 {
			args, err := q.exprs(call.Args)
			if err != nil {
				return calledTable{}, err
			}
			f, args, err := q.b.tableFunc(name, args, call)
			if err != nil {
				return calledTable{}, err
			}
			cols := slices.Clone(f.Func.Cols)
			plain := len(cols) == 1
			if plain && cols[0].Name == "" {
				cols[0].Name = name
			}
			return calledTable{fn: f.Func, args: args, cols: cols, plain: plain}, nil
		}
	}
	v, err := q.expr(e)
	if err != nil {
		return calledTable{}, err
	}
	if v, err = q.b.settle(v, posOf(e)); err != nil {
		return calledTable{}, err
	}
	if len(q.aggs) > 0 {
		return calledTable{}, q.notAllowed("aggregate functions", pgerr.GroupingError, posOf(e))
	}
	cols := []types.Column{{Name: figureName(e), Type: v.Type(), Nullable: true}}
	return calledTable{value: v, cols: cols, plain: true}, nil
}

// zipped is the rows of several functions side by side, the shorter ones filled up with NULLs.
func (q *query) zipped(parts []calledTable, ordinality bool) (logical.Node, []string, error) {
	var names []string
	for i := range parts {
		p := &parts[i]
		for _, c := range p.cols {
			names = append(names, c.Name)
		}
		// Subqueries among the arguments are computed first.
		placed := q.placing(logical.NewUnit())
		p.args = placed.exprs(p.args)
		if p.value != nil {
			p.value = placed.expr(p.value)
		}
		if p.in = placed.rel; placed.err != nil {
			return nil, nil, placed.err
		}
	}
	if len(parts) == 1 {
		return parts[0].node(ordinality), names, nil
	}
	n := zip(parts)
	if !ordinality {
		n = logical.NewProject(n, logical.Identity(logical.Arity(n)-1))
	}
	return n, names, nil
}

// zip joins the rows of functions by their numbers; the number is the last column.
func zip(parts []calledTable) logical.Node {
	var n logical.Node
	for _, p := range parts {
		next := p.node(true)
		if n == nil {
			n = next
			continue
		}
		l, r := logical.Arity(n), logical.Arity(next)
		a, b := logical.ColOf(n, l-1), &scalar.Col{Index: l + r - 1, T: types.TInt8}
		join := logical.NewOuterJoin(true, n, next, logical.Equals(a, b))
		number := &scalar.Coalesce{Args: []scalar.Expr{a, b}, T: types.TInt8}
		cols := append(logical.Identity(l-1), logical.Range(l, l+r-1)...)
		n = logical.NewProject(logical.NewMap(join, number), append(cols, l+r))
	}
	return n
}

// node is the rows of one function.
func (p *calledTable) node(ordinality bool) logical.Node {
	m := logical.Arity(p.in)
	var n logical.Node
	if p.fn == nil {
		exprs := []scalar.Expr{p.value}
		if ordinality {
			exprs = append(exprs, &scalar.Const{Value: intDatum(1), T: types.TInt8})
		}
		n = logical.NewMap(p.in, exprs...)
	} else {
		cols := slices.Clone(p.cols)
		if ordinality {
			cols = append(cols, types.Column{Name: "ordinality", Type: types.TInt8})
		}
		n = logical.NewTableFunc(p.in, p.fn, p.args, ordinality, cols)
	}
	return logical.NewProject(n, logical.Range(m, logical.Arity(n)))
}
