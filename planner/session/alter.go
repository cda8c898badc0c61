package session

import (
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

// binding is a statement of DDL bound to one snapshot: the operations it comes to, and what there is to say.
type binding struct {
	s        *Session
	stmt     *statement
	snapshot *catalog.Snapshot
	path     catalog.Path
	ops      []catalog.Op
	notices  []*Notice
}

func (b *binding) notice(e *pgerr.Error) { b.notices = append(b.notices, &Notice{"NOTICE", e}) }

// maxRebinds bounds how often a statement is bound again because others have changed the catalog meanwhile.
const maxRebinds = 100

// alter runs a statement of DDL. Outside of a transaction that the client began it takes effect at once, and what the
// implicit transaction has done before it is committed first; within one, all DDL of the transaction takes effect at
// COMMIT, and nothing else is in it.
func (s *Session) alter(stmt *statement, tag string, bind func(b *binding) error) (*Result, error) {
	if varReadOnly.Get(s.vars) {
		return nil, pgerr.Newf(pgerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", tag)
	}
	if !s.tx.implicit {
		return done(tag, s.alterInTxn(stmt, tag, bind))
	}
	if s.tx.kind != txnIdle {
		if err := s.commit(stmt.ctx); err != nil {
			return nil, err
		}
		s.needTxn()
	}
	for range maxRebinds {
		base := s.m.Coord.Catalog()
		b := &binding{s: s, stmt: stmt, snapshot: base, path: s.path()}
		if err := bind(b); err != nil {
			return nil, err
		}
		changes := &catalog.Changes{}
		if len(b.ops) > 0 {
			var err error
			if changes, err = s.m.Coord.Alter(stmt.ctx, base, b.ops); err != nil {
				return nil, err
			}
			if changes == nil {
				continue
			}
		}
		s.tell(b, changes)
		s.forgetRead()
		return done(tag, nil)
	}
	return nil, pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent DDL")
}

func (s *Session) alterInTxn(stmt *statement, tag string, bind func(b *binding) error) error {
	t := s.tx
	if t.kind != txnIdle && t.kind != txnDDL {
		return pgerr.Newf(pgerr.ActiveSQLTransaction, "%s cannot run inside a transaction block with other statements", tag).
			WithHint("A transaction has DDL alone, or none.")
	}
	if t.snapshot == nil {
		t.base = s.m.Coord.Catalog()
		t.snapshot = t.base
	}
	b := &binding{s: s, stmt: stmt, snapshot: t.snapshot, path: s.path()}
	if err := bind(b); err != nil {
		return err
	}
	next, changes, err := t.snapshot.Apply(b.ops)
	if err != nil {
		return err
	}
	t.kind, t.snapshot, t.ops = txnDDL, next, append(t.ops, b.ops...)
	s.tell(b, changes)
	return nil
}

// tell passes on what a statement had to say, once it has taken effect.
func (s *Session) tell(b *binding, changes *catalog.Changes) {
	for _, n := range b.notices {
		s.notice(n.Severity, n.Error)
	}
	switch n := len(changes.Cascaded); {
	case n == 1:
		s.notice("NOTICE", pgerr.New("00000", changes.Cascaded[0]))
	case n > 1:
		s.notice("NOTICE", pgerr.Newf("00000", "drop cascades to %d other objects", n).
			WithDetail("%s", strings.Join(changes.Cascaded, "\n")))
	}
}

// owner is the role that owns what the session makes.
func (b *binding) owner() tvc.ID { return b.snapshot.RoleNamed(b.s.user).ID }

// cluster finds a cluster: the one named, else the session's.
func (s *Session) cluster(snapshot *catalog.Snapshot, name string) (*catalog.Cluster, error) {
	if name == "" {
		name = varCluster.Get(s.vars)
	}
	return snapshot.ResolveCluster(name)
}
