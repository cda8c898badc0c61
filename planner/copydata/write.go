package copydata

import (
	"bytes"
	"encoding/binary"

	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/vec"
)

// signature begins binary data; flags and the length of an extension, both zero, follow it.
const signature = "PGCOPY\n\xff\r\n\x00"

// AppendStart writes what stands before the rows: a line with the columns' names, the beginning of binary data, or
// nothing.
func (f *Format) AppendStart(to []byte) []byte {
	switch {
	case f.binary:
		return append(append(to, signature...), 0, 0, 0, 0, 0, 0, 0, 0)
	case !f.header:
		return to
	}
	for i, c := range f.cols {
		if i > 0 {
			to = append(to, f.delim)
		}
		if f.csv {
			to = f.appendQuoted(to, []byte(c.Name), false)
		} else {
			to = f.appendEscaped(to, []byte(c.Name))
		}
	}
	return append(to, '\n')
}

// AppendEnd writes what stands behind the rows.
func (f *Format) AppendEnd(to []byte) []byte {
	if f.binary {
		return append(to, 0xff, 0xff)
	}
	return to
}

// AppendRow writes row i of a block.
func (f *Format) AppendRow(to []byte, b *vec.Block, i int) []byte {
	if f.binary {
		return f.appendBinary(to, b, i)
	}
	for c := range b.Cols {
		if c > 0 {
			to = append(to, f.delim)
		}
		v := &b.Cols[c]
		if v.IsNull(i) {
			to = append(to, f.null...)
			continue
		}
		f.scratch = row.AppendText(f.scratch[:0], f.cols[c].Type, v, i)
		if f.csv {
			to = f.appendQuoted(to, f.scratch, f.quoteCols[c])
		} else {
			to = f.appendEscaped(to, f.scratch)
		}
	}
	return append(to, '\n')
}

func (f *Format) appendBinary(to []byte, b *vec.Block, i int) []byte {
	to = binary.BigEndian.AppendUint16(to, uint16(len(b.Cols)))
	for c := range b.Cols {
		v := &b.Cols[c]
		if v.IsNull(i) {
			to = append(to, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(to)
		to = row.AppendBinary(append(to, 0, 0, 0, 0), f.cols[c].Type, v, i)
		binary.BigEndian.PutUint32(to[at:], uint32(len(to)-at-4))
	}
	return to
}

// appendEscaped writes a value in text format.
func (f *Format) appendEscaped(to, value []byte) []byte {
	from := 0
	for i, c := range value {
		var escape byte
		switch c {
		case '\b':
			escape = 'b'
		case '\f':
			escape = 'f'
		case '\n':
			escape = 'n'
		case '\r':
			escape = 'r'
		case '\t':
			escape = 't'
		case '\v':
			escape = 'v'
		case '\\', f.delim:
			escape = c
		default:
			continue
		}
		to = append(to, value[from:i]...)
		to = append(to, '\\', escape)
		from = i + 1
	}
	return append(to, value[from:]...)
}

// appendQuoted writes a value in csv format, with quotes if it would not read back without.
func (f *Format) appendQuoted(to, value []byte, force bool) []byte {
	alone := len(f.cols) == 1 && string(value) == `\.`
	if !force && !alone && string(value) != f.null && !bytes.ContainsAny(value, "\r\n") &&
		bytes.IndexByte(value, f.delim) < 0 && bytes.IndexByte(value, f.quote) < 0 {
		return append(to, value...)
	}
	to = append(to, f.quote)
	for _, c := range value {
		if c == f.quote || c == f.escape {
			to = append(to, f.escape)
		}
		to = append(to, c)
	}
	return append(to, f.quote)
}
