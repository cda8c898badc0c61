package session

import (
	"context"

	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Coord is what sessions share, as a session sees it.
type Coord interface {
	// Catalog is the newest snapshot.
	Catalog() *catalog.Snapshot
	// Read chooses a time for the collections with the given ids and holds them. System relations are never
	// among them; none at all is fine.
	Read(ctx context.Context, ids []tvc.ID, o coord.ReadOptions) (coord.Read, error)
	// Write starts to gather a transaction's writes.
	Write() coord.Writes
	// Alter applies operations to the catalog if it is still base, and gives the changes; nil without an error
	// means that it is not, and that the statement must be bound again.
	Alter(ctx context.Context, base *catalog.Snapshot, ops []catalog.Op) (*catalog.Changes, error)
	// SinkStatistics is what was done for a materialized view.
	SinkStatistics(id tvc.ID) builtin.SinkStatistics
}
