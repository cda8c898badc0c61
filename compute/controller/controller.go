package controller

import (
	"context"
	"sync"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Options are what a controller stands on.
type Options struct {
	Set    *collection.Set
	Oracle *oracle.Oracle
}

// Controller knows the collections and the clusters that keep them up to date.
type Controller struct {
	o  Options
	mu struct {
		sync.Mutex
		collections map[tvc.ID]*coll
		clusters    map[tvc.ID]map[tvc.ID]protocol.Replica // cluster → replica
		transient   uint64
	}
}

// coll is a collection as the controller sees it.
type coll struct {
	id    tvc.ID
	shard *shard.Shard // nil for an index or a subscription
	// create describes the dataflow; nil for a table.
	create     *protocol.Create
	cluster    tvc.ID
	inputs     []*coll
	dependents map[tvc.ID]*coll
	// progress is what the dataflow has said last, through is the best of all replicas for each input.
	hydrated bool
	upper    tvc.Frontier
	through  map[tvc.ID]tvc.Frontier
	// claimed is the greatest logical upper ever given out.
	claimed tvc.Frontier
	// changed is closed when progress may have let waiting readers go on.
	changed chan struct{}
	err     error
	// hold keeps the inputs of an index or subscription readable; a view's are held by its shard's upper.
	hold *collection.Hold
	// held are the times at which readers hold an index.
	held map[*IndexHold]tvc.Frontier
}

// New makes a controller of no collections.
func New(o Options) *Controller {
	c := &Controller{o: o}
	c.mu.collections = map[tvc.ID]*coll{}
	c.mu.clusters = map[tvc.ID]map[tvc.ID]protocol.Replica{}
	return c
}

// AddReplica makes a replica part of a cluster: it gets every dataflow of the cluster.
func (c *Controller) AddReplica(cluster, id tvc.ID, r protocol.Replica) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.clusters[cluster] == nil {
		c.mu.clusters[cluster] = map[tvc.ID]protocol.Replica{}
	}
	c.mu.clusters[cluster][id] = r
	for _, x := range c.mu.collections {
		if x.create != nil && x.cluster == cluster && x.err == nil {
			r.Create(x.create)
		}
	}
}

// RemoveReplica takes a replica out of its cluster. It is the caller's to close.
func (c *Controller) RemoveReplica(cluster, id tvc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mu.clusters[cluster], id)
	if len(c.mu.clusters[cluster]) == 0 {
		delete(c.mu.clusters, cluster)
	}
}

// Table makes a collection known that nothing computes.
func (c *Controller) Table(id tvc.ID, sh *shard.Shard) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.collections[id] = &coll{id: id, shard: sh, dependents: map[tvc.ID]*coll{}, changed: make(chan struct{})}
}

// Create starts a view (sh is its shard, which by its collection.Desc holds the inputs) or an index (sh is
// nil, and hold, which becomes the controller's, holds the inputs at the as-of).
func (c *Controller) Create(cluster tvc.ID, cr *protocol.Create, sh *shard.Shard, hold *collection.Hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.createLocked(cluster, cr, sh, hold)
}

func (c *Controller) createLocked(cluster tvc.ID, cr *protocol.Create, sh *shard.Shard, hold *collection.Hold) *coll {
	x := &coll{id: cr.ID, shard: sh, create: cr, cluster: cluster, dependents: map[tvc.ID]*coll{}, hold: hold,
		through: map[tvc.ID]tvc.Frontier{}, changed: make(chan struct{}), held: map[*IndexHold]tvc.Frontier{}}
	for _, id := range cr.Plan.Imports() {
		in := c.mu.collections[id]
		if in == nil {
			invariants.Failf("dataflow %v reads %v, which is not there", cr.ID, id)
		}
		x.inputs = append(x.inputs, in)
		in.dependents[cr.ID] = x
	}
	c.mu.collections[cr.ID] = x
	for _, r := range c.mu.clusters[cluster] {
		r.Create(cr)
	}
	return x
}

// Drop forgets a collection and stops its dataflow. What depends on it must have been dropped before.
func (c *Controller) Drop(id tvc.ID) {
	c.mu.Lock()
	x := c.mu.collections[id]
	if x == nil {
		c.mu.Unlock()
		return
	}
	delete(c.mu.collections, id)
	for _, in := range x.inputs {
		delete(in.dependents, id)
	}
	x.err = errDropped
	x.notify()
	replicas := c.replicasLocked(x.cluster)
	c.mu.Unlock()
	if x.create != nil {
		for _, r := range replicas {
			r.Compact(id, tvc.Done)
		}
	}
	if x.hold != nil {
		x.hold.Release()
	}
}

var errDropped = pgerr.New(pgerr.UndefinedObject, "a collection that is read has been dropped")

func (c *Controller) replicasLocked(cluster tvc.ID) []protocol.Replica {
	var out []protocol.Replica
	for _, r := range c.mu.clusters[cluster] {
		out = append(out, r)
	}
	return out
}

// notify lets whoever waits for the collection look again. The controller's lock is held.
func (x *coll) notify() {
	close(x.changed)
	x.changed = make(chan struct{})
}

// Replica gives a replica of a cluster that queries can be sent to.
func (c *Controller) Replica(cluster tvc.ID) (protocol.Replica, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.mu.clusters[cluster] {
		return r, nil
	}
	return nil, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "the cluster has no replica").
		WithHint("Choose another cluster with SET cluster, or give this one replicas.")
}

// Peek reads an index at a time through which Wait has found it complete. emit gets blocks, borrowed.
func (c *Controller) Peek(ctx context.Context, p *protocol.Peek, emit func(*vec.Block) error) error {
	c.mu.Lock()
	x := c.mu.collections[p.Lookup.Index]
	c.mu.Unlock()
	if x == nil {
		return errDropped
	}
	r, err := c.Replica(x.cluster)
	if err != nil {
		return err
	}
	return r.Peek(ctx, p, emit)
}

// Subscription is a running subscription. Whoever has it owes a Close.
type Subscription struct {
	c    *Controller
	id   tvc.ID
	feed *protocol.Feed
}

// Subscribe starts a subscription at a time. hold, which becomes the controller's, holds its inputs there.
func (c *Controller) Subscribe(cluster tvc.ID, p *plan.Dataflow, at tvc.Time, s *protocol.Subscribe, hold *collection.Hold) *Subscription {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.transient++
	id := tvc.ID{Class: 't', N: c.mu.transient}
	c.createLocked(cluster, &protocol.Create{ID: id, Plan: p, AsOf: at, Subscribe: s}, nil, hold)
	return &Subscription{c: c, id: id, feed: s.Feed}
}

// Next gives the next changes; see protocol.Feed.
func (s *Subscription) Next(ctx context.Context) (protocol.Delivery, bool, error) {
	return s.feed.Next(ctx)
}

// Complete gives the frontier below which the subscription has everything, going by a closed time: it
// moves on although nothing is delivered.
func (s *Subscription) Complete(closed tvc.Time) tvc.Frontier {
	_, logical := s.c.Complete(s.id, closed)
	return logical
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.feed.Finish()
	s.c.Drop(s.id)
}
