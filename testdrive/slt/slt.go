package slt

import (
	"context"
	"time"

	"github.com/tributary-db/tributary/testdrive/runner"
)

// Options are how .slt files are run.
type Options struct {
	Suite runner.Suite
	// AutoView runs every query as views too.
	AutoView bool
	// CheckCodes holds SQLSTATEs against "pgcode" in the files. Files taken over from other systems name codes of
	// theirs, so by default only messages count.
	CheckCodes bool
	// Rewrite writes results that differ into the files.
	Rewrite bool
	// Interrupt restarts the server between records; nil means never.
	Interrupt *runner.Interrupt
	// Timeout is the time of one record. 0 means one minute.
	Timeout time.Duration
}

// DefaultTimeout is the time of one record.
const DefaultTimeout = time.Minute

// Extension is that of the files.
const Extension = ".slt"

// Run runs .slt files.
func Run(ctx context.Context, o Options) (runner.Summary, error) {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return o.Suite.Run(ctx, Extension, func(ctx context.Context, env runner.Env) []error {
		return runFile(ctx, o, env)
	})
}
