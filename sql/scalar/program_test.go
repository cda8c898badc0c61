package scalar

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// The functions of this test: of every sort that a program treats apart.
var (
	divideByZero = pgerr.New(pgerr.DivisionByZero, "division by zero")

	testAdd = &Func{Name: "+", OID: 1, Args: []types.T{types.TInt8, types.TInt8}, Ret: types.TInt8, Strict: true,
		Kernel: func(b *Batch) {
			x, y, out := b.Args[0].Ints, b.Args[1].Ints, b.Out.Ints
			if b.Sel == nil {
				for i := range out {
					out[i] = x[i] + y[i]
				}
			}
			for _, i := range b.Sel {
				out[i] = x[i] + y[i]
			}
		}}
	testDiv = &Func{Name: "/", OID: 2, Args: []types.T{types.TInt8, types.TInt8}, Ret: types.TInt8, Strict: true,
		CanFail: true, Kernel: func(b *Batch) {
			sel := b.Sel
			if sel == nil {
				sel = everyRow[:b.N]
			}
			for _, i := range sel {
				if b.Args[1].Ints[i] == 0 {
					b.Fail(int(i), divideByZero)
					continue
				}
				b.Out.Ints[i] = b.Args[0].Ints[i] / b.Args[1].Ints[i]
			}
		}}
	testLess = &Func{Name: "<", OID: 3, Args: []types.T{types.TInt8, types.TInt8}, Ret: types.TBool, Strict: true,
		Kernel: func(b *Batch) {
			for i := range b.Out.Bools {
				b.Out.Bools[i] = byte(b2i(b.Args[0].Ints[i] < b.Args[1].Ints[i]))
			}
		}}
	testConcat = &Func{Name: "||", OID: 4, Args: []types.T{types.TText, types.TText}, Ret: types.TText, Strict: true,
		Kernel: func(b *Batch) {
			x, y := b.Arg(0), b.Arg(1)
			for _, i := range b.Sel {
				b.Begin(int(i))
				b.Out.Data = append(append(b.Out.Data, x.At(int(i))...), y.At(int(i))...)
				b.End()
			}
		}}
	testTextLess = &Func{Name: "<", OID: 5, Args: []types.T{types.TText, types.TText}, Ret: types.TBool, Strict: true,
		Kernel: func(b *Batch) {
			x, y := b.Arg(0), b.Arg(1)
			for i := range b.N {
				b.Out.Bools[i] = byte(b2i(string(x.At(i)) < string(y.At(i))))
			}
		}}
	testLength = &Func{Name: "length", OID: 6, Args: []types.T{types.TText}, Ret: types.TInt8, Strict: true,
		Row: func(_ Env, a []vec.Datum) (vec.Datum, error) { return vec.IntOf(int64(len(a[0].Str()))), nil }}
	testNumber = &Func{Name: "number", OID: 7, Args: []types.T{types.TText}, Ret: types.TInt8, Strict: true, CanFail: true,
		CanNull: true, Row: func(_ Env, a []vec.Datum) (vec.Datum, error) {
			switch s := a[0].Str(); {
			case s == "":
				return vec.Null, nil
			case s[0] == 'a':
				return vec.Null, pgerr.Newf(pgerr.InvalidTextRepresentation, "bad number %q", s)
			default:
				return vec.IntOf(int64(s[0])), nil
			}
		}}
	testText = &Func{Name: "text", OID: 8, Args: []types.T{types.TInt8}, Ret: types.TText, CanNull: true, CanFail: true,
		Row: func(_ Env, a []vec.Datum) (vec.Datum, error) {
			switch {
			case a[0].IsNull():
				return vec.StrOf("none"), nil
			case a[0].Int() == 3:
				return vec.Null, nil
			case a[0].Int() == 2:
				return vec.Null, pgerr.New(pgerr.InvalidParameterValue, "two")
			}
			return vec.StrOf(strings.Repeat("a", int(a[0].Int()&3))), nil
		}}
	testFloat = &Func{Name: "int8→float8", OID: 9, Args: []types.T{types.TInt8}, Ret: types.TFloat8, Strict: true,
		Kernel: func(b *Batch) {
			for i, x := range b.Args[0].Ints[:b.N] {
				b.Out.Floats[i] = float64(x)
			}
		}}
	testFloatLess = &Func{Name: "<", OID: 10, Args: []types.T{types.TFloat8, types.TFloat8}, Ret: types.TBool, Strict: true,
		Kernel: func(b *Batch) {
			for i := range b.N {
				b.Out.Bools[i] = byte(b2i(b.Args[0].Floats[i] < b.Args[1].Floats[i]))
			}
		}}
	testSame = &Func{Name: "int8→int8", OID: 11, Args: []types.T{types.TInt8}, Ret: types.TInt8, Strict: true, Relabel: true}

	testFuncs = []*Func{testAdd, testDiv, testLess, testConcat, testTextLess, testLength, testNumber, testText,
		testFloat, testFloatLess, testSame}
	testTypes = []types.T{types.TBool, types.TInt8, types.TFloat8, types.TText}
)

// maker makes random expressions and rows.
type maker struct {
	*rand.Rand
	in []types.T
}

func (m *maker) datum(t types.T) vec.Datum {
	if m.IntN(5) == 0 {
		return vec.Null
	}
	switch t.Kind() {
	case types.Bool:
		return vec.BoolOf(m.IntN(2) == 0)
	case types.Int:
		return vec.IntOf(int64(m.IntN(5)) - 1)
	case types.Float:
		return vec.FloatOf(float64(m.IntN(5)) - 1)
	}
	return vec.StrOf([]string{"", "a", "ab", "b", "ba"}[m.IntN(5)])
}

func (m *maker) expr(t types.T, depth int) Expr {
	if depth == 0 || m.IntN(6) == 0 {
		return m.leaf(t)
	}
	switch m.IntN(8) {
	case 0:
		c := &Case{T: t, Else: m.expr(t, depth-1)}
		for range 1 + m.IntN(3) {
			c.Whens = append(c.Whens, When{m.expr(types.TBool, depth-1), m.expr(t, depth-1)})
		}
		return c
	case 1:
		c := &Coalesce{T: t}
		for range 1 + m.IntN(3) {
			c.Args = append(c.Args, m.expr(t, depth-1))
		}
		return c
	}
	if t.Kind() == types.Bool {
		switch m.IntN(6) {
		case 0, 1:
			return &And{m.bools(depth)}
		case 2:
			return &Or{m.bools(depth)}
		case 3:
			return &IsNull{m.expr(testTypes[m.IntN(4)], depth-1)}
		case 4:
			return m.inList(depth)
		}
	}
	var fits []*Func
	for _, f := range testFuncs {
		if f.Ret.OID == t.OID {
			fits = append(fits, f)
		}
	}
	if len(fits) == 0 {
		return m.leaf(t)
	}
	f := fits[m.IntN(len(fits))]
	c := &Call{Func: f, T: t}
	for _, a := range f.Args {
		c.Args = append(c.Args, m.expr(a, depth-1))
	}
	return c
}

func (m *maker) bools(depth int) []Expr {
	var args []Expr
	for range 2 + m.IntN(2) {
		args = append(args, m.expr(types.TBool, depth-1))
	}
	return args
}

func (m *maker) inList(depth int) Expr {
	t := testTypes[m.IntN(4)]
	var values []vec.Datum
	for range 1 + m.IntN(12) {
		if d := m.datum(t); !d.IsNull() || m.IntN(3) == 0 {
			values = append(values, d)
		}
	}
	return InOf(m.expr(t, depth-1), values...)
}

func (m *maker) leaf(t types.T) Expr {
	var fits []int
	for i, c := range m.in {
		if c.OID == t.OID {
			fits = append(fits, i)
		}
	}
	if len(fits) == 0 || m.IntN(4) == 0 {
		return &Const{Value: m.datum(t), T: t}
	}
	return &Col{Index: fits[m.IntN(len(fits))], T: t}
}

func (m *maker) mfp(arity int) (MFP, []types.T) {
	mfp := MFP{Arity: arity}
	all := m.in
	for range m.IntN(4) {
		t := testTypes[m.IntN(4)]
		mfp.Map = append(mfp.Map, m.expr(t, 3))
		m.in = append(m.in[:len(m.in):len(m.in)], t)
	}
	for range m.IntN(4) {
		// Ors with IS NULL keep some rows alive.
		mfp.Filter = append(mfp.Filter, &Or{[]Expr{m.expr(types.TBool, 3), &IsNull{m.leaf(types.TInt8)}}})
	}
	var out []types.T
	for range 1 + m.IntN(4) {
		c := m.IntN(len(m.in))
		mfp.Project = append(mfp.Project, c)
		out = append(out, m.in[c])
	}
	m.in = all
	return mfp, out
}

func (m *maker) block(n int) *vec.Block {
	b := vec.NewBlock(kindsOf(m.in), n)
	noNulls := m.IntN(3) == 0
	for range n {
		row := make([]vec.Datum, len(m.in))
		for i, t := range m.in {
			for row[i] = m.datum(t); noNulls && row[i].IsNull(); {
				row[i] = m.datum(t)
			}
		}
		b.AppendRow(int64(1+m.IntN(2)), row...)
	}
	return b
}

func kindsOf(ts []types.T) []types.Kind {
	kinds := make([]types.Kind, len(ts))
	for i, t := range ts {
		kinds[i] = t.Kind()
	}
	return kinds
}

// reference applies m row by row.
func reference(m MFP, in *vec.Block, out *vec.Block, errs *Errors) {
	inlined := make([]Expr, m.Arity+len(m.Map))
	for i, e := range m.Map {
		inlined[m.Arity+i] = ReplaceColumns(e, inlined)
	}
	inline := func(e Expr) Expr { return ReplaceColumns(e, inlined) }
	for i := range in.Len {
		row := in.Row(i, nil)
		if len(m.Filter) > 0 {
			v, err := Eval(inline(&And{append([]Expr{True}, m.Filter...)}), row, nil)
			if err != nil {
				errs.add(int32(i), pgerr.From(err))
				continue
			}
			if v.IsNull() || !v.Bool() {
				continue
			}
		}
		var least *pgerr.Error
		var got []vec.Datum
		for _, c := range m.Project {
			if c < m.Arity {
				got = append(got, row[c])
				continue
			}
			v, err := Eval(inlined[c], row, nil)
			if err == nil && v.IsNull() && !Nullable(inlined[c], func(c int) bool { return in.Cols[c].HasNulls() }) {
				panic("NULL though it cannot be: " + String(inlined[c]))
			}
			if err != nil && !CanFail(inlined[c]) {
				panic("fails though it cannot: " + String(inlined[c]))
			}
			if err != nil && (least == nil || Less(pgerr.From(err), least)) {
				least = pgerr.From(err)
			}
			got = append(got, v)
		}
		if least != nil {
			errs.add(int32(i), least)
			continue
		}
		out.AppendRow(in.Diff(i), got...)
	}
}

func (e *Errors) String() string {
	var b strings.Builder
	for i, row := range e.Rows {
		fmt.Fprintf(&b, "%d: %s\n", row, e.Errs[i])
	}
	return b.String()
}

func TestProgramEqualsReference(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for seed := range rounds {
		m := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 7))}
		m.in = []types.T{types.TInt8, types.TInt8, types.TText, types.TText, types.TFloat8, types.TBool, types.TBool}
		mfp, out := m.mfp(len(m.in))
		checkProgram(t, seed, m, mfp, out)
		folded := mfp
		folded.Map = foldAll(mfp.Map)
		folded.Filter = foldAll(mfp.Filter)
		checkProgram(t, seed, m, folded, out)
		if t.Failed() {
			return
		}
	}
}

func foldAll(exprs []Expr) []Expr {
	folded := make([]Expr, len(exprs))
	for i, e := range exprs {
		folded[i] = Fold(e, Immutable, nil)
	}
	return folded
}

func checkProgram(t *testing.T, seed int, m *maker, mfp MFP, out []types.T) {
	p, err := Compile(mfp, m.in, nil)
	if err != nil {
		t.Fatalf("seed %d: compile: %v", seed, err)
	}
	for _, p := range []*Program{p, p.Clone()} {
		got, want := vec.NewBlock(kindsOf(out), 0), vec.NewBlock(kindsOf(out), 0)
		large := 50
		if seed%20 == 0 {
			large = 3 * chunkRows
		}
		for _, n := range []int{1 + m.IntN(20), 0, 1, m.IntN(large)} {
			in := m.block(n)
			var gotErrs, wantErrs Errors
			p.Apply(in, got, &gotErrs)
			reference(mfp, in, want, &wantErrs)
			if got.String() != want.String() || gotErrs.String() != wantErrs.String() {
				t.Errorf("seed %d: %s\ngot\n%s%swant\n%s%s", seed, mfp, got, &gotErrs, want, &wantErrs)
				return
			}
		}
		checkZeroNulls(t, seed, got)
	}
}

// checkZeroNulls holds a block to promise V1 of vectors.
func checkZeroNulls(t *testing.T, seed int, b *vec.Block) {
	for c := range b.Cols {
		v := &b.Cols[c]
		for i := range v.Len {
			if !v.IsNull(i) {
				continue
			}
			if v.Kind == types.Int && v.Ints[i] != 0 || v.Kind == types.Bool && v.Bools[i] != 0 ||
				v.Kind == types.Float && v.Floats[i] != 0 || v.Kind == types.Bytes && len(v.Bytes(i)) != 0 {
				t.Fatalf("seed %d: bytes under a null", seed)
			}
		}
	}
}

// TestEqualPartsAreComputedOnce counts calls of a function that stands in several places, some of them in branches.
func TestEqualPartsAreComputedOnce(t *testing.T) {
	calls := 0
	count := &Func{Name: "count", OID: 100, Args: []types.T{types.TInt8}, Ret: types.TInt8, Strict: true, CanFail: true,
		Row: func(_ Env, a []vec.Datum) (vec.Datum, error) { calls++; return a[0], nil }}
	col := &Col{Index: 0, T: types.TInt8}
	call := func() Expr { return &Call{Func: count, Args: []Expr{col}, T: types.TInt8} }
	m := MFP{Arity: 1,
		Map: []Expr{
			&Case{Whens: []When{{&Call{Func: testLess, Args: []Expr{call(), col}, T: types.TBool}, call()}}, Else: call(),
				T: types.TInt8},
			&Call{Func: testAdd, Args: []Expr{call(), call()}, T: types.TInt8},
		},
		Filter:  []Expr{&Or{[]Expr{&IsNull{call()}, &Call{Func: testLess, Args: []Expr{call(), num(3)}, T: types.TBool}}}},
		Project: []int{1, 2, 0},
	}
	p, err := Compile(m, []types.T{types.TInt8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, out := vec.NewBlock([]types.Kind{types.Int}, 5), vec.NewBlock([]types.Kind{types.Int, types.Int, types.Int}, 5)
	for i := range 5 {
		in.AppendRow(1, vec.IntOf(int64(i)))
	}
	var errs Errors
	p.Apply(in, out, &errs)
	if calls != 5 || out.Len != 3 {
		t.Errorf("%d calls for 5 rows, %d rows survive", calls, out.Len)
	}
}

// TestNothingIsComputedOfWhatHasFailed: where all the rows of a branch have failed, none is left; that is not all of them.
func TestNothingIsComputedOfWhatHasFailed(t *testing.T) {
	calls := 0
	count := &Func{Name: "count", OID: 100, Args: []types.T{types.TInt8}, Ret: types.TInt8, Strict: true, CanFail: true,
		Kernel: func(b *Batch) {
			calls += len(b.Sel)
			if b.Sel == nil {
				calls += b.N
			}
		}}
	col := &Col{Index: 0, T: types.TText}
	m := MFP{Arity: 1, Project: []int{1}, Map: []Expr{&Case{
		Whens: []When{{&IsNull{col}, num(0)}},
		Else:  &Call{Func: count, Args: []Expr{&Call{Func: testNumber, Args: []Expr{col}, T: types.TInt8}}, T: types.TInt8},
		T:     types.TInt8,
	}}}
	p, err := Compile(m, []types.T{types.TText}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, out := vec.NewBlock([]types.Kind{types.Bytes}, 3), vec.NewBlock([]types.Kind{types.Int}, 3)
	for _, d := range []vec.Datum{vec.StrOf("a"), vec.Null, vec.StrOf("ab")} {
		in.AppendRow(1, d)
	}
	var errs Errors
	p.Apply(in, out, &errs)
	if calls != 0 || out.Len != 1 || errs.Len() != 2 {
		t.Errorf("%d calls, %d rows, %d failures", calls, out.Len, errs.Len())
	}
}

func num(x int64) Expr { return &Const{Value: vec.IntOf(x), T: types.TInt8} }

// TestFilterSavesLaterWork holds that what only survivors need is computed for them alone.
func TestFilterSavesLaterWork(t *testing.T) {
	calls := 0
	count := &Func{Name: "count", OID: 100, Args: []types.T{types.TInt8}, Ret: types.TInt8, Strict: true,
		Row: func(_ Env, a []vec.Datum) (vec.Datum, error) { calls++; return a[0], nil }}
	col := &Col{Index: 0, T: types.TInt8}
	m := MFP{Arity: 1, Map: []Expr{&Call{Func: count, Args: []Expr{col}, T: types.TInt8}},
		Filter: []Expr{&Call{Func: testLess, Args: []Expr{col, num(2)}, T: types.TBool}}, Project: []int{1}}
	p, err := Compile(m, []types.T{types.TInt8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, out := vec.NewBlock([]types.Kind{types.Int}, 5), vec.NewBlock([]types.Kind{types.Int}, 5)
	for i := range 5 {
		in.AppendRow(1, vec.IntOf(int64(i)))
	}
	var errs Errors
	p.Apply(in, out, &errs)
	if calls != 2 || out.Len != 2 {
		t.Errorf("%d calls, %d rows survive", calls, out.Len)
	}
}

// TestManyBranches: compiling takes time in proportion to the terms also where each is a branch of its own. With time
// in proportion to their square this test would take minutes.
func TestManyBranches(t *testing.T) {
	const n = 20_000
	col := &Col{Index: 0, T: types.TInt8}
	c, filter := &Case{Else: num(-1), T: types.TInt8}, make([]Expr, n)
	for i := range n {
		less := &Call{Func: testLess, Args: []Expr{col, num(int64(i))}, T: types.TBool}
		c.Whens = append(c.Whens, When{less, num(int64(2 * i))})
		filter[n-1-i] = &Call{Func: testLess, Args: []Expr{num(int64(-1 - i)), col}, T: types.TBool}
	}
	p, err := Compile(MFP{Arity: 1, Map: []Expr{c}, Filter: filter, Project: []int{1}}, []types.T{types.TInt8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, out := vec.NewBlock([]types.Kind{types.Int}, 3), vec.NewBlock([]types.Kind{types.Int}, 3)
	for _, x := range []int64{7, n, -1} {
		in.AppendRow(1, vec.IntOf(x))
	}
	var errs Errors
	p.Apply(in, out, &errs)
	if out.Len != 2 || out.Row(0, nil)[0].Int() != 16 || out.Row(1, nil)[0].Int() != -1 {
		t.Errorf("%d rows: %v", out.Len, out.Row(0, nil))
	}
}

// TestLargeValuesAreComputedInSmallerChunks drives a register past its limit.
func TestLargeValuesAreComputedInSmallerChunks(t *testing.T) {
	large := strings.Repeat("x", 300_000)
	grow := &Func{Name: "grow", OID: 101, Args: []types.T{types.TInt8}, Ret: types.TText, Strict: true,
		Row: func(_ Env, a []vec.Datum) (vec.Datum, error) { return vec.StrOf(large[a[0].Int():]), nil }}
	col := &Col{Index: 0, T: types.TInt8}
	m := MFP{Arity: 1, Project: []int{1}, Map: []Expr{&Call{Func: testLength, T: types.TInt8,
		Args: []Expr{&Call{Func: grow, Args: []Expr{col}, T: types.TText}}}}}
	p, err := Compile(m, []types.T{types.TInt8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, out := vec.NewBlock([]types.Kind{types.Int}, 0), vec.NewBlock([]types.Kind{types.Int}, 0)
	for i := range 1000 {
		in.AppendRow(1, vec.IntOf(int64(i)))
		if i%7 == 3 {
			in.AppendRow(1, vec.Null)
		}
	}
	var errs Errors
	p.Apply(in, out, &errs)
	if out.Len != in.Len {
		t.Fatalf("%d rows of %d", out.Len, in.Len)
	}
	for i := range in.Len {
		if in.Cols[0].IsNull(i) != out.Cols[0].IsNull(i) || !in.Cols[0].IsNull(i) &&
			in.Cols[0].Ints[i]+out.Cols[0].Ints[i] != 300_000 {
			t.Fatalf("row %d: %v", i, out.Cols[0].Datum(i))
		}
	}
	if size := cap(p.regs[1].buf.Data); size > 3*chunkBytes {
		t.Errorf("a register holds %d MB", size>>20)
	}
}

func TestProgramDoesNotAllocatePerRow(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(1, 1)), in: []types.T{types.TInt8, types.TInt8, types.TText}}
	a, b := &Col{Index: 0, T: types.TInt8}, &Col{Index: 1, T: types.TInt8}
	mfp := MFP{Arity: 3,
		Map: []Expr{
			&Call{Func: testAdd, Args: []Expr{a, b}, T: types.TInt8},
			&Case{Whens: []When{{&Call{Func: testLess, Args: []Expr{a, b}, T: types.TBool},
				&Call{Func: testConcat, Args: []Expr{&Col{2, types.TText}, &Col{2, types.TText}}, T: types.TText}}},
				Else: &Col{2, types.TText}, T: types.TText},
		},
		Filter: []Expr{&Call{Func: testLess, Args: []Expr{a, num(3)}, T: types.TBool}}, Project: []int{3, 4}}
	p, err := Compile(mfp, m.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, out := m.block(1000), vec.NewBlock([]types.Kind{types.Int, types.Bytes}, 0)
	var errs Errors
	allocs := testing.AllocsPerRun(20, func() {
		out.Reset()
		p.Apply(in, out, &errs)
	})
	// The bitmaps of the result are new each time.
	if allocs > 8 {
		t.Errorf("%v allocations for 1000 rows", allocs)
	}
}
