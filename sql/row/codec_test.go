package row_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

var allKinds = []types.Kind{types.Bool, types.Int, types.Float, types.Bytes}

// randDatum makes values near each other, so that ties and prefixes come up.
func randDatum(r *rand.Rand, kind types.Kind) vec.Datum {
	if r.IntN(6) == 0 {
		return vec.Null
	}
	switch kind {
	case types.Bool:
		return vec.BoolOf(r.IntN(2) == 0)
	case types.Int:
		return vec.IntOf([]int64{0, 1, -1, 255, 256, -256, math.MaxInt64, math.MinInt64, r.Int64()}[r.IntN(9)])
	case types.Float:
		return vec.FloatOf([]float64{0, 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e-300, r.NormFloat64()}[r.IntN(9)])
	}
	if r.IntN(200) == 0 {
		return vec.StrOf(strings.Repeat("x", 70000+r.IntN(3)))
	}
	b := make([]byte, r.IntN(5))
	for i := range b {
		b[i] = []byte{0, 1, 0xff, 'a'}[r.IntN(4)]
	}
	return vec.BytesOf(b)
}

// randBlock makes a block. Sometimes what lies under a NULL is no zero, as kernels may leave it.
func randBlock(r *rand.Rand, n int) *vec.Block {
	kinds := make([]types.Kind, 1+r.IntN(12))
	for i := range kinds {
		kinds[i] = allKinds[r.IntN(4)]
	}
	b := vec.NewBlock(kinds, n)
	data := make([]vec.Datum, len(kinds))
	for range n {
		for c, k := range kinds {
			data[c] = randDatum(r, k)
		}
		b.AppendRow(1, data...)
	}
	return b
}

func randCols(r *rand.Rand, b *vec.Block) []int {
	cols := make([]int, r.IntN(len(b.Cols)+1))
	for i := range cols {
		cols[i] = r.IntN(len(b.Cols))
	}
	return cols
}

func compareBy(cols []row.KeyCol, b *vec.Block, i, j int) int {
	for _, c := range cols {
		x, y := b.Cols[c.Col].Datum(i), b.Cols[c.Col].Datum(j)
		r := 0
		switch {
		case x.IsNull() && y.IsNull():
		case x.IsNull() || y.IsNull():
			r = 1
			if x.IsNull() == c.NullsFirst {
				r = -1
			}
		default:
			if r = x.Compare(y); c.Desc {
				r = -r
			}
		}
		if r != 0 {
			return r
		}
	}
	return 0
}

func TestKeysKeepOrderAndDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		b := randBlock(r, 40)
		var cols []row.KeyCol
		for _, c := range randCols(r, b) {
			cols = append(cols, row.KeyCol{Col: c, Kind: b.Cols[c].Kind, Desc: r.IntN(2) == 0, NullsFirst: r.IntN(2) == 0})
		}
		k := row.NewKey(cols)
		keys := make([][]byte, b.Len)
		for i := range keys {
			keys[i] = k.Append(nil, b, i)
			if got := k.AppendRow(nil, b.Row(i, nil)); !bytes.Equal(got, keys[i]) {
				t.Fatalf("row %d: %x by data, %x by columns", i, got, keys[i])
			}
			if got := k.Skip(append(bytes.Clone(keys[i]), 0x77)); got != len(keys[i]) {
				t.Fatalf("key of %d bytes ends at %d", len(keys[i]), got)
			}
		}
		for i := range keys {
			for j := range keys {
				if got, want := bytes.Compare(keys[i], keys[j]), compareBy(cols, b, i, j); got != want {
					t.Fatalf("%v: %v ? %v is %d, want %d", cols, b.Row(i, nil), b.Row(j, nil), got, want)
				}
				if i != j && len(keys[i]) < len(keys[j]) && bytes.HasPrefix(keys[j], keys[i]) && len(cols) > 0 {
					t.Fatalf("%x begins with %x", keys[j], keys[i])
				}
			}
		}
		checkBlock(t, r, b, keys, k.EncodeBlock)
		out := vec.NewBlock(kindsOf(cols), b.Len)
		for i := range keys {
			if n := k.Decode(keys[i], pointers(out, nil)); n != len(keys[i]) {
				t.Fatalf("decoded %d bytes of %d", n, len(keys[i]))
			}
			for c, col := range cols {
				if !out.Cols[c].Datum(i).Equal(b.Cols[col.Col].Datum(i)) {
					t.Fatalf("column %d of %v came back as %v", c, b.Row(i, nil), out.Cols[c].Datum(i))
				}
			}
		}
	}
}

func kindsOf(cols []row.KeyCol) []types.Kind {
	kinds := make([]types.Kind, len(cols))
	for i, c := range cols {
		kinds[i] = c.Kind
	}
	return kinds
}

// pointers are the columns of a block, save those for which skip holds.
func pointers(b *vec.Block, skip func(c int) bool) []*vec.Vec {
	out := make([]*vec.Vec, len(b.Cols))
	for c := range b.Cols {
		if skip == nil || !skip(c) {
			out[c] = &b.Cols[c]
		}
	}
	return out
}

// checkBlock holds the columnar path against the rows' own bytes.
func checkBlock(t *testing.T, r *rand.Rand, b *vec.Block, rows [][]byte, encode func([]byte, []uint32, *vec.Block) ([]byte, []uint32)) {
	t.Helper()
	before := bytes.Repeat([]byte{0xAA}, r.IntN(5))
	// What lies behind the arena is dirty.
	arena := append(make([]byte, 0, 1000), before...)
	for i := len(arena); i < cap(arena); i++ {
		arena[:cap(arena)][i] = 0x55
	}
	arena, offs := encode(arena, []uint32{uint32(len(before))}, b)
	if len(offs) != b.Len+1 || int(offs[b.Len]) != len(arena) || !bytes.HasPrefix(arena, before) {
		t.Fatalf("%d offsets for %d rows, %d bytes", len(offs), b.Len, len(arena))
	}
	for i, want := range rows {
		if got := arena[offs[i]:offs[i+1]]; !bytes.Equal(got, want) {
			t.Fatalf("row %d: %x by block, %x by row", i, got, want)
		}
	}
}

func TestValuesAreCanonicalAndDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 400 {
		b := randBlock(r, 40)
		cols := randCols(r, b)
		v := row.NewValue(b.Kinds(), cols)
		values := make([][]byte, b.Len)
		for i := range values {
			values[i] = v.Append(nil, b, i)
			if got := v.AppendRow(nil, b.Row(i, nil)); !bytes.Equal(got, values[i]) {
				t.Fatalf("row %d: %x by data, %x by columns", i, got, values[i])
			}
			for k, c := range cols {
				if got := v.Column(values[i], k); !got.Equal(b.Cols[c].Datum(i)) {
					t.Fatalf("column %d of %v is %v", k, b.Row(i, nil), got)
				}
			}
		}
		for i := range values {
			for j := range values {
				same := true
				for _, c := range cols {
					same = same && b.Cols[c].Datum(i).Equal(b.Cols[c].Datum(j))
				}
				if same != bytes.Equal(values[i], values[j]) {
					t.Fatalf("%v and %v are the same: %v", b.Row(i, nil), b.Row(j, nil), same)
				}
			}
		}
		checkBlock(t, r, b, values, v.EncodeBlock)
		kinds := make([]types.Kind, len(cols))
		for i, c := range cols {
			kinds[i] = b.Cols[c].Kind
		}
		one, many := vec.NewBlock(kinds, 0), vec.NewBlock(kinds, 0)
		skip := func(c int) bool { return c%3 == 2 }
		for i := range values {
			v.Decode(values[i], pointers(one, skip))
		}
		arena, offs := v.EncodeBlock(nil, []uint32{0}, b)
		v.DecodeBlock(arena, offs, pointers(many, skip))
		for k, c := range cols {
			if skip(k) {
				continue
			}
			for i := range values {
				want := b.Cols[c].Datum(i)
				if !one.Cols[k].Datum(i).Equal(want) || !many.Cols[k].Datum(i).Equal(want) {
					t.Fatalf("column %d of row %d came back wrong", k, i)
				}
			}
		}
	}
}

func TestCodecsIgnoreWhatLiesUnderNull(t *testing.T) {
	b := vec.NewBlock(allKinds, 2)
	for range 2 {
		b.AppendRow(1, vec.BoolOf(true), vec.IntOf(7), vec.FloatOf(2), vec.StrOf("x"))
	}
	b.AppendRow(1, vec.Null, vec.Null, vec.Null, vec.Null)
	for c := range b.Cols {
		b.Cols[c].SetNull(0)
	}
	k, v := row.AscKey(b.Kinds(), []int{0, 1, 2, 3}), row.NewValue(b.Kinds(), []int{0, 1, 2, 3})
	if !bytes.Equal(k.Append(nil, b, 0), k.Append(nil, b, 2)) || !bytes.Equal(v.Append(nil, b, 0), v.Append(nil, b, 2)) {
		t.Error("two NULLs have different bytes")
	}
	keys, ko := k.EncodeBlock(nil, []uint32{0}, b)
	values, vo := v.EncodeBlock(nil, []uint32{0}, b)
	if !bytes.Equal(keys[ko[0]:ko[1]], keys[ko[2]:ko[3]]) || !bytes.Equal(values[vo[0]:vo[1]], values[vo[2]:vo[3]]) {
		t.Error("two NULLs have different bytes by block")
	}
}

func benchBlock(n int) *vec.Block {
	r := rand.New(rand.NewPCG(3, 3))
	b := vec.NewBlock([]types.Kind{types.Int, types.Bytes, types.Float, types.Bytes, types.Bool}, n)
	for i := range n {
		b.AppendRow(1, vec.IntOf(int64(i)), vec.StrOf(strings.Repeat("k", 8+r.IntN(8))), vec.FloatOf(r.Float64()),
			vec.StrOf("some text of the usual length"), vec.BoolOf(i%2 == 0))
	}
	return b
}

func TestCodecsDoNotAllocate(t *testing.T) {
	b := benchBlock(100)
	k, v := row.AscKey(b.Kinds(), []int{0, 1}), row.NewValue(b.Kinds(), []int{0, 1, 2, 3, 4})
	arena, offs := v.EncodeBlock(nil, []uint32{0}, b)
	keys, keyOffs := k.EncodeBlock(nil, []uint32{0}, b)
	buf := make([]byte, 0, 1000)
	out := vec.NewBlock(b.Kinds(), 1000)
	for c := range out.Cols {
		out.Cols[c].Data = make([]byte, 0, 1<<20)
	}
	dst := pointers(out, nil)
	var sum int
	for name, f := range map[string]func(){
		"append key":   func() { buf = k.Append(buf[:0], b, 7) },
		"append value": func() { buf = v.Append(buf[:0], b, 7) },
		"column":       func() { sum += len(v.Column(arena[offs[7]:offs[8]], 3).Str()) },
		"key block":    func() { keys, keyOffs = k.EncodeBlock(keys[:0], keyOffs[:1], b) },
		"value block":  func() { arena, offs = v.EncodeBlock(arena[:0], offs[:1], b) },
		"decode": func() {
			out.Reset()
			v.DecodeBlock(arena, offs, dst)
			k.Decode(keys, dst[:2])
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkCodecs(b *testing.B) {
	const n = 1000
	block := benchBlock(n)
	k, v := row.AscKey(block.Kinds(), []int{0, 1}), row.NewValue(block.Kinds(), []int{0, 1, 2, 3, 4})
	ints := row.AscKey(block.Kinds(), []int{0, 2, 4})
	arena, offs := v.EncodeBlock(nil, []uint32{0}, block)
	keys, keyOffs := k.EncodeBlock(nil, []uint32{0}, block)
	out := vec.NewBlock(block.Kinds(), n)
	dst := pointers(out, nil)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"key rows", func() {
			keys = keys[:0]
			for i := range n {
				keys = k.Append(keys, block, i)
			}
		}},
		{"key block", func() { keys, keyOffs = k.EncodeBlock(keys[:0], keyOffs[:1], block) }},
		{"number key rows", func() {
			keys = keys[:0]
			for i := range n {
				keys = ints.Append(keys, block, i)
			}
		}},
		{"number key block", func() { keys, keyOffs = ints.EncodeBlock(keys[:0], keyOffs[:1], block) }},
		{"value rows", func() {
			arena = arena[:0]
			for i := range n {
				arena = v.Append(arena, block, i)
			}
		}},
		{"value block", func() { arena, offs = v.EncodeBlock(arena[:0], offs[:1], block) }},
		{"value decode rows", func() {
			out.Reset()
			for i := range n {
				v.Decode(arena[offs[i]:offs[i+1]], dst)
			}
		}},
		{"value decode block", func() { out.Reset(); v.DecodeBlock(arena, offs, dst) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
