package scalar

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/vec"
)

// Children gives the direct parts of an expression, in order. The result is not to be changed.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Col, *Outer, *Param, *Const:
		return nil
	case *Call:
		return e.Args
	case *And:
		return e.Args
	case *Or:
		return e.Args
	case *Case:
		parts := make([]Expr, 0, 2*len(e.Whens)+1)
		for _, w := range e.Whens {
			parts = append(parts, w.Cond, w.Then)
		}
		return append(parts, e.Else)
	case *Coalesce:
		return e.Args
	case *IsNull:
		return []Expr{e.Arg}
	case *In:
		return []Expr{e.Arg}
	}
	panic(fmt.Sprintf("scalar: unknown expression %T", e))
}

// WithChildren gives e with other parts, as many as Children gives. It is e itself if they are the same.
func WithChildren(e Expr, parts []Expr) Expr {
	if slices.Equal(Children(e), parts) {
		return e
	}
	switch e := e.(type) {
	case *Call:
		return &Call{Func: e.Func, Args: parts, T: e.T}
	case *And:
		return &And{Args: parts}
	case *Or:
		return &Or{Args: parts}
	case *Case:
		c := &Case{Whens: make([]When, len(e.Whens)), Else: parts[len(parts)-1], T: e.T}
		for i := range c.Whens {
			c.Whens[i] = When{Cond: parts[2*i], Then: parts[2*i+1]}
		}
		return c
	case *Coalesce:
		return &Coalesce{Args: parts, T: e.T}
	case *IsNull:
		return &IsNull{Arg: parts[0]}
	case *In:
		return &In{Arg: parts[0], Set: e.Set, HasNull: e.HasNull}
	}
	panic(fmt.Sprintf("scalar: %T has no parts", e))
}

// Walk calls visit for e and then for its parts, from the outside in; where visit says false, it does not go
// deeper.
func Walk(e Expr, visit func(Expr) bool) {
	if !visit(e) {
		return
	}
	for _, part := range Children(e) {
		Walk(part, visit)
	}
}

// Rewrite gives e with f applied to its parts and then to itself, from the inside out. What f leaves alone is
// shared with e.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	if old := Children(e); len(old) > 0 {
		parts := make([]Expr, len(old))
		for i, part := range old {
			parts[i] = Rewrite(part, f)
		}
		e = WithChildren(e, parts)
	}
	return f(e)
}

// Columns gives the columns that the expressions read, ascending, each once.
func Columns(exprs ...Expr) []int {
	var cols []int
	for _, e := range exprs {
		Walk(e, func(e Expr) bool {
			if c, ok := e.(*Col); ok {
				cols = append(cols, c.Index)
			}
			return true
		})
	}
	slices.Sort(cols)
	return slices.Compact(cols)
}

// MapColumns gives e with each column's index replaced by what to says.
func MapColumns(e Expr, to func(col int) int) Expr {
	return Rewrite(e, func(e Expr) Expr {
		if c, ok := e.(*Col); ok {
			if at := to(c.Index); at != c.Index {
				return &Col{Index: at, T: c.T}
			}
		}
		return e
	})
}

// ReplaceColumns gives e with each column replaced by the expression of the same position; nil leaves it.
func ReplaceColumns(e Expr, by []Expr) Expr {
	return Rewrite(e, func(e Expr) Expr {
		if c, ok := e.(*Col); ok && c.Index < len(by) && by[c.Index] != nil {
			return by[c.Index]
		}
		return e
	})
}

// SubstParams gives e with the client's parameters put in; each value is of the parameter's type.
func SubstParams(e Expr, values []vec.Datum) (Expr, error) {
	var failed error
	e = Rewrite(e, func(e Expr) Expr {
		p, ok := e.(*Param)
		if !ok {
			return e
		}
		if p.Index >= len(values) {
			failed = pgerr.Newf(pgerr.UndefinedParameter, "there is no parameter $%d", p.Index+1)
			return e
		}
		return &Const{Value: values[p.Index], T: p.T}
	})
	return e, failed
}

// Any says whether e or a part of it is what is looked for.
func Any(e Expr, is func(Expr) bool) bool {
	found := false
	Walk(e, func(e Expr) bool {
		found = found || is(e)
		return !found
	})
	return found
}

// HasOuter says whether e reads an enclosing query's row.
func HasOuter(e Expr) bool {
	return Any(e, func(e Expr) bool { _, ok := e.(*Outer); return ok })
}

// IsConst says whether e is a constant, and which.
func IsConst(e Expr) (vec.Datum, bool) {
	c, ok := e.(*Const)
	if !ok {
		return vec.Null, false
	}
	return c.Value, true
}

// Conjuncts takes conditions apart at their ANDs, in order, leaving out constants that are true.
func Conjuncts(exprs ...Expr) []Expr {
	var parts []Expr
	for _, e := range exprs {
		switch e := e.(type) {
		case *And:
			parts = append(parts, Conjuncts(e.Args...)...)
		case *Const:
			if e.Value.IsNull() || !e.Value.Bool() {
				parts = append(parts, e)
			}
		default:
			parts = append(parts, e)
		}
	}
	return parts
}

// AndOf is the conjunction of any number of conditions: true for none.
func AndOf(args ...Expr) Expr {
	args = Conjuncts(args...)
	switch len(args) {
	case 0:
		return True
	case 1:
		return args[0]
	}
	return &And{Args: args}
}

// OrOf is the disjunction of any number of conditions: false for none.
func OrOf(args ...Expr) Expr {
	switch len(args) {
	case 0:
		return False
	case 1:
		return args[0]
	}
	return &Or{Args: args}
}

// InOf says whether arg equals one of some constants of its own type, in any order; NULLs may be among them.
func InOf(arg Expr, values ...vec.Datum) Expr {
	in := &In{Arg: arg}
	for _, d := range values {
		if d.IsNull() {
			in.HasNull = true
		} else {
			in.Set = append(in.Set, d)
		}
	}
	slices.SortFunc(in.Set, vec.Datum.Compare)
	in.Set = slices.CompactFunc(in.Set, vec.Datum.Equal)
	return in
}
