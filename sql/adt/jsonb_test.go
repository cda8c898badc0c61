package adt_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/adt"
)

func parseJsonb(tb testing.TB, s string) adt.Jsonb {
	tb.Helper()
	j, err := adt.ParseJsonb(nil, s)
	if err != nil {
		tb.Fatalf("%s: %v", s, err)
	}
	return j
}

// randJson makes a JSON text. Keys are of one length, so that both orders of keys agree.
func randJson(r *rand.Rand, depth int) string {
	switch n := r.IntN(9); {
	case n == 0:
		return "null"
	case n == 1:
		return []string{"true", "false"}[r.IntN(2)]
	case n == 2:
		return fmt.Sprint(r.IntN(5) - 2)
	case n == 3:
		return strings.TrimSuffix(randNumericText(r), ".")
	case n < 6 || depth == 0:
		return `"` + []string{"", "a", "b", "ab", "abc", "é", "\\n", "\\\\", "\\u0001", "ä"}[r.IntN(10)] + `"`
	case n == 6:
		parts := make([]string, r.IntN(4))
		for i := range parts {
			parts[i] = randJson(r, depth-1)
		}
		return "[" + strings.Join(parts, " , ") + "]"
	}
	parts := make([]string, r.IntN(4))
	for i := range parts {
		parts[i] = fmt.Sprintf(`"%c": %s`, 'a'+r.IntN(3), randJson(r, depth-1))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// jsonText makes texts that both sides accept: JSON wants no leading zeros or bare points.
func jsonText(r *rand.Rand) string {
	for {
		s := randJson(r, 3)
		if _, err := adt.ParseJsonb(nil, s); err == nil {
			return s
		}
	}
}

func TestJsonbOrderAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(1, 1))
	var args [][]string
	var signs []int
	for len(args) < sampled(4000) {
		a, b := jsonText(r), jsonText(r)
		if a == "[]" || b == "[]" || strings.Contains(a+b, ";") {
			continue // documented: the oracle's empty array is less than everything
		}
		args, signs = append(args, []string{a, b}), append(signs, bytes.Compare(parseJsonb(t, a), parseJsonb(t, b)))
	}
	expr := fmt.Sprintf("case when %[1]s < %[2]s then -1 when %[1]s > %[2]s then 1 else 0 end", arg(1)+"::jsonb", arg(2)+"::jsonb")
	against(t, o, expr, args, func(i int) string { return fmt.Sprint(signs[i]) })
}

func TestJsonbRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 5000 {
		s := jsonText(r)
		j := parseJsonb(t, s)
		if !adt.CheckJsonb(j) {
			t.Fatalf("%s is %x, which is no encoding", s, j)
		}
		if back := parseJsonb(t, j.String()); !bytes.Equal(back, j) {
			t.Fatalf("%s prints as %s, which is another value", s, j)
		}
	}
}

func TestJsonbAccess(t *testing.T) {
	for _, size := range []int{0, 1, 2, 20, 254, 255, 256, 5000} {
		model := map[string]int{}
		var b adt.JsonbBuilder
		b.Reset([]byte("before"))
		b.BeginObject()
		r := rand.New(rand.NewPCG(3, uint64(size)))
		for range size {
			k := fmt.Sprintf("key%d", r.IntN(1+size*2))
			model[k] = r.IntN(100)
			b.Key(k)
			b.Number(adt.NumericFromInt(int64(model[k])))
		}
		b.End()
		j := adt.Jsonb(b.Bytes()[len("before"):])
		if !adt.CheckJsonb(j) || j.Len() != len(model) {
			t.Fatalf("%d keys: %d pairs", len(model), j.Len())
		}
		keys := slices.Sorted(maps.Keys(model))
		i := 0
		for k, v := range j.Pairs() {
			if k != keys[i] || v.Number() != adt.NumericFromInt(int64(model[k])) {
				t.Fatalf("pair %d is %s: %v", i, k, v)
			}
			if f, ok := j.Field(k); !ok || !bytes.Equal(f, v) {
				t.Fatalf("field %s is %v", k, f)
			}
			i++
		}
		for _, k := range []string{"", "key", "zzz"} {
			if f, ok := j.Field(k); ok {
				t.Fatalf("field %q is %v", k, f)
			}
		}
		b.Reset(nil)
		b.BeginArray()
		var want []string
		for i := range min(size, 300) {
			if i%50 == 0 {
				b.Raw(j)
				want = append(want, j.String())
				continue
			}
			x := strings.Repeat("x", i%7)
			b.String(x)
			want = append(want, `"`+x+`"`)
		}
		b.End()
		arr := adt.Jsonb(b.Bytes())
		if !adt.CheckJsonb(arr) || arr.String() != "["+strings.Join(want, ",")+"]" {
			t.Fatalf("array of %d is damaged", len(want))
		}
		for i, w := range want {
			if e, ok := arr.Index(i - len(want)); !ok || e.String() != w {
				t.Fatalf("element %d is %v", i, e)
			}
		}
	}
}

func TestJsonbPaths(t *testing.T) {
	j := parseJsonb(t, `{"a": [1, {"b": "x"}, null], "c": true}`)
	for path, want := range map[string]string{"a": `[1,{"b":"x"},null]`, "a 0": "1", "a 1 b": `"x"`, "a -1": "null", "a 3": "-", "a x": "-",
		"c": "true", "c 0": "-", "d": "-", "a 1": `{"b":"x"}`, "a -4": "-", "a 99999999999": "-"} {
		got := j
		ok := true
		for _, step := range strings.Fields(path) {
			if got, ok = got.Step(step); !ok {
				break
			}
		}
		s := "-"
		if ok {
			s = got.String()
		}
		if s != want {
			t.Errorf("%s is %s, want %s", path, s, want)
		}
	}
	x, _ := j.Field("a")
	x, _ = x.Index(1)
	x, _ = x.Field("b")
	if got := string(x.AppendPlain(nil)); got != "x" {
		t.Errorf("plain is %s", got)
	}
}

func TestJsonbDepthIsBounded(t *testing.T) {
	ok := strings.Repeat("[", 1024) + strings.Repeat("]", 1024)
	if got := parseJsonb(t, ok).String(); got != ok {
		t.Error("deep value is printed wrongly")
	}
	_, err := adt.ParseJsonb(nil, "["+ok+"]")
	if got := showErr(err); got != "error 54001: stack depth limit exceeded" {
		t.Error(got)
	}
	// Built step by step a value may be deeper, and is still printed.
	var b adt.JsonbBuilder
	j := parseJsonb(t, "1")
	for range 3000 {
		b.Reset(nil)
		b.BeginArray()
		b.Raw(j)
		b.End()
		j = b.Bytes()
	}
	if got := len(j.String()); got != 6001 {
		t.Errorf("%d bytes", got)
	}
}

func FuzzJsonbText(f *testing.F) {
	f.Add(`{"a": [1, 2.50, "x\u0041"], "b": null, "a": {}}`)
	f.Fuzz(func(t *testing.T, s string) {
		enc, err := adt.ParseJsonb(nil, s)
		if err != nil {
			return
		}
		j := adt.Jsonb(enc)
		if !adt.CheckJsonb(enc) {
			t.Fatalf("%q gives bad bytes %x", s, enc)
		}
		back, err := adt.ParseJsonb(nil, j.String())
		if err != nil || !bytes.Equal(back, enc) {
			t.Fatalf("%q prints as %s: %v", s, j, err)
		}
	})
}

func FuzzJsonbDecode(f *testing.F) {
	f.Add([]byte(parseJsonb(f, `{"a": [1, 2.50, "x\u0041"], "b": null, "c": {}}`)))
	f.Add([]byte(parseJsonb(f, `["`+strings.Repeat("x", 300)+`", 1, 2]`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		j := adt.Jsonb(b)
		if adt.CheckJsonb(b) {
			back, err := adt.ParseJsonb(nil, j.String())
			if err != nil || !bytes.Equal(back, b) {
				t.Fatalf("%x prints as %s: %v", b, j, err)
			}
			return
		}
		walkJsonb(j, 0)
	})
}

// walkJsonb touches everything that can be touched without a number being read.
func walkJsonb(j adt.Jsonb, depth int) int {
	n := j.Len() + len(j.Str())
	if depth > 50 {
		return n
	}
	for _, e := range j.Elems() {
		n += walkJsonb(e, depth+1)
		if n > 10000 {
			return n
		}
	}
	for k, v := range j.Pairs() {
		n += len(k) + walkJsonb(v, depth+1)
		if n > 10000 {
			return n
		}
	}
	j.Field("a")
	j.Index(-1)
	return n
}

func BenchmarkJsonb(b *testing.B) {
	text := `{"id": 12345, "name": "some name", "tags": ["a", "b", "c"], "address": {"city": "x", "zip": "12345"}, "score": 1.5}`
	j := parseJsonb(b, text)
	var builder adt.JsonbBuilder
	buf, out := make([]byte, 0, 1000), make([]byte, 0, 1000)
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf, _ = builder.Parse(buf[:0], text)
		}
	})
	b.Run("print", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out = j.AppendText(out[:0])
		}
	})
	b.Run("field", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a, _ := j.Field("address")
			a.Field("zip")
		}
	})
}
