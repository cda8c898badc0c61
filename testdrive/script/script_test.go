package script_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/testdrive/script"
)

// TestScript shows how scripts are read. Commands: parse; cells (a line each); split; words; once.
func TestScript(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			switch d.Cmd {
			case "parse":
				return parse(d.Input)
			case "cells":
				for line := range strings.SplitSeq(d.Input, "\n") {
					cells, err := script.Cells(line)
					if err != nil {
						fmt.Fprintf(&out, "error: %v\n", err)
						continue
					}
					fmt.Fprintf(&out, "%q -> %s\n", cells, script.FormatRow(cells))
				}
			case "split":
				for _, s := range script.Split(d.Input) {
					fmt.Fprintf(&out, "%q\n", s)
				}
			case "once":
				for line := range strings.SplitSeq(d.Input, "\n") {
					fmt.Fprintf(&out, "once=%-5v fails-once=%-5v %v\n",
						script.Once(line), script.FailsOnce(line), script.Words(line, 4))
				}
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return out.String()
		})
	})
}

func parse(text string) string {
	f, err := script.Parse("x.td", text)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var out strings.Builder
	for _, b := range f.Blocks {
		fmt.Fprintf(&out, "%d%s: ", b.Line, b.Gate)
		switch c := b.Command.(type) {
		case *script.Action:
			fmt.Fprintf(&out, "action %s", c.Name)
			for _, a := range c.Args {
				fmt.Fprintf(&out, " %s", a.Key)
				if a.HasValue {
					fmt.Fprintf(&out, "=%q", a.Value)
				}
			}
			for _, l := range c.Body {
				fmt.Fprintf(&out, "\n  %q", l)
			}
		case *script.Query:
			fmt.Fprintf(&out, "query %q", c.SQL)
			if c.Columns != nil {
				fmt.Fprintf(&out, "\n  columns %q", c.Columns)
			}
			for _, r := range c.Rows {
				fmt.Fprintf(&out, "\n  %q", r)
			}
			if c.Hash != nil {
				fmt.Fprintf(&out, "\n  hash %v", *c.Hash)
			}
		case *script.Failure:
			fmt.Fprintf(&out, "failure %q\n  match %d %q", c.SQL, c.Match, c.Text)
			if c.Detail != "" || c.Hint != "" {
				fmt.Fprintf(&out, " detail %q hint %q", c.Detail, c.Hint)
			}
		case *script.Text:
			fmt.Fprintf(&out, "text %q\n  %q", c.SQL, c.Expected)
		}
		out.WriteByte('\n')
	}
	if len(f.Blocks) == 0 {
		return "nothing\n"
	}
	return out.String()
}

// R3: a row that was written is read back, whatever is in its cells, and starts no command.
func TestRowsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("ab$>!?#\\\"-<0 \t\n\r\x00é␠{["))), 1, 4).Draw(t, "cells")
		text := "> SELECT 1\n" + script.FormatRow(cells) + "\n" + script.FormatRow(cells) + "\n"
		f, err := script.Parse("x.td", text)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		q, ok := f.Blocks[0].Command.(*script.Query)
		if !ok || len(f.Blocks) != 1 || q.Columns != nil || len(q.Rows) != 2 ||
			fmt.Sprintf("%q", q.Rows[0]) != fmt.Sprintf("%q", cells) {
			t.Fatalf("%q came back as %+v", cells, f.Blocks)
		}
	})
}

// Edits change the lines they are about and no others.
func TestEditsTouchTheirLinesOnly(t *testing.T) {
	const text = `# about the table
> SELECT a FROM t
a
---
1
# inside
2

# about the next one
? EXPLAIN x
old

> SELECT 1
1
`
	f, err := script.Parse("x.td", text)
	if err != nil {
		t.Fatal(err)
	}
	got := f.Apply([]script.Edit{
		f.RowsEdit(f.Blocks[0], []string{"a"}, [][]string{{"3"}, {"$ x"}}),
		f.TextEdit(f.Blocks[1], "new\n$ text\n"),
	})
	const want = `# about the table
> SELECT a FROM t
a
---
3
"$ x"

# about the next one
? EXPLAIN x
new
\$ text

> SELECT 1
1
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
	if f.Apply(nil) != text {
		t.Errorf("no edits changed the text:\n%s", f.Apply(nil))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("> SELECT 1\n1\n! x\nregex:y\n$ set a=b\n? t\nx\n>[version<3] x\n")
	f.Add("$ a b=\"c d\" e={f \"g\"}\n  h=i\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := script.Parse("x.td", text)
		if err != nil {
			return
		}
		for _, b := range file.Blocks {
			script.Once(b.SQL())
			script.Split(b.SQL())
		}
		if again, err := script.Parse("x.td", file.Apply(nil)); err != nil || len(again.Blocks) != len(file.Blocks) {
			t.Fatalf("not a fixed point: %v", err)
		}
	})
}
