package adt

import "math/bits"

// coef is an unsigned integer of 192 bits: the coefficient of a Numeric, and room for one step of its
// arithmetic. 39 digits need 130 bits; 192 bits hold any 57 digits.
type coef struct{ lo, mid, hi uint64 }

// coefDigits is how many decimal digits every coef can hold.
const coefDigits = 57

var pow10 = makePow10()

func makePow10() (p [coefDigits + 1]coef) {
	p[0] = coef{lo: 1}
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].mulWord(10)
	}
	return p
}

func (c coef) isZero() bool  { return c.lo|c.mid|c.hi == 0 }
func (c coef) isSmall() bool { return c.mid|c.hi == 0 }

func (c coef) bitLen() int {
	switch {
	case c.hi != 0:
		return 128 + bits.Len64(c.hi)
	case c.mid != 0:
		return 64 + bits.Len64(c.mid)
	}
	return bits.Len64(c.lo)
}

// digits is the number of decimal digits; 0 for zero.
func (c coef) digits() int {
	// 1233/4096 is a little more than log10(2), and exact enough for 192 bits.
	n := c.bitLen() * 1233 >> 12
	if c.cmp(pow10[n]) >= 0 {
		n++
	}
	return n
}

func (c coef) cmp(d coef) int {
	switch {
	case c.hi != d.hi:
		return cmpWord(c.hi, d.hi)
	case c.mid != d.mid:
		return cmpWord(c.mid, d.mid)
	}
	return cmpWord(c.lo, d.lo)
}

func cmpWord(a, b uint64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// add gives c+d; the sum must fit.
func (c coef) add(d coef) coef {
	var carry uint64
	c.lo, carry = bits.Add64(c.lo, d.lo, 0)
	c.mid, carry = bits.Add64(c.mid, d.mid, carry)
	c.hi, _ = bits.Add64(c.hi, d.hi, carry)
	return c
}

// sub gives c-d, for c >= d.
func (c coef) sub(d coef) coef {
	var borrow uint64
	c.lo, borrow = bits.Sub64(c.lo, d.lo, 0)
	c.mid, borrow = bits.Sub64(c.mid, d.mid, borrow)
	c.hi, _ = bits.Sub64(c.hi, d.hi, borrow)
	return c
}

// mulWord gives c·w and what does not fit.
func (c coef) mulWord(w uint64) (coef, uint64) {
	var carry, h uint64
	h, c.lo = bits.Mul64(c.lo, w)
	carry = h
	h, l := bits.Mul64(c.mid, w)
	c.mid, h = addCarry(l, carry, h)
	carry = h
	h, l = bits.Mul64(c.hi, w)
	c.hi, h = addCarry(l, carry, h)
	return c, h
}

// addCarry adds carry to the number (h, l).
func addCarry(l, carry, h uint64) (uint64, uint64) {
	l, c := bits.Add64(l, carry, 0)
	return l, h + c
}

// mul gives c·d; ok is false if it does not fit.
func (c coef) mul(d coef) (p coef, ok bool) {
	if d.isSmall() {
		p, over := c.mulWord(d.lo)
		return p, over == 0
	}
	if c.isSmall() {
		p, over := d.mulWord(c.lo)
		return p, over == 0
	}
	if c.bitLen()+d.bitLen() > 193 {
		return coef{}, false
	}
	var w [6]uint64
	mulWide(&w, c, d)
	return coef{w[0], w[1], w[2]}, w[3]|w[4]|w[5] == 0
}

// mulWide gives the whole product, lowest word first.
func mulWide(w *[6]uint64, c, d coef) {
	*w = [6]uint64{}
	cs, ds := [3]uint64{c.lo, c.mid, c.hi}, [3]uint64{d.lo, d.mid, d.hi}
	for i, x := range cs {
		var carry uint64
		for j, y := range ds {
			h, l := bits.Mul64(x, y)
			var c uint64
			l, c = bits.Add64(l, carry, 0)
			h += c
			w[i+j], c = bits.Add64(w[i+j], l, 0)
			carry = h + c
		}
		w[i+3] = carry
	}
}

// divWord gives quotient and remainder.
func (c coef) divWord(w uint64) (coef, uint64) {
	var rem uint64
	if c.hi != 0 {
		c.hi, rem = c.hi/w, c.hi%w
	}
	if c.mid|rem != 0 {
		c.mid, rem = bits.Div64(rem, c.mid, w)
	}
	if rem == 0 {
		c.lo, rem = c.lo/w, c.lo%w
	} else {
		c.lo, rem = bits.Div64(rem, c.lo, w)
	}
	return c, rem
}

// div gives quotient and remainder; d is not zero.
func (c coef) div(d coef) (q, rem coef) {
	if d.isSmall() {
		q, r := c.divWord(d.lo)
		return q, coef{lo: r}
	}
	// Schoolbook in binary: at most 192-64 steps, for a case that is rare (a divisor beyond 64 bits).
	shift := c.bitLen() - d.bitLen()
	if shift < 0 {
		return coef{}, c
	}
	d = d.shl(shift)
	for ; shift >= 0; shift-- {
		q = q.shl(1)
		if c.cmp(d) >= 0 {
			c = c.sub(d)
			q.lo |= 1
		}
		d = d.shr1()
	}
	return q, c
}

func (c coef) shl(n int) coef {
	for ; n >= 64; n -= 64 {
		c.hi, c.mid, c.lo = c.mid, c.lo, 0
	}
	if n == 0 {
		return c
	}
	c.hi = c.hi<<n | c.mid>>(64-n)
	c.mid = c.mid<<n | c.lo>>(64-n)
	c.lo <<= n
	return c
}

func (c coef) shr1() coef {
	c.lo = c.lo>>1 | c.mid<<63
	c.mid = c.mid>>1 | c.hi<<63
	c.hi >>= 1
	return c
}

// divPow10 gives c / 10^n and whether the part cut off was nothing, less than a half, a half or more
// (-1, 0 and 1 around a half; -2 for nothing). n may be larger than the number of digits.
func (c coef) divPow10(n int) (coef, int) {
	if n > coefDigits {
		if c.isZero() {
			return c, -2
		}
		// 10^58 is more than twice any coef.
		return coef{}, -1
	}
	q, rem := c.div(pow10[n])
	if rem.isZero() {
		return q, -2
	}
	// Compare rem with the rest of 10^n, so that nothing can overflow.
	return q, rem.cmp(pow10[n].sub(rem))
}

// stripZeros takes up to max trailing decimal zeros away and says how many.
func (c coef) stripZeros(limit int) (coef, int) {
	n := 0
	for _, step := range [...]int{16, 8, 4, 2, 1} {
		for n+step <= limit {
			var q coef
			var rem uint64
			if c.isSmall() {
				// Mostly there is nothing to strip, and an odd number says so at once.
				if c.lo&1 != 0 {
					return c, n
				}
				w := pow10[step].lo
				q.lo, rem = c.lo/w, c.lo%w
			} else {
				q, rem = c.divWord(pow10[step].lo)
			}
			if rem != 0 {
				break
			}
			c, n = q, n+step
		}
	}
	return c, n
}
