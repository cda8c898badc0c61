package scalar

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// op is what a term computes.
type op uint8

const (
	opCol op = iota
	opConst
	opKernel
	opRow
	opAnd
	opOr
	opCase   // args: condition, value, condition, value, …, value
	opSelect // a case of one branch, both sides of which may be computed for every row
	opCoalesce
	opIsNull
	opIn
)

// term is a distinct subexpression of a program. Terms are numbered so that a term's arguments come before it.
type term struct {
	op    op
	kind  types.Kind
	args  []int32
	col   int
	value vec.Datum
	fn    *Func
	set   *set
	// canFail says whether it or an argument fails for some row.
	canFail bool
	// cost is about how many nanoseconds a row takes, arguments included.
	cost int
}

// How many nanoseconds one step takes for a row, roughly; it only decides what is worth skipping.
const (
	costLoop = 1  // a loop over fixed-size values
	costMove = 5  // a loop over byte strings
	costCall = 60 // a function called for each row
	// costCheap: computing this for a row that does not need it is cheaper than finding out.
	costCheap = 8
)

// terms makes equal subexpressions one. A map's columns are replaced by what they compute.
type terms struct {
	in      []types.T
	maps    []Expr
	mapped  []int32 // the term of each map column; -1: not yet
	all     []term
	byKey   map[string]int32
	scratch []byte
}

func newTerms(in []types.T, maps []Expr) *terms {
	ts := &terms{in: in, maps: maps, mapped: make([]int32, len(maps)), byKey: map[string]int32{}}
	for i := range ts.mapped {
		ts.mapped[i] = -1
	}
	return ts
}

// of gives the number of the term that computes e.
func (ts *terms) of(e Expr) (int32, error) {
	switch e := e.(type) {
	case *Col:
		return ts.column(e)
	case *Const:
		return ts.intern(term{op: opConst, kind: e.T.Kind(), value: e.Value}), nil
	case *Outer:
		return 0, pgerr.New(pgerr.InternalError, "compile: a column of an outer query is left")
	case *Param:
		return 0, pgerr.Newf(pgerr.UndefinedParameter, "there is no parameter $%d", e.Index+1)
	}
	parts := Children(e)
	args := make([]int32, len(parts))
	for i, part := range parts {
		t, err := ts.of(part)
		if err != nil {
			return 0, err
		}
		args[i] = t
	}
	switch e := e.(type) {
	case *Call:
		return ts.call(e, args)
	case *And:
		return ts.connective(opAnd, args), nil
	case *Or:
		return ts.connective(opOr, args), nil
	case *Case:
		return ts.cases(e.T.Kind(), args), nil
	case *Coalesce:
		return ts.intern(term{op: opCoalesce, kind: e.T.Kind(), args: args}), nil
	case *IsNull:
		return ts.intern(term{op: opIsNull, kind: types.Bool, args: args}), nil
	case *In:
		return ts.intern(term{op: opIn, kind: types.Bool, args: args, set: newSet(e)}), nil
	}
	panic(fmt.Sprintf("scalar: unknown expression %T", e))
}

func (ts *terms) column(c *Col) (int32, error) {
	arity := len(ts.in)
	if c.Index < arity {
		if got := ts.in[c.Index].Kind(); c.Index < 0 || got != c.T.Kind() {
			return 0, pgerr.Newf(pgerr.InternalError, "compile: column %d is %v, not %v", c.Index, got, c.T.Kind())
		}
		return ts.intern(term{op: opCol, kind: c.T.Kind(), col: c.Index}), nil
	}
	at := c.Index - arity
	if at >= len(ts.maps) {
		return 0, pgerr.Newf(pgerr.InternalError, "compile: there is no column %d", c.Index)
	}
	if ts.mapped[at] >= 0 {
		return ts.mapped[at], nil
	}
	t, err := ts.of(ts.maps[at])
	if err == nil {
		ts.mapped[at] = t
	}
	return t, err
}

func (ts *terms) call(e *Call, args []int32) (int32, error) {
	f := e.Func
	if err := ts.checkArgs(f, args); err != nil {
		return 0, err
	}
	if f.Prepare != nil {
		if g := ts.prepared(f, args); g != nil {
			f = g
		}
	}
	switch {
	case f.Relabel:
		return args[0], nil
	case f.Kernel != nil:
		return ts.intern(term{op: opKernel, kind: e.T.Kind(), args: args, fn: f}), nil
	case f.Row != nil:
		return ts.intern(term{op: opRow, kind: e.T.Kind(), args: args, fn: f}), nil
	}
	return 0, pgerr.Newf(pgerr.InternalError, "compile: function %s has no implementation", f.Name)
}

// prepared gives what Prepare makes of a call's constant arguments.
func (ts *terms) prepared(f *Func, args []int32) *Func {
	consts := make([]vec.Datum, len(args))
	var known uint64
	for i, a := range args {
		if t := &ts.all[a]; t.op == opConst && !t.value.IsNull() && i < 64 {
			consts[i] = t.value
			known |= 1 << i
		}
	}
	if known == 0 {
		return nil
	}
	return f.Prepare(consts, known)
}

// checkArgs refuses arguments that the function's implementation would misread.
func (ts *terms) checkArgs(f *Func, args []int32) error {
	if len(args) != len(f.Args) && !f.Variadic || len(args) < len(f.Args)-1 || len(args) > 64 && f.Kernel != nil {
		return pgerr.Newf(pgerr.InternalError, "compile: function %s called with %d arguments", f.Name, len(args))
	}
	for i, a := range args {
		want := f.Args[min(i, len(f.Args)-1)]
		if polymorphic(want.OID) {
			continue
		}
		if got := ts.all[a].kind; got != want.Kind() {
			return pgerr.Newf(pgerr.InternalError, "compile: argument %d of %s is %v, not %v", i, f.Name, got, want.Kind())
		}
	}
	return nil
}

// polymorphic says whether a parameter of this type takes arguments of several kinds.
func polymorphic(oid types.OID) bool {
	return oid == types.OIDAny || oid == types.OIDAnyElement || oid == types.OIDAnyNonArray
}

// connective makes an And or Or with its arguments in the order of evaluation: those that cannot fail first,
// since after them fewer rows are left that an error could count for; then the cheap ones.
func (ts *terms) connective(o op, args []int32) int32 {
	ts.order(args)
	return ts.intern(term{op: o, kind: types.Bool, args: args})
}

func (ts *terms) order(args []int32) {
	slices.SortStableFunc(args, func(a, b int32) int {
		x, y := &ts.all[a], &ts.all[b]
		if x.canFail != y.canFail {
			if x.canFail {
				return 1
			}
			return -1
		}
		return cmp.Compare(x.cost, y.cost)
	})
}

// cases makes a Case, by steps without branches where all values may as well be computed for every row.
func (ts *terms) cases(kind types.Kind, args []int32) int32 {
	cost := 0
	for i, a := range args {
		cost += ts.all[a].cost
		if ts.all[a].canFail && i > 0 {
			cost += costCall
		}
	}
	if kind == types.Bytes || cost > costCheap {
		return ts.intern(term{op: opCase, kind: kind, args: args})
	}
	last := args[len(args)-1]
	for i := len(args) - 3; i >= 0; i -= 2 {
		last = ts.intern(term{op: opSelect, kind: kind, args: []int32{args[i], args[i+1], last}})
	}
	return last
}

// intern gives t's number, the old one if there is an equal term.
func (ts *terms) intern(t term) int32 {
	ts.measure(&t)
	if t.fn != nil && t.fn.Volatility == Volatile {
		ts.all = append(ts.all, t)
		return int32(len(ts.all) - 1)
	}
	key := ts.key(&t)
	if n, ok := ts.byKey[string(key)]; ok {
		return n
	}
	n := int32(len(ts.all))
	ts.byKey[string(key)] = n
	ts.all = append(ts.all, t)
	return n
}

// measure fills in canFail and cost.
func (ts *terms) measure(t *term) {
	t.canFail = t.fn != nil && t.fn.CanFail
	for _, a := range t.args {
		t.canFail = t.canFail || ts.all[a].canFail
		t.cost += ts.all[a].cost
	}
	switch {
	case t.op == opCol || t.op == opConst:
	case t.op == opRow:
		t.cost += costCall
	case t.kind == types.Bytes || len(t.args) > 0 && ts.all[t.args[0]].kind == types.Bytes:
		t.cost += costMove
	default:
		t.cost += costLoop
	}
}

// key writes down what tells t from other terms.
func (ts *terms) key(t *term) []byte {
	k := append(ts.scratch[:0], byte(t.op), byte(t.kind))
	k = binary.AppendUvarint(k, uint64(t.col))
	k = binary.AppendUvarint(k, uint64(len(t.args)))
	for _, a := range t.args {
		k = binary.AppendUvarint(k, uint64(a))
	}
	if t.fn != nil {
		// The argument types tell specialised functions apart, the result's Mod casts.
		k = binary.AppendUvarint(k, uint64(t.fn.OID))
		k = appendType(k, t.fn.Ret)
		for _, a := range t.fn.Args {
			k = appendType(k, a)
		}
		k = append(k, t.fn.Name...)
	}
	if t.op == opConst {
		k = appendDatum(k, t.value)
	}
	if t.set != nil {
		k = append(k, byte(t.set.tag()))
		for _, d := range t.set.values {
			k = appendDatum(k, d)
		}
	}
	ts.scratch = k
	return k
}

func appendType(k []byte, t types.T) []byte {
	k = binary.AppendUvarint(k, uint64(t.OID))
	k = binary.AppendVarint(k, int64(t.Mod))
	if t.Record != nil {
		for _, f := range t.Record.Fields {
			k = append(k, f.Name...)
			k = appendType(append(k, 0), f.Type)
		}
	}
	return k
}

func appendDatum(k []byte, d vec.Datum) []byte {
	k = append(k, byte(d.Kind()))
	switch d.Kind() {
	case types.Bool:
		k = append(k, byte(b2i(d.Bool())))
	case types.Int:
		k = binary.AppendVarint(k, d.Int())
	case types.Float:
		k = binary.AppendUvarint(k, floatBits(d.Float()))
	case types.Bytes:
		k = binary.AppendUvarint(k, uint64(len(d.Str())))
		k = append(k, d.Str()...)
	}
	return k
}
