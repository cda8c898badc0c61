package sink

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/storagetest"
)

// parts counts the parts appended so far, objects and inline ones.
func (e *env) parts() int {
	e.tb.Helper()
	return int(e.p.Registry.Sum("tributary_sink_parts_total"))
}

// TestBaselinesWriteTheSame: whoever writes the parts, and however many they are, the view's contents are the same. How
// many there are is what the baselines differ in.
func TestBaselinesWriteTheSame(t *testing.T) {
	const workers = 8
	for _, c := range []struct {
		name     string
		sharing  Sharing
		limit    string
		min, max int // parts of an interval of which every worker has rows
	}{
		{"ours", nil, "1MB", 1, 1},
		{"ours without sharing", nil, "0", workers, workers},
		{"a part each", BaselinePerWorker(), "1MB", workers, workers},
		{"best effort", BaselineBestEffort(1), "1MB", 1, workers},
		{"best effort without sharing", BaselineBestEffort(1), "0", workers, workers},
		{"best effort in groups", BaselineBestEffort(4), "1MB", 4, workers},
		{"barrier", BaselineBarrier(1), "1MB", 1, 1},
		{"barrier in groups", BaselineBarrier(4), "1MB", 4, 4},
		{"barrier in groups of different sizes", BaselineBarrier(3), "1MB", 3, 3},
		{"barrier in more groups than workers", BaselineBarrier(16), "1MB", workers, workers},
		{"barrier of workers that have too much", BaselineBarrier(1), "1", workers, workers},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, workers)
			e.o.Sharing = c.sharing
			e.set("compute_mv_sink_shared_batch_max_bytes", c.limit)
			f := e.newFlow()
			f.tick(10, rows(0, 600, 1))
			f.tick(20, rows(0, 200, -1), rows(600, 100, 2))
			f.append()
			if n := e.parts(); n < c.min || n > c.max {
				t.Errorf("%d parts, want %d to %d", n, c.min, c.max)
			}
			// An interval that only one worker has rows of, and one without any.
			f.tick(30, rows(200, 1, -1))
			f.append()
			f.tick(40)
			f.append()
			if got, want := e.contents(), contentsOf(rows(201, 399, 1), rows(600, 100, 2)); got != want {
				t.Errorf("contents are\n%swant\n%s", got, want)
			}
			if n := e.o.Staging.used(); n != 0 {
				t.Errorf("%d bytes are still staged", n)
			}
		})
	}
}

// contentsOf prints rows as env.contents does.
func contentsOf(blocks ...*vec.Block) string {
	out := ""
	for _, b := range blocks {
		for i := range b.Len {
			out += fmt.Sprintf("%#v %d\n", append(b.Row(i, nil), vec.Null), b.Diff(i))
		}
	}
	return out
}

// TestBaselinesEndWithAnError: neither a store that fails nor a budget that is too small leaves a worker waiting or an
// object behind.
func TestBaselinesEndWithAnError(t *testing.T) {
	for _, sharing := range []Sharing{BaselinePerWorker(), BaselineBestEffort(2), BaselineBarrier(2)} {
		e := newEnv(t, 4)
		e.o.Sharing = sharing
		e.set("compute_mv_sink_shared_batch_max_bytes", "1MB")
		f := e.newFlow()
		f.tick(10, rows(0, 20_000, 1))
		e.follow(only("put", storagetest.Fail))
		if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), f.seal()); err == nil {
			t.Error("the store failed, the append did not")
		}
		e.follow(nil)
		e.set("compute_mv_sink_staging_max_bytes", "1kB")
		f = e.newFlow()
		f.tick(10, rows(0, 20_000, 1))
		if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), f.seal()); !errors.Is(err, errBaselineSpilled) {
			t.Error(err)
		}
		if keys := e.objects(); len(keys) > 0 {
			t.Errorf("objects are left: %v", keys)
		}
	}
}
