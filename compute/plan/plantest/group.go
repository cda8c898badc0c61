package plantest

import (
	"math"
	"slices"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// groups cuts rows by the given columns.
func groups(in Rows, cols []int) map[string][]Row {
	out := map[string][]Row{}
	for _, r := range in {
		key := make([]vec.Datum, len(cols))
		for i, c := range cols {
			key[i] = r.Data[c]
		}
		out[Key(key)] = append(out[Key(key)], r)
	}
	return out
}

func (e *eval) reduce(op *plan.Reduce, n *plan.Node, in Rows) Rows {
	keys := make([]int, op.Keys)
	for i := range keys {
		keys[i] = i
	}
	out := Rows{}
	for _, rows := range groups(in, keys) {
		total := int64(0)
		for _, r := range rows {
			total += r.Count
		}
		if total == 0 {
			continue
		}
		row := slices.Clone(rows[0].Data[:op.Keys])
		var wrong error
		for i, a := range op.Aggs {
			v, err := e.aggregate(&a, rows, total, n.Cols[op.Keys+i])
			if err != nil && wrong == nil {
				wrong = err
			}
			row = append(row, v.Clone())
		}
		if wrong != nil {
			e.fail(wrong, 1)
			continue
		}
		out.Add(row, 1)
	}
	return out
}

// aggregate computes one aggregate of a group from nothing.
func (e *eval) aggregate(a *plan.Agg, rows []Row, total int64, ret types.T) (vec.Datum, error) {
	type item struct {
		row   []vec.Datum
		args  []vec.Datum
		count int64
	}
	var items []item
	seen := map[string]bool{}
	for _, r := range rows {
		if a.Filter >= 0 && (r.Data[a.Filter].IsNull() || !r.Data[a.Filter].Bool()) {
			continue
		}
		it := item{row: r.Data, count: r.Count}
		for _, c := range a.Args {
			it.args = append(it.args, r.Data[c])
		}
		if a.Distinct {
			if seen[Key(it.args)] {
				continue
			}
			seen[Key(it.args)] = true
			it.count = 1
		}
		items = append(items, it)
	}
	slices.SortFunc(items, func(x, y item) int {
		for _, o := range a.Order {
			if c := orderDatum(x.row[o.Col], y.row[o.Col], o); c != 0 {
				return c
			}
		}
		return compare(x.args, y.args)
	})
	if a.Func.Order != scalar.NotOrdered {
		best := vec.Null
		for _, it := range items {
			v := it.args[0]
			if v.IsNull() {
				continue
			}
			if c := v.Compare(best); best.IsNull() || c < 0 && a.Func.Order == scalar.Min || c > 0 && a.Func.Order == scalar.Max {
				best = v
			}
		}
		return best, nil
	}
	kinds := make([]types.Kind, len(a.Args))
	for i, c := range a.Args {
		kinds[i] = kindOf(rows, c)
	}
	b := vec.NewBlock(kinds, 0)
	for _, it := range items {
		if a.Func.Fold != nil && !a.Func.KeepNulls && len(it.args) > 0 && it.args[0].IsNull() {
			continue
		}
		b.AppendRow(it.count, it.args...)
	}
	if a.Func.Fold != nil {
		return e.foldRows(a, b)
	}
	state := make([]uint64, a.Func.Accum.Words)
	args := make([]*vec.Vec, len(b.Cols))
	for i := range b.Cols {
		args[i] = &b.Cols[i]
	}
	a.Func.Accum.Update(state, len(state), 0, make([]int32, b.Len), args, b.Diffs)
	return a.Func.Accum.Result(state, total)
}

func (e *eval) foldRows(a *plan.Agg, b *vec.Block) (vec.Datum, error) {
	rows := scalar.Rows{}
	for _, c := range b.Cols {
		v := vec.New(c.Kind, 0)
		for i := range b.Len {
			for range b.Diff(i) {
				v.AppendFrom(&c, i)
			}
		}
		rows.Args = append(rows.Args, v)
	}
	for i := range b.Len {
		rows.N += int(b.Diff(i))
	}
	return a.Func.Fold(e.env, &rows)
}

// kindOf finds the kind of a column by its data; a column of NULLs alone may be anything.
func kindOf(rows []Row, col int) types.Kind {
	for _, r := range rows {
		if k := r.Data[col].Kind(); k != 0 {
			return k
		}
	}
	return types.Int
}

// orderDatum compares by one column of an ORDER BY.
func orderDatum(a, b vec.Datum, o plan.Order) int {
	if a.IsNull() || b.IsNull() {
		c := a.Compare(b) // NULL last
		if o.NullsFirst {
			return -c
		}
		return c
	}
	c := a.Compare(b)
	if o.Desc {
		return -c
	}
	return c
}

func (e *eval) topK(op *plan.TopK, in Rows) Rows {
	out := Rows{}
	for _, rows := range groups(in, op.Group) {
		slices.SortFunc(rows, func(x, y Row) int {
			for _, o := range op.Order {
				if c := orderDatum(x.Data[o.Col], y.Data[o.Col], o); c != 0 {
					return c
				}
			}
			return compare(x.Data, y.Data)
		})
		limit := op.Limit
		if limit < 0 {
			limit = math.MaxInt64 - op.Offset
		}
		at := int64(0)
		for _, r := range rows {
			if r.Count < 0 {
				e.fail(pgerr.New(pgerr.InternalError, "negative count"), 1)
				continue
			}
			lo, hi := max(at, op.Offset), min(at+r.Count, op.Offset+limit)
			if lo < hi {
				out.Add(r.Data, hi-lo)
			}
			at += r.Count
		}
	}
	return out
}
