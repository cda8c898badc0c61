package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/slt"
)

// scenario is one way to run a server under which every file of the corpora holds.
type scenario struct {
	workers   int
	threshold int // of compute_mv_sink_shared_batch_max_bytes
	store     store
	interrupt interrupt
}

type store string

const (
	memory    store = "memory"
	directory store = "directory"
)

type interrupt string

const (
	undisturbed interrupt = "undisturbed"
	restarted   interrupt = "restarted"
	killed      interrupt = "killed"
)

const mebibyte = 1 << 20

var scenarios = []scenario{
	{1, 0, memory, undisturbed},
	{4, 0, memory, undisturbed},
	{1, mebibyte, memory, undisturbed},
	{4, mebibyte, memory, undisturbed},
	{1, 0, directory, undisturbed},
	{4, 0, directory, undisturbed},
	{1, mebibyte, directory, undisturbed},
	{4, mebibyte, directory, undisturbed},
	{1, 0, directory, restarted},
	{4, 0, directory, restarted},
	{1, mebibyte, directory, restarted},
	{4, mebibyte, directory, restarted},
	{1, 0, directory, killed},
	{4, 0, directory, killed},
	{1, mebibyte, directory, killed},
	{4, mebibyte, directory, killed},
}

// How often a file's server is ended at most: in a run that is to be short, and else.
const (
	fewInterruptions = 2
	interruptions    = 10
)

const (
	// scenariosEnv set to "all" runs every file under every scenario, not a part of them.
	scenariosEnv = "TRIBUTARY_SCENARIOS"
	// scenarioSeedEnv decides which files a part has, and where the server is ended. It is drawn if not given.
	scenarioSeedEnv = "TRIBUTARY_SCENARIO_SEED"
)

// TestCorpusUnderScenarios runs the corpora of testdrive under every scenario. A server that is ended again and again
// costs time, so the files are dealt out among the scenarios that do this: each file is interrupted once in a run.
func TestCorpusUnderScenarios(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv(scenarioSeedEnv); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("%s=%d", scenarioSeedEnv, seed)
	for i, s := range scenarios {
		t.Run(s.name(), func(t *testing.T) { s.run(t, seed, i) })
	}
}

func (s scenario) name() string {
	return fmt.Sprintf("workers=%d/threshold=%d/%s/%s", s.workers, s.threshold, s.store, s.interrupt)
}

// part says which part of the files runs under the scenario at a place of the list, and how many parts there are.
func part(at int) (part, parts int) {
	if os.Getenv(scenariosEnv) == "all" {
		return 0, 1
	}
	if testing.Short() {
		return at, len(scenarios)
	}
	for i, s := range scenarios {
		if s.interrupt == undisturbed {
			continue
		}
		if i < at {
			part++
		}
		parts++
	}
	if scenarios[at].interrupt == undisturbed {
		return 0, 1
	}
	return part, parts
}

// run runs the scenario's part of both corpora; at is its place among the scenarios.
func (s scenario) run(t *testing.T, seed uint64, at int) {
	part, parts := part(at)
	suite := runner.Suite{
		Serve: &runner.Serve{Binary: os.Args[0], Args: []string{"--workers", strconv.Itoa(s.workers), "--log-level", "warn"}},
		Setup: []string{fmt.Sprintf("ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = %d", s.threshold)},
		Jobs:  runtime.NumCPU(), Seed: seed, ShardCount: parts, Shard: int((seed + uint64(part)) % uint64(parts)),
		Clock: runner.Clock{Now: time.Now},
	}
	if s.store == memory {
		suite.Serve.Args = append(suite.Serve.Args, "--in-memory")
	}
	var in *runner.Interrupt
	if s.interrupt != undisturbed {
		in = &runner.Interrupt{Kill: s.interrupt == killed, Places: interruptions}
		if testing.Short() {
			in.Places = fewInterruptions
		}
	}
	s.corpus(t, suite, runner.Extension, func(ctx context.Context, suite runner.Suite) (runner.Summary, error) {
		return runner.Run(ctx, runner.Options{Suite: suite, Interrupt: in})
	})
	s.corpus(t, suite, slt.Extension, func(ctx context.Context, suite runner.Suite) (runner.Summary, error) {
		return slt.Run(ctx, slt.Options{Suite: suite, CheckCodes: true, AutoView: !testing.Short(), Interrupt: in})
	})
}

// corpus runs the files with an extension.
func (s scenario) corpus(
	t *testing.T, suite runner.Suite, extension string, run func(context.Context, runner.Suite) (runner.Summary, error),
) {
	var out strings.Builder
	suite.Paths, suite.Out = s.files(t, extension), &out
	summary, err := run(t.Context(), suite)
	if err != nil || !summary.OK() {
		t.Errorf("%v\n%s\nagain, for one file: %s", err, out.String(), s.command(extension, suite.Seed))
	}
	least := summary.Passed
	if testing.Short() {
		least = 1 // a file whose sessions are busy for long may escape the few places
	}
	if s.interrupt != undisturbed && summary.Restarts < least {
		t.Errorf("%d restarts in %d files", summary.Restarts, summary.Passed)
	}
	t.Logf("%d%s files, %d restarts", summary.Passed, extension, summary.Restarts)
}

// command is how a user runs a file under the scenario.
func (s scenario) command(extension string, seed uint64) string {
	args := []string{"tributary testdrive"}
	if extension == slt.Extension {
		args[0] = "tributary slt --check-codes --auto-view"
	}
	args = append(args, fmt.Sprintf("--seed %d --param compute_mv_sink_shared_batch_max_bytes=%d", seed, s.threshold),
		fmt.Sprintf("--serve --serve-arg=--workers=%d", s.workers))
	if s.store == memory {
		args = append(args, "--serve-arg=--in-memory")
	}
	switch s.interrupt {
	case restarted:
		args = append(args, fmt.Sprintf("--restarts %d", interruptions))
	case killed:
		args = append(args, fmt.Sprintf("--kills %d", interruptions))
	}
	return strings.Join(args, " ")
}

// endsServer spots scripts that tell of a server that ends: they need a store that outlives it.
var endsServer = regexp.MustCompile(`(?m)^\$ (kill|restart)$`)

// files lists the files that hold under the scenario.
func (s scenario) files(t *testing.T, extension string) []string {
	var files []string
	err := filepath.WalkDir("../../testdrive/testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != extension {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && (s.store == directory || !endsServer.Match(text)) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
