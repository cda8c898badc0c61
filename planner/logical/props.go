package logical

import (
	"slices"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// maxKeys bounds how many keys a node remembers: the first found are the smallest and the most useful, and
// pairing the keys of many inputs would multiply them.
const maxKeys = 6

// addKey adds a key (ascending positions) unless a subset of it is one already; keys that contain it go.
func addKey(keys [][]int, key []int) [][]int {
	out := make([][]int, 0, len(keys)+1)
	for _, k := range keys {
		if subset(k, key) {
			return keys
		}
		if !subset(key, k) {
			out = append(out, k)
		}
	}
	if len(out) >= maxKeys && len(key) > 0 {
		return keys
	}
	return append(out, key)
}

// subset says whether all of a, ascending, is in b, ascending.
func subset(a, b []int) bool {
	j := 0
	for _, x := range a {
		for j < len(b) && b[j] < x {
			j++
		}
		if j == len(b) || b[j] != x {
			return false
		}
	}
	return true
}

func sortedCopy(cols []int) []int {
	s := slices.Clone(cols)
	slices.Sort(s)
	return slices.Compact(s)
}

// HasKey says whether no two rows agree on the given columns.
func HasKey(r *types.Rel, cols []int) bool {
	s := SetOf(cols...)
	for _, k := range r.Keys {
		if s.HasAll(k) {
			return true
		}
	}
	return false
}

// constantKeys: at most one row has the empty key.
func constantKeys(rows *vec.Block) [][]int {
	if rows.Len == 0 || rows.Len == 1 && rows.Diff(0) == 1 {
		return [][]int{{}}
	}
	return nil
}

// projectKeys is what is left of keys when only the given columns are kept, in their new positions.
func projectKeys(keys [][]int, cols []int) [][]int {
	var out [][]int
next:
	for _, k := range keys {
		nk := make([]int, 0, len(k))
		for _, c := range k {
			at := slices.Index(cols, c)
			if at < 0 {
				continue next
			}
			nk = append(nk, at)
		}
		out = addKey(out, sortedCopy(nk))
	}
	return out
}

// pairKeys: a key of each side, side by side, is a key of pairs.
func pairKeys(left, right [][]int, shift int) [][]int {
	var out [][]int
	for _, l := range left {
		for _, r := range right {
			k := slices.Clone(l)
			for _, c := range r {
				k = append(k, c+shift)
			}
			out = addKey(out, k)
		}
	}
	return out
}

// filterRel is what is known of rows that passed the predicates.
func filterRel(in *types.Rel, preds []scalar.Expr) types.Rel {
	r := types.Rel{Cols: slices.Clone(in.Cols), Keys: in.Keys}
	refine(r.Cols, preds)
	fixed := Set{}
	for _, p := range preds {
		if a, b, ok := Equation(p); ok {
			if c, isCol := a.(*scalar.Col); isCol && Fixed(b) {
				fixed.Add(c.Index)
			} else if c, isCol := b.(*scalar.Col); isCol && Fixed(a) {
				fixed.Add(c.Index)
			}
		}
	}
	if fixed.Len() == 0 {
		return r
	}
	r.Keys = nil
	for _, k := range in.Keys {
		r.Keys = addKey(r.Keys, slices.DeleteFunc(slices.Clone(k), fixed.Has))
	}
	return r
}

// refine notes which columns cannot be NULL where all predicates are true.
func refine(cols []types.Column, preds []scalar.Expr) {
	s := NotNull(preds)
	for _, c := range s.Cols() {
		if c < len(cols) {
			cols[c].Nullable = false
		}
	}
}

// NotNull is the set of columns that have no NULL in a row for which all predicates are true.
func NotNull(preds []scalar.Expr) Set {
	var s Set
	for _, p := range preds {
		if inner, ok := Negated(p); ok {
			if n, ok := inner.(*scalar.IsNull); ok {
				strictCols(n.Arg, &s)
				continue
			}
		}
		strictCols(p, &s)
	}
	return s
}

// StrictIn is the set of columns of which a NULL makes e NULL.
func StrictIn(e scalar.Expr) Set {
	var s Set
	strictCols(e, &s)
	return s
}

// strictCols adds the columns whose NULL would make e NULL.
func strictCols(e scalar.Expr, s *Set) {
	switch e := e.(type) {
	case *scalar.Col:
		s.Add(e.Index)
	case *scalar.Call:
		if e.Func.Strict {
			for _, a := range e.Args {
				strictCols(a, s)
			}
		}
	case *scalar.In:
		strictCols(e.Arg, s)
	case *scalar.Or:
		strictInAll(e.Args, s)
	}
}

// strictInAll adds the columns whose NULL makes each of es NULL (and so their disjunction).
func strictInAll(es []scalar.Expr, s *Set) {
	var all Set
	for i, e := range es {
		var one Set
		for _, c := range scalar.Conjuncts(e) {
			strictCols(c, &one)
		}
		if i == 0 {
			all = one
			continue
		}
		for _, c := range all.Cols() {
			if !one.Has(c) {
				all.Remove(c)
			}
		}
	}
	s.AddAll(all)
}

// Nullable says whether e may be NULL for some row of r.
func Nullable(e scalar.Expr, r *types.Rel) bool {
	return scalar.Nullable(e, func(c int) bool { return r.Cols[c].Nullable })
}

// joinKeys finds keys of an inner join: a key of one input is a key of the whole if the equations lead from
// it to a key of every other input; failing that, keys side by side are one, less those equations make
// superfluous.
func joinKeys(ins []Node, preds []scalar.Expr) [][]int {
	starts := make([]int, len(ins)+1)
	for i, in := range ins {
		if len(in.Rel().Keys) == 0 {
			return nil
		}
		starts[i+1] = starts[i] + Arity(in)
	}
	eqs := columnEquations(preds)
	var keys [][]int
	var all []int
	for i, in := range ins {
		for _, k := range in.Rel().Keys {
			key := shifted(k, starts[i])
			if determines(key, ins, starts, eqs) {
				keys = addKey(keys, key)
			}
		}
		all = append(all, shifted(in.Rel().Keys[0], starts[i])...)
	}
	if len(keys) > 0 {
		return keys
	}
	for _, c := range slices.Clone(all) {
		less := slices.DeleteFunc(slices.Clone(all), func(x int) bool { return x == c })
		if determines(less, ins, starts, eqs) {
			all = less
		}
	}
	return addKey(nil, all)
}

func shifted(cols []int, by int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = c + by
	}
	return out
}

// columnEquations are the predicates of the form column = column; a column equal to a constant is paired
// with itself and -1.
func columnEquations(preds []scalar.Expr) [][2]int {
	var eqs [][2]int
	for _, p := range preds {
		a, b, ok := Equation(p)
		if !ok {
			continue
		}
		ca, aCol := a.(*scalar.Col)
		cb, bCol := b.(*scalar.Col)
		switch {
		case aCol && bCol:
			eqs = append(eqs, [2]int{ca.Index, cb.Index})
		case aCol && Fixed(b):
			eqs = append(eqs, [2]int{ca.Index, -1})
		case bCol && Fixed(a):
			eqs = append(eqs, [2]int{cb.Index, -1})
		}
	}
	return eqs
}

// determines says whether the values of the key columns fix the whole row of a join.
func determines(key []int, ins []Node, starts []int, eqs [][2]int) bool {
	known := SetOf(key...)
	done := make([]bool, len(ins))
	for left := len(ins); ; {
		before := known.Len() + left
		for _, e := range eqs {
			if e[1] < 0 || known.Has(e[1]) {
				known.Add(e[0])
			} else if known.Has(e[0]) {
				known.Add(e[1])
			}
		}
		for i, in := range ins {
			if done[i] {
				continue
			}
			for _, k := range in.Rel().Keys {
				if known.HasAll(shifted(k, starts[i])) {
					for c := starts[i]; c < starts[i+1]; c++ {
						known.Add(c)
					}
					done[i] = true
					left--
					break
				}
			}
		}
		if left == 0 {
			return true
		}
		if known.Len()+left == before {
			return false
		}
	}
}

// outerKeys: the left side's keys hold if each of its rows meets at most one of the right side.
func outerKeys(left, right Node, on []scalar.Expr) [][]int {
	if meetsOnce(left, right, on) {
		return left.Rel().Keys
	}
	return pairKeys(left.Rel().Keys, right.Rel().Keys, Arity(left))
}

func meetsOnce(left, right Node, on []scalar.Expr) bool {
	n := Arity(left)
	var met []int
	for _, e := range columnEquations(on) {
		a, b := e[0], e[1]
		if b >= 0 && a > b {
			a, b = b, a
		}
		switch {
		case b < 0 && a >= n:
			met = append(met, a-n)
		case a < n && b >= n:
			met = append(met, b-n)
		}
	}
	return HasKey(right.Rel(), met)
}

// MeetsOnce says whether no left row of an outer join meets more than one right row.
func MeetsOnce(n *OuterJoin) bool { return meetsOnce(n.Left(), n.Right(), n.On) }
