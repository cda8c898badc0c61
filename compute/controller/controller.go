package controller

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

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
	// Sharing is how views' changes become parts; nil means as sink.ViewOptions says.
	Sharing Sharing
}

// Sharing is how the changes that workers have for an interval of a view become parts.
type Sharing = sink.Sharing

// Settings lists the parameters that compute reads.
func Settings() []settings.Param { return append(sink.Settings(), standbyMaxLag) }

// Controller knows the collections and the clusters that keep them up to date.
type Controller struct {
	o Options
	// shared is what all replicas in this process have in common; local is a replica of no cluster, for
	// what reads no collection.
	shared engine.Options
	local  *replica
	mu     struct {
		sync.Mutex
		collections map[tvc.ID]*coll
		clusters    map[tvc.ID][]*replica
		transient   uint64
		// stalled are the dataflows that wait for a claim about their inputs.
		stalled map[stalled]struct{}
		walk    uint64 // see coll.walk
	}
}

// coll is a collection as the controller sees it.
type coll struct {
	id    tvc.ID
	name  string       // the full SQL name
	shard *shard.Shard // nil for an index or a subscription
	// create describes the dataflow; nil for a table.
	create     *protocol.Create
	cluster    tvc.ID
	inputs     []*coll
	dependents map[tvc.ID]*coll
	// runs are the replicas that the dataflow runs on. What they say of a view is about one output, its
	// shard, which stays also when they go; every run of an index has an output of its own.
	runs   map[*replica]*run
	output *output // a view's
	// corrector is the replica that computes a correction of a view; see Corrects.
	corrector *replica
	// claimed is the greatest logical upper of a table or view ever given out.
	claimed tvc.Frontier
	// changed is closed when progress may have let waiting readers go on; nil if nobody waits.
	changed chan struct{}
	// err says that it was dropped, or never could be computed.
	err error
	// hold keeps the inputs of an index or subscription readable; a view's are held by its shard's upper and its runs.
	hold *collection.Hold
	// held are the times at which readers hold an index.
	held map[*IndexHold]tvc.Frontier
	// walk is the number of the last walk through the graph that came by, and seen what it found: a walk
	// looks at a collection once, however many ways lead to it.
	walk uint64
	seen claim
}

// isView says whether it is a view that runs.
func (x *coll) isView() bool { return x.output != nil }

// claim says that with everything physically below physical, a collection is complete below logical.
type claim struct{ physical, logical tvc.Frontier }

// run is a dataflow on one replica.
type run struct {
	*output
	// err is why it has ended for good; a new run, on another replica, starts without it.
	err error
	// held is what a view's run keeps of its inputs, beyond what its shard's upper does.
	held runHold
}

// output is how far a dataflow's result has got.
type output struct {
	hydrated bool
	upper    tvc.Frontier
	// through is the physical upper of each input that the output has.
	through map[tvc.ID]tvc.Frontier
	// claimed is the greatest logical upper of an index ever given out.
	claimed tvc.Frontier
	// since is from when on an index can be read here.
	since tvc.Frontier
}

// New makes a controller of no collections.
func New(o Options) *Controller {
	c := &Controller{o: o}
	c.mu.collections = map[tvc.ID]*coll{}
	c.mu.clusters = map[tvc.ID][]*replica{}
	c.mu.stalled = map[stalled]struct{}{}
	c.shared = engine.Options{Sched: dataflow.NewScheduler(), Group: o.Set.Group(),
		Settings: o.Settings, Staging: sink.NewBudget(o.Settings), SinkMetrics: sink.NewMetrics(o.Registry),
		Metrics: engine.NewMetrics(o.Registry), Log: o.Log, Shard: o.Set.Shard, Name: o.Name, Sharing: o.Sharing}
	c.local = c.newReplica(ReplicaDesc{Workers: 1})
	return c
}

// Close stops all replicas.
func (c *Controller) Close() {
	c.mu.Lock()
	all := []*replica{c.local}
	for _, rs := range c.mu.clusters {
		all = append(all, rs...)
	}
	c.mu.Unlock()
	for _, r := range all {
		r.engine.Close()
	}
}

// ReplicaDesc describes a replica.
type ReplicaDesc struct {
	ID      tvc.ID
	Workers int
}

// replica is one copy of a cluster's work. It tells its engine about collections, and hears from it.
type replica struct {
	c      *Controller
	desc   ReplicaDesc
	engine *engine.Engine
}

func (c *Controller) newReplica(d ReplicaDesc) *replica {
	r := &replica{c: c, desc: d}
	o := c.shared
	o.Workers, o.Inputs, o.Listener = d.Workers, r, r
	r.engine = engine.New(o)
	return r
}

var errReplicaGone = pgerr.New(pgerr.ObjectNotInPrerequisiteState, "the replica that the subscription ran on is gone").
	WithHint("Subscribe again.")

// SetCluster gives a cluster its replicas; none ends it. A replica that it had already goes on as it is; the
// cluster's dataflows start on the new ones, and subscriptions on those that go end with an error.
func (c *Controller) SetCluster(id tvc.ID, replicas ...ReplicaDesc) {
	c.mu.Lock()
	var now, gone []*replica
	for _, r := range c.mu.clusters[id] {
		if !slices.Contains(replicas, r.desc) {
			gone = append(gone, r)
		}
	}
	var added []*replica
	for _, d := range replicas {
		at := slices.IndexFunc(c.mu.clusters[id], func(r *replica) bool { return r.desc == d })
		if at >= 0 {
			now = append(now, c.mu.clusters[id][at])
			continue
		}
		added = append(added, c.newReplica(d))
		now = append(now, added[len(added)-1])
	}
	if len(now) > 0 {
		c.mu.clusters[id] = now
	} else {
		delete(c.mu.clusters, id)
	}
	for _, x := range c.mu.collections {
		if x.create != nil && x.cluster == id {
			c.moveLocked(x, gone, added)
		}
	}
	c.mu.Unlock()
	for _, r := range gone {
		r.engine.Close()
	}
	if len(gone) > 0 {
		wakeAll(c.succeed(id))
	}
}

// moveLocked ends a dataflow's runs on some replicas and starts it on others.
func (c *Controller) moveLocked(x *coll, gone, added []*replica) {
	for _, r := range gone {
		run := x.runs[r]
		if run == nil {
			continue
		}
		run.held.release()
		if x.corrector == r {
			x.corrector = nil
		}
		delete(x.runs, r)
		delete(c.mu.stalled, stalled{r, x.id})
		if x.create.Subscribe != nil {
			x.create.Subscribe.Feed.Fail(errReplicaGone)
		}
	}
	if x.create.Subscribe == nil {
		for _, r := range added {
			c.startLocked(x, r)
		}
	}
	c.lostLocked(x)
	c.notifyAll(x)
}

// succeed finds successors for replicas of a cluster that are gone: now their last appends have come, or never will.
// It gives the dataflows that are to be woken.
func (c *Controller) succeed(cluster tvc.ID) map[stalled]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.mu.collections {
		if x.create != nil && x.cluster == cluster {
			c.succeedLocked(x)
		}
	}
	return c.takeStalledLocked()
}

// succeedLocked has one of the replicas that a view still runs on append to it, after another one, which may have done so,
// has ended. If there is one that does so already, it wins or loses that race, and nothing else comes of it.
func (c *Controller) succeedLocked(x *coll) {
	if x.create.View == nil {
		return
	}
	for _, r := range c.mu.clusters[x.cluster] {
		if run := x.runs[r]; run != nil && run.err == nil {
			r.engine.TakeOver(x.id)
			return
		}
	}
}

// startLocked starts a dataflow on a replica: from where its output, or what it holds, stands now.
func (c *Controller) startLocked(x *coll, r *replica) {
	cr := *x.create
	if x.create.Index != nil {
		cr.AsOf = max(cr.AsOf, tvc.Time(x.hold.Since()))
	}
	if x.create.View != nil {
		view := *x.create.View
		for _, other := range x.runs {
			view.StandsBy = view.StandsBy || other.err == nil
		}
		cr.View = &view
	}
	out := x.output
	if out == nil {
		out = newOutput(tvc.Frontier(cr.AsOf))
	}
	x.runs[r] = &run{output: out}
	r.engine.Create(&cr)
}

func newOutput(since tvc.Frontier) *output {
	return &output{through: map[tvc.ID]tvc.Frontier{}, since: since}
}

// Table makes a collection known that nothing computes.
func (c *Controller) Table(id tvc.ID, sh *shard.Shard) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.collections[id] = &coll{id: id, name: c.o.Name(id), shard: sh, dependents: map[tvc.ID]*coll{}}
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
	c.createLocked(cluster, cr, sh, nil, c.mu.clusters[cluster])
}

// Index starts an index on a cluster: the plan's result, arranged by some of its columns.
func (c *Controller) Index(ctx context.Context, cluster, id tvc.ID, p *plan.Dataflow, keys []int) error {
	hold, err := c.o.Set.Hold("index "+p.Name, p.Imports()...)
	if err != nil {
		return err
	}
	asOf, err := c.readTime(ctx, hold.Since())
	if err != nil {
		hold.Release()
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.createLocked(cluster, &protocol.Create{ID: id, Plan: p, AsOf: asOf, Index: &protocol.Index{Keys: keys}}, nil, hold,
		c.mu.clusters[cluster])
	return nil
}

// readTime gives a closed time not before since, waiting for the clock if need be.
func (c *Controller) readTime(ctx context.Context, since tvc.Frontier) (tvc.Time, error) {
	for {
		now, err := c.o.Oracle.ReadTime(ctx)
		if err != nil || tvc.Frontier(now) >= since {
			return now, err
		}
		t := time.NewTimer(time.Duration(since-tvc.Frontier(now)) * time.Microsecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return 0, context.Cause(ctx)
		}
	}
}

func (c *Controller) createLocked(cluster tvc.ID, cr *protocol.Create, sh *shard.Shard, hold *collection.Hold, on []*replica) {
	x := &coll{id: cr.ID, name: c.o.Name(cr.ID), shard: sh, create: cr, cluster: cluster, dependents: map[tvc.ID]*coll{}, hold: hold,
		runs: map[*replica]*run{}, held: map[*IndexHold]tvc.Frontier{}}
	if cr.View != nil {
		x.output = newOutput(0)
		c.shared.SinkMetrics.Add(sh.ID(), x.name)
	}
	for _, id := range cr.Plan.Imports() {
		in := c.mu.collections[id]
		if in == nil {
			invariants.Failf("dataflow %v reads %v, which is not there", cr.ID, id)
		}
		x.inputs = append(x.inputs, in)
		in.dependents[cr.ID] = x
	}
	c.mu.collections[cr.ID] = x
	for _, r := range on {
		c.startLocked(x, r)
	}
}

// Broken makes a collection known that nothing can compute: reads of it, and of what is computed from it, fail with
// the reason. sh is where a view's contents are stored; nil for an index.
func (c *Controller) Broken(id tvc.ID, sh *shard.Shard, reason error) {
	name := c.o.Name(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.collections[id] = &coll{id: id, name: name, shard: sh, create: &protocol.Create{ID: id, Plan: &plan.Dataflow{Name: name}},
		dependents: map[tvc.ID]*coll{}, held: map[*IndexHold]tvc.Frontier{}, err: brokenError(name, reason)}
}

// Rename says that a collection has another full SQL name from now on.
func (c *Controller) Rename(id tvc.ID, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.mu.collections[id]; x != nil && x.name != name {
		x.name = name
		if x.isView() {
			c.shared.SinkMetrics.Rename(x.shard.ID(), name)
		}
	}
}

// SinkStatistics is what the sinks of a view have done.
type SinkStatistics = sink.Statistics

// SinkPhase is a stretch of a sink's way into storage; SinkPhases is how many there are.
type SinkPhase = sink.Phase

// The phases, in their order.
const (
	SinkDataflow = sink.Dataflow
	SinkWait     = sink.Wait
	SinkEncode   = sink.Encode
	SinkPut      = sink.Put
	SinkStep     = sink.Step
)

// SinkStatistics gives what the sinks of a view have done, on all replicas in this process, since the view was made or
// the process began. What is no view has done nothing.
func (c *Controller) SinkStatistics(id tvc.ID) SinkStatistics {
	c.mu.Lock()
	x := c.mu.collections[id]
	c.mu.Unlock()
	if x == nil || !x.isView() {
		return SinkStatistics{}
	}
	return c.shared.SinkMetrics.Of(x.shard.ID())
}

// Drop forgets a collection and stops its dataflow. Subscriptions that read it end with an error; what else
// depends on it must have been dropped before.
func (c *Controller) Drop(id tvc.ID) {
	c.mu.Lock()
	x := c.mu.collections[id]
	if x == nil {
		c.mu.Unlock()
		return
	}
	ended := []*coll{x}
	for _, d := range x.dependents {
		if d.create.Subscribe == nil {
			invariants.Failf("%v is dropped before %v, which reads it", id, d.id)
		}
		d.create.Subscribe.Feed.Fail(pgerr.Newf(pgerr.UndefinedObject, "%s was dropped while it was subscribed to", x.name))
		ended = append(ended, d)
	}
	var stop []func()
	for _, d := range ended {
		stop = append(stop, c.endLocked(d)...)
	}
	c.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// endLocked takes a collection out of the graph, and gives what is left to be done without the lock.
func (c *Controller) endLocked(x *coll) (stop []func()) {
	delete(c.mu.collections, x.id)
	for _, in := range x.inputs {
		delete(in.dependents, x.id)
	}
	x.err = errDropped
	x.notify()
	for r, run := range x.runs {
		run.held.release()
		delete(c.mu.stalled, stalled{r, x.id})
		stop = append(stop, func() { r.engine.Compact(x.id, tvc.Done) })
	}
	if x.isView() {
		stop = append(stop, func() { c.shared.SinkMetrics.Forget(x.shard.ID()) })
	}
	if x.hold != nil {
		stop = append(stop, x.hold.Release)
	}
	return stop
}

var errDropped = pgerr.New(pgerr.UndefinedObject, "a collection that is read has been dropped")

// notify lets whoever waits for the collection look again. The controller's lock is held.
func (x *coll) notify() {
	if x.changed != nil {
		close(x.changed)
		x.changed = nil
	}
}

// wait gives what is closed when the collection may have got further. The controller's lock is held.
func (x *coll) wait() <-chan struct{} {
	if x.changed == nil {
		x.changed = make(chan struct{})
	}
	return x.changed
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

// Subscribe starts a subscription at a time at which the caller holds what it reads. It runs on one replica
// of the cluster, and ends with an error when that replica, or what it reads, is lost.
func (c *Controller) Subscribe(cluster tvc.ID, o SubscribeOptions) (*Subscription, error) {
	imports := o.Plan.Imports()
	hold, err := c.o.Set.Hold("subscription to "+o.Plan.Name, imports...)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	on := []*replica{c.local}
	if len(imports) > 0 {
		on = c.mu.clusters[cluster]
	}
	err = c.readableLocked(imports)
	if err == nil && len(on) == 0 {
		err = errNoReplica
	}
	if err != nil {
		hold.Release()
		return nil, err
	}
	c.mu.transient++
	id := tvc.ID{Class: 't', N: c.mu.transient}
	s := &protocol.Subscribe{Feed: protocol.NewFeed(o.MaxLagBytes), NoSnapshot: o.NoSnapshot, UpTo: o.UpTo}
	c.createLocked(cluster, &protocol.Create{ID: id, Plan: o.Plan, AsOf: o.At, Subscribe: s}, nil, hold, on[:1])
	return &Subscription{c: c, id: id, feed: s.Feed}, nil
}

// readableLocked fails if one of the collections is not there any more, or broken.
func (c *Controller) readableLocked(ids []tvc.ID) error {
	for _, id := range ids {
		x := c.mu.collections[id]
		if x == nil {
			return errDropped
		}
		if err := c.brokenLocked(x); err != nil {
			return err
		}
	}
	return nil
}

// Next gives the next changes and through where they are complete; ok is false at the end. If ctx ends it
// fails with ctx's cause and nothing is lost; what is there already is given even then.
func (s *Subscription) Next(ctx context.Context) (rows *vec.Block, upper tvc.Frontier, ok bool, err error) {
	d, ok, err := s.feed.Next(ctx)
	return d.Rows, d.Upper, ok, err
}

// Complete gives the frontier below which the subscription has everything, going by a closed time: it
// moves on although nothing is delivered. What is below it is there for Next already.
func (s *Subscription) Complete(closed tvc.Time) tvc.Frontier {
	return s.c.complete(s.id, closed).logical
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.feed.Finish()
	s.c.Drop(s.id)
}
