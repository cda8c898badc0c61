package consensus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Postgres is a Store in a PostgreSQL database, for any number of processes. FORMAT.md describes its tables.
//
// A Commit is one transaction: it locks the rows of all its registers, in the order of their keys so that two Commits
// never wait for each other in a circle, decides, writes, and commits. Locks go to rows and not to snapshots:
// at READ COMMITTED a row that was waited for is seen as its last writer left it.
//
// A connection that breaks before COMMIT is sent has changed nothing, so the transaction begins anew on another one.
// From COMMIT on only PostgreSQL's own answer tells; without it the outcome is unknown, until the locks of the same
// registers are had again: by then the old transaction has ended, one way or the other.
type Postgres struct {
	pool     *pgxpool.Pool
	patience time.Duration
}

// PostgresOptions says how a database is opened.
type PostgresOptions struct {
	// Log takes what an operator should know; nil means slog.Default().
	Log *slog.Logger
	// Patience is for how long a call that has changed nothing begins anew while PostgreSQL answers nothing at all; 0 means
	// 30 seconds.
	Patience time.Duration
}

const (
	// attemptTimeout bounds one try at a call: a network that swallows packets answers nothing for ever. It is longer
	// than idleInTransaction, whose end the locks of a process that was stopped wait for.
	attemptTimeout = 15 * time.Second
	// idleInTransaction ends, on the server, the transaction of a process that was stopped or cut off while it held
	// locks: its successor waits for them. Between two messages of one transaction a live process takes microseconds.
	idleInTransaction = 10 * time.Second
	// connectTimeout bounds how long a connection may take to be made, unless the URL says so (connect_timeout).
	connectTimeout = 5 * time.Second
	// defaultPatience is PostgresOptions.Patience.
	defaultPatience = 30 * time.Second
	// attempts bounds how often a call that has changed nothing begins anew. With pauses that double from
	// firstPause to lastPause that is about five seconds: a restart of PostgreSQL.
	attempts   = 12
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
	// poolSize is how many connections a process may have at least: commits come one after the other, and
	// reads beside them are few once a process has its shards.
	poolSize = 4
)

// OpenPostgres opens the store in the database of a URL (or of a keyword/value string, as libpq takes it), and makes
// its tables if there are none. They lie in the first schema of the search path, which the URL can set:
// "postgres://host/db?search_path=tributary".
func OpenPostgres(ctx context.Context, url string, o PostgresOptions) (*Postgres, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open consensus store: %w", err)
	}
	// Statements without names: a pooler such as PgBouncer may give every transaction another session, which knows none.
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	if cfg.ConnConfig.ValidateConnect == nil {
		// A standby would answer with registers of the past.
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	cfg.MaxConns = max(cfg.MaxConns, poolSize, int32(runtime.GOMAXPROCS(0)))
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	cfg.AfterConnect = prepareSession
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open consensus store: %w", err)
	}
	p := &Postgres{pool: pool, patience: cmp.Or(o.Patience, defaultPatience)}
	if err := p.makeTables(ctx, o.Log); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open consensus store at %s: %w", where(cfg), err)
	}
	return p, nil
}

// where names the database without its password.
func where(cfg *pgxpool.Config) string {
	return fmt.Sprintf("%s:%d/%s", cfg.ConnConfig.Host, cfg.ConnConfig.Port, cfg.ConnConfig.Database)
}

// sessionSettings are what a session of ours runs with, whatever the database's or the role's defaults are. A call's time is
// bounded here, where it is known whether to try again, and not by a timeout that is meant for others.
const sessionSettings = `SELECT set_config(name, value, false) FROM pg_settings JOIN (VALUES
		('lock_timeout', '0'), ('transaction_timeout', '0'), ('idle_session_timeout', '0'),
		('idle_in_transaction_session_timeout', '%d')
	) AS ours(name, value) USING (name)
	UNION ALL SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`

// prepareSession sees to it that a COMMIT that is answered is durable, whatever the database's default is (a stronger
// setting stays), and that nothing but we ends a session. It is a query and not parameters of the connection since poolers
// refuse parameters they do not know, and so does a PostgreSQL that is older than they are.
func prepareSession(ctx context.Context, c *pgx.Conn) error {
	// First, and by itself: it holds for what comes after.
	for _, sql := range [...]string{"SET statement_timeout = 0", fmt.Sprintf(sessionSettings, idleInTransaction.Milliseconds())} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return fmt.Errorf("set the parameters of a session: %w", err)
		}
	}
	return nil
}

// postgresFormat is the version of the tables' layout.
const postgresFormat = 1

// postgresTables makes the tables. A register's row is what a Commit locks; it stays when the register has no entry yet.
// Rows of registers are updated in place as long as their pages have room.
var postgresTables = [...]string{
	`CREATE TABLE IF NOT EXISTS tributary_format (version int NOT NULL PRIMARY KEY)`,
	`CREATE TABLE IF NOT EXISTS tributary_registers (
		key text COLLATE "C" NOT NULL PRIMARY KEY,
		head bigint NOT NULL
	) WITH (fillfactor = 50)`,
	`CREATE TABLE IF NOT EXISTS tributary_entries (
		key text COLLATE "C" NOT NULL,
		version bigint NOT NULL,
		data bytea NOT NULL,
		PRIMARY KEY (key, version)
	)`,
	// Last: who finds a format finds all tables.
	fmt.Sprintf(`INSERT INTO tributary_format VALUES (%d)`, postgresFormat),
}

func (p *Postgres) makeTables(ctx context.Context, log *slog.Logger) error {
	return p.retry(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var durable string
		if err := c.QueryRow(ctx, "SELECT current_setting('fsync')").Scan(&durable); err != nil {
			return err
		}
		if durable == "off" {
			log.Warn("the PostgreSQL that keeps the registers has fsync off: it may lose acknowledged writes when its machine fails")
		}
		var format int
		err := c.QueryRow(ctx, "SELECT version FROM tributary_format").Scan(&format)
		switch {
		case err == nil && format == postgresFormat:
			return nil
		case err == nil:
			return fmt.Errorf("its tables have format %d, this program knows format %d", format, postgresFormat)
		case !hasCode(err, "42P01"): // undefined_table
			return err
		}
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			for _, s := range postgresTables {
				if _, err := tx.Exec(ctx, s); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// Close closes the store. No call may be in flight.
func (p *Postgres) Close() error {
	p.pool.Close()
	return nil
}

// ServerError says that PostgreSQL refused a call, or could not be reached, and went on so when it was tried again.
type ServerError struct {
	// Cause is hidden from errors.Is: that a try of ours has timed out is not that the caller's time is up.
	Cause error
}

func (e *ServerError) Error() string { return "PostgreSQL: " + e.Cause.Error() }

// retry does something on a connection, again as long as it is certain that it changed nothing and another
// try may go better.
func (p *Postgres) retry(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	patient, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	pause := firstPause
	for try := 1; ; try++ {
		again, err := p.attempt(ctx, do)
		if err == nil || !again || try == attempts || patient.Err() != nil {
			return told(ctx, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-patient.Done():
			timer.Stop()
			return told(ctx, err)
		}
		pause = min(2*pause, lastPause)
	}
}

// told is what a call gives of the error of its last try.
func told(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrIndeterminate) || errors.Is(err, ErrCorrupt) {
		return err
	}
	return &ServerError{Cause: err}
}

// attempt is one try, and says whether another one may go better. A connection that comes back inside a transaction is
// closed by the pool.
func (p *Postgres) attempt(ctx context.Context, do func(context.Context, *pgx.Conn) error) (again bool, err error) {
	trying, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	c, err := p.pool.Acquire(trying)
	if err != nil {
		return transient(err, true), unanswered(ctx, trying, err)
	}
	defer c.Release()
	err = do(trying, c.Conn())
	return err != nil && transient(err, c.Conn().IsClosed()), unanswered(ctx, trying, err)
}

// unanswered says of a try that its own time was up, not its caller's.
func unanswered(ctx, trying context.Context, err error) error {
	if err == nil || trying.Err() == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("no answer within %v: %w", attemptTimeout, err)
}

// transient says whether a call that failed, and maybe lost its connection, may go better on another one, or at another
// moment.
func transient(err error, lost bool) bool {
	if errors.Is(err, ErrIndeterminate) {
		return false
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return lost
	}
	switch pg.Code {
	case "40001", "40P01", // serialization_failure, deadlock_detected
		"55P03",          // lock_not_available
		"25P03", "57P05", // idle_in_transaction_session_timeout, idle_session_timeout
		"57014",                                     // query_canceled, by somebody else than us
		"57P01", "57P02", "57P03", "53300", "25006", // a server that ends, starts, is full, or has become a standby
		"23505", "42P07": // two processes make the tables at once
		return true
	}
	return strings.HasPrefix(pg.Code, "08")
}

func hasCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}

// Head implements Store.
func (p *Postgres) Head(ctx context.Context, key string) (Versioned, error) {
	if err := checkKey(key); err != nil {
		return Versioned{}, err
	}
	var out Versioned
	err := p.retry(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var head int64
		var last *int64
		out = Versioned{}
		err := c.QueryRow(ctx, `SELECT coalesce((SELECT head FROM tributary_registers WHERE key = $1), 0), version, data
			FROM (SELECT) AS one LEFT JOIN (SELECT version, data FROM tributary_entries
				WHERE key = $1 ORDER BY version DESC LIMIT 1) AS last ON true`, key).Scan(&head, &last, &out.Data)
		if err != nil {
			return err
		}
		if last != nil {
			out.Version = Version(*last)
		}
		if out.Version != Version(head) {
			return damagedRegister(key, head, int64(out.Version))
		}
		return nil
	})
	if err != nil {
		return Versioned{}, fmt.Errorf("read register %s: %w", key, err)
	}
	return out, nil
}

// damagedRegister says that the tables do not fit together: one of them was changed by somebody else.
func damagedRegister(key string, head, last int64) error {
	return fmt.Errorf("%w: in PostgreSQL, register %s is at version %d in tributary_registers, but its last entry in tributary_entries "+
		"has version %d", ErrCorrupt, key, head, last)
}

// Scan implements Store.
func (p *Postgres) Scan(ctx context.Context, key string, from Version, limit int) ([]Versioned, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	var out []Versioned
	err := p.retry(ctx, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT version, data FROM tributary_entries
			WHERE key = $1 AND version >= $2 ORDER BY version LIMIT $3`, key, int64(from), limit)
		if err != nil {
			return err
		}
		out, err = pgx.AppendRows(out[:0], rows, pgx.RowToStructByPos[Versioned])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("scan register %s: %w", key, err)
	}
	return out, nil
}

// Truncate implements Store. A head that moves meanwhile only makes it remove less than it could.
func (p *Postgres) Truncate(ctx context.Context, key string, before Version) error {
	if err := checkKey(key); err != nil {
		return err
	}
	err := p.retry(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM tributary_entries WHERE key = $1
			AND version < least($2, (SELECT head FROM tributary_registers WHERE key = $1))`, key, int64(before))
		return err
	})
	if err != nil {
		return fmt.Errorf("truncate register %s: %w", key, err)
	}
	return nil
}

// Keys implements Store.
func (p *Postgres) Keys(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	err := p.retry(ctx, func(ctx context.Context, c *pgx.Conn) error {
		// Keys are printable, so DEL is past every key with the prefix.
		rows, err := c.Query(ctx, `SELECT key FROM tributary_registers
			WHERE key >= $1 AND key < $2 AND head > 0 ORDER BY key`, prefix, prefix+"\x7f")
		if err != nil {
			return err
		}
		out, err = pgx.AppendRows(out[:0], rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list registers: %w", err)
	}
	return out, nil
}

// Commit implements Store.
func (p *Postgres) Commit(ctx context.Context, units []Unit) ([]Outcome, error) {
	if err := checkUnits(units); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	keys := registersOf(units)
	var out []Outcome
	err := p.retry(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
		out, err = commitUnits(ctx, c, keys, units)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("commit %d units: %w", len(units), err)
	}
	return out, nil
}

// registersOf gives the keys of all registers that units name, in order.
func registersOf(units []Unit) []string {
	var keys []string
	for _, u := range units {
		for _, e := range u {
			keys = append(keys, e.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// commitUnits is one transaction. An error means that nothing happened, except ErrIndeterminate.
func commitUnits(ctx context.Context, c *pgx.Conn, keys []string, units []Unit) ([]Outcome, error) {
	heads, err := lockRegisters(ctx, c, keys)
	if err != nil {
		return nil, err
	}
	writes, refused, err := evaluate(units, func(key string) (Version, error) { return heads[key], nil })
	if err != nil {
		return nil, err
	}
	out, err := outcomes(len(units), refused, func(key string, v Version) ([]byte, error) {
		var data []byte
		err := c.QueryRow(ctx, `SELECT data FROM tributary_entries WHERE key = $1 AND version = $2`, key, int64(v)).Scan(&data)
		if err != nil {
			return nil, fmt.Errorf("read register %s version %d: %w", key, v, err)
		}
		return data, nil
	})
	if err != nil {
		return nil, err
	}
	if len(writes) == 0 {
		// Everything is decided already; a connection that fails here takes the transaction with it.
		_, err := c.Exec(ctx, "ROLLBACK")
		return out, err
	}
	return out, writeEntries(ctx, c, writes)
}

// lockRegisters begins a transaction, locks registers and gives the versions of their heads, all in one message. A
// register without a row gets one first, lest two transactions find it absent and both write its first entry. It refuses
// registers whose last entry is not that of their head, lest something is written on top of what is gone. That is asked by
// a statement of its own, whose snapshot is newer than the locks.
func lockRegisters(ctx context.Context, c *pgx.Conn, keys []string) (map[string]Version, error) {
	heads := make(map[string]Version, len(keys))
	var b pgx.Batch
	b.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	b.Queue(`INSERT INTO tributary_registers SELECT key, 0 FROM unnest($1::text[]) WITH ORDINALITY AS k(key, n)
		ORDER BY n ON CONFLICT DO NOTHING`, keys)
	b.Queue(`SELECT FROM tributary_registers WHERE key = ANY ($1::text[]) ORDER BY key FOR UPDATE`, keys)
	b.Queue(`SELECT key, head, coalesce((SELECT max(version) FROM tributary_entries AS e WHERE e.key = r.key), 0)
		FROM tributary_registers AS r WHERE key = ANY ($1::text[]) ORDER BY key`, keys).
		Query(func(rows pgx.Rows) error {
			var key string
			var head, last int64
			_, err := pgx.ForEachRow(rows, []any{&key, &head, &last}, func() error {
				if head != last {
					return damagedRegister(key, head, last)
				}
				heads[key] = Version(head)
				return nil
			})
			return err
		})
	if err := c.SendBatch(ctx, &b).Close(); err != nil {
		return nil, err
	}
	if len(heads) != len(keys) {
		return nil, fmt.Errorf("%d of %d registers have a row", len(heads), len(keys))
	}
	return heads, nil
}

// insertEntries takes what columnsOf gives.
const insertEntries = `INSERT INTO tributary_entries SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])`

func columnsOf(writes []write) (keys []string, versions []int64, data [][]byte) {
	keys, versions, data = make([]string, len(writes)), make([]int64, len(writes)), make([][]byte, len(writes))
	for i, w := range writes {
		keys[i], versions[i], data[i] = w.key, int64(w.version), w.data
	}
	return keys, versions, data
}

// writeEntries writes what was decided and commits, in one message. An error means that nothing happened, except
// ErrIndeterminate.
func writeEntries(ctx context.Context, c *pgx.Conn, writes []write) error {
	keys, versions, data := columnsOf(writes)
	heads := map[string]int64{}
	for _, w := range writes {
		heads[w.key] = int64(w.version)
	}
	var headKeys []string
	var headVersions []int64
	for key, v := range heads {
		headKeys, headVersions = append(headKeys, key), append(headVersions, v)
	}
	var b pgx.Batch
	b.Queue(insertEntries, keys, versions, data)
	b.Queue(`UPDATE tributary_registers AS r SET head = w.head FROM unnest($1::text[], $2::bigint[]) AS w(key, head)
		WHERE r.key = w.key`, headKeys, headVersions)
	b.Queue("COMMIT")
	results := c.SendBatch(ctx, &b)
	var tag pgconn.CommandTag
	var err error
	for range b.Len() {
		if tag, err = results.Exec(); err != nil {
			break
		}
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	switch {
	case err == nil && tag.String() == "COMMIT":
		return nil
	case err == nil:
		return fmt.Errorf("PostgreSQL answered COMMIT with %s", tag)
	case didNotHappen(err):
		return err
	}
	return fmt.Errorf("%w: %w", ErrIndeterminate, err)
}

// didNotHappen says whether an error of the message that ends with COMMIT proves that there was no commit: PostgreSQL has
// refused a statement of it and said so as an error of the statement, not of the connection. pgconn.SafeToRetry is no
// proof: what it says of the last error, "conn closed", is not true of the message that broke the connection.
func didNotHappen(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR" &&
		pg.Code != "40003" && pg.Code != "08007" // statement_completion_unknown, transaction_resolution_unknown
}
