package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
)

// openFunc opens the stores of a server.
type openFunc = func(context.Context, serveOptions, coordParts) (consensus.Store, blob.Store, func() error, error)

// serveOn starts a server of this process, and gives what it says when it ends, and a way to end it. A server that cannot
// start gives no connection.
func serveOn(t *testing.T, open openFunc) (conn *pgx.Conn, ended <-chan error, stop func()) {
	t.Helper()
	return serveEvery(t, 0, open)
}

// serveEvery is serveOn for a server that looks at every interval whether another one has taken over.
func serveEvery(t *testing.T, interval time.Duration, open openFunc) (conn *pgx.Conn, ended <-chan error, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	running, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	done := make(chan error, 1)
	serving := make(chan struct{})
	go func() {
		done <- serve(running, serveOptions{sqlListen: address, workers: 1, logLevel: "error", epochInterval: interval, open: open})
		close(serving)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err = pgx.Connect(ctx, "postgres://materialize@"+address+"/materialize?sslmode=disable")
		if err == nil {
			t.Cleanup(func() { conn.Close(context.Background()) })
			return conn, done, stop
		}
		select {
		case <-serving:
			return nil, done, stop
		case <-ctx.Done():
			t.Fatal(err)
		default: // it does not listen yet
		}
	}
}

// end waits for what a server says when it ends.
func end(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the server goes on")
		return nil
	}
}

// failingDisk is a file system in memory some of whose calls fail: with the error number, for calls that are refused.
type failingDisk struct {
	fs    vfs.FS
	fails atomic.Pointer[func(errorfs.Op) error]
}

func newFailingDisk() *failingDisk { return &failingDisk{fs: vfs.NewMem()} }

// fail lets calls fail from now on, until mend.
func (d *failingDisk) fail(fails func(errorfs.Op) error) { d.fails.Store(&fails) }

func (d *failingDisk) mend() { d.fails.Store(nil) }

// MaybeError implements errorfs.Injector.
func (d *failingDisk) MaybeError(op errorfs.Op) error {
	if fails := d.fails.Load(); fails != nil {
		if err := (*fails)(op); err != nil {
			return &fs.PathError{Op: "open", Path: op.Path, Err: err}
		}
	}
	return nil
}

// String implements errorfs.Injector.
func (d *failingDisk) String() string { return "failing disk" }

func (d *failingDisk) open(_ context.Context, _ serveOptions, p coordParts) (consensus.Store, blob.Store, func() error, error) {
	files := errorfs.Wrap(d.fs, d)
	registers, err := consensus.OpenPebble("data/consensus", consensus.PebbleOptions{FS: files, Registry: p.registry, Log: p.log})
	if err != nil {
		return nil, nil, nil, err
	}
	objects, err := blob.OpenDirectory("data/blob", blob.DirectoryOptions{FS: files, Registry: p.registry})
	if err != nil {
		return nil, nil, nil, errors.Join(err, registers.Close())
	}
	return registers, objects, registers.Close, nil
}

// readOnly is a file system that was mounted anew, for reading only.
func readOnly(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpReuseForWrite, errorfs.OpMkdirAll, errorfs.OpLock, errorfs.OpRename,
		errorfs.OpLink, errorfs.OpRemove, errorfs.OpRemoveAll, errorfs.OpFilePreallocate, errorfs.OpFileWrite, errorfs.OpFileWriteAt:
		return syscall.EROFS
	}
	return nil
}

// forbidden is a directory whose files the process may not open any more, nor make new ones; those that are open stay so.
func forbidden(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpReuseForWrite, errorfs.OpOpen, errorfs.OpMkdirAll, errorfs.OpLock,
		errorfs.OpRename, errorfs.OpLink, errorfs.OpRemove, errorfs.OpRemoveAll:
		return syscall.EACCES
	}
	return nil
}

const largeInsert = "INSERT INTO t SELECT %d, repeat('x', 50) || g FROM generate_series(1, 20000) AS g"

// TestADirectoryThatCannotBeWrittenToStartIn: the server does not start, and says which directory it is and why.
func TestADirectoryThatCannotBeWrittenToStartIn(t *testing.T) {
	for name, c := range map[string]struct {
		fails func(errorfs.Op) error
		want  string
	}{
		"read-only": {readOnly, "read-only file system"},
		"forbidden": {forbidden, "permission denied"},
	} {
		for _, fresh := range []bool{true, false} {
			disk := newFailingDisk()
			if !fresh {
				conn, ended, stop := serveOn(t, disk.open)
				exec1(t, conn, "CREATE TABLE t (a int8, b text)", "INSERT INTO t VALUES (1, 'before')")
				stop()
				if err := end(t, ended); err != nil {
					t.Fatal(err)
				}
			}
			disk.fail(c.fails)
			conn, ended, _ := serveOn(t, disk.open)
			if conn != nil {
				t.Fatalf("%s: the server started", name)
			}
			if err := end(t, ended); err == nil || !strings.Contains(err.Error(), "data/consensus") || !strings.Contains(err.Error(), c.want) ||
				errors.Is(err, consensus.ErrInUse) {
				t.Errorf("%s: %v", name, err)
			}
			if fresh {
				continue
			}
			disk.mend()
			conn, ended, stop := serveOn(t, disk.open)
			if got := table(t, conn, "SELECT a, b FROM t"); !slices.Equal(got, []string{"1\tbefore"}) {
				t.Errorf("%s: %q afterwards", name, got)
			}
			stop()
			if err := end(t, ended); err != nil {
				t.Error(err)
			}
		}
	}
}

// failsWith runs a statement that must fail with a code and a text.
func failsWith(t *testing.T, conn *pgx.Conn, sql, code string, texts ...string) {
	t.Helper()
	_, err := conn.Exec(context.Background(), sql)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != code {
		t.Fatalf("%s: %v, want %s", sql, err, code)
	}
	for _, text := range texts {
		if !strings.Contains(pg.Message+pg.Detail, text) {
			t.Errorf("%s: %s (%s), want %q", sql, pg.Message, pg.Detail, text)
		}
	}
}

// TestADiskThatTurnsReadOnly: what needs an object is refused, with the object's name; a change in the registers fails, and the server ends with an error that names the file. Started again on a disk that can be
// written, it has all that was acknowledged.
func TestADiskThatTurnsReadOnly(t *testing.T) {
	disk := newFailingDisk()
	conn, ended, _ := serveOn(t, disk.open)
	exec1(t, conn, "CREATE TABLE t (a int8, b text)", "CREATE MATERIALIZED VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a",
		fmt.Sprintf(largeInsert, 1), "INSERT INTO t VALUES (2, 'small')")
	want := []string{"1\t20000", "2\t1"}
	disk.fail(func(op errorfs.Op) error {
		if strings.Contains(op.Path, "data/blob") {
			return readOnly(op)
		}
		return nil
	})
	failsWith(t, conn, fmt.Sprintf(largeInsert, 3), "58030", "put object u", "read-only file system")
	if got := table(t, conn, "SELECT a, n FROM v ORDER BY a"); !slices.Equal(got, want) {
		t.Errorf("%q while nothing can be written", got)
	}
	disk.fail(readOnly)
	// The server may find out by a change of its own, and end before it has answered.
	_, err := conn.Exec(context.Background(), "INSERT INTO t VALUES (4, 'in doubt')")
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "57P01" && (pg.Code != "58030" || !strings.Contains(pg.Message+pg.Detail, "read-only file system")) {
		t.Errorf("INSERT: %v", err)
	}
	if err := end(t, ended); err == nil || !strings.Contains(err.Error(), "data/consensus/") || !strings.Contains(err.Error(), "read-only file system") {
		t.Errorf("the server ended with %v", err)
	}
	disk.mend()
	conn, ended, stop := serveOn(t, disk.open)
	if got := table(t, conn, "SELECT a, n FROM v WHERE a <> 4 ORDER BY a"); !slices.Equal(got, want) {
		t.Errorf("%q afterwards", got)
	}
	exec1(t, conn, "INSERT INTO t VALUES (5, 'after')")
	stop()
	if err := end(t, ended); err != nil {
		t.Error(err)
	}
}

// TestFilesThatMayNotBeOpened: what needs to open or make a file is refused, with the object's name; the rest goes on, and
// so does everything once the files may be opened again.
func TestFilesThatMayNotBeOpened(t *testing.T) {
	disk := newFailingDisk()
	conn, ended, _ := serveOn(t, disk.open)
	exec1(t, conn, "ALTER SYSTEM SET storage_cache_max_bytes = 0", "CREATE TABLE t (a int8, b text)", fmt.Sprintf(largeInsert, 1),
		"CREATE TABLE small (a int8)", "INSERT INTO small VALUES (1)")
	disk.fail(forbidden)
	failsWith(t, conn, fmt.Sprintf(largeInsert, 2), "58030", "put object u", "permission denied")
	failsWith(t, conn, "SELECT count(*) FROM t", "58030", "get object u", "permission denied")
	exec1(t, conn, "INSERT INTO small VALUES (2)")
	if got := table(t, conn, "SELECT a FROM small ORDER BY a"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%q", got)
	}
	disk.mend()
	exec1(t, conn, fmt.Sprintf(largeInsert, 3))
	if got := table(t, conn, "SELECT a, count(*) FROM t GROUP BY a ORDER BY a"); !slices.Equal(got, []string{"1\t20000", "3\t20000"}) {
		t.Errorf("%q afterwards", got)
	}
	select {
	case err := <-ended:
		t.Errorf("the server ended with %v", err)
	default:
	}
}

// damagedLog is a data directory whose last log has transactions numbered from 1 on, after a kill.
type damagedLog struct {
	dir, log string
	// length is how much of the log was written; the rest of the file was only set apart.
	length int
	whole  []byte
	last   int
}

func newDamagedLog(t *testing.T) *damagedLog {
	t.Helper()
	d := &damagedLog{dir: filepath.Join(t.TempDir(), "data"), last: 60}
	c := startChild(t, d.dir)
	exec1(t, c.connect(), "CREATE TABLE a (id int8)", "CREATE TABLE b (id int8, pad text)",
		"CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(id) AS s FROM a")
	c.stop()
	c = startChild(t, d.dir)
	conn := c.connect()
	for i := range d.last {
		rows := 1
		if i%20 == 10 {
			rows = 2000 // an object
		}
		exec1(t, conn, fmt.Sprintf("BEGIN; INSERT INTO a VALUES (%d); INSERT INTO b SELECT %d, repeat('x', 50) || g FROM "+
			"generate_series(1, %d) AS g; COMMIT", i+1, i+1, rows))
	}
	c.kill()
	if err := os.Remove(filepath.Join(d.dir, controlSocket)); err != nil {
		t.Fatal(err) // a socket, which cannot be copied
	}
	logs, err := filepath.Glob(filepath.Join(d.dir, "consensus", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	d.log = slices.Max(logs)
	if d.whole, err = os.ReadFile(d.log); err != nil {
		t.Fatal(err)
	}
	d.length = len(bytes.TrimRight(d.whole, "\x00"))
	return d
}

// copy gives a directory like d's with another last log.
func (d *damagedLog) copy(t *testing.T, log []byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(d.dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "consensus", filepath.Base(d.log)), log, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// check gives how many transactions are there: the first ones, each whole, with a view that is its query.
func (d *damagedLog) check(t *testing.T, dir string) (last int) {
	t.Helper()
	if out := mustRun(t, "inspect", dir); !strings.Contains(out, "no fault found") {
		t.Errorf("inspect:\n%s", out)
	}
	c := startChild(t, dir)
	conn := c.connect()
	fmt.Sscan(table(t, conn, "SELECT count(*) FROM a")[0], &last)
	sum := fmt.Sprint(last * (last + 1) / 2)
	if last == 0 {
		sum = `\N`
	}
	for query, want := range map[string]string{
		"SELECT n, s FROM v":               fmt.Sprintf("%d\t%s", last, sum),
		"SELECT count(*), sum(id) FROM a":  fmt.Sprintf("%d\t%s", last, sum),
		"SELECT count(DISTINCT id) FROM b": fmt.Sprint(last),
		"SELECT count(*) FROM b WHERE id IN (SELECT id FROM a) AND pad LIKE 'xx%'": fmt.Sprint(last + 1999*((last+9)/20)),
	} {
		if got := table(t, conn, query); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %s", query, got, want)
		}
	}
	exec1(t, conn, fmt.Sprintf("BEGIN; INSERT INTO a VALUES (%d); INSERT INTO b VALUES (%d, 'after'); COMMIT", last+1, last+1))
	c.stop()
	return last
}

// TestALogThatEndsEarly: a log that was cut, as a power cut may cut what was not synced yet, is read up to there: the
// first transactions are there, each whole, and no part of another.
func TestALogThatEndsEarly(t *testing.T) {
	d := newDamagedLog(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, at := range []int{0, r.IntN(d.length), d.length/2 + r.IntN(d.length/2), d.length - 1, d.length} {
		last := d.check(t, d.copy(t, d.whole[:at]))
		if at == 0 && last != 0 || at == d.length && last != d.last {
			t.Errorf("%d transactions are there of a log of %d bytes, of %d", last, at, d.length)
		}
	}
}

// TestALogThatIsDamaged: a log in whose middle a byte is not what was written, with transactions after it, keeps the server
// from starting, with a message that says where, rather than lose the rest; and leaves everything as it is.
func TestALogThatIsDamaged(t *testing.T) {
	d := newDamagedLog(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 4 {
		at := r.IntN(d.length * 2 / 3)
		bad := bytes.Clone(d.whole)
		bad[at] ^= 1 << r.IntN(8)
		dir := d.copy(t, bad)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		serve := exec.CommandContext(ctx, os.Args[0], "serve", "--sql-listen", "127.0.0.1:0", "--http-listen", "", "--data-dir", dir)
		said, err := serve.CombinedOutput()
		cancel()
		var status *exec.ExitError
		if !errors.As(err, &status) || status.ExitCode() != 1 || !strings.Contains(string(said), filepath.Join(dir, "consensus")) ||
			!strings.Contains(string(said), consensus.ErrCorrupt.Error()) || !strings.Contains(string(said), filepath.Base(d.log)) {
			t.Errorf("byte %d of %d: %v\n%s", at, d.length, err, said)
		}
		if out, err := tributary(t, "inspect", dir); err == nil || !strings.Contains(err.Error(), filepath.Base(d.log)) {
			t.Errorf("byte %d of %d: inspect gives %v\n%s", at, d.length, err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, "consensus", filepath.Base(d.log)), d.whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if last := d.check(t, dir); last != d.last {
			t.Errorf("byte %d of %d: %d transactions are there once it is mended", at, d.length, last)
		}
	}
}
