package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/pgtest"
)

// TestPostgresFailsUnderLoad kills PostgreSQL while rows are inserted, ends all of its sessions, and pauses the server while
// another one takes over: each time it goes on, or says so and ends, and every acknowledged row is there once, in the view too.
func TestPostgresFailsUnderLoad(t *testing.T) {
	args, _ := sharedStores(t)
	pg := pgtest.Start(t)
	first := startChild(t, "", args...)
	exec1(t, first.connect(), "CREATE TABLE t (id int8)", "CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(id) AS s FROM t")
	l := startLoad(t, first)
	l.more(10)
	pg.Crash(t)
	l.more(10)
	admin, err := pgx.Connect(t.Context(), pg.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	for range 5 {
		exec1(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
		l.more(5)
	}

	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := startChild(t, "", args...)
	exec1(t, second.connect(), "INSERT INTO t VALUES (0)")
	if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	logs := <-first.logs
	var status *exec.ExitError
	if err := first.cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != 1 || !strings.Contains(logs, "another process has taken over this environment") {
		t.Errorf("the server that was paused ends with %v:\n%s", err, logs)
	}
	n := <-l.ended
	conn := second.connect()
	got := table(t, conn, "SELECT count(*), count(DISTINCT id), sum(id) FROM t")
	// The INSERT under way when the server was paused may have happened.
	if rows := func(n int64) string { return fmt.Sprintf("%d\t%d\t%d", n+1, n+1, n*(n+1)/2) }; got[0] != rows(n) && got[0] != rows(n+1) {
		t.Errorf("the table has %q where the rows up to %d were acknowledged", got, n)
	}
	if view := table(t, conn, "SELECT n, n, s FROM v"); !slices.Equal(view, got) {
		t.Errorf("the view has %q, the table %q", view, got)
	}
	second.stop()
}

// load inserts the rows 1, 2, … until an INSERT fails.
type load struct {
	t *testing.T
	// acked has a word for every row that was acknowledged, while somebody takes it.
	acked chan struct{}
	// ended has the last row that was acknowledged.
	ended chan int64
}

func startLoad(t *testing.T, c *child) *load {
	l := &load{t: t, acked: make(chan struct{}), ended: make(chan int64, 1)}
	conn := c.connect()
	go func() {
		defer close(l.acked)
		for n := int64(0); ; n++ {
			if _, err := conn.Exec(context.Background(), fmt.Sprintf("INSERT INTO t VALUES (%d)", n+1)); err != nil {
				l.ended <- n
				return
			}
			select {
			case l.acked <- struct{}{}:
			default:
			}
		}
	}()
	return l
}

// more waits until some more rows are acknowledged.
func (l *load) more(rows int) {
	l.t.Helper()
	for range rows {
		if _, goes := <-l.acked; !goes {
			l.t.Fatalf("an INSERT failed; the rows up to %d were acknowledged", <-l.ended)
		}
	}
}
