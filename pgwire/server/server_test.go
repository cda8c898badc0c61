package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/pgwire/server"
	"github.com/tributary-db/tributary/planner/session/sessiontest"
)

// served is a server for a test.
type served struct {
	coord *sessiontest.Coord
	addr  string
	// stop ends the server and waits for it.
	stop func()
}

// faults is a log that holds the server to having none: what clients do is no fault of its own.
type faults struct {
	slog.Handler
	t testing.TB
}

func (f faults) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (f faults) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool { f.t.Errorf("logged: %s: %s", r.Message, a); return true })
	return nil
}

// serve starts a server over a coordinator without storage. It must leave no goroutine behind.
func serve(t testing.TB) *served {
	t.Helper()
	return serveWith(t, server.Options{})
}

// serveWith starts one with options of its own.
func serveWith(t testing.TB, o server.Options) *served {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	coord, sessions := sessiontest.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Sessions, o.Log, o.Now = sessions, slog.New(faults{slog.DiscardHandler, t}), time.Now
	srv := server.New(o)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, l) }()
	stop := sync.OnceFunc(func() {
		cancel()
		sessions.Close()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
		if tt, ok := t.(*testing.T); ok {
			goleak.VerifyNone(tt, leaks)
		}
	})
	t.Cleanup(stop)
	return &served{coord: coord, addr: l.Addr().String(), stop: stop}
}

func (s *served) url() string {
	return "postgres://materialize@" + s.addr + "/materialize?sslmode=disable"
}

func (s *served) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func run(t testing.TB, conn *pgx.Conn, sql string, args ...any) pgconn.CommandTag {
	t.Helper()
	tag, err := conn.Exec(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag
}

func query(t testing.TB, conn *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var out []string
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		out = append(out, strings.TrimSpace(fmt.Sprintln(values...)))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return strings.Join(out, "\n")
}

func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

// modes are pgx's ways to run a query.
func modes() map[string]pgx.QueryExecMode {
	return map[string]pgx.QueryExecMode{
		"prepared": pgx.QueryExecModeCacheStatement, "described": pgx.QueryExecModeCacheDescribe,
		"each described": pgx.QueryExecModeDescribeExec, "exec": pgx.QueryExecModeExec, "simple": pgx.QueryExecModeSimpleProtocol,
	}
}

// TestAllModesAgree runs the same statements in all of pgx's modes: text and binary, simple and extended.
func TestAllModesAgree(t *testing.T) {
	s := serve(t)
	for name, mode := range modes() {
		t.Run(name, func(t *testing.T) {
			config, err := pgx.ParseConfig(s.url())
			if err != nil {
				t.Fatal(err)
			}
			config.DefaultQueryExecMode = mode
			conn, err := pgx.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			run(t, conn, "DROP TABLE IF EXISTS t")
			run(t, conn,
				"CREATE TABLE t (a int8, b text, c numeric, d timestamptz, e bool, f float8, g bytea, h date, i uuid, j jsonb, k interval, l int[])")
			at := time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)
			tag := run(t, conn, "INSERT INTO t (a, b, d, e, f, h) VALUES ($1, $2, $3, $4, $5, $6)", int64(1)<<40, "ü'",
				at, true, 1.5, at.Truncate(24*time.Hour))
			if tag.String() != "INSERT 0 1" {
				t.Errorf("tag %q", tag)
			}
			var a int64
			var b string
			var d time.Time
			var e bool
			var f float64
			var g []byte
			err = conn.QueryRow(t.Context(), "SELECT a, b, d, e, f, g FROM t WHERE a = $1", int64(1)<<40).Scan(&a, &b, &d, &e, &f, &g)
			if err != nil || a != 1<<40 || b != "ü'" || !d.Equal(at) || !e || f != 1.5 || g != nil {
				t.Errorf("got %v %v %v %v %v %v, %v", a, b, d, e, f, g, err)
			}
			run(t, conn,
				`INSERT INTO t VALUES (2, NULL, 12.50, NULL, NULL, NULL, '\x00ff', NULL, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"b": [1, null]}',
				'1 day 2 hours', '{1,NULL,3}')`)
			got := query(t, conn, "SELECT c::text, g::text, i::text, j::text, k::text, l::text FROM t WHERE a = 2")
			if want := `12.5 \x00ff a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 {"b":[1,null]} 1 day 02:00:00 {1,NULL,3}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if _, err := conn.Exec(t.Context(), "SELECT $1::int4 / $2::int4", 1, 0); code(err) != "22012" {
				t.Errorf("division by zero: %v", err)
			}
			if got := query(t, conn, "SELECT count(*) FROM t"); got != "2" {
				t.Errorf("count after an error: %s", got)
			}
		})
	}
}

// TestErrorsHaveAllFields: what a client can act on comes across.
func TestErrorsHaveAllFields(t *testing.T) {
	s := serve(t)
	conn := s.connect(t)
	run(t, conn, "CREATE TABLE t (a int); CREATE VIEW v AS SELECT * FROM t")
	_, err := conn.Exec(t.Context(), "DROP TABLE t")
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "2BP01" || e.Severity != "ERROR" || e.Detail != "view v depends on table t" || e.Hint == "" {
		t.Errorf("got %+v", err)
	}
	_, err = conn.Exec(t.Context(), "SELECT 'ü', nosuch")
	if !errors.As(err, &e) || e.Code != "42703" || e.Position != 13 {
		t.Errorf("got %+v", err)
	}
	_, err = conn.PgConn().CopyFrom(t.Context(), strings.NewReader("x\n"), "COPY t FROM STDIN")
	if !errors.As(err, &e) || e.Code != "22P02" || e.Where != `COPY t, line 1, column a: "x"` {
		t.Errorf("got %+v", err)
	}
	if got := query(t, conn, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("after the COPY: %s", got)
	}
}

func TestNoticesComeAcross(t *testing.T) {
	s := serve(t)
	config, err := pgx.ParseConfig("postgres://somebody@" + s.addr + "/nowhere?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	var notices []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		notices = append(notices, n.Severity+" "+n.Code+" "+n.Message)
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	run(t, conn, "DROP TABLE IF EXISTS nosuch")
	want := []string{`NOTICE 42704 role "somebody" does not exist`, `NOTICE 3D000 database "nowhere" does not exist`,
		`NOTICE 00000 table "nosuch" does not exist, skipping`}
	if strings.Join(notices, "\n") != strings.Join(want, "\n") {
		t.Errorf("notices:\n%s", strings.Join(notices, "\n"))
	}
}

func TestCopyBothWays(t *testing.T) {
	s := serve(t)
	conn := s.connect(t)
	run(t, conn, "CREATE TABLE t (a int8, b text)")
	var data strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&data, "%d\trow %d\n", i, i)
	}
	tag, err := conn.PgConn().CopyFrom(t.Context(), strings.NewReader(data.String()), "COPY t FROM STDIN")
	if err != nil || tag.String() != "COPY 20000" {
		t.Fatalf("%v, %v", tag, err)
	}
	var out strings.Builder
	tag, err = conn.PgConn().CopyTo(t.Context(), &out, "COPY (SELECT * FROM t ORDER BY a) TO STDOUT")
	if err != nil || tag.String() != "COPY 20000" || out.String() != data.String() {
		t.Fatalf("%v, %v, %d bytes", tag, err, out.Len())
	}
	// The client itself may give up.
	_, err = conn.PgConn().CopyFrom(t.Context(), &failingReader{}, "COPY t FROM STDIN")
	if err == nil {
		t.Error("a COPY that the client gave up has succeeded")
	}
	if got := query(t, conn, "SELECT count(*) FROM t"); got != "20000" {
		t.Errorf("count: %s", got)
	}
}

// TestDriverCopies uses pgx's own way of loading rows, which is binary.
func TestDriverCopies(t *testing.T) {
	s := serve(t)
	conn := s.connect(t)
	run(t, conn, "CREATE TABLE t (a int8, b text, c timestamptz NOT NULL, d numeric)")
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	rows := [][]any{{int64(1), "one", at, "1.50"}, {int64(2), nil, at.Add(time.Hour), nil}}
	n, err := conn.CopyFrom(t.Context(), pgx.Identifier{"t"}, []string{"a", "b", "c", "d"}, pgx.CopyFromRows(rows))
	if err != nil || n != 2 {
		t.Fatalf("%d rows, %v", n, err)
	}
	if got, want := query(t, conn, "SELECT a, b, c::text, d::text FROM t ORDER BY a"),
		"1 one 2024-05-06 07:08:09+00 1.5\n2 <nil> 2024-05-06 08:08:09+00 <nil>"; got != want {
		t.Errorf("got %s", got)
	}
	_, err = conn.CopyFrom(t.Context(), pgx.Identifier{"t"}, []string{"a"}, pgx.CopyFromRows([][]any{{int64(3)}}))
	if code(err) != "23502" {
		t.Errorf("NOT NULL: %v", err)
	}
	var data bytes.Buffer
	if _, err := conn.PgConn().CopyTo(t.Context(), &data, "COPY t TO STDOUT WITH (FORMAT binary)"); err != nil {
		t.Fatal(err)
	}
	tag, err := conn.PgConn().CopyFrom(t.Context(), &data, "COPY t FROM STDIN WITH (FORMAT binary)")
	if err != nil || tag.String() != "COPY 2" {
		t.Errorf("%v, %v", tag, err)
	}
}

// failingReader gives a row and then fails.
type failingReader struct{ n int }

func (f *failingReader) Read(b []byte) (int, error) {
	if f.n++; f.n > 1 {
		return 0, errors.New("no more")
	}
	return copy(b, "1\tx\n"), nil
}

// TestPipelineRecoversAtSync: what follows an error is skipped, up to the Sync and no further.
func TestPipelineRecoversAtSync(t *testing.T) {
	s := serve(t)
	conn := s.connect(t)
	run(t, conn, "CREATE TABLE t (a int)")
	b := &pgx.Batch{}
	b.Queue("INSERT INTO t VALUES (1)")
	b.Queue("SELECT 1/0")
	b.Queue("INSERT INTO t VALUES (2)")
	if err := conn.SendBatch(t.Context(), b).Close(); code(err) != "22012" {
		t.Errorf("batch: %v", err)
	}
	if got := query(t, conn, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("the batch was not all or nothing: %s rows", got)
	}
	b = &pgx.Batch{}
	for i := range 100 {
		b.Queue("INSERT INTO t VALUES ($1)", i)
	}
	b.Queue("SELECT count(*) FROM t")
	results := conn.SendBatch(t.Context(), b)
	for range 100 {
		if _, err := results.Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := results.QueryRow().Scan(&n); err != nil || n != 100 {
		t.Errorf("count in the batch: %d, %v", n, err)
	}
	if err := results.Close(); err != nil {
		t.Error(err)
	}
	p := conn.PgConn().StartPipeline(t.Context())
	p.SendQueryParams("SELECT 1/0", nil, nil, nil, nil)
	p.SendQueryParams("SELECT 1", nil, nil, nil, nil)
	p.SendPipelineSync()
	p.SendQueryParams("SELECT 2", nil, nil, nil, nil)
	p.SendPipelineSync()
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		r, err := p.GetResults()
		if err != nil {
			got = append(got, code(err))
			continue
		}
		if r == nil {
			break
		}
		switch r := r.(type) {
		case *pgconn.ResultReader:
			res := r.Read()
			got = append(got, fmt.Sprintf("%s %v", res.Rows, code(res.Err)))
		case *pgconn.PipelineSync:
			got = append(got, "sync")
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if want := "[] 22012 sync [[2]] <nil> sync"; strings.Join(got, " ") != want {
		t.Errorf("pipeline: %v", got)
	}
}

// TestUpdatesAreRetried: an UPDATE that is a transaction by itself is run again when what it has read changes, in every
// mode.
func TestUpdatesAreRetried(t *testing.T) {
	s := serve(t)
	conn, other := s.connect(t), s.connect(t)
	run(t, conn, "CREATE TABLE t (a int)")
	run(t, conn, "INSERT INTO t VALUES (0)")
	for name, mode := range modes() {
		times := 0
		s.coord.BeforeCommit = func() {
			if times++; times == 1 {
				// Only this connection's own commit is meant.
				run(t, other, "INSERT INTO t VALUES (100)")
			}
		}
		if _, err := conn.Exec(t.Context(), "UPDATE t SET a = a + 1 WHERE a < 100", mode); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.coord.BeforeCommit = nil
	}
	if got := query(t, conn, "SELECT a FROM t WHERE a < 100"); got != fmt.Sprint(len(modes())) {
		t.Errorf("after %d updates: %s", len(modes()), got)
	}
}

// TestCancel stops a query that hangs, by the protocol and by the context's end.
func TestCancel(t *testing.T) {
	s := serve(t)
	conn := s.connect(t)
	run(t, conn, "CREATE TABLE t (a int)")
	s.coord.Stall = make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "SELECT * FROM t ORDER BY a")
		done <- err
	}()
	for {
		if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if code(err) != "57014" {
				t.Errorf("cancelled: %v", err)
			}
		case <-time.After(20 * time.Millisecond):
			continue
		}
		break
	}
	close(s.coord.Stall)
	if got := query(t, conn, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("after the cancel: %s", got)
	}
}

func TestStatementTimeout(t *testing.T) {
	s := serve(t)
	conn := s.connect(t)
	run(t, conn, "CREATE TABLE t (a int); SET statement_timeout = '20ms'")
	s.coord.Stall = make(chan struct{})
	defer close(s.coord.Stall)
	if _, err := conn.Exec(t.Context(), "SELECT * FROM t ORDER BY a"); code(err) != "57014" {
		t.Errorf("got %v", err)
	}
}

// TestTimeoutOfCopy: a COPY ends at its time also while the client keeps the server waiting for data.
func TestTimeoutOfCopy(t *testing.T) {
	s := serve(t)
	raw := s.raw(t)
	raw.query("CREATE TABLE t (a int); SET statement_timeout = '20ms'")
	raw.until('Z')
	raw.query("COPY t FROM STDIN")
	if got := raw.until('Z'); !strings.Contains(got, "57014") {
		t.Errorf("got %s", got)
	}
	raw.query("SELECT 1")
	if got := raw.until('Z'); !strings.Contains(got, "SELECT 1") {
		t.Errorf("after it: %s", got)
	}
}

// TestClientThatGoesStopsItsStatement: the query of a client that is gone ends, and what it held is given back.
func TestClientThatGoesStopsItsStatement(t *testing.T) {
	s := serve(t)
	conn := s.connect(t)
	run(t, conn, "CREATE TABLE t (a int)")
	results := conn.PgConn().Exec(t.Context(), "SUBSCRIBE t")
	if !results.NextResult() && results.ResultReader() == nil {
		// There are no rows yet: all that matters is that it runs.
		t.Log("no result yet")
	}
	s.coord.WaitHeld(t, func(n int) bool { return n > 0 })
	conn.PgConn().Conn().Close()
	s.coord.WaitHeld(t, func(n int) bool { return n == 0 })
}

func TestShutdownTellsClients(t *testing.T) {
	s := serve(t)
	idle, busy := s.connect(t), s.connect(t)
	run(t, idle, "CREATE TABLE t (a int)")
	done := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "SUBSCRIBE t")
		done <- err
	}()
	s.coord.WaitHeld(t, func(n int) bool { return n > 0 })
	s.stop()
	if err := <-done; code(err) != "57P01" {
		t.Errorf("busy: %v", err)
	}
	if _, err := idle.Exec(context.Background(), "SELECT 1"); err == nil {
		t.Error("idle: still there")
	}
	if _, err := pgx.Connect(context.Background(), s.url()); err == nil {
		t.Error("a new client was let in")
	}
}

// TestSubscribeStreams: a change is delivered as it happens.
func TestSubscribeStreams(t *testing.T) {
	s := serve(t)
	conn, other := s.connect(t), s.connect(t)
	run(t, conn, "CREATE TABLE t (a int)")
	run(t, conn, "BEGIN")
	run(t, conn, "DECLARE c CURSOR FOR SUBSCRIBE t")
	for i := range 3 {
		run(t, other, "INSERT INTO t VALUES ($1)", i)
		rows, err := conn.Query(t.Context(), "FETCH ALL c")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			values := rows.RawValues()
			if got := values[2]; len(got) == 0 {
				t.Errorf("row %d: %q", i, got)
			}
			n++
		}
		if rows.Err() != nil || n != 1 {
			t.Errorf("fetch %d gave %d rows, %v", i, n, rows.Err())
		}
	}
	run(t, conn, "COMMIT")
}

func TestIdleInTransactionEnds(t *testing.T) {
	s := serve(t)
	raw := s.raw(t)
	raw.query("SET idle_in_transaction_session_timeout = '30ms'; BEGIN")
	raw.until('Z')
	if got := raw.until(0); !strings.Contains(got, "25P03") || !strings.HasSuffix(got, "closed") {
		t.Errorf("got %s", got)
	}
}

func TestConnectionLimit(t *testing.T) {
	s := serve(t)
	conn := s.connect(t)
	run(t, conn, "ALTER SYSTEM SET max_connections = 1")
	if _, err := pgx.Connect(t.Context(), s.url()); code(err) != "53300" {
		t.Errorf("got %v", err)
	}
	run(t, conn, "ALTER SYSTEM RESET max_connections")
	s.connect(t)
}
