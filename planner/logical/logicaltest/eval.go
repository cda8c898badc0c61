// Package logicaltest evaluates logical trees too dumbly to be wrong: nested loops over rows of data, a
// correlated subquery anew for each row. It is the reference that rewriting and lowering are held against,
// and it is for tests only.
package logicaltest

import (
	"fmt"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Eval gives the rows of a tree over the given contents of collections, or an error that some row gave.
func Eval(n logical.Node, inputs map[tvc.ID]plantest.Rows, env scalar.Env) (rows plantest.Rows, err error) {
	e := &eval{inputs: inputs, env: env, lets: map[int]plantest.Rows{}}
	return e.try(n)
}

// failure is an error of the query's on its way up.
type failure struct{ err error }

func fail(err error) { panic(failure{err}) }

type eval struct {
	inputs map[tvc.ID]plantest.Rows
	env    scalar.Env
	lets   map[int]plantest.Rows
	// outers are the rows of the Applies around, the innermost last.
	outers [][]vec.Datum
}

// expr computes e for a row.
func (e *eval) expr(x scalar.Expr, row []vec.Datum) (vec.Datum, error) {
	x = scalar.Rewrite(x, func(x scalar.Expr) scalar.Expr {
		if o, ok := x.(*scalar.Outer); ok {
			outer := e.outers[len(e.outers)-o.Level]
			return &scalar.Const{Value: outer[o.Index], T: o.T}
		}
		return x
	})
	return scalar.Eval(x, row, e.env)
}

func (e *eval) value(x scalar.Expr, row []vec.Datum) vec.Datum {
	d, err := e.expr(x, row)
	if err != nil {
		fail(err)
	}
	return d.Clone()
}

// holds says whether all predicates are true for a row.
func (e *eval) holds(preds []scalar.Expr, row []vec.Datum) bool {
	d := e.value(scalar.AndOf(preds...), row)
	return !d.IsNull() && d.Bool()
}

func (e *eval) node(n logical.Node) plantest.Rows {
	out := plantest.Rows{}
	switch n := n.(type) {
	case *logical.Constant:
		out.AddBlock(n.Rows)
	case *logical.Get:
		return e.inputs[n.ID]
	case *logical.LetRef:
		return e.lets[n.ID]
	case *logical.Let:
		e.lets[n.ID] = e.node(n.Value())
		return e.node(n.Body())
	case *logical.Filter:
		for _, r := range e.node(n.Input()) {
			if e.holds(n.Preds, r.Data) {
				out.Add(r.Data, r.Count)
			}
		}
	case *logical.Map:
		for _, r := range e.node(n.Input()) {
			row := append([]vec.Datum{}, r.Data...)
			for _, x := range n.Exprs {
				row = append(row, e.value(x, r.Data))
			}
			out.Add(row, r.Count)
		}
	case *logical.Project:
		for _, r := range e.node(n.Input()) {
			row := make([]vec.Datum, len(n.Cols))
			for i, c := range n.Cols {
				row[i] = r.Data[c]
			}
			out.Add(row, r.Count)
		}
	case *logical.Union:
		for _, in := range n.Ins {
			for _, r := range e.node(in) {
				out.Add(r.Data, r.Count)
			}
		}
	case *logical.Negate:
		for _, r := range e.node(n.Input()) {
			out.Add(r.Data, -r.Count)
		}
	case *logical.Join:
		return e.join(n)
	case *logical.OuterJoin:
		return e.outerJoin(n)
	case *logical.SemiJoin:
		return e.semiJoin(n)
	case *logical.Apply:
		return e.apply(n)
	case *logical.TableFunc, *logical.Reduce, *logical.TopK, *logical.Threshold, *logical.Guard:
		return e.single(n)
	default:
		panic(fmt.Sprintf("logicaltest: node %T", n))
	}
	return out
}

func beside(a, b []vec.Datum) []vec.Datum { return append(append([]vec.Datum{}, a...), b...) }

func nulls(n logical.Node) []vec.Datum { return make([]vec.Datum, logical.Arity(n)) }

func (e *eval) join(n *logical.Join) plantest.Rows {
	all := plantest.Rows{}
	all.Add(nil, 1)
	for _, in := range n.Ins {
		next := plantest.Rows{}
		right := e.node(in)
		for _, l := range all {
			for _, r := range right {
				next.Add(beside(l.Data, r.Data), l.Count*r.Count)
			}
		}
		all = next
	}
	out := plantest.Rows{}
	for _, r := range all {
		if e.holds(n.Preds, r.Data) {
			out.Add(r.Data, r.Count)
		}
	}
	return out
}

func (e *eval) outerJoin(n *logical.OuterJoin) plantest.Rows {
	out := plantest.Rows{}
	left, right := e.node(n.Left()), e.node(n.Right())
	met := map[string]bool{}
	for _, l := range left {
		alone := true
		for _, r := range right {
			if row := beside(l.Data, r.Data); e.holds(n.On, row) {
				out.Add(row, l.Count*r.Count)
				alone = false
				met[plantest.Key(r.Data)] = true
			}
		}
		if alone {
			out.Add(beside(l.Data, nulls(n.Right())), l.Count)
		}
	}
	for _, r := range right {
		if n.Full && !met[plantest.Key(r.Data)] {
			out.Add(beside(nulls(n.Left()), r.Data), r.Count)
		}
	}
	return out
}

func (e *eval) semiJoin(n *logical.SemiJoin) plantest.Rows {
	out := plantest.Rows{}
	right := e.node(n.Right())
	for _, l := range e.node(n.Left()) {
		found := false
		for _, r := range right {
			found = found || e.holds(n.On, beside(l.Data, r.Data))
		}
		if found != n.Anti {
			out.Add(l.Data, l.Count)
		}
	}
	return out
}

// independent computes what in a tree depends on no outer row: it is a relation of its own, and fails if it fails,
// whether or not there is an outer row.
func (e *eval) independent(n logical.Node) {
	if !logical.Correlated(n) {
		e.node(n)
		return
	}
	for _, in := range n.Inputs() {
		e.independent(in)
	}
}

// apply computes the right side anew for each left row.
func (e *eval) apply(n *logical.Apply) plantest.Rows {
	out := plantest.Rows{}
	if len(e.outers) == 0 {
		e.independent(n.Right())
	}
	for _, l := range e.node(n.Left()) {
		e.outers = append(e.outers, l.Data)
		right := e.node(n.Right())
		e.outers = e.outers[:len(e.outers)-1]
		var total int64
		for _, r := range right {
			total += r.Count
		}
		switch n.Kind {
		case logical.ApplyExists:
			out.Add(beside(l.Data, []vec.Datum{vec.BoolOf(total > 0)}), l.Count)
		case logical.ApplySemi, logical.ApplyAnti:
			if (total > 0) == (n.Kind == logical.ApplySemi) {
				out.Add(l.Data, l.Count)
			}
		case logical.ApplyScalar:
			if total > 1 {
				fail(pgerr.New(pgerr.CardinalityViolation, "more than one row returned by a subquery used as an expression"))
			}
			fallthrough
		default:
			for _, r := range right {
				out.Add(beside(l.Data, r.Data), l.Count*r.Count)
			}
			if total == 0 && n.Kind != logical.ApplyInner {
				out.Add(beside(l.Data, nulls(n.Right())), l.Count)
			}
		}
	}
	return out
}

// single computes an operator that plans have too, by the evaluator of plans.
func (e *eval) single(n logical.Node) plantest.Rows {
	in := n.Inputs()[0]
	rows := e.node(in)
	id := tvc.ID{Class: 't', N: 1}
	cols := logical.Types(n)
	var op plan.Op
	switch n := n.(type) {
	case *logical.TableFunc:
		args := make([]scalar.Expr, len(n.Args))
		for i, a := range n.Args {
			args[i] = e.inlined(a)
		}
		op = &plan.TableFunc{Func: n.Func, Args: args, Ordinality: n.Ordinality}
	case *logical.Threshold:
		op = &plan.Threshold{}
	case *logical.TopK:
		k := &plan.TopK{Group: n.Group, Order: n.Order, Limit: -1}
		if n.Limit != nil {
			if d := e.value(n.Limit, nil); !d.IsNull() {
				k.Limit = d.Int()
			}
		}
		if n.Offset != nil {
			if d := e.value(n.Offset, nil); !d.IsNull() {
				k.Offset = d.Int()
			}
		}
		op = k
	case *logical.Guard:
		return e.guard(n, rows)
	case *logical.Reduce:
		return e.reduce(n, rows)
	}
	return e.plan(rows, id, logical.Types(in), plan.Node{Op: op, Inputs: []plan.NodeID{0}, Cols: cols})
}

// inlined has the values of enclosing rows in the place of Outers.
func (e *eval) inlined(x scalar.Expr) scalar.Expr {
	return scalar.Rewrite(x, func(x scalar.Expr) scalar.Expr {
		if o, ok := x.(*scalar.Outer); ok {
			return &scalar.Const{Value: e.outers[len(e.outers)-o.Level][o.Index], T: o.T}
		}
		return x
	})
}

// plan computes a plan's node over rows.
func (e *eval) plan(rows plantest.Rows, id tvc.ID, in []types.T, n plan.Node) plantest.Rows {
	df := &plan.Dataflow{Nodes: []plan.Node{{Op: &plan.Get{ID: id}, Cols: in}, n}}
	r := plantest.Eval(df, map[tvc.ID]plantest.Rows{id: rows}, e.env)
	if len(r.Errs) > 0 {
		fail(pgerr.Decode([]byte(r.Errs[0])))
	}
	return r.Rows
}

func (e *eval) guard(n *logical.Guard, rows plantest.Rows) plantest.Rows {
	counts := map[string]int64{}
	for _, r := range rows {
		key := make([]vec.Datum, len(n.Keys))
		for i, c := range n.Keys {
			key[i] = r.Data[c]
		}
		if counts[plantest.Key(key)] += r.Count; counts[plantest.Key(key)] > 1 {
			fail(n.Err)
		}
	}
	return rows
}

// reduce puts the keys first for the evaluator of plans.
func (e *eval) reduce(n *logical.Reduce, rows plantest.Rows) plantest.Rows {
	in := n.Input()
	k := len(n.Keys)
	keyed := plantest.Rows{}
	for _, r := range rows {
		row := make([]vec.Datum, 0, k+len(r.Data))
		for _, c := range n.Keys {
			row = append(row, r.Data[c])
		}
		keyed.Add(append(row, r.Data...), r.Count)
	}
	var cols []types.T
	for _, c := range n.Keys {
		cols = append(cols, in.Rel().Cols[c].Type)
	}
	cols = append(cols, logical.Types(in)...)
	op := &plan.Reduce{Keys: k}
	for _, a := range n.Aggs {
		a = a.Moved(func(c int) int { return k + c })
		op.Aggs = append(op.Aggs, plan.Agg{Func: a.Func, Args: a.Args, Distinct: a.Distinct, Filter: a.Filter, Order: a.Order})
	}
	out := e.plan(keyed, tvc.ID{Class: 't', N: 1}, cols, plan.Node{Op: op, Inputs: []plan.NodeID{0}, Cols: logical.Types(n)})
	if n.Global && len(out) == 0 {
		row := make([]vec.Datum, len(n.Aggs))
		for i, a := range n.Aggs {
			row[i] = logical.Empty(a.Func)
		}
		out.Add(row, 1)
	}
	return out
}

// Check evaluates every operator of a tree without Outer columns, and says which does not keep to what its Rel says:
// a NULL in a column that has none, or two rows that agree on a key.
func Check(n logical.Node, inputs map[tvc.ID]plantest.Rows, env scalar.Env) error {
	e := &eval{inputs: inputs, env: env, lets: map[int]plantest.Rows{}}
	var bad error
	var visit func(n logical.Node) bool
	visit = func(n logical.Node) bool {
		if l, ok := n.(*logical.Let); ok {
			logical.Walk(l.Value(), visit)
			rows, err := e.try(l.Value())
			if err != nil {
				return false
			}
			e.lets[l.ID] = rows
			logical.Walk(l.Body(), visit)
			return false
		}
		if bad == nil && !logical.Correlated(n) {
			if rows, err := e.try(n); err == nil {
				bad = check(n, rows)
			}
		}
		return bad == nil
	}
	logical.Walk(n, visit)
	return bad
}

// try evaluates, and gives an error of the query's.
func (e *eval) try(n logical.Node) (rows plantest.Rows, err error) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.err
		default:
			panic(f)
		}
	}()
	return e.node(n), nil
}

func check(n logical.Node, rows plantest.Rows) error {
	for _, r := range rows {
		for c, d := range r.Data {
			if d.IsNull() && !n.Rel().Cols[c].Nullable {
				return fmt.Errorf("column %d is NULL in %s of\n%s", c, plantest.Key(r.Data), logical.Format(n))
			}
		}
	}
	for _, key := range n.Rel().Keys {
		counts := map[string]int64{}
		for _, r := range rows {
			values := make([]vec.Datum, len(key))
			for i, c := range key {
				values[i] = r.Data[c]
			}
			k := plantest.Key(values)
			if counts[k] += r.Count; counts[k] > 1 {
				return fmt.Errorf("%v is no key: %s comes more than once in\n%s", key, k, logical.Format(n))
			}
		}
	}
	return nil
}
