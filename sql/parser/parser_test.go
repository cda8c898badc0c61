package parser

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// TestGoldens runs the text goldens. The commands: parse prints statements back, with the argument tree their
// trees too; spans prints the text and place of each statement.
func TestGoldens(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return golden(d.Input, d.HasArg("tree"))
			case "spans":
				return spans(d.Input)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func golden(sql string, tree bool) string {
	list, err := Parse(sql)
	if err != nil {
		return describe(err)
	}
	var b strings.Builder
	for _, s := range list {
		b.WriteString(ast.Format(s.AST) + "\n")
		if tree {
			b.WriteString(dump(s.AST))
		}
	}
	return b.String()
}

func spans(sql string) string {
	list, err := Parse(sql)
	if err != nil {
		return describe(err)
	}
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%d: %q\n", s.Pos, s.Text)
	}
	if len(list) == 0 {
		return "none\n"
	}
	return b.String()
}

func describe(err error) string {
	e := pgerr.From(err)
	s := fmt.Sprintf("%s: %s at %d\n", e.Code, e.Message, e.Position)
	if e.Detail != "" {
		s += "DETAIL: " + e.Detail + "\n"
	}
	if e.Hint != "" {
		s += "HINT: " + e.Hint + "\n"
	}
	return s
}

// TestWordsAreKnown looks at the parser's source: a word that it compares with and that the lexer does not
// know would never be found.
func TestWordsAreKnown(t *testing.T) {
	call := regexp.MustCompile(`\bp\.(?:is|accept|expect|inner1)\(((?:"[a-z_]*"(?:, )?)+)\)`)
	literal := regexp.MustCompile(`"([a-z_]+)"`)
	cases := regexp.MustCompile(`(?s)switch (?:w := )?(?:p\.word\(\)|words\[[^]]*\])[^{]*\{.*?\n\t*\}`)
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") || f.Name() == "words.go" {
			continue
		}
		source, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		var found [][]byte
		for _, m := range call.FindAllSubmatch(source, -1) {
			found = append(found, m[1])
		}
		for _, m := range cases.FindAll(source, -1) {
			for _, line := range regexp.MustCompile(`case [^:]*:`).FindAll(m, -1) {
				found = append(found, line)
			}
		}
		for _, text := range found {
			for _, w := range literal.FindAllSubmatch(text, -1) {
				if wordNumber(string(w[1])) == 0 {
					t.Errorf("%s compares with %q, which is no word", f.Name(), w[1])
				}
			}
		}
	}
	for _, w := range words {
		if len(w) > maxWord {
			t.Errorf("%q is longer than maxWord", w)
		}
	}
}
