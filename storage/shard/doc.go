// Package shard is a durable time-varying collection of rows: updates (row, time, diff), an upper (it is
// complete below) and a since (it is readable from).
//
// What a shard is lies in one register of the consensus store, as a log of small diffs; large sorted runs
// of updates lie in the blob store as objects that the state names. state.go is the pure machine: what an
// operation does to a state, or why it is refused. Client is the thin shell around it: it reads states,
// steps them, and installs what has become durable. Who writes is package txn: a Step of this package
// evaluates operations, txn commits them.
//
// Promises:
//
//	I1  upper and since never go back; upper moves only by an Append whose lower is the upper.
//	I2  who keeps since at s (Options.Bound) can read the contents at every time ≥ s, and every update
//	    at times > s with its own time.
//	I3  an object is put before a state names it, and deleted only when no state a reader can reach
//	    names it. What a crash leaves unnamed is swept by the next process (Client.Sweep).
//	I4  an operation is done, refused (an answer that says why), or unknown; an Append that is tried again
//	    with its token happens once.
//	I5  Σdiff and the fingerprint of every batch are part of the state; nothing replaces a batch by one
//	    with other sums.
//	I6  everything read from a store is verified by a checksum before it is used.
//
// The package starts no goroutine. Client, Shard and Step's states are safe for concurrent use; a Writer,
// a Scan and a Step belong to one goroutine.
package shard
