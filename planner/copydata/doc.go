// Package copydata is COPY's data: rows to bytes and back, in PostgreSQL's text, csv and binary formats.
//
// Promises:
//
//	D1  what is written is read back as the same rows, and PostgreSQL reads and writes the same bytes.
//	D2  data may be cut into pieces anywhere; nothing is kept of a piece but an unfinished row, whose size is bounded.
//	D3  an error says where in the data it is, in PostgreSQL's words.
//
// A Format is a value of its own for each COPY. Formats, Readers and what they fill belong to one goroutine.
package copydata
