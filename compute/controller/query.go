package controller

import (
	"context"
	"errors"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Query is a one-off read at a time at which the caller holds what it reads. Exactly one of Plan and Lookup
// is set.
type Query struct {
	Plan *plan.Dataflow
	// Lookup reads an index over a relation with the columns Cols.
	Lookup    *plan.Lookup
	Cols      []types.T
	Finishing plan.Finishing
	// Cluster runs a Plan; a Lookup runs where its index is.
	Cluster  tvc.ID
	At       tvc.Time
	MaxBytes int64
	Env      scalar.Env
}

// Rows is a result, to be read by one goroutine.
type Rows = protocol.Rows

var errNoReplica = pgerr.New(pgerr.ObjectNotInPrerequisiteState, "the cluster has no replica").
	WithHint("Choose another cluster with SET cluster, or give this one replicas.")

// Query waits until what is read is complete through the time, and reads it.
func (c *Controller) Query(ctx context.Context, q *Query) (Rows, error) {
	if q.Lookup != nil {
		return c.lookup(ctx, q)
	}
	on := c.local
	if imports := q.Plan.Imports(); len(imports) > 0 {
		if err := c.Wait(ctx, imports, q.At); err != nil {
			return nil, err
		}
		var err error
		if on, err = c.replica(q.Cluster); err != nil {
			return nil, err
		}
	}
	return on.engine.Query(ctx, &protocol.Query{Plan: q.Plan, Finishing: q.Finishing, At: q.At, MaxBytes: q.MaxBytes, Env: q.Env})
}

// lookup answers from the first replica on which the index is complete through the time.
func (c *Controller) lookup(ctx context.Context, q *Query) (Rows, error) {
	p := &protocol.Peek{Lookup: q.Lookup, Cols: q.Cols, Finishing: q.Finishing, At: q.At, MaxBytes: q.MaxBytes, Env: q.Env}
	for {
		var on *replica
		var from *output
		var err error
		ready := func(x *coll) bool {
			on, from, err = c.peekableLocked(x, q.At)
			return on != nil || err != nil
		}
		if failed := c.await(ctx, q.Lookup.Index, ready); failed != nil {
			return nil, failed
		}
		if err != nil {
			return nil, err
		}
		rows, err := on.engine.Peek(ctx, p)
		switch {
		case errors.Is(err, protocol.ErrNotReady):
		case err != nil || c.stillFrom(q.Lookup.Index, on, from):
			return rows, err
		}
	}
}

// peekableLocked gives a replica on which an index can be read at a time, and the output that is read; nil if there is
// none yet.
func (c *Controller) peekableLocked(x *coll, at tvc.Time) (*replica, *output, error) {
	replicas := c.mu.clusters[x.cluster]
	if len(replicas) == 0 {
		return nil, nil, errNoReplica
	}
	c.mu.walk++
	for _, r := range replicas {
		if run := x.runs[r]; run != nil && run.err == nil && run.claim(x, at, c.mu.walk) > tvc.Frontier(at) {
			return r, run.output, nil
		}
	}
	return nil, nil, nil
}

// stillFrom says whether what was read of an index on a replica just now came from this output: the index may have
// begun anew between the choice and the reading, and then be less far.
func (c *Controller) stillFrom(index tvc.ID, on *replica, from *output) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.mu.collections[index]
	return x != nil && x.runs[on] != nil && x.runs[on].output == from
}

// replica gives a replica of a cluster that queries can be sent to.
func (c *Controller) replica(cluster tvc.ID) (*replica, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rs := c.mu.clusters[cluster]; len(rs) > 0 {
		return rs[0], nil
	}
	return nil, errNoReplica
}
