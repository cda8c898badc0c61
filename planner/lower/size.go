package lower

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// size is a guess at how many rows there are, and how many there would be without filters. It is only ever
// compared with others made by the same rules.
type size struct{ rows, base float64 }

// How much a condition leaves, and how many groups there are for a row. These are the guesses that textbooks
// make; only their order matters.
const (
	unknownRows  = 1000
	leftByEqual  = 0.05
	leftByIn     = 0.15
	leftByOther  = 0.35
	groupsPerRow = 0.2
	rowsPerCall  = 10
)

// joined is the size of what comes out of a join with another input.
func (s size) joined(t size, linked, many bool) size {
	switch {
	case !many:
		// Each row meets one, unless the other's filters have dropped it.
		return size{max(s.rows*min(1, t.rows/t.base), 1), s.base}
	case !linked:
		return size{max(s.rows*t.rows, 1), s.base * t.base}
	}
	// Most joins are by a key of one of the sides: the smaller one then has all the values.
	return size{max(s.rows*t.rows/min(s.base, t.base), 1), max(s.base, t.base)}
}

// size guesses how many rows n has. It is asked for again and again: for a join, and for each one around it.
func (b *builder) size(n logical.Node) size {
	s, ok := b.guessed[n]
	if !ok {
		s = b.guess(n)
		b.guessed[n] = s
	}
	return s
}

func (b *builder) guess(n logical.Node) size {
	if logical.HasKey(n.Rel(), nil) {
		return size{1, 1}
	}
	switch n := n.(type) {
	case *logical.Constant:
		rows := max(float64(n.Rows.Len), 1)
		return size{rows, rows}
	case *logical.Get:
		if n.Rows > 0 {
			return size{float64(n.Rows), float64(n.Rows)}
		}
	case *logical.LetRef:
		return b.sizes[n.ID]
	case *logical.Filter:
		s := b.size(n.Input())
		for _, p := range n.Preds {
			s.rows *= left(p)
		}
		s.rows = max(s.rows, 1)
		return s
	case *logical.Reduce:
		if n.IsDistinct() {
			return b.size(n.Input())
		}
		s := b.size(n.Input())
		groups := max(s.rows*groupsPerRow, 1)
		return size{groups, groups}
	case *logical.TableFunc:
		s := b.size(n.Input())
		return size{s.rows * rowsPerCall, s.base * rowsPerCall}
	case *logical.Join:
		return b.joinSize(n)
	case *logical.Union:
		s := size{}
		for _, in := range n.Ins {
			if _, ok := in.(*logical.Negate); !ok {
				t := b.size(in)
				s.rows, s.base = s.rows+t.rows, s.base+t.base
			}
		}
		return size{max(s.rows, 1), max(s.base, 1)}
	case *logical.Map, *logical.Project, *logical.TopK, *logical.Negate, *logical.Threshold, *logical.Guard:
		return b.size(n.Inputs()[0])
	}
	return size{unknownRows, unknownRows}
}

func left(p scalar.Expr) float64 {
	if _, ok := p.(*scalar.In); ok {
		return leftByIn
	}
	if _, _, ok := logical.Equation(p); ok {
		return leftByEqual
	}
	return leftByOther
}

// joinSize guesses along the order in which the inputs will be joined.
func (b *builder) joinSize(n *logical.Join) size {
	o := newOrderer(n.Ins, n.Preds, b.size)
	order := o.best()
	acc := o.sizes[order[0]]
	done := logical.SetOf(logical.Range(o.starts[order[0]], o.starts[order[0]+1])...)
	for _, i := range order[1:] {
		acc = o.step(i, done, acc).out
		done.AddAll(logical.SetOf(logical.Range(o.starts[i], o.starts[i+1])...))
	}
	return acc
}
