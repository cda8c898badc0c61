package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/runner/runnertest"
)

// spoilEnv makes a server that is started through the test binary stand behind a proxy that spoils a result.
const spoilEnv = "TRIBUTARY_TEST_SPOIL"

// Scripts that need a server of ours notice if one of its results is wrong.
func TestWrongResultsAreNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("long: runs the scripts twice")
	}
	files, err := filepath.Glob("../../testdrive/testdata/td/own/*.td")
	if err != nil {
		t.Fatal(err)
	}
	// The first result is the runner's own: it looks whether the server is a PostgreSQL.
	runnertest.Check(t, files, 2, func(t *testing.T, path string, s runnertest.Spoil) (string, bool) {
		t.Setenv(spoilEnv, s.String())
		var out strings.Builder
		summary, err := runner.Run(t.Context(), runner.Options{
			Suite: runner.Suite{
				Serve:   &runner.Serve{Binary: os.Args[0], Args: []string{"--workers", "2", "--log-level", "warn"}},
				NoReset: true, Seed: 1, Paths: []string{path}, Out: &out, Clock: runner.Clock{Now: time.Now},
			},
			MaxTries: 1,
		})
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		return out.String(), summary.OK()
	})
}

// behindProxy starts the proxy at the address that the server was to listen at, and gives the server another one.
func behindProxy(args []string, spoil string) ([]string, error) {
	s, err := runnertest.ParseSpoil(spoil)
	if err != nil {
		return nil, err
	}
	args = slices.Clone(args)
	at := &args[slices.Index(args, "--sql-listen")+1]
	front, err := net.Listen("tcp", *at)
	if err != nil {
		return nil, err
	}
	back, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	*at = back.Addr().String()
	go func() {
		if err := runnertest.Serve(front, *at, s); err != nil {
			panic(err)
		}
	}()
	return args, back.Close()
}
