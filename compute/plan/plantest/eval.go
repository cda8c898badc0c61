// Package plantest evaluates plans too dumbly to be wrong: nested loops and maps over rows of data. It is
// the reference that the engine is held against, and it is for tests only.
package plantest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Row is one distinct row with how often it counts.
type Row struct {
	Data  []vec.Datum
	Count int64
}

// Rows is a multiset of rows, by their text.
type Rows map[string]Row

// Add counts a row diff times more.
func (r Rows) Add(data []vec.Datum, diff int64) {
	key := Key(data)
	row, ok := r[key]
	if !ok {
		row.Data = make([]vec.Datum, len(data))
		for i, d := range data {
			row.Data[i] = d.Clone()
		}
	}
	row.Count += diff
	if row.Count == 0 {
		delete(r, key)
	} else {
		r[key] = row
	}
}

// AddBlock counts all rows of a block.
func (r Rows) AddBlock(b *vec.Block) {
	for i := range b.Len {
		r.Add(b.Row(i, nil), b.Diff(i))
	}
}

// Sorted gives the rows in the order of their data.
func (r Rows) Sorted() []Row {
	out := make([]Row, 0, len(r))
	for _, row := range r {
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b Row) int { return compare(a.Data, b.Data) })
	return out
}

func (r Rows) String() string {
	var b strings.Builder
	for _, row := range r.Sorted() {
		fmt.Fprintf(&b, "%s ×%d\n", Key(row.Data), row.Count)
	}
	return b.String()
}

// Key is a row as text.
func Key(data []vec.Datum) string {
	var b strings.Builder
	for i, d := range data {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(d.GoString())
	}
	return b.String()
}

func compare(a, b []vec.Datum) int {
	for i := range a {
		if c := a[i].Compare(b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// Result is what a plan gives: rows, or the set of errors that stand in their place.
type Result struct {
	Rows Rows
	Errs []string // encoded, sorted, distinct
}

func (r Result) String() string {
	if len(r.Errs) > 0 {
		return "errors:\n" + strings.Join(r.Errs, "\n") + "\n"
	}
	return r.Rows.String()
}

type eval struct {
	df     *plan.Dataflow
	inputs map[tvc.ID]Rows
	env    scalar.Env
	memo   []Rows
	errs   map[string]int64
}

// Eval gives the plan's result over the given contents of its imports.
func Eval(df *plan.Dataflow, inputs map[tvc.ID]Rows, env scalar.Env) Result {
	e := &eval{df: df, inputs: inputs, env: env, errs: map[string]int64{}}
	for i := range df.Nodes {
		e.memo = append(e.memo, e.node(&df.Nodes[i]))
	}
	res := Result{Rows: e.memo[len(e.memo)-1]}
	for err, n := range e.errs {
		if n > 0 {
			res.Errs = append(res.Errs, err)
		}
	}
	slices.Sort(res.Errs)
	return res
}

func (e *eval) fail(err error, diff int64) {
	e.errs[string(pgerr.From(err).Encode(nil))] += diff
}

func (e *eval) node(n *plan.Node) Rows {
	switch op := n.Op.(type) {
	case *plan.Get:
		return e.inputs[op.ID]
	case *plan.Constant:
		out := Rows{}
		if op.Err != nil {
			e.fail(op.Err, 1)
			return out
		}
		out.AddBlock(op.Rows)
		return out
	case *plan.MFP:
		return e.mfp(op.MFP, e.memo[n.Inputs[0]])
	case *plan.TableFunc:
		return e.tableFunc(op, e.memo[n.Inputs[0]])
	case *plan.Join:
		return e.join(op, n)
	case *plan.Reduce:
		return e.reduce(op, n, e.memo[n.Inputs[0]])
	case *plan.TopK:
		return e.topK(op, e.memo[n.Inputs[0]])
	case *plan.Threshold:
		out := Rows{}
		for _, r := range e.memo[n.Inputs[0]] {
			if r.Count > 0 {
				out.Add(r.Data, r.Count)
			}
		}
		return out
	case *plan.Negate:
		out := Rows{}
		for _, r := range e.memo[n.Inputs[0]] {
			out.Add(r.Data, -r.Count)
		}
		return out
	case *plan.Union:
		out := Rows{}
		for _, in := range n.Inputs {
			for _, r := range e.memo[in] {
				out.Add(r.Data, r.Count)
			}
		}
		return out
	case *plan.Guard:
		return e.guard(op, e.memo[n.Inputs[0]])
	}
	panic(fmt.Sprintf("plantest: node %T", n.Op))
}

func (e *eval) mfp(m scalar.MFP, in Rows) Rows {
	// Every map column is written out where it is used.
	exprs := make([]scalar.Expr, m.Arity)
	for _, x := range m.Map {
		exprs = append(exprs, inline(x, m.Arity, exprs))
	}
	var filter []scalar.Expr
	for _, f := range m.Filter {
		filter = append(filter, inline(f, m.Arity, exprs))
	}
	out := Rows{}
	for _, r := range in {
		if len(filter) > 0 {
			v, err := scalar.Eval(scalar.AndOf(filter...), r.Data, e.env)
			if err != nil {
				e.fail(err, r.Count)
				continue
			}
			if v.IsNull() || !v.Bool() {
				continue
			}
		}
		row := make([]vec.Datum, len(m.Project))
		var wrong error
		for i, c := range m.Project {
			if c < m.Arity {
				row[i] = r.Data[c]
				continue
			}
			v, err := scalar.Eval(exprs[c], r.Data, e.env)
			if err != nil {
				wrong = least(wrong, err)
			}
			row[i] = v.Clone()
		}
		if wrong != nil {
			e.fail(wrong, r.Count)
			continue
		}
		out.Add(row, r.Count)
	}
	return out
}

// inline writes the map columns that x uses out.
func inline(x scalar.Expr, arity int, exprs []scalar.Expr) scalar.Expr {
	return scalar.Rewrite(x, func(e scalar.Expr) scalar.Expr {
		if c, ok := e.(*scalar.Col); ok && c.Index >= arity {
			return exprs[c.Index]
		}
		return e
	})
}

func least(a, b error) error {
	if a == nil || scalar.Less(pgerr.From(b), pgerr.From(a)) {
		return b
	}
	return a
}

func (e *eval) tableFunc(t *plan.TableFunc, in Rows) Rows {
	out := Rows{}
rows:
	for _, r := range in {
		args := make([]vec.Datum, len(t.Args))
		for i, a := range t.Args {
			v, err := scalar.Eval(a, r.Data, e.env)
			if err != nil {
				e.fail(err, r.Count)
				continue rows
			}
			args[i] = v
			if v.IsNull() && t.Func.Strict {
				continue rows
			}
		}
		n := int64(0)
		err := t.Func.Rows(e.env, args, func(row ...vec.Datum) error {
			n++
			data := slices.Concat(r.Data, row)
			if t.Ordinality {
				data = append(data, vec.IntOf(n))
			}
			out.Add(data, r.Count)
			return nil
		})
		if err != nil {
			e.fail(err, r.Count)
		}
	}
	return out
}

func (e *eval) join(j *plan.Join, n *plan.Node) Rows {
	acc := e.memo[n.Inputs[0]]
	for s, st := range j.Stages {
		next := Rows{}
		for _, a := range acc {
			for _, b := range e.memo[n.Inputs[s+1]] {
				if keysMatch(st, a.Data, b.Data) {
					next.Add(slices.Concat(a.Data, b.Data), a.Count*b.Count)
				}
			}
		}
		acc = next
	}
	return pick(acc, j.Out)
}

func keysMatch(st plan.JoinStage, a, b []vec.Datum) bool {
	for k := range st.Left {
		x, y := a[st.Left[k]], b[st.Right[k]]
		if (x.IsNull() || y.IsNull()) && !(len(st.NullEq) > 0 && st.NullEq[k]) || !x.Equal(y) {
			return false
		}
	}
	return true
}

func pick(in Rows, cols []int) Rows {
	out := Rows{}
	for _, r := range in {
		row := make([]vec.Datum, len(cols))
		for i, c := range cols {
			row[i] = r.Data[c]
		}
		out.Add(row, r.Count)
	}
	return out
}

func (e *eval) guard(g *plan.Guard, in Rows) Rows {
	counts := map[string]int64{}
	for _, r := range in {
		counts[Key(r.Data[:g.Keys])] += r.Count
	}
	for _, n := range counts {
		if n > 1 {
			e.fail(g.Err, 1)
		}
	}
	return in
}
