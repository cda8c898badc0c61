package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
)

// backupCommand is "tributary backup".
func backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup DIR TO",
		Short: "copy a data directory, while a server uses it or not",
		Long: `Copy a data directory to a directory that is not there yet. The copy is the state of one moment: every transaction is in
it as a whole or not at all, and all that were acknowledged before the command was given are. A server that uses the
directory goes on meanwhile; it makes the copy itself, so TO must be a path where it may write.

The copy is a data directory: "tributary inspect" checks it, "tributary restore" copies it back.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.SilenceUsage = true
			to, err := filepath.Abs(args[1])
			if err != nil {
				return err
			}
			done, err := backup(cmd.Context(), args[0], to)
			if err != nil {
				return fmt.Errorf("back up %s: %w", args[0], err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			return err
		},
	}
}

// backup copies a data directory, itself or through the server that uses it, and says what it did.
func backup(ctx context.Context, dir, to string) (string, error) {
	d, err := openOffline(dir)
	if errors.Is(err, consensus.ErrInUse) {
		return askForBackup(ctx, dir, to)
	}
	if err != nil {
		return "", err
	}
	done, err := d.copyTo(ctx, to)
	return done, errors.Join(err, d.Close())
}

// partialMark is a file in a copy that is not whole yet. Registers without some of their objects would pass for a data
// directory, until what is missing is read.
const partialMark = "partial"

// errPartial says that a directory is no data directory yet, nor will be.
var errPartial = errors.New("it is what is left of a backup or restore that was broken off, and can be removed")

// checkNotPartial refuses what is left of a copy that was broken off.
func checkNotPartial(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, partialMark))
	switch {
	case err == nil:
		return errPartial
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// makePartial makes a directory for a copy, beside where it will be, and marks it before anything else is in it.
func makePartial(to string) (string, error) {
	partial, err := os.MkdirTemp(filepath.Dir(to), filepath.Base(to)+".partial-")
	if err != nil {
		return "", err
	}
	err = os.WriteFile(filepath.Join(partial, partialMark), nil, 0o600)
	if err == nil {
		err = syncDirectory(partial)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(partial))
	}
	return partial, nil
}

// finishPartial gives a copy that is whole its name.
func finishPartial(partial, to string) error {
	if err := os.Remove(filepath.Join(partial, partialMark)); err != nil {
		return err
	}
	if err := syncDirectory(partial); err != nil {
		return err
	}
	if err := os.Rename(partial, to); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(to))
}

// copyTo makes a data directory that has what this one has at this moment. It is there under its name only when it is
// whole.
func (d *dataDirectory) copyTo(ctx context.Context, to string) (done string, err error) {
	if _, err := os.Lstat(to); err == nil {
		return "", fmt.Errorf("%s is there already", to)
	}
	partial, err := makePartial(to)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(partial))
		}
	}()
	// From before the registers are read: what they name then stays until it has been copied.
	release := d.objects.Hold()
	defer func() { err = errors.Join(err, release()) }()
	if err := d.copyRegisters(ctx, filepath.Join(partial, "consensus")); err != nil {
		return "", err
	}
	objects, err := blob.OpenDirectory(filepath.Join(partial, "blob"), blob.DirectoryOptions{Registry: prometheus.NewRegistry()})
	if err != nil {
		return "", err
	}
	n, size, err := blob.Copy(ctx, d.objects, objects)
	if err != nil {
		return "", err
	}
	if err := finishPartial(partial, to); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has the registers and %d objects of %d bytes", to, n, size), nil
}

// copyRegisters makes a store of registers of which no file can lose its end without the loss being noticed.
func (d *dataDirectory) copyRegisters(ctx context.Context, to string) error {
	open := func() (*consensus.Pebble, error) {
		return consensus.OpenPebble(to, consensus.PebbleOptions{Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler)})
	}
	registers, err := open()
	if err != nil {
		return err
	}
	if err := errors.Join(registers.Load(ctx, d.registers.Entries(ctx)), registers.Close()); err != nil {
		return err
	}
	// The manifest has the tables one after the other, as they were made. Opened anew, the store writes one that has them all
	// in its first record.
	if registers, err = open(); err != nil {
		return err
	}
	return registers.Close()
}

// syncDirectory makes the names in a directory durable.
func syncDirectory(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// restoreCommand is "tributary restore".
func restoreCommand() *cobra.Command {
	var o storeOptions
	cmd := &cobra.Command{
		Use:   "restore [flags] BACKUP",
		Short: "make a data directory, or fill shared stores, from a backup",
		Long: `Check a backup (or a data directory that no server uses) and copy it to where a server is to be started: a directory
that is not there yet, or a PostgreSQL database and a bucket's folder that are empty. So it also moves an environment
from a directory to shared stores.`,
		Example: `  tributary restore --data-dir /var/lib/tributary /backups/monday
  tributary restore --consensus postgres://tributary@db.example/tributary --blob s3://bucket/folder /backups/monday`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.SilenceUsage = true
			if err := o.check(cmd.Flags().Changed("data-dir")); err != nil {
				return err
			}
			done, err := restore(cmd.Context(), args[0], o)
			if err != nil {
				return fmt.Errorf("restore %s: %w", args[0], err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			return err
		},
	}
	o.addTo(cmd.Flags())
	return cmd
}

func restore(ctx context.Context, from string, o storeOptions) (done string, err error) {
	if o.inMemory {
		return "", errors.New("--in-memory keeps nothing")
	}
	d, err := openOffline(from)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := inspect(ctx, d.registers, d.objects, io.Discard); err != nil {
		return "", fmt.Errorf("the backup is damaged, as tributary inspect shows: %w", err)
	}
	if o.consensus != "" {
		return d.moveTo(ctx, o)
	}
	to, err := filepath.Abs(o.dataDir)
	if err != nil {
		return "", err
	}
	return d.copyTo(ctx, to)
}

// moveTo fills empty shared stores. The registers come last, in one transaction: until then there is no environment.
func (d *dataDirectory) moveTo(ctx context.Context, o storeOptions) (done string, err error) {
	registers, err := consensus.OpenPostgres(ctx, o.consensus, consensus.PostgresOptions{})
	if err != nil {
		return "", fmt.Errorf("--consensus: %w", err)
	}
	defer func() { err = errors.Join(err, registers.Close()) }()
	objects, err := blob.OpenS3(ctx, o.blob)
	if err != nil {
		return "", fmt.Errorf("--blob: %w", err)
	}
	there, err := objects.List(ctx, "")
	if err != nil {
		return "", err
	}
	if len(there) > 0 {
		return "", fmt.Errorf("--blob: the folder has %d objects already: empty it, or take another one", len(there))
	}
	if keys, err := registers.Keys(ctx, ""); err != nil {
		return "", err
	} else if len(keys) > 0 {
		return "", fmt.Errorf("--consensus: %w: take another database, or another search_path", consensus.ErrNotEmpty)
	}
	name, err := newEnvironmentName(rand.Reader)
	if err != nil {
		return "", err
	}
	if err := objects.Put(ctx, environmentKey, name); err != nil {
		return "", err
	}
	n, size, err := blob.Copy(ctx, d.objects, objects)
	if err != nil {
		return "", err
	}
	err = registers.Load(ctx, func(visit func([]consensus.Copied) error) error {
		if err := d.registers.Entries(ctx)(visit); err != nil {
			return err
		}
		return visit([]consensus.Copied{{Key: environmentKey, Versioned: consensus.Versioned{Version: 1, Data: name}}})
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the stores have the registers and %d objects of %d bytes", n, size), nil
}
