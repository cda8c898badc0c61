package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
)

// sharedStores gives the flags of a server on a PostgreSQL database and a bucket of the test's own.
func sharedStores(t *testing.T) (args []string, bucket *s3mem.Backend) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	bucket = s3mem.New()
	if err := bucket.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(bucket).Server())
	t.Cleanup(server.Close)
	return []string{
		"--consensus", pgtest.Start(t).NewDatabase(t),
		"--blob", "s3://bucket/env?region=us-east-1&endpoint=" + server.URL,
	}, bucket
}

// TestServerOnSharedStores goes the whole way on PostgreSQL and S3: what was acknowledged is there after a kill, on what
// could be another machine, and a second server takes over from the first, which says so and ends.
func TestServerOnSharedStores(t *testing.T) {
	args, bucket := sharedStores(t)
	first := startChild(t, "", args...)
	exec1(t, first.connect(),
		"CREATE TABLE t (a int8, b text)",
		"CREATE MATERIALIZED VIEW v AS SELECT a % 10 AS k, count(*) AS n FROM t GROUP BY 1",
		"INSERT INTO t SELECT g, repeat('x', 50) || g FROM generate_series(1, 20000) AS g",
		"INSERT INTO t VALUES (1, 'small')")
	first.kill()
	list, err := bucket.ListBucket("bucket", &gofakes3.Prefix{HasPrefix: true, Prefix: "env/"}, gofakes3.ListBucketPage{})
	if err != nil || len(list.Contents) < 2 {
		t.Errorf("%v objects in the bucket, %v: want the environment's name and some parts", list, err)
	}

	second := startChild(t, "", args...)
	conn := second.connect()
	want := []string{"0\t2000", "1\t2001", "2\t2000", "3\t2000", "4\t2000", "5\t2000", "6\t2000", "7\t2000", "8\t2000", "9\t2000"}
	if got := table(t, conn, "SELECT k, n FROM v ORDER BY k"); !slices.Equal(got, want) {
		t.Errorf("the view after a kill: %q", got)
	}
	if got := table(t, conn, "SELECT count(*), count(DISTINCT b) FROM t"); !slices.Equal(got, []string{"20001\t20001"}) {
		t.Errorf("the table after a kill: %q", got)
	}

	third := startChild(t, "", args...)
	exec1(t, third.connect(), "INSERT INTO t VALUES (2, 'from the third')")
	if _, err := conn.Exec(context.Background(), "INSERT INTO t VALUES (3, 'lost')"); err == nil || !strings.Contains(err.Error(), "57P01") {
		t.Errorf("INSERT through the second server: %v, want 57P01", err)
	}
	logs := <-second.logs
	var status *exec.ExitError
	if err := second.cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != 1 || !strings.Contains(logs, "another process has taken over this environment") {
		t.Errorf("the second server ended with %v:\n%s", err, logs)
	}
	if got := table(t, third.connect(), "SELECT b FROM t WHERE b NOT LIKE 'x%' ORDER BY b"); !slices.Equal(got, []string{"from the third", "small"}) {
		t.Errorf("the table after the take-over: %q", got)
	}
	third.stop()
}

// TestStoresThatDoNotGoTogether: flags that would lose or mix up data are refused before anything is touched.
func TestStoresThatDoNotGoTogether(t *testing.T) {
	const pg, s3 = "--consensus=postgres://127.0.0.1:1/none", "--blob=s3://none"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{pg}, "--consensus and --blob go together"},
		{[]string{s3}, "--consensus and --blob go together"},
		{[]string{pg, s3, "--in-memory"}, "--in-memory keeps nothing"},
		{[]string{pg, s3, "--data-dir=x"}, "nothing is kept in a directory"},
		{[]string{"--consensus=postgres://[", s3}, "--consensus: open consensus store"},
	} {
		cmd := rootCommand()
		cmd.SetArgs(append([]string{"serve", "--sql-listen=127.0.0.1:0", "--http-listen=", "--log-level=error"}, c.args...))
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a directory was made")
	}
}

// TestRegistersAndObjectsArePaired: an environment finds its own objects or none.
func TestRegistersAndObjectsArePaired(t *testing.T) {
	ctx := t.Context()
	n := byte(0)
	open := func(registers consensus.Store, objects blob.Store) error {
		n++
		return pair(ctx, registers, objects, bytes.NewReader(bytes.Repeat([]byte{n}, 16)))
	}
	r1, o1, r2, o2 := consensus.NewMemory(), blob.NewMemory(), consensus.NewMemory(), blob.NewMemory()
	for range 2 {
		if err := errors.Join(open(r1, o1), open(r2, o2)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r1.Commit(ctx, []consensus.Unit{{{Key: "shard/u1", Data: []byte("x")}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another's":   open(r1, o2),
		"an empty":    open(r1, blob.NewMemory()),
		"a new one's": open(consensus.NewMemory(), o1),
	} {
		if !errors.Is(err, errNotPaired) {
			t.Errorf("%s objects: %v", name, err)
		}
	}
	// A crash between naming the register and the object.
	if err := open(r2, blob.NewMemory()); err != nil {
		t.Error(err)
	}
	if err := open(r1, o1); err != nil {
		t.Error(fmt.Errorf("the right pair: %w", err))
	}
}

// openIn opens the stores of a data directory.
func openIn(dir string) openFunc {
	return func(ctx context.Context, o serveOptions, p coordParts) (consensus.Store, blob.Store, func() error, error) {
		o.stores.dataDir = dir
		return openStores(ctx, o, p)
	}
}

// TestObjectsWithoutRegisters: a server does not start in a data directory that has lost its registers, and leaves it alone:
// with them it is whole again.
func TestObjectsWithoutRegisters(t *testing.T) {
	dir := t.TempDir()
	inDir := openIn(dir)
	conn, ended, stop := serveOn(t, inDir)
	exec1(t, conn, "CREATE TABLE t (a int, b text)", fmt.Sprintf(largeInsert, 1))
	stop()
	if err := end(t, ended); err != nil {
		t.Fatal(err)
	}
	registers, aside := filepath.Join(dir, "consensus"), filepath.Join(dir, "aside")
	if err := os.Rename(registers, aside); err != nil {
		t.Fatal(err)
	}
	if conn, ended, stop = serveOn(t, inDir); conn != nil {
		t.Fatal("the server starts without registers")
	}
	if err := end(t, ended); !errors.Is(err, errNotWhole) || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if err := os.Rename(aside, registers); err != nil {
		t.Fatal(err)
	}
	conn, ended, stop = serveOn(t, inDir)
	if got := table(t, conn, "SELECT count(*), count(DISTINCT b) FROM t"); !slices.Equal(got, []string{"20000\t20000"}) {
		t.Errorf("with its registers back, the table is %q", got)
	}
	stop()
	if err := end(t, ended); err != nil {
		t.Error(err)
	}
}

// TestEnvironmentBytes: the name of an environment on shared stores is, to the byte, what earlier programs have written.
func TestEnvironmentBytes(t *testing.T) {
	const want = "\x01\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"
	registers, objects := consensus.NewMemory(), blob.NewMemory()
	for _, random := range []string{want[1:], strings.Repeat("x", 16)} { // What has a name keeps it.
		if err := pair(t.Context(), registers, objects, strings.NewReader(random)); err != nil {
			t.Fatal(err)
		}
		head, err := registers.Head(t.Context(), "environment")
		if err != nil || head.Version != 1 || string(head.Data) != want {
			t.Errorf("the register is at version %d: % x, %v; want % x", head.Version, head.Data, err, want)
		}
		object, err := objects.Get(t.Context(), "environment")
		if err != nil || string(object) != want {
			t.Errorf("the object is % x, %v; want % x", object, err, want)
		}
	}
}

// TestEnvironmentOfAnotherVersion is refused, and stays as it is.
func TestEnvironmentOfAnotherVersion(t *testing.T) {
	registers, objects := consensus.NewMemory(), blob.NewMemory()
	newer := []byte("\x02what comes later")
	if _, err := registers.Commit(t.Context(), []consensus.Unit{{{Key: "environment", Data: newer}}}); err != nil {
		t.Fatal(err)
	}
	err := pair(t.Context(), registers, objects, strings.NewReader(strings.Repeat("x", 16)))
	if err == nil || !strings.Contains(err.Error(), "register environment: 02 77 68") {
		t.Errorf("another version gives %v", err)
	}
	if all, err := objects.List(t.Context(), ""); err != nil || len(all) > 0 {
		t.Errorf("there are objects: %v, %v", all, err)
	}
}

// TestADirectoryThatIsMoved: a server whose directory is moved away acknowledges nothing any more, says so and ends. It leaves
// alone what is at the directory's path by then, another server's, and what it had acknowledged is where it was moved to.
func TestADirectoryThatIsMoved(t *testing.T) {
	for name, insert := range map[string]string{"an object": fmt.Sprintf(largeInsert, 1), "a register": "INSERT INTO t VALUES (1, 'small')"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			moved := dir + "-moved"
			first := startChild(t, dir)
			conn := first.connect()
			exec1(t, conn, "CREATE TABLE t (a int, b text)", fmt.Sprintf(largeInsert, 1))
			if err := os.Rename(dir, moved); err != nil {
				t.Fatal(err)
			}
			second := startChild(t, dir)
			exec1(t, second.connect(), "CREATE TABLE t (a int, b text)", fmt.Sprintf(largeInsert, 2), "INSERT INTO t VALUES (2, 'small')")

			if tag, err := conn.Exec(context.Background(), insert); err == nil {
				t.Errorf("the directory was moved, and the answer is %s", tag)
			}
			// Whichever of the two it is, a register's write ends the server.
			_, _ = conn.Exec(context.Background(), "INSERT INTO t VALUES (1, 'small')")
			logs := <-first.logs
			var status *exec.ExitError
			if err := first.cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != 1 ||
				!strings.Contains(logs, consensus.ErrMoved.Error()+": "+dir) {
				t.Errorf("the first server ends with %v:\n%s", err, logs)
			}
			if done, err := backup(context.Background(), dir, filepath.Join(t.TempDir(), "backup")); err != nil {
				t.Errorf("a backup through the second server: %s, %v", done, err)
			}
			second.stop()

			for dir, want := range map[string]string{dir: "2\t20001\t20001", moved: "1\t20000\t20000"} {
				again := startChild(t, dir)
				if got := table(t, again.connect(), "SELECT a, count(*), count(DISTINCT b) FROM t GROUP BY a"); !slices.Equal(got, []string{want}) {
					t.Errorf("%s has %q, want %q", dir, got, want)
				}
				again.stop()
			}
		})
	}
}

// TestADirectoryThatIsRemoved: a server whose directory is removed acknowledges nothing any more, says so and ends.
func TestADirectoryThatIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	conn, ended, _ := serveOn(t, openIn(dir))
	exec1(t, conn, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if tag, err := conn.Exec(context.Background(), "INSERT INTO t VALUES (2)"); err == nil {
		t.Errorf("an INSERT into nowhere is acknowledged: %s", tag)
	}
	if err := end(t, ended); !errors.Is(err, consensus.ErrMoved) {
		t.Error(err)
	}
}

// refuseToServe runs "serve" in a process of its own that must not start, through a shell that does something first, and gives what
// it says.
func refuseToServe(t *testing.T, first, dir string, flags ...string) string {
	t.Helper()
	args := append([]string{"-c", first + `; exec "$0" serve "$@"`, os.Args[0], "--data-dir", dir, "--http-listen", ""}, flags...)
	out, err := exec.CommandContext(t.Context(), "sh", args...).CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 1 {
		t.Errorf("serve ends with %v:\n%s", err, out)
	}
	return string(out)
}

// TestASecondServerOnADirectory is refused, with the directory and the reason in one line; the first one goes on, and other
// commands reach it as before.
func TestASecondServerOnADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first := startChild(t, dir)
	conn := first.connect()
	exec1(t, conn, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")
	for range 2 {
		if said := refuseToServe(t, ":", dir, "--sql-listen", "127.0.0.1:0"); !strings.HasPrefix(said, "tributary: open data directory "+dir+": ") ||
			!strings.Contains(said, consensus.ErrInUse.Error()) || strings.Count(said, "\n") != 1 {
			t.Errorf("a second server says\n%s", said)
		}
		exec1(t, conn, "INSERT INTO t VALUES (1)")
	}
	if got := table(t, first.connect(), "SELECT count(*) FROM t"); !slices.Equal(got, []string{"3"}) {
		t.Errorf("the first server has %q rows", got)
	}
	mustRun(t, "backup", dir, filepath.Join(t.TempDir(), "backup"))
	first.stop()
	mustRun(t, "inspect", dir)
}

// TestTooFewFiles: a server that may have too few files open says so before it touches anything; a soft limit is no reason.
func TestTooFewFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if said := refuseToServe(t, "ulimit -n 16", dir, "--sql-listen", "127.0.0.1:0"); !strings.HasPrefix(said, "tributary: no more than 16 files may be open") ||
		strings.Count(said, "\n") != 1 {
		t.Errorf("with 16 files it says\n%s", said)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
	if said := refuseToServe(t, "ulimit -S -n 16", dir, "--sql-listen", "nowhere"); !strings.Contains(said, "(--sql-listen)") {
		t.Errorf("with a soft limit of 16 files, and no address, it says\n%s", said)
	}
}
