// Package sink is where dataflows end: in a shard (a materialized view), or at a client (a subscription, a
// one-off result).
//
// The view sink lets the changes of all workers flow together. In each interval every worker hands its
// rows over once: staged (in memory), or, past a threshold, written (as parts in the store that no state
// names yet). The appender merges what is staged into one part and appends it with what is written in one
// step. While that step is in flight later ticks gather into the next interval, so nothing waits for a
// timer and nothing is appended twice.
//
// Promises:
//
//	V1  an interval is appended in one compare-and-append or not at all.
//	V2  what is appended is what all workers reported: the sums of their diffs and of diff·H(row, time) are
//	    compared before the append. If they differ it is not appended; the dataflow is torn down.
//	V3  an interval in which nothing changed costs no command, no object and no goroutine.
//	V4  the threshold is read once per worker and interval; workers may differ.
//	V5  after a restart nothing is written unless the view's stored contents differ from what the dataflow
//	    computes, which is found out by fingerprints alone.
//	V6  who stands by for another replica, or has lost a race for an append, drops what the other has appended
//	    once its own fingerprint there is the stored one, and reads nothing back.
//	V7  nothing is staged by those who write that would make all they have staged more than the budget, and nothing
//	    of what is left of another view's share. Those who stand by have a part of their own.
//
// A sink is driven by its dataflow's goroutine; Feed and Appender say for themselves who may call them.
package sink
