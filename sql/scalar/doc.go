// Package scalar is typed expressions and how they are computed: compiled once, to loops over column
// vectors, with a row adapter for the long tail of functions.
//
// Promises:
//
//	S1  a value depends on the row and the Env alone, never on other rows, workers or blocks.
//	S2  an expression that fails for a row gives that row an error, which counts only if the row is not
//	    filtered out by other conditions (see And).
//	S3  a folded constant equals the evaluated row.
//	S4  where several errors stand for one row, the least is given, so that no order of evaluation shows.
//
// How a program runs: an MFP's distinct subexpressions (term.go) become steps that write registers (compile.go), each
// a column of up to a thousand rows. Conjuncts of the filter come first, those that cannot fail before the others,
// each for the rows that are left; then what is projected, for the survivors. Branches of CASE, COALESCE, AND and
// OR that are worth skipping run for the rows that need them. A row that fails is noted beside its register
// (errors.go) and left out of what depends on it. Steps that cannot fail are computed for all rows where that is
// quicker than choosing; so registers hold something, of the right kind, in every row.
//
// Expressions are immutable; a compiled Program has scratch memory and belongs to one goroutine.
package scalar
