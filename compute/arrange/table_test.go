package arrange

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestTableIsAMap runs random puts and removes against Go's map, with few distinct keys (so that
// chains close over gaps) and with many (so that arenas are compacted).
func TestTableIsAMap(t *testing.T) {
	for seed := uint64(0); seed < 30; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		var tab Table
		want := map[string]int32{}
		keys := []int{5, 60, 3000}[seed%3]
		for step := range 20_000 {
			key := fmt.Sprintf("%0*d", 1+r.IntN(3), r.IntN(keys))
			if seed%3 == 2 {
				key += "0123456789abcdefghijklmnopqrstuvwxyz"
			}
			switch slot, had := want[key]; {
			case r.IntN(2) == 0:
				got, added := tab.Put([]byte(key))
				if had && (added || got != slot) || !had && !added {
					t.Fatalf("seed %d step %d: put %q gives %d, %v; had %d, %v", seed, step, key, got, added, slot, had)
				}
				want[key] = got
			case had:
				tab.Remove(slot)
				delete(want, key)
			}
			if tab.Len() != len(want) {
				t.Fatalf("seed %d step %d: %d keys, want %d", seed, step, tab.Len(), len(want))
			}
		}
		for key, slot := range want {
			if string(tab.Key(slot)) != key {
				t.Fatalf("seed %d: slot %d has %q, want %q", seed, slot, tab.Key(slot), key)
			}
		}
	}
}

func BenchmarkTable(b *testing.B) {
	var tab Table
	var key [9]byte
	i := 0
	for b.Loop() {
		binary.BigEndian.PutUint64(key[1:], uint64(i*7919%100_000))
		tab.Put(key[:])
		i++
	}
}
