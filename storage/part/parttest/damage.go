// Package parttest damages stored bytes, for the tests of what reads them. It is pure.
package parttest

import (
	"bytes"
	"math/rand/v2"
)

// Damaged gives n variants of data, always the same: cut short, with bytes changed, doubled or left out, or with a piece from
// elsewhere in it.
func Damaged(data []byte, n int) [][]byte {
	rng := rand.New(rand.NewPCG(uint64(len(data)), 7))
	out := make([][]byte, n)
	for i := range out {
		b := bytes.Clone(data)
		for range 1 + rng.IntN(3) {
			if len(b) == 0 {
				break
			}
			from := rng.IntN(len(b))
			to := from + rng.IntN(min(16, len(b)-from)+1)
			switch rng.IntN(6) {
			case 0:
				b[from] ^= 1 << rng.IntN(8)
			case 1:
				b[from] = byte(rng.Uint32())
			case 2:
				b[from] = 0xff
			case 3:
				b = b[:from]
			case 4:
				b = append(b[:from:from], b[to:]...)
			default:
				at := rng.IntN(len(b))
				b = append(append(b[:at:at], b[from:to]...), b[at:]...)
			}
		}
		out[i] = b
	}
	return out
}
