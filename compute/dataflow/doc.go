// Package dataflow is the kernel: a graph of operators, advanced tick by tick, stage by stage, its state
// in W shares.
//
// A tick is the changes of an interval of time going through the whole graph. Within it, nodes take
// their turn in the graph's order. A node's turn is a sequence of rounds: it emits a bounded number of
// rows, which go through the stateless nodes after it and are dealt out by hash to the shares of the
// next stateful ones, which take them in. So a stateful node has absorbed all of a tick before it emits,
// nothing between two stateful nodes is ever kept, and when the last node has had its turn the whole
// dataflow is complete through the tick: there is no progress to track.
//
// Promises:
//
//	K1  Absorb, Emit and End of one share are never called at the same time; different shares may be.
//	K2  an operator sees Begin before anything else of a tick, all its Absorbs before its first Emit, and
//	    End after every node has emitted. It is not called at all in a tick that does not reach it.
//	K3  blocks handed to Absorb and Apply are borrowed until the call returns.
//	K4  errors do not travel along edges: they go straight to the dataflow's result, where each distinct
//	    error counts once as long as its multiplicities add up to more than zero.
//	K5  a tick of few rows runs on the caller's goroutine and starts no other.
//	K6  a tick is never retried: after an error, a panic or a stop the dataflow is of no more use.
//
// A Dataflow belongs to one goroutine at a time.
package dataflow
