package rewrite

import (
	"fmt"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Decorrelation removes every Apply. In general the right side is computed once for each distinct value of
// the left columns it uses: their distinct values are joined in at the bottom, carried up through every
// operator (grouped by, ordered within), and joined with the left side at the top. What SQL means by a
// correlated aggregate over no rows is kept, because the distinct values are there to be missed.
//
// Where that is not needed (see pull.go), the right side is computed without the left one's values and
// joined by the correlated conditions themselves.
//
// What is used more than once is named by a Let, so that a tree never doubles.

// decorrelator has the Lets that go around the result, each after those it uses.
type decorrelator struct {
	lets   []binding
	nextID int
	plain  bool // leave out what pull.go does
}

type binding struct {
	id    int
	value logical.Node
}

// decorrelate removes every Apply from n, which has no Outer columns that reach out of it.
func decorrelate(n logical.Node, plain bool) (logical.Node, error) {
	if !has(n, applies) {
		return n, nil
	}
	if err := checkLimits(n); err != nil {
		return nil, err
	}
	d := &decorrelator{nextID: maxLet(n) + 1, plain: plain}
	body := d.top(n)
	return program{d.lets, body}.tree(), nil
}

func maxLet(n logical.Node) int {
	most := 0
	logical.Walk(n, func(n logical.Node) bool {
		if l, ok := n.(*logical.Let); ok {
			most = max(most, l.ID)
		}
		return true
	})
	return most
}

// checkLimits refuses how many rows there are to be that depends on an outer row.
func checkLimits(n logical.Node) error {
	var err error
	logical.Walk(n, func(n logical.Node) bool {
		if k, ok := n.(*logical.TopK); ok && (anyOuter(k.Limit) || anyOuter(k.Offset)) {
			err = pgerr.Unsupported("a LIMIT or OFFSET that refers to an outer query")
		}
		return err == nil
	})
	return err
}

// share makes n usable more than once.
func (d *decorrelator) share(n logical.Node) logical.Node {
	if cheap(n) {
		return n
	}
	id := d.nextID
	d.nextID++
	d.lets = append(d.lets, binding{id, n})
	return logical.NewLetRef(id, n)
}

// cheap says whether to compute n twice costs no more than to read it twice.
func cheap(n logical.Node) bool {
	switch n := n.(type) {
	case *logical.Get, *logical.LetRef, *logical.Constant:
		return true
	case *logical.Filter:
		return cheap(n.Input())
	case *logical.Map:
		return cheap(n.Input())
	case *logical.Project:
		return cheap(n.Input())
	}
	return false
}

// top decorrelates a tree that no Outer column reaches out of.
func (d *decorrelator) top(n logical.Node) logical.Node {
	switch n := n.(type) {
	case *logical.Apply:
		return d.pair(n.Kind, d.top(n.Left()), n.Right())
	case *logical.Let:
		d.lets = append(d.lets, binding{n.ID, d.top(n.Value())})
		return d.top(n.Body())
	}
	return logical.MapInputs(n, d.top)
}

// asCols is e over the columns of dom followed by a node's own, where Outer columns are dom's.
func asCols(e scalar.Expr, dom int) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		switch e := e.(type) {
		case *scalar.Col:
			return &scalar.Col{Index: dom + e.Index, T: e.T}
		case *scalar.Outer:
			return &scalar.Col{Index: e.Index, T: e.T}
		}
		return e
	})
}

func allAsCols(es []scalar.Expr, dom int) []scalar.Expr {
	out := make([]scalar.Expr, len(es))
	for i, e := range es {
		out[i] = asCols(e, dom)
	}
	return out
}

// prefixed is dom's columns, then cols moved behind them.
func prefixed(dom int, cols []int) []int {
	out := logical.Identity(dom)
	for _, c := range cols {
		out = append(out, dom+c)
	}
	return out
}

func shiftOrder(order []logical.Order, by int) []logical.Order {
	out := make([]logical.Order, len(order))
	for i, o := range order {
		out[i] = o
		out[i].Col += by
	}
	return out
}

// apply computes n, whose Outer columns are all of level 1 and mean dom's columns, for each row of dom,
// whose rows are distinct. The result has dom's columns, then n's.
func (d *decorrelator) apply(n logical.Node, dom logical.Node) logical.Node {
	k := logical.Arity(dom)
	if !logical.Correlated(n) {
		return logical.NewJoin([]logical.Node{dom, d.top(n)})
	}
	switch n := n.(type) {
	case *logical.Filter:
		return logical.NewFilter(d.apply(n.Input(), dom), allAsCols(n.Preds, k)...)
	case *logical.Map:
		return logical.NewMap(d.apply(n.Input(), dom), allAsCols(n.Exprs, k)...)
	case *logical.Project:
		return logical.NewProject(d.apply(n.Input(), dom), prefixed(k, n.Cols))
	case *logical.Join:
		return d.applyJoin(n, dom)
	case *logical.OuterJoin:
		return d.applyOuter(n, dom)
	case *logical.SemiJoin:
		left, right := d.apply(n.Left(), dom), d.apply(n.Right(), dom)
		m := k + logical.Arity(n.Left())
		on := sidesOn(n.On, k, m)
		return logical.NewSemiJoin(n.Anti, left, right, append(on, valuesAre(left, logical.Identity(k), right, m)...)...)
	case *logical.Apply:
		return d.applyApply(n, dom)
	case *logical.TableFunc:
		in := d.apply(n.Input(), dom)
		own := n.Rel().Cols[logical.Arity(n.Input()):]
		return logical.NewTableFunc(in, n.Func, allAsCols(n.Args, k), n.Ordinality, own)
	case *logical.Reduce:
		return d.applyReduce(n, dom)
	case *logical.TopK:
		group := append(logical.Identity(k), prefixed(k, n.Group)[k:]...)
		return logical.NewTopK(d.apply(n.Input(), dom), group, shiftOrder(n.Order, k), n.Limit, n.Offset)
	case *logical.Union:
		ins := make([]logical.Node, len(n.Ins))
		for i, in := range n.Ins {
			ins[i] = d.apply(in, dom)
		}
		return logical.NewUnion(ins...)
	case *logical.Negate:
		return logical.NewNegate(d.apply(n.Input(), dom))
	case *logical.Threshold:
		return logical.NewThreshold(d.apply(n.Input(), dom))
	case *logical.Guard:
		return logical.NewGuard(d.apply(n.Input(), dom), prefixed(k, n.Keys), n.Err)
	case *logical.Let:
		d.lets = append(d.lets, binding{n.ID, d.top(n.Value())})
		return d.apply(n.Body(), dom)
	}
	panic(fmt.Sprintf("rewrite: %T cannot be correlated", n))
}

func anyOuter(e scalar.Expr) bool { return e != nil && scalar.HasOuter(e) }

// valuesAre says that left's columns cols have the values of right's first ones, which come behind m others. NULL
// is the same as NULL: these are values to be found again.
func valuesAre(left logical.Node, cols []int, right logical.Node, m int) []scalar.Expr {
	on := make([]scalar.Expr, len(cols))
	for i, c := range cols {
		r := &scalar.Col{Index: m + i, T: logical.ColOf(right, i).T}
		on[i] = notDistinct(left, logical.ColOf(left, c), r, right.Rel().Cols[i])
	}
	return on
}

// notDistinct is a IS NOT DISTINCT FROM b, or a = b where one of them is never NULL.
func notDistinct(left logical.Node, a, b *scalar.Col, bCol types.Column) scalar.Expr {
	if !left.Rel().Cols[a.Index].Nullable || !bCol.Nullable {
		return logical.Equals(a, b)
	}
	return logical.NotDistinct(a, b)
}

// applyJoin joins those inputs that are correlated, each with dom's columns, on these; the others as they are.
func (d *decorrelator) applyJoin(n *logical.Join, dom logical.Node) logical.Node {
	k := logical.Arity(dom)
	var ins []logical.Node
	var preds []scalar.Expr
	var where []int // of each column of n, in the product of ins
	first := -1     // where dom's columns are first found
	at := 0
	for _, in := range n.Ins {
		skip := 0
		if logical.Correlated(in) {
			in, skip = d.apply(in, dom), k
			if first < 0 {
				first = at
			} else {
				preds = append(preds, valuesAre(dom, logical.Identity(k), in, at)...)
			}
		} else {
			in = d.top(in)
		}
		ins = append(ins, in)
		for c := skip; c < logical.Arity(in); c++ {
			where = append(where, at+c)
		}
		at += logical.Arity(in)
	}
	if first < 0 {
		ins, first = append(ins, dom), at
	}
	for i, p := range preds {
		preds[i] = scalar.MapColumns(p, func(c int) int {
			if c < k {
				return first + c
			}
			return c
		})
	}
	for _, p := range n.Preds {
		preds = append(preds, scalar.Rewrite(p, func(e scalar.Expr) scalar.Expr {
			switch e := e.(type) {
			case *scalar.Col:
				return &scalar.Col{Index: where[e.Index], T: e.T}
			case *scalar.Outer:
				return &scalar.Col{Index: first + e.Index, T: e.T}
			}
			return e
		}))
	}
	return logical.NewProject(logical.NewJoin(ins, preds...), append(logical.Range(first, first+k), where...))
}

// sidesOn is a join's condition once both sides have dom's columns in front: left's end at m.
func sidesOn(on []scalar.Expr, k, m int) []scalar.Expr {
	left := m - k // arity of the left side itself
	out := make([]scalar.Expr, len(on))
	for i, e := range on {
		out[i] = scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
			switch e := e.(type) {
			case *scalar.Col:
				if e.Index < left {
					return &scalar.Col{Index: k + e.Index, T: e.T}
				}
				return &scalar.Col{Index: m + k + e.Index - left, T: e.T}
			case *scalar.Outer:
				return &scalar.Col{Index: e.Index, T: e.T}
			}
			return e
		})
	}
	return out
}

// applyOuter joins both sides, dom's columns in front of each, also on dom's columns. In a full join these
// are missing from one side of a row without a partner and then taken from the other.
func (d *decorrelator) applyOuter(n *logical.OuterJoin, dom logical.Node) logical.Node {
	k := logical.Arity(dom)
	left, right := d.apply(n.Left(), dom), d.apply(n.Right(), dom)
	m := logical.Arity(left)
	on := append(sidesOn(n.On, k, m), valuesAre(left, logical.Identity(k), right, m)...)
	join := logical.NewOuterJoin(n.Full, left, right, on...)
	own := append(logical.Range(k, m), logical.Range(m+k, m+logical.Arity(right))...)
	if !n.Full {
		return logical.NewProject(join, append(logical.Identity(k), own...))
	}
	both := make([]scalar.Expr, k)
	for c := range k {
		l, r := logical.ColOf(join, c), logical.ColOf(join, m+c)
		both[c] = &scalar.Coalesce{Args: []scalar.Expr{l, r}, T: l.T}
	}
	at := logical.Arity(join)
	return logical.NewProject(logical.NewMap(join, both...), append(logical.Range(at, at+k), own...))
}

// applyApply makes one correlation of two: what the inner Apply's right side uses of dom is in the columns
// of its left side.
func (d *decorrelator) applyApply(n *logical.Apply, dom logical.Node) logical.Node {
	k := logical.Arity(dom)
	left := d.apply(n.Left(), dom)
	right := logical.MapOuter(n.Right(), func(o *scalar.Outer) scalar.Expr {
		if o.Level == 1 {
			return &scalar.Outer{Level: 1, Index: k + o.Index, T: o.T}
		}
		return &scalar.Outer{Level: 1, Index: o.Index, T: o.T}
	})
	return d.pair(n.Kind, left, right)
}

func (d *decorrelator) applyReduce(n *logical.Reduce, dom logical.Node) logical.Node {
	k := logical.Arity(dom)
	in := d.apply(n.Input(), dom)
	aggs := make([]logical.Agg, len(n.Aggs))
	for i, a := range n.Aggs {
		aggs[i] = a.Moved(func(c int) int { return k + c })
	}
	groups := logical.NewReduce(in, prefixed(k, n.Keys), aggs)
	if !n.Global {
		return groups
	}
	// A row of dom without a group still has its one row of aggregates over nothing.
	all := logical.NewOuterJoin(false, dom, groups, valuesAre(dom, logical.Identity(k), groups, k)...)
	return withDefaults(all, n.Aggs, k, 2*k)
}

// withDefaults is the first keep columns of n, then its aggregates from column at, where a NULL is made
// the aggregate's value over no rows.
func withDefaults(n logical.Node, aggs []logical.Agg, keep, at int) logical.Node {
	cols := logical.Identity(keep)
	var exprs []scalar.Expr
	for i, a := range aggs {
		empty := logical.Empty(a.Func)
		if empty.IsNull() {
			cols = append(cols, at+i)
			continue
		}
		cols = append(cols, logical.Arity(n)+len(exprs))
		value := &scalar.Const{Value: empty, T: a.T}
		exprs = append(exprs, &scalar.Coalesce{Args: []scalar.Expr{logical.ColOf(n, at+i), value}, T: a.T})
	}
	return logical.NewProject(logical.NewMap(n, exprs...), cols)
}

// moreThanOne is the error of a scalar subquery that gave several rows.
func moreThanOne() error {
	return pgerr.New(pgerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
}

// pair is the Apply of the given kind, whose left side is decorrelated and whose right side's Outer
// columns, all of level 1, mean left's columns.
func (d *decorrelator) pair(kind logical.ApplyKind, left, right logical.Node) logical.Node {
	used := logical.OuterUsed(right, 1).Cols()
	if !d.plain {
		if n := d.pulled(kind, left, right); n != nil {
			return n
		}
	}
	if len(used) == 0 {
		return d.combine(kind, left, nil, d.top(right))
	}
	left = d.share(left)
	at := map[int]int{}
	for i, c := range used {
		at[c] = i
	}
	if always(right) && (kind == logical.ApplyScalar || kind == logical.ApplyLeft) {
		right = guarded(right, nil)
		kind = logical.ApplyInner
	}
	right = logical.MapOuter(right, func(o *scalar.Outer) scalar.Expr {
		return &scalar.Outer{Level: 1, Index: at[o.Index], T: o.T}
	})
	dom := d.share(logical.NewDistinct(logical.NewProject(left, used)))
	return d.combine(kind, left, used, d.apply(right, dom))
}

// always says whether n gives a row for every row of the Applies around it.
func always(n logical.Node) bool {
	switch n := n.(type) {
	case *logical.Reduce:
		return n.Global
	case *logical.Constant:
		return n.Rows.Len > 0
	case *logical.Map:
		return always(n.Input())
	case *logical.Project:
		return always(n.Input())
	case *logical.OuterJoin:
		return always(n.Left())
	case *logical.Apply:
		return always(n.Left()) && (n.Kind == logical.ApplyLeft || n.Kind == logical.ApplyScalar || n.Kind == logical.ApplyExists)
	}
	return false
}

// combine joins left with right, whose first columns are the values of left's columns keys that each of its
// rows is for.
func (d *decorrelator) combine(kind logical.ApplyKind, left logical.Node, keys []int, right logical.Node) logical.Node {
	k, m := len(keys), logical.Arity(left)
	on := valuesAre(left, keys, right, m)
	cols := append(logical.Identity(m), logical.Range(m+k, m+logical.Arity(right))...)
	switch kind {
	case logical.ApplyInner:
		return logical.NewProject(logical.NewJoin([]logical.Node{left, right}, on...), cols)
	case logical.ApplyLeft:
		return logical.NewProject(logical.NewOuterJoin(false, left, right, on...), cols)
	case logical.ApplyScalar:
		right = guarded(right, logical.Identity(k))
		return logical.NewProject(logical.NewOuterJoin(false, left, right, on...), cols)
	case logical.ApplyExists:
		return existsFlag(left, logical.NewDistinct(logical.NewProject(right, logical.Identity(k))), on)
	case logical.ApplySemi, logical.ApplyAnti:
		return logical.NewSemiJoin(kind == logical.ApplyAnti, left, right, on...)
	}
	panic(fmt.Sprintf("rewrite: unknown kind of apply %d", kind))
}

// guarded is n, which is an error if two of its rows agree on keys.
func guarded(n logical.Node, keys []int) logical.Node {
	if logical.HasKey(n.Rel(), keys) {
		return n
	}
	return logical.NewGuard(n, keys, moreThanOne())
}

// existsFlag is left's rows and whether there is a row in right, which has at most one for each, by on.
func existsFlag(left, right logical.Node, on []scalar.Expr) logical.Node {
	m, r := logical.Arity(left), logical.Arity(right)
	flag := &scalar.Const{Value: vec.BoolOf(true), T: types.TBool}
	join := logical.NewOuterJoin(false, left, logical.NewMap(right, flag), on...)
	found := logical.Not(&scalar.IsNull{Arg: logical.ColOf(join, m+r)})
	return logical.NewProject(logical.NewMap(join, found), append(logical.Identity(m), m+r+1))
}
