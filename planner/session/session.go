package session

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/settings"
)

// Session is one client's conversation.
type Session struct {
	m           *Manager
	pid, secret uint32
	addr        string
	user        string // the role it acts as
	started     time.Time
	vars        *settings.Session
	// told are the values of the reported variables as the client knows them; touched says that they may have changed.
	told     []string
	touched  bool
	tx       *txn // nil outside a transaction
	prepared map[string]*prepared
	portals  map[string]*portal
	cursors  map[string]*cursor
	notices  []*Notice

	// mu guards what others look at and what stops the running statement.
	mu struct {
		sync.Mutex
		running      context.CancelCauseFunc
		terminated   bool
		state        string
		query        string
		queryStarted time.Time
		app          string
		database     string
	}
}

// Notice is something the client should know that is not an error.
type Notice struct {
	// Severity is NOTICE, WARNING, INFO, LOG or DEBUG.
	Severity string
	*pgerr.Error
}

func newSession(m *Manager, c Client) *Session {
	s := &Session{m: m, addr: c.Addr, started: m.Now(), vars: settings.NewSession(m.Settings), prepared: map[string]*prepared{},
		portals: map[string]*portal{}, cursors: map[string]*cursor{}}
	s.mu.state = stateIdle
	return s
}

// start takes over what the client said at connecting.
func (s *Session) start(c Client) error {
	snapshot := s.m.Coord.Catalog()
	s.user = c.User
	if snapshot.RoleNamed(c.User) == nil {
		s.notice("NOTICE", pgerr.Newf(pgerr.UndefinedObject, "role %q does not exist", c.User).
			WithHint("The session acts as %q.", defaultUser))
		s.user = defaultUser
	}
	database := c.Database
	if database == "" {
		database = c.User
	}
	if snapshot.DatabaseNamed(database) == nil {
		s.notice("NOTICE", pgerr.Newf(pgerr.InvalidCatalogName, "database %q does not exist", database).
			WithHint("The session works in %q.", defaultDatabase))
		database = defaultDatabase
	}
	for _, p := range append([]Parameter{{varDatabase.Name(), database}}, c.Params...) {
		if err := s.vars.Start(p.Name, p.Value); err != nil {
			e := *pgerr.From(err)
			if strings.EqualFold(p.Name, varTimeZone) {
				// Drivers send their machine's zone unasked.
				s.notice("NOTICE", e.WithHint("Times are shown in UTC."))
				continue
			}
			e.Fatal = true
			return &e
		}
	}
	s.publish()
	return nil
}

// PID and Secret are what a request to cancel must name.
func (s *Session) PID() uint32    { return s.pid }
func (s *Session) Secret() uint32 { return s.secret }

// Parameters lists what the client is told of when it has connected.
func (s *Session) Parameters() []Parameter {
	s.told = make([]string, len(reported()))
	list := make([]Parameter, 0, len(s.told))
	for i, name := range reported() {
		if value, err := s.show(name); err == nil {
			s.told[i] = value
			list = append(list, Parameter{name, value})
		}
	}
	return list
}

// Changed lists the parameters that the client is to be told of because they have changed since the last call.
func (s *Session) Changed() []Parameter {
	if !s.touched {
		return nil
	}
	s.touched = s.tx != nil // its end may take changes back
	var list []Parameter
	for i, name := range reported() {
		if value, err := s.show(name); err == nil && value != s.told[i] {
			s.told[i] = value
			list = append(list, Parameter{name, value})
		}
	}
	return list
}

// Notices gives the notices since the last call that the client wants to see.
func (s *Session) Notices() []*Notice {
	if len(s.notices) == 0 {
		return nil
	}
	list := s.notices
	s.notices = nil
	return list
}

// maxNotices bounds what waits to be sent; a statement with more to say has said enough.
const maxNotices = 1000

func (s *Session) notice(severity string, e *pgerr.Error) {
	if len(s.notices) < maxNotices && s.wants(severity) {
		s.notices = append(s.notices, &Notice{severity, e})
	}
}

// wants says whether client_min_messages lets a severity through.
func (s *Session) wants(severity string) bool {
	return severity == "INFO" || severityRank(severity) >= severityRank(varClientMinMessages.Get(s.vars))
}

func severityRank(name string) int {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "debug") {
		return 0
	}
	return 1 + slices.Index([]string{"log", "notice", "warning", "error"}, name)
}

// Status is the transaction's state as ReadyForQuery shows it: I outside a transaction, T in one, E in one that
// has failed.
func (s *Session) Status() byte {
	switch {
	case s.tx == nil || s.tx.implicit:
		return 'I'
	case s.tx.failed:
		return 'E'
	}
	return 'T'
}

// IdleTimeout is how long the client may stay silent now; 0 is for ever.
func (s *Session) IdleTimeout() time.Duration {
	if s.tx == nil || s.tx.implicit {
		return 0
	}
	return varIdleInTransaction.Get(s.vars)
}

// Cancel stops the statement that runs, if there is one. It is safe to call from any goroutine.
func (s *Session) Cancel() {
	s.interrupt(pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request"))
}

// Terminate stops the statement that runs with an error that ends the connection, and refuses later ones. It is safe to
// call from any goroutine.
func (s *Session) Terminate() {
	s.mu.Lock()
	s.mu.terminated = true
	s.mu.Unlock()
	s.interrupt(terminated())
}

func terminated() *pgerr.Error {
	return &pgerr.Error{Code: pgerr.AdminShutdown, Message: "terminating connection due to administrator command", Fatal: true}
}

func (s *Session) interrupt(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.running != nil {
		s.mu.running(cause)
	}
}

// Close ends the session: its transaction is rolled back and all it holds is given back.
func (s *Session) Close() {
	s.rollback()
	s.m.forget(s)
}

// States of a session as pg_stat_activity shows them.
const (
	stateActive  = "active"
	stateIdle    = "idle"
	stateInTx    = "idle in transaction"
	stateAborted = "idle in transaction (aborted)"
)

// publish makes what others look at follow the variables.
func (s *Session) publish() {
	app, database := varApplicationName.Get(s.vars), varDatabase.Get(s.vars)
	s.mu.Lock()
	s.mu.app, s.mu.database = app, database
	s.mu.Unlock()
}

func (s *Session) activity() builtin.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return builtin.Session{PID: s.pid, Database: s.mu.database, User: s.user, App: s.mu.app, Addr: s.addr, Started: s.started,
		State: s.mu.state, Query: s.mu.query, QueryStarted: s.mu.queryStarted}
}

// statement is one statement while it runs.
type statement struct {
	// ctx ends when the statement is cancelled, times out, or its client goes.
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   context.CancelFunc
	text   string
	at     time.Time
	ast    ast.Statement
}

// begin starts a statement.
func (s *Session) begin(ctx context.Context, text string, st ast.Statement) (*statement, error) {
	stmt := &statement{text: text, at: s.m.Now(), ast: st}
	stmt.ctx, stmt.cancel = context.WithCancelCause(ctx)
	stmt.stop = func() {}
	if d := varStatementTimeout.Get(s.vars); d > 0 {
		stmt.ctx, stmt.stop = context.WithTimeoutCause(stmt.ctx, d,
			pgerr.New(pgerr.QueryCanceled, "canceling statement due to statement timeout"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.terminated {
		stmt.stop()
		stmt.cancel(nil)
		return nil, terminated()
	}
	s.mu.running = stmt.cancel
	s.mu.state, s.mu.query, s.mu.queryStarted = stateActive, text, stmt.at
	return stmt, nil
}

// end ends a statement, whatever became of it.
func (s *Session) end(stmt *statement) {
	stmt.stop()
	stmt.cancel(nil)
	state := stateIdle
	switch s.Status() {
	case 'T':
		state = stateInTx
	case 'E':
		state = stateAborted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.running = nil
	s.mu.state = state
}

// catalog is the snapshot that a statement is bound to: the newest, or in a transaction the one that it has
// begun with or made.
func (s *Session) catalog() *catalog.Snapshot {
	if s.tx != nil && s.tx.snapshot != nil {
		return s.tx.snapshot
	}
	return s.m.Coord.Catalog()
}
