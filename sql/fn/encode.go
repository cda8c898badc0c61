package fn

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/vec"
)

// Bytes as text and the other way round, hashes, and single bits.
var encodeFuncs = []scalar.Func{
	row("encode", 1946, strict|fails, sig(tBytea, tText), tText, encode, "bytes written as hex, base64 or escape"),
	row("decode", 1947, strict|fails, sig(tText, tText), tBytea, decode, "the bytes that a text in hex, base64 or escape stands for"),
	row("convert_from", 1714, strict|fails, sig(tBytea, tName), tText, convertFrom, "bytes of an encoding (UTF8) as text"),
	row("convert_to", 1717, strict|fails, sig(tText, tName), tBytea, convertTo, "text as bytes of an encoding (UTF8)"),
	row("md5", 2311, strict, sig(tText), tText, textText(md5Hex), "the MD5 hash, in hex"),
	row("md5", 2321, strict, sig(tBytea), tText, textText(md5Hex), "the MD5 hash, in hex"),
	row("sha224", 3419, strict, sig(tBytea), tBytea, hash(func(b []byte) []byte { h := sha256.Sum224(b); return h[:] }),
		"the SHA-224 hash"),
	row("sha256", 3420, strict, sig(tBytea), tBytea, hash(func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }),
		"the SHA-256 hash"),
	row("sha384", 3421, strict, sig(tBytea), tBytea, hash(func(b []byte) []byte { h := sha512.Sum384(b); return h[:] }),
		"the SHA-384 hash"),
	row("sha512", 3422, strict, sig(tBytea), tBytea, hash(func(b []byte) []byte { h := sha512.Sum512(b); return h[:] }),
		"the SHA-512 hash"),
	row("to_hex", 2089, strict, sig(tInt4), tText, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return vec.StrOf(strconv.FormatUint(uint64(uint32(a[0].Int())), 16)), nil
	}, "the number in hex"),
	row("to_hex", 2090, strict, sig(tInt8), tText, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return vec.StrOf(strconv.FormatUint(uint64(a[0].Int()), 16)), nil
	}, "the number in hex"),
	row("get_byte", 721, strict|fails, sig(tBytea, tInt4), tInt4, getByte, "the n-th byte, from 0"),
	row("get_bit", 723, strict|fails, sig(tBytea, tInt8), tInt4, getBit, "the n-th bit, from 0"),
	row("set_byte", 722, strict|fails, sig(tBytea, tInt4, tInt4), tBytea, setByte, "the bytes with the n-th replaced"),
	row("set_bit", 724, strict|fails, sig(tBytea, tInt8, tInt4), tBytea, setBit, "the bytes with the n-th bit replaced"),
	row("uuid_generate_v5", 17450, strict, sig(tUUID, tText), tUUID, uuidV5, "the uuid of a name in a namespace"),
	row("bit_count", 6163, strict, sig(tBytea), tInt8, textInt(countBits), "the number of bits that are 1"),
}

func unknownEncoding(name string) error {
	return pgerr.Newf(pgerr.InvalidParameterValue, "unrecognized encoding: \"%s\"", name)
}

func encode(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	data, name := a[0].Bytes(), a[1].Str()
	switch strings.ToLower(name) {
	case "hex":
		return vec.StrOf(hex.EncodeToString(data)), nil
	case "base64":
		return vec.StrOf(wrap76(base64.StdEncoding.EncodeToString(data))), nil
	case "escape":
		return vec.BytesOf(escapeBytes(data)), nil
	}
	return vec.Null, unknownEncoding(name)
}

// wrap76 breaks lines as MIME wants them.
func wrap76(s string) string {
	const width = 76
	if len(s) <= width {
		return s
	}
	var out strings.Builder
	for len(s) > width {
		out.WriteString(s[:width])
		out.WriteByte('\n')
		s = s[width:]
	}
	out.WriteString(s)
	return out.String()
}

// escapeBytes writes zero bytes and those beyond ASCII as three octal digits, and doubles backslashes.
func escapeBytes(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for _, c := range data {
		switch {
		case c == 0 || c >= utf8.RuneSelf:
			out = append(out, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		case c == '\\':
			out = append(out, '\\', '\\')
		default:
			out = append(out, c)
		}
	}
	return out
}

func decode(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, name := a[0].Str(), a[1].Str()
	var out []byte
	var err error
	switch strings.ToLower(name) {
	case "hex":
		out, err = decodeHex(s)
	case "base64":
		out, err = decodeBase64(s)
	case "escape":
		out, err = unescapeBytes(s)
	default:
		err = unknownEncoding(name)
	}
	return vec.BytesOf(out), err
}

func decodeHex(s string) ([]byte, error) {
	out := make([]byte, 0, len(s)/2)
	half, have := byte(0), false
	for i, r := range s {
		c := byte(r)
		var v byte
		switch {
		case r == ' ' || r == '\n' || r == '\t' || r == '\r':
			if have {
				return nil, pgerr.Newf(pgerr.InvalidParameterValue, "invalid hexadecimal digit: \"%c\"", r)
			}
			continue
		case r >= '0' && r <= '9':
			v = c - '0'
		case r >= 'a' && r <= 'f':
			v = c - 'a' + 10
		case r >= 'A' && r <= 'F':
			v = c - 'A' + 10
		default:
			_, size := utf8.DecodeRuneInString(s[i:])
			return nil, pgerr.Newf(pgerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[i:i+size])
		}
		if have {
			out = append(out, half<<4|v)
		}
		half, have = v, !have
	}
	if have {
		return nil, pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
	}
	return out, nil
}

func decodeBase64(s string) ([]byte, error) {
	out := make([]byte, 0, len(s)*3/4)
	var word uint32
	pos, padding := 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		v := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c)
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case c == '=':
			if padding == 0 {
				switch pos {
				case 2:
					padding = 1
				case 3:
					padding = 2
				default:
					return nil, pgerr.New(pgerr.InvalidParameterValue, "unexpected \"=\" while decoding base64 sequence")
				}
			}
			v = 0
		case v < 0:
			_, size := utf8.DecodeRuneInString(s[i:])
			return nil, pgerr.Newf(pgerr.InvalidParameterValue, "invalid symbol \"%s\" found while decoding base64 sequence",
				s[i:i+size])
		}
		word = word<<6 | uint32(v)
		if pos++; pos == 4 {
			out = append(out, byte(word>>16))
			if padding == 0 || padding > 1 {
				out = append(out, byte(word>>8))
			}
			if padding == 0 || padding > 2 {
				out = append(out, byte(word))
			}
			word, pos = 0, 0
		}
	}
	if pos != 0 {
		return nil, pgerr.New(pgerr.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return out, nil
}

func unescapeBytes(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	octal := func(i int, most byte) bool { return s[i] >= '0' && s[i] <= most }
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
		case i+3 < len(s) && octal(i+1, '3') && octal(i+2, '7') && octal(i+3, '7'):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i++
		default:
			return nil, pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return out, nil
}

// isUTF8 says whether a name is one of the one encoding we have.
func isUTF8(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	return plain == "utf8" || plain == "unicode"
}

func convertFrom(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if !isUTF8(a[1].Str()) {
		return vec.Null, pgerr.Unsupported("encoding \"%s\"", a[1].Str())
	}
	s := a[0].Str()
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size <= 1 || r == 0 {
			return vec.Null, pgerr.Newf(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s",
				hexBytes(s[at:]))
		}
		at += size
	}
	return a[0], nil
}

// hexBytes shows the bytes of what should have been a character.
func hexBytes(s string) string {
	n := 1
	switch c := s[0]; {
	case c >= 0xf0 && c < 0xf8:
		n = 4
	case c >= 0xe0 && c < 0xf0:
		n = 3
	case c >= 0xc0 && c < 0xe0:
		n = 2
	}
	parts := make([]string, min(n, len(s)))
	for i := range parts {
		parts[i] = "0x" + hex.EncodeToString([]byte{s[i]})
	}
	return strings.Join(parts, " ")
}

func convertTo(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if !isUTF8(a[1].Str()) {
		return vec.Null, pgerr.Unsupported("encoding \"%s\"", a[1].Str())
	}
	return a[0], nil
}

func md5Hex(s string) string {
	h := md5.Sum([]byte(s))
	return hex.EncodeToString(h[:])
}

func hash(sum func([]byte) []byte) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return vec.BytesOf(sum(a[0].Bytes())), nil }
}

// uuidV5 is the version of uuid that is a SHA-1 hash (RFC 9562, 5.5).
func uuidV5(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	h := sha1.Sum([]byte(a[0].Str() + a[1].Str()))
	u := h[:adt.UUIDLen]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return vec.BytesOf(u), nil
}

func indexRange(i, n int64) error {
	return pgerr.Newf(pgerr.ArraySubscriptError, "index %d out of valid range, 0..%d", i, n-1)
}

func getByte(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, i := a[0].Str(), a[1].Int()
	if i < 0 || i >= int64(len(s)) {
		return vec.Null, indexRange(i, int64(len(s)))
	}
	return vec.IntOf(int64(s[i])), nil
}

func getBit(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, i := a[0].Str(), a[1].Int()
	if i < 0 || i >= 8*int64(len(s)) {
		return vec.Null, indexRange(i, 8*int64(len(s)))
	}
	return vec.IntOf(int64(s[i/8] >> (i % 8) & 1)), nil
}

func setByte(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, i := []byte(a[0].Str()), a[1].Int()
	if i < 0 || i >= int64(len(s)) {
		return vec.Null, indexRange(i, int64(len(s)))
	}
	s[i] = byte(a[2].Int())
	return vec.BytesOf(s), nil
}

func setBit(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, i, to := []byte(a[0].Str()), a[1].Int(), a[2].Int()
	switch {
	case i < 0 || i >= 8*int64(len(s)):
		return vec.Null, indexRange(i, 8*int64(len(s)))
	case to != 0 && to != 1:
		return vec.Null, pgerr.New(pgerr.InvalidParameterValue, "new bit must be 0 or 1")
	}
	s[i/8] = s[i/8]&^(1<<(i%8)) | byte(to)<<(i%8)
	return vec.BytesOf(s), nil
}

func countBits(s string) int {
	n := 0
	for i := range len(s) {
		n += bits.OnesCount8(s[i])
	}
	return n
}
