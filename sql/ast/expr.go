package ast

// Expr is a scalar expression.
type Expr interface {
	Node
	Position() int
	expr()
}

// Column is a name in an expression: a column, or qualifiers and a column.
type Column struct {
	Pos
	Names []string
}

// Star is * or t.*, in a list of results and in the arguments of row-like constructs.
type Star struct {
	Pos
	Qualifier []string
}

// LiteralKind tells literals apart.
type LiteralKind uint8

// The kinds of literals.
const (
	Null   LiteralKind = iota
	Bool               // Text is true or false
	Number             // Text is digits, with a point or an exponent if written; a minus sign may lead
	String             // Text is the value
	Bits               // Text is b and binary digits, or x and hexadecimal ones
)

// Literal is a constant. A minus sign before a number belongs to the literal, as in PostgreSQL.
type Literal struct {
	Pos
	Kind LiteralKind
	Text string
}

// Param is a client's parameter, Number counting from 1.
type Param struct {
	Pos
	Number int
}

// Unary is a prefix operator.
type Unary struct {
	Pos // of the operator
	Op  Op
	Arg Expr
}

// Binary is an infix operator, comparisons among them.
type Binary struct {
	Pos         // of the operator
	Op          Op
	Left, Right Expr
}

// And is a conjunction of at least two; a chain a AND b AND c is one node.
type And struct {
	Pos
	Args []Expr
}

// Or is a disjunction of at least two.
type Or struct {
	Pos
	Args []Expr
}

// Not is a negation.
type Not struct {
	Pos
	Arg Expr
}

// Test is what an Is asks.
type Test uint8

// The tests.
const (
	IsNull Test = iota
	IsTrue
	IsFalse
	IsUnknown
)

// Is is IS [NOT] NULL, TRUE, FALSE or UNKNOWN.
type Is struct {
	Pos
	Arg  Expr
	Test Test
	Not  bool
}

// IsDistinct is IS [NOT] DISTINCT FROM.
type IsDistinct struct {
	Pos
	Left, Right Expr
	Not         bool
}

// Between is [NOT] BETWEEN [SYMMETRIC].
type Between struct {
	Pos
	Arg, Low, High Expr
	Symmetric, Not bool
}

// In is [NOT] IN over a list or, if List is nil, over a query.
type In struct {
	Pos
	Arg   Expr
	List  []Expr
	Query *Query
	Not   bool
}

// LikeKind tells the pattern matchers apart.
type LikeKind uint8

// The pattern matchers that have syntax of their own.
const (
	LikeOp LikeKind = iota
	ILikeOp
	SimilarOp
)

// Like is [NOT] LIKE, ILIKE or SIMILAR TO. Escape is nil if not given.
type Like struct {
	Pos
	Kind                 LikeKind
	Arg, Pattern, Escape Expr
	Not                  bool
}

// Quantified compares with ANY (SOME) or ALL elements of an array or, if Array is nil, rows of a query.
type Quantified struct {
	Pos   // of the operator
	Left  Expr
	Op    Op // LIKE ANY is the operator ~~, as in PostgreSQL
	All   bool
	Array Expr
	Query *Query
}

// Case is CASE; Arg and Else may be nil.
type Case struct {
	Pos
	Arg   Expr
	Whens []When
	Else  Expr
}

// When is one branch of a Case.
type When struct{ Cond, Then Expr }

// Cast is x::t, CAST(x AS t), or a typed literal such as DATE '2001-02-03'.
type Cast struct {
	Pos
	Arg  Expr
	Type *TypeName
}

// Collate is x COLLATE name.
type Collate struct {
	Pos
	Arg       Expr
	Collation Name
}

// NullTreatment is IGNORE NULLS or RESPECT NULLS of a window function.
type NullTreatment uint8

// The treatments of NULLs.
const (
	NullsUnsaid NullTreatment = iota
	RespectNulls
	IgnoreNulls
)

// Call is a call of a function, of an aggregate or of a window function. Syntax that PostgreSQL turns into
// calls (EXTRACT, POSITION, SUBSTRING, OVERLAY, TRIM, AT TIME ZONE) is a call of the pg_catalog function.
type Call struct {
	Pos
	Func        Name
	Args        []Expr // a NamedArg among them has a name
	Star        bool   // f(*)
	Variadic    bool   // the last argument is VARIADIC
	Distinct    bool
	OrderBy     []OrderItem
	WithinGroup []OrderItem
	Filter      Expr
	Nulls       NullTreatment
	Over        *Window
}

// NamedArg is name => value among the arguments of a Call, and nowhere else.
type NamedArg struct {
	Pos
	Name  string
	Value Expr
}

// SpecialFunc is a function that the grammar knows and no schema holds.
type SpecialFunc uint8

// The functions of the grammar.
const (
	Coalesce SpecialFunc = iota
	NullIf
	Greatest
	Least
)

var specialFuncs = [...]string{Coalesce: "COALESCE", NullIf: "NULLIF", Greatest: "GREATEST", Least: "LEAST"}

func (f SpecialFunc) String() string { return specialFuncs[f] }

// Special is COALESCE, NULLIF, GREATEST or LEAST.
type Special struct {
	Pos
	Func SpecialFunc
	Args []Expr
}

// ValueFunc is one of current_catalog, current_date, current_role, current_schema, current_time,
// current_timestamp, current_user, localtime, localtimestamp, session_user and user, without parentheses.
type ValueFunc struct {
	Pos
	Name string
	// Precision is the number of fractional digits asked of a time; -1 if none was.
	Precision int
}

// Array is ARRAY[…] or, if Elems is nil, ARRAY(query); with List set it is LIST.
type Array struct {
	Pos
	List  bool
	Elems []Expr // never nil if Query is nil
	Query *Query
}

// Map is MAP[k => v, …] or, if Query is not nil, MAP(query).
type Map struct {
	Pos
	Entries []MapEntry
	Query   *Query
}

// MapEntry is one k => v.
type MapEntry struct{ Key, Value Expr }

// Row is ROW(…) or, with at least two items, (…).
type Row struct {
	Pos
	Items    []Expr
	Explicit bool // ROW was written
}

// Subscript is one or more [i] or [i:j] behind a value.
type Subscript struct {
	Pos
	Arg     Expr
	Indexes []Index
}

// Index is [Lower] or, if Slice is set, [Lower:Upper], either of which may then be nil.
type Index struct {
	Slice        bool
	Lower, Upper Expr
}

// Field is (x).name; an empty Name is (x).*.
type Field struct {
	Pos
	Arg  Expr
	Name string
}

// Exists is EXISTS (query).
type Exists struct {
	Pos
	Query *Query
}

// Subquery is a query as a value.
type Subquery struct {
	Pos
	Query *Query
}

// Default is DEFAULT in a row of VALUES or on the right of SET.
type Default struct{ Pos }

// OrderItem is one key of an ORDER BY.
type OrderItem struct {
	Expr  Expr
	Desc  bool
	Nulls NullsPlace
	Using *Op // ORDER BY x USING <
}

// NullsPlace is NULLS FIRST or NULLS LAST.
type NullsPlace uint8

// The places of NULLs in an order.
const (
	NullsDefault NullsPlace = iota
	NullsFirst
	NullsLast
)

// Window is what stands behind OVER, or a definition in a WINDOW clause.
type Window struct {
	Pos
	Ref         string // OVER name: all else is empty
	Base        string // the name that opens OVER (name …)
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// FrameUnit is what a frame counts.
type FrameUnit uint8

// The units of frames.
const (
	FrameRange FrameUnit = iota
	FrameRows
	FrameGroups
)

// BoundKind tells the ends of frames apart.
type BoundKind uint8

// The ends of frames.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Bound is one end of a frame; Offset is set for Preceding and Following.
type Bound struct {
	Kind   BoundKind
	Offset Expr
}

// Frame is the frame of a window. Without BETWEEN, End is CurrentRow.
type Frame struct {
	Pos
	Unit       FrameUnit
	Start, End Bound
	Exclude    string // CURRENT ROW, GROUP, TIES or empty
}

func (*Column) expr()     {}
func (*Star) expr()       {}
func (*Literal) expr()    {}
func (*Param) expr()      {}
func (*Unary) expr()      {}
func (*Binary) expr()     {}
func (*And) expr()        {}
func (*Or) expr()         {}
func (*Not) expr()        {}
func (*Is) expr()         {}
func (*IsDistinct) expr() {}
func (*Between) expr()    {}
func (*In) expr()         {}
func (*Like) expr()       {}
func (*Quantified) expr() {}
func (*Case) expr()       {}
func (*Cast) expr()       {}
func (*Collate) expr()    {}
func (*Call) expr()       {}
func (*NamedArg) expr()   {}
func (*Special) expr()    {}
func (*ValueFunc) expr()  {}
func (*Array) expr()      {}
func (*Map) expr()        {}
func (*Row) expr()        {}
func (*Subscript) expr()  {}
func (*Field) expr()      {}
func (*Exists) expr()     {}
func (*Subquery) expr()   {}
func (*Default) expr()    {}
