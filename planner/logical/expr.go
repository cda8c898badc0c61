package logical

import (
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Shift moves all column positions by delta.
func Shift(e scalar.Expr, delta int) scalar.Expr {
	if delta == 0 {
		return e
	}
	return scalar.MapColumns(e, func(c int) int { return c + delta })
}

// ShiftAll applies Shift to each expression.
func ShiftAll(es []scalar.Expr, delta int) []scalar.Expr {
	return mapAll(es, func(e scalar.Expr) scalar.Expr { return Shift(e, delta) })
}

// Permute moves column i to position at[i].
func Permute(e scalar.Expr, at []int) scalar.Expr {
	return scalar.MapColumns(e, func(c int) int { return at[c] })
}

// PermuteAll applies Permute to each expression.
func PermuteAll(es []scalar.Expr, at []int) []scalar.Expr {
	return mapAll(es, func(e scalar.Expr) scalar.Expr { return Permute(e, at) })
}

func mapAll(es []scalar.Expr, f func(scalar.Expr) scalar.Expr) []scalar.Expr {
	out := make([]scalar.Expr, len(es))
	for i, e := range es {
		out[i] = f(e)
	}
	return out
}

// ColsUsed adds the positions of all columns that e uses to set.
func ColsUsed(e scalar.Expr, set *Set) {
	if c, ok := e.(*scalar.Col); ok {
		set.Add(c.Index)
		return
	}
	for _, a := range scalar.Children(e) {
		ColsUsed(a, set)
	}
}

// UsedBy is the set of columns that the expressions use.
func UsedBy(es ...scalar.Expr) Set {
	var s Set
	for _, e := range es {
		ColsUsed(e, &s)
	}
	return s
}

// AnyFails says whether one of them can fail.
func AnyFails(es []scalar.Expr) bool {
	for _, e := range es {
		if scalar.CanFail(e) {
			return true
		}
	}
	return false
}

// Fixed says whether an expression has one value for all rows of a statement: it uses no column.
func Fixed(e scalar.Expr) bool {
	return !scalar.Any(e, func(e scalar.Expr) bool { _, ok := e.(*scalar.Col); return ok }) &&
		scalar.Depends(e) != scalar.Volatile
}

// Null is the NULL of a type.
func Null(t types.T) scalar.Expr { return &scalar.Const{Value: vec.Null, T: t} }

// IsTrue says whether e is the constant true.
func IsTrue(e scalar.Expr) bool {
	d, ok := scalar.IsConst(e)
	return ok && !d.IsNull() && d.Bool()
}

// NeverTrue says whether e is the constant false or NULL.
func NeverTrue(e scalar.Expr) bool {
	d, ok := scalar.IsConst(e)
	return ok && (d.IsNull() || !d.Bool())
}
