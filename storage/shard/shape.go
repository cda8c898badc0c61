package shard

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/tributary-db/tributary/storage/meter"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Origin says whose work something is, in metrics.
type Origin = meter.Origin

// Whose work something is.
const (
	OriginAppend     = meter.Append
	OriginCompaction = meter.Compaction
	OriginRollup     = meter.Rollup
)

// work counts what was done for a shard.
type work struct{ objects, consensusBytes atomic.Int64 }

// Work gives how many objects somebody's work has put, and how many bytes it has committed to the register, since the
// process opened the shard.
func (s *Shard) Work(o Origin) (objects, consensusBytes int64) {
	return s.work[o].objects.Load(), s.work[o].consensusBytes.Load()
}

// shapes gives what the open shards look like.
func (c *Client) shapes(visit func(*meter.Collection, meter.Shape)) {
	c.mu.Lock()
	open := slices.Collect(maps.Values(c.mu.shards))
	c.mu.Unlock()
	for _, sh := range open {
		visit(sh.metrics.Load(), sh.shape())
	}
}

// shape counts what the shard looks like.
func (s *Shard) shape() (out meter.Shape) {
	st := s.current()
	out[meter.ShapeBatches], out[meter.ShapeRows] = float64(len(st.batches)), float64(st.totals.Rows)
	out[meter.ShapeInlineBytes], out[meter.ShapeMerging] = float64(st.inlineBytes), float64(s.merging.Load())
	out[meter.ShapeLogEntries], out[meter.ShapeRollupBytes] = float64(st.version-st.rollup.version), float64(st.rollup.size)
	if st.mayMerge() {
		from, to, _ := st.plan(st.since)
		out[meter.ShapeUnmerged] = float64(to - from)
	}
	if st.upper != tvc.Done && st.upper > st.since {
		out[meter.ShapeHistory] = float64(st.upper-st.since) / 1e6
	}
	for _, b := range st.batches {
		out[meter.ShapeRuns] += float64(len(b.runs))
		for _, r := range b.runs {
			for _, p := range r {
				if p.isInline() {
					out[meter.ShapeInlineParts]++
				} else {
					out[meter.ShapeObjects]++
					out[meter.ShapeObjectBytes] += float64(p.size)
				}
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.mu.pins {
		// The state may be older than the pins by now.
		out[meter.ShapeHeldVersions] = max(out[meter.ShapeHeldVersions], float64(st.version)-float64(v))
	}
	out[meter.ShapeGarbage] = float64(len(s.mu.dead))
	for _, d := range s.mu.dead {
		out[meter.ShapeGarbageBytes] += float64(d.bytes)
	}
	return out
}
