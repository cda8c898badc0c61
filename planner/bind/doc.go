// Package bind gives names and types their meaning, as PostgreSQL does: a statement as written goes in, a
// logical tree (for a query) or a plain struct (for all else) comes out.
//
// Promises:
//
//	B1  a statement is bound against one catalog snapshot; nothing in the result changes when the catalog does.
//	B2  errors have PostgreSQL's SQLSTATE, words and position wherever PostgreSQL has the situation.
//	B3  the result is typed through and through: no unknown literal is left, every parameter has a type.
//	B4  a tree has no Outer columns that reach out of it; subqueries are Applies, right where they are used.
//	B5  binding the same statement against the same snapshot gives the same result, byte for byte.
//
// How it goes. An expression is bound to a scalar.Expr at once. What cannot be a column yet when an expression
// is bound (an aggregate, a subquery, a set-returning function) stands in it as a virtual column, with a
// position past all real ones; when the operator that makes it is put into the tree, virtual columns become
// real (see query.go). Scopes nest as Applies do: a name found n scopes out is an Outer of level n.
//
// A binder belongs to one goroutine and one statement; Env may be shared by nobody while it is used.
//
// The package is larger than its target because the surface is PostgreSQL's: one file a statement family or
// a kind of expression.
package bind
