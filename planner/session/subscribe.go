package session

import (
	"context"
	"slices"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// subscriptionColumns describes what a SUBSCRIBE gives: when, whether the row is only progress, how often, and the row.
func subscriptionColumns(sub *bind.Subscription) []Column {
	cols := []Column{{"mz_timestamp", types.TMzTimestamp}}
	if sub.Progress {
		cols = append(cols, Column{"mz_progressed", types.TBool})
	}
	cols = append(cols, Column{"mz_diff", types.TInt8})
	return append(cols, columnsOf(sub.Query.Rel)...)
}

// subscribe runs a SUBSCRIBE.
func (s *Session) subscribe(stmt *statement, st *ast.Subscribe, args *arguments) (*Result, error) {
	rows, cols, err := s.openFeed(stmt, st, args)
	if err != nil {
		return nil, err
	}
	return &Result{Columns: cols, Stream: true, rows: &blockReader{rows: rows}, tag: counted("SUBSCRIBE")}, nil
}

// openFeed starts a subscription.
func (s *Session) openFeed(stmt *statement, st *ast.Subscribe, args *arguments) (*feedRows, []Column, error) {
	if t := s.tx; t.kind != txnIdle && t.kind != txnSubscribing {
		return nil, nil, pgerr.Unsupported("SUBSCRIBE in a transaction that has done something else").WithHint("Use another transaction.")
	}
	for range maxRebinds {
		p := s.newPlanner(stmt, args)
		sub, err := bind.Subscribe(p.bindEnv(), st)
		if err != nil {
			return nil, nil, err
		}
		bound, err := sub.Query.WithParams(p.values())
		if err != nil {
			return nil, nil, err
		}
		root := bound.Tree()
		df, err := p.uninlined("subscribe", root)
		if err != nil {
			return nil, nil, err
		}
		all := df.Imports()
		ids := slices.DeleteFunc(slices.Clone(all), func(id tvc.ID) bool { return id.Class == 's' })
		o, upTo, err := s.subscriptionTimes(stmt, sub)
		if err != nil {
			return nil, nil, err
		}
		o.Catalog = p.snapshot
		c := &coord.Subscription{Name: "subscribe", Dataflow: df, Cols: logical.Types(root), NoSnapshot: !sub.Snapshot, UpTo: upTo,
			Progress: sub.Progress}
		if len(ids) > 0 {
			cluster, err := p.cluster()
			if err != nil {
				return nil, nil, err
			}
			c.Cluster = cluster.ID
		}
		read, err := s.m.Coord.Read(stmt.ctx, ids, o)
		if err != nil {
			if s.catalog() != p.snapshot {
				continue
			}
			return nil, nil, err
		}
		if !s.stillBound(p, ids) {
			read.Release()
			continue
		}
		if upTo != 0 && tvc.Frontier(read.At()/1000*1000) > upTo {
			defer read.Release()
			return nil, nil, pgerr.Newf(pgerr.InvalidParameterValue,
				"subscription lower bound (AS OF) is greater than its upper bound (UP TO): %d > %d",
				read.At().Millis(), tvc.Time(upTo).Millis())
		}
		p.env.logical = read.At()
		var feed coord.Feed
		if len(ids) < len(all) {
			feed, err = s.look(stmt.ctx, p, c, ids, read)
		} else {
			feed, err = read.Subscribe(stmt.ctx, c)
		}
		at := read.At()
		read.Release()
		if err != nil {
			return nil, nil, err
		}
		s.tx.kind = txnSubscribing
		cols := subscriptionColumns(sub)
		return newFeedRows(feed, cols, at, sub.Progress), cols, nil
	}
	return nil, nil, pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent DDL")
}

// look starts a subscription that reads system relations, besides the collections with the given ids: what they are made
// of tells of no changes, so they are looked at again and again.
func (s *Session) look(ctx context.Context, p *planner, c *coord.Subscription, ids []tvc.ID, read coord.Read) (coord.Feed, error) {
	every := plan.Finishing{Limit: -1}
	for i := range c.Cols {
		every.Project = append(every.Project, i)
	}
	return coord.Look(ctx, coord.Looking{Subscription: c, Now: s.m.Now,
		Read: func(ctx context.Context) (coord.Read, error) {
			p.snapshot = s.catalog()
			return s.m.Coord.Read(ctx, ids, coord.ReadOptions{Catalog: p.snapshot})
		},
		Query: func(r coord.Read) *coord.Query {
			env := *p.env
			env.logical, env.answers.Catalog = r.At(), p.snapshot
			return &coord.Query{Dataflow: p.inline(c.Dataflow), Finishing: every, Cols: c.Cols, Cluster: c.Cluster,
				MaxBytes: varMaxResult.Get(s.vars), Env: &env}
		}}, read)
}

// subscriptionTimes computes when a subscription starts and ends.
func (s *Session) subscriptionTimes(stmt *statement, sub *bind.Subscription) (o coord.ReadOptions, upTo tvc.Frontier, err error) {
	if varIsolation.Get(s.vars) == serializable {
		o.Isolation = coord.Serializable
	}
	if sub.AsOf != nil {
		at, err := s.asOf(stmt, sub.AsOf)
		if err != nil {
			return o, 0, err
		}
		o.AsOf, o.AtLeast = &at, sub.AsOf.AtLeast
	}
	if sub.UpTo != nil {
		ms, err := s.millis(stmt, sub.UpTo, "UP TO")
		if err != nil {
			return o, 0, err
		}
		// The bound is exclusive: nothing of its millisecond is given. 0 would mean no bound.
		upTo = tvc.Frontier(max(ms*1000, 1))
	}
	return o, upTo, nil
}

// feedRows are a subscription's rows as the client gets them.
type feedRows struct {
	feed     coord.Feed
	progress bool
	out      *vec.Block
	// told is the progress, in milliseconds, that the client was told of last; the first is when it started.
	told    uint64
	started bool
	done    bool
}

func newFeedRows(feed coord.Feed, cols []Column, at tvc.Time, progress bool) *feedRows {
	return &feedRows{feed: feed, progress: progress, told: at.Millis(), out: vec.NewBlock(types.Rel{Cols: relColumns(cols)}.Kinds(), 0)}
}

func relColumns(cols []Column) []types.Column {
	list := make([]types.Column, len(cols))
	for i, c := range cols {
		list[i] = types.Column{Name: c.Name, Type: c.Type, Nullable: true}
	}
	return list
}

// Next gives what has come, waiting until there is something to show. When ctx ends nothing is lost: Next may be called
// again.
func (f *feedRows) Next(ctx context.Context) (*vec.Block, error) {
	f.out.Reset()
	if f.progress && !f.started {
		f.started = true
		f.addProgress(f.told)
		return f.out, nil
	}
	for !f.done {
		d, ok, err := f.feed.Next(ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			f.done = true
			break
		}
		if d.Rows != nil {
			f.addRows(d.Rows)
		}
		// The millisecond that Upper lies in is not over: more may come in it.
		if ms := uint64(d.Upper) / 1000; f.progress && d.Upper != tvc.Done && ms > f.told {
			f.told = ms
			f.addProgress(ms)
		}
		if f.out.Len > 0 {
			return f.out, nil
		}
	}
	return nil, nil
}

// addRows adds changes.
func (f *feedRows) addRows(rows *vec.Block) {
	at := f.lead()
	for i := range rows.Len {
		f.out.Cols[0].AppendInt(int64(rows.Times[i] / 1000))
		if f.progress {
			f.out.Cols[1].AppendBool(false)
		}
		f.out.Cols[at-1].AppendInt(rows.Diff(i))
	}
	for c := range rows.Cols {
		f.out.Cols[at+c].AppendRange(&rows.Cols[c], 0, rows.Len)
	}
	f.out.Len += rows.Len
}

// addProgress adds the row that says that everything before a millisecond has come.
func (f *feedRows) addProgress(ms uint64) {
	f.out.Cols[0].AppendInt(int64(ms))
	f.out.Cols[1].AppendBool(true)
	for c := 2; c < len(f.out.Cols); c++ {
		f.out.Cols[c].AppendNull()
	}
	f.out.Len++
}

// lead is the number of columns before the row's own.
func (f *feedRows) lead() int {
	if f.progress {
		return 3
	}
	return 2
}

// Close ends the subscription.
func (f *feedRows) Close() { f.feed.Close() }
