// Command tributary is the whole database: the server, the tools that test and measure it, and what looks into its
// data.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	// The first signal asks for an orderly end; a second one ends at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tributary:", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tributary",
		Short: "a SQL database whose materialized views are always up to date",
		// Without Args cobra refuses an unknown command, and says which one may have been meant.
		// Errors are shown by main, once.
		SilenceErrors: true,
	}
	cmd.AddCommand(serveCommand(), inspectCommand(), backupCommand(), restoreCommand(), testdriveCommand(), sltCommand(), benchCommand(),
		versionCommand())
	return cmd
}
