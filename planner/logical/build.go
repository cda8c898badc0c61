package logical

import (
	"slices"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// NewConstant makes fixed rows.
func NewConstant(cols []types.Column, rows *vec.Block) *Constant {
	r := types.Rel{Cols: slices.Clone(cols)}
	for i := range r.Cols {
		r.Cols[i].Nullable = rows.Cols[i].HasNulls()
	}
	r.Keys = constantKeys(rows)
	return &Constant{rel: rel{r}, Rows: rows}
}

// NewEmpty is no rows of the given columns.
func NewEmpty(cols []types.Column) *Constant {
	return NewConstant(cols, vec.NewBlock(types.Rel{Cols: cols}.Kinds(), 0))
}

// NewUnit is one row without columns: what a query without FROM reads.
func NewUnit() *Constant { return NewConstant(nil, &vec.Block{Len: 1}) }

// IsEmpty says whether n is known to give no rows.
func IsEmpty(n Node) bool {
	c, ok := n.(*Constant)
	return ok && c.Rows.Len == 0
}

// IsUnit says whether n is one row without columns.
func IsUnit(n Node) bool {
	c, ok := n.(*Constant)
	return ok && c.Rows.Len == 1 && c.Rows.Diff(0) == 1 && len(c.Rows.Cols) == 0
}

// NewGet reads a collection described by r, of about so many rows (0: unknown).
func NewGet(id tvc.ID, name string, r types.Rel, rows int64) *Get {
	return &Get{rel: rel{r}, ID: id, Name: name, Rows: rows}
}

// NewFilter keeps the rows for which all of preds are true.
func NewFilter(in Node, preds ...scalar.Expr) Node {
	if preds = scalar.Conjuncts(preds...); len(preds) == 0 {
		return in
	}
	if f, ok := in.(*Filter); ok {
		return NewFilter(f.Input(), append(slices.Clip(f.Preds), preds...)...)
	}
	return &Filter{rel: rel{filterRel(in.Rel(), preds)}, one: one{[1]Node{in}}, Preds: preds}
}

// NewMap appends computed columns.
func NewMap(in Node, exprs ...scalar.Expr) Node {
	if len(exprs) == 0 {
		return in
	}
	r := types.Rel{Cols: slices.Clone(in.Rel().Cols), Keys: in.Rel().Keys}
	for _, e := range exprs {
		c := types.Column{Type: e.Type(), Nullable: Nullable(e, in.Rel())}
		if col, ok := e.(*scalar.Col); ok {
			c.Name = in.Rel().Cols[col.Index].Name
		}
		r.Cols = append(r.Cols, c)
	}
	return &Map{rel: rel{r}, one: one{[1]Node{in}}, Exprs: exprs}
}

// NewProject picks columns.
func NewProject(in Node, cols []int) Node {
	if p, ok := in.(*Project); ok {
		inner := make([]int, len(cols))
		for i, c := range cols {
			inner[i] = p.Cols[c]
		}
		return NewProject(p.Input(), inner)
	}
	if isIdentity(cols, Arity(in)) {
		return in
	}
	r := types.Rel{Cols: make([]types.Column, len(cols)), Keys: projectKeys(in.Rel().Keys, cols)}
	for i, c := range cols {
		r.Cols[i] = in.Rel().Cols[c]
	}
	return &Project{rel: rel{r}, one: one{[1]Node{in}}, Cols: cols}
}

// Compute is just the given expressions over n.
func Compute(n Node, es ...scalar.Expr) Node {
	at := Arity(n)
	cols := make([]int, len(es))
	var exprs []scalar.Expr
	for i, e := range es {
		if c, ok := e.(*scalar.Col); ok {
			cols[i] = c.Index
			continue
		}
		cols[i] = at + len(exprs)
		exprs = append(exprs, e)
	}
	return NewProject(NewMap(n, exprs...), cols)
}

// AllCols are the expressions for the first n columns of a node.
func AllCols(n Node, k int) []scalar.Expr {
	es := make([]scalar.Expr, k)
	for i := range es {
		es[i] = ColOf(n, i)
	}
	return es
}

// Identity lists the columns 0 to n-1.
func Identity(n int) []int { return Range(0, n) }

// Range lists the columns from (inclusive) to (exclusive).
func Range(from, to int) []int {
	cols := make([]int, to-from)
	for i := range cols {
		cols[i] = from + i
	}
	return cols
}

func isIdentity(cols []int, n int) bool {
	if len(cols) != n {
		return false
	}
	for i, c := range cols {
		if i != c {
			return false
		}
	}
	return true
}

// sideBySide is the columns of all inputs, one after the other.
func sideBySide(ins []Node) []types.Column {
	n := 0
	for _, in := range ins {
		n += Arity(in)
	}
	cols := make([]types.Column, 0, n)
	for _, in := range ins {
		cols = append(cols, in.Rel().Cols...)
	}
	return cols
}

// NewJoin is the inner join of the inputs.
func NewJoin(ins []Node, preds ...scalar.Expr) Node {
	preds = scalar.Conjuncts(preds...)
	switch len(ins) {
	case 0:
		return NewFilter(NewUnit(), preds...)
	case 1:
		return NewFilter(ins[0], preds...)
	}
	r := types.Rel{Cols: sideBySide(ins)}
	refine(r.Cols, preds)
	r.Keys = joinKeys(ins, preds)
	return &Join{rel: rel{r}, many: many{slices.Clip(ins)}, Preds: preds}
}

// NewOuterJoin is the left outer join, or the full one.
func NewOuterJoin(full bool, left, right Node, on ...scalar.Expr) *OuterJoin {
	on = scalar.Conjuncts(on...)
	r := types.Rel{Cols: sideBySide([]Node{left, right})}
	for i := range r.Cols {
		if full || i >= Arity(left) {
			r.Cols[i].Nullable = true
		}
	}
	if !full {
		r.Keys = outerKeys(left, right, on)
	}
	return &OuterJoin{rel: rel{r}, two: two{[2]Node{left, right}}, Full: full, On: on}
}

// NewSemiJoin keeps the left rows that match (anti: that do not).
func NewSemiJoin(anti bool, left, right Node, on ...scalar.Expr) *SemiJoin {
	on = scalar.Conjuncts(on...)
	r := types.Rel{Cols: left.Rel().Cols, Keys: left.Rel().Keys}
	if !anti {
		r.Cols = slices.Clone(r.Cols)
		refine(r.Cols, on)
	}
	return &SemiJoin{rel: rel{r}, two: two{[2]Node{left, right}}, Anti: anti, On: on}
}

// NewApply computes right for each row of left.
func NewApply(kind ApplyKind, left, right Node) *Apply {
	l, rr := left.Rel(), right.Rel()
	r := types.Rel{Cols: l.Cols, Keys: l.Keys}
	switch kind {
	case ApplyInner, ApplyLeft:
		r.Cols = sideBySide([]Node{left, right})
		r.Keys = pairKeys(l.Keys, rr.Keys, len(l.Cols))
	case ApplyScalar:
		r.Cols = sideBySide([]Node{left, right})
	case ApplyExists:
		r.Cols = append(slices.Clip(l.Cols), types.Column{Type: types.TBool})
	case ApplySemi, ApplyAnti:
	}
	if kind == ApplyLeft || kind == ApplyScalar {
		for i := len(l.Cols); i < len(r.Cols); i++ {
			r.Cols[i].Nullable = true
		}
	}
	return &Apply{rel: rel{r}, two: two{[2]Node{left, right}}, Kind: kind}
}

// NewTableFunc calls a table function on each row; cols are the function's, the ordinality included.
func NewTableFunc(in Node, f *scalar.TableFunc, args []scalar.Expr, ordinality bool, cols []types.Column) *TableFunc {
	r := types.Rel{Cols: append(slices.Clip(in.Rel().Cols), cols...)}
	if ordinality {
		r.Keys = pairKeys(in.Rel().Keys, [][]int{{len(cols) - 1}}, Arity(in))
	}
	return &TableFunc{rel: rel{r}, one: one{[1]Node{in}}, Func: f, Args: args, Ordinality: ordinality}
}

// NewReduce groups by columns.
func NewReduce(in Node, keys []int, aggs []Agg) *Reduce { return newReduce(in, keys, aggs, false) }

// NewGlobalReduce aggregates all rows to one.
func NewGlobalReduce(in Node, aggs []Agg) *Reduce { return newReduce(in, nil, aggs, true) }

// NewDistinct is the distinct rows of in.
func NewDistinct(in Node) *Reduce { return newReduce(in, Identity(Arity(in)), nil, false) }

// IsDistinct says whether the Reduce gives its input's distinct rows, as they are.
func (n *Reduce) IsDistinct() bool {
	return len(n.Aggs) == 0 && !n.Global && isIdentity(n.Keys, Arity(n.Input()))
}

func newReduce(in Node, keys []int, aggs []Agg, global bool) *Reduce {
	r := types.Rel{Cols: make([]types.Column, 0, len(keys)+len(aggs))}
	for _, k := range keys {
		r.Cols = append(r.Cols, in.Rel().Cols[k])
	}
	for _, a := range aggs {
		r.Cols = append(r.Cols, types.Column{Type: a.T, Nullable: a.nullable(in.Rel(), global)})
	}
	r.Keys = addKey(projectKeys(in.Rel().Keys, keys), Identity(len(keys)))
	return &Reduce{rel: rel{r}, one: one{[1]Node{in}}, Keys: keys, Aggs: aggs, Global: global}
}

// nullable: a count never is; any other linear or ordered aggregate of a group is NULL only if all its
// arguments are.
func (a *Agg) nullable(in *types.Rel, global bool) bool {
	if a.Func.Accum != nil && !Empty(a.Func).IsNull() {
		return false
	}
	if global || a.Filter >= 0 || a.Func.Fold != nil {
		return true
	}
	for _, c := range a.Args {
		if in.Cols[c].Nullable {
			return true
		}
	}
	return false
}

// Empty is an aggregate's value over no rows.
func Empty(f *scalar.Agg) vec.Datum {
	if f.Accum == nil {
		return vec.Null
	}
	// No aggregate fails over nothing, so an error can only mean that its entry is wrong: NULL then, as
	// SQL has it for every aggregate but the counts.
	d, err := f.Accum.Result(make([]uint64, f.Accum.Words), 0)
	if err != nil {
		return vec.Null
	}
	return d
}

// NewTopK keeps the first rows of each group.
func NewTopK(in Node, group []int, order []Order, limit, offset scalar.Expr) *TopK {
	r := *in.Rel()
	if c, ok := limit.(*scalar.Const); ok && !c.Value.IsNull() && c.Value.Int() <= 1 {
		r.Keys = addKey(r.Keys, sortedCopy(group))
	}
	return &TopK{rel: rel{r}, one: one{[1]Node{in}}, Group: group, Order: order, Limit: limit, Offset: offset}
}

// NewUnion gives the rows of all inputs, of which there is at least one.
func NewUnion(ins ...Node) Node {
	if len(ins) == 1 {
		return ins[0]
	}
	r := types.Rel{Cols: slices.Clone(ins[0].Rel().Cols)}
	for _, in := range ins[1:] {
		for i, c := range in.Rel().Cols {
			r.Cols[i].Nullable = r.Cols[i].Nullable || c.Nullable
			if r.Cols[i].Name != c.Name {
				r.Cols[i].Name = ""
			}
		}
	}
	return &Union{rel: rel{r}, many: many{slices.Clip(ins)}}
}

// NewNegate turns the sign of every row's count.
func NewNegate(in Node) Node {
	if n, ok := in.(*Negate); ok {
		return n.Input()
	}
	return &Negate{rel: rel{types.Rel{Cols: in.Rel().Cols}}, one: one{[1]Node{in}}}
}

// NewThreshold keeps rows that count more than zero times.
func NewThreshold(in Node) *Threshold {
	r := types.Rel{Cols: in.Rel().Cols, Keys: in.Rel().Keys}
	if u, ok := in.(*Union); ok {
		r.Keys = minuendKeys(u)
	}
	return &Threshold{rel: rel{r}, one: one{[1]Node{in}}}
}

// minuendKeys: what is left of one relation after others are taken from it has that one's keys.
func minuendKeys(u *Union) [][]int {
	var keys [][]int
	positive := 0
	for _, in := range u.Ins {
		if _, ok := in.(*Negate); !ok {
			keys = in.Rel().Keys
			positive++
		}
	}
	if positive != 1 {
		return nil
	}
	return keys
}

// NewGuard makes the result err if two rows agree on keys.
func NewGuard(in Node, keys []int, err error) *Guard {
	r := types.Rel{Cols: in.Rel().Cols, Keys: addKey(in.Rel().Keys, sortedCopy(keys))}
	return &Guard{rel: rel{r}, one: one{[1]Node{in}}, Keys: keys, Err: err}
}

// NewLet names value for body.
func NewLet(id int, value, body Node) *Let {
	return &Let{rel: rel{*body.Rel()}, two: two{[2]Node{value, body}}, ID: id}
}

// NewLetRef is the rows of the Let with the given ID and value.
func NewLetRef(id int, value Node) *LetRef { return &LetRef{rel: rel{*value.Rel()}, ID: id} }
