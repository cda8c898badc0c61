package adt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// ParseJsonb appends the encoding of a JSON text.
func ParseJsonb(dst []byte, s string) ([]byte, error) {
	var b JsonbBuilder
	return b.Parse(dst, s)
}

// Parse appends the encoding of a JSON text, using b's scratch memory.
func (b *JsonbBuilder) Parse(dst []byte, s string) ([]byte, error) {
	b.Reset(dst)
	p := jsonParser{b: b, s: s}
	err := p.value()
	if err == nil {
		p.space()
		if p.at < len(s) {
			err = p.found("Expected end of input, but found \"%s\".")
		}
	}
	if err != nil {
		return dst, err
	}
	return b.Bytes(), nil
}

type jsonParser struct {
	b     *JsonbBuilder
	s     string
	at    int
	text  []byte // a string with escapes, resolved
	begin int    // where the string begins that is being read
	depth int
}

func errJson(detail string) error {
	return pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail("%s", detail)
}

// found is an error about the token at the current place, or about the end. A token that is none at all is
// reported as such.
func (p *jsonParser) found(format string) error {
	if p.at >= len(p.s) {
		return errJson("The input string ended unexpectedly.")
	}
	token, valid, err := p.token()
	switch {
	case err != nil:
		return err
	case !valid:
		return errJson(fmt.Sprintf("Token \"%s\" is invalid.", token))
	}
	return errJson(fmt.Sprintf(format, token))
}

// token is the token at the current place as PostgreSQL's lexer takes it, and whether there is such a one.
func (p *jsonParser) token() (token string, valid bool, err error) {
	rest := p.s[p.at:]
	switch c := rest[0]; {
	case strings.IndexByte("{}[],:", c) >= 0:
		return rest[:1], true, nil
	case c == '"':
		from := p.at
		_, err := p.string()
		return p.s[from:p.at], true, err
	case c == '-' || isDigit(c):
		size, ok := jsonNumber(rest)
		return rest[:size], ok, nil
	}
	size := 0
	for size < len(rest) && isJsonWord(rest[size]) {
		size++
	}
	if size == 0 {
		_, size = utf8.DecodeRuneInString(rest)
	}
	token = rest[:size]
	return token, token == "true" || token == "false" || token == "null", nil
}

// isJsonWord says whether c goes on with a word, or with what a broken token is shown with.
func isJsonWord(c byte) bool { return isAlpha(c) || isDigit(c) || c == '_' || c >= 0x80 }

func (p *jsonParser) space() {
	for p.at < len(p.s) {
		switch p.s[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
			continue
		}
		return
	}
}

// next is the byte after white space; 0 at the end.
func (p *jsonParser) next() byte {
	p.space()
	if p.at == len(p.s) {
		return 0
	}
	return p.s[p.at]
}

func (p *jsonParser) value() error {
	switch c := p.next(); {
	case c == '"':
		s, err := p.string()
		if err != nil {
			return err
		}
		p.b.String(s)
		return nil
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '-' || isDigit(c):
		return p.number()
	}
	if p.at < len(p.s) {
		token, _, _ := p.token()
		switch token {
		case "true", "false":
			p.b.Bool(token == "true")
			p.at += len(token)
			return nil
		case "null":
			p.b.Null()
			p.at += len(token)
			return nil
		}
	}
	return p.found("Expected JSON value, but found \"%s\".")
}

func (p *jsonParser) enter() error {
	p.at++
	if p.depth++; p.depth > maxJsonbDepth {
		return errJsonbDepth
	}
	return nil
}

func (p *jsonParser) leave() {
	p.at++
	p.depth--
	p.b.End()
}

func (p *jsonParser) array() error {
	if err := p.enter(); err != nil {
		return err
	}
	p.b.BeginArray()
	if p.next() == ']' {
		p.leave()
		return nil
	}
	for {
		if err := p.value(); err != nil {
			return err
		}
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.leave()
			return nil
		default:
			return p.found("Expected \",\" or \"]\", but found \"%s\".")
		}
	}
}

func (p *jsonParser) object() error {
	if err := p.enter(); err != nil {
		return err
	}
	p.b.BeginObject()
	if p.next() == '}' {
		p.leave()
		return nil
	}
	expect := "Expected string or \"}\", but found \"%s\"."
	for {
		if p.next() != '"' {
			return p.found(expect)
		}
		expect = "Expected string, but found \"%s\"."
		key, err := p.string()
		if err != nil {
			return err
		}
		p.b.Key(key)
		if p.next() != ':' {
			return p.found("Expected \":\", but found \"%s\".")
		}
		p.at++
		if err := p.value(); err != nil {
			return err
		}
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.leave()
			return nil
		default:
			return p.found("Expected \",\" or \"}\", but found \"%s\".")
		}
	}
}

// jsonNumber is how long the number at the beginning of s is; ok is false if it is broken, and then the
// size is that of the broken token.
func jsonNumber(s string) (size int, ok bool) {
	i := 0
	if s[0] == '-' {
		i++
	}
	digits := func() bool {
		from := i
		i = span(s, i, isDigit)
		return i > from
	}
	if i < len(s) && s[i] == '0' {
		i++
		ok = true
	} else {
		ok = digits()
	}
	if i < len(s) && s[i] == '.' {
		i++
		ok = digits() && ok
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		ok = digits() && ok
	}
	if end := span(s, i, isJsonWord); end > i {
		return end, false
	}
	return i, ok
}

func (p *jsonParser) number() error {
	size, ok := jsonNumber(p.s[p.at:])
	if !ok {
		return p.found("")
	}
	n, _, err := scanNumeric(p.s[p.at : p.at+size])
	if err != nil {
		return err
	}
	p.at += size
	p.b.Number(n)
	return nil
}

// string reads a string in quotes. It points into the text, or into p.text until the next call.
func (p *jsonParser) string() (string, error) {
	p.begin = p.at
	p.at++
	from := p.at
	for i := from; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '"':
			p.at = i + 1
			return p.s[from:i], nil
		case c == '\\' || c < ' ':
			p.text = append(p.text[:0], p.s[from:i]...)
			p.at = i
			return p.escaped()
		}
	}
	return "", p.openString()
}

// openString is the error that a string has no end.
func (p *jsonParser) openString() error {
	return errJson(fmt.Sprintf("Token \"%s\" is invalid.", p.s[p.begin:]))
}

// escaped goes on with a string from its first escape.
func (p *jsonParser) escaped() (string, error) {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			return borrow(p.text), nil
		case c < ' ':
			return "", errJson(fmt.Sprintf("Character with value 0x%02x must be escaped.", c))
		case c == '\\':
			if err := p.escape(); err != nil {
				return "", err
			}
		default:
			p.text = append(p.text, c)
			p.at++
		}
	}
	return "", p.openString()
}

func (p *jsonParser) escape() error {
	p.at++
	if p.at == len(p.s) {
		return p.openString()
	}
	c := p.s[p.at]
	p.at++
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return p.unicode()
	default:
		p.at--
		_, size := utf8.DecodeRuneInString(p.s[p.at:])
		return errJson(fmt.Sprintf("Escape sequence \"\\%s\" is invalid.", p.s[p.at:p.at+size]))
	}
	p.text = append(p.text, c)
	return nil
}

// unicode reads what comes after \u: one code, or two that are a surrogate pair.
func (p *jsonParser) unicode() error {
	r, err := p.hex4()
	if err != nil {
		return err
	}
	switch {
	case r == 0:
		return pgerr.New(pgerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
			WithDetail("\\u0000 cannot be converted to text.")
	case r >= 0xDC00 && r <= 0xDFFF:
		return errJson("Unicode low surrogate must follow a high surrogate.")
	case r >= 0xD800 && r <= 0xDBFF:
		if !strings.HasPrefix(p.s[p.at:], "\\u") {
			return errJson("Unicode low surrogate must follow a high surrogate.")
		}
		p.at += 2
		low, err := p.hex4()
		switch {
		case err != nil:
			return err
		case low >= 0xD800 && low <= 0xDBFF:
			return errJson("Unicode high surrogate must not follow a high surrogate.")
		case low < 0xDC00 || low > 0xDFFF:
			return errJson("Unicode low surrogate must follow a high surrogate.")
		}
		r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
	}
	p.text = utf8.AppendRune(p.text, r)
	return nil
}

func (p *jsonParser) hex4() (r rune, err error) {
	for range 4 {
		if p.at == len(p.s) {
			return 0, p.openString()
		}
		d, ok := hexDigit(p.s[p.at])
		if !ok {
			return 0, errJson("\"\\u\" must be followed by four hexadecimal digits.")
		}
		r = r<<4 | rune(d)
		p.at++
	}
	return r, nil
}
