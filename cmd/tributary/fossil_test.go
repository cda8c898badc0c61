package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// writeFossil is given when a format of what is stored gets a new version: to the test by itself, once fossilDir names the
// directory of the next number. The directories of earlier numbers stay, and are listed in fossils.
//
//	go test -run TestFossils ./cmd/tributary -write-fossil
var writeFossil = flag.Bool("write-fossil", false, "write the data directory of the current version, which must not exist yet")

// fossils are the data directories that programs have left, the current version's last. They are kept for good.
var fossils = []string{"v1"}

// fossilMax is how many bytes a fossil may take: they stay in the repository.
const fossilMax = 300 << 10

// fossilRows is how many rows the fossil's table d has, by statements of a row each: so many that rollups were written.
const fossilRows = 300

// fossilContents is what is in a fossil: by query, its rows.
func fossilContents() map[string][]string {
	return map[string][]string{
		"SELECT count(*), sum(a), min(b), max(b) FROM d":                                 {fmt.Sprintf("%d\t%d\trow 1\trow 99", fossilRows, fossilRows*(fossilRows+1)/2)},
		"SELECT n, s FROM counted":                                                       {fmt.Sprintf("%d\t%d", fossilRows, fossilRows*(fossilRows+1)/2)},
		"SELECT a, b, c, d, e, f, g FROM kinds ORDER BY a":                               {"1\t2.5\tgrün\tt\t2024-02-29\t\\N\t0.5", "2\t\\N\t\\N\tf\t\\N\t2024-02-29 12:34:56.789+00\t\\N"},
		"SELECT count(*), sum(a), sum(length(b)) FROM merged":                            {"4500\t19127250\t135000"},
		"SELECT a, length(b) FROM merged WHERE a IN (0, 1, 1001, 8500, 9000) ORDER BY a": {"1\t30", "1001\t30", "8500\t30"},
		"SELECT b FROM d WHERE a = 42":                                                   {"row 42"},
		"SELECT a / (a - 1) FROM failing WHERE a = 2":                                    {"2"},
		"SELECT name FROM mz_tables WHERE id LIKE 'u%' ORDER BY name":                    {"d", "failing", "kinds", "merged"},
	}
}

// TestFossils: a data directory that each earlier version has left has no fault, a server starts on it and has its rows
// and views, and what it writes to it is there.
func TestFossils(t *testing.T) {
	if *writeFossil {
		makeFossil(t, filepath.Join("testdata", fossils[len(fossils)-1], "data"))
	}
	for _, version := range fossils {
		from, dir := filepath.Join("testdata", version, "data"), filepath.Join(t.TempDir(), "data")
		if size := sizeOf(t, from); size > fossilMax {
			t.Errorf("%s has %d bytes", from, size)
		}
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		out := mustRun(t, "inspect", dir)
		if !strings.Contains(out, "no fault found") {
			t.Errorf("%s: inspect:\n%s", version, out)
		}
		for range 2 {
			c := startChild(t, dir)
			conn := c.connect()
			for query, want := range fossilContents() {
				if got := table(t, conn, query); !slices.Equal(got, want) {
					t.Errorf("%s: %s: %q, want %q", version, query, got, want)
				}
			}
			if _, err := conn.Exec(t.Context(), "SELECT q FROM failed"); err == nil || !strings.Contains(err.Error(), "22012") {
				t.Errorf("%s: a view whose query divides by zero gives %v", version, err)
			}
			exec1(t, conn, "INSERT INTO merged VALUES (-1, '')", "DELETE FROM merged WHERE a = -1")
			c.stop()
			mustRun(t, "inspect", dir)
		}
	}
}

// makeFossil lets a server write a data directory that has something of everything: parts that are inline, parts that are
// objects, what a compaction has merged, rollups, a view, an index, a dropped table, errors in a view.
func makeFossil(t *testing.T, to string) {
	t.Helper()
	if _, err := os.Stat(to); err == nil {
		t.Fatalf("%s is there already", to)
	}
	dir := filepath.Join(t.TempDir(), "data")
	c := startChild(t, dir)
	conn := c.connect()
	exec1(t, conn, "ALTER SYSTEM SET storage_retain_history = '0s'", "ALTER SYSTEM SET storage_inline_append_max_bytes = '1kB'",
		"CREATE TABLE kinds (a int8 NOT NULL, b numeric(10, 2), c text, d bool, e date, f timestamptz, g float8)",
		"INSERT INTO kinds VALUES (1, 2.5, 'grün', true, '2024-02-29', NULL, 0.5), (2, NULL, NULL, false, NULL, '2024-02-29 12:34:56.789Z', NULL)",
		"CREATE TABLE gone (a int8)", "INSERT INTO gone VALUES (1)", "DROP TABLE gone",
		"CREATE TABLE d (a int8, b text)", "CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n, sum(a) AS s FROM d",
		"CREATE INDEX d_a ON d (a)", "CREATE TABLE failing (a int8)",
		"CREATE MATERIALIZED VIEW failed AS SELECT 1 / (a - 1) AS q FROM failing", "INSERT INTO failing VALUES (1), (2)",
		"CREATE TABLE merged (a int8, b text)")
	for n := range fossilRows {
		exec1(t, conn, fmt.Sprintf("INSERT INTO d VALUES (%d, 'row %d')", n+1, n+1))
	}
	for n := range 9 {
		exec1(t, conn, fmt.Sprintf("INSERT INTO merged SELECT 1000 * %d + g, repeat('x', 30) FROM generate_series(1, 500) AS g", n))
	}
	for deadline := time.Now().Add(time.Minute); c.metric("tributary_storage_compactions_total", "outcome", "applied") == 0; {
		if time.Now().After(deadline) {
			t.Fatal("nothing was merged")
		}
		exec1(t, conn, "INSERT INTO failing VALUES (3)")
	}
	c.stop()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
