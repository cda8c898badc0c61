package consensus

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The names of Pebble's files that begin alike. The marker says, by its own name, which manifest is the current one; it is
// empty. The manifest says which tables there are, and which logs are not in them yet.
const (
	markerPrefix   = "marker.manifest."
	manifestPrefix = "MANIFEST-"
	optionsPrefix  = "OPTIONS-"
	tableSuffix    = ".sst"
)

// checkFiles looks, before Pebble does, for what it would take for a crash, and then delete what it no longer knows of: a
// current manifest or a log that is not there any more, a manifest or a log with damage before its end.
func checkFiles(fs vfs.FS, dir string, names []string) error {
	marker, err := checkNames(names)
	if err != nil {
		return err
	}
	if marker != "" {
		if err := checkManifest(fs, dir, marker); err != nil {
			return err
		}
	}
	return checkLogs(fs, dir, names)
}

// checkNames gives the marker of the current manifest; none if the directory is new. Pebble makes the marker, syncs the
// directory, makes a log, syncs, and writes its options last. Later a log goes only when the next one is there (see oldLogs).
func checkNames(names []string) (marker string, err error) {
	for _, name := range names {
		// Of two, which a crash can leave, the later has the greater number; numbers are padded with zeros.
		if strings.HasPrefix(name, markerPrefix) {
			marker = max(marker, name)
		}
	}
	log := slices.ContainsFunc(names, isLog)
	used := slices.ContainsFunc(names, func(name string) bool {
		return strings.HasPrefix(name, optionsPrefix) || strings.HasSuffix(name, tableSuffix)
	})
	switch {
	case marker == "" && (used || log):
		return "", fmt.Errorf("%w: the (empty) file %s* is missing, which tells what the others are", ErrCorrupt, markerPrefix)
	case used && !log:
		return "", fmt.Errorf("%w: the last write-ahead log, a file *.log, is missing", ErrCorrupt)
	}
	return marker, nil
}

// A manifest is blocks of 32 KiB, filled with chunks like those of a log, but for their header: checksum (4 bytes), length of
// the data (2), type (1), the checksum being of all that follows the length.
const (
	manifestHeaderBytes = 7
	// The types of chunks: a whole record, or its first, a middle (3), its last piece.
	manifestWholeType, manifestFirstType, manifestLastType = 1, 2, 4
	// newManifest is the manifest of a new directory.
	newManifest = manifestPrefix + "000001"
)

// checkManifest refuses a manifest that is damaged. A crash leaves one whose last record is cut off or, on some file
// systems, is zeros in part; what it says Pebble had not relied on yet. Everything else that cannot be read is damage.
//
// But for that of a new directory, a manifest begins with all tables there are and, in a second record, up to where their rows
// count; it becomes the current one when both are durable. Without the second, Pebble would open a store that seems empty.
func checkManifest(fs vfs.FS, dir, marker string) error {
	_, name, ok := strings.Cut(marker[len(markerPrefix):], ".")
	if !ok || !strings.HasPrefix(name, manifestPrefix) {
		return fmt.Errorf("%w: the file %s names no manifest", ErrCorrupt, marker)
	}
	f, err := fs.Open(fs.PathJoin(dir, name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	at, ok := checkChunks(data)
	if !ok {
		return fmt.Errorf("%w: %s cannot be read at byte %d of %d", ErrCorrupt, name, at, len(data))
	}
	if name != newManifest && records(data[:at]) < 2 {
		return fmt.Errorf("%w: %s ends at byte %d, and was longer when it was new", ErrCorrupt, name, at)
	}
	return nil
}

// records counts the records of a manifest that can be read to its end.
func records(data []byte) (n int) {
	for at := 0; at < len(data); {
		if inBlock := walBlockBytes - at%walBlockBytes; inBlock < manifestHeaderBytes {
			at += inBlock
			continue
		}
		if kind := data[at+6]; kind == manifestWholeType || kind == manifestLastType {
			n++
		}
		at += manifestHeaderBytes + int(binary.LittleEndian.Uint16(data[at+4:]))
	}
	return n
}

// checkChunks gives where a manifest cannot be read, if not for a crash.
func checkChunks(data []byte) (at int, ok bool) {
	for at < len(data) {
		inBlock := walBlockBytes - at%walBlockBytes
		if inBlock < manifestHeaderBytes {
			at += inBlock // too short for a chunk: it is left empty
			continue
		}
		rest := data[at:]
		if isZero(rest) || len(rest) < manifestHeaderBytes {
			return at, true
		}
		size := manifestHeaderBytes + int(binary.LittleEndian.Uint16(rest[4:]))
		if kind := rest[6]; kind < manifestWholeType || kind > manifestLastType || size > inBlock {
			return at, isTorn(data, at)
		}
		if size > len(rest) {
			return at, !isLonger(rest)
		}
		if binary.LittleEndian.Uint32(rest) != chunkSum(rest[6:size]) {
			return at, isTorn(data, at)
		}
		at += size
	}
	return at, true
}

// A file system writes sectors. At the end of a file, leastZeros and more bytes of one are taken for one that was not written.
const (
	sectorBytes = 512
	leastZeros  = 16
)

// isTorn says whether what cannot be read at some place looks like the last record when a crash has come before all of it
// was written: a sector of it is zeros, and no other record begins behind.
func isTorn(data []byte, at int) bool {
	zeros := false
	for from := (at + sectorBytes - 1) / sectorBytes * sectorBytes; from+leastZeros <= len(data) && !zeros; from += sectorBytes {
		zeros = isZero(data[from:min(from+sectorBytes, len(data))])
	}
	for i := at + 1; zeros && i+manifestHeaderBytes <= len(data); i++ {
		size := manifestHeaderBytes + int(binary.LittleEndian.Uint16(data[i+4:]))
		begins := data[i+6] == manifestWholeType || data[i+6] == manifestFirstType
		if begins && i+size <= len(data) && binary.LittleEndian.Uint32(data[i:]) == chunkSum(data[i+6:i+size]) {
			return false
		}
	}
	return zeros
}

// isLonger says whether a chunk that seems to be cut off is rather one that is said to be longer than it is.
func isLonger(chunk []byte) bool {
	for end := manifestHeaderBytes; end <= len(chunk); end++ {
		if binary.LittleEndian.Uint32(chunk) == chunkSum(chunk[6:end]) {
			return true
		}
	}
	return false
}

func isZero(data []byte) bool {
	return !slices.ContainsFunc(data, func(b byte) bool { return b != 0 })
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunkSum is the checksum of a chunk of a log or a manifest: a CRC-32C, masked.
func chunkSum(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}
