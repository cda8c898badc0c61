package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/tributary-db/tributary/cmd/tributary/bench"
	"github.com/tributary-db/tributary/pgwire/server"
	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
)

// benchCommand is "tributary bench".
func benchCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "measure this database on this machine", Args: cobra.NoArgs,
		// Cobra looks at the arguments of a command that can be run: an unknown bench is an error, not a wish for help.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	o := bench.Options{Start: startBenchServer}
	view := &cobra.Command{
		Use:   "view-sink [flags]",
		Short: "how views' changes get into storage, beside other ways to do it",
		Long: `Measure how the changes of materialized views get into storage: by the server's own way, with sharing on and off, and by
ways known from elsewhere (baselines), which take turns. All tables take about an hour on two processors, with --full longer; a run
that was given --state and was interrupted goes on where it was when the same command is given again.

The tables are ` + strings.Join(bench.TableNames(), ", ") + `.

Nothing else should run meanwhile: a cell during which others use more than a tenth of the processors is measured up to
three times, and the best one is taken, unless it is --quick. The progress says how much others used.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			o.Out, o.Progress = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if cmd.Flags().Changed("table") && len(o.Tables) == 0 {
				o.Tables = []string{""} // which is no table, rather than all
			}
			return bench.Run(cmd.Context(), o)
		},
	}
	flags := view.Flags()
	flags.BoolVar(&o.Full, "full", false, "5 runs, windows of a minute and 2 GB instead of 3 runs, 20 seconds and 512 MB")
	flags.BoolVar(&o.Quick, "quick", false, "one run, half a second and 4 MB: shows that everything works, and measures nothing")
	flags.IntVar(&o.Runs, "runs", 0, "how often each way is measured, instead of the above: more runs tell smaller differences apart")
	flags.StringSliceVar(&o.Tables, "table", nil, "a table to measure; may be repeated (default: all)")
	flags.StringVar(&o.Dir, "dir", bench.DefaultDir(), "where the servers keep their data meanwhile")
	flags.StringVar(&o.State, "state", "", "file that keeps what has been measured, to go on from after an interruption")
	flags.StringVar(&o.JSON, "json", "", "write the results to this file too")
	flags.StringVar(&o.Plots, "plots", "", "draw each table as SVG into this directory")
	view.MarkFlagsMutuallyExclusive("full", "quick")
	cmd.AddCommand(view)
	return cmd
}

// startBenchServer starts a server in this process.
func startBenchServer(ctx context.Context, o bench.ServerOptions) (*bench.Server, error) {
	ctx, cancel := context.WithCancel(ctx)
	registry, log := prometheus.NewRegistry(), slog.New(slog.NewTextHandler(io.Discard, nil))
	parts := coordParts{settings: allSettings(), registry: registry, log: log, sharing: o.Sharing}
	open := func(ctx context.Context, so serveOptions, p coordParts) (consensus.Store, blob.Store, func() error, error) {
		registers, objects, closeStores, err := openStores(ctx, so, p)
		if err == nil && o.Blob != nil {
			objects = o.Blob(objects)
		}
		return registers, objects, closeStores, err
	}
	c, closeCoord, err := openCoord(ctx, serveOptions{stores: storeOptions{dataDir: o.Dir}, workers: o.Workers, open: open}, parts)
	if err != nil {
		cancel()
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return nil, errors.Join(err, closeCoord())
	}
	sessions := session.NewManager(session.Options{Coord: c, System: c.System(), Settings: parts.settings, Version: version,
		Now: time.Now, Random: rand.Reader, Log: log})
	srv := server.New(server.Options{Sessions: sessions, Log: log, Now: time.Now, Metrics: server.NewMetrics(registry)})
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, listener) }()
	return &bench.Server{Addr: listener.Addr().String(), Metrics: registry, Close: func() error {
		sessions.Close()
		cancel()
		return errors.Join(<-served, closeCoord())
	}}, nil
}
