package coord_test

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
)

func TestMain(m *testing.M) {
	// A store that a full disk has broken cannot be closed: what Pebble runs stays.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/cockroachdb/pebble/v2/record.(*LogWriter).flushLoop"),
		goleak.IgnoreAnyFunction("github.com/cockroachdb/pebble/v2.(*cleanupManager).mainLoop"),
		goleak.IgnoreAnyFunction("github.com/cockroachdb/pebble/v2.(*ConcurrencyLimitScheduler).periodicGranter"),
		goleak.IgnoreAnyFunction("github.com/cockroachdb/pebble/v2/internal/genericcache.(*shard[...]).releaseLoop"))
}

// clock is a wall clock that moves a little whenever somebody looks at it.
type clock struct {
	now  atomic.Uint64
	step uint64
}

func newClock(at tvc.Time, step uint64) *clock {
	c := &clock{step: step}
	c.now.Store(uint64(at))
	return c
}

func (c *clock) time() tvc.Time  { return tvc.Time(c.now.Add(c.step)) }
func (c *clock) add(by tvc.Time) { c.now.Add(uint64(by)) }
func (c *clock) wall() time.Time { return time.UnixMicro(int64(c.now.Load())).UTC() }
func (c *clock) later() *clock   { return newClock(tvc.Time(c.now.Load())+2_000_000, c.step) }

// server is a Coord over a disk in memory, with sessions over it.
type server struct {
	tb     testing.TB
	coord  *coord.Coord
	m      *session.Manager
	stores *storagetest.Stores
	clock  *clock
	closed bool
}

// bootOptions say how a server is started.
type bootOptions struct {
	disk  *storagetest.Disk
	clock *clock
	plan  storagetest.Plan
	// gate, if set, stands before the registers.
	gate *gate
	log  io.Writer
}

// gate is a store whose commits a test holds back.
type gate struct {
	consensus.Store
	held atomic.Bool
	// arrived has a word for each commit that waits; open lets one through.
	arrived, open chan struct{}
}

func newGate() *gate {
	return &gate{arrived: make(chan struct{}, 100), open: make(chan struct{})}
}

// Commit implements consensus.Store.
func (g *gate) Commit(ctx context.Context, units []consensus.Unit) ([]consensus.Outcome, error) {
	if g.held.Load() {
		g.arrived <- struct{}{}
		<-g.open
	}
	return g.Store.Commit(ctx, units)
}

// release lets all through from now on.
func (g *gate) release() {
	g.held.Store(false)
	close(g.open)
}

// started is when the clocks begin.
const started = tvc.Time(1_700_000_000_000_000)

// boot starts a server. That it fails is an answer when the plan says so.
func boot(tb testing.TB, o bootOptions) (*server, error) {
	tb.Helper()
	if o.clock == nil {
		o.clock = newClock(started, 100)
	}
	if o.log == nil {
		o.log = io.Discard
	}
	s := &server{tb: tb, stores: o.disk.Mount(tb, o.plan), clock: o.clock}
	registers, objects := s.stores.Behind()
	if o.gate != nil {
		o.gate.Store = registers
		registers = o.gate
	}
	set := settings.NewSet(slices.Concat(session.Settings(), controller.Settings(), collection.Settings())...)
	log := slog.New(slog.NewTextHandler(o.log, nil))
	var err error
	s.coord, err = coord.New(context.Background(), coord.Options{Consensus: registers, Blob: objects, Clock: o.clock.time,
		Random: rand.NewChaCha8([32]byte{1}), Registry: s.stores.Registry.Metrics(), Log: log, Settings: set, Workers: 2})
	if err != nil {
		s.stores.Stop(tb)
		return nil, err
	}
	s.m = session.NewManager(session.Options{Coord: s.coord, System: s.coord.System(), Settings: set, Version: "0.0.1",
		Now: o.clock.wall, Random: rand.NewChaCha8([32]byte{2}), Log: log})
	tb.Cleanup(s.stop)
	return s, nil
}

// start starts a server that must start.
func start(tb testing.TB, o bootOptions) *server {
	tb.Helper()
	if o.disk == nil {
		o.disk = storagetest.NewDisk()
	}
	s, err := boot(tb, o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// stop ends the server in good order.
func (s *server) stop() {
	if s.closed {
		return
	}
	s.closed = true
	if err := s.coord.Close(); err != nil && !s.stores.Faults.IsDead() {
		s.tb.Error(err)
	}
	s.stores.Stop(s.tb)
}

// die ends the server as the end of a process does: nothing more reaches the disk.
func (s *server) die() {
	s.stores.Faults.Kill()
	s.stop()
}

// conn is a session, driven as the protocol's server does.
type conn struct {
	s *session.Session
	m *session.Manager
}

func (s *server) connect() *conn {
	s.tb.Helper()
	c, err := s.m.Connect(session.Client{User: "materialize", Database: "materialize", Addr: "test"})
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(c.Close)
	return &conn{c, s.m}
}

// run runs a simple query and gives the rows of all its results as text, the columns apart by a bar.
func (c *conn) run(ctx context.Context, sql string) (rows []string, err error) {
	script, err := c.s.Simple(ctx, sql)
	if err != nil {
		return nil, err
	}
	for {
		r, err := script.Next()
		if r == nil || err != nil {
			return rows, err
		}
		if rows, err = drain(r, rows); err != nil {
			script.Stop()
			return rows, err
		}
	}
}

func drain(r *session.Result, rows []string) ([]string, error) {
	for r.HasRows() {
		b, err := r.Next()
		if err != nil {
			r.Fail(err)
			return rows, err
		}
		if b == nil {
			break
		}
		for i := range b.Len {
			var cells []string
			for k := range r.Columns {
				if b.Cols[k].IsNull(i) {
					cells = append(cells, "null")
				} else {
					cells = append(cells, string(row.AppendText(nil, r.Columns[k].Type, &b.Cols[k], i)))
				}
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
	}
	_, err := r.Finish()
	return rows, err
}

// must runs statements, each by itself, that must succeed, and gives the rows of all.
func (c *conn) must(tb testing.TB, statements ...string) []string {
	tb.Helper()
	var all []string
	for _, sql := range statements {
		rows, err := c.run(context.Background(), sql)
		if err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
		all = append(all, rows...)
	}
	return all
}

// want checks a query's rows, whatever their order.
func (c *conn) want(tb testing.TB, sql string, want ...string) {
	tb.Helper()
	got := c.must(tb, sql)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		tb.Fatalf("%s gives\n%s\nwant\n%s", sql, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// fails checks that a statement fails with a code, and that its message holds a text.
func (c *conn) fails(tb testing.TB, sql, code, text string) {
	tb.Helper()
	_, err := c.run(context.Background(), sql)
	checkError(tb, sql, err, code, text)
}

func checkError(tb testing.TB, what string, err error, code, text string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("%s: no error, want %s", what, code)
	}
	if e := pgerr.From(err); string(e.Code) != code || !strings.Contains(e.Message, text) {
		tb.Fatalf("%s: %s: %v, want %s: …%s…", what, e.Code, e.Message, code, text)
	}
}

// TestANewEnvironment is the plainest life of a server: made, used, ended, started again.
func TestANewEnvironment(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, bootOptions{disk: disk})
	c := s.connect()
	c.must(t, "CREATE TABLE t (a int, b int)", "CREATE MATERIALIZED VIEW v AS SELECT a, sum(b) AS s FROM t GROUP BY a",
		"CREATE INDEX i ON v (a)", "INSERT INTO t VALUES (1, 2), (1, 3), (2, 5)")
	c.want(t, "SELECT * FROM v", "1|5", "2|5")
	s.stop()
	s = start(t, bootOptions{disk: disk, clock: s.clock.later()})
	c = s.connect()
	c.want(t, "SELECT * FROM v WHERE a = 1", "1|5")
	c.must(t, "DELETE FROM t WHERE b = 2")
	c.want(t, "SELECT * FROM v", "1|3", "2|5")
	c.must(t, "DROP TABLE t CASCADE")
	c.fails(t, "SELECT * FROM v", "42P01", `"v"`)
}

// TestFirstBootDiesAtEveryCommit ends the first boot before and after each of its calls of the stores: the next boot on
// what was synced gives a whole new environment.
func TestFirstBootDiesAtEveryCommit(t *testing.T) {
	for n, over := 1, false; !over; n++ {
		for _, v := range []storagetest.Verdict{storagetest.DieBefore, storagetest.DieAfter} {
			disk := storagetest.NewDisk()
			s, err := boot(t, bootOptions{disk: disk, plan: storagetest.DieAt(n, v)})
			if err == nil {
				s.die()
				over = !s.bootDied(n)
			}
			after := disk.Crash(uint64(n), 50*(n%2))
			s, err = boot(t, bootOptions{disk: after, clock: newClock(started+2_000_000, 100)})
			if err != nil {
				t.Fatalf("call %d: %v", n, err)
			}
			c := s.connect()
			c.want(t, "SELECT name FROM mz_catalog.mz_databases", "materialize")
			c.want(t, "SELECT name FROM mz_catalog.mz_clusters", "quickstart")
			c.must(t, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")
			c.want(t, "SELECT a FROM t", "1")
			s.stop()
		}
		if n > 1000 {
			t.Fatal("the first boot does not end")
		}
	}
}

// bootDied says whether a server whose boot succeeded had a call n to die at.
func (s *server) bootDied(n int) bool { return s.stores.Faults.Calls() >= n }
