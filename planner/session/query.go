package session

import (
	"context"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// query runs a query.
func (s *Session) query(stmt *statement, q *ast.Query, args *arguments) (*Result, error) {
	return s.queryOf(stmt, args, func(e *bind.Env) (*bind.Query, error) { return bind.Select(e, q) })
}

// queryOf runs the query that bindQuery binds.
func (s *Session) queryOf(stmt *statement, args *arguments, bindQuery func(e *bind.Env) (*bind.Query, error)) (*Result, error) {
	for range maxRebinds {
		p := s.newPlanner(stmt, args)
		pl, bound, err := p.query(bindQuery)
		if err != nil {
			return nil, err
		}
		if s.tx.kind == txnWriting && len(pl.ids) > 0 {
			if pl.dataflow, err = s.overlay(p.snapshot, pl.dataflow); err != nil {
				return nil, err
			}
		}
		r := &Result{Columns: pl.cols, tag: counted("SELECT")}
		if pl.rows != nil && bound.AsOf == nil {
			r.rows = reading(&fixedCursor{pl.rows})
			return r, nil
		}
		read, release, err := s.readFor(stmt, p, pl.ids, bound.AsOf)
		if err == nil && !s.stillBound(p, pl.ids) {
			release()
			continue
		}
		if err != nil {
			if s.catalog() != p.snapshot {
				continue // what it reads may have been dropped or moved
			}
			return nil, err
		}
		p.env.logical = read.At()
		c, err := read.Query(stmt.ctx, &coord.Query{Dataflow: pl.dataflow, Lookup: pl.lookup, Finishing: pl.finishing,
			Cols: columnTypes(pl.cols), Cluster: pl.cluster, MaxBytes: varMaxResult.Get(s.vars), Env: p.env})
		release()
		if err != nil {
			return nil, err
		}
		r.rows = reading(c)
		return r, nil
	}
	return nil, pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent DDL")
}

// reading reads a cursor block by block, each row as often as it counts.
func reading(c coord.Cursor) *blockReader { return &blockReader{rows: &repeated{cursor: c}} }

// fixedCursor is a cursor over rows that are there already.
type fixedCursor struct{ rows *vec.Block }

func (f *fixedCursor) Next(context.Context) (*vec.Block, error) {
	b := f.rows
	f.rows = nil
	return b, nil
}

func (f *fixedCursor) Close() { f.rows = nil }

// readFor chooses the time of a query. release gives back what is not the transaction's; it may be called before the
// query's cursor is read.
func (s *Session) readFor(stmt *statement, p *planner, ids []tvc.ID, asOf *ast.AsOf) (coord.Read, func(), error) {
	if asOf == nil {
		if len(ids) == 0 && s.tx.read == nil {
			// It reads nothing that is held, so the transaction has not chosen its time yet.
			r, err := s.m.Coord.Read(stmt.ctx, nil, coord.ReadOptions{})
			if err != nil {
				return nil, nil, err
			}
			return r, r.Release, nil
		}
		r, err := s.readAt(stmt.ctx, p.snapshot, ids)
		return r, func() {}, err
	}
	at, err := s.asOf(stmt, asOf)
	if err != nil {
		return nil, nil, err
	}
	if s.tx.kind == txnWriting || s.tx.kind == txnDDL {
		// The past does not have what the transaction has done.
		return nil, nil, pgerr.Unsupported("AS OF after a write or DDL in the same transaction").At(asOf.Position())
	}
	r, err := s.m.Coord.Read(stmt.ctx, ids, coord.ReadOptions{AsOf: &at, AtLeast: asOf.AtLeast, Catalog: p.snapshot})
	if err != nil {
		return nil, nil, err
	}
	return r, r.Release, nil
}

// asOf computes the time of an AS OF: the last instant of the millisecond.
func (s *Session) asOf(stmt *statement, a *ast.AsOf) (tvc.Time, error) {
	ms, err := s.millis(stmt, a.At, "AS OF")
	if err != nil {
		return 0, err
	}
	return tvc.Time(ms)*1000 + 999, nil
}

// maxMillis keeps a time in milliseconds from overflowing in microseconds.
const maxMillis = 1 << 53

// millis computes a time that the client gives: a number of milliseconds, or a timestamp.
func (s *Session) millis(stmt *statement, e ast.Expr, clause string) (uint64, error) {
	d, err := s.constant(stmt, e, types.TMzTimestamp)
	if err != nil {
		return 0, err
	}
	if d.IsNull() {
		return 0, pgerr.Newf(pgerr.InvalidParameterValue, "%s cannot be NULL", clause).At(e.Position())
	}
	if d.Int() < 0 || d.Int() > maxMillis {
		return 0, pgerr.Newf(pgerr.InvalidParameterValue, "%s is out of range", clause).At(e.Position())
	}
	return uint64(d.Int()), nil
}

// stillBound says whether what a statement was bound to is still what there is, now that it is held.
func (s *Session) stillBound(p *planner, ids []tvc.ID) bool {
	now := s.catalog()
	if now == p.snapshot {
		return true
	}
	for _, id := range ids {
		if now.Item(id) != p.snapshot.Item(id) {
			return false
		}
	}
	return true
}

// columnTypes gives the types of columns.
func columnTypes(cols []Column) []types.T {
	ts := make([]types.T, len(cols))
	for i, c := range cols {
		ts[i] = c.Type
	}
	return ts
}
