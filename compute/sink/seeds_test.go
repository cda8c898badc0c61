package sink

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

var (
	seeds     = flag.Uint64("seeds", 50, "how many random histories a view has")
	firstSeed = flag.Uint64("first-seed", 0, "the first of the seeds")
)

// life is a view under random intervals, and beside it the rows that it must have.
type life struct {
	*env
	rng  *rand.Rand
	flow *flow
	now  tvc.Time
	// is what was acknowledged, below upper; doubt that with the append that was under way when the process ended.
	is, doubt map[int64]int64
	upper     tvc.Frontier
}

// TestViewsOverBadStores has views append random intervals over stores that fail, lie, dawdle and reorder, with rivals, lost
// reports, and processes that die, find the disk full, or are fenced (lose their lease, which here is the epoch). A view has
// what was acknowledged, what is under way happens whole or not at all, and nothing is left of what did not happen.
//
// Of what must be kept, this is: no interval is sealed without proof that the data of all workers is in it.
func TestViewsOverBadStores(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 10)
	}
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 41))
			l := &life{env: newEnv(t, 1+rng.IntN(3)), rng: rng, now: 10, is: map[int64]int64{}}
			l.begin()
			for range 25 {
				l.interval()
			}
			l.end()
		})
	}
}

// begin has the stores be bad, and a new dataflow.
func (l *life) begin() {
	l.follow(storagetest.Fate(l.rng.Uint64(), 15, l.p.Faults.Calls(), 60))
	l.set("compute_mv_sink_shared_batch_max_bytes", []string{"0", "1kB", "1MB"}[l.rng.IntN(3)])
	l.flow = l.newFlow()
}

// interval ticks a few times and appends.
func (l *life) interval() {
	next := maps.Clone(l.is)
	for range 1 + l.rng.IntN(3) {
		l.now += 1 + tvc.Time(l.rng.IntN(5))
		if err := l.flow.try(l.now, l.changes(next)...); err != nil {
			l.flow.view.Seal().Discard(context.Background())
			l.failed(err)
			return
		}
	}
	iv := l.flow.seal()
	iv.Lower = l.upper
	app := NewAppender(l.o, l.p.Set.Group())
	var err error
	switch l.rng.IntN(10) {
	case 0:
		// A report is lost.
		if lose(iv) {
			if err := app.Append(context.Background(), iv); !errors.Is(err, ErrNotConserved) && !storagetest.IsFault(err) {
				l.tb.Fatalf("a report was lost: %v", err)
			}
			l.failed(storagetest.ErrInjected)
			return
		}
		err = app.Append(context.Background(), iv)
	case 1:
		if err = l.rival(app); err == nil {
			lost := new(LostError)
			if err := app.Append(context.Background(), iv); !errors.As(err, &lost) || lost.Upper != l.upper {
				if !storagetest.IsFault(err) {
					l.tb.Fatalf("a race was lost: %v", err)
				}
			}
			l.failed(storagetest.ErrInjected)
			return
		}
		iv.Discard(context.Background())
		next = maps.Clone(l.is)
	default:
		err = app.Append(context.Background(), iv)
	}
	if err == nil {
		l.is, l.upper = next, tvc.After(l.now)
		return
	}
	if storagetest.IsUnknown(err) {
		l.doubt = next
	}
	l.failed(err)
}

// lose loses the rows of a worker on their way to the appender, and says whether there were any that count.
func lose(iv *Interval) bool {
	for w := range iv.reports {
		r := &iv.reports[w]
		if r.staged != nil && r.staged.Len > 0 && r.writer == nil && r.totals.moves != (tvc.Fingerprint{}) {
			r.staged.Reset()
			return true
		}
	}
	return false
}

// rival appends an interval of nothing first.
func (l *life) rival(app *Appender) error {
	other := l.newFlow()
	other.now = l.now
	iv := other.seal()
	iv.Lower = l.upper
	if err := app.Append(context.Background(), iv); err != nil {
		return err
	}
	l.upper = tvc.After(l.now)
	return nil
}

// changes makes up the changes of one tick: rows that come, and some of those that are there go.
func (l *life) changes(rows map[int64]int64) []*vec.Block {
	in := vec.NewBlock(viewSchema.Rel.Kinds(), 0)
	n := l.rng.IntN(20)
	if l.rng.IntN(8) == 0 {
		n = 400
	}
	for range n {
		k, diff := l.rng.Int64N(600), int64(1)
		if rows[k] > 0 && l.rng.IntN(2) == 0 {
			diff = -1
		}
		if rows[k] += diff; rows[k] == 0 {
			delete(rows, k)
		}
		in.AppendRow(diff, rowOf(k)...)
	}
	return []*vec.Block{in}
}

func rowOf(k int64) []vec.Datum {
	return []vec.Datum{vec.IntOf(k), vec.StrOf(fmt.Sprint("value ", k))}
}

// failed ends the dataflow, and the process if it can do nothing any more.
func (l *life) failed(err error) {
	l.tb.Helper()
	if used := l.o.Staging.used(); used != 0 {
		l.tb.Fatalf("%d bytes are staged after %v", used, err)
	}
	switch {
	case !storagetest.IsFault(err):
		l.tb.Fatal(err)
	case storagetest.IsUnknown(err), errors.Is(err, txn.ErrFenced):
		l.end()
		l.begin()
	default:
		l.flow = l.newFlow()
	}
}

// end ends the process by a power cut, starts the next one, and checks what is there.
func (l *life) end() {
	l.tb.Helper()
	disk := l.disk.Crash(l.rng.Uint64(), 50*l.rng.IntN(2))
	l.p.Stop(l.tb)
	l.disk = disk
	l.start()
	if upper := l.o.Shard.Upper(); l.doubt != nil && upper > l.upper {
		l.is, l.upper = l.doubt, upper
	}
	l.doubt = nil
	if upper := l.o.Shard.Upper(); upper != l.upper {
		l.tb.Fatalf("the upper is %v, want %v", upper, l.upper)
	}
	if got := l.counts(); !maps.Equal(got, l.is) {
		l.tb.Fatalf("the view has %v\nwant %v", got, l.is)
	}
	if _, err := l.p.Set.Client().Sweep(context.Background()); err != nil {
		l.tb.Fatal(err)
	}
	if err := l.p.Check(context.Background()); err != nil {
		l.tb.Fatal(err)
	}
	// What the dataflow computes anew is what is stored.
	again := l.newFlow()
	again.view.CountOnly(true)
	all := vec.NewBlock(viewSchema.Rel.Kinds(), len(l.is))
	for k, n := range l.is {
		all.AppendRow(n, rowOf(k)...)
	}
	again.tick(l.now, all)
	iv := again.seal()
	if stored, _ := l.o.Shard.Fingerprint(); iv.Content() != stored {
		l.tb.Fatalf("the content is %v, stored is %v", iv.Content(), stored)
	}
	iv.Discard(context.Background())
}

// counts reads the view.
func (l *life) counts() map[int64]int64 {
	l.tb.Helper()
	out := map[int64]int64{}
	if l.upper == 0 {
		return out
	}
	sc, err := l.o.Shard.Snapshot(context.Background(), l.upper.Last(), shard.ScanOptions{Consolidate: true})
	if err != nil {
		l.tb.Fatal(err)
	}
	defer sc.Close()
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			l.tb.Fatal(err)
		}
		if b == nil {
			return out
		}
		for i := range b.Len {
			out[b.Cols[0].Ints[i]] += b.Diff(i)
		}
	}
}
