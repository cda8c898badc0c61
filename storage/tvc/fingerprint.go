package tvc

import (
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Clock gives the wall clock's time. It is handed in, so that a test can hold time still.
type Clock func() Time

// FingerprintKey keys a shard's fingerprints, so that nobody can choose rows whose fingerprints cancel.
type FingerprintKey [2]uint64

// Fingerprint is Σ diff·H(row) over a multiset of rows, H being a keyed 128-bit hash: linear, so the
// fingerprint of a union is the sum, and rows that cancel leave it as it was. Two multisets with equal
// fingerprints are equal but for a chance that can be neglected. It depends neither on times nor on the
// order of rows nor on how they are cut into blocks.
type Fingerprint [2]uint64

// Add gives the fingerprint of the union.
func (f Fingerprint) Add(g Fingerprint) Fingerprint { return Fingerprint{f[0] + g[0], f[1] + g[1]} }

// Sub gives the fingerprint of the difference.
func (f Fingerprint) Sub(g Fingerprint) Fingerprint { return Fingerprint{f[0] - g[0], f[1] - g[1]} }

func (f Fingerprint) String() string { return fmt.Sprintf("%016x%016x", f[0], f[1]) }

// errorColumn stands in H for the position of the column that holds a row's error, which moves when a
// column is added before it.
const errorColumn = 1 << 31

// Fingerprinter computes fingerprints with one key. It has scratch memory and belongs to one goroutine.
type Fingerprinter struct {
	key    FingerprintKey
	errors bool
	lo, hi []uint64
}

// NewFingerprinter makes one. With errors set, the last column of each block is the rows' error.
func NewFingerprinter(key FingerprintKey, errors bool) *Fingerprinter {
	return &Fingerprinter{key: key, errors: errors}
}

// Rows gives Σ diff·H(row) of a block.
func (p *Fingerprinter) Rows(b *vec.Block) Fingerprint {
	p.hash(b)
	return p.sum(b)
}

// Updates gives Σ diff·H(row, time) of a block. The rows of a block without times are all at the given
// time.
func (p *Fingerprinter) Updates(b *vec.Block, at Time) Fingerprint {
	p.hash(b)
	return p.withTimes(b, at)
}

// Both gives what Rows and Updates give, for little more than one of them.
func (p *Fingerprinter) Both(b *vec.Block, at Time) (rows, updates Fingerprint) {
	p.hash(b)
	rows = p.sum(b)
	return rows, p.withTimes(b, at)
}

// withTimes mixes the times into the rows' hashes and adds up.
func (p *Fingerprinter) withTimes(b *vec.Block, at Time) Fingerprint {
	if b.Times == nil {
		m := scramble(uint64(at) ^ p.key[1])
		for i := range p.lo {
			p.lo[i], p.hi[i] = scramble(p.lo[i]^m), scramble(p.hi[i]+m)
		}
		return p.sum(b)
	}
	for i, t := range b.Times {
		m := scramble(t ^ p.key[1])
		p.lo[i], p.hi[i] = scramble(p.lo[i]^m), scramble(p.hi[i]+m)
	}
	return p.sum(b)
}

func (p *Fingerprinter) sum(b *vec.Block) Fingerprint {
	var f Fingerprint
	if b.Diffs == nil {
		for i := range p.lo {
			f[0] += p.lo[i]
			f[1] += p.hi[i]
		}
		return f
	}
	for i, d := range b.Diffs {
		f[0] += uint64(d) * p.lo[i]
		f[1] += uint64(d) * p.hi[i]
	}
	return f
}

// hash fills lo and hi with H of each row. A NULL leaves both lanes as they are and every value is mixed
// with its column's position, so a row does not change when a nullable column is added to it.
func (p *Fingerprinter) hash(b *vec.Block) {
	if cap(p.lo) < b.Len {
		p.lo, p.hi = make([]uint64, b.Len), make([]uint64, b.Len)
	}
	p.lo, p.hi = p.lo[:b.Len], p.hi[:b.Len]
	for i := range p.lo {
		p.lo[i], p.hi[i] = p.key[0], p.key[1]
	}
	for c := range b.Cols {
		pos := uint64(c)
		if p.errors && c == len(b.Cols)-1 {
			pos = errorColumn
		}
		p.column(&b.Cols[c], scramble(p.key[0]+pos), scramble(p.key[1]^pos))
	}
	for i := range p.lo {
		p.lo[i], p.hi[i] = scramble(p.lo[i]), scramble(p.hi[i])
	}
}

func (p *Fingerprinter) column(v *vec.Vec, k0, k1 uint64) {
	if v.Valid != nil {
		p.nullable(v, k0, k1)
		return
	}
	lo, hi := p.lo, p.hi
	switch v.Kind {
	case types.Bool:
		for i, x := range v.Bools[:v.Len] {
			lo[i], hi[i] = fold(lo[i], uint64(x), k0), fold(hi[i], uint64(x), k1)
		}
	case types.Int:
		for i, x := range v.Ints[:v.Len] {
			lo[i], hi[i] = fold(lo[i], uint64(x), k0), fold(hi[i], uint64(x), k1)
		}
	case types.Float:
		for i, x := range v.Floats[:v.Len] {
			w := math.Float64bits(x)
			lo[i], hi[i] = fold(lo[i], w, k0), fold(hi[i], w, k1)
		}
	case types.Bytes:
		for i := range v.Len {
			h := xxh3.Hash128Seed(v.Data[v.Offs[i]:v.Offs[i+1]], p.key[0])
			lo[i], hi[i] = fold(lo[i], h.Lo, k0), fold(hi[i], h.Hi, k1)
		}
	default:
		panic(fmt.Sprintf("fingerprint: column of %v", v.Kind))
	}
}

func (p *Fingerprinter) nullable(v *vec.Vec, k0, k1 uint64) {
	for i := range v.Len {
		if v.IsNull(i) {
			continue
		}
		var a, b uint64
		switch v.Kind {
		case types.Bool:
			a = uint64(v.Bools[i])
			b = a
		case types.Int:
			a = uint64(v.Ints[i])
			b = a
		case types.Float:
			a = math.Float64bits(v.Floats[i])
			b = a
		case types.Bytes:
			h := xxh3.Hash128Seed(v.Data[v.Offs[i]:v.Offs[i+1]], p.key[0])
			a, b = h.Lo, h.Hi
		default:
			panic(fmt.Sprintf("fingerprint: column of %v", v.Kind))
		}
		p.lo[i], p.hi[i] = fold(p.lo[i], a, k0), fold(p.hi[i], b, k1)
	}
}

// fold mixes value x of the column with key k into lane h: a bijection of h for every x, and of x for
// every h.
func fold(h, x, k uint64) uint64 {
	x = (x + k) * 0xBF58476D1CE4E5B9
	x ^= x >> 29
	h = (h ^ x) * 0x9E3779B97F4A7C15
	return h ^ h>>32
}

// scramble is the finalizer of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", 2014).
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
