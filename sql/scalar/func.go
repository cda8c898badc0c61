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
// Exactly one of Kernel, Row and Relabel is set once For has been applied.
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
	// CanNull: the result can be NULL though no argument is (a strict function), or at all (one that is not).
	CanNull bool
	// Relabel: the value is the argument's own, under another type: nothing is computed.
	Relabel bool
	// For, if set, gives the Func for arguments of these types (one for each argument given). The result
	// has the arguments' types in Args, does not need RetOf or For, and its OID and these types say which it is.
	For func(args []types.T) *Func
	// Kernel computes a whole vector. See Batch.
	Kernel func(b *Batch)
	// Row computes one value; its arguments are borrowed, its result may borrow from them.
	Row func(env Env, args []vec.Datum) (vec.Datum, error)
	// Prepare, if set, gives a Func that computes the same and has done ahead what the constants among the
	// arguments allow, such as compiling a pattern; nil if nothing is gained. Bit k of known is set if
	// argument k is the constant args[k], which is not NULL. What it gives is used by many goroutines.
	Prepare func(args []vec.Datum, known uint64) *Func
	// Doc is one sentence for the catalog.
	Doc string
}

// Batch is one call of a Kernel: compute Out[i] for every i in Sel (or all rows when Sel is nil). It lasts
// for the call.
type Batch struct {
	Env  Env
	Args []*vec.Vec
	// Const has bit k set if argument k has the same value in every row. If it is of kind Bytes it then has
	// that one value only, at 0; other kinds are written out N times all the same.
	Const uint64
	// Sel has the rows to compute, ascending. Rows not in it get any valid placeholder. For a strict function
	// that can fail, and for one with a Bytes result (which always gets a Sel), it has no row with a NULL
	// argument. Other strict functions are computed for such rows too, from zeros.
	Sel []int32
	// N is the number of rows in every argument and in the result.
	N int
	// Out is of the result's kind and made with N values before the call; its null bitmap is the caller's
	// business. A Bytes result is built with Begin and End instead.
	Out *vec.Vec
	// Fail notes that row i, which is in Sel, fails.
	Fail func(i int, err *pgerr.Error)
	// Null notes that row i, which is in Sel, is NULL though no argument is. A Bytes result has no value there.
	Null func(i int)
}

// Begin makes ready for row i of a Bytes result; the kernel appends to b.Out.Data, then calls End. Rows
// passed over become empty.
func (b *Batch) Begin(i int) {
	at := int32(len(b.Out.Data))
	for len(b.Out.Offs) <= i {
		b.Out.Offs = append(b.Out.Offs, at)
	}
}

// End ends the value that Begin began.
func (b *Batch) End() { b.Out.Offs = append(b.Out.Offs, int32(len(b.Out.Data))) }

// Arg is argument k of kind Bytes.
func (b *Batch) Arg(k int) Values {
	if b.Const&(1<<k) != 0 {
		return Values{b.Args[k], 0}
	}
	return Values{b.Args[k], 1}
}

// Values are the values of a Bytes argument, whether constant or not.
type Values struct {
	v    *vec.Vec
	step int
}

// At is the value in row i, borrowed.
func (a Values) At(i int) []byte {
	i *= a.step
	return a.v.Data[a.v.Offs[i]:a.v.Offs[i+1]]
}

// Agg is one overload of an aggregate function. Exactly one of Accum, Order and Fold is set.
type Agg struct {
	Name   string
	Schema string
	OID    uint32
	Args   []types.T
	Ret    types.T
	RetOf  func(args []types.T) types.T
	// For is as in Func.
	For func(args []types.T) *Agg
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
	// For is as in Func.
	For func(args []types.T) *TableFunc
	// Strict: NULL in any argument gives no rows.
	Strict bool
	// Rows calls emit once for each row; what it passes is borrowed. emit's error ends it.
	Rows func(env Env, args []vec.Datum, emit func(row ...vec.Datum) error) error
	Doc  string
}
