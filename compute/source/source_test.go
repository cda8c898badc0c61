package source

import (
	"context"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// TestLargeRowsAreNotPutTogether: blocks are put together up to some bytes, not only up to some rows, and all rows come.
func TestLargeRowsAreNotPutTogether(t *testing.T) {
	ctx := context.Background()
	set := settings.NewSet(collection.Settings()...)
	if err := set.Set("storage_compaction_enabled", "off"); err != nil {
		t.Fatal(err)
	}
	p, err := storagetest.NewDisk().Open(t, storagetest.Options{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(t) })
	schema := shard.Schema{Rel: types.Rel{Cols: []types.Column{{Name: "a", Type: types.TInt8}, {Name: "b", Type: types.TText}}}}
	if _, err := p.Set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{shard.Create{ID: "u1", Schema: schema}}}); err != nil {
		t.Fatal(err)
	}
	id := tvc.ID{Class: 'u', N: 1}
	sh, err := p.Set.Open(ctx, collection.Desc{ID: id, Shard: "u1", Name: "t", Retain: -1})
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{1, 1, smallBytes * 3 / 4, smallBytes * 3 / 4, 1, 2 * smallBytes, 1, 1}
	for i, size := range sizes {
		w := sh.NewWriter(shard.WriterOptions{})
		b := vec.NewBlock(schema.Rel.Kinds(), 1)
		b.AppendRow(1, vec.IntOf(int64(i)), vec.StrOf(strings.Repeat("x", size)))
		if err := w.Add(ctx, b); err != nil {
			t.Fatal(err)
		}
		written, err := w.Finish(ctx)
		if err != nil {
			t.Fatal(err)
		}
		op := shard.Append{Shard: sh, Lower: sh.Upper(), Upper: sh.Upper() + 10, Written: []*shard.Written{written}}
		if _, err := p.Set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(id, sh, nil, shard.Filter{}).Snapshot(ctx, sh.Upper().Last())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, blocks := map[int64]int{}, 0
	for {
		b, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		blocks++
		if b.Len > 1 && b.Size() >= 2*smallBytes {
			t.Errorf("a block of %d rows has %d bytes", b.Len, b.Size())
		}
		for i := range b.Len {
			rows[b.Cols[0].Ints[i]] += len(b.Cols[1].Bytes(i))
		}
	}
	for i, size := range sizes {
		if rows[int64(i)] != size {
			t.Errorf("row %d came with %d bytes, want %d", i, rows[int64(i)], size)
		}
	}
	if blocks == len(sizes) {
		t.Error("small blocks were not put together")
	}
}
