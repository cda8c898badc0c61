package tvc_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

var key = tvc.FingerprintKey{0x0123456789abcdef, 0xfedcba9876543210}

var kinds = []types.Kind{types.Bool, types.Int, types.Float, types.Bytes}

func randomRow(rng *rand.Rand) []vec.Datum {
	row := []vec.Datum{vec.BoolOf(rng.IntN(2) == 0), vec.IntOf(int64(rng.IntN(10))), vec.FloatOf(float64(rng.IntN(5))), vec.StrOf("v"[:rng.IntN(2)])}
	for i := range row {
		if rng.IntN(4) == 0 {
			row[i] = vec.Null
		}
	}
	return row
}

func TestFingerprintIsOfTheMultiset(t *testing.T) {
	p := tvc.NewFingerprinter(key, false)
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		whole := vec.NewBlock(kinds, 0)
		for range 50 {
			whole.AppendRow(int64(rng.IntN(5)-2), randomRow(rng)...)
		}
		want := p.Rows(whole)
		if got := p.Rows(whole.Consolidated()); got != want {
			t.Fatalf("consolidated: %v, want %v", got, want)
		}
		at := rng.IntN(50)
		if got := p.Rows(whole.Slice(0, at)).Add(p.Rows(whole.Slice(at, 50))); got != want {
			t.Fatalf("in two pieces: %v, want %v", got, want)
		}
		if got := want.Sub(p.Rows(whole)); got != (tvc.Fingerprint{}) {
			t.Fatal(got)
		}
	}
}

func TestFingerprintTellsRowsApart(t *testing.T) {
	p := tvc.NewFingerprinter(key, false)
	seen := map[tvc.Fingerprint]string{}
	rng := rand.New(rand.NewPCG(7, 1))
	lanes := [2]map[uint64]bool{{}, {}}
	for range 5000 {
		b := vec.NewBlock(kinds, 1)
		b.AppendRow(1, randomRow(rng)...)
		f, s := p.Rows(b), b.String()
		if was, ok := seen[f]; ok && was != s {
			t.Fatalf("%s and %s have one fingerprint", was, s)
		}
		seen[f] = s
		lanes[0][f[0]], lanes[1][f[1]] = true, true
	}
	if len(lanes[0]) != len(seen) || len(lanes[1]) != len(seen) {
		t.Fatal("a lane has collisions", len(seen), len(lanes[0]), len(lanes[1]))
	}
}

func TestFingerprintAndTimes(t *testing.T) {
	p := tvc.NewFingerprinter(key, false)
	b := vec.NewBlock([]types.Kind{types.Int}, 2)
	b.AppendRow(1, vec.IntOf(1))
	b.AppendRow(1, vec.IntOf(2))
	uniform := p.Updates(b, 5)
	timed := *b
	timed.Times = []uint64{5, 5}
	if p.Updates(&timed, 99) != uniform {
		t.Fatal("times in the block and beside it differ")
	}
	timed.Times = []uint64{5, 6}
	if p.Updates(&timed, 5) == uniform || p.Updates(b, 6) == uniform {
		t.Fatal("times do not matter")
	}
	if p.Rows(&timed) != p.Rows(b) {
		t.Fatal("rows depend on times")
	}
	for _, x := range []*vec.Block{b, &timed} {
		rows, updates := p.Both(x, 7)
		if rows != p.Rows(x) || updates != p.Updates(x, 7) {
			t.Fatal("both at once are not what each is alone")
		}
	}
}

// TestFingerprintAndAddedColumns: a nullable column may be added, before the error column too.
func TestFingerprintAndAddedColumns(t *testing.T) {
	for _, errors := range []bool{false, true} {
		p := tvc.NewFingerprinter(key, errors)
		narrow, wide := vec.NewBlock([]types.Kind{types.Int, types.Bytes}, 1), vec.NewBlock([]types.Kind{types.Int, types.Float, types.Bytes}, 1)
		if !errors {
			wide = vec.NewBlock([]types.Kind{types.Int, types.Bytes, types.Float}, 1)
		}
		narrow.AppendRow(1, vec.IntOf(3), vec.StrOf("x"))
		if errors {
			wide.AppendRow(1, vec.IntOf(3), vec.Null, vec.StrOf("x"))
		} else {
			wide.AppendRow(1, vec.IntOf(3), vec.StrOf("x"), vec.Null)
		}
		if p.Rows(narrow) != p.Rows(wide) {
			t.Errorf("errors=%v: a column of NULLs changes the fingerprint", errors)
		}
	}
	// But where a value stands matters.
	p := tvc.NewFingerprinter(key, false)
	a, b := vec.NewBlock([]types.Kind{types.Int, types.Int}, 1), vec.NewBlock([]types.Kind{types.Int, types.Int}, 1)
	a.AppendRow(1, vec.IntOf(5), vec.Null)
	b.AppendRow(1, vec.Null, vec.IntOf(5))
	if p.Rows(a) == p.Rows(b) {
		t.Fatal("(5, NULL) is like (NULL, 5)")
	}
}

func BenchmarkFingerprint(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	block := vec.NewBlock([]types.Kind{types.Int, types.Int}, 1<<16)
	for range 1 << 16 {
		block.Cols[0].AppendInt(rng.Int64())
		block.Cols[1].AppendInt(rng.Int64())
	}
	block.Len = 1 << 16
	p := tvc.NewFingerprinter(key, false)
	for b.Loop() {
		p.Rows(block)
	}
	b.ReportMetric(float64(block.Len)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
