package blob

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Registry takes metrics.
type Registry = prometheus.Registerer

// newFsyncs gives the counter of fsyncs, which the consensus store of the process counts in too.
func newFsyncs(r Registry) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tributary_storage_fsyncs_total",
		Help: "How often storage asked the file system to make data durable.",
	})
	var already prometheus.AlreadyRegisteredError
	if err := r.Register(c); errors.As(err, &already) {
		return already.ExistingCollector.(prometheus.Counter)
	} else if err != nil {
		panic(err)
	}
	return c
}
