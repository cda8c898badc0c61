package bench

import (
	"context"
	"time"
)

// values are what a cell has measured, by name.
type values map[string]float64

// column is a value as it is shown.
type column struct {
	key, title string
	// digits after the point.
	digits int
}

// goal is what a value is hoped to be at most: of a way, or as the ratio of its median to another's.
type goal struct {
	key    string
	way    string
	over   string // the way that it is compared with; empty means none
	atMost float64
	what   string
}

// table compares ways in one situation.
type table struct {
	name, title string
	ways        []way
	columns     []column
	// plots is the key of the value that is drawn.
	plots   string
	goals   []goal
	measure func(ctx context.Context, b *bench, w way, run int) (values, error)
}

var (
	latency = []column{{"mean", "mean ms", 2}, {"p50", "p50 ms", 2}, {"p95", "p95 ms", 2}, {"p99", "p99 ms", 2}}
	parts   = []column{{"object_parts", "object parts", 2}, {"inline_parts", "inline parts", 2}, {"puts", "puts", 2},
		{"all_puts", "with compaction", 2}}
	registers = []column{{"bytes", "bytes", 0}, {"all_bytes", "with compaction", 0}, {"commands", "commands", 2},
		{"commits", "commits", 2}, {"view_commits", "of appends", 2}, {"fsyncs", "fsyncs", 2},
		{"appends", "appends", 0}, {"empty", "empty appends", 0}}
	split = []column{{"commit", "commit ms", 2}, {"dataflow", "dataflow ms", 2}, {"wait", "wait ms", 2},
		{"encode", "encode ms", 2}, {"put", "put ms", 2}, {"append", "append ms", 2}, {"rest", "rest ms", 2}}
	large = []column{{"seconds", "s", 2}, {"object_parts", "object parts", 0}, {"inline_parts", "inline parts", 0},
		{"puts", "puts", 0}, {"bytes", "bytes", 0}, {"commands", "commands", 0}, {"fsyncs", "fsyncs", 0}, {"appends", "appends", 0},
		{"peak", "peak heap MiB", 0}, {"cpu", "processor s", 2}, {"wait", "wait s", 2}, {"encode", "encode s", 2}, {"put", "put s", 2},
		{"append", "append s", 2}}
)

func columns(of ...[]column) []column {
	var out []column
	for _, cs := range of {
		out = append(out, cs...)
	}
	return out
}

// tables are all there are, in the order in which they are measured.
var tables = []table{
	{name: "small", title: "100 rows, 20 times a second, 8 workers", ways: everyWay, plots: "p50",
		columns: columns(latency, parts, registers, split),
		goals: []goal{{"puts", on.name, "", 0.05, "objects put by an append"},
			{"p50", on.name, perWorker.name, 1.03, "p50 against a part a worker"},
			{"p50", on.name, off.name, 1.03, "p50 against sharing switched off"}},
		measure: steady{workers: 8, rows: 100, every: time.Second / 20}.measure},
	{name: "medium", title: "1000 rows, 5 times a second, 8 workers", ways: everyWay, plots: "p50",
		columns: columns(latency, parts, registers, split),
		goals: []goal{{"object_parts", on.name, "", 1, "object parts of an append"},
			{"p50", on.name, perWorker.name, 1.03, "p50 against a part a worker"},
			{"p50", on.name, off.name, 1.03, "p50 against sharing switched off"}},
		measure: steady{workers: 8, rows: 1000, every: time.Second / 5}.measure},
	{name: "groups-128", title: "128 rows, once a second, 4 groups of 32 workers", ways: elsewhere, plots: "all_bytes",
		columns: columns(registers, parts, latency, split),
		goals:   []goal{{"all_bytes", on.name, "", 8500, "bytes in registers of an append"}},
		measure: steady{workers: 128, groups: 4, rows: 128, every: time.Second, tail: 600}.measure},
	{name: "groups-32", title: "32 rows, once a second, 4 groups of 32 workers", ways: elsewhere, plots: "all_bytes",
		columns: columns(registers, parts, latency, split),
		goals:   []goal{{"all_bytes", on.name, "", 2500, "bytes in registers of an append"}},
		measure: steady{workers: 128, groups: 4, rows: 32, every: time.Second, tail: 1200}.measure},
	{name: "groups-128-plain", title: "128 rows, once a second, 4 groups of 32 workers, without compaction",
		ways: elsewhere, plots: "all_bytes", columns: columns(registers, parts, latency, split),
		measure: steady{workers: 128, groups: 4, rows: 128, every: time.Second, noCompaction: true}.measure},
	{name: "groups-32-plain", title: "32 rows, once a second, 4 groups of 32 workers, without compaction",
		ways: elsewhere, plots: "all_bytes", columns: columns(registers, parts, latency, split),
		measure: steady{workers: 128, groups: 4, rows: 32, every: time.Second, noCompaction: true}.measure},
	{name: "views-8", title: "100 rows, 5 times a second, 8 views of one table, 8 workers", ways: []way{perWorker, on},
		plots: "view_commits", columns: columns(registers, parts, latency, split),
		goals:   []goal{{"view_commits", on.name, "", 1, "commits of all views for an insert"}},
		measure: steady{workers: 8, views: 8, rows: 100, every: time.Second / 5}.measure},
	{name: "views-100", title: "100 rows, twice a second, 100 views of one table, 8 workers", ways: []way{on}, plots: "view_commits",
		columns: columns(registers, parts, latency, split),
		goals:   []goal{{"view_commits", on.name, "", 1, "commits of all views for an insert"}},
		measure: steady{workers: 8, views: 100, rows: 100, every: time.Second / 2}.measure},
	{name: "idle", title: "100 views of a table that nobody writes to, for a minute, in all", ways: []way{on}, plots: "commands",
		columns: []column{{"commands", "commands", 0}, {"fsyncs", "fsyncs", 0}, {"appends", "appends", 0},
			{"goroutines", "goroutines started", 0}, {"cpu", "processor ms", 0}},
		goals: []goal{{"commands", on.name, "", 0, "commands"}, {"fsyncs", on.name, "", 0, "fsyncs"},
			{"goroutines", on.name, "", 0, "goroutines started"}},
		measure: steady{workers: 8, views: 100}.measure},
	{name: "replicas", title: "1000 rows, 5 times a second, two replicas of 8 workers", ways: []way{off, on}, plots: "wasted",
		columns: columns([]column{{"wasted", "objects put in vain", 0}, {"refused", "appends refused", 0}},
			latency, parts, registers, split),
		goals:   []goal{{"wasted", on.name, "", 0, "objects put by the replica that does not append"}},
		measure: steady{workers: 8, replicas: 2, rows: 1000, every: time.Second / 5}.measure},
	{name: "skew", title: "1000 rows, 5 times a second, 8 workers of which one has nine rows of ten", ways: []way{perWorker, off, on},
		plots: "p50", columns: columns(latency, parts, registers, split),
		measure: steady{workers: 8, rows: 1000, every: time.Second / 5, skew: true}.measure},
	{name: "slow", title: "1000 rows, 5 times a second, 8 workers, objects put 50 ms later and one try in twenty failing",
		ways: []way{perWorker, on}, plots: "p50", columns: columns(latency, parts, registers, split),
		measure: steady{workers: 8, rows: 1000, every: time.Second / 5, slow: true}.measure},
	{name: "hydrate-narrow", title: "a view of a table with narrow rows (40 bytes), 8 workers",
		ways: []way{perWorker, bestEffort, unbounded, off, on}, plots: "seconds",
		columns: columns(large, []column{{"rate", "MiB/s", 0}}),
		goals: []goal{{"seconds", on.name, perWorker.name, 1.03, "time against a part a worker"},
			{"seconds", on.name, off.name, 1.03, "time against sharing switched off"}},
		measure: hydration{workers: 8, text: "md5(g::text)", bytes: 32}.measure},
	{name: "hydrate-wide", title: "a view of a table with wide rows (1000 bytes), 8 workers",
		ways: []way{perWorker, bestEffort, unbounded, off, on}, plots: "seconds",
		columns: columns(large, []column{{"rate", "MiB/s", 0}}),
		goals: []goal{{"seconds", on.name, perWorker.name, 1.03, "time against a part a worker"},
			{"seconds", on.name, off.name, 1.03, "time against sharing switched off"}},
		measure: hydration{workers: 8, text: "repeat(md5(g::text), 31)", bytes: 992}.measure},
	{name: "bulk", title: "five million rows in one insert, 8 workers", ways: []way{perWorker, bestEffort, unbounded, off, on},
		plots: "seconds", columns: columns([]column{{"insert", "insert s", 2}}, large),
		goals: []goal{{"seconds", on.name, perWorker.name, 1.03, "time after the insert against a part a worker"},
			{"seconds", on.name, off.name, 1.03, "time after the insert against sharing switched off"}},
		measure: bulkInsert{workers: 8}.measure},
	{name: "hydrate-thresholds", title: "a view of a table with narrow rows, 8 workers, by threshold", ways: thresholds, plots: "seconds",
		columns: columns(large, []column{{"rate", "MiB/s", 0}}),
		measure: hydration{workers: 8, text: "md5(g::text)", bytes: 32}.measure},
	{name: "bulk-thresholds", title: "five million rows in one insert, 8 workers, by threshold", ways: thresholds, plots: "seconds",
		columns: columns([]column{{"insert", "insert s", 2}}, large), measure: bulkInsert{workers: 8}.measure},
}
