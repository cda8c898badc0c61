package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	marks "github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// inspectCommand is "tributary inspect".
func inspectCommand() *cobra.Command {
	var id, object string
	var rows bool
	cmd := &cobra.Command{
		Use:   "inspect [flags] DIR",
		Short: "check a data directory, or a backup, and show what is in it",
		Long: `Check everything in a data directory that no server uses, or in a backup, without changing it: every register, every
state, every part's checksum, order, times, statistics and sums; and that the shards there are are those that the catalog
names. The exit status is 1 if there is any fault.

Each shard is a line of the summary, with the name of the table or view that is kept in it. Objects that are named by
nobody are no fault: a process that was killed leaves some, and the next one removes them.

With --shard and an ID of the summary the state of that shard is shown instead; with --rows too what is in its parts: time,
diff and columns.`,
		Example: `  tributary inspect /var/lib/tributary
  tributary inspect --shard u6 --rows /var/lib/tributary
  tributary inspect --shard u6 --object u6/p3-7 /var/lib/tributary`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			cmd.SilenceUsage = true
			if id == "" && (rows || object != "") {
				return errors.New("--rows and --object want --shard")
			}
			d, err := openOffline(args[0])
			if errors.Is(err, consensus.ErrInUse) {
				return fmt.Errorf("%w: stop the server, or inspect a backup", err)
			}
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.Close()) }()
			if id != "" {
				err := show(cmd.Context(), d, shard.ID(id), rows, object, cmd.OutOrStdout())
				if errors.Is(err, shard.ErrNotFound) {
					err = fmt.Errorf("%w: those that there are are shown without --shard", err)
				}
				return err
			}
			return inspect(cmd.Context(), d.registers, d.objects, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&id, "shard", "", "show the state of this shard")
	cmd.Flags().BoolVar(&rows, "rows", false, "show the rows of all its parts")
	cmd.Flags().StringVar(&object, "object", "", "show the rows of this part")
	return cmd
}

// dataDirectory is a data directory's stores.
type dataDirectory struct {
	registers *consensus.Pebble
	objects   *blob.Directory
}

// openOffline opens a data directory that no process uses, for reading only.
func openOffline(dir string) (*dataDirectory, error) {
	if err := checkNotPartial(dir); err != nil {
		return nil, fmt.Errorf("%s cannot be read as a data directory: %w", dir, err)
	}
	registry, log := prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	registers, err := consensus.OpenPebble(filepath.Join(dir, "consensus"),
		consensus.PebbleOptions{Registry: registry, Log: log, ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read as a data directory: %w", dir, err)
	}
	objects, err := blob.OpenDirectory(filepath.Join(dir, "blob"), blob.DirectoryOptions{Registry: registry, ReadOnly: true})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be read as a data directory: %w", dir, err), registers.Close())
	}
	return &dataDirectory{registers, objects}, nil
}

// Close lets go of the directory.
func (d *dataDirectory) Close() error { return d.registers.Close() }

// readingClient gives a client that writes nothing.
func readingClient(registers consensus.Store, objects blob.Store) (*shard.Client, error) {
	return shard.NewClient(shard.ClientOptions{Consensus: registers, Blob: objects, Settings: allSettings(),
		Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler)})
}

func show(ctx context.Context, d *dataDirectory, id shard.ID, rows bool, object string, w io.Writer) error {
	if err := shard.CheckID(id); err != nil {
		return err
	}
	client, err := readingClient(d.registers, d.objects)
	if err != nil {
		return err
	}
	if rows || object != "" {
		return client.Dump(ctx, id, object, w)
	}
	text, err := client.Describe(ctx, id)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// inspection is what inspect has found so far.
type inspection struct {
	out    io.Writer
	faults int
	// epoch is that of the last process.
	epoch uint64
	// mark is the oracle's: no time beyond it was given out. Nothing is held against it if it cannot be read.
	mark     tvc.Time
	markRead bool
	// stored is what the catalog keeps, by shard; nil if the catalog cannot be read.
	stored map[shard.ID]coord.Stored
	// named are the objects that some shard names.
	named map[string]bool
}

func (i *inspection) fault(format string, args ...any) {
	i.faults++
	fmt.Fprintf(i.out, "FAULT: "+format+"\n", args...)
}

// inspect checks an environment that nobody writes to. It gives an error if there is any fault.
func inspect(ctx context.Context, registers consensus.Store, objects blob.Store, w io.Writer) error {
	client, err := readingClient(registers, objects)
	if err != nil {
		return err
	}
	i := &inspection{out: w, named: map[string]bool{environmentKey: true}}
	if err := i.environment(ctx, registers); err != nil {
		return err
	}
	if i.stored, err = coord.StoredShards(ctx, client); err != nil {
		i.fault("%v", err)
	}
	keys, err := registers.Keys(ctx, shard.RegisterPrefix)
	if err != nil {
		return err
	}
	there := map[shard.ID]bool{}
	for _, key := range keys {
		id := shard.ID(strings.TrimPrefix(key, shard.RegisterPrefix))
		there[id] = true
		i.shard(ctx, client, id)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(i.stored)) {
		if !there[id] {
			i.fault("shard %s, in which %s is kept, is not there", id, i.stored[id].Name)
		}
	}
	if err := i.objects(ctx, objects); err != nil {
		return err
	}
	if i.faults > 0 {
		return fmt.Errorf("%d faults", i.faults)
	}
	fmt.Fprintln(w, "no fault found")
	return nil
}

// environment checks the registers that are not shards'.
func (i *inspection) environment(ctx context.Context, registers consensus.Store) error {
	epoch, err := registers.Head(ctx, txn.EpochKey)
	if err != nil {
		return err
	}
	if epoch.Version == 0 {
		i.fault("there is no epoch: no server has ever used this, or its registers are lost")
	}
	i.epoch = uint64(epoch.Version)
	fmt.Fprintf(i.out, "epoch %d: a server was started so many times\n", i.epoch)
	head, err := registers.Head(ctx, marks.MarkKey)
	if err != nil {
		return err
	}
	switch mark, err := marks.DecodeMark(head.Data); {
	case err != nil:
		i.fault("the oracle's mark: %v", err)
	default:
		i.mark, i.markRead = mark, true
		fmt.Fprintf(i.out, "no time given out is later than %s\n", instant(tvc.Frontier(mark)))
	}
	return nil
}

// instant shows a time for people.
func instant(f tvc.Frontier) string {
	if f == tvc.Done {
		return "done"
	}
	return time.UnixMicro(int64(f)).UTC().Format("2006-01-02T15:04:05.000000Z")
}

func (i *inspection) shard(ctx context.Context, client *shard.Client, id shard.ID) {
	r, err := client.Check(ctx, id)
	if err != nil {
		i.fault("shard %s: %v", id, err)
		return
	}
	if r.Sealed {
		fmt.Fprintf(i.out, "%s: sealed\n", i.called(id))
	} else {
		fmt.Fprintf(i.out, "%s: since %s, upper %s, %d rows, Σdiff %d, %d batches, %d bytes inline, %d objects\n", i.called(id),
			instant(r.Since), instant(r.Upper), r.Totals.Rows, r.Totals.DiffSum, r.Batches, r.InlineBytes, len(r.Objects))
	}
	i.isStored(id, r.Sealed)
	i.isBehindMark(id, r.Upper)
	for _, key := range r.Objects {
		i.named[key] = true
		if epoch, ok := shard.ObjectEpoch(key); !ok || epoch > i.epoch {
			i.fault("shard %s names %s, of an epoch that has not been", id, key)
		}
	}
	for _, err := range r.Faults {
		i.fault("shard %s: %v", id, err)
	}
}

// called gives a shard's ID, and the name of what is kept in it if the catalog has one.
func (i *inspection) called(id shard.ID) string {
	if of := i.stored[id]; of.Name != "" {
		return fmt.Sprintf("shard %s (%s)", id, of.Name)
	}
	return fmt.Sprintf("shard %s", id)
}

// isBehindMark holds a shard's upper against the oracle's mark, beyond which nothing is durable: the next process gives out
// times from the mark on, so one that the shard has been through already would be given twice. A shard that is complete
// for good is at no time.
func (i *inspection) isBehindMark(id shard.ID, upper tvc.Frontier) {
	if i.markRead && upper != tvc.Done && upper > tvc.After(i.mark) {
		i.fault("shard %s is complete up to %s, beyond the oracle's mark: a time in between would be given out twice", id, instant(upper))
	}
}

// isStored holds a shard that is there against the catalog. A sealed one stays when the catalog has forgotten it: its name is
// never given again.
func (i *inspection) isStored(id shard.ID, sealed bool) {
	if i.stored == nil {
		return
	}
	switch of, ok := i.stored[id]; {
	case !ok && !sealed:
		i.fault("shard %s is named by nobody: no table or view is kept in it", id)
	case ok && sealed && !of.Dropped:
		i.fault("shard %s, in which %s is kept, is sealed and has no rows any more", id, of.Name)
	case ok && !sealed && of.Dropped:
		i.fault("shard %s is not sealed, though what was kept in it was dropped", id)
	}
}

// objects looks for objects that nobody names; that those that are named are there, the shards' checks have seen.
func (i *inspection) objects(ctx context.Context, objects blob.Store) error {
	infos, err := objects.List(ctx, "")
	if err != nil {
		return err
	}
	var bytes, lostBytes int64
	lost := 0
	for _, info := range infos {
		bytes += info.Size
		if i.named[info.Key] {
			continue
		}
		lost++
		lostBytes += info.Size
		if epoch, ok := shard.ObjectEpoch(info.Key); ok && epoch > i.epoch {
			i.fault("object %s is of an epoch that has not been: the registers are older than the objects", info.Key)
		}
	}
	fmt.Fprintf(i.out, "%d objects, %d bytes; %d of them, %d bytes, are named by nobody\n", len(infos), bytes, lost, lostBytes)
	return nil
}
