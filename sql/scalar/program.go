package scalar

import (
	"math"
	"slices"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

const (
	// chunkRows is how many rows go through the steps at a time: few enough that a handful of registers (8 KB
	// each) stay in the first-level cache, many enough that a step's fixed cost does not show. It is a
	// multiple of 8, so that a chunk's null bitmap begins on a byte.
	chunkRows = 1024
	// chunkBytes is how much data one register may hold before the chunk is tried again with half the rows. It
	// bounds a program's memory, and keeps offsets, which are 32 bits, from overflowing.
	chunkBytes = 64 << 20
)

// Program is a compiled MFP with its memory. It belongs to one goroutine; Clone makes another.
type Program struct {
	*code
	env  Env
	regs []reg
	sels [][]int32
	args []*vec.Vec
	row  []vec.Datum
	// batch is the call of the kernel that is running: here, since what is passed through a pointer to a function
	// lies on the heap.
	batch Batch
	// failed and nulls take the rows that the kernel which is running fails or makes NULL; fail and null are what
	// it calls.
	failed Errors
	fail   func(i int, err *pgerr.Error)
	nulls  []int32
	null   func(i int)
	// overflow is set when a register outgrew chunkBytes.
	overflow bool
	// states are, for each row of the chunk, how the conjuncts so far left it; failures why rows failed.
	states   []uint8
	failures Errors
	narrow   [2][]int32
}

// reg is a register: one column of a chunk.
type reg struct {
	v     vec.Vec // what readers see: buf, another register's memory, or the input's
	buf   vec.Vec
	valid []byte // memory for buf's bitmap
	errs  Errors // rows without a value
	// isConst: every row has value; v has it once if it is Bytes, else chunkRows times.
	isConst bool
	value   vec.Datum
}

// datum is the value of row i, borrowed.
func (r *reg) datum(i int) vec.Datum {
	if r.isConst {
		return r.value
	}
	return r.v.Datum(i)
}

func newProgram(c *code, env Env) *Program {
	p := &Program{code: c, env: env, regs: make([]reg, len(c.kinds)), sels: make([][]int32, c.sels)}
	for i, k := range c.kinds {
		p.regs[i].buf.Kind = k
	}
	for _, k := range c.consts {
		r := &p.regs[k.reg]
		r.isConst, r.value = true, k.value.Clone()
		n := chunkRows
		if k.kind == types.Bytes {
			n = 1
		}
		r.buf = vec.Repeat(r.value, k.kind, n)
		r.v = r.buf
	}
	p.fail = func(i int, err *pgerr.Error) { p.failed.add(int32(i), err) }
	p.null = func(i int) { p.nulls = append(p.nulls, int32(i)) }
	return p
}

// Clone makes a Program of the same code with memory of its own.
func (p *Program) Clone() *Program { return newProgram(p.code, p.env) }

// Columns gives the input columns that the program's output consists of, if it does nothing but pick columns;
// else false. Whoever can pass columns along by reference need not call Apply then.
func (p *Program) Columns() ([]int, bool) { return p.plain, p.plain != nil }

// Apply appends the rows of in that survive to out, projected, with their diffs and times, and to errs the rows
// that fail. Both out and errs may hold rows already; out has times if in has, unless it is empty.
func (p *Program) Apply(in, out *vec.Block, errs *Errors) {
	if p.plain != nil {
		for i, c := range p.plain {
			out.Cols[i].AppendRange(&in.Cols[c], 0, in.Len)
		}
		out.AppendCounts(in, 0, in.Len)
		return
	}
	for from := 0; from < in.Len; {
		n := min(chunkRows, in.Len-from)
		for {
			p.overflow = false
			sel := p.compute(in, from, n)
			if !p.overflow || n == 1 {
				p.emit(in, out, errs, from, n, sel)
				break
			}
			// Nothing was given out yet. Bitmaps go by bytes, so 8 rows is the least but one; the odd row
			// out is reached from a multiple of 8 and is dealt with by bind.
			n = max(n/2, 1)
		}
		from += n
	}
}

// compute runs all steps on rows [from, from+n) and gives the survivors, nil for all; p.failures has those that
// failed.
func (p *Program) compute(in *vec.Block, from, n int) []int32 {
	for _, b := range p.cols {
		bind(&p.regs[b.reg], &in.Cols[b.col], from, n)
	}
	for _, k := range p.consts {
		if v := &p.regs[k.reg].v; v.Kind != types.Bytes {
			trim(v, &p.regs[k.reg].buf, n)
		}
	}
	p.failures.Reset()
	sel := p.filter(n)
	if sel != nil && len(sel) == 0 {
		return sel
	}
	p.run(p.maps, sel, n)
	var mine Errors
	for _, r := range p.project {
		if e := &p.regs[r].errs; e.Len() > 0 {
			var some Errors
			some.mergeSel(e, sel)
			mine.merge(&some, true)
		}
	}
	if mine.Len() > 0 {
		sel = mine.without(sel, n, nil)
		p.failures.merge(&mine, true)
	}
	return sel
}

// emit gives out what compute computed.
func (p *Program) emit(in, out *vec.Block, errs *Errors, from, n int, sel []int32) {
	for i, row := range p.failures.Rows {
		errs.add(row+int32(from), p.failures.Errs[i])
	}
	if !p.room(out) {
		p.refuse(errs, from, n, sel)
		return
	}
	for i, r := range p.project {
		appendRows(&out.Cols[i], &p.regs[r], sel, n)
	}
	if sel == nil {
		out.AppendCounts(in, from, from+n)
		return
	}
	p.narrow[0] = slices.Grow(p.narrow[0][:0], len(sel))
	abs := p.narrow[0][:len(sel)]
	for i, row := range sel {
		abs[i] = row + int32(from)
	}
	out.AppendCountsSel(in, abs)
}

// room says whether out can take this chunk: offsets have 32 bits.
func (p *Program) room(out *vec.Block) bool {
	for i, r := range p.project {
		if reg := &p.regs[r]; reg.v.Kind == types.Bytes {
			size := len(reg.v.Data)
			if reg.isConst {
				size *= chunkRows
			}
			if len(out.Cols[i].Data)+size > math.MaxInt32 {
				return false
			}
		}
	}
	return true
}

// refuse fails the rows that out has no room for. Who calls Apply with blocks of sane size never sees it: it
// stands between a client that makes a gigabyte out of a row and the end of the process.
func (p *Program) refuse(errs *Errors, from, n int, sel []int32) {
	tooMuch := pgerr.New(pgerr.ProgramLimitExceeded, "block of rows exceeds 2 GB")
	for _, i := range p.failures.without(sel, n, nil) {
		errs.add(i+int32(from), tooMuch)
	}
	errs.sort()
}

// bind makes r show rows [from, from+n) of src.
func bind(r *reg, src *vec.Vec, from, n int) {
	v := &r.v
	v.Kind, v.Len, v.Valid = src.Kind, n, nil
	if src.Valid != nil {
		v.Valid = src.Valid[from>>3 : (from+n+7)>>3]
		if from&7 != 0 {
			v.Valid = shifted(r, src, from, n)
		}
	}
	switch src.Kind {
	case types.Bool:
		v.Bools = src.Bools[from : from+n]
	case types.Int:
		v.Ints = src.Ints[from : from+n]
	case types.Float:
		v.Floats = src.Floats[from : from+n]
	case types.Bytes:
		v.Offs, v.Data = src.Offs[from:from+n+1], src.Data
	}
}

// shifted copies a bitmap that does not begin on a byte.
func shifted(r *reg, src *vec.Vec, from, n int) []byte {
	r.valid = setBits(r.valid, n)
	for i := range n {
		if src.IsNull(from + i) {
			r.valid[i>>3] &^= 1 << (i & 7)
		}
	}
	return r.valid
}

// trim makes v the first n values of a constant.
func trim(v, buf *vec.Vec, n int) {
	v.Len = n
	switch v.Kind {
	case types.Bool:
		v.Bools = buf.Bools[:n]
	case types.Int:
		v.Ints = buf.Ints[:n]
	case types.Float:
		v.Floats = buf.Floats[:n]
	}
	if buf.Valid != nil {
		v.Valid = buf.Valid[:(n+7)>>3]
	}
}

// appendRows appends the rows of sel (nil: all n) of a register.
func appendRows(dst *vec.Vec, r *reg, sel []int32, n int) {
	switch {
	case r.isConst && r.v.Kind == types.Bytes:
		if sel != nil {
			n = len(sel)
		}
		for range n {
			dst.AppendDatum(r.value)
		}
	case sel == nil:
		dst.AppendRange(&r.v, 0, n)
	default:
		dst.AppendSel(&r.v, sel)
	}
}
