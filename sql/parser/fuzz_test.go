package parser

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// FuzzParse holds that no text makes the parser panic, that errors point into the text, and that printing is a
// fixed point.
func FuzzParse(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s)
	}
	for _, s := range materialize {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		list, err := Parse(sql)
		if err != nil {
			e := pgerr.From(err)
			if e.Code == pgerr.InternalError {
				t.Fatalf("internal error: %v", err)
			}
			if e.Position < 0 || e.Position > utf8.RuneCountInString(sql)+1 {
				t.Fatalf("error at %d of %d", e.Position, utf8.RuneCountInString(sql))
			}
			return
		}
		for _, s := range list {
			if !strings.Contains(sql, s.Text) {
				t.Fatalf("the statement's text %q is not in the text", s.Text)
			}
			once := ast.Format(s.AST)
			again, err := Parse(once)
			if err != nil {
				t.Fatalf("printed %s\n%s", once, describe(err))
			}
			if len(again) != 1 {
				t.Fatalf("printed %s, which is %d statements", once, len(again))
			}
			if twice := ast.Format(again[0].AST); twice != once {
				t.Fatalf("printed %s\nthen    %s", once, twice)
			}
			if a, b := tree(s.AST), tree(again[0].AST); a != b {
				t.Fatalf("printed %s\nis      %s\nnot     %s", once, b, a)
			}
		}
	})
}

// materialize are statements that PostgreSQL does not have.
var materialize = []string{
	`SUBSCRIBE v`,
	`SUBSCRIBE TO (SELECT 1) WITH (SNAPSHOT = false, PROGRESS) AS OF 5 UP TO 10 + 1`,
	`SUBSCRIBE v ENVELOPE UPSERT (KEY (a, b)) WITHIN TIMESTAMP ORDER BY a DESC NULLS LAST`,
	`COPY (SUBSCRIBE v WITH (PROGRESS)) TO STDOUT`,
	`DECLARE c CURSOR FOR SUBSCRIBE v AS OF AT LEAST 10`,
	`FETCH ALL FROM c WITH (timeout = '1s')`,
	`CREATE MATERIALIZED VIEW mv IN CLUSTER c WITH (ASSERT NOT NULL = a, REFRESH EVERY '1 day' ALIGNED TO '2020-01-01' || x) AS SELECT 1`,
	`CREATE REPLACEMENT MATERIALIZED VIEW r FOR mv AS SELECT 1`,
	`CREATE DEFAULT INDEX IN CLUSTER c ON t`,
	`CREATE INDEX i ON t USING arrangement (a, b + 1, lower(c)) WITH (RETAIN HISTORY FOR '1h')`,
	`CREATE CLUSTER c (SIZE = 'scale=1,workers=8', REPLICATION FACTOR 2)`,
	`CREATE CLUSTER c REPLICAS (r1 (SIZE '1'), r2 (SIZE '1'))`,
	`CREATE CLUSTER REPLICA c.r SIZE '1'`,
	`CREATE TYPE t AS LIST (ELEMENT TYPE = int4)`,
	`CREATE TYPE t AS MAP (KEY TYPE = text, VALUE TYPE = int list)`,
	`CREATE SOURCE s IN CLUSTER c FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s') FOR ALL TABLES`,
	`ALTER CLUSTER c SET (SIZE '2') WITH (WAIT UNTIL READY (TIMEOUT '1s'))`,
	`ALTER SCHEMA a SWAP WITH b`,
	`ALTER MATERIALIZED VIEW m APPLY REPLACEMENT r`,
	`SHOW TABLES FROM public LIKE 'a%'`,
	`SHOW INDEXES ON t IN CLUSTER c WHERE name = 'x' || y`,
	`SHOW COLUMNS FROM t`,
	`SHOW CREATE MATERIALIZED VIEW mv`,
	`SHOW DEFAULT PRIVILEGES ON TABLES FOR r`,
	`SELECT * FROM (SHOW TABLES WHERE name = 'a' || b) AS x`,
	`EXPLAIN OPTIMIZED PLAN WITH (arity, join implementations) AS TEXT FOR SELECT 1`,
	`EXPLAIN TIMESTAMP AS JSON FOR SELECT 1`,
	`EXPLAIN MATERIALIZED VIEW m`,
	`GRANT CREATEDB ON SYSTEM TO r`,
	`WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 10) r (a int, b text list) AS (SELECT * FROM r) SELECT * FROM r`,
	`SELECT LIST[1, 2], LIST[[1], []], MAP['a' => 1], LIST(SELECT 1), MAP(SELECT 1, 2), x::map[text => int list]`,
	`SELECT a FROM t QUALIFY row_number() OVER () = 1 OPTIONS (AGGREGATE INPUT GROUP SIZE = 10) AS OF 5`,
	`SELECT lag(a) IGNORE NULLS OVER (ORDER BY b)`,
}

func tree(s ast.Statement) string { return dropPositions.ReplaceAllString(dump(s), "") }
