// Package txn is a process's one line to the consensus store: units of operations on shards and registers,
// each done at once and in full or not at all, many sharing one durable write.
//
// Promises:
//
//	T1  the units of a step are evaluated in the order they came, clients' before background ones; a later
//	    one sees what earlier ones of the step do.
//	T2  everything that is ready when a step is formed shares one Commit, up to 1 MiB; nothing waits for
//	    a timer.
//	T3  every unit compares the environment's epoch. When another process has raised it, Do gives ErrFenced
//	    and goes on doing so.
//	T4  states are installed and watchers woken only when durable.
//	T5  after an unknown outcome nothing else is tried until it is settled, by the tokens in the registers.
//	T6  the oracle's reserved mark rides along, so that every time that is given out lies below a durable
//	    mark.
//
// Group is safe for concurrent use. It owns no goroutine: one of the callers leads each step.
package txn

import (
	"context"
	"errors"

	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
)

// ErrFenced says that another process has taken over this environment: this one can write nothing any more.
var ErrFenced = errors.New("another process has taken over this environment")

// Register is a claim on a register of the environment that is not a shard: that it is at version Expect, and
// Data as its new entry (nil: only compare).
type Register struct {
	Key    string
	Expect consensus.Version
	Data   []byte
}

// Unit is operations that happen all or not at all, evaluated in order.
type Unit struct {
	Ops       []shard.Op
	Registers []Register
	// Background lets units of clients go first.
	Background bool
}

// Outcome is what became of a unit that was decided.
type Outcome struct {
	// Refused is nil if the unit was done.
	Refused *shard.Refusal
}

// Done says whether the unit happened.
func (o Outcome) Done() bool { return o.Refused == nil }

// Group is the line.
type Group struct{}

// Do makes a unit happen, durably. An error means that it did not happen, except consensus.ErrIndeterminate,
// which Do gives only when ctx or the group ends before an unknown outcome could be settled. When ctx ends
// while the unit is being written, Do waits for the outcome all the same.
func (g *Group) Do(ctx context.Context, u Unit) (Outcome, error) { panic("sketch") }

// Register reads a register's head.
func (g *Group) Register(ctx context.Context, key string) (consensus.Versioned, error) {
	panic("sketch")
}
