package session_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/planner/session/sessiontest"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// client drives sessions as the protocol's server does, and shows what comes as text.
type client struct {
	t        *testing.T
	m        *session.Manager
	coord    *sessiontest.Coord
	sessions map[string]*session.Session
	out      strings.Builder
}

func newClient(t *testing.T) *client {
	c := &client{t: t, sessions: map[string]*session.Session{}}
	c.coord, c.m = sessiontest.New(t)
	t.Cleanup(func() {
		for _, s := range c.sessions {
			s.Close()
		}
	})
	return c
}

// session gives the session of a name, connecting it first.
func (c *client) session(name string) *session.Session {
	if s := c.sessions[name]; s != nil {
		return s
	}
	s, err := c.m.Connect(session.Client{User: "materialize", Database: "materialize", Addr: "test"})
	if err != nil {
		c.t.Fatal(err)
	}
	s.Parameters()
	c.sessions[name] = s
	return s
}

// TestSession runs the scripts in testdata. Commands:
//
//	query [in=SESSION]     a simple query
//	copy [in=SESSION] sql=…   a COPY FROM STDIN with the input as its data
//	prepare/bind/execute/sync  steps of the extended protocol
//	connect in=SESSION [user=…] [database=…] [name=value …]
func TestSession(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		c := newClient(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c.t = t
			c.out.Reset()
			name := "1"
			d.MaybeScanArgs(t, "in", &name)
			switch d.Cmd {
			case "connect":
				c.connect(name, d)
			case "close":
				c.session(name).Close()
				delete(c.sessions, name)
			case "query":
				c.query(c.session(name), d.Input, "")
			case "copy":
				sql, data, _ := strings.Cut(d.Input, "\n")
				c.query(c.session(name), sql, strings.ReplaceAll(data, "⏎", "\r"))
			case "prepare", "bind", "execute", "describe", "sync":
				c.extended(c.session(name), d)
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			return c.out.String()
		})
	})
}

func (c *client) connect(name string, d *datadriven.TestData) {
	who := session.Client{User: "materialize", Database: "materialize", Addr: "test"}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "in":
		case "user":
			who.User = a.Vals[0]
		case "database":
			who.Database = a.Vals[0]
		default:
			who.Params = append(who.Params, session.Parameter{Name: a.Key, Value: strings.Join(a.Vals, ",")})
		}
	}
	s, err := c.m.Connect(who)
	if err != nil {
		c.error(err)
		return
	}
	c.sessions[name] = s
	for _, p := range s.Parameters() {
		fmt.Fprintf(&c.out, "%s = %s\n", p.Name, p.Value)
	}
	c.notices(s)
}

// query runs a simple query; data is for a COPY in it.
func (c *client) query(s *session.Session, sql, data string) {
	ctx := context.Background()
	script, err := s.Simple(ctx, sql)
	for err == nil {
		var r *session.Result
		if r, err = script.Next(); r == nil || err != nil {
			break
		}
		if err = c.result(s, r, data); err != nil {
			script.Stop()
		}
	}
	c.notices(s)
	if err != nil {
		c.error(err)
	}
	for _, p := range s.Changed() {
		fmt.Fprintf(&c.out, "%s = %s\n", p.Name, p.Value)
	}
	if s.Status() != 'I' {
		fmt.Fprintf(&c.out, "(%c)\n", s.Status())
	}
}

func (c *client) result(s *session.Session, r *session.Result, data string) error {
	if r.CopyIn != nil {
		for i := 0; i < len(data); i += 7 {
			if err := r.CopyIn.Write([]byte(data[i:min(i+7, len(data))])); err != nil {
				r.Fail(err)
				return err
			}
		}
	}
	if r.HasRows() {
		if r.CopyOut == nil {
			c.header(r.Columns)
		} else {
			c.out.Write(r.CopyOut.AppendStart(nil))
		}
	}
	for r.HasRows() {
		b, err := r.Next()
		if err != nil {
			r.Fail(err)
			return err
		}
		if b == nil {
			break
		}
		for i := range b.Len {
			if r.CopyOut != nil {
				c.out.Write(r.CopyOut.AppendRow(nil, b, i))
			} else {
				c.row(r.Columns, b, i)
			}
		}
	}
	if r.Suspended() {
		r.Suspend()
		c.out.WriteString("suspended\n")
		return nil
	}
	tag, err := r.Finish()
	if err != nil {
		return err
	}
	c.notices(s)
	c.out.WriteString(tag + "\n")
	return nil
}

func (c *client) header(cols []session.Column) {
	var names []string
	for _, col := range cols {
		names = append(names, col.Name+" "+col.Type.String())
	}
	c.out.WriteString("(" + strings.Join(names, ", ") + ")\n")
}

func (c *client) row(cols []session.Column, b *vec.Block, i int) {
	var values []string
	for k := range cols {
		if b.Cols[k].IsNull(i) {
			values = append(values, "null")
		} else {
			values = append(values, string(row.AppendText(nil, cols[k].Type, &b.Cols[k], i)))
		}
	}
	c.out.WriteString(strings.Join(values, "|") + "\n")
}

func (c *client) notices(s *session.Session) {
	for _, n := range s.Notices() {
		c.out.WriteString(n.Severity + " ")
		c.error(n.Error)
	}
}

func (c *client) error(err error) {
	e := pgerr.From(err)
	fmt.Fprintf(&c.out, "%s: %s\n", e.Code, e.Message)
	for _, line := range []struct{ name, text string }{{"DETAIL", e.Detail}, {"HINT", e.Hint}, {"CONTEXT", e.Context}} {
		if line.text != "" {
			fmt.Fprintf(&c.out, "%s: %s\n", line.name, line.text)
		}
	}
	if e.Position != 0 {
		fmt.Fprintf(&c.out, "at %d\n", e.Position)
	}
}

// extended runs one step of the extended protocol.
func (c *client) extended(s *session.Session, d *datadriven.TestData) {
	ctx := context.Background()
	var name, portal string
	d.MaybeScanArgs(c.t, "name", &name)
	d.MaybeScanArgs(c.t, "portal", &portal)
	var err error
	switch d.Cmd {
	case "prepare":
		var oids []types.OID
		for _, a := range d.CmdArgs {
			if a.Key == "types" {
				for _, v := range a.Vals {
					t, _ := types.ByName(v)
					oids = append(oids, t.OID)
				}
			}
		}
		if err = s.Prepare(ctx, name, d.Input, oids); err == nil {
			var desc *session.Described
			if desc, err = s.DescribeStatement(name); err == nil {
				fmt.Fprintf(&c.out, "takes %v\n", desc.Params)
				c.header(desc.Columns)
			}
		}
	case "bind":
		b := &session.Binding{Portal: portal, Statement: name}
		for line := range strings.Lines(d.Input) {
			v := []byte(strings.TrimSuffix(line, "\n"))
			if string(v) == "null" {
				v = nil
			}
			b.Params = append(b.Params, v)
		}
		err = s.Bind(ctx, b)
	case "describe":
		var desc *session.Described
		if desc, err = s.DescribePortal(portal); err == nil {
			c.header(desc.Columns)
		}
	case "execute":
		limit := "0"
		d.MaybeScanArgs(c.t, "limit", &limit)
		n, _ := strconv.ParseInt(limit, 10, 64)
		var r *session.Result
		if r, _, err = s.Execute(ctx, portal, n, d.HasArg("last")); err == nil && r == nil {
			c.out.WriteString("empty\n")
		} else if err == nil {
			err = c.result(s, r, "")
		}
	case "sync":
		err = s.Sync(ctx)
	}
	c.notices(s)
	if err != nil {
		c.error(err)
	}
	if s.Status() != 'I' {
		fmt.Fprintf(&c.out, "(%c)\n", s.Status())
	}
}
