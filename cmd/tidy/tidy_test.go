package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cockroachdb/datadriven"
)

// TestTheHouseIsTidy is the check itself, on this module.
func TestTheHouseIsTidy(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	findings, err := check(os.DirFS(root), oversizes)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}

// TestTheDocsLeaveTheHouseTidy: who follows the pages in docs makes files at the top, and then runs the tests.
func TestTheDocsLeaveTheHouseTidy(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	ignore, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{".gitignore": {Data: ignore}}
	for _, name := range []string{"packages.tsv", "depends.tsv", "provides.tsv", "first.td"} {
		tree[name] = &fstest.MapFile{}
	}
	findings, err := checkTopLevel(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}

// TestRules shows every rule on small trees. The input of "check" is an archive: "-- path --" begins a file.
// "{repeat N TEXT}" alone on a line stands for N lines of the text, where # is the line's number.
// An argument "allow=(WHAT, LINES)" is an entry of the ratchet.
func TestRules(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "check" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			var ratchet []oversize
			for _, arg := range d.CmdArgs {
				var o oversize
				arg.Scan(t, 0, &o.what)
				arg.Scan(t, 1, &o.upTo)
				ratchet = append(ratchet, o)
			}
			findings, err := check(archive(d.Input), ratchet)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			var out strings.Builder
			for _, f := range findings {
				fmt.Fprintln(&out, f)
			}
			if len(findings) == 0 {
				return "tidy\n"
			}
			return out.String()
		})
	})
}

func archive(text string) fstest.MapFS {
	fs := fstest.MapFS{}
	var name string
	var body strings.Builder
	flush := func() {
		if name != "" {
			fs[name] = &fstest.MapFile{Data: []byte(body.String())}
		}
		body.Reset()
	}
	for line := range strings.SplitSeq(text, "\n") {
		if inner, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(inner, " --") {
			flush()
			name = strings.TrimSuffix(inner, " --")
			continue
		}
		var n int
		var pattern string
		if _, err := fmt.Sscanf(line, "{repeat %d", &n); err == nil {
			_, pattern, _ = strings.Cut(strings.TrimSuffix(line, "}"), fmt.Sprintf("{repeat %d ", n))
			for i := range n {
				body.WriteString(strings.ReplaceAll(pattern, "#", fmt.Sprint(i)) + "\n")
			}
			continue
		}
		body.WriteString(line + "\n")
	}
	flush()
	return fs
}
