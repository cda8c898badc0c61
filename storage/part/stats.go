package part

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// ColumnStats says what values a column of a part has. It bounds them: Min and Max need not occur.
type ColumnStats struct {
	Nulls int
	// Known says that Min and Max hold: every value that is not NULL lies in [Min, Max]. It is not set where
	// there is no such value, or where saying so would take too many bytes.
	Known    bool
	Min, Max vec.Datum
}

// Stats has one entry for each column; the columns past its end are not known about.
type Stats []ColumnStats

const (
	// statsValueMax is how many bytes of a string a bound keeps.
	statsValueMax = 16
	// statsBudget bounds the encoded statistics of a part, which lie in its shard's state.
	statsBudget = 256
)

// StatsOf computes the statistics of blocks with the same columns.
func StatsOf(blocks []*vec.Block) Stats {
	if len(blocks) == 0 {
		return nil
	}
	s := make(Stats, len(blocks[0].Cols))
	for c := range s {
		for _, b := range blocks {
			s[c].add(&b.Cols[c])
		}
		s[c].shorten()
	}
	return s
}

func (s *ColumnStats) add(v *vec.Vec) {
	present := v.Len
	if v.Valid != nil {
		for i := range v.Len {
			if v.IsNull(i) {
				present--
			}
		}
	}
	s.Nulls += v.Len - present
	if present == 0 {
		return
	}
	lo, hi := extremes(v)
	if !s.Known || lo.Compare(s.Min) < 0 {
		s.Min = lo
	}
	if !s.Known || hi.Compare(s.Max) > 0 {
		s.Max = hi
	}
	s.Known = true
}

// extremes gives the least and the greatest value of a column that has one.
func extremes(v *vec.Vec) (lo, hi vec.Datum) {
	if v.Kind == types.Int && v.Valid == nil {
		x := v.Ints[:v.Len]
		return vec.IntOf(slices.Min(x)), vec.IntOf(slices.Max(x))
	}
	first, least, greatest := true, 0, 0
	for i := range v.Len {
		switch {
		case v.IsNull(i):
		case first:
			first, least, greatest = false, i, i
		case v.Compare(i, v, least) < 0:
			least = i
		case v.Compare(i, v, greatest) > 0:
			greatest = i
		}
	}
	return v.Datum(least), v.Datum(greatest)
}

// shorten gives the bounds memory of their own and cuts long strings: the lower bound becomes a prefix, the
// upper one the least short string that is past all with its prefix.
func (s *ColumnStats) shorten() {
	if !s.Known || s.Min.Kind() != types.Bytes {
		return
	}
	lo := s.Min.Bytes()
	s.Min = vec.StrOf(string(lo[:min(len(lo), statsValueMax)]))
	hi := s.Max.Bytes()
	if len(hi) <= statsValueMax {
		s.Max = s.Max.Clone()
		return
	}
	up := slices.Clone(hi[:statsValueMax])
	for len(up) > 0 && up[len(up)-1] == 0xff {
		up = up[:len(up)-1]
	}
	if len(up) == 0 {
		*s = ColumnStats{Nulls: s.Nulls}
		return
	}
	up[len(up)-1]++
	s.Max = vec.BytesOf(up)
}

// AppendStats encodes statistics within their budget: a column's bounds are left out if there would be no room
// for the counts of those after it, and whole columns if there is none for counts.
func AppendStats(dst []byte, s Stats) []byte {
	counts := 0
	for _, c := range s {
		counts += countSize(c)
	}
	var body []byte
	n := 0
	for _, c := range s {
		counts -= countSize(c)
		more := binary.AppendUvarint(body, uint64(c.Nulls))
		end := len(more)
		if c.Known {
			more = appendDatum(appendDatum(append(more, byte(c.Min.Kind())), c.Min), c.Max)
		}
		if !c.Known || len(more)+counts > statsBudget {
			more = append(more[:end], 0)
		}
		if len(more) > statsBudget {
			break
		}
		body = more
		n++
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	return append(dst, body...)
}

// countSize is how many bytes a column takes without bounds.
func countSize(c ColumnStats) int { return varintSize(uint64(c.Nulls)) + 1 }

func appendDatum(dst []byte, d vec.Datum) []byte {
	switch d.Kind() {
	case types.Bool:
		if d.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case types.Int:
		return binary.AppendVarint(dst, d.Int())
	case types.Float:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(d.Float()))
	case types.Bytes:
		dst = binary.AppendUvarint(dst, uint64(len(d.Bytes())))
		return append(dst, d.Bytes()...)
	}
	panic(fmt.Sprintf("part: statistics of %v", d.Kind()))
}

// DecodeStats reads what AppendStats wrote and gives the rest of data.
func DecodeStats(data []byte) (Stats, []byte, error) {
	d := decoder{data: data}
	n := d.count(uint64(len(data)))
	s := make(Stats, n)
	for i := range s {
		s[i].Nulls = int(d.count(math.MaxInt64))
		kind := d.take(1)
		if d.failed {
			return nil, nil, fmt.Errorf("%w: statistics", ErrCorrupt)
		}
		if kind[0] == 0 {
			continue
		}
		s[i].Known = true
		s[i].Min, s[i].Max = d.datum(types.Kind(kind[0])), d.datum(types.Kind(kind[0]))
	}
	if d.failed {
		return nil, nil, fmt.Errorf("%w: statistics", ErrCorrupt)
	}
	return s, d.data, nil
}

func (d *decoder) datum(k types.Kind) vec.Datum {
	switch k {
	case types.Bool:
		x := d.take(1)
		return vec.BoolOf(!d.failed && x[0] != 0)
	case types.Int:
		return vec.IntOf(d.varint())
	case types.Float:
		if x := d.take(8); !d.failed {
			return vec.FloatOf(math.Float64frombits(binary.LittleEndian.Uint64(x)))
		}
	case types.Bytes:
		if x := d.take(int(d.count(math.MaxInt32))); !d.failed {
			return vec.StrOf(string(x))
		}
	default:
		d.fail()
	}
	return vec.Null
}
