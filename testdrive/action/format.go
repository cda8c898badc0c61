package action

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// binaryTypes are the types whose binary form we read; the others are asked for as text.
var binaryTypes = []uint32{
	pgtype.BoolOID, pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.XIDOID,
	pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID,
	pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID, pgtype.QCharOID, pgtype.ByteaOID,
	pgtype.DateOID, pgtype.TimeOID, pgtype.TimestampOID, pgtype.TimestamptzOID, pgtype.IntervalOID,
	pgtype.JSONOID, pgtype.JSONBOID, pgtype.UUIDOID,
}

// arrayTypes and rangeTypes are containers of the above.
var (
	arrayTypes = []uint32{
		pgtype.BoolArrayOID, pgtype.Int2ArrayOID, pgtype.Int4ArrayOID, pgtype.Int8ArrayOID, pgtype.OIDArrayOID,
		pgtype.Float4ArrayOID, pgtype.Float8ArrayOID, pgtype.NumericArrayOID,
		pgtype.TextArrayOID, pgtype.VarcharArrayOID, pgtype.BPCharArrayOID, pgtype.NameArrayOID, pgtype.QCharArrayOID,
		pgtype.ByteaArrayOID, pgtype.DateArrayOID, pgtype.TimeArrayOID, pgtype.TimestampArrayOID,
		pgtype.TimestamptzArrayOID, pgtype.IntervalArrayOID, pgtype.JSONArrayOID, pgtype.JSONBArrayOID, pgtype.UUIDArrayOID,
	}
	rangeTypes = []struct{ oid, bound uint32 }{
		{pgtype.Int4rangeOID, pgtype.Int4OID}, {pgtype.Int8rangeOID, pgtype.Int8OID},
		{pgtype.NumrangeOID, pgtype.NumericOID}, {pgtype.DaterangeOID, pgtype.DateOID},
		{pgtype.TsrangeOID, pgtype.TimestampOID}, {pgtype.TstzrangeOID, pgtype.TimestamptzOID},
	}
)

// formatOf says in which format to ask for a type.
func formatOf(oid uint32) int16 {
	if slices.Contains(binaryTypes, oid) || slices.Contains(arrayTypes, oid) || rangeBound(oid) != 0 {
		return pgtype.BinaryFormatCode
	}
	return pgtype.TextFormatCode
}

func rangeBound(oid uint32) uint32 {
	for _, r := range rangeTypes {
		if r.oid == oid {
			return r.bound
		}
	}
	return 0
}

// formatValue gives the text that scripts compare, for a binary value that is not NULL.
func formatValue(m *pgtype.Map, oid uint32, src []byte) (string, error) {
	switch {
	case slices.Contains(arrayTypes, oid):
		return formatArray(m, src)
	case rangeBound(oid) != 0:
		return formatRange(m, rangeBound(oid), src)
	}
	// A switch over the closed set of binaryTypes.
	switch oid {
	case pgtype.BoolOID:
		v, err := scan[bool](m, oid, src)
		return strconv.FormatBool(v), err
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		v, err := scan[int64](m, oid, src)
		return strconv.FormatInt(v, 10), err
	case pgtype.OIDOID, pgtype.XIDOID:
		v, err := scan[uint32](m, oid, src)
		return strconv.FormatUint(uint64(v), 10), err
	case pgtype.Float4OID:
		v, err := scan[float32](m, oid, src)
		return formatFloat(float64(v), 32), err
	case pgtype.Float8OID:
		v, err := scan[float64](m, oid, src)
		return formatFloat(v, 64), err
	case pgtype.NumericOID:
		v, err := scan[pgtype.Numeric](m, oid, src)
		return formatNumeric(v), err
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID:
		return string(src), nil
	case pgtype.QCharOID:
		if len(src) != 1 {
			return "", fmt.Errorf("\"char\" has %d bytes", len(src))
		}
		return strconv.Itoa(int(int8(src[0]))), nil
	case pgtype.ByteaOID:
		return escapeBytes(src), nil
	case pgtype.JSONOID, pgtype.JSONBOID:
		return formatJSON(oid, src)
	case pgtype.UUIDOID:
		v, err := scan[[16]byte](m, oid, src)
		return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]), err
	}
	return formatTime(m, oid, src)
}

// formatTime formats what has to do with time.
func formatTime(m *pgtype.Map, oid uint32, src []byte) (string, error) {
	switch oid {
	case pgtype.DateOID:
		v, err := scan[pgtype.Date](m, oid, src)
		if v.InfinityModifier != pgtype.Finite {
			return v.InfinityModifier.String(), err
		}
		return formatDate(v.Time), err
	case pgtype.TimeOID:
		v, err := scan[pgtype.Time](m, oid, src)
		return formatClock(v.Microseconds), err
	case pgtype.TimestampOID:
		v, err := scan[pgtype.Timestamp](m, oid, src)
		return formatInstant(v.Time, v.InfinityModifier, ""), err
	case pgtype.TimestamptzOID:
		v, err := scan[pgtype.Timestamptz](m, oid, src)
		return formatInstant(v.Time, v.InfinityModifier, " UTC"), err
	case pgtype.IntervalOID:
		v, err := scan[pgtype.Interval](m, oid, src)
		return formatInterval(v), err
	}
	return "", fmt.Errorf("no format for type %d", oid)
}

func scan[T any](m *pgtype.Map, oid uint32, src []byte) (T, error) {
	var v T
	err := m.Scan(oid, pgtype.BinaryFormatCode, src, &v)
	return v, err
}

// formatFloat never uses an exponent.
func formatFloat(v float64, bits int) string {
	text := strconv.FormatFloat(v, 'f', -1, bits)
	switch text {
	case "+Inf":
		return "inf"
	case "-Inf":
		return "-inf"
	}
	return text
}

// formatNumeric uses plain notation without zeros at the end, so that servers that keep a scale and servers that
// do not look the same.
func formatNumeric(v pgtype.Numeric) string {
	switch {
	case v.NaN:
		return "NaN"
	case v.InfinityModifier != pgtype.Finite:
		return v.InfinityModifier.String()
	case v.Int == nil:
		return "0"
	}
	digits := new(big.Int).Abs(v.Int).String()
	if v.Exp >= 0 {
		digits += strings.Repeat("0", int(v.Exp))
	} else {
		scale := int(-v.Exp)
		if len(digits) <= scale {
			digits = strings.Repeat("0", scale-len(digits)+1) + digits
		}
		point := len(digits) - scale
		digits = strings.TrimRight(digits[:point]+"."+digits[point:], "0")
		digits = strings.TrimSuffix(digits, ".")
	}
	if v.Int.Sign() == 0 {
		return "0"
	}
	if v.Int.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// escapeBytes shows bytes as ASCII.
func escapeBytes(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		switch c {
		case '\t':
			out.WriteString(`\t`)
		case '\r':
			out.WriteString(`\r`)
		case '\n':
			out.WriteString(`\n`)
		case '\'', '"', '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		default:
			if c >= 0x20 && c < 0x7f {
				out.WriteByte(c)
			} else {
				fmt.Fprintf(&out, `\x%02x`, c)
			}
		}
	}
	return out.String()
}

// formatJSON checks the version byte of jsonb.
func formatJSON(oid uint32, src []byte) (string, error) {
	if oid == pgtype.JSONBOID {
		if len(src) == 0 || src[0] != 1 {
			return "", errors.New("jsonb has an unknown version")
		}
		src = src[1:]
	}
	return CompactJSON(string(src)), nil
}

// CompactJSON takes out the blanks that stand outside strings.
func CompactJSON(text string) string {
	var out strings.Builder
	quoted, escaped := false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

// formatDate writes years outside 0 to 9999 with a sign; the year before 1 is 0.
func formatDate(t time.Time) string {
	y := t.Year()
	if y >= 0 && y <= 9999 {
		return fmt.Sprintf("%04d-%02d-%02d", y, t.Month(), t.Day())
	}
	return fmt.Sprintf("%+05d-%02d-%02d", y, t.Month(), t.Day())
}

const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
)

// formatClock shows milliseconds or microseconds, if there are any.
func formatClock(micros int64) string {
	return fmt.Sprintf("%02d:%02d:%02d%s", micros/microsPerHour, micros/microsPerMinute%60, micros/microsPerSecond%60,
		formatFraction(micros%microsPerSecond))
}

func formatFraction(micros int64) string {
	switch {
	case micros == 0:
		return ""
	case micros%1000 == 0:
		return fmt.Sprintf(".%03d", micros/1000)
	}
	return fmt.Sprintf(".%06d", micros)
}

func formatInstant(t time.Time, infinity pgtype.InfinityModifier, zone string) string {
	if infinity != pgtype.Finite {
		return infinity.String()
	}
	t = t.UTC()
	return fmt.Sprintf("%s %02d:%02d:%02d%s%s", formatDate(t), t.Hour(), t.Minute(), t.Second(),
		formatFraction(int64(t.Nanosecond()/1000)), zone)
}

// formatInterval is PostgreSQL's own style: a part's sign is shown where it differs from what stands before.
func formatInterval(v pgtype.Interval) string {
	var parts []string
	before := false
	add := func(n int64, unit string) {
		if n == 0 {
			return
		}
		sign, plural := "", "s"
		if before && n > 0 {
			sign = "+"
		}
		if n == 1 {
			plural = ""
		}
		parts = append(parts, sign+strconv.FormatInt(n, 10)+" "+unit+plural)
		before = n < 0
	}
	add(int64(v.Months/12), "year")
	add(int64(v.Months%12), "mon")
	add(int64(v.Days), "day")
	if v.Microseconds != 0 || len(parts) == 0 {
		sign := ""
		// The smallest value has no positive twin, so the magnitude is unsigned.
		micros := uint64(v.Microseconds)
		switch {
		case v.Microseconds < 0:
			sign = "-"
			micros = -micros
		case before:
			sign = "+"
		}
		clock := fmt.Sprintf("%s%02d:%02d:%02d", sign, micros/microsPerHour, micros/microsPerMinute%60, micros/microsPerSecond%60)
		if f := micros % microsPerSecond; f != 0 {
			clock += "." + strings.TrimRight(fmt.Sprintf("%06d", f), "0")
		}
		parts = append(parts, clock)
	}
	return strings.Join(parts, " ")
}

var errShortValue = errors.New("binary value is too short")

// lengthBytes is the size of a length before a value.
const lengthBytes = 4

// reader takes big-endian numbers off a value.
type reader struct {
	src []byte
	err error
}

func (r *reader) bytes(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.src) {
		r.err = errShortValue
		return nil
	}
	b := r.src[:n]
	r.src = r.src[n:]
	return b
}

func (r *reader) int32() int {
	b := r.bytes(lengthBytes)
	if b == nil {
		return 0
	}
	return int(int32(binary.BigEndian.Uint32(b)))
}

// holds says whether what is left may be an array's elements, each of which has a length of its own.
func (r *reader) holds(lengths []int) bool {
	n := 1
	for _, l := range lengths {
		if l < 1 || l > len(r.src)/lengthBytes/n {
			return false
		}
		n *= l
	}
	return true
}

// formatArray leaves elements unquoted and shows bounds only if one does not begin at 1.
func formatArray(m *pgtype.Map, src []byte) (string, error) {
	r := &reader{src: src}
	dimensions := r.int32()
	r.int32() // flags
	element := uint32(r.int32())
	if r.err != nil || dimensions < 0 || dimensions > 6 {
		return "", errShortValue
	}
	if dimensions == 0 {
		return "{}", nil
	}
	lengths := make([]int, dimensions)
	bounds, shown := "", false
	for i := range lengths {
		lengths[i] = r.int32()
		low := r.int32()
		bounds += fmt.Sprintf("[%d:%d]", low, low+lengths[i]-1)
		shown = shown || low != 1
	}
	if r.err != nil || !r.holds(lengths) {
		return "", errShortValue
	}
	var out strings.Builder
	if shown {
		out.WriteString(bounds + "=")
	}
	err := writeDimension(m, &out, r, element, lengths)
	return out.String(), err
}

func writeDimension(m *pgtype.Map, out *strings.Builder, r *reader, element uint32, lengths []int) error {
	out.WriteByte('{')
	for i := range lengths[0] {
		if i > 0 {
			out.WriteByte(',')
		}
		if len(lengths) > 1 {
			if err := writeDimension(m, out, r, element, lengths[1:]); err != nil {
				return err
			}
			continue
		}
		n := r.int32()
		if n < 0 {
			out.WriteString("NULL")
			continue
		}
		value := r.bytes(n)
		if r.err != nil {
			return r.err
		}
		text, err := formatValue(m, element, value)
		if err != nil {
			return err
		}
		out.WriteString(text)
	}
	out.WriteByte('}')
	return r.err
}

// The flags of a binary range.
const (
	rangeEmpty         = 0x01
	rangeLowerIncluded = 0x02
	rangeUpperIncluded = 0x04
	rangeLowerInfinite = 0x08
	rangeUpperInfinite = 0x10
)

func formatRange(m *pgtype.Map, bound uint32, src []byte) (string, error) {
	r := &reader{src: src}
	head := r.bytes(1)
	if r.err != nil {
		return "", r.err
	}
	flags := head[0]
	if flags&rangeEmpty != 0 {
		return "empty", nil
	}
	text := "("
	if flags&rangeLowerIncluded != 0 {
		text = "["
	}
	for _, infinite := range [...]byte{rangeLowerInfinite, rangeUpperInfinite} {
		if infinite == rangeUpperInfinite {
			text += ","
		}
		if flags&infinite != 0 {
			continue
		}
		value := r.bytes(r.int32())
		if r.err != nil {
			return "", r.err
		}
		t, err := formatValue(m, bound, value)
		if err != nil {
			return "", err
		}
		text += t
	}
	if flags&rangeUpperIncluded != 0 {
		return text + "]", nil
	}
	return text + ")", nil
}
