package builtin

import (
	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/vec"
)

// intArray makes an array of integers of any type, with the given first subscript.
func intArray(values []int64, lower int32) vec.Datum {
	var b adt.ElemBuilder
	for _, v := range values {
		b.Int(v)
	}
	return vec.BytesOf(b.FinishArray(adt.Dim{Lower: lower, Len: int32(len(values))}))
}

// oidVector and int2Vector make values of PostgreSQL's types of that name, whose subscripts begin at 0.
func oidVector(values []int64) vec.Datum  { return intArray(values, 0) }
func int2Vector(values []int64) vec.Datum { return intArray(values, 0) }

// oidArray makes an array of OIDs, or of what is one.
func oidArray(values []int64) vec.Datum { return intArray(values, 1) }

// TextArray makes an array of texts or names.
func TextArray(values []string) vec.Datum {
	var b adt.ElemBuilder
	for _, v := range values {
		b.Bytes([]byte(v))
	}
	return vec.BytesOf(b.FinishArray())
}
