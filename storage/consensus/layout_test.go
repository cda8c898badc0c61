package consensus_test

import (
	"maps"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/consensus"
)

// TestPebbleLayout: what lies in a directory is, to the byte, what the directories of earlier programs have: the registers'
// entries by their keys and nothing else, and such a directory is read.
func TestPebbleLayout(t *testing.T) {
	layout := map[string]string{
		"repoch\x00\x00\x00\x00\x00\x00\x00\x00\x02":       "\x01",
		"roracle\x00\x00\x00\x00\x00\x00\x00\x00\x01":      "\x01\x00\x06\x0a\x24\x18\x1e\x40\x00",
		"rshard/u12\x00\x00\x00\x00\x00\x00\x00\x00\x01":   "first",
		"rshard/u12\x00\x00\x00\x00\x00\x00\x00\x00\x02":   "",
		"rshard/u123\x00\x00\x00\x00\x00\x00\x00\x00\x01":  "another's",
		"rx\x00\x00\x00\x00\x00\x00\x00\x00\x01":           "x\x00y",
		"rshard/u12\x00\x00\x00\x00\x00\x00\x00\x00\x03":   "third",
		"rshard/u1234\x00\x00\x00\x00\x00\x00\x00\x00\x01": "a third one's",
	}
	entries := map[string][]string{
		"epoch": {"\x01", "\x01"}, "oracle": {layout["roracle\x00\x00\x00\x00\x00\x00\x00\x00\x01"]}, "x": {"x\x00y"},
		"shard/u12": {"first", "", "third"}, "shard/u123": {"another's"}, "shard/u1234": {"a third one's"},
	}
	written := vfs.NewMem()
	s := openOn(t, written)
	for key, all := range entries {
		for v, data := range all {
			commit(t, s, consensus.Unit{put(key, consensus.Version(v), data)})
		}
	}
	if err := s.Truncate(t.Context(), "epoch", 2); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := pairs(t, written); !maps.Equal(got, layout) {
		t.Errorf("the store has\n%q\nwant\n%q", got, layout)
	}

	early := vfs.NewMem()
	db, err := pebble.Open("consensus", &pebble.Options{FS: early})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range layout {
		if err := db.Set([]byte(k), []byte(v), pebble.Sync); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = openOn(t, early)
	for key, want := range entries {
		head, err := s.Head(t.Context(), key)
		if err != nil || int(head.Version) != len(want) || string(head.Data) != want[len(want)-1] {
			t.Errorf("register %s is at version %d: %q, %v", key, head.Version, head.Data, err)
		}
	}
	if all, err := s.Scan(t.Context(), "shard/u12", 1, 10); err != nil || len(all) != 3 || all[0].Version != 1 || string(all[0].Data) != "first" {
		t.Errorf("entries %v, %v", all, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func openOn(t *testing.T, fs vfs.FS) *consensus.Pebble {
	t.Helper()
	s, err := consensus.OpenPebble("consensus", consensus.PebbleOptions{FS: fs, Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pairs gives all that Pebble has in a directory.
func pairs(t *testing.T, fs vfs.FS) map[string]string {
	t.Helper()
	db, err := pebble.Open("consensus", &pebble.Options{FS: fs, ReadOnly: true, FormatMajorVersion: pebble.FormatNewest})
	if err != nil {
		t.Fatal(err)
	}
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for ok := it.First(); ok; ok = it.Next() {
		out[string(it.Key())] = string(it.Value())
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}
