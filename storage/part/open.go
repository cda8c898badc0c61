package part

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Object is an object that was read and whose checksum holds. Its blocks point into its bytes. It is safe for
// concurrent use.
type Object struct {
	// Schema is the schema the rows were written with.
	Schema uint32
	Rows   int

	file   *ipc.FileReader
	blocks int
	size   int64
}

// Open takes the bytes of an object; they must not be changed any more.
func (c *Codec) Open(data []byte) (o *Object, err error) {
	defer recoverCorrupt(&err)
	if len(data) < 1 {
		return nil, fmt.Errorf("%w: empty", ErrCorrupt)
	}
	if data[0] != objectVersion {
		return nil, fmt.Errorf("%w: version %d is not known", ErrCorrupt, data[0])
	}
	if len(data) < headerSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrCorrupt, len(data))
	}
	if sum := objectChecksum(data); sum != binary.LittleEndian.Uint64(data[checksumAt:]) {
		return nil, fmt.Errorf("%w: checksum does not match", ErrCorrupt)
	}
	length := binary.LittleEndian.Uint64(data[16:])
	body := data[headerSize:]
	if data[1]&flagCompressed != 0 {
		if body, err = c.decompress(body, length); err != nil {
			return nil, err
		}
	}
	if uint64(len(body)) != length {
		return nil, fmt.Errorf("%w: %d bytes where %d were written", ErrCorrupt, len(body), length)
	}
	file, err := ipc.NewMappedFileReader(aligned(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return &Object{
		Schema: binary.LittleEndian.Uint32(data[4:]),
		Rows:   int(binary.LittleEndian.Uint64(data[24:])),
		file:   file,
		blocks: file.NumRecords(),
		size:   int64(len(body)),
	}, nil
}

// recoverCorrupt turns a panic of the Arrow library over bytes it cannot make sense of into an error.
func recoverCorrupt(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", ErrCorrupt, r)
	}
}

// aligned gives data at an address at which any of its values may be read as it is.
func aligned(data []byte) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))&7 == 0 {
		return data
	}
	words := make([]uint64, (len(data)+7)/8)
	out := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(data))
	copy(out, data)
	return out
}

// Size is how many bytes of memory the object keeps.
func (o *Object) Size() int64 { return o.size }

// Blocks is how many blocks there are.
func (o *Object) Blocks() int { return o.blocks }

// Block gives the wanted columns of a block (nil: all), in the order wanted; kinds are what its columns must be
// of. It shares the object's memory and is not to be written to.
func (o *Object) Block(i int, kinds []types.Kind, wanted []int) (b *vec.Block, err error) {
	defer recoverCorrupt(&err)
	// The record is never released: Go's collector frees its memory once no vector points into it.
	rec, err := o.file.RecordBatchAt(i)
	if err != nil {
		return nil, fmt.Errorf("%w: block %d: %w", ErrCorrupt, i, err)
	}
	cols := rec.Columns()
	if len(cols) < len(kinds) {
		return nil, fmt.Errorf("%w: %d columns where %d were expected", ErrCorrupt, len(cols), len(kinds))
	}
	n := len(wanted)
	if wanted == nil {
		n = len(kinds)
	}
	b = &vec.Block{Len: int(rec.NumRows()), Cols: make([]vec.Vec, n)}
	for at := range b.Cols {
		c := at
		if wanted != nil {
			c = wanted[at]
		}
		if b.Cols[at], err = vecOf(cols[c], kinds[c]); err != nil {
			return nil, fmt.Errorf("%w: column %d: %w", ErrCorrupt, c, err)
		}
	}
	for c := len(kinds); c < len(cols); c++ {
		switch name := rec.ColumnName(c); {
		case name == timeColumn && cols[c].DataType().ID() == arrow.UINT64:
			b.Times = cols[c].(*array.Uint64).Uint64Values()
		case name == diffColumn && cols[c].DataType().ID() == arrow.INT64:
			b.Diffs = cols[c].(*array.Int64).Int64Values()
		default:
			return nil, fmt.Errorf("%w: column %q is not expected", ErrCorrupt, name)
		}
	}
	return b, nil
}

// vecOf wraps an Arrow array.
func vecOf(a arrow.Array, k types.Kind) (vec.Vec, error) {
	v := vec.Vec{Kind: k, Len: a.Len()}
	if a.NullN() > 0 {
		v.Valid = a.NullBitmapBytes()
	}
	ok := false
	switch k {
	case types.Bool:
		var x *array.Uint8
		if x, ok = a.(*array.Uint8); ok {
			v.Bools = x.Uint8Values()
		}
	case types.Int:
		var x *array.Int64
		if x, ok = a.(*array.Int64); ok {
			v.Ints = x.Int64Values()
		}
	case types.Float:
		var x *array.Float64
		if x, ok = a.(*array.Float64); ok {
			v.Floats = x.Float64Values()
		}
	case types.Bytes:
		var x *array.Binary
		if x, ok = a.(*array.Binary); ok {
			return v, bytesOf(x, &v)
		}
	}
	if !ok {
		return v, fmt.Errorf("%v where %v was expected", a.DataType(), k)
	}
	return v, nil
}

func bytesOf(x *array.Binary, v *vec.Vec) error {
	if v.Len == 0 {
		return nil
	}
	v.Offs, v.Data = x.ValueOffsets(), x.Data().Buffers()[2].Bytes()
	for i := range v.Len {
		if v.Offs[i] < 0 || v.Offs[i+1] < v.Offs[i] {
			return fmt.Errorf("value %d ends before it begins", i)
		}
	}
	if int(v.Offs[v.Len]) > len(v.Data) {
		return fmt.Errorf("values end past the data")
	}
	return nil
}
