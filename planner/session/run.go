package session

import (
	"fmt"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// run runs a statement as far as its first row, in a transaction that is there unless the statement begins or ends
// one. It is a switch over the closed set of statements.
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
	return s.runDDL(stmt)
}

// runDDL is run's second half: what changes the catalog, and what we do not have.
func (s *Session) runDDL(stmt *statement) (*Result, error) {
	switch st := stmt.ast.(type) {
	case *ast.CreateDatabase:
		return s.alter(stmt, "CREATE DATABASE", func(b *binding) error { return b.createDatabase(st) })
	case *ast.CreateSchema:
		return s.alter(stmt, "CREATE SCHEMA", func(b *binding) error { return b.createSchema(st) })
	case *ast.CreateTable:
		return s.alter(stmt, "CREATE TABLE", func(b *binding) error { return b.createTable(st) })
	case *ast.CreateView:
		return s.alter(stmt, "CREATE VIEW", func(b *binding) error { return b.createView(st) })
	case *ast.CreateMaterializedView:
		return s.alter(stmt, "CREATE MATERIALIZED VIEW", func(b *binding) error { return b.createMaterializedView(st) })
	case *ast.CreateIndex:
		return s.alter(stmt, "CREATE INDEX", func(b *binding) error { return b.createIndex(st) })
	case *ast.CreateCluster:
		return s.alter(stmt, "CREATE CLUSTER", func(b *binding) error { return b.createCluster(st) })
	case *ast.Drop:
		return s.alter(stmt, "DROP "+st.Kind.String(), func(b *binding) error { return b.drop(st) })
	case *ast.Rename:
		return s.alter(stmt, "ALTER "+st.Kind.String(), func(b *binding) error { return b.rename(st) })
	case *ast.AlterOptions:
		return s.alter(stmt, "ALTER "+st.Kind.String(), func(b *binding) error { return b.alterOptions(st) })
	case *ast.Comment:
		return s.alter(stmt, "COMMENT", func(b *binding) error { return b.comment(st) })
	case *ast.AlterSystem:
		return s.alter(stmt, "ALTER SYSTEM", func(b *binding) error { return b.alterSystem(st) })
	case *ast.CreateType:
		return nil, pgerr.Unsupported("CREATE TYPE")
	case *ast.CreateClusterReplica:
		return nil, pgerr.Unsupported("CREATE CLUSTER REPLICA").WithHint("Use ALTER CLUSTER … SET (REPLICATION FACTOR n).")
	case *ast.CreateSource:
		return nil, pgerr.Unsupported("CREATE SOURCE")
	case *ast.CreateRole:
		return nil, pgerr.Unsupported("CREATE ROLE")
	case *ast.AlterRole:
		return nil, pgerr.Unsupported("ALTER ROLE")
	case *ast.DropOwned:
		return nil, pgerr.Unsupported("DROP OWNED")
	case *ast.ReassignOwned:
		return nil, pgerr.Unsupported("REASSIGN OWNED")
	case *ast.Swap:
		return nil, pgerr.Unsupported("ALTER %s … SWAP", st.Kind)
	case *ast.AlterOwner:
		return nil, pgerr.Unsupported("ALTER %s … OWNER", st.Kind)
	case *ast.AlterCluster:
		return nil, pgerr.Unsupported("ALTER %s … SET CLUSTER", st.Kind)
	case *ast.AddColumn:
		return nil, pgerr.Unsupported("ALTER TABLE … ADD COLUMN")
	case *ast.ApplyReplacement:
		return nil, pgerr.Unsupported("ALTER MATERIALIZED VIEW … APPLY REPLACEMENT")
	case *ast.Grant, *ast.GrantRole:
		return nil, pgerr.Unsupported("GRANT and REVOKE")
	case *ast.AlterDefaultPrivileges:
		return nil, pgerr.Unsupported("ALTER DEFAULT PRIVILEGES")
	case *ast.ShowPrivileges:
		return nil, pgerr.Unsupported("SHOW PRIVILEGES")
	}
	panic(fmt.Sprintf("session: unknown statement %T", stmt.ast))
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
