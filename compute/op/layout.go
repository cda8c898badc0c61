package op

import (
	"slices"

	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Layout is how the rows of a relation lie in an arrangement: the key columns, then order columns, then
// all columns that are in neither.
type Layout struct {
	kinds []types.Kind
	key   *row.Key
	order *row.Key // key columns of the order part; nil if there are none
	value *row.Value
	// where says in which part each column of the relation is, and at which place.
	keyCols, orderCols, valueCols []int
}

// Ordering is one column to order by within a key.
type Ordering struct {
	Col        int
	Desc       bool
	NullsFirst bool
}

// NewLayout lays out rows of the given kinds.
func NewLayout(kinds []types.Kind, keys []int, order []Ordering) *Layout {
	l := &Layout{kinds: kinds, key: row.AscKey(kinds, keys), keyCols: keys}
	used := make([]bool, len(kinds))
	for _, k := range keys {
		used[k] = true
	}
	var oc []row.KeyCol
	for _, o := range order {
		if used[o.Col] {
			continue // constant within a key, or ordered by already
		}
		used[o.Col] = true
		oc = append(oc, row.KeyCol{Col: o.Col, Kind: kinds[o.Col], Desc: o.Desc, NullsFirst: o.NullsFirst})
		l.orderCols = append(l.orderCols, o.Col)
	}
	if len(oc) > 0 {
		l.order = row.NewKey(oc)
	}
	for c := range kinds {
		if !used[c] {
			l.valueCols = append(l.valueCols, c)
		}
	}
	l.value = row.NewValue(kinds, l.valueCols)
	return l
}

// Kinds gives the kinds of the relation's columns.
func (l *Layout) Kinds() []types.Kind { return l.kinds }

// Append appends the arranged bytes of row i of b.
func (l *Layout) Append(dst []byte, b *vec.Block, i int) []byte {
	dst = l.key.Append(dst, b, i)
	if l.order != nil {
		dst = l.order.Append(dst, b, i)
	}
	if len(l.valueCols) > 0 {
		dst = l.value.Append(dst, b, i)
	}
	return dst
}

// AppendKeyOf appends the key's bytes for the given values, one for each key column.
func (l *Layout) AppendKeyOf(dst []byte, values []vec.Datum) []byte {
	for c, d := range values {
		dst = l.key.AppendDatum(dst, c, d)
	}
	return dst
}

// KeyLen is the length of the key at the start of an arranged row.
func (l *Layout) KeyLen(bytes []byte) int { return l.key.Skip(bytes) }

// Reader decodes some columns of arranged rows into vectors. It belongs to one goroutine.
type Reader struct {
	l                 *Layout
	key, order, value []*vec.Vec
	anyKey, anyOrder  bool
}

// Reader makes a decoder; Into sets where the columns go.
func (l *Layout) Reader() *Reader {
	return &Reader{l: l, key: make([]*vec.Vec, len(l.keyCols)), order: make([]*vec.Vec, len(l.orderCols)),
		value: make([]*vec.Vec, len(l.valueCols))}
}

// Into makes column c of the relation go to dst[c]; nil columns are not decoded.
func (r *Reader) Into(dst []*vec.Vec) {
	r.anyKey, r.anyOrder = false, false
	for i, c := range r.l.keyCols {
		r.key[i] = nil
		if slices.Index(r.l.keyCols, c) == i { // a column may be in the key twice
			r.key[i] = dst[c]
		}
		r.anyKey = r.anyKey || dst[c] != nil
	}
	for i, c := range r.l.orderCols {
		r.order[i] = dst[c]
		r.anyOrder = r.anyOrder || dst[c] != nil
	}
	for i, c := range r.l.valueCols {
		r.value[i] = dst[c]
	}
}

// Read appends the columns of one arranged row.
func (r *Reader) Read(bytes []byte) {
	if r.anyKey {
		bytes = bytes[r.l.key.Decode(bytes, r.key):]
	} else {
		bytes = bytes[r.l.key.Skip(bytes):]
	}
	switch {
	case r.l.order == nil:
	case r.anyOrder:
		bytes = bytes[r.l.order.Decode(bytes, r.order):]
	default:
		bytes = bytes[r.l.order.Skip(bytes):]
	}
	if len(r.value) > 0 {
		r.l.value.Decode(bytes, r.value)
	}
}
