package server

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// maxPreludes bounds the requests a client may make before it says who it is: one for each kind of encryption.
const maxPreludes = 4

// startup brings the connection to where it takes queries. Without an error and without a session it was only a
// request to cancel another's statement.
func (c *conn) startup() error {
	for range maxPreludes {
		m, err := c.back.ReceiveStartupMessage()
		if errors.Is(err, io.EOF) {
			return errGone
		}
		if err != nil {
			return fmt.Errorf("read from client: %w", err)
		}
		switch m := m.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			c.out = append(c.out, 'N')
			if err := c.flush(); err != nil {
				return err
			}
		case *pgproto3.CancelRequest:
			if len(m.SecretKey) == 4 {
				c.o.Sessions.Cancel(m.ProcessID, be32(m.SecretKey))
			}
			return nil
		case *pgproto3.StartupMessage:
			return c.begin(m)
		default:
			return errors.New("unexpected message at startup")
		}
	}
	return pgerr.New(pgerr.ProtocolViolation, "too many requests before startup")
}

// begin makes the session that a startup message asks for.
func (c *conn) begin(m *pgproto3.StartupMessage) error {
	if m.ProtocolVersion != pgproto3.ProtocolVersion30 {
		c.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: pgproto3.ProtocolVersion30 & 0xffff})
	}
	client := session.Client{User: m.Parameters["user"], Database: m.Parameters["database"], Addr: c.net.RemoteAddr().String()}
	if client.User == "" {
		return pgerr.New(pgerr.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		value := m.Parameters[name]
		switch {
		case name == "user" || name == "database" || strings.HasPrefix(name, "_pq_."):
		case name == "options":
			params, err := parseOptions(value)
			if err != nil {
				return err
			}
			client.Params = append(client.Params, params...)
		case name == "replication":
			if value != "false" && value != "off" && value != "0" && value != "no" {
				return pgerr.Unsupported("replication")
			}
		default:
			client.Params = append(client.Params, session.Parameter{Name: name, Value: value})
		}
	}
	s, err := c.o.Sessions.Connect(client)
	if err != nil {
		return err
	}
	c.s = s
	c.send(&pgproto3.AuthenticationOk{})
	for _, p := range s.Parameters() {
		c.send(&pgproto3.ParameterStatus{Name: p.Name, Value: p.Value})
	}
	c.send(&pgproto3.BackendKeyData{ProcessID: s.PID(), SecretKey: appendBE32(nil, s.Secret())})
	return c.sendReady()
}

// parseOptions reads the command-line options of a startup message: -c name=value and --name=value, with backslashes
// before blanks that belong to a value.
func parseOptions(text string) ([]session.Parameter, error) {
	var words []string
	var word strings.Builder
	some := false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			some = true
		case ch == ' ' || ch == '\t' || ch == '\n':
			if some {
				words = append(words, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteByte(ch)
			some = true
		}
	}
	if some {
		words = append(words, word.String())
	}
	var params []session.Parameter
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" && i+1 < len(words):
			i++
			w = words[i]
		case strings.HasPrefix(w, "-c"):
			w = w[2:]
		case strings.HasPrefix(w, "--"):
			w = w[2:]
		default:
			return nil, pgerr.Newf(pgerr.InvalidParameterValue, "invalid command-line argument for server process: %s", w)
		}
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, pgerr.Newf(pgerr.SyntaxError, "-c %s requires a value", w)
		}
		params = append(params, session.Parameter{Name: strings.ReplaceAll(name, "-", "_"), Value: value})
	}
	return params, nil
}
