// Package storage remembers: time-varying collections of rows, durable and atomically committed.
//
// Map, from the bottom: tvc (the vocabulary) · meter (what shards count) · blob (immutable objects) · consensus (versioned
// registers) · part (the encoding of a sorted run) · oracle (read and write times) · shard (the durable
// collection) · txn (many shards in one step) · collection (ids, holds, who may compact what) ·
// storagetest (stores that fail, lie, crash and replay).
//
// Doors: tvc, shard, txn, oracle, collection; for cmd also blob and consensus.
package storage
