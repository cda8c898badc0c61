// Package rewrite turns logical trees into better ones that mean the same.
//
// Each rule is a file of its own and a function from a tree to a tree. Promises:
//
//	W1  the result has the same columns (types and order) and the same rows, at every time; only names may go.
//	W2  the result has no Apply and no Outer, no OuterJoin and no SemiJoin: these are taken apart into
//	    joins, unions and negations. A Let is at the top, or the body of one.
//	W3  an expression that can fail is not computed for a row for which it was not computed before, with two
//	    exceptions. An equation between two inputs of a join is computed on the side it belongs to, whatever
//	    that row meets. And what in a subquery depends on no outer row is a relation of its own, computed
//	    whether or not there is an outer row. So a rewritten query may fail less often than the one written.
//	W4  what a TopK sees is not pruned and not reordered within a row.
//	W5  every optional rule can be switched off, and the answers stay the same; together they settle: a
//	    rewritten tree is not rewritten further.
//
// Everything here is a pure function, safe for concurrent use.
package rewrite
