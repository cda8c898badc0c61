package parser

import (
	"strings"
	"sync"
	"testing"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// TestDepthIsBounded holds that nesting in every construct ends in an error rather than in the end of the stack.
func TestDepthIsBounded(t *testing.T) {
	const n = 20000
	nest := func(open, middle, shut string) string {
		return "SELECT " + strings.Repeat(open, n) + middle + strings.Repeat(shut, n)
	}
	for name, sql := range map[string]string{
		"parentheses": nest("(", "1", ")"),
		"unclosed":    nest("(", "1", ""),
		"calls":       nest("f(", "1", ")"),
		"subqueries":  nest("(SELECT ", "1", ")"),
		"queries":     strings.Repeat("(", n) + "SELECT 1" + strings.Repeat(")", n),
		"unions":      strings.Repeat("(SELECT 1 UNION ", n) + "SELECT 1" + strings.Repeat(")", n),
		"from":        strings.Repeat("SELECT * FROM (", n) + "SELECT 1" + strings.Repeat(") x", n),
		"joins":       "SELECT * FROM " + strings.Repeat("(", n) + "a" + strings.Repeat(" JOIN b ON true)", n),
		"ctes":        strings.Repeat("WITH x AS (", n) + "SELECT 1" + strings.Repeat(") SELECT 1", n),
		"arrays":      nest("ARRAY[", "1", "]"),
		"brackets":    "SELECT ARRAY" + strings.Repeat("[", n),
		"subscripts":  nest("a[", "1", "]"),
		"cases":       nest("CASE WHEN ", "a", " THEN 1 END"),
		"casts":       nest("CAST(", "1", " AS int)"),
		"nots":        nest("NOT ", "a", ""),
		"signs":       nest("- ", "a", ""),
		"prefixes":    nest("@ ", "a", ""),
		"not wrapped": nest("a = NOT ", "a", ""),
		"in":          nest("a IN (", "1", ")"),
		"any":         nest("a = ANY (", "b", ")"),
		"between":     nest("a BETWEEN (", "b", ") AND c"),
		"maps":        nest("MAP[1 => ", "1", "]"),
		"types":       "SELECT x::" + strings.Repeat("map[int => ", n) + "int" + strings.Repeat("]", n),
		"type arrays": "SELECT x::int" + strings.Repeat("[]", n),
		"type lists":  "SELECT x::int" + strings.Repeat(" list", n),
		"options":     "CREATE CLUSTER c (a " + strings.Repeat("(a ", n) + "1" + strings.Repeat(")", n) + ")",
		"values":      "COPY t FROM STDIN (a " + strings.Repeat("(", n) + "b" + strings.Repeat(")", n) + ")",
		"explain":     strings.Repeat("EXPLAIN ", n) + "SELECT 1",
		"prepare":     strings.Repeat("PREPARE p AS ", n) + "SELECT 1",
		"windows":     nest("f() OVER (ORDER BY ", "1", ")"),
	} {
		_, err := Parse(sql)
		if e := pgerr.From(orNone(err)); e.Code != pgerr.StatementTooComplex && e.Code != pgerr.SyntaxError {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHeightIsBounded holds the same of long chains, which are trees that lean to one side, also when they nest.
func TestHeightIsBounded(t *testing.T) {
	chain := func(n int, first, rest string) string { return first + strings.Repeat(rest, n) }
	nested := "1"
	for range 30 {
		nested = "(" + nested + ")" + strings.Repeat(" + 1", 1000)
	}
	for name, sql := range map[string]string{
		"sum":     "SELECT " + chain(30000, "1", " + 1"),
		"or":      "SELECT " + chain(170000, "a", " OR a"),
		"nested":  "SELECT " + nested,
		"joins":   "SELECT * FROM " + chain(30000, "a", " JOIN b ON true"),
		"tables":  "SELECT * FROM " + chain(30000, "a", ", b"),
		"unions":  chain(30000, "SELECT 1", " UNION SELECT 1"),
		"is null": "SELECT " + chain(30000, "a", " IS NULL"),
		"casts":   "SELECT " + chain(30000, "a", "::int"),
		"suffix":  "SELECT " + chain(30000, "(a)", ".b"),
		"zones":   "SELECT " + chain(30000, "a", " AT TIME ZONE b"),
	} {
		_, err := Parse(sql)
		if e := pgerr.From(orNone(err)); e.Code != pgerr.StatementTooComplex {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What people write is far below the bounds.
	for name, sql := range map[string]string{
		"sum":    "SELECT " + chain(5000, "1", " + 1"),
		"or":     "SELECT a WHERE " + chain(15000, "a = 1", " OR a = 2"),
		"in":     "SELECT a IN (" + chain(100000, "1", ", 1") + ")",
		"unions": chain(5000, "SELECT 1", " UNION ALL SELECT 1"),
		"depth":  "SELECT " + strings.Repeat("(", 400) + "1" + strings.Repeat(")", 400),
	} {
		list, err := Parse(sql)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if ast.Format(list[0].AST) == "" {
			t.Errorf("%s: no print", name)
		}
	}
}

func TestSizeIsBounded(t *testing.T) {
	large := []string{"SELECT '" + strings.Repeat("a", maxSize) + "'"}
	if !testing.Short() {
		large = append(large, "SELECT "+strings.Repeat("(", maxTokens+1))
	}
	for _, sql := range large {
		_, err := Parse(sql)
		if e := pgerr.From(orNone(err)); e.Code != pgerr.ProgramLimitExceeded {
			t.Errorf("%v", err)
		}
	}
	for _, sql := range []string{"SELECT \x00", "SELECT '\xff'"} {
		_, err := Parse(sql)
		if e := pgerr.From(orNone(err)); e.Code != pgerr.CharacterNotInRepertoire {
			t.Errorf("%q: %v", sql, err)
		}
	}
}

// TestManyAtOnce holds that parsers are independent: each goroutine reads its own statements back.
func TestManyAtOnce(t *testing.T) {
	list := corpus(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 200 {
				sql := list[(i*8+g)%len(list)]
				got, err := Parse(sql)
				if err != nil {
					t.Errorf("%s: %v", sql, err)
					return
				}
				fixedPoint(t, got)
			}
		}()
	}
	wg.Wait()
}
