// Package part is the encoding of a sorted run of updates: as an object in Arrow's IPC format, or inline as a
// few lean bytes; and the sorting and merging of runs.
//
// Promises:
//
//	P1  rows are ordered column by column, NULL last, as vec.Compare does, then by time.
//	P2  what is opened was checked against its checksum; bytes that are not what was written give
//	    ErrCorrupt, never a panic and never other rows.
//	P3  the same rows, cut alike, give the same bytes.
//	P4  a block of an opened object points into the object's bytes; nobody writes to it.
//
// FORMAT.md is the page of the format. Arrow's types stay inside this package. Codec and Object are safe for
// concurrent use; Sorter, Encoder and Merger belong to one goroutine.
package part
