package session

import (
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// nameColumn is a column whose values print as names that the catalog knows.
type nameColumn struct {
	at   int
	cast *scalar.Func // to text
}

// Render says which columns will be sent in binary, and appends to types those of what Next gives from then on: values
// that print as names of the catalog, such as a regclass, come as texts where they are sent as text.
func (r *Result) Render(to []types.T, binary []bool) []types.T {
	r.names = nil
	for i, c := range r.Columns {
		t := c.Type
		if !binary[i] && fn.PrintsNames(t) {
			cast, _ := fn.Cast(t, types.TText, types.Explicit)
			r.names = append(r.names, nameColumn{i, cast})
			t = types.TText
		}
		to = append(to, t)
	}
	return to
}

// named is a block with names in the columns that have them. They are rare, so it is done value by value.
func (r *Result) named(b *vec.Block) (*vec.Block, error) {
	env := r.s.newEnv(r.stmt, r.s.catalog())
	out := *b
	out.Cols = append([]vec.Vec(nil), b.Cols...)
	for _, n := range r.names {
		text := vec.New(types.TText.Kind(), b.Len)
		for i := range b.Len {
			d, err := n.cast.Apply(env, []vec.Datum{b.Cols[n.at].Datum(i)}, types.TText.Kind())
			if err != nil {
				return nil, err
			}
			text.AppendDatum(d)
		}
		out.Cols[n.at] = text
	}
	return &out, nil
}
