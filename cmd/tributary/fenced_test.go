package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
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
	conn, ended, _ := serveOn(t, func(context.Context, serveOptions, coordParts) (consensus.Store, blob.Store, func() error, error) {
		return registers, objects, func() error { return nil }, nil
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	exec1(t, conn, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")

	takeOver(t, registers, objects)
	if _, err := conn.Exec(ctx, "INSERT INTO t VALUES (2)"); err == nil || !strings.Contains(err.Error(), "57P01") {
		t.Errorf("INSERT: %v, want 57P01", err)
	}
	if err := end(t, ended); err == nil || !strings.Contains(err.Error(), "another process has taken over this environment") {
		t.Errorf("the server ended with %v", err)
	}
}

// TestAFencedServerThatOnlySubscribesEnds: a server that nobody asks anything finds out by itself, lest a subscription show for
// ever what was once.
func TestAFencedServerThatOnlySubscribesEnds(t *testing.T) {
	registers, objects := consensus.NewMemory(), blob.NewMemory()
	conn, ended, _ := serveEvery(t, time.Millisecond, func(context.Context, serveOptions, coordParts) (consensus.Store, blob.Store, func() error, error) {
		return registers, objects, func() error { return nil }, nil
	})
	exec1(t, conn, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")
	rows, err := conn.Query(context.Background(), "SUBSCRIBE t", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	takeOver(t, registers, objects)
	if rows.Next() || !strings.Contains(fmt.Sprint(rows.Err()), "57P01") {
		t.Errorf("the subscription ends with %v, want 57P01", rows.Err())
	}
	if err := end(t, ended); err == nil || !strings.Contains(err.Error(), "another process has taken over this environment") {
		t.Errorf("the server ended with %v", err)
	}
}

// muteRegisters answer some commits, and no other one until its caller gives up.
type muteRegisters struct {
	consensus.Store
	// answers is how many commits are still answered.
	answers atomic.Int64
	// asked has a word for the first commit that gets no answer.
	asked chan struct{}
}

func newMuteRegisters() *muteRegisters {
	m := &muteRegisters{Store: consensus.NewMemory(), asked: make(chan struct{}, 1)}
	m.answers.Store(math.MaxInt64)
	return m
}

func (m *muteRegisters) Commit(ctx context.Context, units []consensus.Unit) ([]consensus.Outcome, error) {
	if m.answers.Add(-1) >= 0 {
		return m.Store.Commit(ctx, units)
	}
	select {
	case m.asked <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", consensus.ErrIndeterminate, ctx.Err())
}

// TestAServerDoesNotWaitForStoresThatAreMute: told to stop while a write gets no answer, it ends, with an error, and acknowledges
// nothing.
func TestAServerDoesNotWaitForStoresThatAreMute(t *testing.T) {
	registers, objects := newMuteRegisters(), blob.NewMemory()
	conn, ended, stop := serveOn(t, func(context.Context, serveOptions, coordParts) (consensus.Store, blob.Store, func() error, error) {
		return registers, objects, func() error { return nil }, nil
	})
	exec1(t, conn, "CREATE TABLE t (a int)")
	registers.answers.Store(0)
	inserted := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "INSERT INTO t VALUES (1)")
		inserted <- err
	}()
	<-registers.asked
	stop()
	if err := <-inserted; err == nil {
		t.Error("the INSERT is acknowledged")
	}
	if err := end(t, ended); err == nil {
		t.Error("the server ended as if all were well")
	}
}

// TestAServerThatBootsDoesNotWaitForStoresThatAreMute: nothing was promised yet, so it ends at once.
func TestAServerThatBootsDoesNotWaitForStoresThatAreMute(t *testing.T) {
	registers, objects := newMuteRegisters(), blob.NewMemory()
	registers.answers.Store(1) // the epoch, which is raised before there is a line of commits
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	booted := make(chan error, 1)
	go func() {
		booted <- serve(ctx, serveOptions{sqlListen: "127.0.0.1:0", workers: 1, logLevel: "error",
			open: func(context.Context, serveOptions, coordParts) (consensus.Store, blob.Store, func() error, error) {
				return registers, objects, func() error { return nil }, nil
			}})
	}()
	<-registers.asked
	cancel()
	if err := end(t, booted); err == nil {
		t.Error("the server ended as if all were well")
	}
}

// takeOver raises the environment's epoch, as another server would.
func takeOver(t *testing.T, registers consensus.Store, objects blob.Store) {
	t.Helper()
	_, err := collection.Open(t.Context(), collection.Options{Consensus: registers, Blob: objects, Settings: allSettings(),
		Registry: prometheus.NewRegistry(), Clock: func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }})
	if err != nil {
		t.Fatal(err)
	}
}
