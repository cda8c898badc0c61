package scalar

import (
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Volatility says what a function's result depends on beside its arguments.
type Volatility uint8

const (
	// Immutable: on nothing.
	Immutable Volatility = iota
	// Stable: on the statement, session or catalog. Refused in what is maintained.
	Stable
	// Volatile: on each call.
	Volatile
)

// Func is one overload of a function, operator or cast: what it is called, what it takes, what it does.
// Exactly one of Kernel and Row is set.
type Func struct {
	Name   string // also of operators ("+") and casts ("int4→text")
	Schema string // pg_catalog, mz_catalog, mz_internal or mz_unsafe
	OID    uint32
	Args   []types.T
	// Variadic: the last parameter may come any number of times, none included.
	Variadic bool
	Ret      types.T
	// RetOf, if set, gives the result's type from the arguments' (polymorphic functions, typmods).
	RetOf func(args []types.T) types.T
	// Strict: NULL in any argument gives NULL, and the implementation never sees one.
	Strict     bool
	Volatility Volatility
	// CanFail: some arguments give an error.
	CanFail bool
	// Kernel computes a whole vector. See Batch.
	Kernel func(b *Batch)
	// Row computes one value; its arguments are borrowed, its result may borrow from them.
	Row func(env Env, args []vec.Datum) (vec.Datum, error)
	// Doc is one sentence for the catalog.
	Doc string
}

// Batch is one call of a Kernel: compute Out[i] for every i in Sel (or all rows when Sel is nil).
type Batch struct {
	Env  Env
	Args []*vec.Vec
	// Sel has the rows to compute, ascending. Rows not in it get any valid placeholder.
	Sel []int32
	// N is the number of rows in every argument and in the result.
	N int
	// Out is of the result's kind and made with N values before the call, its null bitmap already set
	// where a strict function has a NULL argument (such rows may be computed too, from zeros, but must
	// not fail). Bytes results are appended in row order through Out's builder methods instead.
	Out *vec.Vec
	// Fail notes that row i fails.
	Fail func(i int, err *pgerr.Error)
}

// Question is what an Env may be asked. Each constant says what its argument is.
type Question uint16

// Env answers what an expression may ask beside its row: about the statement and the catalog. An Env
// is safe for concurrent use.
type Env interface {
	// Ask gives the answer to a question about the object with the given OID (or, where the question
	// says so, another number or name); NULL if there is no such object.
	Ask(q Question, arg vec.Datum) (vec.Datum, error)
}

// Agg is one overload of an aggregate function. Exactly one of Accum, Order and Fold is set.
type Agg struct {
	Name   string
	Schema string
	OID    uint32
	Args   []types.T
	Ret    types.T
	RetOf  func(args []types.T) types.T
	// Accum: the aggregate is a linear sum that can also take rows back.
	Accum *Accum
	// Order: the aggregate is the first (Min) or last (Max) value that is not NULL.
	Order Order
	// Fold: the aggregate is computed from all rows of the group whenever the group changes.
	Fold func(env Env, rows *Rows) (vec.Datum, error)
	// KeepNulls: a Fold sees rows whose first argument is NULL too.
	KeepNulls bool
	Doc       string
}

// Order says which end of a group's values an ordered aggregate takes.
type Order uint8

const (
	NotOrdered Order = iota
	Min
	Max
)

// Accum is the state of a linear aggregate: Words machine words a group, all zero for no rows. The
// result of any sequence of updates depends on their sum only.
type Accum struct {
	Words int
	// Update adds rows to states: row i of the arguments counts diff(i) times (diffs nil: once) in the
	// group whose state is slab[groups[i]*stride+at:][:Words]. Rows with a negative group are skipped.
	Update func(slab []uint64, stride, at int, groups []int32, args []*vec.Vec, diffs []int64)
	// Result gives the value of a state. rows is the number of rows in the group. An error (overflow, say)
	// stands for the group's value.
	Result func(state []uint64, rows int64) (vec.Datum, error)
}

// Rows is a group as a Fold sees it: its rows in the aggregate's ORDER BY, ties by all bytes, each as
// often as it counts.
type Rows struct {
	Args []vec.Vec // one per argument
	N    int
}

// MFP is a map, a filter and a projection in one: the columns of the input, then those of Map, each of
// which may use all before it; rows for which all of Filter is true; of these the columns in Project.
type MFP struct {
	// Arity is the number of input columns.
	Arity   int
	Map     []Expr
	Filter  []Expr
	Project []int
}

// Identity is the MFP that changes nothing about n columns.
func Identity(n int) MFP {
	m := MFP{Arity: n, Project: make([]int, n)}
	for i := range m.Project {
		m.Project[i] = i
	}
	return m
}

// IsIdentity says whether m changes nothing.
func (m MFP) IsIdentity() bool {
	if len(m.Map) != 0 || len(m.Filter) != 0 || len(m.Project) != m.Arity {
		return false
	}
	for i, c := range m.Project {
		if c != i {
			return false
		}
	}
	return true
}

// TableFunc is one overload of a set-returning function.
type TableFunc struct {
	Name     string
	Schema   string
	OID      uint32
	Args     []types.T
	Variadic bool
	// Cols are the columns it gives; ColsOf, if set, gives them from the arguments' types.
	Cols   []types.Column
	ColsOf func(args []types.T) []types.Column
	// Strict: NULL in any argument gives no rows.
	Strict bool
	// Rows calls emit once for each row; what it passes is borrowed. emit's error ends it.
	Rows func(env Env, args []vec.Datum, emit func(row ...vec.Datum) error) error
	Doc  string
}
