package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

func be32(b []byte) uint32                  { return binary.BigEndian.Uint32(b) }
func appendBE32(to []byte, x uint32) []byte { return binary.BigEndian.AppendUint32(to, x) }

// loop takes messages until the client or the server ends. What has been gathered is written before a message is
// waited for, unless the client has more under way.
func (c *conn) loop() error {
	for {
		if err := c.ctx.Err(); err != nil {
			return context.Cause(c.ctx)
		}
		if c.broken != nil {
			return c.broken
		}
		m, err := c.wait()
		if err != nil {
			return err
		}
		if _, ok := m.(*pgproto3.Terminate); ok {
			return errTerminated
		}
		if c.skipping {
			switch m.(type) {
			case *pgproto3.Sync, *pgproto3.Flush: // the client may wait for the error before it goes on
			default:
				continue
			}
		}
		if err := c.message(m); err != nil {
			return err
		}
	}
}

// wait gives the next message. A session that is idle in a transaction has only so long.
func (c *conn) wait() (pgproto3.FrontendMessage, error) {
	if d := c.s.IdleTimeout(); d > 0 && c.ahead == nil {
		c.net.SetReadDeadline(c.o.Now().Add(d))
		defer func() {
			if c.ctx.Err() == nil {
				c.net.SetReadDeadline(time.Time{})
			}
		}()
		m, err := c.receive()
		if err != nil && isTimeout(err) && c.ctx.Err() == nil {
			return nil, pgerr.New(pgerr.IdleInTransactionTimeout, "terminating connection due to idle-in-transaction timeout")
		}
		return m, err
	}
	return c.receive()
}

// message does what one message asks for. An error ends the connection.
func (c *conn) message(m pgproto3.FrontendMessage) error {
	switch m := m.(type) {
	case *pgproto3.Query:
		return c.simple(m.String)
	case *pgproto3.Parse:
		return c.step(c.parse(m))
	case *pgproto3.Bind:
		return c.step(c.bind(m))
	case *pgproto3.Describe:
		return c.step(c.describe(m))
	case *pgproto3.Execute:
		return c.step(c.execute(m))
	case *pgproto3.Close:
		return c.step(c.close(m))
	case *pgproto3.Flush:
		return c.flush()
	case *pgproto3.Sync:
		c.skipping = false
		if err := c.s.Sync(c.ctx); err != nil {
			c.sendError(err)
			if pgerr.From(err).Fatal {
				return c.flush()
			}
		}
		return c.sendReady()
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		// Left over from a COPY that has failed.
		return nil
	case *pgproto3.FunctionCall:
		c.sendError(pgerr.Unsupported("the function call protocol"))
		return c.sendReady()
	}
	return pgerr.Newf(pgerr.ProtocolViolation, "unexpected message %T", m)
}

// step ends a step of the extended protocol: an error makes the rest wait for Sync.
func (c *conn) step(err error) error {
	if err == nil {
		return c.flushFull()
	}
	var lost *connError
	switch {
	case c.broken != nil:
		return c.broken
	case errors.As(err, &lost):
		return lost.err
	case pgerr.From(err).Fatal:
		return err
	}
	c.sendError(err)
	c.skipping = true
	return c.flushFull()
}

// simple runs a simple query.
func (c *conn) simple(sql string) error {
	err := c.script(sql)
	var lost *connError
	switch {
	case c.broken != nil:
		return c.broken
	case errors.As(err, &lost):
		return lost.err
	case err != nil && pgerr.From(err).Fatal:
		return err
	case err != nil:
		c.sendError(err)
	}
	return c.sendReady()
}

func (c *conn) script(sql string) error {
	c.watch.start()
	defer c.watch.stop()
	script, err := c.s.Simple(c.ctx, sql)
	if err != nil {
		return err
	}
	if script.IsEmpty() {
		c.send(&pgproto3.EmptyQueryResponse{})
	}
	for {
		r, err := script.Next()
		if r == nil || err != nil {
			return err
		}
		c.o.Metrics.statements.Inc()
		if r.HasRows() && r.CopyOut == nil {
			c.sendColumns(r.Columns, nil)
		}
		if r.Stream {
			// The first row may be long in coming.
			if err := c.flush(); err != nil {
				r.Fail(err)
				return err
			}
		}
		tag, err := c.deliver(r, nil)
		if err != nil {
			r.Fail(err)
			script.Stop()
			return err
		}
		c.sendNotices()
		c.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	}
}

// deliver brings a result to its end: its rows are written, or its data read, and its tag is given. It is "" for
// a portal that was suspended.
func (c *conn) deliver(r *session.Result, formats []int16) (tag string, err error) {
	switch {
	case r.CopyIn != nil:
		err = c.copyIn(r.CopyIn)
	case r.CopyOut != nil:
		err = c.copyOut(r)
	case r.HasRows():
		err = c.rows(r, formats)
	}
	if err != nil {
		return "", err
	}
	if r.Suspended() {
		r.Suspend()
		return "", nil
	}
	return r.Finish()
}

func (c *conn) parse(m *pgproto3.Parse) error {
	oids := make([]types.OID, len(m.ParameterOIDs))
	for i, o := range m.ParameterOIDs {
		oids[i] = types.OID(o)
	}
	if err := c.s.Prepare(c.ctx, m.Name, m.Query, oids); err != nil {
		return err
	}
	c.send(&pgproto3.ParseComplete{})
	return nil
}

func (c *conn) bind(m *pgproto3.Bind) error {
	err := c.s.Bind(c.ctx, &session.Binding{Portal: m.DestinationPortal, Statement: m.PreparedStatement, Params: m.Parameters,
		ParamFormats: m.ParameterFormatCodes, Formats: m.ResultFormatCodes})
	if err != nil {
		return err
	}
	c.send(&pgproto3.BindComplete{})
	return nil
}

func (c *conn) describe(m *pgproto3.Describe) error {
	var d *session.Described
	var err error
	switch m.ObjectType {
	case 'S':
		if d, err = c.s.DescribeStatement(m.Name); err != nil {
			return err
		}
		params := &pgproto3.ParameterDescription{}
		for _, t := range d.Params {
			params.ParameterOIDs = append(params.ParameterOIDs, uint32(t.OID))
		}
		c.send(params)
	case 'P':
		if d, err = c.s.DescribePortal(m.Name); err != nil {
			return err
		}
	default:
		return pgerr.Newf(pgerr.ProtocolViolation, "invalid DESCRIBE message subtype %d", m.ObjectType)
	}
	if d.Columns == nil {
		c.send(&pgproto3.NoData{})
	} else {
		c.sendColumns(d.Columns, d.Formats)
	}
	return nil
}

func (c *conn) close(m *pgproto3.Close) error {
	switch m.ObjectType {
	case 'S':
		c.s.ClosePrepared(m.Name)
	case 'P':
		c.s.ClosePortal(m.Name)
	default:
		return pgerr.Newf(pgerr.ProtocolViolation, "invalid CLOSE message subtype %d", m.ObjectType)
	}
	c.send(&pgproto3.CloseComplete{})
	return nil
}

// execute runs a portal. It reads one message ahead: if that is the Sync, the statement's transaction can end with
// the statement, and a commit that fails is the statement's own error. Whoever sends Execute and then waits without a
// Flush or a Sync would get no answer from PostgreSQL either.
func (c *conn) execute(m *pgproto3.Execute) error {
	name, limit := m.Portal, int64(m.MaxRows)
	ahead, err := c.receive()
	if err != nil {
		return &connError{err}
	}
	c.ahead = ahead
	_, last := ahead.(*pgproto3.Sync)
	c.watch.start()
	defer c.watch.stop()
	r, formats, err := c.s.Execute(c.ctx, name, limit, last)
	if err != nil {
		return err
	}
	if r == nil {
		c.send(&pgproto3.EmptyQueryResponse{})
		return nil
	}
	c.o.Metrics.statements.Inc()
	tag, err := c.deliver(r, formats)
	if err != nil {
		r.Fail(err)
		return err
	}
	if r.Suspended() {
		c.send(&pgproto3.PortalSuspended{})
		return nil
	}
	c.sendNotices()
	c.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}

// connError is an error that ends the connection.
type connError struct{ err error }

func (e *connError) Error() string { return fmt.Sprintf("connection: %v", e.err) }
func (e *connError) Unwrap() error { return e.err }
