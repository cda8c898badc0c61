package plan_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

var filtered = []types.T{types.TInt4, types.TInt8, types.TText, types.TFloat8, types.TBool, types.TDate, types.TTimestamp}

func drawn(rng *rand.Rand, t types.T) vec.Datum {
	switch t.Kind() {
	case types.Int:
		return vec.IntOf(int64(rng.IntN(5)))
	case types.Float:
		return vec.FloatOf([]float64{0, 1, 2.5, math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(6)])
	case types.Bool:
		return vec.BoolOf(rng.IntN(2) == 0)
	}
	return vec.StrOf([]string{"", "a", "ab", "b"}[rng.IntN(4)])
}

func operator(tb testing.TB, symbol string, left, right types.T) *scalar.Func {
	tb.Helper()
	for _, f := range fn.Operator(symbol) {
		if len(f.Args) == 2 && f.Args[0].OID == left.OID && f.Args[1].OID == right.OID {
			return f
		}
	}
	tb.Fatalf("there is no %v %s %v", left, symbol, right)
	return nil
}

// conjunct draws a condition over the columns of filtered.
func conjunct(tb testing.TB, rng *rand.Rand, mapped int) scalar.Expr {
	c := rng.IntN(len(filtered))
	col := &scalar.Col{Index: c, T: filtered[c]}
	constant := func(t types.T) scalar.Expr { return &scalar.Const{Value: drawn(rng, t), T: t} }
	symbol := []string{"=", "<>", "<", "<=", ">", ">="}[rng.IntN(6)]
	switch rng.IntN(10) {
	case 0:
		return &scalar.IsNull{Arg: col}
	case 1:
		return fn.Not(&scalar.IsNull{Arg: col})
	case 2:
		values := []vec.Datum{drawn(rng, col.T), drawn(rng, col.T)}
		if rng.IntN(3) == 0 {
			values = append(values, vec.Null)
		}
		return scalar.InOf(col, values...)
	case 3:
		flag := &scalar.Col{Index: 4, T: types.TBool}
		if rng.IntN(2) == 0 {
			return fn.Not(flag)
		}
		return flag
	case 4: // fails where the column is 0
		k := &scalar.Col{Index: 0, T: types.TInt4}
		div := &scalar.Call{Func: operator(tb, "/", types.TInt4, types.TInt4), T: types.TInt4,
			Args: []scalar.Expr{&scalar.Const{Value: vec.IntOf(4), T: types.TInt4}, k}}
		return &scalar.Call{Func: operator(tb, symbol, types.TInt4, types.TInt4), T: types.TBool,
			Args: []scalar.Expr{div, &scalar.Const{Value: vec.IntOf(2), T: types.TInt4}}}
	case 5: // a date against a timestamp
		return &scalar.Call{Func: operator(tb, symbol, types.TDate, types.TTimestamp), T: types.TBool,
			Args: []scalar.Expr{&scalar.Col{Index: 5, T: types.TDate}, constant(types.TTimestamp)}}
	case 6:
		return &scalar.Call{Func: operator(tb, symbol, types.TInt4, types.TInt8), T: types.TBool,
			Args: []scalar.Expr{&scalar.Col{Index: 0, T: types.TInt4}, constant(types.TInt8)}}
	case 7: // of what is mapped
		return &scalar.Call{Func: operator(tb, symbol, types.TInt4, types.TInt4), T: types.TBool,
			Args: []scalar.Expr{&scalar.Col{Index: mapped, T: types.TInt4}, constant(types.TInt4)}}
	}
	args := []scalar.Expr{col, constant(col.T)}
	if rng.IntN(2) == 0 {
		slices.Reverse(args)
	}
	return &scalar.Call{Func: operator(tb, symbol, col.T, col.T), T: types.TBool, Args: args}
}

func meets(c shard.Condition, d vec.Datum) bool {
	if d.IsNull() {
		return c.Null
	}
	return slices.ContainsFunc(c.Ranges, func(r shard.Range) bool {
		return (r.Min.IsNull() || d.Compare(r.Min) > 0 || d.Equal(r.Min) && !r.MinOpen) &&
			(r.Max.IsNull() || d.Compare(r.Max) < 0 || d.Equal(r.Max) && !r.MaxOpen)
	})
}

// TestRowsThatAreNotWantedComeToNothing: a row that meets none of what a plan's Reading says neither gets through the
// plan's filters nor fails, and the columns it lists are enough. Where no conjunct can fail, a row that meets all
// conditions made of all conjuncts gets through.
func TestRowsThatAreNotWantedComeToNothing(t *testing.T) {
	left, kept := 0, 0
	id := tvc.ID{Class: 'u', N: 1}
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := len(filtered)
		// The mapped column fails where the first one is 3.
		minus := &scalar.Call{Func: operator(t, "-", types.TInt4, types.TInt4), T: types.TInt4,
			Args: []scalar.Expr{&scalar.Col{Index: 0, T: types.TInt4}, &scalar.Const{Value: vec.IntOf(3), T: types.TInt4}}}
		over := &scalar.Call{Func: operator(t, "/", types.TInt4, types.TInt4), T: types.TInt4,
			Args: []scalar.Expr{&scalar.Const{Value: vec.IntOf(2), T: types.TInt4}, minus}}
		m := scalar.MFP{Arity: n, Map: []scalar.Expr{over}, Project: []int{1}}
		for range 1 + rng.IntN(3) {
			m.Filter = append(m.Filter, conjunct(t, rng, n))
		}
		df := &plan.Dataflow{Nodes: []plan.Node{{Op: &plan.Get{ID: id}, Cols: filtered},
			{Op: &plan.MFP{MFP: m}, Inputs: []plan.NodeID{0}, Cols: []types.T{types.TInt8}}}}
		r := df.Reading(id)
		narrow := vec.NewBlock(nil, 0)
		var cols []types.T
		for _, c := range r.Cols {
			cols = append(cols, filtered[c])
			narrow.Cols = append(narrow.Cols, vec.New(filtered[c].Kind(), 1))
		}
		prog, err := scalar.Compile(plan.Narrowed(m, r.Cols), cols, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			row := make([]vec.Datum, n)
			for c := range row {
				if row[c] = drawn(rng, filtered[c]); rng.IntN(5) == 0 {
					row[c] = vec.Null
				}
			}
			want := r.Any == nil || slices.ContainsFunc(r.Any, func(all []shard.Condition) bool {
				return !slices.ContainsFunc(all, func(c shard.Condition) bool { return !meets(c, row[c.Col]) })
			})
			narrow.Reset()
			some := make([]vec.Datum, len(r.Cols))
			for i, c := range r.Cols {
				some[i] = row[c]
			}
			narrow.AppendRow(1, some...)
			var errs scalar.Errors
			out := vec.NewBlock([]types.Kind{types.Int}, 1)
			prog.Apply(narrow, out, &errs)
			if came := out.Len+errs.Len() > 0; came && !want {
				t.Fatalf("seed %d: %v comes through %v, which wants %+v", seed, row, scalar.FormatList(m.Filter, nil), r.Any)
			}
			if want {
				kept++
			} else {
				left++
			}
		}
	}
	if left < 10_000 || kept < 10_000 {
		t.Errorf("%d rows are left out, %d kept: the draw is too narrow", left, kept)
	}
}

// TestWhatReadsEverything: where rows go into anything but filters and projections, all of them are read.
func TestWhatReadsEverything(t *testing.T) {
	id := tvc.ID{Class: 'u', N: 1}
	get := plan.Node{Op: &plan.Get{ID: id}, Cols: []types.T{types.TInt8, types.TInt8, types.TInt8}}
	over := func(op plan.Op, in ...plan.NodeID) plan.Node { return plan.Node{Op: op, Inputs: in} }
	col := func(i int) scalar.Expr { return &scalar.Col{Index: i, T: types.TInt8} }
	null := func(i int) *plan.MFP {
		return &plan.MFP{MFP: scalar.MFP{Arity: 3, Filter: []scalar.Expr{&scalar.IsNull{Arg: col(i)}}, Project: []int{i}}}
	}
	all := &plan.MFP{MFP: scalar.MFP{Arity: 3, Project: []int{2}}}
	for name, c := range map[string]struct {
		nodes []plan.Node
		cols  []int // nil: all
		lists int
	}{
		"the result itself":       {[]plan.Node{get}, nil, 0},
		"a filter":                {[]plan.Node{get, over(null(1), 0)}, []int{1}, 1},
		"two filters":             {[]plan.Node{get, over(null(0), 0), over(null(1), 0), over(&plan.Union{}, 1, 2)}, []int{0, 1}, 2},
		"a filter and none":       {[]plan.Node{get, over(null(0), 0), over(all, 0), over(&plan.Union{}, 1, 2)}, []int{0, 2}, 0},
		"no column":               {[]plan.Node{get, over(&plan.MFP{MFP: scalar.MFP{Arity: 3}}, 0)}, []int{}, 0},
		"the first rows":          {[]plan.Node{get, over(&plan.TopK{}, 0)}, nil, 0},
		"a filter and first rows": {[]plan.Node{get, over(null(0), 0), over(&plan.TopK{}, 0), over(&plan.Union{}, 1, 2)}, nil, 0},
	} {
		r := (&plan.Dataflow{Nodes: c.nodes}).Reading(id)
		if (r.Cols == nil) != (c.cols == nil) || !slices.Equal(r.Cols, c.cols) || len(r.Any) != c.lists {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
