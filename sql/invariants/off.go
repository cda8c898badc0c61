//go:build !invariants

package invariants

// Enabled says whether costly checks run.
const Enabled = false

// Sometimes is true now and then under the invariants tag, so that slow paths are taken where a fast
// one would do. It is always false otherwise.
func Sometimes(int) bool { return false }

// Point names a place where a test may stop, delay or kill; it does nothing without the tag.
func Point(string) {}
