package scalar

import (
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Expr is a typed scalar expression over the columns of one row. The set of its members is closed:
// Col, Outer, Param, Const, Call, And, Or, Case, Coalesce, IsNull, In. Expressions are immutable and may be
// shared.
type Expr interface {
	// Type is the type of the value.
	Type() types.T
	expr()
}

// Col is a column of the input row, by position.
type Col struct {
	Index int
	T     types.T
}

// Outer is a column of an enclosing query's row: Level 1 is the next one out. It exists between
// binding and decorrelation only.
type Outer struct {
	Level, Index int
	T            types.T
}

// Param is a client's parameter, $1 being Index 0. It is replaced by a Const before planning.
type Param struct {
	Index int
	T     types.T
}

// Const is a value.
type Const struct {
	Value vec.Datum
	T     types.T
}

// The constants every planner needs. They are immutable, as all expressions are.
var (
	True  Expr = &Const{Value: vec.BoolOf(true), T: types.TBool}
	False Expr = &Const{Value: vec.BoolOf(false), T: types.TBool}
)

// Call applies a function, an operator or a cast. Args match Func's parameters (a variadic function gets
// as many as it likes). If an argument fails, so does the call, with the first such argument's error, whatever
// the others are.
type Call struct {
	Func *Func
	Args []Expr
	T    types.T
}

// And is the conjunction of its arguments, of which there are at least two. The order of arguments does
// not matter: if one is false it is false, else if one fails it fails, else if one is NULL it is NULL. If several
// fail, the error is the least of theirs (see Less), so that their order does not matter either.
type And struct{ Args []Expr }

// Or is the disjunction, with true in the place of And's false.
type Or struct{ Args []Expr }

// Case gives the Then of the first When that is true, else Else. Branches not taken are not evaluated.
type Case struct {
	Whens []When
	Else  Expr // never nil
	T     types.T
}

// When is one branch of a Case.
type When struct{ Cond, Then Expr }

// Coalesce gives the first argument that is not NULL and evaluates none after it.
type Coalesce struct {
	Args []Expr
	T    types.T
}

// IsNull says whether its argument is NULL; never NULL itself.
type IsNull struct{ Arg Expr }

// In says whether Arg equals one of many constants of its own type: sorted, distinct, not NULL. NULL in
// the list (HasNull) makes a miss NULL.
type In struct {
	Arg     Expr
	Set     []vec.Datum
	HasNull bool
}

func (e *Col) Type() types.T      { return e.T }
func (e *Outer) Type() types.T    { return e.T }
func (e *Param) Type() types.T    { return e.T }
func (e *Const) Type() types.T    { return e.T }
func (e *Call) Type() types.T     { return e.T }
func (*And) Type() types.T        { return types.TBool }
func (*Or) Type() types.T         { return types.TBool }
func (e *Case) Type() types.T     { return e.T }
func (e *Coalesce) Type() types.T { return e.T }
func (*IsNull) Type() types.T     { return types.TBool }
func (*In) Type() types.T         { return types.TBool }

func (*Col) expr()      {}
func (*Outer) expr()    {}
func (*Param) expr()    {}
func (*Const) expr()    {}
func (*Call) expr()     {}
func (*And) expr()      {}
func (*Or) expr()       {}
func (*Case) expr()     {}
func (*Coalesce) expr() {}
func (*IsNull) expr()   {}
func (*In) expr()       {}
