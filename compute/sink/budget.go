package sink

import (
	"sync"

	"github.com/tributary-db/tributary/sql/settings"
)

var stagingMaxBytes = settings.NewBytes("compute_mv_sink_staging_max_bytes", 256<<20, 0, 1<<40,
	"how many bytes all workers of all views together may hold staged; past it they write parts of their own. "+
		"Half of it is divided equally among the views, and each has its share for itself; the other half is common. "+
		"Where replicas stand by for the one that writes, they may hold an eighth of it besides",
	"at once")

// Settings lists the parameters that this package reads.
func Settings() []settings.Param { return []settings.Param{sharedBatchMaxBytes, stagingMaxBytes} }

const (
	// reserve is what part of the budget is divided among the views that write.
	reserve = 2
	// standbyShare is what part of the budget those have besides who stand by.
	standbyShare = 8
)

// Budget bounds the bytes that all view sinks of a process stage together. Half of it is divided equally among the views
// that write, whether they have anything or not; the rest is common. What a view has staged counts to its share first, and
// what it has beyond that to the common part: so however much the others stage, what is left of its share is there for it.
// When there are more views than before, or the budget is less, those may have too much already; then what is asked for
// is refused until it fits. With so many views that a share has no room for a row, there is little but the common part.
//
// Those who stand by have a part of their own: what they stage is never missing where it is to be written. A Budget is
// safe for concurrent use.
type Budget struct {
	set *settings.Set
	mu  struct {
		sync.Mutex
		// most is the whole budget when it was last divided, share that of each view that writes.
		most, share int64
		views       map[*account]struct{} // that write
		// writing is what all have staged who write, and common how much of that is beyond their shares; standing is what
		// those have who stand by.
		writing, common, standing int64
	}
}

// NewBudget makes the budget of a process.
func NewBudget(set *settings.Set) *Budget {
	b := &Budget{set: set}
	b.mu.views = map[*account]struct{}{}
	return b
}

// divideLocked divides the budget anew.
func (b *Budget) divideLocked() {
	b.mu.most, b.mu.common = stagingMaxBytes.Get(b.set), b.mu.writing
	b.mu.share = b.mu.most / reserve / int64(max(1, len(b.mu.views)))
	for a := range b.mu.views {
		b.mu.common -= min(a.used, b.mu.share)
	}
}

// account is what one view has of a budget. It has no share until it writes.
type account struct {
	budget *Budget
	// writes says whether it has a share, and used is what it has staged as one that writes. The budget's lock guards them.
	writes bool
	used   int64
}

// write says whether the view writes from now on. What it has staged stays taken.
func (a *account) write(writes bool) {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.writes = writes; writes {
		b.mu.views[a] = struct{}{}
	} else {
		delete(b.mu.views, a)
	}
	b.divideLocked()
}

// take asks for n bytes, for one that stands by or one that writes; false means that they are not there and whoever asked
// must do without.
func (a *account) take(n int64, standsBy bool) bool {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !standsBy {
		return a.takeLocked(n)
	}
	if b.mu.standing+n > stagingMaxBytes.Get(b.set)/standbyShare {
		return false
	}
	b.mu.standing += n
	return true
}

func (a *account) takeLocked(n int64) bool {
	b := a.budget
	if stagingMaxBytes.Get(b.set) != b.mu.most {
		b.divideLocked()
	}
	beyond := max(0, n-a.leftLocked())
	common := b.mu.most - b.mu.share*int64(len(b.mu.views))
	if b.mu.writing+n > b.mu.most || beyond > 0 && b.mu.common+beyond > common {
		return false
	}
	a.used += n
	b.mu.writing += n
	b.mu.common += beyond
	return true
}

// leftLocked is what is left of the view's share.
func (a *account) leftLocked() int64 {
	if !a.writes {
		return 0
	}
	return max(0, a.budget.mu.share-a.used)
}

// give gives n bytes back that were taken.
func (a *account) give(n int64, standsBy bool) {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if standsBy {
		b.mu.standing -= n
		return
	}
	a.giveLocked(n)
}

func (a *account) giveLocked(n int64) {
	b := a.budget
	left := a.leftLocked()
	a.used -= n
	b.mu.writing -= n
	b.mu.common -= n - (a.leftLocked() - left) // what fills no share was beyond it
}

// move counts n bytes that were taken as one that writes to those who stand by, whether they are there or not; or the other
// way round, if they are.
func (a *account) move(n int64, standsBy bool) bool {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case standsBy:
		a.giveLocked(n)
		b.mu.standing += n
	case a.takeLocked(n):
		b.mu.standing -= n
	default:
		return false
	}
	return true
}

// isOverdrawn says whether those who stand by have more than is theirs.
func (b *Budget) isOverdrawn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.standing > stagingMaxBytes.Get(b.set)/standbyShare
}
