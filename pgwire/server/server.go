package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/tributary-db/tributary/planner/session"
)

// Options is what a server needs. Zero values mean the defaults.
type Options struct {
	Sessions *session.Manager
	Log      *slog.Logger
	// Now is the clock that deadlines are counted from.
	Now func() time.Time
	// Metrics counts what goes on; nil means NewMetrics without a registry.
	Metrics *Metrics
	// MaxMessageBytes bounds a message from a client. The default is 256 MiB.
	MaxMessageBytes int
	// MaxRowBytes bounds a row that is sent. The default is a GiB, as PostgreSQL's; no more than 2 fit into the protocol.
	MaxRowBytes int
	// StartupTimeout is how long a client may take until it is ready for queries. The default is 30 seconds.
	StartupTimeout time.Duration
	// WriteTimeout is how long a client may refuse to take what it has asked for. The default is 15 minutes, so that
	// somebody may read a page of a subscription in peace.
	WriteTimeout time.Duration
}

// Server serves listeners. It is safe for concurrent use.
type Server struct {
	o     Options
	conns sync.WaitGroup
}

// New makes a server.
func New(o Options) *Server {
	o.MaxMessageBytes = cmp.Or(o.MaxMessageBytes, 256<<20)
	o.MaxRowBytes = cmp.Or(o.MaxRowBytes, 1<<30)
	o.StartupTimeout = cmp.Or(o.StartupTimeout, 30*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 15*time.Minute)
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	return &Server{o: o}
}

// acceptPause is how long the listener waits after it could not accept, for want of file descriptors say.
const acceptPause = 50 * time.Millisecond

// Serve accepts connections until ctx ends; then it closes the listener, tells the clients there are, and waits
// until all have gone. It gives nil after such an end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer s.conns.Wait()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept connections: %w", err)
		case err != nil:
			s.o.Log.Warn("accept failed", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		s.conns.Add(1)
		go func() {
			defer s.conns.Done()
			s.o.Metrics.connections.Inc()
			defer s.o.Metrics.connections.Dec()
			newConn(s.o, c).serve(ctx)
		}()
	}
}
