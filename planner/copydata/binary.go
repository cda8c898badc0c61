package copydata

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/vec"
)

// unpacker takes binary data apart: a head, then rows, each the number of its fields and for each its length and
// bytes, then the number −1.
type unpacker struct {
	buf []byte
	at  int
	// started: the head is behind. over: so is the end.
	started, over bool
	ended         bool
	row           int
	fields        [][]byte
}

func (u *unpacker) add(data []byte) {
	if u.over {
		return
	}
	if u.at > 0 {
		u.buf = append(u.buf[:0], u.buf[u.at:]...)
		u.at = 0
	}
	u.buf = append(u.buf, data...)
}

// rest is what has not been taken.
func (u *unpacker) rest() []byte { return u.buf[u.at:] }

// head takes the head of the data; false if it is not all there.
func (u *unpacker) head() (bool, error) {
	const size = len(signature) + 8
	b := u.rest()
	if !strings.HasPrefix(signature, string(b[:min(len(b), len(signature))])) {
		return false, pgerr.New(pgerr.BadCopyFileFormat, "COPY file signature not recognized")
	}
	if len(b) < size {
		if u.ended {
			return false, pgerr.New(pgerr.BadCopyFileFormat, "COPY file signature not recognized")
		}
		return false, nil
	}
	flags, extension := binary.BigEndian.Uint32(b[len(signature):]), binary.BigEndian.Uint32(b[len(signature)+4:])
	switch {
	case flags&(1<<16) != 0:
		return false, pgerr.New(pgerr.BadCopyFileFormat, "invalid COPY file header (WITH OIDS)")
	case flags>>16 != 0:
		return false, pgerr.New(pgerr.BadCopyFileFormat, "unrecognized critical flags in COPY file header")
	case extension > MaxRowBytes:
		return false, pgerr.New(pgerr.BadCopyFileFormat, "invalid COPY file header (wrong length)")
	case len(b) < size+int(extension):
		if u.ended {
			return false, pgerr.New(pgerr.BadCopyFileFormat, "invalid COPY file header (wrong length)")
		}
		return false, nil
	}
	u.at += size + int(extension)
	u.started = true
	return true, nil
}

// next gives the fields of the next row, which are valid until the next call; nil if it is not all there, or if there is
// none. A field is nil for NULL.
func (u *unpacker) next(columns int) ([][]byte, error) {
	if !u.started {
		if ok, err := u.head(); err != nil || !ok {
			return nil, err
		}
	}
	b := u.rest()
	if len(b) < 2 {
		return nil, u.short("unexpected EOF in COPY data", len(b) > 0)
	}
	n := int(int16(binary.BigEndian.Uint16(b)))
	if n == -1 {
		u.over = true
		if len(b) > 2 {
			return nil, pgerr.New(pgerr.BadCopyFileFormat, "received copy data after EOF marker")
		}
		u.at = len(u.buf)
		return nil, nil
	}
	if n != columns {
		u.row++
		return nil, pgerr.Newf(pgerr.BadCopyFileFormat, "row field count is %d, expected %d", n, columns)
	}
	if cap(u.fields) < n {
		u.fields = make([][]byte, n)
	}
	fields, at := u.fields[:n], 2
	for i := range fields {
		fields[i] = nil
		if len(b) < at+4 {
			return nil, u.short("unexpected EOF in COPY data", true)
		}
		size := int32(binary.BigEndian.Uint32(b[at:]))
		at += 4
		switch {
		case size == -1:
			continue
		case size < 0 || at+int(size) > MaxRowBytes:
			u.row++
			return nil, pgerr.New(pgerr.BadCopyFileFormat, "invalid field size")
		case len(b) < at+int(size):
			return nil, u.short("unexpected EOF in COPY data", true)
		}
		fields[i] = b[at : at+int(size) : at+int(size)]
		at += int(size)
	}
	u.at += at
	u.row++
	return fields, nil
}

// short is what it means that data is not all there: nothing, unless no more comes.
func (u *unpacker) short(message string, begun bool) error {
	if !u.ended || !begun {
		return nil
	}
	u.row++
	return pgerr.New(pgerr.BadCopyFileFormat, message)
}

// context says where in the data an error is; of an error in the head PostgreSQL says nothing.
func (u *unpacker) context(relation, column string) string {
	if !u.started {
		return ""
	}
	text := fmt.Sprintf("COPY %s, line %d", relation, u.row)
	if column != "" {
		text += ", column " + column
	}
	return text
}

// readBinary reads a row in binary format; false if there is none.
func (r *Reader) readBinary(to *vec.Block) (bool, error) {
	if r.bin.over {
		return false, nil
	}
	fields, err := r.bin.next(len(r.cols))
	if err != nil {
		return false, r.located(err, "", nil)
	}
	if fields == nil {
		return false, nil
	}
	missing := r.Incomplete
	for i, b := range fields {
		if b == nil {
			missing = missing || !r.cols[i].Nullable
			to.Cols[i].AppendNull()
			continue
		}
		if err := row.ParseBinary(r.cols[i].Type, b, &to.Cols[i]); err != nil {
			return false, r.located(err, r.cols[i].Name, nil)
		}
	}
	return true, r.added(to, missing)
}
