// Package row is rows as bytes: order-preserving keys, compact values, and the text and binary formats a
// client sees.
//
// Promises:
//
//	R1  keys of one Key order as their columns do (byte by byte, NULLs and directions as the Key says), no
//	    key is a prefix of another, and equal columns give equal bytes.
//	R2  values of one Value are equal bytes exactly when their columns are equal; any column can be read
//	    alone.
//	R3  what was encoded decodes to the same columns. Keys and values are made by this process: decoding
//	    other bytes may panic. The wire formats take any bytes and answer with an error.
//
// Codecs are immutable and safe for concurrent use.
package row
