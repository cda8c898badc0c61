package coord_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// cancelled is what a client that gives up is told.
func cancelled() error {
	return pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request")
}

// item finds a relation by its name.
func (s *server) item(name string) *catalog.Item {
	for it := range s.coord.Catalog().Items() {
		if it.Name == name && !it.Kind.System() {
			return it
		}
	}
	return nil
}

// shard gives the shard of a relation.
func (s *server) shard(name string) *shard.Shard {
	s.tb.Helper()
	sh, ok := s.coord.Set().Shard(s.item(name).ID)
	if !ok {
		s.tb.Fatalf("%s is not open", name)
	}
	return sh
}

// TestDDLOutlivesItsClient: who gives up while a change of the catalog is being made durable does not keep it from
// being published; who gives up before that has changed nothing.
func TestDDLOutlivesItsClient(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int)")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cancelled())
	_, err := c.run(ctx, "CREATE TABLE u (a int)")
	checkError(t, "CREATE TABLE, cancelled", err, "57014", "user request")
	if s.item("u") != nil {
		t.Fatal("a statement that was cancelled has made a table")
	}

	// An earlier write is in flight, so closed time cannot pass the change yet.
	oracle := s.coord.Set().Oracle()
	earlier := oracle.WriteTime()
	before := s.coord.CatalogUpper()
	ctx, cancel = context.WithCancelCause(context.Background())
	defer cancel(nil)
	s.stores.Faults.Follow(func(call storagetest.Call) storagetest.Verdict {
		if call.Op == "commit" {
			cancel(cancelled())
		}
		return storagetest.Pass
	})
	done := make(chan error)
	go func() {
		_, err := c.run(ctx, "CREATE TABLE u (a int)")
		done <- err
	}()
	waitFor(t, func() bool { return s.coord.CatalogUpper() != before })
	select {
	case err := <-done:
		t.Fatalf("CREATE TABLE has returned before closed time has passed it: %v", err)
	default:
		oracle.Forget(earlier)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	c.must(t, "INSERT INTO u VALUES (1)")
	c.want(t, "SELECT * FROM u", "1")
}

// TestAWriteIsAnsweredWhenItIsDurableAndApplied: of what must be kept, this is: a client's write is answered only after its
// commit is durable and the oracle has applied it, so that whoever reads next has it.
func TestAWriteIsAnsweredWhenItIsDurableAndApplied(t *testing.T) {
	g := newGate()
	s := start(t, bootOptions{gate: g})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int)")
	answered := make(chan error, 1)
	insert := func() {
		_, err := c.run(context.Background(), "INSERT INTO t VALUES (1)")
		answered <- err
	}
	notYet := func(when string) {
		t.Helper()
		select {
		case err := <-answered:
			t.Fatalf("INSERT was answered %s: %v", when, err)
		default:
		}
	}
	// An earlier write is in flight, so that none can be applied; then the commit hangs.
	oracle, sh := s.coord.Set().Oracle(), s.shard("t")
	earlier := oracle.WriteTime()
	g.held.Store(true)
	go insert()
	<-g.arrived
	notYet("before it was durable")
	if upper := sh.Upper(); upper > tvc.Frontier(earlier) {
		t.Fatalf("upper %v shows what is not durable", upper)
	}
	g.release()
	if err := sh.WaitPast(context.Background(), earlier); err != nil {
		t.Fatal(err)
	}
	notYet("before it was applied")
	if closed := oracle.Closed(); closed >= earlier {
		t.Fatalf("%d is closed, and %d is in flight", closed, earlier)
	}
	oracle.Forget(earlier)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	s.connect().want(t, "SELECT a FROM t", "1")
}

// TestAnUnknownOutcomeStopsTheServer: if it is not known whether the catalog was changed, nothing is taken back,
// nothing more is written, and the next boot finds out.
//
// Of what must be kept, this is: an ambiguous case stops, it never guesses.
func TestAnUnknownOutcomeStopsTheServer(t *testing.T) {
	for _, verdict := range []storagetest.Verdict{storagetest.Lose, storagetest.Hide} {
		disk := storagetest.NewDisk()
		s := start(t, bootOptions{disk: disk})
		c := s.connect()
		// What is written is in objects, which would be gone if it were taken back.
		c.must(t, "CREATE TABLE t (a int)", "ALTER SYSTEM SET storage_inline_append_max_bytes = 0")
		commits := 0
		s.stores.Faults.Follow(func(call storagetest.Call) storagetest.Verdict {
			if call.Op != "commit" {
				return storagetest.Pass
			}
			if commits++; commits > 1 {
				// It is settling; the server is told to end.
				go s.coord.Set().Group().Stop()
				return storagetest.Lose
			}
			return verdict
		})
		c.fails(t, "CREATE TABLE u (a int)", "58030", "not known")
		<-s.coord.Failed()
		c.fails(t, "CREATE TABLE w (a int)", "57P01", "shutting down")
		c.fails(t, "INSERT INTO t VALUES (1)", "57P01", "shutting down")
		s.die()
		s = start(t, bootOptions{disk: disk, clock: s.clock.later()})
		c = s.connect()
		if there := s.item("u") != nil; there != (verdict == storagetest.Hide) {
			t.Errorf("verdict %d: the table is there: %v", verdict, there)
		}
		c.must(t, "CREATE TABLE IF NOT EXISTS u (a int)", "INSERT INTO u VALUES (1)")
		s.stop()
	}
}

// TestAServerThatIsFencedSaysSo: once another process has taken over, the first write notices, and Failed tells.
func TestAServerThatIsFencedSaysSo(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int)")
	registers, objects := s.stores.Behind()
	_, err := collection.Open(context.Background(), collection.Options{Consensus: registers, Blob: objects, Clock: s.clock.time,
		Settings: s.m.Settings, Registry: storagetest.NewRegistry().Metrics()})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.coord.Failed():
		t.Fatal("failed before it has written anything")
	default:
	}
	c.fails(t, "INSERT INTO t VALUES (1)", "57P01", "another server has taken over")
	<-s.coord.Failed()
	if err := s.coord.Err(); !errors.Is(err, txn.ErrFenced) {
		t.Fatal(err)
	}
	c.fails(t, "CREATE TABLE u (a int)", "57P01", "another server has taken over")
}

// TestClaimsNeverPassClosedTime: a table can be readable only from a time on that is not closed yet. Nobody reads
// there before it is, whatever he asks for.
// Of what must be kept, this is: a read whose time is not closed yet waits until it is.
func TestClaimsNeverPassClosedTime(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	c.must(t, "ALTER SYSTEM SET storage_retain_history = '0s'", "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")
	oracle, sh, id := s.coord.Set().Oracle(), s.shard("t"), s.item("t").ID
	earlier := oracle.WriteTime()
	inserted := make(chan error)
	go func() {
		_, err := c.run(context.Background(), "INSERT INTO t VALUES (2)")
		inserted <- err
	}()
	if err := sh.WaitPast(context.Background(), earlier); err != nil {
		t.Fatal(err)
	}
	if since, closed := sh.Since(), oracle.Closed(); since <= tvc.Frontier(closed) {
		t.Fatalf("since %v is closed (%v): nothing is tested", since, closed)
	}
	asOf := tvc.Time(sh.Since())
	options := map[string]coord.ReadOptions{
		"strict serializable": {}, "serializable": {Isolation: coord.Serializable}, "all": {All: true}, "as of": {AsOf: &asOf},
		"as of at least": {AsOf: &earlier, AtLeast: true},
	}
	for name, o := range options {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cancelled())
		if r, err := s.coord.Read(ctx, []tvc.ID{id}, o); err == nil {
			t.Errorf("%s: read at %d, while %d is closed", name, r.At(), oracle.Closed())
			r.Release()
		}
	}
	// A view that is begun now waits too.
	made := make(chan error)
	go func() {
		_, err := s.connect().run(context.Background(), "CREATE MATERIALIZED VIEW v AS SELECT a FROM t")
		made <- err
	}()
	oracle.Forget(earlier)
	for _, done := range []chan error{inserted, made} {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for name, o := range options {
		if o.AsOf == &asOf {
			continue // it may be gone by now
		}
		r, err := s.coord.Read(context.Background(), []tvc.ID{id}, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if closed := oracle.Closed(); r.At() > closed {
			t.Errorf("%s: read at %d, while %d is closed", name, r.At(), closed)
		}
		r.Release()
	}
	c.want(t, "SELECT a FROM v", "1", "2")
}

// TestReadsThatOverlapLetHistoryGo: each read begins before the one before it ends, and yet the history before them goes,
// of the table and of its index.
func TestReadsThatOverlapLetHistoryGo(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int)", "CREATE INDEX i ON t (a)")
	var table, index tvc.ID
	for it := range s.coord.Catalog().Items() {
		switch it.Name {
		case "t":
			table = it.ID
		case "i":
			index = it.ID
		}
	}
	var early tvc.Time
	var before coord.Read
	for n := range 6 {
		s.clock.add(5_000_000)
		c.must(t, fmt.Sprintf("INSERT INTO t VALUES (%d)", n))
		r, err := s.coord.Read(context.Background(), []tvc.ID{table, index}, coord.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		if before != nil {
			before.Release()
		}
		if before = r; n == 2 {
			early = r.At()
		}
		c.want(t, fmt.Sprintf("SELECT a FROM t WHERE a = %d", n), fmt.Sprint(n))
	}
	sh, _ := s.coord.Set().Shard(table)
	if sh.Since() < tvc.Frontier(early) {
		t.Errorf("the table's since is %v, before %v", sh.Since(), early)
	}
	for _, h := range s.coord.Set().Holds() {
		if h.ID == table && h.Since < tvc.Frontier(early) {
			t.Errorf("%s holds the table at %v, before %v", h.Owner, h.Since, early)
		}
	}
}

// TestWhatIsReadStaysReadable: a transaction reads a table, a view of it and an index at one time, and still does when all of it
// has been changed and merged many times, though no history is retained; when it has ended, what it read goes.
// Of what must be kept, this is: a read is at a time at which what it reads is held, to its end.
func TestWhatIsReadStaysReadable(t *testing.T) {
	s := start(t, bootOptions{})
	writer, reader := s.connect(), s.connect()
	writer.must(t, "ALTER SYSTEM SET storage_retain_history = '0s'", "CREATE TABLE t (a int, b int)",
		"CREATE MATERIALIZED VIEW v AS SELECT sum(b) AS s FROM t", "CREATE INDEX i ON t (a)", "INSERT INTO t VALUES (1, 10), (2, 20)")
	queries := map[string][]string{"SELECT b FROM t WHERE a = 2": {"20"}, "SELECT s FROM v": {"30"},
		"SELECT t.b, v.s FROM t, v": {"10|30", "20|30"}}
	plan := writer.must(t, "EXPLAIN SELECT b FROM t WHERE a = 2")
	if !strings.Contains(strings.Join(plan, "\n"), "materialize.public.i") {
		t.Fatalf("the index is not read:\n%s", strings.Join(plan, "\n"))
	}
	reads := func() {
		t.Helper()
		for sql, want := range queries {
			reader.want(t, sql, slices.Clone(want)...)
		}
	}
	passes := func() {
		t.Helper()
		for range 3 {
			s.clock.add(5_000_000)
			writer.must(t, "UPDATE t SET b = b + 1", "SELECT s FROM v", "SELECT b FROM t WHERE a = 2")
		}
		for _, name := range []string{"t", "v"} {
			if err := s.shard(name).CompactAll(context.Background(), s.submit); err != nil {
				t.Fatal(err)
			}
		}
	}
	reader.must(t, "BEGIN")
	reads()
	ids := []tvc.ID{s.item("t").ID, s.item("v").ID, s.item("i").ID}
	r, err := s.coord.Read(context.Background(), ids, coord.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := r.At()
	passes()
	reads()
	again := func() error {
		late, err := s.coord.Read(context.Background(), ids, coord.ReadOptions{AsOf: &at})
		if err == nil {
			late.Release()
		}
		return err
	}
	if err := again(); err != nil {
		t.Errorf("what is held at %d cannot be read there: %v", at, err)
	}
	for _, name := range []string{"t", "v"} {
		if since := s.shard(name).Since(); since > tvc.Frontier(at) {
			t.Errorf("the since of %s is %v, and it is held at %d", name, since, at)
		}
	}
	reader.must(t, "COMMIT")
	r.Release()
	passes()
	checkError(t, "a read of what nobody holds", again(), "55000", "no longer readable")
}

// submit commits an operation by itself.
func (s *server) submit(ctx context.Context, op shard.Op) (*shard.Refusal, error) {
	out, err := s.coord.Set().Group().Do(ctx, txn.Unit{Ops: []shard.Op{op}})
	return out.Refused, err
}

// TestWhoWaitsCanBeCancelled: a transaction in the commit line, and DDL in its line, can be given up while those before
// them hang; nothing of them happens.
func TestWhoWaitsCanBeCancelled(t *testing.T) {
	g := newGate()
	s := start(t, bootOptions{gate: g})
	first, second, third := s.connect(), s.connect(), s.connect()
	first.must(t, "CREATE TABLE t (a int)")
	g.held.Store(true)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := first.run(context.Background(), "INSERT INTO t VALUES (1)"); err != nil {
			t.Error(err)
		}
	})
	<-g.arrived
	ctx, cancel := context.WithCancelCause(context.Background())
	gaveUp := make(chan error)
	go func() {
		_, err := second.run(ctx, "INSERT INTO t VALUES (2)")
		gaveUp <- err
	}()
	waitFor(t, func() bool { return s.coord.WaitingCommits() == 1 })
	wg.Go(func() {
		if _, err := third.run(context.Background(), "INSERT INTO t VALUES (3)"); err != nil {
			t.Error(err)
		}
	})
	waitFor(t, func() bool { return s.coord.WaitingCommits() == 2 })
	cancel(cancelled())
	checkError(t, "INSERT, cancelled", <-gaveUp, "57014", "user request")

	wg.Go(func() {
		if _, err := s.connect().run(context.Background(), "CREATE TABLE u (a int)"); err != nil {
			t.Error(err)
		}
	})
	waitFor(t, func() bool { return s.coord.Set().Group().Waiting() == 1 })
	_, err := s.coord.Alter(ctx, s.coord.Catalog(), []catalog.Op{&catalog.SetSystem{Name: "max_connections", Value: "7"}})
	checkError(t, "ALTER SYSTEM, cancelled", err, "57014", "user request")
	g.release()
	wg.Wait()
	first.want(t, "SELECT a FROM t", "1", "3")
	first.want(t, "SELECT * FROM u")
}

// waitLimit is how long a test waits for what must come.
const waitLimit = time.Minute

// waitFor waits for what is about to be.
func waitFor(tb testing.TB, is func() bool) {
	tb.Helper()
	for late := time.Now().Add(waitLimit); !is(); runtime.Gosched() {
		if time.Now().After(late) {
			tb.Fatal("it does not come")
		}
	}
}

// TestGroupOfCommitsIsSerializable has transactions that read, check what they have read, and write, on three tables
// at once: what is left is what those that were acknowledged make one after the other.
func TestGroupOfCommitsIsSerializable(t *testing.T) {
	s := start(t, bootOptions{})
	c := s.connect()
	tables := []string{"a", "b", "c"}
	for _, name := range tables {
		c.must(t, fmt.Sprintf("CREATE TABLE %s (n int, by int)", name), fmt.Sprintf("INSERT INTO %s VALUES (0, 0)", name))
	}
	const goroutines, each = 8, 30
	var wg sync.WaitGroup
	var done [3]atomic.Int64
	var conflicts atomic.Int64
	for g := range goroutines {
		conn := s.connect()
		wg.Go(func() {
			for i := range each {
				// Two of the three tables: one whose counter goes up, one that is only read and must not have moved.
				up, watch := (g+i)%3, (g+i+1+i%2)%3
				switch err := conn.increment(tables[up], tables[watch], g+1); {
				case err == nil:
					done[up].Add(1)
				case pgerr.Is(err, pgerr.SerializationFailure):
					conflicts.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i, name := range tables {
		c.want(t, "SELECT max(n), count(*) FROM "+name, fmt.Sprintf("%d|%d", done[i].Load(), done[i].Load()+1))
	}
	t.Logf("%d transactions were refused", conflicts.Load())
}

// increment adds a row to a table with a number one higher than the highest there, if what another table has is, at
// the end, what it was at the beginning. An error leaves no transaction open.
func (c *conn) increment(up, watch string, by int) (err error) {
	ctx := context.Background()
	defer func() {
		if err != nil {
			_, _ = c.run(ctx, "ROLLBACK")
		}
	}()
	rows, err := c.run(ctx, fmt.Sprintf("BEGIN; SELECT max(n) FROM %s; SELECT max(n) FROM %s", up, watch))
	if err != nil {
		return err
	}
	if _, err := c.run(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s + 1, %d)", up, rows[0], by)); err != nil {
		return err
	}
	again, err := c.run(ctx, "SELECT max(n) FROM "+watch)
	if err != nil {
		return err
	}
	if again[0] != rows[1] {
		return fmt.Errorf("%s was %s and is %s in one transaction", watch, rows[1], again[0])
	}
	_, err = c.run(ctx, "COMMIT")
	return err
}

// TestAClockThatIsSetBack: by hours, while the server runs and while it does not, it is neither waited for nor followed: writes and
// reads go on at once, at times after all that were given out, also after a crash. It is said once each time.
func TestAClockThatIsSetBack(t *testing.T) {
	const hour = 3_600_000_000
	synctest.Test(t, func(t *testing.T) {
		disk := storagetest.NewDisk()
		var said bytes.Buffer
		s := start(t, bootOptions{disk: disk, clock: newClock(started, 1), log: &said})
		s.connect().must(t, "CREATE TABLE t (a int)", "CREATE MATERIALIZED VIEW v AS SELECT sum(a) AS s FROM t", "CREATE INDEX i ON v (s)")
		rows, upper := 0, tvc.Frontier(0)
		write := func(when string, warnings int) {
			t.Helper()
			began := time.Now()
			c := s.connect()
			for range 5 {
				c.must(t, "INSERT INTO t VALUES (1)")
				rows++
				c.want(t, "SELECT s FROM v", fmt.Sprint(rows))
				c.want(t, "SELECT count(*) FROM t", fmt.Sprint(rows))
				if now := s.shard("t").Upper(); now <= upper {
					t.Errorf("%s: a write after %v is at %v", when, upper, now)
				} else {
					upper = now
				}
			}
			if waited := time.Since(began); waited > 0 {
				t.Errorf("%s: writes and reads wait for %v", when, waited)
			}
			if n := strings.Count(said.String(), "the clock was set back"); n != warnings {
				t.Errorf("%s: it was said %d times, want %d:\n%s", when, n, warnings, said.String())
			}
		}
		write("a clock that goes on", 0)
		s.clock.now.Store(uint64(started - hour))
		write("set back while the server runs", 1)
		s.stop()
		s = start(t, bootOptions{disk: disk, clock: newClock(started-2*hour, 1), log: &said})
		write("set back while it does not", 2)
		s.die()
		disk = disk.Crash(1, 0)
		s = start(t, bootOptions{disk: disk, clock: newClock(started-2*hour, 1), log: &said})
		write("after a crash", 3)
		s.clock.now.Store(uint64(started + hour))
		write("set forward", 3)
		s.clock.now.Store(uint64(started))
		write("set back again", 4)
		s.stop()
	})
}
