package adt

import (
	"encoding/binary"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// The signs of PostgreSQL's binary numeric.
const (
	numericPos    = 0x0000
	numericNeg    = 0x4000
	numericNaN    = 0xC000
	numericPosInf = 0xD000
	numericNegInf = 0xF000

	infinityScale = 0x20 // means nothing, but PostgreSQL sends it
)

// AppendBinary appends n in PostgreSQL's binary format: how many digits in base 10000, the exponent of the
// first one, the sign, how many decimal digits after the point; then the digits.
func (n Numeric) AppendBinary(dst []byte) []byte {
	head := func(ndigits, weight, sign, scale int) []byte {
		for _, x := range [...]int{ndigits, weight, sign, scale} {
			dst = binary.BigEndian.AppendUint16(dst, uint16(x))
		}
		return dst
	}
	switch {
	case n.form == nan:
		return head(0, 0, numericNaN, 0)
	case n.form == infinite && n.neg:
		return head(0, 0, numericNegInf, infinityScale)
	case n.form == infinite:
		return head(0, 0, numericPosInf, infinityScale)
	}
	// Bring the point between two digits of base 10000.
	pad := (4 - int(n.scale)%4) % 4
	c, _ := n.coef.mulWord(pow10[pad].lo)
	var digits [12]uint16 // 39 + 3 decimal digits need 11
	from := len(digits)
	for !c.isZero() {
		var rem uint64
		c, rem = c.divWord(10000)
		from--
		digits[from] = uint16(rem)
	}
	fraction := (int(n.scale) + pad) / 4
	weight := len(digits) - from - fraction - 1
	to := len(digits)
	for to > from && digits[to-1] == 0 {
		to--
	}
	sign := numericPos
	if n.neg {
		sign = numericNeg
	}
	if from == to {
		weight = 0
	}
	dst = head(to-from, weight, sign, int(n.scale))
	for _, d := range digits[from:to] {
		dst = binary.BigEndian.AppendUint16(dst, d)
	}
	return dst
}

// NumericFromBinary reads PostgreSQL's binary format.
func NumericFromBinary(b []byte) (Numeric, error) {
	if len(b) < 8 {
		return Numeric{}, pgerr.New(pgerr.ProtocolViolation, "insufficient data left in message")
	}
	bad := func(what string) (Numeric, error) {
		return Numeric{}, pgerr.Newf(pgerr.InvalidBinaryRepresentation, "invalid %s in external \"numeric\" value", what)
	}
	ndigits, weight := int(binary.BigEndian.Uint16(b)), int(int16(binary.BigEndian.Uint16(b[2:])))
	sign, dscale := binary.BigEndian.Uint16(b[4:]), int(binary.BigEndian.Uint16(b[6:]))
	if len(b) != 8+2*ndigits {
		return bad("length")
	}
	if dscale > 0x3fff {
		return bad("scale")
	}
	switch sign {
	case numericPos, numericNeg:
	case numericNaN:
		return NumericNaN, nil
	case numericPosInf:
		return NumericInf, nil
	case numericNegInf:
		return NumericNegInf, nil
	default:
		return bad("sign")
	}
	var c coef
	scale, sticky := -4*(weight+1), false
	for i := range ndigits {
		d := binary.BigEndian.Uint16(b[8+2*i:])
		if d > 9999 {
			return bad("digit")
		}
		if c.digits() > keepDigits-4 {
			sticky = sticky || d != 0
			continue
		}
		c, _ = c.mulWord(10000)
		c = c.add(coef{lo: uint64(d)})
		scale += 4
	}
	n, err := roundQuotient(sign == numericNeg, c, !sticky, scale)
	if err != nil {
		return Numeric{}, err
	}
	// Digits that the sender's scale hides do not count.
	return n.Trunc(dscale), nil
}
