package action_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/script"
)

// virtualClock stands still but for sleeps, so that a message says the same time in every run.
type virtualClock struct {
	now   time.Time
	slept []time.Duration
}

func (c *virtualClock) clock() action.Clock {
	return action.Clock{
		Now: func() time.Time { return c.now },
		Sleep: func(_ context.Context, d time.Duration) error {
			c.now = c.now.Add(d)
			c.slept = append(c.slept, d)
			return nil
		},
	}
}

// fakeProcess counts the lives of a server that is not ours to kill.
type fakeProcess struct{ log *strings.Builder }

func (p fakeProcess) Kill(context.Context) error    { fmt.Fprintln(p.log, "killed"); return nil }
func (p fakeProcess) Restart(context.Context) error { fmt.Fprintln(p.log, "restarted"); return nil }

const metrics = `# HELP appends_total appends
# TYPE appends_total counter
appends_total{view="a.b.c",empty="false"} 3
appends_total{view="a.b.d",empty="false"} 4
appends_total{view="a.b.\"q\\",empty="true"} 5
size 1.5e+06
`

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// httpServer answers what scripts ask for: /metrics (below /garbled others, below /broken none), /echo (which must be
// sent "hello"), /endless (17 MiB) and errors.
func httpServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			io.WriteString(w, metrics)
		case "/endless":
			io.CopyN(w, zeros{}, 17<<20)
		case "/garbled/metrics":
			io.WriteString(w, strings.NewReplacer("3", "three", "1.5e+06", "big").Replace(metrics))
		case "/echo":
			body, err := io.ReadAll(r.Body)
			kind := r.Header.Get("Content-Type")
			if err != nil || string(body) != "hello\nworld" || kind != "text/x" || r.Method != "POST" {
				http.Error(w, fmt.Sprintf("%s %q of type %q", r.Method, body, kind), http.StatusBadRequest)
			}
		default:
			http.Error(w, "there is nothing here", http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestActions runs scripts on PostgreSQL. Command "run" prints what failed, or "passed", and what was slept; its
// arguments: rewrite (the script as rewritten follows), max-tries=N, no-process, no-http, http=PATH (of the server whose
// metrics are looked at).
func TestActions(t *testing.T) {
	pg := pgtest.Start(t)
	db := pg.NewDatabase(t)
	web := httpServer(t)
	webURL, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "run" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			clean(t, db)
			var log strings.Builder
			server := &action.Server{URL: db, HTTPAddr: webURL.Host, Postgres: true, Process: fakeProcess{&log}}
			clock := &virtualClock{now: time.Unix(0, 0)}
			dir := t.TempDir()
			o := action.Options{
				Server: server, Clock: clock.clock(), TempDir: dir, Random: rand.New(rand.NewPCG(1, 2)),
				Rewrite: d.HasArg("rewrite"),
				Env: func(name string) (string, bool) {
					return "from the environment", name == "THERE"
				},
				Vars: map[string]string{
					"testdrive.seed": "42", "testdrive.temp-dir": dir, "arg.given": "by the command line",
					"url": db, "http": webURL.Host,
				},
			}
			d.MaybeScanArgs(t, "max-tries", &o.MaxTries)
			if d.HasArg("no-process") {
				server.Process = nil
			}
			if d.HasArg("http") {
				var path string
				d.ScanArgs(t, "http", &path)
				server.HTTPAddr += "/" + path
			}
			if d.HasArg("no-http") {
				server.HTTPAddr = ""
			}
			out := run(t, d.Input, o) + log.String()
			for i, s := range clock.slept {
				out += fmt.Sprintf("slept %v\n", s)
				if i == 4 && len(clock.slept) > 5 {
					out += fmt.Sprintf("and %d times more\n", len(clock.slept)-5)
					break
				}
			}
			return mask(out, dir, db, webURL.Host, pg)
		})
	})
}

func clean(t *testing.T, url string) {
	s, err := action.NewSession(url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	if err := s.Exec(t.Context(), "DROP SCHEMA public CASCADE; CREATE SCHEMA public"); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, text string, o action.Options) string {
	file, err := script.Parse("x.td", text)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	for _, b := range file.Blocks {
		if err := action.Check("x.td", b); err != nil {
			return "error: " + err.Error() + "\n"
		}
	}
	m, err := action.New(file, o)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, b := range file.Blocks {
		if err := m.Run(t.Context(), b); err != nil {
			out += err.Error() + "\n"
			break
		}
	}
	if err := m.Finish(t.Context()); err != nil {
		out += err.Error() + "\n"
	}
	switch {
	case out != "":
	case len(m.Edits()) > 0:
		out = file.Apply(m.Edits())
	default:
		out = "passed\n"
	}
	return out
}

var location = regexp.MustCompile(`(?m)^(.*FATAL.*)$`)

func mask(out, dir, db, web string, pg *pgtest.Server) string {
	out = strings.NewReplacer(dir, "<dir>", db, "<url>", web, "<http>",
		fmt.Sprintf("%s:%d", pg.Host, pg.Port), "<pg>", fmt.Sprintf("port %d", pg.Port), "port <port>").Replace(out)
	return location.ReplaceAllString(out, "<connection refused>")
}
