package logical

import (
	"slices"

	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// The functions that rules know by name. A name alone decides: all overloads of an operator mean the same.
const (
	fnEq       = "="
	fnNot      = "NOT"
	fnDistinct = "IS DISTINCT FROM"
)

// Equation takes an equality apart whose truth is equality of values, so that it can be a join key or put one
// side for the other: a = b, or NOT (a IS DISTINCT FROM b). Casts that change nothing but the type are left out:
// the sides may have two types, whose equal values are equal data.
func Equation(e scalar.Expr) (a, b scalar.Expr, ok bool) {
	c, isCall := e.(*scalar.Call)
	if !isCall {
		return nil, nil, false
	}
	if c.Func.Name == fnNot {
		c, isCall = c.Args[0].(*scalar.Call)
		if !isCall || c.Func.Name != fnDistinct {
			return nil, nil, false
		}
	} else if c.Func.Name != fnEq {
		return nil, nil, false
	}
	if !comparable(c.Args[0].Type(), c.Args[1].Type()) {
		return nil, nil, false
	}
	return relabelled(c.Args[0]), relabelled(c.Args[1]), true
}

// relabelled is what a value was before casts that only call it by another type.
func relabelled(e scalar.Expr) scalar.Expr {
	for {
		c, ok := e.(*scalar.Call)
		if !ok || !c.Func.Relabel {
			return e
		}
		e = c.Args[0]
	}
}

// IsNullEq says whether an equation takes NULL for a value like others.
func IsNullEq(e scalar.Expr) bool { _, ok := Negated(e); return ok }

// WithSides is the equation e between other expressions, of the types that Equation gave or of the operator's.
func WithSides(e, a, b scalar.Expr) scalar.Expr {
	c := e.(*scalar.Call)
	if c.Func.Name == fnNot {
		return &scalar.Call{Func: c.Func, Args: []scalar.Expr{WithSides(c.Args[0], a, b)}, T: c.T}
	}
	return &scalar.Call{Func: c.Func, Args: []scalar.Expr{a, b}, T: c.T}
}

// comparable says whether values of the two types are equal in SQL exactly if they are equal as data.
func comparable(a, b types.T) bool {
	return a.OID == b.OID || wholeNumber(a) && wholeNumber(b) || plainText(a) && plainText(b)
}

func wholeNumber(t types.T) bool {
	switch t.OID {
	case types.OIDInt2, types.OIDInt4, types.OIDInt8, types.OIDOid:
		return true
	}
	return false
}

func plainText(t types.T) bool {
	switch t.OID {
	case types.OIDText, types.OIDVarchar, types.OIDName:
		return true
	}
	return false
}

// Negated gives x of NOT x.
func Negated(e scalar.Expr) (scalar.Expr, bool) {
	if c, ok := e.(*scalar.Call); ok && c.Func.Name == fnNot {
		return c.Args[0], true
	}
	return nil, false
}

// Not is NOT e.
func Not(e scalar.Expr) scalar.Expr { return fn.Not(e) }

// Equals is a = b for two expressions of one type.
func Equals(a, b scalar.Expr) scalar.Expr {
	return &scalar.Call{Func: equality(a.Type()), Args: []scalar.Expr{a, b}, T: types.TBool}
}

// NotDistinct is a IS NOT DISTINCT FROM b for two expressions of one type.
func NotDistinct(a, b scalar.Expr) scalar.Expr {
	f := fn.Distinct(equality(a.Type()))
	return Not(&scalar.Call{Func: f, Args: []scalar.Expr{a, b}, T: types.TBool})
}

// equality is the "=" of a type. Types without one of their own have their kind's: equal values are equal
// data, whatever they mean.
func equality(t types.T) *scalar.Func {
	if f := comparison(fnEq, t, t); f != nil {
		return f
	}
	switch t.Kind() {
	case types.Bool:
		return comparison(fnEq, types.TBool, types.TBool)
	case types.Int:
		return comparison(fnEq, types.TInt8, types.TInt8)
	case types.Float:
		return comparison(fnEq, types.TFloat8, types.TFloat8)
	}
	return comparison(fnEq, types.TBytea, types.TBytea)
}

// comparison is the operator for exactly these types; nil if there is none.
func comparison(symbol string, left, right types.T) *scalar.Func {
	for _, f := range fn.Operator(symbol) {
		if len(f.Args) == 2 && f.Args[0].OID == left.OID && f.Args[1].OID == right.OID {
			return f
		}
	}
	return nil
}

// opposites are operators of which one is true where the other is false.
var opposites = [][2]string{{"=", "<>"}, {"<", ">="}, {">", "<="}, {"~~", "!~~"}, {"~~*", "!~~*"}, {"~", "!~"}, {"~*", "!~*"}}

// Opposite is the call that is true where e is false, false where it is true, and NULL where it is NULL; nil
// if there is none.
func Opposite(e *scalar.Call) scalar.Expr {
	if !e.Func.IsOperator() || len(e.Args) != 2 {
		return nil
	}
	for _, o := range opposites {
		i := slices.Index(o[:], e.Func.Name)
		if i < 0 {
			continue
		}
		if f := comparison(o[1-i], e.Func.Args[0], e.Func.Args[1]); f != nil {
			return &scalar.Call{Func: f, Args: e.Args, T: e.T}
		}
	}
	return nil
}
