package runner_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/testdrive/runner"
)

// TestInterruptionsWaitForIdleSessions: a place where a session is busy is not lost; it comes before the next step
// where all are idle, and places that waited together are one restart.
func TestInterruptionsWaitForIdleSessions(t *testing.T) {
	for _, c := range []struct {
		busy, want []int
	}{
		{nil, []int{1, 2, 3, 4, 5}},
		{[]int{0}, []int{1, 2, 3, 4, 5}},
		{[]int{2}, []int{1, 3, 4, 5}},
		{[]int{1, 2, 3}, []int{4, 5}},
		{[]int{3, 4, 5}, []int{1, 2}},
	} {
		// More places than steps: every step but the first is one.
		places := (&runner.Interrupt{Places: 10}).In(6, rand.New(rand.NewPCG(1, 2)))
		var got []int
		for step := range 6 {
			if places.Due(step, func() bool { return !slices.Contains(c.busy, step) }) {
				got = append(got, step)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("busy before %v: restarts before %v, want %v", c.busy, got, c.want)
		}
	}
}
