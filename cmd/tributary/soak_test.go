package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// soakEnv is how long TestSoak goes on, as a duration; without it, it is short.
const soakEnv = "TRIBUTARY_SOAK"

// TestSoak keeps a server under mixed load and kills it every few seconds: small transactions, a large table whose rows
// come in bulk and go again, tables and views that are made and dropped. After each start every acknowledged row is
// there once and views are their queries; the disk never holds more than three times what the same rows take when they are
// loaded anew; at the end, no object is left that nobody names.
func TestSoak(t *testing.T) {
	long, live := 10*time.Second, 20_000
	if testing.Short() {
		long = 3 * time.Second
	}
	if s := os.Getenv(soakEnv); s != "" {
		var err error
		if long, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
		live = 500_000
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	s := &soak{t: t, dir: t.TempDir(), r: rand.New(rand.NewPCG(seed, 1)), window: &window{live: int64(live)}}
	s.c = startChild(t, s.dir, "--workers=4")
	exec1(t, s.c.connect(), append(append([]string{}, killedTables...), windowTables...)...)
	for i := range 3 {
		s.writers = append(s.writers,
			&writer{next: int64(i) * 1_000_000_000, rows: map[int64]row{}, r: rand.New(rand.NewPCG(seed, uint64(i)+2))})
	}
	begin := time.Now()
	var most int64
	for time.Since(begin) < long {
		s.life(time.Duration(200+s.r.IntN(4000)) * time.Millisecond)
		used := diskUse(t, s.dir)
		most = max(most, used)
		if s.lives%50 == 0 {
			t.Logf("%v: %d lives, %d small transactions, %d bulk ones, %d of DDL, %d MiB on disk", time.Since(begin).Round(time.Second),
				s.lives, s.small(), s.window.done, s.made, used>>20)
		}
	}
	s.c.stop()
	fresh := s.loadAnew()
	t.Logf("%d lives in %v: %d small transactions, %d bulk ones, %d of DDL; on disk at most %d KiB, at the end %d; anew %d",
		s.lives, time.Since(begin).Round(time.Second), s.small(), s.window.done, s.made, most>>10, diskUse(t, s.dir)>>10, fresh>>10)
	if s.small() == 0 || s.window.done == 0 || s.made == 0 {
		t.Error("a part of the load was none")
	}
	// What a store takes for itself, however little it holds.
	const fixed = 32 << 20
	if most > 3*fresh+fixed {
		t.Errorf("%d bytes on disk where the rows take %d", most, fresh)
	}
	// A start removes what the last kill has left.
	startChild(t, s.dir).stop()
	out := mustRun(t, "inspect", s.dir)
	if !strings.Contains(out, "; 0 of them, 0 bytes, are named by nobody\n") {
		t.Errorf("objects leak:\n%s", out[strings.LastIndex(strings.TrimSpace(out), "\n"):])
	}
}

// soak is a server under load.
type soak struct {
	t       *testing.T
	dir     string
	c       *child
	r       *rand.Rand
	writers []*writer
	window  *window
	lives   int
	made    int // how often a table and its view were made and dropped
}

func (s *soak) small() int {
	n := 0
	for _, w := range s.writers {
		n += w.done
	}
	return n
}

// life loads the server for a while, kills it, starts it and looks at what is there.
func (s *soak) life(long time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	var load sync.WaitGroup
	for _, w := range s.writers {
		conn := s.c.connect()
		load.Go(func() { w.run(ctx, conn) })
	}
	bulk, ddl := s.c.connect(), s.c.connect()
	load.Go(func() { s.window.run(ctx, bulk) })
	load.Go(func() { s.makeAndDrop(ctx, ddl) })
	<-ctx.Done()
	s.c.kill()
	load.Wait()
	s.lives++
	s.c = startChild(s.t, s.dir)
	if err := verify(s.t, s.c, s.writers); err != nil {
		s.t.Fatalf("life %d: %v", s.lives, err)
	}
	if err := s.window.verify(s.t, s.c.connect()); err != nil {
		s.t.Fatalf("life %d: %v", s.lives, err)
	}
}

// makeAndDrop makes tables and views, fills them and drops them, until the server is gone.
func (s *soak) makeAndDrop(ctx context.Context, conn *pgx.Conn) {
	defer conn.Close(context.Background())
	for {
		for _, sql := range []string{
			"DROP TABLE IF EXISTS passing CASCADE",
			"CREATE TABLE passing (a int8, b text)",
			"CREATE MATERIALIZED VIEW passing_by AS SELECT a % 10 AS a, count(*) AS n FROM passing GROUP BY 1",
			"INSERT INTO passing SELECT g, repeat('x', 100) FROM generate_series(1, 2000) AS g",
			"DELETE FROM passing WHERE a % 3 = 0",
		} {
			if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
				return
			}
		}
		s.made++
	}
}

var windowTables = []string{
	"CREATE TABLE big (id int8 NOT NULL, k int8 NOT NULL, t text NOT NULL)",
	"CREATE MATERIALIZED VIEW big_by AS SELECT k, count(*) AS n, sum(id) AS s, max(t) AS last FROM big GROUP BY k",
	"CREATE MATERIALIZED VIEW big_some AS SELECT id, t FROM big WHERE k = 3",
}

// window is a table big whose rows have the ids [from, to): new ones come at the end while old ones go at the beginning.
type window struct {
	live     int64
	from, to int64
	done     int
	// next is what the transaction under way makes of from and to.
	nextFrom, nextTo int64
}

const (
	windowStep   = 5000
	windowGroups = 97
)

// text is a row's text: fixed by its id, and not to be compressed to nothing.
func windowText(id int64) string {
	r := rand.New(rand.NewPCG(uint64(id), 3))
	return fmt.Sprintf("%012d %016x %016x %016x", id, r.Uint64(), r.Uint64(), r.Uint64())
}

// run moves the window until the server is gone.
func (w *window) run(ctx context.Context, conn *pgx.Conn) {
	defer conn.Close(context.Background())
	for w.move(ctx, conn) {
	}
}

// move moves the window once; false means that the server is gone.
func (w *window) move(ctx context.Context, conn *pgx.Conn) bool {
	w.nextFrom, w.nextTo = w.from, w.to+windowStep
	if w.nextTo-w.nextFrom > w.live {
		w.nextFrom += windowStep
	}
	var lines strings.Builder
	for id := w.to; id < w.nextTo; id++ {
		fmt.Fprintf(&lines, "%d\t%d\t%s\n", id, id%windowGroups, windowText(id))
	}
	if _, err := conn.PgConn().Exec(ctx, "BEGIN").ReadAll(); err != nil {
		return false
	}
	if w.nextFrom != w.from {
		sql := fmt.Sprintf("DELETE FROM big WHERE id < %d", w.nextFrom)
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return false
		}
	}
	if _, err := conn.PgConn().CopyFrom(ctx, strings.NewReader(lines.String()), "COPY big FROM STDIN"); err != nil {
		return false
	}
	if _, err := conn.PgConn().Exec(ctx, "COMMIT").ReadAll(); err != nil {
		return false
	}
	w.from, w.to = w.nextFrom, w.nextTo
	w.done++
	return true
}

// verify holds the table and its views against what the ids say.
func (w *window) verify(t *testing.T, conn *pgx.Conn) error {
	defer conn.Close(context.Background())
	bounds := table(t, conn, "SELECT coalesce(min(id), 0), coalesce(max(id) + 1, 0) FROM big")[0]
	switch bounds {
	case fmt.Sprintf("%d\t%d", w.from, w.to):
	case fmt.Sprintf("%d\t%d", w.nextFrom, w.nextTo):
		w.from, w.to = w.nextFrom, w.nextTo
		w.done++
	default:
		return fmt.Errorf("big holds %s, want [%d, %d) or [%d, %d)", bounds, w.from, w.to, w.nextFrom, w.nextTo)
	}
	var n, sum [windowGroups]int64
	var last [windowGroups]string
	some := int64(0)
	for id := w.from; id < w.to; id++ {
		k := id % windowGroups
		n[k]++
		sum[k] += id
		if id+windowGroups >= w.to {
			last[k] = windowText(id)
		}
		if k == 3 {
			some += id
		}
	}
	var want []string
	for k := range int64(windowGroups) {
		if n[k] > 0 {
			want = append(want, fmt.Sprintf("%d\t%d\t%d\t%s", k, n[k], sum[k], last[k]))
		}
	}
	for _, query := range []string{
		"SELECT k, n, s, last FROM big_by ORDER BY k",
		"SELECT k, count(*), sum(id), max(t) FROM big GROUP BY k ORDER BY k",
	} {
		if got := table(t, conn, query); strings.Join(got, "\n") != strings.Join(want, "\n") {
			return fmt.Errorf("%s gives\n%s\nwant\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	got := table(t, conn, "SELECT count(*), coalesce(sum(id), 0) FROM big_some")[0]
	if want := fmt.Sprintf("%d\t%d", n[3], some); got != want {
		return fmt.Errorf("big_some has %s, want %s", got, want)
	}
	return nil
}

// loadAnew gives how many bytes a directory has whose server was only given the rows that are left.
func (s *soak) loadAnew() int64 {
	dir := s.t.TempDir()
	c := startChild(s.t, dir, "--workers=4")
	conn := c.connect()
	exec1(s.t, conn, append(append([]string{}, killedTables...), windowTables...)...)
	for at := s.window.from; at < s.window.to; at += windowStep {
		var lines strings.Builder
		for id := at; id < min(at+windowStep, s.window.to); id++ {
			fmt.Fprintf(&lines, "%d\t%d\t%s\n", id, id%windowGroups, windowText(id))
		}
		if _, err := conn.PgConn().CopyFrom(s.t.Context(), strings.NewReader(lines.String()), "COPY big FROM STDIN"); err != nil {
			s.t.Fatal(err)
		}
	}
	var small, audit strings.Builder
	for _, w := range s.writers {
		for id, r := range w.rows {
			fmt.Fprintf(&small, "%d\t%d\t%d\n", id, r.k, r.v)
			fmt.Fprintf(&audit, "%d\n", id)
		}
	}
	for sql, lines := range map[string]string{"COPY t FROM STDIN": small.String(), "COPY audit FROM STDIN": audit.String()} {
		if _, err := conn.PgConn().CopyFrom(s.t.Context(), strings.NewReader(lines), sql); err != nil {
			s.t.Fatal(err)
		}
	}
	c.stop()
	return diskUse(s.t, dir)
}

// diskUse adds up the sizes of the files below a directory; what goes meanwhile is not counted.
func diskUse(t *testing.T, dir string) int64 {
	var n int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		} else if os.IsNotExist(err) {
			err = nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
