package scalar

import (
	"maps"
	"slices"

	"github.com/tributary-db/tributary/sql/types"
)

// code is what a Program does, without its memory. It is immutable and shared by clones.
type code struct {
	arity int
	// cols and consts are the registers that hold input columns and constants.
	cols   []binding
	consts []constant
	// filters are the conjuncts in order of evaluation: those that cannot fail first.
	filters []stage
	// maps computes what project needs and the filters did not.
	maps    []step
	project []int32
	// plain is set if the program only picks columns: those.
	plain []int
	kinds []types.Kind // of the registers
	sels  int          // scratch selections
}

type binding struct {
	reg int32
	col int
}

type constant struct {
	reg int32
	*term
}

// stage is one conjunct of the filter.
type stage struct {
	block
	canFail bool
}

// block is steps for one selection, and the register that has their result.
type block struct {
	steps  []step
	result int32
}

// step computes one register from others.
type step struct {
	op   op
	dst  int32
	args []int32
	fn   *Func
	set  *set
	// blocks compute the arguments that only some rows need, beginning with that after the last of args.
	blocks []block
	// sel is the first of the step's scratch selections.
	sel int
}

// scope knows what was computed for the present selection or one that contains it.
type scope struct {
	outer *scope
	regs  map[int32]int32 // by term
}

func (s *scope) find(t int32) (int32, bool) {
	for ; s != nil; s = s.outer {
		if r, ok := s.regs[t]; ok {
			return r, true
		}
	}
	return 0, false
}

// compiler turns terms into steps. Every register is written by one step only, and a step whose selection is
// narrower never writes what one with a wider selection reads; so no result is overwritten before its last use.
type compiler struct {
	*terms
	code
	top scope // columns and constants
}

// Compile makes the program of m for rows of the given types. Map columns that neither the filter nor the
// projection uses are not computed, and so do not fail.
func Compile(m MFP, in []types.T, env Env) (*Program, error) {
	c := &compiler{terms: newTerms(in, m.Map), top: scope{regs: map[int32]int32{}}}
	c.arity = m.Arity
	filters, err := c.filterTerms(m.Filter)
	if err != nil {
		return nil, err
	}
	project := make([]int32, len(m.Project))
	for i, col := range m.Project {
		if project[i], err = c.projected(col); err != nil {
			return nil, err
		}
	}
	c.leaves()
	// One scope for all: what comes later is computed for fewer rows, and finds what was computed before.
	at := &scope{outer: &c.top, regs: map[int32]int32{}}
	for _, t := range filters {
		c.filters = append(c.filters, stage{block: c.block(at, t), canFail: c.all[t].canFail})
	}
	c.code.maps = c.emit(at, project)
	c.project = make([]int32, len(project))
	for i, t := range project {
		c.project[i], _ = at.find(t)
	}
	c.plain = c.plainColumns()
	code := c.code
	return newProgram(&code, env), nil
}

// filterTerms gives the terms of the filter's conjuncts, in the order in which they are best tried.
func (c *compiler) filterTerms(filter []Expr) ([]int32, error) {
	var ts []int32
	seen := map[int32]bool{}
	for _, e := range Conjuncts(filter...) {
		t, err := c.of(e)
		if err != nil {
			return nil, err
		}
		if !seen[t] {
			seen[t] = true
			ts = append(ts, t)
		}
	}
	c.order(ts)
	return ts, nil
}

func (c *compiler) projected(col int) (int32, error) {
	if col >= c.arity {
		return c.column(&Col{Index: col})
	}
	return c.column(&Col{Index: col, T: c.in[col]})
}

// plainColumns gives the columns that a program without steps picks; nil if there are steps or constants.
func (c *compiler) plainColumns() []int {
	if len(c.filters) > 0 || len(c.code.maps) > 0 {
		return nil
	}
	cols := make([]int, len(c.project))
	for i, r := range c.project {
		at := slices.IndexFunc(c.cols, func(b binding) bool { return b.reg == r })
		if at < 0 {
			return nil
		}
		cols[i] = c.cols[at].col
	}
	return cols
}

func (c *compiler) register(kind types.Kind) int32 {
	c.kinds = append(c.kinds, kind)
	return int32(len(c.kinds) - 1)
}

// leaves gives every column and constant its register.
func (c *compiler) leaves() {
	for n := range c.all {
		t := &c.all[n]
		switch t.op {
		case opCol:
			c.top.regs[int32(n)] = c.register(t.kind)
			c.cols = append(c.cols, binding{c.top.regs[int32(n)], t.col})
		case opConst:
			c.top.regs[int32(n)] = c.register(t.kind)
			c.consts = append(c.consts, constant{c.top.regs[int32(n)], t})
		}
	}
}

// block is the steps that compute one term in a scope.
func (c *compiler) block(at *scope, t int32) block {
	b := block{steps: c.emit(at, []int32{t})}
	b.result, _ = at.find(t)
	return b
}

// emit gives the steps that compute the wanted terms in a scope. All that will be computed there anyway comes
// first, arguments before what uses them, so that the branches of a Case find it.
func (c *compiler) emit(at *scope, wanted []int32) []step {
	need := map[int32]bool{}
	var mark func(t int32)
	mark = func(t int32) {
		if _, ok := at.find(t); ok || need[t] {
			return
		}
		need[t] = true
		for _, a := range c.all[t].args[:c.always(t)] {
			mark(a)
		}
	}
	for _, t := range wanted {
		mark(t)
	}
	// Terms are numbered arguments first. There may be as many blocks as terms, so each looks at its own alone.
	var steps []step
	for _, t := range slices.Sorted(maps.Keys(need)) {
		steps = append(steps, c.step(at, t))
	}
	return steps
}

// always says how many of a term's arguments are computed for all rows that the term is computed for.
func (c *compiler) always(t int32) int {
	args := c.all[t].args
	switch c.all[t].op {
	case opCase, opCoalesce:
		return 1
	case opAnd, opOr:
		n := 1
		for n < len(args) && c.all[args[n]].cost <= costCheap {
			n++
		}
		return n
	}
	return len(args)
}

// step computes a term whose arguments of the first kind have been computed.
func (c *compiler) step(at *scope, t int32) step {
	term := &c.all[t]
	s := step{op: term.op, dst: c.register(term.kind), fn: term.fn, set: term.set}
	always := c.always(t)
	for _, a := range term.args[:always] {
		r, _ := at.find(a)
		s.args = append(s.args, r)
	}
	for _, a := range term.args[always:] {
		inner := &scope{outer: at, regs: map[int32]int32{}}
		s.blocks = append(s.blocks, c.block(inner, a))
	}
	s.sel = c.sels
	c.sels += stepSels
	at.regs[t] = s.dst
	return s
}
