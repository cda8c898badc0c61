package scalar

import "fmt"

// Nullable says whether e can be NULL, when nullable says which columns can. It may say yes too often. An
// expression that fails has no value, so failing does not count.
func Nullable(e Expr, nullable func(col int) bool) bool {
	anyOf := func(args []Expr) bool {
		for _, a := range args {
			if Nullable(a, nullable) {
				return true
			}
		}
		return false
	}
	switch e := e.(type) {
	case *Col:
		return nullable(e.Index)
	case *Outer, *Param:
		return true
	case *Const:
		return e.Value.IsNull()
	case *Call:
		return e.Func.CanNull || e.Func.Strict && anyOf(e.Args)
	case *And:
		return anyOf(e.Args)
	case *Or:
		return anyOf(e.Args)
	case *Case:
		for _, w := range e.Whens {
			if Nullable(w.Then, nullable) {
				return true
			}
		}
		return Nullable(e.Else, nullable)
	case *Coalesce:
		for _, a := range e.Args {
			if !Nullable(a, nullable) {
				return false
			}
		}
		return true
	case *IsNull:
		return false
	case *In:
		return e.HasNull || Nullable(e.Arg, nullable)
	}
	panic(fmt.Sprintf("scalar: unknown expression %T", e))
}

// CanFail says whether e fails for some row.
func CanFail(e Expr) bool {
	return Any(e, func(e Expr) bool {
		c, ok := e.(*Call)
		return ok && c.Func.CanFail
	})
}

// Depends is the most that a function in e depends on beside its arguments.
func Depends(e Expr) Volatility {
	most := Immutable
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok {
			most = max(most, c.Func.Volatility)
		}
		return true
	})
	return most
}
