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
//
// Coord is safe for concurrent use. Close ends everything it started.
package coord
