package runner_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/action"
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

// TestServerThatLeaves: a server that has ended by itself is told of when it is to be restarted, though its status is good.
func TestServerThatLeaves(t *testing.T) {
	pg := pgtest.Start(t)
	t.Setenv(fakeServerEnv, fmt.Sprintf("%s:%d", pg.Host, pg.Port))
	prepare(t, pg)
	c, err := runner.StartChild(t.Context(), runner.Serve{Binary: os.Args[0], Args: []string{"leave"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := action.NewSession(c.Server().URL)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon(t.Context())
	if err := s.Exec(t.Context(), "SELECT 'crash'"); err == nil {
		t.Fatal("the server is still there")
	}
	<-c.Ended()
	const want = "the server ended by itself\nenough for today"
	if err := c.Restart(t.Context()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
