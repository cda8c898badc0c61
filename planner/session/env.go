package session

import (
	"time"

	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// env is what a statement's expressions may ask. It is made once for a statement and not changed, so safe for
// concurrent use.
type env struct {
	m         *Manager
	answers   builtin.Answers
	txTime    time.Time
	stmtTime  time.Time
	logical   tvc.Time // of the statement's read; 0: none yet
	pid       uint32
	user      string
	sessionAs string
	settings  map[string]string
}

// newEnv makes a statement's env.
func (s *Session) newEnv(stmt *statement, snapshot *catalog.Snapshot) *env {
	e := &env{m: s.m, answers: builtin.Answers{Set: s.m.System, Catalog: snapshot, Path: s.path()}, stmtTime: stmt.at, txTime: stmt.at,
		pid: s.pid, user: s.user, sessionAs: s.user}
	if s.tx != nil && !s.tx.implicit {
		e.txTime = s.tx.at
	}
	return e
}

// needSettings takes the values that current_setting may ask for. It is done apart because it is much, and rare.
func (s *Session) needSettings(e *env) {
	if e.settings != nil {
		return
	}
	e.settings = map[string]string{}
	for _, v := range s.allSettings() {
		e.settings[lowered(v.Name)] = v.Value
	}
}

// postgresEpoch is what timestamps count from.
const postgresEpochMicros = 946_684_800_000_000

func timestamp(t time.Time) vec.Datum { return vec.IntOf(t.UnixMicro() - postgresEpochMicros) }

// Ask answers a question about the statement, the session or the catalog.
func (e *env) Ask(q scalar.Question, arg vec.Datum) (vec.Datum, error) {
	if answer, known, err := e.answers.Ask(q, arg); known {
		return answer, err
	}
	switch q {
	case scalar.AskNow:
		return timestamp(e.txTime), nil
	case scalar.AskStatementTime:
		return timestamp(e.stmtTime), nil
	case scalar.AskClock:
		return timestamp(e.m.Now()), nil
	case scalar.AskStartTime:
		return timestamp(e.m.started), nil
	case scalar.AskMzNow:
		return vec.IntOf(int64(e.logical.Millis())), nil
	case scalar.AskVersion:
		return vec.StrOf(e.m.versionText()), nil
	case scalar.AskMzVersion:
		return vec.StrOf("v" + e.m.Version + " (tributary)"), nil
	case scalar.AskMzVersionNum:
		return vec.IntOf(versionNumber(e.m.Version)), nil
	case scalar.AskEnvironmentID:
		return vec.StrOf("tributary"), nil
	case scalar.AskBackendPID:
		return vec.IntOf(int64(e.pid)), nil
	case scalar.AskCurrentDatabase:
		return vec.StrOf(e.answers.Path.Database), nil
	case scalar.AskCurrentUser:
		return vec.StrOf(e.user), nil
	case scalar.AskSessionUser:
		return vec.StrOf(e.sessionAs), nil
	case scalar.AskCurrentSchema:
		if schemas := e.answers.Catalog.SearchPath(e.answers.Path, false); len(schemas) > 0 {
			return vec.StrOf(schemas[0].Name), nil
		}
		return vec.Null, nil
	case scalar.AskCurrentSchemas:
		var names []string
		for _, c := range e.answers.Catalog.SearchPath(e.answers.Path, arg.Bool()) {
			names = append(names, c.Name)
		}
		return builtin.TextArray(names), nil
	case scalar.AskSetting:
		if v, ok := e.settings[lowered(arg.Str())]; ok {
			return vec.StrOf(v), nil
		}
		return vec.Null, nil
	case scalar.AskIsSuperuser:
		r := e.answers.Catalog.RoleNamed(e.user)
		return vec.BoolOf(r != nil && r.Super), nil
	case scalar.AskCancelBackend, scalar.AskTerminateBackend:
		s := e.m.session(uint32(arg.Int()))
		if s == nil {
			return vec.BoolOf(false), nil
		}
		if q == scalar.AskCancelBackend {
			s.Cancel()
		} else {
			s.Terminate()
		}
		return vec.BoolOf(true), nil
	case scalar.AskRelSize, scalar.AskDatabaseSize:
		// What is stored is not known here; NULL says so.
		return vec.Null, nil
	}
	invariants.Failf("session: unknown question %v", q)
	return vec.Null, nil
}
