package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
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
