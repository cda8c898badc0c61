package session

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/settings"
)

// Options is what a Manager needs.
type Options struct {
	Coord  Coord
	System *builtin.Set
	// Settings has the system-wide values: of Settings(), and of all others that ALTER SYSTEM may set.
	Settings *settings.Set
	// Version is the version of this program.
	Version string
	// Now is the clock, Random the source of what must not be guessed. Both are needed.
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
}

// Manager makes sessions and knows those there are. It is safe for concurrent use.
type Manager struct {
	Options
	started time.Time
	turns   turns
	mu      struct {
		sync.Mutex
		sessions map[uint32]*Session
		next     uint32
		closed   bool
	}
}

// NewManager makes a Manager without sessions.
func NewManager(o Options) *Manager {
	m := &Manager{Options: o, started: o.Now()}
	m.mu.sessions = map[uint32]*Session{}
	return m
}

// Client is who connects.
type Client struct {
	User, Database string
	// Addr is the address it comes from, for people.
	Addr string
	// Params are the variables it sets at connecting.
	Params []Parameter
}

// Parameter is a variable with its value.
type Parameter struct{ Name, Value string }

// Connect makes a session. An unknown user or database is let in, with a notice, as the default ones.
func (m *Manager) Connect(c Client) (*Session, error) {
	s := newSession(m, c)
	if err := s.start(c); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.closed {
		return nil, &pgerr.Error{Code: pgerr.CannotConnectNow, Message: "the database system is shutting down", Fatal: true}
	}
	if int64(len(m.mu.sessions)) >= varMaxConnections.Get(m.Settings) {
		return nil, &pgerr.Error{Code: pgerr.TooManyConnections, Message: "sorry, too many clients already", Fatal: true}
	}
	for m.mu.next++; m.mu.next == 0 || m.mu.sessions[m.mu.next] != nil; {
		m.mu.next++
	}
	s.pid, s.secret = m.mu.next, m.secret()
	m.mu.sessions[s.pid] = s
	return s, nil
}

func (m *Manager) secret() uint32 {
	var b [4]byte
	if _, err := io.ReadFull(m.Random, b[:]); err != nil {
		invariants.Failf("session: no random bytes: %v", err)
	}
	return binary.BigEndian.Uint32(b[:])
}

// Cancel stops the statement that the session with this number is running, if the secret is right.
func (m *Manager) Cancel(pid, secret uint32) {
	if s := m.session(pid); s != nil && s.secret == secret {
		s.Cancel()
	}
}

func (m *Manager) session(pid uint32) *Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.sessions[pid]
}

// Close refuses new sessions and tells those there are to end. It does not wait for them.
func (m *Manager) Close() {
	m.mu.Lock()
	m.mu.closed = true
	m.mu.Unlock()
	for _, s := range m.all() {
		s.Terminate()
	}
}

// all lists the sessions by number.
func (m *Manager) all() []*Session {
	m.mu.Lock()
	list := make([]*Session, 0, len(m.mu.sessions))
	for _, s := range m.mu.sessions {
		list = append(list, s)
	}
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b *Session) int { return cmp.Compare(a.pid, b.pid) })
	return list
}

func (m *Manager) forget(s *Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mu.sessions, s.pid)
}

// activity is what pg_stat_activity shows.
func (m *Manager) activity() []builtin.Session {
	var list []builtin.Session
	for _, s := range m.all() {
		list = append(list, s.activity())
	}
	return list
}

// versionText is what version() says.
func (m *Manager) versionText() string {
	return fmt.Sprintf("PostgreSQL %s on Tributary %s", PostgresVersion, m.Version)
}

// versionNumber is the program's version as one number: two digits for each part behind the first.
func versionNumber(version string) int64 {
	n, part := int64(0), 0
	for _, p := range splitVersion(version) {
		n, part = n*100+p, part+1
	}
	for ; part < 3; part++ {
		n *= 100
	}
	return n
}

func splitVersion(version string) []int64 {
	var parts []int64
	for start, i := 0, 0; i <= len(version) && len(parts) < 3; i++ {
		if i < len(version) && version[i] >= '0' && version[i] <= '9' {
			continue
		}
		p, err := strconv.ParseInt(version[start:i], 10, 32)
		if err != nil {
			return parts
		}
		parts = append(parts, p)
		if i == len(version) || version[i] != '.' {
			return parts
		}
		start = i + 1
	}
	return parts
}

// defaults of who connects without saying.
const (
	defaultUser     = catalog.DefaultRole
	defaultDatabase = catalog.DefaultDatabase
)
