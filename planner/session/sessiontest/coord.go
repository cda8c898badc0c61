// Package sessiontest is a coordinator without storage and without an engine, for tests of what stands above it:
// tables are lists of changes in memory, and queries are evaluated too dumbly to be wrong. It is safe for concurrent
// use.
package sessiontest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Coord is the coordinator.
type Coord struct {
	settings *settings.Set
	mu       struct {
		sync.Mutex
		catalog *catalog.Snapshot
		tables  map[tvc.ID][]change
		now     tvc.Time
		// asked counts the calls of SinkStatistics.
		asked int64
		// moved is closed and made anew at each commit, changed whenever held changes.
		moved   chan struct{}
		held    int
		changed chan struct{}
	}
	// BeforeCommit, if set, is called before a transaction commits, without any lock.
	BeforeCommit func()
	// Stall, if set, makes queries wait until it is closed or their context ends.
	Stall chan struct{}
}

type change struct {
	at   tvc.Time
	rows *vec.Block
}

// start is the first time there is: 2023-11-14 22:13:20 UTC.
const start = 1_700_000_000_000_000

// Params are the settings of a test's server.
func Params() []settings.Param {
	return append(session.Settings(),
		settings.NewBytes("compute_mv_sink_shared_batch_max_bytes", 1<<20, 0, 1<<30, "a setting of the system's", "at once"))
}

// New makes a coordinator of a new environment, and a manager of sessions over it.
func New(tb testing.TB) (*Coord, *session.Manager) {
	system := builtin.New()
	c := &Coord{settings: settings.NewSet(Params()...)}
	c.mu.catalog, _ = catalog.New(system.System(), 4)
	c.mu.tables = map[tvc.ID][]change{}
	c.mu.now = start
	c.mu.moved, c.mu.changed = make(chan struct{}), make(chan struct{})
	clock := time.UnixMicro(start).UTC()
	m := session.NewManager(session.Options{Coord: c, System: system, Settings: c.settings, Version: "0.0.1",
		Now: func() time.Time { return clock }, Random: strings.NewReader(strings.Repeat("random", 10_000)),
		Log: slog.New(slog.DiscardHandler)})
	tb.Cleanup(func() {
		if n := c.Held(); n != 0 {
			tb.Errorf("%d reads were not released", n)
		}
	})
	return c, m
}

// Catalog is session.Coord's.
func (c *Coord) Catalog() *catalog.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.catalog
}

// Held counts the reads that are not released, and the cursors and feeds that are not closed.
func (c *Coord) Held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.held
}

// waitLimit is how long a test waits for what must come.
const waitLimit = 10 * time.Second

// WaitHeld waits until what Held counts is as it should be.
func (c *Coord) WaitHeld(tb testing.TB, is func(n int) bool) {
	tb.Helper()
	late := time.After(waitLimit)
	for {
		c.mu.Lock()
		n, changed := c.mu.held, c.mu.changed
		c.mu.Unlock()
		if is(n) {
			return
		}
		select {
		case <-changed:
		case <-late:
			tb.Fatalf("%d reads, cursors and feeds are open", n)
		}
	}
}

func (c *Coord) hold(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holdLocked(n)
}

func (c *Coord) holdLocked(n int) {
	c.mu.held += n
	close(c.mu.changed)
	c.mu.changed = make(chan struct{})
}

// Read is session.Coord's.
func (c *Coord) Read(ctx context.Context, ids []tvc.ID, o coord.ReadOptions) (coord.Read, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if c.mu.catalog.Item(id) == nil {
			return nil, pgerr.Newf(pgerr.UndefinedObject, "%v is not there", id)
		}
	}
	r := &read{c: c, at: c.mu.now, all: o.All, ids: ids}
	if o.AsOf != nil {
		if *o.AsOf < start && !o.AtLeast {
			return nil, pgerr.Newf(pgerr.ObjectNotInPrerequisiteState, "timestamp %d is no longer readable", o.AsOf.Millis())
		}
		r.at = max(*o.AsOf, start)
	}
	c.holdLocked(1)
	return r, nil
}

// Write is session.Coord's.
func (c *Coord) Write() coord.Writes { return &writes{c: c, tables: map[tvc.ID][]*vec.Block{}} }

// Alter is session.Coord's.
func (c *Coord) Alter(_ context.Context, base *catalog.Snapshot, ops []catalog.Op) (*catalog.Changes, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if base != c.mu.catalog {
		return nil, nil
	}
	next, changes, err := base.Apply(ops)
	if err != nil {
		return nil, err
	}
	for _, s := range changes.Settings {
		if s.New != nil {
			err = errors.Join(err, c.settings.Set(s.Name, *s.New))
		} else {
			err = errors.Join(err, c.settings.Reset(s.Name))
		}
	}
	c.mu.catalog = next
	c.mu.now += 1000
	return changes, err
}

// SinkStatistics is session.Coord's: each time, there was one append more.
func (c *Coord) SinkStatistics(tvc.ID) builtin.SinkStatistics {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.asked++
	return builtin.SinkStatistics{SinkStatistics: controller.SinkStatistics{Appends: c.mu.asked}}
}

// contents is what a relation holds at a time. The lock is held.
func (c *Coord) contentsLocked(id tvc.ID, at tvc.Time) (plantest.Rows, error) {
	it := c.mu.catalog.Item(id)
	if it == nil {
		return nil, pgerr.Newf(pgerr.UndefinedObject, "%v is not there", id)
	}
	if it.Kind == catalog.Table {
		rows := plantest.Rows{}
		for _, ch := range c.mu.tables[id] {
			if ch.at <= at {
				rows.AddBlock(ch.rows)
			}
		}
		return rows, nil
	}
	q, err := bind.View(&bind.Env{Catalog: c.mu.catalog}, it)
	if err != nil {
		return nil, err
	}
	root, err := rewrite.Tree(q.Tree(), rewrite.Options{})
	if err != nil {
		return nil, err
	}
	df, err := lower.Dataflow(it.Name, root, nil)
	if err != nil {
		return nil, err
	}
	return c.evalLocked(df, at, nil)
}

// evalLocked evaluates a dataflow at a time.
func (c *Coord) evalLocked(df *plan.Dataflow, at tvc.Time, env scalar.Env) (plantest.Rows, error) {
	inputs := map[tvc.ID]plantest.Rows{}
	for _, id := range df.Imports() {
		rows, err := c.contentsLocked(id, at)
		if err != nil {
			return nil, err
		}
		inputs[id] = rows
	}
	res := plantest.Eval(df, inputs, env)
	if len(res.Errs) > 0 {
		return nil, pgerr.Decode([]byte(res.Errs[0]))
	}
	return res.Rows, nil
}

// read is coord.Read.
type read struct {
	c        *Coord
	at       tvc.Time
	all      bool
	ids      []tvc.ID
	released bool
	once     sync.Once
}

// check refuses to read what is not held: that is a fault of the session's.
func (r *read) check(ids []tvc.ID) error {
	for _, id := range ids {
		if r.released || !r.all && !slices.Contains(r.ids, id) {
			return fmt.Errorf("read of %v, which is not held", id)
		}
	}
	return nil
}

func (r *read) At() tvc.Time { return r.at }

func (r *read) Release() {
	r.once.Do(func() {
		r.released = true
		r.c.hold(-1)
	})
}

func (r *read) Query(ctx context.Context, q *coord.Query) (coord.Cursor, error) {
	if r.c.Stall != nil {
		select {
		case <-r.c.Stall:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	df := q.Dataflow
	if df != nil {
		if err := r.check(df.Imports()); err != nil {
			return nil, err
		}
	}
	if q.Lookup != nil {
		if err := r.check([]tvc.ID{q.Lookup.Index}); err != nil {
			return nil, err
		}
		var err error
		if df, err = r.lookupLocked(q.Lookup); err != nil {
			return nil, err
		}
	}
	rows, err := r.c.evalLocked(df, r.at, q.Env)
	if err != nil {
		return nil, err
	}
	out, err := finish(rows, &q.Finishing, q.Cols)
	if err != nil {
		return nil, err
	}
	if q.MaxBytes > 0 && int64(out.Size()) > q.MaxBytes {
		return nil, pgerr.Newf(pgerr.ConfigurationLimitExceeded, "result exceeds max size of %d bytes", q.MaxBytes)
	}
	r.c.holdLocked(1)
	return &cursor{c: r.c, rows: out}, nil
}

// lookupLocked is a lookup as a dataflow: a constant of what the index finds, and the rest of the query.
func (r *read) lookupLocked(l *plan.Lookup) (*plan.Dataflow, error) {
	snap := r.c.mu.catalog
	ix := snap.Item(l.Index)
	key, _, err := bind.Index(&bind.Env{Catalog: snap}, ix)
	if err != nil {
		return nil, err
	}
	rows, err := r.c.contentsLocked(ix.On, r.at)
	if err != nil {
		return nil, err
	}
	rel := snap.Item(ix.On).Rel
	found := vec.NewBlock(rel.Kinds(), 0)
	for _, row := range rows.Sorted() {
		if l.Keys != nil && !matches(key, row.Data, l.Keys) {
			continue
		}
		found.AppendRow(row.Count, row.Data...)
	}
	var in, out []types.T
	for _, c := range rel.Cols {
		in = append(in, c.Type)
	}
	all := in[:len(in):len(in)]
	for _, e := range l.MFP.Map {
		all = append(all, e.Type())
	}
	for _, c := range l.MFP.Project {
		out = append(out, all[c])
	}
	return &plan.Dataflow{Name: "lookup", Nodes: []plan.Node{
		{Op: &plan.Constant{Rows: found}, Cols: in},
		{Op: &plan.MFP{MFP: l.MFP}, Inputs: []plan.NodeID{0}, Cols: out},
	}}, nil
}

func matches(ix lower.Index, row []vec.Datum, keys *vec.Block) bool {
	for i := range keys.Len {
		ok := true
		for k, e := range ix.Key {
			d, err := scalar.Eval(e, row, nil)
			ok = ok && err == nil && d.Equal(keys.Cols[k].Datum(i))
		}
		if ok {
			return true
		}
	}
	return false
}

// finish sorts, cuts and projects rows.
func finish(rows plantest.Rows, f *plan.Finishing, cols []types.T) (*vec.Block, error) {
	var list [][]vec.Datum
	for _, r := range rows.Sorted() {
		if r.Count < 0 {
			return nil, pgerr.New(pgerr.InternalError, "a row counts less than zero times")
		}
		for range r.Count {
			list = append(list, r.Data)
		}
	}
	slices.SortStableFunc(list, func(a, b []vec.Datum) int {
		for _, o := range f.Order {
			x, y := a[o.Col], b[o.Col]
			var c int
			switch {
			case x.IsNull() && y.IsNull():
			case x.IsNull() != y.IsNull():
				c = cmp.Compare(1, 0)
				if x.IsNull() == o.NullsFirst {
					c = -1
				}
			default:
				if c = x.Compare(y); o.Desc {
					c = -c
				}
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	list = list[min(f.Offset, int64(len(list))):]
	if f.Limit >= 0 {
		list = list[:min(f.Limit, int64(len(list)))]
	}
	out := vec.NewBlock(kinds(cols), len(list))
	for _, r := range list {
		for i, c := range f.Project {
			out.Cols[i].AppendDatum(r[c])
		}
		out.Len++
	}
	return out, nil
}

func kinds(ts []types.T) []types.Kind {
	ks := make([]types.Kind, len(ts))
	for i, t := range ts {
		ks[i] = t.Kind()
	}
	return ks
}

// cursor is coord.Cursor; it gives blocks of a few rows, so that seams show.
type cursor struct {
	c    *Coord
	rows *vec.Block
	at   int
	once sync.Once
}

const blockRows = 3

func (c *cursor) Next(ctx context.Context) (*vec.Block, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if c.at == c.rows.Len {
		return nil, nil
	}
	end := min(c.at+blockRows, c.rows.Len)
	b := c.rows.Slice(c.at, end).Clone()
	c.at = end
	return b, nil
}

func (c *cursor) Close() { c.once.Do(func() { c.c.hold(-1) }) }

// writes is coord.Writes.
type writes struct {
	c      *Coord
	tables map[tvc.ID][]*vec.Block
	ended  bool
}

func (w *writes) Add(_ context.Context, table *catalog.Item, rows *vec.Block) error {
	w.tables[table.ID] = append(w.tables[table.ID], rows.Clone())
	return nil
}

func (w *writes) Pending(table tvc.ID) ([]*vec.Block, bool) { return w.tables[table], true }

func (w *writes) Commit(_ context.Context, reads []tvc.ID, readAt tvc.Time) (tvc.Time, error) {
	if w.ended {
		return 0, fmt.Errorf("commit of writes that have ended")
	}
	if w.c.BeforeCommit != nil {
		w.c.BeforeCommit()
	}
	w.ended = true
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	for _, id := range reads {
		for _, ch := range w.c.mu.tables[id] {
			if ch.at > readAt {
				return 0, pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent update")
			}
		}
	}
	w.c.mu.now += 1000
	for id, blocks := range w.tables {
		if w.c.mu.catalog.Item(id) == nil {
			return 0, pgerr.Newf(pgerr.UndefinedTable, "%v is not there", id)
		}
		for _, b := range blocks {
			w.c.mu.tables[id] = append(w.c.mu.tables[id], change{w.c.mu.now, b})
		}
	}
	close(w.c.mu.moved)
	w.c.mu.moved = make(chan struct{})
	return w.c.mu.now, nil
}

func (w *writes) Abort() {
	w.ended = true
	w.tables = nil
}
