// Package pgtest starts a private PostgreSQL for tests that ask it as an oracle.
//
// Promises:
//
//	G1  Start gives every test of one process the same server; it is started by the first and ends, with
//	    its directory, when the process does, however it does (a kill included).
//	G2  The server listens on a private port of the loopback and on a socket in its own directory; nothing
//	    of an installed cluster is read or touched.
//	G3  Data is UTF-8, text is ordered by bytes (locale C), the time zone is UTC, messages are English.
//	G4  Where PostgreSQL is absent a test is skipped and says so; it fails if TRIBUTARY_ORACLE=required.
//
// Nothing but Go and PostgreSQL's own programs is needed (initdb itself needs a shell, so there is one). It does no
// clean-up of what tests leave in the shared server: a test that creates objects takes a database of its own.
// Everything here is safe from many goroutines.
package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Server is a running PostgreSQL.
type Server struct {
	// URL connects to the database "postgres" as the superuser "postgres", over TCP, without a password.
	URL string
	// Host and Port are the parts of URL that name the server.
	Host string
	Port int
	// SocketDir holds the server's Unix socket.
	SocketDir string
	// BinDir holds the server's programs (psql too where it is installed with them).
	BinDir string
	// Version is what "postgres --version" says, such as "15.14".
	Version string

	databases atomic.Int64
	// account and options start it again after a Crash.
	account account
	options string
	// lifeline is the write end of the watcher's standard input. It is held here because the server ends
	// when it closes, and an unreachable file is closed by the garbage collector.
	lifeline io.WriteCloser
}

// shared is the process's server, started on first use.
var shared = sync.OnceValues(start)

// errAbsent says that the machine has no PostgreSQL we could start.
var errAbsent = errors.New("PostgreSQL cannot be started here")

// Start gives the process's shared server, starting it if this is the first call.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s, err := shared()
	switch {
	case err == nil:
		return s
	case errors.Is(err, errAbsent) && os.Getenv("TRIBUTARY_ORACLE") != "required":
		tb.Skipf("skipped, no oracle: %v (TRIBUTARY_ORACLE=required makes this a failure)", err)
	default:
		tb.Fatalf("start the oracle: %v", err)
	}
	return nil
}

// NewDatabase creates an empty database, gives its URL, and drops it at the end of the test.
func (s *Server) NewDatabase(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("test_%d", s.databases.Add(1))
	if err := s.run("createdb", name); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.run("dropdb", "--force", name); err != nil {
			tb.Error(err)
		}
	})
	return databaseURL(s.Host, s.Port, name)
}

// startTries bounds how often a killed server is started again: its backends take a moment to notice, and until then there is
// still shared memory of theirs.
const startTries = 100

// Crash kills the server's first process with SIGKILL, and starts it again: what was committed is there, and no connection
// has outlived it. No other test may be using the server.
func (s *Server) Crash(tb testing.TB) {
	tb.Helper()
	data := filepath.Join(s.SocketDir, "data")
	file, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		tb.Fatal(err)
	}
	first, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		tb.Fatal(err)
	}
	var out []byte
	for range startTries {
		cmd := exec.Command(filepath.Join(s.BinDir, "pg_ctl"), "-D", data, "-l", filepath.Join(s.SocketDir, "server.log"), "-o", s.options,
			"-w", "-t", "60", "start")
		cmd.Dir = "/"
		cmd.Env = environment(s.BinDir, s.SocketDir)
		cmd.SysProcAttr = s.account.attributes()
		// Not a pipe: the server would inherit it, and its end would be waited for.
		log, err := os.Create(filepath.Join(tb.TempDir(), "start.log"))
		if err != nil {
			tb.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = log, log
		err = errors.Join(cmd.Run(), log.Close())
		if err == nil {
			return
		}
		if out, err = os.ReadFile(log.Name()); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Fatalf("the killed server does not start again: %s", out)
}

// environment is what PostgreSQL's programs see.
func environment(bin, dir string) []string {
	return []string{"PATH=" + bin + ":/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=" + dir}
}

// run calls one of PostgreSQL's client programs against this server.
func (s *Server) run(program string, args ...string) error {
	args = append([]string{"-h", s.Host, "-p", strconv.Itoa(s.Port), "-U", "postgres"}, args...)
	out, err := exec.Command(filepath.Join(s.BinDir, program), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, out)
	}
	return nil
}

func databaseURL(host string, port int, database string) string {
	u := url.URL{
		Scheme: "postgres",
		User:   url.User("postgres"),
		Host:   net.JoinHostPort(host, strconv.Itoa(port)),
		Path:   "/" + database,
	}
	u.RawQuery = "sslmode=disable"
	return u.String()
}

// portTries bounds how often another port is tried: between our asking for a free port and PostgreSQL's
// binding it, somebody else may take it.
const portTries = 5

func start() (*Server, error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	version, err := exec.Command(filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask for PostgreSQL's version: %w", err)
	}
	account, err := serverAccount()
	if err != nil {
		return nil, err
	}
	dir, err := account.makeDir()
	if err != nil {
		return nil, fmt.Errorf("make the server's directory: %w", err)
	}
	var failure error
	for range portTries {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		options := serverOptions(dir, port)
		lifeline, err := launch(account, bin, dir, options)
		if err == nil {
			return &Server{
				URL:       databaseURL(loopback, port, "postgres"),
				Host:      loopback,
				Port:      port,
				SocketDir: dir,
				BinDir:    bin,
				Version:   versionNumber(string(version)),
				account:   account,
				options:   options,
				lifeline:  lifeline,
			}, nil
		}
		failure = err
		if !strings.Contains(err.Error(), "could not bind") {
			break
		}
	}
	return nil, errors.Join(failure, os.RemoveAll(dir))
}

const loopback = "127.0.0.1"

// findBinaries looks for initdb, postgres and pg_ctl in the PATH, then where Debian keeps them, the newest first.
func findBinaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(real), nil
		}
	}
	best, bestMajor := "", 0
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", fmt.Errorf("look for PostgreSQL: %w", err)
	}
	for _, path := range found {
		bin := filepath.Dir(path)
		major, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
		if err == nil && major > bestMajor {
			best, bestMajor = bin, major
		}
	}
	if best == "" {
		return "", fmt.Errorf("%w: no initdb in PATH or /usr/lib/postgresql/*/bin", errAbsent)
	}
	return best, nil
}

// versionNumber takes "15.14" out of "postgres (PostgreSQL) 15.14 (Debian …)".
func versionNumber(text string) string {
	fields := strings.Fields(text)
	for _, f := range fields {
		if f[0] >= '0' && f[0] <= '9' {
			return f
		}
	}
	return strings.TrimSpace(text)
}

func freePort() (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// watcher starts the server, says "ready" and then waits for the end of its standard input, which comes when
// the test process ends in whatever way; then it stops the server and removes the directory. It runs as the
// server's account. $1 is the directory, $2 the binaries, $3 the server's options.
const watcher = `
cd "$1" || exit 1
if [ ! -f data/PG_VERSION ]; then
	"$2/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync >initdb.log 2>&1 ||
		{ cat initdb.log; exit 1; }
fi
"$2/pg_ctl" -D data -l server.log -o "$3" -w -t 60 start >start.log 2>&1 ||
	{ cat server.log start.log; exit 1; }
echo ready
cat >/dev/null
"$2/pg_ctl" -D data -m immediate -w -t 60 stop >stop.log 2>&1
cd / && rm -rf "$1"
`

// launch starts the watcher and waits for its word; the server lives until the returned file is closed.
func launch(account account, bin, dir, options string) (io.WriteCloser, error) {
	cmd := exec.Command("/bin/sh", "-c", watcher, "sh", dir, bin, options)
	cmd.Dir = "/"
	cmd.Env = environment(bin, dir)
	cmd.SysProcAttr = account.attributes()
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start PostgreSQL's watcher: %w", err)
	}
	word, err := bufio.NewReader(out).ReadString('\n')
	if err == nil && word == "ready\n" {
		return lifeline, nil
	}
	rest, readErr := io.ReadAll(out)
	return nil, fmt.Errorf("PostgreSQL did not start: %w\n%s%s",
		errors.Join(readErr, cmd.Wait()), word, rest)
}

// serverOptions are the server's settings.
func serverOptions(dir string, port int) string {
	return strings.Join([]string{
		"-p", strconv.Itoa(port),
		"-c listen_addresses=" + loopback,
		"-c unix_socket_directories=" + dir,
		// A crash loses everything anyway, so nothing is spent on surviving one.
		"-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c wal_level=minimal -c max_wal_senders=0",
		"-c timezone=UTC -c log_timezone=UTC -c lc_messages=C",
		// Plans, and so the order of unordered rows, must not change under a test.
		"-c autovacuum=off -c jit=off -c max_parallel_workers_per_gather=0",
		"-c shared_buffers=64MB -c max_connections=200",
	}, " ")
}
