package lower

import (
	"cmp"
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// orderer chooses in which order inputs are joined.
type orderer struct {
	ins    []logical.Node
	starts []int // of each input's columns among all, and their number
	preds  []scalar.Expr
}

func newOrderer(ins []logical.Node, preds []scalar.Expr) *orderer {
	o := &orderer{ins: ins, preds: preds, starts: make([]int, len(ins)+1)}
	for i, in := range ins {
		o.starts[i+1] = o.starts[i] + logical.Arity(in)
	}
	return o
}

// sides takes an equation apart into an expression over done columns and one over input i's.
func (o *orderer) sides(p scalar.Expr, i int, done logical.Set) (outer, inner scalar.Expr, ok bool) {
	a, b, ok := logical.Equation(p)
	if !ok {
		return nil, nil, false
	}
	isInner := func(e scalar.Expr) bool {
		cols := logical.UsedBy(e)
		return cols.Len() > 0 && cols.Within(o.starts[i], o.starts[i+1])
	}
	isOuter := func(e scalar.Expr) bool {
		cols := scalar.Columns(e)
		return len(cols) > 0 && done.HasAll(cols)
	}
	switch {
	case isOuter(a) && isInner(b):
		return a, b, true
	case isOuter(b) && isInner(a):
		return b, a, true
	}
	return nil, nil, false
}

// cost is how bad an order is: cross products first, then joins in which many rows may match.
type cost struct{ crosses, many, start int }

func (c cost) compare(d cost) int {
	return cmp.Or(cmp.Compare(c.crosses, d.crosses), cmp.Compare(c.many, d.many), cmp.Compare(c.start, d.start))
}

// maxStarts bounds from how many inputs an order is tried; with more inputs the best start is taken.
const maxStarts = 12

// best gives the order found best, of those that go on greedily from each start.
func (o *orderer) best() []int {
	starts := logical.Identity(len(o.ins))
	slices.SortStableFunc(starts, func(i, j int) int { return cmp.Compare(o.rank(i), o.rank(j)) })
	if len(starts) > maxStarts {
		starts = starts[:1]
	}
	var order []int
	var least cost
	for at, s := range starts {
		tried, c := o.from(s)
		c.start = at
		if order == nil || c.compare(least) < 0 {
			order, least = tried, c
		}
	}
	return order
}

// rank guesses how many rows an input has: less is fewer.
func (o *orderer) rank(i int) int {
	n := o.ins[i]
	if logical.HasKey(n.Rel(), nil) {
		return -1000
	}
	r := 0
	for {
		switch x := n.(type) {
		case *logical.Filter:
			r -= len(x.Preds)
			for _, p := range x.Preds {
				if isEquation(p) {
					r -= 10
				}
			}
			n = x.Input()
			continue
		case *logical.Map:
			n = x.Input()
			continue
		case *logical.Project:
			n = x.Input()
			continue
		case *logical.Constant:
			return r - 100
		}
		return r
	}
}

func isEquation(p scalar.Expr) bool {
	if _, ok := p.(*scalar.In); ok {
		return true
	}
	_, _, ok := logical.Equation(p)
	return ok
}

// from goes on greedily from input s.
func (o *orderer) from(s int) ([]int, cost) {
	order := []int{s}
	done := logical.SetOf(logical.Range(o.starts[s], o.starts[s+1])...)
	var c cost
	for len(order) < len(o.ins) {
		best, bestScore := -1, score{}
		for i := range o.ins {
			if slices.Contains(order, i) {
				continue
			}
			if sc := o.score(i, done); best < 0 || sc.compare(bestScore) < 0 {
				best, bestScore = i, sc
			}
		}
		if !bestScore.linked && bestScore.many {
			c.crosses++
		}
		if bestScore.many {
			c.many++
		}
		order = append(order, best)
		done = done.Clone()
		done.AddAll(logical.SetOf(logical.Range(o.starts[best], o.starts[best+1])...))
	}
	return order, c
}

// score is how well an input goes on from those joined already.
type score struct {
	linked bool // by an equation
	many   bool // more than one of its rows may match
	rank   int
	input  int
}

func (s score) compare(t score) int {
	return cmp.Or(boolCompare(!s.linked && s.many, !t.linked && t.many), boolCompare(s.many, t.many),
		boolCompare(!s.linked, !t.linked), cmp.Compare(s.rank, t.rank), cmp.Compare(s.input, t.input))
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (o *orderer) score(i int, done logical.Set) score {
	s := score{many: true, rank: o.rank(i), input: i}
	var keys []int
	for _, p := range o.preds {
		_, inner, ok := o.sides(p, i, done)
		if !ok {
			continue
		}
		s.linked = true
		if c, ok := inner.(*scalar.Col); ok {
			keys = append(keys, c.Index-o.starts[i])
		}
	}
	s.many = !logical.HasKey(o.ins[i].Rel(), keys)
	return s
}
