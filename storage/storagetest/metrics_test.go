package storagetest_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
)

// TestMetricsFollowAShardsLife: written, read cold, compacted, failed, renamed and dropped.
func TestMetricsFollowAShardsLife(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	sum := func(name string, labels ...string) float64 {
		return x.p.Registry.Sum("tributary_storage_"+name, labels...)
	}
	want := func(when string, values map[string]float64) {
		t.Helper()
		for name, v := range values {
			if got := sum(name); got != v {
				t.Errorf("%s: %s is %v, not %v", when, name, got, v)
			}
		}
	}
	x.add(0, 100, true)
	x.add(100, 10, false)
	x.add(110, 50, true)
	size := 0.0
	for _, o := range x.objects() {
		size += float64(o.Size)
	}
	inline := sum("inline_bytes_total")
	if inline < 10 || inline > 500 {
		t.Errorf("%v inline bytes", inline)
	}
	want("written", map[string]float64{"objects_put_total": 2, "object_bytes_total": size, "inline_parts_total": 1, "consensus_failed_total": 0,
		"collection_rows": 160, "collection_batches": 3, "collection_objects": 2, "collection_object_bytes": size,
		"collection_inline_bytes": inline, "collection_inline_parts": 1, "collection_runs": 3, "collection_log_entries": 4, "collection_garbage_objects": 0, "compactions_total": 0})

	x = x.again(disk)
	if n, err := x.scan(shard.ScanOptions{}); n != 160 || err != nil {
		t.Fatal(n, err)
	}
	want("read", map[string]float64{"objects_read_total": 2, "object_read_bytes_total": size, "object_errors_total": 0,
		"collection_rows": 160, "scan_parts_total": 3, "scan_part_bytes_total": size + inline, "cache_misses_total": 3})
	if n, bytes := sum("scan_parts_total", "fate", "inline"), sum("scan_part_bytes_total", "fate", "inline"); n != 1 || bytes != inline {
		t.Errorf("%v inline parts of %v bytes were read", n, bytes)
	}

	sc, err := x.sh.Snapshot(ctx, x.sh.Upper().Last(), shard.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.sh.CompactAll(ctx, x.p.Submit); err != nil {
		t.Fatal(err)
	}
	if more, err := x.sh.Compact(ctx, x.p.Submit); more || err != nil {
		t.Error(more, err)
	}
	for outcome, n := range map[string]float64{"applied": 1, "skipped": 1, "refused": 0, "failed": 0} {
		if got := sum("compactions_total", "outcome", outcome); got != n {
			t.Errorf("%v compactions were %s", got, outcome)
		}
	}
	want("while it is read", map[string]float64{"compactions_started_total": 1})
	want("while it is read", map[string]float64{"collection_garbage_objects": 2, "objects_deleted_total": 0, "scan_parts_total": 3})
	sc.Close()
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		t.Fatal(err)
	}
	want("compacted", map[string]float64{"collection_garbage_objects": 0, "objects_deleted_total": 2, "collection_rows": 160})

	x.add(160, 50, true)
	x.p.Faults.Follow(func(c storagetest.Call) storagetest.Verdict {
		if c.Op == "put" {
			return storagetest.Fail
		}
		return storagetest.Pass
	})
	if _, err := write(ctx, x.sh, rowsOf(210, 50), true); err == nil {
		t.Error("nothing failed")
	}
	if n := sum("object_errors_total", "op", "put"); n == 0 || n != sum("object_errors_total") {
		t.Errorf("%v puts failed", n)
	}
	x.p.Faults.Follow(nil)

	work := func() (all [3][2]int64) {
		for o := range all {
			all[o][0], all[o][1] = x.sh.Work(shard.Origin(o))
		}
		return all
	}
	did := work()
	for o, w := range did {
		of := []string{"collection", "t", "origin", shard.Origin(o).String()}
		if put, bytes := sum("objects_put_total", of...), sum("consensus_bytes_total", of...); put != float64(w[0]) ||
			bytes != float64(w[1]) || bytes == 0 && shard.Origin(o) != shard.OriginRollup {
			t.Errorf("work of %v is %v, the metrics say %v objects and %v bytes", of[3], w, put, bytes)
		}
	}
	x.p.Set.Rename(historyID, "other")
	if now := work(); now != did {
		t.Errorf("with another name its work is %v, was %v", now, did)
	}
	if sum("collection_rows", "collection", "t") != 0 || sum("collection_rows", "collection", "other") != 210 {
		t.Error("the old name has rows")
	}
	mustDo(t, x.p, shard.Seal{Shard: x.sh})
	x.p.Set.Forget(historyID)
	want("dropped", map[string]float64{"collection_rows": 0, "collection_batches": 0, "collection_log_entries": 0, "inline_bytes_total": 0,
		"collection_history_seconds": 0})
	x.p.Stop(t)
}

// TestShapesAreCounted: runs, rollups, what compaction would do and does, and what readers keep.
func TestShapesAreCounted(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	want := func(when string, values map[string]float64) {
		t.Helper()
		for name, v := range values {
			if got := x.p.Registry.Sum("tributary_storage_collection_"+name, "collection", "t"); got != v {
				t.Errorf("%s: %s is %v, not %v", when, name, got, v)
			}
		}
	}
	sizes := func(prefix string) (sum float64) {
		infos, err := x.p.Blob.List(ctx, prefix)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			sum += float64(info.Size)
		}
		return sum
	}
	for i := range int64(7) {
		x.add(700*i, 700, true)
	}
	want("seven objects", map[string]float64{"batches": 7, "runs": 7, "objects": 7, "unmerged_batches": 0, "merging_batches": 0,
		"held_versions": 0, "rollup_bytes": 0, "garbage_bytes": 0})
	old, err := x.sh.Snapshot(ctx, x.sh.Upper().Last(), shard.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	two := []*shard.Written{}
	for i := range int64(2) {
		w, err := write(ctx, x.sh, rowsOf(4_900+700*i, 700), true)
		if err != nil {
			t.Fatal(err)
		}
		two = append(two, w)
	}
	mustDo(t, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 1, Written: two})
	want("one append of two runs", map[string]float64{"batches": 8, "runs": 9, "objects": 9, "unmerged_batches": 8, "held_versions": 1})
	for range 200 {
		mustDo(t, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 1})
	}
	merging := 0.0
	x.p.Faults.Follow(func(c storagetest.Call) storagetest.Verdict {
		merging = max(merging, x.p.Registry.Sum("tributary_storage_collection_merging_batches"))
		return storagetest.Pass
	})
	written := sizes("u7/p")
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		t.Fatal(err)
	}
	x.p.Faults.Follow(nil)
	if merging != 8 {
		t.Errorf("%v batches were merged at once", merging)
	}
	// The rollup and the compaction are an entry each.
	want("while it is read", map[string]float64{"batches": 1, "runs": 1, "unmerged_batches": 0, "merging_batches": 0,
		"held_versions": 203, "garbage_objects": 9, "garbage_bytes": written, "rollup_bytes": sizes("u7/r")})
	old.Close()
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		t.Fatal(err)
	}
	want("read", map[string]float64{"held_versions": 0, "garbage_objects": 0, "garbage_bytes": 0, "object_bytes": sizes("u7/p")})

	x = x.again(disk)
	want("opened", map[string]float64{"rollup_bytes": sizes("u7/r"), "log_entries": 2})
	if sizes("u7/r") == 0 {
		t.Error("there is no rollup")
	}
	for range 200 {
		mustDo(t, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 1})
	}
	now, err := x.sh.Snapshot(ctx, x.sh.Upper().Last(), shard.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	was := sizes("u7/r")
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		t.Fatal(err)
	}
	want("with another rollup", map[string]float64{"garbage_objects": 1, "garbage_bytes": was, "rollup_bytes": sizes("u7/r") - was,
		"held_versions": 1, "log_entries": 1})
	now.Close()
	x.p.Stop(t)
}

// TestObjectCallsAreCounted: each kind of call, those that fail too, and puts by whose work they are.
func TestObjectCallsAreCounted(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	fail := func(op string) {
		x.p.Faults.Follow(func(c storagetest.Call) storagetest.Verdict {
			if c.Op == op {
				return storagetest.Fail
			}
			return storagetest.Pass
		})
	}
	want := func(when string, calls, errors map[string]float64) {
		t.Helper()
		for op, n := range calls {
			for name, v := range map[string]float64{"calls_total": n, "seconds": n, "errors_total": errors[op]} {
				if got := x.p.Registry.Sum("tributary_storage_object_"+name, "op", op); got != v {
					t.Errorf("%s: object_%s of %s is %v, not %v", when, name, op, got, v)
				}
			}
		}
	}
	x.add(0, 10_000, true)
	x.add(10_000, 10_000, true)
	for range 200 {
		mustDo(t, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 1})
	}
	if _, err := x.sh.Maintain(ctx, x.p.Submit); err != nil {
		t.Fatal(err)
	}
	want("written", map[string]float64{"put": 3, "delete": 0, "list": 0}, nil)
	fail("delete")
	if err := x.sh.CompactAll(ctx, x.p.Submit); err != nil {
		t.Fatal(err)
	}
	if err := x.p.Maintain(ctx, x.sh); err != nil {
		t.Fatal(err)
	}
	want("compacted", map[string]float64{"put": 4, "delete": 2, "list": 0}, map[string]float64{"delete": 2})
	for origin, puts := range map[string]float64{"append": 2, "compaction": 1, "rollup": 1} {
		if got := x.p.Registry.Sum("tributary_storage_object_put_seconds", "origin", origin); got != puts {
			t.Errorf("%v puts of %s, not %v", got, origin, puts)
		}
	}

	x = x.again(disk)
	want("opened", map[string]float64{"get": 1, "put": 0, "delete": 0, "list": 0}, nil)
	fail("get")
	if _, err := x.scan(shard.ScanOptions{}); err == nil {
		t.Error("nothing failed")
	}
	fail("list")
	if _, err := x.p.Set.Client().Sweep(ctx); err == nil {
		t.Error("nothing failed")
	}
	want("failed", map[string]float64{"get": 2, "put": 0, "delete": 0, "list": 1}, map[string]float64{"get": 1, "list": 1})
	fail("")
	leaked := 0.0
	for _, o := range x.objects() {
		leaked += float64(o.Size)
	}
	if n, err := x.p.Set.Client().Sweep(ctx); n != 2 || err != nil {
		t.Errorf("%d objects were swept: %v", n, err)
	}
	for _, o := range x.objects() {
		leaked -= float64(o.Size)
	}
	if n, bytes := x.p.Registry.Sum("tributary_storage_objects_swept_total"), x.p.Registry.Sum("tributary_storage_swept_bytes_total"); n != 2 ||
		bytes != leaked {
		t.Errorf("%v objects of %v bytes were swept, not of %v", n, bytes, leaked)
	}
	want("swept", map[string]float64{"get": 2, "put": 0, "delete": 2, "list": 2}, map[string]float64{"get": 1, "list": 1})
	x.p.Stop(t)
}

// TestAllMetricsAreInTheDocs: the page lists every metric of storage with its labels, and no other.
func TestAllMetricsAreInTheDocs(t *testing.T) {
	p, err := storagetest.NewDisk().Open(t, storagetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/storage.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, name := range regexp.MustCompile("`(tributary_storage_[^`]*)`").FindAllSubmatch(page, -1) {
		documented = append(documented, string(name[1]))
	}
	registered := p.Registry.Names()
	for _, name := range registered {
		if !slices.Contains(documented, name) {
			t.Errorf("%s is not in the docs", name)
		}
	}
	for i, name := range documented {
		if !slices.Contains(registered, name) || slices.Contains(documented[:i], name) {
			t.Errorf("%s is in the docs, but is not registered or was there before", name)
		}
	}
	p.Stop(t)
}

// TestOperationsAreCounted: by kind and by what became of them, and the entries that came of them by whose work they were.
func TestOperationsAreCounted(t *testing.T) {
	x := newTable(t, storagetest.NewDisk())
	for i := range int64(9) {
		x.add(700*i, 700, true)
	}
	for range 200 {
		mustDo(t, x.p, shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 1})
	}
	if err := x.p.Maintain(t.Context(), x.sh); err != nil {
		t.Fatal(err)
	}
	mustDo(t, x.p, shard.Downgrade{Shard: x.sh, Since: x.sh.Since()}, shard.Evolve{Shard: x.sh, Expect: 1, Schema: schema})
	late := shard.Append{Shard: x.sh, Lower: 1, Upper: x.sh.Upper() + 1}
	if out, err := x.p.Set.Group().Do(t.Context(), unit(late)); err != nil || out.Done() {
		t.Fatal(out, err)
	}
	next := shard.Append{Shard: x.sh, Lower: x.sh.Upper(), Upper: x.sh.Upper() + 1}
	x.p.Faults.Follow(func(c storagetest.Call) storagetest.Verdict { return storagetest.Fail })
	if _, err := x.p.Set.Group().Do(t.Context(), unit(next, shard.Seal{Shard: x.sh})); err == nil {
		t.Fatal("nothing failed")
	}
	x.p.Faults.Follow(nil)
	mustDo(t, x.p, shard.Seal{Shard: x.sh})
	sum := x.p.Registry.Sum
	for _, c := range []struct {
		kind                  string
		done, refused, failed float64
	}{
		{"create", 1, 0, 0}, {"append", 209, 1, 1}, {"downgrade", 1, 0, 0}, {"evolve", 1, 0, 0}, {"seal", 1, 0, 1},
		{"compaction", 1, 0, 0}, {"rollup", 1, 0, 0},
	} {
		of := func(outcome string) float64 {
			return sum("tributary_storage_operations_total", "kind", c.kind, "outcome", outcome)
		}
		if done, refused, failed := of("done"), of("refused"), of("failed"); done != c.done || refused != c.refused || failed != c.failed {
			t.Errorf("%s: %v done, %v refused, %v failed; not %v, %v, %v", c.kind, done, refused, failed, c.done, c.refused, c.failed)
		}
	}
	for origin, n := range map[string]float64{"append": 212, "compaction": 1, "rollup": 1} {
		if got := sum("tributary_storage_consensus_entries_total", "origin", origin); got != n {
			t.Errorf("%v entries of %s, not %v", got, origin, n)
		}
	}
	if n := sum("tributary_storage_compactions_requested_total"); n != 1 {
		t.Errorf("compactions were requested %v times", n)
	}
}
