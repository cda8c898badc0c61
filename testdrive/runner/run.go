package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/script"
)

// Options are how .td files are run.
type Options struct {
	Suite Suite
	// Vars become ${arg.NAME}.
	Vars map[string]string
	// Env looks up ${env.NAME}.
	Env func(name string) (string, bool)
	// Timeout, MaxTries, InitialBackoff and BackoffFactor are those of action.Options.
	Timeout        time.Duration
	MaxTries       int
	InitialBackoff time.Duration
	BackoffFactor  float64
	// Rewrite writes what came into the files, instead of failing where it differs.
	Rewrite bool
	// Interrupt restarts the server between blocks; nil means never.
	Interrupt *Interrupt
}

// Interrupt is a restart at places that the seed picks, each put off until no session would notice.
type Interrupt struct {
	// Kill ends the server without warning.
	Kill bool
	// Places is how many restarts a file gets at most.
	Places int
}

// What callers need of package action, which is no door.
const (
	DefaultTimeout        = action.DefaultTimeout
	DefaultInitialBackoff = action.DefaultInitialBackoff
	DefaultBackoffFactor  = action.DefaultBackoffFactor
)

// Clock is action.Clock.
type Clock = action.Clock

// Actions lists the actions that scripts can use.
func Actions() []string { return action.Names() }

// Extension is that of script files.
const Extension = ".td"

// Run runs .td files.
func Run(ctx context.Context, o Options) (Summary, error) {
	return o.Suite.Run(ctx, Extension, func(ctx context.Context, env Env) []error {
		return runScript(ctx, o, env)
	})
}

// runScript runs one file up to its first failing block.
func runScript(ctx context.Context, o Options, env Env) (errs []error) {
	file, err := script.Parse(env.Name, env.Text)
	if err != nil {
		return []error{err}
	}
	for _, b := range file.Blocks {
		if err := action.Check(env.Name, b); err != nil {
			errs = append(errs, err)
		}
	}
	if errs != nil {
		return errs
	}
	vars, err := predefined(o, env)
	if err != nil {
		return []error{err}
	}
	m, err := action.New(file, action.Options{
		Server: env.Server, Vars: vars, Env: o.Env, Clock: o.Suite.Clock, Random: env.Random, TempDir: env.TempDir,
		Timeout: o.Timeout, MaxTries: o.MaxTries, InitialBackoff: o.InitialBackoff, BackoffFactor: o.BackoffFactor,
		Rewrite: o.Rewrite,
	})
	if err != nil {
		return []error{err}
	}
	defer func() {
		if err := m.Finish(context.WithoutCancel(ctx)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", env.Name, err))
		}
	}()
	places := o.Interrupt.In(len(file.Blocks), env.Random)
	var restarts []string
	for i, b := range file.Blocks {
		var err error
		if places.Due(i, m.Idle) {
			restarts = append(restarts, strconv.Itoa(b.Line))
			err = m.Restart(ctx, o.Interrupt.Kill)
		}
		if err == nil {
			err = m.Run(ctx, b)
		}
		if err != nil {
			if n := len(m.Edits()); n > 0 {
				err = fmt.Errorf("%w\n    (the file stays as it is; blocks above that would be rewritten: %d)", err, n)
			}
			if restarts != nil {
				err = fmt.Errorf("%w\n    (the server was restarted before line %s)", err, strings.Join(restarts, ", "))
			}
			return []error{err}
		}
	}
	if edits := m.Edits(); len(edits) > 0 {
		return rewrite(env, file.Apply(edits))
	}
	return nil
}

// rewrite replaces a file's contents.
func rewrite(env Env, text string) []error {
	if env.Name == stdin {
		return []error{errors.New("the standard input cannot be rewritten")}
	}
	info, err := os.Stat(env.Name)
	if err == nil {
		err = os.WriteFile(env.Name, []byte(text), info.Mode().Perm())
	}
	if err != nil {
		return []error{fmt.Errorf("rewrite: %w", err)}
	}
	return nil
}

// In picks the steps of a file before which the server is restarted; the first is never one of them, since nothing
// has happened before it.
func (in *Interrupt) In(steps int, random *rand.Rand) *Interruptions {
	places := &Interruptions{at: map[int]bool{}}
	if in == nil || steps < 2 {
		return places
	}
	for _, i := range random.Perm(steps - 1)[:min(in.Places, steps-1)] {
		places.at[i+1] = true
	}
	return places
}

// Interruptions are the steps of one file before which its server is restarted.
type Interruptions struct {
	at  map[int]bool
	due bool // a place was passed where a session would have noticed
}

// Due says whether the server is to be restarted before a step, which is asked of every step in order. idle is called
// only where it matters; while it says no, the restart waits, and another that comes meanwhile is one with it.
func (n *Interruptions) Due(step int, idle func() bool) bool {
	n.due = n.due || n.at[step]
	if !n.due || !idle() {
		return false
	}
	n.due = false
	return true
}

// predefined are the variables that every script has.
func predefined(o Options, env Env) (map[string]string, error) {
	u, err := url.Parse(env.Server.URL)
	if err != nil {
		return nil, fmt.Errorf("parse the server's URL: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = "5432"
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	vars := map[string]string{
		"testdrive.seed":                          strconv.FormatUint(o.Suite.Seed, 10),
		"testdrive.temp-dir":                      env.TempDir,
		"testdrive.materialize-url":               env.Server.URL,
		"testdrive.materialize-sql-addr":          addr,
		"testdrive.materialize-internal-sql-addr": addr,
		"testdrive.materialize-http-addr":         env.Server.HTTPAddr,
		"testdrive.materialize-user":              u.User.Username(),
	}
	// Scripts written for Materialize name these in texts that are never used here.
	for _, name := range []string{
		"kafka-addr", "schema-registry-url", "aws-region", "aws-endpoint", "aws-account", "aws-access-key-id",
		"aws-secret-access-key", "aws-token",
	} {
		vars["testdrive."+name] = "none"
	}
	maps.Copy(vars, prefixed("arg.", o.Vars))
	return vars, nil
}

func prefixed(prefix string, in map[string]string) map[string]string {
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[prefix+k] = v
	}
	return out
}
