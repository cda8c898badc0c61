// Package logical is relational algebra between binding and lowering: what a query means, before it is
// decided how it is computed.
//
// A query is a tree of Nodes with scalar expressions inside; columns are positions. Promises:
//
//	L1  a Node is immutable once made, so trees share subtrees freely and may be read from many goroutines.
//	L2  Rel tells the truth: a column that is not Nullable has no NULL, and no two rows of a relation agree
//	    on one of its Keys, at any time and whatever the data. It may know less than is true.
//	L3  an Outer of level n in the right side of an Apply is a column of the left side of the n-th Apply
//	    around it, counted from the inside; a tree without Apply has no Outer.
//	L4  constructors (New…) only tidy what is next to each other (no empty filter, no identity projection);
//	    everything cleverer is a rule of package rewrite.
//	L5  the print of a tree is a function of the tree alone, so that goldens, EXPLAIN and equality agree.
//
// Errors follow scalar's rule S2: within one Filter the order of predicates does not matter, and what fails
// for a row that another predicate drops does not count.
package logical
