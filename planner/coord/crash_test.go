package coord_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/storage/storagetest"
)

// crashSeed in the environment makes TestCrashes and TestTroubles run one seed, crashSeeds so many (from crashSeed on).
const (
	crashSeed  = "TRIBUTARY_CRASH_SEED"
	crashSeeds = "TRIBUTARY_CRASH_SEEDS"
)

// TestCrashes ends a server at a random call of its stores, again and again, under a random workload of transactions on
// several tables and DDL, and starts the next one on what a power cut leaves of the disk: all that was acknowledged
// is there, what was under way happened whole or not at all, and views are their queries.
func TestCrashes(t *testing.T) {
	first, seeds := seedsOf(t, 12, 3, uint64(time.Now().UnixNano()))
	died := 0
	for i := range seeds {
		h := newHistory(t, first+uint64(i))
		t.Log(h.name)
		for range 6 {
			verdict := storagetest.DieBefore
			if h.r.IntN(2) == 0 {
				verdict = storagetest.DieAfter
			}
			died += h.life(storagetest.DieAt(1+h.r.IntN(80), verdict), 25)
		}
		h.life(live, 5)
		h.check()
	}
	t.Logf("%d lives ended at a call", died)
}

// TestCrashAtEveryCall runs one short workload again and again, ending at each call of the stores that it makes.
func TestCrashAtEveryCall(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 9
	}
	const seed = 7
	n := 1
	for died := 1; died > 0; n += stride {
		for _, verdict := range []storagetest.Verdict{storagetest.DieBefore, storagetest.DieAfter} {
			h := newHistory(t, seed)
			h.name = fmt.Sprintf("seed %d, call %d, verdict %d", seed, n, verdict)
			died = h.life(storagetest.DieAt(n, verdict), 50)
			h.life(live, 2)
			h.check()
		}
	}
	t.Logf("%d calls", n)
}

// history is a disk through the lives of several servers, and what is known to be on it.
type history struct {
	t     *testing.T
	name  string
	r     *rand.Rand
	disk  *storagetest.Disk
	clock *clock
	// is what was acknowledged, doubt that with the step under way when the server died; nil if there was none.
	is, doubt *model
}

func newHistory(t *testing.T, seed uint64) *history {
	return &history{t: t, name: fmt.Sprintf("seed %d", seed), r: rand.New(rand.NewPCG(seed, 1)), disk: storagetest.NewDisk(),
		clock: newClock(started, 100),
		is:    &model{tables: map[string]map[int]pair{}, items: map[string]string{}, settings: map[string]string{}}}
}

func (h *history) fatalf(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s: %s", h.name, fmt.Sprintf(format, args...))
}

// errDied ends the statements of a server that has died.
var errDied = errors.New("the server has died")

// troubled is a life over bad stores, which ends by chance in a way of its own: the server dies, finds the disk full, or is
// fenced by a successor. It gives how many statements failed.
func (h *history) troubled(steps int) (failures int) {
	h.t.Helper()
	h.clock = h.clock.later()
	s, err := boot(h.t, bootOptions{disk: h.disk, clock: h.clock})
	if err != nil {
		h.fatalf("boot: %v", err)
	}
	ctx := context.Background()
	c := s.connect()
	if err := h.settle(ctx, s, c); err != nil {
		h.fatalf("%v", err)
	}
	s.stores.Faults.Follow(storagetest.Fate(h.r.Uint64(), 15, s.stores.Faults.Calls(), 100))
	for range steps {
		sql, next := h.is.step(h.r)
		_, err := c.run(ctx, sql)
		if err == nil {
			h.is = next
			continue
		}
		failures++
		if isDown(s) {
			// It may have been what was under way.
			h.doubt = next
			break
		}
		if _, err := c.run(ctx, "ROLLBACK"); err != nil && isDown(s) {
			break
		}
	}
	s.die()
	h.crash()
	return failures
}

// isDown says whether the server has noticed that it can do nothing any more.
func isDown(s *server) bool {
	select {
	case <-s.coord.Failed():
		return true
	default:
		return s.stores.Faults.IsDead()
	}
}

// TestTroubles has servers work over stores that fail, lie, dawdle and reorder, and end in their own ways: one dies, one finds
// the disk full, one is fenced (it has lost its lease, which here is the epoch). What a client was told is so, of the catalog
// and of tables; what is under way when a server ends happens whole or not at all.
func TestTroubles(t *testing.T) {
	first, seeds := seedsOf(t, 50, 10, 0)
	failures := 0
	for i := range seeds {
		h := newHistory(t, first+uint64(i))
		for range 2 {
			failures += h.troubled(8)
		}
		h.life(live, 1)
		h.check()
	}
	if failures == 0 {
		t.Error("nothing failed")
	}
}

// seedsOf gives the first of the seeds, and how many there are.
func seedsOf(t *testing.T, seeds, short int, first uint64) (uint64, int) {
	t.Helper()
	if testing.Short() {
		seeds = short
	}
	if text := os.Getenv(crashSeed); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, seeds = n, 1
	}
	if text := os.Getenv(crashSeeds); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		seeds = n
	}
	return first, seeds
}

// life starts a server, holds what it finds against what is known, and works until it dies, or some steps are done. It
// gives how often it died.
func (h *history) life(plan storagetest.Plan, steps int) (died int) {
	h.t.Helper()
	h.clock = h.clock.later()
	ctx, die := context.WithCancelCause(context.Background())
	defer die(nil)
	dying := func(call storagetest.Call) storagetest.Verdict {
		v := plan(call)
		if v == storagetest.DieBefore || v == storagetest.DieAfter {
			die(errDied)
		}
		return v
	}
	s, err := boot(h.t, bootOptions{disk: h.disk, clock: h.clock, plan: dying})
	if err != nil {
		if ctx.Err() == nil {
			h.fatalf("boot: %v", err)
		}
		h.crash()
		return 1
	}
	c := s.connect()
	if err := h.settle(ctx, s, c); err != nil && ctx.Err() == nil {
		h.fatalf("%v", err)
	}
	for range steps {
		if ctx.Err() != nil {
			break
		}
		sql, next := h.is.step(h.r)
		if _, err := c.run(ctx, sql); err == nil {
			h.is = next
		} else if ctx.Err() != nil {
			h.doubt = next
		} else {
			h.fatalf("%s: %v", sql, err)
		}
	}
	if ctx.Err() == nil {
		s.stop()
		return 0
	}
	s.die()
	h.crash()
	return 1
}

// crash is a power cut.
func (h *history) crash() { h.disk = h.disk.Crash(h.r.Uint64(), 50*h.r.IntN(2)) }

// live is a plan by which nobody dies.
func live(storagetest.Call) storagetest.Verdict { return storagetest.Pass }

// settle finds out whether the step in doubt has happened, and checks everything.
func (h *history) settle(ctx context.Context, s *server, c *conn) error {
	found, err := observe(ctx, s, c)
	if err != nil {
		return err
	}
	switch {
	case found == h.is.String():
	case h.doubt != nil && found == h.doubt.String():
		h.is = h.doubt
	case h.doubt != nil:
		h.fatalf("found\n%s\nacknowledged\n%s\nor\n%s", found, h.is, h.doubt)
	default:
		h.fatalf("found\n%s\nacknowledged\n%s", found, h.is)
	}
	h.doubt = nil
	for name, query := range h.is.items {
		if !strings.HasPrefix(query, "SELECT") {
			continue
		}
		// In one transaction both are read at one time.
		var results [2][]string
		for i, sql := range []string{"BEGIN; SELECT * FROM " + name, query + "; COMMIT"} {
			if results[i], err = c.run(ctx, sql); err != nil {
				return err
			}
			slices.Sort(results[i])
		}
		if view, want := results[0], results[1]; !slices.Equal(view, want) {
			h.fatalf("view %s is\n%s\nits query %s gives\n%s", name, strings.Join(view, "\n"), query, strings.Join(want, "\n"))
		}
	}
	return nil
}

// check holds all that is stored against its promises, after a sweep.
func (h *history) check() {
	h.t.Helper()
	ctx := context.Background()
	p, err := h.disk.Open(h.t, storagetest.Options{Clock: h.clock.later().time})
	if err != nil {
		h.fatalf("%v", err)
	}
	defer p.Stop(h.t)
	if _, err := p.Set.Client().Sweep(ctx); err != nil {
		h.fatalf("sweep: %v", err)
	}
	if err := p.Check(ctx); err != nil {
		h.fatalf("%v", err)
	}
}

// observe shows what a server has as a model shows itself.
func observe(ctx context.Context, s *server, c *conn) (string, error) {
	m := &model{tables: map[string]map[int]pair{}, items: map[string]string{}, settings: maps.Collect(s.coord.Catalog().Settings())}
	for it := range s.coord.Catalog().Items() {
		switch {
		case it.Kind.System():
		case it.Kind == catalog.Table:
			rows, err := c.run(ctx, "SELECT id, k, v FROM "+it.Name)
			if err != nil {
				return "", err
			}
			m.tables[it.Name] = map[int]pair{}
			for _, r := range rows {
				var id int
				var p pair
				if _, err := fmt.Sscanf(r, "%d|%d|%d", &id, &p.k, &p.v); err != nil {
					return "", err
				}
				if _, twice := m.tables[it.Name][id]; twice {
					return "", fmt.Errorf("row %d of %s is there twice", id, it.Name)
				}
				m.tables[it.Name][id] = p
			}
		default:
			m.items[it.Name] = it.Kind.String()
		}
	}
	return m.String(), nil
}

type pair struct{ k, v int }

// model is what a server has, in a form too dumb to be wrong.
type model struct {
	tables map[string]map[int]pair
	// items are the materialized views, with their queries, and the indexes, with what they are on.
	items    map[string]string
	settings map[string]string
	next     int
}

func (m *model) clone() *model {
	c := &model{tables: map[string]map[int]pair{}, items: maps.Clone(m.items), settings: maps.Clone(m.settings), next: m.next}
	for name, rows := range m.tables {
		c.tables[name] = maps.Clone(rows)
	}
	return c
}

func (m *model) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.tables)) {
		fmt.Fprintf(&b, "%s:", name)
		for _, id := range slices.Sorted(maps.Keys(m.tables[name])) {
			fmt.Fprintf(&b, " %d=%d/%d", id, m.tables[name][id].k, m.tables[name][id].v)
		}
		b.WriteString("\n")
	}
	fmt.Fprintln(&b, slices.Sorted(maps.Keys(m.items)))
	for _, name := range slices.Sorted(maps.Keys(m.settings)) {
		fmt.Fprintf(&b, "%s=%s\n", name, m.settings[name])
	}
	return b.String()
}

// step makes up something to do, and gives what there is when it is done.
func (m *model) step(r *rand.Rand) (sql string, next *model) {
	next = m.clone()
	next.next++
	switch n := r.IntN(20); {
	case len(m.tables) < 2 || n == 0 && len(m.tables) < 5:
		return next.createTable(), next
	case n == 1 && len(m.tables) < 5:
		// Several changes of the catalog in one.
		return "BEGIN; " + next.createTable() + "; " + next.createView(r) + "; COMMIT", next
	case n <= 3 && len(m.items) < 8:
		return next.createView(r), next
	case n == 4 && len(m.items) < 8:
		return next.createIndex(r), next
	case n == 5:
		name := pick(r, m.tables)
		next.drop(name)
		return fmt.Sprintf("DROP TABLE %s CASCADE", name), next
	case n == 6 && len(m.items) > 0:
		name := pick(r, m.items)
		kind := "MATERIALIZED VIEW"
		if !strings.HasPrefix(m.items[name], "SELECT") {
			kind = "INDEX"
		}
		next.drop(name)
		return fmt.Sprintf("DROP %s %s CASCADE", kind, name), next
	case n == 7:
		const name = "storage_inline_append_max_bytes"
		value := strconv.Itoa([]int{0, 200, 32768}[r.IntN(3)])
		next.settings[name] = value
		return fmt.Sprintf("ALTER SYSTEM SET %s = %s", name, value), next
	}
	return next.write(r), next
}

// pick picks one of the keys.
func pick[T any](r *rand.Rand, m map[string]T) string {
	keys := slices.Sorted(maps.Keys(m))
	return keys[r.IntN(len(keys))]
}

func (m *model) createTable() string {
	name := fmt.Sprintf("t%d", m.next)
	m.tables[name] = map[int]pair{}
	return fmt.Sprintf("CREATE TABLE %s (id int, k int, v int)", name)
}

func (m *model) createView(r *rand.Rand) string {
	name, on := fmt.Sprintf("v%d", m.next), pick(r, m.tables)
	shapes := []string{
		"SELECT k, count(*) AS n, sum(v) AS v FROM $1 GROUP BY k",
		"SELECT k, v FROM $1 WHERE v > 3",
		"SELECT a.id, a.k, b.v FROM $1 a JOIN $2 b ON a.k = b.k",
		"SELECT k, max(v) AS v FROM $1 GROUP BY k ORDER BY k LIMIT 3",
	}
	for view, query := range m.items {
		if strings.HasPrefix(query, "SELECT") && strings.HasPrefix(view, "v") {
			shapes = append(shapes, "SELECT k, count(*) AS v FROM "+view+" GROUP BY k")
		}
	}
	slices.Sort(shapes)
	query := strings.NewReplacer("$1", on, "$2", pick(r, m.tables)).Replace(shapes[r.IntN(len(shapes))])
	m.items[name] = query
	return fmt.Sprintf("CREATE MATERIALIZED VIEW %s AS %s", name, query)
}

func (m *model) createIndex(r *rand.Rand) string {
	name, on := fmt.Sprintf("i%d", m.next), pick(r, m.tables)
	for view, query := range m.items {
		if strings.HasPrefix(query, "SELECT") && r.IntN(2) == 0 {
			on = view
		}
	}
	m.items[name] = "ON " + on + " "
	return fmt.Sprintf("CREATE INDEX %s ON %s (k)", name, on)
}

// drop takes a relation away, and what is made of it.
func (m *model) drop(name string) {
	delete(m.tables, name)
	delete(m.items, name)
	for other, query := range m.items {
		if strings.Contains(query+" ", " "+name+" ") {
			m.drop(other)
		}
	}
}

// write makes up a transaction on some tables.
func (m *model) write(r *rand.Rand) string {
	sql := []string{"BEGIN"}
	for range 1 + r.IntN(4) {
		name := pick(r, m.tables)
		rows := m.tables[name]
		switch n := r.IntN(6); {
		case n == 0 && len(rows) > 0:
			k := r.IntN(4)
			for id, p := range rows {
				if p.k == k {
					rows[id] = pair{p.k, p.v + 1}
				}
			}
			sql = append(sql, fmt.Sprintf("UPDATE %s SET v = v + 1 WHERE k = %d", name, k))
		case n == 1 && len(rows) > 0:
			v := r.IntN(8)
			maps.DeleteFunc(rows, func(_ int, p pair) bool { return p.v == v })
			sql = append(sql, fmt.Sprintf("DELETE FROM %s WHERE v = %d", name, v))
		default:
			m.next++
			p := pair{r.IntN(4), r.IntN(8)}
			rows[m.next] = p
			sql = append(sql, fmt.Sprintf("INSERT INTO %s VALUES (%d, %d, %d)", name, m.next, p.k, p.v))
		}
	}
	return strings.Join(append(sql, "COMMIT"), "; ")
}
