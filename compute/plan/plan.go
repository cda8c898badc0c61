package plan

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// NodeID is a node's position in its dataflow.
type NodeID int

// Dataflow is what to compute: the last node is the result.
type Dataflow struct {
	// Name is for people: the object's full SQL name, or the kind of statement.
	Name  string
	Nodes []Node
}

// Result is the node whose rows are the dataflow's.
func (d *Dataflow) Result() NodeID { return NodeID(len(d.Nodes) - 1) }

// Imports lists the collections read, each once, in order of first use.
func (d *Dataflow) Imports() []tvc.ID {
	var ids []tvc.ID
	seen := map[tvc.ID]bool{}
	for _, n := range d.Nodes {
		if g, ok := n.Op.(*Get); ok && !seen[g.ID] {
			seen[g.ID] = true
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// Positive says that no row of the result of the first tick counts less than zero times; consolidated, that it is so
// if the contents of what is read come consolidated.
func (d *Dataflow) Positive(consolidated bool) bool {
	positive := make([]bool, len(d.Nodes))
	for i, n := range d.Nodes {
		inputs := !slices.ContainsFunc(n.Inputs, func(in NodeID) bool { return !positive[in] })
		switch o := n.Op.(type) {
		case *Get:
			positive[i] = consolidated
		case *Constant:
			positive[i] = o.Rows == nil || !slices.ContainsFunc(o.Rows.Diffs, func(diff int64) bool { return diff < 0 })
		case *MFP, *TableFunc, *Join, *Union, *Guard:
			positive[i] = inputs
		case *Reduce, *Threshold:
			positive[i] = true
		case *TopK:
			// Without a limit the rows skipped are taken back from all rows.
			positive[i] = o.Limit >= 0 || o.Offset == 0 && inputs
		case *Negate:
		default:
			panic(fmt.Sprintf("plan: unknown node %T", n.Op))
		}
	}
	return positive[d.Result()]
}

// Streams says that what comes to the result in the first tick stays in it, so that one who has enough rows can do
// without the rest: every row comes of one that is read, or of one of each side of a join.
func (d *Dataflow) Streams() bool {
	return !slices.ContainsFunc(d.Nodes, func(n Node) bool {
		switch o := n.Op.(type) {
		case *Get, *MFP, *TableFunc, *Union, *Join:
			return false
		case *Constant:
			return o.Err != nil
		}
		return true
	})
}

// Node is one operator with what it reads and the types of the columns it gives.
type Node struct {
	Op     Op
	Inputs []NodeID
	Cols   []types.T
}

// Kinds gives the kinds of the node's columns.
func (n *Node) Kinds() []types.Kind { return types.Rel{Cols: asColumns(n.Cols)}.Kinds() }

func asColumns(ts []types.T) []types.Column {
	cols := make([]types.Column, len(ts))
	for i, t := range ts {
		cols[i].Type = t
	}
	return cols
}

// Op is one of Get, Constant, MFP, TableFunc, Join, Reduce, TopK, Threshold, Negate, Union, Guard.
// The set is closed.
type Op interface{ op() }

// Get reads a collection: a table, a view's stored result, or a system relation. Cols are the
// collection's own, all of them.
type Get struct {
	ID tvc.ID
	// Name is the collection's full SQL name, for people.
	Name string
}

// Constant is fixed rows; it has no input.
type Constant struct {
	Rows *vec.Block
	// Err, if set, makes the whole result this error.
	Err error
}

// MFP maps, filters and projects its one input.
type MFP struct{ scalar.MFP }

// TableFunc calls a table function on each row of its one input and gives the input's columns, then the
// function's; a row for which it gives nothing vanishes.
type TableFunc struct {
	Func *scalar.TableFunc
	Args []scalar.Expr
	// Ordinality adds a last int8 column that counts the function's rows from 1.
	Ordinality bool
}

// Join gives the concatenation of rows, one from each input, that agree on the keys of every Stage. Its
// columns are those of Out, picked from the inputs' columns laid side by side in the order of Inputs.
//
// It is a chain: Inputs[0] is joined with Inputs[1] by Stages[0], the result with Inputs[2] by Stages[1],
// and so on. With Delta set no intermediate results are to be kept, and each input's
// changes to be looked up in all other inputs, by the Paths; such a Join is not rendered.
type Join struct {
	Stages []JoinStage
	Paths  []JoinPath // Delta: one for each input
	Delta  bool
	Out    []int
}

// JoinStage joins what there is with one more input. Left are columns of the inputs so far, laid side by
// side; Right are columns of the new input alone. No keys at all is a cross join.
type JoinStage struct {
	Left, Right []int
	// NullEq says, for each key, whether NULL joins NULL (IS NOT DISTINCT FROM); "=" does not.
	NullEq []bool
}

// JoinPath is the order in which the changes of one input are looked up in the others.
type JoinPath struct{ Lookups []JoinLookup }

// JoinLookup is one step of a path. Left are columns of the inputs laid side by side in the Join's own
// order, all from inputs joined before in this path; Right are columns of Input alone.
type JoinLookup struct {
	Input       int
	Left, Right []int
	NullEq      []bool
}

// Reduce gives one row for each distinct value of the first Keys columns of its input (of which NULL
// equals NULL): the key, then one column for each aggregate. Without keys and without any input row it
// gives nothing: the plan adds what SQL wants there. Without aggregates it is DISTINCT.
type Reduce struct {
	Keys int
	Aggs []Agg
}

// Agg is one aggregate of a Reduce.
type Agg struct {
	Func *scalar.Agg
	// Args are columns of the input.
	Args []int
	// Distinct: equal arguments count once.
	Distinct bool
	// Filter is a boolean column; only rows where it is true count. -1: none.
	Filter int
	// Order is the aggregate's own ORDER BY.
	Order []Order
}

// Order is one column to sort by.
type Order struct {
	Col        int
	Desc       bool
	NullsFirst bool
}

// TopK gives, of each group of rows with equal Group columns, the rows [Offset, Offset+Limit) in the given
// order; ties go by all columns, ascending, NULL last. Limit < 0 is no limit.
type TopK struct {
	Group         []int
	Order         []Order
	Limit, Offset int64
}

// Threshold keeps rows that count more than zero times.
type Threshold struct{}

// Negate turns the sign of every row's count.
type Negate struct{}

// Union gives the rows of all its inputs.
type Union struct{}

// Guard passes its one input through, and makes the result an error if any row counts more than once for
// its first Keys columns: a scalar subquery that gave more than one row.
type Guard struct {
	Keys int
	Err  error
}

func (*Get) op()       {}
func (*Constant) op()  {}
func (*MFP) op()       {}
func (*TableFunc) op() {}
func (*Join) op()      {}
func (*Reduce) op()    {}
func (*TopK) op()      {}
func (*Threshold) op() {}
func (*Negate) op()    {}
func (*Union) op()     {}
func (*Guard) op()     {}

// Finishing is what is done to a one-off result's rows before the client gets them: sort (ties by all
// columns, ascending, NULL last), skip, cut, project.
type Finishing struct {
	Order         []Order
	Limit, Offset int64 // Limit < 0: none
	Project       []int
}

// Lookup is a query that an index answers by itself: the rows of the index whose key is one of Keys, or
// all rows when Keys is nil, through MFP.
type Lookup struct {
	Index tvc.ID
	Keys  *vec.Block
	MFP   scalar.MFP
}
