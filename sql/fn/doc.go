// Package fn is the SQL functions, operators, casts, aggregates and table functions: what each is called, what it
// takes and gives, how it is computed, and one sentence on what it is for. It also picks the overload that a call
// means, as PostgreSQL does.
//
// Promises:
//
//	F1  a function is one entry in one table, in the file of its family; nothing else need be touched to add one.
//	F2  values and errors are PostgreSQL 15's, save where a family's comment says that Materialize's are kept.
//	F3  no arguments make a function panic, and none make it take memory out of proportion: what a few bytes of
//	    SQL could blow up is bounded by maxResultBytes.
//	F4  an entry tells the truth about itself: one that is not marked as failing does not fail, one that is not
//	    marked as giving NULL gives none, an immutable one depends on nothing but its arguments.
//	F5  what an accumulator gives depends on the sum of its updates alone, not on their order, and is exact until
//	    its one final rounding.
//
// Numbers (OIDs) are PostgreSQL's where it has the function; operators have those of pg_operator, casts those of
// the function that does them. What it does not have is numbered from 17000 to 19999, below the objects of users.
//
// Tables are literals that nothing changes after start; everything here is safe from many goroutines.
//
// The package is large because it is some 600 small things that have nothing to say to each other: splitting it
// by family would make a dozen packages with one table each, and resolution needs them all.
package fn
