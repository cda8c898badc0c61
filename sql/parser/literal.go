package parser

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// stringText is the value of a string token.
func (p *parser) stringText(t *token) string {
	text := t.text(p)
	if t.plain {
		if text[0] == '$' {
			tag := strings.IndexByte(text[1:], '$') + 2
			return text[tag : len(text)-tag]
		}
		return text[strings.IndexByte(text, '\'')+1 : len(text)-1]
	}
	switch t.kind {
	case tEString:
		return p.unescape(t, text)
	case tUString:
		return p.unescapeUnicode(t, joined(text[2:]))
	}
	return joined(text[strings.IndexByte(text, '\''):])
}

// joined gives the value of '…' without backslashes: doubled quotes once, and pieces that a line end parts
// side by side.
func joined(s string) string {
	var b strings.Builder
	for {
		end := strings.IndexByte(s[1:], '\'') + 1
		b.WriteString(s[1:end])
		rest := s[end+1:]
		if rest == "" {
			return b.String()
		}
		if rest[0] == '\'' {
			b.WriteByte('\'')
			s = rest
			continue
		}
		s = rest[continuation(rest):]
	}
}

// continuation gives the place of the quote that goes on with a string; there is one.
func continuation(s string) int {
	for i := 0; ; i++ {
		if s[i] == '\'' {
			return i
		}
		if s[i] == '-' { // a comment runs to the end of its line
			i += strings.IndexAny(s[i:], "\n\r")
		}
	}
}

// text gathers the value of a string with escapes. Unicode escapes may give a character as a surrogate
// pair; high is the first half while the second is awaited.
type text struct {
	p    *parser
	at   *token
	b    []byte
	high rune
}

func (x *text) fail(err *pgerr.Error) { x.p.fail(err.At(int(x.at.pos))) }

func (x *text) put(s string) {
	if x.high != 0 {
		x.fail(pgerr.New(pgerr.SyntaxError, "invalid Unicode surrogate pair"))
	}
	x.b = append(x.b, s...)
}

// unit adds what a Unicode escape with these digits stands for.
func (x *text) unit(digits string) {
	v, _ := strconv.ParseUint(digits, 16, 32)
	r := rune(v)
	low := r >= 0xdc00 && r < 0xe000
	switch {
	case v == 0 || v > utf8.MaxRune:
		x.fail(pgerr.New(pgerr.SyntaxError, "invalid Unicode escape value"))
	case low != (x.high != 0):
		x.fail(pgerr.New(pgerr.SyntaxError, "invalid Unicode surrogate pair"))
	case low:
		x.b = utf8.AppendRune(x.b, (x.high-0xd800)<<10+(r-0xdc00)+0x10000)
		x.high = 0
	case r >= 0xd800 && r < 0xdc00:
		x.high = r
	default:
		x.b = utf8.AppendRune(x.b, r)
	}
}

// value ends the gathering. Octal and hexadecimal escapes may have made what is no text.
func (x *text) value() string {
	x.put("")
	if err := validText(string(x.b)); err != nil {
		x.fail(err)
	}
	return string(x.b)
}

// unescape gives the value of E'…'.
func (p *parser) unescape(t *token, s string) string {
	x := &text{p: p, at: t}
	for i := 2; i < len(s) && p.err == nil; {
		switch c := s[i]; {
		case c == '\'' && i+1 == len(s):
			i++
		case c == '\'' && s[i+1] == '\'':
			x.put("'")
			i += 2
		case c == '\'':
			i += 2 + continuation(s[i+1:])
		case c == '\\':
			i += x.escape(s[i:])
		default:
			x.put(s[i : i+1])
			i++
		}
	}
	return x.value()
}

const plainEscapes = "b\bf\fn\nr\rt\tv\v"

// escape adds what the escape at the start of s stands for, and gives its length. A quote follows it
// somewhere, so there is always a character to look at.
func (x *text) escape(s string) int {
	switch c := s[1]; {
	case c >= '0' && c <= '7':
		n := 2
		for n < 4 && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		v, _ := strconv.ParseUint(s[1:n], 8, 16)
		x.put(string([]byte{byte(v)}))
		return n
	case c == 'x' && hexDigits(s[2:], 2) > 0:
		n := 2 + hexDigits(s[2:], 2)
		v, _ := strconv.ParseUint(s[2:n], 16, 8)
		x.put(string([]byte{byte(v)}))
		return n
	case c == 'u' || c == 'U':
		n := 6
		if c == 'U' {
			n = 10
		}
		if hexDigits(s[2:], n-2) < n-2 {
			x.fail(pgerr.New(pgerr.InvalidEscapeSequence, "invalid Unicode escape").
				WithHint(`Unicode escapes must be \uXXXX or \UXXXXXXXX.`))
			return len(s)
		}
		x.unit(s[2:n])
		return n
	default:
		if i := strings.IndexByte(plainEscapes, c); i >= 0 && i%2 == 0 {
			x.put(plainEscapes[i+1 : i+2])
			return 2
		}
		x.put(s[1:2])
		return 2
	}
}

// hexDigits counts hexadecimal digits at the start of s, up to most.
func hexDigits(s string, most int) int {
	n := 0
	for n < most && n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
		n++
	}
	return n
}

// unescapeUnicode gives the value of what stood in U&'…' or U&"…". A UESCAPE that follows is taken.
func (p *parser) unescapeUnicode(t *token, s string) string {
	esc := `\`
	if p.accept("uescape") {
		q := p.tok()
		if q.kind != tString {
			p.fail(near("UESCAPE must be followed by a simple string literal", q.text(p)).At(int(q.pos)))
			return ""
		}
		esc = p.stringValue()
		if len(esc) != 1 || strings.Contains(`+'"`, esc) || isSpace(esc[0]) || hexDigits(esc, 1) == 1 {
			p.fail(near("invalid Unicode escape character", q.text(p)).At(int(q.pos)))
			return ""
		}
	}
	x := &text{p: p, at: t}
	for i := 0; i < len(s) && p.err == nil; {
		rest := s[i:]
		switch {
		case rest[0] != esc[0]:
			x.put(rest[:1])
			i++
		case len(rest) > 1 && rest[1] == esc[0]:
			x.put(esc)
			i += 2
		case hexDigits(rest[1:], 4) == 4:
			x.unit(rest[1:5])
			i += 5
		case len(rest) > 1 && rest[1] == '+' && hexDigits(rest[2:], 6) == 6:
			x.unit(rest[2:8])
			i += 8
		default:
			x.fail(pgerr.New(pgerr.SyntaxError, "invalid Unicode escape").
				WithHint(`Unicode escapes must be \XXXX or \+XXXXXX.`))
		}
	}
	return x.value()
}
