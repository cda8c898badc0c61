package session

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

// txn is a transaction: one that the client began, or an implicit one, which is a single statement, the statements of
// one simple query, or those between two Syncs.
type txn struct {
	implicit bool
	failed   bool
	kind     txnKind
	at       time.Time // when it began: now()
	// alone: an implicit transaction that is one statement. used: a statement was run in it.
	alone, used bool

	// snapshot is the catalog it works with once it has read or written; nil before. A transaction of DDL has the
	// catalog as it will be.
	snapshot *catalog.Snapshot

	// read is the one time it reads at; readTables are the base tables under what it has read.
	read       coord.Read
	readTables map[tvc.ID]bool

	writes coord.Writes

	// ops are the catalog's changes of a transaction of DDL, to be made on base.
	base *catalog.Snapshot
	ops  []catalog.Op
}

// txnKind is what a transaction has come to do; the first statement that is more than looking at the catalog
// decides.
type txnKind uint8

const (
	txnIdle txnKind = iota
	txnReading
	txnWriting
	txnDDL
	txnSubscribing
)

func (s *Session) newTxn(implicit bool) *txn {
	s.vars.Begin()
	return &txn{implicit: implicit, at: s.m.Now(), readTables: map[tvc.ID]bool{}}
}

// needTxn makes sure that there is a transaction, an implicit one if need be.
func (s *Session) needTxn() *txn {
	if s.tx == nil {
		s.tx = s.newTxn(true)
	}
	return s.tx
}

// pin keeps the transaction to one snapshot from now on.
func (s *Session) pin(snapshot *catalog.Snapshot) {
	if s.tx.snapshot == nil {
		s.tx.snapshot = snapshot
	}
}

// readAt gives the time for reading the collections with the given ids. The caller owes nothing: what must be
// released is when the transaction ends.
func (s *Session) readAt(ctx context.Context, snapshot *catalog.Snapshot, ids []tvc.ID) (coord.Read, error) {
	t := s.tx
	if len(ids) > 0 {
		switch t.kind {
		case txnDDL:
			return nil, pgerr.Unsupported("a query of tables or views after DDL in the same transaction").
				WithHint("COMMIT first.")
		case txnSubscribing:
			return nil, pgerr.Unsupported("a query of tables or views in a transaction that has a SUBSCRIBE").
				WithHint("Use another transaction.")
		case txnIdle:
			t.kind = txnReading
			s.pin(snapshot)
		}
		baseTables(snapshot, ids, t.readTables)
	}
	return s.readOnce(ctx, ids)
}

// readOnce is readAt without regard to what the transaction has done: for reading in order to write.
func (s *Session) readOnce(ctx context.Context, ids []tvc.ID) (coord.Read, error) {
	t := s.tx
	if t.read != nil {
		return t.read, nil
	}
	o := coord.ReadOptions{All: !t.alone, Catalog: s.catalog()}
	if varIsolation.Get(s.vars) == serializable {
		o.Isolation = coord.Serializable
	}
	r, err := s.m.Coord.Read(ctx, ids, o)
	if err != nil {
		return nil, err
	}
	t.read = r
	return r, nil
}

// baseTables adds the tables under the items with the given ids, themselves included.
func baseTables(snapshot *catalog.Snapshot, ids []tvc.ID, to map[tvc.ID]bool) {
	seen := map[tvc.ID]bool{}
	var visit func(id tvc.ID)
	visit = func(id tvc.ID) {
		it := snapshot.Item(id)
		if seen[id] || it == nil {
			return
		}
		seen[id] = true
		switch it.Kind {
		case catalog.Table:
			to[id] = true
		case catalog.Index:
			visit(it.On)
		default:
			for _, on := range it.DependsOn {
				visit(on)
			}
		}
	}
	for _, id := range ids {
		visit(id)
	}
}

// forWriting makes the transaction one that writes, and gives where its writes are gathered.
func (s *Session) forWriting(snapshot *catalog.Snapshot, what string) (coord.Writes, error) {
	t := s.tx
	if varReadOnly.Get(s.vars) {
		return nil, pgerr.Newf(pgerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", what)
	}
	switch t.kind {
	case txnDDL:
		return nil, pgerr.Unsupported("%s after DDL in the same transaction", what).WithHint("COMMIT first.")
	case txnSubscribing:
		return nil, pgerr.Unsupported("%s in a transaction that has a SUBSCRIBE", what).WithHint("Use another transaction.")
	}
	t.kind = txnWriting
	s.pin(snapshot)
	if t.writes == nil {
		t.writes = s.m.Coord.Write()
	}
	return t.writes, nil
}

// commit ends the transaction and makes it count. If that fails it is rolled back.
func (s *Session) commit(ctx context.Context) error {
	t := s.tx
	if t == nil {
		return nil
	}
	err := s.commitWork(ctx, t)
	s.endTxn(err == nil)
	return err
}

func (s *Session) commitWork(ctx context.Context, t *txn) error {
	switch {
	case t.failed:
		return nil
	case t.kind == txnWriting:
		var at tvc.Time
		if t.read != nil {
			at = t.read.At()
		}
		_, err := t.writes.Commit(ctx, slices.SortedFunc(maps.Keys(t.readTables), tvc.ID.Compare), at)
		return err
	case t.kind == txnDDL && len(t.ops) > 0:
		changes, err := s.m.Coord.Alter(ctx, t.base, t.ops)
		if err == nil && changes == nil {
			return pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent DDL").
				WithHint("Try the transaction again.")
		}
		return err
	}
	return nil
}

// rollback ends the transaction as if it had never been.
func (s *Session) rollback() {
	if s.tx != nil {
		s.endTxn(false)
	}
}

// endTxn gives back what the transaction held and leaves it.
func (s *Session) endTxn(committed bool) {
	t := s.tx
	s.closePortals()
	s.closeCursors()
	if t.read != nil {
		t.read.Release()
	}
	if t.writes != nil {
		t.writes.Abort() // nothing, after a commit
	}
	if committed && !t.failed {
		s.vars.Commit()
	} else {
		s.vars.Rollback()
	}
	s.tx = nil
	if s.touched {
		s.publish()
	}
}

// failTxn is what an error does to the transaction: an implicit one is rolled back, another waits for ROLLBACK.
func (s *Session) failTxn() {
	switch {
	case s.tx == nil:
	case s.tx.implicit:
		s.rollback()
	case !s.tx.failed:
		s.tx.failed = true
		s.closePortals()
		s.closeCursors()
		if s.tx.read != nil {
			s.tx.read.Release()
			s.tx.read = nil
		}
		if s.tx.writes != nil {
			s.tx.writes.Abort()
		}
	}
}

// beginTxn is BEGIN.
func (s *Session) beginTxn(st *ast.Begin) error {
	switch {
	case s.tx == nil:
		s.tx = s.newTxn(false)
	case s.tx.implicit:
		// What the block has done so far becomes part of the transaction.
		s.tx.implicit = false
	default:
		s.notice("WARNING", pgerr.New(pgerr.ActiveSQLTransaction, "there is already a transaction in progress"))
	}
	if varDefaultReadOnly.Get(s.vars) {
		if err := s.vars.SetLocal(varReadOnly.Name(), "on"); err != nil {
			return err
		}
	}
	return s.setModes(st.Modes, s.vars.SetLocal)
}

// setModes takes over the modes of BEGIN, SET TRANSACTION and SET SESSION CHARACTERISTICS.
func (s *Session) setModes(modes []ast.TransactionMode, set func(name, text string) error) error {
	for _, m := range modes {
		var err error
		switch {
		case m.Isolation != "":
			err = set(varIsolation.Name(), m.Isolation)
		case m.Access != "":
			err = set(varReadOnly.Name(), strconv.FormatBool(m.Access == "READ ONLY"))
		}
		// DEFERRABLE is what every transaction is.
		if err != nil {
			return err
		}
	}
	return nil
}

// setTransaction is SET TRANSACTION and SET SESSION CHARACTERISTICS.
func (s *Session) setTransaction(st *ast.SetTransaction) error {
	if st.Session {
		return s.setModes(st.Modes, func(name, text string) error {
			if name == varReadOnly.Name() {
				name = varDefaultReadOnly.Name()
			}
			return s.vars.Set(name, text)
		})
	}
	if s.tx.implicit {
		s.notice("WARNING", pgerr.New(pgerr.NoActiveSQLTransaction, "SET TRANSACTION can only be used in transaction blocks"))
	}
	if s.tx.kind != txnIdle {
		return pgerr.New(pgerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	}
	return s.setModes(st.Modes, s.vars.SetLocal)
}

// commitTxn is COMMIT; it gives the tag, which is ROLLBACK if the transaction has failed.
func (s *Session) commitTxn(ctx context.Context, chain bool) (string, error) {
	if chain {
		return "", pgerr.Unsupported("COMMIT AND CHAIN")
	}
	if s.tx == nil || s.tx.implicit {
		s.notice("WARNING", pgerr.New(pgerr.NoActiveSQLTransaction, "there is no transaction in progress"))
	}
	tag := "COMMIT"
	if s.tx != nil && s.tx.failed {
		tag = "ROLLBACK"
	}
	return tag, s.commit(ctx)
}

// rollbackTxn is ROLLBACK.
func (s *Session) rollbackTxn(chain bool) (string, error) {
	if chain {
		return "", pgerr.Unsupported("ROLLBACK AND CHAIN")
	}
	if s.tx == nil || s.tx.implicit {
		s.notice("WARNING", pgerr.New(pgerr.NoActiveSQLTransaction, "there is no transaction in progress"))
	}
	s.rollback()
	return "ROLLBACK", nil
}

// aborted is what statements of a failed transaction get.
func aborted() error {
	return pgerr.New(pgerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
}
