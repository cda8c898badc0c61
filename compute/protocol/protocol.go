// Package protocol is what a controller and a replica may say to each other, and in which order.
//
// The controller says Create once for an ID, then any number of Compact, Wake, TakeOver and Yield, and last
// Compact with Done, which ends it. Peek may name an index from its Create on. The replica answers through the
// Listener: Progress any number of times after Create, each no less than the one before; Reset when it has
// begun anew and what it said of an index no longer holds; Corrects before it corrects a view; Failed if the
// dataflow cannot go on, after which nothing more is said about it.
//
// Promises of a replica: what it says with Progress has happened, durably where it is said to be; a
// Create is answered by work, never by waiting.
package protocol

import (
	"context"
	"errors"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Replica is one running copy of a cluster: the engine in this process, or a stand-in for one elsewhere.
// It is safe for concurrent use.
type Replica interface {
	// Create starts a dataflow.
	Create(c *Create)
	// Compact lets the times before since go; Done drops the dataflow, and returns when it has stopped.
	Compact(id tvc.ID, since tvc.Frontier)
	// Wake says that an input of a dataflow may have become complete further than before.
	Wake(id tvc.ID)
	// TakeOver says that the replica that a view's dataflow may have stood by for does no more.
	TakeOver(id tvc.ID)
	// Yield says that another replica corrects what is stored of a view: the next append is its own, if it makes it
	// before long.
	Yield(id tvc.ID)
	// Peek reads an index, which must be complete through the time and not compacted past it. ErrNotReady
	// if it has begun anew meanwhile.
	Peek(ctx context.Context, p *Peek) (Rows, error)
	// Query runs a plan once, over inputs that are complete through the time and held at it.
	Query(ctx context.Context, q *Query) (Rows, error)
}

// Create describes a dataflow.
type Create struct {
	// ID is the collection that the dataflow makes: a view, an index, or that of one subscription.
	ID   tvc.ID
	Plan *plan.Dataflow
	// AsOf is the time it starts at. All inputs are held there.
	AsOf tvc.Time
	// Exactly one of these is set.
	View      *View
	Index     *Index
	Subscribe *Subscribe
}

// View makes the dataflow a materialized view: its result goes to the shard of its ID.
type View struct {
	// Fresh says that the shard has no contents yet; else it has those below its upper, which is
	// AsOf + 1.
	Fresh bool
	// StandsBy says that another replica writes to the shard: this one computes the same, and takes over when the
	// other one does not go on.
	StandsBy bool
}

// Index makes the dataflow an index by some of its columns.
type Index struct{ Keys []int }

// Subscribe makes the dataflow a subscription.
type Subscribe struct {
	Feed       *Feed
	NoSnapshot bool
	// UpTo ends it; 0: never.
	UpTo tvc.Frontier
}

// Peek is a read of an index.
type Peek struct {
	Lookup *plan.Lookup
	// Cols are the types of the columns of the relation that the index is on.
	Cols      []types.T
	Finishing plan.Finishing
	At        tvc.Time
	MaxBytes  int64
	Env       scalar.Env
}

// Query is a plan to be run once.
type Query struct {
	Plan      *plan.Dataflow
	Finishing plan.Finishing
	At        tvc.Time
	MaxBytes  int64
	Env       scalar.Env
}

// Rows is a result, to be read by one goroutine.
type Rows interface {
	// Next gives the next rows, nil at the end; borrowed until the next call. Diffs are positive.
	Next(ctx context.Context) (*vec.Block, error)
}

// ErrNotReady says that an index is not there to be read at the moment: Reset was or Progress will be said.
var ErrNotReady = errors.New("the index is not there yet")

// Read says through where an input was read.
type Read struct {
	ID    tvc.ID
	Upper tvc.Frontier
}

// Progress says how far a dataflow has got.
type Progress struct {
	ID tvc.ID
	// Through has, for each input, the physical upper through which its changes are in the dataflow's
	// output (in its shard, durably; in its arrangement; at its client). It is lent for the call.
	Through []Read
	// Upper is complete: the output has everything below it.
	Upper tvc.Frontier
}

// Listener hears from replicas. Its methods may be called from any goroutine and must not wait.
type Listener interface {
	Progress(p Progress)
	// Reset says that an index has begun anew: it is not there until the next Progress.
	Reset(id tvc.ID)
	// Corrects says that a view's dataflow begins to compute what is to be corrected of what is stored. When it returns,
	// the other replicas have been told to Yield. Below claimed the view was said to be complete: no correction may lie
	// there. No more is claimed until this dataflow's next Progress or Hold, or another's Waited.
	Corrects(id tvc.ID) (claimed tvc.Frontier)
	// Waited says that a dataflow that was told to Yield no longer waits.
	Waited(id tvc.ID)
	// Failed says that a dataflow has ended for good.
	Failed(id tvc.ID, err error)
}

// Inputs is what a replica asks about collections. It is safe for concurrent use and never waits.
type Inputs interface {
	// Closed gives the latest closed time: every write at or before it has been applied to its shard.
	Closed() tvc.Time
	// Complete gives a claim: with everything physically below physical, the collection is complete below
	// logical, closed being the closed time to go by.
	Complete(id tvc.ID, closed tvc.Time) (physical, logical tvc.Frontier)
	// Stalled says that a dataflow has changes that it cannot take in before Complete claims more. It is
	// woken once when that may be so; having said it, it must ask Complete once more before it sleeps.
	Stalled(id tvc.ID)
	// Hold keeps the inputs of a view readable for the view's dataflow here: from the view's durable upper - 1 on, and
	// anew each time. It is false if one of them, or the view, is dropped. The hold ends when the dataflow is too far
	// behind who appends to the view, and with the dataflow.
	Hold(id tvc.ID) bool
	// Reads says that a view's dataflow has yet to read the changes from a frontier on, and nothing else.
	Reads(id tvc.ID, from tvc.Frontier)
}
