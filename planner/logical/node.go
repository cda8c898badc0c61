package logical

import (
	"fmt"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Node is one operator of a tree. The set is closed: Constant, Get, Filter, Map, Project, Join, OuterJoin,
// SemiJoin, Apply, TableFunc, Reduce, TopK, Union, Negate, Threshold, Guard, Let, LetRef.
type Node interface {
	// Rel describes the node's rows; it is shared and not to be changed.
	Rel() *types.Rel
	// Inputs are the nodes it reads, in order; not to be changed.
	Inputs() []Node
	node()
}

// Order is one column to sort by.
type Order = plan.Order

// Constant is fixed rows.
type Constant struct {
	rel
	Rows *vec.Block
}

// Get reads a collection.
type Get struct {
	rel
	ID tvc.ID
	// Name is the collection's full SQL name, for people.
	Name string
	// Rows is about how many rows it has; 0: unknown. It decides how a query is computed, not what it means.
	Rows int64
}

// Filter keeps the rows for which every predicate is true.
type Filter struct {
	rel
	one
	Preds []scalar.Expr
}

// Map appends columns, each computed from the input's columns (never from each other's).
type Map struct {
	rel
	one
	Exprs []scalar.Expr
}

// Project picks columns, by position; one may come more than once.
type Project struct {
	rel
	one
	Cols []int
}

// Join is the inner join of any number of inputs: the rows of their product, columns side by side, for
// which every predicate is true.
type Join struct {
	rel
	many
	Preds []scalar.Expr
}

// OuterJoin is Left's rows beside the rows of Right for which On is true; a row of Left without any comes
// once, beside NULLs. Full: so does a row of Right without any.
type OuterJoin struct {
	rel
	two
	Full bool
	On   []scalar.Expr
}

// SemiJoin is the rows of Left for which On is true with some row of Right; Anti: with none. On sees
// Left's columns, then Right's; the result has Left's alone.
type SemiJoin struct {
	rel
	two
	Anti bool
	On   []scalar.Expr
}

// ApplyKind says what an Apply makes of the right side's rows.
type ApplyKind uint8

const (
	// ApplyInner gives the left row beside each right row.
	ApplyInner ApplyKind = iota
	// ApplyLeft gives the left row beside NULLs if there is no right row.
	ApplyLeft
	// ApplyScalar gives the left row beside the one right row, or beside NULLs if there is none; more
	// than one is the Apply's error.
	ApplyScalar
	// ApplyExists gives the left row and whether there is any right row.
	ApplyExists
	// ApplySemi gives the left row if there is a right row.
	ApplySemi
	// ApplyAnti gives the left row if there is no right row.
	ApplyAnti
)

var applyNames = [...]string{"inner", "left", "scalar", "exists", "semi", "anti"}

func (k ApplyKind) String() string { return applyNames[k] }

// Apply computes Right anew for each row of Left, whose columns it sees as Outer columns of level 1.
type Apply struct {
	rel
	two
	Kind ApplyKind
}

// TableFunc calls a table function on each row and gives the row beside each of the function's.
type TableFunc struct {
	rel
	one
	Func       *scalar.TableFunc
	Args       []scalar.Expr
	Ordinality bool
}

// Reduce gives one row for each distinct value of the Keys columns: these, then one column for each
// aggregate. Global (then there are no Keys): exactly one row, even for no input. No Aggs: DISTINCT.
type Reduce struct {
	rel
	one
	Keys   []int
	Aggs   []Agg
	Global bool
}

// Agg is one aggregate of a Reduce. Args, Filter (-1: none) and Order are columns of the input.
type Agg struct {
	Func     *scalar.Agg
	Args     []int
	Distinct bool
	Filter   int
	Order    []Order
	// T is the result's type.
	T types.T
}

// TopK gives, of each group of rows that agree on Group, the first rows in the given order, ties by the
// whole row. Limit and Offset are constants or parameters; nil: none.
type TopK struct {
	rel
	one
	Group         []int
	Order         []Order
	Limit, Offset scalar.Expr
}

// Union gives the rows of all its inputs.
type Union struct {
	rel
	many
}

// Negate turns the sign of every row's count.
type Negate struct {
	rel
	one
}

// Threshold keeps rows that count more than zero times.
type Threshold struct {
	rel
	one
}

// Guard passes its input through, and makes the result Err if two rows agree on Keys.
type Guard struct {
	rel
	one
	Keys []int
	Err  error
}

// Let names Value for use in Body. IDs are unique in a tree; Value has no Outer columns.
type Let struct {
	rel
	two // Value, Body
	ID  int
}

// LetRef is the rows of the Let around it with that ID.
type LetRef struct {
	rel
	ID int
}

type rel struct{ r types.Rel }

func (r *rel) Rel() *types.Rel { return &r.r }
func (*rel) Inputs() []Node    { return nil }
func (*rel) node()             {}

type one struct{ In [1]Node }

func (o *one) Input() Node { return o.In[0] }

type two struct{ Sides [2]Node }

func (t *two) Left() Node  { return t.Sides[0] }
func (t *two) Right() Node { return t.Sides[1] }

type many struct{ Ins []Node }

func (n *Filter) Inputs() []Node    { return n.In[:] }
func (n *Map) Inputs() []Node       { return n.In[:] }
func (n *Project) Inputs() []Node   { return n.In[:] }
func (n *Join) Inputs() []Node      { return n.Ins }
func (n *OuterJoin) Inputs() []Node { return n.Sides[:] }
func (n *SemiJoin) Inputs() []Node  { return n.Sides[:] }
func (n *Apply) Inputs() []Node     { return n.Sides[:] }
func (n *TableFunc) Inputs() []Node { return n.In[:] }
func (n *Reduce) Inputs() []Node    { return n.In[:] }
func (n *TopK) Inputs() []Node      { return n.In[:] }
func (n *Union) Inputs() []Node     { return n.Ins }
func (n *Negate) Inputs() []Node    { return n.In[:] }
func (n *Threshold) Inputs() []Node { return n.In[:] }
func (n *Guard) Inputs() []Node     { return n.In[:] }
func (n *Let) Inputs() []Node       { return n.Sides[:] }

// Value is what the Let names.
func (n *Let) Value() Node { return n.Sides[0] }

// Body is the tree that may use it.
func (n *Let) Body() Node { return n.Sides[1] }

// Arity is the number of a node's columns.
func Arity(n Node) int { return len(n.Rel().Cols) }

// Types gives the types of a node's columns.
func Types(n Node) []types.T {
	cols := n.Rel().Cols
	ts := make([]types.T, len(cols))
	for i, c := range cols {
		ts[i] = c.Type
	}
	return ts
}

// ColOf is the expression for a column of n.
func ColOf(n Node, i int) *scalar.Col { return &scalar.Col{Index: i, T: n.Rel().Cols[i].Type} }

// WithInputs is n with other inputs, which have as many columns of the same types (a LetRef's Let may
// differ in its value's keys and NULLs).
func WithInputs(n Node, ins ...Node) Node {
	switch n := n.(type) {
	case *Constant, *Get, *LetRef:
		return n
	case *Filter:
		return NewFilter(ins[0], n.Preds...)
	case *Map:
		return NewMap(ins[0], n.Exprs...)
	case *Project:
		return NewProject(ins[0], n.Cols)
	case *Join:
		return NewJoin(ins, n.Preds...)
	case *OuterJoin:
		return NewOuterJoin(n.Full, ins[0], ins[1], n.On...)
	case *SemiJoin:
		return NewSemiJoin(n.Anti, ins[0], ins[1], n.On...)
	case *Apply:
		return NewApply(n.Kind, ins[0], ins[1])
	case *TableFunc:
		return NewTableFunc(ins[0], n.Func, n.Args, n.Ordinality, n.r.Cols[Arity(n.Input()):])
	case *Reduce:
		return newReduce(ins[0], n.Keys, n.Aggs, n.Global)
	case *TopK:
		return NewTopK(ins[0], n.Group, n.Order, n.Limit, n.Offset)
	case *Union:
		return NewUnion(ins...)
	case *Negate:
		return NewNegate(ins[0])
	case *Threshold:
		return NewThreshold(ins[0])
	case *Guard:
		return NewGuard(ins[0], n.Keys, n.Err)
	case *Let:
		return NewLet(n.ID, ins[0], ins[1])
	}
	panic(fmt.Sprintf("logical: unknown node %T", n))
}

// sameInputs says whether ins are n's own inputs.
func sameInputs(n Node, ins []Node) bool {
	for i, in := range n.Inputs() {
		if in != ins[i] {
			return false
		}
	}
	return true
}

// MapInputs is n with f applied to each input; n itself if f changed none.
func MapInputs(n Node, f func(Node) Node) Node {
	old := n.Inputs()
	if len(old) == 0 {
		return n
	}
	ins := make([]Node, len(old))
	for i, in := range old {
		ins[i] = f(in)
	}
	if sameInputs(n, ins) {
		return n
	}
	return WithInputs(n, ins...)
}

// Walk calls f for n and everything below it, n first; it does not go below nodes for which f is false.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	for _, in := range n.Inputs() {
		Walk(in, f)
	}
}

// Uses is the set of the input's columns that an aggregate reads.
func (a *Agg) Uses() Set {
	s := SetOf(a.Args...)
	if a.Filter >= 0 {
		s.Add(a.Filter)
	}
	for _, o := range a.Order {
		s.Add(o.Col)
	}
	return s
}

// Moved is the aggregate over an input in which column i is at to(i).
func (a Agg) Moved(to func(int) int) Agg {
	args := make([]int, len(a.Args))
	for i, c := range a.Args {
		args[i] = to(c)
	}
	a.Args = args
	if a.Filter >= 0 {
		a.Filter = to(a.Filter)
	}
	order := make([]Order, len(a.Order))
	for i, o := range a.Order {
		order[i] = o
		order[i].Col = to(o.Col)
	}
	a.Order = order
	return a
}
