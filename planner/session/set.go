package session

import (
	"strings"

	"github.com/tributary-db/tributary/planner/ddl"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// setVar is SET.
func (s *Session) setVar(st *ast.SetVar) error {
	s.touched = true
	set := s.vars.Set
	if st.Scope == ast.ScopeLocal {
		set = s.vars.SetLocal
		if s.tx.implicit {
			s.notice("WARNING", pgerr.New(pgerr.NoActiveSQLTransaction, "SET LOCAL can only be used in transaction blocks"))
		}
	}
	if len(st.Values) == 0 {
		return s.vars.Reset(st.Name)
	}
	text, err := ddl.SettingText(st.Name, st.Values)
	if err != nil {
		return err
	}
	if err := set(st.Name, text); err != nil {
		return err
	}
	s.warnOfMissing(st.Name)
	s.publish()
	return nil
}

// warnOfMissing says that a variable names what is not there: it may be made later.
func (s *Session) warnOfMissing(name string) {
	switch c := s.catalog(); {
	case strings.EqualFold(name, varDatabase.Name()):
		if d := varDatabase.Get(s.vars); c.DatabaseNamed(d) == nil {
			s.notice("NOTICE", pgerr.Newf(pgerr.InvalidCatalogName, "session database %q does not exist", d))
		}
	case strings.EqualFold(name, varCluster.Name()):
		if n := varCluster.Get(s.vars); c.ClusterNamed(n) == nil {
			s.notice("NOTICE", pgerr.Newf(pgerr.UndefinedObject, "session cluster %q does not exist", n))
		}
	}
}

// resetVar is RESET.
func (s *Session) resetVar(st *ast.ResetVar) error {
	defer s.publish()
	s.touched = true
	if st.Name == "" {
		s.vars.ResetAll()
		return nil
	}
	return s.vars.Reset(st.Name)
}

// discard is DISCARD; it gives the tag.
func (s *Session) discard(st *ast.Discard) (string, error) {
	switch st.What {
	case "ALL":
		if !s.tx.implicit {
			return "", pgerr.New(pgerr.ActiveSQLTransaction, "DISCARD ALL cannot run inside a transaction block")
		}
		s.closePortals()
		s.closeCursors()
		s.vars.ResetAll()
		s.touched = true
		clear(s.prepared)
		s.publish()
	case "TEMP":
		// There is nothing temporary.
	default:
		return "", pgerr.Unsupported("DISCARD %s", st.What)
	}
	return "DISCARD " + st.What, nil
}
