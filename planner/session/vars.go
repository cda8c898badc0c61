package session

import (
	"strings"
	"time"

	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/settings"
)

// PostgresVersion is the version of PostgreSQL that this server speaks like.
const PostgresVersion = "15.0"

// Isolation levels as transaction_isolation names them.
const (
	strictSerializable = "strict serializable"
	serializable       = "serializable"
)

// maxTimeout is PostgreSQL's bound on timeouts: the largest int4 of milliseconds.
const maxTimeout = (1<<31 - 1) * time.Millisecond

// nextStatement and nextConnection say when a change takes effect.
const (
	nextStatement  = "next statement"
	nextTx         = "next transaction"
	nextConnection = "next connection"
)

// The variables that this package reads.
var (
	varApplicationName = settings.ForSession(settings.NewString("application_name", "",
		"what the client calls itself", nextStatement))
	varClientMinMessages = settings.ForSession(settings.NewEnum("client_min_messages", "notice",
		[]string{"debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"},
		"the least severity of the messages sent to the client", nextStatement))
	varCluster = settings.ForSession(settings.NewString("cluster", catalog.DefaultCluster,
		"the cluster that queries run in", nextStatement))
	varDatabase = settings.ForSession(settings.NewString("database", catalog.DefaultDatabase,
		"the current database", nextStatement))
	varDefaultReadOnly = settings.ForSession(settings.NewBool("default_transaction_read_only", false,
		"whether new transactions only read", nextTx))
	varIdleInTransaction = settings.ForSession(settings.NewDuration("idle_in_transaction_session_timeout", 2*time.Minute, 0, maxTimeout,
		"how long a session may do nothing in a transaction before it is ended; 0 is for ever", nextStatement))
	varMaxResult = settings.ForSession(settings.NewBytes("max_query_result_size", 1<<30, 0, 1<<50,
		"how many bytes a query's result may have; 0 is any number", nextStatement))
	varSearchPath = settings.ForSession(settings.Checked(settings.NewString("search_path", "public",
		"the schemas in which names without one are looked up", nextStatement), normalSearchPath))
	varStatementTimeout = settings.ForSession(settings.NewDuration("statement_timeout", 0, 0, maxTimeout,
		"how long a statement may run before it is stopped; 0 is for ever", nextStatement))
	varIsolation = settings.ForSession(settings.Checked(settings.NewString("transaction_isolation", strictSerializable,
		"the isolation level: "+strictSerializable+" or "+serializable, nextTx), normalIsolation))
	varReadOnly = settings.ForSession(settings.NewBool("transaction_read_only", false,
		"whether the transaction only reads", nextStatement))
	varMaxConnections = settings.NewInt("max_connections", 1000, 1, 100_000,
		"how many clients may be connected", nextConnection)
)

// Settings lists the variables that sessions have and those that this package reads.
func Settings() []settings.Param {
	text := func(name, initial, doc string) *settings.String {
		return settings.NewString(name, initial, doc, nextStatement)
	}
	word := func(name, initial, doc string, normal func(text string) (string, bool)) settings.Param {
		return settings.ForSession(settings.Checked(text(name, initial, doc), normal))
	}
	number, _, _ := strings.Cut(PostgresVersion, ".")
	return []settings.Param{
		varApplicationName, varClientMinMessages, varCluster, varDatabase, varDefaultReadOnly, varIdleInTransaction,
		varMaxResult, varSearchPath, varStatementTimeout, varIsolation, varReadOnly, varMaxConnections,

		// What is here for PostgreSQL's clients, who set it, or want to know it, without effect.
		word("bytea_output", "hex", "how bytea values are written", only("hex")),
		word("client_encoding", "UTF8", "the client's character set", normalEncoding),
		settings.ForSession(text("cluster_replica", "", "the replica that queries run on; without effect: all give the same answers")),
		word("DateStyle", "ISO, MDY", "how dates are written, and how ambiguous ones are read", normalDateStyle),
		word("default_transaction_isolation", strictSerializable, "without effect: see transaction_isolation", normalIsolation),
		settings.ForSession(settings.NewInt("extra_float_digits", 1, -15, 3,
			"without effect: floating-point numbers are written with as many digits as they need", nextStatement)),
		settings.Fixed(settings.NewBool("integer_datetimes", true, "whether times are whole microseconds", nextStatement)),
		word("IntervalStyle", "postgres", "how intervals are written", only("postgres")),
		settings.Fixed(text("is_superuser", "on", "whether the role is a superuser")),
		settings.ForSession(settings.NewDuration("lock_timeout", 0, 0, maxTimeout, "without effect: there are no locks", nextStatement)),
		settings.Fixed(settings.NewInt("max_identifier_length", catalog.MaxNameBytes, 0, catalog.MaxNameBytes,
			"how many bytes a name may have", nextStatement)),
		settings.Fixed(text("server_encoding", "UTF8", "the server's character set")),
		settings.Fixed(text("server_version", PostgresVersion, "the version of PostgreSQL that this server speaks like")),
		settings.Fixed(text("server_version_num", number+"0000", "server_version as a number")),
		settings.Fixed(text("session_authorization", catalog.DefaultRole, "the session's role")),
		settings.ForSession(settings.NewBool("sql_safe_updates", false, "without effect", nextStatement)),
		word("standard_conforming_strings", "on", "whether backslashes in plain string literals are characters like others",
			only("on", "true", "yes", "1")),
		word(varTimeZone, "UTC", "the time zone, which is UTC", normalTimeZone),
	}
}

// reported are the variables whose changes the client is told of, as PostgreSQL tells of them.
func reported() []string {
	return []string{"application_name", "client_encoding", "DateStyle", "integer_datetimes", "IntervalStyle", "is_superuser",
		"server_encoding", "server_version", "session_authorization", "standard_conforming_strings", varTimeZone}
}

// only takes some words for the first of them.
func only(words ...string) func(text string) (string, bool) {
	return func(text string) (string, bool) {
		for _, w := range words {
			if strings.EqualFold(w, text) {
				return words[0], true
			}
		}
		return "", false
	}
}

func normalEncoding(text string) (string, bool) {
	plain := strings.NewReplacer("-", "", "_", "").Replace(text)
	return "UTF8", strings.EqualFold(plain, "utf8") || strings.EqualFold(plain, "unicode")
}

// normalDateStyle takes any order that goes with ISO; ambiguous dates are read as month, day, year.
func normalDateStyle(text string) (string, bool) {
	for w := range strings.SplitSeq(text, ",") {
		switch strings.ToLower(strings.TrimSpace(w)) {
		case "iso", "mdy", "us", "noneuro", "noneuropean", "default":
		default:
			return "", false
		}
	}
	return "ISO, MDY", true
}

// varTimeZone is the name of the variable for the time zone.
const varTimeZone = "TimeZone"

func normalTimeZone(text string) (string, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "utc", "etc/utc", "gmt", "z", "zulu", "universal", "+00:00", "-00:00", "+00", "0", "default", "local":
		return "UTC", true
	}
	return "", false
}

// normalIsolation takes PostgreSQL's weaker levels for the weakest there is, which promises more.
func normalIsolation(text string) (string, bool) {
	switch strings.ToLower(strings.Join(strings.Fields(text), " ")) {
	case strictSerializable:
		return strictSerializable, true
	case serializable, "repeatable read", "read committed", "read uncommitted":
		return serializable, true
	}
	return "", false
}

// normalSearchPath reads a list of names; each is folded unless it is quoted.
func normalSearchPath(text string) (string, bool) {
	names, ok := splitNames(text)
	for i := range names {
		names[i] = ast.QuoteIdent(names[i])
	}
	return strings.Join(names, ", "), ok
}

// splitNames takes a list of identifiers apart.
func splitNames(text string) ([]string, bool) {
	var names []string
	for rest := strings.TrimSpace(text); rest != ""; {
		name, after, ok := firstName(rest)
		if !ok {
			return nil, false
		}
		names = append(names, name)
		if after == "" {
			break
		}
		rest, ok = strings.CutPrefix(after, ",")
		if rest = strings.TrimSpace(rest); !ok || rest == "" {
			return nil, false
		}
	}
	return names, true
}

// firstName takes an identifier from the front of a text that is not empty.
func firstName(text string) (name, rest string, ok bool) {
	if text[0] != '"' {
		end := strings.IndexAny(text, ", \t\n\"")
		if end < 0 {
			end = len(text)
		}
		return strings.ToLower(text[:end]), strings.TrimSpace(text[end:]), end > 0
	}
	for rest = text[1:]; ; {
		part, after, closed := strings.Cut(rest, `"`)
		name += part
		if !closed {
			return "", "", false
		}
		if rest, ok = strings.CutPrefix(after, `"`); !ok {
			return name, strings.TrimSpace(after), true
		}
		name += `"`
	}
}

// path is where the session looks names up.
func (s *Session) path() catalog.Path {
	names, _ := splitNames(varSearchPath.Get(s.vars))
	return catalog.Path{Database: varDatabase.Get(s.vars), Search: names}
}

// show prints a variable as this session sees it.
func (s *Session) show(name string) (string, error) {
	if strings.EqualFold(name, "session_authorization") {
		return s.user, nil
	}
	return s.vars.Show(name)
}

// allSettings lists every setting as this session sees it.
func (s *Session) allSettings() []builtin.Setting {
	var list []builtin.Setting
	for _, p := range s.m.Settings.Params() {
		value, err := s.show(p.Name())
		if err != nil {
			continue // not for a parameter that the list has
		}
		list = append(list, builtin.Setting{Name: p.Name(), Value: value, Default: p.Default(), Doc: p.Doc(), Kind: p.Type(),
			System: !settings.IsForSession(p)})
	}
	return list
}
