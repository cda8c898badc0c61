// Package op is the operators of a dataflow: what each keeps and how a change goes through it. One file
// each.
//
// Promises:
//
//	O1  a result is a function of the inputs' multisets at a time: never of the order of rows, of how they
//	    were cut into blocks and ticks, of the number of shares, or of history. Ties go by the whole row's bytes.
//	O2  a tick's work is in proportion to the rows that changed (and a logarithm of what is kept), never to
//	    what is kept. Lane.Reads counts what is read from state.
//	O3  in a tick of several times every output has its exact time.
//	O4  a multiplicity below zero at the end of a time is an error of the result for as long as it lasts;
//	    nothing is clamped.
//
// Operators are driven by a dataflow.Dataflow (see its promises K1 to K3) and belong to it.
package op
