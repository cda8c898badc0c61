// Package arrange keeps rows sorted: immutable runs in arenas, a spine that merges them bit by bit, and
// cursors that read several runs as one. It knows no runtime, no SQL type and no clock.
//
// A row is bytes: key, then order columns, then value. Key and order columns are order-preserving and
// self-delimiting, so rows sorted as bytes are grouped by key and ordered within it, and the rows of a
// key are those with its bytes as prefix. Every row comes with a diff and a time.
//
// Promises:
//
//	A1  a Run never changes once made; reading one from many goroutines is safe.
//	A2  a Run's rows are sorted by bytes, then time; no (row, time) comes twice; no diff is zero.
//	A3  a Spine read at any time at or after its since gives, for every row, the sum of the diffs of all
//	    updates inserted at or before that time, whatever was merged meanwhile.
//	A4  a cursor gives each row once, with its sum, and leaves rows out whose sum is zero.
//	A5  Insert and Step do work in proportion to the rows inserted (and a constant), never to the rows kept.
//
// A Spine and its builder belong to one goroutine at a time; Spine.Runs may be called from any.
package arrange
