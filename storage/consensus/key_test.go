package consensus_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tributary-db/tributary/storage/consensus"
)

// FuzzParseEntryKey: a key is what was made of a register and a version, or an error.
func FuzzParseEntryKey(f *testing.F) {
	for _, key := range []string{"epoch", "oracle", "shard/u12", "x"} {
		for _, v := range []consensus.Version{0, 1, 256, 1<<64 - 1} {
			k := consensus.EntryKey(key, v)
			f.Add(k)
			f.Add(k[:len(k)-1])
			f.Add(k[1:])
		}
	}
	f.Add([]byte(nil))
	f.Add([]byte("r\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, k []byte) {
		key, v, err := consensus.ParseEntryKey(k)
		switch {
		case err != nil && !errors.Is(err, consensus.ErrCorrupt):
			t.Errorf("%q: %v", k, err)
		case err == nil && !bytes.Equal(consensus.EntryKey(key, v), k):
			t.Errorf("%q is taken for version %d of %q", k, v, key)
		}
	})
}
