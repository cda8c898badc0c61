package slt_test

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/runner/runnertest"
	"github.com/tributary-db/tributary/testdrive/slt"
)

// Files that hold on PostgreSQL notice if one of its results is wrong.
func TestWrongResultsAreNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("long: runs the corpora twice")
	}
	pg := pgtest.Start(t)
	db := pg.NewDatabase(t)
	var files []string
	for _, pattern := range []string{"../testdata/slt/*.slt", "../testdata/td/plain/*.td"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	runnertest.Check(t, files, 1, func(t *testing.T, path string, s runnertest.Spoil) (string, bool) {
		return runSpoilt(t, db, path, s)
	})
}

// runSpoilt runs one file through a proxy, on a database that was cleaned behind its back.
func runSpoilt(t *testing.T, db, path string, s runnertest.Spoil) (string, bool) {
	if err := runner.Reset(t.Context(), &action.Server{URL: db, Postgres: true}); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func(server string) { served <- runnertest.Serve(l, server, s) }(u.Host)
	u.Host = l.Addr().String()
	var out strings.Builder
	suite := runner.Suite{
		URL: u.String(), NoReset: true, Seed: 1, Paths: []string{path}, Out: &out, Clock: runner.Clock{Now: time.Now},
	}
	var summary runner.Summary
	if filepath.Ext(path) == slt.Extension {
		summary, err = slt.Run(t.Context(), slt.Options{Suite: suite})
	} else {
		summary, err = runner.Run(t.Context(), runner.Options{Suite: suite, MaxTries: 1})
	}
	l.Close()
	if served := <-served; err != nil || served != nil {
		t.Fatal(err, served)
	}
	return out.String(), summary.OK()
}
