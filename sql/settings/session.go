package settings

import (
	"maps"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// Session is one client's view of a Set: what it has set for itself, else the Set's value of the moment. It
// belongs to one goroutine.
//
// A value that SET LOCAL gave lasts until the transaction ends, however it ends; one that SET gave inside a
// transaction is undone if that is rolled back.
type Session struct {
	set *Set
	// own are the session's values; local those of the transaction. before is own as it was when the
	// transaction began, nil outside of one.
	own, local, before map[*decl]value
	// starts are the values that RESET goes back to instead of the Set's: what the client asked for when it
	// connected, and what its role has.
	starts map[*decl]value
}

// NewSession makes a session in which nothing is set.
func NewSession(set *Set) *Session {
	return &Session{set: set, own: map[*decl]value{}, local: map[*decl]value{}, starts: map[*decl]value{}}
}

func (s *Session) value(d *decl) value {
	if v, ok := s.local[d]; ok {
		return v
	}
	if v, ok := s.own[d]; ok {
		return v
	}
	return s.start(d)
}

func (s *Session) start(d *decl) value {
	if v, ok := s.starts[d]; ok {
		return v
	}
	return s.set.value(d)
}

// System is the Set beneath.
func (s *Session) System() *Set { return s.set }

// Start gives a parameter the value that the session begins with and RESET goes back to.
func (s *Session) Start(name, text string) error {
	d, v, err := s.parse(name, text)
	if err != nil {
		return err
	}
	s.starts[d] = v
	return nil
}

// Set is SET name = text, for the session.
func (s *Session) Set(name, text string) error {
	d, v, err := s.parse(name, text)
	if err != nil {
		return err
	}
	s.own[d] = v
	delete(s.local, d)
	return nil
}

// SetLocal is SET LOCAL name = text, for the transaction. Outside of one it has no effect, but the value is
// checked.
func (s *Session) SetLocal(name, text string) error {
	d, v, err := s.parse(name, text)
	if err == nil && s.before != nil {
		s.local[d] = v
	}
	return err
}

// Reset is RESET name.
func (s *Session) Reset(name string) error {
	d, err := s.changeable(name)
	if err != nil {
		return err
	}
	delete(s.own, d)
	delete(s.local, d)
	return nil
}

// ResetAll is RESET ALL.
func (s *Session) ResetAll() {
	clear(s.own)
	clear(s.local)
}

// Show prints a parameter's value as the session sees it.
func (s *Session) Show(name string) (string, error) {
	sl := s.set.find(name)
	if sl == nil {
		return "", unrecognized(name)
	}
	return sl.print(s.value(sl.decl)), nil
}

// Begin says that a transaction begins.
func (s *Session) Begin() { s.before = maps.Clone(s.own) }

// Commit says that the transaction has committed.
func (s *Session) Commit() {
	s.before = nil
	clear(s.local)
}

// Rollback says that the transaction was rolled back.
func (s *Session) Rollback() {
	if s.before != nil {
		s.own = s.before
	}
	s.before = nil
	clear(s.local)
}

// InTransaction says whether SetLocal has an effect.
func (s *Session) InTransaction() bool { return s.before != nil }

func (s *Session) parse(name, text string) (*decl, value, error) {
	d, err := s.changeable(name)
	if err != nil {
		return nil, value{}, err
	}
	v, err := d.parse(text)
	return d, v, err
}

// changeable finds a parameter that a session may change.
func (s *Session) changeable(name string) (*decl, error) {
	sl := s.set.find(name)
	switch {
	case sl == nil:
		return nil, unrecognized(name)
	case sl.scope == fixed:
		return nil, cannotChange(sl.name)
	case sl.scope == system:
		return nil, pgerr.Newf(pgerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed now", sl.name).
			WithHint("Use ALTER SYSTEM SET or ALTER SYSTEM RESET.")
	}
	return sl.decl, nil
}
