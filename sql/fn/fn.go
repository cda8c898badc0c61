package fn

import (
	"cmp"
	"slices"

	"github.com/tributary-db/tributary/sql/scalar"
)

// lists are all functions by name. They are made once, from the tables, and not changed.
type lists struct {
	scalars, operators map[string][]*scalar.Func
	aggregates         map[string][]*scalar.Agg
	tables             map[string][]*scalar.TableFunc
}

var index = makeIndex()

func makeIndex() lists {
	ix := lists{
		scalars: map[string][]*scalar.Func{}, operators: map[string][]*scalar.Func{},
		aggregates: map[string][]*scalar.Agg{}, tables: map[string][]*scalar.TableFunc{},
	}
	for _, family := range [][]scalar.Func{
		comparisons(), arithmetic(), mathFuncs, numericFuncs, stringFuncs, stringAnyFuncs, encodeFuncs, likeFuncs, regexFuncs,
		datetimeFuncs, toCharFuncs, arrayFuncs, jsonbFuncs, genericFuncs, systemFuncs, toRegFuncs(), privileges(),
	} {
		for i := range family {
			f := &family[i]
			to := ix.scalars
			if f.IsOperator() {
				to = ix.operators
			}
			to[f.Name] = append(to[f.Name], f)
		}
	}
	for _, family := range [][]scalar.Agg{aggregates()} {
		for i := range family {
			f := &family[i]
			ix.aggregates[f.Name] = append(ix.aggregates[f.Name], f)
		}
	}
	for _, family := range [][]scalar.TableFunc{tableFuncs()} {
		for i := range family {
			f := &family[i]
			ix.tables[f.Name] = append(ix.tables[f.Name], f)
		}
	}
	return ix
}

// Scalar gives the overloads of a function that gives one value; none if there is no such function.
func Scalar(name string) []*scalar.Func { return index.scalars[name] }

// Operator gives the overloads of an operator: infix ones have two arguments, prefix ones have one.
func Operator(symbol string) []*scalar.Func { return index.operators[symbol] }

// Aggregate gives the overloads of an aggregate function.
func Aggregate(name string) []*scalar.Agg { return index.aggregates[name] }

// Table gives the overloads of a function that gives rows.
func Table(name string) []*scalar.TableFunc { return index.tables[name] }

// Catalog is every function, for the system catalog: each list by name, then number.
type Catalog struct {
	Scalars, Operators []*scalar.Func
	Aggregates         []*scalar.Agg
	Tables             []*scalar.TableFunc
}

// All lists every function.
func All() Catalog {
	return Catalog{
		Scalars:    sorted(index.scalars, func(f *scalar.Func) (string, uint32) { return f.Name, f.OID }),
		Operators:  sorted(index.operators, func(f *scalar.Func) (string, uint32) { return f.Name, f.OID }),
		Aggregates: sorted(index.aggregates, func(f *scalar.Agg) (string, uint32) { return f.Name, f.OID }),
		Tables:     sorted(index.tables, func(f *scalar.TableFunc) (string, uint32) { return f.Name, f.OID }),
	}
}

func sorted[F any](by map[string][]*F, key func(*F) (string, uint32)) []*F {
	var all []*F
	for _, fs := range by {
		all = append(all, fs...)
	}
	slices.SortFunc(all, func(a, b *F) int {
		an, ao := key(a)
		bn, bo := key(b)
		return cmp.Or(cmp.Compare(an, bn), cmp.Compare(ao, bo))
	})
	return all
}
