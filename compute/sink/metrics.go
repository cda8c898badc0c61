package sink

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/shard"
)

// Metrics count what the sinks of views do, all replicas of the process together. A view is known from Add to Forget;
// what the sink of another one does is counted nowhere. It is safe for concurrent use.
type Metrics struct {
	mu struct {
		sync.Mutex
		views map[shard.ID]*viewMetrics
	}
}

// viewMetrics are one view's.
type viewMetrics struct {
	staged, peak atomic.Int64
	mu           struct {
		sync.Mutex
		name  string
		total Statistics // without what is staged
	}
}

// Statistics is what the sinks of a view have done since the view was made or the process began.
type Statistics struct {
	// Appends had rows; EmptyAppends only moved the view's upper; Refused ones lost against another writer.
	Appends, EmptyAppends, Refused int64
	// Rows counts the updates of all appends, before they are consolidated.
	Rows int64
	// ObjectParts and InlineParts are what they were appended as, with their encoded sizes.
	ObjectParts, ObjectBytes, InlineParts, InlineBytes int64
	// Spills counts the times that a worker wrote parts of its own since it had too much to stage.
	Spills int64
	// Rebuilds counts the times that the dataflow was torn down and built anew.
	Rebuilds int64
	// StagedBytes are staged now; StagedBytesPeak were at most.
	StagedBytes, StagedBytesPeak int64
	// Phases says where the time of appends with rows went.
	Phases [Phases]Spent
}

// Spent is how long something took that happened so often.
type Spent struct {
	Times int64
	Total time.Duration
}

// Phase is a stretch of the way that changes take through a sink into storage.
type Phase uint8

const (
	// Dataflow is from the moment that the dataflow turns to a change until the first change of the result comes.
	Dataflow Phase = iota
	// Wait is from the first change of an interval until the interval is sealed: for the last worker, and for the
	// append before.
	Wait
	// Encode is merging what is staged and encoding it.
	Encode
	// Put is waiting for objects to be put when all is encoded.
	Put
	// Step is the compare-and-append: waiting for a step, and its durable write.
	Step

	// Phases is how many there are.
	Phases
)

func (p Phase) String() string {
	return [Phases]string{"dataflow", "wait", "encode", "put", "append"}[p]
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{}
	m.mu.views = map[shard.ID]*viewMetrics{}
	c := &collector{m: m}
	for i, d := range series {
		c.descs[i] = prometheus.NewDesc("tributary_sink_"+d.name, d.help, slices.Concat([]string{"view"}, d.labels), nil)
	}
	reg.MustRegister(c)
	return m
}

// Add makes a view known by its shard and its full SQL name, which labels its series.
func (m *Metrics) Add(view shard.ID, name string) {
	v := &viewMetrics{}
	v.mu.name = name
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.views[view] = v
}

// Rename gives a view's series another label; they go on from where they are.
func (m *Metrics) Rename(view shard.ID, name string) {
	v := m.of(view)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.name = name
}

// Forget ends a view's series.
func (m *Metrics) Forget(view shard.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mu.views, view)
}

// Rebuilt counts a tear-down.
func (m *Metrics) Rebuilt(view shard.ID) {
	m.of(view).count(func(s *Statistics) { s.Rebuilds++ })
}

// Of gives a view's statistics.
func (m *Metrics) Of(view shard.ID) Statistics {
	_, s := m.of(view).read()
	return s
}

// of gives the metrics of a view; of an unknown one some that nobody sees.
func (m *Metrics) of(view shard.ID) *viewMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.mu.views[view]; v != nil {
		return v
	}
	return &viewMetrics{}
}

func (v *viewMetrics) read() (name string, s Statistics) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s = v.mu.total
	s.StagedBytes, s.StagedBytesPeak = v.staged.Load(), v.peak.Load()
	return v.mu.name, s
}

func (v *viewMetrics) count(f func(s *Statistics)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f(&v.mu.total)
}

// stage counts bytes that are staged, or, below 0, no longer.
func (v *viewMetrics) stage(n int64) {
	now := v.staged.Add(n)
	for {
		peak := v.peak.Load()
		if now <= peak || v.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

// appended counts an append of updates.
func (v *viewMetrics) appended(op shard.Append, rows int64, l *laps) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &v.mu.total
	if rows == 0 {
		s.EmptyAppends++
		return
	}
	s.Appends++
	s.Rows += rows
	objects := int64(0)
	inline := int64(op.InlineBytes())
	s.InlineBytes += inline
	s.ObjectBytes -= inline
	for _, w := range op.Written {
		objects += int64(w.Objects())
		s.InlineParts += int64(w.Inline())
		s.ObjectBytes += w.Bytes()
	}
	s.ObjectParts += objects
	for p := range Phases {
		if p != Put || objects > 0 {
			s.Phases[p].Times++
			s.Phases[p].Total += l.spent[p]
		}
	}
}

// clock is the time to measure from.
func clock() time.Time { return time.Now() }

// laps is how long an append takes, phase by phase.
type laps struct {
	at    time.Time
	spent [Phases]time.Duration
}

// lap ends a phase at the given time; the next one begins.
func (l *laps) lap(p Phase, now time.Time) {
	if !l.at.IsZero() {
		l.spent[p] += now.Sub(l.at)
	}
	l.at = now
}

// move makes a part of one phase's time another's.
func (l *laps) move(d time.Duration, from, to Phase) {
	d = min(d, l.spent[from])
	l.spent[from] -= d
	l.spent[to] += d
}

// collector gives the series of all views.
type collector struct {
	m     *Metrics
	descs [seriesCount]*prometheus.Desc
}

// The series, by their place in the list.
const (
	seriesAppends = iota
	seriesRefused
	seriesRows
	seriesParts
	seriesBytes
	seriesSpills
	seriesRebuilds
	seriesStaged
	seriesPeak
	seriesPhases

	seriesCount
)

var series = [seriesCount]struct {
	name, help string
	labels     []string
}{
	seriesAppends:  {"appends_total", "Compare-and-appends of a view's intervals, by whether they had no rows.", []string{"empty"}},
	seriesRefused:  {"refused_total", "Appends that lost against another writer.", nil},
	seriesRows:     {"rows_total", "Updates appended to a view.", nil},
	seriesParts:    {"parts_total", "Parts appended to a view, by where they lie.", []string{"kind"}},
	seriesBytes:    {"part_bytes_total", "Bytes, encoded, of the parts of tributary_sink_parts_total.", []string{"kind"}},
	seriesSpills:   {"spills_total", "Times a worker wrote parts of its own because it had too much to stage.", nil},
	seriesRebuilds: {"rebuilds_total", "Times a view's dataflow was torn down and built anew.", nil},
	seriesStaged:   {"staged_bytes", "Bytes that a view's workers have staged now.", nil},
	seriesPeak:     {"staged_bytes_peak", "The most bytes that a view's workers have had staged.", nil},
	seriesPhases: {"phase_seconds", "Where the time of appends with rows went: dataflow, wait, encode, put or append.",
		[]string{"phase"}},
}

// Describe is prometheus.Collector's.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect is prometheus.Collector's. Of two views that have one name, while names change, one is given.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	c.m.mu.Lock()
	views := slices.Collect(maps.Values(c.m.mu.views))
	c.m.mu.Unlock()
	seen := map[string]bool{}
	for _, v := range views {
		name, s := v.read()
		if seen[name] {
			continue
		}
		seen[name] = true
		c.collect(ch, name, &s)
	}
}

func (c *collector) collect(ch chan<- prometheus.Metric, view string, s *Statistics) {
	give := func(which int, kind prometheus.ValueType, x int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(c.descs[which], kind, float64(x), slices.Concat([]string{view}, labels)...)
	}
	count := func(which int, x int64, labels ...string) { give(which, prometheus.CounterValue, x, labels...) }
	count(seriesAppends, s.Appends, strconv.FormatBool(false))
	count(seriesAppends, s.EmptyAppends, strconv.FormatBool(true))
	count(seriesRefused, s.Refused)
	count(seriesRows, s.Rows)
	count(seriesParts, s.ObjectParts, "object")
	count(seriesParts, s.InlineParts, "inline")
	count(seriesBytes, s.ObjectBytes, "object")
	count(seriesBytes, s.InlineBytes, "inline")
	count(seriesSpills, s.Spills)
	count(seriesRebuilds, s.Rebuilds)
	give(seriesStaged, prometheus.GaugeValue, s.StagedBytes)
	give(seriesPeak, prometheus.GaugeValue, s.StagedBytesPeak)
	for p, spent := range s.Phases {
		ch <- prometheus.MustNewConstSummary(c.descs[seriesPhases], uint64(spent.Times), spent.Total.Seconds(), nil,
			view, Phase(p).String())
	}
}
