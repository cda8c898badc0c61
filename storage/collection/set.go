// Package collection knows which shard stores which collection, who holds them back, and keeps them in good
// shape in the background.
//
// Promises:
//
//	S1  while a Hold is held, its collections can be read at its time and at every later one.
//	S2  a view's inputs stay readable from the view's durable upper - 1 on, also across restarts: Behind.
//	S3  maintenance (since, compaction, drain, rollups, garbage) runs only when something was written.
//	S4  a collection's metrics end when it is forgotten.
//
// Set is safe for concurrent use. It owns the maintenance goroutines; Close ends them.
package collection

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// Options is what a Set stands on.
type Options struct {
	Consensus consensus.Store
	Blob      blob.Store
	// Clock is the wall clock.
	Clock tvc.Clock
	// Registry takes the metrics.
	Registry Registry
	// Log takes what only an operator can act on.
	Log *slog.Logger
	// Random keys the fingerprints; crypto/rand.Reader outside of tests.
	Random io.Reader
	// Settings func later
}

// Set is the collections of an environment, as one process sees them.
type Set struct{}

// Open takes the environment over: it raises the epoch, so that a process that had it before can write
// nothing any more, and starts the oracle above that process's mark. No collection is open yet, and
// maintenance does not run until Start: the caller first opens every collection and tells who stands behind
// whom, so that nothing is compacted away under a view.
func Open(ctx context.Context, o Options) (*Set, error) { panic("sketch") }

// Start begins background maintenance, and sweeps what earlier processes left unlinked.
func (s *Set) Start() { panic("sketch") }

// Close ends maintenance and waits for it. The stores are the caller's to close.
func (s *Set) Close() error { panic("sketch") }

// Group, Oracle and Client are the parts below, of this environment.
func (s *Set) Group() *txn.Group { panic("sketch") }

// Oracle gives the oracle.
func (s *Set) Oracle() *oracle.Oracle { panic("sketch") }

// Client gives the shards.
func (s *Set) Client() *shard.Client { panic("sketch") }

// Desc says what a collection is.
type Desc struct {
	ID    tvc.ID
	Shard shard.ID
	// Name is the full SQL name, the label of its metrics.
	Name string
	// Retain is how much history stays readable although nobody holds it. 0 means one second; negative
	// means none.
	Retain time.Duration
	// Inputs are the collections a view reads: they stay readable from the view's durable upper - 1.
	Inputs []tvc.ID
}

// Open makes a collection known, whose shard exists (created by an earlier process or by a unit that is
// done). Inputs must be open already.
func (s *Set) Open(ctx context.Context, d Desc) (*shard.Shard, error) { panic("sketch") }

// Shard gives an open collection's shard.
func (s *Set) Shard(id tvc.ID) (*shard.Shard, bool) { panic("sketch") }

// Rename changes the label of its metrics.
func (s *Set) Rename(id tvc.ID, name string) { panic("sketch") }

// Forget closes a collection: its metrics and its hold on inputs end. If its shard is sealed, its objects go
// once nobody reads them.
func (s *Set) Forget(id tvc.ID) { panic("sketch") }

// Hold keeps collections readable. It is owed a Release.
type Hold struct{}

// Hold takes a hold on collections that are open, for an owner that is named to people, at the least time at
// which all of them can be read.
func (s *Set) Hold(owner string, ids ...tvc.ID) (*Hold, error) { panic("sketch") }

// Since is what the hold promises: all its collections can be read at this time and later.
func (h *Hold) Since() tvc.Frontier { panic("sketch") }

// Downgrade lets everything before f go; it never goes back.
func (h *Hold) Downgrade(f tvc.Frontier) { panic("sketch") }

// Release ends the hold. More than once is harmless.
func (h *Hold) Release() { panic("sketch") }

// HoldInfo describes a hold, for the system relation of holds.
type HoldInfo struct {
	Owner string
	ID    tvc.ID
	Since tvc.Frontier
}

// Holds lists all holds, ordered by collection, then owner.
func (s *Set) Holds() []HoldInfo { panic("sketch") }
