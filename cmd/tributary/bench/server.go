package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/storage/blob"
)

// ServerOptions say what server a cell needs.
type ServerOptions struct {
	Dir     string
	Workers int
	// Sharing is how views' changes become parts; nil means the server's own way.
	Sharing controller.Sharing
	// Blob, if it is not nil, is put in front of the store of objects.
	Blob func(blob.Store) blob.Store
}

// Server is one that runs.
type Server struct {
	// Addr is where it listens, host:port.
	Addr    string
	Metrics prometheus.Gatherer
	// Close ends it, and gives what it failed with.
	Close func() error
}

// sut is the server under test with a connection to it.
type sut struct {
	*Server
	conn *pgx.Conn
}

func (b *bench) start(ctx context.Context, o ServerOptions) (*sut, error) {
	server, err := b.o.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &sut{Server: server}
	if s.conn, err = s.connect(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return s, nil
}

// cellServer is what a cell needs of its server besides its way.
type cellServer struct {
	dir    string // empty means a new one, which goes again
	groups int    // of workers, in the baselines; 0 means one
	blob   func(blob.Store) blob.Store
}

// withServer calls do with a server that writes views in the given way.
func (b *bench) withServer(ctx context.Context, w way, c cellServer, do func(*sut) (values, error)) (_ values, err error) {
	o := ServerOptions{Dir: c.dir, Workers: 1, Blob: c.blob}
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp(b.o.Dir, "bench"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	}
	if w.sharing != nil {
		o.Sharing = w.sharing(max(c.groups, 1))
	}
	s, err := b.start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if err := s.exec(ctx, "ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = '"+w.threshold+"'",
		"ALTER SYSTEM SET compute_mv_sink_staging_max_bytes = '100GB'"); err != nil {
		return nil, err
	}
	return do(s)
}

func (s *sut) connect(ctx context.Context) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig("postgres://bench@" + s.Addr + "/materialize?sslmode=disable")
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, c)
}

func (s *sut) close(ctx context.Context) error { return errors.Join(s.conn.Close(ctx), s.Close()) }

// exec runs statements.
func (s *sut) exec(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := s.conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%.200s: %w", sql, err)
		}
	}
	return nil
}

// count runs a query whose result is a number.
func (s *sut) count(ctx context.Context, sql string) (n int64, err error) {
	if err = s.conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&n); err != nil {
		err = fmt.Errorf("%s: %w", sql, err)
	}
	return n, err
}

// counts are the server's metrics at a moment.
type counts struct{ families map[string][]sample }

type sample struct {
	labels map[string]string
	value  float64
}

func (s *sut) counts() (counts, error) {
	gathered, err := s.Metrics.Gather()
	if err != nil {
		return counts{}, err
	}
	c := counts{families: map[string][]sample{}}
	for _, f := range gathered {
		for _, m := range f.Metric {
			labels := map[string]string{}
			for _, l := range m.Label {
				labels[l.GetName()] = l.GetValue()
			}
			name, value := f.GetName(), m.GetCounter().GetValue()+m.GetGauge().GetValue()
			value += m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
			c.families[name] = append(c.families[name], sample{labels, value})
		}
	}
	return c, nil
}

// sum adds up a metric over its labels, of which those given (name, value, …) must be as given. Of a histogram or
// summary it is the sum of what was observed.
func (c counts) sum(name string, labels ...string) float64 {
	sum := 0.0
samples:
	for _, s := range c.families[name] {
		for i := 0; i < len(labels); i += 2 {
			if s.labels[labels[i]] != labels[i+1] {
				continue samples
			}
		}
		sum += s.value
	}
	return sum
}

// arrival is when the last row of a batch of rows came.
type arrival struct {
	batch int
	at    time.Time
}

// subscriber follows a view, and tells when the rows of each batch are there. A row's first column is its number.
type subscriber struct {
	conn *pgx.Conn
	size int
	seen map[int]int
	// arrived takes a batch as soon as all of its rows have come.
	arrived func(arrival)
	rest    []byte
	ended   chan error
}

// subscribe begins to follow a view of rows k, v, in batches of so many.
func (s *sut) subscribe(ctx context.Context, view string, size int, arrived func(arrival)) (*subscriber, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	sub := &subscriber{conn: conn, size: size, seen: map[int]int{}, arrived: arrived, ended: make(chan error, 1)}
	go func() {
		_, err := conn.PgConn().CopyTo(ctx, sub, "COPY (SUBSCRIBE "+view+" WITH (SNAPSHOT = false)) TO STDOUT")
		var refused *pgconn.PgError
		if ctx.Err() != nil || errors.As(err, &refused) && refused.Code == "57014" {
			err = nil
		}
		sub.ended <- err
	}()
	return sub, nil
}

// Write takes what the server sends: lines of time, diff, number and more, separated by tabs.
func (s *subscriber) Write(b []byte) (int, error) {
	now := time.Now()
	s.rest = append(s.rest, b...)
	from := 0
	for i, c := range s.rest {
		if c != '\n' {
			continue
		}
		row, err := rowNumber(s.rest[from:i])
		if err != nil {
			return 0, err
		}
		from = i + 1
		batch := row / s.size
		if s.seen[batch]++; s.seen[batch] == s.size {
			delete(s.seen, batch)
			s.arrived(arrival{batch, now})
		}
	}
	s.rest = append(s.rest[:0], s.rest[from:]...)
	return len(b), nil
}

// rowNumber gives the third column of a line.
func rowNumber(line []byte) (int, error) {
	tabs, n, any := 0, 0, false
	for _, c := range line {
		switch {
		case c == '\t':
			tabs++
		case tabs == 2 && c >= '0' && c <= '9':
			n, any = n*10+int(c-'0'), true
		}
	}
	if !any || tabs < 3 {
		return 0, fmt.Errorf("a subscription's line has no number: %q", line)
	}
	return n, nil
}

// stop ends the subscription.
func (s *subscriber) stop(ctx context.Context) error {
	if err := s.conn.PgConn().CancelRequest(ctx); err != nil {
		return err
	}
	err := <-s.ended
	return errors.Join(err, s.conn.Close(ctx))
}
