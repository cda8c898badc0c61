package rewrite

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// demand drops columns that nobody reads, as early as it can. Operators that compare whole rows (top-k,
// threshold, distinct) read all. A left join of which only the left side is read, and that cannot repeat a
// left row, is not needed at all.
func demand(n logical.Node) logical.Node {
	p := hoist(n)
	d := demander{needs: map[int]*logical.Set{}}
	all := logical.SetOf(logical.Identity(logical.Arity(n))...)
	p.body = d.prune(p.body, all)
	moved := map[int][]int{}
	refs := map[int]logical.Node{}
	for i := len(p.lets) - 1; i >= 0; i-- {
		l := &p.lets[i]
		need, used := d.needs[l.id]
		if !used {
			p.lets = append(p.lets[:i], p.lets[i+1:]...)
			continue
		}
		if need.Len() < logical.Arity(l.value) {
			moved[l.id] = ranks(*need, logical.Arity(l.value))
		}
		l.value = d.prune(l.value, *need)
	}
	for i := range p.lets {
		l := &p.lets[i]
		l.value = redirect(l.value, refs, moved)
		refs[l.id] = l.value
	}
	p.body = redirect(p.body, refs, moved)
	if t := p.tree(); !logical.EqualNodes(t, n) {
		return t
	}
	return n
}

// ranks gives each of n columns its position among those of s; -1 if it is not in s.
func ranks(s logical.Set, n int) []int {
	at := make([]int, n)
	next := 0
	for i := range at {
		at[i] = -1
		if s.Has(i) {
			at[i] = next
			next++
		}
	}
	return at
}

// redirect makes references read the values as they are now: refs has these, moved where the columns of those
// that lost some have gone.
func redirect(n logical.Node, refs map[int]logical.Node, moved map[int][]int) logical.Node {
	switch n := n.(type) {
	case *logical.LetRef:
		return logical.NewLetRef(n.ID, refs[n.ID])
	case *logical.Project:
		ref, ok := n.Input().(*logical.LetRef)
		if !ok {
			break
		}
		at, ok := moved[ref.ID]
		if !ok {
			break
		}
		cols := make([]int, len(n.Cols))
		for i, c := range n.Cols {
			cols[i] = at[c]
		}
		return logical.NewProject(logical.NewLetRef(ref.ID, refs[ref.ID]), cols)
	}
	return logical.MapInputs(n, func(in logical.Node) logical.Node { return redirect(in, refs, moved) })
}

// demander notes which columns of each Let's value are read.
type demander struct{ needs map[int]*logical.Set }

// prune is exactly the needed columns of n, in ascending order.
func (d *demander) prune(n logical.Node, need logical.Set) logical.Node {
	switch n := n.(type) {
	case *logical.Constant:
		return pruneConstant(n, need.Cols())
	case *logical.Get:
		return logical.NewProject(n, need.Cols())
	case *logical.LetRef:
		if d.needs[n.ID] == nil {
			d.needs[n.ID] = &logical.Set{}
		}
		d.needs[n.ID].AddAll(need)
		return logical.NewProject(n, need.Cols())
	case *logical.Filter:
		in, at := d.below(n.Input(), need, n.Preds)
		return logical.NewProject(logical.NewFilter(in, logical.PermuteAll(n.Preds, at)...), placed(need.Cols(), at))
	case *logical.Map:
		return d.pruneMap(n, need)
	case *logical.Project:
		return d.pruneProject(n, need)
	case *logical.Join:
		ins, at := d.pruneSides(n.Ins, need, n.Preds)
		return logical.NewProject(logical.NewJoin(ins, logical.PermuteAll(n.Preds, at)...), placed(need.Cols(), at))
	case *logical.OuterJoin:
		if m := logical.Arity(n.Left()); !n.Full && need.Within(0, m) && logical.MeetsOnce(n) {
			return d.prune(n.Left(), need)
		}
		ins, at := d.pruneSides(n.Sides[:], need, n.On)
		join := logical.NewOuterJoin(n.Full, ins[0], ins[1], logical.PermuteAll(n.On, at)...)
		return logical.NewProject(join, placed(need.Cols(), at))
	case *logical.SemiJoin:
		ins, at := d.pruneSides(n.Sides[:], need, n.On)
		join := logical.NewSemiJoin(n.Anti, ins[0], ins[1], logical.PermuteAll(n.On, at)...)
		return logical.NewProject(join, placed(need.Cols(), at))
	case *logical.TableFunc:
		return d.pruneTableFunc(n, need)
	case *logical.Reduce:
		return d.pruneReduce(n, need)
	case *logical.Guard:
		with := need.Clone()
		with.AddAll(logical.SetOf(n.Keys...))
		at := ranks(with, logical.Arity(n))
		return logical.NewProject(logical.NewGuard(d.prune(n.Input(), with), placed(n.Keys, at), n.Err), placed(need.Cols(), at))
	case *logical.Union:
		ins := make([]logical.Node, len(n.Ins))
		for i, in := range n.Ins {
			ins[i] = d.prune(in, need)
		}
		return logical.NewUnion(ins...)
	case *logical.Negate:
		return logical.NewNegate(d.prune(n.Input(), need))
	case *logical.TopK, *logical.Threshold:
		all := logical.SetOf(logical.Identity(logical.Arity(n))...)
		whole := logical.MapInputs(n, func(in logical.Node) logical.Node { return d.prune(in, all) })
		return logical.NewProject(whole, need.Cols())
	}
	panic(fmt.Sprintf("rewrite: demand on %T", n))
}

func placed(cols, at []int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = at[c]
	}
	return out
}

// below prunes an input to what is needed and what the expressions use, and says where its columns went.
func (d *demander) below(in logical.Node, need logical.Set, es []scalar.Expr) (logical.Node, []int) {
	need = need.Clone()
	need.AddAll(logical.UsedBy(es...))
	return d.prune(in, need), ranks(need, logical.Arity(in))
}

// pruneSides does the same for the inputs of a join, side by side. A semi-join's right side has no columns
// that are needed above.
func (d *demander) pruneSides(ins []logical.Node, need logical.Set, on []scalar.Expr) ([]logical.Node, []int) {
	need = need.Clone()
	need.AddAll(logical.UsedBy(on...))
	out := make([]logical.Node, len(ins))
	starts := starts(ins)
	for i, in := range ins {
		out[i] = d.prune(in, part(need, starts[i], starts[i+1]))
	}
	return out, ranks(need, starts[len(ins)])
}

// pruneConstant picks columns of constant rows.
func pruneConstant(n *logical.Constant, cols []int) logical.Node {
	if slices.Equal(cols, logical.Identity(logical.Arity(n))) {
		return n
	}
	rows := &vec.Block{Len: n.Rows.Len, Diffs: n.Rows.Diffs}
	out := make([]types.Column, len(cols))
	for i, c := range cols {
		rows.Cols = append(rows.Cols, n.Rows.Cols[c])
		out[i] = n.Rel().Cols[c]
	}
	return logical.NewConstant(out, rows)
}

func (d *demander) pruneMap(n *logical.Map, need logical.Set) logical.Node {
	m := logical.Arity(n.Input())
	var exprs []scalar.Expr
	for i, e := range n.Exprs {
		if need.Has(m + i) {
			exprs = append(exprs, e)
		}
	}
	in, at := d.below(n.Input(), part(need, 0, m), exprs)
	cols := placed(part(need, 0, m).Cols(), at)
	// A column computed as another is that one, once more.
	var rest []scalar.Expr
	for _, e := range logical.PermuteAll(exprs, at) {
		if c, ok := e.(*scalar.Col); ok {
			cols = append(cols, c.Index)
			continue
		}
		cols = append(cols, logical.Arity(in)+len(rest))
		rest = append(rest, e)
	}
	return logical.NewProject(logical.NewMap(in, rest...), cols)
}

func (d *demander) pruneProject(n *logical.Project, need logical.Set) logical.Node {
	var cols []int
	for _, c := range need.Cols() {
		cols = append(cols, n.Cols[c])
	}
	below := logical.SetOf(cols...)
	return logical.NewProject(d.prune(n.Input(), below), placed(cols, ranks(below, logical.Arity(n.Input()))))
}

// pruneTableFunc keeps the function's columns: it makes them all in any case.
func (d *demander) pruneTableFunc(n *logical.TableFunc, need logical.Set) logical.Node {
	m := logical.Arity(n.Input())
	in, at := d.below(n.Input(), part(need, 0, m), n.Args)
	own := n.Rel().Cols[m:]
	for i := range own {
		at = append(at, logical.Arity(in)+i)
	}
	f := logical.NewTableFunc(in, n.Func, logical.PermuteAll(n.Args, at), n.Ordinality, own)
	return logical.NewProject(f, placed(need.Cols(), at))
}

func (d *demander) pruneReduce(n *logical.Reduce, need logical.Set) logical.Node {
	k := len(n.Keys)
	used := logical.SetOf(n.Keys...)
	at := logical.Identity(k)
	var aggs []logical.Agg
	for i, a := range n.Aggs {
		at = append(at, k+len(aggs))
		if need.Has(k + i) {
			aggs = append(aggs, a)
			used.AddAll(a.Uses())
		}
	}
	in := d.prune(n.Input(), used)
	where := ranks(used, logical.Arity(n.Input()))
	for i, a := range aggs {
		aggs[i] = a.Moved(func(c int) int { return where[c] })
	}
	var out logical.Node = logical.NewReduce(in, placed(n.Keys, where), aggs)
	if n.Global {
		out = logical.NewGlobalReduce(in, aggs)
	}
	return logical.NewProject(out, placed(need.Cols(), at))
}
