package txn

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/shard"
)

// Registry takes metrics.
type Registry = prometheus.Registerer

type metrics struct {
	commands, commits, viewCommits, settled, refused, failed prometheus.Counter
	seconds                                                  prometheus.Histogram
	// expected are the units that are announced and have not come, in time or not.
	expected prometheus.Gauge
	// operations are counted by kind and by what became of them.
	operations [shard.OpKinds]struct{ done, refused, failed prometheus.Counter }
}

func newMetrics(r Registry) *metrics {
	one := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	seconds := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tributary_storage_commit_seconds", Help: "How long the consensus store took to commit.",
		Buckets: prometheus.ExponentialBuckets(50e-6, 2, 16),
	})
	operations := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tributary_storage_operations_total",
		Help: "Operations on shards that were asked for, by kind and by what became of their unit: done, refused or failed.",
	}, []string{"kind", "outcome"})
	expected := prometheus.NewGauge(prometheus.GaugeOpts{Name: "tributary_storage_appends_announced",
		Help: "Appends of views that are announced and not in line yet; others wait a moment for those that are not late."})
	r.MustRegister(seconds, operations, expected)
	m := &metrics{
		seconds: seconds, expected: expected,
		viewCommits: one("tributary_storage_consensus_view_commits_total",
			"Calls that sent appends of views to the consensus store, with or without other units."),
		commands: one("tributary_storage_consensus_commands_total", "Units sent to the consensus store."),
		commits:  one("tributary_storage_consensus_commits_total", "Calls that sent them, each one durable write."),
		refused:  one("tributary_storage_consensus_refused_total", "Units refused since a register had moved on; most are tried again."),
		failed:   one("tributary_storage_consensus_failed_total", "Calls that failed, whether or not they had an effect."),
		settled:  one("tributary_storage_consensus_settled_total", "Attempts to find out about a commit whose outcome was unknown."),
	}
	for kind := range shard.OpKinds {
		of := func(outcome string) prometheus.Counter { return operations.WithLabelValues(kind.String(), outcome) }
		m.operations[kind].done, m.operations[kind].refused, m.operations[kind].failed = of("done"), of("refused"), of("failed")
	}
	return m
}

// ended counts operations of a unit, of which either all were done or none.
func (m *metrics) ended(ops []shard.Op, out Outcome, err error) {
	for _, op := range ops {
		of := m.operations[shard.KindOf(op)]
		switch {
		case err != nil:
			of.failed.Inc()
		case out.Done():
			of.done.Inc()
		default:
			of.refused.Inc()
		}
	}
}

// began notes when a commit began.
func (m *metrics) began() time.Time { return time.Now() }

// committed counts a commit and says how long it took.
func (m *metrics) committed(units int, began time.Time, err error) time.Duration {
	took := time.Since(began)
	m.seconds.Observe(took.Seconds())
	m.commands.Add(float64(units))
	m.commits.Inc()
	if err != nil {
		m.failed.Inc()
	}
	return took
}

func (m *metrics) settling() { m.settled.Inc() }
