// Package adt is the values Go lacks: numeric, interval, dates and times, jsonb, arrays, records, uuid,
// bytea; and how PostgreSQL reads and prints these and the plain ones.
//
// Promises:
//
//	A1  a value has one encoding, and the order of encodings as bytes is the order of values in SQL. An
//	    encoding tells where it ends (no encoding is the beginning of another one of its type).
//	A2  parsing and printing are PostgreSQL 15's (DateStyle ISO MDY, IntervalStyle postgres, TimeZone UTC),
//	    its error texts and SQLSTATEs included. Two exceptions: numeric prints no trailing zeros and has 39
//	    digits, and intervals are ordered field by field.
//	A3  reading bytes that this package never made gives a refusal, or some value, but never a panic or an
//	    access outside the bytes. The functions named …Of take bytes from our own vectors, where anything
//	    else is a broken promise, and stop the process.
//	A4  nothing here looks at a clock, an environment or a session: the present is handed in.
//
// Errors are *pgerr.Error unless said otherwise. Everything here is safe from many goroutines except the
// builders and readers with state, which belong to one.
//
// The package is larger than most because it is many small rooms with one door: each type is one or two
// files that need nothing of the others but what their values are made of.
package adt
