package scalar

import (
	"slices"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// stepSels is how many scratch selections a step may use.
const stepSels = 2

// denseShare: a step that cannot fail is computed for all rows when at least one in this many is selected, since
// a plain loop is that much faster than one through a selection.
const denseShare = 3

// run computes the steps for the rows of sel (nil: all n). With an empty selection it does nothing, and what the
// registers hold then is never looked at.
func (p *Program) run(steps []step, sel []int32, n int) {
	if sel != nil && len(sel) == 0 {
		return
	}
	for i := range steps {
		s := &steps[i]
		p.regs[s.dst].errs.Reset()
		switch s.op {
		case opKernel:
			p.kernel(s, sel, n)
		case opRow:
			p.rows(s, sel, n)
		case opAnd:
			p.connect(s, sel, n, 0)
		case opOr:
			p.connect(s, sel, n, 1)
		case opCase:
			p.cases(s, sel, n)
		case opSelect:
			p.selects(s, sel, n)
		case opCoalesce:
			p.coalesce(s, sel, n)
		case opIsNull:
			p.isNull(s, n)
		case opIn:
			p.in(s, sel, n)
		default:
			panic("scalar: no step computes this")
		}
	}
}

// operands collects a call's arguments. Rows in which one failed are taken out of sel, and noted as failed.
func (p *Program) operands(s *step, sel []int32, n int) []int32 {
	d := &p.regs[s.dst]
	p.args = p.args[:0]
	for _, a := range s.args {
		r := &p.regs[a]
		p.args = append(p.args, &r.v)
		d.errs.mergeSel(&r.errs, sel)
	}
	if d.errs.Len() == 0 {
		return sel
	}
	p.sels[s.sel] = d.errs.without(sel, n, p.sels[s.sel])
	return p.sels[s.sel]
}

// strictValid gives the rows in which all arguments are valid, as a bitmap in dst's memory; nil if that is all
// rows. None is valid if an argument is the constant NULL.
func (p *Program) strictValid(s *step, dst *reg, n int) []byte {
	var valid []byte
	for _, a := range s.args {
		r := &p.regs[a]
		switch {
		case r.v.Valid == nil:
		case r.isConst && r.v.Kind == types.Bytes:
			dst.valid = setBits(dst.valid, n)
			clear(dst.valid)
			return dst.valid
		case valid == nil:
			dst.valid = append(dst.valid[:0], r.v.Valid[:(n+7)>>3]...)
			valid = dst.valid
		default:
			for i, b := range r.v.Valid[:len(valid)] {
				valid[i] &= b
			}
		}
	}
	if valid == nil || allSet(valid, n) {
		return nil
	}
	return valid
}

func (p *Program) kernel(s *step, sel []int32, n int) {
	sel = p.operands(s, sel, n)
	d := &p.regs[s.dst]
	var valid []byte
	if s.fn.Strict {
		valid = p.strictValid(s, d, n)
	}
	isBytes := d.buf.Kind == types.Bytes
	if valid != nil && (s.fn.CanFail || isBytes) {
		sel = validRows(valid, sel, n, p.sels[s.sel+1])
		p.sels[s.sel+1] = sel
	}
	b := &p.batch
	*b = Batch{Env: p.env, Args: p.args, Sel: sel, N: n, Out: &d.buf, Fail: p.fail, Null: p.null}
	for k, a := range s.args {
		if p.regs[a].isConst {
			b.Const |= 1 << k
		}
	}
	switch {
	case isBytes && sel == nil:
		b.Sel = everyRow[:n]
	case sel != nil && !s.fn.CanFail && !isBytes && len(sel)*denseShare >= n:
		b.Sel = nil
	}
	size(&d.buf, n)
	p.failed.Reset()
	p.nulls = p.nulls[:0]
	if b.Sel == nil || len(b.Sel) > 0 {
		s.fn.Kernel(b)
	}
	if isBytes {
		b.Begin(n)
		p.overflow = p.overflow || len(d.buf.Data) > chunkBytes
	} else if valid != nil {
		zeroNulls(&d.buf, valid)
	}
	if p.failed.Len() > 0 {
		p.failed.sort()
		d.errs.merge(&p.failed, false)
	}
	d.buf.Len, d.buf.Valid = n, valid
	for _, i := range p.nulls {
		d.setNull(i, n)
		if !isBytes {
			put(&d.buf, i, vec.Null)
		}
	}
	d.v = d.buf
}

// none is the selection of no rows, in dst's memory; never nil, which would be all.
func none(dst []int32) []int32 {
	if dst == nil {
		return []int32{}
	}
	return dst[:0]
}

// everyRow is the selection of all rows of a chunk.
var everyRow = func() []int32 {
	all := make([]int32, chunkRows)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}()

// rows computes a function that takes one row at a time.
func (p *Program) rows(s *step, sel []int32, n int) {
	sel = p.operands(s, sel, n)
	d := &p.regs[s.dst]
	var valid []byte
	if s.fn.Strict {
		if valid = p.strictValid(s, d, n); valid != nil {
			sel = validRows(valid, sel, n, p.sels[s.sel+1])
			p.sels[s.sel+1] = sel
		}
	}
	if sel == nil {
		sel = everyRow[:n]
	}
	size(&d.buf, n)
	d.buf.Valid = valid
	p.failed.Reset()
	for at, i := range sel {
		p.row = p.row[:0]
		for _, a := range s.args {
			p.row = append(p.row, p.regs[a].datum(int(i)))
		}
		v, err := s.fn.Row(p.env, p.row)
		switch {
		case err != nil:
			p.failed.add(i, pgerr.From(err))
			v = vec.Null
		case v.IsNull():
			d.setNull(i, n)
		}
		put(&d.buf, i, v)
		if len(d.buf.Data) > chunkBytes && at+1 < len(sel) {
			p.overflow = true
			break
		}
	}
	if d.buf.Kind == types.Bytes {
		(&Batch{Out: &d.buf}).Begin(n)
	} else if valid != nil {
		zeroNulls(&d.buf, valid)
	}
	d.errs.merge(&p.failed, false)
	d.buf.Len = n
	d.v = d.buf
}

// setNull notes that row i of a register under construction is NULL.
func (r *reg) setNull(i int32, n int) {
	if r.buf.Valid == nil {
		r.valid = setBits(r.valid, n)
		r.buf.Valid = r.valid
	}
	r.buf.Valid[i>>3] &^= 1 << (i & 7)
}

// put writes v, or the zero value for NULL, to row i; rows of kind Bytes come in order.
func put(buf *vec.Vec, i int32, v vec.Datum) {
	switch buf.Kind {
	case types.Bool:
		buf.Bools[i] = byte(b2i(v.Bool()))
	case types.Int:
		buf.Ints[i] = v.Int()
	case types.Float:
		buf.Floats[i] = v.Float()
	case types.Bytes:
		b := Batch{Out: buf}
		b.Begin(int(i))
		buf.Data = append(buf.Data, v.Str()...)
		b.End()
	}
}

// size makes room for n values: there, but not cleared, for fixed sizes; empty for Bytes.
func size(v *vec.Vec, n int) {
	v.Len, v.Valid = n, nil
	switch v.Kind {
	case types.Bool:
		v.Bools = grown(v.Bools, n)
	case types.Int:
		v.Ints = grown(v.Ints, n)
	case types.Float:
		v.Floats = grown(v.Floats, n)
	case types.Bytes:
		v.Offs, v.Data = v.Offs[:0], v.Data[:0]
	}
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		// A whole chunk at once, so that the next block costs nothing; less for programs that see single rows.
		return make([]T, n, max(n, min(2*n, chunkRows)))
	}
	return s[:n]
}

// setBits makes a bitmap of n set bits in dst's memory.
func setBits(dst []byte, n int) []byte {
	dst = slices.Grow(dst[:0], (n+7)>>3)[:(n+7)>>3]
	for i := range dst {
		dst[i] = 0xff
	}
	return dst
}

// allSet says whether the first n bits are set.
func allSet(valid []byte, n int) bool {
	for _, b := range valid[:n>>3] {
		if b != 0xff {
			return false
		}
	}
	rest := byte(1<<(n&7) - 1)
	return rest == 0 || valid[n>>3]&rest == rest
}

// validRows gives the rows of sel (nil: all n) whose bit is set, in dst's memory.
func validRows(valid []byte, sel []int32, n int, dst []int32) []int32 {
	if sel == nil {
		sel = everyRow[:n]
	}
	dst = slices.Grow(none(dst), len(sel))[:len(sel)]
	k := 0
	for _, i := range sel {
		dst[k] = i
		k += int(valid[i>>3] >> (i & 7) & 1)
	}
	return dst[:k]
}

// zeroNulls writes zeros where a value of fixed size is NULL (promise V1 of vectors).
func zeroNulls(v *vec.Vec, valid []byte) {
	for at, bits := range valid {
		if bits == 0xff {
			continue
		}
		end := min(8*at+8, v.Len)
		for i := 8 * at; i < end; i++ {
			if bits>>(i&7)&1 != 0 {
				continue
			}
			switch v.Kind {
			case types.Bool:
				v.Bools[i] = 0
			case types.Int:
				v.Ints[i] = 0
			case types.Float:
				v.Floats[i] = 0
			}
		}
	}
}
