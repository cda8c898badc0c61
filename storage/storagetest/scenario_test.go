package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// scenario is a fixed history of two tables that are written together, and a third that comes and goes, with
// maintenance in between. What was acknowledged is remembered beside it, in memory that no crash reaches.
type scenario struct {
	tb    testing.TB
	disk  *storagetest.Disk
	p     *storagetest.Process
	clock tvc.Time

	// done counts the steps that were acknowledged.
	done int
	// rows are what the tables must hold; maybe is what the step in flight adds to them if it happened.
	rows  [2]map[string]int64
	maybe [2]map[string]int64
	upper tvc.Frontier
}

var names = [2]shard.ID{"u1", "u2"}

var schema = shard.Schema{Rel: types.Rel{Cols: []types.Column{
	{Name: "k", Type: types.TInt8}, {Name: "v", Type: types.TText, Nullable: true}}}}

func newScenario(tb testing.TB) *scenario {
	s := &scenario{tb: tb, disk: storagetest.NewDisk(), clock: 1_000_000}
	for i := range s.rows {
		s.rows[i], s.maybe[i] = map[string]int64{}, map[string]int64{}
	}
	return s
}

// start opens a process by a plan. It may fail as the plan wants.
func (s *scenario) start(plan storagetest.Plan) error {
	s.clock += 2_000_000
	p, err := s.disk.Open(s.tb, storagetest.Options{Plan: plan, Clock: func() tvc.Time { return s.clock }})
	s.p = p
	return err
}

func (s *scenario) shard(ctx context.Context, i int) (*shard.Shard, error) {
	id := tvc.ID{Class: 'u', N: uint64(i + 1)}
	if sh, ok := s.p.Set.Shard(id); ok {
		return sh, nil
	}
	return s.p.Set.Open(ctx, collection.Desc{ID: id, Shard: names[i], Name: string(names[i])})
}

// run does steps until there have been n, or one fails.
func (s *scenario) run(ctx context.Context, n int) error {
	for s.done < n {
		s.clock += 10_000
		if err := s.step(ctx, s.done); err != nil {
			return fmt.Errorf("step %d: %w", s.done, err)
		}
		s.done++
	}
	return nil
}

func unit(ops ...shard.Op) txn.Unit { return txn.Unit{Ops: ops} }

func (s *scenario) do(ctx context.Context, ops ...shard.Op) error {
	out, err := s.p.Set.Group().Do(ctx, unit(ops...))
	if err == nil && !out.Done() {
		return fmt.Errorf("refused: %v", out.Refused)
	}
	return err
}

func (s *scenario) step(ctx context.Context, i int) error {
	switch {
	case i == 0:
		err := s.do(ctx, shard.Create{ID: names[0], Schema: schema}, shard.Create{ID: names[1], Schema: schema})
		return s.unlessExists(err)
	case i == 40:
		return s.unlessExists(s.do(ctx, shard.Create{ID: "u3", Schema: schema}))
	case i == 60:
		return s.drop(ctx, "u3")
	case i%25 == 24:
		return s.maintain(ctx)
	}
	return s.write(ctx, i)
}

// unlessExists lets a creation be done again that happened though nobody was told.
func (s *scenario) unlessExists(err error) error {
	if err != nil && strings.Contains(err.Error(), "refused: exists") {
		return nil
	}
	return err
}

func (s *scenario) drop(ctx context.Context, id shard.ID) error {
	sh, err := s.p.Set.Client().Open(ctx, id, shard.OpenOptions{})
	if err != nil {
		return err
	}
	if !sh.IsSealed() {
		if err := s.do(ctx, shard.Seal{Shard: sh}); err != nil {
			return err
		}
	}
	return s.p.Maintain(ctx, sh)
}

func (s *scenario) maintain(ctx context.Context) error {
	for i := range names {
		sh, err := s.shard(ctx, i)
		if err != nil {
			return err
		}
		if err := s.p.Maintain(ctx, sh); err != nil {
			return err
		}
	}
	return nil
}

// write appends to both tables at one time: some new rows, some gone.
func (s *scenario) write(ctx context.Context, i int) error {
	rng := rand.New(rand.NewPCG(uint64(i), 5))
	at := s.p.Set.Oracle().WriteTime()
	var ops []shard.Op
	var delta [2]map[string]int64
	for t := range names {
		sh, err := s.shard(ctx, t)
		var written *shard.Written
		if err == nil {
			b, d := changes(rng, i, t)
			delta[t] = d
			written, err = write(ctx, sh, b, i%10 == 9)
		}
		if err != nil {
			s.giveUp(ctx, at, ops)
			return err
		}
		ops = append(ops, shard.Append{Shard: sh, AnyLower: true, Upper: tvc.After(at), Written: []*shard.Written{written}})
	}
	s.maybe = delta
	if err := s.do(ctx, ops...); err != nil {
		if !storagetest.IsUnknown(err) {
			s.giveUp(ctx, at, ops)
		}
		return err
	}
	s.applied(tvc.After(at))
	return s.p.Set.Oracle().ApplyWrite(ctx, at)
}

// giveUp lets go of what a write that did not happen has taken.
func (s *scenario) giveUp(ctx context.Context, at tvc.Time, ops []shard.Op) {
	s.p.Set.Oracle().Forget(at)
	for t, op := range ops {
		for _, w := range op.(shard.Append).Written {
			w.Discard(ctx)
		}
		s.maybe[t] = map[string]int64{}
	}
}

// applied notes that the step in flight has happened.
func (s *scenario) applied(upper tvc.Frontier) {
	for t := range s.rows {
		for row, n := range s.maybe[t] {
			if s.rows[t][row] += n; s.rows[t][row] == 0 {
				delete(s.rows[t], row)
			}
		}
		s.maybe[t] = map[string]int64{}
	}
	s.upper = upper
}

// changes are a step's rows: inserts, and deletes of what earlier steps inserted.
func changes(rng *rand.Rand, i, table int) (*vec.Block, map[string]int64) {
	b := vec.NewBlock(schema.Kinds(), 0)
	delta := map[string]int64{}
	add := func(k int64, diff int64) {
		v := vec.StrOf(strings.Repeat(strconv.FormatInt(k, 10)+" ", int(k%80)))
		if k%17 == 0 {
			v = vec.Null
		}
		b.AppendRow(diff, vec.IntOf(k), v)
		delta[rowOf(vec.IntOf(k), v)] += diff
	}
	for range 1 + rng.IntN(60) {
		k := int64(i*100 + rng.IntN(100))
		add(k, 1)
		if i > 5 && rng.IntN(3) == 0 {
			add(k, -1)
		}
	}
	if table == 1 {
		add(int64(i), 1)
	}
	return b, delta
}

// rowOf names a row.
func rowOf(k, v vec.Datum) string {
	if v.IsNull() {
		return strconv.FormatInt(k.Int(), 10)
	}
	return strconv.FormatInt(k.Int(), 10) + "/" + v.Str()
}

func write(ctx context.Context, sh *shard.Shard, b *vec.Block, object bool) (*shard.Written, error) {
	var o shard.WriterOptions
	if object {
		o.InlineMax = -1
	}
	w := sh.NewWriter(o)
	if err := w.Add(ctx, b); err != nil {
		w.Abort(ctx)
		return nil, err
	}
	return w.Finish(ctx)
}

// verify holds the tables, and everything durable, against what must be. The step in flight at a crash may have
// happened, in both tables or in none.
func (s *scenario) verify(ctx context.Context) {
	s.tb.Helper()
	if _, err := s.p.Set.Client().Sweep(ctx); err != nil {
		s.tb.Fatal(err)
	}
	if err := s.p.Check(ctx); err != nil {
		s.tb.Fatal(err)
	}
	if s.done == 0 {
		return
	}
	for t := range names {
		sh, err := s.shard(ctx, t)
		if err != nil {
			s.tb.Fatal(err)
		}
		if t == 0 && sh.Upper() > s.upper {
			s.applied(sh.Upper())
			s.done++
		}
		if sh.Upper() != s.upper {
			s.tb.Fatalf("%s: upper %v, want %v", names[t], sh.Upper(), s.upper)
		}
		if got := contents(s.tb, sh); !maps.Equal(got, s.rows[t]) {
			s.tb.Fatalf("%s after %d steps: %d rows, want %d", names[t], s.done, len(got), len(s.rows[t]))
		}
	}
	for t := range s.maybe {
		s.maybe[t] = map[string]int64{}
	}
}

// contents reads a table at its last time, in both ways, which must agree.
func contents(tb testing.TB, sh *shard.Shard) map[string]int64 {
	tb.Helper()
	var out [2]map[string]int64
	for i, sorted := range []bool{false, true} {
		out[i] = map[string]int64{}
		if sh.Upper() == 0 {
			continue
		}
		sc, err := sh.Snapshot(context.Background(), sh.Upper().Last(), shard.ScanOptions{Consolidate: sorted})
		if err != nil {
			tb.Fatal(err)
		}
		for {
			b, err := sc.Next(context.Background())
			if err != nil {
				tb.Fatal(err)
			}
			if b == nil {
				break
			}
			for r := range b.Len {
				row := rowOf(b.Cols[0].Datum(r), b.Cols[1].Datum(r))
				if sorted && out[i][row] != 0 {
					tb.Fatalf("%s comes twice", row)
				}
				if out[i][row] += b.Diff(r); out[i][row] == 0 {
					delete(out[i], row)
				}
			}
		}
		sc.Close()
	}
	if !maps.Equal(out[0], out[1]) {
		tb.Fatal("a sorted scan gives other rows")
	}
	return out[0]
}

const steps = 180

// TestCrashAtEveryCall ends the process at the n-th call of a store, before or after the call has done its work,
// for every n, with a power cut that leaves only what was synced (or some of the rest as well), starts anew, and goes on.
//
// Of what must be kept, this is: an object is put before a state names it, and deleted only when none does (whenever the
// process ends, everything that is named is there, and after a sweep nothing else); a unit happens in all its shards or in
// none.
func TestCrashAtEveryCall(t *testing.T) {
	ctx := context.Background()
	whole := newScenario(t)
	if err := whole.start(nil); err != nil {
		t.Fatal(err)
	}
	if err := whole.run(ctx, steps); err != nil {
		t.Fatal(err)
	}
	calls := whole.p.Faults.Calls()
	whole.verify(ctx)
	puts := whole.p.Registry.Sum("tributary_storage_objects_put_total", "origin", "compaction")
	rollups := whole.p.Registry.Sum("tributary_storage_objects_put_total", "origin", "rollup")
	if puts == 0 || rollups == 0 {
		t.Fatalf("the history has %v compactions and %v rollups", puts, rollups)
	}
	whole.p.Stop(t)
	t.Logf("%d calls, %v objects of compactions, %v rollups", calls, puts, rollups)
	stride := 1
	if testing.Short() {
		stride = 23
	}
	for i, v := range []storagetest.Verdict{storagetest.DieBefore, storagetest.DieAfter} {
		for part := range 2 {
			t.Run(fmt.Sprint(v, " ", part), func(t *testing.T) {
				t.Parallel()
				for n := 1 + part; n <= calls; n += 2 * stride {
					crashAt(t, n, v, 50*i)
				}
			})
		}
	}
}

func crashAt(t *testing.T, n int, v storagetest.Verdict, keep int) {
	ctx := context.Background()
	defer func() {
		if t.Failed() {
			t.Logf("died at call %d, verdict %d", n, v)
		}
	}()
	s := newScenario(t)
	err := s.start(storagetest.DieAt(n, v))
	if err == nil {
		err = s.run(ctx, steps)
		if err == nil && invariants.Enabled {
			// Fast paths are skipped by chance then, and so are calls.
			s.p.Stop(t)
			return
		}
		if err == nil {
			t.Fatalf("call %d was never made", n)
		}
		s.disk = crash(t, s, n, keep)
	} else {
		s.disk = s.disk.Crash(uint64(n), keep)
	}
	if !errors.Is(err, storagetest.ErrDead) {
		t.Fatalf("ended by %v", err)
	}
	if err := s.start(nil); err != nil {
		t.Fatal(err)
	}
	s.verify(ctx)
	if err := s.run(ctx, s.done+8); err != nil {
		t.Fatal(err)
	}
	if err := s.maintain(ctx); err != nil {
		t.Fatal(err)
	}
	s.verify(ctx)
	s.p.Stop(t)
}

// crash gives the disk after the power cut and lets go of the old process.
func crash(t *testing.T, s *scenario, n, keep int) *storagetest.Disk {
	d := s.disk.Crash(uint64(n), keep)
	s.p.Stop(t)
	return d
}
