package bind

import (
	"slices"
	"strconv"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// output is one entry of a list of results, before it is a column.
type output struct {
	name string
	expr scalar.Expr
	pos  ast.Pos
}

// selection is a SELECT while it is bound.
type selection struct {
	*query
	ast    *ast.Select
	rel    logical.Node // the row that expressions are over, before grouping
	outs   []output
	groups []scalar.Expr
	having scalar.Expr
	// order has the keys of ORDER BY, and on those of DISTINCT ON, as places among outs; hidden outs stand
	// behind the first visible ones.
	order   []logical.Order
	on      []int
	visible int
}

// selectBody binds a SELECT with the ORDER BY that belongs to it. Its clauses are bound in PostgreSQL's order: of
// several errors the same one is told.
func (b *binder) selectBody(s *ast.Select, order []ast.OrderItem, parent *scope) (*relation, error) {
	if err := checkSelect(s); err != nil {
		return nil, err
	}
	f, err := b.from(s.From, parent)
	if err != nil {
		return nil, err
	}
	sel := &selection{query: b.newQuery(parent, f.sources), ast: s, rel: f.node}
	sel.columns = f.node.Rel().Cols
	for _, step := range []func() error{
		sel.bindItems, sel.bindWhere, sel.bindHaving, func() error { return sel.bindOrder(order) },
		func() error { return sel.bindGroupBy(s.GroupBy) }, sel.bindDistinctOn, sel.checkDistinct,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return sel.build()
}

func checkSelect(s *ast.Select) error {
	switch {
	case s.Windows != nil:
		return unsupported(s.Pos, "WINDOW")
	case s.Qualify != nil:
		return unsupported(posOf(s.Qualify), "QUALIFY")
	}
	return nil
}

func (s *selection) bindWhere() error {
	if s.ast.Where == nil {
		return nil
	}
	s.clause = inWhere
	cond, err := s.condition(s.ast.Where, "WHERE")
	if err != nil {
		return err
	}
	p := s.placing(s.rel)
	if err := p.filter(cond); err != nil {
		return err
	}
	s.rel = p.rel
	return nil
}

func (s *selection) bindItems() error {
	s.clause = inSelect
	outs, err := s.items(s.ast.Items)
	if err != nil {
		return err
	}
	s.outs, s.visible = outs, len(outs)
	return nil
}

// items binds a list of results.
func (q *query) items(items []ast.SelectItem) ([]output, error) {
	var outs []output
	for _, item := range items {
		if star, ok := item.Expr.(*ast.Star); ok {
			more, err := q.star(star)
			if err != nil {
				return nil, err
			}
			outs = append(outs, more...)
			continue
		}
		if f, ok := item.Expr.(*ast.Field); ok && f.Name == "" {
			more, err := q.fields(f)
			if err != nil {
				return nil, err
			}
			outs = append(outs, more...)
			continue
		}
		e, err := q.expr(item.Expr)
		if err != nil {
			return nil, err
		}
		name := item.Alias
		if name == "" {
			name = figureName(item.Expr)
		}
		outs = append(outs, output{name, e, posOf(item.Expr)})
	}
	if len(outs) > maxResults {
		return nil, checkResults(len(outs), outs[maxResults].pos)
	}
	return outs, nil
}

// starred finds the relation of t.*.
func (q *query) starred(e *ast.Star) (*source, int, error) {
	if noted := q.b.noted; noted != nil && len(e.Qualifier) >= noted.keep {
		noted.stars = append(noted.stars, e)
	}
	src, level, err := q.sc.relation(q.b, e.Qualifier, e.Pos)
	if err == nil && src == nil {
		err = q.noRelation(e.Qualifier, e.Pos)
	}
	return src, level, err
}

// star is * or t.* in a list of results, or in a row.
func (q *query) star(e *ast.Star) ([]output, error) {
	var outs []output
	if e.Qualifier != nil {
		src, level, err := q.starred(e)
		if err != nil {
			return nil, err
		}
		for _, c := range src.cols {
			outs = append(outs, output{c.name, q.seen(found{c.expr, level}.outer(), e.Pos), e.Pos})
		}
		return outs, nil
	}
	for _, src := range q.sc.sources {
		if !src.bare {
			continue
		}
		for _, c := range src.cols {
			outs = append(outs, output{c.name, q.seen(c.expr, e.Pos), e.Pos})
		}
	}
	if len(q.sc.sources) == 0 {
		return nil, fail(e.Pos, pgerr.SyntaxError, "SELECT * with no tables specified is not valid")
	}
	return outs, nil
}

// bindGroupBy: a bare name is a column of the input, else an output; a number is an output's place. A row without
// the word ROW is a list of keys.
func (s *selection) bindGroupBy(keys []ast.Expr) error {
	s.clause = inGroupBy
	for _, e := range keys {
		if row, ok := e.(*ast.Row); ok && !row.Explicit {
			if err := s.bindGroupBy(row.Items); err != nil {
				return err
			}
			continue
		}
		key, err := s.groupKey(e)
		if err != nil {
			return err
		}
		if key, err = s.b.settle(key, posOf(e)); err != nil {
			return err
		}
		if s.aggregates(key) {
			return s.notAllowed("aggregate functions", pgerr.GroupingError, posOf(e))
		}
		if hasVirtual(key, setCol) {
			return unsupported(posOf(e), "a set-returning function in GROUP BY")
		}
		if !slices.ContainsFunc(s.groups, func(g scalar.Expr) bool { return scalar.Equal(g, key) }) {
			s.groups = append(s.groups, key)
		}
	}
	return nil
}

func (s *selection) groupKey(e ast.Expr) (scalar.Expr, error) {
	switch e := e.(type) {
	case *ast.Column:
		if len(e.Names) > 1 {
			break
		}
		hit, err := s.sc.bareColumn(e.Names[0], e.Pos)
		if err != nil {
			return nil, err
		}
		if hit != nil && hit.level == 0 {
			break
		}
		if i, err := s.outputNamed(e.Names[0], "GROUP BY", e.Pos); err != nil || i >= 0 {
			if err != nil {
				return nil, err
			}
			return s.outs[i].expr, nil
		}
	case *ast.Literal:
		i, err := s.ordinal(e, "GROUP BY")
		if err != nil {
			return nil, err
		}
		return s.outs[i].expr, nil
	}
	return s.expr(e)
}

// outputNamed finds the output of a name; -1 if there is none. Two that are the same expression are one.
func (s *selection) outputNamed(name, clause string, pos ast.Pos) (int, error) {
	at := -1
	for i, o := range s.outs[:s.visible] {
		if o.name != name {
			continue
		}
		if at >= 0 && !scalar.Equal(s.outs[at].expr, o.expr) {
			return -1, fail(pos, pgerr.AmbiguousColumn, "%s \"%s\" is ambiguous", clause, name)
		}
		if at < 0 {
			at = i
		}
	}
	return at, nil
}

// ordinal finds the output at a place.
func (s *selection) ordinal(e *ast.Literal, clause string) (int, error) {
	return ordinal(e, clause, s.visible)
}

func ordinal(e *ast.Literal, clause string, n int) (int, error) {
	if e.Kind != ast.Number {
		return 0, fail(e.Pos, pgerr.SyntaxError, "non-integer constant in %s", clause)
	}
	i, err := strconv.Atoi(e.Text)
	if err != nil {
		return 0, fail(e.Pos, pgerr.SyntaxError, "non-integer constant in %s", clause)
	}
	if i < 1 || i > n {
		return 0, fail(e.Pos, pgerr.InvalidColumnReference, "%s position %d is not in select list", clause, i)
	}
	return i - 1, nil
}

func (s *selection) bindHaving() error {
	if s.ast.Having == nil {
		return nil
	}
	s.clause = inHaving
	var err error
	s.having, err = s.condition(s.ast.Having, "HAVING")
	return err
}

// bindOrder: a bare name is an output, else a column of the input; a number is an output's place.
func (s *selection) bindOrder(items []ast.OrderItem) error {
	s.clause = inOrderBy
	for _, o := range items {
		at := -1
		k, err := s.sortKey(o, func() (scalar.Expr, error) {
			var err error
			if at, err = s.sortOutput(o.Expr); err != nil || at >= 0 {
				return nil, err
			}
			return s.expr(o.Expr)
		})
		if err != nil {
			return err
		}
		if at < 0 {
			at = s.hidden(k.expr, posOf(o.Expr))
		}
		s.order = append(s.order, logical.Order{Col: at, Desc: k.desc, NullsFirst: k.nullsFirst})
	}
	return nil
}

// sortOutput finds the output that a sort key means by name or number; -1: none.
func (s *selection) sortOutput(e ast.Expr) (int, error) {
	switch e := e.(type) {
	case *ast.Column:
		if len(e.Names) == 1 {
			return s.outputNamed(e.Names[0], "ORDER BY", e.Pos)
		}
	case *ast.Literal:
		return s.ordinal(e, "ORDER BY")
	}
	return -1, nil
}

// hidden gives the place of an expression among the outputs, adding it behind them if it is not there.
func (s *selection) hidden(e scalar.Expr, pos ast.Pos) int {
	for i, o := range s.outs {
		if scalar.Equal(o.expr, e) {
			return i
		}
	}
	s.outs = append(s.outs, output{expr: e, pos: pos})
	return len(s.outs) - 1
}

// sortKey reads the direction of a sort key, whose expression key gives.
func (q *query) sortKey(o ast.OrderItem, key func() (scalar.Expr, error)) (sortKey, error) {
	k := sortKey{desc: o.Desc}
	if o.Using != nil {
		switch o.Using.Symbol {
		case "<":
		case ">":
			k.desc = true
		default:
			return k, fail(posOf(o.Expr), pgerr.WrongObjectType, "operator %s is not a valid ordering operator", o.Using.Symbol).
				WithHint("Ordering operators must be \"<\" or \">\" members of btree operator families.")
		}
	}
	k.nullsFirst = k.desc
	switch o.Nulls {
	case ast.NullsFirst:
		k.nullsFirst = true
	case ast.NullsLast:
		k.nullsFirst = false
	}
	e, err := key()
	if err != nil || e == nil {
		return k, err
	}
	k.expr, err = q.b.settle(e, posOf(o.Expr))
	return k, err
}

func (s *selection) bindDistinctOn() error {
	s.clause = inDistinctOn
	for _, e := range s.ast.DistinctOn {
		at, err := s.sortOutput(e)
		if err != nil {
			return err
		}
		if at < 0 {
			x, err := s.expr(e)
			if err != nil {
				return err
			}
			if x, err = s.b.settle(x, posOf(e)); err != nil {
				return err
			}
			at = s.hidden(x, posOf(e))
		}
		if !slices.Contains(s.on, at) {
			s.on = append(s.on, at)
		}
	}
	return nil
}

// checkDistinct: what is sorted by must be among what is distinct.
func (s *selection) checkDistinct() error {
	if s.ast.DistinctOn != nil {
		n := 0 // keys of ORDER BY that are among those of DISTINCT ON
		for i, o := range s.order {
			if !slices.Contains(s.on, o.Col) {
				break
			}
			n = i + 1
		}
		met := map[int]bool{}
		for _, o := range s.order[:n] {
			met[o.Col] = true
		}
		if n < len(s.order) && len(met) < len(s.on) {
			return fail(posOf(s.ast.DistinctOn[0]), pgerr.InvalidColumnReference,
				"SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
		return nil
	}
	if !s.ast.Distinct {
		return nil
	}
	for _, o := range s.order {
		if o.Col >= s.visible {
			return fail(s.outs[o.Col].pos, pgerr.InvalidColumnReference,
				"for SELECT DISTINCT, ORDER BY expressions must appear in select list")
		}
	}
	return nil
}

// grouped says whether the query groups.
func (s *selection) grouped() bool {
	return len(s.groups) > 0 || len(s.aggs) > 0 || s.having != nil
}

// build puts the query together.
func (s *selection) build() (*relation, error) {
	exprs := make([]scalar.Expr, len(s.outs))
	for i, o := range s.outs {
		exprs[i] = o.expr
	}
	p := s.placing(s.rel)
	if s.grouped() {
		g, err := s.group(s.rel, s.groups)
		if err != nil {
			return nil, err
		}
		p = g.placing()
		if s.having != nil {
			having, err := g.expr(s.having)
			if err != nil {
				return nil, err
			}
			if err := p.filter(having); err != nil {
				return nil, err
			}
		}
		for i, e := range exprs {
			if exprs[i], err = g.expr(e); err != nil {
				return nil, err
			}
		}
		if err := s.groupSets(g); err != nil {
			return nil, err
		}
	}
	exprs, err := s.placeSets(p, exprs)
	if err != nil {
		return nil, err
	}
	exprs = p.exprs(exprs)
	if p.err != nil {
		return nil, p.err
	}
	r := &relation{node: logical.Compute(p.rel, exprs...), order: s.order, visible: s.visible, scope: s.sc}
	for _, o := range s.outs[:s.visible] {
		r.cols = append(r.cols, relCol{name: o.name, t: o.expr.Type(), literal: unknownLiteral(o.expr), pos: o.pos})
	}
	switch {
	case s.ast.DistinctOn != nil:
		one := &scalar.Const{Value: intDatum(1), T: types.TInt8}
		r.node = logical.NewTopK(r.node, s.on, s.order, one, nil)
	case s.ast.Distinct:
		r.node = logical.NewDistinct(r.node)
	}
	return r, nil
}

// unknownLiteral is the expression itself if it is a literal that has no type yet; else nil.
func unknownLiteral(e scalar.Expr) scalar.Expr {
	if isUnknown(e) {
		return e
	}
	return nil
}
