package storagetest

import "github.com/prometheus/client_golang/prometheus"

// Registry is the metrics of a process.
type Registry struct{ r *prometheus.Registry }

// NewRegistry makes an empty one.
func NewRegistry() *Registry { return &Registry{prometheus.NewRegistry()} }

// Metrics is what packages register with.
func (r *Registry) Metrics() prometheus.Registerer { return r.r }

// Sum adds up a counter or gauge over its labels, of which those given (name, value, …) must be as given.
func (r *Registry) Sum(name string, labels ...string) float64 {
	families, err := r.r.Gather()
	if err != nil {
		panic(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	metrics:
		for _, m := range f.Metric {
			for i := 0; i < len(labels); i += 2 {
				for _, l := range m.Label {
					if l.GetName() == labels[i] && l.GetValue() != labels[i+1] {
						continue metrics
					}
				}
			}
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum
}
