package server

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// The formats of values.
const (
	textFormat   = 0
	binaryFormat = 1
)

// scratch is memory that a connection uses again and again.
type scratch struct {
	types  []types.T
	binary []bool
}

// sendColumns describes a result's columns.
func (c *conn) sendColumns(cols []session.Column, formats []int16) {
	d := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(cols))}
	for i, col := range cols {
		d.Fields[i] = pgproto3.FieldDescription{Name: []byte(col.Name), DataTypeOID: uint32(col.Type.OID), DataTypeSize: col.Type.Len(),
			TypeModifier: col.Type.Mod, Format: formatOf(formats, i)}
	}
	c.send(d)
}

// formatOf is the format of column i: the formats are none, one for all, or one each.
func formatOf(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return textFormat
	case 1:
		return formats[0]
	}
	return formats[i]
}

// rows writes a result's rows as they come.
func (c *conn) rows(r *session.Result, formats []int16) error {
	sc := &c.scratch
	sc.types, sc.binary = sc.types[:0], sc.binary[:0]
	for i := range r.Columns {
		f := formatOf(formats, i)
		if f != textFormat && f != binaryFormat {
			return pgerr.Newf(pgerr.InvalidParameterValue, "unsupported format code: %d", f)
		}
		sc.binary = append(sc.binary, f == binaryFormat)
	}
	sc.types = r.Render(sc.types, sc.binary)
	for {
		b, err := r.Next()
		if err != nil {
			return err
		}
		if b == nil {
			return nil
		}
		if err := c.block(b); err != nil {
			return err
		}
		if r.Stream {
			c.sendNotices()
			if err := c.flush(); err != nil {
				return &connError{err}
			}
		}
	}
}

// block writes rows as DataRow messages, straight from the columns.
func (c *conn) block(b *vec.Block) error {
	types, bin := c.scratch.types, c.scratch.binary
	for i := range b.Len {
		start := len(c.out)
		c.out = append(c.out, 'D', 0, 0, 0, 0, byte(len(b.Cols)>>8), byte(len(b.Cols)))
		for j := range b.Cols {
			v := &b.Cols[j]
			if v.IsNull(i) {
				c.out = append(c.out, 0xff, 0xff, 0xff, 0xff)
				continue
			}
			at := len(c.out)
			c.out = append(c.out, 0, 0, 0, 0)
			if bin[j] {
				c.out = row.AppendBinary(c.out, types[j], v, i)
			} else {
				c.out = row.AppendText(c.out, types[j], v, i)
			}
			binary.BigEndian.PutUint32(c.out[at:], uint32(len(c.out)-at-4))
			// After each column: columns may share one large value, and all together be more than there is memory.
			if len(c.out)-start > c.o.MaxRowBytes {
				c.out = c.out[:start]
				return c.rowTooLarge()
			}
		}
		binary.BigEndian.PutUint32(c.out[start+1:], uint32(len(c.out)-start-1))
		if len(c.out) >= flushBytes {
			if err := c.flush(); err != nil {
				return &connError{err}
			}
		}
	}
	return nil
}

func (c *conn) rowTooLarge() error {
	return pgerr.Newf(pgerr.ProgramLimitExceeded, "a row of the result is longer than %d bytes", c.o.MaxRowBytes)
}

// rowBytes is about how long a row is, without writing it: its values of any length.
func rowBytes(b *vec.Block, i int) (n int) {
	for j := range b.Cols {
		if v := &b.Cols[j]; len(v.Offs) > 0 && !v.IsNull(i) {
			n += len(v.Bytes(i))
		}
	}
	return n
}

// copyOut writes a result's rows as COPY's lines.
func (c *conn) copyOut(r *session.Result) error {
	overall, formats := copyFormats(r.CopyOut.Binary(), len(r.Columns))
	c.send(&pgproto3.CopyOutResponse{OverallFormat: overall, ColumnFormatCodes: formats})
	c.copyData(r.CopyOut.AppendStart)
	if r.Stream {
		if err := c.flush(); err != nil {
			return &connError{err}
		}
	}
	for {
		b, err := r.Next()
		if err != nil {
			return err
		}
		if b == nil {
			c.copyData(r.CopyOut.AppendEnd)
			c.send(&pgproto3.CopyDone{})
			return nil
		}
		large := b.Size() > c.o.MaxRowBytes
		for i := range b.Len {
			start := len(c.out)
			if large && rowBytes(b, i) > c.o.MaxRowBytes {
				return c.rowTooLarge()
			}
			c.out = append(c.out, 'd', 0, 0, 0, 0)
			c.out = r.CopyOut.AppendRow(c.out, b, i)
			if len(c.out)-start > c.o.MaxRowBytes {
				c.out = c.out[:start]
				return c.rowTooLarge()
			}
			binary.BigEndian.PutUint32(c.out[start+1:], uint32(len(c.out)-start-1))
			if err := c.flushFull(); err != nil {
				return &connError{err}
			}
		}
		if r.Stream {
			c.sendNotices()
			if err := c.flush(); err != nil {
				return &connError{err}
			}
		}
	}
}

// copyFormats are the formats of COPY's columns, all alike.
func copyFormats(binary bool, columns int) (overall byte, each []uint16) {
	each = make([]uint16, columns)
	if binary {
		for i := range each {
			each[i] = binaryFormat
		}
		return binaryFormat, each
	}
	return textFormat, each
}

// copyData writes a piece of COPY's data, unless it is empty.
func (c *conn) copyData(appendTo func(to []byte) []byte) {
	start := len(c.out)
	c.out = appendTo(append(c.out, 'd', 0, 0, 0, 0))
	if len(c.out) == start+5 {
		c.out = c.out[:start]
		return
	}
	binary.BigEndian.PutUint32(c.out[start+1:], uint32(len(c.out)-start-1))
}

// copyIn reads what a COPY FROM STDIN is sent. An error in the data is told at once; what the client still sends then
// is dropped by the loop.
func (c *conn) copyIn(in *session.CopyIn) error {
	// The connection's own goroutine reads now: it will see if the client goes away.
	c.watch.stop()
	defer c.watch.start()
	overall, formats := copyFormats(in.Binary(), in.Columns())
	c.send(&pgproto3.CopyInResponse{OverallFormat: overall, ColumnFormatCodes: formats})
	if err := c.flush(); err != nil {
		return &connError{err}
	}
	// Who cancels the statement must not have to wait for a client that sends nothing.
	interrupted := make(chan struct{})
	stop := context.AfterFunc(in.Context(), func() {
		defer close(interrupted)
		c.net.SetReadDeadline(c.o.Now().Add(-time.Second))
	})
	defer func() {
		if stop() {
			return
		}
		<-interrupted
		if c.ctx.Err() == nil {
			c.net.SetReadDeadline(time.Time{})
		}
	}()
	for {
		m, err := c.receive()
		switch {
		case err != nil && isTimeout(err) && c.ctx.Err() == nil:
			return context.Cause(in.Context())
		case err != nil:
			return &connError{err}
		}
		switch m := m.(type) {
		case *pgproto3.CopyData:
			if err := in.Write(m.Data); err != nil {
				return err
			}
		case *pgproto3.CopyDone:
			return nil
		case *pgproto3.CopyFail:
			return pgerr.Newf(pgerr.QueryCanceled, "COPY from stdin failed: %s", m.Message)
		case *pgproto3.Flush, *pgproto3.Sync:
			// PostgreSQL overlooks these within COPY.
		default:
			return &connError{pgerr.Newf(pgerr.ProtocolViolation, "unexpected message %T during COPY from stdin", m)}
		}
	}
}
