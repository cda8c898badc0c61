package consensus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A write-ahead log of Pebble's is blocks of 32 KiB, filled with chunks that never cross the end of one. A chunk is
//
//	checksum (4 bytes), length of the data (2), type (1), number of the log (4), synced (8), data
//
// little-endian. The masked CRC-32C is of all that follows the length. Synced is up to where the log was known to be
// durable when the chunk was made. See the package comment of Pebble's record.
const (
	walBlockBytes  = 32 << 10
	walHeaderBytes = 19
	// The types of chunks with synced: a whole record, or its first, a middle, its last piece.
	walFirstType, walLastType = 9, 12
)

// isLog says whether the name of a file is a log's.
func isLog(name string) bool { return filepath.Ext(name) == ".log" }

// checkLogs looks for logs, among the files of a directory, that are damaged in their middle. Pebble takes a chunk that it
// cannot read for the end of the log, as a crash leaves one, unless a chunk in a later block tells that the log had been
// synced beyond. That loses up to a block of commits, or all the rest if the chunk looks like the trailer at the end
// of a log, without a word: here any later chunk tells.
func checkLogs(fs vfs.FS, dir string, names []string) error {
	for _, name := range names {
		if !isLog(name) {
			continue
		}
		number, err := strconv.ParseUint(strings.TrimSuffix(name, ".log"), 10, 64)
		if err != nil {
			continue // Pebble leaves it alone too
		}
		if err := checkLog(fs, fs.PathJoin(dir, name), uint32(number)); err != nil {
			return fmt.Errorf("read write-ahead log %s: %w", name, err)
		}
	}
	return nil
}

func checkLog(fs vfs.FS, path string, number uint32) error {
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	end := int64(-1)
	block := make([]byte, walBlockBytes)
	for start := int64(0); ; start += walBlockBytes {
		n, err := io.ReadFull(f, block)
		if n > 0 {
			var synced int64
			if end, synced = checkBlock(block[:n], start, number, end); synced > end && end >= 0 {
				return fmt.Errorf("%w: it cannot be read at byte %d, and was synced up to byte %d", ErrCorrupt, end, synced)
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// checkBlock gives where the log ends: where the first chunk is not that should be there, at end if that is not negative, or
// else in the block that begins at start, or -1; and up to where chunks behind the end say that the log was synced.
func checkBlock(block []byte, start int64, number uint32, end int64) (newEnd, synced int64) {
	for i := 0; i+walHeaderBytes <= len(block); {
		size, upTo, ok := parseChunk(block[i:], number)
		switch {
		case !ok:
			if end < 0 {
				end = start + int64(i)
			}
			i++
		default:
			i += size
			if end >= 0 {
				synced = max(synced, upTo)
			}
		}
	}
	return end, synced
}

// parseChunk gives a chunk's size and synced, if there is one of the log at the beginning of data.
func parseChunk(data []byte, number uint32) (size int, synced int64, ok bool) {
	if data[6] < walFirstType || data[6] > walLastType || binary.LittleEndian.Uint32(data[7:]) != number {
		return 0, 0, false
	}
	size = walHeaderBytes + int(binary.LittleEndian.Uint16(data[4:]))
	if size > len(data) {
		return 0, 0, false
	}
	if binary.LittleEndian.Uint32(data) != chunkSum(data[6:size]) {
		return 0, 0, false
	}
	return size, int64(binary.LittleEndian.Uint64(data[11:])), true
}
