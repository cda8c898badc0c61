// Package runner runs many script files: it finds them, gives each a server in a clean state, runs them in one or
// more jobs, and reports.
//
// Promises:
//
//	N1  A run is all right only if every file was read, ran to its end and passed.
//	N2  Every file begins with a clean state, unless the caller says otherwise.
//	N3  The same seed gives the same order, the same names and the same places of interruption.
//	N4  A server that the runner started ends before Run returns, and with the process if that is killed.
//
// Suite is the machinery for files of any kind (package slt uses it too); Run is the entry for .td files. Each job
// has a server of its own or a database of its own, so jobs do not meet.
package runner
