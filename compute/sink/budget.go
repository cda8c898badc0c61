package sink

import (
	"sync/atomic"

	"github.com/tributary-db/tributary/sql/settings"
)

var stagingMaxBytes = settings.NewBytes("compute_mv_sink_staging_max_bytes", 256<<20, 0, 1<<40,
	"how many bytes all workers of all views together may hold staged; past it they write parts of their own",
	"at once")

// Settings lists the parameters that this package reads.
func Settings() []settings.Param { return []settings.Param{sharedBatchMaxBytes, stagingMaxBytes} }

// Budget bounds the bytes that all view sinks of a process stage together. It is safe for concurrent use.
type Budget struct {
	set  *settings.Set
	used atomic.Int64
}

// NewBudget makes the budget of a process.
func NewBudget(set *settings.Set) *Budget { return &Budget{set: set} }

// take asks for n bytes; false means that they are not there and whoever asked must do without.
func (b *Budget) take(n int64) bool {
	if b.used.Add(n) > stagingMaxBytes.Get(b.set) {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *Budget) give(n int64) { b.used.Add(-n) }
