// Package sql is the language and its values: pure, with no I/O, no clock and no goroutine.
//
// Map, from the bottom: invariants (our own promises) · pgtest (a private PostgreSQL, for tests) ·
// pgerr (what a client may be told) · ast (statements as written) · types · adt (values Go lacks) ·
// parser · vec (columns and blocks) · row (order-preserving bytes, text and binary formats) · settings ·
// scalar (typed expressions and their kernels) · fn (the functions themselves).
//
// Any folder above may import all of it.
package sql
