//go:build invariants

package invariants

import (
	"math/rand/v2"
	"sync"
)

// Enabled says whether costly checks run.
const Enabled = true

// Sometimes is true about percent times in a hundred.
func Sometimes(percent int) bool { return rand.IntN(100) < percent }

var points struct {
	sync.RWMutex
	hooks map[string]func()
}

// Point runs the hook that a test set for this name, if any.
func Point(name string) {
	points.RLock()
	hook := points.hooks[name]
	points.RUnlock()
	if hook != nil {
		hook()
	}
}

// SetPoint makes Point(name) run hook; nil removes it. For tests.
func SetPoint(name string, hook func()) {
	points.Lock()
	defer points.Unlock()
	if points.hooks == nil {
		points.hooks = map[string]func(){}
	}
	points.hooks[name] = hook
}
