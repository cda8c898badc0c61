package session

import (
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/ddl"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// maxRebinds bounds how often a statement is bound again because others have changed the catalog meanwhile.
const maxRebinds = 100

// alter runs a statement of DDL. Outside of a transaction that the client began it takes effect at once, and what the
// implicit transaction has done before it is committed first; within one, all DDL of the transaction takes effect at
// COMMIT, and nothing else is in it.
func (s *Session) alter(stmt *statement) (*Result, error) {
	tag := ddl.Tag(stmt.ast)
	if varReadOnly.Get(s.vars) {
		return nil, pgerr.Newf(pgerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", tag)
	}
	if !s.tx.implicit {
		return done(tag, s.alterInTxn(stmt, tag))
	}
	if s.tx.kind != txnIdle {
		if err := s.commit(stmt.ctx); err != nil {
			return nil, err
		}
		s.needTxn()
	}
	for range maxRebinds {
		base := s.m.Coord.Catalog()
		b, err := s.bindDDL(stmt, base)
		if err != nil {
			return nil, err
		}
		changes := &catalog.Changes{}
		if len(b.Ops) > 0 {
			if changes, err = s.m.Coord.Alter(stmt.ctx, base, b.Ops); err != nil {
				return nil, err
			}
			if changes == nil {
				continue
			}
		}
		s.tell(b, changes)
		return done(tag, nil)
	}
	return nil, pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent DDL")
}

// bindDDL binds a statement of DDL against a snapshot.
func (s *Session) bindDDL(stmt *statement, snapshot *catalog.Snapshot) (*ddl.Bound, error) {
	p := &planner{s: s, snapshot: snapshot, env: s.newEnv(stmt, snapshot)}
	return ddl.Bind(&ddl.Env{Catalog: snapshot, Path: p.env.answers.Path, Owner: snapshot.RoleNamed(s.user).ID,
		Cluster: varCluster.Get(s.vars), Settings: s.m.Settings, Bind: p.bindEnv}, stmt.ast)
}

// alterInTxn runs a statement of DDL in a transaction of such statements.
func (s *Session) alterInTxn(stmt *statement, tag string) error {
	t := s.tx
	if t.kind != txnIdle && t.kind != txnDDL {
		return pgerr.Newf(pgerr.ActiveSQLTransaction, "%s cannot run inside a transaction block with other statements", tag).
			WithHint("A transaction has DDL alone, or none.")
	}
	if t.snapshot == nil {
		t.base = s.m.Coord.Catalog()
		t.snapshot = t.base
	}
	b, err := s.bindDDL(stmt, t.snapshot)
	if err != nil {
		return err
	}
	next, changes, err := t.snapshot.Apply(b.Ops)
	if err != nil {
		return err
	}
	t.kind, t.snapshot, t.ops = txnDDL, next, append(t.ops, b.Ops...)
	s.tell(b, changes)
	return nil
}

// tell passes on what a statement had to say, once it has taken effect.
func (s *Session) tell(b *ddl.Bound, changes *catalog.Changes) {
	for _, n := range b.Notices {
		s.notice("NOTICE", n)
	}
	switch n := len(changes.Cascaded); {
	case n == 1:
		s.notice("NOTICE", pgerr.New("00000", changes.Cascaded[0]))
	case n > 1:
		s.notice("NOTICE", pgerr.Newf("00000", "drop cascades to %d other objects", n).
			WithDetail("%s", strings.Join(changes.Cascaded, "\n")))
	}
}

// cluster finds a cluster: the one named, else the session's.
func (s *Session) cluster(snapshot *catalog.Snapshot, name string) (*catalog.Cluster, error) {
	if name == "" {
		name = varCluster.Get(s.vars)
	}
	return snapshot.ResolveCluster(name)
}
