package sink

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestBudgetIsNeverExceeded has five hundred views of thirty-two workers each stage all at once, many times more than the
// budget has. At no moment is more taken than there is, nor is more staged than was taken; and whoever was refused has its
// rows all the same. When it is over, little is kept for each worker.
func TestBudgetIsNeverExceeded(t *testing.T) {
	const budget, views, workers = 1 << 20, 500, 32
	e := newEnv(t, workers)
	e.set("compute_mv_sink_staging_max_bytes", strconv.Itoa(budget))
	e.set("compute_mv_sink_shared_batch_max_bytes", "64kB")
	todo := deal(rows(0, 640, 1), workers)
	all := make([]*View, views)
	before := liveBytes()
	var wg sync.WaitGroup
	var most atomic.Int64
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < views; i += 4 {
				all[i] = NewView(context.Background(), e.o)
				for _, d := range todo {
					d.at = 10
					d.to(all[i])
					if now := e.o.Staging.writing.Load(); now > most.Load() {
						most.Store(now)
					}
				}
			}
		})
	}
	wg.Wait()
	staged, refused := 0, 0
	for _, v := range all {
		for w := range v.shares {
			if s := &v.shares[w]; s.writer != nil {
				refused++
			} else if s.staged != nil {
				staged += s.staged.Size()
			}
		}
	}
	if m := most.Load(); m > budget || m < budget/2 || int64(staged) > e.o.Staging.used() {
		t.Errorf("at most %d bytes were taken of %d; %d are staged, and %d taken", m, budget, staged, e.o.Staging.used())
	}
	if refused < views*workers/2 {
		t.Errorf("%d workers were refused: the budget was not tried", refused)
	}
	for i, v := range all {
		iv := v.Seal()
		if i != views-1 {
			iv.Discard(context.Background(), e.o.Staging)
			continue
		}
		iv.Upper = 11
		if err := NewAppender(e.o, e.p.Set.Group()).Append(context.Background(), iv); err != nil {
			t.Fatal(err)
		}
	}
	// The writers of those that were refused are gone too.
	if kept := liveBytes() - before; kept > views*workers<<10 {
		t.Errorf("views that have nothing in hand take %d bytes, a worker %d", kept, kept/views/workers)
	}
	if n := strings.Count(e.contents(), "\n"); n != 640 || e.o.Staging.used() != 0 || e.o.Staging.writing.Load() != 0 {
		t.Errorf("%d rows in the last view, %d bytes still taken", n, e.o.Staging.used())
	}
}

// liveBytes is how much memory is in use.
func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBudgetRefusesOnlyWhatDoesNotFit: one who asks for too much does not stand in the way of another, at no moment.
func TestBudgetRefusesOnlyWhatDoesNotFit(t *testing.T) {
	e := newEnv(t, 1)
	e.set("compute_mv_sink_staging_max_bytes", "1000")
	var wg sync.WaitGroup
	var over atomic.Bool
	wg.Go(func() {
		for !over.Load() {
			if e.o.Staging.take(1001, false) {
				t.Error("more was given than there is")
				return
			}
		}
	})
	for range 2_000_000 {
		if !e.o.Staging.take(1000, false) {
			t.Error("what there is was refused")
			break
		}
		e.o.Staging.give(1000, false)
	}
	over.Store(true)
	wg.Wait()
}
