package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/slt"
)

// sltCommand is "tributary slt".
func sltCommand() *cobra.Command {
	var shared suiteFlags
	var o slt.Options
	cmd := &cobra.Command{
		Use:   "slt [flags] FILE-OR-FOLDER…",
		Short: "run sqllogictest files against a database",
		Long: `Run sqllogictest files (.slt), of SQLite's, CockroachDB's or Materialize's dialect, against a server and show where
its answers differ.

    statement ok
    CREATE TABLE t (a int, b text)

    statement count 2
    INSERT INTO t VALUES (1, 'one'), (2, 'two')

    query IT rowsort
    SELECT a, b FROM t
    ----
    1
    one
    2
    two

    statement error division by zero
    SELECT a / 0 FROM t

With --auto-view every query runs three times, as it stands, as a materialized view and as a view with an index, and
all must agree ("skipif auto-view" before a query leaves its views out). With --rewrite results are written into the
files instead of compared: run that against PostgreSQL to have it write the expectations.

A folder stands for the .slt files in it. Every file begins with a clean state: THE OBJECTS THAT USERS MADE ON THE
SERVER ARE DROPPED, unless --no-reset is given. The exit status is 0 only if every file passed.`,
		Example: `  tributary slt --serve --auto-view joins.slt
  tributary slt --url postgres://me@localhost/scratch --rewrite tests/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			cmd.SilenceUsage = true
			var err error
			if o.Suite, o.Interrupt, err = shared.finish(cmd, paths); err != nil {
				return err
			}
			return runScripts(cmd.Context(), func(ctx context.Context) (runner.Summary, error) { return slt.Run(ctx, o) })
		},
	}
	flags := cmd.Flags()
	shared.register(flags)
	flags.BoolVar(&o.AutoView, "auto-view", false, "run every query as views too, and compare")
	flags.BoolVar(&o.CheckCodes, "check-codes", false, "hold SQLSTATEs against the files' pgcode")
	flags.BoolVar(&o.Rewrite, "rewrite", false, "write what came into the files where it differs")
	flags.DurationVar(&o.Timeout, "default-timeout", slt.DefaultTimeout, "how long a record may take")
	flags.SetNormalizeFunc(materializeNames)
	return cmd
}
