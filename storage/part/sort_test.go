package part_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/part"
)

// randomBlock makes rows whose values are from small or large ranges, so that columns tie or not, with NULLs,
// long common prefixes and strings that differ only in length.
func randomBlock(rng *rand.Rand, n int, times bool) *vec.Block {
	kinds := make([]types.Kind, 1+rng.IntN(4))
	for i := range kinds {
		kinds[i] = types.Kind(1 + rng.IntN(4))
	}
	b := vec.NewBlock(kinds, n)
	spread := make([]int, len(kinds))
	nulls := make([]bool, len(kinds))
	for i := range spread {
		spread[i], nulls[i] = 1+rng.IntN(4), rng.IntN(3) == 0
	}
	row := make([]vec.Datum, len(kinds))
	for range n {
		for c, k := range kinds {
			if nulls[c] && rng.IntN(4) == 0 {
				row[c] = vec.Null
				continue
			}
			row[c] = randomDatum(rng, k, spread[c])
		}
		b.AppendRow(int64(rng.IntN(4)-1), row...)
		if times {
			b.Times = append(b.Times, 1000+rng.Uint64N(5))
		}
	}
	return b
}

func randomDatum(rng *rand.Rand, k types.Kind, spread int) vec.Datum {
	switch k {
	case types.Bool:
		return vec.BoolOf(rng.IntN(2) == 0)
	case types.Int:
		switch spread {
		case 1:
			return vec.IntOf(int64(rng.IntN(3)))
		case 2:
			return vec.IntOf(int64(rng.IntN(1 << 20)))
		}
		return vec.IntOf(int64(rng.Uint64()))
	case types.Float:
		return vec.FloatOf([]float64{0, -1, 1.5, math.Inf(1), math.Inf(-1), math.NaN(), rng.NormFloat64()}[rng.IntN(7)])
	}
	s := []byte("abc")
	if spread > 2 {
		s = []byte("a long common prefix of all the rows/")
	}
	for range rng.IntN(1 + 3*spread) {
		s = append(s, byte(rng.IntN(3))*127)
	}
	if spread == 2 {
		s = s[:rng.IntN(len(s)+1)]
	}
	return vec.BytesOf(s)
}

func TestSortIsTheOrderOfRows(t *testing.T) {
	s := &part.Sorter{}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := []int{0, 1, 2, 10, 30, 100, 600, 3000}[rng.IntN(8)]
		if seed%100 == 99 {
			n = 20_000
		}
		b := randomBlock(rng, n, rng.IntN(2) == 0)
		perm, dup := s.Sort(b)
		if perm == nil {
			for i := range n {
				perm = append(perm, int32(i))
			}
		}
		seen := make([]bool, n)
		for i, p := range perm {
			if seen[p] {
				t.Fatalf("seed %d: row %d twice", seed, p)
			}
			seen[p] = true
			if i == 0 {
				continue
			}
			c := compareUpdates(b, int(perm[i-1]), int(p))
			if c > 0 || dup[i] != (c == 0) {
				t.Fatalf("seed %d: place %d compares %d, dup %v\n%v", seed, i, c, dup[i], b.Kinds())
			}
		}
	}
}

func compareUpdates(b *vec.Block, i, j int) int {
	if c := b.CompareRows(i, b, j); c != 0 || b.Times == nil {
		return c
	}
	return int(b.Times[i]) - int(b.Times[j])
}

func TestConsolidateAgreesWithTheReference(t *testing.T) {
	s := &part.Sorter{}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := randomBlock(rng, rng.IntN(200), rng.IntN(2) == 0)
		got, err := s.Consolidate(b)
		if err != nil {
			t.Fatal(err)
		}
		if want := b.Consolidated().String(); got.String() != want {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got, want)
		}
	}
}

func TestConsolidateRefusesOverflow(t *testing.T) {
	b := vec.NewBlock([]types.Kind{types.Int}, 2)
	b.AppendRow(math.MaxInt64, vec.IntOf(1))
	b.AppendRow(1, vec.IntOf(1))
	if _, err := (&part.Sorter{}).Consolidate(b); err == nil {
		t.Fatal("no error")
	}
}

func intBlock(n int, cols ...func(i int) int64) *vec.Block {
	kinds := make([]types.Kind, len(cols))
	for i := range kinds {
		kinds[i] = types.Int
	}
	b := vec.NewBlock(kinds, n)
	for i := range n {
		for c, f := range cols {
			b.Cols[c].AppendInt(f(i))
		}
	}
	b.Len = n
	return b
}

func stringBlock(n int, f func(i int) string) *vec.Block {
	b := vec.NewBlock([]types.Kind{types.Bytes, types.Int}, n)
	for i := range n {
		b.Cols[0].AppendString(f(i))
		b.Cols[1].AppendInt(int64(i))
	}
	b.Len = n
	return b
}

func benchmarkBlocks() map[string]*vec.Block {
	const n = 1 << 18
	rng := rand.New(rand.NewPCG(1, 1))
	return map[string]*vec.Block{
		"two ints":    intBlock(n, func(int) int64 { return rng.Int64N(1 << 20) }, func(int) int64 { return rng.Int64N(1000) }),
		"wide ints":   intBlock(n, func(int) int64 { return rng.Int64() }, func(int) int64 { return rng.Int64() }),
		"few keys":    intBlock(n, func(int) int64 { return rng.Int64N(10) }, func(int) int64 { return rng.Int64() }),
		"in order":    intBlock(n, func(i int) int64 { return int64(i) }, func(int) int64 { return rng.Int64() }),
		"strings":     stringBlock(n, func(int) string { return fmt.Sprintf("user_%09d", rng.IntN(1<<30)) }),
		"few strings": stringBlock(n, func(int) string { return []string{"open", "closed", "pending"}[rng.IntN(3)] }),
	}
}

func BenchmarkConsolidate(b *testing.B) {
	blocks := benchmarkBlocks()
	for _, name := range sortedNames(blocks) {
		block := blocks[name]
		b.Run(name, func(b *testing.B) {
			s := &part.Sorter{}
			for b.Loop() {
				if _, err := s.Consolidate(block); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(block.Len)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
