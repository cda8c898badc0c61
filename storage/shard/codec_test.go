package shard

import (
	"bytes"
	"encoding/binary"
	"flag"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/part/parttest"
	"github.com/tributary-db/tributary/storage/tvc"
)

var rewriteFossils = flag.Bool("rewrite-fossils", false, "write the golden files of the current version anew")

// fossilRecords are records of every kind with every variant of a part.
func fossilRecords() [][]record {
	schema := Schema{Errors: true, Rel: types.Rel{
		Cols: []types.Column{
			{Name: "id", Type: types.TInt8},
			{Name: "grün", Type: types.T{OID: types.OIDVarchar, Mod: 24}, Nullable: true},
			{Name: "r", Nullable: true, Type: types.T{OID: types.OIDRecord, Mod: types.NoMod, Record: &types.Record{
				Fields: []types.Field{{Name: "x", Type: types.TFloat8}, {Name: "y", Type: types.TText}}}}},
		},
		Keys: [][]int{{0}, {0, 1}},
	}}
	wider := schema
	wider.Rel.Cols = append(append([]types.Column{}, schema.Rel.Cols...), types.Column{Name: "more", Type: types.TBool, Nullable: true})
	stats := part.Stats{{Nulls: 1, Known: true, Min: vec.IntOf(-5), Max: vec.IntOf(7)}, {Nulls: 3}, {Known: true, Min: vec.StrOf("a"), Max: vec.StrOf("b")}}
	at := tvc.Frontier(1_700_000_000_000_000)
	part := func(p partRef) *partRef { p.slot = &slot{}; return &p }
	return [][]record{
		{recCreate{schema: schema, since: at, upper: at, key: tvc.FingerprintKey{1, 2}}},
		{recAppend{upper: at + 10, since: at, token: Token{3, 4}, totals: Totals{Rows: 2, DiffSum: 2, Fingerprint: tvc.Fingerprint{5, 6}}, runs: []run{
			{part(partRef{schema: 1, rows: 2, times: timesOf{min: tvc.Time(at) + 9, max: tvc.Time(at) + 9}, inline: []byte("inline bytes")})}}}},
		{recAppend{upper: at + 20, since: at + 10, totals: Totals{Rows: 70, DiffSum: -3, Fingerprint: tvc.Fingerprint{7, 8}}, runs: []run{
			{part(partRef{schema: 1, rows: 20, times: timesOf{min: tvc.Time(at) + 19, max: tvc.Time(at) + 19}, object: objectName{1, 2}, size: 1000, stats: stats})},
			{part(partRef{schema: 1, rows: 50, times: timesOf{own: true, min: tvc.Time(at) + 11, max: tvc.Time(at) + 15}, object: objectName{1, 3}, size: 2000})}}}},
		{recSince{at + 12}, recEvolve{wider}},
		{recAppend{upper: at + 30, since: at + 12}},
		{recReplace{first: 1, last: 1, since: at + 20, runs: []run{{
			part(partRef{schema: 2, rows: 40, times: timesOf{min: tvc.Time(at) + 19, max: tvc.Time(at) + 19}, object: objectName{2, 1}, size: 3000, stats: stats}),
			part(partRef{schema: 2, rows: 30, times: timesOf{min: tvc.Time(at) + 19, max: tvc.Time(at) + 19}, object: objectName{2, 2}, size: 4000})}}}},
		{recReplace{first: 2, last: 2, since: at + 20}},
		{recRollup{rollupRef{version: 5, object: objectName{2, 3}}}},
	}
}

// TestFossils reads what each version of the formats wrote. The files are kept for good.
func TestFossils(t *testing.T) {
	var st *state
	var entries [][]byte
	for i, records := range fossilRecords() {
		entries = append(entries, encodeEntry(Token{9, uint64(i)}, records))
		st = st.apply(records)
	}
	entries = append(entries, encodeEntry(Token{9, 100}, []record{recSeal{}}))
	dir := filepath.Join("testdata", "v1")
	if *rewriteFossils {
		var log []byte
		for _, e := range entries {
			log = binary.AppendUvarint(log, uint64(len(e)))
			log = append(log, e...)
		}
		for name, data := range map[string][]byte{"entries": log, "rollup": encodeRollup(st)} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "entries"))
	if err != nil {
		t.Fatal(err)
	}
	var again, before *state
	for len(log) > 0 {
		n, w := binary.Uvarint(log)
		_, records, err := decodeEntry(log[w : w+int(n)])
		if err != nil {
			t.Fatal(err)
		}
		before = again
		again = again.apply(records)
		log = log[w+int(n):]
	}
	if !again.sealed || before.String() != st.String() {
		t.Fatalf("entries read as\n%s\nwant\n%s", before, st)
	}
	if !reflect.DeepEqual(before.schemas, st.schemas) {
		t.Fatalf("schemas read as %+v", before.schemas)
	}
	data, err := os.ReadFile(filepath.Join(dir, "rollup"))
	if err != nil {
		t.Fatal(err)
	}
	rolled, err := decodeRollup(data)
	if err != nil || rolled.String() != st.String() || !reflect.DeepEqual(rolled.schemas, st.schemas) {
		t.Fatalf("%v: rollup reads as\n%s\nwant\n%s", err, rolled, st)
	}
	if !bytes.Equal(encodeRollup(rolled), encodeRollup(st)) {
		t.Fatal("a rollup that was read is written differently")
	}
}

func TestEntryNoticesEveryFlippedBit(t *testing.T) {
	for _, records := range fossilRecords() {
		data := encodeEntry(Token{1, 2}, records)
		for i := range data {
			data[i] ^= 1 << (i % 8)
			if _, _, err := decodeEntry(data); err == nil {
				t.Fatalf("byte %d of an entry of %T", i, records[0])
			}
			data[i] ^= 1 << (i % 8)
		}
	}
}

// readFossils gives what version 1 wrote: entries, and a rollup.
func readFossils(tb testing.TB) (entries [][]byte, rollup []byte) {
	tb.Helper()
	log, err := os.ReadFile(filepath.Join("testdata", "v1", "entries"))
	if err != nil {
		tb.Fatal(err)
	}
	for len(log) > 0 {
		n, w := binary.Uvarint(log)
		entries = append(entries, log[w:w+int(n)])
		log = log[w+int(n):]
	}
	if rollup, err = os.ReadFile(filepath.Join("testdata", "v1", "rollup")); err != nil {
		tb.Fatal(err)
	}
	return entries, rollup
}

// addWithDamage adds bytes, and variants of them, to what a fuzz test begins with.
func addWithDamage(f *testing.F, data []byte) {
	f.Add(data)
	for _, d := range parttest.Damaged(data, 200) {
		f.Add(d)
	}
}

func FuzzDecodeEntry(f *testing.F) {
	entries, _ := readFossils(f)
	for _, e := range entries {
		addWithDamage(f, e)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 5 {
			// Make the checksum fit, so that what lies behind it is tried.
			data = bytes.Clone(data)
			data[0] = entryVersion
			binary.LittleEndian.PutUint32(data[1:], crc32.Checksum(data[5:], castagnoli))
		}
		token, records, err := decodeEntry(data)
		if err != nil || len(records) == 0 {
			return
		}
		if _, again, err := decodeEntry(encodeEntry(token, records)); err != nil || len(again) != len(records) {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeRollup(f *testing.F) {
	_, rollup := readFossils(f)
	addWithDamage(f, rollup)
	var st *state
	for _, records := range fossilRecords() {
		st = st.apply(records)
		f.Add(encodeRollup(st))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 9 {
			data = bytes.Clone(data)
			data[0] = rollupVersion
			binary.LittleEndian.PutUint64(data[1:], xxh3.Hash(data[9:]))
		}
		st, err := decodeRollup(data)
		if err != nil {
			return
		}
		if again, err := decodeRollup(encodeRollup(st)); err != nil || again.String() != st.String() {
			t.Fatal(err)
		}
	})
}
