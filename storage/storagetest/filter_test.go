package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
)

// auditAll is settings by which everything that is left out of a scan is read all the same and looked at.
func auditAll(tb testing.TB) *settings.Set {
	tb.Helper()
	set := settings.NewSet(collection.Settings()...)
	if err := set.Set("storage_filter_audit_percent", "100"); err != nil {
		tb.Fatal(err)
	}
	return set
}

// filterable are columns of every kind; the last one is added late.
var filterable = shard.Schema{Rel: types.Rel{Cols: []types.Column{
	{Name: "i", Type: types.TInt8, Nullable: true}, {Name: "s", Type: types.TText, Nullable: true},
	{Name: "f", Type: types.TFloat8, Nullable: true}, {Name: "b", Type: types.TBool, Nullable: true},
	{Name: "late", Type: types.TInt8, Nullable: true},
}}, Errors: true}

// near draws a value of a column of filterable that is not far from the others of its part.
func near(rng *rand.Rand, col, part int) vec.Datum {
	if rng.IntN(8) == 0 {
		return vec.Null
	}
	switch col {
	case 0, 4:
		return vec.IntOf(int64(part*10 + rng.IntN(15)))
	case 1:
		long := strings.Repeat([]string{"\xff", "x", "prefix"}[part%3], rng.IntN(30))
		return vec.StrOf(long + fmt.Sprint(part+rng.IntN(3)))
	case 2:
		return vec.FloatOf([]float64{float64(part), float64(part) + rng.Float64(), math.Inf(1), math.Inf(-1), math.NaN()}[rng.IntN(2+part%4)])
	}
	return vec.BoolOf(part%3 == 0 || rng.IntN(part+1) == 0)
}

// rowsNear draws rows for a part: all of its NULLs in one column now and then, an error in a few.
func rowsNear(rng *rand.Rand, cols, part int) *vec.Block {
	b := vec.NewBlock(append(shard.Schema{Rel: types.Rel{Cols: filterable.Rel.Cols[:cols]}}.Kinds(), types.Bytes), 0)
	bare := rng.IntN(2 * cols)
	failing := rng.IntN(6) == 0
	for range 1 + rng.IntN(30) {
		row := make([]vec.Datum, cols+1)
		for c := range cols {
			if row[c] = near(rng, c, part); c == bare {
				row[c] = vec.Null
			}
		}
		if failing && rng.IntN(4) == 0 {
			clear(row)
			row[cols] = vec.StrOf("22012division by zero")
		}
		b.AppendRow(int64(rng.IntN(4)-1), row...)
	}
	return b
}

// randomConditions draws one to three conditions.
func randomConditions(rng *rand.Rand) []shard.Condition {
	conds := make([]shard.Condition, 1+rng.IntN(3))
	for i := range conds {
		c := &conds[i]
		c.Col, c.Null = rng.IntN(5), rng.IntN(4) == 0
		for range rng.IntN(3) {
			var r shard.Range
			if rng.IntN(3) > 0 {
				r.Min, r.MinOpen = near(rng, c.Col, rng.IntN(12)), rng.IntN(2) == 0
			}
			if rng.IntN(3) > 0 {
				r.Max, r.MaxOpen = near(rng, c.Col, rng.IntN(12)), rng.IntN(2) == 0
			}
			c.Ranges = append(c.Ranges, r)
		}
	}
	return conds
}

// meets says, without looking at how the scan does it, whether a value meets a condition.
func meets(c shard.Condition, d vec.Datum) bool {
	if d.IsNull() {
		return c.Null
	}
	for _, r := range c.Ranges {
		low := r.Min.IsNull() || d.Compare(r.Min) > 0 || d.Equal(r.Min) && !r.MinOpen
		high := r.Max.IsNull() || d.Compare(r.Max) < 0 || d.Equal(r.Max) && !r.MaxOpen
		if low && high {
			return true
		}
	}
	return false
}

// wanted says whether a row, of all columns and the error, is wanted.
func wanted(anyOf [][]shard.Condition, row []vec.Datum) bool {
	if !row[len(row)-1].IsNull() {
		return true
	}
	for _, all := range anyOf {
		ok := true
		for _, c := range all {
			ok = ok && meets(c, row[c.Col])
		}
		if ok {
			return true
		}
	}
	return false
}

// wantedRows adds up the rows of a scan that are wanted; the blocks' columns are all of filterable's, with the error.
func wantedRows(tb testing.TB, sc *shard.Scan, anyOf [][]shard.Condition) (rows map[string]int64, read int) {
	tb.Helper()
	defer sc.Close()
	rows = map[string]int64{}
	for {
		b, err := sc.Next(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		if b == nil {
			return rows, read
		}
		read += b.Len
		for i := range b.Len {
			row := b.Row(i, nil)
			if !wanted(anyOf, row) {
				continue
			}
			key := fmt.Sprintf("%#v", row)
			if b.Times != nil {
				key += fmt.Sprint(b.Times[i])
			}
			count(rows, key, b.Diff(i))
		}
	}
}

// TestFilteredScansGiveEveryWantedRow: random filters over random parts, inline and objects, of two schemas, against
// scans of everything; what is left out is audited in full.
func TestFilteredScansGiveEveryWantedRow(t *testing.T) {
	ctx := context.Background()
	skipped := 0.0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 12))
		p, err := storagetest.NewDisk().Open(t, storagetest.Options{Settings: auditAll(t)})
		if err != nil {
			t.Fatal(err)
		}
		narrow := shard.Schema{Rel: types.Rel{Cols: filterable.Rel.Cols[:4]}, Errors: true}
		mustDo(t, p, shard.Create{ID: "u7", Schema: narrow})
		sh, err := p.Set.Open(ctx, collection.Desc{ID: historyID, Shard: "u7", Name: "t", Retain: -1})
		if err != nil {
			t.Fatal(err)
		}
		hold, err := p.Set.Hold("test", historyID)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			cols := 4
			if i >= 6 {
				cols = 5
			}
			if i == 6 {
				mustDo(t, p, shard.Evolve{Shard: sh, Expect: 1, Schema: filterable})
			}
			w, err := write(ctx, sh, rowsNear(rng, cols, i), rng.IntN(4) > 0)
			if err != nil {
				t.Fatal(err)
			}
			mustDo(t, p, shard.Append{Shard: sh, Lower: sh.Upper(), Upper: sh.Upper() + 10, Written: []*shard.Written{w}})
		}
		for range 60 {
			var f shard.Filter
			for range 1 + rng.IntN(2) {
				f.Any = append(f.Any, randomConditions(rng))
			}
			f.Wants = func(b *vec.Block) bool {
				for i := range b.Len {
					if wanted(f.Any, b.Row(i, nil)) {
						return true
					}
				}
				return false
			}
			consolidate, updates := rng.IntN(2) == 0, rng.IntN(3) == 0
			open := func(f shard.Filter) *shard.Scan {
				o := shard.ScanOptions{Filter: f, Consolidate: consolidate}
				sc, err := sh.Snapshot(ctx, sh.Upper().Last(), o)
				if updates {
					sc.Close()
					sc, err = sh.Updates(ctx, 0, sh.Upper(), o)
				}
				if err != nil {
					t.Fatal(err)
				}
				return sc
			}
			filtered, few := wantedRows(t, open(f), f.Any)
			all, many := wantedRows(t, open(shard.Filter{}), f.Any)
			if !maps.Equal(filtered, all) || few > many {
				t.Fatalf("seed %d: %+v gives %v, not %v", seed, f.Any, filtered, all)
			}
		}
		skipped += p.Registry.Sum("tributary_storage_scan_parts_total", "fate", "skipped")
		if n, m := p.Registry.Sum("tributary_storage_scan_parts_total", "fate", "audited"),
			p.Registry.Sum("tributary_storage_scan_parts_total", "fate", "skipped"); n != m {
			t.Errorf("%v parts of %v were audited", n, m)
		}
		hold.Release()
		p.Stop(t)
	}
	if skipped < 1000 {
		t.Errorf("only %v parts were skipped", skipped)
	}
}

// TestScansReadWhatIsAskedFor: projected columns come in the order asked for, from objects, inline parts and parts
// that lack them, and a scan of no columns counts rows.
func TestScansReadWhatIsAskedFor(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	x.add(0, 3, true)
	x.add(3, 2, false)
	wider := schema
	wider.Rel.Cols = append(append([]types.Column{}, schema.Rel.Cols...), types.Column{Name: "w", Type: types.TFloat8, Nullable: true})
	mustDo(t, x.p, shard.Evolve{Shard: x.sh, Expect: 1, Schema: wider})
	for name, c := range map[string]struct {
		project []int
		want    string
	}{
		"all":       {nil, "0 \"v0\" null|1 \"v1\" null|2 \"v2\" null|3 \"v3\" null|4 \"v4\" null|"},
		"none":      {[]int{}, "|||||"},
		"the added": {[]int{2}, "null|null|null|null|null|"},
		"turned":    {[]int{2, 1, 0}, "null \"v0\" 0|null \"v1\" 1|null \"v2\" 2|null \"v3\" 3|null \"v4\" 4|"},
		"one":       {[]int{1}, "\"v0\"|\"v1\"|\"v2\"|\"v3\"|\"v4\"|"},
	} {
		for range 2 {
			x = x.again(disk)
			for _, consolidate := range []bool{false, true} {
				sc, err := x.sh.Snapshot(ctx, x.sh.Upper().Last(), shard.ScanOptions{Project: c.project, Consolidate: consolidate})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for b, err := sc.Next(ctx); b != nil || err != nil; b, err = sc.Next(ctx) {
					if err != nil {
						t.Fatal(err)
					}
					for i := range b.Len {
						var texts []string
						for _, d := range b.Row(i, nil) {
							texts = append(texts, d.GoString())
						}
						got += strings.Join(texts, " ") + "|"
					}
				}
				sc.Close()
				if got != c.want {
					t.Errorf("%s, consolidated %v: %s", name, consolidate, got)
				}
			}
		}
	}
	x.p.Stop(t)
}

// TestTheAuditFindsWrongStatistics: an object whose rows are not what its statistics say is found by the audit, loudly,
// and read as it is where nothing is left out.
func TestTheAuditFindsWrongStatistics(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	x := newTable(t, disk)
	x.add(0, 10, true)
	x.add(1000, 10, true)
	key := x.objects()[0].Key
	// The same number of rows of the same schema, with a checksum that holds; only the values are others.
	codec, err := part.NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	b := vec.NewBlock(schema.Kinds(), 10)
	for i := range int64(10) {
		b.AppendRow(1, vec.IntOf(5000+i), vec.StrOf("v"))
	}
	data, err := codec.NewEncoder().Encode([]*vec.Block{b}, part.EncodeOptions{Schema: 1})
	if err != nil {
		t.Fatal(err)
	}
	put(t, x.p.Blob, key, data)
	x.p.Stop(t)
	o := shard.ScanOptions{Filter: shard.Filter{
		Any: [][]shard.Condition{{{Col: 0, Ranges: []shard.Range{{Min: vec.IntOf(1005)}}}}},
		Wants: func(b *vec.Block) bool {
			for _, i := range b.Cols[0].Ints {
				if i >= 1005 {
					return true
				}
			}
			return false
		},
	}}
	for percent, want := range map[string]string{"0": "", "100": key} {
		set := settings.NewSet(collection.Settings()...)
		if err := set.Set("storage_filter_audit_percent", percent); err != nil {
			t.Fatal(err)
		}
		p, err := disk.Open(t, storagetest.Options{Settings: set})
		if err != nil {
			t.Fatal(err)
		}
		sh, err := p.Set.Open(ctx, collection.Desc{ID: historyID, Shard: "u7", Name: "t", Retain: -1})
		if err != nil {
			t.Fatal(err)
		}
		x := &table{t, p, sh}
		_, err = x.scan(o)
		failed := p.Registry.Sum("tributary_storage_audits_failed_total")
		switch {
		case want == "" && (err != nil || failed != 0):
			t.Errorf("without audits: %v, %v", err, failed)
		case want != "" && (!errors.Is(err, shard.ErrStatistics) || !strings.Contains(err.Error(), want) || failed != 1):
			t.Errorf("with audits: %v, %v", err, failed)
		}
		if err := set.Set("storage_filter_pushdown", "off"); err != nil {
			t.Fatal(err)
		}
		if n, err := x.scan(o); n != 20 || err != nil {
			t.Errorf("%d rows where nothing is left out, %v", n, err)
		}
		p.Stop(t)
	}
}
