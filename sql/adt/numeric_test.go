package adt_test

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/adt"
)

func num(tb testing.TB, s string) adt.Numeric {
	tb.Helper()
	n, err := adt.ParseNumeric(s)
	if err != nil {
		tb.Fatalf("%q: %v", s, err)
	}
	return n
}

// randNumericText makes numbers of all sizes, often with equal digits at different places.
func randNumericText(r *rand.Rand) string {
	digits := 1 + r.IntN(5)
	switch r.IntN(4) {
	case 0:
		digits = 1 + r.IntN(39)
	case 1:
		digits = 17 + r.IntN(5)
	}
	var b strings.Builder
	if r.IntN(2) == 0 {
		b.WriteByte('-')
	}
	point := -1
	if r.IntN(3) > 0 {
		point = r.IntN(digits + 1)
	}
	for i := range digits {
		if i == point {
			b.WriteByte('.')
			if i == 0 && r.IntN(2) == 0 {
				b.WriteString("000")
			}
		}
		if r.IntN(3) == 0 {
			b.WriteByte("09"[r.IntN(2)])
			continue
		}
		b.WriteByte(byte('0' + r.IntN(10)))
	}
	return b.String()
}

func rat(tb testing.TB, n adt.Numeric) *big.Rat {
	tb.Helper()
	x, ok := new(big.Rat).SetString(n.String())
	if !ok {
		tb.Fatalf("%v is no number", n)
	}
	return x
}

// roundRat is the documented rule: 39 digits, 39 after the point, half away from zero; ok is false for
// what is too large.
func roundRat(x *big.Rat) (s string, ok bool) {
	places := 39
	for ; places > -39; places-- {
		s := new(big.Rat).Abs(x).FloatString(max(places, 0))
		whole, frac, _ := strings.Cut(s, ".")
		if len(strings.TrimLeft(whole+frac, "0")) <= 39 {
			break
		}
		if places == 0 {
			return "", false
		}
	}
	// FloatString rounds half away from zero.
	s = x.FloatString(places)
	if whole, frac, ok := strings.Cut(s, "."); ok {
		s = strings.TrimRight(whole+"."+frac, "0")
		s = strings.TrimSuffix(s, ".")
	}
	if s == "-0" {
		s = "0"
	}
	return s, true
}

func TestNumericArithmeticAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30000 {
		a, b := num(t, randNumericText(r)), num(t, randNumericText(r))
		check := func(op string, got adt.Numeric, err error, want *big.Rat) {
			t.Helper()
			s, ok := roundRat(want)
			if !ok {
				if err == nil {
					t.Fatalf("%v %s %v = %v, want overflow", a, op, b, got)
				}
				return
			}
			if err != nil || got.String() != s {
				t.Fatalf("%v %s %v = %v, %v, want %s", a, op, b, got, err, s)
			}
			if back := num(t, s); back != got {
				t.Fatalf("%v %s %v: %#v is not canonical, want %#v", a, op, b, got, back)
			}
		}
		x, y := rat(t, a), rat(t, b)
		got, err := a.Add(b)
		check("+", got, err, new(big.Rat).Add(x, y))
		got, err = a.Sub(b)
		check("-", got, err, new(big.Rat).Sub(x, y))
		got, err = a.Mul(b)
		check("*", got, err, new(big.Rat).Mul(x, y))
		if y.Sign() != 0 {
			q := new(big.Rat).Quo(x, y)
			got, err = a.Div(b)
			check("/", got, err, q)
			whole := new(big.Int).Quo(q.Num(), q.Denom())
			got, err = a.Mod(b)
			check("%", got, err, new(big.Rat).Sub(x, new(big.Rat).Mul(y, new(big.Rat).SetInt(whole))))
			if s, ok := roundRat(new(big.Rat).SetInt(whole)); ok && len(s) < 39 {
				got, err = a.QuoInt(b)
				check("div", got, err, new(big.Rat).SetInt(whole))
			}
		}
		if got := a.Cmp(b); got != x.Cmp(y) {
			t.Fatalf("%v cmp %v = %d", a, b, got)
		}
		places := r.IntN(50) - 5
		got, err = a.Round(places)
		want, _ := new(big.Rat).SetString(x.FloatString(max(places, 0)))
		if places < 0 {
			ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-places)), nil))
			want, _ = new(big.Rat).SetString(new(big.Rat).Quo(x, ten).FloatString(0))
			want.Mul(want, ten)
		}
		check("round", got, err, want)
	}
}

func TestNumericEncodingKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pool := []adt.Numeric{adt.NumericNaN, adt.NumericInf, adt.NumericNegInf, {}}
	for _, s := range []string{"1", "10", "100", "1e38", "1e-39", "-1e-39", "0.1", "0.01", "12", "1.2", "120", "12345678901234567890",
		"999999999999999999999999999999999999999", "-999999999999999999999999999999999999999", "0.999999999999999999999999999999999999999"} {
		pool = append(pool, num(t, s))
	}
	for range 400 {
		pool = append(pool, num(t, randNumericText(r)))
	}
	enc := make([][]byte, len(pool))
	for i, n := range pool {
		enc[i] = n.Append(nil)
		back, size := adt.ReadNumeric(append(bytes.Clone(enc[i]), 0x55))
		if back != n || size != len(enc[i]) {
			t.Fatalf("%v: %x reads as %v, %d bytes", n, enc[i], back, size)
		}
		if len(enc[i]) > adt.NumericMaxLen {
			t.Fatalf("%v: %d bytes", n, len(enc[i]))
		}
	}
	for i, a := range pool {
		for j, b := range pool {
			if got, want := bytes.Compare(enc[i], enc[j]), a.Cmp(b); got < 0 != (want < 0) || got > 0 != (want > 0) {
				t.Fatalf("%v ? %v: bytes say %d, values %d", a, b, got, want)
			}
		}
	}
}

func TestNumericSumIsExactAndTakesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var state [adt.NumericSumWords]uint64
		want := new(big.Rat)
		for range r.IntN(20) {
			n, times := num(t, randNumericText(r)), int64(r.IntN(7)-3)
			adt.NumericSumAdd(state[:], n, times)
			want.Add(want, new(big.Rat).Mul(rat(t, n), new(big.Rat).SetInt64(times)))
			adt.NumericSumAdd(state[:], adt.NumericNaN, 1)
			adt.NumericSumAdd(state[:], adt.NumericNaN, -1)
		}
		got, err := adt.NumericSum(state[:])
		s, ok := roundRat(want)
		if ok != (err == nil) || ok && got.String() != s {
			t.Fatalf("sum is %v, %v, want %s", got, err, s)
		}
		var back [adt.NumericSumWords]uint64
		adt.NumericSumMerge(back[:], state[:])
		if back != state {
			t.Fatal("merge with nothing changes a state")
		}
	}
}

func TestNumericFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20000 {
		n := num(t, randNumericText(r))
		want, _ := rat(t, n).Float64()
		if got := n.Float(); got != want {
			t.Fatalf("%v as float is %v, want %v", n, got, want)
		}
		f32, _ := rat(t, n).Float32()
		if got := n.Float4(); float32(got) != f32 {
			t.Fatalf("%v as float4 is %v, want %v", n, got, f32)
		}
	}
	for want, f := range map[string]float64{"0.1": 0.1, "0.333333333333333": 1.0 / 3, "123456789012346000": 123456789012345678,
		"0": math.Copysign(0, -1), "NaN": math.NaN(), "-Infinity": math.Inf(-1), "1": 0.99999999999999999} {
		if got, err := adt.NumericFromFloat(f); err != nil || got.String() != want {
			t.Errorf("%v as numeric is %v, %v, want %s", f, got, err, want)
		}
	}
	if _, err := adt.NumericFromFloat(1e39); err == nil {
		t.Error("1e39 is a numeric")
	}
}

func TestNumericDoesNotAllocate(t *testing.T) {
	a, b := num(t, "12345678901234567890.12"), num(t, "-0.00012345")
	buf := a.Append(nil)
	text := make([]byte, 0, 100)
	var state [adt.NumericSumWords]uint64
	var sink adt.Numeric
	for name, f := range map[string]func(){
		"encode": func() { buf = a.Append(buf[:0]) },
		"decode": func() { sink = adt.NumericOf(buf) },
		"add":    func() { sink, _ = a.Add(b) },
		"mul":    func() { sink, _ = a.Mul(b) },
		"div":    func() { sink, _ = a.Div(b) },
		"mod":    func() { sink, _ = a.Mod(b) },
		"round":  func() { sink, _ = a.Round(1) },
		"fit":    func() { sink, _ = a.Fit(30, 2) },
		"text":   func() { text = a.AppendText(text[:0]) },
		"parse":  func() { sink, _ = adt.ParseNumeric("-12345678901234567890.12e-3") },
		"float":  func() { sink, _ = adt.NumericFromFloat(b.Float()) },
		"sum":    func() { adt.NumericSumAdd(state[:], a, 3) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	_ = sink
}

func FuzzNumericDecode(f *testing.F) {
	for _, s := range []string{"0", "1.5", "-1e38", "0.001", "NaN", "123456789012345678901234567890"} {
		f.Add(num(f, s).Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, size := adt.ReadNumeric(b)
		if size == 0 {
			return
		}
		if got := n.Append(nil); !bytes.Equal(got, b[:size]) {
			t.Fatalf("%x reads as %v, which is %x", b, n, got)
		}
	})
}

func FuzzNumericText(f *testing.F) {
	f.Add("1.5e3")
	f.Fuzz(func(t *testing.T, s string) {
		n, err := adt.ParseNumeric(s)
		if err != nil {
			return
		}
		if back, err := adt.ParseNumeric(n.String()); err != nil || back != n {
			t.Fatalf("%q is %v, which is %v, %v", s, n, back, err)
		}
	})
}

func BenchmarkNumeric(b *testing.B) {
	x, y := num(b, "12345.67"), num(b, "0.0825")
	enc, text := x.Append(nil), make([]byte, 0, 64)
	var state [adt.NumericSumWords]uint64
	var sink adt.Numeric
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"encode", func() { enc = x.Append(enc[:0]) }},
		{"decode", func() { sink = adt.NumericOf(enc) }},
		{"add", func() { sink, _ = x.Add(y) }},
		{"mul", func() { sink, _ = x.Mul(y) }},
		{"div", func() { sink, _ = x.Div(y) }},
		{"parse", func() { sink, _ = adt.ParseNumeric("12345.67") }},
		{"text", func() { text = x.AppendText(text[:0]) }},
		{"sum", func() { adt.NumericSumAdd(state[:], x, 1) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
	_ = sink
}

// TestNumericAgainstOracle holds arithmetic, order and text against PostgreSQL where its results are exact. Quotients
// are asked for with more digits than PostgreSQL would give by itself.
func TestNumericAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(9, 9))
	n := sampled(2000)
	xs, ys, args := make([]adt.Numeric, n), make([]adt.Numeric, n), make([][]string, n)
	for i := range n {
		a, b := randShortNumeric(r), randShortNumeric(r)
		xs[i], ys[i], args[i] = num(t, a), num(t, b), []string{a, b, strconv.Itoa(r.IntN(12) - 4)}
	}
	x, y := arg(1)+"::numeric", arg(2)+"::numeric"
	places := func(i int) int { p, _ := strconv.Atoi(args[i][2]); return p }
	for _, c := range []struct {
		expr string
		f    func(i int) (adt.Numeric, error)
	}{
		{"trim_scale(" + x + ")", func(i int) (adt.Numeric, error) { return xs[i], nil }},
		{"trim_scale(" + x + "+" + y + ")", func(i int) (adt.Numeric, error) { return xs[i].Add(ys[i]) }},
		{"trim_scale(" + x + "-" + y + ")", func(i int) (adt.Numeric, error) { return xs[i].Sub(ys[i]) }},
		{"trim_scale(" + x + "*" + y + ")", func(i int) (adt.Numeric, error) { return xs[i].Mul(ys[i]) }},
		{"trim_scale(" + x + "%" + y + ")", func(i int) (adt.Numeric, error) { return xs[i].Mod(ys[i]) }},
		{"trim_scale(div(" + x + "," + y + "))", func(i int) (adt.Numeric, error) { return xs[i].QuoInt(ys[i]) }},
		{"trim_scale(round(" + x + "*1.000000000000000000000/" + y + ", 12))", func(i int) (adt.Numeric, error) {
			q, err := xs[i].Div(ys[i])
			if err != nil || !q.IsFinite() {
				return q, err
			}
			return q.Round(12)
		}},
		{"trim_scale(round(" + x + "," + arg(3) + "::int))", func(i int) (adt.Numeric, error) { return xs[i].Round(places(i)) }},
		{"trim_scale(trunc(" + x + "," + arg(3) + "::int))", func(i int) (adt.Numeric, error) { return xs[i].Trunc(places(i)), nil }},
		{"ceil(" + x + ")", func(i int) (adt.Numeric, error) { return xs[i].Ceil() }},
		{"floor(" + x + ")", func(i int) (adt.Numeric, error) { return xs[i].Floor() }},
		{"trim_scale(" + x + "::numeric(9,3))", func(i int) (adt.Numeric, error) { return xs[i].FitMod(9<<16 | 3 + 4) }},
		{"trim_scale(" + x + "::numeric(5,-2))", func(i int) (adt.Numeric, error) { return xs[i].Fit(5, -2) }},
		{"trim_scale(" + x + "::numeric(3,5))", func(i int) (adt.Numeric, error) { return xs[i].Fit(3, 5) }},
		{x + "::int", func(i int) (adt.Numeric, error) { v, err := xs[i].Int(32); return adt.NumericFromInt(v), err }},
		{x + "::bigint", func(i int) (adt.Numeric, error) { v, err := xs[i].Int(64); return adt.NumericFromInt(v), err }},
	} {
		against(t, o, c.expr, args, func(i int) string { return show(c.f(i)) })
	}
	against(t, o, "case when "+x+"<"+y+" then -1 when "+x+">"+y+" then 1 else 0 end", args,
		func(i int) string { return strconv.Itoa(bytes.Compare(xs[i].Append(nil), ys[i].Append(nil))) })
	against(t, o, x+"::float8", args, func(i int) string { return string(adt.AppendFloat(nil, xs[i].Float(), 64)) })
	against(t, o, x+"::float4", args, func(i int) string { return string(adt.AppendFloat(nil, xs[i].Float4(), 32)) })
	against(t, o, "trim_scale("+x+"::float8::numeric)", args, func(i int) string { return show(adt.NumericFromFloat(xs[i].Float())) })
}

// randShortNumeric makes numbers whose products and quotients PostgreSQL gives in full, and those that are none.
func randShortNumeric(r *rand.Rand) string {
	switch r.IntN(25) {
	case 0:
		return []string{"NaN", "Infinity", "-Infinity"}[r.IntN(3)]
	case 1:
		return "0"
	}
	x := r.Int64N(int64(math.Pow10(1+r.IntN(10)))) - r.Int64N(1000)
	s := strconv.FormatInt(x, 10)
	if r.IntN(2) == 0 {
		return s + "e-" + strconv.Itoa(r.IntN(10))
	}
	return s
}
