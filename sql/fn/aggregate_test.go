package fn_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// group is a multiset of rows: each has as many values as the aggregate has arguments.
type group [][]value

// vectors are the arguments in columns.
func (g group) vectors(args []types.T) []*vec.Vec {
	vecs := make([]*vec.Vec, len(args))
	for k, t := range args {
		v := vec.New(t.Kind(), len(g))
		for _, row := range g {
			v.AppendDatum(row[k].d)
		}
		vecs[k] = &v
	}
	return vecs
}

// aggregate computes an aggregate of a group from scratch.
func aggregate(a *scalar.Agg, g group) (value, error) {
	switch {
	case a.Accum != nil:
		state := make([]uint64, a.Accum.Words)
		a.Accum.Update(state, 0, 0, make([]int32, len(g)), g.vectors(a.Args), nil)
		d, err := a.Accum.Result(state, int64(len(g)))
		return value{a.Ret, d}, err
	case a.Order != scalar.NotOrdered:
		top := vec.Null
		for _, row := range g {
			d := row[0].d
			if !d.IsNull() && (top.IsNull() || (d.Compare(top) > 0) == (a.Order == scalar.Max)) {
				top = d
			}
		}
		return value{a.Ret, top}, nil
	}
	rows := &scalar.Rows{}
	if !a.KeepNulls {
		g = slices.DeleteFunc(slices.Clone(g), func(row []value) bool { return row[0].d.IsNull() })
	}
	for _, v := range g.vectors(a.Args) {
		rows.Args = append(rows.Args, *v)
	}
	rows.N = len(g)
	d, err := a.Fold(testEnv{}, rows)
	return value{a.Ret, d}, err
}

// aggregateCases are the aggregates with concrete argument types.
func aggregateCases(t *testing.T) []*scalar.Agg {
	var out []*scalar.Agg
	for _, a := range fn.All().Aggregates {
		for n := range 3 {
			args := make([]types.T, len(a.Args))
			generic := false
			for i, p := range a.Args {
				args[i] = concrete(p, n)
				generic = generic || args[i].OID != p.OID
			}
			r, err := fn.ResolveAggregate(a.Name, args)
			if err != nil {
				t.Fatalf("%s(%s): %v", a.Name, listTypes(args), err)
			}
			if r.Func.OID == a.OID {
				g := *r.Func
				g.Args = r.Args
				out = append(out, &g)
			}
			if !generic {
				break
			}
		}
	}
	return out
}

func randomGroup(r *rand.Rand, args []types.T, n int) (group, []string) {
	var g group
	var tuples []string
	for range n {
		var row []value
		var parts []string
		for _, t := range args {
			texts := edges[t.OID]
			text, null := texts[r.IntN(len(texts))], r.IntN(6) == 0
			// Small sets of ordinary values too: edges alone are mostly overflow.
			if r.IntN(2) == 0 {
				text = texts[r.IntN(min(4, len(texts)))]
			}
			v := value{t: t}
			if !null {
				d, err := fn.Literal(nil, t, text)
				if err != nil {
					panic(err)
				}
				v.d = d
			}
			row = append(row, v)
			parts = append(parts, literalSQL(t, text, null))
		}
		g = append(g, row)
		tuples = append(tuples, "("+strings.Join(parts, ", ")+")")
	}
	return g, tuples
}

// aggregateException says why an aggregate gives something else, if it is meant to.
func aggregateException(a *scalar.Agg, g group, ours, theirs answer) string {
	special := slices.ContainsFunc(g, func(row []value) bool {
		x := row[0].d
		return a.Args[0].Kind() == types.Float && !x.IsNull() && (math.IsInf(x.Float(), 0) || math.IsNaN(x.Float()))
	})
	floats := len(a.Args) > 0 && a.Args[0].Kind() == types.Float
	switch {
	case floats && theirs.code == "22003":
		return "PostgreSQL overflows on the way, though the sum is in range"
	case floats && ours.code == "" && !special && a.Name != "sum":
		return "PostgreSQL rounds at each step"
	case floats && ours.text != theirs.text && a.Name == "sum" && closeTo(parse(ours.text), parse(theirs.text), 1e-6):
		return "PostgreSQL rounds at each step"
	case ours.message == "value overflows numeric format" && theirs.code == "":
		return "numerics have 39 digits"
	case a.Ret.OID == types.OIDNumeric && closeTo(parse(ours.text), parse(theirs.text), 1e-9):
		return "PostgreSQL gives fewer digits"
	case a.Name == "array_agg" && ours.code != "" && theirs.code != "":
		return "the first thing wrong is another one"
	case strings.HasPrefix(a.Name, "jsonb"):
		if sameAnswer(types.TJsonb, ours, theirs) {
			return "JSON prints otherwise"
		}
	case a.Args[0].OID == types.OIDInterval && (a.Name == "min" || a.Name == "max"):
		return "intervals are compared field by field"
	case a.Args[0].OID == types.OIDInterval && ours.code == "22008":
		return "PostgreSQL overflows"
	}
	return ""
}

func parse(s string) float64 {
	var x float64
	if _, err := fmt.Sscan(s, &x); err != nil {
		return math.NaN()
	}
	return x
}

func TestAggregatesAgainstOracle(t *testing.T) {
	conn := connect(t)
	rounds := 25
	if testing.Short() {
		rounds = 4
	}
	for _, a := range aggregateCases(t) {
		if a.OID >= ourNumbers && a.OID < endOfOurs || len(a.Args) == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(a.OID), 5))
		shown := 0
		for i := range rounds {
			g, tuples := randomGroup(r, a.Args, i%8)
			cols := []string{"x", "y"}[:len(a.Args)]
			from := "(VALUES " + strings.Join(tuples, ", ") + ")"
			if len(g) == 0 {
				g, tuples = randomGroup(r, a.Args, 1)
				from = "(SELECT * FROM (VALUES " + tuples[0] + ") v LIMIT 0)"
				g = nil
			}
			expr := fmt.Sprintf("%s(%s) FROM %s t(%s)", a.Name, strings.Join(cols, ", "), from, strings.Join(cols, ", "))
			theirs := askOracle(t, conn, expr)
			ours := answerOf(aggregate(a, g))
			if !sameAnswer(a.Ret, ours, theirs) && aggregateException(a, g, ours, theirs) == "" {
				if shown++; shown <= 3 {
					t.Errorf("SELECT %s:\n ours   %s\n theirs %s", expr, ours, theirs)
				}
			}
		}
	}
}

// TestAccumulatorsTakeBack holds promise F5: after any updates, with rows taken back, a state says what it says when
// computed afresh, and that of no rows is all zeros.
func TestAccumulatorsTakeBack(t *testing.T) {
	for _, a := range aggregateCases(t) {
		if a.Accum == nil {
			continue
		}
		for seed := range 40 {
			r := rand.New(rand.NewPCG(uint64(a.OID), uint64(seed)))
			kept, _ := randomGroup(r, a.Args, r.IntN(10))
			gone, _ := randomGroup(r, a.Args, 1+r.IntN(10))
			const stride, at = 200, 7 // other states lie around this one
			slab := make([]uint64, 3*stride)
			state := slab[stride+at:][:a.Accum.Words]
			update := func(g group, diff int64) {
				diffs := slices.Repeat([]int64{diff}, len(g))
				if diff == 1 && r.IntN(2) == 0 {
					diffs = nil
				}
				groups := slices.Repeat([]int32{1}, len(g))
				a.Accum.Update(slab, stride, at, groups, g.vectors(a.Args), diffs)
			}
			both := append(slices.Clone(kept), gone...)
			r.Shuffle(len(both), func(i, j int) { both[i], both[j] = both[j], both[i] })
			times := int64(1 + r.IntN(3))
			update(both, times)
			update(gone, -times)
			for range times - 1 {
				update(kept, -1)
			}
			got, gotErr := a.Accum.Result(state, int64(len(kept)))
			want, wantErr := aggregate(a, kept)
			if !got.Equal(want.d) || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("%s(%s) seed %d: %v %v, want %v %v", a.Name, listTypes(a.Args), seed, got.GoString(), gotErr, want, wantErr)
			}
			update(kept, -1)
			if slices.ContainsFunc(slab, func(w uint64) bool { return w != 0 }) {
				t.Errorf("%s(%s) seed %d: something is left of no rows: %x", a.Name, listTypes(a.Args), seed, state)
			}
			skipped := make([]int32, len(kept))
			for i := range skipped {
				skipped[i] = -1
			}
			a.Accum.Update(slab, stride, at, skipped, kept.vectors(a.Args), nil)
			if slices.ContainsFunc(slab, func(w uint64) bool { return w != 0 }) {
				t.Errorf("%s(%s): rows of no group count", a.Name, listTypes(a.Args))
			}
		}
	}
}

// TestFloatSumsAreExact compares with sums in unlimited precision.
func TestFloatSumsAreExact(t *testing.T) {
	for _, c := range []struct {
		t    types.T
		make func(r *rand.Rand) float64
	}{
		{types.TFloat8, func(r *rand.Rand) float64 {
			return math.Float64frombits(r.Uint64()&^(0x7ff<<52) | uint64(1+r.IntN(2045))<<52)
		}},
		{types.TFloat8, func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(30)-15)) }},
		{types.TFloat8, func(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64() &^ (0x7ff << 52)) }},
		{types.TFloat4, func(r *rand.Rand) float64 {
			return float64(float32((r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(20)-10))))
		}},
		{types.TFloat4, func(r *rand.Rand) float64 {
			return float64(math.Float32frombits(r.Uint32()&^(0xff<<23) | uint32(r.IntN(254))<<23))
		}},
	} {
		sum, err := fn.ResolveAggregate("sum", []types.T{c.t})
		if err != nil {
			t.Fatal(err)
		}
		avg, err := fn.ResolveAggregate("avg", []types.T{c.t})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range 300 {
			r := rand.New(rand.NewPCG(uint64(seed), 3))
			exact := new(big.Float).SetPrec(5000)
			var g group
			for range 1 + r.IntN(40) {
				x := c.make(r)
				exact.Add(exact, new(big.Float).SetFloat64(x))
				g = append(g, []value{{c.t, vec.FloatOf(x)}})
				if r.IntN(3) == 0 {
					g = append(g, []value{{c.t, vec.FloatOf(-x)}})
					exact.Sub(exact, new(big.Float).SetFloat64(x))
				}
			}
			want, _ := exact.Float64()
			if c.t.OID == types.OIDFloat4 {
				f, _ := exact.Float32()
				want = float64(f)
			}
			got, err := aggregate(sum.Func, g)
			if math.IsInf(want, 0) {
				if !pgerr.Is(err, pgerr.NumericValueOutOfRange) {
					t.Errorf("seed %d: %v, %v for an overflow", seed, got, err)
				}
				continue
			}
			if err != nil || !got.d.Equal(vec.FloatOf(want)) {
				t.Errorf("%v seed %d: %v, want %v (%v)", c.t, seed, got, want, err)
			}
			mean, _ := exact.Quo(exact, big.NewFloat(float64(len(g)))).Float64()
			if got, err = aggregate(avg.Func, g); err != nil || !closeTo(got.d.Float(), mean, 1e-15) {
				t.Errorf("%v seed %d: mean %v, want %v (%v)", c.t, seed, got, mean, err)
			}
		}
	}
}

func BenchmarkAccum(b *testing.B) {
	const n = 1024
	groups := make([]int32, n)
	for i := range groups {
		groups[i] = int32(i % 16)
	}
	for _, c := range []struct {
		name string
		t    types.T
		d    func(i int) vec.Datum
	}{
		{"count", types.TInt8, func(i int) vec.Datum { return vec.IntOf(int64(i)) }},
		{"sum", types.TInt4, func(i int) vec.Datum { return vec.IntOf(int64(i)) }},
		{"sum", types.TFloat8, func(i int) vec.Datum { return vec.FloatOf(float64(i) * 1.25) }},
		{"sum", types.TNumeric, func(i int) vec.Datum {
			d, _ := fn.Literal(nil, types.TNumeric, fmt.Sprintf("%d.%02d", i, i%100))
			return d
		}},
		{"stddev", types.TFloat8, func(i int) vec.Datum { return vec.FloatOf(float64(i) * 1.25) }},
	} {
		v := vec.New(c.t.Kind(), n)
		for i := range n {
			v.AppendDatum(c.d(i))
		}
		r, err := fn.ResolveAggregate(c.name, []types.T{c.t})
		if err != nil {
			b.Fatal(err)
		}
		a := r.Func.Accum
		slab := make([]uint64, 16*a.Words)
		b.Run(fmt.Sprintf("%s(%s)", c.name, c.t), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.Update(slab, a.Words, 0, groups, []*vec.Vec{&v}, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
		b.Run(fmt.Sprintf("%s(%s) result", c.name, c.t), func(b *testing.B) {
			for b.Loop() {
				if _, err := a.Result(slab[:a.Words], n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
