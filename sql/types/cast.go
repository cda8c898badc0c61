package types

// CastContext says in what place a value of one type stands where another is wanted.
type CastContext uint8

const (
	// Implicit: in an expression, without a word from the client.
	Implicit CastContext = iota
	// Assignment: on its way into a column.
	Assignment
	// Explicit: the client wrote a cast.
	Explicit
)

func (c CastContext) String() string {
	switch c {
	case Implicit:
		return "implicit"
	case Assignment:
		return "assignment"
	}
	return "explicit"
}
