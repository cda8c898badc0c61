package vec_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

var kinds = []types.Kind{types.Bool, types.Int, types.Float, types.Bytes}

func randDatum(r *rand.Rand, kind types.Kind) vec.Datum {
	if r.IntN(5) == 0 {
		return vec.Null
	}
	switch kind {
	case types.Bool:
		return vec.BoolOf(r.IntN(2) == 0)
	case types.Int:
		return vec.IntOf(r.Int64N(7) - 3)
	case types.Float:
		return vec.FloatOf([]float64{0, math.Copysign(0, -1), 1.5, math.NaN(), math.Inf(-1), -1}[r.IntN(6)])
	}
	return vec.StrOf([]string{"", "a", "ab", "b", "a\x00", "\x00"}[r.IntN(6)])
}

// check holds a vector against the values it should have, and against promise V1.
func check(t *testing.T, what string, v *vec.Vec, want []vec.Datum) {
	t.Helper()
	if v.Len != len(want) {
		t.Fatalf("%s: %d values, want %d", what, v.Len, len(want))
	}
	nulls := false
	for i, d := range want {
		if got := v.Datum(i); got.Kind() != d.Kind() || !got.Equal(d) {
			t.Fatalf("%s: value %d is %#v, want %#v", what, i, got, d)
		}
		if v.IsNull(i) != d.IsNull() {
			t.Fatalf("%s: value %d is NULL: %v", what, i, v.IsNull(i))
		}
		nulls = nulls || d.IsNull()
		if !d.IsNull() {
			continue
		}
		zero := false
		switch v.Kind {
		case types.Bool:
			zero = v.Bools[i] == 0
		case types.Int:
			zero = v.Ints[i] == 0
		case types.Float:
			zero = v.Floats[i] == 0
		case types.Bytes:
			zero = len(v.Bytes(i)) == 0
		}
		if !zero {
			t.Fatalf("%s: something lies under the NULL at %d", what, i)
		}
	}
	if v.HasNulls() != nulls {
		t.Fatalf("%s: HasNulls is %v", what, v.HasNulls())
	}
	if v.Valid != nil && len(v.Valid) < (v.Len+7)/8 {
		t.Fatalf("%s: a bitmap of %d bytes for %d values", what, len(v.Valid), v.Len)
	}
}

// model is a vector and the values it should have.
type model struct {
	v    vec.Vec
	want []vec.Datum
}

func newModel(r *rand.Rand, kind types.Kind) *model {
	m := &model{v: vec.New(kind, r.IntN(4))}
	for range r.IntN(20) {
		m.append(randDatum(r, kind))
	}
	return m
}

func (m *model) append(d vec.Datum) {
	m.v.AppendDatum(d)
	m.want = append(m.want, d)
}

// step does something at random to m, perhaps with values of src.
func (m *model) step(r *rand.Rand, src *model) {
	n := len(src.want)
	switch r.IntN(9) {
	case 0:
		m.append(randDatum(r, m.v.Kind))
	case 1:
		m.v.AppendNull()
		m.want = append(m.want, vec.Null)
	case 2:
		if n > 0 {
			i := r.IntN(n)
			m.v.AppendFrom(&src.v, i)
			m.want = append(m.want, src.want[i])
		}
	case 3:
		from := r.IntN(n + 1)
		to := from + r.IntN(n-from+1)
		m.v.AppendRange(&src.v, from, to)
		m.want = append(m.want, src.want[from:to]...)
	case 4:
		var sel []int32
		for i := range n {
			if r.IntN(2) == 0 {
				sel = append(sel, int32(i))
				m.want = append(m.want, src.want[i])
			}
		}
		m.v.AppendSel(&src.v, sel)
	case 5:
		m.v = m.v.Clone()
	case 6:
		from := r.IntN(len(m.want) + 1)
		to := from + r.IntN(len(m.want)-from+1)
		m.v = m.v.Slice(from, to)
		m.want = slices.Clone(m.want[from:to])
	case 7:
		if r.IntN(10) == 0 {
			m.v.Reset()
			m.want = m.want[:0]
		}
	case 8:
		if m.v.Kind == types.Bytes {
			m.v.BeginBytes()
			m.v.Data = append(m.v.Data, "built"...)
			m.v.EndBytes()
			m.want = append(m.want, vec.StrOf("built"))
		}
	}
}

func TestVectorsAgainstSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		kind := kinds[r.IntN(len(kinds))]
		a, b := newModel(r, kind), newModel(r, kind)
		for step := range 30 {
			a.step(r, b)
			b.step(r, a)
			check(t, fmt.Sprint("step ", step), &a.v, a.want)
			check(t, fmt.Sprint("step ", step), &b.v, b.want)
		}
		for i := range a.want {
			for j := range b.want {
				if got, want := a.v.Compare(i, &b.v, j), a.want[i].Compare(b.want[j]); got != want {
					t.Fatalf("%#v ? %#v is %d, as data %d", a.want[i], b.want[j], got, want)
				}
			}
		}
	}
}

// TestSlicesDoNotShareWhatIsAppended: a slice shares memory with what it was cut from, and neither may see
// what is appended to the other.
func TestSlicesDoNotShareWhatIsAppended(t *testing.T) {
	for _, kind := range kinds {
		r := rand.New(rand.NewPCG(2, uint64(kind)))
		for range 200 {
			m := newModel(r, kind)
			from := r.IntN(len(m.want) + 1)
			to := from + r.IntN(len(m.want)-from+1)
			s := &model{v: m.v.Slice(from, to), want: slices.Clone(m.want[from:to])}
			for range 10 {
				s.append(randDatum(r, kind))
				m.append(randDatum(r, kind))
			}
			check(t, "slice", &s.v, s.want)
			check(t, "whole", &m.v, m.want)
		}
	}
}

func TestSetNullAndRepeat(t *testing.T) {
	for _, kind := range kinds {
		v := vec.Repeat(vec.Null, kind, 9)
		check(t, "repeat", &v, slices.Repeat([]vec.Datum{vec.Null}, 9))
	}
	v := vec.Repeat(vec.IntOf(0), types.Int, 9)
	v.SetNull(8)
	check(t, "set", &v, append(slices.Repeat([]vec.Datum{vec.IntOf(0)}, 8), vec.Null))
	v.AppendInt(5)
	if v.IsNull(9) || !v.IsNull(8) {
		t.Error("the bitmap does not grow")
	}
}

func TestFloatsAreCanonical(t *testing.T) {
	v := vec.New(types.Float, 2)
	v.AppendFloat(math.Copysign(0, -1))
	v.AppendFloat(math.Float64frombits(0xfff8000000000123))
	if math.Float64bits(v.Floats[0]) != 0 || math.Float64bits(v.Floats[1]) != math.Float64bits(math.NaN()) {
		t.Errorf("%x %x", math.Float64bits(v.Floats[0]), math.Float64bits(v.Floats[1]))
	}
	order := []float64{math.Inf(-1), -1, 0, 1, math.Inf(1), math.NaN()}
	for i, x := range order {
		for j, y := range order {
			if got := vec.CompareFloat(x, y); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%v ? %v is %d", x, y, got)
			}
		}
	}
}

func TestDatumsKeepTheirBytes(t *testing.T) {
	b := []byte("abc")
	d := vec.BytesOf(b)
	kept := d.Clone()
	b[0] = 'x'
	if kept.Str() != "abc" || d.Str() != "xbc" || !bytes.Equal(kept.Bytes(), []byte("abc")) {
		t.Errorf("%#v %#v", kept, d)
	}
	for _, d := range []vec.Datum{vec.Null, vec.BoolOf(true), vec.IntOf(-1), vec.FloatOf(2.5), vec.StrOf("")} {
		if !d.Clone().Equal(d) || d.Clone().Kind() != d.Kind() {
			t.Errorf("%#v changes", d)
		}
	}
}

// row is a row of a block as a test sees it.
type row struct {
	data []vec.Datum
	diff int64
	time uint64
}

func randBlock(r *rand.Rand, ks []types.Kind, timed, counted bool) (*vec.Block, []row) {
	b, rows := vec.NewBlock(ks, 0), []row(nil)
	for range r.IntN(20) {
		data := make([]vec.Datum, len(ks))
		for c, k := range ks {
			data[c] = randDatum(r, k)
		}
		diff := int64(1)
		if counted {
			diff = r.Int64N(5) - 2
		}
		b.AppendRow(diff, data...)
		w := row{data: data, diff: diff}
		if timed {
			w.time = r.Uint64N(3)
			b.Times = append(b.Times, w.time)
		}
		rows = append(rows, w)
	}
	return b, rows
}

func checkBlock(t *testing.T, what string, b *vec.Block, rows []row, timed bool) {
	t.Helper()
	if b.Len != len(rows) || b.Diffs != nil && len(b.Diffs) != b.Len || timed && b.Len > 0 && len(b.Times) != b.Len {
		t.Fatalf("%s: %d rows, %d diffs, %d times, want %d", what, b.Len, len(b.Diffs), len(b.Times), len(rows))
	}
	for i, w := range rows {
		got := b.Row(i, nil)
		if !slices.EqualFunc(got, w.data, vec.Datum.Equal) || b.Diff(i) != w.diff || timed && b.Times[i] != w.time {
			t.Fatalf("%s: row %d is %#v ×%d, want %#v ×%d", what, i, got, b.Diff(i), w.data, w.diff)
		}
	}
}

func TestBlocksAgainstRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		ks := make([]types.Kind, r.IntN(4))
		for i := range ks {
			ks[i] = kinds[r.IntN(len(kinds))]
		}
		timed := r.IntN(2) == 0
		a, rows := randBlock(r, ks, timed, r.IntN(2) == 0)
		b, more := randBlock(r, ks, timed, r.IntN(2) == 0)
		checkBlock(t, "made", a, rows, timed)
		switch r.IntN(5) {
		case 0:
			a.AppendBlock(b)
			rows = append(rows, more...)
		case 1:
			from := r.IntN(b.Len + 1)
			to := from + r.IntN(b.Len-from+1)
			a.AppendRange(b, from, to)
			rows = append(rows, more[from:to]...)
		case 2:
			var sel []int32
			for i, w := range more {
				if r.IntN(2) == 0 {
					sel, rows = append(sel, int32(i)), append(rows, w)
				}
			}
			a.AppendSel(b, sel)
		case 3:
			for i, w := range more {
				w.diff = r.Int64N(3)
				a.AppendFrom(b, i, w.diff)
				rows = append(rows, w)
			}
		case 4:
			from := r.IntN(a.Len + 1)
			to := from + r.IntN(a.Len-from+1)
			a, rows = a.Slice(from, to), rows[from:to]
		}
		checkBlock(t, "changed", a, rows, timed)
		checkBlock(t, "cloned", a.Clone(), rows, timed)
		checkConsolidated(t, a, rows, timed)
		a.Reset()
		checkBlock(t, "emptied", a, nil, false)
		a.AppendBlock(b)
		checkBlock(t, "filled anew", a, more, timed)
	}
}

// checkConsolidated adds rows up in a map.
func checkConsolidated(t *testing.T, b *vec.Block, rows []row, timed bool) {
	t.Helper()
	sums := map[string]int64{}
	for _, w := range rows {
		sums[fmt.Sprintf("%#v@%d", append([]vec.Datum{}, w.data...), w.time)] += w.diff
	}
	c := b.Consolidated()
	seen := 0
	for i := range c.Len {
		at := uint64(0)
		if timed {
			at = c.Times[i]
		}
		key := fmt.Sprintf("%#v@%d", c.Row(i, []vec.Datum{}), at)
		if sums[key] != c.Diff(i) || c.Diff(i) == 0 {
			t.Fatalf("%s counts %d times, want %d", key, c.Diff(i), sums[key])
		}
		if i > 0 && c.CompareRows(i-1, c, i) > 0 {
			t.Fatalf("rows %d and %d are out of order", i-1, i)
		}
		seen++
	}
	for _, n := range sums {
		if n != 0 {
			seen--
		}
	}
	if seen != 0 {
		t.Fatalf("%d rows too many", seen)
	}
}

func TestEqualRowsHashAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	ks := []types.Kind{types.Int, types.Bytes, types.Float, types.Bool}
	for range 200 {
		a, _ := randBlock(r, ks, false, false)
		b, _ := randBlock(r, ks, false, false)
		// The same rows, further back in their memory.
		s := vec.NewBlock(ks, 0)
		s.AppendBlock(a)
		s.AppendBlock(b)
		s = s.Slice(a.Len, s.Len)
		cols := []int{0, 1, 2, 3}[:1+r.IntN(4)]
		want, got := b.Hash(cols, nil), s.Hash(cols, make([]uint64, 1))
		if !slices.Equal(want, got) {
			t.Fatalf("hashes of a slice: %x, want %x", got, want)
		}
		for i := range want {
			for j := range want {
				same := true
				for _, c := range cols {
					same = same && b.Cols[c].Compare(i, &b.Cols[c], j) == 0
				}
				if same != (want[i] == want[j]) {
					t.Fatalf("rows %#v and %#v: same %v, hashes %x %x", b.Row(i, nil), b.Row(j, nil), same, want[i], want[j])
				}
			}
		}
	}
}

func TestWorkersShareEvenly(t *testing.T) {
	b := vec.NewBlock([]types.Kind{types.Int}, 0)
	for i := range 80000 {
		b.AppendRow(1, vec.IntOf(int64(i)))
	}
	for _, n := range []int{1, 2, 7, 8} {
		counts := make([]int, n)
		for _, h := range b.Hash([]int{0}, nil) {
			counts[vec.Worker(h, n)]++
		}
		for w, c := range counts {
			if d := float64(c)*float64(n)/80000 - 1; math.Abs(d) > 0.05 {
				t.Errorf("worker %d of %d gets %d rows", w, n, c)
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 5))
	src := vec.NewBlock([]types.Kind{types.Int, types.Bytes}, 1000)
	var sel []int32
	for i := range 1000 {
		src.AppendRow(1, vec.IntOf(int64(i)), vec.StrOf("some text"))
		if r.IntN(2) == 0 {
			sel = append(sel, int32(i))
		}
	}
	dst := src.Clone()
	hashes := make([]uint64, 1000)
	for name, f := range map[string]func(){
		"sel":   func() { dst.Reset(); dst.AppendSel(src, sel) },
		"range": func() { dst.Reset(); dst.AppendRange(src, 0, 1000) },
		"hash":  func() { hashes = src.Hash([]int{0, 1}, hashes) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
