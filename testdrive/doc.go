// Package testdrive runs scripts against a database and says where the answers differ.
//
// It knows a server only by its address, speaks through pgx, a foreign client, and imports nothing of ours:
// an encoder and a decoder of one house could agree on a mistake. So both tools run against any server that
// speaks PostgreSQL's protocol.
//
// Map, from the bottom: script (reads .td files) · action (a session with a server and what a script can do
// with it, one file per command) · runner (many files: order, jobs, clean state, reports; the server that
// testdrive itself starts) · slt (reads and runs sqllogictest files, on the same runner).
//
// Doors: runner and slt, entered by the subcommands of the same names. The corpora are in testdata/td and
// testdata/slt.
package testdrive
