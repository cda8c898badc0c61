package scalar

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/sql/vec"
)

// Equal says whether two expressions are written the same: then they give the same value, unless a function in
// them is Volatile.
func Equal(a, b Expr) bool {
	if a == b {
		return true
	}
	if !a.Type().Equal(b.Type()) || !equalHead(a, b) {
		return false
	}
	return slices.EqualFunc(Children(a), Children(b), Equal)
}

// equalHead compares two expressions of one type, their parts aside.
func equalHead(a, b Expr) bool {
	switch a := a.(type) {
	case *Col:
		b, ok := b.(*Col)
		return ok && a.Index == b.Index
	case *Outer:
		b, ok := b.(*Outer)
		return ok && a.Level == b.Level && a.Index == b.Index
	case *Param:
		b, ok := b.(*Param)
		return ok && a.Index == b.Index
	case *Const:
		b, ok := b.(*Const)
		return ok && a.Value == b.Value
	case *Call:
		b, ok := b.(*Call)
		return ok && sameFunc(a.Func, b.Func)
	case *And:
		_, ok := b.(*And)
		return ok
	case *Or:
		_, ok := b.(*Or)
		return ok
	case *Case:
		_, ok := b.(*Case)
		return ok
	case *Coalesce:
		_, ok := b.(*Coalesce)
		return ok
	case *IsNull:
		_, ok := b.(*IsNull)
		return ok
	case *In:
		b, ok := b.(*In)
		return ok && a.HasNull == b.HasNull && slices.EqualFunc(a.Set, b.Set, vec.Datum.Equal)
	}
	panic(fmt.Sprintf("scalar: unknown expression %T", a))
}

// sameFunc says whether two Funcs, given equal arguments and results, are the same. A polymorphic function's
// Func is made anew for each call, so that pointers say too little; a number alone also says too little, since
// operators are numbered apart from functions.
func sameFunc(f, g *Func) bool { return f == g || f.OID == g.OID && f.Name == g.Name }
