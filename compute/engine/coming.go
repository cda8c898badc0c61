package engine

import (
	"sync"

	"github.com/tributary-db/tributary/storage/txn"
)

// coming announces to the line of commits that a dataflow may soon have an append: from when it is woken until it sleeps
// again. It is safe for concurrent use.
type coming struct {
	group *txn.Group // nil: it makes no appends
	mu    struct {
		sync.Mutex
		// open says that who is woken looks at once.
		open bool
		// announced is what the group was told; 0 if nothing.
		announced txn.Announcement
	}
}

// begin lets expect announce from now on.
func (c *coming) begin() {
	c.mu.Lock()
	c.mu.open = true
	c.mu.Unlock()
}

// end takes back what was announced, and lets expect announce nothing more.
func (c *coming) end() {
	c.mu.Lock()
	c.mu.open = false
	c.mu.Unlock()
	c.met()
}

func (c *coming) expect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.group != nil && c.mu.open && c.mu.announced == 0 {
		c.mu.announced = c.group.Expect()
	}
}

// met says that the append is in line, or was announced by itself, or does not come soon.
func (c *coming) met() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.announced != 0 {
		c.group.Met(c.mu.announced)
		c.mu.announced = 0
	}
}
