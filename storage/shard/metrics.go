package shard

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Registry takes metrics.
type Registry = prometheus.Registerer

// clientMetrics are the metrics of a process's shards.
type clientMetrics struct {
	objectsPut, objectBytes     *prometheus.CounterVec // collection, origin
	consensusBytes              *prometheus.CounterVec // collection, origin
	inlineParts                 *prometheus.CounterVec // collection
	objectsRead, cacheHits      prometheus.Counter
	objectsDeleted, objectsLost prometheus.Counter
	compacted                   prometheus.Counter
	putSeconds, getSeconds      prometheus.Histogram
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
		objectsRead:    one("tributary_storage_objects_read_total", "Objects read from the blob store."),
		cacheHits:      one("tributary_storage_cache_hits_total", "Parts that were read from the cache."),
		objectsDeleted: one("tributary_storage_objects_deleted_total", "Objects deleted since no reader can reach them."),
		objectsLost:    one("tributary_storage_objects_swept_total", "Objects that an earlier process left unlinked."),
		compacted:      one("tributary_storage_compacted_rows_total", "Rows written by compaction."),
	}
	m.putSeconds = histogram(r, "tributary_storage_object_put_seconds", "How long putting an object took.")
	m.getSeconds = histogram(r, "tributary_storage_object_get_seconds", "How long reading an object took.")
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

func histogram(r Registry, name, help string) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(100e-6, 2, 16)})
	r.MustRegister(h)
	return h
}

// timed gives a function that observes the time since.
func timed(h prometheus.Histogram) func() {
	began := time.Now()
	return func() { h.Observe(time.Since(began).Seconds()) }
}

// shardMetrics are the metrics of one collection: counters looked up once.
type shardMetrics struct {
	objects, objectBytes, consensus [origins]prometheus.Counter
	inline                          prometheus.Counter
}

// shard gives the metrics with a collection's name. Two shards with one name share them.
func (m *clientMetrics) shard(name string) *shardMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.mu.names[name]; s != nil {
		return s
	}
	s := &shardMetrics{inline: m.inlineParts.WithLabelValues(name)}
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
	for _, v := range []*prometheus.CounterVec{m.objectsPut, m.objectBytes, m.consensusBytes, m.inlineParts} {
		v.DeletePartialMatch(prometheus.Labels{"collection": name})
	}
}

func (m *shardMetrics) objectPut(o Origin, bytes int) {
	m.objects[o].Inc()
	m.objectBytes[o].Add(float64(bytes))
}

func (m *shardMetrics) committed(o Origin, bytes, inline int) {
	m.consensus[o].Add(float64(bytes))
	m.inline.Add(float64(inline))
}
