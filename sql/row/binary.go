package row

import (
	"encoding/binary"
	"math"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// AppendBinary appends value i of v, which is not NULL, in PostgreSQL's binary format of type t.
func AppendBinary(dst []byte, t types.T, v *vec.Vec, i int) []byte {
	switch v.Kind {
	case types.Bool:
		return append(dst, v.Bools[i])
	case types.Int:
		return appendIntBinary(dst, t, v.Ints[i])
	case types.Float:
		return appendFloatBinary(dst, t, v.Floats[i])
	}
	return appendBytesBinary(dst, t, v.Bytes(i))
}

// AppendBinaryDatum is AppendBinary for a value by itself.
func AppendBinaryDatum(dst []byte, t types.T, d vec.Datum) []byte {
	switch d.Kind() {
	case types.Bool:
		if d.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case types.Int:
		return appendIntBinary(dst, t, d.Int())
	case types.Float:
		return appendFloatBinary(dst, t, d.Float())
	}
	return appendBytesBinary(dst, t, d.Bytes())
}

func appendIntBinary(dst []byte, t types.T, x int64) []byte {
	switch t.OID {
	case types.OIDInt8, types.OIDTime, types.OIDTimestamp, types.OIDTimestampTZ:
		return binary.BigEndian.AppendUint64(dst, uint64(x))
	case types.OIDInt2:
		return binary.BigEndian.AppendUint16(dst, uint16(x))
	case types.OIDChar:
		return append(dst, byte(x))
	case types.OIDMzTimestamp:
		// No driver knows the type, so its binary form is its text.
		return appendIntText(dst, t, x)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(x))
}

func appendFloatBinary(dst []byte, t types.T, x float64) []byte {
	if t.OID == types.OIDFloat4 {
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(x)))
	}
	if x != x {
		// C's NaN, which has another bit set than Go's.
		return binary.BigEndian.AppendUint64(dst, 0x7FF8000000000000)
	}
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(x))
}

func appendBytesBinary(dst []byte, t types.T, b []byte) []byte {
	switch t.OID {
	case types.OIDBytea, types.OIDUUID:
		return append(dst, b...)
	case types.OIDNumeric:
		return adt.NumericOf(b).AppendBinary(dst)
	case types.OIDJsonb:
		return adt.JsonbOf(b).AppendText(append(dst, 1))
	case types.OIDInterval:
		iv := adt.IntervalOf(b)
		dst = binary.BigEndian.AppendUint64(dst, uint64(iv.Micros))
		dst = binary.BigEndian.AppendUint32(dst, uint32(iv.Days))
		return binary.BigEndian.AppendUint32(dst, uint32(iv.Months))
	case types.OIDRecord:
		return appendRecordBinary(dst, t, b)
	}
	if elem, ok := t.Elem(); ok {
		vector := t.OID == types.OIDInt2Vector || t.OID == types.OIDOidVector
		return appendArrayBinary(dst, elem, b, vector)
	}
	return appendBytesText(dst, t, b)
}

// appendElemBinary appends an element of an array or a record with its length before it.
func appendElemBinary(dst []byte, t types.T, r *adt.ElemReader) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	switch t.Kind() {
	case types.Bool:
		x := byte(0)
		if r.Bool() {
			x = 1
		}
		dst = append(dst, x)
	case types.Int:
		dst = appendIntBinary(dst, t, r.Int())
	case types.Float:
		dst = appendFloatBinary(dst, t, r.Float())
	case types.Bytes:
		dst = appendBytesBinary(dst, t, r.Bytes())
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// nullSize stands where the length of a value would, for NULL.
const nullSize = math.MaxUint32

// appendArrayBinary appends how many dimensions there are, whether any element is NULL, the elements' type,
// length and lower bound of each dimension, then the elements with their lengths.
func appendArrayBinary(dst []byte, elem types.T, b []byte, vector bool) []byte {
	a := adt.ArrayOf(b)
	dims := a.Dims()
	if vector && len(dims) == 0 {
		// Only these have a dimension even when there is nothing in it.
		dims = []adt.Dim{{}}
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(dims)))
	flag := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(elem.OID))
	for _, d := range dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Len))
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Lower))
	}
	for r := a.Elems(); r.Next(elem.Kind()); {
		if r.IsNull() {
			dst[flag+3] = 1
			dst = binary.BigEndian.AppendUint32(dst, nullSize)
			continue
		}
		dst = appendElemBinary(dst, elem, &r)
	}
	return dst
}

// appendRecordBinary appends how many fields there are, then each one's type, length and value.
func appendRecordBinary(dst []byte, t types.T, b []byte) []byte {
	fields := recordFields(t)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(fields)))
	r := adt.ReadRecord(b)
	for _, f := range fields {
		dst = binary.BigEndian.AppendUint32(dst, uint32(f.Type.OID))
		if !r.Next(f.Type.Kind()) || r.IsNull() {
			dst = binary.BigEndian.AppendUint32(dst, nullSize)
			continue
		}
		dst = appendElemBinary(dst, f.Type, &r)
	}
	return dst
}
