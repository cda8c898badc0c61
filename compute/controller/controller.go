package controller

import (
	"context"
	"log/slog"
	"sync"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/engine"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/compute/sink"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Options are what a controller stands on.
type Options struct {
	Set      *collection.Set
	Oracle   *oracle.Oracle
	Settings *settings.Set
	Registry collection.Registry
	Log      *slog.Logger
	// Name gives the full SQL name of a collection.
	Name func(id tvc.ID) string
}

// Settings lists the parameters that compute reads.
func Settings() []settings.Param { return sink.Settings() }

// Controller knows the collections and the clusters that keep them up to date.
type Controller struct {
	o Options
	// shared is what all replicas in this process have in common; local is a replica of no cluster, for
	// what reads no collection.
	shared engine.Options
	local  *engine.Engine
	mu     struct {
		sync.Mutex
		collections map[tvc.ID]*coll
		clusters    map[tvc.ID][]*engine.Engine
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
	c.mu.clusters = map[tvc.ID][]*engine.Engine{}
	c.shared = engine.Options{Sched: dataflow.NewScheduler(), Group: o.Set.Group(), Inputs: c, Listener: c,
		Settings: o.Settings, Staging: sink.NewBudget(o.Settings), SinkMetrics: sink.NewMetrics(o.Registry),
		Metrics: engine.NewMetrics(o.Registry), Log: o.Log,
		Shard: func(id tvc.ID) (*shard.Shard, string, bool) {
			sh, ok := o.Set.Shard(id)
			return sh, o.Name(id), ok
		}}
	local := c.shared
	local.Workers = 1
	c.local = engine.New(local)
	return c
}

// Close stops all replicas.
func (c *Controller) Close() {
	c.mu.Lock()
	all := []*engine.Engine{c.local}
	for _, rs := range c.mu.clusters {
		all = append(all, rs...)
	}
	c.mu.Unlock()
	for _, e := range all {
		e.Close()
	}
}

// SetCluster gives a cluster one replica for each of the given numbers of workers; none ends it. Its
// dataflows start anew on them.
func (c *Controller) SetCluster(id tvc.ID, workers ...int) {
	c.mu.Lock()
	old := c.mu.clusters[id]
	delete(c.mu.clusters, id)
	for _, w := range workers {
		o := c.shared
		o.Workers = w
		c.mu.clusters[id] = append(c.mu.clusters[id], engine.New(o))
	}
	for _, x := range c.mu.collections {
		if x.create != nil && x.cluster == id && x.err == nil {
			x.hydrated, x.upper = false, 0
			for _, e := range c.mu.clusters[id] {
				e.Create(c.again(x))
			}
		}
	}
	c.mu.Unlock()
	for _, e := range old {
		e.Close()
	}
}

// again describes a dataflow that is started on another replica: from where its output, or what it holds,
// stands now.
func (c *Controller) again(x *coll) *protocol.Create {
	cr := *x.create
	if x.create.Index != nil && x.hold != nil {
		cr.AsOf = max(cr.AsOf, tvc.Time(x.hold.Since()))
	}
	x.create = &cr
	return &cr
}

// Table makes a collection known that nothing computes.
func (c *Controller) Table(id tvc.ID, sh *shard.Shard) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.collections[id] = &coll{id: id, shard: sh, dependents: map[tvc.ID]*coll{}, changed: make(chan struct{})}
}

// View starts a materialized view on a cluster, from where its shard stands. The shard's collection.Desc
// holds the inputs. A shard to which nothing was appended begins at its upper.
func (c *Controller) View(cluster, id tvc.ID, p *plan.Dataflow, sh *shard.Shard) {
	cr := &protocol.Create{ID: id, Plan: p, View: &protocol.View{Fresh: sh.Upper() == sh.Since()}}
	cr.AsOf = sh.Upper().Last()
	if cr.View.Fresh {
		cr.AsOf = tvc.Time(sh.Upper())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.createLocked(cluster, cr, sh, nil)
}

// Index starts an index on a cluster: the plan's result, arranged by some of its columns.
func (c *Controller) Index(ctx context.Context, cluster, id tvc.ID, p *plan.Dataflow, keys []int) error {
	hold, err := c.o.Set.Hold("index "+p.Name, p.Imports()...)
	if err != nil {
		return err
	}
	asOf, err := c.o.Oracle.ReadTime(ctx)
	if err != nil {
		hold.Release()
		return err
	}
	asOf = max(asOf, tvc.Time(hold.Since()))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.createLocked(cluster, &protocol.Create{ID: id, Plan: p, AsOf: asOf, Index: &protocol.Index{Keys: keys}}, nil, hold)
	return nil
}

func (c *Controller) createLocked(cluster tvc.ID, cr *protocol.Create, sh *shard.Shard, hold *collection.Hold) {
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
	for _, e := range c.mu.clusters[cluster] {
		e.Create(cr)
	}
}

// Broken makes a collection known that nothing can compute: reads of it, and of what is computed from it, fail with
// the reason. sh is where a view's contents are stored; nil for an index.
func (c *Controller) Broken(id tvc.ID, sh *shard.Shard, reason error) {
	name := c.o.Name(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.collections[id] = &coll{id: id, shard: sh, create: &protocol.Create{ID: id, Plan: &plan.Dataflow{Name: name}},
		dependents: map[tvc.ID]*coll{}, through: map[tvc.ID]tvc.Frontier{}, changed: make(chan struct{}),
		held: map[*IndexHold]tvc.Frontier{}, err: brokenError(name, reason)}
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
	replicas := c.mu.clusters[x.cluster]
	c.mu.Unlock()
	if x.create != nil {
		for _, e := range replicas {
			e.Compact(id, tvc.Done)
		}
		if x.create.View != nil {
			c.shared.SinkMetrics.Forget(x.create.Plan.Name)
		}
	}
	if x.hold != nil {
		x.hold.Release()
	}
}

var errDropped = pgerr.New(pgerr.UndefinedObject, "a collection that is read has been dropped")

// notify lets whoever waits for the collection look again. The controller's lock is held.
func (x *coll) notify() {
	close(x.changed)
	x.changed = make(chan struct{})
}

// Subscription is a running subscription. Whoever has it owes a Close.
type Subscription struct {
	c    *Controller
	id   tvc.ID
	feed *protocol.Feed
}

// SubscribeOptions describe a subscription.
type SubscribeOptions struct {
	Plan *plan.Dataflow
	At   tvc.Time
	// NoSnapshot leaves out what there is at the time.
	NoSnapshot bool
	// UpTo ends it: no change at or after it is given. 0: never.
	UpTo tvc.Frontier
	// MaxLagBytes bounds what may wait for a slow client. 0 means protocol.DefaultLagBytes.
	MaxLagBytes int64
}

// Subscribe starts a subscription at a time at which the caller holds what it reads.
func (c *Controller) Subscribe(cluster tvc.ID, o SubscribeOptions) (*Subscription, error) {
	hold, err := c.o.Set.Hold("subscription to "+o.Plan.Name, o.Plan.Imports()...)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.mu.clusters[cluster]) == 0 {
		hold.Release()
		return nil, errNoReplica
	}
	c.mu.transient++
	id := tvc.ID{Class: 't', N: c.mu.transient}
	s := &protocol.Subscribe{Feed: protocol.NewFeed(o.MaxLagBytes), NoSnapshot: o.NoSnapshot, UpTo: o.UpTo}
	c.createLocked(cluster, &protocol.Create{ID: id, Plan: o.Plan, AsOf: o.At, Subscribe: s}, nil, hold)
	return &Subscription{c: c, id: id, feed: s.Feed}, nil
}

// Next gives the next changes and through where they are complete; ok is false at the end. If ctx ends it
// fails with ctx's cause and nothing is lost.
func (s *Subscription) Next(ctx context.Context) (rows *vec.Block, upper tvc.Frontier, ok bool, err error) {
	d, ok, err := s.feed.Next(ctx)
	return d.Rows, d.Upper, ok, err
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
