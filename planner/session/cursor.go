package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// cursor is what DECLARE makes: a query or a subscription whose rows are fetched bit by bit.
type cursor struct {
	name, text string
	cols       []Column
	reader     *blockReader
	// feed: rows come as time passes.
	feed bool
	at   time.Time
}

// declare is DECLARE.
func (s *Session) declare(stmt *statement, st *ast.Declare, args *arguments) error {
	// In the extended protocol every statement is for itself until BEGIN.
	if s.tx.implicit && (s.tx.alone || args != nil) {
		return pgerr.New(pgerr.NoActiveSQLTransaction, "DECLARE CURSOR can only be used in transaction blocks")
	}
	for _, o := range st.Options {
		switch o {
		case "BINARY", "SCROLL", "WITH HOLD":
			return pgerr.Unsupported("DECLARE … %s", o).At(st.Position())
		}
	}
	if s.cursors[st.Name] != nil {
		return pgerr.Newf(pgerr.DuplicateCursor, "cursor %q already exists", st.Name)
	}
	if len(s.cursors)+len(s.portals) >= MaxPortals {
		return pgerr.Newf(pgerr.ConfigurationLimitExceeded, "more than %d portals and cursors", MaxPortals)
	}
	c := &cursor{name: st.Name, text: stmt.text, at: stmt.at}
	switch src := st.Source.(type) {
	case *ast.Query:
		r, err := s.query(stmt, src, args.inner())
		if err != nil {
			return err
		}
		c.cols, c.reader = r.Columns, r.rows
	case *ast.Subscribe:
		rows, cols, err := s.openFeed(stmt, src, args.inner())
		if err != nil {
			return err
		}
		c.cols, c.reader, c.feed = cols, &blockReader{rows: rows}, true
	default:
		return pgerr.Unsupported("DECLARE of this statement").At(st.Source.Position())
	}
	s.cursors[st.Name] = c
	return nil
}

func noCursor(name string) error {
	return pgerr.Newf(pgerr.InvalidCursorName, "cursor %q does not exist", name)
}

// fetch is FETCH.
func (s *Session) fetch(stmt *statement, st *ast.Fetch) (*Result, error) {
	c := s.cursors[st.Name]
	if c == nil {
		return nil, noCursor(st.Name)
	}
	if st.Direction != ast.FetchForward || st.Count < 0 {
		return nil, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "cursor can only scan forward")
	}
	f := &fetchRows{c: c, all: st.All, left: st.Count}
	for _, o := range st.Options {
		if o.Name != "TIMEOUT" {
			return nil, pgerr.Newf(pgerr.SyntaxError, "unrecognized FETCH option %q", o.Name).At(o.Position())
		}
		d, err := s.constant(stmt, o.Value, types.TInterval)
		if err != nil {
			return nil, err
		}
		if f.timeout, err = durationOf(d); err != nil {
			return nil, pgerr.From(err).At(o.Position())
		}
		f.timed = true
	}
	return &Result{Columns: c.cols, rows: &blockReader{rows: f}, tag: counted("FETCH")}, nil
}

// fetchRows are the rows of one FETCH. Of a subscription they are what is ready: without a timeout it waits for the first
// of them, with one it waits until there are enough or the time is over. Other cursors have no need to wait.
type fetchRows struct {
	c       *cursor
	all     bool
	left    int64
	timed   bool
	timeout time.Duration
	// within is the time that is left; stop frees it.
	within context.Context
	stop   context.CancelFunc
	some   bool
}

// maxFetchBlock bounds what one step takes.
const maxFetchBlock = 4096

func (f *fetchRows) Next(ctx context.Context) (*vec.Block, error) {
	if f.left == 0 && !f.all {
		return nil, nil
	}
	most := maxFetchBlock
	if !f.all {
		most = int(min(f.left, maxFetchBlock))
	}
	b, err := f.c.reader.next(f.wait(ctx), most)
	if errors.Is(err, coord.ErrWaited) && ctx.Err() == nil {
		return nil, nil // the time of the FETCH is over, and the cursor is as it was
	}
	if err != nil || b == nil {
		return nil, err
	}
	f.some = true
	f.left -= int64(b.Len)
	return b, nil
}

// wait gives the context that bounds how long to wait for rows.
func (f *fetchRows) wait(ctx context.Context) context.Context {
	switch {
	case !f.c.feed || !f.timed && !f.some:
		return ctx
	case f.within == nil && f.timed:
		f.within, f.stop = context.WithTimeoutCause(ctx, f.timeout, coord.ErrWaited)
	case f.within == nil:
		within, end := context.WithCancelCause(ctx)
		end(coord.ErrWaited)
		f.within, f.stop = within, func() {}
	}
	return f.within
}

// Close ends the FETCH; the cursor stays.
func (f *fetchRows) Close() {
	if f.stop != nil {
		f.stop()
	}
}

// durationOf is an interval as a time to wait.
func durationOf(d vec.Datum) (time.Duration, error) {
	if d.IsNull() {
		return 0, pgerr.New(pgerr.InvalidParameterValue, "timeout cannot be NULL")
	}
	micros, over := adt.IntervalOf(d.Bytes()).Micros24()
	if over || micros < 0 || micros > int64(maxTimeout/time.Microsecond) {
		return 0, pgerr.New(pgerr.InvalidParameterValue, "timeout is out of range")
	}
	return time.Duration(micros) * time.Microsecond, nil
}

// closeNamed is CLOSE.
func (s *Session) closeNamed(st *ast.CloseCursor) error {
	if st.Name == "" {
		s.closeCursors()
		return nil
	}
	c := s.cursors[st.Name]
	if c == nil {
		return noCursor(st.Name)
	}
	c.reader.close()
	delete(s.cursors, st.Name)
	return nil
}

func (s *Session) closeCursors() {
	for _, c := range s.cursors {
		c.reader.close()
	}
	clear(s.cursors)
}

// cursorList is what pg_cursors shows.
func (s *Session) cursorList() []builtin.Cursor {
	var list []builtin.Cursor
	for _, name := range slices.Sorted(maps.Keys(s.cursors)) {
		c := s.cursors[name]
		list = append(list, builtin.Cursor{Name: c.name, Statement: c.text, At: c.at})
	}
	return list
}

// preparedList is what pg_prepared_statements shows.
func (s *Session) preparedList() []builtin.Prepared {
	var list []builtin.Prepared
	for _, name := range slices.Sorted(maps.Keys(s.prepared)) {
		if name == "" {
			continue
		}
		p := s.prepared[name]
		row := builtin.Prepared{Name: p.name, Statement: p.stmt.Text, FromSQL: p.fromSQL, At: p.at}
		for _, t := range p.params {
			row.Params = append(row.Params, t.OID)
		}
		list = append(list, row)
	}
	return list
}
