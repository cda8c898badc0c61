package session

import (
	"context"

	"github.com/tributary-db/tributary/planner/copydata"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// Script is the statements of one simple query, run one after the other. Together they are one transaction, unless they
// say otherwise or hold DDL.
type Script struct {
	s     *Session
	ctx   context.Context
	left  []parser.Statement
	count int
}

// Simple starts a simple query. An error of syntax anywhere in it is told before anything is run.
func (s *Session) Simple(ctx context.Context, sql string) (*Script, error) {
	list, err := s.parse(sql)
	if err != nil {
		s.failTxn()
		return nil, err
	}
	s.closePortal("")
	delete(s.prepared, "")
	return &Script{s: s, ctx: ctx, left: list, count: len(list)}, nil
}

// parse reads statements out of a client's text.
func (s *Session) parse(sql string) ([]parser.Statement, error) {
	if err := copydata.CheckText([]byte(sql)); err != nil {
		return nil, err
	}
	return parser.Parse(sql)
}

// IsEmpty says whether there is no statement at all.
func (sc *Script) IsEmpty() bool { return sc.count == 0 }

// Next starts the next statement, nil after the last. The result of the one before must have been ended. After an error
// there is nothing more to run.
func (sc *Script) Next() (*Result, error) {
	if len(sc.left) == 0 {
		return nil, sc.finish()
	}
	next := sc.left[0]
	sc.left = sc.left[1:]
	r, err := sc.s.start1(sc.ctx, next, sc.count == 1, nil)
	if err != nil {
		sc.left = nil
		return nil, err
	}
	// The transaction ends before the last tag is given, so that the tag can be believed.
	r.commit = len(sc.left) == 0
	return r, nil
}

// finish ends the implicit transaction that statements may have left, which they do only if there were none.
func (sc *Script) finish() error {
	if sc.s.tx != nil && sc.s.tx.implicit {
		return sc.s.commit(sc.ctx)
	}
	return nil
}

// Stop gives up the statements that have not been run, because one has failed.
func (sc *Script) Stop() { sc.left = nil }

// start1 starts one statement. alone says that it is a transaction by itself unless one is open.
func (s *Session) start1(ctx context.Context, st parser.Statement, alone bool, args *arguments) (*Result, error) {
	stmt, err := s.begin(ctx, st.Text, st.AST)
	if err != nil {
		s.failTxn()
		return nil, err
	}
	r, err := s.runIn(stmt, alone, args)
	if err != nil {
		s.end(stmt)
		s.failTxn()
		return nil, s.cause(stmt, err)
	}
	r.s, r.stmt = s, stmt
	return r, nil
}

// runIn runs a statement in the transaction there is, or in an implicit one.
func (s *Session) runIn(stmt *statement, alone bool, args *arguments) (*Result, error) {
	if s.tx != nil && s.tx.failed && !endsTxn(stmt.ast) {
		return nil, aborted()
	}
	switch stmt.ast.(type) {
	case *ast.Begin, *ast.Commit, *ast.Rollback:
	default:
		t := s.needTxn()
		t.alone, t.used = alone && t.implicit && !t.used, true
	}
	return s.run(stmt, args)
}

// endsTxn says whether a statement may be run in a transaction that has failed.
func endsTxn(st ast.Statement) bool {
	switch st.(type) {
	case *ast.Commit, *ast.Rollback:
		return true
	}
	return false
}

// cause gives the error that a statement is to be told to have failed by: if it was stopped, what stopped it.
func (s *Session) cause(stmt *statement, err error) error {
	if stmt.ctx.Err() != nil {
		if e := pgerr.From(context.Cause(stmt.ctx)); e.Code != pgerr.InternalError {
			return e
		}
	}
	return err
}

// finish is Result.Finish.
func (s *Session) finish(r *Result) (string, error) {
	var err error
	if r.CopyIn != nil {
		err = r.CopyIn.finish()
	}
	r.rows.close()
	if err == nil && r.commit && s.tx != nil && s.tx.implicit {
		err = s.commit(r.stmt.ctx)
	}
	if err != nil {
		s.end(r.stmt)
		s.failTxn()
		return "", s.cause(r.stmt, err)
	}
	s.end(r.stmt)
	if r.CopyIn != nil {
		r.count = r.CopyIn.reader.Rows
	}
	return r.tag(r.count), nil
}

// suspend is Result.Suspend: the portal keeps the rest.
func (s *Session) suspend(r *Result) { s.end(r.stmt) }

// fail is Result.Fail.
func (s *Session) fail(r *Result, _ error) {
	if r.CopyIn != nil {
		r.CopyIn.abort()
	}
	r.rows.close()
	if r.portal != nil {
		r.portal.reader = nil
	}
	s.end(r.stmt)
	s.failTxn()
}
