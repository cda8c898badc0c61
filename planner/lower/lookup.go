package lower

import (
	"slices"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Index is an index that a query may use.
type Index struct {
	ID tvc.ID
	// Key is what it is ordered by, over the columns of the relation it is on.
	Key []scalar.Expr
}

// maxKeys bounds how many keys a lookup has, when several parts are given as lists.
const maxKeys = 1 << 12

// Lookup finds a query that an index answers by itself: maps, filters and projections over a relation that
// has one. Of several indexes the one is taken of whose key most is given; indexes lists those of a relation.
func Lookup(n logical.Node, indexes func(tvc.ID) []Index) (*plan.Lookup, bool) {
	base, m := fused(n)
	get, ok := base.(*logical.Get)
	if !ok {
		return nil, false
	}
	var best *plan.Lookup
	bestParts := -1
	for _, ix := range indexes(get.ID) {
		keys, used := keysOf(ix, m.Filter)
		parts := 0
		if keys != nil {
			parts = len(ix.Key)
		}
		if parts <= bestParts {
			continue
		}
		rest := scalar.MFP{Arity: m.Arity, Map: m.Map, Project: m.Project}
		for i, p := range m.Filter {
			if keys == nil || !used[i] {
				rest.Filter = append(rest.Filter, p)
			}
		}
		best, bestParts = &plan.Lookup{Index: ix.ID, Keys: keys, MFP: rest}, parts
	}
	return best, best != nil
}

// keysOf gives the keys that the conditions ask for, sorted, and which conditions that settles; nil if some
// part of the key is not given.
func keysOf(ix Index, preds []scalar.Expr) (*vec.Block, []bool) {
	used := make([]bool, len(preds))
	sets := make([][]vec.Datum, len(ix.Key))
	total := 1
	for i, part := range ix.Key {
		given := false
		for j, p := range preds {
			values, ok := valuesOf(p, part)
			if !ok {
				continue
			}
			used[j] = true
			if given {
				values = slices.DeleteFunc(values, func(d vec.Datum) bool { return !slices.ContainsFunc(sets[i], d.Equal) })
			}
			sets[i], given = values, true
		}
		total *= len(sets[i])
		if !given || total > maxKeys {
			return nil, nil
		}
	}
	return product(ix.Key, sets, total), used
}

// valuesOf gives the values, ascending, that a condition allows an expression.
func valuesOf(p, part scalar.Expr) ([]vec.Datum, bool) {
	if in, ok := p.(*scalar.In); ok && scalar.Equal(in.Arg, part) {
		return slices.Clone(in.Set), true
	}
	a, b, ok := logical.Equation(p)
	if !ok || logical.IsNullEq(p) {
		return nil, false
	}
	if scalar.Equal(b, part) {
		a, b = b, a
	}
	k, isConst := b.(*scalar.Const)
	if !isConst || k.Value.IsNull() || !scalar.Equal(a, part) {
		return nil, false
	}
	return []vec.Datum{k.Value}, true
}

// product lists all combinations, the last part changing fastest.
func product(key []scalar.Expr, sets [][]vec.Datum, total int) *vec.Block {
	kinds := make([]types.Kind, len(key))
	for i, e := range key {
		kinds[i] = e.Type().Kind()
	}
	rows := vec.NewBlock(kinds, total)
	row := make([]vec.Datum, len(key))
	var fill func(i int)
	fill = func(i int) {
		if i == len(key) {
			rows.AppendRow(1, row...)
			return
		}
		for _, d := range sets[i] {
			row[i] = d
			fill(i + 1)
		}
	}
	fill(0)
	return rows
}
