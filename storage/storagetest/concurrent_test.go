package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
)

// TestManyWritersOverBadStores has several goroutines write to several shards at once, maintenance running, over
// stores that fail, lie and dawdle. What each was told is so: every acknowledged row is there once, no other is.
func TestManyWritersOverBadStores(t *testing.T) {
	ctx := context.Background()
	forSeeds(t, func(t *testing.T, seed uint64) {
		disk := storagetest.NewDisk()
		var mu sync.Mutex
		now := tvc.Time(1_000_000)
		clock := func() tvc.Time { mu.Lock(); defer mu.Unlock(); now += 7; return now }
		p, err := disk.Open(t, storagetest.Options{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		var shards []*shard.Shard
		for i := range 3 {
			id := tvc.ID{Class: 'u', N: uint64(i + 1)}
			mustDo(t, p, shard.Create{ID: shard.ID(id.String()), Schema: schema})
			sh, err := p.Set.Open(ctx, collection.Desc{ID: id, Shard: shard.ID(id.String()), Name: id.String(), Retain: -1})
			if err != nil {
				t.Fatal(err)
			}
			shards = append(shards, sh)
		}
		p.Set.Start()
		p.Faults.Follow(storagetest.Random(seed, 25))
		const writers, each = 8, 10
		acked := make([]map[string]int64, len(shards))
		for i := range acked {
			acked[i] = map[string]int64{}
		}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					at := (w + i) % len(shards)
					row, ok := writeOne(ctx, t, p, shards[at], int64(w*1000+i))
					if ok {
						mu.Lock()
						acked[at][row] = 1
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		p.Faults.Follow(nil)
		if err := p.Set.Close(ctx); err != nil {
			t.Fatal(err)
		}
		p.Stop(t)
		disk = disk.Crash(seed, 0)
		if p, err = disk.Open(t, storagetest.Options{Clock: clock}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Set.Client().Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if err := p.Check(ctx); err != nil {
			t.Fatal(err)
		}
		for i := range shards {
			sh, err := p.Set.Client().Open(ctx, shard.ID(fmt.Sprint("u", i+1)), shard.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := contents(t, sh)
			for row := range acked[i] {
				if got[row] != 1 {
					t.Errorf("acknowledged row %s is there %d times", row, got[row])
				}
				delete(got, row)
			}
			if len(got) > 0 {
				t.Errorf("rows nobody was told of: %v", got)
			}
		}
		p.Stop(t)
	})
}

// writeOne writes a row at a time of its own, and says whether that was acknowledged.
func writeOne(ctx context.Context, t *testing.T, p *storagetest.Process, sh *shard.Shard, k int64) (string, bool) {
	b := vec.NewBlock(schema.Kinds(), 1)
	b.AppendRow(1, vec.IntOf(k), vec.StrOf("x"))
	w, err := write(ctx, sh, b, k%5 == 0)
	if err != nil {
		return "", false
	}
	for {
		at := p.Set.Oracle().WriteTime()
		out, err := p.Set.Group().Do(ctx, unit(shard.Append{Shard: sh, AnyLower: true, Upper: tvc.After(at), Written: []*shard.Written{w}}))
		switch {
		case err != nil:
			if !errors.Is(err, storagetest.ErrInjected) {
				t.Error(err)
			}
			p.Set.Oracle().Forget(at)
			w.Discard(ctx)
			return "", false
		case out.Done():
			if err := p.Set.Oracle().ApplyWrite(ctx, at); err != nil {
				t.Error(err)
			}
			return rowOf(vec.IntOf(k), vec.StrOf("x")), true
		}
		// Another writer was faster: with a later time.
		p.Set.Oracle().Forget(at)
	}
}
