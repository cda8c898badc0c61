package fn_test

import (
	"fmt"
	"testing"

	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// op calls an operator.
func op(tb testing.TB, symbol string, args ...scalar.Expr) scalar.Expr {
	tb.Helper()
	ts := make([]types.T, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	r, err := fn.ResolveOperator(symbol, ts...)
	if err != nil {
		tb.Fatal(err)
	}
	return &scalar.Call{Func: r.Func, Args: args, T: r.Ret}
}

func constant(tb testing.TB, t types.T, text string) scalar.Expr {
	tb.Helper()
	d, err := fn.Literal(nil, t, text)
	if err != nil {
		tb.Fatal(err)
	}
	return &scalar.Const{Value: d, T: t}
}

// BenchmarkKernels measures programs on blocks of 4096 rows, per row. Columns: int4 a and b, float8 x, numeric p
// and q, text s, date d.
func BenchmarkKernels(b *testing.B) {
	in := []types.T{types.TInt4, types.TInt4, types.TFloat8, types.TNumeric, types.TNumeric, types.TText, types.TDate}
	col := func(i int) scalar.Expr { return &scalar.Col{Index: i, T: in[i]} }
	num := func(s string) scalar.Expr { return constant(b, types.TInt4, s) }
	cases := []struct {
		name string
		m    scalar.MFP
	}{
		{"a+b", scalar.MFP{Map: []scalar.Expr{op(b, "+", col(0), col(1))}, Project: []int{7}}},
		{"a*b", scalar.MFP{Map: []scalar.Expr{op(b, "*", col(0), col(1))}, Project: []int{7}}},
		{"a/b", scalar.MFP{Map: []scalar.Expr{op(b, "/", col(0), op(b, "+", col(1), num("1")))}, Project: []int{7}}},
		{"x*x", scalar.MFP{Map: []scalar.Expr{op(b, "*", col(2), col(2))}, Project: []int{7}}},
		{"p*(1-q)", scalar.MFP{Map: []scalar.Expr{op(b, "*", col(3), op(b, "-", constant(b, types.TNumeric, "1"), col(4)))},
			Project: []int{7}}},
		{"a<5", scalar.MFP{Map: []scalar.Expr{op(b, "<", col(0), num("500"))}, Project: []int{7}}},
		{"filter a<5 half", scalar.MFP{Filter: []scalar.Expr{op(b, "<", col(0), num("500"))}, Project: []int{0, 1}}},
		{"filter a<5 and b<5, a+b", scalar.MFP{Map: []scalar.Expr{op(b, "+", col(0), col(1))},
			Filter: []scalar.Expr{op(b, "<", col(0), num("500")), op(b, "<", col(1), num("500"))}, Project: []int{7}}},
		{"case a<5 then a else b", scalar.MFP{Map: []scalar.Expr{&scalar.Case{
			Whens: []scalar.When{{Cond: op(b, "<", col(0), num("500")), Then: col(0)}}, Else: col(1), T: types.TInt4}},
			Project: []int{7}}},
		{"case with text", scalar.MFP{Map: []scalar.Expr{&scalar.Case{
			Whens: []scalar.When{{Cond: op(b, "<", col(0), num("500")), Then: col(5)}}, Else: constant(b, types.TText, "other"),
			T: types.TText}}, Project: []int{7}}},
		{"a in (8 values)", scalar.MFP{Filter: []scalar.Expr{&scalar.In{Arg: col(0), Set: ints(8, 11)}}, Project: []int{0}}},
		{"a in (100 values)", scalar.MFP{Filter: []scalar.Expr{&scalar.In{Arg: col(0), Set: ints(100, 7)}}, Project: []int{0}}},
		{"s='x'", scalar.MFP{Filter: []scalar.Expr{op(b, "=", col(5), constant(b, types.TText, "name 77"))}, Project: []int{0}}},
		{"s like 'name 7%'", scalar.MFP{Filter: []scalar.Expr{op(b, "~~", col(5), constant(b, types.TText, "name 7%"))},
			Project: []int{0}}},
		{"s||s", scalar.MFP{Map: []scalar.Expr{op(b, "||", col(5), col(5))}, Project: []int{7}}},
		{"d<date", scalar.MFP{Filter: []scalar.Expr{op(b, "<", col(6), constant(b, types.TDate, "2020-01-01"))}, Project: []int{0}}},
		{"columns", scalar.MFP{Project: []int{0, 1, 5}}},
	}
	const n = 4096
	block := vec.NewBlock(types.Rel{Cols: columnsOf(in)}.Kinds(), n)
	for i := range n {
		p, err := fn.Literal(nil, types.TNumeric, fmt.Sprintf("%d.%02d", i*37%10000, i%100))
		if err != nil {
			b.Fatal(err)
		}
		q, err := fn.Literal(nil, types.TNumeric, fmt.Sprintf("0.%02d", i%11))
		if err != nil {
			b.Fatal(err)
		}
		block.AppendRow(1, vec.IntOf(int64(i*7919%1000)), vec.IntOf(int64(i*104729%1000)), vec.FloatOf(float64(i)*1.5), p, q,
			vec.StrOf(fmt.Sprintf("name %d", i%100)), vec.IntOf(int64(i)))
	}
	for _, c := range cases {
		c.m.Arity = len(in)
		p, err := scalar.Compile(c.m, in, nil)
		if err != nil {
			b.Fatal(err)
		}
		var kinds []types.Kind
		for _, i := range c.m.Project {
			if i < len(in) {
				kinds = append(kinds, in[i].Kind())
			} else {
				kinds = append(kinds, c.m.Map[i-len(in)].Type().Kind())
			}
		}
		out := vec.NewBlock(kinds, n)
		var errs scalar.Errors
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				p.Apply(block, out, &errs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
		if errs.Len() > 0 {
			b.Fatalf("%s fails: %v", c.name, errs.Errs[0])
		}
	}
}

func ints(n, step int) []vec.Datum {
	set := make([]vec.Datum, n)
	for i := range set {
		set[i] = vec.IntOf(int64(i * step))
	}
	return set
}

func columnsOf(ts []types.T) []types.Column {
	cols := make([]types.Column, len(ts))
	for i, t := range ts {
		cols[i].Type = t
	}
	return cols
}

// BenchmarkOneRow measures what a program costs for a single row.
func BenchmarkOneRow(b *testing.B) {
	in := []types.T{types.TInt4, types.TInt4}
	a, c := &scalar.Col{Index: 0, T: in[0]}, &scalar.Col{Index: 1, T: in[1]}
	m := scalar.MFP{Arity: 2, Map: []scalar.Expr{op(b, "+", a, c)}, Filter: []scalar.Expr{op(b, "<", a, constant(b, types.TInt4, "5"))},
		Project: []int{2}}
	p, err := scalar.Compile(m, in, nil)
	if err != nil {
		b.Fatal(err)
	}
	block, out := vec.NewBlock([]types.Kind{types.Int, types.Int}, 1), vec.NewBlock([]types.Kind{types.Int}, 1)
	block.AppendRow(1, vec.IntOf(1), vec.IntOf(2))
	var errs scalar.Errors
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		p.Apply(block, out, &errs)
	}
}
