package storagetest

import (
	"regexp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Registry is the metrics of a process.
type Registry struct {
	r *prometheus.Registry
	// names are what was registered: gathered is only what has a value.
	names []string
}

// NewRegistry makes an empty one.
func NewRegistry() *Registry { return &Registry{r: prometheus.NewRegistry()} }

// Metrics is what packages register with.
func (r *Registry) Metrics() prometheus.Registerer { return (*registerer)(r) }

// Names lists the metrics that were registered, each once with the names of its labels as in name{label,label}, sorted.
func (r *Registry) Names() []string {
	slices.Sort(r.names)
	return slices.Compact(r.names)
}

// registerer registers and notes the names.
type registerer Registry

var described = regexp.MustCompile(`^Desc\{fqName: "(.*?)".*variableLabels: (\{.*\})\}$`)

// Register implements prometheus.Registerer.
func (r *registerer) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 100)
	c.Describe(descs)
	close(descs)
	for d := range descs {
		name := described.FindStringSubmatch(d.String())
		if name[2] == "{}" {
			name[2] = ""
		}
		r.names = append(r.names, name[1]+name[2])
	}
	return r.r.Register(c)
}

// MustRegister implements prometheus.Registerer.
func (r *registerer) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := r.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister implements prometheus.Registerer.
func (r *registerer) Unregister(c prometheus.Collector) bool { return r.r.Unregister(c) }

// Sum adds up a metric over its labels, of which those given (name, value, …) must be as given. Of a histogram it is how
// often something was observed.
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
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}
