package server_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tributary-db/tributary/pgwire/server"
)

// raw is a connection on which a test writes and reads messages as bytes.
type raw struct {
	t    testing.TB
	conn net.Conn
}

// rawTimeout is how long a test waits for the server's word before it says that it is wedged.
const rawTimeout = 10 * time.Second

func (s *served) dial(t testing.TB) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(rawTimeout))
	return &raw{t, conn}
}

// raw connects and says who it is.
func (s *served) raw(t testing.TB) *raw {
	t.Helper()
	r := s.dial(t)
	r.send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "materialize"}})
	r.until('Z')
	return r
}

func (r *raw) send(messages ...pgproto3.FrontendMessage) {
	r.t.Helper()
	var b []byte
	for _, m := range messages {
		var err error
		if b, err = m.Encode(b); err != nil {
			r.t.Fatal(err)
		}
	}
	if _, err := r.conn.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) query(sql string) { r.t.Helper(); r.send(&pgproto3.Query{String: sql}) }

// next reads one message; its type is 0 at the end of the connection.
func (r *raw) next() (byte, []byte) {
	r.t.Helper()
	var head [5]byte
	if _, err := io.ReadFull(r.conn, head[:]); err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			r.t.Fatal("the server says nothing")
		}
		return 0, nil
	}
	body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	if _, err := io.ReadFull(r.conn, body); err != nil {
		return 0, nil
	}
	return head[0], body
}

// until reads messages up to one of the given type, or to the end, and shows them: each type with what is legible.
func (r *raw) until(kind byte) string {
	r.t.Helper()
	var out []string
	for {
		k, body := r.next()
		if k == 0 {
			return strings.Join(append(out, "closed"), "\n")
		}
		out = append(out, fmt.Sprintf("%c %s", k, bytes.Trim(bytes.ReplaceAll(body, []byte{0}, []byte{' '}), " ")))
		if k == kind {
			return strings.Join(out, "\n")
		}
	}
}

// TestStartup: what comes before the first query.
func TestStartup(t *testing.T) {
	s := serve(t)
	r := s.dial(t)
	for _, m := range []pgproto3.FrontendMessage{&pgproto3.SSLRequest{}, &pgproto3.GSSEncRequest{}} {
		r.send(m)
		var answer [1]byte
		if _, err := io.ReadFull(r.conn, answer[:]); err != nil || answer[0] != 'N' {
			t.Fatalf("%T: %q, %v", m, answer, err)
		}
	}
	r.send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion32, Parameters: map[string]string{
		"user": "materialize", "options": `-c application_name=my\ app --search-path=a,b`, "_pq_.x": "y"}})
	got := r.until('Z')
	for _, want := range []string{"R", "v", "S application_name my app", "S server_version 15.0", "K", "Z I"} {
		if !strings.Contains("\n"+got+"\n", "\n"+want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	r.query("SHOW search_path")
	if got := r.until('Z'); !strings.Contains(got, "a, b") {
		t.Errorf("search_path: %s", got)
	}

	for name, bad := range map[string][]byte{
		"short":    {0, 0, 0, 4},
		"long":     {0x7f, 0, 0, 0},
		"negative": {0xff, 0xff, 0xff, 0xff},
		"version":  {0, 0, 0, 9, 0, 2, 0, 0, 0},
		"http":     []byte("GET / HTTP/1.1\r\n\r\n"),
	} {
		r := s.dial(t)
		if _, err := r.conn.Write(bad); err != nil {
			t.Fatal(err)
		}
		r.conn.(*net.TCPConn).CloseWrite()
		if got := r.until(0); !strings.Contains(got, "closed") {
			t.Errorf("%s: %s", name, got)
		}
	}
	r = s.dial(t)
	r.send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30,
		Parameters: map[string]string{"user": "x", "nosuch": "1"}})
	if got := r.until(0); !strings.Contains(got, "FATAL") || !strings.Contains(got, "42704") {
		t.Errorf("unknown parameter: %s", got)
	}
	r = s.dial(t)
	r.send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"database": "x"}})
	if got := r.until(0); !strings.Contains(got, "28000") {
		t.Errorf("no user: %s", got)
	}
}

// TestProtocolSteps sends messages one by one that drivers do not send so.
func TestProtocolSteps(t *testing.T) {
	s := serve(t)
	r := s.raw(t)
	sync := &pgproto3.Sync{}

	// A portal with a limit, run on, in both formats.
	r.query("CREATE TABLE t (a int, b text)")
	r.until('Z')
	r.query("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, NULL)")
	r.until('Z')
	r.send(&pgproto3.Parse{Name: "s", Query: "SELECT a, b FROM t ORDER BY a"}, &pgproto3.Describe{ObjectType: 'S', Name: "s"},
		&pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s", ResultFormatCodes: []int16{1, 0}},
		&pgproto3.Describe{ObjectType: 'P', Name: "p"},
		&pgproto3.Execute{Portal: "p", MaxRows: 2}, &pgproto3.Flush{})
	if got := kinds(r.until('s')); got != "1tT2TDDs" {
		t.Errorf("first portion: %s", got)
	}
	r.send(&pgproto3.Execute{Portal: "p", MaxRows: 2}, &pgproto3.Close{ObjectType: 'P', Name: "p"}, &pgproto3.Execute{Portal: "p"}, sync)
	if got := kinds(r.until('Z')); got != "DC3EZ" {
		t.Errorf("second portion: %s", got)
	}

	// Everything after an error is skipped, whatever it is.
	r.send(&pgproto3.Parse{Query: "SELECT nosuch"}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{},
		&pgproto3.Query{String: "SELECT 1"}, &pgproto3.CopyData{Data: []byte("x")}, sync)
	if got := kinds(r.until('Z')); got != "EZ" {
		t.Errorf("after an error: %s", got)
	}

	// A client may ask for the error before it sends the Sync.
	r.send(&pgproto3.Parse{Query: "SELECT nosuch"}, &pgproto3.Bind{}, &pgproto3.Flush{})
	if got := kinds(r.until('E')); got != "E" {
		t.Errorf("an error and Flush: %s", got)
	}
	r.send(&pgproto3.Execute{}, sync)
	if got := kinds(r.until('Z')); got != "Z" {
		t.Errorf("after an error and Flush: %s", got)
	}

	// An empty statement; a statement without rows; one that is closed twice.
	r.send(&pgproto3.Parse{}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, sync)
	if got := kinds(r.until('Z')); got != "12nIZ" {
		t.Errorf("empty: %s", got)
	}
	r.send(&pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Close{ObjectType: 'S', Name: "s"}, sync)
	if got := kinds(r.until('Z')); got != "33Z" {
		t.Errorf("close: %s", got)
	}
	r.query("")
	if got := kinds(r.until('Z')); got != "IZ" {
		t.Errorf("empty query: %s", got)
	}

	// Left-over COPY messages are dropped.
	r.send(&pgproto3.CopyData{Data: []byte("1\n")}, &pgproto3.CopyDone{}, &pgproto3.CopyFail{Message: "x"},
		&pgproto3.Query{String: "SELECT 1"})
	if got := kinds(r.until('Z')); got != "TDCZ" {
		t.Errorf("left over: %s", got)
	}

	// COPY by the extended protocol, with a failing row in the middle.
	r.send(&pgproto3.Parse{Query: "COPY t FROM STDIN"}, &pgproto3.Bind{}, &pgproto3.Execute{}, sync)
	r.until('G')
	// The Sync that followed Execute is overlooked, as in PostgreSQL: clients send another one.
	r.send(&pgproto3.CopyData{Data: []byte("7\tx\n")}, &pgproto3.CopyDone{}, sync)
	if got := kinds(r.until('Z')); got != "CZ" {
		t.Errorf("copy: %s", got)
	}
	r.query("COPY t FROM STDIN")
	r.until('G')
	r.send(&pgproto3.CopyFail{Message: "no more"})
	if got := r.until('Z'); !strings.Contains(got, "COPY from stdin failed: no more") {
		t.Errorf("copy fail: %s", got)
	}

	// Bad formats and wrong counts.
	for _, b := range []*pgproto3.Bind{
		{ResultFormatCodes: []int16{7}}, {ResultFormatCodes: []int16{0, 0, 0}}, {Parameters: [][]byte{[]byte("1")}},
		{ParameterFormatCodes: []int16{9}, Parameters: [][]byte{[]byte("1")}},
	} {
		r.send(&pgproto3.Parse{Query: "SELECT a FROM t"}, b, &pgproto3.Execute{}, sync)
		if got := kinds(r.until('Z')); !strings.Contains(got, "E") || !strings.HasSuffix(got, "Z") {
			t.Errorf("bind %+v: %s", b, got)
		}
	}
	r.send(&pgproto3.FunctionCall{Function: 1})
	if got := r.until('Z'); !strings.Contains(got, "0A000") {
		t.Errorf("function call: %s", got)
	}
	r.query("SELECT count(*) FROM t")
	if got := r.until('Z'); !strings.Contains(got, "SELECT 1") {
		t.Errorf("at the end: %s", got)
	}
	r.send(&pgproto3.Terminate{})
	if got := r.until(0); got != "closed" {
		t.Errorf("terminate: %s", got)
	}
}

// kinds are the types of the messages that until has shown.
func kinds(shown string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(shown, "\n") {
		out.WriteByte(line[0])
	}
	return out.String()
}

// TestBrokenFrames: messages that are no messages end the connection, and nothing else.
func TestBrokenFrames(t *testing.T) {
	s := serve(t)
	for name, bad := range map[string][]byte{
		"unknown type":    {'?', 0, 0, 0, 4},
		"negative length": {'Q', 0xff, 0xff, 0xff, 0xff},
		"short length":    {'Q', 0, 0, 0, 3},
		"huge length":     {'Q', 0x7f, 0xff, 0xff, 0xff},
		"no zero":         {'Q', 0, 0, 0, 5, 'x'},
		"short bind":      {'B', 0, 0, 0, 6, 0, 0},
		"huge bind":       {'B', 0, 0, 0, 12, 0, 0, 0, 0, 0x7f, 0xff, 0, 0},
		"short parse":     {'P', 0, 0, 0, 5, 0},
		"short describe":  {'D', 0, 0, 0, 4},
		"password":        {'p', 0, 0, 0, 5, 0},
	} {
		r := s.raw(t)
		if _, err := r.conn.Write(bad); err != nil {
			t.Fatal(err)
		}
		if got := r.until(0); !strings.HasSuffix(got, "closed") || !strings.Contains(got, "FATAL") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := s.raw(t); got == nil {
		t.Error("the server is gone")
	}
}

// TestAMessageThatIsTooLong is refused with an error that its client sees after it has sent all of it, and more behind.
func TestAMessageThatIsTooLong(t *testing.T) {
	s := serveWith(t, server.Options{MaxMessageBytes: 1 << 20})
	r := s.raw(t)
	// Far more than the system buffers for a connection.
	long := &pgproto3.Query{String: "SELECT '" + strings.Repeat("x", 16<<20) + "'"}
	r.send(long, &pgproto3.Sync{})
	if got := r.until(0); !strings.Contains(got, "54000") || !strings.Contains(got, "message is longer than 1048576 bytes") {
		t.Error(got)
	}
}

// TestARowThatIsTooLong is an error, with the rows before it sent and the connection as it was. Many columns of one value that
// is not too long are too long together.
func TestARowThatIsTooLong(t *testing.T) {
	s := serveWith(t, server.Options{MaxRowBytes: 1000})
	r := s.raw(t)
	for sql, want := range map[string]string{
		"SELECT repeat('x', n) FROM (VALUES (1), (2000)) v (n) ORDER BY n":                           "54000",
		"SELECT a, a, a FROM (SELECT repeat('x', 400) AS a) q":                                       "54000",
		"SELECT a, a FROM (SELECT repeat('x', 400) AS a) q":                                          "SELECT 1",
		"COPY (SELECT repeat('x', 2000)) TO STDOUT":                                                  "54000",
		"COPY (SELECT a, a, a FROM (SELECT repeat('x', 400) AS a) q) TO STDOUT":                      "54000",
		"COPY (SELECT repeat(E'\\\\', 600)) TO STDOUT":                                               "54000",
		"COPY (SELECT repeat(E'\\\\', 400)) TO STDOUT":                                               "COPY 1",
		"COPY (SELECT a, a, a FROM (SELECT repeat('x', 400) AS a) q) TO STDOUT WITH (FORMAT binary)": "54000",
	} {
		r.query(sql)
		if got := r.until('Z'); !strings.Contains(got, want) || strings.HasSuffix(got, "closed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// FuzzMessages sends any bytes to a session: the server must answer or close, and take the next client.
func FuzzMessages(f *testing.F) {
	encode := func(messages ...pgproto3.FrontendMessage) []byte {
		var b []byte
		for _, m := range messages {
			b, _ = m.Encode(b)
		}
		return b
	}
	f.Add(encode(&pgproto3.Query{String: "SELECT 1; SELECT 'x'"}))
	f.Add(encode(&pgproto3.Parse{Query: "SELECT $1::int"}, &pgproto3.Bind{Parameters: [][]byte{[]byte("7")}},
		&pgproto3.Describe{ObjectType: 'P'},
		&pgproto3.Execute{MaxRows: 1}, &pgproto3.Sync{}))
	f.Add(encode(&pgproto3.Query{String: "CREATE TABLE t (a int); COPY t FROM STDIN"},
		&pgproto3.CopyData{Data: []byte("1\n")}, &pgproto3.CopyDone{}))
	f.Add(encode(&pgproto3.Query{String: "BEGIN; DECLARE c CURSOR FOR SELECT 1; FETCH c"}, &pgproto3.Query{String: "ROLLBACK"}))
	f.Add(encode(&pgproto3.Parse{Name: "a", Query: "INSERT INTO t VALUES ($1)"}, &pgproto3.Close{ObjectType: 'S',
		Name: "a"}, &pgproto3.Flush{}))
	s := serve(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(rawTimeout))
		hello, _ := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30,
			Parameters: map[string]string{"user": "materialize"}}).Encode(nil)
		// What the client has to say must not wait for the client to read.
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			conn.Write(append(hello, data...))
			conn.(*net.TCPConn).CloseWrite()
		}()
		_, err = io.Copy(io.Discard, conn)
		<-ctx.Done()
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Fatalf("the server neither answers nor closes after %q", data)
		}
	})
}
