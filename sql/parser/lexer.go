package parser

import (
	"strings"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// kind tells tokens apart. A character that is a token by itself is its own kind; the others have numbers
// below the printable characters.
type kind byte

const (
	tEOF     kind = iota
	tIdent        // an identifier or keyword, without quotes
	tQuoted       // "…"
	tUQuoted      // U&"…"
	tString       // '…'
	tEString      // E'…'
	tUString      // U&'…'
	tNString      // N'…'
	tBits         // B'…' and X'…'
	tNumber       // digits, a point, an exponent
	tParam        // $1
	tOp           // an operator without a kind of its own
	tCast         // ::
	tAssign       // :=
	tArrow        // =>
	tDotDot       // ..
	tLessEq       // <=
	tGreatEq      // >=
	tNotEq        // <> and !=
	tControl      // a control character, which starts nothing
	tBad          // a lexical error; it is the last token but one
)

// token is one token of the client's text. Brackets know their partners, which makes the list of tokens a
// forest: match is the index of the partner, or -1 for brackets without one.
type token struct {
	kind kind
	// plain says of a string that its value is the text between its quotes.
	plain bool
	// query says of an opening parenthesis that a query stands between it and its partner.
	query bool
	word  uint16 // of tIdent: the number of the word, 0 for words the parser does not know
	pos   int32  // of the first character, counted in characters from 1
	beg   int32  // in bytes
	end   int32
	match int32
}

// lexer cuts text into tokens as PostgreSQL does.
type lexer struct {
	src   string
	ascii bool
	toks  []token
	open  []int32 // brackets that wait for their partners
	bad   *pgerr.Error
	// counted is how far characters have been counted, wide how many bytes before it do not start one.
	counted, wide int
}

// Bounds. A statement of this size is a bulk load in the wrong place (COPY has no such bound); the number of
// tokens bounds the memory that parsing takes to some twenty times their number.
const (
	maxSize   = 64 << 20
	maxTokens = 8 << 20
)

func (l *lexer) run() *pgerr.Error {
	if len(l.src) > maxSize {
		return pgerr.Newf(pgerr.ProgramLimitExceeded, "statement is too large").
			WithDetail("It has %d bytes; the limit is %d.", len(l.src), maxSize)
	}
	if err := validText(l.src); err != nil {
		return err
	}
	l.ascii = isASCII(l.src)
	if estimate := len(l.src)/bytesPerToken + 16; cap(l.toks) < estimate {
		l.toks = make([]token, 0, estimate)
	}
	for at := 0; ; {
		at = l.skipBlanks(at)
		if l.bad != nil || at >= len(l.src) {
			break
		}
		at = l.token(at)
		if l.bad != nil {
			break
		}
		if len(l.toks) > maxTokens {
			return pgerr.Newf(pgerr.ProgramLimitExceeded, "statement is too large").
				WithDetail("It has more than %d tokens.", maxTokens)
		}
	}
	l.add(tEOF, len(l.src), len(l.src))
	for i := len(l.open) - 1; i >= 0; i-- {
		l.findQuery(l.open[i])
	}
	return nil
}

// bytesPerToken is few enough for most texts, so that the list of tokens seldom grows.
const bytesPerToken = 3

func validText(s string) *pgerr.Error {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return pgerr.Newf(pgerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": 0x00`)
	}
	if utf8.ValidString(s) {
		return nil
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 {
			return pgerr.Newf(pgerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": 0x%02x`, s[i])
		}
		i += n
	}
	return nil
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// position gives the number of the character at a byte; calls come in ascending order.
func (l *lexer) position(at int) int32 {
	if !l.ascii {
		for ; l.counted < at; l.counted++ {
			if l.src[l.counted]&0xc0 == 0x80 {
				l.wide++
			}
		}
	}
	return int32(at - l.wide + 1)
}

func (l *lexer) add(k kind, beg, end int) int {
	l.toks = append(l.toks, token{kind: k, pos: l.position(beg), beg: int32(beg), end: int32(end), match: -1})
	return end
}

// fail ends the text with an error token, so that an earlier syntax error is still found first.
func (l *lexer) fail(beg, end int, message string) int {
	l.add(tBad, beg, end)
	l.bad = near(message, l.src[beg:end]).At(int(l.position(beg)))
	return len(l.src)
}

func near(message, text string) *pgerr.Error {
	if text == "" {
		return pgerr.Newf(pgerr.SyntaxError, "%s at end of input", message)
	}
	return pgerr.Newf(pgerr.SyntaxError, "%s at or near \"%s\"", message, text)
}

// skipBlanks skips white space and comments.
func (l *lexer) skipBlanks(at int) int {
	for at < len(l.src) {
		switch c := l.src[at]; {
		case isSpace(c):
			at++
		case c == '-' && l.peek(at+1) == '-':
			at = l.lineEnd(at)
		case c == '/' && l.peek(at+1) == '*':
			end := l.blockEnd(at)
			if end < 0 {
				return l.fail(at, len(l.src), "unterminated /* comment")
			}
			at = end
		default:
			return at
		}
	}
	return at
}

// class says what a character may be part of.
type class uint8

const (
	classSpace class = 1 << iota
	classStart       // the start of an identifier
	classDigit
	classOp // an operator
)

var classes = classTable()

func classTable() (t [256]class) {
	for c := range t {
		switch b := byte(c); {
		case b == ' ' || b >= '\t' && b <= '\r':
			t[c] = classSpace
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_', b >= utf8.RuneSelf:
			t[c] = classStart
		case b >= '0' && b <= '9':
			t[c] = classDigit
		case strings.IndexByte("~!@#^&|`?+-*/%<>=", b) >= 0:
			t[c] = classOp
		}
	}
	return t
}

func isSpace(c byte) bool      { return classes[c]&classSpace != 0 }
func isIdentStart(c byte) bool { return classes[c]&classStart != 0 }
func isDigit(c byte) bool      { return classes[c]&classDigit != 0 }
func isOpChar(c byte) bool     { return classes[c]&classOp != 0 }
func isIdentPart(c byte) bool  { return classes[c]&(classStart|classDigit) != 0 || c == '$' }

func (l *lexer) peek(at int) byte {
	if at < len(l.src) {
		return l.src[at]
	}
	return 0
}

func (l *lexer) lineEnd(at int) int {
	if n := strings.IndexAny(l.src[at:], "\n\r"); n >= 0 {
		return at + n
	}
	return len(l.src)
}

// blockEnd gives the end of the comment that opens here; comments nest. It is -1 without one.
func (l *lexer) blockEnd(at int) int {
	for depth := 0; at < len(l.src); at++ {
		switch {
		case l.src[at] == '/' && l.peek(at+1) == '*':
			depth++
			at++
		case l.src[at] == '*' && l.peek(at+1) == '/':
			depth--
			at++
			if depth == 0 {
				return at + 1
			}
		}
	}
	return -1
}

// token reads the token that starts here and gives its end.
func (l *lexer) token(at int) int {
	c := l.src[at]
	switch {
	case isIdentStart(c):
		if end, ok := l.prefixed(at); ok {
			return end
		}
		return l.ident(at)
	case isDigit(c) || c == '.' && isDigit(l.peek(at+1)):
		return l.number(at)
	case c == '\'':
		return l.quoted(at, at, tString)
	case c == '"':
		return l.quotedIdent(at, at, tQuoted)
	case c == '$':
		return l.dollar(at)
	case isOpChar(c):
		return l.operator(at)
	}
	return l.punctuation(at)
}

// prefixed reads E'…', B'…', X'…', N'…', U&'…' and U&"…".
func (l *lexer) prefixed(at int) (int, bool) {
	next := l.peek(at + 1)
	if next == '\'' {
		switch l.src[at] | 0x20 {
		case 'e':
			return l.quoted(at, at+1, tEString), true
		case 'b', 'x':
			return l.quoted(at, at+1, tBits), true
		case 'n':
			return l.quoted(at, at+1, tNString), true
		}
	}
	if next == '&' && l.src[at]|0x20 == 'u' {
		switch l.peek(at + 2) {
		case '\'':
			return l.quoted(at, at+2, tUString), true
		case '"':
			return l.quotedIdent(at, at+2, tUQuoted), true
		}
	}
	return 0, false
}

func (l *lexer) ident(at int) int {
	end := at + 1
	for end < len(l.src) && isIdentPart(l.src[end]) {
		end++
	}
	l.add(tIdent, at, end)
	l.toks[len(l.toks)-1].word = wordNumber(l.src[at:end])
	return end
}

// number reads a number. What cannot be one, such as 12ab, is an error rather than two tokens.
func (l *lexer) number(at int) int {
	end := l.digits(at)
	if l.peek(end) == '.' && l.peek(end+1) != '.' {
		end = l.digits(end + 1)
	}
	if e := l.peek(end) | 0x20; e == 'e' {
		exp := end + 1
		if c := l.peek(exp); c == '+' || c == '-' {
			exp++
		}
		if !isDigit(l.peek(exp)) {
			return l.fail(at, exp, "trailing junk after numeric literal")
		}
		end = l.digits(exp)
	}
	if end < len(l.src) && isIdentStart(l.src[end]) {
		return l.fail(at, l.identEnd(end), "trailing junk after numeric literal")
	}
	return l.add(tNumber, at, end)
}

// identEnd is the end of what could be the rest of an identifier.
func (l *lexer) identEnd(at int) int {
	for at < len(l.src) && isIdentPart(l.src[at]) {
		at++
	}
	return at
}

func (l *lexer) digits(at int) int {
	for at < len(l.src) && isDigit(l.src[at]) {
		at++
	}
	return at
}

// quoted reads a string whose quote is at the given place. Strings with only white space that contains a
// line end between them are one string.
func (l *lexer) quoted(beg, quote int, k kind) int {
	plain := k == tString || k == tNString
	for at := quote + 1; ; {
		n := l.stringPiece(at, k)
		if n < 0 {
			what := "unterminated quoted string"
			if k == tBits {
				what = "unterminated bit string literal"
				if l.src[beg]|0x20 == 'x' {
					what = "unterminated hexadecimal string literal"
				}
			}
			return l.fail(beg, len(l.src), what)
		}
		switch {
		case l.peek(n) == '\'': // a doubled quote
			at, plain = n+1, false
			continue
		case l.continued(n) > 0:
			at, plain = l.continued(n), false
			continue
		}
		l.add(k, beg, n)
		l.toks[len(l.toks)-1].plain = plain
		return n
	}
}

// stringPiece gives the place behind the next quote, or -1. In E'…' a backslash hides a quote.
func (l *lexer) stringPiece(at int, k kind) int {
	for at < len(l.src) {
		var n int
		if k == tEString {
			n = strings.IndexAny(l.src[at:], `'\`)
		} else {
			n = strings.IndexByte(l.src[at:], '\'')
		}
		if n < 0 {
			return -1
		}
		at += n
		if l.src[at] == '\'' {
			return at + 1
		}
		at += 2
	}
	return -1
}

// continued gives the place behind the quote that continues a string that ended here, or 0.
func (l *lexer) continued(at int) int {
	newline := false
	for at < len(l.src) {
		switch c := l.src[at]; {
		case c == '\n' || c == '\r':
			newline = true
			at++
		case isSpace(c):
			at++
		case c == '-' && l.peek(at+1) == '-':
			at = l.lineEnd(at)
		case c == '\'' && newline:
			return at + 1
		default:
			return 0
		}
	}
	return 0
}

func (l *lexer) quotedIdent(beg, quote int, k kind) int {
	for at := quote + 1; ; at += 2 {
		n := strings.IndexByte(l.src[at:], '"')
		if n < 0 {
			return l.fail(beg, len(l.src), "unterminated quoted identifier")
		}
		at += n
		if l.peek(at+1) == '"' {
			continue
		}
		if at == quote+1 {
			return l.fail(beg, at+1, "zero-length delimited identifier")
		}
		return l.add(k, beg, at+1)
	}
}

// dollar reads $1 and $tag$…$tag$.
func (l *lexer) dollar(at int) int {
	if isDigit(l.peek(at + 1)) {
		end := l.digits(at + 1)
		if end < len(l.src) && isIdentStart(l.src[end]) {
			return l.fail(at, l.identEnd(end), "trailing junk after parameter")
		}
		return l.add(tParam, at, end)
	}
	end := at + 1
	for end < len(l.src) && (isIdentStart(l.src[end]) || end > at+1 && isDigit(l.src[end])) {
		end++
	}
	if l.peek(end) != '$' {
		return l.add(kind('$'), at, at+1)
	}
	tag := l.src[at : end+1]
	n := strings.Index(l.src[end+1:], tag)
	if n < 0 {
		return l.fail(at, len(l.src), "unterminated dollar-quoted string")
	}
	l.add(tString, at, end+1+n+len(tag))
	l.toks[len(l.toks)-1].plain = true
	return end + 1 + n + len(tag)
}

// operator reads an operator: as many operator characters as there are, but none that open a comment, and no
// + or - at the end unless a character that only PostgreSQL's own operators have says so.
func (l *lexer) operator(at int) int {
	end := at
	for end < len(l.src) && isOpChar(l.src[end]) {
		if rest := l.src[end:]; end > at && (strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "/*")) {
			break
		}
		end++
	}
	for end > at+1 && (l.src[end-1] == '+' || l.src[end-1] == '-') && !strings.ContainsAny(l.src[at:end-1], "~!@#^&|`?%") {
		end--
	}
	op := l.src[at:end]
	if len(op) == 1 && strings.Contains("+-*/%^<>=", op) {
		return l.add(kind(op[0]), at, end)
	}
	switch op {
	case "=>":
		return l.add(tArrow, at, end)
	case "<=":
		return l.add(tLessEq, at, end)
	case ">=":
		return l.add(tGreatEq, at, end)
	case "<>", "!=":
		return l.add(tNotEq, at, end)
	}
	if len(op) > maxOperator {
		return l.fail(at, end, "operator too long")
	}
	return l.add(tOp, at, end)
}

// maxOperator is PostgreSQL's bound on the length of names, which it applies to operators too.
const maxOperator = 63

func (l *lexer) punctuation(at int) int {
	c := l.src[at]
	next := l.peek(at + 1)
	switch {
	case c == ':' && next == ':':
		return l.add(tCast, at, at+2)
	case c == ':' && next == '=':
		return l.add(tAssign, at, at+2)
	case c == '.' && next == '.':
		return l.add(tDotDot, at, at+2)
	case c < ' ':
		return l.add(tControl, at, at+1)
	}
	l.add(kind(c), at, at+1)
	this := int32(len(l.toks) - 1)
	switch c {
	case '(', '[':
		l.open = append(l.open, this)
	case ')', ']':
		l.close(this, c)
	}
	return at + 1
}

// close pairs brackets.
func (l *lexer) close(this int32, c byte) {
	n := len(l.open)
	if n == 0 {
		return
	}
	open := l.open[n-1]
	if (l.toks[open].kind == '(') != (c == ')') {
		return
	}
	l.toks[open].match, l.toks[this].match = this, open
	l.open = l.open[:n-1]
	l.findQuery(open)
}

// findQuery notes whether a query stands in a parenthesis, when all inside is known: it starts like one, or
// starts with such a parenthesis and goes on like a query rather than like an expression.
func (l *lexer) findQuery(open int32) {
	first := &l.toks[open+1]
	switch first.kind {
	case tIdent:
		switch words[first.word] {
		case "select", "with", "table":
			l.toks[open].query = true
		case "values":
			l.toks[open].query = l.toks[open+2].kind == '('
		}
	case '(':
		l.toks[open].query = first.query && first.match > 0 && queryGoesOn(&l.toks[first.match+1])
	}
}

// queryGoesOn says whether a query in parentheses that is followed by t is (part of) a query.
func queryGoesOn(t *token) bool {
	if t.kind == ')' {
		return true
	}
	if t.kind != tIdent {
		return false
	}
	switch words[t.word] {
	case "union", "except", "intersect", "order", "limit", "offset", "fetch", "for":
		return true
	}
	return false
}
