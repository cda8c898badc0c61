// Package slt reads and runs sqllogictest files (.slt) in the dialects of SQLite, CockroachDB and Materialize.
//
// Promises:
//
//	L1  Every record that is not left out by skipif, onlyif or halt is run; what a file has that we do not know is an
//	    error with a position.
//	L2  A failed "statement ok" or "statement count" ends its file, since what follows builds on it; other failures
//	    are collected.
//	L3  With AutoView every query is also run as a materialized view, and as a view (with an index, on a server that
//	    has such), and all must agree.
//	L4  Rewriting changes the expected results of queries and of simple records, says which error it was where a record
//	    only says that there is one, and changes nothing else.
//
// Values are asked for as text and printed as the column's type letter and the mode demand. Where PostgreSQL keeps what
// carries no meaning (zeros at the end of a numeric, blanks in jsonb) the canonical form is compared, so that
// PostgreSQL can write the expectations of servers that do not keep it.
package slt
