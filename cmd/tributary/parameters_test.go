package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestParametersOfSinks sets each parameter to all that it may be and that it may not: what is refused has PostgreSQL's
// code and changes nothing, what is taken is shown to everybody and is there after a kill.
func TestParametersOfSinks(t *testing.T) {
	const refused, unknown, syntax = "22023", "42704", "42601"
	dir := t.TempDir()
	c := startChild(t, dir)
	conn := c.connect()
	type param struct {
		name         string
		initial, max int64
	}
	params := []param{
		{"compute_mv_sink_shared_batch_max_bytes", 1 << 20, 1 << 30},
		{"compute_mv_sink_staging_max_bytes", 256 << 20, 1 << 40},
		{"storage_inline_append_max_bytes", 32 << 10, 256 << 10},
	}
	kept := map[string]string{}
	for _, p := range params {
		kept[p.name] = fmt.Sprint(p.initial)
		for _, to := range []struct{ value, is, code string }{
			{"0", "0", ""},
			{"1", "1", ""},
			{"4095", "4095", ""},
			{"'4096'", "4096", ""},
			{"'128kB'", "131072", ""},
			{"' 64 kB '", "65536", ""},
			{"'1.5kB'", "1536", ""},
			{"'512B'", "512", ""},
			{fmt.Sprint(p.max), fmt.Sprint(p.max), ""},
			{fmt.Sprint(p.max + 1), "", refused},
			{"-1", "", refused},
			{"'-1kB'", "", refused},
			{"'abc'", "", refused},
			{"''", "", refused},
			{"'1MiB'", "", refused},
			{"'1 MiB'", "", refused},
			{"'1mb'", "", refused},
			{"'1kB 1kB'", "", refused},
			{"'99999999999999999999'", "", refused},
			{"true", "", refused},
			{"NULL", "", syntax},
			{"1MB", "", syntax},
			{"1, 2", "", refused},
			{"DEFAULT", fmt.Sprint(p.initial), ""},
			{"2048", "2048", ""},
		} {
			kept[p.name] = alterSystem(t, conn, fmt.Sprintf("ALTER SYSTEM SET %s = %s", p.name, to.value), to.code, to.is, kept[p.name])
			shown(t, conn, kept)
		}
		for statement, code := range map[string]string{
			"SET " + p.name + " = 1": "55P02", "ALTER SYSTEM SET " + p.name + "_ = 1": unknown, "ALTER SYSTEM RESET " + p.name + "_": unknown,
		} {
			alterSystem(t, conn, statement, code, "", "")
		}
		shown(t, conn, kept)
	}
	c.kill()
	c = startChild(t, dir)
	conn = c.connect()
	shown(t, conn, kept)
	exec1(t, conn, "ALTER SYSTEM RESET "+params[0].name)
	kept[params[0].name] = fmt.Sprint(params[0].initial)
	shown(t, conn, kept)
	exec1(t, conn, "ALTER SYSTEM RESET ALL")
	for _, p := range params {
		kept[p.name] = fmt.Sprint(p.initial)
	}
	shown(t, conn, kept)
	c.kill()
	c = startChild(t, dir)
	shown(t, c.connect(), kept)
	c.stop()
}

// alterSystem runs a statement that fails with a code, or has none and makes the parameter what is given. It gives what the
// parameter then is.
func alterSystem(t *testing.T, conn *pgx.Conn, statement, code, is, was string) string {
	t.Helper()
	_, err := conn.Exec(context.Background(), statement)
	var pg *pgconn.PgError
	switch {
	case code == "" && err == nil:
		return is
	case code == "" || !errors.As(err, &pg) || pg.Code != code:
		t.Errorf("%s: %v, want the code %q", statement, err, code)
	}
	return was
}

// shown compares what SHOW, SHOW ALL and pg_settings say with what the parameters should be.
func shown(t *testing.T, conn *pgx.Conn, want map[string]string) {
	t.Helper()
	all := map[string]string{}
	for _, line := range table(t, conn, "SHOW ALL") {
		cells := strings.Split(line, "\t")
		all[cells[0]] = cells[1]
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got := table(t, conn, "SHOW "+name)[0]; got != want[name] || all[name] != want[name] {
			t.Fatalf("%s is %s, in SHOW ALL %s, want %s", name, got, all[name], want[name])
		}
	}
}

// TestSettingsInTheDocsAreTaken runs every ALTER SYSTEM that a page of docs shows in a block of SQL.
func TestSettingsInTheDocsAreTaken(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	c := startChild(t, t.TempDir())
	conn := c.connect()
	block := regexp.MustCompile("(?s)\n```sql\n(.*?)\n```")
	statement := regexp.MustCompile(`(?m)^ALTER SYSTEM [^;]*;`)
	ran := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range block.FindAllSubmatch(text, -1) {
			for _, s := range statement.FindAllString(string(sql[1]), -1) {
				if _, err := conn.Exec(t.Context(), s); err != nil {
					t.Errorf("%s: %s: %v", filepath.Base(page), s, err)
				}
				ran++
			}
		}
	}
	if ran == 0 {
		t.Error("no page shows one")
	}
	c.stop()
}
