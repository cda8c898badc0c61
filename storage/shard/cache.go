package shard

import (
	"container/list"
	"sync"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/part"
)

// decoded is a part ready to be read: an object, or blocks that were just written or decoded.
type decoded struct {
	object *part.Object
	blocks []*vec.Block
	size   int64
}

func (d *decoded) count() int {
	if d.object != nil {
		return d.object.Blocks()
	}
	return len(d.blocks)
}

// block gives the wanted columns of a block; nil is all of them.
func (d *decoded) block(i int, kinds []types.Kind, wanted []int) (*vec.Block, error) {
	if d.object != nil {
		return d.object.Block(i, kinds, wanted)
	}
	return picked(d.blocks[i], wanted), nil
}

// picked is a block with some of its columns, in the order wanted; nil is all of them.
func picked(b *vec.Block, wanted []int) *vec.Block {
	if wanted == nil {
		return b
	}
	out := &vec.Block{Len: b.Len, Cols: make([]vec.Vec, len(wanted)), Diffs: b.Diffs, Times: b.Times}
	for i, c := range wanted {
		out.Cols[i] = b.Cols[c]
	}
	return out
}

// slot is a part's place in the cache. All copies of a partRef share it. The cache's lock guards it.
type slot struct {
	value *decoded
	place *list.Element
}

// cache keeps decoded parts of all shards of the process, the most recently used ones, up to a number of bytes.
// What was just appended is put in it, so that listeners need not decode it.
type cache struct {
	mu struct {
		sync.Mutex
		used int64
		// recent holds *slot, the most recently used first.
		recent list.List
	}
}

// get gives what is kept for a part, or nil.
func (c *cache) get(s *slot) *decoded {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.value == nil || invariants.Sometimes(10) {
		return nil
	}
	c.mu.recent.MoveToFront(s.place)
	return s.value
}

// put keeps d for a part and drops what has not been used for longest, so that at most limit bytes are kept. A
// part that would take more than a quarter of that is not kept: a scan of a large shard is not to drive out
// everything else.
func (c *cache) put(s *slot, d *decoded, limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.value != nil || d.size > limit/4 {
		return
	}
	s.value = d
	s.place = c.mu.recent.PushFront(s)
	c.mu.used += d.size
	for c.mu.used > limit {
		c.dropLocked(c.mu.recent.Back().Value.(*slot))
	}
}

// drop forgets a part that no state names any more.
func (c *cache) drop(s *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.value != nil {
		c.dropLocked(s)
	}
}

func (c *cache) dropLocked(s *slot) {
	c.mu.recent.Remove(s.place)
	c.mu.used -= s.value.size
	s.value, s.place = nil, nil
}

// bytes is how much is kept.
func (c *cache) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.used
}
