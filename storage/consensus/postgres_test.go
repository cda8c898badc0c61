package consensus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/storage/consensus"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// newSchema makes a schema of its own in the process's PostgreSQL, and gives a URL that leads there.
func newSchema(tb testing.TB) string {
	tb.Helper()
	server := pgtest.Start(tb)
	admin := connect(tb, server.URL)
	// A name that no other test of the process has.
	name := fmt.Sprintf("s%d", schemas())
	run(tb, admin, "CREATE SCHEMA "+name)
	return server.URL + "&search_path=" + name
}

// schemas counts.
var schemas = func() func() int {
	var mu sync.Mutex
	n := 0
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		n++
		return n
	}
}()

func connect(tb testing.TB, at string) *pgx.Conn {
	tb.Helper()
	c, err := pgx.Connect(context.Background(), at)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func run(tb testing.TB, c *pgx.Conn, sql string) {
	tb.Helper()
	if _, err := c.Exec(context.Background(), sql); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
}

func openPostgres(tb testing.TB, at string) *consensus.Postgres {
	tb.Helper()
	p, err := consensus.OpenPostgres(context.Background(), at, consensus.PostgresOptions{Log: quiet})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// proxy stands between a store and PostgreSQL. Once armed, it looks for COMMIT in what the store sends.
type proxy struct {
	listener net.Listener
	target   string

	mu struct {
		sync.Mutex
		fault fault
		conns []net.Conn
	}
	// hit gets a word when the fault was had.
	hit chan struct{}
}

// fault is what happens at the next COMMIT.
type fault uint8

const (
	none fault = iota
	// cutBefore breaks the connection, and PostgreSQL never sees the message.
	cutBefore
	// cutAfter breaks the connection when PostgreSQL has answered, and the store never sees the answer.
	cutAfter
)

// behindProxy starts a proxy and gives the URL that leads through it.
func behindProxy(tb testing.TB, at string) (*proxy, string) {
	tb.Helper()
	u, err := url.Parse(at)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &proxy{listener: l, target: u.Host, hit: make(chan struct{}, 1)}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			done.Go(func() { p.serve(c) })
		}
	})
	tb.Cleanup(func() {
		l.Close()
		p.cutAll()
		done.Wait()
	})
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *proxy) arm(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.fault = f
}

// cutAll breaks every connection.
func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.mu.conns {
		c.Close()
	}
	p.mu.conns = nil
}

// at takes the fault if this message is one that commits.
func (p *proxy) at(message []byte) fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !bytes.Contains(message, []byte("COMMIT\x00")) {
		return none
	}
	f := p.mu.fault
	p.mu.fault = none
	if f != none {
		p.hit <- struct{}{}
	}
	return f
}

func (p *proxy) serve(front net.Conn) {
	back, err := net.Dial("tcp", p.target)
	if err != nil {
		front.Close()
		return
	}
	p.mu.Lock()
	p.mu.conns = append(p.mu.conns, front, back)
	p.mu.Unlock()
	var mute sync.Mutex
	deaf := false
	var done sync.WaitGroup
	done.Go(func() {
		buf := make([]byte, 1<<20)
		for {
			n, err := back.Read(buf)
			mute.Lock()
			if err != nil || deaf {
				mute.Unlock()
				front.Close()
				back.Close()
				return
			}
			front.Write(buf[:n])
			mute.Unlock()
		}
	})
	buf := make([]byte, 1<<20)
	for {
		n, err := front.Read(buf)
		if err != nil {
			back.Close()
			break
		}
		f := p.at(buf[:n])
		if f == cutBefore {
			front.Close()
			back.Close()
			break
		}
		if f == cutAfter {
			mute.Lock()
			deaf = true
			mute.Unlock()
		}
		back.Write(buf[:n])
	}
	done.Wait()
}

// TestPostgresOutcomeIsUnknownWhenTheConnectionBreaksAtCommit: C4. Whether the transaction has happened or not, the
// store says that it does not know, and the registers are as one or the other leaves them.
func TestPostgresOutcomeIsUnknownWhenTheConnectionBreaksAtCommit(t *testing.T) {
	for f, want := range map[fault]string{cutBefore: "1:a1", cutAfter: "2:a2"} {
		p, at := behindProxy(t, newSchema(t))
		s := openPostgres(t, at)
		commit(t, s, consensus.Unit{put("a", 0, "a1")})
		p.arm(f)
		if _, err := s.Commit(context.Background(), []consensus.Unit{{put("a", 1, "a2"), put("b", 0, "b1")}}); !errors.Is(err, consensus.ErrIndeterminate) {
			t.Fatalf("fault %d: %v, want an unknown outcome", f, err)
		}
		<-p.hit
		if h := head(t, s, "a"); h != want {
			t.Errorf("fault %d: head %s, want %s", f, h, want)
		}
		// The very same units again settle it: they happen now, or have happened.
		o := commit(t, s, consensus.Unit{put("a", 1, "a2"), put("b", 0, "b1")})
		if o[0].Done != (f == cutBefore) {
			t.Errorf("fault %d: %+v", f, o)
		}
		if a, b := head(t, s, "a"), head(t, s, "b"); a != "2:a2" || b != "1:b1" {
			t.Errorf("fault %d: %s %s", f, a, b)
		}
	}
}

// TestPostgresComesBack: connections that were cut, and a server that ended them all, are no reason to fail.
func TestPostgresComesBack(t *testing.T) {
	p, at := behindProxy(t, newSchema(t))
	s := openPostgres(t, at)
	admin := connect(t, pgtest.Start(t).URL)
	commit(t, s, consensus.Unit{put("a", 0, "a1")})
	for v := range consensus.Version(6) {
		if v%2 == 0 {
			p.cutAll()
		} else {
			run(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
		}
		commit(t, s, consensus.Unit{put("a", v+1, fmt.Sprint("a", v+2))})
		if h := head(t, s, "a"); h != fmt.Sprintf("%d:a%d", v+2, v+2) {
			t.Fatal(h)
		}
	}
}

// TestPostgresRefusedStatementHasNotHappened: an error of PostgreSQL's own, before COMMIT, is no unknown outcome.
func TestPostgresRefusedStatementHasNotHappened(t *testing.T) {
	at := newSchema(t)
	s := openPostgres(t, at)
	commit(t, s, consensus.Unit{put("a", 0, "a1")})
	run(t, connect(t, at), "ALTER TABLE tributary_entries ADD CHECK (octet_length(data) < 10)")
	_, err := s.Commit(context.Background(), []consensus.Unit{{put("a", 1, "far too long an entry")}})
	if err == nil || errors.Is(err, consensus.ErrIndeterminate) || !strings.Contains(err.Error(), "check constraint") {
		t.Fatal(err)
	}
	commit(t, s, consensus.Unit{put("a", 1, "a2")})
	if h := head(t, s, "a"); h != "2:a2" {
		t.Fatal(h)
	}
}

// TestPostgresIsDurableWhateverTheDatabaseSays: C3 holds in a database whose own default acknowledges before it syncs.
func TestPostgresIsDurableWhateverTheDatabaseSays(t *testing.T) {
	for setting, want := range map[string]string{"off": "on", "on": "on", "remote_apply": "remote_apply"} {
		s := openPostgres(t, newSchema(t)+"&synchronous_commit="+setting)
		if got := s.Setting(t, "synchronous_commit"); got != want {
			t.Errorf("synchronous_commit is %s where the database says %s, want %s", got, setting, want)
		}
	}
}

// TestPostgresKeepsItsOwnTimeouts: those that a database or a role has for its sessions are not the store's. Locks of a process
// that was stopped in the middle of a commit are let go.
func TestPostgresKeepsItsOwnTimeouts(t *testing.T) {
	s := openPostgres(t, newSchema(t)+"&statement_timeout=9000&lock_timeout=9000&idle_session_timeout=9000&idle_in_transaction_session_timeout=9000")
	for name, want := range map[string]string{"statement_timeout": "0", "lock_timeout": "0", "idle_session_timeout": "0",
		"idle_in_transaction_session_timeout": "10s"} {
		if got := s.Setting(t, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestPostgresGoesOnWhenCancelled: a statement that somebody cancels has done nothing, and is tried again.
func TestPostgresGoesOnWhenCancelled(t *testing.T) {
	at := newSchema(t)
	s, other, admin := openPostgres(t, at+"&application_name=cancelled"), connect(t, at), connect(t, at)
	commit(t, s, consensus.Unit{put("a", 0, "a1")})
	run(t, other, "BEGIN; SELECT FROM tributary_registers FOR UPDATE")
	committed := make(chan error, 1)
	go func() {
		_, err := s.Commit(context.Background(), []consensus.Unit{{put("a", 1, "a2")}})
		committed <- err
	}()
	for cancelled := false; !cancelled; {
		err := admin.QueryRow(t.Context(), `SELECT coalesce(bool_or(pg_cancel_backend(pid)), false) FROM pg_stat_activity
			WHERE application_name = 'cancelled' AND wait_event_type = 'Lock'`).Scan(&cancelled)
		if err != nil {
			t.Fatal(err)
		}
	}
	run(t, other, "COMMIT")
	if err := <-committed; err != nil {
		t.Error(err)
	}
	if h := head(t, s, "a"); h != "2:a2" {
		t.Error(h)
	}
}

// TestPostgresWhoseTablesDoNotFit: where a table has lost its rows nothing is read as if it had never been, or written on top
// of what is gone; once they are back all goes on.
func TestPostgresWhoseTablesDoNotFit(t *testing.T) {
	for table, says := range map[string]string{
		"tributary_entries":   "register a is at version 2 in tributary_registers, but its last entry in tributary_entries has version 0",
		"tributary_registers": "register a is at version 0 in tributary_registers, but its last entry in tributary_entries has version 2",
	} {
		at := newSchema(t)
		s, admin := openPostgres(t, at), connect(t, at)
		commit(t, s, consensus.Unit{put("a", 0, "a1")}, consensus.Unit{put("a", 1, "a2")})
		run(t, admin, "CREATE TABLE aside AS TABLE "+table)
		run(t, admin, "TRUNCATE "+table)
		damaged := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, consensus.ErrCorrupt) || errors.Is(err, consensus.ErrIndeterminate) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s is empty, %s: %v", table, what, err)
			}
		}
		_, err := s.Head(t.Context(), "a")
		damaged("read", err)
		_, err = s.Commit(t.Context(), []consensus.Unit{{put("a", 2, "a3")}})
		damaged("commit", err)
		_, err = s.Commit(t.Context(), []consensus.Unit{{put("b", 0, "b1"), put("a", 0, "another")}})
		damaged("commit anew", err)
		run(t, admin, "INSERT INTO "+table+" TABLE aside")
		commit(t, s, consensus.Unit{put("a", 2, "a3"), put("b", 0, "b1")})
		if a, b := head(t, s, "a"), head(t, s, "b"); a != "3:a3" || b != "1:b1" {
			t.Errorf("with the rows of %s back: %s %s", table, a, b)
		}
	}
}

// TestPostgresThatAnswersNothing is given up after a while, with an error that says where it should be and of which the
// caller's own time is no part.
func TestPostgresThatAnswersNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = consensus.OpenPostgres(t.Context(), "postgres://u:secret@"+l.Addr().String()+"/db?sslmode=disable&connect_timeout=1",
		consensus.PostgresOptions{Log: quiet, Patience: time.Millisecond})
	var server *consensus.ServerError
	if !errors.As(err, &server) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "timeout") ||
		!strings.Contains(err.Error(), l.Addr().String()+"/db") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// TestPostgresWritesOnce: C3, all units of a Commit are one transaction, and one that writes nothing is none.
func TestPostgresWritesOnce(t *testing.T) {
	at := newSchema(t)
	s, watch := openPostgres(t, at), connect(t, at)
	commit(t, s, consensus.Unit{put("a", 0, "x")}, consensus.Unit{put("b", 0, "y"), compare("a", 1)}, consensus.Unit{put("a", 1, "z")})
	var transactions int
	err := watch.QueryRow(t.Context(), "SELECT count(DISTINCT xmin::text) FROM tributary_entries").Scan(&transactions)
	if err != nil || transactions != 1 {
		t.Errorf("%d transactions, %v", transactions, err)
	}
}

// TestPostgresReadsVersion1: what the first format left is read, and goes on; a format of the future is refused.
func TestPostgresReadsVersion1(t *testing.T) {
	at := newSchema(t)
	fossil, err := os.ReadFile("testdata/v1/postgres.sql")
	if err != nil {
		t.Fatal(err)
	}
	admin := connect(t, at)
	if _, err := admin.PgConn().Exec(t.Context(), string(fossil)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	s := openPostgres(t, at)
	if keys, err := s.Keys(t.Context(), ""); err != nil || fmt.Sprint(keys) != "[epoch s/a]" {
		t.Error(keys, err)
	}
	if a, b := head(t, s, "epoch"), head(t, s, "s/a"); a != "3:\x01" || b != "2:" {
		t.Errorf("%q %q", a, b)
	}
	commit(t, s, consensus.Unit{put("s/a", 2, "a3"), put("s/absent", 0, "x")})
	run(t, admin, "UPDATE tributary_format SET version = 2")
	if _, err := consensus.OpenPostgres(t.Context(), at, consensus.PostgresOptions{Log: quiet}); err == nil || !strings.Contains(err.Error(), "format 2") {
		t.Errorf("a format of the future: %v", err)
	}
}

func TestPostgresThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = consensus.OpenPostgres(ctx, "postgres://u:secret@"+l.Addr().String()+"/db", consensus.PostgresOptions{Log: quiet})
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()+"/db") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if _, err := consensus.OpenPostgres(ctx, "postgres://[", consensus.PostgresOptions{Log: quiet}); err == nil {
		t.Error("a URL that is none was taken")
	}
}

// processEnv makes this test binary one of several processes that write to the store at the URL it holds.
const processEnv = "CONSENSUS_WRITER"

const processes, increments = 3, 40

// TestPostgresFromSeveralProcesses: increments of one register by several processes, each with a register of its own,
// are all there, once; one process is killed on the way, and leaves whole units.
func TestPostgresFromSeveralProcesses(t *testing.T) {
	at := newSchema(t)
	s := openPostgres(t, at)
	var children []*exec.Cmd
	for i := range processes + 1 {
		c := exec.Command(os.Args[0], "-test.run=TestPostgresWriterProcess$")
		c.Env = append(os.Environ(), processEnv+"="+at, fmt.Sprintf("%s_NAME=w%d", processEnv, i))
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	victim := children[processes]
	for h := (consensus.Versioned{}); h.Version < 5; {
		var err error
		if h, err = s.Head(t.Context(), fmt.Sprint("own/w", processes)); err != nil {
			t.Fatal(err)
		}
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	victim.Wait()
	for _, c := range children[:processes] {
		if err := c.Wait(); err != nil {
			t.Errorf("a writer: %v", err)
		}
	}
	all, err := s.Scan(t.Context(), "all", 1, 10*increments)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]consensus.Version{}
	for i, e := range all {
		if e.Version != consensus.Version(i+1) {
			t.Fatalf("a gap before version %d", e.Version)
		}
		count[string(e.Data)]++
	}
	for i := range processes + 1 {
		name := fmt.Sprint("w", i)
		own, err := s.Head(t.Context(), "own/"+name)
		if err != nil || own.Version != count[name] || i < processes && own.Version != increments {
			t.Errorf("%s: %d entries of its own, %d in all; %v", name, own.Version, count[name], err)
		}
	}
}

func TestPostgresWriterProcess(t *testing.T) {
	at, name := os.Getenv(processEnv), os.Getenv(processEnv+"_NAME")
	if at == "" {
		return
	}
	s := openPostgres(t, at)
	for own := consensus.Version(0); own < increments; {
		h, err := s.Head(t.Context(), "all")
		if err != nil {
			t.Fatal(err)
		}
		if commit(t, s, consensus.Unit{put("all", h.Version, name), put("own/"+name, own, "x")})[0].Done {
			own++
		}
	}
}
