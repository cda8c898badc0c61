package collection_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// world is an environment in memory with a clock that a test moves.
type world struct {
	consensus consensus.Store
	blob      blob.Store
	registry  *prometheus.Registry
	now       tvc.Time
	clock     tvc.Clock // of the machine, if set
	settings  *settings.Set
}

func newWorld() *world {
	return &world{consensus: consensus.NewMemory(), blob: blob.NewMemory(), now: 1_000_000, settings: newSettings()}
}

func newSettings() *settings.Set { return settings.NewSet(collection.Settings()...) }

func (w *world) time() tvc.Time {
	if w.clock != nil {
		return w.clock()
	}
	return w.now
}

func (w *world) open(tb testing.TB) *collection.Set {
	tb.Helper()
	reg := w.registry
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	set, err := collection.Open(context.Background(), collection.Options{
		Consensus: w.consensus, Blob: w.blob, Clock: w.time,
		Settings: w.settings, Registry: reg,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

var twoInts = shard.Schema{Rel: types.Rel{Cols: []types.Column{
	{Name: "a", Type: types.TInt8, Nullable: true}, {Name: "b", Type: types.TInt8, Nullable: true}}}}

func do(tb testing.TB, set *collection.Set, ops ...shard.Op) txn.Outcome {
	tb.Helper()
	out, err := set.Group().Do(context.Background(), txn.Unit{Ops: ops})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func create(tb testing.TB, set *collection.Set, d collection.Desc, since tvc.Frontier) *shard.Shard {
	tb.Helper()
	if out := do(tb, set, shard.Create{ID: d.Shard, Schema: twoInts, Since: since, Upper: since, Name: d.Name}); !out.Done() {
		tb.Fatal(out.Refused)
	}
	sh, err := set.Open(context.Background(), d)
	if err != nil {
		tb.Fatal(err)
	}
	return sh
}

func ints(rows ...[3]int64) *vec.Block {
	b := vec.NewBlock(twoInts.Kinds(), len(rows))
	for _, r := range rows {
		b.AppendRow(r[2], vec.IntOf(r[0]), vec.IntOf(r[1]))
	}
	return b
}

func write(tb testing.TB, sh *shard.Shard, b *vec.Block) *shard.Written {
	tb.Helper()
	w := sh.NewWriter(shard.WriterOptions{})
	if err := w.Add(context.Background(), b); err != nil {
		tb.Fatal(err)
	}
	written, err := w.Finish(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return written
}

func read(tb testing.TB, sh *shard.Shard, asOf tvc.Time) string {
	tb.Helper()
	sc, err := sh.Snapshot(context.Background(), asOf, shard.ScanOptions{Consolidate: true})
	if err != nil {
		return err.Error()
	}
	defer sc.Close()
	out := ""
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		if b == nil {
			return out
		}
		for i := range b.Len {
			out += fmt.Sprintf("%d %d x%d; ", b.Cols[0].Ints[i], b.Cols[1].Ints[i], b.Diff(i))
		}
	}
}

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	w := newWorld()
	set := w.open(t)
	set.Start()
	table := create(t, set, collection.Desc{ID: tvc.ID{Class: 'u', N: 1}, Shard: "u1", Name: "db.s.t"}, 0)
	for i := range int64(3000) {
		w.now += 1000
		at := set.Oracle().WriteTime()
		out := do(t, set, shard.Append{Shard: table, AnyLower: true, Upper: tvc.After(at), Written: []*shard.Written{write(t, table, ints([3]int64{i % 10, i, 1}, [3]int64{i % 10, i - 1, -1}))}})
		if !out.Done() {
			t.Fatal(out.Refused)
		}
		if err := set.Oracle().ApplyWrite(ctx, at); err != nil {
			t.Fatal(err)
		}
	}
	now, err := set.Oracle().ReadTime(ctx)
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, table, now)
	if err := set.Close(ctx); err != nil {
		t.Fatal(err)
	}
	again := w.open(t)
	sh, err := again.Open(ctx, collection.Desc{ID: tvc.ID{Class: 'u', N: 1}, Shard: "u1", Name: "db.s.t"})
	if err != nil {
		t.Fatal(err)
	}
	if after := read(t, sh, now); after != before {
		t.Fatalf("%s\n%s", before, after)
	}
	t.Log(len(before), sh.Since(), sh.Upper())
	infos, _ := w.blob.List(ctx, "")
	t.Log(infos)
}
