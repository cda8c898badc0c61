package adt_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/types"
)

func randArrayText(r *rand.Rand) string {
	elem := func() string {
		return []string{"a", "b", "NULL", `""`, "ab", `"a b"`, `"\""`, "z"}[r.IntN(8)]
	}
	row := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = elem()
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	switch n := r.IntN(4); r.IntN(4) {
	case 0:
		return row(n)
	case 1:
		n++
		low := r.IntN(4) - 2
		return fmt.Sprintf("[%d:%d]=%s", low, low+n-1, row(n))
	}
	n, m := 1+r.IntN(2), 1+r.IntN(2)
	rows := make([]string, m)
	for i := range rows {
		rows[i] = row(n)
	}
	return "{" + strings.Join(rows, ",") + "}"
}

func TestArrayOrderAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(1, 1))
	var args [][]string
	var signs []int
	for range sampled(4000) {
		a, b := randArrayText(r), randArrayText(r)
		x, err := textArray(a)
		if err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		y, err := textArray(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !adt.CheckArray(x, types.Bytes) {
			t.Fatalf("%s is %x", a, x)
		}
		args, signs = append(args, []string{a, b}), append(signs, bytes.Compare(x, y))
	}
	expr := fmt.Sprintf("case when %[1]s < %[2]s then -1 when %[1]s > %[2]s then 1 else 0 end", arg(1)+"::text[]", arg(2)+"::text[]")
	against(t, o, expr, args, func(i int) string { return fmt.Sprint(signs[i]) })
}

func TestRecordOrderAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(2, 2))
	field := func() string { return []string{"", `""`, "a", "b", "ab", `"a,b"`}[r.IntN(6)] }
	number := func() string { return []string{"", "-1", "0", "1", "1000"}[r.IntN(5)] }
	var args [][]string
	var signs []int
	for range 500 {
		a, b := "("+field()+","+number()+")", "("+field()+","+number()+")"
		x, err := pairRecord(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := pairRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		args, signs = append(args, []string{a, b}), append(signs, bytes.Compare(x, y))
	}
	expr := fmt.Sprintf("case when %[1]s < %[2]s then -1 when %[1]s > %[2]s then 1 else 0 end",
		arg(1)+"::pg_temp.pair", arg(2)+"::pg_temp.pair")
	against(t, o, expr, args, func(i int) string { return fmt.Sprint(signs[i]) })
}

func TestArraySubscriptsAndSlicesAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(3, 3))
	var args [][]string
	var arrays [][]byte
	var subs [][4]int32
	for range sampled(1500) {
		s := randArrayText(r)
		enc, err := textArray(s)
		if err != nil {
			t.Fatal(err)
		}
		var k [4]int32
		a := []string{s}
		for i := range k {
			k[i] = int32(r.IntN(6) - 2)
			a = append(a, fmt.Sprint(k[i]))
		}
		args, arrays, subs = append(args, a), append(arrays, enc), append(subs, k)
	}
	at := func(i int, k ...int32) string {
		a := adt.ArrayOf(arrays[i])
		e, ok := a.At(a.Offset(k...), types.Bytes)
		if !ok || e.IsNull() {
			return "NULL"
		}
		return string(e.Bytes())
	}
	slice := func(i int, bounds ...adt.Bounds) string {
		var b adt.ElemBuilder
		a := adt.ArrayOf(arrays[i])
		return showTextArray(b.Slice(nil, &a, types.Bytes, bounds...))
	}
	array, k1, k2 := "("+arg(1)+"::text[])", arg(2)+"::int", arg(3)+"::int"
	k3, k4 := arg(4)+"::int", arg(5)+"::int"
	against(t, o, array+"["+k1+"]", args, func(i int) string { return at(i, subs[i][0]) })
	against(t, o, array+"["+k1+"]["+k2+"]", args, func(i int) string { return at(i, subs[i][0], subs[i][1]) })
	against(t, o, array+"["+k1+":"+k2+"]", args, func(i int) string { return slice(i, adt.Bounds{Lower: subs[i][0], Upper: subs[i][1]}) })
	against(t, o, array+"["+k1+":"+k2+"]["+k3+":"+k4+"]", args, func(i int) string {
		return slice(i, adt.Bounds{Lower: subs[i][0], Upper: subs[i][1]}, adt.Bounds{Lower: subs[i][2], Upper: subs[i][3]})
	})
}

func TestFloatsAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(4, 4))
	var f64, f32 []string
	for i := range sampled(6000) {
		x := math.Float64frombits(r.Uint64())
		switch i % 4 {
		case 1:
			x = math.Ldexp(1, r.IntN(200)-50)
		case 2:
			// Short decimals with large exponents, where borders lie.
			x = float64(r.IntN(1000)) * math.Pow10(r.IntN(40)-10)
		case 3:
			x = float64(r.Int64N(1e17)) / math.Pow10(r.IntN(20))
		}
		if x != x || math.IsInf(x, 0) || x == 0 {
			continue
		}
		f64 = append(f64, fmt.Sprintf("%.17g", x))
		if y := float32(x); y != 0 && !math.IsInf(float64(y), 0) {
			f32 = append(f32, fmt.Sprintf("%.9g", y))
		}
	}
	for _, s := range []string{"1e23", "9e22", "5e-324", "9007199254740993", "2251799813685248.5", "1e15", "123456789012345", "-1e-5", "0.0001"} {
		f64 = append(f64, s)
	}
	o.compare("$1::float8", f64, parsers["float8"])
	o.compare("$1::float4", f32, parsers["float4"])
}

func TestEscapesKeepOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	random := func() []byte {
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = []byte{0, 1, 2, 0xff, 0xfe}[r.IntN(5)]
		}
		return b
	}
	for range 20000 {
		a, b := random(), random()
		ea, eb := adt.AppendEscaped(nil, a), adt.AppendEscaped(nil, b)
		if bytes.Compare(a, b) != bytes.Compare(ea, eb) {
			t.Fatalf("%x ? %x", a, b)
		}
		body, plain, size := adt.SplitEscaped(append(bytes.Clone(ea), eb...))
		if size != len(ea) || plain != !bytes.Contains(a, []byte{0}) || !bytes.Equal(adt.AppendUnescaped(nil, body), a) {
			t.Fatalf("%x does not survive", a)
		}
	}
	fs := []float64{math.Inf(-1), -1e300, -1, -1e-300, 0, 1e-300, 1, 1e300, math.Inf(1), math.NaN()}
	for i, f := range fs {
		if i > 0 && adt.OrderedFloat(f) <= adt.OrderedFloat(fs[i-1]) {
			t.Errorf("%v is not after %v", f, fs[i-1])
		}
		if back := adt.FloatOfOrdered(adt.OrderedFloat(f)); back != f && f == f {
			t.Errorf("%v becomes %v", f, back)
		}
	}
}

func TestBlankPaddedRules(t *testing.T) {
	for in, want := range map[string]string{"abc": "abc", "abc  ": "abc", "ab ": "ab", "": "", "äöü": "äöü"} {
		if got, err := adt.FitBpchar(in, 7, false); err != nil || got != want {
			t.Errorf("%q is %q, %v", in, got, err)
		}
	}
	if got := string(adt.AppendBpchar(nil, "ä", 7)); got != "ä  " {
		t.Errorf("%q", got)
	}
	_, err := adt.FitBpchar("abcd", 7, false)
	if showErr(err) != "error 22001: value too long for type character(3)" {
		t.Error(err)
	}
	_, err = adt.FitVarchar("abcd", 7, false)
	if showErr(err) != "error 22001: value too long for type character varying(3)" {
		t.Error(err)
	}
	if got, err := adt.FitVarchar("ab   ", 7, false); err != nil || got != "ab " {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzArrayDecode(f *testing.F) {
	for _, s := range []string{"{}", "{a,b}", "[0:1]={a,NULL}", "{{a,b},{c,d}}"} {
		enc, err := textArray(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(enc)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []types.Kind{types.Bool, types.Int, types.Float, types.Bytes} {
			ok := adt.CheckArray(b, kind)
			a, readable := adt.ReadArray(b)
			if ok && !readable {
				t.Fatal("checked and unreadable")
			}
			if !readable {
				continue
			}
			n := 0
			for r := a.Elems(); r.Next(kind); n++ {
				if r.IsNull() {
					continue
				}
				switch kind {
				case types.Bool:
					r.Bool()
				case types.Int:
					r.Int()
				case types.Float:
					r.Float()
				case types.Bytes:
					r.Bytes()
				}
			}
			if ok && kind == types.Bytes {
				back, err := textArray(showTextArray(b))
				if err == nil && !bytes.Equal(back, b) {
					t.Fatalf("%x prints as %s, which is %x", b, showTextArray(b), back)
				}
			}
		}
	})
}

func FuzzArrayText(f *testing.F) {
	f.Add(`[0:1]={{a,"b"},{NULL,"c\"d"}}`)
	f.Fuzz(func(t *testing.T, s string) {
		enc, err := textArray(s)
		if err != nil {
			return
		}
		back, err := textArray(showTextArray(enc))
		if err != nil || !bytes.Equal(back, enc) || !adt.CheckArray(enc, types.Bytes) {
			t.Fatalf("%q prints as %s: %v", s, showTextArray(enc), err)
		}
	})
}

func TestLogicalTimes(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", " 1700000000123 ": "1700000000123", "2023-11-14 22:13:20.123": "1700000000123", "1970-01-01": "0",
		"-1":       `error 22P02: invalid input syntax for type mz_timestamp: "-1"`,
		"infinity": `error 22P02: invalid input syntax for type mz_timestamp: "infinity"`,
		"x":        `error 22P02: invalid input syntax for type mz_timestamp: "x"`,
	} {
		x, err := adt.ParseMzTimestamp(in)
		if got := show(stringer(fmt.Sprint(x)), err); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}

func TestZoneOfInterval(t *testing.T) {
	for in, want := range map[string]string{
		"5:30": "2000-01-01 05:30:00", "-1:00": "1999-12-31 23:00:00",
		"1 day": `error 22023: interval time zone "1 day" must not include months or days`,
	} {
		iv, err := adt.ParseInterval(in, -1)
		if err != nil {
			t.Fatal(err)
		}
		z, err := adt.ZoneOfInterval(iv)
		got := ""
		if err != nil {
			got = showErr(err)
		} else {
			got = show(z.ToLocal(0))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
