package render_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/compute/render"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// A random history is run through a random plan under several variations; at every time the accumulated
// output must be what the reference gives over the accumulated input.

var int8s = []types.T{types.TInt8, types.TInt8, types.TText}

func fnRow(name string, args []types.T, ret types.T, f func(a []vec.Datum) (vec.Datum, error)) *scalar.Func {
	return &scalar.Func{Name: name, Args: args, Ret: ret, Strict: true, CanFail: true,
		Row: func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return f(a) }}
}

var (
	less = fnRow("<", []types.T{types.TInt8, types.TInt8}, types.TBool, func(a []vec.Datum) (vec.Datum, error) {
		return vec.BoolOf(a[0].Int() < a[1].Int()), nil
	})
	div = fnRow("/", []types.T{types.TInt8, types.TInt8}, types.TInt8, func(a []vec.Datum) (vec.Datum, error) {
		if a[1].Int() == 0 {
			return vec.Null, pgerr.New(pgerr.DivisionByZero, "division by zero")
		}
		return vec.IntOf(a[0].Int() / a[1].Int()), nil
	})
	count = &scalar.Agg{Name: "count", Ret: types.TInt8, Accum: &scalar.Accum{
		Update: func([]uint64, int, int, []int32, []*vec.Vec, []int64) {},
		Result: func(_ []uint64, rows int64) (vec.Datum, error) { return vec.IntOf(rows), nil }}}
	sum = &scalar.Agg{Name: "sum", Args: []types.T{types.TInt8}, Ret: types.TInt8, Accum: &scalar.Accum{Words: 2,
		Update: func(slab []uint64, stride, at int, groups []int32, args []*vec.Vec, diffs []int64) {
			for i, g := range groups {
				if g < 0 || args[0].IsNull(i) {
					continue
				}
				d := int64(1)
				if diffs != nil {
					d = diffs[i]
				}
				s := slab[int(g)*stride+at:]
				s[0] += uint64(d * args[0].Ints[i])
				s[1] += uint64(d)
			}
		},
		Result: func(s []uint64, _ int64) (vec.Datum, error) {
			if s[1] == 0 {
				return vec.Null, nil
			}
			return vec.IntOf(int64(s[0])), nil
		}}}
	minimum = &scalar.Agg{Name: "min", Order: scalar.Min}
	maximum = &scalar.Agg{Name: "max", Order: scalar.Max}
	concat  = &scalar.Agg{Name: "concat", Ret: types.TText, Fold: func(_ scalar.Env, rows *scalar.Rows) (vec.Datum, error) {
		s := ""
		for i := range rows.N {
			s += rows.Args[0].Datum(i).GoString() + ","
		}
		return vec.StrOf(s), nil
	}}
)

type planner struct {
	r  *rand.Rand
	df plan.Dataflow
	// sign says of each node whether its rows may count less than zero times: such must not go on into what
	// minds.
	sign []bool
}

func (p *planner) add(op plan.Op, cols []types.T, negative bool, in ...plan.NodeID) plan.NodeID {
	p.df.Nodes = append(p.df.Nodes, plan.Node{Op: op, Inputs: in, Cols: cols})
	p.sign = append(p.sign, negative)
	return plan.NodeID(len(p.df.Nodes) - 1)
}

// threeCols makes a node of the three standard columns out of any.
func (p *planner) threeCols(in plan.NodeID) plan.NodeID {
	cols := p.df.Nodes[in].Cols
	m := scalar.MFP{Arity: len(cols)}
	pick := func(k types.Kind) {
		for _, c := range p.r.Perm(len(cols)) {
			if cols[c].Kind() == k {
				m.Project = append(m.Project, c)
				return
			}
		}
		c := &scalar.Const{Value: vec.IntOf(int64(p.r.IntN(3))), T: types.TInt8}
		if k == types.Bytes {
			c = &scalar.Const{Value: vec.StrOf("c"), T: types.TText}
		}
		m.Map = append(m.Map, c)
		m.Project = append(m.Project, len(cols)+len(m.Map)-1)
	}
	pick(types.Int)
	pick(types.Int)
	pick(types.Bytes)
	return p.add(&plan.MFP{MFP: m}, int8s, p.sign[in], in)
}

func col(i int) scalar.Expr { return &scalar.Col{Index: i, T: types.TInt8} }

func num(n int) scalar.Expr { return &scalar.Const{Value: vec.IntOf(int64(n)), T: types.TInt8} }

func (p *planner) grow(ins int) {
	r := p.r
	pickIn := func() plan.NodeID {
		for {
			in := plan.NodeID(r.IntN(len(p.df.Nodes)))
			if slices.EqualFunc(p.df.Nodes[in].Cols, int8s, types.T.Equal) && !p.sign[in] {
				return in
			}
		}
	}
	a, b := pickIn(), pickIn()
	switch r.IntN(10) {
	case 0:
		m := scalar.MFP{Arity: 3, Filter: []scalar.Expr{&scalar.Call{Func: less, Args: []scalar.Expr{col(0), num(r.IntN(8))}, T: types.TBool}},
			Map: []scalar.Expr{&scalar.Call{Func: div, Args: []scalar.Expr{num(12), col(1)}, T: types.TInt8}}, Project: []int{3, 1, 2}}
		if r.IntN(2) == 0 {
			m.Project = []int{1, 0, 2} // the division is not used, and must not fail
		}
		p.add(&plan.MFP{MFP: m}, int8s, false, a)
	case 1, 2:
		j := &plan.Join{Out: []int{0, 1, 3, 4, 5, 2}[:3+r.IntN(4)]}
		st := plan.JoinStage{}
		if r.IntN(8) > 0 {
			st = plan.JoinStage{Left: []int{r.IntN(2)}, Right: []int{r.IntN(2)}, NullEq: []bool{r.IntN(2) == 0}}
		}
		j.Stages = append(j.Stages, st)
		in := []plan.NodeID{a, b}
		if r.IntN(2) == 0 {
			j.Stages = append(j.Stages, plan.JoinStage{Left: []int{r.IntN(2), 3 + r.IntN(2)}, Right: []int{0, 1}, NullEq: []bool{false, true}})
			j.Out = append(slices.Clone(j.Out), 7, 8)
			in = append(in, pickIn())
		}
		var cols []types.T
		for _, c := range j.Out {
			cols = append(cols, int8s[c%3])
		}
		p.threeCols(p.add(j, cols, false, in...))
	case 3, 4, 5:
		keys := r.IntN(3)
		red := &plan.Reduce{Keys: keys}
		cols := slices.Clone(int8s[:keys])
		for range r.IntN(4) {
			ag := plan.Agg{Filter: -1}
			switch r.IntN(5) {
			case 0:
				ag.Func = count
				cols = append(cols, types.TInt8)
			case 1:
				ag.Func, ag.Args, ag.Distinct = sum, []int{r.IntN(2)}, r.IntN(3) == 0
				cols = append(cols, types.TInt8)
			case 2, 3:
				ag.Func, ag.Args = []*scalar.Agg{minimum, maximum}[r.IntN(2)], []int{r.IntN(3)}
				cols = append(cols, int8s[ag.Args[0]])
			case 4:
				ag.Func, ag.Args, ag.Distinct = concat, []int{r.IntN(3)}, r.IntN(3) == 0
				if !ag.Distinct {
					ag.Order = []plan.Order{{Col: r.IntN(3), Desc: r.IntN(2) == 0, NullsFirst: r.IntN(2) == 0}}
				}
				cols = append(cols, types.TText)
			}
			red.Aggs = append(red.Aggs, ag)
		}
		if len(cols) == 0 {
			return
		}
		p.threeCols(p.add(red, cols, false, a))
	case 6, 7:
		p.add(&plan.TopK{Group: []int{r.IntN(2)}[:r.IntN(2)], Order: []plan.Order{{Col: r.IntN(3), Desc: r.IntN(2) == 0, NullsFirst: r.IntN(2) == 0}}[:r.IntN(2)],
			Limit: int64(r.IntN(6)) - 1, Offset: int64(r.IntN(3))}, int8s, false, a)
	case 8:
		neg := p.add(&plan.Negate{}, int8s, true, b)
		u := p.add(&plan.Union{}, int8s, true, a, neg)
		p.add(&plan.Threshold{}, int8s, false, u)
	case 9:
		if r.IntN(3) == 0 {
			g := p.add(&plan.Guard{Keys: 2, Err: pgerr.New(pgerr.CardinalityViolation, "more than one row")}, int8s, false, a)
			_ = g
		} else {
			p.add(&plan.Union{}, int8s, false, a, b)
		}
	}
	_ = ins
}

func randomPlan(r *rand.Rand, ins int) *plan.Dataflow {
	p := &planner{r: r}
	p.df.Name = "test"
	for i := range ins {
		p.add(&plan.Get{ID: id(i)}, int8s, false)
	}
	if r.IntN(4) == 0 {
		b := vec.NewBlock([]types.Kind{types.Int, types.Int, types.Bytes}, 1)
		b.AppendRow(2, vec.IntOf(1), vec.Null, vec.StrOf("k"))
		p.add(&plan.Constant{Rows: b}, int8s, false)
	}
	for range 1 + r.IntN(5) {
		p.grow(ins)
	}
	p.threeCols(plan.NodeID(len(p.df.Nodes) - 1 - boolInt(p.sign[len(p.sign)-1])))
	return &p.df
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func id(i int) tvc.ID { return tvc.ID{Class: 'u', N: uint64(i)} }

type change struct {
	in   int
	row  []vec.Datum
	diff int64
	at   uint64
}

// history makes changes that never take a row's count below zero.
func history(r *rand.Rand, ins, times int) []change {
	var out []change
	live := make([]plantest.Rows, ins)
	for i := range live {
		live[i] = plantest.Rows{}
	}
	grows := r.IntN(2) == 0 // the first time has no deletions
	for t := 1; t <= times; t++ {
		n := r.IntN(5)
		if t == 1 {
			n = 30
		}
		for range n {
			in := r.IntN(ins)
			if rows := live[in].Sorted(); r.IntN(3) == 0 && len(rows) > 0 && !(grows && t == 1) {
				row := rows[r.IntN(len(rows))]
				out = append(out, change{in, row.Data, -1, uint64(t)})
				live[in].Add(row.Data, -1)
				continue
			}
			row := []vec.Datum{vec.IntOf(int64(r.IntN(5))), vec.IntOf(int64(r.IntN(4))), vec.StrOf(string(rune('a' + r.IntN(3))))}
			for c := range row {
				if r.IntN(8) == 0 {
					row[c] = vec.Null
				}
			}
			out = append(out, change{in, row, 1, uint64(t)})
			live[in].Add(row, 1)
		}
	}
	return out
}

// collect is a sink that accumulates what it gets, by time.
type collect struct {
	rows map[uint64]plantest.Rows
	errs map[uint64]map[string]int64
	at   uint64
	// fresh says that this is the first tick, negative that a row of it counted less than zero times.
	fresh, negative bool
}

func (c *collect) Begin(_ int, t *dataflow.Tick) { c.at, c.fresh = uint64(t.At), t.Fresh }

func (c *collect) Absorb(_ *dataflow.Lane, _, _ int, b *vec.Block) {
	for i := range b.Len {
		t := c.at
		if b.Times != nil {
			t = b.Times[i]
		}
		if c.rows[t] == nil {
			c.rows[t] = plantest.Rows{}
		}
		c.rows[t].Add(b.Row(i, nil), b.Diff(i))
		c.negative = c.negative || c.fresh && b.Diff(i) < 0
	}
}

func (c *collect) AbsorbErrors(_ *dataflow.Lane, _ *dataflow.Tick, b *vec.Block) {
	for i := range b.Len {
		t := c.at
		if b.Times != nil {
			t = b.Times[i]
		}
		if c.errs[t] == nil {
			c.errs[t] = map[string]int64{}
		}
		c.errs[t][string(b.Cols[0].Bytes(i))] += b.Diff(i)
	}
}

func (c *collect) Emit(*dataflow.Lane, int, *dataflow.Output) bool { return false }
func (c *collect) End(*dataflow.Lane, int)                         {}

// variation is how a history is put through a dataflow.
type variation struct {
	workers int
	cuts    int // times a tick covers at most
	block   int // rows a block
}

func run(t *testing.T, df *plan.Dataflow, hist []change, times int, v variation, r *rand.Rand) *collect {
	t.Helper()
	sink := &collect{rows: map[uint64]plantest.Rows{}, errs: map[uint64]map[string]int64{}}
	rd, err := render.Render(df, render.Options{Workers: v.workers, Sched: dataflow.NewScheduler(),
		Sink: func([]types.T) (dataflow.ErrorSink, dataflow.Route) { return sink, dataflow.ToFirst() }})
	if err != nil {
		t.Fatal(err)
	}
	first := true
	for lower := 1; lower <= times; {
		upper := lower + 1 + r.IntN(v.cuts)
		multi := upper > lower+1
		tick := dataflow.Tick{Lower: tvc.Frontier(lower), Upper: tvc.Frontier(upper), At: tvc.Time(upper - 1), Multi: multi}
		sink.at = uint64(upper - 1)
		var feeds []dataflow.Feed
		for _, s := range rd.Sources {
			var blocks []*vec.Block
			b := vec.NewBlock(kindsOf(s), 0)
			cut := func() {
				if b.Len > 0 {
					blocks = append(blocks, b)
					b = vec.NewBlock(kindsOf(s), 0)
				}
			}
			for _, c := range hist {
				if s.ID != id(c.in) || c.at < uint64(lower) || c.at >= uint64(upper) {
					continue
				}
				if r.IntN(2) == 0 && leftOut(t, s, c.row) {
					continue
				}
				if multi {
					b.Times = append(b.Times, c.at)
				}
				b.AppendRow(c.diff, lookedAt(s, c.row)...)
				if b.Len == v.block {
					cut()
				}
			}
			cut()
			if s.ID == (tvc.ID{}) && first {
				c := s.Rows.Clone()
				if multi {
					c.Times = make([]uint64, c.Len)
					for i := range c.Times {
						c.Times[i] = uint64(lower)
					}
				}
				blocks = append(blocks, c)
			}
			feeds = append(feeds, dataflow.Feed{Source: s.Node, Next: dataflow.Blocks(blocks), Stable: true})
		}
		first = false
		if err := rd.Flow.Tick(context.Background(), tick, feeds); err != nil {
			t.Fatal(err)
		}
		lower = upper
	}
	return sink
}

// lookedAt is what a source wants of a row.
func lookedAt[T any](s render.Source, row []T) []T {
	if s.Cols == nil {
		return row
	}
	out := make([]T, len(s.Cols))
	for i, c := range s.Cols {
		out[i] = row[c]
	}
	return out
}

func kindsOf(s render.Source) []types.Kind {
	return lookedAt(s, []types.Kind{types.Int, types.Int, types.Bytes})
}

// leftOut says whether a source does not want a row, and holds it against what its filter makes of the row.
func leftOut(t *testing.T, s render.Source, row []vec.Datum) bool {
	t.Helper()
	if s.Filter.Any == nil {
		return false
	}
	for _, all := range s.Filter.Any {
		if !slices.ContainsFunc(all, func(c shard.Condition) bool { return !meets(c, row[c.Col]) }) {
			return false
		}
	}
	b := vec.NewBlock(kindsOf(s), 1)
	b.AppendRow(1, lookedAt(s, row)...)
	if s.Filter.Wants(b) {
		t.Fatalf("%v is wanted, though %+v says it is not", row, s.Filter.Any)
	}
	return true
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

// manySeeds is how many histories TestEngineOwesRecomputation tries.
var manySeeds = flag.Uint64("seeds", 400, "how many random histories are tried")

// TestEngineOwesRecomputation is promise O1 and O3 of package op, and the promise of this package.
func TestEngineOwesRecomputation(t *testing.T) {
	seeds := *manySeeds
	if testing.Short() {
		seeds = min(seeds, 60)
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		ins := 1 + r.IntN(3)
		df := randomPlan(r, ins)
		const times = 14
		hist := history(r, ins, times)
		defer func() {
			if p := recover(); p != nil {
				t.Fatalf("seed %d: %v\n%s", seed, p, describe(df))
			}
		}()
		want := reference(df, hist, ins, times)
		for _, v := range []variation{{1, 1, 1000}, {1, 5, 3}, {2, 1, 1}, {4, 3, 7}, {7, 20, 1000}} {
			got := run(t, df, hist, times, v, r)
			name := fmt.Sprintf("seed %d %+v", seed, v)
			check(t, name, got, want, times, df)
			consolidated := !slices.ContainsFunc(hist, func(c change) bool { return c.at == 1 && c.diff < 0 })
			if v.cuts == 1 && got.negative && df.Positive(consolidated) {
				t.Fatalf("%s: a row of the first tick counts less than zero times\n%s", name, describe(df))
			}
		}
	}
}

func reference(df *plan.Dataflow, hist []change, ins, times int) []plantest.Result {
	live := map[tvc.ID]plantest.Rows{}
	for i := range ins {
		live[id(i)] = plantest.Rows{}
	}
	var out []plantest.Result
	for t := 1; t <= times; t++ {
		for _, c := range hist {
			if c.at == uint64(t) {
				live[id(c.in)].Add(c.row, c.diff)
			}
		}
		out = append(out, plantest.Eval(df, live, nil))
	}
	return out
}

func check(t *testing.T, name string, got *collect, want []plantest.Result, times int, df *plan.Dataflow) {
	t.Helper()
	rows, errs := plantest.Rows{}, map[string]int64{}
	for at := uint64(1); at <= uint64(times); at++ {
		for _, row := range got.rows[at] {
			rows.Add(row.Data, row.Count)
		}
		for e, n := range got.errs[at] {
			errs[e] += n
		}
		res := plantest.Result{Rows: rows}
		for e, n := range errs {
			if n != 0 && n != 1 {
				t.Fatalf("%s: at %d the error %q counts %d times", name, at, e, n)
			}
			if n == 1 {
				res.Errs = append(res.Errs, e)
			}
		}
		slices.Sort(res.Errs)
		// The first time of a plan with constants may be any of its first tick's.
		if res.String() != want[at-1].String() {
			t.Fatalf("%s: at %d\n%s\nwant\n%s\nplan:\n%s", name, at, res, want[at-1], describe(df))
		}
	}
}

func describe(df *plan.Dataflow) string {
	s := ""
	for i, n := range df.Nodes {
		s += fmt.Sprintf("%d: %T%+v %v\n", i, n.Op, n.Op, n.Inputs)
	}
	return s
}

// TestConstantsRunOnOneGoroutine: what reads no collection starts no goroutine, however many rows it makes.
func TestConstantsRunOnOneGoroutine(t *testing.T) {
	before, most := runtime.NumGoroutine(), 0
	watch := fnRow("watch", []types.T{types.TInt8}, types.TInt8, func(a []vec.Datum) (vec.Datum, error) {
		most = max(most, runtime.NumGoroutine())
		return a[0], nil
	})
	series := &scalar.TableFunc{Name: "series", Rows: func(_ scalar.Env, _ []vec.Datum, emit func(row ...vec.Datum) error) error {
		for i := range int64(50_000) {
			if err := emit(vec.IntOf(i)); err != nil {
				return err
			}
		}
		return nil
	}}
	one := []types.T{types.TInt8}
	watched := scalar.MFP{Arity: 1, Map: []scalar.Expr{&scalar.Call{Func: watch, Args: []scalar.Expr{col(0)}, T: types.TInt8}}, Project: []int{1}}
	df := &plan.Dataflow{Name: "test", Nodes: []plan.Node{
		{Op: &plan.Constant{Rows: &vec.Block{Len: 1}}},
		{Op: &plan.TableFunc{Func: series}, Inputs: []plan.NodeID{0}, Cols: one},
		{Op: &plan.Reduce{Keys: 1}, Inputs: []plan.NodeID{1}, Cols: one},
		{Op: &plan.MFP{MFP: watched}, Inputs: []plan.NodeID{2}, Cols: one},
	}}
	sink := &collect{rows: map[uint64]plantest.Rows{}, errs: map[uint64]map[string]int64{}}
	rd, err := render.Render(df, render.Options{Workers: 4, Sched: dataflow.NewScheduler(),
		Sink: func([]types.T) (dataflow.ErrorSink, dataflow.Route) { return sink, dataflow.ToFirst() }})
	if err != nil {
		t.Fatal(err)
	}
	feed := dataflow.Feed{Source: rd.Sources[0].Node, Next: dataflow.Blocks([]*vec.Block{rd.Sources[0].Rows}), Stable: true}
	if err := rd.Flow.Tick(context.Background(), dataflow.Tick{Upper: 2, At: 1}, []dataflow.Feed{feed}); err != nil {
		t.Fatal(err)
	}
	if n := len(sink.rows[1]); n != 50_000 || most != before {
		t.Errorf("%d rows; %d goroutines were running, %d before", n, most, before)
	}
}

// TestJoinByChangesIsNotRendered: a plan that the renderer does not know is never rendered as another one.
func TestJoinByChangesIsNotRendered(t *testing.T) {
	df := &plan.Dataflow{Name: "test", Nodes: []plan.Node{{Op: &plan.Get{ID: id(0)}, Cols: int8s},
		{Op: &plan.Join{Stages: make([]plan.JoinStage, 1), Delta: true, Out: []int{0, 1, 5}}, Inputs: []plan.NodeID{0, 0}, Cols: int8s}}}
	defer func() {
		if v, ok := recover().(invariants.Violation); !ok || !strings.Contains(v.Message, "join") {
			t.Errorf("it ends with %v", v)
		}
	}()
	sink := &collect{}
	_, err := render.Render(df, render.Options{Sched: dataflow.NewScheduler(),
		Sink: func([]types.T) (dataflow.ErrorSink, dataflow.Route) { return sink, dataflow.ToFirst() }})
	t.Errorf("it is rendered, with error %v", err)
}
