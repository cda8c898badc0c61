package part_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/part"
)

// runOf cuts a block into blocks of random sizes.
func runOf(rng *rand.Rand, b *vec.Block) part.Run {
	at := 0
	return func(context.Context) (*vec.Block, error) {
		if at == b.Len {
			return nil, nil
		}
		n := min(b.Len-at, 1+rng.IntN(50))
		at += n
		return b.Slice(at-n, at), nil
	}
}

func drain(t testing.TB, m *part.Merger, like *vec.Block) *vec.Block {
	t.Helper()
	out := vec.NewBlock(like.Kinds(), 0)
	for {
		b, err := m.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return out
		}
		if b.Len == 0 {
			t.Fatal("empty block")
		}
		out.AppendBlock(b)
	}
}

func TestMergeAgreesWithTheReference(t *testing.T) {
	s := &part.Sorter{}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		times := rng.IntN(2) == 0
		all := randomBlock(rng, rng.IntN(500), times)
		k := 1 + rng.IntN(6)
		parts := make([]*vec.Block, k)
		for i := range parts {
			parts[i] = vec.NewBlock(all.Kinds(), 0)
		}
		for i := range all.Len {
			p := parts[rng.IntN(k)]
			p.AppendFrom(all, i, all.Diff(i))
		}
		var runs []part.Run
		for _, p := range parts {
			c, err := s.Consolidate(p)
			if err != nil {
				t.Fatal(err)
			}
			if rng.IntN(3) == 0 && times {
				// A run whose times were moved to one since: sorted, but no longer consolidated.
				c = c.Clone()
				for i := range c.Times {
					c.Times[i] = max(c.Times[i], 1003)
				}
			}
			runs = append(runs, runOf(rng, c))
			parts[len(runs)-1] = c
		}
		want := vec.NewBlock(all.Kinds(), 0)
		for _, p := range parts {
			want.AppendBlock(p)
		}
		got := drain(t, part.NewMerger(all.Kinds(), runs), all)
		if got.String() != want.Consolidated().String() {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got, want.Consolidated())
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	blocks := benchmarkBlocks()
	for _, name := range sortedNames(blocks) {
		b.Run(name, func(b *testing.B) {
			s := &part.Sorter{}
			all := blocks[name]
			const k = 8
			parts := make([]*vec.Block, k)
			for i := range parts {
				parts[i] = vec.NewBlock(all.Kinds(), 0)
			}
			for i := range all.Len {
				parts[i%k].AppendFrom(all, i, 1)
			}
			for i, p := range parts {
				parts[i], _ = s.Consolidate(p)
			}
			b.ResetTimer()
			for b.Loop() {
				var runs []part.Run
				for _, p := range parts {
					at := 0
					runs = append(runs, func(context.Context) (*vec.Block, error) {
						n := min(1<<14, p.Len-at)
						if n == 0 {
							return nil, nil
						}
						at += n
						return p.Slice(at-n, at), nil
					})
				}
				m := part.NewMerger(all.Kinds(), runs)
				for {
					x, err := m.Next(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					if x == nil {
						break
					}
				}
			}
			b.ReportMetric(float64(all.Len)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
