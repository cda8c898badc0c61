package adt

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/tributary-db/tributary/sql/pgerr"
)

func be64(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

// IntName is SQL's name of the integer type with the given number of bits.
func IntName(bits int) string {
	switch bits {
	case 16:
		return "smallint"
	case 32:
		return "integer"
	}
	return "bigint"
}

// ErrIntRange says that a result is outside of the integer type with the given number of bits.
func ErrIntRange(bits int) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, IntName(bits)+" out of range")
}

// ParseInt reads an integer of the given number of bits (16, 32 or 64) as PostgreSQL does.
func ParseInt(s string, bits int) (int64, error) {
	x, ok, over := scanInt(s)
	if !ok {
		return 0, pgerr.Newf(pgerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", IntName(bits), s)
	}
	if over || x != x<<(64-bits)>>(64-bits) {
		return 0, pgerr.Newf(pgerr.NumericValueOutOfRange, "value \"%s\" is out of range for type %s", s, IntName(bits))
	}
	return x, nil
}

// scanInt reads digits with an optional sign between optional spaces.
func scanInt(s string) (x int64, ok, over bool) {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	var w uint64
	i := 0
	for ; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			break
		}
		if w > (math.MaxUint64-9)/10 {
			over = true
			continue
		}
		w = w*10 + uint64(d)
	}
	ok = i > 0
	for ; i < len(s); i++ {
		if !isSpace(s[i]) {
			return 0, false, false
		}
	}
	if neg {
		return -int64(w), ok, over || w > 1<<63
	}
	return int64(w), ok, over || w > math.MaxInt64
}

func appendInt(dst []byte, x int64) []byte { return strconv.AppendInt(dst, x, 10) }
