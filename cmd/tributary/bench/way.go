package bench

import "github.com/tributary-db/tributary/compute/sink"

// way is how views are written: by the server, with some threshold, or as it is done elsewhere.
type way struct {
	name string
	// sharing makes a baseline whose workers are in groups; nil is the server's own way.
	sharing func(groups int) sink.Sharing
	// threshold is compute_mv_sink_shared_batch_max_bytes.
	threshold string
}

// The ways that there are.
var (
	perWorker = way{"baseline_per_worker", func(int) sink.Sharing { return sink.BaselinePerWorker() }, "0"}
	// bestEffort and barrier share up to the threshold, unbounded shares everything.
	bestEffort = way{"baseline_best_effort", sink.BaselineBestEffort, "1MB"}
	barrier    = way{"baseline_barrier", sink.BaselineBarrier, "1MB"}
	unbounded  = way{"baseline_unbounded", sink.BaselineBestEffort, "1GB"}
	off        = way{"sharing off", nil, "0"}
	on         = way{"sharing on", nil, "1MB"}
)

// elsewhere compares the default with the ways known from elsewhere, everyWay with sharing switched off too.
var (
	elsewhere = []way{perWorker, bestEffort, barrier, on}
	everyWay  = []way{perWorker, bestEffort, barrier, off, on}
)

// thresholds are the server's own way with less and more sharing than by default.
var thresholds = []way{off, {"64kB", nil, "64kB"}, on, {"16MB", nil, "16MB"}, {"256MB", nil, "256MB"}}
