package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// conn is one connection. It belongs to its goroutine; the watcher has its own share (see watch.go).
type conn struct {
	o   Options
	net net.Conn
	// in is what the watcher peeks into; back parses messages out of it.
	in   *bufio.Reader
	back *pgproto3.Backend
	// out gathers what is to be written; it is written when it is full, and before the next message is waited for.
	out []byte
	// broken is the error that writing has come to; nothing more is written then.
	broken error
	s      *session.Session
	watch  watcher
	// ctx ends when the client is gone or the server shuts down.
	ctx    context.Context
	cancel context.CancelCauseFunc

	// ahead is a message that was read before its turn.
	ahead pgproto3.FrontendMessage
	// skipping: there was an error, and everything until Sync is skipped.
	skipping bool
	scratch  scratch
}

// flushBytes is how much is gathered before it is written: enough to make system calls rare.
const flushBytes = 64 << 10

// readBytes is the size of the read buffer.
const readBytes = 32 << 10

// errGone is the cause of a statement's end when its client has gone; errTerminated ends a connection that the client
// has said goodbye on.
var (
	errGone       = pgerr.New(pgerr.ConnectionFailure, "the client has gone")
	errTerminated = errors.New("the client has ended the connection")
)

func newConn(o Options, nc net.Conn) *conn {
	c := &conn{o: o, net: nc}
	c.in = bufio.NewReaderSize(countedReader{nc, o.Metrics}, readBytes)
	c.back = pgproto3.NewBackend(c.in, nil)
	c.back.SetMaxBodyLen(o.MaxMessageBytes)
	c.watch.c = c
	return c
}

// countedReader counts the bytes read.
type countedReader struct {
	r io.Reader
	m *Metrics
}

func (r countedReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.m.received.Add(float64(n))
	return n, err
}

// shutdownGrace is how long a client may take to read its farewell.
const shutdownGrace = time.Second

// lingerTime is how long a client whose message was refused may go on sending it before its connection is reset.
const lingerTime = 30 * time.Second

// serve speaks with the client until it or the server ends.
func (c *conn) serve(ctx context.Context) {
	defer c.net.Close()
	// The end of ctx must say what it means, so that a statement that is running says it too.
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	defer c.cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		c.cancel(shutdown())
		// What waits for the client must not outlive the server.
		c.net.SetReadDeadline(c.o.Now())
		c.net.SetWriteDeadline(c.o.Now().Add(shutdownGrace))
	})
	defer stop()
	defer c.recovered()
	c.net.SetDeadline(c.o.Now().Add(c.o.StartupTimeout))
	err := c.startup()
	if c.s != nil {
		defer c.s.Close()
	}
	if err == nil && c.s != nil {
		c.net.SetDeadline(time.Time{})
		err = c.loop()
	}
	c.farewell(err)
}

// recovered ends a connection whose service has gone wrong, and nothing else. What it had begun is rolled back by
// the session's Close.
func (c *conn) recovered() {
	fault := recover()
	if fault == nil {
		return
	}
	c.o.Log.Error("connection failed", "fault", fault, "stack", string(debug.Stack()))
	c.sendError(&pgerr.Error{Code: pgerr.InternalError, Message: fmt.Sprintf("internal error: %v", fault), Fatal: true})
	c.flush()
}

// farewell tells the client why the connection ends, if that is not its own doing.
func (c *conn) farewell(err error) {
	var fatal *pgerr.Error
	switch {
	case err == nil || errors.Is(err, errTerminated):
		return
	case errors.Is(err, errGone) || c.broken != nil:
		c.o.Log.Debug("the client has gone", "err", err)
		return
	case errors.As(err, &fatal):
	case errors.As(context.Cause(c.ctx), &fatal):
	case isTimeout(err):
		return
	default:
		var long *pgproto3.ExceededMaxBodyLenErr
		fatal = pgerr.Newf(pgerr.ProtocolViolation, "invalid message: %v", err)
		if errors.As(err, &long) {
			fatal = pgerr.Newf(pgerr.ProgramLimitExceeded, "message is longer than %d bytes", c.o.MaxMessageBytes)
		}
		if isNetwork(err) {
			return
		}
	}
	e := *fatal
	e.Fatal = true
	c.sendError(&e)
	if c.flush() == nil && fatal.Code == pgerr.ProgramLimitExceeded {
		c.linger()
	}
}

// linger takes, and drops, what the client still sends. A connection that is closed with input unread is reset, and a client
// in the middle of a long message would see that and not what it was told.
func (c *conn) linger() {
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.net.SetReadDeadline(c.o.Now().Add(lingerTime))
	if c.ctx.Err() != nil {
		return // the deadline of the server's end is over, and must not be moved
	}
	io.Copy(io.Discard, c.in)
}

// shutdown is what clients are told when the server ends.
func shutdown() *pgerr.Error {
	return &pgerr.Error{Code: pgerr.AdminShutdown, Message: "terminating connection due to administrator command", Fatal: true}
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

func isNetwork(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// send appends a message to what is to be written.
func (c *conn) send(m pgproto3.BackendMessage) {
	out, err := m.Encode(c.out)
	if err != nil {
		// Only a message past the protocol's own bounds cannot be encoded.
		c.broken = fmt.Errorf("encode %T: %w", m, err)
		return
	}
	c.out = out
}

// flush writes what has been gathered.
func (c *conn) flush() error {
	if c.broken != nil || len(c.out) == 0 {
		return c.broken
	}
	if c.ctx.Err() == nil {
		c.net.SetWriteDeadline(c.o.Now().Add(c.o.WriteTimeout))
	}
	n, err := c.net.Write(c.out)
	c.o.Metrics.sent.Add(float64(n))
	if cap(c.out) > 4*flushBytes {
		c.out = nil // one wide row must not cost memory for good
	}
	c.out = c.out[:0]
	if err != nil {
		c.broken = fmt.Errorf("write to client: %w", err)
		c.cancel(errGone)
	}
	return c.broken
}

// flushFull writes what has been gathered if it is enough.
func (c *conn) flushFull() error {
	if len(c.out) < flushBytes {
		return c.broken
	}
	return c.flush()
}

// receive gives the next message; it is valid until the next call.
func (c *conn) receive() (pgproto3.FrontendMessage, error) {
	if m := c.ahead; m != nil {
		c.ahead = nil
		return m, nil
	}
	m, err := c.back.Receive()
	if err != nil {
		return nil, fmt.Errorf("read from client: %w", err)
	}
	return m, nil
}

// sendError tells the client of an error.
func (c *conn) sendError(err error) {
	e := pgerr.From(err)
	severity := "ERROR"
	if e.Fatal {
		severity = "FATAL"
	}
	if e.Code == pgerr.InternalError {
		c.o.Log.Error("internal error", "err", err)
	}
	c.o.Metrics.errors.Inc()
	c.sendNotices()
	c.send(errorResponse(severity, e))
}

func errorResponse(severity string, e *pgerr.Error) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: string(e.Code), Message: e.Message,
		Detail: e.Detail, Hint: e.Hint, Position: int32(e.Position), Where: e.Context}
}

// sendNotices tells the client what else there is to say.
func (c *conn) sendNotices() {
	if c.s == nil {
		return
	}
	for _, n := range c.s.Notices() {
		r := errorResponse(n.Severity, n.Error)
		c.send((*pgproto3.NoticeResponse)(r))
	}
}

// sendReady tells the client that it may go on.
func (c *conn) sendReady() error {
	c.sendNotices()
	for _, p := range c.s.Changed() {
		c.send(&pgproto3.ParameterStatus{Name: p.Name, Value: p.Value})
	}
	c.send(&pgproto3.ReadyForQuery{TxStatus: c.s.Status()})
	return c.flush()
}
