// Package server is the listener and one goroutine for each connection that speaks PostgreSQL's protocol.
//
// Promises:
//
//	P1  nothing a client sends, in whatever order, kills or wedges the server: messages, waiting and memory are
//	    bounded, and a fault in serving one connection ends that connection alone.
//	P2  results are written as they are pulled: a client that does not read stops its own query.
//	P3  after an error in the extended protocol everything up to the next Sync is skipped, as in PostgreSQL.
//	P4  a client that goes away stops its statement; a server that shuts down tells its clients (57P01).
//
// The first connection-level messages, SSLRequest and GSSENCRequest, are answered with "no": connections are not
// encrypted yet.
package server
