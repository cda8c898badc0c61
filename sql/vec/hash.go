package vec

import (
	"math"

	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/sql/types"
)

// nullHash stands for NULL in a hash: any constant will do.
const nullHash = 0x9E3779B97F4A7C15

// mix is the finalizer of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Hash gives a hash of each row over the given columns, in dst's memory. Equal values give equal
// hashes on every machine and in every version: they route rows to workers and are never stored.
func (b *Block) Hash(cols []int, dst []uint64) []uint64 {
	if cap(dst) < b.Len {
		dst = make([]uint64, b.Len)
	}
	dst = dst[:b.Len]
	clear(dst)
	for _, c := range cols {
		b.Cols[c].hashInto(dst)
	}
	return dst
}

func (v *Vec) hashInto(dst []uint64) {
	switch v.Kind {
	case types.Bool:
		for i := range dst {
			dst[i] = mix(dst[i] ^ (uint64(v.Bools[i]) + 1))
		}
	case types.Int:
		for i := range dst {
			dst[i] = mix(dst[i] ^ (uint64(v.Ints[i]) + nullHash))
		}
	case types.Float:
		for i := range dst {
			dst[i] = mix(dst[i] ^ math.Float64bits(v.Floats[i]))
		}
	case types.Bytes:
		for i := range dst {
			dst[i] = mix(dst[i] ^ xxh3.Hash(v.Data[v.Offs[i]:v.Offs[i+1]]))
		}
	}
	if v.Valid == nil {
		return
	}
	for i := range dst {
		if v.Valid[i>>3]&(1<<(i&7)) == 0 {
			dst[i] = mix(dst[i] ^ nullHash)
		}
	}
}

// Worker is the share, of n, that a row with this hash belongs to. It uses the high bits, so that the
// low ones stay good for tables inside a share.
func Worker(hash uint64, n int) int { return int((hash >> 32 * uint64(n)) >> 32) }
