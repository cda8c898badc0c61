package coord

import (
	"context"
	"errors"
	"fmt"

	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
)

// Stored is what the catalog keeps in a shard.
type Stored struct {
	// Name is that of the table or view.
	Name string
	// Dropped says that it was dropped, and its shard sealed.
	Dropped bool
}

// StoredShards gives all shards that the catalog names, its own included, of an environment that no server uses.
func StoredShards(ctx context.Context, client *shard.Client) (map[shard.ID]Stored, error) {
	stored := map[shard.ID]Stored{}
	sh, err := client.Open(ctx, catalogShard, shard.OpenOptions{})
	if errors.Is(err, shard.ErrNotFound) {
		return stored, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	stored[catalogShard] = Stored{Name: catalogName}
	if sh.Upper() == 0 {
		return stored, nil
	}
	snap, err := readCatalog(ctx, builtin.New().System(), sh)
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	for it := range snap.Items() {
		if it.Shard != "" {
			stored[shard.ID(it.Shard)] = Stored{Name: snap.FullName(it)}
		}
	}
	for id := range snap.Garbage() {
		stored[shard.ID(id)] = Stored{Name: "a dropped table or view", Dropped: true}
	}
	return stored, nil
}

// readCatalog reads the catalog as it is now.
func readCatalog(ctx context.Context, system catalog.System, sh *shard.Shard) (*catalog.Snapshot, error) {
	scan, err := sh.Snapshot(ctx, sh.Upper().Last(), shard.ScanOptions{Consolidate: true})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	var blocks []*vec.Block
	for {
		b, err := scan.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return catalog.Load(system, blocks)
		}
		blocks = append(blocks, b.Clone())
	}
}
