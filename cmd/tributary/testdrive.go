package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tributary-db/tributary/testdrive/runner"
)

// errScriptsFailed is what a run of scripts ends with when the runner has told all about it.
var errScriptsFailed = errors.New("not every file passed")

// Where "tributary serve" listens if it is not told otherwise.
const (
	defaultURL      = "postgres://materialize@127.0.0.1:6875/materialize?sslmode=disable"
	defaultHTTPAddr = "127.0.0.1:6876"
)

// suiteFlags are the flags that testdrive and slt share.
type suiteFlags struct {
	suite     runner.Suite
	serve     bool
	serveArgs []string
	params    []string
	kills     int
	restarts  int
}

func (f *suiteFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.suite.URL, "url", "",
		"server to run against, any that speaks PostgreSQL's protocol (with --no-reset the default is "+defaultURL+")")
	flags.StringVar(&f.suite.HTTPAddr, "http-addr", "", "with --url: host:port of the server's HTTP side, for metrics ("+
		defaultHTTPAddr+" for the default server)")
	flags.BoolVar(&f.serve, "serve", false, "start a server of our own for the run, in a temporary directory")
	flags.StringArrayVar(&f.serveArgs, "serve-arg", nil, "with --serve: a further argument for the server; may be repeated")
	flags.BoolVar(&f.suite.NoReset, "no-reset", false, "do not give the server a clean state before each file")
	flags.StringArrayVar(&f.params, "param", nil, "NAME=VALUE: a system parameter to set before each file; may be repeated")
	flags.IntVar(&f.kills, "kills", 0,
		"with --serve: end the server without warning at up to so many places in each file, where no session would notice")
	flags.IntVar(&f.restarts, "restarts", 0, "as --kills, but in good order")
	flags.IntVar(&f.suite.Jobs, "jobs", 1, "how many files to run at a time, each on a server (--serve) or a database of its own")
	flags.BoolVar(&f.suite.Shuffle, "shuffle", false, "run the files in an order that the seed decides")
	flags.Uint64Var(&f.suite.Seed, "seed", 0, "seed of order, places and random sleeps (default: drawn, and shown where it matters)")
	flags.IntVar(&f.suite.Shard, "shard", 0, "with --shard-count: which part of the files to run, from 0")
	flags.IntVar(&f.suite.ShardCount, "shard-count", 0, "into how many parts to divide the files; 0: not at all")
	flags.IntVar(&f.suite.MaxErrors, "max-errors", 10, "stop after so many failed files; 0: never")
	flags.StringVar(&f.suite.JUnitReport, "junit-report", "", "write a JUnit report to this file")
}

// interrupt is what --kills and --restarts say.
func (f *suiteFlags) interrupt() (*runner.Interrupt, error) {
	switch {
	case f.kills == 0 && f.restarts == 0:
		return nil, nil
	case f.kills > 0 && f.restarts > 0:
		return nil, errors.New("--kills and --restarts exclude each other")
	case !f.serve:
		return nil, errors.New("--kills and --restarts need --serve")
	}
	return &runner.Interrupt{Kill: f.kills > 0, Places: f.kills + f.restarts}, nil
}

// finish makes what the flags describe: the suite, and how its servers are interrupted.
func (f *suiteFlags) finish(cmd *cobra.Command, paths []string) (s runner.Suite, in *runner.Interrupt, err error) {
	s = f.suite
	if err = checkNumbers(cmd.Flags()); err != nil {
		return s, nil, err
	}
	if in, err = f.interrupt(); err != nil {
		return s, nil, err
	}
	s.Paths, s.Stdin, s.Out = paths, cmd.InOrStdin(), cmd.OutOrStdout()
	s.Clock = runner.Clock{Now: time.Now}
	params, err := parseVars("--param", f.params)
	if err != nil {
		return s, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value := strings.ReplaceAll(params[name], "'", "''")
		s.Setup = append(s.Setup, fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, value))
	}
	if !cmd.Flags().Changed("seed") {
		s.Seed = uint64(rand.Uint32())
	}
	switch {
	case f.serve && s.URL != "":
		return s, nil, errors.New("--serve and --url exclude each other")
	case !f.serve && f.serveArgs != nil:
		return s, nil, errors.New("--serve-arg needs --serve")
	case f.serve:
		binary, err := os.Executable()
		if err != nil {
			return s, nil, fmt.Errorf("find our own program: %w", err)
		}
		s.Serve = &runner.Serve{Binary: binary, Args: f.serveArgs}
	case s.URL == "" && !s.NoReset:
		return s, nil, errors.New("which server? --serve starts one for the run; --url names one, whose objects are dropped before " +
			"each file; --no-reset leaves them where they are")
	case s.URL == "":
		s.URL = defaultURL
		s.HTTPAddr = cmp.Or(s.HTTPAddr, defaultHTTPAddr)
	}
	if s.Shuffle || in != nil {
		fmt.Fprintf(s.Out, "seed %d\n", s.Seed)
	}
	return s, in, nil
}

// atLeast is the least that makes sense of each flag that is a number.
var atLeast = map[string]float64{
	"kills": 0, "restarts": 0, "jobs": 1, "shard": 0, "shard-count": 0, "max-errors": 0, "max-tries": 0, "backoff-factor": 1,
}

// checkNumbers refuses flags that would mean nothing.
func checkNumbers(flags *pflag.FlagSet) error {
	var errs []error
	flags.Visit(func(f *pflag.Flag) {
		n, err := strconv.ParseFloat(f.Value.String(), 64)
		if least, ok := atLeast[f.Name]; ok && err == nil && n < least {
			errs = append(errs, fmt.Errorf("--%s must be at least %v, not %v", f.Name, least, n))
		}
		if d, err := time.ParseDuration(f.Value.String()); f.Value.Type() == "duration" && err == nil && d <= 0 {
			errs = append(errs, fmt.Errorf("--%s must be longer than 0, not %v", f.Name, d))
		}
	})
	if flags.Changed("shard") && !flags.Changed("shard-count") {
		errs = append(errs, errors.New("--shard needs --shard-count"))
	}
	return errors.Join(errs...)
}

// testdriveHelp ends with the list of actions.
const testdriveHelp = `Run testdrive scripts (.td) against a server and show where its answers differ.

A script is a text file of blocks:

    # a comment
    > CREATE TABLE t (a int)
    > INSERT INTO t VALUES (1), (2)

    # rows may come in any order; the query is tried again until they match;
    # what goes on in a second line is indented by two spaces
    > SELECT a, 'two words', NULL, ''
      FROM t
    1 "two words" <null> ""
    2 "two words" <null> ""

    # an error
    ! SELECT a / 0 FROM t
    contains:division by zero

    # a text of several lines
    ? SELECT 'a' || chr(10) || 'b'
    a
    b

    # something to do
    $ set x=7
    > SELECT ${x} AS seven
    seven
    ---
    7

A folder stands for the .td files in it, "-" for the standard input. Every file begins with a clean state: THE
OBJECTS THAT USERS MADE ON THE SERVER ARE DROPPED, unless --no-reset is given. The exit status is 0 only if every
file ran to its end and passed.

docs/testdrive.md has the whole format. The actions are:
`

// testdriveCommand is "tributary testdrive".
func testdriveCommand() *cobra.Command {
	var shared suiteFlags
	var o runner.Options
	var vars []string
	cmd := &cobra.Command{
		Use:   "testdrive [flags] FILE-OR-FOLDER…",
		Short: "run .td scripts against a database",
		Long:  testdriveHelp + wrapped(runner.Actions()),
		Example: `  tributary testdrive --serve story.td
  tributary testdrive --url postgres://me@localhost/scratch --jobs 4 tests/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			cmd.SilenceUsage = true
			var err error
			if o.Suite, o.Interrupt, err = shared.finish(cmd, paths); err != nil {
				return err
			}
			o.Env = os.LookupEnv
			if o.Vars, err = parseVars("--var", vars); err != nil {
				return err
			}
			return runScripts(cmd.Context(), func(ctx context.Context) (runner.Summary, error) { return runner.Run(ctx, o) })
		},
	}
	flags := cmd.Flags()
	shared.register(flags)
	flags.StringArrayVar(&vars, "var", nil, "NAME=VALUE: sets ${arg.NAME}; may be repeated")
	flags.DurationVar(&o.Timeout, "default-timeout", runner.DefaultTimeout, "how long to try a block")
	flags.IntVar(&o.MaxTries, "max-tries", 0, "how often to try a block; 0: as often as its time allows")
	flags.DurationVar(&o.InitialBackoff, "initial-backoff", runner.DefaultInitialBackoff, "wait before the second try")
	flags.Float64Var(&o.BackoffFactor, "backoff-factor", runner.DefaultBackoffFactor, "by how much each further wait is longer")
	flags.BoolVar(&o.Rewrite, "rewrite-results", false, "write what came into the files where it differs; each block is tried once")
	flags.SetNormalizeFunc(materializeNames)
	return cmd
}

// wrapped joins names into lines that fit a terminal.
func wrapped(names []string) string {
	const width = 100
	var text strings.Builder
	at := width
	for _, name := range names {
		if at += len(name) + 1; at > width {
			text.WriteString("\n   ")
			at = 4 + len(name)
		}
		text.WriteString(" " + name)
	}
	return text.String()
}

// materializeNames lets the flags go by the names that Materialize's tool has for them too.
func materializeNames(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "materialize-url":
		name = "url"
	case "materialize-param":
		name = "param"
	case "shuffle-tests":
		name = "shuffle"
	case "default-max-tries":
		name = "max-tries"
	}
	return pflag.NormalizedName(name)
}

func parseVars(flag string, list []string) (map[string]string, error) {
	vars := map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s needs NAME=VALUE, not %q", flag, text)
		}
		vars[name] = value
	}
	return vars, nil
}

// runScripts turns a summary into the command's result.
func runScripts(ctx context.Context, run func(context.Context) (runner.Summary, error)) error {
	summary, err := run(ctx)
	if err == nil && !summary.OK() {
		err = errScriptsFailed
	}
	return err
}
