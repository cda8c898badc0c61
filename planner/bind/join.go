package bind

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// join binds JOIN. The right side may use the left one's columns, but not if its rows come without a partner.
func (b *binder) join(e *ast.Join, outer *scope) (*item, error) {
	left, err := b.tableExpr(e.Left, outer)
	if err != nil {
		return nil, err
	}
	both := &scope{parent: outer, sources: left.sources, more: outer != b.base}
	if e.Kind == ast.RightJoin || e.Kind == ast.FullJoin {
		both.hidden = true
	}
	right, err := b.tableExpr(e.Right, both)
	if err != nil {
		return nil, err
	}
	sources, err := sideBySide(left, right, ast.Pos(e.Right.Position()))
	if err != nil {
		return nil, err
	}
	q := b.newQuery(b.hide(outer), sources)
	q.clause = inJoin
	q.columns = append(slices.Clip(left.node.Rel().Cols), right.node.Rel().Cols...)
	cond, merged, err := q.joinCondition(e, left, len(left.sources))
	if err != nil {
		return nil, err
	}
	node, err := q.joined(e, left.node, right.node, cond)
	if err != nil {
		return nil, err
	}
	markMissing(e.Kind, sources, len(left.sources))
	out := &item{node, sources}
	if merged != nil {
		out.sources = merged.sources(sources)
		if e.UsingAlias != "" {
			out.sources = append(out.sources, &source{name: e.UsingAlias, cols: merged.cols, qualified: true})
		}
	}
	if e.Alias != nil {
		return aliased(out, e.Alias)
	}
	return out, nil
}

// markMissing notes which sources' rows may be missing; the first n are the left side's.
func markMissing(kind ast.JoinKind, sources []*source, n int) {
	for i, src := range sources {
		if i < n && (kind == ast.RightJoin || kind == ast.FullJoin) || i >= n && (kind == ast.LeftJoin || kind == ast.FullJoin) {
			src.missing = true
		}
	}
}

// aliased hides the parts of a join in parentheses behind its alias.
func aliased(it *item, alias *ast.Alias) (*item, error) {
	src := &source{name: alias.Name, bare: true, qualified: true}
	for _, s := range it.sources {
		if s.bare {
			src.cols = append(src.cols, s.cols...)
		}
	}
	if len(alias.Columns) > len(src.cols) {
		return nil, fail(alias.Pos, pgerr.InvalidColumnReference, "table \"%s\" has %d columns available but %d columns specified",
			src.name, len(src.cols), len(alias.Columns))
	}
	src.cols = slices.Clone(src.cols)
	for i, c := range alias.Columns {
		src.cols[i].name = c
	}
	return &item{it.node, []*source{src}}, nil
}

// mergedCols are the columns that USING or NATURAL makes one of two.
type mergedCols struct {
	cols []column
	// used has the columns that they are made of, by source.
	used map[*source]map[string]bool
}

// sources is the names of the join: its columns bare, the merged ones first and once; those of its sides only
// qualified.
func (m *mergedCols) sources(sides []*source) []*source {
	all := &source{cols: slices.Clone(m.cols), bare: true}
	var out []*source
	for _, s := range sides {
		if s.bare {
			for _, c := range s.cols {
				if !m.used[s][c.name] {
					all.cols = append(all.cols, c)
				}
			}
		}
		hidden := *s
		hidden.bare = false
		if hidden.qualified {
			out = append(out, &hidden)
		}
	}
	return append([]*source{all}, out...)
}

// joinCondition binds ON, USING or NATURAL; n is the number of the left side's sources.
func (q *query) joinCondition(e *ast.Join, left *item, n int) (scalar.Expr, *mergedCols, error) {
	switch {
	case e.On != nil:
		cond, err := q.condition(e.On, "JOIN/ON")
		return cond, nil, err
	case e.Natural:
		return q.using(e, q.sharedNames(n), n)
	case e.Using != nil:
		return q.using(e, e.Using, n)
	}
	return scalar.True, nil, nil
}

// sharedNames are the columns' names that both sides have, in the left side's order.
func (q *query) sharedNames(n int) []ast.Ident {
	var names []ast.Ident
	for _, l := range q.sc.sources[:n] {
		if !l.bare {
			continue
		}
		for _, c := range l.cols {
			for _, r := range q.sc.sources[n:] {
				if _, ok, many := r.column(c.name); r.bare && (ok || many) {
					names = append(names, ast.Ident{Name: c.name})
					break
				}
			}
		}
	}
	return names
}

func (q *query) using(e *ast.Join, names []ast.Ident, n int) (scalar.Expr, *mergedCols, error) {
	m := &mergedCols{used: map[*source]map[string]bool{}}
	var conds []scalar.Expr
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(o ast.Ident) bool { return o.Name == name.Name }) {
			return nil, nil, fail(name.Pos, pgerr.DuplicateColumn, "column name \"%s\" appears more than once in USING clause", name.Name)
		}
		l, err := m.side(q.sc.sources[:n], name, "left")
		if err != nil {
			return nil, nil, err
		}
		r, err := m.side(q.sc.sources[n:], name, "right")
		if err != nil {
			return nil, nil, err
		}
		both, err := q.merge(e.Kind, l, r, name.Pos)
		if err != nil {
			return nil, nil, err
		}
		cond, err := q.operator("=", l, r, name.Pos, name.Pos, name.Pos)
		if err != nil {
			return nil, nil, err
		}
		conds = append(conds, cond)
		m.cols = append(m.cols, column{name.Name, both})
	}
	return scalar.AndOf(conds...), m, nil
}

// side finds a common column on one side.
func (m *mergedCols) side(sources []*source, name ast.Ident, which string) (scalar.Expr, error) {
	var hit scalar.Expr
	for _, s := range sources {
		if !s.bare {
			continue
		}
		c, ok, many := s.column(name.Name)
		if many || ok && hit != nil {
			return nil, fail(name.Pos, pgerr.AmbiguousColumn, "common column name \"%s\" appears more than once in %s table",
				name.Name, which)
		}
		if !ok {
			continue
		}
		hit = c.expr
		if m.used[s] == nil {
			m.used[s] = map[string]bool{}
		}
		m.used[s][name.Name] = true
	}
	if hit == nil {
		return nil, fail(name.Pos, pgerr.UndefinedColumn, "column \"%s\" specified in USING clause does not exist in %s table",
			name.Name, which)
	}
	return hit, nil
}

// merge is the one column of two: that of the side which is always there; in a full join, whichever is.
func (q *query) merge(kind ast.JoinKind, l, r scalar.Expr, pos ast.Pos) (scalar.Expr, error) {
	t, err := fn.CommonType("JOIN/USING", l.Type(), r.Type())
	if err != nil {
		return nil, at(err, pos)
	}
	if l.Type().Equal(r.Type()) {
		t = l.Type()
	}
	lt, err := q.b.implicit(l, t, pos)
	if err != nil {
		return nil, err
	}
	rt, err := q.b.implicit(r, t, pos)
	if err != nil {
		return nil, err
	}
	switch {
	case kind == ast.FullJoin:
		return &scalar.Coalesce{Args: []scalar.Expr{lt, rt}, T: t}, nil
	case kind == ast.RightJoin, kind == ast.InnerJoin && !l.Type().Equal(t) && r.Type().Equal(t):
		return rt, nil
	}
	return lt, nil
}

// joined puts a join together.
func (q *query) joined(e *ast.Join, left, right logical.Node, cond scalar.Expr) (logical.Node, error) {
	switch e.Kind {
	case ast.InnerJoin, ast.CrossJoin:
		var n logical.Node
		if lateral(right) {
			n = logical.NewApply(logical.ApplyInner, left, right)
		} else {
			n = logical.NewJoin([]logical.Node{left, lowered(right)})
		}
		p := q.placing(n)
		err := p.filter(cond)
		return p.rel, err
	case ast.LeftJoin:
		return q.leftJoin(left, right, cond)
	case ast.RightJoin:
		m, all := logical.Arity(left), logical.Arity(left)+logical.Arity(right)
		// The other way round, so that what may depend on the other side is on the right.
		swap := append(logical.Range(all-m, all), logical.Identity(all-m)...)
		q.moveRow(swap)
		cond = scalar.MapColumns(cond, func(c int) int { return moved(swap, c) })
		n, err := q.leftJoin(lowered(right), raised(left), cond)
		if err != nil {
			return nil, err
		}
		return logical.NewProject(n, append(logical.Range(all-m, all), logical.Identity(all-m)...)), nil
	}
	if hasVirtual(cond, subCol) {
		return nil, unsupported(posOf(e.On), "a subquery in the condition of a FULL JOIN")
	}
	return logical.NewOuterJoin(true, left, lowered(right), cond), nil
}

func moved(at []int, c int) int {
	if c < len(at) {
		return at[c]
	}
	return c
}

// raised is the contrary of lowered: one more scope is around.
func raised(n logical.Node) logical.Node {
	return logical.MapOuter(n, func(o *scalar.Outer) scalar.Expr {
		return &scalar.Outer{Level: o.Level + 1, Index: o.Index, T: o.T}
	})
}

// moveRow tells the subqueries bound so far that the columns of the row are elsewhere.
func (q *query) moveRow(at []int) {
	for i, s := range q.subs {
		q.subs[i].node = logical.MapOuter(s.node, func(o *scalar.Outer) scalar.Expr {
			if o.Level != 1 {
				return o
			}
			return &scalar.Outer{Level: 1, Index: moved(at, o.Index), T: o.T}
		})
	}
}

// leftJoin is LEFT JOIN; right is as it was bound, left being a scope around it.
func (q *query) leftJoin(left, right logical.Node, cond scalar.Expr) (logical.Node, error) {
	if !lateral(right) && !hasVirtual(cond, subCol) {
		return logical.NewOuterJoin(false, left, lowered(right), cond), nil
	}
	// The condition becomes one on the right side's rows, which sees the left side's row from within.
	m := logical.Arity(left)
	for i, s := range q.subs {
		q.subs[i].node = logical.MapOuter(s.node, func(o *scalar.Outer) scalar.Expr {
			if o.Level == 1 {
				return fromRight(m, 1, o.Index, o.T)
			}
			return &scalar.Outer{Level: o.Level + 1, Index: o.Index, T: o.T}
		})
	}
	cond = scalar.Rewrite(cond, func(e scalar.Expr) scalar.Expr {
		switch e := e.(type) {
		case *scalar.Col:
			return fromRight(m, 0, e.Index, e.T)
		case *scalar.Outer:
			return &scalar.Outer{Level: e.Level + 1, Index: e.Index, T: e.T}
		}
		return e
	})
	width := logical.Arity(right)
	p := q.placing(right)
	if err := p.filter(cond); err != nil {
		return nil, err
	}
	return logical.NewApply(logical.ApplyLeft, left, logical.NewProject(p.rel, logical.Identity(width))), nil
}

// fromRight is a column of the two sides' row, of which the first m are the left side's, once the right side's row is
// what is level scopes out, and the left side's one further.
func fromRight(m, level, index int, t types.T) scalar.Expr {
	switch {
	case index < m:
		level++
	case index < aggCol:
		index -= m
	}
	if level == 0 {
		return &scalar.Col{Index: index, T: t}
	}
	return &scalar.Outer{Level: level, Index: index, T: t}
}
