package coord

import (
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/tvc"
)

// OfStorage gives an error of storage a client's code.
func OfStorage(err error) error { return ofStorage(err) }

// Set gives the collections.
func (c *Coord) Set() *collection.Set { return c.set }

// CatalogUpper is the upper of the catalog's own shard.
func (c *Coord) CatalogUpper() tvc.Frontier { return c.store.Upper() }

// WaitingCommits counts the transactions in the commit line that no group has taken.
func (c *Coord) WaitingCommits() int {
	c.commit.mu.Lock()
	defer c.commit.mu.Unlock()
	return len(c.commit.mu.queue)
}
