package txn

import "github.com/prometheus/client_golang/prometheus"

// Registry takes metrics.
type Registry = prometheus.Registerer

type metrics struct {
	commands, commits, settled prometheus.Counter
}

func newMetrics(r Registry) *metrics {
	one := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	return &metrics{
		commands: one("tributary_storage_consensus_commands_total", "Units sent to the consensus store."),
		commits:  one("tributary_storage_consensus_commits_total", "Calls that sent them, each one durable write."),
		settled:  one("tributary_storage_consensus_settled_total", "Attempts to find out about a commit whose outcome was unknown."),
	}
}

func (m *metrics) committed(units int) {
	m.commands.Add(float64(units))
	m.commits.Inc()
}

func (m *metrics) settling() { m.settled.Inc() }
