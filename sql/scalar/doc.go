// Package scalar is typed expressions and how they are computed: compiled once, to loops over column
// vectors, with a row adapter for the long tail of functions.
//
// Promises:
//
//	S1  a value depends on the row and the Env alone, never on other rows, workers or blocks.
//	S2  an expression that fails for a row gives that row an error, which counts only if the row is not
//	    filtered out by other conditions (see And).
//	S3  a folded constant equals the evaluated row.
//
// Expressions are immutable; a compiled Program has scratch memory and belongs to one goroutine.
package scalar
