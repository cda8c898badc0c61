package action

import (
	"context"
	"time"
)

// fixedSleep is $ sleep duration=…, and the same under the name that Materialize's scripts use.
func fixedSleep(m *Machine, ctx context.Context, c *call) error {
	d, err := parseDuration(c.get("duration"))
	if err != nil {
		return err
	}
	return m.o.Clock.Sleep(ctx, d)
}

// randomSleep is $ random-sleep duration=…: somewhere below it.
func randomSleep(m *Machine, ctx context.Context, c *call) error {
	d, err := parseDuration(c.get("duration"))
	if err != nil || d <= 0 {
		return err
	}
	return m.o.Clock.Sleep(ctx, time.Duration(m.o.Random.Int64N(int64(d))))
}
