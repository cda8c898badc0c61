// Package web is the HTTP side of the server: metrics, health and profiles.
//
// Everything here is safe for concurrent use.
package web

import (
	"net/http"
	"net/http/pprof"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Ready says whether the server takes SQL clients. The zero value says no.
type Ready struct{ yes atomic.Bool }

// Set says that it does.
func (r *Ready) Set() { r.yes.Store(true) }

// Handler serves /metrics, /api/livez (the process lives), /api/readyz (it takes SQL clients) and /debug/pprof/ (the
// profiles of Go's runtime).
func Handler(metrics prometheus.Gatherer, ready *Ready) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /api/livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /api/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready.yes.Load() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
