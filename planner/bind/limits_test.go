package bind_test

import (
	"fmt"
	"testing"

	"github.com/tributary-db/tributary/planner/bind/bindtest"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// TestResultsAndViewsHaveABoundOfColumns: as many as PostgreSQL's, wherever the columns come from, and one more is an error.
func TestResultsAndViewsHaveABoundOfColumns(t *testing.T) {
	w := bindtest.New(t)
	columns := func(n int, f string) string {
		return repeat(n, ", ", func(i int) string { return fmt.Sprintf(f, i) })
	}
	w.Exec("CREATE TABLE t (" + columns(1600, "c%d int") + "); CREATE TABLE u (" + columns(64, "d%d int") + ", e int)")
	for sql, want := range map[string]string{
		"SELECT " + columns(1664, "%d"):                         "",
		"SELECT " + columns(1665, "%d"):                         "target lists can have at most 1664 entries",
		"VALUES (" + columns(1664, "%d") + ")":                  "",
		"VALUES (" + columns(1665, "%d") + ")":                  "target lists can have at most 1664 entries",
		"SELECT t.*, " + columns(64, "d%d") + " FROM t, u":      "",
		"SELECT * FROM t, u":                                    "target lists can have at most 1664 entries",
		"SELECT count(*) FROM t, u WHERE c0 = e":                "",
		"DELETE FROM t RETURNING *, " + columns(65, "c%d"):      "target lists can have at most 1664 entries",
		"CREATE TABLE w (" + columns(1601, "c%d int") + ")":     "tables can have at most 1600 columns",
		"CREATE VIEW v AS SELECT t.* FROM t":                    "",
		"CREATE VIEW w AS SELECT t.*, e FROM t, u":              "tables can have at most 1600 columns",
		"CREATE MATERIALIZED VIEW w AS SELECT t.*, e FROM t, u": "tables can have at most 1600 columns",
	} {
		err := w.Try(sql)
		switch {
		case want == "" && err != nil:
			t.Errorf("%.80s: %v", sql, err)
		case want != "" && (err == nil || pgerr.From(err).Code != pgerr.TooManyColumns || pgerr.From(err).Message != want):
			t.Errorf("%.80s: %v, want %s", sql, err, want)
		}
	}
}
