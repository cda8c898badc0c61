package row

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

var (
	errShort = pgerr.New(pgerr.ProtocolViolation, "insufficient data left in message")
	errLong  = pgerr.New(pgerr.InvalidBinaryRepresentation, "incorrect binary data format")
)

// ParseBinary reads a value of type t from PostgreSQL's binary format and appends it to v; the type's
// modifier is applied as ParseText does. Nothing of b is kept. On an error v is as before.
func ParseBinary(t types.T, b []byte, v *vec.Vec) error {
	switch v.Kind {
	case types.Bool:
		if err := wantSize(b, 1); err != nil {
			return err
		}
		v.AppendBool(b[0] != 0)
		return nil
	case types.Int:
		x, err := binaryInt(t, b)
		if err != nil {
			return err
		}
		v.AppendInt(x)
		return nil
	case types.Float:
		x, err := binaryFloat(t, b)
		if err != nil {
			return err
		}
		v.AppendFloat(x)
		return nil
	}
	v.BeginBytes()
	data, err := appendFromBinary(v.Data, t, b)
	if err != nil {
		return err
	}
	v.Data = data
	v.EndBytes()
	return nil
}

func wantSize(b []byte, n int) error {
	switch {
	case len(b) < n:
		return errShort
	case len(b) > n:
		return errLong
	}
	return nil
}

// intSize is the length of a type's binary integers.
func intSize(t types.T) int {
	switch t.OID {
	case types.OIDInt8, types.OIDTime, types.OIDTimestamp, types.OIDTimestampTZ:
		return 8
	case types.OIDInt2:
		return 2
	case types.OIDChar:
		return 1
	}
	return 4
}

func binaryInt(t types.T, b []byte) (int64, error) {
	if t.OID == types.OIDMzTimestamp {
		return adt.ParseMzTimestamp(unsafe.String(unsafe.SliceData(b), len(b)))
	}
	if err := wantSize(b, intSize(t)); err != nil {
		return 0, err
	}
	switch t.OID {
	case types.OIDInt8:
		return int64(binary.BigEndian.Uint64(b)), nil
	case types.OIDInt4:
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	case types.OIDInt2:
		return int64(int16(binary.BigEndian.Uint16(b))), nil
	case types.OIDChar:
		return int64(b[0]), nil
	case types.OIDDate:
		d := adt.Date(int32(binary.BigEndian.Uint32(b)))
		if d.IsFinite() && !d.InRange() {
			return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range")
		}
		return int64(d), nil
	case types.OIDTime:
		x := int64(binary.BigEndian.Uint64(b))
		if x < 0 || x > 86400e6 {
			return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "time out of range")
		}
		return int64(adt.Time(x).FitMod(t.Mod)), nil
	case types.OIDTimestamp, types.OIDTimestampTZ:
		ts := adt.Timestamp(int64(binary.BigEndian.Uint64(b)))
		if ts.IsFinite() && !ts.InRange() {
			return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range")
		}
		ts, err := ts.FitMod(t.Mod)
		return int64(ts), err
	}
	return int64(binary.BigEndian.Uint32(b)), nil
}

func binaryFloat(t types.T, b []byte) (float64, error) {
	if t.OID == types.OIDFloat4 {
		if err := wantSize(b, 4); err != nil {
			return 0, err
		}
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b))), nil
	}
	if err := wantSize(b, 8); err != nil {
		return 0, err
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
}

// appendFromBinary appends the bytes of a value of kind Bytes.
func appendFromBinary(dst []byte, t types.T, b []byte) ([]byte, error) {
	switch t.OID {
	case types.OIDBytea:
		return append(dst, b...), nil
	case types.OIDUUID:
		return append(dst, b...), wantSize(b, adt.UUIDLen)
	case types.OIDNumeric:
		n, err := adt.NumericFromBinary(b)
		if err == nil {
			n, err = n.FitMod(t.Mod)
		}
		return n.Append(dst), err
	case types.OIDInterval:
		if err := wantSize(b, adt.IntervalLen); err != nil {
			return dst, err
		}
		iv, err := adt.Interval{
			Micros: int64(binary.BigEndian.Uint64(b)),
			Days:   int32(binary.BigEndian.Uint32(b[8:])),
			Months: int32(binary.BigEndian.Uint32(b[12:])),
		}.FitMod(t.Mod)
		return iv.Append(dst), err
	case types.OIDJsonb:
		switch {
		case len(b) == 0:
			return dst, errShort
		case b[0] != 1:
			return dst, pgerr.Newf(pgerr.InternalError, "unsupported jsonb version number %d", b[0])
		}
		b = b[1:]
	case types.OIDInt2Vector, types.OIDOidVector:
		elem, _ := t.Elem()
		return parseArrayBinary(dst, elem, b, true)
	case types.OIDRecord:
		return parseRecordBinary(dst, t, b)
	default:
		if elem, ok := t.Elem(); ok {
			return parseArrayBinary(dst, elem, b, false)
		}
	}
	s := unsafe.String(unsafe.SliceData(b), len(b))
	if err := CheckText(s); err != nil {
		return dst, err
	}
	return appendParsed(dst, t, s, adt.Clock{})
}

// CheckText says whether s can be a text: valid UTF-8 without zero bytes.
func CheckText(s string) error {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return nil
	}
	at := strings.IndexByte(s, 0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size <= 1 {
			if at < 0 || i < at {
				at = i
			}
			break
		}
		i += size
	}
	return pgerr.Newf(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", showBytes(s[at:]))
}

// showBytes shows the bytes of the broken character that s begins with: as many as its first byte calls for.
func showBytes(s string) string {
	n := 1
	switch c := s[0]; {
	case c >= 0xF8:
	case c >= 0xF0:
		n = 4
	case c >= 0xE0:
		n = 3
	case c >= 0xC0:
		n = 2
	}
	out := make([]byte, 0, 20)
	for i := range min(n, len(s)) {
		if i > 0 {
			out = append(out, ' ')
		}
		out = fmt.Appendf(out, "0x%02x", s[i])
	}
	return string(out)
}

// wireReader takes a binary value apart. After the end it gives zeros and remembers.
type wireReader struct {
	b     []byte
	short bool
}

func (r *wireReader) uint32() uint32 {
	if len(r.b) < 4 {
		r.b, r.short = nil, true
		return 0
	}
	x := binary.BigEndian.Uint32(r.b)
	r.b = r.b[4:]
	return x
}

// sized gives a value with its length before it; null is NULL.
func (r *wireReader) sized() (b []byte, null bool) {
	n := r.uint32()
	switch {
	case n == nullSize:
		return nil, true
	case uint64(n) > uint64(len(r.b)):
		r.b, r.short = nil, true
		return nil, false
	}
	b, r.b = r.b[:n], r.b[n:]
	return b, false
}

func parseArrayBinary(dst []byte, elem types.T, b []byte, vector bool) ([]byte, error) {
	r := wireReader{b: b}
	ndims, flags, oid := r.uint32(), r.uint32(), types.OID(r.uint32())
	switch {
	case r.short:
		return dst, errShort
	case ndims > adt.MaxDims:
		return dst, pgerr.Newf(pgerr.ProgramLimitExceeded,
			"number of array dimensions (%d) exceeds the maximum allowed (%d)", ndims, adt.MaxDims)
	case flags > 1:
		return dst, pgerr.New(pgerr.InvalidBinaryRepresentation, "invalid array flags")
	case oid != elem.OID:
		return dst, pgerr.Newf(pgerr.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			oid, types.Of(oid), elem.OID, elem)
	}
	var dims [adt.MaxDims]adt.Dim
	count := uint64(1)
	for i := range ndims {
		d := adt.Dim{Len: int32(r.uint32()), Lower: int32(r.uint32())}
		dims[i] = d
		if count *= uint64(max(d.Len, 0)); count > uint64(len(b)) {
			// Every element takes four bytes at least.
			return dst, errShort
		}
		if d.Len < 0 || int64(d.Lower)+int64(d.Len) > math.MaxInt32 {
			return dst, pgerr.Newf(pgerr.ProgramLimitExceeded, "array lower bound is too large: %d", d.Lower)
		}
	}
	var eb adt.ElemBuilder
	eb.Reset(dst)
	if ndims > 0 {
		var scratch []byte
		for range count {
			var err error
			if scratch, err = addFromBinary(&eb, elem, &r, scratch); err != nil {
				return dst, err
			}
		}
	}
	switch {
	case r.short:
		return dst, errShort
	case len(r.b) > 0:
		return dst, errLong
	case vector && ndims > 1:
		return dst, pgerr.Newf(pgerr.InvalidBinaryRepresentation, "invalid %s data", elem)
	}
	return eb.FinishArray(dims[:ndims]...), nil
}

// addFromBinary adds the next element of an array or record.
func addFromBinary(eb *adt.ElemBuilder, t types.T, r *wireReader, scratch []byte) ([]byte, error) {
	b, null := r.sized()
	switch {
	case r.short:
		return scratch, errShort
	case null:
		eb.Null()
		return scratch, nil
	}
	switch t.Kind() {
	case types.Bool:
		if err := wantSize(b, 1); err != nil {
			return scratch, err
		}
		eb.Bool(b[0] != 0)
	case types.Int:
		x, err := binaryInt(t, b)
		if err != nil {
			return scratch, err
		}
		eb.Int(x)
	case types.Float:
		x, err := binaryFloat(t, b)
		if err != nil {
			return scratch, err
		}
		eb.Float(vec.CanonFloat(x))
	case types.Bytes:
		data, err := appendFromBinary(scratch[:0], t, b)
		if err != nil {
			return scratch, err
		}
		eb.Bytes(data)
		scratch = data
	}
	return scratch, nil
}

func parseRecordBinary(dst []byte, t types.T, b []byte) ([]byte, error) {
	if t.Record == nil {
		return dst, pgerr.New(pgerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
	}
	r := wireReader{b: b}
	if n := r.uint32(); !r.short && int(n) != len(t.Record.Fields) {
		return dst, pgerr.Newf(pgerr.DatatypeMismatch, "wrong number of columns: %d, expected %d", n, len(t.Record.Fields))
	}
	var eb adt.ElemBuilder
	eb.Reset(dst)
	var scratch []byte
	for i, f := range t.Record.Fields {
		oid := types.OID(r.uint32())
		if !r.short && oid != f.Type.OID {
			return dst, pgerr.Newf(pgerr.DatatypeMismatch,
				"binary data has type %d (%s) instead of expected %d (%s) in record column %d",
				oid, types.Of(oid), f.Type.OID, types.Of(f.Type.OID), i+1)
		}
		var err error
		if scratch, err = addFromBinary(&eb, f.Type, &r, scratch); err != nil {
			return dst, err
		}
	}
	switch {
	case r.short:
		return dst, errShort
	case len(r.b) > 0:
		return dst, errLong
	}
	return eb.FinishRecord(), nil
}
