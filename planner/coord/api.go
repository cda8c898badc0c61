package coord

import (
	"context"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Isolation says how fresh a read must be.
type Isolation uint8

const (
	// StrictSerializable: at or after every write acknowledged before the read began; it may wait.
	StrictSerializable Isolation = iota
	// Serializable: a time at which everything is complete already; it waits only for what has no such time yet.
	Serializable
)

// ReadOptions says at which time to read.
type ReadOptions struct {
	Isolation Isolation
	// AsOf, if set, is the time to read at, refused if it is no longer readable; with AtLeast a later
	// time may be chosen where it is not.
	AsOf    *tvc.Time
	AtLeast bool
	// All holds every collection there is, not only those asked for: a transaction may go on to read
	// others at the same time. What others are dropping meanwhile is left out.
	All bool
	// Catalog is what the reader goes by: it names in errors what is no longer there. nil: the newest.
	Catalog *catalog.Snapshot
}

// Read is one time, which is closed, and a hold on what is read at it. To read what was dropped since fails (42P01).
// Who has it owes a Release. It is safe for concurrent use.
type Read interface {
	// At is the time.
	At() tvc.Time
	// Query starts a one-off query at the time. The cursor has holds of its own: the Read may be
	// released while it is open.
	Query(ctx context.Context, q *Query) (Cursor, error)
	// Subscribe starts a subscription at the time. The feed has holds of its own.
	Subscribe(ctx context.Context, s *Subscription) (Feed, error)
	// Release gives the hold back. Calling it again does nothing.
	Release()
}

// Query is a one-off query: exactly one of Dataflow and Lookup is set.
type Query struct {
	Dataflow  *plan.Dataflow
	Lookup    *plan.Lookup
	Finishing plan.Finishing
	// Cols are the types of the result's columns, after the finishing.
	Cols []types.T
	// Cluster is where it runs.
	Cluster tvc.ID
	// MaxBytes bounds the result: past it the cursor fails (53400). 0: no bound.
	MaxBytes int64
	// Env answers what its expressions ask about the statement and the catalog.
	Env scalar.Env
}

// Cursor gives a result block by block. It belongs to one goroutine.
type Cursor interface {
	// Next gives the next rows, nil at the end. The block is borrowed until the next call. Diffs, if
	// there are any, are positive: a row that counts n times is n rows. When ctx ends Next fails with its
	// cause, and the cursor can only be closed.
	Next(ctx context.Context) (*vec.Block, error)
	// Close ends the query. Calling it again does nothing.
	Close()
}

// Subscription is a query whose result's changes are wanted.
type Subscription struct {
	Name     string
	Dataflow *plan.Dataflow
	Cols     []types.T
	Cluster  tvc.ID
	// NoSnapshot leaves out what there is at the read's time: only later changes come.
	NoSnapshot bool
	// UpTo, if not 0, ends it: no change at or after it is given.
	UpTo tvc.Frontier
	// Progress asks for deliveries that say only that time has passed, about once a second.
	Progress bool
	// MaxLagBytes bounds what may wait for a slow client: past it the feed fails. 0: the default.
	MaxLagBytes int64
}

// Feed gives a subscription's changes. It belongs to one goroutine.
type Feed interface {
	// Next gives what has come since the last call, waiting until there is something: changes, or
	// progress. It is the end when ok is false. When ctx ends Next fails with its cause and the feed
	// stays as it was: nothing is lost, Next may be called again. What is there already is given even
	// if ctx has ended.
	Next(ctx context.Context) (d Delivery, ok bool, err error)
	// Close ends the subscription. Calling it again does nothing.
	Close()
}

// Delivery is one portion of a feed.
type Delivery struct {
	// Rows are changes with times and diffs, consolidated, in order of time, none below the Upper of the
	// delivery before. Of one time there may be several deliveries; then Upper is that time until the last
	// of them. nil: none. Borrowed until the next call.
	Rows *vec.Block
	// Upper is complete: nothing below it will come.
	Upper tvc.Frontier
}

// Writes gathers what a transaction writes; it belongs to one goroutine. Who has it owes Commit or Abort.
type Writes interface {
	// Add takes rows, with diffs, for a table; the block is only lent. What is much goes to storage right
	// away (invisible until the commit), so that memory stays bounded.
	Add(ctx context.Context, table *catalog.Item, rows *vec.Block) error
	// Pending gives what was added for a table, borrowed; false if some of it is in storage already.
	Pending(table tvc.ID) ([]*vec.Block, bool)
	// Commit makes all of it visible at one time, which it gives, or none of it. With reads it is refused
	// (40001) if any of these tables changed after readAt. Nothing added and nothing read is fine.
	Commit(ctx context.Context, reads []tvc.ID, readAt tvc.Time) (tvc.Time, error)
	// Abort forgets all of it. After Commit, or another Abort, it does nothing.
	Abort()
}
