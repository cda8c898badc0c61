package bind

import (
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// scope is the names of one row that an expression may see. The next one out is the row of the Apply around.
type scope struct {
	parent  *scope
	sources []*source
	// query is the query whose row it is: where aggregates over its columns belong. nil: they belong nowhere.
	query *query
	// more: the row is that of entries of FROM to the left, and so is the next scope's, of the same FROM: a name
	// that both have is ambiguous.
	more bool
	// hidden: nothing of it may be named; it only counts as a level.
	hidden bool
}

// source is an entry of FROM, or a part of one, as names see it.
type source struct {
	// name is the alias or the relation's own name; "" for a join without one.
	name string
	// item is set for a relation without alias, which schema and database may qualify.
	item *catalog.Item
	cols []column
	// bare: its columns may be named without it; qualified: with it.
	bare, qualified bool
	// missing: its row may not be there, being on the side of an outer join that may be missing.
	missing bool
	// hiddenItem is the relation whose own name the alias hides.
	hiddenItem *catalog.Item
	// stored is set for a relation that has tableoid, under whatever name.
	stored *catalog.Item
}

// column is a column as names see it.
type column struct {
	name string
	// expr is over the row of the scope: a column mostly, a COALESCE of two for those that FULL JOIN USING
	// merges.
	expr scalar.Expr
}

// found is what a name means: expr over the row of the scope that is level scopes out.
type found struct {
	expr  scalar.Expr
	level int
}

// outer is the expression as the innermost scope sees it.
func (f found) outer() scalar.Expr {
	if f.level == 0 {
		return f.expr
	}
	return scalar.Rewrite(f.expr, func(e scalar.Expr) scalar.Expr {
		if c, ok := e.(*scalar.Col); ok {
			return &scalar.Outer{Level: f.level, Index: c.Index, T: c.T}
		}
		return e
	})
}

// bareColumn looks a name without qualifier up, from the inside out; nil if there is no such column.
func (s *scope) bareColumn(name string, pos ast.Pos) (*found, error) {
	var hit *found
	for level := 0; s != nil; s, level = s.parent, level+1 {
		if !s.hidden {
			for _, src := range s.sources {
				if !src.bare {
					continue
				}
				for _, c := range src.cols {
					if c.name != name {
						continue
					}
					if hit != nil {
						return nil, fail(pos, pgerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
					}
					hit = &found{c.expr, level}
				}
				if e, ok := src.system(name); ok && hit == nil {
					hit = &found{e, level}
				} else if ok {
					return nil, fail(pos, pgerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
				}
			}
		}
		if hit != nil && !s.more {
			return hit, nil
		}
	}
	return hit, nil
}

// relation looks a qualifier up, from the inside out; nil if there is none.
func (s *scope) relation(b *binder, q []string, pos ast.Pos) (*source, int, error) {
	var hit *source
	hitLevel := 0
	for level := 0; s != nil; s, level = s.parent, level+1 {
		if !s.hidden {
			for _, src := range s.sources {
				if !src.qualified || !src.answersTo(b, q) {
					continue
				}
				if hit != nil {
					return nil, 0, fail(pos, pgerr.AmbiguousAlias, "table reference \"%s\" is ambiguous", q[len(q)-1])
				}
				hit, hitLevel = src, level
			}
		}
		if hit != nil && !s.more {
			return hit, hitLevel, nil
		}
	}
	return hit, hitLevel, nil
}

// answersTo says whether the qualifier, of one to three parts, means the source.
func (src *source) answersTo(b *binder, q []string) bool {
	last := q[len(q)-1]
	if src.name == "" || src.name != last {
		return false
	}
	if len(q) == 1 {
		return true
	}
	if src.item == nil {
		return false
	}
	schema := b.env.Catalog.Schema(src.item.Schema)
	if schema == nil || schema.Name != q[len(q)-2] {
		return false
	}
	if len(q) == 2 {
		return true
	}
	db := b.env.Catalog.DatabaseOf(src.item)
	return len(q) == 3 && db != nil && db.Name == q[0]
}

// system finds a system column by name, of which there is tableoid: its row's relation, NULL where an outer join has no
// row of it.
func (src *source) system(name string) (scalar.Expr, bool) {
	if name != "tableoid" || src.stored == nil {
		return nil, false
	}
	oid := &scalar.Const{Value: vec.IntOf(int64(src.stored.OID)), T: types.TOid}
	if !src.missing {
		return oid, true
	}
	nulls := make([]scalar.Expr, len(src.cols))
	for i, c := range src.cols {
		nulls[i] = &scalar.IsNull{Arg: c.expr}
	}
	return &scalar.Case{Whens: []scalar.When{{Cond: scalar.AndOf(nulls...), Then: logical.Null(oid.T)}}, Else: oid, T: oid.T}, true
}

// column finds a column of a source by name.
func (src *source) column(name string) (column, bool, bool) {
	var hit column
	n := 0
	for _, c := range src.cols {
		if c.name == name {
			hit = c
			n++
		}
	}
	return hit, n == 1, n > 1
}

// name resolves a column reference.
func (q *query) name(e *ast.Column) (scalar.Expr, error) {
	names := e.Names
	if len(names) == 1 {
		hit, err := q.sc.bareColumn(names[0], e.Pos)
		if err != nil {
			return nil, err
		}
		if hit != nil {
			return q.seen(hit.outer(), e.Pos), nil
		}
		// A relation's name stands for its whole row.
		src, level, err := q.sc.relation(q.b, names, e.Pos)
		if err != nil {
			return nil, err
		}
		if src != nil {
			return q.wholeRow(src, level, e.Pos)
		}
		return nil, q.noColumn(names[0], e.Pos)
	}
	qualifier, last := names[:len(names)-1], names[len(names)-1]
	src, level, err := q.sc.relation(q.b, qualifier, e.Pos)
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, q.noRelation(qualifier, e.Pos)
	}
	if noted := q.b.noted; noted != nil && len(names) > noted.keep {
		noted.columns = append(noted.columns, e)
	}
	c, ok, ambiguous := src.column(last)
	if ambiguous {
		return nil, fail(e.Pos, pgerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", last)
	}
	if sys, isSystem := src.system(last); !ok && isSystem {
		return found{sys, level}.outer(), nil
	}
	if !ok {
		err := fail(e.Pos, pgerr.UndefinedColumn, "column %s.%s does not exist", src.name, last)
		if near := q.near(last, src); near != "" {
			err = err.WithHint("Perhaps you meant to reference the column \"%s\".", near)
		}
		return nil, err
	}
	return q.seen(found{c.expr, level}.outer(), e.Pos), nil
}

// seen notes where a column stands in the text, for errors that are found later.
func (q *query) seen(e scalar.Expr, pos ast.Pos) scalar.Expr {
	switch c := e.(type) {
	case *scalar.Col:
		e = &scalar.Col{Index: c.Index, T: c.T}
	case *scalar.Outer:
		e = &scalar.Outer{Level: c.Level, Index: c.Index, T: c.T}
	default:
		return e
	}
	q.b.pos[e] = pos
	return e
}

// noColumn is the error for a name that means nothing, with a hint where a qualifier would help.
func (q *query) noColumn(name string, pos ast.Pos) error {
	err := fail(pos, pgerr.UndefinedColumn, "column \"%s\" does not exist", name)
	for s := q.sc; s != nil; s = s.parent {
		for _, src := range s.sources {
			if _, ok, _ := src.column(name); ok && src.name != "" && src.item != nil && (s.hidden || !src.bare) {
				return err.WithHint("There is a column named \"%s\" in table \"%s\", "+
					"but it cannot be referenced from this part of the query.", name, src.name)
			}
		}
	}
	if near := q.near(name, nil); near != "" {
		return err.WithHint("Perhaps you meant to reference the column \"%s\".", near)
	}
	return err
}

// near finds the one column, of a source if one is given, whose name is almost the one given.
func (q *query) near(name string, of *source) string {
	const most = 3
	best, bestName := most+1, ""
	for s := q.sc; s != nil; s = s.parent {
		if s.hidden {
			continue
		}
		for _, src := range s.sources {
			if src.name == "" || of != nil && src != of {
				continue
			}
			for _, c := range src.cols {
				d := distance(name, c.name, best)
				switch {
				case d < best && d <= len(name)/2:
					best, bestName = d, src.name+"."+c.name
				case d == best && d <= most:
					bestName = "" // two are as near: no hint
				}
			}
		}
	}
	return bestName
}

// distance counts the single-character changes between two names; anything past limit will do once it is
// more than that.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// noRelation is the error for a qualifier that means nothing.
func (q *query) noRelation(qualifier []string, pos ast.Pos) error {
	name := qualifier[len(qualifier)-1]
	for s := q.sc; s != nil; s = s.parent {
		for _, src := range s.sources {
			switch {
			case src.name == name && (len(qualifier) > 1 || s.hidden || !src.qualified):
				return fail(pos, pgerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", name).
					WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", name)
			case src.hiddenItem != nil && src.hiddenItem.Name == name && len(qualifier) == 1:
				return fail(pos, pgerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", name).
					WithHint("Perhaps you meant to reference the table alias \"%s\".", src.name)
			}
		}
	}
	return fail(pos, pgerr.UndefinedTable, "missing FROM-clause entry for table \"%s\"", strings.Join(qualifier, "."))
}

// recordOf is the type of a source's whole row.
func (src *source) recordOf() types.T {
	r := &types.Record{}
	for _, c := range src.cols {
		r.Fields = append(r.Fields, types.Field{Name: c.name, Type: c.expr.Type()})
	}
	return types.T{OID: types.OIDRecord, Mod: types.NoMod, Record: r}
}
