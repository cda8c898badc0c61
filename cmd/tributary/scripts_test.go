package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/slt"
)

// TestPageWorksAsPasted runs every script that the user's page shows, on a server of ours.
func TestPageWorksAsPasted(t *testing.T) {
	page, err := os.ReadFile("../../docs/testdrive.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	count := map[string]int{}
	for i, block := range strings.Split(string(page), "\n```") {
		if i%2 == 0 {
			continue // The text between the blocks.
		}
		extension := ""
		switch text := strings.TrimSpace(comments.ReplaceAllString(block, "")); {
		case strings.HasPrefix(text, "mode "):
			extension = slt.Extension
		case text != "" && strings.ContainsRune(">!?$", rune(text[0])):
			extension = runner.Extension
		default:
			continue // Command lines and what they print.
		}
		count[extension]++
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d%s", i, extension)), []byte(block[1:]+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if count[runner.Extension] < 7 || count[slt.Extension] < 1 {
		t.Errorf("the page has %v scripts", count)
	}
	for _, command := range []string{"testdrive", "slt"} {
		var out bytes.Buffer
		cmd := rootCommand()
		cmd.SetArgs([]string{command, "--serve", dir})
		cmd.SetOut(&out)
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}

// What the flags leave open is where "tributary serve" listens, as long as nothing there is dropped.
func TestDefaultServer(t *testing.T) {
	var f suiteFlags
	f.suite.Seed = 1
	if s, _, err := f.finish(testdriveCommand(), nil); err == nil {
		t.Errorf("%q would be emptied", s.URL)
	}
	f.suite.NoReset = true
	s, _, err := f.finish(testdriveCommand(), nil)
	if err != nil || s.URL != defaultURL || s.HTTPAddr != defaultHTTPAddr {
		t.Errorf("%q %q %v", s.URL, s.HTTPAddr, err)
	}
	flags := serveCommand().Flags()
	if sql := flags.Lookup("sql-listen").DefValue; !strings.Contains(defaultURL, "@"+sql+"/") {
		t.Errorf("serve listens at %s", sql)
	}
	if web := flags.Lookup("http-listen").DefValue; web != defaultHTTPAddr {
		t.Errorf("serve listens at %s", web)
	}
	f.suite.URL = "postgres://elsewhere/x"
	if s, _, err = f.finish(testdriveCommand(), nil); err != nil || s.HTTPAddr != "" {
		t.Errorf("%q %v", s.HTTPAddr, err)
	}
}

var (
	comments = regexp.MustCompile(`(?m)^#.*$`)
	seconds  = regexp.MustCompile(`\(\d+\.\d\ds\)`)
	took     = regexp.MustCompile(` in [0-9.]+[mµ]?s\)`)
)

// TestScriptCommands calls testdrive and slt as a user would: the first line of "run" is the command line, the others
// are the file x.td or x.slt that it names, or the standard input. $URL stands for a PostgreSQL.
func TestScriptCommands(t *testing.T) {
	pg := pgtest.Start(t)
	db := pg.NewDatabase(t)
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			dir := t.TempDir()
			line, text, _ := strings.Cut(strings.ReplaceAll(d.Input, "\n====", "\n----"), "\n")
			args := strings.Fields(strings.ReplaceAll(line, "$URL", db))
			for i, a := range args {
				if !strings.HasPrefix(a, "x.") {
					continue
				}
				args[i] = filepath.Join(dir, a)
				if err := os.WriteFile(args[i], []byte(text+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			cmd := rootCommand()
			cmd.SetArgs(args)
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			cmd.SetIn(strings.NewReader(text))
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				out.WriteString("error: " + err.Error() + "\n")
			}
			shown := took.ReplaceAllString(seconds.ReplaceAllString(out.String(), "(<time>)"), " in <time>)")
			return strings.NewReplacer(dir, "<dir>", db, "$URL").Replace(shown)
		})
	})
}

// Jobs that would share a server of ours, and each drop the others' objects, are refused before anything is dropped.
func TestJobsDoNotShareAServer(t *testing.T) {
	c := startChild(t, t.TempDir())
	defer c.stop()
	dir := t.TempDir()
	for _, name := range []string{"a.td", "b.td"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("> SELECT 1\n1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := "several jobs would drop each other's objects on this server: use --serve or --no-reset"
	for args, want := range map[string]string{"": want, " --no-reset": ""} {
		cmd := rootCommand()
		cmd.SetArgs(strings.Fields("testdrive --url " + c.url + " --jobs 2 " + dir + args))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		got := ""
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("with %q: %q, want %q", args, got, want)
		}
	}
}
