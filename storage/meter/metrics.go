// Package meter counts what a process does to its shards and shows what they look like, for whoever watches it.
//
// Promises:
//
//	M1  counting costs a few additions a part, an object or a commit, and nothing a row or while nothing happens.
//	M2  the metrics that have a collection's name as a label are there until Forget.
//
// Nobody decides anything by what is counted here. Meter and Collection are safe for concurrent use.
package meter

import (
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Registry takes metrics.
type Registry = prometheus.Registerer

// Origin says whose work something is.
type Origin uint8

const (
	// Append is what appends (and other operations of clients) bring.
	Append Origin = iota
	// Compaction is what compaction rewrites.
	Compaction
	// Rollup is whole states, and the entries that name them.
	Rollup

	// Origins is how many there are.
	Origins
)

func (o Origin) String() string {
	switch o {
	case Append:
		return "append"
	case Compaction:
		return "compaction"
	case Rollup:
		return "rollup"
	}
	return fmt.Sprintf("origin(%d)", uint8(o))
}

// Fate is what becomes of a part that a read meets.
type Fate uint8

const (
	Read Fate = iota
	Skipped
	Audited
	// Inline parts have no statistics and are always read.
	Inline

	fateCount
)

func (f Fate) String() string { return [fateCount]string{"read", "skipped", "audited", "inline"}[f] }

// Meter is the metrics of a process's shards.
type Meter struct {
	// Those that are counted by who does what they say.
	CacheHits, CacheMisses, Deleted, Swept, SweptBytes, CompactedRows, CompactionsRequested, AuditsFailed prometheus.Counter

	// By collection and origin, or by collection.
	objectsPut, objectBytes, entries, consensusBytes, inlineParts, inlineBytes *prometheus.CounterVec

	started        prometheus.Counter
	compactions    *prometheus.CounterVec // outcome
	compactSeconds prometheus.Observer
	putSeconds     [Origins]prometheus.Observer
	// Parts, and their bytes, by fate.
	parts, partBytes [fateCount]prometheus.Counter

	mu struct {
		sync.Mutex
		names map[string]*Collection
	}
}

// New registers the metrics. What is kept of parts in memory is asked for when it is shown.
func New(r Registry, cacheBytes func() int64) *Meter {
	one := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "tributary_storage_" + name, Help: help})
		r.MustRegister(c)
		return c
	}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tributary_storage_" + name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	m := &Meter{
		CacheHits:     one("cache_hits_total", "Parts that were read from the cache."),
		CacheMisses:   one("cache_misses_total", "Parts that were not in the cache."),
		SweptBytes:    one("swept_bytes_total", "Bytes of the objects of tributary_storage_objects_swept_total."),
		Deleted:       one("objects_deleted_total", "Objects deleted since no reader can reach them."),
		Swept:         one("objects_swept_total", "Objects that an earlier process left unlinked."),
		CompactedRows: one("compacted_rows_total", "Rows written by compaction."),
		CompactionsRequested: one("compactions_requested_total",
			"How often maintenance found batches to be merged. What comes while a shard waits for it is done by the same compaction."),
		AuditsFailed: one("audits_failed_total",
			"Audited parts that had wanted rows although their statistics ruled them out."),

		objectsPut:     vec("objects_put_total", "Objects put into the blob store.", "collection", "origin"),
		objectBytes:    vec("object_bytes_total", "Bytes of objects put into the blob store.", "collection", "origin"),
		entries:        vec("consensus_entries_total", "Entries committed to registers.", "collection", "origin"),
		consensusBytes: vec("consensus_bytes_total", "Bytes of entries committed to registers.", "collection", "origin"),
		inlineParts:    vec("inline_parts_total", "Parts kept inline in a shard's state.", "collection"),
		inlineBytes:    vec("inline_bytes_total", "Bytes of parts kept inline in a shard's state.", "collection"),
		compactions: vec("compactions_total",
			"Compactions that ended, by outcome: applied; refused, the batches having changed meanwhile; failed; skipped, there being "+
				"nothing to do.", "outcome"),
		started:        one("compactions_started_total", "Compactions that were begun, of which none is skipped."),
		compactSeconds: histogram(r, "compaction_seconds", "How long a compaction took.").WithLabelValues(),
	}
	putSeconds := histogram(r, "object_put_seconds", "How long putting an object took.", "origin")
	for o := range Origins {
		m.putSeconds[o] = putSeconds.WithLabelValues(o.String())
	}
	parts := vec("scan_parts_total", "Parts met by reads, by fate: read; skipped by statistics; audited, which are some of those skipped; "+
		"inline ones, which are read.", "fate")
	partBytes := vec("scan_part_bytes_total", "Bytes, encoded, of the parts of tributary_storage_scan_parts_total.", "fate")
	for f := range fateCount {
		m.parts[f], m.partBytes[f] = parts.WithLabelValues(f.String()), partBytes.WithLabelValues(f.String())
	}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "tributary_storage_cache_bytes", Help: "Bytes of decoded parts kept."}, func() float64 { return float64(cacheBytes()) }))
	m.mu.names = map[string]*Collection{}
	return m
}

func histogram(r Registry, name, help string, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tributary_storage_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(100e-6, 2, 16)}, labels)
	r.MustRegister(h)
	return h
}

// timed gives a function that observes the time since.
func timed(o prometheus.Observer) func() {
	began := time.Now()
	return func() { o.Observe(time.Since(began).Seconds()) }
}

// Stopwatch gives a function that adds the time since to a sum.
func Stopwatch(sum *time.Duration) func() {
	began := time.Now()
	return func() { *sum += time.Since(began) }
}

// Putting observes the put of an object from its begin to its end.
func (m *Meter) Putting(o Origin) (ended func()) { return timed(m.putSeconds[o]) }

// Compacting observes a compaction from its begin to its end.
func (m *Meter) Compacting() (ended func(outcome string)) {
	m.started.Inc()
	took := timed(m.compactSeconds)
	return func(outcome string) {
		took()
		m.compactions.WithLabelValues(outcome).Inc()
	}
}

// NothingToCompact counts a compaction that had nothing to do.
func (m *Meter) NothingToCompact() { m.compactions.WithLabelValues("skipped").Inc() }

// Met counts a part that a read met. On nil nothing is counted.
func (m *Meter) Met(f Fate, bytes int64) {
	if m != nil {
		m.parts[f].Inc()
		m.partBytes[f].Add(float64(bytes))
	}
}

// Collection is the metrics of one collection: counters looked up once.
type Collection struct {
	objects, objectBytes, entries, consensus [Origins]prometheus.Counter
	inline, inlineBytes                      prometheus.Counter
	name                                     string
}

// Collection gives the metrics with a collection's name. Two shards with one name share them.
func (m *Meter) Collection(name string) *Collection {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.mu.names[name]; c != nil {
		return c
	}
	c := &Collection{name: name, inline: m.inlineParts.WithLabelValues(name), inlineBytes: m.inlineBytes.WithLabelValues(name)}
	for o := range Origins {
		c.objects[o] = m.objectsPut.WithLabelValues(name, o.String())
		c.objectBytes[o] = m.objectBytes.WithLabelValues(name, o.String())
		c.entries[o] = m.entries.WithLabelValues(name, o.String())
		c.consensus[o] = m.consensusBytes.WithLabelValues(name, o.String())
	}
	m.mu.names[name] = c
	return c
}

// Forget ends the metrics with a collection's name.
func (m *Meter) Forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mu.names, name)
	m.inlineParts.DeleteLabelValues(name)
	m.inlineBytes.DeleteLabelValues(name)
	// Each by all of its labels: to delete by some of them is to look at every collection's.
	for o := range Origins {
		for _, v := range []*prometheus.CounterVec{m.objectsPut, m.objectBytes, m.entries, m.consensusBytes} {
			v.DeleteLabelValues(name, o.String())
		}
	}
}

// isCurrent says whether the metrics of a name are these.
func (m *Meter) isCurrent(c *Collection) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.names[c.name] == c
}

// Put counts an object that was put.
func (c *Collection) Put(o Origin, bytes int) {
	c.objects[o].Inc()
	c.objectBytes[o].Add(float64(bytes))
}

// Committed counts an entry that was committed to the register, and the inline parts in it.
func (c *Collection) Committed(o Origin, bytes, inlineParts, inlineBytes int) {
	c.entries[o].Inc()
	c.consensus[o].Add(float64(bytes))
	c.inline.Add(float64(inlineParts))
	c.inlineBytes.Add(float64(inlineBytes))
}

// Shape is what a shard looks like.
type Shape [shapeCount]float64

// What is counted of a shard.
const (
	ShapeRows = iota
	ShapeBatches
	ShapeUnmerged
	ShapeMerging
	ShapeRuns
	ShapeObjects
	ShapeObjectBytes
	ShapeInlineParts
	ShapeInlineBytes
	ShapeLogEntries
	ShapeRollupBytes
	ShapeHeldVersions
	ShapeGarbage
	ShapeGarbageBytes
	ShapeHistory

	shapeCount
)

// shapes are the gauges of what shards look like, by collection, counted when they are asked for.
type shapes struct {
	meter *Meter
	visit func(func(*Collection, Shape))
	descs [shapeCount]*prometheus.Desc
}

// Show registers the gauges of what shards look like. visit calls a function with the shape of each; it is called whenever the
// gauges are asked for.
func (m *Meter) Show(r Registry, visit func(func(*Collection, Shape))) {
	s := &shapes{meter: m, visit: visit}
	for i, d := range [shapeCount][2]string{
		ShapeRows:         {"rows", "Updates stored, before what compaction would save."},
		ShapeBatches:      {"batches", "Batches that a shard's updates are in."},
		ShapeUnmerged:     {"unmerged_batches", "Of the batches, those that compaction would merge next."},
		ShapeMerging:      {"merging_batches", "Of the batches, those that are being merged."},
		ShapeRuns:         {"runs", "Sorted runs that a shard's updates are in."},
		ShapeObjects:      {"objects", "Objects that a shard's updates are in."},
		ShapeObjectBytes:  {"object_bytes", "Bytes of the objects that a shard's updates are in."},
		ShapeInlineParts:  {"inline_parts", "Parts inline in a shard's state now."},
		ShapeInlineBytes:  {"inline_bytes", "Bytes of parts inline in a shard's state now."},
		ShapeLogEntries:   {"log_entries", "Entries of a shard's register since its newest rollup."},
		ShapeRollupBytes:  {"rollup_bytes", "Bytes of a shard's newest rollup."},
		ShapeHeldVersions: {"held_versions", "How many versions before the newest is the oldest that somebody reads."},
		ShapeGarbage:      {"garbage_objects", "Objects that are no longer needed and wait for readers or for being deleted."},
		ShapeGarbageBytes: {"garbage_bytes", "Bytes of the objects that are no longer needed."},
		ShapeHistory:      {"history_seconds", "How much history, before the last change, can still be read."},
	} {
		s.descs[i] = prometheus.NewDesc("tributary_storage_collection_"+d[0], d[1], []string{"collection"}, nil)
	}
	r.MustRegister(s)
}

// Describe is prometheus.Collector's.
func (s *shapes) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		ch <- d
	}
}

// Collect is prometheus.Collector's. Shards with one name are added up; one whose metrics have ended is left out.
func (s *shapes) Collect(ch chan<- prometheus.Metric) {
	sums := map[string]*Shape{}
	s.visit(func(c *Collection, one Shape) {
		if !s.meter.isCurrent(c) {
			return
		}
		if sums[c.name] == nil {
			sums[c.name] = &Shape{}
		}
		for i, x := range one {
			sums[c.name][i] += x
		}
	})
	for name, sum := range sums {
		for i, d := range s.descs {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, sum[i], name)
		}
	}
}
