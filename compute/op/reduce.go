package op

import (
	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Agg is one aggregate of a Reduce; see plan.Agg.
type Agg struct {
	Func     *scalar.Agg
	Args     []int
	Distinct bool
	Filter   int // -1: none
	Order    []Ordering
	// Kind is the kind of the result.
	Kind types.Kind
}

// Reduce gives one row for each group of its input that has rows: the key columns (the first Keys), then
// the aggregates. What it keeps for a group depends on the aggregate: a few words for what is a linear
// sum (accum.go), the group's values in order for MIN and MAX (ordered.go), the group's rows for what
// must be computed anew from all of them (fold.go).
//
// A share gathers a tick's changes first, noting each touched group's result as it was; then it gives
// old → new once for each touched group. A tick of several times is taken as several of one.
type Reduce struct {
	kinds  []types.Kind // of the input
	keys   int
	key    *row.Key
	aggs   []Agg
	env    scalar.Env
	shares []reduceShare
}

// groupKeeper is what a Reduce keeps for one aggregate. idx is a group's place among those touched in
// the pass.
type groupKeeper interface {
	// absorb takes in rows; groups has each row's group.
	absorb(b *vec.Block, groups []int32)
	// seal is called when all changes of the pass are in.
	seal(t dataflow.Tick)
	// before and after give the aggregate's value for a touched group. rows is how many it had or has.
	before(lane *dataflow.Lane, idx int, group int32, rows int64) (vec.Datum, error)
	after(lane *dataflow.Lane, idx int, group int32, rows int64) (vec.Datum, error)
	// commit makes after the value of a touched group; gone says that the group has no rows left.
	commit(group int32, gone bool)
	// done ends the pass.
	done()
}

// reduceShare is one share's groups.
type reduceShare struct {
	turns
	r     *Reduce
	name  string
	table arrange.Table
	rows  []int64 // rows in each group
	// was is the number of rows before the pass of each touched group.
	was     []int64
	touched []int32
	mark    []uint32 // the pass in which a group was touched last
	pass    uint32
	// slab has the words of the linear aggregates, stride for each group; old has those of the touched
	// groups as they were.
	slab, old []uint64
	stride    int
	keep      []groupKeeper
	groups    []int32
	keyBuf    []byte
	at        int // position in touched
}

// NewReduce makes the operator. name is for error messages.
func NewReduce(workers int, kinds []types.Kind, keys int, aggs []Agg, env scalar.Env, name string) *Reduce {
	cols := make([]int, keys)
	for i := range cols {
		cols[i] = i
	}
	r := &Reduce{kinds: kinds, keys: keys, key: row.AscKey(kinds, cols), aggs: aggs, env: env,
		shares: make([]reduceShare, workers)}
	for w := range r.shares {
		s := &r.shares[w]
		s.r, s.name = r, name
		for i := range aggs {
			s.keep = append(s.keep, r.keeper(s, &aggs[i]))
		}
	}
	return r
}

// keeper chooses what to keep for an aggregate.
func (r *Reduce) keeper(s *reduceShare, a *Agg) groupKeeper {
	switch {
	case a.Func.Accum != nil:
		acc := accum{agg: a, share: s, at: s.stride}
		s.stride += a.Func.Accum.Words
		if a.Distinct {
			return &distinctAccum{accum: acc, args: row.AscKey(r.kinds, a.Args)}
		}
		return &acc
	case a.Func.Order != scalar.NotOrdered:
		return newOrdered(r.kinds, a, s)
	}
	return newFold(r.kinds, a, s, r.env)
}

// Begin is dataflow.Operator's.
func (r *Reduce) Begin(w int, t *dataflow.Tick) { r.shares[w].begin(&r.shares[w], t) }

// Absorb is dataflow.Operator's.
func (r *Reduce) Absorb(_ *dataflow.Lane, w, _ int, b *vec.Block) {
	r.shares[w].take(&r.shares[w], r.kinds, b)
}

// Emit is dataflow.Operator's.
func (r *Reduce) Emit(lane *dataflow.Lane, w int, out *dataflow.Output) bool {
	return r.shares[w].emit(&r.shares[w], lane, out)
}

func (s *reduceShare) start() {
	s.pass++
	s.touched, s.was, s.old, s.at = s.touched[:0], s.was[:0], s.old[:0], 0
}

// absorb takes the rows into their groups.
func (s *reduceShare) absorb(b *vec.Block) {
	s.groups = s.groups[:0]
	for i := range b.Len {
		s.keyBuf = s.r.key.Append(s.keyBuf[:0], b, i)
		g, added := s.table.Put(s.keyBuf)
		if added && int(g) >= len(s.rows) {
			s.rows, s.mark = append(s.rows, 0), append(s.mark, 0)
			for range s.stride {
				s.slab = append(s.slab, 0)
			}
		}
		if s.mark[g] != s.pass {
			s.mark[g] = s.pass
			s.touched, s.was = append(s.touched, g), append(s.was, s.rows[g])
			s.old = append(s.old, s.slab[int(g)*s.stride:][:s.stride]...)
		}
		s.groups = append(s.groups, g)
		s.rows[g] += b.Diff(i)
	}
	for _, k := range s.keep {
		k.absorb(b, s.groups)
	}
}

func (s *reduceShare) seal() {
	for _, k := range s.keep {
		k.seal(s.tick)
	}
}

func (s *reduceShare) done() {
	for _, k := range s.keep {
		k.done()
	}
}

// give gives old → new for the touched groups.
func (s *reduceShare) give(lane *dataflow.Lane, out *dataflow.Output) (full bool) {
	b := out.Block()
	vals := make([]vec.Datum, len(s.keep))
	prev := make([]vec.Datum, len(s.keep))
	for ; s.at < len(s.touched); s.at++ {
		if b.Len >= dataflow.RoundRows {
			return true
		}
		g := s.touched[s.at]
		was, now := s.was[s.at], s.rows[g]
		oldErr := s.result(lane, was, prev, groupKeeper.before)
		newErr := s.result(lane, now, vals, groupKeeper.after)
		t := uint64(s.tick.At)
		hadRow, hasRow := was > 0 && oldErr == nil, now > 0 && newErr == nil
		if !(hadRow && hasRow && sameData(prev, vals)) {
			if hadRow {
				s.push(b, g, prev, -1)
			}
			if hasRow {
				s.push(b, g, vals, 1)
			}
		}
		if oldErr != nil {
			lane.Fail(oldErr, -1, t)
		}
		if newErr != nil {
			lane.Fail(newErr, 1, t)
		}
		for _, k := range s.keep {
			k.commit(g, now == 0)
		}
		if now == 0 {
			clear(s.slab[int(g)*s.stride:][:s.stride])
			s.table.Remove(g)
		}
	}
	return false
}

// result puts the values of the touched group at s.at, with the given number of rows, into vals, or says
// what is wrong. Every keeper is asked, since each goes on from what it said last.
func (s *reduceShare) result(lane *dataflow.Lane, rows int64, vals []vec.Datum,
	get func(groupKeeper, *dataflow.Lane, int, int32, int64) (vec.Datum, error)) (wrong error) {
	if rows == 0 {
		return nil
	}
	if rows < 0 {
		wrong = negative(s.name)
	}
	for i, k := range s.keep {
		var err error
		if vals[i], err = get(k, lane, s.at, s.touched[s.at], max(rows, 0)); err != nil && wrong == nil {
			wrong = err
		}
	}
	return wrong
}

// negative is the error of a multiplicity below zero (promise O4).
func negative(name string) error {
	return pgerr.Newf(pgerr.InternalError, "invalid data in the input of %s: more rows were deleted than there are", name)
}

func sameData(a, b []vec.Datum) bool {
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// push appends a result row.
func (s *reduceShare) push(b *vec.Block, g int32, vals []vec.Datum, diff int64) {
	var few [8]*vec.Vec
	dst := few[:0]
	for c := range s.r.keys {
		dst = append(dst, &b.Cols[c])
	}
	s.r.key.Decode(s.table.Key(g), dst)
	for i, v := range vals {
		b.Cols[s.r.keys+i].AppendDatum(v)
	}
	if s.tick.Multi {
		b.Times = append(b.Times, uint64(s.tick.At))
	}
	pushDiff(b, diff)
}

// End is dataflow.Operator's.
func (r *Reduce) End(_ *dataflow.Lane, w int) {
	s := &r.shares[w]
	if cap(s.touched) > 1<<16 {
		s.touched, s.was, s.groups, s.old = nil, nil, nil, nil
	}
}
