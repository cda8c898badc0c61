// Package invariants is how the process says that a promise of its own was broken.
//
// Failf is always on: it panics, because going on would answer wrongly or write what cannot be repaired.
// Enabled, Sometimes and Point are the test side: costly checks, skipped fast paths and named stops
// exist only under the build tag "invariants".
//
// Everything here is safe from many goroutines.
package invariants

import "fmt"

// Violation is what Failf panics with, so that a tear-down at a dataflow's edge can tell a broken
// promise of ours from a run-time fault.
type Violation struct{ Message string }

func (v Violation) Error() string { return "invariant violated: " + v.Message }

// Failf panics with a Violation. Use it for what no input can cause.
func Failf(format string, args ...any) {
	panic(Violation{Message: fmt.Sprintf(format, args...)})
}
