package runner_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/slt"
)

func TestMain(m *testing.M) {
	if target := os.Getenv(fakeServerEnv); target != "" {
		os.Exit(fakeServe(target))
	}
	os.Exit(m.Run())
}

// steppingClock moves on a second with every look, so that times are the same in every run.
func steppingClock() action.Clock {
	var looks atomic.Int64
	return action.Clock{Now: func() time.Time { return time.Unix(looks.Add(1), 0) }}
}

// TestRunner runs sets of files on PostgreSQL. The input of "run" is an archive ("-- path --" begins a file); its
// output is the runner's, and with "show" the named file afterwards. With "slt" it runs the .slt files.
func TestRunner(t *testing.T) {
	pg := pgtest.Start(t)
	db := pg.NewDatabase(t)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "run" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			dir := t.TempDir()
			stdin := unpack(t, dir, d.Input)
			var out strings.Builder
			o := options(t, d, dir, db, &out)
			o.Suite.Stdin = strings.NewReader(stdin)
			serve(t, d, pg, &o)
			var summary runner.Summary
			var err error
			if d.HasArg("slt") {
				summary, err = slt.Run(t.Context(), slt.Options{Suite: o.Suite, Interrupt: o.Interrupt})
			} else {
				summary, err = runner.Run(t.Context(), o)
			}
			fmt.Fprintf(&out, "ok=%v\n", summary.OK())
			if err != nil {
				fmt.Fprintf(&out, "error: %v\n", err)
			}
			if d.HasArg("show") {
				var name string
				d.ScanArgs(t, "show", &name)
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				out.Write(text)
			}
			if o.Suite.Jobs > 1 {
				return unordered(mask(out.String(), dir, db, pg))
			}
			return mask(out.String(), dir, db, pg)
		})
	})
}

func options(t *testing.T, d *datadriven.TestData, dir, db string, out *strings.Builder) runner.Options {
	o := runner.Options{
		Suite: runner.Suite{URL: db, Seed: 7, Out: out, Clock: steppingClock(), Paths: []string{dir}},
		Vars:  map[string]string{"x": "y"}, MaxTries: 1,
		Rewrite: d.HasArg("rewrite"),
	}
	if d.HasArg("paths") {
		o.Suite.Paths = nil
		for _, arg := range d.CmdArgs {
			if arg.Key != "paths" {
				continue
			}
			for _, p := range arg.Vals {
				if p != "-" {
					p = filepath.Join(dir, p)
				}
				o.Suite.Paths = append(o.Suite.Paths, p)
			}
		}
	}
	d.MaybeScanArgs(t, "jobs", &o.Suite.Jobs)
	d.MaybeScanArgs(t, "max-errors", &o.Suite.MaxErrors)
	d.MaybeScanArgs(t, "shard", &o.Suite.Shard)
	d.MaybeScanArgs(t, "shards", &o.Suite.ShardCount)
	d.MaybeScanArgs(t, "url", &o.Suite.URL)
	d.MaybeScanArgs(t, "seed", &o.Suite.Seed)
	if d.HasArg("setup") {
		var sql string
		d.ScanArgs(t, "setup", &sql)
		o.Suite.Setup = []string{sql}
	}
	o.Suite.Shuffle = d.HasArg("shuffle")
	o.Suite.NoReset = d.HasArg("no-reset")
	if d.HasArg("junit") {
		o.Suite.JUnitReport = filepath.Join(dir, "report.xml")
	}
	return o
}

// serve makes the run start a server of its own, with arguments that the test gives: the fake one of this package.
func serve(t *testing.T, d *datadriven.TestData, pg *pgtest.Server, o *runner.Options) {
	var mode string
	d.MaybeScanArgs(t, "serve", &mode)
	if mode == "" {
		return
	}
	t.Setenv(fakeServerEnv, fmt.Sprintf("%s:%d", pg.Host, pg.Port))
	prepare(t, pg)
	o.Suite.URL = ""
	o.Suite.Serve = &runner.Serve{Binary: os.Args[0], Args: []string{mode}}
	// What never comes is not waited for long.
	switch mode {
	case "deaf":
		o.Suite.Serve.StartWithin = 500 * time.Millisecond
	case "stubborn":
		o.Suite.Serve.EndWithin = 100 * time.Millisecond
	}
	if d.HasArg("interrupt") {
		var kind string
		d.ScanArgs(t, "interrupt", &kind)
		o.Interrupt = &runner.Interrupt{Kill: kind == "kill", Places: 3}
	}
}

// prepare gives PostgreSQL the role and the database that a server of ours has.
func prepare(t *testing.T, pg *pgtest.Server) {
	s, err := action.NewSession(pg.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	rows, err := s.Rows(t.Context(), "SELECT 1 FROM pg_roles WHERE rolname = 'materialize'")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) > 0 {
		return
	}
	for _, sql := range []string{"CREATE ROLE materialize SUPERUSER LOGIN", "CREATE DATABASE materialize OWNER materialize"} {
		if err := s.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// unpack writes an archive's files; the one named "-" is given back.
func unpack(t *testing.T, dir, text string) (stdin string) {
	text = strings.ReplaceAll(text, "\n====\n", "\n----\n") // which would end the archive
	name := ""
	files := map[string]string{}
	for line := range strings.SplitAfterSeq(text+"\n", "\n") {
		if inner, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(inner, " --\n") {
			name = strings.TrimSuffix(inner, " --\n")
			files[name] = ""
			continue
		}
		files[name] += line
	}
	for name, body := range files {
		if name == "" || name == "-" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return files["-"]
}

var (
	ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	times = regexp.MustCompile(`\(\d+\.\d\ds\)`)
	dials = regexp.MustCompile(`dial error: .*`) // how the last attempt ended is chance
	pids  = regexp.MustCompile(`testdrive-server\d+`)
)

func mask(out, dir, db string, pg *pgtest.Server) string {
	out = strings.NewReplacer(dir, "<dir>", db, "<url>").Replace(out)
	out = dials.ReplaceAllString(out, "dial error: <error>")
	out = ports.ReplaceAllString(out, "<addr>")
	return pids.ReplaceAllString(out, "<server>")
}

// unordered takes out of the output of several jobs what differs from run to run.
func unordered(out string) string {
	lines := strings.SplitAfter(times.ReplaceAllString(out, "(<time>)"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// N3: the order of a shuffled run is a function of the seed.
func TestShuffleIsSeeded(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.td", i)), []byte("$ nop\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pg := pgtest.Start(t)
	order := func(seed uint64) []string {
		var out strings.Builder
		summary, err := runner.Run(t.Context(), runner.Options{Suite: runner.Suite{
			URL: pg.URL, NoReset: true, Shuffle: true, Seed: seed, Paths: []string{dir}, Out: &out, Clock: steppingClock(),
		}})
		if err != nil || !summary.OK() {
			t.Fatalf("%v\n%s", err, out.String())
		}
		var paths []string
		for _, o := range summary.Outcomes {
			paths = append(paths, o.Path)
		}
		return paths
	}
	first := order(1)
	if !slices.Equal(first, order(1)) {
		t.Error("one seed, two orders")
	}
	if slices.Equal(first, order(2)) || slices.IsSorted(first) {
		t.Error("the seed does not matter")
	}
}

// A run that is cancelled says so and is not all right.
func TestCancelledRunIsNotAllRight(t *testing.T) {
	pg := pgtest.Start(t)
	dir := t.TempDir()
	unpack(t, dir, "-- a.td --\n> SELECT pg_sleep(60)\n\"\"\n-- b.td --\n> SELECT 1\n1\n")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var out strings.Builder
	summary, err := runner.Run(ctx, runner.Options{Suite: runner.Suite{
		URL: pg.NewDatabase(t), Paths: []string{dir}, Out: &out, Clock: steppingClock(),
	}})
	if err == nil || summary.OK() {
		t.Errorf("ok=%v err=%v\n%s", summary.OK(), err, out.String())
	}
}

// The predefined variables describe the server of the URL.
func TestPredefinedVariables(t *testing.T) {
	pg := pgtest.Start(t)
	db := pg.NewDatabase(t)
	u, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	unpack(t, dir, `-- a.td --
> SELECT '${testdrive.materialize-sql-addr}', '${testdrive.materialize-internal-sql-addr}', '${testdrive.materialize-user}'
`+u.Host+" "+u.Host+` postgres
> SELECT '${testdrive.seed}', '${testdrive.kafka-addr}', '${arg.x}', '${testdrive.materialize-http-addr}'
5 none y h:1
$ file-append path=f
x
$ set-from-file f=${testdrive.temp-dir}/f
$ postgres-execute connection=${testdrive.materialize-url}
SELECT 1
`)
	var out strings.Builder
	summary, err := runner.Run(t.Context(), runner.Options{
		Suite: runner.Suite{URL: db, HTTPAddr: "h:1", Seed: 5, Paths: []string{dir}, Out: &out, Clock: steppingClock()},
		Vars:  map[string]string{"x": "y"}, MaxTries: 1,
	})
	if err != nil || !summary.OK() {
		t.Errorf("%v\n%s", err, out.String())
	}
}
