// Package action does what the blocks of a script say: it holds the sessions of one script with a server and has
// one file per command.
//
// Promises:
//
//	A1  A block holds or gives a *Failure that says where, what was expected, what came, how often it was tried
//	    and how long that took. Nothing is swallowed.
//	A2  A statement is tried again until it holds, its time is over or its tries are; statements that must not be
//	    repeated are run once.
//	A3  Time is taken from the Clock handed in, so tests decide how long things take.
//	A4  An action that does not exist, or argument names it does not have, fail before anything is sent.
//
// A Machine belongs to one goroutine. Sessions connect when first used, and again after the server was restarted.
package action
