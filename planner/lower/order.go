package lower

import (
	"cmp"
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// orderer chooses in which order inputs are joined: that in which what is kept between the stages is smallest.
type orderer struct {
	ins    []logical.Node
	starts []int // of each input's columns among all, and their number
	preds  []scalar.Expr
	eqs    []equation // of each predicate; the zero equation for one that is none
	of     [][]int    // the predicates that are equations with a side of an input's own
	sizes  []size
}

// equation is a predicate a = b.
type equation struct{ a, b side }

// side is one side of an equation: its columns, and the input that has them all (-1: none).
type side struct {
	expr  scalar.Expr
	cols  []int
	input int
}

func newOrderer(ins []logical.Node, preds []scalar.Expr, sizeOf func(logical.Node) size) *orderer {
	o := &orderer{ins: ins, preds: preds, starts: make([]int, len(ins)+1), eqs: make([]equation, len(preds)),
		of: make([][]int, len(ins))}
	for i, in := range ins {
		o.starts[i+1] = o.starts[i] + logical.Arity(in)
		o.sizes = append(o.sizes, sizeOf(in))
	}
	for k, p := range preds {
		a, b, ok := logical.Equation(p)
		if !ok {
			continue
		}
		eq := equation{o.side(a), o.side(b)}
		o.eqs[k] = eq
		if eq.a.input >= 0 {
			o.of[eq.a.input] = append(o.of[eq.a.input], k)
		}
		if eq.b.input >= 0 && eq.b.input != eq.a.input {
			o.of[eq.b.input] = append(o.of[eq.b.input], k)
		}
	}
	return o
}

func (o *orderer) side(e scalar.Expr) side {
	s := side{expr: e, cols: scalar.Columns(e), input: -1}
	for i := range o.ins {
		if len(s.cols) > 0 && s.cols[0] >= o.starts[i] && s.cols[len(s.cols)-1] < o.starts[i+1] {
			s.input = i
		}
	}
	return s
}

// sides takes predicate k apart, if it is an equation between columns that are done and input i's.
func (o *orderer) sides(k, i int, done logical.Set) (outer, inner scalar.Expr, ok bool) {
	eq := &o.eqs[k]
	switch {
	case eq.b.input == i && len(eq.a.cols) > 0 && done.HasAll(eq.a.cols):
		return eq.a.expr, eq.b.expr, true
	case eq.a.input == i && len(eq.b.cols) > 0 && done.HasAll(eq.b.cols):
		return eq.b.expr, eq.a.expr, true
	}
	return nil, nil, false
}

// maxStarts bounds from how many inputs an order is tried; with more inputs the smallest are.
const maxStarts = 12

// attempt is an order of inputs, and how bad it is: cross products first, then how many rows there are between
// stages, then in how many stages several rows may match one.
type attempt struct {
	order   []int
	crosses int
	kept    float64
	many    int
}

func (a attempt) compare(b attempt) int {
	return cmp.Or(cmp.Compare(a.crosses, b.crosses), cmp.Compare(a.kept, b.kept), cmp.Compare(a.many, b.many))
}

// best gives the best of the orders that go on greedily from each start.
func (o *orderer) best() []int {
	starts := logical.Identity(len(o.ins))
	slices.SortStableFunc(starts, func(i, j int) int { return cmp.Compare(o.sizes[i].rows, o.sizes[j].rows) })
	starts = starts[:min(len(starts), maxStarts)]
	var best attempt
	for _, s := range starts {
		if a := o.from(s); best.order == nil || a.compare(best) < 0 {
			best = a
		}
	}
	return best.order
}

// from goes on greedily from input s, always to where fewest rows come out.
func (o *orderer) from(s int) attempt {
	a := attempt{order: []int{s}}
	done := logical.SetOf(logical.Range(o.starts[s], o.starts[s+1])...)
	acc := o.sizes[s]
	for len(a.order) < len(o.ins) {
		next := step{}
		for i := range o.ins {
			if slices.Contains(a.order, i) {
				continue
			}
			if st := o.step(i, done, acc); next.out.rows == 0 || st.compare(next) < 0 {
				next = st
			}
		}
		// What one stage gives is kept for the next; the last gives it away.
		if len(a.order) > 1 {
			a.kept += acc.rows
		}
		if next.cross() {
			a.crosses++
		}
		if next.many {
			a.many++
		}
		acc = next.out
		a.order = append(a.order, next.input)
		done = done.Clone()
		done.AddAll(logical.SetOf(logical.Range(o.starts[next.input], o.starts[next.input+1])...))
	}
	return a
}

// step is one more input joined.
type step struct {
	input  int
	linked bool // by an equation
	many   bool // more than one of its rows may match
	out    size
}

func (s step) cross() bool { return !s.linked && s.many }

func (s step) compare(t step) int {
	return cmp.Or(before(s.cross(), t.cross()), cmp.Compare(s.out.rows, t.out.rows), before(s.many, t.many),
		before(!s.linked, !t.linked), cmp.Compare(s.input, t.input))
}

func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (o *orderer) step(i int, done logical.Set, acc size) step {
	s := step{input: i}
	var keys []int
	for _, k := range o.of[i] {
		_, inner, ok := o.sides(k, i, done)
		if !ok {
			continue
		}
		s.linked = true
		if c, ok := inner.(*scalar.Col); ok {
			keys = append(keys, c.Index-o.starts[i])
		}
	}
	s.many = !logical.HasKey(o.ins[i].Rel(), keys)
	s.out = acc.joined(o.sizes[i], s.linked, s.many)
	return s
}
