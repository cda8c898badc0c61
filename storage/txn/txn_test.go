package txn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// gate is a store whose commits a test holds back and looks at.
type gate struct {
	consensus.Store
	mu sync.Mutex
	// arrived has a word for each commit that waits; open lets one through.
	arrived, open chan struct{}
	held          bool
	commits       [][]consensus.Unit
}

func newGate() *gate {
	return &gate{Store: consensus.NewMemory(), arrived: make(chan struct{}, 100), open: make(chan struct{})}
}

func (g *gate) hold(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = on
}

func (g *gate) Commit(ctx context.Context, units []consensus.Unit) ([]consensus.Outcome, error) {
	g.mu.Lock()
	held := g.held
	g.commits = append(g.commits, units)
	g.mu.Unlock()
	if held {
		g.arrived <- struct{}{}
		<-g.open
	}
	return g.Store.Commit(ctx, units)
}

// seen gives the commits so far and forgets them.
func (g *gate) seen() [][]consensus.Unit {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.commits
	g.commits = nil
	return out
}

func openSet(tb testing.TB, store consensus.Store, blobs blob.Store) *collection.Set {
	tb.Helper()
	set, err := collection.Open(context.Background(), collection.Options{
		Consensus: store, Blob: blobs, Clock: func() tvc.Time { return 1_000_000 },
		Settings: settings.NewSet(collection.Settings()...), Registry: prometheus.NewRegistry(),
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

var oneInt = shard.Schema{Rel: types.Rel{Cols: []types.Column{{Name: "a", Type: types.TInt8}}}}

func makeShard(tb testing.TB, set *collection.Set, id shard.ID) *shard.Shard {
	tb.Helper()
	if out, err := set.Group().Do(context.Background(), txn.Unit{Ops: []shard.Op{shard.Create{ID: id, Schema: oneInt}}}); err != nil || !out.Done() {
		tb.Fatal(out.Refused, err)
	}
	sh, err := set.Client().Open(context.Background(), id, shard.OpenOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return sh
}

func written(tb testing.TB, sh *shard.Shard, values ...int64) []*shard.Written {
	tb.Helper()
	b := vec.NewBlock(oneInt.Kinds(), len(values))
	for _, x := range values {
		b.AppendRow(1, vec.IntOf(x))
	}
	w := sh.NewWriter(shard.WriterOptions{})
	if err := w.Add(context.Background(), b); err != nil {
		tb.Fatal(err)
	}
	out, err := w.Finish(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return []*shard.Written{out}
}

// contents gives the values with the times at which they came.
func contents(tb testing.TB, sh *shard.Shard) string {
	tb.Helper()
	sc, err := sh.Updates(context.Background(), 0, tvc.Done, shard.ScanOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	defer sc.Close()
	out := ""
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		if b == nil {
			return strings.TrimSpace(out)
		}
		for i := range b.Len {
			out += fmt.Sprintf("%d@%d ", b.Cols[0].Ints[i], b.Times[i])
		}
	}
}

// inLine starts Do and returns once it stands in line.
func inLine(wg *sync.WaitGroup, g *txn.Group, u txn.Unit, then func(txn.Outcome, error)) {
	before := g.Waiting()
	wg.Go(func() { then(g.Do(context.Background(), u)) })
	for g.Waiting() == before {
		// It is about to get there.
		runtime.Gosched()
	}
}

func mustDone(t *testing.T) func(txn.Outcome, error) {
	return func(out txn.Outcome, err error) {
		if err != nil || !out.Done() {
			t.Error(out.Refused, err)
		}
	}
}

func TestWhatIsReadySharesOneCommit(t *testing.T) {
	store := newGate()
	set := openSet(t, store, blob.NewMemory())
	a, b := makeShard(t, set, "a"), makeShard(t, set, "b")
	store.hold(true)
	var wg sync.WaitGroup
	wg.Go(func() {
		mustDone(t)(set.Group().Do(context.Background(), txn.Unit{Ops: []shard.Op{shard.Append{Shard: a, AnyLower: true, Upper: 10, Written: written(t, a, 0)}}}))
	})
	<-store.arrived
	store.seen()
	// While the first is being written, others get in line, on the same shards: the later ones build on the earlier.
	for i := range 20 {
		upper := tvc.Frontier(20 + i)
		inLine(&wg, set.Group(), txn.Unit{Ops: []shard.Op{
			shard.Append{Shard: a, AnyLower: true, Upper: upper, Written: written(t, a, int64(i))},
			shard.Append{Shard: b, AnyLower: true, Upper: upper, Written: written(t, b, int64(i))},
		}}, mustDone(t))
	}
	// One that cannot be done is refused without harm to the others.
	inLine(&wg, set.Group(), txn.Unit{Ops: []shard.Op{
		shard.Append{Shard: b, AnyLower: true, Upper: 100, Written: written(t, b, 77)},
		shard.Append{Shard: a, Lower: 5, Upper: 100, Written: written(t, a, 77)},
	}}, func(out txn.Outcome, err error) {
		if err != nil || out.Done() || out.Refused.Reason != shard.UpperMismatch || out.Refused.Op != 1 || out.Refused.Upper != 39 {
			t.Error(out.Refused, err)
		}
	})
	inLine(&wg, set.Group(), txn.Unit{Ops: []shard.Op{shard.Append{Shard: b, AnyLower: true, Upper: 50, Written: written(t, b, 99)}}}, mustDone(t))
	if upper := a.Upper(); upper != 0 {
		t.Errorf("upper is %v before anything is durable", upper)
	}
	store.hold(false)
	close(store.open)
	wg.Wait()
	if n := len(store.seen()); n != 1 {
		t.Errorf("%d commits", n)
	}
	if a.Upper() != 39 || b.Upper() != 50 {
		t.Error(a.Upper(), b.Upper())
	}
	if got := contents(t, b); !strings.HasPrefix(got, "0@19 1@20 2@21") || !strings.HasSuffix(got, "19@38 99@49") {
		t.Error(got)
	}
}

// hiding is a store that once says that it does not know what became of a commit that has happened.
type hiding struct {
	*gate
	hide atomic.Bool
}

func (h *hiding) Commit(ctx context.Context, units []consensus.Unit) ([]consensus.Outcome, error) {
	out, err := h.gate.Commit(ctx, units)
	if err == nil && h.hide.Swap(false) {
		return nil, consensus.ErrIndeterminate
	}
	return out, err
}

// TestAUnitThatOnlyComparesIsSettled: after an unknown outcome, a unit that depends on a shard and does not change it finds
// the shard moved, by a unit of the same step that comes later. Both are done.
func TestAUnitThatOnlyComparesIsSettled(t *testing.T) {
	store := &hiding{gate: newGate()}
	set := openSet(t, store, blob.NewMemory())
	a := makeShard(t, set, "a")
	store.hold(true)
	var wg sync.WaitGroup
	wg.Go(func() { mustDone(t)(set.Group().Do(context.Background(), txn.Unit{})) })
	<-store.arrived
	inLine(&wg, set.Group(), txn.Unit{Ops: []shard.Op{shard.Downgrade{Shard: a}}}, mustDone(t))
	inLine(&wg, set.Group(), txn.Unit{Ops: []shard.Op{shard.Append{Shard: a, AnyLower: true, Upper: 10, Written: written(t, a, 1)}}}, mustDone(t))
	store.open <- struct{}{}
	<-store.arrived
	store.hide.Store(true)
	store.hold(false)
	close(store.open)
	wg.Wait()
	if got := contents(t, a); got != "1@9" {
		t.Error(got)
	}
}

func TestClientsGoBeforeBackground(t *testing.T) {
	store := newGate()
	set := openSet(t, store, blob.NewMemory())
	a := makeShard(t, set, "a")
	store.hold(true)
	var wg sync.WaitGroup
	wg.Go(func() { mustDone(t)(set.Group().Do(context.Background(), txn.Unit{})) })
	<-store.arrived
	inLine(&wg, set.Group(), txn.Unit{Background: true, Ops: []shard.Op{
		shard.Append{Shard: a, Lower: 0, Upper: 10, Written: written(t, a, 1)}}},
		func(out txn.Outcome, err error) {
			if err != nil || out.Done() || out.Refused.Upper != 20 {
				t.Error("the background unit went first", out.Refused, err)
			}
		})
	inLine(&wg, set.Group(), txn.Unit{Ops: []shard.Op{shard.Append{Shard: a, Lower: 0, Upper: 20, Written: written(t, a, 2)}}}, mustDone(t))
	store.hold(false)
	close(store.open)
	wg.Wait()
}

func TestStepsAreBounded(t *testing.T) {
	store := newGate()
	set := openSet(t, store, blob.NewMemory())
	store.hold(true)
	var wg sync.WaitGroup
	wg.Go(func() { mustDone(t)(set.Group().Do(context.Background(), txn.Unit{})) })
	<-store.arrived
	store.seen()
	large := make([]byte, 400<<10)
	for i := range 10 {
		inLine(&wg, set.Group(), txn.Unit{Background: i%2 == 0, Registers: []txn.Register{{Key: fmt.Sprint("r", i), Data: large}}}, mustDone(t))
	}
	store.hold(false)
	close(store.open)
	wg.Wait()
	commits := store.seen()
	for _, c := range commits {
		size := 0
		for _, u := range c {
			for _, e := range u {
				size += len(e.Data)
			}
		}
		// Each step takes one background unit at least, also when clients have filled it.
		if size > 3*len(large)+100 {
			t.Errorf("a step of %d bytes", size)
		}
	}
	if len(commits) < 4 {
		t.Errorf("%d commits", len(commits))
	}
}

func TestWhoLeavesTheLineLeavesNothing(t *testing.T) {
	store := newGate()
	set := openSet(t, store, blob.NewMemory())
	a := makeShard(t, set, "a")
	store.hold(true)
	var wg sync.WaitGroup
	wg.Go(func() { mustDone(t)(set.Group().Do(context.Background(), txn.Unit{})) })
	<-store.arrived
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error)
	before := set.Group().Waiting()
	go func() {
		_, err := set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{shard.Append{Shard: a, AnyLower: true, Upper: 10, Written: written(t, a, 1)}}})
		left <- err
	}()
	for set.Group().Waiting() == before {
		runtime.Gosched()
	}
	inLine(&wg, set.Group(), txn.Unit{Ops: []shard.Op{shard.Append{Shard: a, Lower: 0, Upper: 20, Written: written(t, a, 2)}}}, mustDone(t))
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	store.hold(false)
	close(store.open)
	wg.Wait()
	if got := contents(t, a); got != "2@19" {
		t.Error(got)
	}
}

func TestAPredecessorIsFenced(t *testing.T) {
	store, blobs := consensus.NewMemory(), blob.NewMemory()
	first := openSet(t, store, blobs)
	a := makeShard(t, first, "a")
	second := openSet(t, store, blobs)
	for range 2 {
		_, err := first.Group().Do(context.Background(), txn.Unit{Ops: []shard.Op{shard.Append{Shard: a, AnyLower: true, Upper: 10, Written: written(t, a, 1)}}})
		if !errors.Is(err, txn.ErrFenced) {
			t.Fatal(err)
		}
	}
	<-first.Group().Failed()
	if err := first.Group().Err(); !errors.Is(err, txn.ErrFenced) {
		t.Fatal(err)
	}
	if err := first.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	sh, err := second.Client().Open(context.Background(), "a", shard.OpenOptions{})
	if err != nil || sh.Upper() != 0 {
		t.Fatal(err)
	}
}

// TestCheckEpoch: a process that writes nothing finds out that it was fenced, without writing.
func TestCheckEpoch(t *testing.T) {
	store := newGate()
	first := openSet(t, store, blob.NewMemory())
	store.seen()
	if err := first.Group().CheckEpoch(t.Context()); err != nil || first.Group().Err() != nil {
		t.Fatal(err, first.Group().Err())
	}
	second := openSet(t, store.Store, blob.NewMemory())
	for range 2 {
		if err := first.Group().CheckEpoch(t.Context()); !errors.Is(err, txn.ErrFenced) {
			t.Error(err)
		}
	}
	<-first.Group().Failed()
	if err := second.Group().CheckEpoch(t.Context()); err != nil {
		t.Error(err)
	}
	if commits := store.seen(); len(commits) > 0 {
		t.Errorf("to look wrote %v", commits)
	}
}

// emptied is a store that one day has no register any more.
type emptied struct{ consensus.Store }

// TestAnEpochThatGoesBack is no other process's: the registers are gone, or those of an older backup, and the process says so.
func TestAnEpochThatGoesBack(t *testing.T) {
	for name, notice := range map[string]func(*txn.Group) error{
		"a write": func(g *txn.Group) error {
			_, err := g.Do(context.Background(), txn.Unit{Registers: []txn.Register{{Key: "x", Data: []byte("x")}}})
			return err
		},
		"a look": func(g *txn.Group) error { return g.CheckEpoch(context.Background()) },
	} {
		store := &emptied{consensus.NewMemory()}
		set := openSet(t, store, blob.NewMemory())
		store.Store = consensus.NewMemory()
		err := notice(set.Group())
		if !errors.Is(err, consensus.ErrCorrupt) || errors.Is(err, txn.ErrFenced) || !strings.Contains(err.Error(), "gone back from version 1 to 0") {
			t.Errorf("%s: %v", name, err)
		}
		<-set.Group().Failed()
	}
}

// TestTwoProcessesOfOneEpoch has two groups write to one shard, as replicas do: each append is done once or refused
// with the upper that won.
//
// Of what must be kept, this is: everything goes through one versioned compare-and-set a shard.
func TestTwoProcessesOfOneEpoch(t *testing.T) {
	store, blobs := consensus.NewMemory(), blob.NewMemory()
	set := openSet(t, store, blobs)
	makeShard(t, set, "a")
	head, err := store.Head(context.Background(), txn.EpochKey)
	if err != nil {
		t.Fatal(err)
	}
	const each = 200
	var wg sync.WaitGroup
	var total [2]int
	for p := range 2 {
		wg.Go(func() {
			client, err := shard.NewClient(shard.ClientOptions{Consensus: store, Blob: blobs, Epoch: uint64(100 + p),
				Settings: settings.NewSet(collection.Settings()...), Registry: prometheus.NewRegistry()})
			if err != nil {
				t.Error(err)
				return
			}
			// The mark is far ahead: replicas do not renew it.
			or := oracle.New(oracle.Options{Clock: func() tvc.Time { return 0 }})
			or.Renewed(1 << 40)
			g := txn.NewGroup(txn.Options{Consensus: store, Client: client, Oracle: or, Epoch: head.Version, Registry: prometheus.NewRegistry()})
			a, err := client.Open(context.Background(), "a", shard.OpenOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			for total[p] < each {
				lower := a.Upper()
				out, err := g.Do(context.Background(), txn.Unit{Ops: []shard.Op{
					shard.Append{Shard: a, Lower: lower, Upper: lower + 1, Written: written(t, a, int64(p))}}})
				switch {
				case err != nil:
					t.Error(err)
					return
				case out.Done():
					total[p]++
				case out.Refused.Reason != shard.UpperMismatch || out.Refused.Upper <= lower:
					t.Error(out.Refused)
					return
				}
			}
		})
	}
	wg.Wait()
	sh, err := set.Client().Open(context.Background(), "a", shard.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Client().Refresh(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(contents(t, sh))); n != 2*each || sh.Upper() != 2*each {
		t.Fatal(n, sh.Upper())
	}
}

func TestRegisters(t *testing.T) {
	set := openSet(t, consensus.NewMemory(), blob.NewMemory())
	g := set.Group()
	a := makeShard(t, set, "a")
	do := func(u txn.Unit) txn.Outcome {
		out, err := g.Do(context.Background(), u)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := do(txn.Unit{Registers: []txn.Register{{Key: "x", Data: []byte("one")}}}); !out.Done() {
		t.Fatal(out.Refused)
	}
	// All or nothing, also with shards.
	out := do(txn.Unit{
		Ops:       []shard.Op{shard.Append{Shard: a, AnyLower: true, Upper: 10, Written: written(t, a, 1)}},
		Registers: []txn.Register{{Key: "x", Data: []byte("two")}},
	})
	if out.Done() || out.Refused.Reason != shard.VersionMismatch || out.Refused.Register != "x" || out.Refused.Version != 1 || a.Upper() != 0 {
		t.Fatal(out.Refused, a.Upper())
	}
	if out := do(txn.Unit{Registers: []txn.Register{{Key: "x", Expect: 1}, {Key: "y", Data: []byte("y")}}}); !out.Done() {
		t.Fatal(out.Refused)
	}
	if h, err := g.Register(context.Background(), "x"); err != nil || h.Version != 1 || string(h.Data) != "one" {
		t.Fatal(h, err)
	}
}

// TestAFaultOfOursStopsTheLine: an operation that breaks a promise panics in who leads the step; the others are told.
func TestAFaultOfOursStopsTheLine(t *testing.T) {
	store := newGate()
	set := openSet(t, store, blob.NewMemory())
	a := makeShard(t, set, "a")
	store.hold(true)
	var wg sync.WaitGroup
	wg.Go(func() { mustDone(t)(set.Group().Do(context.Background(), txn.Unit{})) })
	<-store.arrived
	panicked := make(chan any, 1)
	before := set.Group().Waiting()
	wg.Go(func() {
		defer func() { panicked <- recover() }()
		_, err := set.Group().Do(context.Background(), txn.Unit{Ops: []shard.Op{shard.Append{Shard: a, Upper: 0, Written: written(t, a, 1)}}})
		t.Error("no panic", err)
	})
	for set.Group().Waiting() == before {
		runtime.Gosched()
	}
	inLine(&wg, set.Group(), txn.Unit{}, func(_ txn.Outcome, err error) {
		if err == nil {
			t.Error("no error")
		}
	})
	store.hold(false)
	close(store.open)
	wg.Wait()
	if <-panicked == nil {
		t.Error("nobody panicked")
	}
	<-set.Group().Failed()
	if _, err := set.Group().Do(context.Background(), txn.Unit{}); err == nil {
		t.Error("the line goes on")
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	set := openSet(t, consensus.NewMemory(), blob.NewMemory())
	set.Start()
	a := makeShard(t, set, "a")
	const writers, each = 16, 100
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; n < each; {
				at := set.Oracle().WriteTime()
				out, err := set.Group().Do(context.Background(), txn.Unit{Ops: []shard.Op{
					shard.Append{Shard: a, AnyLower: true, Upper: tvc.After(at), Written: written(t, a, int64(w*each+n))}}})
				switch {
				case err != nil:
					t.Error(err)
					return
				case out.Done():
					n++
					if err := set.Oracle().ApplyWrite(context.Background(), at); err != nil {
						t.Error(err)
					}
				default:
					set.Oracle().Forget(at)
				}
			}
		})
	}
	wg.Wait()
	sc, err := a.Snapshot(context.Background(), a.Upper().Last(), shard.ScanOptions{Consolidate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sc.Close()
	next := int64(0)
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		for i := range b.Len {
			if b.Cols[0].Ints[i] != next || b.Diff(i) != 1 {
				t.Fatalf("%d ×%d where %d was expected", b.Cols[0].Ints[i], b.Diff(i), next)
			}
			next++
		}
	}
	if next != writers*each {
		t.Fatal(next)
	}
	if err := set.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Group().Do(context.Background(), txn.Unit{}); !errors.Is(err, txn.ErrClosed) {
		t.Fatal(err)
	}
}
