package main

import (
	"context"
	"strings"
	"testing"
	"time"

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
	conn, ended, _ := serveOn(t, func(context.Context, serveOptions, coordParts) (consensus.Store, blob.Store, func() error, error) {
		return registers, objects, func() error { return nil }, nil
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	exec1(t, conn, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")

	_, err := collection.Open(ctx, collection.Options{Consensus: registers, Blob: objects, Settings: allSettings(),
		Registry: prometheus.NewRegistry(), Clock: func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "INSERT INTO t VALUES (2)"); err == nil || !strings.Contains(err.Error(), "57P01") {
		t.Errorf("INSERT: %v, want 57P01", err)
	}
	if err := end(t, ended); err == nil || !strings.Contains(err.Error(), "another process has taken over this environment") {
		t.Errorf("the server ended with %v", err)
	}
}
