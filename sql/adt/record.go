package adt

import (
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// RecordText writes a record as text: Field before each field, whose text the caller then appends, and Done
// after the last one.
type RecordText struct {
	fields int
	from   int
}

// Begin appends what stands before the fields.
func (w *RecordText) Begin(dst []byte) []byte {
	w.fields = 0
	return append(dst, '(')
}

// Field begins a field.
func (w *RecordText) Field(dst []byte) []byte {
	if w.fields > 0 {
		dst = append(dst, ',')
	}
	w.fields++
	w.from = len(dst)
	return dst
}

// EndField puts quotes around the field if it needs them. It is not called for NULL, which is written as
// nothing.
func (w *RecordText) EndField(dst []byte) []byte {
	s := borrow(dst[w.from:])
	if s != "" && !strings.ContainsAny(s, "\"\\(), \t\n\v\f\r") {
		return dst
	}
	return quoteFrom(dst, w.from, '"')
}

// Done ends the record.
func (w *RecordText) Done(dst []byte) []byte { return append(dst, ')') }

// ParseRecord appends the record of n fields that a text stands for to dst. field adds field i, which is not
// NULL, to the builder, and keeps nothing of its text.
func (b *ElemBuilder) ParseRecord(dst []byte, s string, n int, field func(b *ElemBuilder, i int, text string) error) ([]byte, error) {
	b.Reset(dst)
	malformed := func(detail string) ([]byte, error) {
		return dst, pgerr.Newf(pgerr.InvalidTextRepresentation, "malformed record literal: \"%s\"", s).WithDetail("%s", detail)
	}
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	if !strings.HasPrefix(rest, "(") {
		return malformed("Missing left parenthesis.")
	}
	rest = rest[1:]
	var text []byte
	for i := range n {
		if i > 0 {
			if rest == "" || rest[0] != ',' {
				return malformed("Too few columns.")
			}
			rest = rest[1:]
		}
		if rest != "" && (rest[0] == ',' || rest[0] == ')') {
			b.Null()
			continue
		}
		var ok bool
		if text, rest, ok = recordField(text[:0], rest); !ok {
			return malformed("Unexpected end of input.")
		}
		if err := field(b, i, borrow(text)); err != nil {
			return dst, err
		}
	}
	if rest == "" || rest[0] != ')' {
		return malformed("Too many columns.")
	}
	if strings.Trim(rest[1:], " \t\n\v\f\r") != "" {
		return malformed("Junk after right parenthesis.")
	}
	return b.FinishRecord(), nil
}

// recordField reads one field up to the comma or parenthesis after it.
func recordField(text []byte, s string) (_ []byte, rest string, ok bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) {
				return nil, "", false
			}
			text = append(text, s[i])
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			text = append(text, '"')
			i++
		case c == '"':
			quoted = !quoted
		case (c == ',' || c == ')') && !quoted:
			return text, s[i:], true
		default:
			text = append(text, c)
		}
	}
	return nil, "", false
}
