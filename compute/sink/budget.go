package sink

import (
	"sync/atomic"

	"github.com/tributary-db/tributary/sql/settings"
)

var stagingMaxBytes = settings.NewBytes("compute_mv_sink_staging_max_bytes", 256<<20, 0, 1<<40,
	"how many bytes all workers of all views together may hold staged; past it they write parts of their own. "+
		"Where replicas stand by for the one that writes, they may hold an eighth of it besides",
	"at once")

// Settings lists the parameters that this package reads.
func Settings() []settings.Param { return []settings.Param{sharedBatchMaxBytes, stagingMaxBytes} }

// standbyShare is what part of the budget those have who stand by.
const standbyShare = 8

// Budget bounds the bytes that all view sinks of a process stage together. Those who stand by have a share of their own:
// what they stage is never missing where it is to be written. It is safe for concurrent use.
type Budget struct {
	set *settings.Set
	// writing is what those have staged who write, standing what those have who stand by.
	writing, standing atomic.Int64
}

// NewBudget makes the budget of a process.
func NewBudget(set *settings.Set) *Budget { return &Budget{set: set} }

// of gives what is used of a share, and how much may be.
func (b *Budget) of(standsBy bool) (used *atomic.Int64, most int64) {
	most = stagingMaxBytes.Get(b.set)
	if standsBy {
		return &b.standing, most / standbyShare
	}
	return &b.writing, most
}

// take asks for n bytes of a share; false means that they are not there and whoever asked must do without.
func (b *Budget) take(n int64, standsBy bool) bool {
	used, most := b.of(standsBy)
	for {
		now := used.Load()
		if now+n > most {
			return false
		}
		if used.CompareAndSwap(now, now+n) {
			return true
		}
	}
}

func (b *Budget) give(n int64, standsBy bool) {
	used, _ := b.of(standsBy)
	used.Add(-n)
}

// move counts n bytes that were taken of one share to the other, whether they are there or not.
func (b *Budget) move(n int64, standsBy bool) {
	b.give(n, !standsBy)
	b.give(-n, standsBy)
}
