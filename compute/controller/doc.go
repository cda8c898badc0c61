// Package controller is the planner's side of compute: what runs where, how far it is, and what it holds
// back.
//
// Promises:
//
//	C1  Complete's claims are true: with everything physically below p, the collection has all changes at
//	    times below t, and none will come.
//	C2  once Wait has returned, a read of the collections at the time gives their contents at it.
//	C3  what a dataflow still has to read is held, from before Create until it is dropped; for a replica that is behind
//	    the one that appends to a view, for compute_standby_max_lag.
//	C4  nothing here happens because time passes: progress is asked for, or follows from a change.
//
// A table is complete through closed time. A view or index is complete through t if all its inputs are and
// its dataflow has taken in, and handed on, everything that was physically there: so no message need be
// sent when nothing changes.
//
// Controller is safe for concurrent use.
package controller
