package pgtest_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/pgtest"
)

func ask(t *testing.T, url, query string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var answer string
	if err := conn.QueryRow(t.Context(), query).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

// The oracle must order text by bytes, speak UTC and English, and pay nothing for durability.
func TestServerIsSetUpAsAnOracle(t *testing.T) {
	s := pgtest.Start(t)
	for query, want := range map[string]string{
		"SHOW server_encoding": "UTF8",
		"SHOW lc_collate":      "C",
		"SHOW timezone":        "UTC",
		"SHOW lc_messages":     "C",
		"SHOW fsync":           "off",
		"SELECT min(x) FROM (VALUES ('a'), ('B')) AS t(x)": "B",
		"SHOW server_version_num":                          "",
	} {
		if got := ask(t, s.URL, query); want != "" && got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if _, err := os.Stat(s.SocketDir); err != nil {
		t.Errorf("the socket's directory: %v", err)
	}
}

func TestStartGivesOneServer(t *testing.T) {
	if a, b := pgtest.Start(t), pgtest.Start(t); a != b {
		t.Errorf("two servers: %s and %s", a.URL, b.URL)
	}
}

func TestNewDatabaseIsEmptyAndSeparate(t *testing.T) {
	s := pgtest.Start(t)
	a, b := s.NewDatabase(t), s.NewDatabase(t)
	if a == b {
		t.Fatalf("one database for two: %s", a)
	}
	const tables = "SELECT count(*)::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
	if n := ask(t, a, tables); n != "0" {
		t.Errorf("%s tables in a new database", n)
	}
}
