package storagetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
)

// table is one shard of a fresh environment.
type table struct {
	tb testing.TB
	p  *storagetest.Process
	sh *shard.Shard
}

func newTable(tb testing.TB, disk *storagetest.Disk) *table {
	tb.Helper()
	p, err := disk.Open(tb, storagetest.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	mustDo(tb, p, shard.Create{ID: "u7", Schema: schema})
	sh, err := p.Set.Open(context.Background(), collection.Desc{ID: historyID, Shard: "u7", Name: "t", Retain: -1})
	if err != nil {
		tb.Fatal(err)
	}
	return &table{tb, p, sh}
}

// add appends rows k to k+n-1, as an object or inline.
func (x *table) add(k, n int64, object bool) {
	x.tb.Helper()
	w, err := write(context.Background(), x.sh, rowsOf(k, n), object)
	if err != nil {
		x.tb.Fatal(err)
	}
	mustDo(x.tb, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 10, Written: []*shard.Written{w}})
}

// rowsOf makes rows k to k+n-1.
func rowsOf(k, n int64) *vec.Block {
	b := vec.NewBlock(schema.Kinds(), int(n))
	for i := k; i < k+n; i++ {
		b.AppendRow(1, vec.IntOf(i), vec.StrOf(fmt.Sprint("v", i)))
	}
	return b
}

// again reopens the environment in a new process.
func (x *table) again(disk *storagetest.Disk) *table {
	x.tb.Helper()
	x.p.Stop(x.tb)
	p, err := disk.Open(x.tb, storagetest.Options{})
	if err != nil {
		x.tb.Fatal(err)
	}
	sh, err := p.Set.Open(context.Background(), collection.Desc{ID: historyID, Shard: "u7", Name: "t", Retain: -1})
	if err != nil {
		x.tb.Fatal(err)
	}
	return &table{x.tb, p, sh}
}

func (x *table) scan(o shard.ScanOptions) (rows int, err error) {
	sc, err := x.sh.Snapshot(context.Background(), x.sh.Upper().Last(), o)
	if err != nil {
		return 0, err
	}
	defer sc.Close()
	for {
		b, err := sc.Next(context.Background())
		if err != nil || b == nil {
			return rows, err
		}
		rows += b.Len
	}
}

func (x *table) objects() []blob.Info {
	x.tb.Helper()
	infos, err := x.p.Blob.List(context.Background(), "u7/p")
	if err != nil {
		x.tb.Fatal(err)
	}
	return infos
}

func TestDamagedObjectsGiveErrorsNotRows(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func(t *testing.T, s blob.Store, keys []blob.Info){
		"a flipped bit": func(t *testing.T, s blob.Store, keys []blob.Info) {
			data, err := s.Get(ctx, keys[0].Key)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 4
			put(t, s, keys[0].Key, data)
		},
		"cut short": func(t *testing.T, s blob.Store, keys []blob.Info) {
			data, err := s.Get(ctx, keys[0].Key)
			if err != nil {
				t.Fatal(err)
			}
			put(t, s, keys[0].Key, data[:len(data)-8])
		},
		"empty": func(t *testing.T, s blob.Store, keys []blob.Info) { put(t, s, keys[0].Key, nil) },
		"another object": func(t *testing.T, s blob.Store, keys []blob.Info) {
			data, err := s.Get(ctx, keys[1].Key)
			if err != nil {
				t.Fatal(err)
			}
			put(t, s, keys[0].Key, data)
		},
		"missing": func(t *testing.T, s blob.Store, keys []blob.Info) {
			if err := s.Delete(ctx, keys[0].Key); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := storagetest.NewDisk()
			x := newTable(t, disk)
			x.add(0, 100, true)
			x.add(100, 50, true)
			damage(t, x.p.Blob, x.objects())
			x = x.again(disk)
			for _, o := range []shard.ScanOptions{{}, {Consolidate: true}} {
				_, err := x.scan(o)
				if !errors.Is(err, part.ErrCorrupt) && !errors.Is(err, blob.ErrNotFound) || !strings.Contains(err.Error(), "u7/p") {
					t.Errorf("%v", err)
				}
			}
			// Compaction stops at it, and changes nothing.
			if err := x.sh.CompactAll(ctx, x.p.Submit); err == nil {
				t.Error("compaction does not notice")
			}
			if n := len(x.objects()); n > 2 {
				t.Errorf("%d objects", n)
			}
			r, err := x.p.Set.Client().Check(ctx, "u7")
			if err != nil || len(r.Faults) != 1 {
				t.Error(r.Faults, err)
			}
			// The shard can still be written to.
			x.add(150, 1, false)
			x.p.Stop(t)
		})
	}
}

func put(t *testing.T, s blob.Store, key string, data []byte) {
	t.Helper()
	if err := s.Put(context.Background(), key, data); err != nil {
		t.Fatal(err)
	}
}

// TestAppendsBecomeObjectsWhenTheDrainLags: while nobody drains, rows lie in the state up to a bound; what is appended past it
// is an object, and nothing is refused.
func TestAppendsBecomeObjectsWhenTheDrainLags(t *testing.T) {
	const bound, each, appends = 1 << 20, 30_000, 45
	ctx := context.Background()
	x := newTable(t, storagetest.NewDisk())
	inline := 0
	for i := range int64(appends) {
		b := vec.NewBlock(schema.Kinds(), 1)
		b.AppendRow(1, vec.IntOf(i), vec.StrOf(strings.Repeat("v", each)))
		writer := x.sh.NewWriter(shard.WriterOptions{})
		if err := writer.Add(ctx, b); err != nil {
			t.Fatal(err)
		}
		w, err := writer.Finish(ctx)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case inline >= bound && w.Objects() != 1:
			t.Fatalf("append %d lies in the state, which has %d bytes of rows", i, inline)
		case inline < bound && w.Inline() != 1 && !invariants.Enabled:
			t.Fatalf("append %d is an object, the state has %d bytes of rows", i, inline)
		}
		op := shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 10, Written: []*shard.Written{w}}
		inline += op.InlineBytes()
		mustDo(t, x.p, op)
	}
	r, err := x.p.Set.Client().Check(ctx, "u7")
	if err != nil || len(r.Faults) > 0 || r.Totals.Rows != appends {
		t.Fatalf("%d rows; %v %v", r.Totals.Rows, r.Faults, err)
	}
	if r.InlineBytes != inline || inline < bound && !invariants.Enabled || inline > bound+each+100 {
		t.Errorf("the state has %d bytes of rows, %d were given to it", r.InlineBytes, inline)
	}
	x.p.Stop(t)
}

func TestListenersNeedNotFetchWhatWasJustAppended(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the cache misses by chance")
	}
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	x.add(0, 100, true)
	x.add(100, 5, false)
	if n, err := x.scan(shard.ScanOptions{}); n != 105 || err != nil {
		t.Fatal(n, err)
	}
	if n := x.p.Registry.Sum("tributary_storage_objects_read_total"); n != 0 {
		t.Fatalf("%v objects were read", n)
	}
	x = x.again(disk)
	for range 3 {
		if n, err := x.scan(shard.ScanOptions{}); n != 105 || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := x.p.Registry.Sum("tributary_storage_objects_read_total"); n != 1 {
		t.Fatalf("%v objects were read", n)
	}
	x.p.Stop(t)
}

// TestScansKeepWhatTheyRead: of what must be kept, this is: an object is deleted only when no version that anybody still reads
// names it.
func TestScansKeepWhatTheyRead(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	for i := range int64(3) {
		x.add(i*10, 10, true)
	}
	x = x.again(disk)
	sc, err := x.sh.Snapshot(ctx, x.sh.Upper().Last(), shard.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.sh.CompactAll(ctx, x.p.Submit); err != nil {
		t.Fatal(err)
	}
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		t.Fatal(err)
	}
	// A sweep that comes now leaves them alone as well.
	if n, err := x.p.Set.Client().Sweep(ctx); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if n := len(x.objects()); n != 3 {
		t.Fatalf("%d objects while they are read", n)
	}
	rows := 0
	for b, err := sc.Next(ctx); b != nil; b, err = sc.Next(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		rows += b.Len
	}
	sc.Close()
	sc.Close()
	if rows != 30 {
		t.Fatal(rows)
	}
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		t.Fatal(err)
	}
	// Merged, they are few enough to be inline.
	if n := len(x.objects()); n != 0 {
		t.Fatalf("%d objects once nobody reads them", n)
	}
	if err := x.p.Check(ctx); err != nil {
		t.Fatal(err)
	}
	x.p.Stop(t)
}

// TestUpdatesInPieces: a reader that is far behind reads about as much as it asks for at a time, and is told
// beforehand of what times it is.
func TestUpdatesInPieces(t *testing.T) {
	ctx := context.Background()
	x := newTable(t, storagetest.NewDisk())
	hold, err := x.p.Set.Hold("test", historyID)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	for i := range int64(6) {
		x.add(i*10, 10, i%2 == 0)
	}
	start := x.sh.Upper() - 60
	type piece struct{ from, to tvc.Frontier }
	for _, c := range []struct {
		rows int
		want []piece
	}{
		{100, []piece{{0, 60}}},
		{30, []piece{{0, 30}, {30, 60}}},
		{25, []piece{{0, 20}, {20, 40}, {40, 60}}},
		{1, []piece{{0, 10}, {10, 20}, {20, 30}, {30, 40}, {40, 50}, {50, 60}}},
	} {
		var got []piece
		for at := start; at < x.sh.Upper(); {
			to := x.sh.Cut(at, x.sh.Upper(), c.rows)
			sc, err := x.sh.Updates(ctx, at, to, shard.ScanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if first, last, ok := sc.Times(); !ok || first < tvc.Time(at) || last >= tvc.Time(to) {
				t.Errorf("[%v, %v) has times %v to %v, %v", at, to, first, last, ok)
			}
			sc.Close()
			got = append(got, piece{at - start, to - start})
			at = to
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("pieces of %d rows: %v, want %v", c.rows, got, c.want)
		}
	}
	if to := x.sh.Cut(x.sh.Upper(), x.sh.Upper()+5, 1); to != x.sh.Upper()+5 {
		t.Errorf("nothing was cut at %v", to)
	}
	x.p.Stop(t)
}

func TestAddedColumnsAreNullInOldRows(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	x.add(0, 3, true)
	x.add(3, 2, false)
	before, _ := x.sh.Fingerprint()
	wider := schema
	wider.Rel.Cols = append(append([]types.Column{}, schema.Rel.Cols...), types.Column{Name: "w", Type: types.TFloat8, Nullable: true})
	mustDo(t, x.p, shard.Evolve{Shard: x.sh, Expect: 1, Schema: wider})
	check := func(when string) {
		t.Helper()
		sc, err := x.sh.Snapshot(ctx, x.sh.Upper().Last(), shard.ScanOptions{Consolidate: true, Project: []int{2, 0}})
		if err != nil {
			t.Fatal(err)
		}
		defer sc.Close()
		n := 0
		for b, err := sc.Next(ctx); b != nil || err != nil; b, err = sc.Next(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Len {
				if !b.Cols[0].IsNull(i) || b.Cols[1].Ints[i] != int64(n) {
					t.Fatalf("%s: row %d is %v", when, n, b.Row(i, nil))
				}
				n++
			}
		}
		if n != 5 {
			t.Fatalf("%s: %d rows", when, n)
		}
	}
	check("evolved")
	if err := x.sh.CompactAll(ctx, x.p.Submit); err != nil {
		t.Fatal(err)
	}
	check("compacted")
	if after, _ := x.sh.Fingerprint(); after != before {
		t.Fatalf("the fingerprint was %v and is %v", before, after)
	}
	x = x.again(disk)
	check("restarted")
	// What an evolution may not do.
	for name, cols := range map[string][]types.Column{
		"fewer columns":     schema.Rel.Cols[:1],
		"a column not null": append(append([]types.Column{}, wider.Rel.Cols...), types.Column{Name: "x", Type: types.TInt8}),
		"another kind":      {schema.Rel.Cols[0], {Name: "v", Type: types.TInt8, Nullable: true}, wider.Rel.Cols[2]},
	} {
		_, err := x.p.Set.Group().Do(ctx, unit(shard.Evolve{Shard: x.sh, Expect: 2, Schema: shard.Schema{Rel: types.Rel{Cols: cols}}}))
		if err == nil {
			t.Errorf("%s was let pass", name)
		}
	}
	x.p.Stop(t)
}

// TestScansStopEarly: who reads the beginning of a consolidated scan of what compaction has sorted, and leaves, has had no more
// objects fetched than the first one and what was under way.
func TestScansStopEarly(t *testing.T) {
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	const rows, width = 56_000, 1000
	text := make([]byte, width/2)
	r := rand.NewChaCha8([32]byte{1})
	for run := range int64(2) {
		b := vec.NewBlock(schema.Kinds(), rows)
		for i := range int64(rows) {
			_, _ = r.Read(text)
			b.AppendRow(1, vec.IntOf(2*i+run), vec.StrOf(fmt.Sprintf("%x", text)))
		}
		w, err := write(context.Background(), x.sh, b, true)
		if err != nil {
			t.Fatal(err)
		}
		mustDo(t, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 10, Written: []*shard.Written{w}})
	}
	if err := x.p.Maintain(context.Background(), x.sh); err != nil {
		t.Fatal(err)
	}
	objects := len(x.objects())
	x = x.again(disk)
	sc, err := x.sh.Snapshot(context.Background(), x.sh.Upper().Last(), shard.ScanOptions{Consolidate: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := sc.Next(context.Background())
	if err != nil || b == nil || b.Len == 0 {
		t.Fatalf("the scan begins with %v, %v", b, err)
	}
	sc.Close()
	if n := int(x.p.Registry.Sum("tributary_storage_objects_read_total")); n > 4 || objects < 6 {
		t.Errorf("%d of %d objects were read", n, objects)
	}
	if n, err := x.scan(shard.ScanOptions{Consolidate: true}); err != nil || n != 2*rows {
		t.Errorf("the whole scan has %d rows, %v", n, err)
	}
}

// TestManyRunsAreMergedInPasses: more runs than are merged at once, and nothing intermediate is left.
func TestManyRunsAreMergedInPasses(t *testing.T) {
	ctx := context.Background()
	x := newTable(t, storagetest.NewDisk())
	want := map[string]int64{}
	for i := range int64(60) {
		x.add(i*7, 20, true)
	}
	want = contents(t, x.sh)
	if err := x.sh.CompactAll(ctx, x.p.Submit); err != nil {
		t.Fatal(err)
	}
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, x.sh); !maps.Equal(got, want) {
		t.Fatal("other rows after compaction")
	}
	if err := x.p.Check(ctx); err != nil {
		t.Fatal(err)
	}
	x.p.Stop(t)
}

func TestErrorRowsAreStored(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	p, err := disk.Open(t, storagetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustDo(t, p, shard.Create{ID: "u8", Schema: shard.Schema{Rel: schema.Rel, Errors: true}, Since: 100, Upper: 100})
	sh, err := p.Set.Client().Open(ctx, "u8", shard.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := vec.NewBlock(shard.Schema{Rel: schema.Rel, Errors: true}.Kinds(), 2)
	b.AppendRow(1, vec.Null, vec.Null, vec.StrOf("22012 division by zero"))
	b.AppendRow(2, vec.IntOf(1), vec.StrOf("x"), vec.Null)
	w, err := write(ctx, sh, b, true)
	if err != nil {
		t.Fatal(err)
	}
	mustDo(t, p, shard.Append{Shard: sh, Lower: 100, Upper: 105, Written: []*shard.Written{w}})
	sums := tvc.NewFingerprinter(sh.FingerprintKey(), true)
	if got, _ := sh.Fingerprint(); got != sums.Rows(b) {
		t.Fatalf("fingerprint %v, want %v", got, sums.Rows(b))
	}
	sc, err := sh.Snapshot(ctx, 104, shard.ScanOptions{Consolidate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sc.Close()
	rows := ""
	for b, err := sc.Next(ctx); b != nil || err != nil; b, err = sc.Next(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		rows += b.String()
	}
	if want := "1 \"x\" null ×2\nnull null \"22012 division by zero\" ×1\n"; rows != want {
		t.Fatal(rows)
	}
	p.Stop(t)
}

// failing is a file system on which writes begin to fail.
type failing struct {
	vfs.FS
	fail *bool
}

type failingFile struct {
	vfs.File
	fail *bool
}

var errFull = errors.New("no space left on device")

func (f failing) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if *f.fail {
		return nil, errFull
	}
	file, err := f.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	return failingFile{file, f.fail}, nil
}

func (f failingFile) Write(p []byte) (int, error) {
	if *f.fail {
		n, err := f.File.Write(p[:len(p)/2])
		return n, errors.Join(errFull, err)
	}
	return f.File.Write(p)
}

// TestAFullDiskIsAnErrorAndLeavesNoHalfObject: of the blob store.
func TestAFullDiskIsAnErrorAndLeavesNoHalfObject(t *testing.T) {
	ctx := context.Background()
	fail := false
	s, err := blob.OpenDirectory("blob", blob.DirectoryOptions{FS: failing{vfs.NewMem(), &fail}, Registry: storagetest.NewRegistry().Metrics()})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "u1/p1-1", []byte("before"))
	fail = true
	if err := s.Put(ctx, "u1/p1-2", bytes.Repeat([]byte("x"), 1000)); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, "u1/p1-2"); !errors.Is(err, blob.ErrNotFound) {
		t.Fatal(err)
	}
	fail = false
	put(t, s, "u1/p1-2", []byte("after"))
	infos, err := s.List(ctx, "")
	if err != nil || len(infos) != 2 {
		t.Fatal(infos, err)
	}
}

// TestPartsEndAtTheirSize: rows that fill a part to the byte are one, and what comes after them is another; a byte less, and it
// is in the same. A block that is larger than several parts becomes as many.
func TestPartsEndAtTheirSize(t *testing.T) {
	const size = 8 << 20
	ctx := context.Background()
	x := newTable(t, storagetest.NewDisk())
	rows := 0
	appended := func(blocks ...*vec.Block) int {
		t.Helper()
		w := x.sh.NewWriter(shard.WriterOptions{InlineMax: -1})
		for _, b := range blocks {
			if err := w.Add(ctx, b); err != nil {
				t.Fatal(err)
			}
			rows += b.Len
		}
		written, err := w.Finish(ctx)
		if err != nil {
			t.Fatal(err)
		}
		mustDo(t, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 10, Written: []*shard.Written{written}})
		return written.Objects()
	}
	block := func(k int64, text int) *vec.Block {
		b := vec.NewBlock(schema.Kinds(), 1)
		b.AppendRow(1, vec.IntOf(k), vec.StrOf(strings.Repeat("x", text)))
		return b
	}
	beside := block(0, 0).Size()
	for less, want := range map[int]int{1: 1, 0: 2, -1: 2} {
		b := block(int64(less), size-less-beside)
		if b.Size() != size-less {
			t.Fatalf("the block has %d bytes, want %d", b.Size(), size-less)
		}
		if n := appended(b, rowsOf(10, 1)); n != want {
			t.Errorf("%d bytes less than a part and a row are %d objects, want %d", less, n, want)
		}
	}
	many := vec.NewBlock(schema.Kinds(), 0)
	for i := range int64(40) {
		many.AppendBlock(block(i, 1<<20))
	}
	if n := appended(many); n != 5 {
		t.Errorf("%d bytes are %d objects", many.Size(), n)
	}
	if n, err := x.scan(shard.ScanOptions{}); err != nil || n != rows {
		t.Errorf("there are %d rows of %d, %v", n, rows, err)
	}
	if err := x.p.Check(ctx); err != nil {
		t.Error(err)
	}
}
