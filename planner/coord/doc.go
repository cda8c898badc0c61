// Package coord is what sessions share: the newest catalog, the line that commits stand in, the line that
// DDL stands in, and the engines. It is not a loop: sessions run on their own goroutines and meet only in
// the two lines.
//
// Promises:
//
//	P1  a write that was answered is in every read that begins later, also through views on views.
//	P2  a transaction's writes become visible at one time, on all tables, or not at all; they are durable
//	    before they are answered.
//	P3  a statement that read in order to write is done only if what it read has not changed since.
//	P4  the effects of DDL (shards, dataflows, settings) follow from the committed difference of catalogs
//	    alone, so a restart finds the same.
//	P5  nothing here happens because time passes.
//	P6  every read is at a time that is closed, however new what it reads is.
//	P7  DDL fails nobody who does not use what it changes; what cannot be planned or started is broken by itself.
//
// When nothing can be written any more, Failed says so, and the process should end: the next boot finds out what has
// become of what was under way.
//
// Coord is safe for concurrent use; it owns no goroutine. Close ends everything it started.
package coord
