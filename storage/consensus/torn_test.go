package consensus

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// chunk is a chunk of a manifest with so many random bytes.
func chunk(r *rand.Rand, kind byte, size int) []byte {
	out := make([]byte, manifestHeaderBytes+size)
	binary.LittleEndian.PutUint16(out[4:], uint16(size))
	out[6] = kind
	for i := range size {
		out[manifestHeaderBytes+i] = byte(1 + r.IntN(255))
	}
	binary.LittleEndian.PutUint32(out, chunkSum(out[6:]))
	return out
}

// TestTornRecords: whichever sectors of the last record a crash has left as zeros, the manifest ends before it; but not if
// that was not the last, and not if something else is wrong with it.
func TestTornRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	before := slices.Concat(chunk(r, manifestWholeType, 300), chunk(r, manifestWholeType, 700))
	last := chunk(r, manifestWholeType, 3000)
	whole := slices.Concat(before, last)
	if at, ok := checkChunks(whole); !ok || at != len(whole) {
		t.Fatalf("a whole manifest cannot be read at %d", at)
	}
	first, end := (len(before)+sectorBytes-1)/sectorBytes, len(whole)/sectorBytes
	for from := first; from < end; from++ {
		for to := from + 1; to <= end; to++ {
			torn := slices.Clone(whole)
			clear(torn[from*sectorBytes : to*sectorBytes])
			if at, ok := checkChunks(torn); !ok || at != len(before) {
				t.Errorf("sectors %d to %d are zeros: read up to %d of %d, %v", from, to, at, len(before), ok)
			}
			if at, ok := checkChunks(append(torn, chunk(r, manifestWholeType, 100)...)); ok || at != len(before) {
				t.Errorf("sectors %d to %d are zeros and a record follows: read up to %d, %v", from, to, at, ok)
			}
		}
	}
	for i := len(before); i < len(whole); i++ {
		bad := slices.Clone(whole)
		bad[i] ^= 1 << r.IntN(8)
		if at, ok := checkChunks(bad); ok {
			t.Errorf("byte %d is another one, and the manifest can be read up to %d", i, at)
		}
	}
}
