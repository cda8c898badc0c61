package part

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// ErrCorrupt says that bytes are not what was written.
var ErrCorrupt = errors.New("corrupt part")

// The header of an object, see FORMAT.md.
const (
	objectVersion = 1
	headerSize    = 64

	flagCompressed = 1 << 0

	checksumAt = 8
)

// BlockRows is how many rows a block of an object has at most: the unit in which a part is read, cached and
// merged.
const BlockRows = 1 << 16

// BlockBytes is how many bytes a block of an object has at most, unless a single row has more.
const BlockBytes = 4 << 20

// blockOverhead is about what Arrow writes for a block of a few columns beside its data.
const blockOverhead = 2 << 10

// Encoder makes objects. It has scratch memory and belongs to one goroutine.
type Encoder struct {
	codec  *Codec
	buf    bytes.Buffer
	packed []byte
}

// NewEncoder makes an encoder.
func (c *Codec) NewEncoder() *Encoder { return &Encoder{codec: c} }

// EncodeOptions says how an object is made.
type EncodeOptions struct {
	// Schema is the number of the schema the rows were written with.
	Schema uint32
	// Compress lets the object be compressed if that pays. What will soon be read and merged again is
	// better not: compressing takes more time than writing what it saves.
	Compress bool
}

// Encode makes an object of a sorted run. All blocks have the same kinds; all have times, or none has: then
// they are at one time, which is kept elsewhere. The result is borrowed until the next call.
func (e *Encoder) Encode(blocks []*vec.Block, o EncodeOptions) ([]byte, error) {
	if len(blocks) == 0 {
		return nil, errors.New("encode an object without rows")
	}
	rows, size := 0, headerSize
	withDiffs := false
	for _, b := range blocks {
		rows += b.Len
		size += b.Size() + blockOverhead
		withDiffs = withDiffs || b.Diffs != nil
	}
	e.buf.Reset()
	// A buffer that grows by doubling may end up at twice what it holds, and is kept.
	e.buf.Grow(size)
	var header [headerSize]byte
	e.buf.Write(header[:])
	if err := e.writeArrow(blocks, withDiffs); err != nil {
		return nil, fmt.Errorf("encode %d rows: %w", rows, err)
	}
	data := e.buf.Bytes()
	length := len(data) - headerSize
	flags := byte(0)
	if o.Compress && e.codec.pays(data[headerSize:]) {
		e.packed = e.codec.compress(append(e.packed[:0], header[:]...), data[headerSize:])
		data = e.packed
		flags = flagCompressed
	}
	data[0], data[1] = objectVersion, flags
	binary.LittleEndian.PutUint32(data[4:], o.Schema)
	binary.LittleEndian.PutUint64(data[16:], uint64(length))
	binary.LittleEndian.PutUint64(data[24:], uint64(rows))
	binary.LittleEndian.PutUint64(data[checksumAt:], objectChecksum(data))
	return data, nil
}

// objectChecksum covers everything but itself.
func objectChecksum(data []byte) uint64 {
	var head [headerSize]byte
	copy(head[:], data[:headerSize])
	clear(head[checksumAt : checksumAt+8])
	return xxh3.HashSeed(data[headerSize:], xxh3.Hash(head[:]))
}

func (e *Encoder) writeArrow(blocks []*vec.Block, withDiffs bool) error {
	schema := arrowSchema(blocks[0], withDiffs)
	w, err := ipc.NewFileWriter(&e.buf, ipc.WithSchema(schema), ipc.WithAllocator(memory.NewGoAllocator()))
	if err != nil {
		return err
	}
	for _, b := range blocks {
		rec := arrowRecord(schema, b, withDiffs)
		err := w.Write(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// Names of the columns that follow the row's own.
const (
	timeColumn = "time"
	diffColumn = "diff"
)

func arrowSchema(b *vec.Block, withDiffs bool) *arrow.Schema {
	var fields []arrow.Field
	for c := range b.Cols {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", c), Type: arrowType(b.Cols[c].Kind), Nullable: true})
	}
	if b.Times != nil {
		fields = append(fields, arrow.Field{Name: timeColumn, Type: arrow.PrimitiveTypes.Uint64})
	}
	if withDiffs {
		fields = append(fields, arrow.Field{Name: diffColumn, Type: arrow.PrimitiveTypes.Int64})
	}
	return arrow.NewSchema(fields, nil)
}

func arrowType(k types.Kind) arrow.DataType {
	switch k {
	case types.Bool:
		return arrow.PrimitiveTypes.Uint8
	case types.Int:
		return arrow.PrimitiveTypes.Int64
	case types.Float:
		return arrow.PrimitiveTypes.Float64
	case types.Bytes:
		return arrow.BinaryTypes.Binary
	}
	panic(fmt.Sprintf("part: arrow type of %v", k))
}

// arrowRecord wraps a block without copying it.
func arrowRecord(schema *arrow.Schema, b *vec.Block, withDiffs bool) arrow.RecordBatch {
	var cols []arrow.Array
	for c := range b.Cols {
		cols = append(cols, arrowColumn(&b.Cols[c]))
	}
	if b.Times != nil {
		cols = append(cols, fixedArray(arrow.PrimitiveTypes.Uint64, b.Len, nil, rawBytes(b.Times)))
	}
	if withDiffs {
		diffs := b.Diffs
		if diffs == nil {
			diffs = make([]int64, b.Len)
			for i := range diffs {
				diffs[i] = 1
			}
		}
		cols = append(cols, fixedArray(arrow.PrimitiveTypes.Int64, b.Len, nil, rawBytes(diffs)))
	}
	rec := array.NewRecordBatch(schema, cols, int64(b.Len))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

func arrowColumn(v *vec.Vec) arrow.Array {
	valid := cleanBitmap(v)
	switch v.Kind {
	case types.Bool:
		return fixedArray(arrow.PrimitiveTypes.Uint8, v.Len, valid, v.Bools[:v.Len])
	case types.Int:
		return fixedArray(arrow.PrimitiveTypes.Int64, v.Len, valid, rawBytes(v.Ints[:v.Len]))
	case types.Float:
		return fixedArray(arrow.PrimitiveTypes.Float64, v.Len, valid, rawBytes(v.Floats[:v.Len]))
	case types.Bytes:
		offs := v.Offs
		if v.Len == 0 {
			offs = []int32{0}
		}
		data := array.NewData(arrow.BinaryTypes.Binary, v.Len,
			[]*memory.Buffer{bitmapBuffer(valid), memory.NewBufferBytes(rawBytes(offs)), memory.NewBufferBytes(v.Data)},
			nil, nulls(valid, v.Len), 0)
		defer data.Release()
		return array.NewBinaryData(data)
	}
	panic(fmt.Sprintf("part: arrow column of %v", v.Kind))
}

func fixedArray(t arrow.DataType, n int, valid, values []byte) arrow.Array {
	data := array.NewData(t, n, []*memory.Buffer{bitmapBuffer(valid), memory.NewBufferBytes(values)}, nil, nulls(valid, n), 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func bitmapBuffer(valid []byte) *memory.Buffer {
	if valid == nil {
		return nil
	}
	return memory.NewBufferBytes(valid)
}

func nulls(valid []byte, n int) int {
	if valid == nil {
		return 0
	}
	for _, x := range valid {
		n -= bits.OnesCount8(x)
	}
	return n
}

// cleanBitmap gives v's bitmap with zeros past the last value, so that equal values are equal bytes; nil if
// nothing is NULL.
func cleanBitmap(v *vec.Vec) []byte {
	if !v.HasNulls() {
		return nil
	}
	out := bytes.Clone(v.Valid[:(v.Len+7)>>3])
	if rest := v.Len & 7; rest != 0 {
		out[len(out)-1] &= 1<<rest - 1
	}
	return out
}

// rawBytes is the memory of a slice of fixed-size values. All machines we run on are little-endian, as Arrow
// wants it.
func rawBytes[T int32 | int64 | uint64 | float64](s []T) []byte {
	if len(s) == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
