package main

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/tvc"
)

// TestAFencedServerEnds: a server that another process has taken over from says so and ends with an error, which makes
// the exit status, instead of refusing everything for ever.
func TestAFencedServerEnds(t *testing.T) {
	registers, objects := consensus.NewMemory(), blob.NewMemory()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	ended := make(chan error, 1)
	go func() {
		ended <- serve(context.Background(), serveOptions{sqlListen: address, workers: 1, logLevel: "error",
			open: func(context.Context, serveOptions, coordParts) (consensus.Store, blob.Store, func() error, error) {
				return registers, objects, func() error { return nil }, nil
			}})
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, "postgres://materialize@"+address+"/materialize?sslmode=disable")
	for err != nil && ctx.Err() == nil {
		// It does not listen yet.
		conn, err = pgx.Connect(ctx, "postgres://materialize@"+address+"/materialize?sslmode=disable")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	exec1(t, conn, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")

	_, err = collection.Open(ctx, collection.Options{Consensus: registers, Blob: objects, Settings: allSettings(),
		Registry: prometheus.NewRegistry(), Clock: func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "INSERT INTO t VALUES (2)"); err == nil || !strings.Contains(err.Error(), "57P01") {
		t.Errorf("INSERT: %v, want 57P01", err)
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "another process has taken over this environment") {
			t.Errorf("the server ended with %v", err)
		}
	case <-ctx.Done():
		t.Fatal("the server goes on")
	}
}
