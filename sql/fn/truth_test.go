package fn_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// randomDatum is an edge value, or now and then something made up.
func randomDatum(r *rand.Rand, t types.T) (vec.Datum, bool) {
	if r.IntN(8) == 0 {
		return vec.Null, true
	}
	texts := edges[t.OID]
	if len(texts) == 0 {
		return vec.Null, false
	}
	text := texts[r.IntN(len(texts))]
	if t.OID == types.OIDText && r.IntN(4) == 0 {
		text = strings.Repeat(text, r.IntN(4)) + texts[r.IntN(len(texts))]
	}
	d, err := fn.Literal(testEnv{}, t, text)
	return d, err == nil
}

// bound gives the functions with concrete argument types, specialised for them.
func bound(t *testing.T, f *scalar.Func, n int) (fn.Call[scalar.Func], bool) {
	args := make([]types.T, 0, len(f.Args)+2)
	for _, p := range f.Args {
		args = append(args, concrete(p, n))
	}
	if f.Variadic {
		args = append(args, concrete(f.Args[len(f.Args)-1], n+1), concrete(f.Args[len(f.Args)-1], n))
		if f.Args[0].OID != types.OIDAny {
			args = args[:len(f.Args)]
		}
	}
	var r fn.Call[scalar.Func]
	var err error
	if f.IsOperator() {
		r, err = fn.ResolveOperator(f.Name, args...)
	} else {
		r, err = fn.Resolve(f.Name, args)
	}
	if err != nil {
		t.Fatalf("%s(%s): %v", f.Name, listTypes(args), err)
	}
	return r, r.Func.OID == f.OID
}

// TestFunctionsTellTheTruth calls every function on blocks of random arguments, through compiled programs with and
// without constants, and one row at a time: all agree, and the entry's marks hold (promises F3 and F4).
func TestFunctionsTellTheTruth(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for _, f := range append(fn.All().Scalars, fn.All().Operators...) {
		for n := range 3 {
			r, ok := bound(t, f, n)
			if !ok {
				continue
			}
			for seed := range rounds {
				checkTruth(t, r, rand.New(rand.NewPCG(uint64(f.OID), uint64(seed*3+n))))
			}
			if f.For == nil {
				break
			}
		}
	}
}

func checkTruth(t *testing.T, r fn.Call[scalar.Func], rnd *rand.Rand) {
	f := r.Func
	in := vec.NewBlock(types.Rel{Cols: columnsOf(r.Args)}.Kinds(), 0)
	consts := make([]vec.Datum, len(r.Args))
	isConst := make([]bool, len(r.Args))
	for i, a := range r.Args {
		d, ok := randomDatum(rnd, a)
		if !ok {
			return
		}
		consts[i], isConst[i] = d, rnd.IntN(3) == 0
	}
	for range 1 + rnd.IntN(60) {
		row := make([]vec.Datum, len(r.Args))
		for i, a := range r.Args {
			if row[i] = consts[i]; !isConst[i] {
				row[i], _ = randomDatum(rnd, a)
			}
		}
		in.AppendRow(1, row...)
	}
	call := &scalar.Call{Func: f, T: r.Ret}
	for i, a := range r.Args {
		if isConst[i] {
			call.Args = append(call.Args, &scalar.Const{Value: consts[i], T: a})
		} else {
			call.Args = append(call.Args, &scalar.Col{Index: i, T: a})
		}
	}
	m := scalar.MFP{Arity: len(r.Args), Map: []scalar.Expr{call}, Project: []int{len(r.Args)}}
	if len(r.Args) > 0 && rnd.IntN(2) == 0 {
		m.Filter = []scalar.Expr{fn.Not(&scalar.IsNull{Arg: &scalar.Col{Index: 0, T: r.Args[0]}})}
	}
	p, err := scalar.Compile(m, r.Args, testEnv{})
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	out := vec.NewBlock([]types.Kind{r.Ret.Kind()}, 0)
	var errs scalar.Errors
	p.Apply(in, out, &errs)
	compareRows(t, r, in, out, &errs, len(m.Filter) > 0)
}

// compareRows holds what a program gave against calls one by one.
func compareRows(t *testing.T, r fn.Call[scalar.Func], in, out *vec.Block, errs *scalar.Errors, filtered bool) {
	f, at, failed := r.Func, 0, 0
	for i := range in.Len {
		row := in.Row(i, nil)
		if filtered && row[0].IsNull() {
			continue
		}
		want, err := f.Apply(testEnv{}, row, r.Ret.Kind())
		desc := func() string { return fmt.Sprintf("%s(%s) of %#v", f.Name, listTypes(r.Args), row) }
		if err != nil {
			if !f.CanFail {
				t.Fatalf("%s fails though it says it cannot: %v", desc(), err)
			}
			if pgerr.From(err).Code == pgerr.InternalError {
				t.Fatalf("%s: %v", desc(), err)
			}
			if failed >= errs.Len() || int(errs.Rows[failed]) != i || errs.Errs[failed].Message != pgerr.From(err).Message {
				t.Fatalf("%s fails alone (%v) but not in a block", desc(), err)
			}
			failed++
			continue
		}
		if want.IsNull() && !f.CanNull && !(f.Strict && anyNull(row)) {
			t.Fatalf("%s is NULL though it says it cannot be", desc())
		}
		if f.Strict && anyNull(row) && !want.IsNull() {
			t.Fatalf("%s is not NULL", desc())
		}
		if at >= out.Len || !out.Cols[0].Datum(at).Equal(want) {
			got := "nothing"
			if at < out.Len {
				got = out.Cols[0].Datum(at).GoString()
			}
			t.Fatalf("%s is %s in a block, %s alone", desc(), got, want.GoString())
		}
		if !want.IsNull() && want.Kind() != r.Ret.Kind() {
			t.Fatalf("%s is of kind %v, not %v", desc(), want.Kind(), r.Ret.Kind())
		}
		at++
	}
	if at != out.Len || failed != errs.Len() {
		t.Fatalf("%s: %d rows and %d errors, want %d and %d", f.Name, out.Len, errs.Len(), at, failed)
	}
}

func anyNull(row []vec.Datum) bool {
	for _, d := range row {
		if d.IsNull() {
			return true
		}
	}
	return false
}

// TestCastsTellTheTruth does the same with casts between all types that tests know, and to types with modifiers.
func TestCastsTellTheTruth(t *testing.T) {
	for _, from := range argTypes {
		for k, to := range castTargets {
			for ctx := types.Implicit; ctx <= types.Explicit; ctx++ {
				f, ok := fn.Cast(from, to, ctx)
				if !ok || f.Relabel {
					continue
				}
				if from.OID == types.OIDUnknown {
					from = types.TText
				}
				r := fn.Call[scalar.Func]{Func: f, Args: []types.T{from}, Ret: to}
				checkTruth(t, r, rand.New(rand.NewPCG(uint64(from.OID), uint64(k))))
			}
		}
	}
}

// FuzzFunctions calls functions with arguments read from fuzzed texts: nothing panics, and what fails is a
// client's error.
func FuzzFunctions(f *testing.F) {
	all := append(fn.All().Scalars, fn.All().Operators...)
	f.Add(uint(3), "a", "b", "1", "")
	f.Add(uint(100), "{1,2}", "2", `{"a":1}`, "x")
	f.Add(uint(300), "2024-01-01", "1 day", "UTC", "1.5")
	f.Add(uint(500), "%5$s %-10I %L", "(a|b)*", "i", "-3")
	f.Fuzz(func(t *testing.T, which uint, a, b, c, d string) {
		fun := all[which%uint(len(all))]
		texts := []string{a, b, c, d, a, b, c}
		call := call{name: fun.Name}
		for i, p := range fun.Args {
			typ := concrete(p, int(which%3))
			v, err := fn.Literal(nil, typ, strings.ToValidUTF8(strings.ReplaceAll(texts[i%len(texts)], "\x00", ""), "?"))
			if err != nil {
				return
			}
			call.args = append(call.args, value{typ, v})
		}
		if _, err := call.eval(testEnv{}); err != nil && pgerr.From(err).Code == pgerr.InternalError {
			t.Errorf("%s(%v): %v", call.name, call.args, err)
		}
	})
}

// FuzzTables does the same with table functions, of which the first few rows are taken.
func FuzzTables(f *testing.F) {
	all := fn.All().Tables
	f.Add(uint(0), "1", "10", "2")
	f.Add(uint(8), "{1,2}", "1", "t")
	f.Add(uint(14), `{"a":[1]}`, "b", "g")
	f.Fuzz(func(t *testing.T, which uint, a, b, c string) {
		fun := all[which%uint(len(all))]
		call := call{name: fun.Name}
		for i, p := range fun.Args {
			typ := concrete(p, int(which%3))
			v, err := fn.Literal(nil, typ, strings.ToValidUTF8(strings.ReplaceAll([]string{a, b, c}[i], "\x00", ""), "?"))
			if err != nil {
				return
			}
			call.args = append(call.args, value{typ, v})
		}
		if _, err := evalTable(call); err != nil && pgerr.From(err).Code == pgerr.InternalError {
			t.Errorf("%s(%v): %v", call.name, call.args, err)
		}
	})
}
