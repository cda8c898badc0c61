package controller

import (
	"context"

	"github.com/tributary-db/tributary/storage/tvc"
)

// Choose chooses where a lookup at a time reads an index that is complete through it, and gives what says whether the
// index is still the one that was chosen.
func (c *Controller) Choose(index tvc.ID, at tvc.Time) (still func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	on, from, err := c.peekableLocked(c.mu.collections[index], at)
	if on == nil {
		panic(err)
	}
	return func() bool { return c.stillFrom(index, on, from) }
}

// Wait returns when the subscription is complete through a time.
func (s *Subscription) Wait(ctx context.Context, at tvc.Time) error {
	return s.c.Wait(ctx, []tvc.ID{s.id}, at)
}
