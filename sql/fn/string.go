package fn

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Strings. Letters change case by Unicode, as in Materialize, whatever PostgreSQL's locale would do.
var stringFuncs = []scalar.Func{
	kern("||", 654, strict, sig(tText, tText), tText, concat2, docConcat),
	kern("||", 2018, strict, sig(tBytea, tBytea), tBytea, concat2, docConcat),
	kern("textcat", 1258, strict, sig(tText, tText), tText, concat2, docConcat),
	kern("byteacat", 2011, strict, sig(tBytea, tBytea), tBytea, concat2, docConcat),

	kern("length", 1317, strict, sig(tText), tInt4, countRunes, docLength),
	kern("length", 1318, strict, sig(tBpchar), tInt4, countRunes, docLength+", blanks at the end aside"),
	kern("length", 2010, strict, sig(tBytea), tInt4, countBytes(1), docOctets),
	kern("char_length", 1381, strict, sig(tText), tInt4, countRunes, docLength),
	kern("char_length", 1372, strict, sig(tBpchar), tInt4, countRunes, docLength+", blanks at the end aside"),
	kern("character_length", 1369, strict, sig(tText), tInt4, countRunes, docLength),
	kern("character_length", 1367, strict, sig(tBpchar), tInt4, countRunes, docLength+", blanks at the end aside"),
	kern("octet_length", 1374, strict, sig(tText), tInt4, countBytes(1), docOctets),
	kern("octet_length", 720, strict, sig(tBytea), tInt4, countBytes(1), docOctets),
	paddedArg(row("octet_length", 1375, strict, sig(tBpchar), tInt4, textInt(func(s string) int { return len(s) }), docOctets)),
	kern("bit_length", 1811, strict, sig(tText), tInt4, countBytes(8), "the number of bits"),
	kern("bit_length", 1810, strict, sig(tBytea), tInt4, countBytes(8), "the number of bits"),

	kern("lower", 870, strict, sig(tText), tText, mapRunes(asciiLower, unicode.ToLower), "the text in lower case"),
	kern("upper", 871, strict, sig(tText), tText, mapRunes(asciiUpper, unicode.ToUpper), "the text in upper case"),
	row("initcap", 872, strict, sig(tText), tText, textText(initcap), "each word with a capital, the rest in lower case"),
	row("reverse", 3062, strict, sig(tText), tText, textText(reverse), "the characters backwards"),

	kern("btrim", 885, strict, sig(tText), tText, mapBytes(func(s []byte) []byte { return bytes.Trim(s, " ") }), docTrim),
	kern("ltrim", 881, strict, sig(tText), tText, mapBytes(func(s []byte) []byte { return bytes.TrimLeft(s, " ") }), docTrim),
	kern("rtrim", 882, strict, sig(tText), tText, trimBlanks, docTrim),
	row("btrim", 884, strict, sig(tText, tText), tText, text2Text(trimSet(true, true)), docTrimSet),
	row("ltrim", 875, strict, sig(tText, tText), tText, text2Text(trimSet(true, false)), docTrimSet),
	row("rtrim", 876, strict, sig(tText, tText), tText, text2Text(trimSet(false, true)), docTrimSet),
	row("btrim", 2015, strict, sig(tBytea, tBytea), tBytea, text2Text(trimBytes(true, true)), docTrimSet),
	row("ltrim", 6195, strict, sig(tBytea, tBytea), tBytea, text2Text(trimBytes(true, false)), docTrimSet),
	row("rtrim", 6196, strict, sig(tBytea, tBytea), tBytea, text2Text(trimBytes(false, true)), docTrimSet),

	row("lpad", 873, strict|fails, sig(tText, tInt4, tText), tText, pad(true), docPadLeft),
	row("lpad", 879, strict|fails, sig(tText, tInt4), tText, pad(true), docPadLeft),
	row("rpad", 874, strict|fails, sig(tText, tInt4, tText), tText, pad(false), docPadRight),
	row("rpad", 880, strict|fails, sig(tText, tInt4), tText, pad(false), docPadRight),
	row("repeat", 1622, strict|fails, sig(tText, tInt4), tText, repeat, "the text n times"),

	kern("substring", 936, strict|fails, sig(tText, tInt4, tInt4), tText, substring(prefix), docSubstring),
	kern("substring", 937, strict, sig(tText, tInt4), tText, substring(prefix), docSubstring),
	kern("substr", 877, strict|fails, sig(tText, tInt4, tInt4), tText, substring(prefix), docSubstring),
	kern("substr", 883, strict, sig(tText, tInt4), tText, substring(prefix), docSubstring),
	kern("substring", 2012, strict|fails, sig(tBytea, tInt4, tInt4), tBytea, substring(bytePrefix), docSubstring),
	kern("substring", 2013, strict, sig(tBytea, tInt4), tBytea, substring(bytePrefix), docSubstring),
	kern("substr", 2085, strict|fails, sig(tBytea, tInt4, tInt4), tBytea, substring(bytePrefix), docSubstring),
	kern("substr", 2086, strict, sig(tBytea, tInt4), tBytea, substring(bytePrefix), docSubstring),
	row("left", 3060, strict, sig(tText, tInt4), tText, left, "the first n characters, or all but the last -n"),
	row("right", 3061, strict, sig(tText, tInt4), tText, right, "the last n characters, or all but the first -n"),
	row("overlay", 1404, strict|fails, sig(tText, tText, tInt4, tInt4), tText, overlay(prefix), docOverlay),
	row("overlay", 1405, strict|fails, sig(tText, tText, tInt4), tText, overlay(prefix), docOverlay),
	row("overlay", 749, strict|fails, sig(tBytea, tBytea, tInt4, tInt4), tBytea, overlay(bytePrefix), docOverlay),
	row("overlay", 752, strict|fails, sig(tBytea, tBytea, tInt4), tBytea, overlay(bytePrefix), docOverlay),

	row("strpos", 868, strict, sig(tText, tText), tInt4, text2Int(position), docPosition),
	row("position", 849, strict, sig(tText, tText), tInt4, text2Int(position), docPosition),
	row("position", 2014, strict, sig(tBytea, tBytea), tInt4, text2Int(func(s, sub string) int { return strings.Index(s, sub) + 1 }),
		docPosition),
	kern("starts_with", 3696, strict, sig(tText, tText), tBool, startsWith, docStarts),
	kern("^@", 3877, strict, sig(tText, tText), tBool, startsWith, docStarts),
	row("replace", 2087, strict|fails, sig(tText, tText, tText), tText, replace, "every x in the text replaced by y"),
	row("translate", 878, strict, sig(tText, tText, tText), tText, translate,
		"each character that is in the first list replaced by that in its place in the second, or removed"),
	row("split_part", 2088, strict|fails, sig(tText, tText, tInt4), tText, splitPart,
		"the n-th part of the text between delimiters, counted from the end if n is negative"),

	row("chr", 1621, strict|fails, sig(tInt4), tText, chr, "the character of this number"),
	row("ascii", 1620, strict, sig(tText), tInt4, textInt(ascii), "the number of the first character"),
}

const (
	docConcat    = "the two, one after the other"
	docLength    = "the number of characters"
	docOctets    = "the number of bytes"
	docTrim      = "the text without blanks at its ends (left, right, or both)"
	docTrimSet   = "the text without any of these characters at its ends (left, right, or both)"
	docPadLeft   = "the text filled up on the left, or cut on the right, to n characters"
	docPadRight  = "the text filled up or cut on the right, to n characters"
	docSubstring = "the part that begins at the n-th character and has this many"
	docOverlay   = "the text with a part of it replaced"
	docPosition  = "where the second text begins in the first, from 1; 0 if it does not"
	docStarts    = "whether the text begins with the other"
)

var errSubstring = pgerr.New(pgerr.SubstringError, "negative substring length not allowed")

// paddedArg makes a function see a bpchar argument with the blanks its type gives it.
func paddedArg(f scalar.Func) scalar.Func {
	plain := f
	f.For = func(args []types.T) *scalar.Func {
		g := plain
		t := args[0]
		if t.Mod >= 4 {
			g.Row = func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
				args := append([]vec.Datum{vec.StrOf(padded(a[0].Str(), t))}, a[1:]...)
				return plain.Row(env, args)
			}
		}
		return &g
	}
	return f
}

func concat2(b *scalar.Batch) {
	x, y := b.Arg(0), b.Arg(1)
	for _, i := range b.Sel {
		b.Begin(int(i))
		b.Out.Data = append(append(b.Out.Data, x.At(int(i))...), y.At(int(i))...)
		b.End()
	}
}

func countRunes(b *scalar.Batch) {
	x := b.Arg(0)
	for i := range b.N {
		b.Out.Ints[i] = int64(utf8.RuneCount(x.At(i)))
	}
}

func countBytes(times int64) kernel {
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for i := range b.N {
			b.Out.Ints[i] = int64(len(x.At(i))) * times
		}
	}
}

func asciiLower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func asciiUpper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// mapRunes is the kernel that maps each character, bytes below 128 by a quicker function.
func mapRunes(ascii func(byte) byte, other func(rune) rune) kernel {
	var table [utf8.RuneSelf]byte
	for c := range table {
		table[c] = ascii(byte(c))
	}
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for _, i := range b.Sel {
			b.Begin(int(i))
			b.Out.Data = appendMapped(b.Out.Data, x.At(int(i)), &table, other)
			b.End()
		}
	}
}

func appendMapped(dst, s []byte, table *[utf8.RuneSelf]byte, other func(rune) rune) []byte {
	for at := 0; at < len(s); {
		if c := s[at]; c < utf8.RuneSelf {
			dst = append(dst, table[c])
			at++
			continue
		}
		r, size := utf8.DecodeRune(s[at:])
		dst = utf8.AppendRune(dst, other(r))
		at += size
	}
	return dst
}

func initcap(s string) string {
	out := make([]byte, 0, len(s))
	inWord := false
	for _, r := range s {
		if inWord {
			out = utf8.AppendRune(out, unicode.ToLower(r))
		} else {
			out = utf8.AppendRune(out, unicode.ToUpper(r))
		}
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return string(out)
}

func reverse(s string) string {
	out := make([]byte, len(s))
	end := len(out)
	for at := 0; at < len(s); {
		_, size := utf8.DecodeRuneInString(s[at:])
		copy(out[end-size:], s[at:at+size])
		at, end = at+size, end-size
	}
	return string(out)
}

func trimSet(atLeft, atRight bool) func(s, set string) string {
	return func(s, set string) string {
		in := func(r rune) bool { return strings.ContainsRune(set, r) }
		if atLeft {
			s = strings.TrimLeftFunc(s, in)
		}
		if atRight {
			s = strings.TrimRightFunc(s, in)
		}
		return s
	}
}

func trimBytes(atLeft, atRight bool) func(s, set string) string {
	return func(s, set string) string {
		for atLeft && len(s) > 0 && strings.IndexByte(set, s[0]) >= 0 {
			s = s[1:]
		}
		for atRight && len(s) > 0 && strings.IndexByte(set, s[len(s)-1]) >= 0 {
			s = s[:len(s)-1]
		}
		return s
	}
}

func pad(onLeft bool) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		s, n, fill := a[0].Str(), int(a[1].Int()), " "
		if len(a) > 2 {
			fill = a[2].Str()
		}
		missing := n - runes(s)
		if missing <= 0 || fill == "" {
			return vec.StrOf(s[:prefix(a[0].Bytes(), max(n, 0))]), nil
		}
		if err := checkSize(missing); err != nil {
			return vec.Null, err
		}
		var out strings.Builder
		if !onLeft {
			out.WriteString(s)
		}
		per := runes(fill)
		for range missing / per {
			out.WriteString(fill)
		}
		out.WriteString(fill[:prefix([]byte(fill), missing%per)])
		if onLeft {
			out.WriteString(s)
		}
		return vec.StrOf(out.String()), nil
	}
}

func repeat(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, n := a[0].Str(), int(a[1].Int())
	if n <= 0 || s == "" {
		return vec.StrOf(""), nil
	}
	if n > maxResultBytes {
		return vec.Null, checkSize(n)
	}
	if err := checkSize(n * len(s)); err != nil {
		return vec.Null, err
	}
	return vec.StrOf(strings.Repeat(s, n)), nil
}

func bytePrefix(s []byte, n int) int { return min(len(s), n) }

// substring is the kernel for a start and, with three arguments, a length; first says how long the first n
// characters are.
func substring(first func(s []byte, n int) int) kernel {
	return func(b *scalar.Batch) {
		x := b.Arg(0)
		for _, i := range b.Sel {
			s, start := x.At(int(i)), b.Args[1].Ints[i]
			if len(b.Args) > 2 {
				n := b.Args[2].Ints[i]
				if n < 0 {
					b.Fail(int(i), errSubstring)
					continue
				}
				// Characters before the first count for the length.
				s = s[:first(s, int(max(start-1+n, 0)))]
			}
			if start > 1 {
				s = s[first(s, int(start-1)):]
			}
			b.Begin(int(i))
			b.Out.Data = append(b.Out.Data, s...)
			b.End()
		}
	}
}

func left(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, n := a[0].Str(), int(a[1].Int())
	if n < 0 {
		n = max(runes(s)+n, 0)
	}
	return vec.StrOf(s[:prefix(a[0].Bytes(), n)]), nil
}

func right(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, n := a[0].Str(), int(a[1].Int())
	if n = runes(s) - n; int(a[1].Int()) < 0 {
		n = -int(a[1].Int())
	}
	return vec.StrOf(s[prefix(a[0].Bytes(), max(n, 0)):]), nil
}

func overlay(first func(s []byte, n int) int) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		s, by, start := a[0].Bytes(), a[1].Bytes(), a[2].Int()
		n := overlayLength(first, by)
		if len(a) > 3 {
			n = a[3].Int()
		}
		if start <= 0 {
			return vec.Null, errSubstring
		}
		if start+n > maxInt4 || start+n < -maxInt4 {
			return vec.Null, width4.err
		}
		out := append([]byte(nil), s[:first(s, int(start-1))]...)
		out = append(out, by...)
		out = append(out, s[first(s, int(max(start+n-1, 0))):]...)
		return vec.BytesOf(out), nil
	}
}

// overlayLength is how many characters s has, in the sense of first.
func overlayLength(first func(s []byte, n int) int, s []byte) int64 {
	n := int64(0)
	for len(s) > 0 {
		s = s[first(s, 1):]
		n++
	}
	return n
}

func position(s, sub string) int {
	at := strings.Index(s, sub)
	if at < 0 {
		return 0
	}
	return runes(s[:at]) + 1
}

func startsWith(b *scalar.Batch) {
	x, y := b.Arg(0), b.Arg(1)
	for i := range b.N {
		b.Out.Bools[i] = bit(bytes.HasPrefix(x.At(i), y.At(i)))
	}
}

func replace(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, from, to := a[0].Str(), a[1].Str(), a[2].Str()
	if from == "" {
		return a[0], nil
	}
	if grow := len(to) - len(from); grow > 0 {
		if err := checkSize(strings.Count(s, from) * grow); err != nil {
			return vec.Null, err
		}
	}
	return vec.StrOf(strings.ReplaceAll(s, from, to)), nil
}

func translate(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	from, to := []rune(a[1].Str()), []rune(a[2].Str())
	return vec.StrOf(strings.Map(func(r rune) rune {
		for i, f := range from {
			if f == r {
				if i < len(to) {
					return to[i]
				}
				return -1
			}
		}
		return r
	}, a[0].Str())), nil
}

func splitPart(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	s, sep, n := a[0].Str(), a[1].Str(), int(a[2].Int())
	switch {
	case n == 0:
		return vec.Null, pgerr.New(pgerr.InvalidParameterValue, "field position must not be zero")
	case sep == "" && (n == 1 || n == -1):
		return a[0], nil
	case sep == "":
		return vec.StrOf(""), nil
	}
	if n < 0 {
		if n += strings.Count(s, sep) + 2; n <= 0 {
			return vec.StrOf(""), nil
		}
	}
	for ; n > 1; n-- {
		at := strings.Index(s, sep)
		if at < 0 {
			return vec.StrOf(""), nil
		}
		s = s[at+len(sep):]
	}
	part, _, _ := strings.Cut(s, sep)
	return vec.StrOf(part), nil
}

func chr(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	n := a[0].Int()
	switch {
	case n < 0:
		return vec.Null, pgerr.New(pgerr.InvalidParameterValue, "character number must be positive")
	case n == 0:
		return vec.Null, pgerr.New(pgerr.ProgramLimitExceeded, "null character not permitted")
	case n > unicode.MaxRune:
		return vec.Null, pgerr.Newf(pgerr.ProgramLimitExceeded, "requested character too large for encoding: %d", n)
	case !utf8.ValidRune(rune(n)):
		return vec.Null, pgerr.Newf(pgerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", n)
	}
	return vec.StrOf(string(rune(n))), nil
}

func ascii(s string) int {
	if s == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s)
	return int(r)
}
