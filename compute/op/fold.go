package op

import (
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// maxFoldRows bounds the rows an aggregate that reads its whole group takes in.
const maxFoldRows = 1 << 26

// fold keeps an aggregate that must be computed from all rows of its group: the group's rows, arranged by
// group, the aggregate's ORDER BY and all bytes, and what was emitted for each group.
type fold struct {
	agg     *Agg
	share   *reduceShare
	env     scalar.Env
	order   *row.Key // the ORDER BY columns, then the arguments, so that ties go by bytes
	args    *row.Value
	kinds   []types.Kind
	rowsOf  sorted
	upper   tvc.Frontier
	emitted map[int32]foldResult
	next    foldResult
	mask    []int32
	rows    scalar.Rows
	last    []byte
}

type foldResult struct {
	value vec.Datum
	err   error
}

func newFold(kinds []types.Kind, a *Agg, s *reduceShare, env scalar.Env) *fold {
	f := &fold{agg: a, share: s, env: env, args: row.NewValue(kinds, a.Args), emitted: map[int32]foldResult{}}
	var cols []row.KeyCol
	for _, o := range a.Order {
		cols = append(cols, row.KeyCol{Col: o.Col, Kind: kinds[o.Col], Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	for _, c := range a.Args {
		cols = append(cols, row.KeyCol{Col: c, Kind: kinds[c]})
		f.kinds = append(f.kinds, kinds[c])
	}
	f.order = row.NewKey(cols)
	for _, k := range f.kinds {
		f.rows.Args = append(f.rows.Args, vec.New(k, 0))
	}
	return f
}

func (f *fold) absorb(b *vec.Block, groups []int32) {
	to := f.rowsOf.adding(f.share.tick.At)
	if f.agg.Filter >= 0 {
		f.mask = filterGroups(b, f.agg.Filter, groups, f.mask)
		groups = f.mask
	}
	for i, g := range groups {
		if g < 0 || !f.agg.Func.KeepNulls && len(f.agg.Args) > 0 && b.Cols[f.agg.Args[0]].IsNull(i) {
			continue
		}
		to.Data = append(to.Data, f.share.table.Key(g)...)
		to.Data = f.order.Append(to.Data, b, i)
		to.Data = f.args.Append(to.Data, b, i)
		to.End(b.Diff(i), 0)
	}
}

func (f *fold) seal(t dataflow.Tick) {
	f.upper = t.Upper
	f.rowsOf.seal()
}

func (f *fold) before(_ *dataflow.Lane, _ int, g int32, _ int64) (vec.Datum, error) {
	r := f.emitted[g] // there since the group's first commit
	return r.value, r.err
}

func (f *fold) after(lane *dataflow.Lane, _ int, g int32, _ int64) (vec.Datum, error) {
	key := f.share.table.Key(g)
	for i := range f.rows.Args {
		f.rows.Args[i].Reset()
	}
	f.rows.N, f.last = 0, f.last[:0]
	cur := &f.rowsOf.all
	cur.Seek(key, nil)
	for cur.Next() {
		lane.Reads++
		if err := f.take(cur.Row()[len(key):], cur.Diff()); err != nil {
			f.next = foldResult{err: err}
			return vec.Null, err
		}
	}
	f.next = f.fold()
	return f.next.value, f.next.err
}

// take adds one arranged row, as often as it counts, to what is folded.
func (f *fold) take(bytes []byte, diff int64) error {
	if diff < 0 {
		return negative(f.share.name)
	}
	args := bytes[f.order.Skip(bytes):]
	if f.agg.Distinct {
		// Rows with equal arguments need not stand together if the ORDER BY is by something else; PostgreSQL
		// demands that it is by the arguments.
		if f.rows.N > 0 && string(f.last) == string(args) {
			return nil
		}
		f.last = append(f.last[:0], args...)
		diff = 1
	}
	if diff > maxFoldRows-int64(f.rows.N) {
		return pgerr.Newf(pgerr.ProgramLimitExceeded, "%s over more than %d rows", f.agg.Func.Name, maxFoldRows)
	}
	var few [4]*vec.Vec
	dst := few[:0]
	for i := range f.rows.Args {
		dst = append(dst, &f.rows.Args[i])
	}
	for range diff {
		f.args.Decode(args, dst)
	}
	f.rows.N += int(diff)
	return nil
}

func (f *fold) fold() foldResult {
	v, err := f.agg.Func.Fold(f.env, &f.rows)
	return foldResult{value: v.Clone(), err: err}
}

func (f *fold) commit(g int32, gone bool) {
	if gone {
		delete(f.emitted, g)
	} else {
		f.emitted[g] = f.next
	}
}

func (f *fold) done() { f.rowsOf.done(f.upper) }
