package op

import (
	"bytes"

	"github.com/tributary-db/tributary/compute/arrange"
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// ordered keeps MIN or MAX: the group's values that are not NULL, arranged by group and value, and the
// one emitted. A change behind the emitted value costs a look at the tick's changes; one at or before it
// costs a seek from there. The range before it is known to be empty and never read again, so a queue that
// is consumed from its front costs the same however long it is.
type ordered struct {
	agg    *Agg
	share  *reduceShare
	max    bool
	kind   types.Kind
	key    *row.Key // the value alone, ascending
	values sorted
	upper  tvc.Frontier
	// has, bits and strs are the emitted value of each group (strs only for Bytes).
	has  []bool
	bits []int64
	flts []float64
	strs []string
	// bad are the groups whose emitted value counts less than zero times.
	bad  map[int32]bool
	next vec.Datum
	// nextBad goes with next.
	nextBad bool
	keyB    []byte
	from    []byte
	val     vec.Vec
	mask    []int32
}

func newOrdered(kinds []types.Kind, a *Agg, s *reduceShare) *ordered {
	kind := kinds[a.Args[0]]
	return &ordered{agg: a, share: s, max: a.Func.Order == scalar.Max, kind: kind,
		key: row.AscKey(kinds, a.Args), val: vec.New(kind, 1)}
}

func (o *ordered) absorb(b *vec.Block, groups []int32) {
	to := o.values.adding(o.share.tick.At)
	if o.agg.Filter >= 0 {
		o.mask = filterGroups(b, o.agg.Filter, groups, o.mask)
		groups = o.mask
	}
	arg := &b.Cols[o.agg.Args[0]]
	for i, g := range groups {
		if g < 0 || arg.IsNull(i) {
			continue
		}
		to.Data = append(to.Data, o.share.table.Key(g)...)
		to.Data = o.key.Append(to.Data, b, i)
		to.End(b.Diff(i), 0)
	}
}

func (o *ordered) seal(t dataflow.Tick) {
	o.upper = t.Upper
	o.values.seal()
	for len(o.has) < o.share.table.Slots() {
		o.has = append(o.has, false)
		switch o.kind {
		case types.Bytes:
			o.strs = append(o.strs, "")
		case types.Float:
			o.flts = append(o.flts, 0)
		default:
			o.bits = append(o.bits, 0)
		}
	}
}

func (o *ordered) emitted(g int32) vec.Datum {
	if !o.has[g] {
		return vec.Null
	}
	switch o.kind {
	case types.Bool:
		return vec.BoolOf(o.bits[g] != 0)
	case types.Int:
		return vec.IntOf(o.bits[g])
	case types.Float:
		return vec.FloatOf(o.flts[g])
	}
	return vec.StrOf(o.strs[g])
}

func (o *ordered) before(_ *dataflow.Lane, _ int, g int32, _ int64) (vec.Datum, error) {
	return o.value(o.emitted(g), o.bad[g])
}

func (o *ordered) value(d vec.Datum, bad bool) (vec.Datum, error) {
	if bad {
		return vec.Null, negative(o.share.name)
	}
	return d, nil
}

func (o *ordered) after(lane *dataflow.Lane, _ int, g int32, _ int64) (vec.Datum, error) {
	o.next, o.nextBad = o.emitted(g), o.bad[g]
	key := o.share.table.Key(g)
	// The first change of the group, in the aggregate's direction.
	o.seek(&o.values.news, key, nil)
	if !o.values.news.Next() {
		return o.value(o.next, o.nextBad)
	}
	from := o.values.news.Row()
	if !o.next.IsNull() {
		o.keyB = o.key.AppendDatum(append(o.keyB[:0], key...), 0, o.next)
		if c := bytes.Compare(from, o.keyB); c > 0 && !o.max || c < 0 && o.max {
			return o.value(o.next, o.nextBad) // every change is behind the emitted value
		}
	}
	// Before the first change and the emitted value there was nothing, so there is nothing now.
	o.from = append(o.from[:0], from...)
	o.seek(&o.values.all, key, o.from)
	if !o.values.all.Next() {
		o.next, o.nextBad = vec.Null, false
		return o.next, nil
	}
	lane.Reads++
	o.val.Reset()
	o.key.Decode(o.values.all.Row()[len(key):], []*vec.Vec{&o.val})
	o.next, o.nextBad = o.val.Datum(0), o.values.all.Diff() < 0
	return o.value(o.next, o.nextBad)
}

// seek moves a cursor to the group's rows from the given one on, in the aggregate's direction.
func (o *ordered) seek(c *arrange.Cursor, key, from []byte) {
	if o.max {
		c.SeekLast(key, from)
	} else {
		c.Seek(key, from)
	}
}

func (o *ordered) commit(g int32, gone bool) {
	d := o.next
	o.has[g] = !gone && !d.IsNull()
	if o.nextBad && o.has[g] {
		if o.bad == nil {
			o.bad = map[int32]bool{}
		}
		o.bad[g] = true
	} else if o.bad[g] {
		delete(o.bad, g)
	}
	if !o.has[g] {
		if o.kind == types.Bytes {
			o.strs[g] = ""
		}
		return
	}
	switch o.kind {
	case types.Bool:
		o.bits[g] = 0
		if d.Bool() {
			o.bits[g] = 1
		}
	case types.Int:
		o.bits[g] = d.Int()
	case types.Float:
		o.flts[g] = d.Float()
	case types.Bytes:
		if d.Str() != o.strs[g] {
			o.strs[g] = d.Clone().Str()
		}
	}
}

func (o *ordered) done() { o.values.done(o.upper) }
