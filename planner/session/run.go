package session

import (
	"fmt"

	"github.com/tributary-db/tributary/sql/ast"
)

// run runs a statement as far as its first row, in a transaction that is there unless the statement begins or ends
// one. It is a switch over the closed set of statements; what is not here changes the catalog, or is refused by name.
func (s *Session) run(stmt *statement, args *arguments) (*Result, error) {
	switch st := stmt.ast.(type) {
	case *ast.Query:
		return s.query(stmt, st, args)
	case *ast.Insert, *ast.Update, *ast.Delete:
		return s.write(stmt, st, args)
	case *ast.Copy:
		return s.copy(stmt, st)
	case *ast.Subscribe:
		return s.subscribe(stmt, st, args)
	case *ast.Declare:
		return done("DECLARE CURSOR", s.declare(stmt, st, args))
	case *ast.Fetch:
		return s.fetch(stmt, st)
	case *ast.CloseCursor:
		return done("CLOSE CURSOR", s.closeNamed(st))
	case *ast.Explain:
		return s.explain(stmt, st, args)
	case *ast.Begin:
		return done("BEGIN", s.beginTxn(st))
	case *ast.Commit:
		return tagged(s.commitTxn(stmt.ctx, st.Chain))
	case *ast.Rollback:
		return tagged(s.rollbackTxn(st.Chain))
	case *ast.SetTransaction:
		return done("SET", s.setTransaction(st))
	case *ast.SetVar:
		return done("SET", s.setVar(st))
	case *ast.ResetVar:
		return done("RESET", s.resetVar(st))
	case *ast.Discard:
		return tagged(s.discard(st))
	case *ast.ShowVar:
		return s.showVar(st)
	case *ast.ShowObjects:
		return s.showObjects(stmt, st)
	case *ast.ShowCreate:
		return s.showCreate(st)
	case *ast.Prepare:
		return done("PREPARE", s.prepareSQL(stmt, st))
	case *ast.Execute:
		return s.executeSQL(stmt, st)
	case *ast.Deallocate:
		return done(deallocateTag(st), s.deallocate(st))
	}
	return s.alter(stmt)
}

// done is the result of a statement that gives nothing but its tag.
func done(tag string, err error) (*Result, error) { return tagged(tag, err) }

func tagged(tag string, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	return &Result{tag: func(int64) string { return tag }}, nil
}

// counted makes the tag of a statement that gives rows.
func counted(word string) func(rows int64) string {
	return func(rows int64) string { return fmt.Sprintf("%s %d", word, rows) }
}

func deallocateTag(st *ast.Deallocate) string {
	if st.Name == "" {
		return "DEALLOCATE ALL"
	}
	return "DEALLOCATE"
}
