package collection

import "github.com/prometheus/client_golang/prometheus"

// Registry takes metrics.
type Registry = prometheus.Registerer
