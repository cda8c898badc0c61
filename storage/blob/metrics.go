package blob

import (
	"context"
	"errors"
	"time"

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

// The calls of a store, as metrics call them.
const (
	callGet = iota
	callPut
	callDelete
	callList

	callCount
)

// measured is a store whose calls are counted.
type measured struct {
	store         Store
	calls, failed [callCount]prometheus.Counter
	seconds       [callCount]prometheus.Observer
	read          prometheus.Counter
	readBytes     prometheus.Counter
}

// Measured gives the store with its calls counted in a registry's metrics: how many of each kind began and failed, how long
// they took, and how much was read.
func Measured(s Store, r Registry) Store {
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tributary_storage_object_calls_total", Help: "Calls of the blob store that were begun: get, put, delete or list."},
		[]string{"op"})
	failed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tributary_storage_object_errors_total", Help: "Calls of the blob store that failed: get, put, delete or list."},
		[]string{"op"})
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tributary_storage_object_seconds", Help: "How long a call of the blob store took: get, put, delete or list.",
		Buckets: prometheus.ExponentialBuckets(100e-6, 2, 16)}, []string{"op"})
	m := &measured{
		store: s,
		read: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tributary_storage_objects_read_total", Help: "Objects read from the blob store."}),
		readBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tributary_storage_object_read_bytes_total", Help: "Bytes of objects read from the blob store."}),
	}
	r.MustRegister(calls, failed, seconds, m.read, m.readBytes)
	for i, op := range [callCount]string{callGet: "get", callPut: "put", callDelete: "delete", callList: "list"} {
		m.calls[i], m.failed[i], m.seconds[i] = calls.WithLabelValues(op), failed.WithLabelValues(op), seconds.WithLabelValues(op)
	}
	return m
}

// Get implements Store.
func (m *measured) Get(ctx context.Context, key string) ([]byte, error) {
	ended := m.begin(callGet)
	data, err := m.store.Get(ctx, key)
	ended(err)
	if err == nil {
		m.read.Inc()
		m.readBytes.Add(float64(len(data)))
	}
	return data, err
}

// Put implements Store.
func (m *measured) Put(ctx context.Context, key string, data []byte) error {
	ended := m.begin(callPut)
	err := m.store.Put(ctx, key, data)
	ended(err)
	return err
}

// Delete implements Store.
func (m *measured) Delete(ctx context.Context, key string) error {
	ended := m.begin(callDelete)
	err := m.store.Delete(ctx, key)
	ended(err)
	return err
}

// List implements Store.
func (m *measured) List(ctx context.Context, prefix string) ([]Info, error) {
	ended := m.begin(callList)
	infos, err := m.store.List(ctx, prefix)
	ended(err)
	return infos, err
}

// begin counts a call and gives what notes its end.
func (m *measured) begin(call int) (ended func(error)) {
	m.calls[call].Inc()
	began := time.Now()
	return func(err error) {
		m.seconds[call].Observe(time.Since(began).Seconds())
		if err != nil {
			m.failed[call].Inc()
		}
	}
}
