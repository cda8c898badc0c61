package adt

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// ParseBool reads a boolean: any beginning of true, false, yes, no, on, off that says which, 1 or 0.
func ParseBool(s string) (bool, error) {
	t := trimSpace(s)
	if len(t) > 0 && len(t) <= 5 {
		var buf [5]byte
		for i := range len(t) {
			buf[i] = lower(t[i])
		}
		low := borrow(buf[:len(t)])
		switch low[0] {
		case 't':
			if strings.HasPrefix("true", low) {
				return true, nil
			}
		case 'f':
			if strings.HasPrefix("false", low) {
				return false, nil
			}
		case 'y':
			if strings.HasPrefix("yes", low) {
				return true, nil
			}
		case 'n':
			if strings.HasPrefix("no", low) {
				return false, nil
			}
		case 'o', '1', '0':
			switch low {
			case "on", "1":
				return true, nil
			case "of", "off", "0":
				return false, nil
			}
		}
	}
	return false, pgerr.Newf(pgerr.InvalidTextRepresentation, "invalid input syntax for type boolean: \"%s\"", s)
}

// ParseOID reads an OID; negative ones count from the end.
func ParseOID(s string) (int64, error) {
	x, ok, over := scanInt(s)
	switch {
	case !ok:
		return 0, pgerr.Newf(pgerr.InvalidTextRepresentation, "invalid input syntax for type oid: \"%s\"", s)
	case over || x > math.MaxUint32 || x < math.MinInt32:
		return 0, pgerr.Newf(pgerr.NumericValueOutOfRange, "value \"%s\" is out of range for type oid", s)
	}
	return int64(uint32(x)), nil
}

// ParseMzTimestamp reads a logical time: milliseconds since 1970, or a timestamp.
func ParseMzTimestamp(s string) (int64, error) {
	if x, ok, over := scanInt(s); ok && !over && x >= 0 {
		return x, nil
	}
	t, err := ParseTimestampTZ(s, -1, Clock{})
	if err != nil || !t.IsFinite() || t < UnixEpoch {
		return 0, pgerr.Newf(pgerr.InvalidTextRepresentation, "invalid input syntax for type mz_timestamp: \"%s\"", s)
	}
	return t.UnixMicros() / 1000, nil
}

// ParseChar reads a "char": one byte, as itself or as \ooo. Values are 0 to 255.
func ParseChar(s string) int64 {
	if len(s) == 4 && s[0] == '\\' {
		if x, ok := octal(s[1:]); ok {
			return int64(x)
		}
	}
	if s == "" {
		return 0
	}
	return int64(s[0])
}

// octal reads three octal digits, of which the first may be too large for a byte.
func octal(s string) (byte, bool) {
	for i := range 3 {
		if s[i]-'0' > 7 {
			return 0, false
		}
	}
	return (s[0]-'0')<<6 | (s[1]-'0')<<3 | (s[2] - '0'), true
}

// AppendChar appends a "char".
func AppendChar(dst []byte, x int64) []byte {
	switch c := byte(x); {
	case c == 0:
		return dst
	case c >= 0x80:
		return append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
	default:
		return append(dst, c)
	}
}

// MaxNameLen is the number of bytes a name keeps.
const MaxNameLen = 63

// FitName cuts a name to what is kept of it, between characters.
func FitName(s string) string {
	if len(s) <= MaxNameLen {
		return s
	}
	n := MaxNameLen
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// FitVarchar applies a varchar's type modifier. What is too long is cut by an explicit cast, as are blanks
// always; else it is an error.
func FitVarchar(s string, mod int32, explicit bool) (string, error) {
	cut, ok := fitChars(s, mod, explicit)
	if !ok {
		return "", pgerr.Newf(pgerr.StringDataRightTruncation, "value too long for type character varying(%d)", mod-4)
	}
	return cut, nil
}

// FitBpchar applies the type modifier of a char(n), whose values are kept without trailing blanks.
func FitBpchar(s string, mod int32, explicit bool) (string, error) {
	cut, ok := fitChars(s, mod, explicit)
	if !ok {
		return "", pgerr.Newf(pgerr.StringDataRightTruncation, "value too long for type character(%d)", mod-4)
	}
	return strings.TrimRight(cut, " "), nil
}

func fitChars(s string, mod int32, explicit bool) (string, bool) {
	n := int(mod) - 4
	if mod < 0 || len(s) <= n {
		return s, true
	}
	at := 0
	for range n {
		if at == len(s) {
			return s, true
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at], explicit || strings.TrimRight(s[at:], " ") == ""
}

// AppendBpchar appends a char(n) with its trailing blanks.
func AppendBpchar(dst []byte, s string, mod int32) []byte {
	dst = append(dst, s...)
	if mod < 0 {
		return dst
	}
	for range int(mod) - 4 - utf8.RuneCountInString(s) {
		dst = append(dst, ' ')
	}
	return dst
}

// UUIDLen is the length of a uuid.
const UUIDLen = 16

// ParseUUID appends the 16 bytes of a uuid: hexadecimal digits, a hyphen after any four of them, braces
// around all.
func ParseUUID(dst []byte, s string) ([]byte, error) {
	t, ok := s, true
	if strings.HasPrefix(t, "{") {
		t, ok = strings.CutSuffix(t[1:], "}")
	}
	start := len(dst)
	for i := 0; ok && i < UUIDLen; i++ {
		if len(t) < 2 {
			ok = false
			break
		}
		h, hok := hexDigit(t[0])
		l, lok := hexDigit(t[1])
		dst = append(dst, h<<4|l)
		ok, t = hok && lok, t[2:]
		if i%2 == 1 && i < UUIDLen-1 && t != "" && t[0] == '-' {
			t = t[1:]
		}
	}
	if !ok || t != "" {
		return dst[:start], pgerr.Newf(pgerr.InvalidTextRepresentation, "invalid input syntax for type uuid: \"%s\"", s)
	}
	return dst, nil
}

const hexDigits = "0123456789abcdef"

// AppendUUID appends a uuid as text.
func AppendUUID(dst, b []byte) []byte {
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// ParseBytea appends the bytes that a text stands for: \x and hexadecimal digits, else characters with
// escapes.
func ParseBytea(dst []byte, s string) ([]byte, error) {
	start := len(dst)
	if strings.HasPrefix(s, "\\x") {
		return parseHex(dst, s[2:])
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			dst = append(dst, s[i])
		case i+1 < len(s) && s[i+1] == '\\':
			dst = append(dst, '\\')
			i++
		case i+3 < len(s) && s[i+1] <= '3':
			c, ok := octal(s[i+1:])
			if !ok {
				return dst[:start], pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
			}
			dst = append(dst, c)
			i += 3
		default:
			return dst[:start], pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return dst, nil
}

func parseHex(dst []byte, s string) ([]byte, error) {
	start := len(dst)
	bad := func(s string) error {
		_, size := utf8.DecodeRuneInString(s)
		return pgerr.Newf(pgerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[:size])
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			continue
		}
		h, ok := hexDigit(s[i])
		if !ok {
			return dst[:start], bad(s[i:])
		}
		if i++; i == len(s) {
			return dst[:start], pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		l, ok := hexDigit(s[i])
		if !ok {
			return dst[:start], bad(s[i:])
		}
		dst = append(dst, h<<4|l)
	}
	return dst, nil
}

// AppendBytea appends bytes as text, in hexadecimal.
func AppendBytea(dst, b []byte) []byte {
	dst = append(dst, '\\', 'x')
	for _, c := range b {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}
