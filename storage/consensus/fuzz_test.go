package consensus

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fuzzedLog is the number of the log that is fuzzed.
const fuzzedLog = 7

// logChunk is a chunk of that log, made when the log was synced up to some byte.
func logChunk(r *rand.Rand, synced, size int) []byte {
	out := make([]byte, walHeaderBytes+size)
	binary.LittleEndian.PutUint16(out[4:], uint16(size))
	out[6] = walFirstType
	binary.LittleEndian.PutUint32(out[7:], fuzzedLog)
	binary.LittleEndian.PutUint64(out[11:], uint64(synced))
	for i := range size {
		out[walHeaderBytes+i] = byte(r.IntN(256))
	}
	binary.LittleEndian.PutUint32(out, chunkSum(out[6:]))
	return out
}

// aLog is a log of some chunks, the first of which does not know of any that were synced.
func aLog() (log []byte, firstBytes int) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 8 {
		log = append(log, logChunk(r, len(log), 100+r.IntN(300))...)
		if firstBytes == 0 {
			firstBytes = len(log)
		}
	}
	return log, firstBytes
}

func checkBytes(t *testing.T, data []byte) error {
	fs := vfs.NewMem()
	f, err := fs.Create("000007.log", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	// A file system of Pebble's tests may spoil what it is given.
	if _, err := f.Write(slices.Clone(data)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return checkLog(fs, "000007.log", fuzzedLog)
}

// FuzzCheckLog: whatever the bytes of a log are, it is read to its end or reported as damaged; with any bytes in place of its
// first chunk, a log that says later that it was synced beyond is damaged, and cut off anywhere it is not.
func FuzzCheckLog(f *testing.F) {
	log, firstBytes := aLog()
	f.Add([]byte{}, uint16(0))
	f.Add(log, uint16(len(log)))
	f.Add(log[:firstBytes], uint16(firstBytes))
	f.Add(make([]byte, firstBytes), uint16(200))
	f.Add(slices.Concat(make([]byte, walBlockBytes), log), uint16(walBlockBytes))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		if err := checkBytes(t, data); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if err := checkBytes(t, log[:min(int(cut), len(log))]); err != nil {
			t.Fatalf("cut off at byte %d: %v", cut, err)
		}
		if len(data) < firstBytes {
			return
		}
		first := data[:firstBytes]
		_, _, whole := parseChunk(first, fuzzedLog)
		err := checkBytes(t, slices.Concat(first, log[firstBytes:]))
		if damaged := errors.Is(err, ErrCorrupt); damaged == whole {
			t.Fatalf("a first chunk that can be read is %v: %v", whole, err)
		}
	})
}

// FuzzCheckChunks: whatever the bytes of a manifest are, it is read up to a place within it; behind whole records, up to the
// end of these at least.
func FuzzCheckChunks(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	manifest := slices.Concat(chunk(r, manifestWholeType, 300), chunk(r, manifestWholeType, 700))
	f.Add([]byte{})
	f.Add(manifest)
	f.Add(manifest[:400])
	f.Add(make([]byte, 2*sectorBytes))
	f.Add(slices.Concat(chunk(r, manifestWholeType, 2000)[:900], make([]byte, sectorBytes), manifest))
	f.Fuzz(func(t *testing.T, data []byte) {
		if at, _ := checkChunks(data); at < 0 || at > len(data) {
			t.Fatalf("read up to %d of %d", at, len(data))
		}
		all := slices.Concat(manifest, data)
		if at, _ := checkChunks(all); at < len(manifest) || at > len(all) {
			t.Fatalf("read up to %d of %d, of which %d are whole", at, len(all), len(manifest))
		}
	})
}
