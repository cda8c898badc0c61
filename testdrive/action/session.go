package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tributary-db/tributary/testdrive/script"
)

// Server is what scripts run against.
type Server struct {
	// URL connects to it as the scripts' user, in their database.
	URL string
	// HTTPAddr is host:port of its HTTP side; empty if there is none.
	HTTPAddr string
	// Postgres says that it is a plain PostgreSQL: no clusters, no system user.
	Postgres bool
	// Process is the server as a process of ours; nil if somebody else runs it.
	Process Process
}

// Process is a server that testdrive itself started. Both calls return when it answers again.
type Process interface {
	// Kill ends it at once, without a chance to write anything, and starts it again.
	Kill(ctx context.Context) error
	// Restart asks it to end, waits until it has, and starts it again.
	Restart(ctx context.Context) error
}

// SystemUser is the name under which Materialize's system settings may be changed.
const SystemUser = "mz_system"

// SystemURL is the server's URL for the system user; on PostgreSQL the script's own user is as good.
func (s *Server) SystemURL() (string, error) {
	if s.Postgres {
		return s.URL, nil
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "", fmt.Errorf("parse the server's URL: %w", err)
	}
	u.User = url.User(SystemUser)
	return u.String(), nil
}

// Session is one connection with a server, made when first used.
type Session struct {
	config *pgconn.Config
	conn   *pgconn.PgConn
	types  *pgtype.Map
	// stateful says that statements left something in the session that a new connection would not have.
	stateful bool
}

// Times of connecting and of waiting for the answer to a cancel request.
const (
	connectTimeout = 10 * time.Second
	cancelPatience = 5 * time.Second
)

// NewSession gives a session for a URL; nothing is sent yet.
func NewSession(address string) (*Session, error) {
	config, err := pgconn.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", address, err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	// A statement that runs out of time is cancelled at the server, so that the session stays usable.
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelPatience}
	}
	return &Session{config: config, types: pgtype.NewMap()}, nil
}

// Conn connects if there is no connection, or a broken one.
func (s *Session) Conn(ctx context.Context) (*pgconn.PgConn, error) {
	if s.conn != nil && !s.conn.IsClosed() {
		return s.conn, nil
	}
	conn, err := pgconn.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	s.conn, s.stateful = conn, false
	return conn, nil
}

// Addr is host:port of the server.
func (s *Session) Addr() string {
	return net.JoinHostPort(s.config.Host, strconv.Itoa(int(s.config.Port)))
}

// Close ends the connection; the session may be used again and then makes a new one.
func (s *Session) Close(ctx context.Context) error {
	if s.conn == nil || s.conn.IsClosed() {
		return nil
	}
	return s.conn.Close(ctx)
}

// Abandon forgets the connection with a server that is gone.
func (s *Session) Abandon(ctx context.Context) {
	if s.conn != nil {
		// The other side has ended: the error of saying good-bye is no news.
		_ = s.conn.Close(ctx)
	}
	s.conn, s.stateful = nil, false
}

// Idle says that a new connection could take this one's place unnoticed.
func (s *Session) Idle() bool {
	return s.conn == nil || s.conn.IsClosed() || s.conn.TxStatus() == 'I' && !s.stateful
}

// inTransaction says that a transaction is open, failed or not.
func (s *Session) inTransaction() bool {
	return s.conn != nil && !s.conn.IsClosed() && s.conn.TxStatus() != 'I'
}

// Note remembers whether a statement leaves something in the session; who sends statements past the methods of this type
// calls it.
func (s *Session) Note(sql string) {
	for _, part := range script.Split(sql) {
		words := script.Words(part, 2)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "SET", "RESET", "PREPARE", "DECLARE", "LISTEN", "DISCARD":
			s.stateful = true
		case "CREATE":
			if len(words) > 1 && (words[1] == "TEMP" || words[1] == "TEMPORARY") {
				s.stateful = true
			}
		}
	}
}

// result is the answer to a statement: texts of values, NULL spelled as in scripts.
type result struct {
	columns []string
	oids    []uint32
	rows    [][]string
}

// shape tells the size of a result that should have another.
func (r *result) shape() string {
	return fmt.Sprintf("it gave %s of %s", count(len(r.rows), "row", "rows"), count(len(r.columns), "column", "columns"))
}

// query runs one statement through the extended protocol and reads the rows in binary, where we know the type.
func (s *Session) query(ctx context.Context, sql string) (*result, error) {
	if err := refuseCopy(sql); err != nil {
		return nil, err
	}
	conn, err := s.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s.Note(sql)
	prepared, err := conn.Prepare(ctx, "", sql, nil)
	if err != nil {
		return nil, err
	}
	if n := len(prepared.ParamOIDs); n > 0 {
		return nil, fmt.Errorf("statement has %s, scripts can give none", count(n, "parameter", "parameters"))
	}
	res := &result{}
	formats := make([]int16, len(prepared.Fields))
	for i, f := range prepared.Fields {
		res.columns = append(res.columns, f.Name)
		res.oids = append(res.oids, f.DataTypeOID)
		formats[i] = formatOf(f.DataTypeOID)
	}
	reader := conn.ExecPrepared(ctx, "", nil, nil, formats)
	var decodeErr error
	for reader.NextRow() {
		row, err := s.decodeRow(res.oids, formats, reader.Values())
		if err != nil && decodeErr == nil {
			decodeErr = err
		}
		res.rows = append(res.rows, row)
	}
	if _, err := reader.Close(); err != nil {
		return nil, err
	}
	return res, decodeErr
}

func (s *Session) decodeRow(oids []uint32, formats []int16, values [][]byte) ([]string, error) {
	row := make([]string, len(values))
	for i, v := range values {
		if v == nil {
			row[i] = script.Null
			continue
		}
		if formats[i] == pgtype.TextFormatCode {
			row[i] = string(v)
			continue
		}
		text, err := formatValue(s.types, oids[i], v)
		if err != nil {
			return nil, fmt.Errorf("column %d (type %d): %w", i+1, oids[i], err)
		}
		row[i] = text
	}
	return row, nil
}

// Exec sends a text through the simple protocol and drops what it gives.
func (s *Session) Exec(ctx context.Context, sql string) error {
	if err := refuseCopy(sql); err != nil {
		return err
	}
	conn, err := s.Conn(ctx)
	if err != nil {
		return err
	}
	s.Note(sql)
	return conn.Exec(ctx, sql).Close()
}

// refuseCopy catches what would wait for data for ever.
func refuseCopy(sql string) error {
	for _, part := range script.Split(sql) {
		words := script.Words(part, 1)
		upper := strings.ToUpper(part)
		if len(words) == 0 || words[0] != "COPY" {
			continue
		}
		if strings.Contains(upper, "STDIN") {
			return errors.New("COPY FROM STDIN needs data: use $ copy-in")
		}
		if strings.Contains(upper, "STDOUT") {
			return errors.New("COPY TO STDOUT gives no rows: use $ copy-out")
		}
	}
	return nil
}

// describe is describeError for a statement that may have run out of time.
func describe(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "it was still running when its time was over"
	}
	return describeError(err)
}

// describeError says what went wrong as a client would see it.
func describeError(err error) string {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ERROR: %s (SQLSTATE %s)", pgErr.Message, pgErr.Code)
	if pgErr.Detail != "" {
		b.WriteString("\nDETAIL: " + pgErr.Detail)
	}
	if pgErr.Hint != "" {
		b.WriteString("\nHINT: " + pgErr.Hint)
	}
	return b.String()
}

// Rows runs a text through the simple protocol and gives the rows of its last statement as texts; NULL is empty.
func (s *Session) Rows(ctx context.Context, sql string) ([][]string, error) {
	conn, err := s.Conn(ctx)
	if err != nil {
		return nil, err
	}
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil || len(results) == 0 {
		return nil, err
	}
	var rows [][]string
	for _, r := range results[len(results)-1].Rows {
		row := make([]string, len(r))
		for i, v := range r {
			row[i] = string(v)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// CopyFrom runs a COPY … FROM STDIN with data.
func (s *Session) CopyFrom(ctx context.Context, data io.Reader, sql string) error {
	conn, err := s.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = conn.CopyFrom(ctx, data, sql)
	return err
}
