package op

import (
	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// MFP maps, filters and projects.
type MFP struct {
	prog *scalar.Program
	errs scalar.Errors
}

// NewMFP makes one goroutine's instance of a compiled program, which must be its own.
func NewMFP(prog *scalar.Program) *MFP { return &MFP{prog: prog} }

// Apply is dataflow.Transform's.
func (m *MFP) Apply(lane *dataflow.Lane, in, out *vec.Block) {
	m.prog.Apply(in, out, &m.errs)
	if m.errs.Len() == 0 {
		return
	}
	for k, i := range m.errs.Rows {
		lane.Fail(m.errs.Errs[k], in.Diff(int(i)), timeOf(in, int(i)))
	}
	m.errs.Reset()
}

// Negate turns the sign of every row's count.
type Negate struct{}

// Apply is dataflow.Transform's.
func (Negate) Apply(_ *dataflow.Lane, in, out *vec.Block) {
	out.AppendBlock(in)
	if out.Diffs == nil {
		out.Diffs = make([]int64, out.Len)
		for i := range out.Diffs {
			out.Diffs[i] = 1
		}
	}
	for i, d := range out.Diffs {
		out.Diffs[i] = -d
	}
}

// Pass hands rows on: it is where the edges of a union meet.
type Pass struct{}

// Apply is dataflow.Transform's.
func (Pass) Apply(_ *dataflow.Lane, in, out *vec.Block) { out.AppendBlock(in) }

// maxFuncRows bounds the rows that one call of a table function gives.
const maxFuncRows = 100_000_000

// TableFunc calls a table function on each row and gives the row with each of the function's.
type TableFunc struct {
	fn   *scalar.TableFunc
	args *scalar.Program // the row's columns, then the arguments
	n    int             // columns of the input
	ord  bool
	env  scalar.Env
	errs scalar.Errors
	buf  *vec.Block
	row  []vec.Datum
}

// NewTableFunc makes one goroutine's instance. args gives the input's n columns and then the function's
// arguments, of the given kinds all together; it must be its own.
func NewTableFunc(fn *scalar.TableFunc, args *scalar.Program, kinds []types.Kind, n int, ordinality bool, env scalar.Env) *TableFunc {
	return &TableFunc{fn: fn, args: args, n: n, ord: ordinality, env: env, buf: vec.NewBlock(kinds, 0)}
}

// Apply is dataflow.Transform's. A call that fails may have given rows before it did: they are the same
// when the failing row is taken back, and go with it.
func (t *TableFunc) Apply(lane *dataflow.Lane, in, out *vec.Block) {
	t.buf.Reset()
	t.args.Apply(in, t.buf, &t.errs)
	for k, i := range t.errs.Rows {
		lane.Fail(t.errs.Errs[k], in.Diff(int(i)), timeOf(in, int(i)))
	}
	t.errs.Reset()
	for i := range t.buf.Len {
		if err := t.call(lane, i, out); err != nil {
			lane.Fail(err, t.buf.Diff(i), timeOf(t.buf, i))
		}
	}
}

// call appends what the function gives for row i of buf, sending it on whenever it is a round's worth.
func (t *TableFunc) call(lane *dataflow.Lane, i int, out *vec.Block) error {
	t.row = t.buf.Row(i, t.row)
	args := t.row[t.n:]
	if t.fn.Strict {
		for _, a := range args {
			if a.IsNull() {
				return nil
			}
		}
	}
	count := int64(0)
	return t.fn.Rows(t.env, args, func(row ...vec.Datum) error {
		if count == maxFuncRows {
			return pgerr.Newf(pgerr.ProgramLimitExceeded, "%s gives more than %d rows", t.fn.Name, maxFuncRows)
		}
		count++
		for c := range t.n {
			out.Cols[c].AppendFrom(&t.buf.Cols[c], i)
		}
		for c, d := range row {
			out.Cols[t.n+c].AppendDatum(d)
		}
		if t.ord {
			out.Cols[t.n+len(row)].AppendInt(count)
		}
		if t.buf.Times != nil {
			out.Times = append(out.Times, t.buf.Times[i])
		}
		pushDiff(out, t.buf.Diff(i))
		if out.Len >= dataflow.RoundRows {
			return lane.Flush(out)
		}
		return nil
	})
}
