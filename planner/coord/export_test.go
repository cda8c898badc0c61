package coord

import (
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Set gives the collections.
func (c *Coord) Set() *collection.Set { return c.set }

// WaitingCommits counts the transactions in the commit line that no group has taken.
func (c *Coord) WaitingCommits() int {
	c.commit.mu.Lock()
	defer c.commit.mu.Unlock()
	return len(c.commit.mu.queue)
}

// Everything lists the collections that a read of All holds.
func (r *read) Held() []tvc.ID { return r.held }
