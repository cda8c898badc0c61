package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	marks "github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// tributary runs a command of the program, and gives what it prints.
func tributary(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := rootCommand()
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tributary(t, args...)
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return out
}

// TestBackupOfARunningServer takes backups while transactions go on, restores them, and finds in each every transaction
// that was acknowledged before, each whole, and views that are their queries.
func TestBackupOfARunningServer(t *testing.T) {
	dir := t.TempDir() + "/" + strings.Repeat("deep/", 20) + "data" // Longer than the path of a socket may be.
	c := startChild(t, dir)
	conn := c.connect()
	exec1(t, conn, "CREATE TABLE a (id int8, pad text)", "CREATE TABLE b (id int8)",
		"CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(id) AS s FROM a",
		"INSERT INTO a SELECT 0, repeat('x', 100) || g FROM generate_series(1, 5000) AS g")
	var acknowledged atomic.Int64
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for id := int64(1); ; id++ {
			select {
			case <-stop:
				return
			default:
			}
			sql := fmt.Sprintf("BEGIN; INSERT INTO a VALUES (%d, repeat('y', 2000)); INSERT INTO b VALUES (%d); COMMIT", id, id)
			if _, err := conn.PgConn().Exec(context.Background(), sql).ReadAll(); err != nil {
				t.Error(err)
				return
			}
			acknowledged.Store(id)
		}
	})
	var backups []string
	var least []int64
	for i := range 3 {
		for floor := acknowledged.Load(); acknowledged.Load() < floor+20; {
			if t.Failed() {
				t.FailNow()
			}
		}
		to := filepath.Join(t.TempDir(), fmt.Sprint("backup", i))
		least = append(least, acknowledged.Load())
		mustRun(t, "backup", dir, to)
		backups = append(backups, to)
	}
	close(stop)
	writing.Wait()
	if out, err := tributary(t, "backup", dir, backups[0]); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a backup over another: %v\n%s", err, out)
	}
	if out, err := tributary(t, "inspect", dir); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("inspect while a server runs: %v\n%s", err, out)
	}
	c.kill()
	mustRun(t, "inspect", dir)
	shared, _ := sharedStores(t)
	for i, from := range backups {
		mustRun(t, "inspect", from)
		args, to := []string{}, filepath.Join(t.TempDir(), "restored")
		if i == len(backups)-1 {
			to, args = "", shared
			mustRun(t, append([]string{"restore", from}, args...)...)
			if out, err := tributary(t, append([]string{"restore", from}, args...)...); err == nil || !strings.Contains(err.Error(), "objects already") {
				t.Errorf("a second restore to the same stores: %v\n%s", err, out)
			}
		} else {
			mustRun(t, "restore", "--data-dir", to, from)
		}
		checkRestored(t, startChild(t, to, args...), least[i])
	}
}

func checkRestored(t *testing.T, c *child, least int64) {
	t.Helper()
	conn := c.connect()
	var rows, last int64
	fmt.Sscanf(table(t, conn, "SELECT count(*), max(id) FROM b")[0], "%d\t%d", &rows, &last)
	if rows != last || last < least {
		t.Errorf("%d transactions up to number %d are there, %d were acknowledged", rows, last, least)
	}
	for query, want := range map[string]string{
		"SELECT count(*) FROM a JOIN b USING (id)": fmt.Sprint(rows),
		"SELECT count(*) FROM a WHERE id > 0":      fmt.Sprint(rows),
		"SELECT n, s FROM v":                       fmt.Sprintf("%d\t%d", rows+5000, rows*(rows+1)/2),
	} {
		if got := table(t, conn, query); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %s", query, got, want)
		}
	}
	exec1(t, conn, "INSERT INTO b VALUES (-1)")
	c.stop()
}

// TestInspectFindsDamage: whatever happens to a part is a fault and status 1, and such a backup is not restored.
func TestInspectFindsDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := startChild(t, dir)
	exec1(t, c.connect(), "CREATE TABLE t (a int8, b text)",
		"INSERT INTO t SELECT g, repeat('x', 50) || g FROM generate_series(1, 20000) AS g", "INSERT INTO t VALUES (1, E'a\\tb'), (2, NULL)")
	c.stop()
	out := mustRun(t, "inspect", dir)
	if !strings.Contains(out, "no fault found") || !strings.Contains(out, "20002 rows") {
		t.Errorf("inspect:\n%s", out)
	}
	objects, err := filepath.Glob(filepath.Join(dir, "blob", "*", "p*"))
	if err != nil || len(objects) == 0 {
		t.Fatal(objects, err)
	}
	at := objects[slices.IndexFunc(objects, func(o string) bool { info, err := os.Stat(o); return err == nil && info.Size() > 20_000 })]
	id := filepath.Base(filepath.Dir(at))
	key := id + "/" + filepath.Base(at)
	if out := mustRun(t, "inspect", "--shard", id, dir); !strings.Contains(out, "schema 1:") || !strings.Contains(out, "batch 0") {
		t.Errorf("the state:\n%s", out)
	}
	rows := mustRun(t, "inspect", "--shard", id, "--rows", dir)
	if !strings.Contains(rows, "\t+1\t1\t\"a\\tb\"\n") || !strings.Contains(rows, "\t+1\t2\t\\N\n") {
		t.Errorf("the small rows are not among\n%s", rows[max(0, len(rows)-500):])
	}
	if n := strings.Count(rows, "\t+1\t"); n != 20002 {
		t.Errorf("%d rows are shown", n)
	}
	if out := mustRun(t, "inspect", "--shard", id, "--object", key, dir); strings.Count(out, "\n") < 1000 {
		t.Errorf("the part:\n%s", out)
	}
	whole, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		damage func() error
	}{
		{"a flipped bit", func() error {
			bad := bytes.Clone(whole)
			bad[len(bad)/2] ^= 1
			return os.WriteFile(at, bad, 0o600)
		}},
		{"half of it", func() error { return os.WriteFile(at, whole[:len(whole)/2], 0o600) }},
		{"nothing of it", func() error { return os.Remove(at) }},
		{"no object at all", func() error { return os.RemoveAll(filepath.Join(dir, "blob", id)) }},
	} {
		name := c.name
		if err := c.damage(); err != nil {
			t.Fatal(err)
		}
		if out, err := tributary(t, "inspect", dir); err == nil || !strings.Contains(out, "FAULT: shard "+id) || !strings.Contains(out, key) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		to := filepath.Join(t.TempDir(), "restored")
		if _, err := tributary(t, "restore", "--data-dir", to, dir); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: a restore gives %v", name, err)
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%s: something was restored", name)
		}
	}
}

// TestABackupThatIsBrokenOff: what is left of a backup that was killed when it had the registers and not all objects is refused by
// whatever takes a data directory, and left as it is; so is what has no more than the mark. The next backup is whole.
func TestABackupThatIsBrokenOff(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := startChild(t, dir)
	exec1(t, c.connect(), "CREATE TABLE t (a int8, b text)", fmt.Sprintf(largeInsert, 1))
	c.stop()
	objects, err := filepath.Glob(filepath.Join(dir, "blob", "*", "p*"))
	if err != nil || len(objects) == 0 {
		t.Fatal(objects, err)
	}
	// Who opens an object that is a pipe waits for the other end. The last pipe's never comes, so the backup cannot end.
	pipe, aside := objects[len(objects)-1], filepath.Join(t.TempDir(), "aside")
	last := pipe + "-last"
	if err := os.Rename(pipe, aside); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), syscall.Mkfifo(last, 0o600)); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "backup")
	cmd := exec.Command(os.Args[0], "backup", dir, to)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := errors.Join(os.Rename(aside, pipe), os.Remove(last)); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(to + "*")
	if err != nil || len(left) != 1 || left[0] == to {
		t.Fatalf("a backup that was killed has left %q, %v", left, err)
	}
	if names, err := namesIn(filepath.Join(left[0], "consensus")); err != nil || len(names) == 0 {
		t.Fatalf("it was killed before it had the registers: %q, %v", names, err)
	}
	refusesPartial(t, left[0])
	mustRun(t, "backup", dir, to)
	mustRun(t, "inspect", to)

	empty, err := makePartial(to)
	if err != nil {
		t.Fatal(err)
	}
	refusesPartial(t, empty)
}

// TestACopyThatIsCutShort: registers that were copied, of which any file ends early at any place, are all there, or the store
// does not open: that some are older than others cannot be seen in them.
func TestACopyThatIsCutShort(t *testing.T) {
	registers := openRegisters(t, filepath.Join(t.TempDir(), "from"))
	want := map[string]string{}
	for i := range 20 { // more than a memory table, and than what is loaded at once
		key, data := fmt.Sprintf("register%02d", i), bytes.Repeat([]byte{byte('a' + i)}, 1<<20)
		put(t, registers, key, 0, data)
		want[key] = string(data)
	}
	to := filepath.Join(t.TempDir(), "to")
	d := &dataDirectory{registers: registers}
	if err := d.copyRegisters(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	cuts := 0
	for _, f := range files {
		whole, err := os.ReadFile(filepath.Join(to, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		const places = 25
		for i := range min(places, len(whole)) {
			cut := filepath.Join(t.TempDir(), "cut")
			if err := os.CopyFS(cut, os.DirFS(to)); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(cut, f.Name()), int64(len(whole)*i/places)); err != nil {
				t.Fatal(err)
			}
			cuts++
			if got, opened := contentsOf(t, cut); opened && !maps.Equal(got, want) {
				t.Errorf("%s cut at %d of %d bytes has %d of %d registers", f.Name(), len(whole)*i/places, len(whole), len(got), len(want))
			}
			if err := os.RemoveAll(cut); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, opened := contentsOf(t, to); !opened || !maps.Equal(got, want) || cuts < 40 {
		t.Errorf("%d registers are copied, of %d; %d cuts", len(got), len(want), cuts)
	}
}

// openRegisters opens the registers' store in a directory, until the test ends.
func openRegisters(t *testing.T, dir string) *consensus.Pebble {
	t.Helper()
	p, err := consensus.OpenPebble(dir, consensus.PebbleOptions{Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// contentsOf gives the heads of all registers in a directory, if it opens and they can be read.
func contentsOf(t *testing.T, dir string) (map[string]string, bool) {
	t.Helper()
	p, err := consensus.OpenPebble(dir,
		consensus.PebbleOptions{Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), ReadOnly: true})
	if err != nil {
		return nil, false
	}
	defer p.Close()
	keys, err := p.Keys(t.Context(), "")
	if err != nil {
		return nil, false
	}
	all := map[string]string{}
	for _, key := range keys {
		head, err := p.Head(t.Context(), key)
		if err != nil {
			return nil, false
		}
		all[key] = string(head.Data)
	}
	return all, true
}

func refusesPartial(t *testing.T, dir string) {
	t.Helper()
	before := treeOf(t, dir)
	for _, args := range [][]string{{"inspect", dir}, {"backup", dir, filepath.Join(t.TempDir(), "x")},
		{"restore", "--data-dir", filepath.Join(t.TempDir(), "y"), dir},
		{"serve", "--data-dir", dir, "--sql-listen", "127.0.0.1:0", "--http-listen", ""}} {
		if out, err := tributary(t, args...); !errors.Is(err, errPartial) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	if after := treeOf(t, dir); !slices.Equal(after, before) {
		t.Errorf("%s had %q, and has %q", dir, before, after)
	}
}

// treeOf gives the paths of all that is in a directory.
func treeOf(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestInspectEndsWithStatus1: of the program itself, on a directory that was spoilt and on none, and 0 on a whole one.
func TestInspectEndsWithStatus1(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := startChild(t, dir)
	exec1(t, c.connect(), "CREATE TABLE t (a int8, b text)", fmt.Sprintf(largeInsert, 1))
	c.stop()
	status := func(dir string) (code int, out, said string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(os.Args[0], "inspect", dir)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	}
	if code, out, said := status(dir); code != 0 || !strings.HasSuffix(out, "\nno fault found\n") || said != "" {
		t.Errorf("a whole directory: status %d, %q\n%s", code, said, out)
	}
	objects, err := filepath.Glob(filepath.Join(dir, "blob", "*", "p*"))
	if err != nil || len(objects) == 0 {
		t.Fatal(objects, err)
	}
	if err := os.Truncate(objects[0], 100); err != nil {
		t.Fatal(err)
	}
	if code, out, said := status(dir); code != 1 || !strings.Contains(out, "FAULT: ") || said != "tributary: 1 faults\n" {
		t.Errorf("a directory with a damaged object: status %d, %q\n%s", code, said, out)
	}
	if code, out, said := status(filepath.Join(dir, "none")); code != 1 || out != "" || !strings.Contains(said, "cannot be read as a data directory") {
		t.Errorf("no directory: status %d, %q\n%s", code, said, out)
	}
}

// TestInspectHoldsShardsAgainstTheMark: an upper just past the oracle's mark is as it should be, and one beyond is a fault.
func TestInspectHoldsShardsAgainstTheMark(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := startChild(t, dir)
	exec1(t, c.connect(), "CREATE TABLE t (a int8)", "CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM t",
		"CREATE MATERIALIZED VIEW fixed AS SELECT 1 AS a", "INSERT INTO t VALUES (1)")
	c.kill()
	id := shardOf(t, dir, "materialize.public.t")
	d, err := openOffline(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	client, err := readingClient(d.registers, d.objects)
	if err != nil {
		t.Fatal(err)
	}
	var last tvc.Frontier
	keys, err := d.registers.Keys(t.Context(), shard.RegisterPrefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		r, err := client.Check(t.Context(), shard.ID(strings.TrimPrefix(key, shard.RegisterPrefix)))
		if err != nil {
			t.Fatal(err)
		}
		if r.Upper != tvc.Done {
			last = max(last, r.Upper)
		}
	}
	for _, c := range []struct {
		mark tvc.Time
		want string
	}{{last.Last(), ""}, {last.Last() - 1, "beyond the oracle's mark"}, {0, "FAULT: shard " + string(id) + " is complete up to "}} {
		var out bytes.Buffer
		err := inspect(t.Context(), marked{d.registers, c.mark}, d.objects, &out)
		if faulty := c.want != ""; (err != nil) != faulty || strings.Contains(out.String(), "FAULT") != faulty || !strings.Contains(out.String(), c.want) {
			t.Errorf("uppers up to %d, the mark %d: %v\n%s", last, c.mark, err, out.String())
		}
	}
}

// marked is a store with another mark.
type marked struct {
	consensus.Store
	mark tvc.Time
}

func (m marked) Head(ctx context.Context, key string) (consensus.Versioned, error) {
	head, err := m.Store.Head(ctx, key)
	if key == marks.MarkKey {
		head.Data = marks.EncodeMark(m.mark)
	}
	return head, err
}

// TestInspectHoldsShardsAgainstTheCatalog: a shard that the catalog names and is not there, or is sealed, and one that is there
// and nobody names, are faults; what was dropped is none, before and after it was cleaned up.
func TestInspectHoldsShardsAgainstTheCatalog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := startChild(t, dir)
	conn := c.connect()
	exec1(t, conn, "CREATE TABLE t (a int8)", "INSERT INTO t VALUES (1)", "CREATE TABLE gone (a int8)",
		"CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM t", "DROP TABLE gone")
	c.stop()
	id := shardOf(t, dir, "materialize.public.t")
	out := mustRun(t, "inspect", dir)
	for _, want := range []string{"shard " + string(id) + " (materialize.public.t): since ", " (materialize.public.v): since ",
		" (a dropped table or view): sealed\n", "no fault found"} {
		if !strings.Contains(out, want) {
			t.Errorf("inspect has no %q:\n%s", want, out)
		}
	}
	if _, err := tributary(t, "inspect", "--shard", "t", dir); err == nil || !strings.Contains(err.Error(), "without --shard") {
		t.Errorf("a table's name for its shard: %v", err)
	}
	c = startChild(t, dir)
	exec1(t, c.connect(), "CREATE TABLE later (a int8)") // which forgets what was dropped
	c.stop()
	mustRun(t, "inspect", dir)

	for _, p := range []struct {
		name, want string
		plant      func(t *testing.T, registers consensus.Store)
	}{
		{"a shard that nobody names", "shard u999 is named by nobody", func(t *testing.T, registers consensus.Store) {
			entries, err := registers.Scan(t.Context(), shard.RegisterKey(id), 1, 1)
			if err != nil || len(entries) != 1 || entries[0].Version != 1 {
				t.Fatal(entries, err)
			}
			put(t, registers, shard.RegisterKey("u999"), 0, entries[0].Data)
		}},
		{"a sealed shard", "shard " + string(id) + ", in which materialize.public.t is kept, is sealed", func(t *testing.T, registers consensus.Store) {
			client, err := readingClient(registers, blob.NewMemory())
			if err != nil {
				t.Fatal(err)
			}
			sh, err := client.Open(t.Context(), id, shard.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			e, refusal, err := client.NewStep().Add(client.Token(), []shard.Op{shard.Seal{Shard: sh}})
			if err != nil || refusal != nil {
				t.Fatal(refusal, err)
			}
			for _, entry := range e.Entries {
				put(t, registers, entry.Key, entry.Expect, entry.Data)
			}
		}},
	} {
		planted := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(planted, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		registers, err := consensus.OpenPebble(filepath.Join(planted, "consensus"), consensus.PebbleOptions{Registry: prometheus.NewRegistry()})
		if err != nil {
			t.Fatal(err)
		}
		p.plant(t, registers)
		if err := registers.Close(); err != nil {
			t.Fatal(err)
		}
		if out, err := tributary(t, "inspect", planted); err == nil || !strings.Contains(out, "FAULT: "+p.want) || strings.Count(out, "FAULT") != 1 {
			t.Errorf("%s: %v\n%s", p.name, err, out)
		}
	}
	inspectWithout(t, dir, id)
}

// shardOf gives the shard in which a table or view is kept.
func shardOf(t *testing.T, dir, name string) shard.ID {
	t.Helper()
	d, err := openOffline(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	client, err := readingClient(d.registers, d.objects)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := coord.StoredShards(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	for id, of := range stored {
		if of.Name == name {
			return id
		}
	}
	t.Fatalf("%s is not among %v", name, stored)
	return ""
}

// lacking is a store without one of its registers.
type lacking struct {
	consensus.Store
	key string
}

func (l lacking) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := l.Store.Keys(ctx, prefix)
	return slices.DeleteFunc(keys, func(key string) bool { return key == l.key }), err
}

// inspectWithout looks at an environment without one of its shards, and has that missed.
func inspectWithout(t *testing.T, dir string, id shard.ID) {
	t.Helper()
	d, err := openOffline(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var out bytes.Buffer
	if err := inspect(t.Context(), lacking{d.registers, shard.RegisterKey(id)}, d.objects, &out); err == nil ||
		!strings.Contains(out.String(), "FAULT: shard "+string(id)+", in which materialize.public.t is kept, is not there") {
		t.Errorf("a missing shard: %v\n%s", err, out.String())
	}
}

func put(t *testing.T, registers consensus.Store, key string, expect consensus.Version, data []byte) {
	t.Helper()
	out, err := registers.Commit(t.Context(), []consensus.Unit{{{Key: key, Expect: expect, Data: data}}})
	if err != nil || !out[0].Done {
		t.Fatal(key, out, err)
	}
}

func TestInspectWhatIsNoDataDirectory(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		for _, args := range [][]string{{"inspect", dir}, {"backup", dir, filepath.Join(t.TempDir(), "x")}, {"restore", "--data-dir", filepath.Join(t.TempDir(), "y"), dir}} {
			if out, err := tributary(t, args...); err == nil || !strings.Contains(err.Error(), "cannot be read as a data directory") {
				t.Errorf("%q: %v\n%s", args, err, out)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "consensus")); err == nil {
			t.Error("something was made in it")
		}
	}
}
