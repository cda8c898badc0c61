package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"github.com/tributary-db/tributary/cmd/tributary/web"
	"github.com/tributary-db/tributary/pgwire/server"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
)

// serveOptions are the flags of "tributary serve".
type serveOptions struct {
	stores     storeOptions
	sqlListen  string
	httpListen string
	workers    int
	logLevel   string
	// epochInterval is how often to look whether another server has taken over, although nobody writes. 0 means never: in a
	// directory of this machine a lock keeps others out.
	epochInterval time.Duration
	// open opens the stores.
	open func(ctx context.Context, o serveOptions, p coordParts) (consensus.Store, blob.Store, func() error, error)
}

// serveCommand is "tributary serve".
func serveCommand() *cobra.Command {
	o := serveOptions{open: openStores}
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "run the database",
		Long: `Run the database until it is told to stop (SIGTERM, or Ctrl-C), or can write nothing any more: then it ends with an
error, and can be started anew.

The data is kept in a directory of this machine. To keep it on shared stores instead, from where the database can be
started on any machine, give both --consensus and --blob. A server that is started on stores that another one uses takes
over from it, and the other one ends. A password for PostgreSQL is better kept in PGPASSWORD or ~/.pgpass than in the URL;
credentials for S3 come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, from ~/.aws/credentials, or from the machine's
role.

Clients speak PostgreSQL's protocol to the address of --sql-listen; any user name will do. There is no authentication
yet, so the server listens on this machine alone unless told otherwise.`,
		Example: `  tributary serve
  tributary serve --data-dir /var/lib/tributary --sql-listen 0.0.0.0:6875
  tributary serve --consensus postgres://tributary@db.example/tributary --blob 's3://bucket/folder?region=eu-central-1'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			if err := o.stores.check(cmd.Flags().Changed("data-dir")); err != nil {
				return err
			}
			if o.stores.consensus != "" {
				o.epochInterval = sharedEpochInterval
			}
			return serve(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	o.stores.addTo(flags)
	flags.StringVar(&o.sqlListen, "sql-listen", "127.0.0.1:6875", "host:port for SQL clients; port 0 picks one")
	flags.StringVar(&o.httpListen, "http-listen", "127.0.0.1:6876", `host:port for /metrics, /api/livez and /api/readyz; "" for none`)
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "workers of the first cluster of a new environment")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	return cmd
}

const (
	// stopGrace is how long requests may take to end when the server is told to stop.
	stopGrace = 10 * time.Second
	// storeGrace is how long the stores may take then to answer what is under way.
	storeGrace = 3 * time.Second
	// sharedEpochInterval is how old a subscription may get whose server has been replaced without its knowledge.
	sharedEpochInterval = 5 * time.Second
)

// serve runs the database until ctx ends, or until nothing can be written any more.
func serve(ctx context.Context, o serveOptions) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return fmt.Errorf("--log-level: %w", err)
	}
	if err := checkOpenFiles(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	// The addresses are taken first: whether the server can be reached should not show only after a long boot.
	var lc net.ListenConfig
	sqlListener, err := lc.Listen(ctx, "tcp", o.sqlListen)
	if err != nil {
		return fmt.Errorf("listen for SQL clients (--sql-listen): %w", err)
	}
	defer sqlListener.Close()
	ready := &web.Ready{}
	handler := web.Handler(registry, ready)
	httpDone, httpAddr, err := serveHTTP(ctx, o.httpListen, handler, log)
	if err != nil {
		return err
	}
	defer func() {
		cancel()
		err = errors.Join(err, <-httpDone)
	}()

	set := allSettings()
	c, closeCoord, err := openCoord(ctx, o, coordParts{settings: set, registry: registry, log: log})
	if err != nil {
		return err
	}
	defer giveUpLater(ctx, c)()
	defer func() { err = errors.Join(err, closeCoord()) }()

	sessions := session.NewManager(session.Options{Coord: c, System: c.System(), Settings: set, Version: version, Now: time.Now,
		Random: rand.Reader, Log: log})
	srv := server.New(server.Options{Sessions: sessions, Log: log, Now: time.Now, Metrics: server.NewMetrics(registry)})
	stop := context.AfterFunc(ctx, sessions.Close)
	defer stop()
	ready.Set()
	announce(sqlListener.Addr(), httpAddr)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(ctx, c, o.epochInterval, log)
		cancel()
	}()
	err = srv.Serve(ctx, sqlListener)
	cancel()
	<-watched
	if c.Err() != nil {
		err = errors.Join(err, fmt.Errorf("the server can write nothing any more and has ended: %w", c.Err()))
	}
	return err
}

// giveUpLater has the stores' answers given up a while after ctx has ended, unless the function that it gives is called
// before: a server that is told to stop does not wait for stores that do not answer.
func giveUpLater(ctx context.Context, c *coord.Coord) (closed func()) {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(storeGrace)
		defer timer.Stop()
		select {
		case <-timer.C:
			c.GiveUp()
		case <-over:
		}
	})
	return func() {
		stop()
		close(over)
	}
}

// watch returns when nothing can be written any more, and says so, or when ctx ends. At every interval it looks whether
// another server has taken over; 0 means never.
func watch(ctx context.Context, c *coord.Coord, interval time.Duration, log *slog.Logger) {
	var looks <-chan time.Time
	if interval > 0 {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		looks = ticker.C
	}
	for {
		select {
		case <-looks:
			if err := c.CheckEpoch(ctx); err != nil && ctx.Err() == nil && c.Err() == nil {
				log.Warn("it cannot be told whether another server has taken over", "error", err)
			}
		case <-c.Failed():
			if ctx.Err() == nil {
				log.Error("nothing can be written any more: the server ends", "error", c.Err())
			}
			return
		case <-ctx.Done():
			return
		}
	}
}

// announce says where to connect.
func announce(sql, http net.Addr) {
	host, port, _ := net.SplitHostPort(sql.String())
	tcp, ok := sql.(*net.TCPAddr)
	shown := host
	if ok && tcp.IP.IsUnspecified() {
		shown = "localhost"
	}
	fmt.Fprintf(os.Stderr, "tributary %s is ready: psql -h %s -p %s -U materialize\n", version, shown, port)
	if http != nil {
		fmt.Fprintf(os.Stderr, "metrics: http://%s/metrics, health: http://%[1]s/api/readyz\n", http)
	}
	if ok && !tcp.IP.IsLoopback() {
		fmt.Fprintf(os.Stderr, "warning: there is no authentication yet: whoever reaches %s can read and change everything\n", sql)
	} else {
		fmt.Fprintln(os.Stderr, "there is no authentication yet: only this machine can connect")
	}
}

// serveHTTP serves the HTTP side until ctx ends; without an address it does nothing.
func serveHTTP(ctx context.Context, address string, h http.Handler, log *slog.Logger) (<-chan error, net.Addr, error) {
	done := make(chan error, 1)
	if address == "" {
		done <- nil
		return done, nil, nil
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("listen for HTTP clients (--http-listen): %w", err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: stopGrace, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	ended := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(ended)
		ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
		defer cancel()
		if err := srv.Shutdown(ctx); err != nil {
			log.Warn("http connections did not end", "err", err)
		}
	})
	go func() {
		err := srv.Serve(l)
		if errors.Is(err, http.ErrServerClosed) {
			<-ended
			err = nil
		}
		done <- err
	}()
	return done, l.Addr(), nil
}
