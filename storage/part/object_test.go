package part_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/part/parttest"
)

var rewriteFossils = flag.Bool("rewrite-fossils", false, "write the golden objects of the current version anew")

func newCodec(tb testing.TB) *part.Codec {
	tb.Helper()
	c, err := part.NewCodec()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// cut gives b as blocks of at most n rows.
func cut(b *vec.Block, n int) []*vec.Block {
	var out []*vec.Block
	for i := 0; i < b.Len; i += n {
		out = append(out, b.Slice(i, min(i+n, b.Len)))
	}
	return out
}

func encode(tb testing.TB, c *part.Codec, blocks []*vec.Block, o part.EncodeOptions) []byte {
	tb.Helper()
	data, err := c.NewEncoder().Encode(blocks, o)
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Clone(data)
}

func readAll(c *part.Codec, data []byte, kinds []types.Kind) (*vec.Block, error) {
	o, err := c.Open(data)
	if err != nil {
		return nil, err
	}
	all := vec.NewBlock(kinds, 0)
	for i := range o.Blocks() {
		b, err := o.Block(i, kinds, nil)
		if err != nil {
			return nil, err
		}
		all.AppendBlock(b)
	}
	if all.Len != o.Rows {
		return nil, fmt.Errorf("%d rows, header says %d", all.Len, o.Rows)
	}
	return all, nil
}

func TestObjectGivesBackWhatWasWritten(t *testing.T) {
	c, s := newCodec(t), &part.Sorter{}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		b, err := s.Consolidate(randomBlock(rng, 1+rng.IntN(400), rng.IntN(2) == 0))
		if err != nil {
			t.Fatal(err)
		}
		if b.Len == 0 {
			continue
		}
		data := encode(t, c, cut(b, 1+rng.IntN(200)), part.EncodeOptions{Schema: 7, Compress: rng.IntN(2) == 0})
		o, err := c.Open(data)
		if err != nil || o.Schema != 7 {
			t.Fatal(o, err)
		}
		got, err := readAll(c, data, b.Kinds())
		if err != nil || got.String() != b.String() {
			t.Fatalf("seed %d: %v\n%s\nwant\n%s", seed, err, got, b)
		}
	}
}

func TestObjectIsTheSameBytesForTheSameRows(t *testing.T) {
	c := newCodec(t)
	b := benchmarkBlocks()["few strings"].Slice(0, 5000)
	for _, compress := range []bool{false, true} {
		o := part.EncodeOptions{Schema: 1, Compress: compress}
		if !bytes.Equal(encode(t, c, cut(b, 1000), o), encode(t, newCodec(t), cut(b.Clone(), 1000), o)) {
			t.Fatal("two encodings differ")
		}
	}
}

func TestObjectNoticesEveryFlippedBit(t *testing.T) {
	c := newCodec(t)
	b := fossilBlock()
	for _, compress := range []bool{false, true} {
		data := encode(t, c, cut(b, 3), part.EncodeOptions{Compress: compress})
		for i := range data {
			data[i] ^= 1 << (i % 8)
			if _, err := c.Open(data); !errors.Is(err, part.ErrCorrupt) {
				t.Fatalf("byte %d: %v", i, err)
			}
			data[i] ^= 1 << (i % 8)
		}
		for n := range len(data) {
			if _, err := c.Open(data[:n]); !errors.Is(err, part.ErrCorrupt) {
				t.Fatalf("cut at %d: %v", n, err)
			}
		}
	}
}

func TestInlineGivesBackWhatWasWritten(t *testing.T) {
	s := &part.Sorter{}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 6))
		b, err := s.Consolidate(randomBlock(rng, rng.IntN(100), rng.IntN(2) == 0))
		if err != nil {
			t.Fatal(err)
		}
		got, err := part.DecodeInline(part.AppendInline(nil, b), b.Kinds())
		if err != nil || got.String() != b.String() {
			t.Fatalf("seed %d: %v\n%s\nwant\n%s", seed, err, got, b)
		}
	}
}

func TestInlineIsLean(t *testing.T) {
	// A row of two small ints, and one with a short text.
	ints := intBlock(100, func(i int) int64 { return int64(1000 + i) }, func(i int) int64 { return int64(i % 7) })
	if n := len(part.AppendInline(nil, ints)); n > 4*100 {
		t.Errorf("two ints take %d bytes for 100 rows", n)
	}
	one := vec.NewBlock([]types.Kind{types.Int, types.Bytes}, 1)
	one.AppendRow(1, vec.IntOf(42), vec.StrOf("hello"))
	if n := len(part.AppendInline(nil, one)); n > 16 {
		t.Errorf("one row takes %d bytes", n)
	}
}

func TestStatsBoundTheValues(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		b := randomBlock(rng, 1+rng.IntN(50), false)
		stats := part.StatsOf(cut(b, 1+rng.IntN(20)))
		got, rest, err := part.DecodeStats(append(part.AppendStats(nil, stats), 'x'))
		if err != nil || string(rest) != "x" {
			t.Fatal(rest, err)
		}
		for c := range got {
			nulls := 0
			for i := range b.Len {
				d := b.Cols[c].Datum(i)
				if d.IsNull() {
					nulls++
				} else if got[c].Known && (d.Compare(got[c].Min) < 0 || d.Compare(got[c].Max) > 0) {
					t.Fatalf("seed %d: %v is not in [%v, %v]", seed, d.GoString(), got[c].Min.GoString(), got[c].Max.GoString())
				}
			}
			if nulls != got[c].Nulls {
				t.Fatalf("seed %d: %d nulls, not %d", seed, got[c].Nulls, nulls)
			}
		}
	}
}

func TestStatsStayInTheirBudget(t *testing.T) {
	b := vec.NewBlock([]types.Kind{types.Bytes}, 1)
	for len(b.Cols) < 40 {
		b.Cols = append(b.Cols, vec.New(types.Bytes, 1))
	}
	row := make([]vec.Datum, len(b.Cols))
	for i := range row {
		row[i] = vec.StrOf("\xff\xffa value that is longer than a bound may be")
	}
	b.AppendRow(1, row...)
	if n := len(part.AppendStats(nil, part.StatsOf([]*vec.Block{b}))); n > 260 {
		t.Fatalf("%d bytes", n)
	}
}

// fossilBlock has every kind, NULLs, times, diffs, and the values at the edges.
func fossilBlock() *vec.Block {
	b := vec.NewBlock([]types.Kind{types.Bool, types.Int, types.Float, types.Bytes}, 8)
	add := func(diff int64, at uint64, row ...vec.Datum) {
		b.AppendRow(diff, row...)
		b.Times = append(b.Times, at)
	}
	add(1, 1_700_000_000_000_000, vec.BoolOf(false), vec.IntOf(-1<<63), vec.FloatOf(-1.5), vec.StrOf(""))
	add(-1, 1_700_000_000_000_001, vec.BoolOf(false), vec.IntOf(-1), vec.FloatOf(0), vec.StrOf("a"))
	add(2, 1_700_000_000_000_000, vec.BoolOf(false), vec.Null, vec.Null, vec.StrOf("a\x00"))
	add(1, 1_700_000_000_000_002, vec.BoolOf(true), vec.IntOf(7), vec.FloatOf(1e300), vec.StrOf("grün"))
	add(1, 1_700_000_000_000_002, vec.BoolOf(true), vec.IntOf(1<<63-1), vec.FloatOf(2.5), vec.Null)
	add(-3, 1_700_000_000_000_000, vec.Null, vec.Null, vec.Null, vec.Null)
	return b
}

// TestFossils reads what each version of the format wrote. The files are kept for good.
func TestFossils(t *testing.T) {
	c := newCodec(t)
	b := fossilBlock()
	plain := &vec.Block{Len: b.Len, Cols: b.Cols}
	repeated := vec.NewBlock(b.Kinds(), 0)
	for range 200 {
		repeated.AppendBlock(plain)
	}
	files := map[string]struct {
		rows  *vec.Block
		bytes func() []byte
	}{
		"times-diffs.part":   {b, func() []byte { return encode(t, c, cut(b, 4), part.EncodeOptions{Schema: 3}) }},
		"plain.part":         {plain, func() []byte { return encode(t, c, cut(plain, 4), part.EncodeOptions{Schema: 1}) }},
		"compressed.part":    {repeated, func() []byte { return encode(t, c, cut(repeated, 500), part.EncodeOptions{Compress: true}) }},
		"times-diffs.inline": {b, func() []byte { return part.AppendInline(nil, b) }},
		"plain.inline":       {plain, func() []byte { return part.AppendInline(nil, plain) }},
	}
	for _, name := range sortedNames(files) {
		f := files[name]
		path := filepath.Join("testdata", "v1", name)
		if *rewriteFossils {
			if err := os.WriteFile(path, f.bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got *vec.Block
		if filepath.Ext(name) == ".inline" {
			got, err = part.DecodeInline(data, b.Kinds())
		} else {
			got, err = readAll(c, data, b.Kinds())
		}
		if err != nil || got.String() != f.rows.String() {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// addFossils adds the golden files, and damaged variants of them, to what a fuzz test begins with.
func addFossils(f *testing.F, pattern string) {
	names, err := filepath.Glob(filepath.Join("testdata", "v*", pattern))
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		for _, d := range parttest.Damaged(data, 100) {
			f.Add(d)
		}
	}
}

func FuzzOpen(f *testing.F) {
	c := newCodec(f)
	b := fossilBlock()
	for _, compress := range []bool{false, true} {
		f.Add(encode(f, c, cut(b, 3), part.EncodeOptions{Compress: compress}))
	}
	addFossils(f, "*.part")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 64 {
			// Make the checksum fit, so that what lies behind it is tried.
			data = bytes.Clone(data)
			data[0] = 1
			head := bytes.Clone(data[:64])
			clear(head[8:16])
			binary.LittleEndian.PutUint64(data[8:], xxh3.HashSeed(data[64:], xxh3.Hash(head)))
		}
		o, err := c.Open(data)
		if err != nil {
			return
		}
		for i := range o.Blocks() {
			if b, err := o.Block(i, b.Kinds(), nil); err == nil {
				// Every value can be read.
				_ = b.String()
			}
		}
	})
}

func FuzzDecodeInline(f *testing.F) {
	b := fossilBlock()
	f.Add(part.AppendInline(nil, b))
	f.Add(part.AppendInline(nil, &vec.Block{Len: b.Len, Cols: b.Cols}))
	addFossils(f, "*.inline")
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := part.DecodeInline(data, b.Kinds())
		if err != nil {
			return
		}
		again, err := part.DecodeInline(part.AppendInline(nil, got), b.Kinds())
		if err != nil || again.String() != got.String() {
			t.Fatalf("%v\n%s\n%s", err, got, again)
		}
	})
}

func FuzzDecodeStats(f *testing.F) {
	stats := part.AppendStats(nil, part.StatsOf([]*vec.Block{fossilBlock()}))
	f.Add(stats)
	for _, d := range parttest.Damaged(stats, 500) {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _, err := part.DecodeStats(data)
		if err == nil {
			part.AppendStats(nil, s)
		}
	})
}

func BenchmarkObject(b *testing.B) {
	c := newCodec(b)
	blocks := benchmarkBlocks()
	for _, name := range sortedNames(blocks) {
		s := &part.Sorter{}
		sorted, err := s.Consolidate(blocks[name])
		if err != nil {
			b.Fatal(err)
		}
		for _, compress := range []bool{false, true} {
			e := c.NewEncoder()
			pieces := cut(sorted, part.BlockRows)
			o := part.EncodeOptions{Compress: compress}
			data := encode(b, c, pieces, o)
			rate := func(b *testing.B) {
				b.ReportMetric(float64(sorted.Len)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
				b.ReportMetric(float64(len(data))/float64(sorted.Len), "B/row")
			}
			b.Run(fmt.Sprintf("encode/%s/compress=%v", name, compress), func(b *testing.B) {
				for b.Loop() {
					if _, err := e.Encode(pieces, o); err != nil {
						b.Fatal(err)
					}
				}
				rate(b)
			})
			b.Run(fmt.Sprintf("decode/%s/compress=%v", name, compress), func(b *testing.B) {
				for b.Loop() {
					x, err := c.Open(data)
					if err != nil {
						b.Fatal(err)
					}
					for i := range x.Blocks() {
						if _, err := x.Block(i, sorted.Kinds(), nil); err != nil {
							b.Fatal(err)
						}
					}
				}
				rate(b)
			})
		}
	}
}
