// Package bench measures a server, in one process with it: how a materialized view's changes get into storage, by the
// server's own way and by ways known from elsewhere, beside each other.
//
// A table is measured in cells, one for each way and run. The ways take turns within a run, so that what the machine does
// besides hits all of them. Each cell has a server of its own, on a new directory.
package bench
