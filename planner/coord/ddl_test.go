package coord_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// TestDDLNeverFailsOthers makes and drops tables, views, indexes and clusters while others read and write a table that
// has nothing to do with them.
func TestDDLNeverFailsOthers(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int, b int)", "INSERT INTO t VALUES (1, 1)",
		"CREATE MATERIALIZED VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a", "CREATE INDEX v_a ON v (a)")
	var changing, others sync.WaitGroup
	var over atomic.Bool
	for g := range 2 {
		conn := s.connect()
		changing.Go(func() {
			for i := range 5 {
				ddl := fmt.Sprintf("CREATE TABLE x%[1]d (a int); CREATE CLUSTER c%[1]d SIZE 'scale=1,workers=1', REPLICATION FACTOR 1; "+
					"CREATE MATERIALIZED VIEW y%[1]d IN CLUSTER c%[1]d AS SELECT a FROM x%[1]d; CREATE INDEX z%[1]d ON y%[1]d (a); "+
					"INSERT INTO x%[1]d VALUES (%[2]d); SELECT * FROM y%[1]d; "+
					"DROP INDEX z%[1]d; DROP TABLE x%[1]d CASCADE; DROP CLUSTER c%[1]d", g, i)
				for sql := range strings.SplitSeq(ddl, ";") {
					if _, err := conn.run(context.Background(), sql); err != nil {
						t.Errorf("%s: %v", sql, err)
					}
				}
			}
		})
	}
	for _, sql := range []string{
		"SELECT sum(b) FROM t",
		"SELECT n FROM v WHERE a = 1",
		"BEGIN; SELECT count(*) FROM t; SELECT * FROM v; COMMIT",
		"BEGIN; INSERT INTO t VALUES (1, 0); INSERT INTO t VALUES (2, 0); COMMIT",
		"SET transaction_isolation = 'serializable'; BEGIN; SELECT count(*) FROM t; SELECT * FROM v; COMMIT",
	} {
		conn := s.connect()
		others.Go(func() {
			for !over.Load() {
				if _, err := conn.run(context.Background(), sql); err != nil {
					t.Errorf("%s: %v", sql, err)
					return
				}
			}
		})
	}
	changing.Wait()
	over.Store(true)
	others.Wait()
}

// TestReadersAndWritersOfWhatIsDropped are told which table is gone.
func TestReadersAndWritersOfWhatIsDropped(t *testing.T) {
	s := start(t, bootOptions{})
	c, other := s.connect(), s.connect()
	c.must(t, "CREATE TABLE t (a int)", "CREATE TABLE u (a int)", "BEGIN", "SELECT * FROM u")
	other.must(t, "DROP TABLE t")
	c.fails(t, "SELECT * FROM t", "42P01", `"t"`)
	c.must(t, "ROLLBACK", "BEGIN", "INSERT INTO u VALUES (1)")
	other.must(t, "DROP TABLE u")
	c.fails(t, "COMMIT", "42P01", `"u"`)
	c.fails(t, "SELECT * FROM u", "42P01", `"u"`)
}

// TestRetainHistoryIsASetting: how long the past stays readable follows ALTER SYSTEM; it is a second otherwise.
func TestRetainHistoryIsASetting(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	c.want(t, "SHOW storage_retain_history", "1 s")
	c.must(t, "CREATE TABLE t (a int)")
	reach := func(then tvc.Time) string { return fmt.Sprintf("SELECT a FROM t AS OF %d", then.Millis()) }
	insert := func(a int) (at tvc.Time) {
		c.must(t, fmt.Sprintf("INSERT INTO t VALUES (%d)", a))
		at = tvc.Time(s.clock.now.Load())
		s.clock.add(10_000_000)
		return at
	}
	first := insert(1)
	insert(2)
	c.fails(t, reach(first), "55000", "no longer readable")
	c.must(t, "ALTER SYSTEM SET storage_retain_history = '1h'")
	third := insert(3)
	insert(4)
	c.want(t, reach(third), "1", "2", "3")
	c.must(t, "ALTER SYSTEM RESET storage_retain_history")
	insert(5)
	c.fails(t, reach(third), "55000", "no longer readable")
}

// TestRetainHistoryOfOneRelation: what a table or a view keeps of its past goes by its own option, which can be changed,
// is shown, and outlives a restart.
func TestRetainHistoryOfOneRelation(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, bootOptions{disk: disk})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int) WITH (RETAIN HISTORY FOR '1 day 1 hour')", "CREATE TABLE u (a int)",
		"CREATE MATERIALIZED VIEW v WITH (RETAIN HISTORY = FOR '1 hour') AS SELECT a FROM t")
	c.want(t, "SHOW CREATE TABLE t",
		"materialize.public.t|CREATE TABLE materialize.public.t (a integer) WITH (RETAIN HISTORY = FOR '25:00:00');")
	c.want(t, "SHOW CREATE MATERIALIZED VIEW v", "materialize.public.v|CREATE MATERIALIZED VIEW materialize.public.v (a) "+
		"IN CLUSTER quickstart WITH (REFRESH = ON COMMIT, RETAIN HISTORY = FOR '01:00:00') AS SELECT a FROM materialize.public.t AS t;")
	read := func(rel string, then tvc.Time) string {
		return fmt.Sprintf("SELECT a FROM %s AS OF %d", rel, then.Millis())
	}
	insert := func(a int) (at tvc.Time) {
		c.must(t, fmt.Sprintf("INSERT INTO t VALUES (%d)", a), fmt.Sprintf("INSERT INTO u VALUES (%d)", a), "SELECT * FROM v")
		at = tvc.Time(s.clock.now.Load())
		s.clock.add(10_000_000)
		return at
	}
	first := insert(1)
	second := insert(2)
	insert(3)
	check := func() {
		t.Helper()
		c.want(t, read("t", first), "1")
		c.want(t, read("v", second), "1", "2")
		c.fails(t, read("u", second), "55000", "no longer readable")
		c.fails(t, read("t", first-93_600_000_000), "55000", "no longer readable")
	}
	check()
	s.stop()
	s = start(t, bootOptions{disk: disk, clock: s.clock.later()})
	c = s.connect()
	check()
	c.must(t, "ALTER TABLE t RESET (RETAIN HISTORY)", "ALTER MATERIALIZED VIEW v RESET (RETAIN HISTORY)",
		"ALTER TABLE u SET (RETAIN HISTORY FOR '2 minutes')")
	c.want(t, "SHOW CREATE TABLE t", "materialize.public.t|CREATE TABLE materialize.public.t (a integer);")
	fourth := insert(4)
	insert(5)
	insert(6) // until it is written to, a table keeps what a view of it may read again
	c.fails(t, read("t", fourth), "55000", "no longer readable")
	c.fails(t, read("v", fourth), "55000", "no longer readable")
	c.want(t, read("u", fourth), "1", "2", "3", "4")
	s.clock.add(180_000_000)
	insert(7)
	insert(8)
	c.fails(t, read("u", fourth), "55000", "no longer readable")
	for sql, want := range map[string][2]string{
		"CREATE TABLE w (a int) WITH (RETAIN HISTORY FOR '1 month')":                     {"22023", "months"},
		"CREATE TABLE w (a int) WITH (RETAIN HISTORY FOR '0s')":                          {"22023", "more than 0"},
		"CREATE TABLE w (a int) WITH (RETAIN HISTORY FOR '-1s')":                         {"22023", "more than 0"},
		"CREATE TABLE w (a int) WITH (RETAIN HISTORY FOR '1000 days')":                   {"22023", "365 days"},
		"CREATE TABLE w (a int) WITH (RETAIN HISTORY FOR 'soon')":                        {"22007", "interval"},
		"CREATE TABLE w (a int) WITH (RETAIN HISTORY)":                                   {"42601", "requires a parameter"},
		"CREATE TABLE w (a int) WITH (RETAIN HISTORY FOR '1s', RETAIN HISTORY FOR '1s')": {"42601", "more than once"},
		"CREATE TABLE w (a int) WITH (fillfactor = 10)":                                  {"0A000", "FILLFACTOR"},
		"CREATE MATERIALIZED VIEW w WITH (ASSERT NOT NULL a) AS SELECT a FROM t":         {"0A000", "ASSERT NOT NULL"},
		"CREATE INDEX ON t (a) WITH (RETAIN HISTORY FOR '1s')":                           {"0A000", "RETAIN HISTORY"},
		"ALTER TABLE t SET (fillfactor = 10)":                                            {"0A000", "FILLFACTOR"},
		"ALTER TABLE t RESET (fillfactor)":                                               {"0A000", "FILLFACTOR"},
		"ALTER TABLE nowhere SET (RETAIN HISTORY FOR '1s')":                              {"42P01", "does not exist"},
		"ALTER TABLE v SET (RETAIN HISTORY FOR '1s')":                                    {"42809", "not a table"},
		"ALTER MATERIALIZED VIEW t SET (RETAIN HISTORY FOR '1s')":                        {"42809", "not a materialized view"},
		"ALTER TABLE mz_catalog.mz_tables SET (RETAIN HISTORY FOR '1s')":                 {"42501", "system"},
	} {
		c.fails(t, sql, want[0], want[1])
	}
}

// TestDroppedShardsAreCleanedUpAfterARestart ends the process right after a DROP is durable: the next one removes the
// objects and cuts the register, and the change of the catalog after that forgets the shard.
func TestDroppedShardsAreCleanedUpAfterARestart(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, bootOptions{disk: disk})
	c := s.connect()
	c.must(t, "ALTER SYSTEM SET storage_inline_append_max_bytes = 0", "CREATE TABLE t (a int)", "CREATE TABLE kept (a int)",
		"CREATE MATERIALIZED VIEW v AS SELECT a FROM t", "INSERT INTO kept VALUES (1)")
	for i := range 5 {
		c.must(t, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
	}
	c.want(t, "SELECT count(*) FROM v", "5")
	dropped := []string{string(s.shard("t").ID()), string(s.shard("v").ID())}
	if s.objects(dropped) == 0 {
		t.Fatal("there are no objects: nothing is tested")
	}
	s.stores.Faults.Follow(func(call storagetest.Call) storagetest.Verdict {
		if call.Op == "commit" {
			return storagetest.DieAfter
		}
		return storagetest.Pass
	})
	if _, err := c.run(context.Background(), "DROP TABLE t CASCADE"); err == nil {
		t.Fatal("a dead process has answered")
	}
	s.die()

	s = start(t, bootOptions{disk: disk.Crash(1, 0), clock: s.clock.later()})
	c = s.connect()
	c.fails(t, "SELECT * FROM t", "42P01", `"t"`)
	waitFor(t, func() bool { return s.objects(dropped) == 0 && s.registered(dropped) == len(dropped) })
	waitFor(t, func() bool {
		return s.coord.Set().IsClean(shard.ID(dropped[0])) && s.coord.Set().IsClean(shard.ID(dropped[1]))
	})
	if n := garbage(s.coord.Catalog()); n != 2 {
		t.Errorf("%d shards are to be cleaned up, says the catalog", n)
	}
	c.must(t, "CREATE TABLE another (a int)")
	if n := garbage(s.coord.Catalog()); n != 0 {
		t.Errorf("%d shards are still to be cleaned up, says the catalog", n)
	}
	c.want(t, "SELECT * FROM kept", "1")

	// Without a restart it is the same.
	c.must(t, "INSERT INTO another VALUES (1)")
	dropped = []string{string(s.shard("another").ID())}
	c.must(t, "DROP TABLE another")
	waitFor(t, func() bool { return s.coord.Set().IsClean(shard.ID(dropped[0])) })
	if o, r := s.objects(dropped), s.registered(dropped); o != 0 || r != 1 {
		t.Errorf("%d objects and %d entries are left", o, r)
	}
	c.must(t, "CREATE TABLE another (a int)")
	if n := garbage(s.coord.Catalog()); n != 0 {
		t.Errorf("%d shards are still to be cleaned up, says the catalog", n)
	}
}

// objects counts the objects of some shards.
func (s *server) objects(shards []string) (n int) {
	for _, id := range shards {
		infos, err := s.stores.Blob.List(context.Background(), id+"/")
		if err != nil {
			s.tb.Fatal(err)
		}
		n += len(infos)
	}
	return n
}

// registered counts the entries of the registers of some shards.
func (s *server) registered(shards []string) (n int) {
	for _, id := range shards {
		entries, err := s.stores.Consensus.Scan(context.Background(), shard.RegisterKey(shard.ID(id)), 0, 1000)
		if err != nil {
			s.tb.Fatal(err)
		}
		n += len(entries)
	}
	return n
}

func garbage(snap *catalog.Snapshot) (n int) {
	for range snap.Garbage() {
		n++
	}
	return n
}

// TestWhatCannotBePlannedBreaksNothingElse starts a server on a catalog with a view and an index that it does not
// understand, as if an earlier program had known a function that this one does not.
func TestWhatCannotBePlannedBreaksNothingElse(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, bootOptions{disk: disk})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)", "CREATE MATERIALIZED VIEW good AS SELECT a FROM t",
		"CREATE INDEX good_a ON good (a)")
	snap := s.coord.Catalog()
	bad, over, index := *s.item("good"), *s.item("good"), *s.item("good_a")
	bad.Name, bad.Query = "bad", query("SELECT forgotten(a) AS a FROM %s AS t", s.item("t").ID)
	over.Name, over.Query, over.DependsOn = "over_bad", query("SELECT a FROM %s AS t", snap.NextID(0)), []tvc.ID{snap.NextID(0)}
	index.Name, index.Key = "good_forgotten", []catalog.KeyPart{{Column: -1, SQL: "forgotten(a)", Type: index.Key[0].Type}}
	s.stop()
	addItems(t, disk, s.clock.later(), snap, bad, over, index)

	s = start(t, bootOptions{disk: disk, clock: s.clock.later().later()})
	c = s.connect()
	c.must(t, "INSERT INTO t VALUES (2)")
	c.want(t, "SELECT a FROM good", "1", "2")
	c.want(t, "SELECT a FROM good WHERE a = 2", "2")
	for _, sql := range []string{"SELECT * FROM bad", "SELECT * FROM over_bad", "SELECT * FROM bad WHERE a = 1"} {
		c.fails(t, sql, "XX001", "materialize.public.bad is broken and cannot be read: function forgotten(integer) does not exist")
	}
	c.want(t, "BEGIN; SELECT a FROM good; SELECT count(*) FROM t; COMMIT", "1", "2", "2")
	c.must(t, "DROP INDEX good_forgotten", "DROP MATERIALIZED VIEW bad CASCADE",
		"CREATE MATERIALIZED VIEW bad AS SELECT abs(a) AS a FROM t")
	c.want(t, "SELECT a FROM bad", "1", "2")
	s.stop()
	s = start(t, bootOptions{disk: disk, clock: s.clock.later()})
	s.connect().want(t, "SELECT a FROM bad", "1", "2")
}

// query is a view's text over one relation.
func query(format string, on tvc.ID) catalog.Text {
	return catalog.ParseText(fmt.Sprintf(format, `"`+catalog.Mark(on)+`"`))
}

// addItems adds items to a stored catalog behind the server's back.
func addItems(t *testing.T, disk *storagetest.Disk, clock *clock, snap *catalog.Snapshot, items ...catalog.Item) {
	t.Helper()
	ctx := context.Background()
	p, err := disk.Open(t, storagetest.Options{Clock: clock.time})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(t)
	sh, err := p.Set.Client().Open(ctx, "catalog", shard.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ops []catalog.Op
	for _, it := range items {
		ops = append(ops, &catalog.CreateItem{Item: it})
	}
	_, changes, err := snap.Apply(ops)
	if err != nil {
		t.Fatal(err)
	}
	w := sh.NewWriter(shard.WriterOptions{})
	if err := w.Add(ctx, changes.Rows()); err != nil {
		t.Fatal(err)
	}
	written, err := w.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := p.Set.Oracle().WriteTime()
	unit := txn.Unit{Ops: []shard.Op{
		shard.Append{Shard: sh, AnyLower: true, Upper: tvc.After(at), Written: []*shard.Written{written}}}}
	for _, ch := range changes.Items {
		if ch.New.Kind.Stored() {
			unit.Ops = append(unit.Ops, shard.Create{ID: shard.ID(ch.New.Shard), Schema: shard.Schema{Rel: ch.New.Rel, Errors: true},
				Since: tvc.Frontier(at), Upper: tvc.Frontier(at)})
		}
	}
	out, err := p.Set.Group().Do(ctx, unit)
	if err != nil || !out.Done() {
		t.Fatal(out.Refused, err)
	}
	if err := p.Set.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestWhatCannotBeStartedIsSaid: the store fails between the commit of a CREATE INDEX and the index's start. The
// change is made, the client hears so, and everything else goes on; the next boot starts it.
func TestWhatCannotBeStartedIsSaid(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, bootOptions{disk: disk})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")
	commits := 0
	s.stores.Faults.Follow(func(call storagetest.Call) storagetest.Verdict {
		if call.Op != "commit" {
			return storagetest.Pass
		}
		commits++
		if commits > 1 {
			return storagetest.Fail
		}
		// The mark that goes with this commit is of the past when it is done.
		s.clock.add(10_000_000)
		return storagetest.Pass
	})
	_, err := c.run(context.Background(), "CREATE INDEX t_a ON t (a)")
	s.stores.Faults.Follow(nil)
	if err == nil || !strings.Contains(err.Error(), "the change is made, but not all of it has taken effect: start materialize.public.t_a") {
		t.Fatal(err)
	}
	c.want(t, "SELECT count(*) FROM t", "1")
	c.must(t, "CREATE TABLE u (a int)", "INSERT INTO t VALUES (2)")
	c.fails(t, "SELECT * FROM t WHERE a = 1", "XX001", "t_a is broken")
	s.stop()
	s = start(t, bootOptions{disk: disk, clock: s.clock.later()})
	c = s.connect()
	c.want(t, "SELECT * FROM t WHERE a = 1", "1")
	c.must(t, "DROP INDEX t_a")
	c.want(t, "SELECT * FROM t WHERE a = 1", "1")
}

// TestAChangeCostsTheSameHoweverMuchThereIs: what making and dropping a table allocates does not grow with the tables there are.
func TestAChangeCostsTheSameHoweverMuchThereIs(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	made := 0
	tables := func(n int) {
		for ; made < n; made++ {
			c.must(t, fmt.Sprintf("CREATE TABLE t%d (a int)", made))
		}
	}
	allocations := func() float64 {
		return testing.AllocsPerRun(20, func() { c.must(t, "CREATE TABLE extra (a int)", "DROP TABLE extra") })
	}
	tables(20)
	few := allocations()
	tables(1000)
	many := allocations()
	t.Logf("%.0f allocations with 20 tables, %.0f with 1000", few, many)
	// A lookup in a thousand is deeper than one in twenty; to name each of them is to allocate a thousand times.
	if many > few+500 {
		t.Errorf("with 1000 tables %.0f allocations, with 20 %.0f", many, few)
	}
}
