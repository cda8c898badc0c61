package sink

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/tvc"
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
					now := e.o.Staging.used()
					for peak := most.Load(); now > peak && !most.CompareAndSwap(peak, now); peak = most.Load() {
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
			iv.Discard(context.Background())
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
	if n := strings.Count(e.contents(), "\n"); n != 640 || e.o.Staging.used() != 0 {
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
	a := &account{budget: e.o.Staging}
	a.write(true)
	var wg sync.WaitGroup
	var over atomic.Bool
	wg.Go(func() {
		for !over.Load() {
			if a.take(1001, false) {
				t.Error("more was given than there is")
				return
			}
		}
	})
	for range 2_000_000 {
		if !a.take(1000, false) {
			t.Error("what there is was refused")
			break
		}
		a.give(1000, false)
	}
	over.Store(true)
	wg.Wait()
}

// newBudget makes a budget of so many bytes, which sets it to others.
func newBudget(tb testing.TB, most int64) (b *Budget, set func(most int64)) {
	b = NewBudget(settings.NewSet(Settings()...))
	set = func(most int64) {
		if err := b.set.Set(stagingMaxBytes.Name(), strconv.FormatInt(most, 10)); err != nil {
			tb.Fatal(err)
		}
	}
	set(most)
	return b, set
}

// accounts makes accounts of views that write.
func (b *Budget) accounts(n int) []*account {
	all := make([]*account, n)
	for i := range all {
		all[i] = &account{budget: b}
		all[i].write(true)
	}
	return all
}

// takeAll takes all there is, byte by byte, and says how much it was.
func (a *account) takeAll() (n int64) {
	for a.take(1, false) {
		n++
	}
	return n
}

// TestEveryViewHasItsShare: however much some views take, each of the others has its share, to the byte, and together they
// have the budget.
func TestEveryViewHasItsShare(t *testing.T) {
	for _, c := range []struct {
		most            int64
		views, greedy   int
		common, leftFor int64 // what the greedy take beyond their shares, and what each of the others has
	}{
		{most: 1000, views: 1, greedy: 1, common: 500, leftFor: 500},
		{most: 1000, views: 2, greedy: 1, common: 500, leftFor: 250},
		{most: 1000, views: 3, greedy: 1, common: 502, leftFor: 166},
		{most: 1001, views: 7, greedy: 2, common: 504, leftFor: 71},
		{most: 1000, views: 500, greedy: 499, common: 500, leftFor: 1},
		{most: 1000, views: 501, greedy: 500, common: 1000, leftFor: 0},
		{most: 1, views: 2, greedy: 1, common: 1, leftFor: 0},
		{most: 0, views: 2, greedy: 1, common: 0, leftFor: 0},
	} {
		b, _ := newBudget(t, c.most)
		all := b.accounts(c.views)
		taken := int64(0)
		for _, a := range all[:c.greedy] {
			taken += a.takeAll()
		}
		if want := c.common + int64(c.greedy)*c.leftFor; taken != want {
			t.Errorf("%d of %d views took %d bytes of %d, want %d", c.greedy, c.views, taken, c.most, want)
		}
		for i, a := range all[c.greedy:] {
			if c.leftFor > 0 && !a.take(c.leftFor, false) || a.take(1, false) {
				t.Errorf("view %d of %d was not given just %d bytes of %d", i+c.greedy, c.views, c.leftFor, c.most)
			}
		}
		if writing, _ := b.staged(); writing != c.most {
			t.Errorf("%d views have %d bytes of %d", c.views, writing, c.most)
		}
	}
}

// TestSharesFollowTheViews: a view that comes has its share as soon as others have given back what they have beyond theirs,
// and one that goes leaves its share to the others, but not what it has still staged.
func TestSharesFollowTheViews(t *testing.T) {
	b, _ := newBudget(t, 1200)
	first := b.accounts(1)[0]
	if n := first.takeAll(); n != 1200 {
		t.Fatalf("a view that is alone took %d bytes", n)
	}
	second := b.accounts(1)[0]
	if second.take(1, false) {
		t.Error("there was more than the budget")
	}
	first.give(200, false) // and has 100 more than its share and the common part
	if first.take(1, false) || !second.take(200, false) || second.take(1, false) {
		t.Error("what was given back did not go to who had less than its share")
	}
	first.give(900, false)
	third := b.accounts(1)[0]
	if n := second.takeAll(); n != 600 {
		t.Errorf("one of three views took %d bytes beside its share of 200", n)
	}
	second.write(false) // all that it has is beyond a share now, and more than the common part
	if n := first.takeAll(); n != 200 {
		t.Errorf("one of two views took %d bytes beside 100, of its share of 300", n)
	}
	second.give(800, false)
	if n := first.takeAll(); n != 600 {
		t.Errorf("one of two views took %d bytes beside its share, of a common part of 600", n)
	}
	if n := third.takeAll(); n != 300 {
		t.Errorf("the other one of two views took %d bytes, of its share of 300", n)
	}
}

// ledger is a dumb budget: it adds everything up each time.
type ledger struct {
	most, standing int64
	used           []int64
	writes         []bool
}

// gives says whether the i-th of the views may take n bytes more.
func (l *ledger) gives(i int, n int64) bool {
	writing, writers := n, int64(0)
	for j, used := range l.used {
		writing += used
		if l.writes[j] {
			writers++
		}
	}
	if writing > l.most {
		return false
	}
	share := l.most / 2
	if writers > 0 {
		share /= writers
	}
	if l.writes[i] && l.used[i]+n <= share {
		return true
	}
	beyond := int64(0)
	for j, used := range l.used {
		if j == i {
			used += n
		}
		if l.writes[j] {
			used -= min(used, share)
		}
		beyond += used
	}
	return beyond <= l.most-share*writers
}

// TestBudgetIsTheLedger: every answer of the budget is that of one that is added up from scratch, whatever views do, come and
// go, and whatever becomes of the parameter.
func TestBudgetIsTheLedger(t *testing.T) {
	const views, steps = 6, 4000
	granted, refused := 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 11))
		l := &ledger{most: 1000, used: make([]int64, views), writes: make([]bool, views)}
		b, set := newBudget(t, l.most)
		standing := make([]int64, views) // of each
		var all []*account
		for range views {
			all = append(all, &account{budget: b})
		}
		for step := range steps {
			i, n := rng.IntN(views), 1+rng.Int64N(120)
			var got, want bool
			switch rng.IntN(12) {
			case 0:
				l.writes[i] = !l.writes[i]
				all[i].write(l.writes[i])
				continue
			case 1:
				l.most = []int64{0, 5, 300, 1000, 1001, 3000}[rng.IntN(6)]
				set(l.most)
				continue
			case 2:
				got, want = all[i].take(n, true), l.standing+n <= l.most/8
				if want {
					l.standing, standing[i] = l.standing+n, standing[i]+n
				}
			case 3:
				if n = min(n, standing[i]); n == 0 {
					continue
				}
				got, want = all[i].move(n, false), l.gives(i, n)
				if want {
					l.used[i], standing[i], l.standing = l.used[i]+n, standing[i]-n, l.standing-n
				}
			case 4:
				n = min(n, l.used[i])
				got, want = all[i].move(n, true), true
				l.used[i], standing[i], l.standing = l.used[i]-n, standing[i]+n, l.standing+n
			case 5:
				n = min(n, standing[i])
				all[i].give(n, true)
				standing[i], l.standing = standing[i]-n, l.standing-n
			case 6, 7:
				n = min(n, l.used[i])
				all[i].give(n, false)
				l.used[i] -= n
			default:
				got, want = all[i].take(n, false), l.gives(i, n)
				if want {
					l.used[i] += n
					granted++
				} else {
					refused++
				}
			}
			if got != want {
				t.Fatalf("seed %d, step %d: asked for %d bytes, view %d of %+v was told %v", seed, step, n, i, l, got)
			}
		}
		for i, a := range all {
			a.give(l.used[i], false)
			a.give(standing[i], true)
			a.write(false)
		}
		if b.mu.writing != 0 || b.mu.standing != 0 || b.mu.common != 0 || len(b.mu.views) != 0 {
			t.Fatalf("seed %d: in the end there is %+v", seed, b.mu.views)
		}
	}
	if granted < 10_000 || refused < 10_000 {
		t.Errorf("%d were granted and %d refused: the cases are not mixed", granted, refused)
	}
}

// TestTheSumIsNeverExceeded: whatever several workers of several views do at once, while views come and go and the parameter
// changes, nothing is granted that is more than the budget; and all comes back.
func TestTheSumIsNeverExceeded(t *testing.T) {
	const views, workers, steps = 5, 4, 20_000
	b, set := newBudget(t, 1000)
	all := b.accounts(views)
	var most atomic.Int64
	most.Store(1000)
	var changing sync.RWMutex // held by those for whom the parameter must not change
	type grant struct {
		a       *account
		n       int64
		standby bool
	}
	var granted, refused atomic.Int64
	asks := func(rng *rand.Rand, have []grant) []grant {
		changing.RLock()
		defer changing.RUnlock()
		g, last, asked := grant{all[rng.IntN(views)], 1 + rng.Int64N(200), rng.IntN(5) == 0}, len(have)-1, true
		var got bool
		switch op := rng.IntN(5); {
		case op == 0 && last >= 0:
			have[last].a.give(have[last].n, have[last].standby)
			return have[:last]
		case op == 1 && last >= 0:
			h := &have[last]
			asked = h.standby // and wants to write
			if got = h.a.move(h.n, !h.standby); got {
				h.standby = !h.standby
			}
		default:
			asked = !g.standby
			if got = g.a.take(g.n, g.standby); got {
				have = append(have, g)
			}
		}
		if writing, _ := b.staged(); got && asked && writing > most.Load() {
			t.Errorf("%d bytes were granted of %d", writing, most.Load())
		}
		if got {
			granted.Add(1)
		} else {
			refused.Add(1)
		}
		return have
	}
	var wg sync.WaitGroup
	for w := range uint64(workers) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(w, 12))
			var have []grant
			for range steps {
				have = asks(rng, have)
			}
			for _, g := range have {
				g.a.give(g.n, g.standby)
			}
		})
	}
	wg.Go(func() {
		rng := rand.New(rand.NewPCG(workers, 12))
		for range steps / 10 {
			all[rng.IntN(views)].write(rng.IntN(2) == 0)
			changing.Lock()
			most.Store(rng.Int64N(3000))
			set(most.Load())
			changing.Unlock()
		}
	})
	wg.Wait()
	if b.mu.writing != 0 || b.mu.standing != 0 || b.mu.common != 0 {
		t.Errorf("in the end %d, %d and %d bytes are taken", b.mu.writing, b.mu.standing, b.mu.common)
	}
	if granted.Load() < 1000 || refused.Load() < 1000 {
		t.Errorf("%d were granted and %d refused: the cases are not mixed", granted.Load(), refused.Load())
	}
}

// TestWhoBeginsToWriteFindsRoomOrWaits: what a view staged while it stood by counts as a writer's if there is room, and else
// stays where it is until it is appended; so those who write never have more than the budget.
func TestWhoBeginsToWriteFindsRoomOrWaits(t *testing.T) {
	const budget = 64 << 10
	e := newEnv(t, 2)
	e.set("compute_mv_sink_shared_batch_max_bytes", "1GB")
	e.set("compute_mv_sink_staging_max_bytes", strconv.Itoa(budget))
	f := e.newFlow()
	f.view.StandBy(true)
	f.tick(10, rows(0, 100, 1))
	_, stood := e.o.Staging.staged()
	for _, full := range []bool{true, false} {
		other := &account{budget: e.o.Staging}
		if full && !other.take(budget, false) {
			t.Fatal("where nobody writes the whole budget is common")
		}
		f.view.StandBy(false)
		want := [2]int64{0, stood}
		if full {
			want[0] = budget
		} else {
			want = [2]int64{stood, 0}
		}
		if writing, standing := e.o.Staging.staged(); [2]int64{writing, standing} != want {
			t.Errorf("%d bytes count as writers' and %d as others', want %v", writing, standing, want)
		}
		if full {
			other.give(budget, false)
			f.view.StandBy(true)
		}
	}
	f.append()
	if f.view.Close(context.Background()); e.o.Staging.used() != 0 || strings.Count(e.contents(), "\n") != 100 {
		t.Errorf("%d bytes are staged, and the view is\n%s", e.o.Staging.used(), e.contents())
	}
}

// TestClosedViewsHaveNoShare: the share of a view ends with it, and what it has staged with its intervals.
func TestClosedViewsHaveNoShare(t *testing.T) {
	e := newEnv(t, 2)
	ctx := context.Background()
	f := e.newFlow()
	f.tick(10, rows(0, 50, 1))
	iv := f.seal()
	sealed := e.o.Staging.used()
	f.tick(20, rows(50, 50, 1))
	both := e.o.Staging.used()
	f.view.Close(ctx)
	if got := e.o.Staging.used(); sealed == 0 || both <= sealed || got != sealed || len(e.o.Staging.mu.views) != 0 {
		t.Errorf("%d and then %d bytes were staged, %d are, of %d views", sealed, both, got, len(e.o.Staging.mu.views))
	}
	if iv.Discard(ctx); e.o.Staging.used() != 0 {
		t.Errorf("%d bytes are staged", e.o.Staging.used())
	}
}

// TestALoadLeavesSmallViewsAlone: while a view that may stage as much as it likes takes all there is for it, small ones beside
// it go on in parts that their workers share.
func TestALoadLeavesSmallViewsAlone(t *testing.T) {
	e := newEnv(t, 2)
	e.set("compute_mv_sink_shared_batch_max_bytes", "1GB")
	e.set("compute_mv_sink_staging_max_bytes", "64kB")
	large, small := e.newFlow(), e.newFlow()
	spilled := false
	for i := range 200 {
		at := tvc.Time(10 + i)
		large.tick(at, rows(100*i, 100, 1))
		for _, s := range large.view.shares {
			spilled = spilled || s.writer != nil
		}
		small.tick(at, rows(100*i, 200, 1))
		small.append()
	}
	if s := e.statistics(); s.Spills != 0 || s.Appends != 200 || !spilled {
		t.Errorf("the large view has spilled: %v; of the small one it says %+v", spilled, s)
	}
	large.view.Close(context.Background())
}

// BenchmarkBudget is workers that take and give back what a block needs, each of a view of its own or all of one.
func BenchmarkBudget(b *testing.B) {
	for _, views := range []int{1, 500} {
		b.Run(strconv.Itoa(views), func(b *testing.B) {
			budget, _ := newBudget(b, 1<<30)
			all := budget.accounts(views)
			var next atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				a := all[int(next.Add(1))%views]
				for pb.Next() {
					if !a.take(32*dataflow.RoundRows, false) {
						b.Error("there was room")
					}
					a.give(32*dataflow.RoundRows, false)
				}
			})
		})
	}
}
