package shard

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/tvc"
)

// Registry takes metrics.
type Registry = prometheus.Registerer

// clientMetrics are the metrics of a process's shards.
type clientMetrics struct {
	objectsPut, objectBytes     *prometheus.CounterVec // collection, origin
	consensusBytes              *prometheus.CounterVec // collection, origin
	inlineParts, inlineBytes    *prometheus.CounterVec // collection
	cacheHits                   prometheus.Counter
	objectsDeleted, objectsLost prometheus.Counter
	compacted                   prometheus.Counter
	compactions                 *prometheus.CounterVec // outcome
	compactSeconds              prometheus.Observer
	putSeconds                  [origins]prometheus.Observer
	fates                       fates
	auditsFailed                prometheus.Counter

	mu struct {
		sync.Mutex
		names map[string]*shardMetrics
	}
}

func newClientMetrics(r Registry, cacheBytes func() float64) *clientMetrics {
	labels := []string{"collection", "origin"}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	one := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	m := &clientMetrics{
		objectsPut:     vec("tributary_storage_objects_put_total", "Objects put into the blob store.", labels...),
		objectBytes:    vec("tributary_storage_object_bytes_total", "Bytes of objects put into the blob store.", labels...),
		consensusBytes: vec("tributary_storage_consensus_bytes_total", "Bytes of entries committed to registers.", labels...),
		inlineParts:    vec("tributary_storage_inline_parts_total", "Parts kept inline in a shard's state.", "collection"),
		inlineBytes:    vec("tributary_storage_inline_bytes_total", "Bytes of parts kept inline in a shard's state.", "collection"),
		cacheHits:      one("tributary_storage_cache_hits_total", "Parts that were read from the cache."),
		objectsDeleted: one("tributary_storage_objects_deleted_total", "Objects deleted since no reader can reach them."),
		objectsLost:    one("tributary_storage_objects_swept_total", "Objects that an earlier process left unlinked."),
		compacted:      one("tributary_storage_compacted_rows_total", "Rows written by compaction."),
		compactions: vec("tributary_storage_compactions_total",
			"Compactions that ended, by outcome: applied; refused, the batches having changed meanwhile; failed.", "outcome"),
	}
	putSeconds := histogram(r, "tributary_storage_object_put_seconds", "How long putting an object took.", "origin")
	for o := range origins {
		m.putSeconds[o] = putSeconds.WithLabelValues(o.String())
	}
	m.compactSeconds = histogram(r, "tributary_storage_compaction_seconds", "How long a compaction took.").WithLabelValues()
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "tributary_storage_cache_bytes", Help: "Bytes of decoded parts kept."}, cacheBytes))
	m.fates = newFates(
		vec("tributary_storage_scan_parts_total",
			"Parts met by reads, by fate: read; skipped by statistics; audited, which are some of those skipped.", "fate"),
		vec("tributary_storage_scan_part_bytes_total", "Bytes, encoded, of the parts of tributary_storage_scan_parts_total.", "fate"))
	m.auditsFailed = one("tributary_storage_audits_failed_total",
		"Audited parts that had wanted rows although their statistics ruled them out.")
	m.mu.names = map[string]*shardMetrics{}
	return m
}

// fate is what becomes of a part that a read meets.
type fate uint8

const (
	fateRead fate = iota
	fateSkipped
	fateAudited

	fateCount
)

func (f fate) String() string { return [fateCount]string{"read", "skipped", "audited"}[f] }

// fates are the counters of parts by fate.
type fates struct{ parts, bytes [fateCount]prometheus.Counter }

func newFates(parts, bytes *prometheus.CounterVec) fates {
	var f fates
	for i := range fateCount {
		f.parts[i], f.bytes[i] = parts.WithLabelValues(i.String()), bytes.WithLabelValues(i.String())
	}
	return f
}

// count counts a part; on nil nothing is counted.
func (f *fates) count(what fate, p *partRef) {
	if f != nil {
		f.parts[what].Inc()
		f.bytes[what].Add(float64(p.bytes()))
	}
}

func histogram(r Registry, name, help string, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(100e-6, 2, 16)}, labels)
	r.MustRegister(h)
	return h
}

// timed gives a function that observes the time since.
func timed(h prometheus.Observer) func() {
	began := time.Now()
	return func() { h.Observe(time.Since(began).Seconds()) }
}

// stopwatch gives a function that adds the time since to a sum.
func stopwatch(sum *time.Duration) func() {
	began := time.Now()
	return func() { *sum += time.Since(began) }
}

// shardMetrics are the metrics of one collection: counters looked up once.
type shardMetrics struct {
	objects, objectBytes, consensus [origins]prometheus.Counter
	inline, inlineBytes             prometheus.Counter
	name                            string
}

// shard gives the metrics with a collection's name. Two shards with one name share them.
func (m *clientMetrics) shard(name string) *shardMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.mu.names[name]; s != nil {
		return s
	}
	s := &shardMetrics{name: name, inline: m.inlineParts.WithLabelValues(name), inlineBytes: m.inlineBytes.WithLabelValues(name)}
	for o := range origins {
		s.objects[o] = m.objectsPut.WithLabelValues(name, o.String())
		s.objectBytes[o] = m.objectBytes.WithLabelValues(name, o.String())
		s.consensus[o] = m.consensusBytes.WithLabelValues(name, o.String())
	}
	m.mu.names[name] = s
	return s
}

// forget ends the metrics with a collection's name.
func (m *clientMetrics) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mu.names, name)
	for _, v := range []*prometheus.CounterVec{m.objectsPut, m.objectBytes, m.consensusBytes, m.inlineParts, m.inlineBytes} {
		v.DeletePartialMatch(prometheus.Labels{"collection": name})
	}
}

// work counts what was done for a shard.
type work struct{ objects, consensusBytes atomic.Int64 }

// Work gives how many objects somebody's work has put, and how many bytes it has committed to the register, since the
// process opened the shard.
func (s *Shard) Work(o Origin) (objects, consensusBytes int64) {
	return s.work[o].objects.Load(), s.work[o].consensusBytes.Load()
}

func (m *shardMetrics) objectPut(o Origin, bytes int) {
	m.objects[o].Inc()
	m.objectBytes[o].Add(float64(bytes))
}

func (m *shardMetrics) committed(o Origin, bytes int, inline inlineCount) {
	m.consensus[o].Add(float64(bytes))
	m.inline.Add(float64(inline.parts))
	m.inlineBytes.Add(float64(inline.bytes))
}

// compaction observes a compaction from its begin to its end.
func (m *clientMetrics) compaction() (ended func(outcome string)) {
	took := timed(m.compactSeconds)
	return func(outcome string) {
		took()
		m.compactions.WithLabelValues(outcome).Inc()
	}
}

// shapes are the gauges of what shards look like, by collection, counted when they are asked for.
type shapes struct {
	c     *Client
	descs [shapeCount]*prometheus.Desc
}

// What is counted of a shard.
const (
	shapeRows = iota
	shapeBatches
	shapeObjects
	shapeObjectBytes
	shapeInlineBytes
	shapeLogEntries
	shapeGarbage
	shapeHistory

	shapeCount
)

func newShapes(c *Client) *shapes {
	s := &shapes{c: c}
	for i, d := range [shapeCount][2]string{
		shapeRows:        {"rows", "Updates stored, before what compaction would save."},
		shapeBatches:     {"batches", "Batches that a shard's updates are in."},
		shapeObjects:     {"objects", "Objects that a shard's updates are in."},
		shapeObjectBytes: {"object_bytes", "Bytes of the objects that a shard's updates are in."},
		shapeInlineBytes: {"inline_bytes", "Bytes of parts inline in a shard's state now."},
		shapeLogEntries:  {"log_entries", "Entries of a shard's register since its newest rollup."},
		shapeGarbage:     {"garbage_objects", "Objects that are no longer needed and wait for readers or for being deleted."},
		shapeHistory:     {"history_seconds", "How much history, before the last change, can still be read."},
	} {
		s.descs[i] = prometheus.NewDesc("tributary_storage_collection_"+d[0], d[1], []string{"collection"}, nil)
	}
	return s
}

// Describe is prometheus.Collector's.
func (s *shapes) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		ch <- d
	}
}

// Collect is prometheus.Collector's. Shards with one name are added up; one whose metrics have ended is left out.
func (s *shapes) Collect(ch chan<- prometheus.Metric) {
	sums := map[string]*[shapeCount]float64{}
	s.c.mu.Lock()
	open := slices.Collect(maps.Values(s.c.mu.shards))
	s.c.mu.Unlock()
	for _, sh := range open {
		m := sh.metrics.Load()
		if !s.c.metrics.isCurrent(m) {
			continue
		}
		if sums[m.name] == nil {
			sums[m.name] = &[shapeCount]float64{}
		}
		for i, x := range sh.shape() {
			sums[m.name][i] += x
		}
	}
	for name, sum := range sums {
		for i, d := range s.descs {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, sum[i], name)
		}
	}
}

// isCurrent says whether the metrics of a name are these.
func (m *clientMetrics) isCurrent(s *shardMetrics) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.names[s.name] == s
}

// shape counts what the shard looks like.
func (s *Shard) shape() (out [shapeCount]float64) {
	st := s.current()
	out[shapeBatches], out[shapeRows] = float64(len(st.batches)), float64(st.totals.Rows)
	out[shapeInlineBytes], out[shapeLogEntries] = float64(st.inlineBytes), float64(st.version-st.rollup.version)
	if st.upper != tvc.Done && st.upper > st.since {
		out[shapeHistory] = float64(st.upper-st.since) / 1e6
	}
	for _, b := range st.batches {
		for _, r := range b.runs {
			for _, p := range r {
				if !p.isInline() {
					out[shapeObjects]++
					out[shapeObjectBytes] += float64(p.size)
				}
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out[shapeGarbage] = float64(len(s.mu.dead))
	return out
}
