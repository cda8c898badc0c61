package session

import (
	"context"
	"sync"

	"github.com/tributary-db/tributary/storage/tvc"
)

// turns lets statements that have lost a race for a table take turns at it. The race itself is decided at the commit,
// and a statement that has not lost yet waits for nobody; but of many that run again at once all but one would only
// lose again. It is safe for concurrent use.
type turns struct {
	mu struct {
		sync.Mutex
		tables map[tvc.ID]*turn
	}
}

// turn is whose turn it is at one table: who can put something into free has it. users counts who has it or waits.
type turn struct {
	free  chan struct{}
	users int
}

// take waits for a turn at a table; what it gives ends the turn.
func (t *turns) take(ctx context.Context, table tvc.ID) (end func(), err error) {
	t.mu.Lock()
	if t.mu.tables == nil {
		t.mu.tables = map[tvc.ID]*turn{}
	}
	at := t.mu.tables[table]
	if at == nil {
		at = &turn{free: make(chan struct{}, 1)}
		t.mu.tables[table] = at
	}
	at.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if at.users--; at.users == 0 {
			delete(t.mu.tables, table)
		}
	}
	select {
	case at.free <- struct{}{}:
		return func() { <-at.free; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
