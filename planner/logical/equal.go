package logical

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// EqualNodes says whether two trees are written the same: they then have the same rows at every time.
func EqualNodes(a, b Node) bool {
	if a == b {
		return true
	}
	return equalHead(a, b) && slices.EqualFunc(a.Inputs(), b.Inputs(), EqualNodes)
}

// equalHead compares two nodes, their inputs aside.
func equalHead(a, b Node) bool {
	switch a := a.(type) {
	case *Constant:
		b, ok := b.(*Constant)
		return ok && equalTypes(&a.r, &b.r) && equalBlocks(a.Rows, b.Rows)
	case *Get:
		b, ok := b.(*Get)
		return ok && a.ID == b.ID
	case *Filter:
		b, ok := b.(*Filter)
		return ok && equalExprs(a.Preds, b.Preds)
	case *Map:
		b, ok := b.(*Map)
		return ok && equalExprs(a.Exprs, b.Exprs)
	case *Project:
		b, ok := b.(*Project)
		return ok && slices.Equal(a.Cols, b.Cols)
	case *Join:
		b, ok := b.(*Join)
		return ok && equalExprs(a.Preds, b.Preds)
	case *OuterJoin:
		b, ok := b.(*OuterJoin)
		return ok && a.Full == b.Full && equalExprs(a.On, b.On)
	case *SemiJoin:
		b, ok := b.(*SemiJoin)
		return ok && a.Anti == b.Anti && equalExprs(a.On, b.On)
	case *Apply:
		b, ok := b.(*Apply)
		return ok && a.Kind == b.Kind
	case *TableFunc:
		b, ok := b.(*TableFunc)
		return ok && a.Func.OID == b.Func.OID && a.Func.Name == b.Func.Name && a.Ordinality == b.Ordinality &&
			equalTypes(&a.r, &b.r) && equalExprs(a.Args, b.Args)
	case *Reduce:
		b, ok := b.(*Reduce)
		return ok && a.Global == b.Global && slices.Equal(a.Keys, b.Keys) && slices.EqualFunc(a.Aggs, b.Aggs, equalAggs)
	case *TopK:
		b, ok := b.(*TopK)
		return ok && slices.Equal(a.Group, b.Group) && slices.Equal(a.Order, b.Order) &&
			equalOptional(a.Limit, b.Limit) && equalOptional(a.Offset, b.Offset)
	case *Union:
		_, ok := b.(*Union)
		return ok
	case *Negate:
		_, ok := b.(*Negate)
		return ok
	case *Threshold:
		_, ok := b.(*Threshold)
		return ok
	case *Guard:
		b, ok := b.(*Guard)
		return ok && slices.Equal(a.Keys, b.Keys) && a.Err.Error() == b.Err.Error()
	case *Let:
		b, ok := b.(*Let)
		return ok && a.ID == b.ID
	case *LetRef:
		b, ok := b.(*LetRef)
		return ok && a.ID == b.ID && SameRel(&a.r, &b.r)
	}
	panic(fmt.Sprintf("logical: unknown node %T", a))
}

func equalExprs(a, b []scalar.Expr) bool { return slices.EqualFunc(a, b, scalar.Equal) }

func equalOptional(a, b scalar.Expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	return scalar.Equal(a, b)
}

func equalAggs(a, b Agg) bool {
	return a.Func.OID == b.Func.OID && a.Func.Name == b.Func.Name && a.T.Equal(b.T) && slices.Equal(a.Args, b.Args) &&
		a.Distinct == b.Distinct && a.Filter == b.Filter && slices.Equal(a.Order, b.Order)
}

func equalTypes(a, b *types.Rel) bool {
	return slices.EqualFunc(a.Cols, b.Cols, func(x, y types.Column) bool { return x.Type.Equal(y.Type) })
}

// SameRel says whether the same is known of two relations: types, NULLs and keys.
func SameRel(a, b *types.Rel) bool {
	return equalTypes(a, b) &&
		slices.EqualFunc(a.Cols, b.Cols, func(x, y types.Column) bool { return x.Nullable == y.Nullable }) &&
		slices.EqualFunc(a.Keys, b.Keys, func(x, y []int) bool { return slices.Equal(x, y) })
}

func equalBlocks(a, b *vec.Block) bool {
	if a == b {
		return true
	}
	if a.Len != b.Len {
		return false
	}
	for i := range a.Len {
		if a.Diff(i) != b.Diff(i) || a.CompareRows(i, b, i) != 0 {
			return false
		}
	}
	return true
}
