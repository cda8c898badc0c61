package runner

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/tributary-db/tributary/testdrive/action"
)

// host gives one job its server: one it starts, a database of its own, or the one that everybody has.
type host struct {
	suite    Suite
	job      int
	current  *action.Server
	child    *Child
	database string // of our own, on a PostgreSQL that several jobs share
	err      error  // of ending a server that was discarded
	restarts int    // of the servers that were discarded
}

// server gives the job's server, making it if there is none.
func (h *host) server(ctx context.Context) (*action.Server, error) {
	if h.current != nil {
		return h.current, nil
	}
	if h.suite.Serve != nil {
		child, err := StartChild(ctx, *h.suite.Serve)
		if err != nil {
			return nil, err
		}
		h.child = child
		h.current = child.Server()
		return h.current, nil
	}
	server, err := newServer(ctx, h.suite.URL, h.suite.HTTPAddr)
	if err != nil {
		return nil, err
	}
	if server.Postgres && h.suite.Jobs > 1 && !h.suite.NoReset {
		if err := h.ownDatabase(ctx, server); err != nil {
			return nil, err
		}
	}
	h.current = server
	return server, nil
}

// ownDatabase makes a database for this job and points the server's URL at it.
func (h *host) ownDatabase(ctx context.Context, server *action.Server) error {
	u, err := url.Parse(server.URL)
	if err != nil {
		return fmt.Errorf("parse the server's URL: %w", err)
	}
	name := fmt.Sprintf("testdrive_%d_%d", h.suite.Seed, h.job)
	if err := execAt(ctx, server.URL, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return fmt.Errorf("create a database for the job: %w", err)
	}
	h.database = name
	u.Path = "/" + name
	server.URL = u.String()
	return nil
}

// discard ends a server of ours that may be damaged; a server of others stays.
func (h *host) discard() {
	if h.child == nil {
		return
	}
	h.restarts += h.child.restarts
	h.err = errors.Join(h.err, h.child.Close())
	h.child, h.current = nil, nil
}

func (h *host) close(ctx context.Context) error {
	h.discard()
	if h.database != "" {
		h.err = errors.Join(h.err, execAt(ctx, h.suite.URL, "DROP DATABASE "+h.database+" WITH (FORCE)"))
	}
	return h.err
}

// newServer connects once, to see what kind of server it is.
func newServer(ctx context.Context, address, httpAddr string) (*action.Server, error) {
	s, err := action.NewSession(address)
	if err != nil {
		return nil, err
	}
	rows, err := s.Rows(ctx, "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = 'mz_catalog'")
	if err := errors.Join(err, s.Close(ctx)); err != nil {
		return nil, fmt.Errorf("look at the server: %w", err)
	}
	return &action.Server{URL: address, HTTPAddr: httpAddr, Postgres: len(rows) == 0}, nil
}

// execAt runs a statement on a connection of its own.
func execAt(ctx context.Context, address, sql string) error {
	s, err := action.NewSession(address)
	if err != nil {
		return err
	}
	return errors.Join(s.Exec(ctx, sql), s.Close(ctx))
}
