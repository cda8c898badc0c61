// Package session is one client's conversation: its variables, its transaction, its prepared statements, portals
// and cursors, and what each kind of statement does, one file for each family.
//
// Promises:
//
//	S1  what a transaction writes is seen at one time or never; what it reads is read at one time.
//	S2  a statement that fails changes nothing, and within a block nothing after it does until ROLLBACK.
//	S3  results are pulled: a portal with a row limit, a FETCH, a slow socket and a SUBSCRIBE are one mechanism, and
//	    nothing runs ahead of the client by more than a block.
//	S4  a statement is bound to one catalog snapshot; if the catalog has changed before it takes effect, it is
//	    bound again.
//	S5  whatever a statement holds (times, cursors, staged writes) is given back when its result is closed, its
//	    transaction ends or the session does.
//
// The package is a little larger than most because every statement of the surface ends here; what could be told apart
// (binding, DDL, COPY's data, the system's relations) has rooms of its own.
//
// A Manager is safe for concurrent use. A Session, and what comes from it, belongs to one goroutine, except
// for Cancel and Terminate.
package session
