package server

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what connections do.
type Metrics struct {
	connections prometheus.Gauge
	statements  prometheus.Counter
	errors      prometheus.Counter
	received    prometheus.Counter
	sent        prometheus.Counter
}

// NewMetrics makes the metrics and registers them, unless the registry is nil.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		connections: prometheus.NewGauge(prometheus.GaugeOpts{Name: "tributary_server_connections",
			Help: "connections that are open"}),
		statements: prometheus.NewCounter(prometheus.CounterOpts{Name: "tributary_server_statements_total",
			Help: "statements that were run"}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "tributary_server_errors_total",
			Help: "errors that clients were told of"}),
		received: prometheus.NewCounter(prometheus.CounterOpts{Name: "tributary_server_received_bytes_total",
			Help: "bytes read from clients"}),
		sent: prometheus.NewCounter(prometheus.CounterOpts{Name: "tributary_server_sent_bytes_total",
			Help: "bytes written to clients"}),
	}
	if r != nil {
		r.MustRegister(m.connections, m.statements, m.errors, m.received, m.sent)
	}
	return m
}
