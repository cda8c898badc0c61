package copydata

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// scanner takes COPY's input apart into rows of fields, as the bytes come. It does not know types. It goes
// over the input in two steps, as PostgreSQL does: first where the line ends, then where its fields do.
//
// Give it data with add, then call next until it says that it needs more; at the end call finish, then next
// again. A row is valid until the next call of next or add.
type scanner struct {
	f   *Format
	eol eolKind
	buf []byte
	at  int // where the next row starts in buf

	// The search for the end of a line goes on where it stopped: at this position, and for csv in this state.
	scanned         int
	quoted, escaped bool
	// embedded counts the lines within quotes of this row.
	embedded int

	// tail is the beginning of a character that is not all there yet; bad the error behind what is in buf: the bytes
	// that follow are no text.
	tail []byte
	bad  error

	// ended: no more input comes. over: the end-of-data marker was seen, and what is behind it does not matter.
	ended, over bool

	// line is the number of the row's last line; raw its text without the end, nil while it is not known.
	line int
	raw  []byte
	// first: no row has been given yet.
	first  bool
	fields []field
	// text is memory for fields that do not stand in buf as they are meant.
	text []byte
}

// field is one field: its bytes, or NULL.
type field struct {
	bytes []byte
	null  bool
	// quoted: the csv field had quotes.
	quoted bool
}

// eolKind is how lines end; the first one decides.
type eolKind uint8

const (
	eolUnknown eolKind = iota
	eolLF
	eolCRLF
	eolCR
)

// MaxRowBytes bounds one row of COPY's input: what a client may make the server gather before it must
// make sense.
const MaxRowBytes = 64 << 20

func newScanner(f *Format) *scanner { return &scanner{f: f, first: true} }

// add gives the scanner more input, which it copies.
func (s *scanner) add(data []byte) {
	if s.at > 0 {
		s.buf = append(s.buf[:0], s.buf[s.at:]...)
		s.scanned -= s.at
		s.at = 0
	}
	if s.bad != nil {
		return
	}
	if len(s.tail) > 0 {
		data = append(s.tail, data...)
		s.tail = nil
	}
	n := validPrefix(data)
	s.buf = append(s.buf, data[:n]...)
	if rest := data[n:]; len(rest) >= utf8.UTFMax || len(rest) > 0 && (rest[0] == 0 || utf8.FullRune(rest)) {
		s.bad = invalidBytes(rest)
	} else {
		s.tail = append(s.tail, rest...)
	}
}

// finish says that no more input comes.
func (s *scanner) finish() {
	if len(s.tail) > 0 && s.bad == nil {
		s.bad = invalidBytes(s.tail)
	}
	s.ended = s.bad == nil
}

// next scans a row; false if there is none yet, or none any more.
func (s *scanner) next() (bool, error) {
	s.raw, s.fields, s.text = nil, s.fields[:0], s.text[:0]
	if s.over || s.at == len(s.buf) && s.bad == nil {
		s.at, s.scanned = len(s.buf), len(s.buf)
		return false, nil
	}
	s.line++
	end, after, err := s.lineEnd()
	if err == nil && after < 0 {
		err = s.bad
	}
	if err != nil {
		s.line += s.embedded
		return false, err
	}
	if after < 0 {
		s.line--
		if len(s.buf)-s.at > MaxRowBytes {
			return false, pgerr.Newf(pgerr.ProgramLimitExceeded, "a row of COPY data is longer than %d bytes", MaxRowBytes)
		}
		return false, nil
	}
	s.raw = s.buf[s.at:end]
	s.at, s.scanned = after, after
	s.quoted, s.escaped = false, false
	s.line += s.embedded
	s.embedded = 0
	if s.over && len(s.raw) == 0 {
		s.line--
		return false, nil
	}
	switch first := s.first; {
	case first && s.f.header && !s.f.match:
		// The names are not looked at, not even for whether they are well-formed.
		s.first = false
		return s.next()
	case s.f.csv:
		s.first = false
		return true, s.splitCSV()
	}
	s.first = false
	return true, s.splitText()
}

// lineEnd finds where the line at s.at ends and where the next one starts; after is -1 if it is not all there.
func (s *scanner) lineEnd() (end, after int, err error) {
	i := max(s.scanned, s.at)
	if !s.quoted && !s.escaped && s.eol <= eolLF {
		// Most lines have nothing in them to think about.
		rest := s.buf[i:]
		n := bytes.IndexByte(rest, '\n')
		if n >= 0 {
			rest = rest[:n]
		}
		if !s.plain(rest) {
			return s.lineEndSlowly(i)
		}
		if n >= 0 {
			s.eol = eolLF
			return i + n, i + n + 1, nil
		}
		i = len(s.buf)
	}
	return s.lineEndSlowly(i)
}

// plain says whether a piece of a line has no byte that decides where it ends.
func (s *scanner) plain(b []byte) bool {
	return bytes.IndexByte(b, '\\') < 0 && bytes.IndexByte(b, '\r') < 0 && !(s.f.csv && bytes.IndexByte(b, s.f.quote) >= 0)
}

func (s *scanner) lineEndSlowly(i int) (end, after int, err error) {
	for ; i < len(s.buf); i++ {
		c := s.buf[i]
		// What may follow these decides; it must be there.
		if (c == '\\' || c == '\r') && i+1 == len(s.buf) && !s.ended {
			break
		}
		if s.f.csv {
			s.csvState(c)
		}
		switch {
		case (c == '\r' || c == '\n') && !s.quoted:
			n, err := s.newline(i)
			if err != nil {
				return 0, 0, err
			}
			return i, i + n, nil
		case c == '\\' && (!s.f.csv || i == s.at):
			n, err := s.marker(i)
			if err != nil || n == markerIncomplete {
				s.scanned = i
				return 0, -1, err
			}
			if n == markerFound {
				s.over = true
				return i, len(s.buf), nil
			}
			if !s.f.csv {
				i++ // what is behind a backslash is data
			}
		}
	}
	if s.ended {
		return len(s.buf), len(s.buf), nil
	}
	s.scanned = i
	return 0, -1, nil
}

// csvState follows quotes over one byte.
func (s *scanner) csvState(c byte) {
	// A quote that is doubled closes and opens; only another escape character needs to be followed.
	switch {
	case s.quoted && c == s.f.escape && c != s.f.quote:
		s.escaped = !s.escaped
	case c == s.f.quote && !s.escaped:
		s.quoted = !s.quoted
	default:
		s.escaped = false
	}
	newline := byte('\r')
	if s.eol == eolLF {
		newline = '\n'
	}
	if s.quoted && c == newline {
		s.embedded++
	}
}

// newline says how long the line end at position i is, and that it is one like those before.
func (s *scanner) newline(i int) (int, error) {
	if s.buf[i] == '\n' {
		if s.eol == eolCR || s.eol == eolCRLF {
			return 0, s.stray("newline", `\n`)
		}
		s.eol = eolLF
		return 1, nil
	}
	switch s.eol {
	case eolLF:
		return 0, s.stray("carriage return", `\r`)
	case eolCR:
		return 1, nil
	}
	if i+1 < len(s.buf) && s.buf[i+1] == '\n' {
		s.eol = eolCRLF
		return 2, nil
	}
	if s.eol == eolCRLF {
		return 0, s.stray("carriage return", `\r`)
	}
	s.eol = eolCR
	return 1, nil
}

func (s *scanner) stray(what, escape string) error {
	if s.f.csv {
		return pgerr.Newf(pgerr.BadCopyFileFormat, "unquoted %s found in data", what).
			WithHint("Use quoted CSV field to represent %s.", what)
	}
	return pgerr.Newf(pgerr.BadCopyFileFormat, "literal %s found in data", what).
		WithHint(`Use "%s" to represent %s.`, escape, what)
}

// What marker found.
const (
	markerNone = iota
	markerIncomplete
	markerFound
)

// marker looks for the end-of-data marker, a backslash and a full stop with a line end, at position i.
func (s *scanner) marker(i int) (int, error) {
	rest := s.buf[i+1:]
	if len(rest) == 0 || rest[0] != '.' {
		return markerNone, nil
	}
	rest = rest[1:]
	if !s.ended && (len(rest) == 0 || len(rest) == 1 && rest[0] == '\r') {
		return markerIncomplete, nil
	}
	if s.f.csv && (len(rest) == 0 || rest[0] != '\r' && rest[0] != '\n') {
		return markerNone, nil
	}
	kind := eolUnknown
	switch {
	case len(rest) == 0:
		return 0, pgerr.New(pgerr.BadCopyFileFormat, "end-of-copy marker corrupt")
	case bytes.HasPrefix(rest, []byte("\r\n")):
		kind = eolCRLF
	case rest[0] == '\r':
		kind = eolCR
	case rest[0] == '\n':
		kind = eolLF
	default:
		return 0, pgerr.New(pgerr.BadCopyFileFormat, "end-of-copy marker corrupt")
	}
	if s.eol != eolUnknown && kind != s.eol && !(s.eol == eolCR && kind == eolCRLF) {
		return 0, pgerr.New(pgerr.BadCopyFileFormat, "end-of-copy marker does not match previous newline style")
	}
	return markerFound, nil
}

// splitText takes the row apart in text format.
func (s *scanner) splitText() error {
	line := s.raw
	if bytes.IndexByte(line, '\\') < 0 {
		for {
			n := bytes.IndexByte(line, s.f.delim)
			value := line
			if n >= 0 {
				value = line[:n]
			}
			s.fields = append(s.fields, field{bytes: value, null: string(value) == s.f.null})
			if n < 0 {
				return nil
			}
			line = line[n+1:]
		}
	}
	for start, i := 0, 0; ; i++ {
		switch {
		case i < len(line) && line[i] == '\\':
			i++
		case i >= len(line) || line[i] == s.f.delim:
			f, err := s.unescape(line[start:min(i, len(line))])
			if err != nil {
				return err
			}
			s.fields = append(s.fields, f)
			if i >= len(line) {
				return nil
			}
			start = i + 1
		}
	}
}

// unescape takes a field in text format that has backslashes.
func (s *scanner) unescape(raw []byte) (field, error) {
	if string(raw) == s.f.null {
		return field{null: true}, nil
	}
	start, check := len(s.text), false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' {
			if i++; i == len(raw) {
				break // a backslash at the end of the line is dropped
			}
			switch c = raw[i]; c {
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
			case 'v':
				c = '\v'
			case '0', '1', '2', '3', '4', '5', '6', '7':
				var n int
				c, n = number(raw[i:min(i+3, len(raw))], 8)
				i, check = i+n-1, true
			case 'x':
				if v, n := number(raw[i+1:min(i+3, len(raw))], 16); n > 0 {
					c, i, check = v, i+n, true
				}
			}
		}
		s.text = append(s.text, c)
	}
	// The memory may move while later fields of the row are added; these bytes stay what they are.
	f := field{bytes: s.text[start:len(s.text):len(s.text)]}
	if check {
		return f, CheckText(f.bytes)
	}
	return f, nil
}

// number reads digits of a base and says how many there were.
func number(digits []byte, base int) (value byte, n int) {
	v := 0
	for _, c := range digits {
		d := strings.IndexByte("0123456789abcdef", c)
		if c >= 'A' && c <= 'F' {
			d = int(c-'A') + 10
		}
		if d < 0 || d >= base {
			break
		}
		v, n = v*base+d, n+1
	}
	return byte(v), n
}

// splitCSV takes the row apart in csv format.
func (s *scanner) splitCSV() error {
	line := s.raw
	for {
		n := bytes.IndexByte(line, s.f.delim)
		if n < 0 {
			n = len(line)
		}
		if bytes.IndexByte(line[:n], s.f.quote) >= 0 {
			f, end, err := s.quotedField(line)
			if err != nil {
				return err
			}
			n = end
			s.fields = append(s.fields, f)
		} else {
			s.fields = append(s.fields, field{bytes: line[:n], null: string(line[:n]) == s.f.null})
		}
		if n == len(line) {
			return nil
		}
		line = line[n+1:]
	}
}

// quotedField takes a field with quotes from the front of line; n is where it ends.
func (s *scanner) quotedField(line []byte) (f field, n int, err error) {
	start, quoted := len(s.text), false
	for n = 0; n < len(line); n++ {
		c := line[n]
		switch {
		case quoted && c == s.f.escape && n+1 < len(line) && (line[n+1] == s.f.escape || line[n+1] == s.f.quote):
			n++
			s.text = append(s.text, line[n])
		case c == s.f.quote:
			quoted = !quoted
		case !quoted && c == s.f.delim:
			return field{bytes: s.text[start:len(s.text):len(s.text)], quoted: true}, n, nil
		default:
			s.text = append(s.text, c)
		}
	}
	if quoted {
		return field{}, 0, pgerr.New(pgerr.BadCopyFileFormat, "unterminated CSV quoted field")
	}
	return field{bytes: s.text[start:len(s.text):len(s.text)], quoted: true}, n, nil
}

// context says where in the input an error is: in the row as a whole, or, with a column, in its value there.
func (s *scanner) context(relation, column string, value *field) string {
	text := fmt.Sprintf("COPY %s, line %d", relation, s.line)
	switch {
	case value != nil && value.null:
		return text + ", column " + column + ": null input"
	case value != nil:
		return text + ", column " + column + `: "` + clip(value.bytes) + `"`
	case s.raw != nil:
		return text + `: "` + clip(s.raw) + `"`
	}
	return text
}

// clipBytes is how much of a client's data an error shows.
const clipBytes = 100

func clip(b []byte) string {
	if len(b) <= clipBytes {
		return string(b)
	}
	n := clipBytes
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "..."
}

// CheckText refuses bytes that are no text: they must be UTF-8, without NUL.
func CheckText(b []byte) error {
	if n := validPrefix(b); n < len(b) {
		return invalidBytes(b[n:])
	}
	return nil
}

// validPrefix is how much of b is text.
func validPrefix(b []byte) int {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return len(b)
	}
	i := 0
	for i < len(b) {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || b[i] == 0 {
			break
		}
		i += n
	}
	return i
}

// invalidBytes is PostgreSQL's complaint about the sequence that b starts with.
func invalidBytes(b []byte) error {
	n := 1
	switch c := b[0]; {
	case c >= 0xf0 && c < 0xf8:
		n = 4
	case c >= 0xe0 && c < 0xf0:
		n = 3
	case c >= 0xc0 && c < 0xe0:
		n = 2
	}
	var hex strings.Builder
	for _, c := range b[:min(n, len(b))] {
		fmt.Fprintf(&hex, " 0x%02x", c)
	}
	return pgerr.New(pgerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8":`+hex.String())
}
