package main

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// readsEnv makes TestWorkFollowsTheChange go to a larger number of rows.
const readsEnv = "TRIBUTARY_TEST_ROWS"

// TestWorkFollowsTheChange counts the rows that all operators of a view read from their state for a changed row: as
// many over a small table as over a large one whose groups are as large.
func TestWorkFollowsTheChange(t *testing.T) {
	small, large := 10_000, 100_000
	if testing.Short() {
		small, large = 1_000, 10_000
	}
	if s := os.Getenv(readsEnv); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		large = n
	}
	few, many := readsByShape(t, small), readsByShape(t, large)
	for _, shape := range shapeNames() {
		t.Logf("%-10s %v at %d rows, %v at %d", shape, few[shape], small, many[shape], large)
		if few[shape] != many[shape] {
			t.Errorf("%s: the changes cost %v reads at %d rows and %v at %d", shape, few[shape], small, many[shape], large)
		}
	}
}

// readsByShape gives the reads that an INSERT, an UPDATE and a DELETE of one row cause in each view: three numbers.
func readsByShape(t *testing.T, rows int) map[string][3]float64 {
	c := startChild(t, t.TempDir(), "--workers=1")
	defer c.stop()
	conn := c.connect()
	exec1(t, conn, "CREATE TABLE a (id int8 NOT NULL, k int4, v int8, s text, f float8, n numeric)",
		"CREATE TABLE b (id int8 NOT NULL, k int4, v int8)",
		fmt.Sprintf("INSERT INTO a SELECT g, (g / 20)::int4, g %% 20, 's' || g %% 20, g %% 20, g %% 20 FROM generate_series(0, %d) g", rows-1),
		fmt.Sprintf("INSERT INTO b SELECT g, (g / 4)::int4, g %% 4 FROM generate_series(0, %d) g", rows/5-1),
		"CREATE MATERIALIZED VIEW grouped AS "+shapes["grouped"])
	out := map[string][3]float64{}
	const reads = "tributary_engine_read_rows_total"
	for _, shape := range shapeNames() {
		name := shape + "_reads"
		exec1(t, conn, "CREATE MATERIALIZED VIEW "+name+" AS "+shapes[shape])
		table(t, conn, "SELECT count(*) FROM "+name)
		var cost [3]float64
		for i, sql := range []string{"INSERT INTO a VALUES (-7, 33, 13, 'new', 1, 1)", "UPDATE a SET v = 2, s = 's3' WHERE id = -7", "DELETE FROM a WHERE id = -7"} {
			// What the statement itself reads is not the view's work: it reads tables, which no operator keeps.
			before := c.metric(reads)
			exec1(t, conn, sql)
			table(t, conn, "SELECT 1 FROM "+name+" LIMIT 1")
			cost[i] = c.metric(reads) - before
		}
		out[shape] = cost
		exec1(t, conn, "DROP MATERIALIZED VIEW "+name)
	}
	return out
}
