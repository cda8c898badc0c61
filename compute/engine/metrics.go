package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// clock is the time to measure from.
func clock() time.Time { return time.Now() }

// Metrics are the engines' counters, of all replicas in the process together.
type Metrics struct {
	ticks    prometheus.Counter
	rows     prometheus.Counter
	reads    prometheus.Counter
	peekRows prometheus.Counter
	running  prometheus.Gauge
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "tributary_engine_" + name, Help: help})
		reg.MustRegister(c)
		return c
	}
	m := &Metrics{
		ticks:    counter("ticks_total", "ticks of all dataflows"),
		rows:     counter("input_rows_total", "updates taken in by all dataflows"),
		reads:    counter("read_rows_total", "rows that operators read from their state"),
		peekRows: counter("peek_rows_total", "rows read from indexes by queries"),
		running:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "tributary_engine_dataflows", Help: "dataflows running"}),
	}
	reg.MustRegister(m.running)
	return m
}
