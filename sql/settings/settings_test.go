package settings_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/settings"
)

var (
	threshold = settings.NewBytes("sink_threshold", 1<<20, 0, math.MaxInt64, "how much a worker stages", "next interval")
	interval  = settings.NewDuration("gc_interval", 30*time.Second, time.Millisecond, 24*time.Hour, "how often", "next round")
	limit     = settings.NewInt("max_tables", 25, 1, 1000, "how many tables", "at once")
	fast      = settings.NewBool("fast", true, "whether to hurry", "at once")
	timeout   = settings.ForSession(settings.NewDuration("statement_timeout", 0, 0, time.Hour, "how long", "next statement"))
	app       = settings.ForSession(settings.NewString("application_name", "", "who asks", "at once"))
	level     = settings.ForSession(settings.NewEnum("transaction_isolation", "strict serializable",
		[]string{"strict serializable", "serializable"}, "what a transaction sees", "next transaction"))
	style = settings.ForSession(settings.Checked(settings.NewString("DateStyle", "ISO, MDY", "how dates look", "at once"),
		func(text string) (string, bool) { return "ISO, MDY", strings.EqualFold(text, "iso") }))
	version = settings.Fixed(settings.NewString("server_version", "15.0", "the version", "never"))
)

func newSet() *settings.Set {
	return settings.NewSet(threshold, interval, limit, fast, timeout, app, level, style, version)
}

// TestGolden runs scripts against one Set and one Session. Each line of input is one command.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		set := newSet()
		session := settings.NewSession(set)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				out.WriteString(run(set, session, strings.TrimSuffix(line, "\n")) + "\n")
			}
			return out.String()
		})
	})
}

func run(set *settings.Set, session *settings.Session, line string) string {
	command, rest, _ := strings.Cut(line, " ")
	name, value, _ := strings.Cut(rest, " = ")
	said := func(text string, err error) string {
		if err == nil {
			return text
		}
		var e *pgerr.Error
		if !errors.As(err, &e) {
			return "not a client's error: " + err.Error()
		}
		text = fmt.Sprintf("%s %s", e.Code, e.Message)
		if e.Hint != "" {
			text += " HINT " + e.Hint
		}
		return text
	}
	switch command {
	case "system-set":
		return said("ok", set.Set(name, value))
	case "system-check":
		return said(set.Check(name, value))
	case "system-reset":
		return said("ok", set.Reset(name))
	case "system-show":
		return said(set.Show(name))
	case "system-changed":
		return fmt.Sprint(set.Changed())
	case "start":
		return said("ok", session.Start(name, value))
	case "set":
		return said("ok", session.Set(name, value))
	case "set-local":
		return said("ok", session.SetLocal(name, value))
	case "reset":
		return said("ok", session.Reset(name))
	case "reset-all":
		session.ResetAll()
	case "show":
		return said(session.Show(name))
	case "begin":
		session.Begin()
	case "commit":
		session.Commit()
	case "rollback":
		session.Rollback()
	case "list":
		var out []string
		for _, p := range set.Params() {
			out = append(out, fmt.Sprintf("%s %s %q (%s; %s)", p.Name(), p.Type(), p.Default(), p.Doc(), p.When()))
		}
		return strings.Join(out, "\n")
	default:
		return "unknown command"
	}
	return "ok"
}

func TestTypedReads(t *testing.T) {
	set := newSet()
	session := settings.NewSession(set)
	for name, text := range map[string]string{"sink_threshold": "4 kB", "gc_interval": "1500 ms", "max_tables": "7", "fast": "off",
		"transaction_isolation": "SERIALIZABLE", "application_name": "me"} {
		if err := set.Set(name, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []settings.Reader{set, session} {
		if threshold.Get(r) != 4096 || interval.Get(r) != 1500*time.Millisecond || limit.Get(r) != 7 || fast.Get(r) ||
			level.Get(r) != "serializable" || app.Get(r) != "me" {
			t.Error("a value is read otherwise than it was set")
		}
	}
	if err := session.Set("statement_timeout", "2"); err != nil {
		t.Fatal(err)
	}
	if timeout.Get(session) != 2*time.Millisecond || timeout.Get(set) != 0 {
		t.Error("a session's value is not the session's alone")
	}
}

// TestShowIsSettable holds promise N3 for random values.
func TestShowIsSettable(t *testing.T) {
	set := newSet()
	for us := int64(1000); us < 24*3600*1e6; us = us*3 + 7 {
		if err := set.Set("gc_interval", fmt.Sprintf("%d us", us)); err != nil {
			t.Fatal(err)
		}
		shown, err := set.Show("gc_interval")
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Set("gc_interval", shown); err != nil || interval.Get(set).Microseconds() != us {
			t.Errorf("%d µs shown as %q is read as %v (%v)", us, shown, interval.Get(set), err)
		}
	}
}

func TestReadsAndWritesMayRace(t *testing.T) {
	set := newSet()
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for i := range 2000 {
				if err := set.Set("application_name", strings.Repeat("x", i%7)); err != nil {
					t.Error(err)
				}
			}
		})
		wait.Go(func() {
			for range 2000 {
				if len(app.Get(set)) > 6 {
					t.Error("a torn value")
				}
			}
		})
	}
	wait.Wait()
}

func BenchmarkGet(b *testing.B) {
	set := newSet()
	for b.Loop() {
		_ = threshold.Get(set)
	}
}
