package scalar

import (
	"slices"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// How the conjuncts so far left a row; rows for which one was false are not in the selection any more.
const (
	rowTrue uint8 = iota
	rowNull
	rowFailed
)

// filter gives the rows for which all conjuncts are true, nil for all; p.failures has those that failed.
func (p *Program) filter(n int) []int32 {
	var sel []int32
	if k := len(p.filters); k == 0 || !p.filters[k-1].canFail {
		for i := range p.filters {
			f := &p.filters[i]
			p.run(f.steps, sel, n)
			p.narrow[i&1] = trueRows(p.regs[f.result].v.Bools, sel, n, p.narrow[i&1])
			if sel = p.narrow[i&1]; len(sel) == 0 {
				return sel
			}
		}
		return all(sel, n)
	}
	p.states = grown(p.states, n)
	clear(p.states)
	for i := range p.filters {
		f := &p.filters[i]
		p.run(f.steps, sel, n)
		p.narrow[i&1] = p.undecided(&p.regs[f.result], sel, n, p.narrow[i&1])
		if sel = p.narrow[i&1]; len(sel) == 0 {
			p.failures.Reset()
			return sel
		}
	}
	return p.settle(sel, n)
}

// all gives nil for a selection of everything, which later steps then do with plain loops.
func all(sel []int32, n int) []int32 {
	if len(sel) == n {
		return nil
	}
	return sel
}

// trueRows gives the rows of sel (nil: all n) that are true, in dst's memory. NULL is 0 here.
func trueRows(bools []byte, sel []int32, n int, dst []int32) []int32 {
	if sel == nil {
		dst = slices.Grow(dst[:0], n)[:n]
		k := 0
		for i, b := range bools[:n] {
			dst[k] = int32(i)
			k += int(b)
		}
		return dst[:k]
	}
	dst = slices.Grow(dst[:0], len(sel))[:len(sel)]
	k := 0
	for _, i := range sel {
		dst[k] = i
		k += int(bools[i])
	}
	return dst[:k]
}

// undecided gives the rows of sel for which the conjunct in r is not false, in dst's memory, and notes those for
// which it is NULL or failed: another conjunct may still be false for them.
func (p *Program) undecided(r *reg, sel []int32, n int, dst []int32) []int32 {
	if r.v.Valid == nil && r.errs.Len() == 0 {
		return trueRows(r.v.Bools, sel, n, dst)
	}
	if sel == nil {
		sel = everyRow[:n]
	}
	dst = none(dst)
	at := 0
	for _, i := range sel {
		for at < r.errs.Len() && r.errs.Rows[at] < i {
			at++
		}
		switch {
		case at < r.errs.Len() && r.errs.Rows[at] == i:
			p.states[i] = rowFailed
		case r.v.IsNull(int(i)):
			p.states[i] = max(p.states[i], rowNull)
		case r.v.Bools[i] == 0:
			continue
		}
		dst = append(dst, i)
	}
	p.failures.merge(&r.errs, true)
	return dst
}

// settle gives the rows of sel for which every conjunct was true, and keeps of p.failures those that no conjunct
// turned away.
func (p *Program) settle(sel []int32, n int) []int32 {
	kept := sel[:0]
	var failed []int32
	for _, i := range sel {
		switch p.states[i] {
		case rowTrue:
			kept = append(kept, i)
		case rowFailed:
			failed = append(failed, i)
		}
	}
	if p.failures.Len() > 0 {
		var mine Errors
		if len(failed) > 0 {
			mine.mergeSel(&p.failures, failed)
		}
		p.failures.Reset()
		p.failures.merge(&mine, false)
	}
	return all(kept, n)
}

// connect computes an And (decided is 0) or an Or (decided is 1): the value that decides, if an argument has it.
func (p *Program) connect(s *step, sel []int32, n int, decided byte) {
	d := &p.regs[s.dst]
	first := &p.regs[s.args[0]]
	size(&d.buf, n)
	copy(d.buf.Bools, first.v.Bools[:n])
	if first.v.Valid != nil {
		d.valid = append(d.valid[:0], first.v.Valid[:(n+7)>>3]...)
		d.buf.Valid = d.valid
	}
	d.errs.mergeSel(&first.errs, sel)
	for _, a := range s.args[1:] {
		p.combine(d, &p.regs[a], sel, n, decided)
	}
	for i := range s.blocks {
		open := p.open(d, sel, n, decided, p.sels[s.sel])
		p.sels[s.sel] = open
		if len(open) == 0 {
			break
		}
		p.run(s.blocks[i].steps, open, n)
		p.combine(d, &p.regs[s.blocks[i].result], open, n, decided)
	}
	d.v = d.buf
}

// open gives the rows of sel that d does not decide yet, in dst's memory.
func (p *Program) open(d *reg, sel []int32, n int, decided byte, dst []int32) []int32 {
	if sel == nil {
		sel = everyRow[:n]
	}
	dst = none(dst)
	at := 0
	for _, i := range sel {
		for at < d.errs.Len() && d.errs.Rows[at] < i {
			at++
		}
		failed := at < d.errs.Len() && d.errs.Rows[at] == i
		if failed || d.buf.Bools[i] != decided || d.buf.IsNull(int(i)) {
			dst = append(dst, i)
		}
	}
	return dst
}

// combine joins one more argument to d for the rows of sel.
func (p *Program) combine(d, a *reg, sel []int32, n int, decided byte) {
	x, y := d.buf.Bools, a.v.Bools[:n]
	if d.buf.Valid == nil && a.v.Valid == nil && d.errs.Len() == 0 && a.errs.Len() == 0 {
		switch {
		case sel != nil && decided == 0:
			for _, i := range sel {
				x[i] &= y[i]
			}
		case sel != nil:
			for _, i := range sel {
				x[i] |= y[i]
			}
		case decided == 0:
			for i, b := range y {
				x[i] &= b
			}
		default:
			for i, b := range y {
				x[i] |= b
			}
		}
		return
	}
	if sel == nil {
		sel = everyRow[:n]
	}
	var failed Errors
	di, ai := 0, 0
	for _, i := range sel {
		di, ai = skip(&d.errs, di, i), skip(&a.errs, ai, i)
		dErr, aErr := failedAt(&d.errs, di, i), failedAt(&a.errs, ai, i)
		dNull, aNull := d.buf.IsNull(int(i)), a.v.IsNull(int(i))
		switch {
		case !dErr && !dNull && x[i] == decided:
		case !aErr && !aNull && y[i] == decided:
			x[i] = decided
			d.setValid(i)
		case dErr && aErr && Less(a.errs.Errs[ai], d.errs.Errs[di]):
			failed.add(i, a.errs.Errs[ai])
		case dErr:
			failed.add(i, d.errs.Errs[di])
		case aErr:
			failed.add(i, a.errs.Errs[ai])
		case dNull || aNull:
			x[i] = 0
			d.setNull(i, n)
		default:
			x[i] = 1 - decided
		}
	}
	p.replaceErrs(d, &failed, sel)
}

// replaceErrs makes failed the failures of d for the rows of sel.
func (p *Program) replaceErrs(d *reg, failed *Errors, sel []int32) {
	var rest Errors
	for k, row := range d.errs.Rows {
		if _, in := slices.BinarySearch(sel, row); !in {
			rest.add(row, d.errs.Errs[k])
		}
	}
	d.errs.Reset()
	d.errs.merge(&rest, false)
	d.errs.merge(failed, false)
}

// skip moves a position in e to the first row not before i.
func skip(e *Errors, at int, i int32) int {
	for at < len(e.Rows) && e.Rows[at] < i {
		at++
	}
	return at
}

func failedAt(e *Errors, at int, i int32) bool { return at < len(e.Rows) && e.Rows[at] == i }

// setValid notes that row i of a register under construction is not NULL.
func (r *reg) setValid(i int32) {
	if r.buf.Valid != nil {
		r.buf.Valid[i>>3] |= 1 << (i & 7)
	}
}

// cases computes a Case branch by branch, each for the rows that take it.
func (p *Program) cases(s *step, sel []int32, n int) {
	d := &p.regs[s.dst]
	size(&d.buf, n)
	picks := p.picks(d, n)
	cond := &p.regs[s.args[0]]
	rest := sel
	at := 0
	for {
		// Two selections of this step take turns: taken is used up before the next is made.
		taken := p.split(d, cond, &rest, n, s)
		p.run(s.blocks[at].steps, taken, n)
		p.take(d, s.blocks[at].result, taken, picks, n)
		if at++; rest != nil && len(rest) == 0 {
			break
		}
		if at == len(s.blocks)-1 {
			p.run(s.blocks[at].steps, rest, n)
			p.take(d, s.blocks[at].result, rest, picks, n)
			break
		}
		p.run(s.blocks[at].steps, rest, n)
		cond = &p.regs[s.blocks[at].result]
		at++
	}
	p.gather(d, picks, n)
	d.v = d.buf
}

// split divides rest: it gives the rows for which cond is true and leaves those for which it is false or NULL.
// Rows for which it failed have failed.
func (p *Program) split(d, cond *reg, rest *[]int32, n int, s *step) []int32 {
	d.errs.mergeSel(&cond.errs, *rest)
	from := *rest
	if from == nil {
		from = everyRow[:n]
	}
	taken := slices.Grow(none(p.sels[s.sel]), len(from))[:len(from)]
	left := p.sels[s.sel+1]
	if cap(left) < len(from) {
		left = make([]int32, len(from))
	}
	// left may be from's own memory: it is written behind where from is read.
	left = left[:len(from)]
	t, l, at := 0, 0, 0
	for _, i := range from {
		if cond.errs.Len() > 0 {
			if at = skip(&cond.errs, at, i); failedAt(&cond.errs, at, i) {
				continue
			}
		}
		taken[t], left[l] = i, i
		b := int(cond.v.Bools[i])
		t, l = t+b, l+1-b
	}
	p.sels[s.sel], p.sels[s.sel+1] = taken, left
	*rest = left[:l]
	return taken[:t]
}

// picks is, for a Bytes result, room for each row's register; -1 where there is none.
func (p *Program) picks(d *reg, n int) []int64 {
	if d.buf.Kind != types.Bytes {
		return nil
	}
	d.buf.Ints = grown(d.buf.Ints, n)
	for i := range d.buf.Ints {
		d.buf.Ints[i] = -1
	}
	return d.buf.Ints
}

// take gives d the values of register r for the rows of sel (nil: all n).
func (p *Program) take(d *reg, r int32, sel []int32, picks []int64, n int) {
	src := &p.regs[r]
	if sel == nil {
		sel = everyRow[:n]
	}
	if len(sel) == 0 {
		return
	}
	d.errs.mergeSel(&src.errs, sel)
	switch d.buf.Kind {
	case types.Bool:
		for _, i := range sel {
			d.buf.Bools[i] = src.v.Bools[i]
		}
	case types.Int:
		for _, i := range sel {
			d.buf.Ints[i] = src.v.Ints[i]
		}
	case types.Float:
		for _, i := range sel {
			d.buf.Floats[i] = src.v.Floats[i]
		}
	case types.Bytes:
		for _, i := range sel {
			picks[i] = int64(r)
		}
	}
	if src.v.Valid == nil {
		return
	}
	for _, i := range sel {
		if src.isConst || src.v.IsNull(int(i)) {
			d.setNull(i, n)
		}
	}
}

// gather writes a Bytes result from the registers picked.
func (p *Program) gather(d *reg, picks []int64, n int) {
	if picks == nil {
		return
	}
	b := Batch{Out: &d.buf}
	for i, r := range picks {
		if r < 0 || d.buf.IsNull(i) {
			continue
		}
		src := &p.regs[r]
		b.Begin(i)
		if src.isConst {
			d.buf.Data = append(d.buf.Data, src.value.Str()...)
		} else {
			d.buf.Data = append(d.buf.Data, src.v.Bytes(i)...)
		}
		b.End()
		if len(d.buf.Data) > chunkBytes && i+1 < n {
			p.overflow = true
			break
		}
	}
	b.Begin(n)
}

// selects computes a Case whose both sides have been computed for all rows and have not failed.
func (p *Program) selects(s *step, sel []int32, n int) {
	d, cond := &p.regs[s.dst], &p.regs[s.args[0]]
	yes, no := &p.regs[s.args[1]].v, &p.regs[s.args[2]].v
	d.errs.mergeSel(&cond.errs, sel)
	size(&d.buf, n)
	c := cond.v.Bools[:n]
	switch d.buf.Kind {
	case types.Bool:
		blend(d.buf.Bools, c, yes.Bools[:n], no.Bools[:n])
	case types.Int:
		blend(d.buf.Ints, c, yes.Ints[:n], no.Ints[:n])
	case types.Float:
		blend(d.buf.Floats, c, yes.Floats[:n], no.Floats[:n])
	}
	if yes.Valid != nil || no.Valid != nil {
		for i, b := range c {
			if b != 0 && yes.IsNull(i) || b == 0 && no.IsNull(i) {
				d.setNull(int32(i), n)
			}
		}
	}
	d.v = d.buf
}

func blend[T byte | int64 | float64](dst []T, cond []byte, yes, no []T) {
	for i, b := range cond {
		x := no[i]
		if b != 0 {
			x = yes[i]
		}
		dst[i] = x
	}
}

// coalesce computes each argument for the rows in which all before it were NULL.
func (p *Program) coalesce(s *step, sel []int32, n int) {
	d, first := &p.regs[s.dst], &p.regs[s.args[0]]
	if first.v.Valid == nil && !first.isConst {
		d.v = first.v
		d.errs.mergeSel(&first.errs, sel)
		return
	}
	size(&d.buf, n)
	picks := p.picks(d, n)
	p.take(d, s.args[0], sel, picks, n)
	for i := range s.blocks {
		rest := p.nullRows(d, sel, n, p.sels[s.sel])
		p.sels[s.sel] = rest
		if len(rest) == 0 {
			break
		}
		for _, row := range rest {
			d.setValid(row)
		}
		p.run(s.blocks[i].steps, rest, n)
		p.take(d, s.blocks[i].result, rest, picks, n)
	}
	p.gather(d, picks, n)
	d.v = d.buf
}

// nullRows gives the rows of sel (nil: all n) for which d is NULL and has not failed, in dst's memory.
func (p *Program) nullRows(d *reg, sel []int32, n int, dst []int32) []int32 {
	dst = none(dst)
	if d.buf.Valid == nil {
		return dst
	}
	if sel == nil {
		sel = everyRow[:n]
	}
	at := 0
	for _, i := range sel {
		if !d.buf.IsNull(int(i)) {
			continue
		}
		if at = skip(&d.errs, at, i); !failedAt(&d.errs, at, i) {
			dst = append(dst, i)
		}
	}
	return dst
}

func (p *Program) isNull(s *step, n int) {
	d, a := &p.regs[s.dst], &p.regs[s.args[0]]
	d.errs.mergeSel(&a.errs, nil)
	size(&d.buf, n)
	switch {
	case a.v.Valid == nil:
		clear(d.buf.Bools)
	case a.isConst:
		fill(d.buf.Bools, 1)
	default:
		nullBytes(d.buf.Bools, a.v.Valid)
	}
	d.v = d.buf
}

func fill(b []byte, x byte) {
	for i := range b {
		b[i] = x
	}
}

// nullBytes writes 1 for each bit that is not set.
func nullBytes(dst, valid []byte) {
	for i := range dst {
		dst[i] = 1 &^ (valid[i>>3] >> (i & 7))
	}
}

func (p *Program) in(s *step, sel []int32, n int) {
	sel = p.operands(s, sel, n)
	d, a := &p.regs[s.dst], &p.regs[s.args[0]]
	size(&d.buf, n)
	if a.isConst {
		p.inConst(s, d, a.value, n)
		return
	}
	if sel == nil || len(sel)*denseShare >= n {
		sel = nil
	}
	s.set.lookup(&a.v, sel, d.buf.Bools)
	d.buf.Valid = p.strictValid(s, d, n)
	if s.set.hasNull {
		// A miss is NULL.
		for i, hit := range d.buf.Bools {
			if hit == 0 {
				d.setNull(int32(i), n)
			}
		}
	}
	if d.buf.Valid != nil {
		zeroNulls(&d.buf, d.buf.Valid)
	}
	d.v = d.buf
}

func (p *Program) inConst(s *step, d *reg, value vec.Datum, n int) {
	hit := !value.IsNull() && s.set.hasDatum(value)
	fill(d.buf.Bools, byte(b2i(hit)))
	if !hit && (value.IsNull() || s.set.hasNull) {
		d.valid = setBits(d.valid, n)
		clear(d.valid)
		d.buf.Valid = d.valid
	}
	d.v = d.buf
}
