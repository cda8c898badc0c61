package parser

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/pgtest"
)

// corpus reads the statements of testdata/oracle, which PostgreSQL's parser accepts. A line with nothing but
// a semicolon ends each.
func corpus(tb testing.TB) []string {
	files, err := filepath.Glob("testdata/oracle/*.sql")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no corpus: %v", err)
	}
	var list []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		for _, s := range strings.Split(string(text), "\n;\n") {
			if s = strings.TrimSpace(s); s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// oracle asks PostgreSQL's parser.
type oracle struct{ conn *pgconn.PgConn }

func newOracle(tb testing.TB) *oracle {
	conn, err := pgconn.Connect(context.Background(), pgtest.Start(tb).URL)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close(context.Background()) })
	return &oracle{conn}
}

// analysis are errors with the code of a syntax error that come after the grammar has accepted.
var analysis = []string{
	"DEFAULT is not allowed in this context", "VALUES lists must all be the same length", "INSERT has more",
	"each ", "SELECT * with no tables", "row expansion", "subquery must return", "subquery has too many",
	"a column definition list", "type modifiers", "UNION types", "unequal number", "improper", "number of columns",
	"subquery in FROM must have an alias", "VALUES in FROM must have an alias", "source for a multiple-column",
	"wrong number of parameters", "%s(DISTINCT", "too many", "there is no", "argument of", "cannot use",
	"INTO clause", "COLLATE", "NATURAL", "WITH TIES", "SELECT DISTINCT ON", "for SELECT DISTINCT", "specifying",
	"frame st", "frame end", "frame starting", "conflicting", "INSERT", "UPDATE", "option", "non-integer constant",
	"unrecognized privilege", "cannot insert multiple commands",
}

// syntaxError gives an error if PostgreSQL's grammar found it.
func syntaxError(err error) *pgconn.PgError {
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != string(pgerr.SyntaxError) || later(e.Message) {
		return nil
	}
	return e
}

// later says whether an error with the code of a syntax error comes after the grammar has accepted.
func later(message string) bool {
	for _, prefix := range analysis {
		if strings.HasPrefix(message, prefix) {
			return true
		}
	}
	return false
}

// compare says how we and PostgreSQL differ about a statement; empty if we do not. PostgreSQL refuses some
// texts in the middle of its grammar for what is no matter of syntax; about those we may say anything.
func (o *oracle) compare(sql string) string {
	_, reply := o.conn.Prepare(context.Background(), "", sql, nil)
	theirs := syntaxError(reply)
	list, err := Parse(sql)
	if len(list) > 1 || reply != nil && strings.Contains(reply.Error(), " in FROM must have an alias") {
		return ""
	}
	switch ours := pgerr.From(orNone(err)); {
	case theirs == nil && err != nil && ours.Code == pgerr.SyntaxError && !later(ours.Message):
		return "refused here: " + describe(err)
	case theirs != nil && err == nil:
		return fmt.Sprintf("accepted here as %s, there: %s at %d\n", ast.Format(list[0].AST), theirs.Message, theirs.Position)
	case theirs != nil && ours.Code == pgerr.SyntaxError &&
		(ours.Message != theirs.Message || ours.Position != int(theirs.Position)):
		return fmt.Sprintf("here: %s there: %s at %d\n", describe(err), theirs.Message, theirs.Position)
	}
	return ""
}

func orNone(err error) error {
	if err == nil {
		return errors.New("none")
	}
	return err
}

// TestCorpusIsAccepted holds that what PostgreSQL accepts parses, and prints to what parses to the same.
func TestCorpusIsAccepted(t *testing.T) {
	for _, sql := range corpus(t) {
		list, err := Parse(sql)
		if err != nil {
			t.Errorf("%s\n%s", sql, describe(err))
			continue
		}
		fixedPoint(t, list)
	}
}

func fixedPoint(tb testing.TB, list []Statement) {
	for _, s := range list {
		once := ast.Format(s.AST)
		again, err := Parse(once)
		if err != nil {
			tb.Errorf("printed: %s\n%s", once, describe(err))
			continue
		}
		if twice := ast.Format(again[0].AST); twice != once {
			tb.Errorf("printed: %s\nthen:    %s", once, twice)
		}
	}
}

// TestMutants changes statements at random and holds our answer, error text and position against
// PostgreSQL's.
func TestMutants(t *testing.T) {
	o := newOracle(t)
	rng := rand.New(rand.NewPCG(1, 2))
	n := 20
	if testing.Short() {
		n = 2
	}
	for _, sql := range corpus(t) {
		for range n {
			m := mutant(rng, sql)
			if known.MatchString(m) {
				continue
			}
			if d := o.compare(m); d != "" {
				t.Errorf("%s\n%s", m, d)
			}
		}
	}
}

// known are mutants about which we and PostgreSQL may differ: Materialize's statements and options, index keys that
// are any expressions, PostgreSQL's options of ALTER DATABASE and column lists of CREATE TABLE AS, brackets and
// .* in the names of tables, and how far into nonsense each reads.
var known = regexp.MustCompile(`(?is)^(; )?(subscribe|alter database|create (unique )?index|create view if not|comment on (type|database)|explain|fetch .* with\b)|` +
	`^(create|alter) .*\b(with|set|reset) \(|^create (local )?(temp |temporary )?table|\[|N'abc'|between (and|between|in|like|[-+*/<>=|@])|` +
	`\. \* |copy .*\( \(|(grant|revoke) .*\ball\b|\) 'x'|=>`)

var pool = strings.Fields(`( ) [ ] , ; . + - * = < <> <= || @> :: => 1 'x' a b t $1 select from where and or not in is null
as on join left cross using group by having order limit offset union all distinct case when then else end between like
any array row with values exists cast over filter default`)

// mutant drops, doubles, swaps or replaces one token.
func mutant(rng *rand.Rand, sql string) string {
	l := lexer{src: sql}
	if err := l.run(); err != nil || len(l.toks) < 3 {
		return sql
	}
	var toks []string
	for _, t := range l.toks[:len(l.toks)-1] {
		toks = append(toks, sql[t.beg:t.end])
	}
	i := rng.IntN(len(toks))
	switch rng.IntN(5) {
	case 0:
		toks = append(toks[:i], toks[i+1:]...)
	case 1:
		toks[i] += " " + toks[i]
	case 2:
		j := rng.IntN(len(toks))
		toks[i], toks[j] = toks[j], toks[i]
	case 3:
		toks[i] = pool[rng.IntN(len(pool))]
	case 4:
		toks[i] += " " + pool[rng.IntN(len(pool))]
	}
	return strings.Join(toks, " ")
}

// TestCorpusIsPostgreSQL holds that PostgreSQL accepts the corpus too.
func TestCorpusIsPostgreSQL(t *testing.T) {
	o := newOracle(t)
	for _, sql := range corpus(t) {
		_, err := o.conn.Prepare(context.Background(), "", sql, nil)
		if e := syntaxError(err); e != nil {
			t.Errorf("%s\n%s at %d", sql, e.Message, e.Position)
		}
	}
}
