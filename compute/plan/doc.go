// Package plan is the engine's instruction set: a dataflow as plain data.
//
// A Dataflow is a list of nodes in which a node refers only to nodes before it; what it computes is a
// function of its imports' contents at each time. Promises a plan's maker keeps:
//
//	P1  columns that are compared with each other (join keys, union branches) have the same type.
//	P2  join keys, group keys and order columns are columns: whatever must be computed for them is
//	    computed by an MFP below.
//	P3  no expression has an Outer or a Param, and in what is maintained no function is Stable or Volatile.
//	P4  nothing below a TopK was pruned: its ties go by the whole row, so that a SELECT and a view agree.
//
// A plan is immutable once made.
package plan
