package sink

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the view sinks' counters. A view's series end when it is dropped (Forget).
type Metrics struct {
	appends  *prometheus.CounterVec
	parts    *prometheus.CounterVec
	spills   *prometheus.CounterVec
	rows     *prometheus.CounterVec
	refused  *prometheus.CounterVec
	rebuilds *prometheus.CounterVec
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tributary_sink_" + name, Help: help}, labels)
		reg.MustRegister(c)
		return c
	}
	return &Metrics{
		appends:  vec("appends_total", "compare-and-appends of a view's intervals, by whether they had rows", "view", "empty"),
		parts:    vec("parts_total", "parts appended to a view, by where they lie", "view", "kind"),
		spills:   vec("spills_total", "times a worker wrote parts of its own because it had too much to stage", "view"),
		rows:     vec("rows_total", "updates appended to a view", "view"),
		refused:  vec("refused_total", "appends that lost against another writer", "view"),
		rebuilds: vec("rebuilds_total", "times a view's dataflow was torn down and built anew", "view"),
	}
}

// Rebuilt counts a tear-down.
func (m *Metrics) Rebuilt(view string) { m.rebuilds.WithLabelValues(view).Inc() }

// Forget ends a view's series.
func (m *Metrics) Forget(view string) {
	label := prometheus.Labels{"view": view}
	for _, v := range []*prometheus.CounterVec{m.appends, m.parts, m.spills, m.rows, m.refused, m.rebuilds} {
		v.DeletePartialMatch(label)
	}
}
