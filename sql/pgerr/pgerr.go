// Package pgerr is the error a client may see: SQLSTATE, message, detail, hint and position, in
// PostgreSQL's words wherever PostgreSQL has the situation.
//
// Promises: an *Error is immutable once made (the With methods copy); its message is lower case, has
// no full stop, names the kind of object and quotes names. An Error survives Encode and Decode, which
// is how the engine carries errors as data.
package pgerr

import (
	"errors"
	"fmt"
	"strings"
)

// Code is a five-character SQLSTATE.
type Code string

// Error is a fault of the client's, or one the client can act on.
type Error struct {
	Code    Code
	Message string
	Detail  string
	Hint    string
	// Context says where in the client's data it happened, such as a line of COPY.
	Context string
	// Position counts characters (not bytes) of the client's statement from 1; 0 means unknown.
	Position int
	// Fatal ends the connection.
	Fatal bool
}

func (e *Error) Error() string { return e.Message }

// New makes an error with a fixed message.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Newf makes an error with a formatted message.
func Newf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Unsupported names a feature that the surface does not have (0A000).
func Unsupported(format string, args ...any) *Error {
	return &Error{Code: FeatureNotSupported, Message: fmt.Sprintf(format, args...) + " is not supported"}
}

// WithDetail gives a copy with a DETAIL line.
func (e *Error) WithDetail(format string, args ...any) *Error {
	c := *e
	c.Detail = fmt.Sprintf(format, args...)
	return &c
}

// WithHint gives a copy with a HINT line.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithContext gives a copy with a CONTEXT line, unless it has one already.
func (e *Error) WithContext(context string) *Error {
	if e.Context != "" {
		return e
	}
	c := *e
	c.Context = context
	return &c
}

// At gives a copy that points at the given character of the client's text (from 1), unless it points
// somewhere already.
func (e *Error) At(position int) *Error {
	if e.Position != 0 || position == 0 {
		return e
	}
	c := *e
	c.Position = position
	return &c
}

// From finds the *Error in err's chain; anything else becomes an internal error (XX000) with its text.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: InternalError, Message: err.Error()}
}

// Is says whether err carries the given SQLSTATE.
func Is(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// Encode appends e as bytes: the five characters of the code, then message, detail and hint, each
// ended by a zero byte. Equal errors have equal bytes; Context and Position are not kept, since data has none.
func (e *Error) Encode(to []byte) []byte {
	code := string(e.Code)
	if len(code) != 5 {
		code = string(InternalError)
	}
	to = append(to, code...)
	for _, s := range [...]string{e.Message, e.Detail, e.Hint} {
		to = append(to, strings.ReplaceAll(s, "\x00", "")...)
		to = append(to, 0)
	}
	return to
}

// Decode reads what Encode wrote. Bytes that no Encode made give an internal error that shows them.
func Decode(b []byte) *Error {
	parts := strings.Split(string(b), "\x00")
	if len(parts) != 4 || len(parts[0]) < 5 {
		return Newf(InternalError, "damaged error record %q", b)
	}
	return &Error{Code: Code(parts[0][:5]), Message: parts[0][5:], Detail: parts[1], Hint: parts[2]}
}
