package shard

import (
	"context"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
)

// Client is a process's way to the shards of an environment.
type Client struct {
	consensus consensus.Store
	blob      blob.Store
}

// Open gives the handle of a shard that exists, reading its state if the process has not yet. ErrNotFound if
// there is none.
func (c *Client) Open(ctx context.Context, id ID) (*Shard, error) { panic("sketch") }

// Token gives a fresh token.
func (c *Client) Token() Token { panic("sketch") }
